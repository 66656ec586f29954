"""DroidBot output folders, of all its versions and forks that were seen: states, pictures, events, `utg.js`.

    states/state_TAG.json   views as a flat list (temp_id, parent, children, bounds [[l,t],[r,b]], ...), state_str
    states/screen_TAG.png   the picture (.jpg later)      (all_states/state_N.json in Kea)
    events/event_TAG.json   event, start_state, stop_state (both as state_str)
    utg.js | utg.json       app, device, and a graph that covers one of several runs in the folder

States are saved by DroidBot when they are new (or always, in some forks), so one state_str may have none, one or many
files. The order of events is that of their tags; a trace goes on as long as both ends of each event have a file.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

from phoneworld.errors import FileFormatError
from phoneworld.graph.file import natural_order
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.importers.recording import (
    PICTURE_SUFFIXES,
    ImportedRecording,
    Picture,
    fit_picture,
    main_package,
    read_bytes,
    read_picture,
    usual_density,
    visible_extent,
)
from phoneworld.ui.action import (
    Action,
    CloseApp,
    Key,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    points_of,
)
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node
from phoneworld.ui.node import Path as NodePath

NAME = "droidbot"
_STATE_FOLDERS = ("states", "all_states")
_NAMED = (
    "class", "text", "resource_id", "package", "content_description", "checkable", "checked", "clickable", "enabled", "focusable",
    "focused", "scrollable", "long_clickable", "is_password", "selected", "visible", "bounds", "children", "parent", "temp_id",
)  # fmt: skip
# What DroidBot computed about a view rather than read from it; it grows with the tree and says nothing new.
_DERIVED = (
    "signature", "content_free_signature", "text-sensitive-signature", "view_str", "size", "child_count", "brace_string",
    "postorder_view_id", "sibling_id", "is_ignored", "desc", "local_id", "special_attrs", "allowed_actions", "global_drawing_order",
    "editable", "drawing-order",
)  # fmt: skip
_MAX_DEPTH = 200
_TAG = re.compile(r"(?:state|event)_(.+)\.json")
_KEYS = {
    "DEL": "backspace",
    "APP_SWITCH": "recents",
    "DPAD_UP": "up",
    "DPAD_DOWN": "down",
    "DPAD_LEFT": "left",
    "DPAD_RIGHT": "right",
}


@dataclass(frozen=True, slots=True)
class _State:
    """One state file: `views` are its node paths by temp_id."""

    capture: Capture
    state_str: str
    tag: str
    views: dict[int, NodePath]


class _Unusable(Exception):
    """A part of the recording that is left out; the text says why."""


def recognises(path: Path) -> bool:
    return path.is_dir() and _root_of(path) is not None


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """The graph of one output folder: every state file a capture, every event with both states a transition.

    Raises FileFormatError where there is no state that can be read.
    """
    root = _root_of(path)
    if root is None:
        raise FileFormatError(
            f"{path} is no DroidBot output: it has no folder states/ with state_*.json",
            hint="give the folder that holds states/",
        )
    refused: list[tuple[str, str]] = []
    warnings: list[str] = []
    about = _about(root, refused)
    states, screenshots = _states(root, refused, warnings)
    if not states:
        reason = refused[0] if refused else ("states", "empty")
        raise FileFormatError(f"{path}: not one state could be read ({reason[0]}: {reason[1]})")
    traces = _traces(root, states, refused, warnings)
    captures = {state.capture.id: state.capture for state in states}
    named = about.get("app_package") or main_package(c.hierarchy for c in captures.values())
    if package and package not in {n.package for c in captures.values() for n in c.hierarchy.windows}:
        warnings.append(f"no screen of this recording belongs to {package}")
    activity = str(about.get("app_main_activity") or "")
    sizes = Counter(c.size for c in captures.values() if c.state.rotation == 0) or Counter(
        c.size for c in captures.values()
    )
    graph = StateGraph(
        app=RecordedApp(package or str(named), activity=activity if not package or package == named else ""),
        device=DeviceInfo(
            size=sizes.most_common(1)[0][0],
            density=usual_density(sizes.most_common(1)[0][0]),
            model=str(about.get("device_model_number") or ""),
            sdk=about["device_sdk_version"] if isinstance(about.get("device_sdk_version"), int) else 0,
        ),
        captures=captures,
        traces=traces,
        source="droidbot",
        created=str(about.get("test_date") or ""),
    )
    origins = {s.capture.id: f"state_{s.tag}.json" for s in states}
    return ImportedRecording(graph, NAME, screenshots, tuple(refused), tuple(warnings), origins)


def _root_of(path: Path) -> Path | None:
    for root in (path, path / "output"):
        for name in _STATE_FOLDERS:
            if next((root / name).glob("state_*.json"), None) is not None:
                return root
    return None


def _json(path: Path) -> Any:
    text = read_bytes(path).decode("utf-8", errors="replace")
    if path.suffix == ".js":  # `var utg = {...};`
        text = text[text.find("{") :].rstrip().rstrip(";") if "{" in text else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise FileFormatError(f"is not JSON: {e}") from None


def _about(root: Path, refused: list[tuple[str, str]]) -> dict[str, Any]:
    for name in ("utg.js", "utg.json"):
        if (root / name).is_file():
            try:
                about = _json(root / name)
            except FileFormatError as e:
                refused.append((name, e.message))
                continue
            if isinstance(about, dict):
                return about
    return {}


# ---- states


def _states(root: Path, refused: list[tuple[str, str]], warnings: list[str]) -> tuple[list[_State], dict[str, bytes]]:
    found: list[tuple[str, dict[str, Any], Hierarchy, dict[int, NodePath], Picture | None, tuple[str, ...]]] = []
    files = [f for name in _STATE_FOLDERS for f in (root / name).glob("state_*.json")]
    for file in sorted(files, key=lambda f: natural_order(f.name)):
        where = f"{file.parent.name}/{file.name}"
        try:
            state = _json(file)
            if not isinstance(state, dict) or not isinstance(state.get("state_str"), str):
                raise _Unusable("has no state_str")
            hierarchy, views = _hierarchy(state.get("views"))
        except (FileFormatError, _Unusable) as e:
            refused.append((where, str(e)))
            continue
        picture, notes = _picture_of(file, hierarchy, refused)
        found.append((_tag(file), state, hierarchy, views, picture, notes))
    common = Counter(p.size for *_, p, _ in found if p is not None).most_common(1)
    if found and not common:
        warnings.append("no picture at all: screens will be drawn from their trees")
    elif missing := sum(1 for *_, p, _ in found if p is None):
        warnings.append(f"{missing} of {len(found)} states have no picture")
    screenshots: dict[str, bytes] = {}
    states = []
    for i, (tag, state, hierarchy, views, picture, notes) in enumerate(found, 1):
        size = picture.size if picture else _assumed_size(state, hierarchy, common[0][0] if common else None)
        if picture:
            screenshots[picture.sha] = picture.png
        upright = _stated_size(state) or (common[0][0] if common else size)
        rotation = int((size.width > size.height) != (upright.width > upright.height))
        activity = str(state.get("foreground_activity") or "")
        package = activity.partition("/")[0] if "/" in activity else ""
        capture = Capture(
            id=f"s{i:04d}",
            hierarchy=replace(hierarchy, rotation=rotation),
            size=size,
            screenshot=picture.sha if picture else None,
            state=DeviceState(package=package, activity=_activity(activity), rotation=rotation),
            time_ms=0,
            notes=notes,
        )
        states.append(_State(capture, state["state_str"], tag, views))
    return states, screenshots


def _activity(component: str) -> str:
    """`pkg/.Main` as the full class name, so that both spellings are one activity."""
    package, slash, name = component.partition("/")
    if not slash:
        return component
    return package + name if name.startswith(".") else name


def _tag(file: Path) -> str:
    match = _TAG.fullmatch(file.name)
    return match[1] if match else file.stem


def _picture_of(
    file: Path, hierarchy: Hierarchy, refused: list[tuple[str, str]]
) -> tuple[Picture | None, tuple[str, ...]]:
    for suffix in PICTURE_SUFFIXES:
        place = file.with_name(f"screen_{_tag(file)}{suffix}")
        if not place.is_file():
            continue
        where = f"{place.parent.name}/{place.name}"
        try:
            picture, note = fit_picture(read_picture(place), visible_extent(hierarchy))
        except FileFormatError as e:
            refused.append((where, e.message))
            return None, ()
        if picture is None:
            refused.append((where, note))
            return None, ()
        return picture, ((note,) if note else ())
    return None, ()


def _assumed_size(state: dict[str, Any], hierarchy: Hierarchy, common: Size | None) -> Size:
    """The size of a state without a picture: what DroidBot says, or the run's usual size, turned to hold the windows."""
    extent = visible_extent(hierarchy)
    stated = _stated_size(state)
    candidates = [stated] if stated else []
    candidates += [common] if common else []
    for size in candidates:
        for turned in (size, Size(size.height, size.width)):
            if extent.width <= turned.width and extent.height <= turned.height:
                return turned
    return extent


def _stated_size(state: dict[str, Any]) -> Size | None:
    """The upright size of the screen, which later versions write into each state."""
    match state.get("width"), state.get("height"):
        case (int(width), int(height)) if width > 0 and height > 0:
            return Size(width, height)
    return None


def _hierarchy(views: Any) -> tuple[Hierarchy, dict[int, NodePath]]:
    """The tree of a flat view list, and the path of each view by its temp_id."""
    if not isinstance(views, list) or not all(isinstance(v, dict) for v in views):
        raise _Unusable("has no list of views")
    if not views:
        raise _Unusable("has no view in it")
    by_id: dict[int, dict[str, Any]] = {}
    for i, view in enumerate(views):
        name = view.get("temp_id", i)
        if not isinstance(name, int) or name in by_id:
            raise _Unusable(f"view {i} has no temp_id of its own")
        by_id[name] = view
    roots = [name for name, view in by_id.items() if view.get("parent") not in by_id]
    paths: dict[int, NodePath] = {}
    order: list[int] = []
    stack: list[tuple[int, NodePath]] = [(root, (i,)) for i, root in enumerate(roots)]
    while stack:  # no recursion: a hostile file may be as deep as it is long
        name, path = stack.pop()
        if name in paths:
            raise _Unusable(f"view {name} has two parents")
        if len(path) > _MAX_DEPTH:
            raise _Unusable(f"view {name} lies deeper than {_MAX_DEPTH} levels")
        paths[name] = path
        order.append(name)
        stack.extend((child, (*path, i)) for i, child in enumerate(_children(by_id, name)))
    if len(order) != len(by_id):
        raise _Unusable(f"{len(by_id) - len(order)} views hang on no window")
    # Some forks write a missing description as the word None; where others are null in the same file, None is a word.
    without = "" if any(view.get("content_description") is None for view in views) else "None"
    nodes: dict[int, Node] = {}
    for name in reversed(order):
        children = tuple(nodes[child] for child in _children(by_id, name))
        nodes[name] = _node(by_id[name], children, paths[name][-1], without)
    return Hierarchy(windows=tuple(nodes[root] for root in roots)), paths


def _children(by_id: dict[int, dict[str, Any]], name: int) -> list[int]:
    children = by_id[name].get("children")
    return [c for c in children if isinstance(c, int) and c in by_id] if isinstance(children, list) else []


def _node(view: dict[str, Any], children: tuple[Node, ...], index: int, without: str) -> Node:
    order = view.get("drawing-order")
    return Node(
        class_name=_words(view, "class") or "android.view.View",
        text=_words(view, "text"),
        resource_id=_words(view, "resource_id"),
        package=_words(view, "package"),
        content_desc="" if view.get("content_description") == without else _words(view, "content_description"),
        checkable=view.get("checkable") is True,
        checked=view.get("checked") is True,
        clickable=view.get("clickable") is True,
        enabled=view.get("enabled") is not False,
        focusable=view.get("focusable") is True,
        focused=view.get("focused") is True,
        scrollable=view.get("scrollable") is True,
        long_clickable=view.get("long_clickable") is True,
        password=view.get("is_password") is True,
        selected=view.get("selected") is True,
        visible=view.get("visible") is not False,
        bounds=_bounds(view),
        index=index,
        drawing_order=order if isinstance(order, int) and not isinstance(order, bool) else None,
        extra=tuple(
            (k, str(v))
            for k, v in view.items()
            if k not in _NAMED and k not in _DERIVED and isinstance(v, str | int | bool)
        ),
        children=children,
    )


def _words(view: dict[str, Any], name: str) -> str:
    value = view.get(name)
    return value if isinstance(value, str) else ""


def _bounds(view: dict[str, Any]) -> Bounds:
    match view.get("bounds"):
        case [[int(left), int(top)], [int(right), int(bottom)]]:
            return Bounds(left, top, right, bottom)
    raise _Unusable(f"view {view.get('temp_id')} has the bounds {view.get('bounds')!r}")


# ---- events


def _traces(root: Path, states: list[_State], refused: list[tuple[str, str]], warnings: list[str]) -> tuple[Trace, ...]:
    by_str: dict[str, list[int]] = {}
    for i, state in enumerate(states):
        by_str.setdefault(state.state_str, []).append(i)
    traces: list[Trace] = []
    run: list[Transition] = []
    current: int | None = None
    cursor = 0

    def close() -> None:
        if run:
            traces.append(Trace(id=f"t{len(traces) + 1:03d}", start=run[0].source, transitions=tuple(run)))
            run.clear()

    files = sorted((root / "events").glob("event_*.json"), key=lambda f: natural_order(f.name))
    if not files:
        warnings.append("no events: the screens are imported without transitions")
    for file in files:
        where = f"events/{file.name}"
        try:
            event = _json(file)
            if not isinstance(event, dict):
                raise _Unusable("is no object")
            start, stop = event.get("start_state"), event.get("stop_state")
            if missing := [name for name, s in (("start", start), ("stop", stop)) if s not in by_str]:
                raise _Unusable(f"no file of its {' and its '.join(missing)} state")
            if current is None or states[current].state_str != start:
                close()
                current = _choose(by_str[str(start)], cursor - 1)
            source = states[current]
            action, hit, notes = _action(event.get("event"), source)
            chosen = _choose(by_str[str(stop)], current)
            target = current if stop == start and chosen <= current else chosen
            run.append(Transition(source.capture.id, action, states[target].capture.id, hit=hit, notes=notes))
            current, cursor = target, max(cursor, target)
        except (FileFormatError, _Unusable) as e:
            refused.append((where, str(e)))
            close()
            current = None
    close()
    return tuple(traces)


def _choose(files: list[int], cursor: int) -> int:
    """Of the files of one state: the first one after the moment reached, else the last one before it."""
    later = [i for i in files if i > cursor]
    return later[0] if later else files[-1]


def _action(event: Any, source: _State) -> tuple[Action, NodePath | None, tuple[str, ...]]:
    if not isinstance(event, dict):
        raise _Unusable("has no event")
    match event.get("event_type"):
        case "touch" | "select" | "unselect":
            point = _point(event, source)
            return _attributed(Tap(point.x, point.y), "tap", source, event.get("view"))
        case "long_touch":
            point = _point(event, source)
            duration = event.get("duration")
            duration = duration if isinstance(duration, int) and 0 <= duration <= 600_000 else 2000
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
                raise _Unusable("set_text without a text")
            return _attributed(TypeText(text, point.x, point.y, "replace"), "type", source, event.get("view"))
        case "key":
            return PressKey(_key(event.get("name"))), None, ()
        case "intent":
            return _intent(str(event.get("intent") or "")), None, ()
        case "kill_app":
            words = str(event.get("stop_intent") or "").split()
            if words[:2] != ["am", "force-stop"] or len(words) < 3:
                raise _Unusable(f"kill_app with the command {event.get('stop_intent')!r}")
            return CloseApp(words[2]), None, ()
        case kind:
            raise _Unusable(f"an event of type {kind!r} has no action of ours")


def _point(event: dict[str, Any], source: _State, prefix: str = "") -> Point:
    """Where DroidBot touched: its x and y, else the middle of the view; clipped to the screen."""
    x, y, view = event.get(prefix + "x"), event.get(prefix + "y"), event.get(prefix + "view")
    if isinstance(x, int | float) and isinstance(y, int | float):
        point = Point(int(x), int(y))
    elif isinstance(view, dict):
        point = _bounds(view).center
    else:
        raise _Unusable("has neither a point nor a view")
    return _clip(point, source.capture.size)


def _clip(point: Point, size: Size) -> Point:
    return Point(max(0, min(size.width - 1, point.x)), max(0, min(size.height - 1, point.y)))


def _scroll(event: dict[str, Any], source: _State) -> Swipe:
    """As DroidBot drags: over four fifths of the view; a scroll UP moves the finger down."""
    view = event.get("view")
    bounds = _bounds(view) if isinstance(view, dict) else source.capture.size.bounds
    middle = _point(event, source) if isinstance(view, dict) or event.get("x") is not None else bounds.center
    dx, dy = bounds.width * 2 // 5, bounds.height * 2 // 5
    moves = {"UP": (0, dy), "DOWN": (0, -dy), "LEFT": (dx, 0), "RIGHT": (-dx, 0)}
    direction = str(event.get("direction")).upper()
    if direction not in moves:
        raise _Unusable(f"a scroll in the direction {event.get('direction')!r}")
    x, y = moves[direction]
    size = source.capture.size
    begin, end = _clip(Point(middle.x - x, middle.y - y), size), _clip(Point(middle.x + x, middle.y + y), size)
    return Swipe(begin.x, begin.y, end.x, end.y, 500)


def _attributed(
    action: Action, gesture: Gesture, source: _State, view: Any
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
        raise _Unusable(f"the key {name!r} has no key of ours")
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
        raise _Unusable(f"the intent {command!r} starts no app")
    url = words[words.index("-d") + 1] if "-d" in words[:-1] else ""
    component = next((w for w in words[2:] if re.fullmatch(r"[\w.]+/[\w.$]+", w)), "")
    if not component:
        raise _Unusable(f"the intent {command!r} names no app")
    return OpenApp(component.partition("/")[0], activity=_activity(component), url=url)
