"""Which trigger a recorded action is: the same words that the simulator uses when the action is done again."""

from __future__ import annotations

from typing import assert_never

from phoneworld.program.program import Trigger
from phoneworld.sim.app import BULLET, key_node, swipe_kind
from phoneworld.sim.screenful import Screenful
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
from phoneworld.ui.node import Gesture


def trigger_of(screenful: Screenful, action: Action) -> Trigger | None:
    """The trigger of an action on a layout, or None for one that does nothing to the phone (answer, ask, finish)."""

    def under(gesture: Gesture, x: int, y: int) -> str:
        touched = screenful.touch(gesture, x, y)
        return "" if touched is None else touched[1] or touched[0]

    match action:
        case Tap(x, y):
            return Trigger("tap", under("tap", x, y))
        case DoubleTap(x, y):
            return Trigger("double_tap", under("tap", x, y))
        case LongPress(x, y):
            return Trigger("long_press", under("long_press", x, y))
        case Swipe(x, y, x2, y2):
            if (x, y) == (x2, y2):
                return Trigger("long_press", under("long_press", x, y))
            return Trigger(swipe_kind(x2 - x, y2 - y), under("scroll", x, y))
        case Drag(x, y):
            return Trigger("drag", under("tap", x, y))
        case Pinch(x, y, scale):
            return Trigger("pinch_out" if scale > 1 else "pinch_in", under("tap", x, y))
        case TypeText(text, x, y, mode):
            return _typing(screenful, text, x, y, append=mode == "append")
        case Clear(x, y):
            return _typing(screenful, "", x, y, append=False)
        case PressKey(key):
            return Trigger("key", key_node(key, screenful.focus), key)
        case OpenApp(package):
            return Trigger("open_app", "", package)
        case CloseApp(package):
            return Trigger("close_app", "", package)
        case Wait():
            return Trigger("wait")
        case Answer() | Ask() | Finish():
            return None
        case _:
            assert_never(action)


def _typing(screenful: Screenful, text: str, x: int | None, y: int | None, *, append: bool) -> Trigger:
    touched = screenful.touch("type", x, y) if x is not None and y is not None else None
    key = touched[1] if touched else screenful.focus
    node = screenful.node(key) if key else None
    if key is None or node is None:
        return Trigger("type", "", text)
    value = node.value + text if append else text
    return Trigger("type", key, BULLET * len(value) if node.password else value)
