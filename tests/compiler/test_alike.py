"""What was never touched acts like its like: a button "up" that is on every page, the options of a dialog, the row of a switch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Point
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.chores import PACKAGE, SIZE, play, record

COLOURS = ("Red", "Green", "Blue", "Plum")
WORDS = {"sound": ("Volume", "Ring tone"), "screen": ("Brightness", "Night"), "dates": ("Calendar", "Week")}


def node(kind: str, name: str, top: int, words: str = "", *, high: int = 80, children: tuple[Node, ...] = (), **more: bool) -> Node:
    return Node(f"android.{kind}", words, f"{PACKAGE}:id/{name}", PACKAGE, bounds=Bounds(40, top, 1040, top + high), children=children, **more)


@dataclass(frozen=True, slots=True)
class Settings:
    """Pages below pages, each with "up"; on the first the colour, which a dialog of options sets."""

    pages: tuple[str, ...] = ("first",)
    colour: str = "Red"
    mute: bool = False

    def tree(self) -> Hierarchy:
        page = self.pages[-1]
        up = node("widget.Button", "up", 100, "Up", clickable=True)
        if page == "first":
            opens = [node("widget.Button", f"to_{name}", 300 + 100 * i, name.title(), clickable=True) for i, name in enumerate(("sound", "screen"))]
            inside = (node("widget.TextView", "heading", 100, "Settings"), *opens, node("widget.Button", "colour", 700, self.colour, clickable=True))
        elif page == "options":
            options = tuple(node("widget.Button", f"option_{c.lower()}", 400 + 100 * i, c, clickable=True) for i, c in enumerate(COLOURS))
            inside = (node("widget.TextView", "asks", 300, "Which colour?"), node("widget.LinearLayout", "options", 400, high=500, children=options))
        else:
            texts = tuple(node("widget.TextView", f"{page}_{i}", 300 + 100 * i, w) for i, w in enumerate(WORDS[page]))
            switch = node("widget.Switch", "mute", 800, "Mute", clickable=True, checkable=True, checked=self.mute)
            row = node("widget.LinearLayout", "line", 700, high=200, children=(node("widget.TextView", "says", 700, "No sound"), switch), clickable=True)
            more = (node("widget.Button", "to_dates", 600, "Dates", clickable=True),) if page == "screen" else (row,) if page == "sound" else ()
            inside = (up, node("widget.TextView", f"{page}_heading", 200, page.title()), *texts, *more)
        return Hierarchy((replace(node("widget.FrameLayout", f"page_{page}", 0, high=SIZE.height, children=inside), bounds=Bounds(0, 0, SIZE.width, SIZE.height)),))

    def act(self, action: Action) -> Settings:
        if action == PressKey("back"):
            return replace(self, pages=self.pages[:-1] or ("first",))
        assert isinstance(action, Tap)
        hit = next((n for _, n in self.tree().touch_order(SIZE) if n.clickable and n.bounds.contains(Point(action.x, action.y))), None)
        name = hit.resource_id.rpartition("/")[2] if hit is not None else ""
        if name in ("mute", "line"):
            return replace(self, mute=not self.mute)
        if name == "up":
            return replace(self, pages=self.pages[:-1])
        if name.startswith("option_"):
            return replace(self, pages=self.pages[:-1], colour=name.removeprefix("option_").title())
        return replace(self, pages=(*self.pages, "options" if name == "colour" else name.removeprefix("to_"))) if name else self

    def later(self, _passed_ms: int) -> Settings:
        return self

    def state(self) -> DeviceState:
        return DeviceState(PACKAGE, f"{PACKAGE}.MainActivity")


WALKS = [
    ["tap to_sound", "tap up", "tap to_screen", "tap to_dates", "tap up", "tap to_dates", "back", "back", "tap to_sound", "back"],
    ["tap colour", "tap option_green", "tap colour", "tap option_red", "tap colour", "back", "tap to_screen", "tap to_dates", "back"],
]


def same(script: list[str]) -> None:
    mock = compile_graph(record(WALKS, Settings())).program  # type: ignore[arg-type]
    for played in play(mock, script, Settings()):  # type: ignore[arg-type]
        assert played.same, f"{played.words}\n{played.difference}"
        assert played.step.evidence in ("recorded", "inferred")


@pytest.mark.parametrize("script", [["tap to_screen", "tap up"], ["tap to_screen", "tap to_dates", "tap up", "tap up"]])
def test_up_goes_to_the_page_below_from_pages_where_it_was_never_touched(script: list[str]) -> None:
    same(["tap to_sound", "tap up", *script])


@pytest.mark.parametrize("option", ["blue", "plum"])
def test_an_option_that_was_never_chosen_sets_its_own_words(option: str) -> None:
    same(["tap to_sound", "tap up", "tap colour", f"tap option_{option}", "tap to_sound", "tap up"])


def test_a_row_around_a_switch_is_its_label() -> None:
    mock = compile_graph(record(WALKS, Settings())).program  # type: ignore[arg-type]
    _, toggled, *_ = played = list(play(mock, ["tap to_sound", "tap says", "tap up", "tap to_sound"], Settings()))  # type: ignore[arg-type]
    assert all(p.same for p in played), "\n".join(p.difference for p in played)
    assert isinstance(toggled.app, Settings) and toggled.app.mute and toggled.step.evidence == "assumed"
