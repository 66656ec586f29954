"""Appium server logs: find, click, sendKeys and the rest, in the order in which the client asked for them.

    [HTTP] --> POST /wd/hub/session/ID/elements {"using":"xpath","value":"//*[@text = 'Save']"}
    [HTTP] <-- POST /wd/hub/session/ID/elements 200 107 ms - 139
    [HTTP] --> POST /wd/hub/session/ID/element/ELEMENT/click {...}

The body stands on the line of the request (Appium 2) or on the next one (Appium 1). A log says which widget an element is
only at debug level, so an element that is used for the first time is what was looked for last. Requests that failed did
nothing. Page sources beside the log are the screens (see `script`): as many as the log reads `/source`, or by number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from phoneworld.errors import FileFormatError
from phoneworld.graph.importers.recording import ImportedRecording, begins_with, files_of, read_text
from phoneworld.graph.importers.script import MAX_STEPS, Script, Step, Target, recording_of
from phoneworld.ui.action import (
    Action,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Key,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
)
from phoneworld.ui.geometry import Size
from phoneworld.ui.keys import key_of_code

NAME = "appium"
_SUFFIXES = (".log", ".txt")
_KNOWN_BY = re.compile(r"\[Appium\].{0,60}Welcome to Appium|\[HTTP\]\s*-->\s*(?:POST|GET)\s+\S*/session", re.S)
_REQUEST = re.compile(r"\[HTTP\]\s*-->\s*(GET|POST|DELETE)\s+(\S+)\s*(.*)$")
_RESPONSE = re.compile(r"\[HTTP\]\s*<--\s*(GET|POST|DELETE)\s+(\S+)\s+(\d{3})\b")
_BODY = re.compile(r"\[HTTP\]\s*(\{.*)$")
_SESSION = re.compile(r"/session/([^/\s]+)(/.*)?$")
_PACKAGE = re.compile(r"Package name: '([\w.]+)'")
_ACTIVITY = re.compile(r"Main activity name: '([\w.$]+)'")
_CONDITION = re.compile(r"@(resource-id|text|content-desc|class)\s*=\s*(?:'([^']*)'|\"([^\"]*)\")")
_UI_SELECTOR = re.compile(r"\.(resourceId|text|description|className|instance)\(\s*(?:\"((?:[^\"\\]|\\.)*)\"|(\d{1,6}))\s*\)")
_NAMES = {"resource-id": "resource_id", "resourceId": "resource_id", "content-desc": "content_desc", "description": "content_desc",
          "class": "class_name", "className": "class_name", "text": "text"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Request:
    number: int
    method: str
    url: str
    body: dict[str, Any]
    status: int


@dataclass(slots=True)
class _Session:
    """One session being read. `elements` are the widgets by element id."""

    package: str = ""
    activity: str = ""
    platform: str = ""
    steps: list[Step] = field(default_factory=list)
    moments: list[int] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    last: Target | None = None
    elements: dict[str, Target] = field(default_factory=dict)


def recognises(path: Path) -> bool:
    files = files_of(path, _SUFFIXES) if path.is_dir() or path.suffix.lower() in _SUFFIXES else ()
    return any(begins_with(file, _KNOWN_BY) for file in files)


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """Each session of each log a trace. Raises FileFormatError where no session is in it."""
    refused: list[tuple[str, str]] = []
    scripts: list[Script] = []
    package_found, activity = package or "", ""
    for file in files_of(path, _SUFFIXES):
        if not begins_with(file, _KNOWN_BY):
            continue
        text = read_text(file)
        sessions = _sessions(text)
        for name, session in sessions.items():
            refused += [(f"{file.name}: {where}", why) for where, why in session.refused]
            if session.platform.lower() == "ios":
                refused.append((file.name, f"session {name} ran on iOS; PhoneWorld records Android"))
                continue
            if not package_found:
                package_found, activity = session.package, session.activity
            scripts.append(Script(file.name, tuple(session.steps), moments=tuple(session.moments)))
    if not scripts:
        reason = f" ({refused[-1][0]}: {refused[-1][1]})" if refused else ""
        raise FileFormatError(
            f"{path}: no session on Android is in it{reason}", hint="expected an Appium server log with its [HTTP] lines (level info)"
        )
    return recording_of(scripts, NAME, path=path, package=package_found, refused=refused, activity=activity if not package else "")


def _sessions(text: str) -> dict[str, _Session]:
    """What each session did, by session id in order. What stands before the first one belongs to it."""
    sessions: dict[str, _Session] = {}
    capabilities: dict[str, Any] = {}
    for request in _requests(text):
        match = _SESSION.search(request.url)
        if match is None:
            if request.method == "POST" and request.url.rstrip("/").endswith("/session"):
                capabilities = _capabilities(request.body)
            continue
        name, rest = match[1], (match[2] or "").rstrip("/")
        if name not in sessions:
            found, activity = _PACKAGE.search(text), _ACTIVITY.search(text)
            sessions[name] = _Session(
                package=_text(capabilities.get("appPackage")) or (found[1] if found else ""),
                activity=_text(capabilities.get("appActivity")) or (activity[1] if activity else ""),
                platform=_text(capabilities.get("platformName")),
            )
        session = sessions[name]
        if len(session.steps) > MAX_STEPS:
            raise FileFormatError(f"more than {MAX_STEPS} steps in one session")
        _take(session, request, rest)
    return sessions


def _requests(text: str) -> Iterator[_Request]:
    """The requests in order, each with its body and the status of its answer (0 where the log stops before it)."""
    lines = text.split("\n")
    waiting: list[tuple[int, str, str, str]] = []
    for number, line in enumerate(lines, 1):
        if len(line) > 1_000_000 or "[HTTP]" not in line:
            continue
        if found := _REQUEST.search(line):
            body = found[3]
            following = _BODY.search(lines[number]) if not body and number < len(lines) else None
            waiting.append((number, found[1], found[2], following[1] if following else body))
        elif found := _RESPONSE.search(line):
            place = next((i for i, w in enumerate(waiting) if w[1:3] == (found[1], found[2])), None)
            if place is not None:
                for n, method, url, body in waiting[: place + 1]:  # what was never answered before it goes first
                    yield _Request(n, method, url, _json(body), int(found[3]) if url == found[2] else 0)
                del waiting[: place + 1]
    for n, method, url, body in waiting:
        yield _Request(n, method, url, _json(body), 0)


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _capabilities(body: dict[str, Any]) -> dict[str, Any]:
    """All capabilities of a session request in one; the `appium:` prefix taken off."""
    found: dict[str, Any] = {}
    wanted = body.get("capabilities")
    wanted = wanted if isinstance(wanted, dict) else {}
    first = wanted.get("firstMatch")
    for part in (body.get("desiredCapabilities"), *(first if isinstance(first, list) else []), wanted.get("alwaysMatch")):
        if isinstance(part, dict):
            found |= {str(k).removeprefix("appium:"): v for k, v in part.items()}
    return found


def _take(session: _Session, request: _Request, rest: str) -> None:
    """What one request did."""
    if rest == "/source" and request.method == "GET" and request.status == 200:
        session.moments.append(len(session.steps))
    if request.method != "POST":
        return
    body = request.body
    if rest in ("/element", "/elements") or re.fullmatch(r"/element/[^/]+/elements?", rest):
        if request.status == 200:
            session.last = _target(_text(body.get("using")), _text(body.get("value")))
        return
    step = _step(session, rest, body)
    if step is None:
        return
    where = f"line {request.number}"
    if isinstance(step, str):
        session.refused.append((where, step))
    elif request.status == 0:
        session.refused.append((where, f"{rest.rpartition('/')[2]}: the log stops before its answer"))
    elif request.status >= 400:
        session.refused.append((where, f"{rest.rpartition('/')[2]} was answered with {request.status}: it did nothing"))
    else:
        session.steps.append(step)


def _step(session: _Session, rest: str, body: dict[str, Any]) -> Step | str | None:
    """The step of one request; None where it does nothing to the screen, in words where it does and has no action of ours."""
    parts = rest.split("/")
    if len(parts) == 4 and parts[1] == "element" and parts[3] in ("click", "value", "clear"):
        target = session.elements.setdefault(parts[2], session.last or Target(f"element {parts[2]}"[:80]))
        match parts[3]:
            case "click":
                return Step(Tap(0, 0), target)
            case "value":
                return Step(TypeText(_typed(body), 0, 0), target)
            case _:
                return Step(Clear(0, 0), target)
    match rest:
        case "/back":
            return Step(PressKey("back"))
        case "/appium/device/hide_keyboard":
            return Step(PressKey("back"), notes=("hide-keyboard",))
        case "/appium/device/press_keycode" | "/appium/device/keyevent" | "/appium/device/long_press_keycode":
            return _key(body.get("keycode"))
        case "/keys":
            return Step(TypeText(_typed(body)))
        case "/url":
            return Step(OpenApp("", url=_text(body.get("url"))))
        case "/appium/app/launch":
            return Step(OpenApp(session.package, session.activity))
        case "/appium/device/start_activity":
            return Step(OpenApp(_text(body.get("appPackage")), _text(body.get("appActivity"))))
        case "/appium/device/activate_app":
            return Step(OpenApp(_text(body.get("appId") or body.get("bundleId"))))
        case "/appium/app/close":
            return Step(CloseApp(session.package))
        case "/appium/device/terminate_app":
            return Step(CloseApp(_text(body.get("appId") or body.get("bundleId"))))
        case "/touch/perform":
            return _touches(session, body.get("actions"))
        case "/actions":
            return _pointer(session, body.get("actions"))
        case "/execute" | "/execute/sync":
            return _mobile(session, _text(body.get("script")), body.get("args"))
        case "/orientation" | "/rotation" | "/appium/device/toggle_airplane_mode" | "/touch/multi/perform":
            return f"{rest} has no action of ours"
    return None


def _target(using: str, value: str) -> Target:
    """What a locator asks for, as far as it names ids, words, a class or a place in order."""
    words = f"{using}: {value}"
    index = 0
    named: dict[str, str] = {}
    match using:
        case "id":
            named["resource_id"] = value
        case "accessibility id":
            named["content_desc"] = value
        case "class name":
            named["class_name"] = value
        case "name" | "link text":
            named["text"] = value
        case "xpath":
            for name, single, double in _CONDITION.findall(value[:4000]):
                if words_ := single or double:
                    named.setdefault(_NAMES[name], words_)
            tag = re.match(r"//([A-Za-z][\w.]*\.[\w.]+)\s*(?:\[|$)", value)
            if tag:
                named.setdefault("class_name", tag[1])
            if place := re.search(r"\)\[(\d{1,6})\]\s*$", value):
                index = max(0, int(place[1]) - 1)
        case "-android uiautomator":
            for name, words_, number in _UI_SELECTOR.findall(value[:4000]):
                if name == "instance":
                    index = int(number or 0)
                elif words_:
                    named.setdefault(_NAMES[name], re.sub(r"\\(.)", r"\1", words_))
    return Target(
        words, named.get("resource_id"), named.get("text"), named.get("content_desc"), named.get("class_name"), index=index
    )


def _typed(body: dict[str, Any]) -> str:
    text = body.get("text")
    if isinstance(text, str):
        return text
    value = body.get("value")
    return "".join(v for v in value if isinstance(v, str)) if isinstance(value, list) else _text(value)


def _key(code: Any) -> Step | str:
    key = key_of_code(code) if isinstance(code, int) else None
    return Step(PressKey(cast(Key, key))) if key in get_args(Key) else f"the key code {code!r} has no key of ours"[:100]


def _touches(session: _Session, actions: Any) -> Step | str:
    """A TouchAction: tap, press, longPress, moveTo, wait, release."""
    places: list[tuple[int, int]] = []
    target: Target | None = None
    names: list[str] = []
    waited = 0
    for action in actions if isinstance(actions, list) else []:
        if not isinstance(action, dict):
            continue
        names.append(_text(action.get("action")))
        options = action.get("options")
        options = options if isinstance(options, dict) else {}
        if isinstance(options.get("element"), str):
            target = target or session.elements.setdefault(options["element"], session.last or Target("an element"))
        elif (place := _place(options)) is not None:
            places.append(place)
        waited += int(options["ms"]) if _number(options.get("ms")) else 0
    if "moveTo" in names and len(places) > 1:
        return Step(Swipe(*places[0], *places[-1], min(max(waited, 300), 600_000)))
    is_long = "longPress" in names or waited >= 500
    if places or target:
        x, y = places[0] if places else (0, 0)
        return Step(LongPress(x, y) if is_long else Tap(x, y), None if places else target)
    return "a touch without a place"


def _pointer(session: _Session, sources: Any) -> Step | str:
    """W3C pointer actions of one finger; with an element as their origin, places are offsets from its middle."""
    fingers = [s for s in sources if isinstance(s, dict) and s.get("type") == "pointer"] if isinstance(sources, list) else []
    if len(fingers) != 1:
        return f"pointer actions of {len(fingers)} fingers"
    places: list[tuple[int, int]] = []
    at: tuple[int, int] | None = None
    target: Target | None = None
    down, held, downs = False, 0, 0
    acts = fingers[0].get("actions")
    for act in acts if isinstance(acts, list) else []:
        if not isinstance(act, dict):
            continue
        match act.get("type"):
            case "pointerMove" if isinstance(act.get("origin"), dict):
                element = next((v for v in act["origin"].values() if isinstance(v, str)), "")
                target = target or session.elements.setdefault(element, session.last or Target("an element"))
            case "pointerMove":
                at = _place(act) or at
                if down and at:
                    places.append(at)
            case "pointerDown":
                down, downs = True, downs + 1
                places += [at] if at else []
            case "pointerUp":
                down = False
        if down and _number(act.get("duration")):
            held += int(act["duration"])
    held = min(max(held, 1), 600_000)
    if target is not None and not places:
        return Step(LongPress(0, 0, held) if held >= 500 else Tap(0, 0), target)
    if not places:
        return "pointer actions without a place"
    (x, y), (x2, y2) = places[0], places[-1]
    if abs(x2 - x) + abs(y2 - y) > 20:
        return Step(Swipe(x, y, x2, y2, held))
    if downs == 2:
        return Step(DoubleTap(x, y))
    return Step(LongPress(x, y, held) if held >= 500 else Tap(x, y))


def _mobile(session: _Session, script: str, args: Any) -> Step | str | None:
    """`mobile: ...` commands that touch the screen."""
    if not script.startswith("mobile:"):
        return None
    name = script.removeprefix("mobile:").strip()
    about = args[0] if isinstance(args, list) and args and isinstance(args[0], dict) else {}
    place = _place(about)
    element = about.get("elementId")
    target = session.elements.setdefault(element, session.last or Target("an element")) if isinstance(element, str) and not place else None
    x, y = place or (0, 0)
    gestures: dict[str, Action] = {"clickGesture": Tap(x, y), "longClickGesture": LongPress(x, y), "doubleClickGesture": DoubleTap(x, y)}
    if name in gestures and (place or target):
        return Step(gestures[name], target)
    if name in ("swipeGesture", "scrollGesture"):
        direction = _text(about.get("direction")).lower()
        if name == "scrollGesture":  # it says where the content goes to
            direction = {"down": "up", "up": "down", "left": "right", "right": "left"}.get(direction, "")
        box = [about.get(k) for k in ("left", "top", "width", "height")]
        area = [int(v) for v in box] if all(_number(v) for v in box) else None  # type: ignore[arg-type]
        moves = {"up": (5, 8, 5, 2), "down": (5, 2, 5, 8), "left": (8, 5, 2, 5), "right": (2, 5, 8, 5)}
        if direction not in moves:
            return f"{name} without a direction"

        def swipe(size: Size) -> Action:
            left, top, width, height = area or (0, 0, size.width, size.height)
            a, b, c, d = moves[direction]
            return Swipe(left + width * a // 10, top + height * b // 10, left + width * c // 10, top + height * d // 10, 500)

        return Step(swipe)
    if name == "dragGesture":
        ends = [about.get(k) for k in ("startX", "startY", "endX", "endY")]
        return Step(Drag(*(int(v) for v in ends))) if all(_number(v) for v in ends) else "a drag without two places"  # type: ignore[arg-type]
    if name == "pressKey":
        return _key(about.get("keycode"))
    if name == "deepLink":
        return Step(OpenApp(_text(about.get("package")), url=_text(about.get("url"))))
    if name == "activateApp":
        return Step(OpenApp(_text(about.get("appId"))))
    if name == "terminateApp":
        return Step(CloseApp(_text(about.get("appId"))))
    if name.endswith("Gesture"):
        return f"{name} has no action of ours"
    return None


def _place(options: dict[str, Any]) -> tuple[int, int] | None:
    x, y = options.get("x"), options.get("y")
    return (int(cast(float, x)), int(cast(float, y))) if _number(x) and _number(y) else None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e6 < value < 1e6


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
