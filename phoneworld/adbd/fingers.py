"""What the kernel of a phone says of fingers on the glass: protocol B of Linux multitouch, as `getevent` prints it.

Only a finger makes these events. What `input` injects comes in above the kernel and never shows here, as on a phone. Slots
and axes are sent only when they change. Coordinates are those of the panel, so of the screen as it is held naturally.
Source: the kernel's multi-touch-protocol.rst; Android's getevent.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from phoneworld.ui.action import DoubleTap, Drag, LongPress, Pinch, Swipe, Tap
from phoneworld.ui.geometry import Point, Size

DEVICE = "/dev/input/event2"
NAME = "phoneworld_touch"
SLOTS = 10
EV_SYN, EV_KEY, EV_ABS = 0, 1, 3
SYN_REPORT, BTN_TOUCH = 0, 0x14A
SLOT, TOUCH_MAJOR, POSITION_X, POSITION_Y, TRACKING_ID, PRESSURE = 0x2F, 0x30, 0x35, 0x36, 0x39, 0x3A
RELEASED = 0xFFFFFFFF
TYPES = {EV_SYN: "EV_SYN", EV_KEY: "EV_KEY", EV_ABS: "EV_ABS"}
CODES = {
    (EV_SYN, SYN_REPORT): "SYN_REPORT", (EV_KEY, BTN_TOUCH): "BTN_TOUCH", (EV_ABS, SLOT): "ABS_MT_SLOT",
    (EV_ABS, TOUCH_MAJOR): "ABS_MT_TOUCH_MAJOR", (EV_ABS, POSITION_X): "ABS_MT_POSITION_X",
    (EV_ABS, POSITION_Y): "ABS_MT_POSITION_Y", (EV_ABS, TRACKING_ID): "ABS_MT_TRACKING_ID", (EV_ABS, PRESSURE): "ABS_MT_PRESSURE",
}  # fmt: skip
_MOVE_EVERY_MS = 16
_TAP_MS, _BETWEEN_TAPS_MS, _DRAG_HOLD_MS = 60, 120, 600
_PINCH_PX = 200

Touch = Tap | DoubleTap | LongPress | Swipe | Drag | Pinch


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One event. `time_s` is the kernel's monotonic clock."""

    time_s: float
    type: int
    code: int
    value: int


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the fingers are at one moment: a point by slot, None where one was lifted."""

    after_ms: float
    fingers: dict[int, Point | None]


def to_panel(point: Point, rotation: int, panel: Size) -> Point:
    """A pixel of the turned screen as one of the panel. Turns are quarters, counted as Android's Surface.ROTATION_*."""
    match rotation % 4:
        case 1:
            return Point(panel.width - 1 - point.y, point.x)
        case 2:
            return Point(panel.width - 1 - point.x, panel.height - 1 - point.y)
        case 3:
            return Point(point.y, panel.height - 1 - point.x)
        case _:
            return point


def frames_of(touch: Touch) -> Iterator[Frame]:
    """How a hand does a gesture: where its fingers are, moment after moment, on the turned screen."""
    match touch:
        case Tap(x, y):
            yield from _held(Point(x, y), 0, _TAP_MS)
        case LongPress(x, y, ms):
            yield from _held(Point(x, y), 0, ms)
        case DoubleTap(x, y):
            yield from _held(Point(x, y), 0, _TAP_MS)
            yield from _held(Point(x, y), _TAP_MS + _BETWEEN_TAPS_MS, _TAP_MS)
        case Swipe(x, y, x2, y2, ms):
            yield from _moved({0: (Point(x, y), Point(x2, y2))}, 0, ms)
        case Drag(x, y, x2, y2, ms):
            yield from _moved({0: (Point(x, y), Point(x2, y2))}, min(_DRAG_HOLD_MS, ms // 2 or 1), ms)
        case Pinch(x, y, scale, ms):
            near = round(_PINCH_PX * min(1, 1 / scale) / 2), round(_PINCH_PX * min(1, scale) / 2)
            paths = {
                slot: (Point(x + sign * near[0], y), Point(x + sign * near[1], y)) for slot, sign in ((0, -1), (1, 1))
            }
            yield from _moved(paths, 0, ms)


def _held(at: Point, start_ms: float, ms: float) -> Iterator[Frame]:
    yield Frame(start_ms, {0: at})
    yield Frame(start_ms + ms, {0: None})


def _moved(paths: dict[int, tuple[Point, Point]], hold_ms: float, ms: float) -> Iterator[Frame]:
    yield Frame(0, {slot: start for slot, (start, _) in paths.items()})
    steps = max(1, round((ms - hold_ms) / _MOVE_EVERY_MS))
    for i in range(1, steps + 1):
        share = i / steps
        yield Frame(
            hold_ms + (ms - hold_ms) * share,
            {
                slot: Point(round(a.x + (b.x - a.x) * share), round(a.y + (b.y - a.y) * share))
                for slot, (a, b) in paths.items()
            },
        )
    yield Frame(max(ms, hold_ms), dict.fromkeys(paths))


class FingerEvents:
    """The touch screen of one phone as an input device: fed with fingers from any thread, read by any number of getevents."""

    def __init__(self, panel: Size) -> None:
        self.panel = panel
        self._lock = threading.Lock()
        self._readers: set[Callable[[list[KernelEvent]], None]] = set()
        self._slot = 0
        self._next_id = 0
        self._down: dict[int, Point] = {}
        self._last_x: dict[int, int] = {}
        self._last_y: dict[int, int] = {}

    def touch(self, touch: Touch, *, rotation: int = 0, end_s: float | None = None) -> list[KernelEvent]:
        """Sends the events of a whole gesture that has just ended, each with the time at which the hand did it."""
        frames = list(frames_of(touch))
        start_s = (time.monotonic() if end_s is None else end_s) - frames[-1].after_ms / 1000
        events: list[KernelEvent] = []
        with self._lock:
            for frame in frames:
                events += self._report(start_s + frame.after_ms / 1000, frame.fingers, rotation)
            self._send(events)
        return events

    def fingers(self, fingers: dict[int, Point | None], *, rotation: int = 0) -> list[KernelEvent]:
        """Sends one report, now: where these fingers are, by slot; None lifts one. Points lie on the turned screen."""
        with self._lock:
            events = self._report(time.monotonic(), fingers, rotation)
            self._send(events)
        return events

    def _report(self, time_s: float, fingers: dict[int, Point | None], rotation: int) -> list[KernelEvent]:
        events: list[KernelEvent] = []
        touched_before = bool(self._down)

        def absolute(code: int, value: int) -> None:
            events.append(KernelEvent(time_s, EV_ABS, code, value))

        def select(slot: int) -> None:
            if slot != self._slot:
                self._slot = slot
                absolute(SLOT, slot)

        for slot, point in sorted(fingers.items()):
            if not 0 <= slot < SLOTS:
                continue
            if point is None:
                if slot in self._down:
                    select(slot)
                    absolute(TRACKING_ID, RELEASED)
                    del self._down[slot]
                continue
            at = to_panel(point, rotation, self.panel)
            select(slot)
            if slot not in self._down:
                absolute(TRACKING_ID, self._next_id)
                self._next_id = (self._next_id + 1) % 0x10000
            if self._last_x.get(slot) != at.x:
                absolute(POSITION_X, at.x)
            if self._last_y.get(slot) != at.y:
                absolute(POSITION_Y, at.y)
            self._down[slot], self._last_x[slot], self._last_y[slot] = at, at.x, at.y
        if bool(self._down) != touched_before:
            events.append(KernelEvent(time_s, EV_KEY, BTN_TOUCH, int(bool(self._down))))
        if events:
            events.append(KernelEvent(time_s, EV_SYN, SYN_REPORT, 0))
        return events

    def _send(self, events: list[KernelEvent]) -> None:
        if events:
            for reader in list(self._readers):
                reader(events)

    def read(self) -> Reading:
        """The events from now on, for the event loop that asks."""
        return Reading(self)

    def _join(self, reader: Callable[[list[KernelEvent]], None]) -> None:
        with self._lock:
            self._readers.add(reader)

    def _leave(self, reader: Callable[[list[KernelEvent]], None]) -> None:
        with self._lock:
            self._readers.discard(reader)

    @property
    def readers(self) -> int:
        """How many getevents listen now: a test waits for it before it touches."""
        return len(self._readers)


class Reading:
    """One getevent that listens, as a `with` block. Events beyond 100,000 unread ones are dropped, as a kernel does."""

    _MOST = 100_000

    def __init__(self, source: FingerEvents) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._events: list[KernelEvent] = []
        self._arrived = asyncio.Event()

    def _take(self, events: Iterable[KernelEvent]) -> None:
        def put() -> None:
            if len(self._events) < self._MOST:
                self._events.extend(events)
            self._arrived.set()

        try:
            self._loop.call_soon_threadsafe(put)
        except RuntimeError:
            self._source._leave(self._take)  # the loop has ended

    def __enter__(self) -> Reading:
        self._source._join(self._take)
        return self

    def __exit__(self, *_: object) -> None:
        self._source._leave(self._take)

    async def next(self) -> list[KernelEvent]:
        """What has come since the last call, at least one event."""
        while not self._events:
            self._arrived.clear()
            await self._arrived.wait()
        events, self._events = self._events, []
        return events
