"""Raw input becomes actions by Android's measures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.ui.action import Action, Drag, LongPress, PressKey, Swipe, Tap, TypeText, check_on_screen
from phoneworld.ui.geometry import Size
from phoneworld.ui.gestures import KeyDown, NavigationButton, Pasted, Pointer, Wheel, decode

SIZE = Size(1080, 2400)


def given_points(*points: tuple[float, float, float]) -> Action | None:
    return decode(Pointer(points), SIZE, 420)


def test_a_short_still_touch_is_a_tap() -> None:
    assert given_points((10.7, 20.2, 0), (14, 22, 120)) == Tap(10, 20)


def test_a_held_one_is_a_long_press() -> None:
    assert given_points((10, 20, 0), (11, 20, 640)) == LongPress(10, 20, 640)


def test_a_moved_one_is_a_swipe() -> None:
    assert given_points((500, 2000, 0), (500, 1500, 90), (510, 900, 200)) == Swipe(500, 2000, 510, 900, 200)


def test_a_move_after_a_hold_is_a_drag() -> None:
    assert given_points((500, 2000, 0), (501, 2000, 450), (510, 900, 900)) == Drag(500, 2000, 510, 900, 900)


def test_a_finger_may_leave_the_screen_but_not_start_outside() -> None:
    assert given_points((500, 2000, 0), (500, -300, 200)) == Swipe(500, 2000, 500, 0, 200)
    assert given_points((-1, 5, 0)) is None and given_points() is None


def test_the_wheel_moves_the_finger_the_other_way() -> None:
    down = decode(Wheel(500, 1500, 0, 120), SIZE, 420)
    right = decode(Wheel(500, 1500, 90, 3), SIZE, 420)
    assert isinstance(down, Swipe) and down.y2 < down.y
    assert isinstance(right, Swipe) and right.x2 < right.x
    assert decode(Wheel(500, 1500, 0, 0), SIZE, 420) is None


@pytest.mark.parametrize(("key", "action"), [
    ("Escape", PressKey("back")), ("Enter", PressKey("enter")), ("Backspace", PressKey("backspace")), ("a", TypeText("a")),
    ("日", TypeText("日")), (" ", TypeText(" ")), ("F5", None), ("Control", None),
])  # fmt: skip
def test_keys(key: str, action: Action | None) -> None:
    assert decode(KeyDown(key), SIZE, 420) == action


def test_pasted_text_and_buttons() -> None:
    assert decode(Pasted("two words"), SIZE, 420) == TypeText("two words")
    assert decode(Pasted(""), SIZE, 420) is None
    assert decode(NavigationButton("home"), SIZE, 420) == PressKey("home")
    assert decode(NavigationButton("power"), SIZE, 420) is None


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e9, 1e9)), max_size=6), st.integers(1, 1000))
def test_whatever_a_page_reports_the_action_lies_on_the_screen(points: list[tuple[float, float, float]], density: int) -> None:
    action = decode(Pointer(tuple(points)), SIZE, density)
    if action is not None:
        check_on_screen(action, SIZE)
