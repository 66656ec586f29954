"""Logs of `getevent` (plain, `-l`, `-t`, `-p`): the fingers of a person on the screen, decoded into gestures.

    add device 1: /dev/input/event5
        ABS (0003): 0035  : value 0, min 0, max 1079, ...
    [   12.345678] /dev/input/event5: 0003 0039 00000905
    /dev/input/event5: EV_ABS       ABS_MT_POSITION_X    00000251

Protocol B (slots and tracking ids) and protocol A (a report of all fingers, SYN_MT_REPORT between them). An axis that did
not change is not repeated. Without `-t` there is no time, so a long press looks like a tap and says so; without `-p` the
panel's units are taken for pixels. Screens are what dumps beside the log show (see `script`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from math import dist
from pathlib import Path

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import Unfinished
from phoneworld.graph.importers.recording import ImportedRecording, begins_with, files_of, read_text
from phoneworld.graph.importers.script import ASSUMED_SIZE, MAX_STEPS, Script, Step, recording_of
from phoneworld.ui.action import Action, Key, LongPress, Pinch, PressKey, Swipe, Tap
from phoneworld.ui.geometry import Size

NAME = "getevent"
_SUFFIXES = (".txt", ".log")
_EVENT = re.compile(
    r"^(?:\[\s*(\d{1,12}\.\d{1,9})\]\s*)?(?:(/dev/input/event\d{1,4}):\s*)?"
    r"(000[0-5]|EV_(?:SYN|KEY|REL|ABS|MSC))\s+([0-9a-f]{4}|[A-Z][A-Z0-9_]*)\s+([0-9a-f]{8}|DOWN|UP|REPEAT)\s*$"
)
_KNOWN_BY = re.compile(r"^(?:\[\s*\d+\.\d+\]\s*)?/dev/input/event\d+:\s+(?:000[0-5]|EV_\w+)\s|^add device \d+: /dev/input/", re.M)
_DEVICE = re.compile(r"^add device \d+: (/dev/input/event\d{1,4})")
_RANGE = re.compile(r"\b(0035|0036|ABS_MT_POSITION_X|ABS_MT_POSITION_Y)\s*:\s*value -?\d+, min (-?\d{1,7}), max (-?\d{1,7})")
_TYPES = {"EV_SYN": 0, "EV_KEY": 1, "EV_REL": 2, "EV_ABS": 3, "EV_MSC": 4}
_CODES = {
    "SYN_REPORT": 0, "SYN_MT_REPORT": 2, "SYN_DROPPED": 3, "ABS_MT_SLOT": 0x2F, "ABS_MT_POSITION_X": 0x35, "ABS_MT_POSITION_Y": 0x36,
    "ABS_MT_TRACKING_ID": 0x39, "BTN_TOUCH": 0x14A, "KEY_BACK": 158, "KEY_HOME": 102, "KEY_HOMEPAGE": 172, "KEY_MENU": 139,
    "KEY_APPSELECT": 580, "KEY_VOLUMEUP": 115, "KEY_VOLUMEDOWN": 114, "KEY_POWER": 116, "KEY_ENTER": 28, "KEY_BACKSPACE": 14,
}  # fmt: skip
_KEYS: dict[int, Key] = {
    158: "back", 102: "home", 172: "home", 139: "menu", 580: "recents", 115: "volume_up", 114: "volume_down", 116: "power",
    28: "enter", 14: "backspace",
}  # fmt: skip
_SLOP = 0.02  # of the longer side: a finger that stays this near has tapped
_LONG_S = 0.5
_NONE = 0xFFFFFFFF


@dataclass(slots=True)
class _Contact:
    """One finger from down to up. Points are (x, y) in the panel's units."""

    x: int = -1
    y: int = -1
    begin: tuple[int, int] | None = None
    since: float | None = None
    until: float | None = None

    def move(self, time: float | None) -> None:
        if self.begin is None and self.x >= 0 and self.y >= 0:
            self.begin = (self.x, self.y)
        self.since = time if self.since is None else self.since
        self.until = time


@dataclass(slots=True)
class _Panel:
    """What the kernel said of one input device so far."""

    left: int = 0
    top: int = 0
    right: int = 0
    bottom: int = 0
    slot: int = 0
    down: dict[int, _Contact] = field(default_factory=dict)
    place: dict[int, tuple[int, int]] = field(default_factory=dict)
    lifted: list[_Contact] = field(default_factory=list)
    report: list[tuple[int, int]] = field(default_factory=list)
    x: int = -1
    y: int = -1
    is_b: bool = False
    dropped: bool = False
    furthest: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class _Log:
    panels: dict[str, _Panel] = field(default_factory=dict)
    acts: list[tuple[str, tuple[_Contact, ...], Key | None]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    timed: bool = False


def recognises(path: Path) -> bool:
    files = files_of(path, _SUFFIXES) if path.is_dir() or path.suffix.lower() in (*_SUFFIXES, "") else ()
    return any(begins_with(file, _KNOWN_BY) for file in files)


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """Each log a trace. Raises FileFormatError where no finger and no key is in any."""
    refused: list[tuple[str, str]] = []
    warnings: list[str] = []
    scripts: list[Script] = []
    size: Size | None = None
    for file in files_of(path, _SUFFIXES):
        if not begins_with(file, _KNOWN_BY):
            continue
        log = _read(read_text(file))
        panel_size, measured = _size(log)
        open_ = [(p, c) for p in log.panels.values() for c in p.down.values() if c.begin is not None]
        if not log.acts and not open_:
            refused.append((file.name, "no finger and no key that we know is in it"))
            continue
        if not measured:
            warnings.append(
                f"{file.name}: the range of the panel is not in it (getevent -p): its units are taken for pixels of {panel_size.width}x{panel_size.height}"
            )
        if not log.timed:
            warnings.append(f"{file.name}: without times (getevent -t) a long press cannot be told from a tap")
        for what, count in log.counts.items():
            refused.append((file.name, f"{count} {what}"))
        unfinished = None
        if open_:
            words = "one contact that was never lifted" if len(open_) == 1 else f"{len(open_)} contacts that were never lifted"
            warnings.append(f"{file.name}: ends with {words}")
            unfinished = Unfinished(_gesture(open_[0][0], (open_[0][1],), panel_size, measured), reason=words)
        steps = []
        for device, contacts, key in log.acts:
            action = PressKey(key) if key else _gesture(log.panels[device], contacts, panel_size, measured)
            steps.append(Step(action))
        scripts.append(Script(file.name, tuple(steps), unfinished=unfinished))
        size = size or panel_size
    if not scripts:
        reason = f" ({refused[-1][0]}: {refused[-1][1]})" if refused else ""
        raise FileFormatError(f"{path}: not one gesture could be decoded{reason}", hint="record it with: adb shell getevent -lt")
    return recording_of(scripts, NAME, path=path, package=package or "", size=size, refused=refused, warnings=warnings)


def _read(text: str) -> _Log:
    log = _Log()
    described = ""
    for line in text.split("\n"):
        line = line[:400].rstrip()
        if found := _DEVICE.match(line):
            described = found[1]
        elif (found := _RANGE.search(line)) and described:
            panel = log.panels.setdefault(described, _Panel())
            low, high = int(found[2]), int(found[3])
            if high > low and found[1] in ("0035", "ABS_MT_POSITION_X"):
                panel.left, panel.right = low, high + 1
            elif high > low:
                panel.top, panel.bottom = low, high + 1
        elif found := _EVENT.match(line):
            if len(log.acts) > MAX_STEPS:
                raise FileFormatError(f"more than {MAX_STEPS} gestures in one log", hint="cut it into several")
            kind, code = _TYPES.get(found[3], -1), _CODES.get(found[4], -1)
            kind = int(found[3], 16) if kind < 0 else kind
            code = int(found[4], 16) if re.fullmatch(r"[0-9a-f]{4}", found[4]) else code
            value = {"DOWN": 1, "UP": 0, "REPEAT": 2}.get(found[5])
            log.timed = log.timed or found[1] is not None
            _event(log, found[2] or "", kind, code, int(found[5], 16) if value is None else value, float(found[1]) if found[1] else None)
    return log


def _event(log: _Log, device: str, kind: int, code: int, value: int, time: float | None) -> None:
    panel = log.panels.setdefault(device, _Panel())
    match kind, code:
        case 0, 0:
            _sync(log, device, panel, time)
        case 0, 2:
            if panel.x >= 0 and panel.y >= 0:
                panel.report.append((panel.x, panel.y))
        case 0, 3:  # the kernel's queue ran over: what follows up to the next report says nothing
            panel.dropped = True
            panel.down.clear()
            log.counts["overruns of the kernel's queue (SYN_DROPPED): the fingers that were down are unknown"] += 1
        case 1, _ if value == 1 and code in _KEYS:
            log.acts.append((device, (), _KEYS[code]))
        case 3, _ if panel.dropped:
            pass
        case 3, 0x2F:
            panel.is_b, panel.slot = True, value
        case 3, 0x39:
            panel.is_b = True
            contact = panel.down.pop(panel.slot, None)
            if value == _NONE:
                if contact is not None and contact.begin is not None:
                    contact.until = time
                    panel.lifted.append(contact)
            elif len(panel.down) < 32:
                x, y = panel.place.get(panel.slot, (-1, -1))  # an axis that did not change is not repeated
                panel.down[panel.slot] = _Contact(x, y)
        case 3, 0x35:
            panel.x = value if value < 2**20 else -1
            if (contact := panel.down.get(panel.slot)) is not None:
                contact.x = panel.x
        case 3, 0x36:
            panel.y = value if value < 2**20 else -1
            if (contact := panel.down.get(panel.slot)) is not None:
                contact.y = panel.y


def _sync(log: _Log, device: str, panel: _Panel, time: float | None) -> None:
    """The end of a report: fingers have moved; when the last one is up a gesture is done."""
    if panel.dropped:
        panel.dropped = False
        return
    if not panel.is_b:  # protocol A: fingers are told apart by their order; no report means all are up
        for i, (x, y) in enumerate(panel.report[:32]):
            contact = panel.down.setdefault(i, _Contact())
            contact.x, contact.y = x, y
        if not panel.report and panel.down:
            panel.lifted += panel.down.values()
            panel.down.clear()
        panel.report.clear()
        panel.x = panel.y = -1
    for slot, contact in panel.down.items():
        contact.move(time)
        if len(panel.place) < 64 or slot in panel.place:
            panel.place[slot] = (contact.x, contact.y)
        panel.furthest = (max(panel.furthest[0], contact.x), max(panel.furthest[1], contact.y))
    if panel.lifted and not panel.down:
        log.acts.append((device, tuple(panel.lifted), None))
        panel.lifted = []


def _size(log: _Log) -> tuple[Size, bool]:
    """The screen, and whether the log says the panel's range."""
    touched = [p for p in log.panels.values() if p.furthest != (0, 0)] or list(log.panels.values())
    for panel in touched:
        if panel.right and panel.bottom:
            width, height = panel.right - panel.left, panel.bottom - panel.top
            if max(width, height) <= 4096:
                return Size(width, height), True
            return Size(1080, max(1, min(4000, 1080 * height // width))), True  # finer than pixels: 4096 or 32768 steps a side
    x, y = max((p.furthest[0] for p in touched), default=0), max((p.furthest[1] for p in touched), default=0)
    if x < ASSUMED_SIZE.width and y < ASSUMED_SIZE.height:
        return (ASSUMED_SIZE, False) if y >= 1920 else (Size(1080, 1920), False)
    return Size(min(x + 1, 10_000), min(y + 1, 10_000)), False


def _gesture(panel: _Panel, contacts: tuple[_Contact, ...], size: Size, measured: bool) -> Action:
    def pixel(x: int, y: int) -> tuple[int, int]:
        if measured and panel.right and panel.bottom:
            x = (x - panel.left) * size.width // max(1, panel.right - panel.left)
            y = (y - panel.top) * size.height // max(1, panel.bottom - panel.top)
        return max(0, min(size.width - 1, x)), max(0, min(size.height - 1, y))

    first = contacts[0]
    begin = pixel(*(first.begin or (first.x, first.y)))
    end = pixel(first.x, first.y)
    if len(contacts) > 1 and contacts[1].begin is not None:
        other = contacts[1]
        before = dist(begin, pixel(*(other.begin or (0, 0))))
        scale = min(max(dist(end, pixel(other.x, other.y)) / before if before > 1 else 1.0, 0.05), 20.0)
        return Pinch(*begin, round(scale, 2))
    lasted = first.until - first.since if first.until is not None and first.since is not None else None
    duration = min(600_000, max(1, round(lasted * 1000))) if lasted is not None and lasted >= 0 else None
    if dist(begin, end) > _SLOP * max(size.width, size.height):
        return Swipe(*begin, *end) if duration is None else Swipe(*begin, *end, duration)
    if duration is not None and duration >= _LONG_S * 1000:
        return LongPress(*begin, duration)
    return Tap(*begin)
