"""The person uses the phone itself; its touch events are decoded and recorded with what was shown before and after.

Looks at the phone go on all the time, each with its time, so that the screen before a touch is known although the touch has
changed it already. A touch whose screen was not read in time is marked `stale-prestate`; where the next touch came before the
screen was at rest, what was seen between the two is kept as unsettled, and where nothing was seen the trace ends. A touch of
which it is not known what it was ends the trace too: whatever it did is the outcome of no other step.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from phoneworld.device.settle import Reading, package_of
from phoneworld.errors import CaptureFailed, DeviceLost
from phoneworld.ui.action import Action, OpenApp, PressKey, Tap
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.getevent import Decoder, KeyPress, Stroke, TouchBegan, TouchEvent, Undecoded
from phoneworld.ui.glass import KEYS, InputDevice, Panel
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.strokes import Act, Grouper, act_of, edge_of, touch_of
from recorder.driven import Driven
from recorder.looks import Ring, reading_of
from recorder.session import Reason
from recorder.typed import Typing
from recorder.windows import is_launcher, keyboard_region

IDLE_S = 1.0
_LATENCY_MS = 80
_CLOCKS_APART_MS = 3000


class EventStream(Protocol):
    """The output of getevent as it arrives."""

    def read(self, timeout_s: float) -> tuple[bytes, float]:
        """What has come, and when (host monotonic ms); nothing after the time. Raises DeviceLost where the stream has ended."""
        ...


@dataclass(slots=True)
class Clock:
    """Maps the phone's event times to this host. `offset_ms` is what to add, refined by what arrives: nothing arrives early."""

    offset_ms: float | None = None

    def arrived(self, event_ms: float, host_ms: float) -> None:
        """An event of this time came at that time."""
        seen = host_ms - event_ms
        if self.offset_ms is None or seen < self.offset_ms or seen - self.offset_ms > _CLOCKS_APART_MS:
            self.offset_ms = seen

    def host(self, event_ms: float) -> float:
        return event_ms + (self.offset_ms or 0.0)


@dataclass(slots=True)
class Tally:
    """What was not recorded, by reason, for the report."""

    undecoded: dict[str, int] = field(default_factory=dict)
    stale: int = 0
    keyboard_taps: int = 0

    def count(self, reason: str) -> None:
        self.undecoded[reason] = self.undecoded.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class _Done:
    """An act at host times. `action` is None where something was done on the glass of which it is not known what."""

    action: Action | None
    start_ms: float
    end_ms: float
    notes: tuple[str, ...] = ()


class TouchRecorder:
    """Follows one phone. Belongs to the thread of its device; `driven.device` must be `Watched` with the same ring."""

    def __init__(
        self,
        driven: Driven,
        ring: Ring,
        stream: EventStream,
        screens: tuple[InputDevice, ...],
        natural: Size,
        *,
        instruction: str = "",
        limit: int | None = None,
        clock: Clock | None = None,
        on_step: Callable[[int], None] | None = None,
    ) -> None:
        self.tally = Tally()
        self._driven = driven
        self._ring = ring
        self._stream = stream
        self._decoder = Decoder(screens)
        self._panels = {d.path: Panel(natural, d.x, d.y) for d in screens if d.x is not None and d.y is not None}
        self._density = driven.device.info.density
        self._grouper = Grouper(self._density)
        self._clock = clock or Clock()
        self._instruction = instruction
        self._limit = limit
        self._on_step = on_step
        self._queue: deque[_Done] = deque()
        self._begun_ms: deque[float] = deque(maxlen=64)
        self._fingers_down = False
        self._stood_ms = 0.0  # when the capture at which the trace stands was whole
        self._acted_ms = 0.0  # when the last act was over that was taken in
        self._typing: Typing | None = None

    def run(self, stopped: Callable[[], bool] = lambda: False, *, ready: Callable[[], None] = lambda: None) -> Reason:
        """Records until `stopped` or the limit; calls `ready` once touches are recorded. Raises DeviceLost."""
        try:
            return self._follow(stopped, ready)
        finally:
            self._told()

    def _follow(self, stopped: Callable[[], bool], ready: Callable[[], None]) -> Reason:
        try:
            reason = self._listen(stopped, ready)
            if reason == "interrupted":
                self._end()
        except DeviceLost:
            self._finish_typing(None)
            raise
        self._finish_typing(None)
        return reason

    def _listen(self, stopped: Callable[[], bool], ready: Callable[[], None]) -> Reason:
        self._start()
        ready()
        while not stopped():
            self._hear(0.0 if self._queue else 0.05)
            if self._queue:
                self._record(self._queue.popleft())
                self._told()
            elif self._fingers_down or self._grouper.due_ms is not None:
                continue
            elif _now_ms() - self._ring.until_ms > IDLE_S * 1000:
                self._glance()
            if self._limit is not None and self._driven.steps >= self._limit and not self._queue:
                return "finished"
        return "interrupted"

    def _start(self) -> None:
        driven = self._driven
        reading = driven.look()
        if (package_of(reading.hierarchy) or reading.state.package) != driven.app:
            driven.device.perform(OpenApp(driven.app))
            reading = driven.look(reading.hierarchy)
        driven.start_trace(reading, instruction=self._instruction)
        self._stood_ms = self._ring.until_ms

    def _end(self) -> None:
        for event in self._decoder.end():
            self._take(event)
        self._flush()
        while self._queue and self._queue[-1].action is None:
            self._queue.pop()  # nothing follows that could be taken for its doing
        while self._queue:
            self._record(self._queue.popleft())

    # ---- hearing

    def _hear(self, timeout_s: float) -> None:
        """Takes in what has come; waits for it no longer than that."""
        data, came_ms = self._stream.read(timeout_s)
        if data:
            events = self._decoder.feed(data)
            if self._decoder.last_ms:
                self._clock.arrived(self._decoder.last_ms, came_ms)
            for event in events:
                self._take(event)
        due = self._grouper.due_ms
        if due is not None and not self._fingers_down and _now_ms() >= self._clock.host(due) + _LATENCY_MS:
            self._flush()

    def _flush(self) -> None:
        """A tap that was held back is one."""
        self._queue.extend(self._at_host(a) for a in self._grouper.flush())

    def _take(self, event: TouchEvent) -> None:
        match event:
            case TouchBegan(_, at_ms):
                self._fingers_down = True
                self._begun_ms.append(self._clock.host(at_ms))
            case Stroke(device, fingers):
                self._fingers_down = False
                panel = self._panels.get(device) or next(iter(self._panels.values()))
                rotation = self._rotation()
                act = act_of(touch_of(fingers, panel, rotation), self._size(), self._density)
                for done in self._grouper.feed(act):
                    if done.action is None:
                        self.tally.count(done.notes[0] if done.notes else "unknown")
                    self._queue.append(self._at_host(done))
            case KeyPress(_, name, at_ms):
                if name in KEYS:
                    at = self._clock.host(at_ms)
                    self._begun_ms.append(at)
                    self._flush()
                    self._queue.append(_Done(PressKey(KEYS[name]), at, at, ("hardware-key",)))
            case Undecoded(_, reason, at_ms):
                self._fingers_down = False
                self._unknown(reason, self._clock.host(at_ms))

    def _unknown(self, reason: str, at_ms: float) -> None:
        """Something was done on the glass up to then; what came before it stays before it."""
        self.tally.count(reason)
        self._flush()
        self._queue.append(_Done(None, at_ms, at_ms))

    def _at_host(self, act: Act) -> _Done:
        return _Done(act.action, self._clock.host(act.start_ms), self._clock.host(act.end_ms), act.notes)

    def _rotation(self) -> int:
        reading = self._driven.reading
        return 0 if reading is None else reading.state.rotation or reading.hierarchy.rotation

    def _size(self) -> Size:
        reading = self._driven.reading
        return self._driven.device.info.size if reading is None else reading.size

    # ---- recording

    def _record(self, act: _Done) -> None:
        driven = self._driven
        self._acted_ms = max(self._acted_ms, act.end_ms)
        if act.action is None:
            while self._queue and self._queue[0].action is None:
                self._queue.popleft()
            self._break_off()
            return
        if not driven.in_trace and not self._begin_anew():
            self.tally.count("screen-not-read")
            return
        reading = driven.reading
        assert reading is not None
        region = keyboard_region(reading.hierarchy, reading.size, is_shown=reading.state.keyboard)
        if isinstance(act.action, Tap) and region is not None and region.contains(Point(act.action.x, act.action.y)):
            self._type(act.action, act.end_ms, region)
            return
        if self._typing is not None and self._typing.unread and not self._break_off():
            self.tally.count("screen-not-read")
            return
        self._finish_typing(None)
        reading = driven.reading
        assert reading is not None
        notes = act.notes
        if self._stood_ms > act.start_ms:
            notes = (*notes, "stale-prestate")
            self.tally.stale += 1
        is_edge = edge_of(act.action, reading.size, self._density) is not None
        if not is_edge:
            driven.begin(act.action, notes)
        try:
            outcome = self._untouched(driven.look(reading.hierarchy), act.end_ms)
        except CaptureFailed as e:
            if is_edge:
                driven.begin(act.action, notes)
            driven.unfinished(e.code, e.message)
            return
        if is_edge:
            meant = self._navigation(act.action, reading, outcome)
            driven.begin(meant or act.action, (*notes, "edge-swipe") if meant else notes)
        if outcome is None:
            driven.unfinished("touched-before-settled", "the next touch came before the screen could be read")
        else:
            driven.done(outcome)

    def _untouched(self, reading: Reading, since_ms: float, state: DeviceState | None = None) -> Reading | None:
        """What was read just now, as the outcome of what happened at `since_ms`. Where the next touch came first: what was seen between, or None."""
        until = self._ring.until_ms
        self._hear(0.0)
        following = next((t for t in self._begun_ms if since_ms < t < until), None)
        if following is None:
            self._stood_ms = until
            return reading
        look = self._ring.between(since_ms, following)
        if look is None:
            return None
        self._stood_ms = look.until_ms
        return reading_of(look, since_ms, state=state)

    def _break_off(self) -> bool:
        """What was done last is not known: the trace ends, and another begins at what is shown now. False where that could not be read."""
        self._finish_typing(None)
        before = self._driven.reading
        self._driven.stop_trace()
        return self._begin_anew(None if before is None else before.hierarchy)

    def _begin_anew(self, before: Hierarchy | None = None) -> bool:
        """A trace begins at what is shown now; False where that could not be read."""
        try:
            reading = self._driven.look(before)
        except CaptureFailed:
            return False
        self._driven.start_trace(reading, instruction=self._instruction, notes=("after-a-gap",))
        self._stood_ms = self._ring.until_ms
        return True

    def _navigation(self, action: Action, before: Reading, after: Reading | None) -> Action | None:
        """The key that an edge swipe was, by what came of it; None where the app took it as a swipe."""
        if after is None:
            return None
        front, was = (package_of(r.hierarchy) or r.state.package for r in (after, before))
        if edge_of(action, before.size, self._density) == "bottom":
            if is_launcher(front) and not is_launcher(was):
                return PressKey("home")
            return PressKey("recents") if "systemui" in front and front != was else None
        if front != was or (before.state.keyboard and not after.state.keyboard) or after.state.activity != before.state.activity:
            return PressKey("back")
        return PressKey("back") if self._driven.was_here_before(after) else None

    def _glance(self) -> None:
        """What the screen does by itself is recorded as a wait. While somebody types, the field's text may come late: that is no wait."""
        driven, typing = self._driven, self._typing
        shown = typing.reading if typing is not None else driven.reading
        if shown is None:
            self._begin_anew()
            return
        try:
            tree = driven.device.hierarchy()
            driven.device.screenshot()
            stands = driven.stands(tree) if typing is None else typing.stands(tree)
            now = shown if stands else driven.look()
            reading = self._untouched(now, max(self._stood_ms, self._acted_ms), shown.state if typing is not None else None)
        except CaptureFailed:
            return
        if reading is None:
            return
        if typing is None:
            driven.moved(reading)
        elif typing.stands(reading.hierarchy):
            typing.unread = 0
        elif typing.is_its_own(reading, self._keyboard(typing)):
            typing.see(reading)
        elif typing.unread:
            self._ended(reading)
        else:
            self._finish_typing(None)
            driven.moved(reading)

    # ---- typing

    def _type(self, tap: Tap, end_ms: float, region: Bounds) -> None:
        """A tap on the keyboard: no step of its own."""
        self.tally.keyboard_taps += 1
        reading = self._driven.reading
        assert reading is not None
        typing = self._typing = self._typing or Typing(reading)
        typing.tapped(tap)
        try:
            now = self._driven.look()
        except CaptureFailed:
            return
        seen = self._untouched(now, end_ms, typing.reading.state)
        if seen is not None and typing.goes_on(seen, region):
            typing.see(seen)
        elif seen is not now and typing.goes_on(now, region):
            typing.see(replace(now, settled=False, notes=tuple(dict.fromkeys((*now.notes, "unsettled", "touched-on")))))
            self._stood_ms = self._ring.until_ms
        elif seen is now:
            self._ended(now)

    def _ended(self, reading: Reading) -> None:
        """A key ended the typing. Of several that were not read any but the last may have, and what came after it was on no key."""
        typing = self._typing
        assert typing is not None
        on_the_way = [replace(t, state=typing.reading.state, notes=("unsettled",)) for t in reading.transients]
        typed = next((t for t in reversed(on_the_way) if typing.is_its_own(t, self._keyboard(typing))), None)
        if typing.unread == 1 and typed is not None:
            typing.see(typed)  # the key typed something: what came after that was not its doing
            self._finish_typing(None)
            self._driven.moved(reading)
        elif typing.unread == 1:
            self._finish_typing(reading)
        else:
            self._break_off()

    def _finish_typing(self, ended: Reading | None) -> None:
        typing, self._typing = self._typing, None
        if typing is None:
            return
        for step in typing.steps(ended, self._keyboard(typing)):
            self._driven.begin(step.action, step.notes)
            self._driven.done(step.outcome)
        if typing.latest is not None and ended is None:
            self._driven.moved(typing.latest)
        elif ended is not None:
            self._driven.moved(ended)

    @staticmethod
    def _keyboard(typing: Typing) -> Bounds:
        """Where the keyboard lies on which that is typed."""
        region = keyboard_region(typing.start.hierarchy, typing.start.size, is_shown=True)
        assert region is not None
        return region

    def _told(self) -> None:
        if self._on_step is not None:
            self._on_step(self._driven.recorded)


def _now_ms() -> float:
    return time.monotonic() * 1000
