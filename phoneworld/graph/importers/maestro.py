"""Maestro flows (YAML): what is done in them as a trace, what is only looked at as notes.

    appId: com.example
    ---
    - launchApp
    - tapOn: "Log in"           # or {id: ..., text: ..., index: ..., point: "50%,20%"}
    - inputText: "me"

A flow says nothing about screens. Where hierarchy JSON or dumps lie beside it, widgets are found in them (see `script`).
`runFlow` is followed within the folder; `repeat` is unrolled. A command that is no act on the screen is left out and listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import StartKind
from phoneworld.graph.importers.recording import ImportedRecording, begins_with, files_of, read_text
from phoneworld.graph.importers.script import MAX_STEPS, Script, Step, Target, recording_of
from phoneworld.ui.action import (
    Action,
    Clear,
    CloseApp,
    DoubleTap,
    Key,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from phoneworld.ui.geometry import Size

NAME = "maestro"
_SUFFIXES = (".yaml", ".yml")
_MAX_YAML = 1_000_000
_MAX_DEPTH = 12
_MAX_REPEAT = 100
_KNOWN_BY = re.compile(r"^(?:appId|url)\s*:|^\s*-\s*(?:launchApp|tapOn|inputText|runFlow|assertVisible)\b", re.M)
_POINT = re.compile(r"\s*(-?\d{1,6}(?:\.\d+)?)(%?)\s*,\s*(-?\d{1,6}(?:\.\d+)?)(%?)\s*")
_KEYS: dict[str, Key] = {
    "home": "home", "back": "back", "enter": "enter", "backspace": "backspace", "lock": "power", "power": "power", "tab": "tab",
    "volume up": "volume_up", "volume down": "volume_down", "remote dpad up": "up", "remote dpad down": "down",
    "remote dpad left": "left", "remote dpad right": "right", "remote dpad center": "enter", "remote system navigation back": "back",
}  # fmt: skip
_SWIPES = {"UP": (0.5, 0.5, 0.5, 0.1), "DOWN": (0.5, 0.2, 0.5, 0.9), "LEFT": (0.9, 0.5, 0.1, 0.5), "RIGHT": (0.1, 0.5, 0.9, 0.5)}
_LOOKS = ("assertVisible", "assertNotVisible", "assertTrue", "copyTextFrom", "takeScreenshot", "assertWithAI", "assertNoDefectsWithAI")
_RELATIONS = ("above", "below", "leftOf", "rightOf", "childOf", "containsChild", "containsDescendants")


class _Left(Exception):
    """A command that becomes no step; the text says why."""


@dataclass(slots=True)
class _Flow:
    """One flow being read. `root` is the folder that `runFlow` may not leave."""

    root: Path
    file: Path
    app: str = ""
    steps: list[Step] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    start_kind: StartKind = "unknown"
    count: int = 0


def recognises(path: Path) -> bool:
    if path.is_file():
        return path.suffix.lower() in _SUFFIXES
    return any(begins_with(file, _KNOWN_BY) for file in files_of(path, _SUFFIXES))


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """Each flow a trace. Raises FileFormatError where no flow has a step."""
    root = path if path.is_dir() else path.parent
    refused: list[tuple[str, str]] = []
    scripts: list[Script] = []
    apps: list[str] = []
    for file in files_of(path, _SUFFIXES):
        try:
            script, app = _read_flow(file, root, refused)
        except FileFormatError as e:
            refused.append((file.name, e.message))
            continue
        scripts.append(script)
        apps.append(app)
    if not scripts:
        reason = f" ({refused[-1][0]}: {refused[-1][1]})" if refused else ""
        raise FileFormatError(f"{path}: not one Maestro flow could be read{reason}", hint="expected commands after a line `---`")
    app = package or next((a for a in apps if a), "")
    warnings = [f"{s.name} is a flow of {a}" for s, a in zip(scripts, apps, strict=True) if a and a != app]
    return recording_of(scripts, NAME, path=path, package=app, refused=refused, warnings=warnings)


def _read_flow(file: Path, root: Path, refused: list[tuple[str, str]]) -> tuple[Script, str]:
    about, commands = _documents(file)
    flow = _Flow(root, file, app=_word(about.get("appId") or about.get("url")))
    _run(flow, commands, file, 0)
    refused += flow.refused
    if not flow.steps:
        raise FileFormatError(f"no command of {len(commands)} does anything to the screen")
    tags = about.get("name")
    return Script(file.name, _with_looks(flow), instruction=_word(tags), start_kind=flow.start_kind), flow.app


def _with_looks(flow: _Flow) -> tuple[Step, ...]:
    """What was asserted after the last step belongs to it."""
    if flow.looked and flow.steps:
        flow.steps[-1] = replace(flow.steps[-1], notes=(*flow.steps[-1].notes, *flow.looked))
        flow.looked.clear()
    return tuple(flow.steps)


def _documents(file: Path) -> tuple[dict[str, Any], list[Any]]:
    """The head of a flow and its commands. All scalars are text: nothing in a file chooses a type."""
    text = read_text(file)
    if len(text) > _MAX_YAML:
        raise FileFormatError(f"a flow is at most {_MAX_YAML} characters, found {len(text)}")
    try:
        documents = list(yaml.load_all(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise FileFormatError(f"is not YAML: {getattr(e, 'problem', None) or 'unreadable'}{where}") from None
    except (RecursionError, ValueError) as e:
        raise FileFormatError(f"is not YAML that can be read: {type(e).__name__}") from None
    about = next((d for d in documents if isinstance(d, dict)), {})
    commands = next((d for d in documents if isinstance(d, list)), None)
    if commands is None:
        raise FileFormatError("has no list of commands: a configuration, or not a flow")
    return about, commands


def _run(flow: _Flow, commands: Any, file: Path, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise FileFormatError(f"flows lie in each other deeper than {_MAX_DEPTH} levels")
    if not isinstance(commands, list):
        return
    for number, command in enumerate(commands, 1):
        flow.count += 1
        if flow.count > MAX_STEPS:
            raise FileFormatError(f"more than {MAX_STEPS} commands, its repetitions counted")
        where = f"{file.name}: command {number}"
        name, value = _named(command)
        if not name:
            flow.refused.append((where, "is no command"))
            continue
        try:
            _command(flow, name, value, file, depth)
        except _Left as e:
            flow.refused.append((f"{where} ({name[:60]})", str(e)))


def _named(command: Any) -> tuple[str, Any]:
    if isinstance(command, str):
        return command, ""
    if isinstance(command, dict) and command:
        name = next(iter(command))
        return (name, command[name]) if isinstance(name, str) else ("", "")
    return "", ""


def _command(flow: _Flow, name: str, value: Any, file: Path, depth: int) -> None:
    match name:
        case "runFlow":
            _subflow(flow, value, file, depth)
        case "repeat":
            _repeat(flow, value, file, depth)
        case "retry" if isinstance(value, dict) and "commands" in value:
            _run(flow, value["commands"], file, depth + 1)
        case _ if name in _LOOKS:
            flow.looked.append(f"{name}: {_words(value)}"[:300])
        case _:
            for step in _steps(flow, name, value):
                if len(flow.steps) >= MAX_STEPS:
                    raise FileFormatError(f"more than {MAX_STEPS} steps")
                _with_looks(flow)
                flow.steps.append(step)


def _subflow(flow: _Flow, value: Any, file: Path, depth: int) -> None:
    when = value.get("when") if isinstance(value, dict) else None
    if isinstance(when, dict) and _word(when.get("platform")).lower() not in ("", "android"):
        raise _Left(f"only on {_word(when.get('platform'))}")
    if isinstance(when, dict) and any(k != "platform" for k in when):
        raise _Left(f"only when {_words({k: v for k, v in when.items() if k != 'platform'})}: whether it was run is not said")
    if isinstance(value, dict) and "commands" in value:
        _run(flow, value["commands"], file, depth + 1)
        return
    name = _word(value.get("file")) if isinstance(value, dict) else _word(value)
    try:
        inner = (file.parent / name).resolve()
        inside = bool(name) and inner.is_relative_to(flow.root.resolve()) and inner.is_file()
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise _Left(f"the flow {name[:100]!r} does not lie in this folder")
    try:
        _, commands = _documents(inner)
    except FileFormatError as e:
        raise _Left(e.message) from None
    _run(flow, commands, inner, depth + 1)


def _repeat(flow: _Flow, value: Any, file: Path, depth: int) -> None:
    times = _word(value.get("times")) if isinstance(value, dict) else ""
    if not times.isdecimal() or len(times) > 9:
        raise _Left("repeated until something is seen: how often is not said")
    if int(times) > _MAX_REPEAT:
        raise _Left(f"repeated {times} times: at most {_MAX_REPEAT} are unrolled")
    for _ in range(int(times)):
        _run(flow, value.get("commands"), file, depth + 1)


def _steps(flow: _Flow, name: str, value: Any) -> tuple[Step, ...]:
    """What one command does to the screen. Raises _Left where it does nothing to it."""
    about = value if isinstance(value, dict) else {}
    match name:
        case "launchApp":
            if _word(about.get("clearState")).lower() == "true" and not flow.steps:
                flow.start_kind = "fresh"
            return (Step(OpenApp(_word(about.get("appId")) or _word(value if not about else "") or flow.app)),)
        case "stopApp" | "killApp":
            return (Step(CloseApp(_word(value) or flow.app)),)
        case "openLink":
            return (Step(OpenApp("", url=_word(about.get("link")) or _word(value))),)
        case "tapOn":
            times = _word(about.get("repeat"))
            count = min(int(times), _MAX_REPEAT) if times.isdecimal() and len(times) < 6 else 1
            return (_aimed(Tap(0, 0), value),) * max(1, count)
        case "doubleTapOn":
            return (_aimed(DoubleTap(0, 0), value),)
        case "longPressOn":
            return (_aimed(LongPress(0, 0, 3000), value),)
        case "inputText":
            return (Step(TypeText(_word(about.get("text")) or _word(value))),)
        case "eraseText":
            count_ = _word(about.get("charactersToErase")) or _word(value)
            if count_.isdecimal() and len(count_) < 4:
                return (Step(PressKey("backspace")),) * int(count_)
            return (Step(Clear()),)
        case "back":
            return (Step(PressKey("back")),)
        case "hideKeyboard":
            return (Step(PressKey("back"), notes=("hide-keyboard",)),)
        case "pressKey":
            key = _KEYS.get((_word(about.get("key")) or _word(value)).lower())
            if key is None:
                raise _Left(f"the key {_words(value)} has no key of ours")
            return (Step(PressKey(key)),)
        case "swipe":
            return (_swipe(about),)
        case "scroll":
            return (Step(_shares((0.5, 0.5, 0.5, 0.1), 400)),)
        case "scrollUntilVisible":
            direction = _word(about.get("direction")).upper() or "DOWN"
            away = {"DOWN": "UP", "UP": "DOWN", "LEFT": "RIGHT", "RIGHT": "LEFT"}.get(direction, "UP")
            note = f"until visible: {_words(about.get('element'))}"[:300]
            return (Step(_shares(_SWIPES[away], 400), notes=(note, "repeated")),)
        case "extendedWaitUntil" | "waitForAnimationToEnd":
            limit = _word(about.get("timeout"))
            wait = Wait(min(int(limit), 600_000) if limit.isdecimal() and len(limit) < 10 else 1000)
            return (Step(wait, notes=(f"{name}: {_words({k: v for k, v in about.items() if k != 'timeout'})}"[:300],)),)
    if name.startswith("inputRandom"):
        raise _Left("types something random: what was typed is not said")
    if name == "pasteText":
        raise _Left("types what was copied: what that was is not said")
    raise _Left("does nothing to the screen that is an action of ours")


def _aimed(action: Tap | DoubleTap | LongPress, value: Any) -> Step:
    about = value if isinstance(value, dict) else {}
    if (point := _point(_word(about.get("point")))) is not None:
        def at(size: Size) -> Action:
            x, y = _pixels(point, size)
            return replace(action, x=x, y=y)

        return Step(at)
    if not about:
        return Step(action, Target(_words(value), label=_word(value), is_pattern=True))
    related = [r for r in _RELATIONS if r in about]
    index = _word(about.get("index"))
    target = Target(
        _words(about),
        resource_id=_word(about.get("id")) or None,
        label=_word(about.get("text")) or None,
        index=int(index) if re.fullmatch(r"-?\d{1,6}", index) else 0,
        is_pattern=True,
    )
    # What is meant by its neighbours is not looked for: a wrong widget would be worse than none.
    return Step(action, replace(target, resource_id=None, label=None) if related else target)


def _swipe(about: dict[str, Any]) -> Step:
    duration = _word(about.get("duration"))
    time = min(int(duration), 600_000) if duration.isdecimal() and len(duration) < 10 else 400
    start, end = _point(_word(about.get("start"))), _point(_word(about.get("end")))
    if start is not None and end is not None:
        def between(size: Size) -> Action:
            return Swipe(*_pixels(start, size), *_pixels(end, size), time)

        return Step(between)
    shares = _SWIPES.get(_word(about.get("direction")).upper())
    if shares is None:
        raise _Left(f"a swipe without a direction: {_words(about)}")
    widget = about.get("from")
    target = _aimed(Tap(0, 0), widget).target if widget else None
    return Step(_shares(shares, time), target)


_Place = tuple[float, bool, float, bool]


def _point(text: str) -> _Place | None:
    found = _POINT.fullmatch(text)
    return (float(found[1]), bool(found[2]), float(found[3]), bool(found[4])) if found else None


def _pixels(place: _Place, size: Size) -> tuple[int, int]:
    x, x_share, y, y_share = place
    return (
        min(size.width - 1, int(x * size.width / 100)) if x_share else int(x),
        min(size.height - 1, int(y * size.height / 100)) if y_share else int(y),
    )


def _shares(shares: tuple[float, float, float, float], duration_ms: int) -> Callable[[Size], Action]:
    x, y, x2, y2 = shares

    def swipe(size: Size) -> Action:
        w, h = size.width - 1, size.height - 1
        return Swipe(int(x * w), int(y * h), int(x2 * w), int(y2 * h), duration_ms)

    return swipe


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _words(value: Any, depth: int = 0) -> str:
    """A selector in one line; cut short, for aliases can make a small file say a lot."""
    if isinstance(value, dict) and depth < 4:
        return ", ".join(f"{str(k)[:60]}={_words(v, depth + 1)}" for k, v in list(value.items())[:12])[:300]
    if isinstance(value, list) and depth < 4:
        return "[" + ", ".join(_words(v, depth + 1) for v in value[:12])[:300] + "]"
    return str(value)[:300] if isinstance(value, str) else "…" if value else ""
