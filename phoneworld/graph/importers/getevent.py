"""Logs of `getevent` (plain, `-l`, `-t`, `-p`): the fingers of a person on the screen, decoded into gestures.

    add device 1: /dev/input/event5
        ABS (0003): 0035  : value 0, min 0, max 1079, ...
    [   12.345678] /dev/input/event5: 0003 0039 00000905
    /dev/input/event5: EV_ABS       ABS_MT_POSITION_X    00000251

Decoded by `phoneworld/ui/getevent.py`, as a recording of fingers is. Without `-t` there is no time, so a long press looks like a
tap and says so; without `-p` the panel's units are taken for pixels. Screens are what dumps beside the log show (see `script`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import Unfinished
from phoneworld.graph.importers.recording import ImportedRecording, begins_with, files_of, read_text
from phoneworld.graph.importers.script import ASSUMED_SIZE, MAX_STEPS, Script, Step, recording_of
from phoneworld.ui.action import PressKey, Swipe
from phoneworld.ui.geometry import Size
from phoneworld.ui.getevent import MAX_LINE, Decoder, FingerPath, KeyPress, Stroke, TouchEvent, Undecoded
from phoneworld.ui.glass import KEYS, Axis, Panel, parse_input_devices
from phoneworld.ui.strokes import Act, Grouper, act_of, touch_of

NAME = "getevent"
_SUFFIXES = (".txt", ".log")
_KNOWN_BY = re.compile(r"^(?:\[\s*\d+\.\d+\]\s*)?/dev/input/event\d+:\s+(?:000[0-5]|EV_\w+)\s|^add device \d+: /dev/input/", re.M)
_DENSITY = 420  # no log tells it; what counts as one place and as the same finger twice depends on it
_UNSEEN = {
    "dropped": "fingers that are unknown: the kernel's queue ran over (SYN_DROPPED)",
    "no-place": "fingers without a place",
}


@dataclass(frozen=True, slots=True)
class _Log:
    """What one log says: whole strokes and keys in order, the screen they were done on."""

    events: tuple[TouchEvent, ...]
    size: Size
    measured: bool
    panels: dict[str, Panel]
    timed: bool

    @property
    def unlifted(self) -> tuple[tuple[str, FingerPath], ...]:
        """The fingers that were still down at the end, each with its device."""
        return tuple((e.device, f) for e in self.events if isinstance(e, Undecoded) and e.reason == "never-lifted" for f in e.seen)


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
        acts, open_ = _acts(log), log.unlifted
        steps = [Step(act.action) for act in acts if act.action is not None]
        if len(steps) > MAX_STEPS:
            raise FileFormatError(f"{file.name}: more than {MAX_STEPS} gestures in one log", hint="cut it into several")
        if not steps and not open_:
            refused.append((file.name, "no finger and no key that we know is in it"))
            continue
        if not log.measured:
            warnings.append(
                f"{file.name}: the range of the panel is not in it (getevent -p): its units are taken for pixels of {log.size.width}x{log.size.height}"
            )
        if not log.timed:
            warnings.append(f"{file.name}: without times (getevent -t) a long press cannot be told from a tap")
        lost = Counter(e.reason for e in log.events if isinstance(e, Undecoded) and e.reason in _UNSEEN)
        refused.extend((file.name, f"{count} {_UNSEEN[reason]}") for reason, count in lost.items())
        others = Counter(" ".join(act.notes) for act in acts if act.action is None)
        refused.extend((file.name, f"{count} that are no action of ours: {what}") for what, count in others.items())
        unfinished = None
        if open_:
            words = "one contact that was never lifted" if len(open_) == 1 else f"{len(open_)} contacts that were never lifted"
            warnings.append(f"{file.name}: ends with {words}")
            device, first = open_[0]
            begun = _act(log, device, (first,), timed=log.timed)
            unfinished = Unfinished(begun.action, reason=words) if begun.action is not None else None
        scripts.append(Script(file.name, tuple(steps), unfinished=unfinished))
        size = size or log.size
    if not scripts:
        reason = f" ({refused[-1][0]}: {refused[-1][1]})" if refused else ""
        raise FileFormatError(f"{path}: not one gesture could be decoded{reason}", hint="record it with: adb shell getevent -lt")
    return recording_of(scripts, NAME, path=path, package=package or "", size=size, refused=refused, warnings=warnings)


def _read(text: str) -> _Log:
    # A line beyond this is no event; cut, it cannot make the patterns slow.
    text = "\n".join(line[:MAX_LINE].rstrip() for line in text.split("\n"))
    # Plain `getevent` names the devices without their axes: that says nothing of how they speak.
    devices = tuple(d for d in parse_input_devices(text) if d.x is not None and d.y is not None)
    decoder = Decoder(devices)
    events = (*decoder.feed(text.encode("utf-8", "replace") + b"\n"), *decoder.end())
    touched = {e.device for e in events if isinstance(e, Stroke | Undecoded)}
    ranges = {d.path: (d.x, d.y) for d in devices if d.x and d.y and d.x.max > d.x.min and d.y.max > d.y.min}
    size, measured = _size(events, [ranges[path] for path in ranges if path in touched] or list(ranges.values()))
    own = Axis(0, size.width - 1), Axis(0, size.height - 1)
    return _Log(events, size, measured, {path: Panel(size, *ranges.get(path, own)) for path in touched}, decoder.last_ms > 0)


def _size(events: Sequence[TouchEvent], ranges: Sequence[tuple[Axis, Axis]]) -> tuple[Size, bool]:
    """The screen, and whether the log says the panel's range."""
    for x, y in ranges:
        width, height = x.max - x.min + 1, y.max - y.min + 1
        if max(width, height) <= 4096:
            return Size(width, height), True
        return Size(1080, max(1, min(4000, 1080 * height // width))), True  # finer than pixels: 4096 or 32768 steps a side
    paths = [f for e in events for f in (e.fingers if isinstance(e, Stroke) else e.seen if isinstance(e, Undecoded) else ())]
    places = [(x, y) for f in paths for x, y, _ in f.points if max(x, y) < 2**20]
    right, bottom = max((x for x, _ in places), default=0), max((y for _, y in places), default=0)
    if right < ASSUMED_SIZE.width and bottom < ASSUMED_SIZE.height:
        return (ASSUMED_SIZE, False) if bottom >= 1920 else (Size(1080, 1920), False)
    return Size(min(right + 1, 10_000), min(bottom + 1, 10_000)), False


def _acts(log: _Log) -> list[Act]:
    """What the strokes and keys amount to, in order."""
    acts: list[Act] = []
    grouper = Grouper(_DENSITY)
    for event in log.events:
        match event:
            case Stroke(device, fingers, timed):
                act = _act(log, device, fingers, timed=timed)
                # Two taps without times may be hours apart.
                acts += grouper.feed(act) if timed else (*grouper.flush(), act)
            case KeyPress(_, name, at_ms) if name in KEYS:
                acts += (*grouper.flush(), Act(PressKey(KEYS[name]), at_ms, at_ms))
            case Undecoded():
                acts += grouper.flush()
    return [*acts, *grouper.flush()]


def _act(log: _Log, device: str, fingers: Sequence[FingerPath], *, timed: bool) -> Act:
    act = act_of(touch_of(fingers, log.panels[device], 0), log.size, _DENSITY)
    if timed or not isinstance(act.action, Swipe):
        return act
    swipe = act.action
    return Act(Swipe(swipe.x, swipe.y, swipe.x2, swipe.y2), act.start_ms, act.end_ms, act.notes)
