"""Strokes of fingers turned into actions. Pure. What one finger did is decided by the one decoder that the mock's page uses too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Literal

from phoneworld.ui.action import Action, DoubleTap, Pinch, Swipe, Tap
from phoneworld.ui.geometry import Size
from phoneworld.ui.gestures import Pointer, decode
from phoneworld.ui.getevent import FingerPath
from phoneworld.ui.glass import Panel

Points = tuple[tuple[float, float, float], ...]
"""One finger from down to up: (x, y, ms) in pixels of the screen."""

DOUBLE_TAP_MS = 300  # Android's ViewConfiguration.getDoubleTapTimeout
_DOUBLE_TAP_DP = 100  # ... and its double tap slop
_EDGE_DP = 24  # gesture navigation: the system takes swipes that begin this near to a side
_BOTTOM_DP = 32
_INWARDS_DP = 24
_SAME_SCALE = 0.15

Edge = Literal["side", "bottom"]


@dataclass(frozen=True, slots=True)
class Touch:
    """All fingers of one stroke, in pixels of the screen as it was turned then."""

    fingers: tuple[Points, ...]

    @property
    def start_ms(self) -> float:
        return min(f[0][2] for f in self.fingers)

    @property
    def end_ms(self) -> float:
        return max(f[-1][2] for f in self.fingers)


@dataclass(frozen=True, slots=True)
class Act:
    """What strokes amount to: `action` is None where it is none of ours (three fingers), then `notes` says what it was."""

    action: Action | None
    start_ms: float
    end_ms: float
    notes: tuple[str, ...] = ()


def touch_of(fingers: Sequence[FingerPath], panel: Panel, rotation: int) -> Touch:
    """Fingers on the glass as fingers on the screen, while it is turned by `rotation` quarter turns.

    A finger's way ends when it was lifted, not when it moved last.
    """

    def on_screen(finger: FingerPath) -> Points:
        x, y, _ = finger.points[-1]
        return tuple((*panel.pixel(raw_x, raw_y, rotation), at_ms) for raw_x, raw_y, at_ms in (*finger.points, (x, y, finger.end_ms)))

    return Touch(tuple(on_screen(finger) for finger in fingers))


def act_of(touch: Touch, size: Size, density: int) -> Act:
    """The action of one stroke."""
    start, end = touch.start_ms, touch.end_ms
    fingers = [f for f in touch.fingers if f]
    if len(fingers) == 1:
        action = decode(Pointer(fingers[0]), size, density)
        return Act(action, start, end, () if action is not None else ("off-screen",))
    if len(fingers) == 2:
        return _two_fingers(fingers[0], fingers[1], size, density, start, end)
    return Act(None, start, end, (f"{len(fingers)}-fingers",))


def _two_fingers(a: Points, b: Points, size: Size, density: int, start: float, end: float) -> Act:
    before, after = _distance(a[0], b[0]), _distance(a[-1], b[-1])
    scale = after / before if before else 1.0
    x, y = ((a[0][i] + b[0][i]) / 2 for i in (0, 1))
    middle = decode(Pointer(((x, y, 0.0), (x, y, 0.0))), size, density)
    if not isinstance(middle, Tap):
        return Act(None, start, end, ("off-screen",))
    if abs(scale - 1) > _SAME_SCALE:
        return Act(Pinch(middle.x, middle.y, round(min(100.0, max(0.01, scale)), 2), _duration(start, end)), start, end)
    moved = decode(Pointer(((x, y, start), ((a[-1][0] + b[-1][0]) / 2, (a[-1][1] + b[-1][1]) / 2, end))), size, density)
    return Act(moved if isinstance(moved, Swipe) else None, start, end, ("2-fingers",))


def _distance(p: tuple[float, float, float], q: tuple[float, float, float]) -> float:
    return hypot(p[0] - q[0], p[1] - q[1])


def _duration(start: float, end: float) -> int:
    return max(1, min(60_000, round(end - start)))


@dataclass(slots=True)
class Grouper:
    """Holds a tap back until it is sure that no second one makes a double tap of it. Times are those of the strokes."""

    density: int
    _held: Act | None = field(default=None)

    def feed(self, act: Act) -> tuple[Act, ...]:
        """The acts that are complete now, oldest first."""
        held, self._held = self._held, None
        if held is not None and self._is_double(held, act):
            assert isinstance(held.action, Tap)
            return (Act(DoubleTap(held.action.x, held.action.y), held.start_ms, act.end_ms, held.notes),)
        out = () if held is None else (held,)
        if isinstance(act.action, Tap):
            self._held = act
            return out
        return (*out, act)

    @property
    def due_ms(self) -> float | None:
        """When the tap that is held back will be one for sure; None where none is."""
        return None if self._held is None else self._held.end_ms + DOUBLE_TAP_MS

    def flush(self) -> tuple[Act, ...]:
        """What was held back: nothing more comes in time."""
        held, self._held = self._held, None
        return () if held is None else (held,)

    def _is_double(self, first: Act, second: Act) -> bool:
        if not (isinstance(first.action, Tap) and isinstance(second.action, Tap)):
            return False
        reach = _DOUBLE_TAP_DP * self.density / 160
        near = hypot(first.action.x - second.action.x, first.action.y - second.action.y) <= reach
        return near and 0 <= second.start_ms - first.end_ms <= DOUBLE_TAP_MS


def acts_of(touches: Sequence[Touch], size: Size, density: int) -> tuple[Act, ...]:
    """All acts of a run of strokes."""
    grouper = Grouper(density)
    acts = [act for touch in touches for act in grouper.feed(act_of(touch, size, density))]
    return (*acts, *grouper.flush())


def edge_of(action: Action, size: Size, density: int) -> Edge | None:
    """Where a swipe began that gesture navigation would take: `side` means Back, `bottom` Home or Recents, if the phone reacts so."""
    if not isinstance(action, Swipe):
        return None
    dp = density / 160
    dx, dy = action.x2 - action.x, action.y2 - action.y
    if action.y >= size.height - _BOTTOM_DP * dp and dy < -_INWARDS_DP * dp and abs(dy) > abs(dx):
        return "bottom"
    from_left = action.x < _EDGE_DP * dp and dx > _INWARDS_DP * dp
    from_right = action.x >= size.width - _EDGE_DP * dp and dx < -_INWARDS_DP * dp
    return "side" if (from_left or from_right) and abs(dx) > abs(dy) else None
