"""The native windows over a page: values and gestures in, values and answers out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.device.web import native
from phoneworld.device.web.native import Answer, Choice, Message, Picker, Window
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy, Node

SIZE, DENSITY = Size(1080, 2400), 480
TODAY = datetime(2024, 2, 29, 10, 5, tzinfo=UTC)


def tree(window: Window) -> Hierarchy:
    return native.tree_of(window, SIZE, DENSITY, "org.example")


def node(window: Window, resource_id: str) -> Node:
    return next(n for n in tree(window).nodes() if n.resource_id == resource_id)


def tap(window: Window, at: Node | Point) -> Window | Answer | None:
    return native.tap(window, SIZE, DENSITY, at if isinstance(at, Point) else at.bounds.center)


def picker(kind: str, value: str) -> Picker:
    window = native.window_of({"kind": kind, "value": value}, TODAY)
    assert isinstance(window, Picker)
    return window


def turn(window: Picker, column: str, part: int) -> Picker:
    """A tap on the button above (0) or below (2) the value of a column."""
    place = [c.name for c in window.columns].index(column)
    pickers = [n for n in tree(window).nodes() if n.class_name.endswith("NumberPicker")]
    turned = tap(window, pickers[place].children[part])
    assert isinstance(turned, Picker)
    return turned


SELECT: dict[str, Any] = {
    "kind": "select", "selected": 1,
    "options": [{"text": "Red", "enabled": True}, {"text": "Green", "enabled": True}, {"text": "Grey", "enabled": False}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "button", "answer"),
    [
        ("alert", "button1", Answer(True)),
        ("confirm", "button1", Answer(True)),
        ("confirm", "button2", Answer(False)),
        ("prompt", "button1", Answer(True, "Ann")),
        ("prompt", "button2", Answer(False, "Ann")),
    ],
)
def test_a_dialog_is_answered_by_its_buttons(kind: native.MessageKind, button: str, answer: Answer) -> None:
    window = Message(kind, "The page says:", "Hello", "Ann" if kind == "prompt" else None)
    assert node(window, "android:id/message").text == "Hello"
    assert tap(window, node(window, f"android:id/{button}")) == answer


def test_a_tap_beside_a_window_cancels_it_and_one_on_its_words_does_nothing() -> None:
    window = Message("confirm", "The page says:", "Sure?")
    assert tap(window, Point(5, 5)) == Answer(False)
    assert tap(window, node(window, "android:id/message")) is None


def test_what_is_typed_into_a_prompt_is_its_answer() -> None:
    window: Window = Message("prompt", "", "Who?", "An")
    window = native.type_into(window, "nie", replacing=False)
    window = native.erase(window)
    assert tap(window, node(window, "android:id/button1")) == Answer(True, "Anni")
    assert native.type_into(window, "Bob", replacing=True) == Message("prompt", "", "Who?", "Bob")


def test_a_choice_is_made_by_its_row_and_not_where_it_is_disabled() -> None:
    window = native.window_of(SELECT, TODAY)
    assert isinstance(window, Choice)
    rows = [n for n in tree(window).nodes() if n.resource_id == "android:id/text1"]
    assert [(n.text, n.checked, n.enabled) for n in rows] == [("Red", False, True), ("Green", True, True), ("Grey", False, False)]
    assert tap(window, rows[0]) == Answer(True, 0)
    assert tap(window, rows[2]) is None


def test_a_list_of_choices_scrolls_by_rows_and_stops_at_its_ends() -> None:
    options = [{"text": f"Number {i}", "enabled": True} for i in range(20)]
    window = native.window_of({"kind": "select", "selected": 0, "options": options}, TODAY)
    assert isinstance(window, Choice)
    middle = tree(window).windows[0].bounds.center
    moved = native.drag(window, SIZE, DENSITY, middle, Point(middle.x, middle.y - 3 * 144))
    assert isinstance(moved, Choice) and moved.first == 3
    assert tap(moved, next(n for n in tree(moved).nodes() if n.text == "Number 5")) == Answer(True, 5)
    far = native.drag(window, SIZE, DENSITY, middle, Point(middle.x, -9000))
    assert isinstance(far, Choice) and far.first == 12
    assert native.drag(far, SIZE, DENSITY, middle, Point(middle.x, 90000)) == window


def test_a_colour_is_a_choice_of_values() -> None:
    window = native.window_of({"kind": "color", "value": "#0000ff"}, TODAY)
    assert isinstance(window, Choice)
    assert [n.text for n in tree(window).nodes() if n.checked] == ["Blue"]
    assert tap(window, next(n for n in tree(window).nodes() if n.text == "Black")) == Answer(True, "#000000")


@pytest.mark.parametrize(
    ("kind", "value", "empty"),
    [
        ("date", "2024-01-31", "2024-02-29"),
        ("time", "23:59", "10:05"),
        ("datetime-local", "2023-12-31T08:07", "2024-02-29T10:05"),
        ("month", "1999-07", "2024-02"),
        ("week", "2020-W53", "2024-W09"),
    ],
)
def test_a_picker_shows_its_value_or_today_and_gives_it_back(kind: str, value: str, empty: str) -> None:
    assert picker(kind, value).value == value
    assert picker(kind, "").value == empty


def test_the_day_follows_the_month_and_columns_go_round() -> None:
    window = turn(picker("date", "2024-01-31"), "month", 2)
    assert window.value == "2024-02-29"
    assert turn(window, "year", 2).value == "2025-02-28"
    assert turn(picker("time", "00:00"), "hour", 0).value == "23:00"
    assert turn(picker("week", "2020-W53"), "year", 2).value == "2021-W52"


def test_a_picker_is_set_cancelled_or_cleared_by_its_buttons() -> None:
    window = picker("date", "2024-01-31")
    answers = [tap(window, node(window, f"android:id/button{i}")) for i in (1, 2, 3)]
    assert answers == [Answer(True, "2024-01-31"), Answer(False, ""), Answer(True, "")]


def test_a_value_may_be_typed_into_the_column_that_was_touched() -> None:
    window = turn(picker("date", "2024-01-31"), "year", 1)
    assert native.type_into(window, "2030", replacing=True) == native.type_into(window, "2030", replacing=False)
    typed = native.type_into(window, "2030", replacing=True)
    assert isinstance(typed, Picker) and typed.value == "2030-01-31"
    month = turn(typed, "month", 1)
    named = native.type_into(month, "feb", replacing=True)
    assert isinstance(named, Picker) and named.value == "2030-02-28"
    assert native.type_into(named, "no month", replacing=True) == named


@given(
    st.sampled_from(["date", "time", "datetime-local", "month", "week"]),
    st.text(max_size=12),
    st.lists(st.tuples(st.integers(0, 1079), st.integers(0, 2399)), max_size=12),
)
def test_whatever_a_page_and_a_finger_say_a_picker_holds_a_real_time(kind: str, value: str, taps: list[tuple[int, int]]) -> None:
    window = picker(kind, value)
    for x, y in taps:
        after = tap(window, Point(x, y))
        if isinstance(after, Picker):
            window = after
    formats = {"date": "%Y-%m-%d", "time": "%H:%M", "datetime-local": "%Y-%m-%dT%H:%M", "month": "%Y-%m", "week": "%G-W%V-%u"}
    assert datetime.strptime(window.value + ("-1" if kind == "week" else ""), formats[kind])


def test_a_report_that_calls_for_no_window_gives_none() -> None:
    assert native.window_of({"kind": "field"}, TODAY) is None
