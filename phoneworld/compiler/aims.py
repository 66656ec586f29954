"""Which slot of a template an action is for, and in which row: what was done, in the words of the screen it was done on."""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.compiler.template import Content
from phoneworld.graph.graph import Capture
from phoneworld.program.program import TriggerKind
from phoneworld.sim.app import BULLET, swipe_kind
from phoneworld.ui.action import (
    Action,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
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


@dataclass(frozen=True, slots=True)
class Aim:
    """What was done: the kind, the slot it was done to ("" for none), the row's index there, an argument, the field's value after typing."""

    kind: TriggerKind
    slot: str = ""
    row: int | None = None
    argument: str | None = None
    typed: str = ""


def find_aim(capture: Capture, content: Content, action: Action) -> Aim | None:
    """Which slot an action is for; None for an action that does nothing to the phone (answer, ask, finish)."""
    tree, size = capture.hierarchy, capture.size

    def at(gesture: Gesture, x: int, y: int) -> tuple[str, int | None]:
        path = touched(tree, size, gesture, x, y)
        return content.places[path] if path is not None else ("", None)

    focus = next((p for p, n in tree.walk() if n.focused and n.is_editable), None)
    on_focus = content.places[focus] if focus is not None else ("", None)
    match action:
        case Tap(x, y):
            return Aim("tap", *at("tap", x, y))
        case DoubleTap(x, y):
            return Aim("double_tap", *at("tap", x, y))
        case LongPress(x, y):
            return Aim("long_press", *at("long_press", x, y))
        case Swipe(x, y, x2, y2):
            if (x, y) == (x2, y2):
                return Aim("long_press", *at("long_press", x, y))
            return Aim(swipe_kind(x2 - x, y2 - y), *at("scroll", x, y))
        case Drag(x, y):
            return Aim("drag", *at("tap", x, y))
        case Pinch(x, y, scale):
            return Aim("pinch_out" if scale > 1 else "pinch_in", *at("tap", x, y))
        case TypeText(text, x, y, mode):
            return _typing(tree, size, content, focus, text, x, y, append=mode == "append")
        case Clear(x, y):
            return _typing(tree, size, content, focus, "", x, y, append=False)
        case PressKey(key):
            return Aim("key", *(on_focus if key in ("enter", "search", "tab") else ("", None)), argument=key)
        case OpenApp(package):
            return Aim("open_app", argument=package)
        case CloseApp(package):
            return Aim("close_app", argument=package)
        case Wait():
            return Aim("wait")
        case _:
            return None


def _typing(
    tree: Hierarchy,
    size: Size,
    content: Content,
    focus: Path | None,
    text: str,
    x: int | None,
    y: int | None,
    *,
    append: bool,
) -> Aim:
    path = touched(tree, size, "type", x, y) if x is not None and y is not None else focus
    node = tree.at(path) if path is not None else None
    if path is None or node is None or not node.is_editable:
        return Aim("type", typed=text)
    value = node.value + text if append else text
    return Aim("type", *content.places[path], typed=BULLET * len(value) if node.password else value)


def touched(tree: Hierarchy, size: Size, gesture: Gesture, x: int, y: int) -> Path | None:
    """The node that takes a gesture at a pixel, else the node there."""
    for path, node in tree.touch_order(size):
        b = node.bounds
        if b.left <= x < b.right and b.top <= y < b.bottom:
            return tree.nearest(path, gesture) or path
    return None


def may_be_covered(capture: Capture, action: Action) -> bool:
    """True where two parts of a screen that show something lie at the touched pixel, neither in the other: the tree does not tell for sure which one is on top."""
    match action:
        case Tap(x, y) | DoubleTap(x, y) | LongPress(x, y):
            pass
        case _:
            return False
    tree = capture.hierarchy
    path = touched(tree, capture.size, "tap", x, y)
    if path is None:
        return False
    for other, node in tree.walk():
        apart = other[: len(path)] != path and path[: len(other)] != other
        if apart and node.visible and (node.label or node.clickable) and node.bounds.contains(Point(x, y)):
            return True
    return False
