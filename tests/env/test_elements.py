"""The list of elements: numbered, in words, and each with a pixel at which a touch really finds it."""

from __future__ import annotations

from phoneworld.env.elements import LABEL_LIMIT, Element, list_screen
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

SCREEN = Size(100, 200)


def node(kind: str, *box: int, text: str = "", children: tuple[Node, ...] = (), **more: object) -> Node:
    return Node(f"android.widget.{kind}", text, bounds=Bounds(*box), children=children, **more)  # type: ignore[arg-type]


def listed(*children: Node) -> tuple[tuple[Element, ...], tuple[str, ...]]:
    listing = list_screen(Hierarchy((node("FrameLayout", 0, 0, 100, 200, children=children),)), SCREEN)
    return listing.elements, listing.lines


def test_a_row_is_called_by_the_words_inside_it_and_they_are_not_told_twice() -> None:
    row = node(
        "LinearLayout",
        0,
        0,
        100,
        40,
        clickable=True,
        children=(node("TextView", 0, 0, 50, 20, text="Milk"), node("TextView", 0, 20, 50, 40, text="2 l")),
    )
    elements, lines = listed(row, node("TextView", 0, 50, 100, 70, text="Total"))
    assert lines == ('0 item "Milk · 2 l"', '- "Total"')
    assert [e.path for e in elements] == [(0, 0)]


def test_a_row_with_a_button_in_its_middle_is_touched_beside_it() -> None:
    row = node(
        "LinearLayout",
        0,
        0,
        100,
        40,
        clickable=True,
        children=(node("Button", 30, 0, 70, 40, text="Buy", clickable=True),),
    )
    elements, _ = listed(row)
    assert [e.role for e in elements] == ["item", "button"]
    assert not Bounds(30, 0, 70, 40).contains(elements[0].point)
    assert elements[1].point == Point(50, 20)


def test_what_a_dialog_covers_is_not_listed() -> None:
    below = node("Button", 20, 80, 80, 120, text="Delete", clickable=True)
    dialog = node(
        "LinearLayout",
        0,
        60,
        100,
        140,
        clickable=True,
        children=(node("Button", 10, 100, 50, 130, text="OK", clickable=True),),
    )
    elements, _ = listed(below, dialog)
    assert [e.label for e in elements] == ["OK", "OK"]
    assert all(e.path[:2] == (0, 1) for e in elements)


def test_a_scroller_full_of_rows_is_named_but_takes_only_the_scroll() -> None:
    rows = tuple(node("LinearLayout", 0, i * 50, 100, i * 50 + 50, text=f"row {i}", clickable=True) for i in range(4))
    elements, lines = listed(node("ListView", 0, 0, 100, 200, scrollable=True, children=rows))
    assert lines[0] == "0 list scrolls"
    assert elements[0].gestures == ("scroll",)


def test_fields_tell_what_they_hold_and_boxes_whether_they_are_on() -> None:
    _, lines = listed(
        node("EditText", 0, 0, 100, 20, text="Ada", hint="Name", focused=True),
        node("EditText", 0, 20, 100, 40, text="Name", hint="Name"),
        node("CheckBox", 0, 40, 100, 60, text="Urgent", checkable=True, checked=True),
        node("Switch", 0, 60, 100, 80, content_desc="Wi-Fi", checkable=True),
    )
    assert lines == (
        '0 field "Name" holding "Ada" focused',
        '1 field "Name"',
        '2 checkbox "Urgent" on',
        '3 switch "Wi-Fi" off',
    )


def test_every_line_is_one_line_whatever_the_app_shows() -> None:
    _, lines = listed(node("Button", 0, 0, 100, 20, text='two\nlines "quoted" \\', clickable=True))
    assert lines == ('0 button "two\\nlines \\"quoted\\" \\\\"',)


def test_long_words_and_long_lists_are_cut_and_marked() -> None:
    elements, lines = listed(node("Button", 0, 0, 100, 20, text="x" * 20_000, clickable=True))
    assert len(elements[0].label) == LABEL_LIMIT and elements[0].label.endswith("…")
    listing = list_screen(Hierarchy((node("Button", 0, 0, 100, 200, text="words", clickable=True),)), SCREEN)
    assert [listing.text(limit) for limit in (0, 1, 5, 100)] == ["", "…", "0 bu…", lines[0][:9] + '"words"']


def test_what_is_off_the_screen_invisible_or_empty_is_not_listed() -> None:
    elements, _ = listed(
        node("Button", 0, 200, 100, 240, text="below", clickable=True),
        node("Button", 0, 0, 100, 20, text="hidden", clickable=True, visible=False),
        node("Button", 30, 30, 30, 60, text="flat", clickable=True),
    )
    assert elements == ()
