"""Raw input of a page, decoded into actions: the page only says where a finger, a wheel or a key was. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from phoneworld.ui.action import Action, Drag, Key, LongPress, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.geometry import Size

_SLOP_DP = 12  # a finger that moved less has not moved: Android's touch slop is 8 dp, a mouse shakes more
_LONG_MS = 500
_HOLD_BEFORE_DRAG_MS = 400
_WHEEL_SHARE = 0.42  # one wheel gesture moves the finger by this share of the screen

_KEYS: dict[str, Key] = {
    "Escape": "back", "BrowserBack": "back", "GoBack": "back", "Home": "move_home", "End": "move_end", "Enter": "enter",
    "Backspace": "backspace", "Delete": "delete", "Tab": "tab", "ArrowUp": "up", "ArrowDown": "down", "ArrowLeft": "left",
    "ArrowRight": "right", "ContextMenu": "menu", "BrowserHome": "home", "AudioVolumeUp": "volume_up",
    "AudioVolumeDown": "volume_down",
}  # fmt: skip
_BUTTONS: dict[str, Key] = {"back": "back", "home": "home", "recents": "recents"}


@dataclass(frozen=True, slots=True)
class Pointer:
    """One finger from down to up: (x, y, milliseconds) each, pixels of the screen."""

    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A turn of the wheel over a point; positive `dy` scrolls down."""

    x: float
    y: float
    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class KeyDown:
    """A key by its DOM name: a character, or a name such as `Enter`."""

    key: str


@dataclass(frozen=True, slots=True)
class Pasted:
    """Text put in as a whole: pasted, or composed by an input method."""

    text: str


@dataclass(frozen=True, slots=True)
class NavigationButton:
    """One of the three buttons below the phone."""

    name: str


Input = Pointer | Wheel | KeyDown | Pasted | NavigationButton


def decode(raw: Input, size: Size, density: int) -> Action | None:
    """The action that this input is; None where it is none (a key that a phone does not have, a finger outside)."""
    match raw:
        case Pointer(points):
            return _finger(points, size, density)
        case Wheel(x, y, dx, dy):
            return _wheel(x, y, dx, dy, size)
        case KeyDown(key):
            if key in _KEYS:
                return PressKey(_KEYS[key])
            return TypeText(key) if len(key) == 1 and key.isprintable() else None
        case Pasted(text):
            return TypeText(text[:10_000]) if text else None
        case NavigationButton(name):
            return PressKey(_BUTTONS[name]) if name in _BUTTONS else None
        case _:
            assert_never(raw)


def _finger(points: Sequence[tuple[float, float, float]], size: Size, density: int) -> Action | None:
    if not points:
        return None
    (x0, y0, t0), (x1, y1, t1) = points[0], points[-1]
    if not (0 <= x0 < size.width and 0 <= y0 < size.height):
        return None
    duration = max(0, min(60_000, round(t1 - t0)))
    start_x, start_y = _inside(x0, y0, size)
    slop = _SLOP_DP * density / 160
    moved = [t for x, y, t in points if max(abs(x - x0), abs(y - y0)) > slop]
    if not moved:
        return LongPress(start_x, start_y, duration) if duration >= _LONG_MS else Tap(start_x, start_y)
    end_x, end_y = _inside(x1, y1, size)
    if moved[0] - t0 >= _HOLD_BEFORE_DRAG_MS:
        return Drag(start_x, start_y, end_x, end_y, max(duration, 1))
    return Swipe(start_x, start_y, end_x, end_y, max(duration, 50))


def _wheel(x: float, y: float, dx: float, dy: float, size: Size) -> Action | None:
    if not (0 <= x < size.width and 0 <= y < size.height) or (dx == 0 and dy == 0):
        return None
    px, py = _inside(x, y, size)
    if abs(dx) > abs(dy):
        reach = round(size.width * _WHEEL_SHARE)
        to_x, _ = _inside(px - reach if dx > 0 else px + reach, py, size)
        return Swipe(px, py, to_x, py, 300)
    reach = round(size.height * _WHEEL_SHARE)
    _, to_y = _inside(px, py - reach if dy > 0 else py + reach, size)
    return Swipe(px, py, px, to_y, 300)


def _inside(x: float, y: float, size: Size) -> tuple[int, int]:
    return max(0, min(size.width - 1, int(x))), max(0, min(size.height - 1, int(y)))
