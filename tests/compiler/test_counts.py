"""Numbers that count widgets are found, with their plural forms; what only seems to count is not believed."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from phoneworld.compiler.counts import find_counts
from phoneworld.program.program import Layout, Screen
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Tap
from tests.sim.programs import PACKAGE, SIZE, node, program, window

BOXES = [(i, (20, 100 + 50 * i, 340, 140 + 50 * i)) for i in range(4)]


def layout(number: int, checked: list[bool], words: str) -> Layout:
    """A list of check boxes under a line of words."""
    boxes = (
        node("CheckBox", f"box{i}", box, text=f"Thing {chr(65 + i)}", checkable=True, clickable=True, checked=on)
        for (i, box), on in zip(BOXES, checked, strict=False)
    )
    rows = node("ListView", "rows", (0, 90, 360, 400), children=tuple(boxes))
    return Layout(f"l{number}", window(node("TextView", "words", (20, 20, 340, 60), text=words), rows), SIZE)


def bound(layouts: list[Layout]) -> Screen:
    return find_counts({"s": Screen("s", "S", PACKAGE, ".Main", tuple(layouts))})["s"]


def left(checked: list[bool]) -> str:
    n = checked.count(False)
    return f"{n} item left" if n == 1 else f"{n} items left"


STATES = [[False, False, True], [True, True, False], [False, False, False, False], [True, True], [True, False]]


def test_a_count_with_its_plural_is_found_and_followed_by_the_mock() -> None:
    screen = bound([layout(i, state, left(state)) for i, state in enumerate(STATES)])
    assert all(len(lay.bindings) == 1 for lay in screen.layouts)
    assert screen.layouts[0].bindings[0].evidence.cases == len(STATES)
    made = program()
    phone = Phone([replace(made, screens={**made.screens, "list": replace(screen, id="list")}, rules=())])
    state = phone.reset()
    for box, words in ((2, "3 items left"), (1, "2 items left"), (0, "1 item left"), (0, "2 items left")):
        _, (x, y, _, _) = BOXES[box]
        state = phone.step(state, Tap(x + 5, y + 5)).state
        shown = next(n.text for n in phone.view(state).hierarchy.nodes() if n.resource_id.endswith(":id/words"))
        assert shown == words


def test_every_layout_shows_what_it_showed() -> None:
    screen = bound([layout(i, state, left(state)) for i, state in enumerate(STATES)])
    made = program()
    for lay in screen.layouts:
        alone = replace(screen, id="list", layouts=(lay,))
        phone = Phone([replace(made, screens={**made.screens, "list": alone}, rules=())])
        assert phone.view(phone.reset()).hierarchy == lay.hierarchy


def test_one_layout_that_does_not_fit_is_enough_to_disbelieve() -> None:
    layouts = [layout(i, state, left(state)) for i, state in enumerate(STATES)]
    assert not any(lay.bindings for lay in bound([*layouts, layout(9, [False, False, True], "7 items left")]).layouts)


def test_a_number_that_never_varied_is_not_believed() -> None:
    same = [layout(i, [False, False, True], "2 items left") for i in range(5)]
    assert not any(lay.bindings for lay in bound(same).layouts)


def test_dates_times_and_prices_are_no_counts() -> None:
    for words in ("{n}:30", "12.{n}0", "2026-0{n}-11", "v{n}", "{n}th"):
        layouts = [layout(i, s, words.format(n=s.count(False))) for i, s in enumerate(STATES)]
        assert not any(lay.bindings for lay in bound(layouts).layouts), words


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=3, max_size=8))
def test_a_binding_never_contradicts_a_recorded_layout(states: list[list[bool]]) -> None:
    screen = bound([layout(i, s, f"{s.count(True)} done of {len(s)}") for i, s in enumerate(states)])
    made = program()
    for lay in screen.layouts:
        alone = replace(screen, id="list", layouts=(lay,))
        phone = Phone([replace(made, screens={**made.screens, "list": alone}, rules=())])
        assert phone.view(phone.reset()).hierarchy == lay.hierarchy
