"""One thing in two lists: its details are those of the row touched, whichever list it stood in, and cut from what the row says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

PACKAGE = "org.example.post"
SIZE = Size(400, 800)
LETTERS = (("Mill", "Bill, 3 May"), ("Aunt", "Card, 28 Apr"), ("Bank", "Notice, 7 Apr"), ("Zoo", "Ticket, 30 Mar"), ("Gym", "Offer, 2 Mar"))
LATEST = 3


def node(kind: str, name: str, top: int, text: str = "", *kids: Node, height: int = 40, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=Bounds(0, top, 400, top + height), children=kids, **more)  # type: ignore[arg-type]


def listed(name: str, letters: Sequence[tuple[str, str]]) -> Node:
    rows = [
        node("LinearLayout", "row", 100 + 80 * i, "", node("TextView", "who", 100 + 80 * i, who), node("TextView", "what", 140 + 80 * i, what), height=80, clickable=True)
        for i, (who, what) in enumerate(letters)
    ]  # fmt: skip
    return replace(node("ListView", name, 100, "", *rows), bounds=Bounds(0, 100, 400, 700))


@dataclass(frozen=True)
class Post:
    """The app: the latest letters, behind a button all of them, and the letter that was opened over either list."""

    shows_all: bool = False
    opened: int | None = None

    def tree(self) -> Hierarchy:
        if self.opened is not None:
            who, what = LETTERS[self.opened]
            kids = [node("TextView", "from", 0, who), node("TextView", "date", 50, what.partition(", ")[2])]
        elif self.shows_all:
            kids = [node("TextView", "heading", 0, "All letters"), listed("all", LETTERS)]
        else:
            kids = [node("TextView", "heading", 0, "Latest"), node("Button", "more", 50, "All letters", clickable=True), listed("latest", LETTERS[:LATEST])]
        return Hierarchy((node("FrameLayout", "content", 0, "", *kids, height=800),))

    def act(self, action: Action) -> Post:
        match action:
            case Tap(_, y) if self.opened is None and y >= 100:
                row = (y - 100) // 80
                return replace(self, opened=row) if row < (len(LETTERS) if self.shows_all else LATEST) else self
            case Tap(_, y) if self.opened is None and not self.shows_all and 50 <= y < 90:
                return replace(self, shows_all=True)
            case PressKey("back") if self.opened is not None:
                return replace(self, opened=None)
            case PressKey("back"):
                return replace(self, shows_all=False)
            case _:
                return self


def opens(row: int) -> Tap:
    return Tap(200, 140 + 80 * row)


ALL, BACK = Tap(200, 70), PressKey("back")


def recorded(*scripts: Sequence[Action]) -> StateGraph:
    captures: dict[str, Capture] = {}
    traces: list[Trace] = []

    def keep(app: Post) -> str:
        name = f"c{len(captures)}"
        captures[name] = Capture(name, app.tree(), SIZE, None, DeviceState(package=PACKAGE, activity=".Main"))
        return name

    for number, script in enumerate(scripts, 1):
        app, steps = Post(), []
        here = start = keep(app)
        for action in script:
            app = app.act(action)
            steps.append(Transition(here, action, there := keep(app), None, 300))
            here = there
        traces.append(Trace(f"t{number}", start, tuple(steps), "fresh"))
    return StateGraph(RecordedApp(PACKAGE, "Post", ".Main"), DeviceInfo(SIZE, 160), captures, tuple(traces))


def words(tree: Hierarchy) -> list[str]:
    return [n.text for n in tree.nodes() if n.text]


RECORDED = recorded([opens(0), BACK, opens(1), BACK, ALL, opens(1), BACK, opens(2), BACK], [opens(1), BACK, opens(0), BACK, ALL, opens(2)])


def test_a_row_opened_from_either_list_shows_itself() -> None:
    compiled = compile_graph(RECORDED)
    assert compiled.replay.whole == compiled.replay.traces
    for script in ([ALL, opens(4)], [opens(2)], [opens(0), BACK, ALL, opens(3)], [ALL, opens(3), BACK, BACK, opens(2)]):
        phone = Phone([compiled.program])
        app, state = Post(), phone.reset()
        for action in script:
            app, state = app.act(action), phone.step(state, action).state
        assert words(phone.view(state).hierarchy) == words(app.tree()), script
