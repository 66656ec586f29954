"""A widget is found again by its words, its id and what stands beside it, not by its pixels; and what is not there is not found."""

from __future__ import annotations

import pytest

from phoneworld.transfer.counterpart import aimed, counterpart
from phoneworld.ui.action import Action, LongPress, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

SIZE = Size(400, 800)


def node(kind: str, top: int, *children: Node, left: int = 0, right: int = 400, **more: object) -> Node:
    return Node(f"android.widget.{kind}", bounds=Bounds(left, top, right, top + 40), children=children, **more)  # type: ignore[arg-type]


def listed(*rows: tuple[str, int], **button: object) -> Hierarchy:
    """Rows of words with a box, at their places, and a button below."""
    lines = [
        node("LinearLayout", top, node("CheckBox", top, right=40, checkable=True, clickable=True), node("TextView", top, left=50, text=words), clickable=True, long_clickable=True)
        for words, top in rows
    ]
    field = node("EditText", 700, clickable=True, resource_id="app:id/query", hint="Search", text="typed")
    more: dict[str, object] = {"text": "Save", "resource_id": "app:id/save"} | button
    return Hierarchy((Node("android.widget.FrameLayout", bounds=SIZE.bounds, children=(*lines, field, node("Button", 760, clickable=True, **more))),))


HERE = listed(("Milk", 100), ("Bread", 140))


@pytest.mark.parametrize(
    ("action", "there", "found"),
    [
        (Tap(10, 120), listed(("Milk", 100), ("Bread", 140)), Tap(10, 120)),
        (Tap(10, 120), listed(("Eggs", 100), ("Milk", 140), ("Bread", 180)), Tap(20, 160)),
        (LongPress(200, 160), listed(("Bread", 100), ("Milk", 140)), LongPress(225, 120)),
        (TypeText("x", 200, 720), listed(("Milk", 300)), TypeText("x", 200, 720)),
        (Tap(200, 780), listed(("Milk", 100), text="Save all"), Tap(200, 780)),
        (Swipe(200, 600, 200, 200), listed(), Swipe(200, 600, 200, 200)),
        (PressKey("back"), listed(), PressKey("back")),
        (TypeText("x"), listed(), TypeText("x")),
    ],
)
def test_a_touch_is_aimed_at_the_widget_that_is_like_it(action: Action, there: Hierarchy, found: Action) -> None:
    turned = aimed(action, HERE, there, SIZE)
    assert turned is not None and type(turned.action) is type(found)
    if isinstance(found, Tap | LongPress):
        assert isinstance(turned.action, Tap | LongPress)
        hit, wanted = (there.hit_test(point_of(a), "long_press" if isinstance(a, LongPress) else "tap", SIZE) for a in (turned.action, found))
        assert hit is not None and wanted is not None and hit.target == wanted.target
    else:
        assert turned.action == found


def point_of(action: Tap | LongPress) -> Point:
    return Point(action.x, action.y)


def test_the_same_pixels_are_told_from_the_same_widget() -> None:
    moved = aimed(Tap(10, 120), HERE, listed(("Eggs", 100), ("Milk", 140)), SIZE)
    same = aimed(Tap(10, 120), HERE, HERE, SIZE)
    assert moved is not None and same is not None
    assert (same.blind, same.moved, moved.blind) == (True, 0, False) and moved.moved > 0


def test_a_row_with_other_words_and_a_button_with_another_id_and_words_are_not_it() -> None:
    assert aimed(LongPress(200, 120), HERE, listed(("Eggs", 100), ("Cheese", 140)), SIZE) is None
    assert aimed(Tap(200, 780), HERE, listed(text="Delete", resource_id="app:id/delete"), SIZE) is None


def test_what_is_out_of_sight_is_not_found() -> None:
    assert counterpart(HERE, (0, 0), listed(("Bread", 140), ("Milk", 900)), SIZE, "long_press") is None
