"""Fingers on a page: gestures as series of `Input.dispatchTouchEvent`, and keys as `Input.dispatchKeyEvent`.

Synthesized gestures of CDP are not used: their tap gives no click and their scroll scrolls nothing.
"""

from __future__ import annotations

from phoneworld.device.web.page import WebPage
from phoneworld.ui.action import Key

Point = tuple[float, float]

_LONG_PRESS_MS = 500
_DOUBLE_TAP_GAP_MS = 50
_STEPS = 10
# Without a pause after each move Chromium extrapolates the finger, and without a still end it flings: then no two scrolls are alike.
_STEP_PAUSE_MS = 16
_STILL_MS = 160

# key, code, windowsVirtualKeyCode, text. Without the virtual key code Backspace does nothing.
_KEYS: dict[Key, tuple[str, str, int, str]] = {
    "enter": ("Enter", "Enter", 13, "\r"),
    "backspace": ("Backspace", "Backspace", 8, ""),
    "delete": ("Delete", "Delete", 46, ""),
    "tab": ("Tab", "Tab", 9, ""),
    "escape": ("Escape", "Escape", 27, ""),
    "space": (" ", "Space", 32, " "),
    "up": ("ArrowUp", "ArrowUp", 38, ""),
    "down": ("ArrowDown", "ArrowDown", 40, ""),
    "left": ("ArrowLeft", "ArrowLeft", 37, ""),
    "right": ("ArrowRight", "ArrowRight", 39, ""),
    "move_home": ("Home", "Home", 36, ""),
    "move_end": ("End", "End", 35, ""),
}


def tap(page: WebPage, at: Point) -> None:
    """Down and up: pointer, touch and mouse events, then the click."""
    _touch(page, "touchStart", at)
    _touch(page, "touchEnd")


def double_tap(page: WebPage, at: Point) -> None:
    """Two taps, near enough in time for a dblclick."""
    tap(page, at)
    page.pause(_DOUBLE_TAP_GAP_MS)
    tap(page, at)


def long_press(page: WebPage, at: Point, duration_ms: int) -> None:
    """Down, hold, and past 500 ms what Android makes of it: a `contextmenu` event and no click.

    Chromium here gives no contextmenu and clicks on release, so the event is dispatched and the touch cancelled.
    """
    _touch(page, "touchStart", at)
    if duration_ms < _LONG_PRESS_MS:
        page.pause(duration_ms)
        _touch(page, "touchEnd")
        return
    page.pause(_LONG_PRESS_MS)
    page.run(f"phoneworld.contextMenu({at[0]}, {at[1]})")
    page.pause(duration_ms - _LONG_PRESS_MS)
    _touch(page, "touchCancel")


def swipe(page: WebPage, start: Point, end: Point, duration_ms: int, *, hold_ms: int = 0) -> None:
    """Down, ten moves, a still moment, up: it scrolls by the way of the finger (less the slop) and never flings.

    `hold_ms` keeps the finger down before it moves, as a drag does.
    """
    _touch(page, "touchStart", start)
    if hold_ms:
        page.pause(hold_ms)
    pause = max(_STEP_PAUSE_MS, duration_ms // _STEPS - 2 * _STEP_PAUSE_MS)
    for i in range(1, _STEPS + 1):
        part = i / _STEPS
        _touch(page, "touchMove", (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part))
        page.pause(pause)
    page.pause(_STILL_MS)
    _touch(page, "touchEnd")


def pinch(page: WebPage, at: Point, scale: float, duration_ms: int, *, reach: float = 60) -> None:
    """Two fingers level with each other: apart by `reach` CSS pixels on each side at the closer end of the movement."""
    first, last = (reach, reach * scale) if scale >= 1 else (reach / scale, reach)
    for i in range(_STEPS + 1):
        spread = first + (last - first) * i / _STEPS
        points = ((at[0] - spread, at[1]), (at[0] + spread, at[1]))
        _touch(page, "touchStart" if i == 0 else "touchMove", *points)
        page.pause(max(_STEP_PAUSE_MS, duration_ms / _STEPS))
    _touch(page, "touchEnd")


def press_key(page: WebPage, key: Key) -> bool:
    """Presses a key that web pages know; False for a key that is the system's."""
    if key not in _KEYS:
        return False
    name, code, number, text = _KEYS[key]
    event = {"key": name, "code": code, "windowsVirtualKeyCode": number, "nativeVirtualKeyCode": number}
    down = {"type": "keyDown", **event, "text": text} if text else {"type": "rawKeyDown", **event}
    page.send_input("Input.dispatchKeyEvent", down)
    page.send_input("Input.dispatchKeyEvent", {"type": "keyUp", **event})
    return True


def type_text(page: WebPage, text: str) -> None:
    """Types into what has the focus, any script at once, as an input method commits it; a line end is the Enter key."""
    for i, line in enumerate(text.split("\n")):
        if i:
            press_key(page, "enter")
        if line:
            page.send_input("Input.insertText", {"text": line})


def _touch(page: WebPage, kind: str, *points: Point) -> None:
    page.send_input("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})
