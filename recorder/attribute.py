"""Which node an action belongs to, on the tree that was shown when it was done. One rule for every way of recording."""

from __future__ import annotations

from typing import assert_never

from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Path

FIELD_KEYS = ("enter", "backspace", "delete", "space")
"""The keys of which a focused field knows what to do."""


def attribute(hierarchy: Hierarchy, action: Action, size: Size) -> Path | None:
    """The node that takes the action; where none takes it, the topmost one it touches; None where it has no place.

    Text and Clear without a place, and the keys that a field takes for itself, belong to the focused field.
    """
    match action:
        case Tap(x, y) | DoubleTap(x, y):
            return _at(hierarchy, Point(x, y), "tap", size)
        case LongPress(x, y) | Drag(x, y):
            return _at(hierarchy, Point(x, y), "long_press", size)
        case Swipe(x, y) | Pinch(x, y):
            return _at(hierarchy, Point(x, y), "scroll", size)
        case TypeText(_, x, y) | Clear(x, y):
            return focused_field(hierarchy) if x is None or y is None else _at(hierarchy, Point(x, y), "type", size)
        case PressKey(key):
            return focused_field(hierarchy) if key in FIELD_KEYS else None
        case OpenApp() | CloseApp() | Wait() | Answer() | Ask() | Finish():
            return None
        case _:
            assert_never(action)


def focused_field(hierarchy: Hierarchy) -> Path | None:
    """The editable node that has the focus."""
    return next((path for path, node in hierarchy.walk() if node.focused and node.is_editable and node.visible), None)


def _at(hierarchy: Hierarchy, point: Point, gesture: Gesture, size: Size) -> Path | None:
    hit = hierarchy.hit_test(point, gesture, size)
    return None if hit is None else hit.target if hit.target is not None else hit.node
