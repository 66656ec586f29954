"""A list on a details screen is the row's own: each trip has its stops, wherever it was opened and whatever was added to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.history import OWNER
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.chores import lesson_of

PACKAGE = "org.example.trips"
SIZE = Size(400, 800)
TRIPS = {"North": ("Oslo", "Bergen"), "South": ("Rome", "Bari", "Lecce"), "Coast": ("Brest",), "Alps": ("Chur", "Zermatt")}


def node(kind: str, name: str, top: int, text: str = "", *kids: Node, height: int = 40, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=Bounds(0, top, 400, top + height), children=kids, **more)  # type: ignore[arg-type]


def listed(name: str, words: Sequence[str], top: int = 100) -> Node:
    rows = [node("LinearLayout", "row", top + 50 * i, "", node("TextView", "words", top + 50 * i, w), clickable=True) for i, w in enumerate(words)]
    return replace(node("ListView", name, top, "", *rows), bounds=Bounds(0, top, 400, 700))


@dataclass(frozen=True)
class Trips:
    """The app: a list of trips, and of the open trip its stops, with a button that adds one."""

    opened: str = ""
    added: tuple[tuple[str, str], ...] = ()

    def tree(self) -> Hierarchy:
        if not self.opened:
            kids = (node("TextView", "heading", 0, "Trips"), listed("trips", tuple(TRIPS)))
        else:
            stops = (*TRIPS[self.opened], *(stop for trip, stop in self.added if trip == self.opened))
            kids = (node("TextView", "trip", 0, self.opened), node("Button", "add", 50, "Add a stop", clickable=True), listed("stops", stops))
        return Hierarchy((node("FrameLayout", "content", 0, "", *kids, height=800),))

    def act(self, action: Action) -> Trips:
        match action:
            case Tap(_, y) if not self.opened and 100 <= y < 300:
                return replace(self, opened=list(TRIPS)[(y - 100) // 50])
            case Tap(_, y) if self.opened and 50 <= y < 90:
                return replace(self, added=(*self.added, (self.opened, "Somewhere")))
            case PressKey("back") if self.opened:
                return replace(self, opened="")
            case _:
                return self


def opens(trip: str) -> Tap:
    return Tap(200, 110 + 50 * list(TRIPS).index(trip))


ADD, BACK = Tap(200, 70), PressKey("back")


def recorded(*scripts: Sequence[Action]) -> StateGraph:
    captures: dict[str, Capture] = {}

    def capture(app: Trips) -> str:
        key = f"c{len(captures)}"
        captures[key] = Capture(key, app.tree(), SIZE, None, DeviceState(package=PACKAGE, activity=".Main"))
        return key

    traces = []
    for number, script in enumerate(scripts, 1):
        app = Trips()
        first = at = capture(app)
        steps = []
        for action in script:
            app = app.act(action)
            steps.append(Transition(at, action, after := capture(app), None, 300))
            at = after
        traces.append(Trace(f"t{number}", first, tuple(steps), "fresh"))
    return StateGraph(RecordedApp(PACKAGE, "Trips", ".Main"), DeviceInfo(SIZE, 160), captures, tuple(traces))


GRAPH = recorded(
    [opens("North"), BACK, opens("South"), BACK, opens("North"), ADD, BACK, opens("South"), BACK, opens("North"), BACK],
    [opens("Coast"), BACK, opens("North"), BACK, opens("Coast"), ADD, BACK, opens("Alps"), BACK, opens("Coast")],
    [opens("South"), ADD, BACK, opens("Alps"), BACK, opens("South"), BACK, opens("Alps"), BACK],
)


def words(tree: Hierarchy) -> list[str]:
    return [n.text for n in tree.nodes() if n.resource_id.endswith("/words")]


def test_the_rows_of_a_details_screen_belong_to_the_row_that_opened_it() -> None:
    lesson = lesson_of(GRAPH)
    ((stops, trips),) = lesson.beliefs.owners.items()
    assert stops.endswith("stops") and trips.endswith("trips")
    start = lesson.history.starts["t1"].tables[stops]
    assert Counter(r[OWNER] for r in start) == {1: 2, 2: 3, 3: 1, 4: 2}, "known from the start, whichever trace showed them"
    opened = [d for d in lesson.history.deeds if d.after.screen != d.before.screen]
    assert all(d.after.tables[stops] == d.before.tables[stops] for d in opened), "opening a trip changes no stop"


def test_each_row_shows_its_own_list_in_an_order_that_was_never_recorded() -> None:
    found = compile_graph(GRAPH)
    assert found.replay.exact == len(found.replay.steps)
    phone, app = Phone([found.program]), Trips()
    state = phone.reset()
    for action in [opens("Alps"), ADD, BACK, opens("Coast"), BACK, opens("South"), ADD, ADD, BACK, opens("Alps"), BACK, opens("South"), BACK, opens("North")]:
        state, app = phone.step(state, action).state, app.act(action)
        assert words(phone.view(state).hierarchy) == words(app.tree()), action
