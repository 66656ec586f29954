"""Forms that unfold in a page: what is in them is there while they are closed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.learning import infer
from phoneworld.ui.action import Action, Tap
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.chores import PACKAGE, SIZE, play, record


def node(kind: str, name: str, top: int, words: str = "", *, left: int = 40, wide: int = 1000, high: int = 80, children: tuple[Node, ...] = (), **more: bool) -> Node:
    bounds = Bounds(left, top, left + wide, top + high)
    return Node(f"android.{kind}", words, f"{PACKAGE}:id/{name}" if name else "", PACKAGE, bounds=bounds, children=children, **more)


@dataclass(frozen=True, slots=True)
class Bill:
    """A page with a button that unfolds a form: for whom a bill is, a box a person. It keeps its ticks while it is closed."""

    people: tuple[str, ...] = ("Ann", "Bob", "Cleo")
    ticked: tuple[bool, ...] = (True, True, True)
    is_open: bool = False

    def tree(self) -> Hierarchy:
        rows = tuple(
            node("view.View", "", 700 + 100 * i, children=(node("widget.CheckBox", f"who_{i}", 700 + 100 * i, name, clickable=True, checkable=True, checked=ticked),))
            for i, (name, ticked) in enumerate(zip(self.people, self.ticked, strict=True))
        )
        parts = (node("widget.TextView", "title", 500, "A bill"), node("view.View", "people", 700, high=800, children=rows), node("widget.Button", "close", 1600, "Close", clickable=True))
        form = (node("app.Dialog", "form", 500, high=1200, children=parts),) if self.is_open else ()
        top = (node("widget.TextView", "heading", 100, "Bills"), node("widget.Button", "new", 300, "New bill", clickable=True), node("widget.Button", "join", 400, "Join", clickable=True))
        footer = replace(node("widget.TextView", "footer", 0, "Free software"), bounds=Bounds(0, 0, 0, 0))  # a whole page is in its tree
        page = node("webkit.WebView", "", 0, left=0, wide=1080, high=SIZE.height, children=(*top, *form, footer), scrollable=True)
        return Hierarchy((node("widget.FrameLayout", "root", 0, left=0, wide=1080, high=SIZE.height, children=(page,)),))

    def act(self, action: Action) -> Bill:
        assert isinstance(action, Tap)
        hit = next(n for p, n in self.tree().touch_order(SIZE) if n.clickable and n.bounds.left <= action.x < n.bounds.right and n.bounds.top <= action.y < n.bounds.bottom)
        name = hit.resource_id.rpartition("/")[2]
        if name.startswith("who_"):
            return replace(self, ticked=tuple(t != (name == f"who_{i}") for i, t in enumerate(self.ticked)))
        if name == "join":
            return replace(self, people=("Dan", *self.people), ticked=(True, *self.ticked))
        return replace(self, is_open=name == "new")

    def later(self, _passed_ms: int) -> Bill:
        return self

    def state(self) -> DeviceState:
        return DeviceState(PACKAGE, f"{PACKAGE}.MainActivity")


TICKS = ["tap new", "tap who 1", "tap close", "tap new", "tap who 0", "tap who 1", "tap close", "tap new", "tap close"]
OTHERS = ["tap new", "tap close", "tap new", "tap who 2", "tap who 1", "tap close", "tap new"]
JOINED = ["tap join", "tap new", "tap who 2", "tap close", "tap new"]


def test_rows_of_a_form_that_is_closed_are_there_and_come_back_as_they_were() -> None:
    graph = record([TICKS, OTHERS, JOINED], Bill())  # type: ignore[arg-type]
    lesson = infer(graph, {"s1": list(graph.captures)})
    (table,) = lesson.beliefs.away
    closed = [s for s in lesson.history.sights() if table not in s.shown]
    assert closed and all(len(s.tables[table]) >= 3 for s in closed)
    shown = {name for name in lesson.derived.variables if name.endswith("form.shown")}
    assert not shown, "the form is not there because of its rows"
    for what in lesson.learned.values():
        assert not [r for r in what.rows if r.deleted is not None], "closing the form takes no row away"


LINKS = ("home", "people", "bills")


@dataclass(frozen=True, slots=True)
class Site:
    """Pages with one bar of links, which lead to the same pages from each."""

    page: str = "home"

    def tree(self) -> Hierarchy:
        bar = tuple(node("view.View", f"to_{link}", 2200, link.title(), left=40 + 300 * i, wide=280, clickable=True) for i, link in enumerate(LINKS))
        own = {
            "home": (node("widget.TextView", "welcome", 300, "Welcome"), node("widget.Button", "up", 400, "Up", clickable=True)),
            "people": (node("widget.EditText", "name", 300, "", clickable=True, focusable=True), node("widget.CheckBox", "guest", 500, "Guest", checkable=True)),
            "bills": (node("widget.TextView", "sum", 300, "Sum"), node("widget.Switch", "paid", 500, "Paid", checkable=True), node("widget.Button", "up", 700, "Up", clickable=True)),
        }[self.page]
        return Hierarchy((node("widget.FrameLayout", f"page_{self.page}", 0, left=0, high=SIZE.height, children=(*own, *bar)),))

    def act(self, action: Action) -> Site:
        assert isinstance(action, Tap)
        hit = next(n for _, n in self.tree().touch_order(SIZE) if n.bounds.left <= action.x < n.bounds.right and n.bounds.top <= action.y < n.bounds.bottom)
        to = hit.resource_id.rpartition("/")[2].removeprefix("to_")
        return Site("home" if to == "up" else to) if to in (*LINKS, "up") else self

    def later(self, _passed_ms: int) -> Site:
        return self

    def state(self) -> DeviceState:
        return DeviceState(PACKAGE, "")


ROUND = ["tap to_people", "tap to_bills", "tap to_people", "tap to_home", "tap to_bills", "tap to_home"]


def test_a_link_of_a_bar_leads_where_it_led_from_other_pages() -> None:
    program = compile_graph(record([ROUND], Site())).program  # type: ignore[arg-type]
    for played in play(program, ["tap to_home", "tap to_people", "tap to_people", "tap to_bills", "tap to_bills"], Site()):  # type: ignore[arg-type]
        assert played.same, f"{played.words}\n{played.difference}"
        assert played.step.evidence == "inferred" or played.words == "tap to_people"


def test_a_button_that_was_tried_on_one_page_only_does_nothing_on_another() -> None:
    program = compile_graph(record([["tap to_bills", "tap up", "tap to_bills", "tap up"]], Site())).program  # type: ignore[arg-type]
    (played,) = play(program, ["tap up"], Site())  # type: ignore[arg-type]
    assert played.step.evidence == "unrecorded"
