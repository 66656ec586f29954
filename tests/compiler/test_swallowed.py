"""Touches that went to what lies on top, and what was never seen of a row: neither is a reason for a row to do nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Swipe, Tap
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.handmade import SIZE, record

PACKAGE = "org.example.diary"
PAGES = (("Monday", "rain"), ("Tuesday", "sun"), ("Wednesday", "fog"), ("Thursday", "snow"), ("Friday", "wind"))
UP, BACK = Swipe(200, 600, 200, 500, 300), PressKey("back")


def node(kind: str, name: str, bounds: Bounds, text: str = "", *kids: Node, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=bounds, children=kids, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Diary:
    """The app: days, of which a tap opens one, under a heading that stays on top of them where they are scrolled. Its tree says nothing of that."""

    opened: int | None = None
    scrolled: bool = False

    def tree(self) -> Hierarchy:
        if self.opened is not None:
            day, weather = PAGES[self.opened]
            kids = [node("TextView", "day", Bounds(0, 0, 400, 60), day), node("TextView", "weather", Bounds(0, 100, 400, 140), f"It was {weather}.")]
            kids += [node("Button", name, Bounds(0, top, 400, top + 40), name.title(), clickable=True) for name, top in (("share", 200), ("print", 260))]
        else:
            shift = 100 if self.scrolled else 0
            rows = [
                node("LinearLayout", "row", Bounds(0, 100 + 100 * i - shift, 400, 200 + 100 * i - shift), "",
                     node("TextView", "name", Bounds(0, 120 + 100 * i - shift, 400, 160 + 100 * i - shift), day), clickable=True)
                for i, (day, _) in enumerate(PAGES)
            ]  # fmt: skip
            kids = [node("TextView", "heading", Bounds(0, 0, 400, 100), "My days"), node("ListView", "days", Bounds(0, 0, 400, 700), "", *rows, scrollable=True)]
        return Hierarchy((node("FrameLayout", "content", SIZE.bounds, "", *kids),))

    def act(self, action: Action) -> Diary:
        match action:
            case PressKey("back"):
                return Diary()
            case Swipe() if self.opened is None:
                return Diary(scrolled=True)
            case Tap(_, y) if self.opened is None and y >= 100:
                row = (y - 100 + (100 if self.scrolled else 0)) // 100
                return replace(self, opened=row) if row < len(PAGES) else self
            case _:
                return self


def opens(row: int) -> Tap:
    return Tap(200, 140 + 100 * row)


COVERED = Tap(200, 40)


def recorded(*scripts: Sequence[Action]) -> StateGraph:
    return record(Diary(), *scripts, package=PACKAGE)


def test_a_touch_that_met_what_lies_on_top_is_no_reason_for_a_row_to_do_nothing() -> None:
    graph = recorded([opens(1), BACK, UP, COVERED, COVERED, COVERED, BACK], [opens(2), BACK, UP, COVERED, COVERED], [opens(1), BACK])
    compiled = compile_graph(graph)
    assert not compiled.replay.faults, "what was recorded is as it was"
    phone = Phone([compiled.program])
    for row in range(len(PAGES)):
        shown = phone.view(phone.step(phone.reset(), opens(row)).state).hierarchy
        assert any(n.resource_id.endswith("/share") for n in shown.nodes()), PAGES[row]
