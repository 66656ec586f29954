"""The kernel's touch events as `getevent` prints them, decoded into strokes. Sans I/O: bytes in, events out, nothing else.

What it must live with (Linux `multi-touch-protocol.rst`, and what phones do):

- Protocol B: `ABS_MT_SLOT` is sent only when it changes and persists; a tracking id opens a contact, ffffffff (7fffffff on
  some) lifts it; an axis is sent only when it changed, also across contacts, so each slot keeps its last place.
- Protocol A: no slots; each packet names all contacts, `SYN_MT_REPORT` between them; who is not named has been lifted.
- `SYN_DROPPED`: the kernel's queue ran over. All up to the next `SYN_REPORT` is void, and so is what we knew.
- `BTN_TOUCH` may be missing; several devices may speak at once; lines arrive in pieces; a terminal adds `\\r`.

A *stroke* lasts from the first finger down to the last one up. What cannot be decoded is told as `Undecoded`, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from phoneworld.ui.glass import CODES, TYPES, InputDevice

MAX_LINE = 512
MAX_PACKET = 1024
MAX_SLOTS = 64
MAX_POINTS = 2048
MAX_DEVICES = 64
_LIFTED = (0xFFFFFFFF, 0x7FFFFFFF)

_EVENT = re.compile(
    rb"(?:\[\s*(?P<time>\d{1,12}(?:\.\d{1,9})?)\]\s*)?(?:(?P<device>/dev/input/[\w.-]{1,64}):\s*)?"
    rb"(?P<type>\w{1,24})\s+(?P<code>\w{1,48})\s+(?P<value>\w{1,16})\s*"
)


# ---- what comes out


@dataclass(frozen=True, slots=True)
class FingerPath:
    """One finger from down to up: (x, y, ms) as the glass reports them. The end is the time at which it was lifted."""

    points: tuple[tuple[int, int, float], ...]
    end_ms: float


@dataclass(frozen=True, slots=True)
class TouchBegan:
    """The first finger came down: what was shown before this moment is what it was meant for."""

    device: str
    at_ms: float


@dataclass(frozen=True, slots=True)
class Stroke:
    """All fingers from the first down to the last up, in the order they came down. `timed` is False where the lines have no time."""

    device: str
    fingers: tuple[FingerPath, ...]
    timed: bool = True

    @property
    def start_ms(self) -> float:
        return self.fingers[0].points[0][2]

    @property
    def end_ms(self) -> float:
        return max(f.end_ms for f in self.fingers)


@dataclass(frozen=True, slots=True)
class KeyPress:
    """A hardware key went down, by its kernel name."""

    device: str
    name: str
    at_ms: float


@dataclass(frozen=True, slots=True)
class Undecoded:
    """A touch whose action is not known: `dropped` (the kernel lost events), `no-place`, or `never-lifted` (with what was seen of it)."""

    device: str
    reason: str
    at_ms: float
    seen: tuple[FingerPath, ...] = ()


TouchEvent = TouchBegan | Stroke | KeyPress | Undecoded


# ---- decoding


@dataclass(slots=True)
class _Contact:
    points: list[tuple[int, int, float]] = field(default_factory=list)
    stale: bool = False

    def add(self, x: int, y: int, at_ms: float) -> None:
        if self.points and self.points[-1][:2] == (x, y):
            return
        if len(self.points) >= MAX_POINTS:
            self.points[1:-1] = self.points[1:-1:2]
        self.points.append((x, y, at_ms))


@dataclass(slots=True)
class _Glass:
    """The state of one device."""

    path: str
    multi: bool = True
    packet: list[tuple[str, int]] = field(default_factory=list)
    slot: int = 0
    is_a: bool = False
    void: bool = False
    places: dict[int, list[int | None]] = field(default_factory=dict)
    open: dict[int, _Contact] = field(default_factory=dict)
    lifted: list[FingerPath] = field(default_factory=list)
    began: bool = False
    lost: str = ""

    def drop(self, at_ms: float) -> Iterator[TouchEvent]:
        self.void = True
        self.packet.clear()
        was_open = bool(self.open)
        self.open.clear()
        self.places.clear()
        self.lifted.clear()
        self.lost, self.began = "", False
        if was_open:
            yield Undecoded(self.path, "dropped", at_ms)

    def report(self, at_ms: float, timed: bool) -> Iterator[TouchEvent]:
        """SYN_REPORT: the packet is whole, and holds from this moment on."""
        if self.void:
            self.void = False
            self.packet.clear()
            return
        packet, self.packet = self.packet, []
        if any(code == "SYN_MT_REPORT" for code, _ in packet):
            self.is_a = True
        touched = self._protocol_a(packet, at_ms) if self.is_a else self._protocol_b(packet, at_ms)
        for slot in touched:
            contact, (x, y) = self.open.get(slot), self._place(slot)
            if contact is not None and x is not None and y is not None:
                contact.add(x, y, at_ms)
        if self.open and not self.began:
            self.began = True
            yield TouchBegan(self.path, at_ms)
        if ("BTN_TOUCH", 0) in packet:
            for slot in list(self.open):
                self._lift(slot, at_ms)
        if not self.open and (self.lifted or self.lost):
            if not self.began:
                yield TouchBegan(self.path, at_ms)
            fingers = sorted(self.lifted, key=lambda f: f.points[0][2])
            yield Undecoded(self.path, self.lost, at_ms) if self.lost else Stroke(self.path, tuple(fingers), timed)
            self.lifted, self.lost, self.began = [], "", False

    def _place(self, slot: int) -> tuple[int | None, int | None]:
        x, y = self.places.get(slot, (None, None))
        return x, y

    def _lift(self, slot: int, at_ms: float) -> None:
        contact = self.open.pop(slot, None)
        if contact is None:
            return
        if contact.points and len(self.lifted) < MAX_SLOTS:
            self.lifted.append(FingerPath(tuple(contact.points), at_ms))
        elif not contact.points:
            self.lost = self.lost or "no-place"

    def _protocol_b(self, packet: list[tuple[str, int]], at_ms: float) -> set[int]:
        touched: set[int] = set()
        for code, value in packet:
            match code:
                case "ABS_MT_SLOT":
                    self.slot = value
                case "ABS_MT_TRACKING_ID" if 0 <= self.slot < MAX_SLOTS:
                    if value in _LIFTED:
                        # Where it was in this very packet is still a place of it.
                        x, y = self._place(self.slot)
                        if self.slot in self.open and x is not None and y is not None:
                            self.open[self.slot].add(x, y, at_ms)
                        self._lift(self.slot, at_ms)
                    else:
                        self._lift(self.slot, at_ms)  # its end was lost
                        self.open[self.slot] = _Contact()
                        touched.add(self.slot)
                case "BTN_TOUCH" if value and not self.multi:
                    self.open.setdefault(0, _Contact())
                    touched.add(0)
                case "ABS_MT_POSITION_X" | "ABS_MT_POSITION_Y" | "ABS_X" | "ABS_Y" if 0 <= self.slot < MAX_SLOTS:
                    if code.startswith("ABS_MT") == self.multi:
                        self.places.setdefault(self.slot, [None, None])[code.endswith("Y")] = value
                        touched.add(self.slot)
        return touched

    def _protocol_a(self, packet: list[tuple[str, int]], at_ms: float) -> set[int]:
        """Contacts are told apart by their tracking id where they have one, else the nearest place goes on with a contact."""
        here: dict[int, tuple[int, int]] = {}
        name: int | None = None
        x: int | None = None
        y: int | None = None
        for code, value in packet:
            match code:
                case "ABS_MT_TRACKING_ID":
                    name = value
                case "ABS_MT_POSITION_X":
                    x = value
                case "ABS_MT_POSITION_Y":
                    y = value
                case "SYN_MT_REPORT":
                    if x is not None and y is not None and len(here) < MAX_SLOTS:
                        here[self._nearest((x, y), here) if name is None else name] = (x, y)
                    name = x = y = None
        for slot in [s for s in self.open if s not in here]:
            self._lift(slot, at_ms)
            self.places.pop(slot, None)
        for slot, place in here.items():
            self.open.setdefault(slot, _Contact())
            self.places[slot] = list(place)
        return set(here)

    def _nearest(self, place: tuple[int, int], taken: dict[int, tuple[int, int]]) -> int:
        """The open contact without an id that is nearest, or a number for a new one."""

        def distance(slot: int) -> int:
            x, y = self._place(slot)
            return abs((x or 0) - place[0]) + abs((y or 0) - place[1])

        free = [slot for slot in self.open if slot not in taken]
        if free:
            return min(free, key=distance)
        return next(slot for slot in range(2 * MAX_SLOTS + 1) if slot not in self.open and slot not in taken)


@dataclass(slots=True)
class Decoder:
    """Bytes of `getevent -lt` in, touch events out. `devices` are those listened to; none: all.

    `ignored` counts lines that are no events (prompts, warnings, garbage): they change nothing.
    """

    devices: tuple[InputDevice, ...] = ()
    ignored: int = 0
    last_ms: float = 0.0
    _rest: bytes = b""
    _overlong: bool = False
    _glasses: dict[str, _Glass] = field(default_factory=dict)

    def feed(self, data: bytes) -> tuple[TouchEvent, ...]:
        """The events that are whole with these bytes."""
        events: list[TouchEvent] = []
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._overlong or len(line) > MAX_LINE:
                self._overlong = False
                self.ignored += 1
            else:
                events.extend(self._line(line))
        if len(rest) > MAX_LINE:
            self._overlong, rest = True, b""
        self._rest = b"" if self._overlong else rest
        return tuple(events)

    def end(self) -> tuple[TouchEvent, ...]:
        """What is still open when the stream ends: fingers that were never lifted, with what was seen of them."""
        events = list(self.feed(b"\n")) if self._rest else []
        for glass in self._glasses.values():
            seen = [FingerPath(tuple(c.points), self.last_ms) for c in glass.open.values() if c.points]
            if glass.open:
                events.append(Undecoded(glass.path, "never-lifted", self.last_ms, (*glass.lifted, *seen)))
                glass.open.clear()
        return tuple(events)

    def _line(self, line: bytes) -> Iterator[TouchEvent]:
        found = _EVENT.fullmatch(line.strip(b"\r \t"))
        if found is None:
            self.ignored += bool(line.strip())
            return
        type_ = found["type"].decode()
        type_ = TYPES.get(type_, type_)
        code = found["code"].decode()
        code = CODES.get((type_, code.lower()), code)
        value = _value(found["value"])
        glass = self._glass((found["device"] or b"").decode())
        if type_ not in ("EV_SYN", "EV_KEY", "EV_ABS") or value is None or glass is None:
            self.ignored += 1
            return
        timed = found["time"] is not None
        if timed:
            self.last_ms = float(found["time"]) * 1000
        if type_ == "EV_SYN" and code == "SYN_DROPPED":
            yield from glass.drop(self.last_ms)
        elif type_ == "EV_SYN" and code == "SYN_REPORT":
            yield from glass.report(self.last_ms, timed)
        elif type_ == "EV_KEY" and code != "BTN_TOUCH":
            if value == 1 and code.startswith("KEY_"):
                yield KeyPress(glass.path, code, self.last_ms)
        elif not glass.void:
            glass.packet.append((code, value))
            if len(glass.packet) > MAX_PACKET:
                yield from glass.drop(self.last_ms)

    def _glass(self, path: str) -> _Glass | None:
        if not path and len(self.devices) == 1:
            path = self.devices[0].path  # `getevent DEVICE` leaves it out
        if path not in self._glasses:
            if len(self._glasses) >= MAX_DEVICES:
                return None
            known = next((d for d in self.devices if d.path == path), None)
            glass = self._glasses[path] = _Glass(path, known.multi if known else True)
            if known and known.x and known.y and known.x.value is not None and known.y.value is not None and known.multi is False:
                glass.places[0] = [known.x.value, known.y.value]
        return self._glasses[path]


def _value(text: bytes) -> int | None:
    if text in (b"DOWN", b"UP"):
        return int(text == b"DOWN")
    try:
        return int(text, 16) & 0xFFFFFFFF
    except ValueError:
        return None
