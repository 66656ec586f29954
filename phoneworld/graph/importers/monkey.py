"""Logs of Android's `monkey -v -v`: touches, keys and starts of the app, with the crashes it met as notes.

    :Monkey: seed=1722370544031 count=15000
    :AllowPackage: com.example
    :Switch: #Intent;...;component=com.example/.Main;end
    :Sending Touch (ACTION_DOWN): 0:(455.0,912.0)
    :Sending Touch (ACTION_UP): 0:(457.4,908.3)
    // CRASH: com.example (pid 123)

Screens are what dumps beside the log show (see `script`). The trackball, flips and rotations are no actions of ours.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from math import dist
from pathlib import Path
from typing import cast, get_args

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import Unfinished
from phoneworld.graph.importers.recording import ImportedRecording, begins_with, files_of, read_text
from phoneworld.graph.importers.script import MAX_STEPS, Script, Step, recording_of
from phoneworld.ui.action import Action, Key, OpenApp, Pinch, PressKey, Swipe, Tap
from phoneworld.ui.geometry import Size
from phoneworld.ui.keys import key_of_code

NAME = "monkey"
_SUFFIXES = (".txt", ".log")
_KNOWN_BY = re.compile(r"^:Monkey: seed=-?\d+", re.M)
_SEED = re.compile(r"^:Monkey: seed=(-?\d{1,18}) count=", re.M)
_ALLOWED = re.compile(r"^:AllowPackage: ([\w.]+)", re.M)
_TOUCH = re.compile(r"^:Sending (?:Touch|Pointer) \((ACTION_\w+)(?: \d+)?\):((?: \d+:\(-?[\d.]+,-?[\d.]+\))+)")
_PLACE = re.compile(r" (\d+):\((-?[\d.]+),(-?[\d.]+)\)")
_KEY = re.compile(r"^:Sending Key \(ACTION_DOWN\): (\d{1,6})")
_SWITCH = re.compile(r"^:Switch:.*?component=([\w.]+)/([\w.$]+)")
_TROUBLE = re.compile(r"^// (CRASH|NOT RESPONDING): (\S+)")
_OTHER = re.compile(r"^:Sending (Trackball|Flip|Rotation)\b")
# What real screens measure, portrait: the smallest that holds every touch is taken for the screen.
_SCREENS = ((320, 480), (480, 800), (480, 854), (540, 960), (720, 1280), (768, 1280), (1080, 1920), (1080, 2160), (1080, 2400), (1440, 2560), (1440, 3200))  # fmt: skip
# A finger that stays this near has tapped: Android's touch slop is 8 dp.
_SLOP = 24.0


@dataclass(slots=True)
class _Finger:
    begin: tuple[float, float]
    end: tuple[float, float]


@dataclass(slots=True)
class _Log:
    steps: list[Step] = field(default_factory=list)
    fingers: dict[str, _Finger] = field(default_factory=dict)
    most: int = 0
    furthest: list[float] = field(default_factory=lambda: [0.0, 0.0])
    other: Counter[str] = field(default_factory=Counter)


def recognises(path: Path) -> bool:
    files = files_of(path, _SUFFIXES) if path.is_dir() or path.suffix.lower() in (*_SUFFIXES, "") else ()
    return any(begins_with(file, _KNOWN_BY) for file in files)


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """Each log a trace. Raises FileFormatError where none has an event."""
    refused: list[tuple[str, str]] = []
    warnings: list[str] = []
    scripts: list[Script] = []
    named = package or ""
    furthest = [0.0, 0.0]
    for file in files_of(path, _SUFFIXES):
        if not begins_with(file, _KNOWN_BY):
            continue
        text = read_text(file)
        log = _read(text)
        unfinished = _unfinished(log)
        if not log.steps and unfinished is None:
            refused.append((file.name, "no event is in it (monkey was run without -v -v?)"))
            continue
        refused += [(file.name, f"{count} events of kind {kind} have no action of ours") for kind, count in log.other.items()]
        allowed = _ALLOWED.search(text)
        app = allowed[1] if allowed else ""
        if named and app and app != named:
            warnings.append(f"{file.name} is a run of {app}")
        named = named or app
        furthest = [max(a, b) for a, b in zip(furthest, log.furthest, strict=True)]
        seed = _SEED.search(text)
        scripts.append(Script(file.name, tuple(log.steps), seed=int(seed[1]) if seed else None, unfinished=unfinished))
    if not scripts:
        reason = f" ({refused[-1][0]}: {refused[-1][1]})" if refused else ""
        raise FileFormatError(f"{path}: not one event was found{reason}", hint="record it with: adb shell monkey -p PACKAGE -v -v 500")
    size = _screen(furthest)
    warnings.append(f"the log does not say how large the screen is: its touches fit into {size.width}x{size.height}")
    folder_has_screens = path.is_dir() and any(f.suffix.lower() in (".xml", ".uix") for f in path.rglob("*"))
    return recording_of(
        scripts, NAME, path=path, package=named, size=None if folder_has_screens else size, refused=refused, warnings=warnings
    )


def _screen(furthest: list[float]) -> Size:
    short, long = sorted(furthest)
    fits = next(((w, h) for w, h in _SCREENS if short < w and long < h), (min(int(short) + 1, 10_000), min(int(long) + 1, 10_000)))
    return Size(fits[1], fits[0]) if furthest[0] > furthest[1] else Size(*fits)


def _read(text: str) -> _Log:
    log = _Log()
    for line in text.split("\n"):
        if len(log.steps) > MAX_STEPS:
            raise FileFormatError(f"more than {MAX_STEPS} steps in one log", hint="cut it into several")
        if found := _TOUCH.match(line[:2000]):
            _touch(log, found[1], _PLACE.findall(found[2]))
        elif found := _KEY.match(line):
            key = key_of_code(int(found[1]))
            if key in get_args(Key):
                log.steps.append(Step(PressKey(cast(Key, key))))
            else:
                log.other["key " + found[1]] += 1
        elif found := _SWITCH.match(line[:2000]):
            name = found[2]
            log.steps.append(Step(OpenApp(found[1], found[1] + name if name.startswith(".") else name)))
        elif found := _TROUBLE.match(line[:2000]):
            note = f"{'crash' if found[1] == 'CRASH' else 'anr'}: {found[2]}"[:200]
            if log.steps:
                log.steps[-1] = replace(log.steps[-1], notes=(*log.steps[-1].notes, note))
        elif found := _OTHER.match(line):
            log.other[found[1]] += 1
    return log


def _touch(log: _Log, act: str, places: list[tuple[str, str, str]]) -> None:
    """Follows the fingers from the first down to the last up."""
    if act == "ACTION_DOWN":
        log.fingers, log.most = {}, 0
    for finger, x, y in places:
        try:
            at = (float(x), float(y))
        except ValueError:
            continue
        if max(abs(at[0]), abs(at[1])) > 1e6:
            continue
        if act == "ACTION_DOWN":  # a finger that moves may leave the screen; monkey puts it down inside
            log.furthest = [max(log.furthest[0], at[0]), max(log.furthest[1], at[1])]
        log.fingers.setdefault(finger, _Finger(at, at)).end = at
    log.most = max(log.most, len(log.fingers))
    if act == "ACTION_UP" and log.fingers:
        log.steps.append(Step(_gesture(log)))
        log.fingers, log.most = {}, 0


def _gesture(log: _Log) -> Action:
    first = next(iter(log.fingers.values()))
    x, y, x2, y2 = (int(v) for v in (*first.begin, *first.end))
    if log.most > 1:
        other = list(log.fingers.values())[1]
        before, after = dist(first.begin, other.begin), dist(first.end, other.end)
        middle = ((first.begin[0] + other.begin[0]) / 2, (first.begin[1] + other.begin[1]) / 2)
        scale = min(max(after / before if before > 1 else 1.0, 0.05), 20.0)
        return Pinch(int(middle[0]), int(middle[1]), round(scale, 2))
    return Tap(x, y) if dist(first.begin, first.end) <= _SLOP else Swipe(x, y, x2, y2)


def _unfinished(log: _Log) -> Unfinished | None:
    """A finger that was still down where the log stops."""
    if not log.fingers:
        return None
    begin = next(iter(log.fingers.values())).begin
    return Unfinished(Tap(max(0, int(begin[0])), max(0, int(begin[1]))), reason="the log stops with the finger down")
