"""DroidBot's events as actions of ours, each on the node that it falls on by the one hit test."""

from __future__ import annotations

import re
import shlex
from typing import Any, cast, get_args

from phoneworld.graph.importers.droidbot_states import State, Unusable, bounds_of, full_activity, is_number
from phoneworld.ui.action import Action, CloseApp, Key, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, points_of
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture
from phoneworld.ui.node import Path as NodePath

_KEYS = {
    "DEL": "backspace",
    "APP_SWITCH": "recents",
    "DPAD_UP": "up",
    "DPAD_DOWN": "down",
    "DPAD_LEFT": "left",
    "DPAD_RIGHT": "right",
}


def action_of(event: Any, source: State) -> tuple[Action, NodePath | None, tuple[str, ...]]:
    if not isinstance(event, dict):
        raise Unusable("has no event")
    match event.get("event_type"):
        case "touch" | "select" | "unselect":
            point = _point(event, source)
            return _attributed(Tap(point.x, point.y), "tap", source, event.get("view"))
        case "long_touch":
            point = _point(event, source)
            duration = event.get("duration")
            duration = int(duration) if is_number(duration) and 0 <= duration <= 600_000 else 2000
            return _attributed(LongPress(point.x, point.y, duration), "long_press", source, event.get("view"))
        case "scroll":
            return _attributed(_scroll(event, source), "scroll", source, event.get("view"))
        case "swipe":
            begin = _point(event, source, "start_")
            end = _point(event, source, "end_")
            return _attributed(Swipe(begin.x, begin.y, end.x, end.y, 1000), "scroll", source, event.get("start_view"))
        case "set_text":
            point = _point(event, source)
            text = event.get("text")
            if not isinstance(text, str):
                raise Unusable("set_text without a text")
            return _attributed(TypeText(text, point.x, point.y, "replace"), "type", source, event.get("view"))
        case "key":
            return PressKey(_key(event.get("name"))), None, ()
        case "intent":
            return _intent(str(event.get("intent") or "")), None, ()
        case "kill_app":
            words = str(event.get("stop_intent") or "").split()
            if words[:2] != ["am", "force-stop"] or len(words) < 3:
                raise Unusable(f"kill_app with the command {event.get('stop_intent')!r}")
            return CloseApp(words[2]), None, ()
        case kind:
            raise Unusable(f"an event of type {kind!r} has no action of ours")


def _point(event: dict[str, Any], source: State, prefix: str = "") -> Point:
    """Where DroidBot touched: its x and y, else the middle of the view; clipped to the screen."""
    x, y, view = event.get(prefix + "x"), event.get(prefix + "y"), event.get(prefix + "view")
    if is_number(x) and is_number(y):
        point = Point(int(x), int(y))
    elif isinstance(view, dict):
        point = bounds_of(view).center
    else:
        raise Unusable("has neither a point nor a view")
    return _clip(point, source.capture.size)


def _clip(point: Point, size: Size) -> Point:
    return Point(max(0, min(size.width - 1, point.x)), max(0, min(size.height - 1, point.y)))


def _scroll(event: dict[str, Any], source: State) -> Swipe:
    """As DroidBot drags: over four fifths of the view; a scroll UP moves the finger down."""
    view = event.get("view")
    bounds = bounds_of(view) if isinstance(view, dict) else source.capture.size.bounds
    middle = _point(event, source) if isinstance(view, dict) or event.get("x") is not None else bounds.center
    dx, dy = bounds.width * 2 // 5, bounds.height * 2 // 5
    moves = {"UP": (0, dy), "DOWN": (0, -dy), "LEFT": (dx, 0), "RIGHT": (-dx, 0)}
    direction = str(event.get("direction")).upper()
    if direction not in moves:
        raise Unusable(f"a scroll in the direction {event.get('direction')!r}")
    x, y = moves[direction]
    size = source.capture.size
    begin, end = _clip(Point(middle.x - x, middle.y - y), size), _clip(Point(middle.x + x, middle.y + y), size)
    return Swipe(begin.x, begin.y, end.x, end.y, 500)


def _attributed(
    action: Action, gesture: Gesture, source: State, view: Any
) -> tuple[Action, NodePath | None, tuple[str, ...]]:
    """The action with the node it falls on by the one hit test; a note where DroidBot meant another one."""
    hierarchy = source.capture.hierarchy
    hit = hierarchy.hit_test(points_of(action)[0], gesture, source.capture.size)
    meant = (
        source.views.get(view["temp_id"]) if isinstance(view, dict) and isinstance(view.get("temp_id"), int) else None
    )
    if hit is None:
        return action, None, ()
    path = hit.target or hit.node
    apart = meant is not None and meant[: len(path)] != path and path[: len(meant)] != meant
    return action, path, (("meant-another-node",) if apart else ())


def _key(name: Any) -> Key:
    word = str(name).upper().removeprefix("KEYCODE_")
    key = _KEYS.get(word, word.lower())
    if key not in get_args(Key):
        raise Unusable(f"the key {name!r} has no key of ours")
    return cast(Key, key)


def _intent(command: str) -> Action:
    """`am start [-a ACTION] [-d URL] [-n] PACKAGE/ACTIVITY`, `am force-stop PACKAGE`."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    if words[:2] == ["am", "force-stop"] and len(words) > 2:
        return CloseApp(words[2])
    if words[:2] != ["am", "start"]:
        raise Unusable(f"the intent {command!r} starts no app")
    url = words[words.index("-d") + 1] if "-d" in words[:-1] else ""
    component = next((w for w in words[2:] if re.fullmatch(r"[\w.]+/[\w.$]+", w)), "")
    if not component:
        raise Unusable(f"the intent {command!r} names no app")
    return OpenApp(component.partition("/")[0], activity=full_activity(component), url=url)
