"""DroidBot's state files: each a tree as a flat list of views, with a picture beside it. What one run was is told by `droidbot.py`."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from phoneworld.errors import FileFormatError
from phoneworld.graph.file import natural_order
from phoneworld.graph.graph import Capture
from phoneworld.graph.importers.recording import (
    MOST_PX,
    PICTURE_SUFFIXES,
    Picture,
    fit_picture,
    read_bytes,
    read_picture,
    visible_extent,
)
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.node import Path as NodePath

STATE_FOLDERS = ("states", "all_states")
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


@dataclass(frozen=True, slots=True)
class State:
    """One state file: `views` are its node paths by temp_id."""

    capture: Capture
    state_str: str
    tag: str
    views: dict[int, NodePath]


class Unusable(Exception):
    """A part of the recording that is left out; the text says why."""


def is_number(value: Any) -> TypeGuard[int | float]:
    """True for a number that may be a place or a time: no truth value, not infinite, not absurd."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e6 < value < 1e6


def read_json(path: Path) -> Any:
    text = read_bytes(path).decode("utf-8", errors="replace")
    if path.suffix == ".js":  # `var utg = {...};`
        text = text[text.find("{") :].rstrip().rstrip(";") if "{" in text else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise FileFormatError(f"is not JSON: {e}") from None


def states_of(root: Path, refused: list[tuple[str, str]], warnings: list[str]) -> tuple[list[State], dict[str, bytes]]:
    found: list[tuple[str, dict[str, Any], Hierarchy, dict[int, NodePath], Picture | None, tuple[str, ...]]] = []
    files = [f for name in STATE_FOLDERS for f in (root / name).glob("state_*.json")]
    for file in sorted(files, key=lambda f: natural_order(f.name)):
        where = f"{file.parent.name}/{file.name}"
        try:
            state = read_json(file)
            if not isinstance(state, dict) or not isinstance(state.get("state_str"), str):
                raise Unusable("has no state_str")
            hierarchy, views = _hierarchy(state.get("views"))
        except (FileFormatError, Unusable) as e:
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
            state=DeviceState(package=package, activity=full_activity(activity), rotation=rotation),
            time_ms=0,
            notes=notes,
        )
        states.append(State(capture, state["state_str"], tag, views))
    return states, screenshots


def full_activity(component: str) -> str:
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
        case (width, height) if is_number(width) and is_number(height) and 1 <= width <= MOST_PX and 1 <= height <= MOST_PX:
            return Size(int(width), int(height))
    return None


def _hierarchy(views: Any) -> tuple[Hierarchy, dict[int, NodePath]]:
    """The tree of a flat view list, and the path of each view by its temp_id."""
    if not isinstance(views, list) or not all(isinstance(v, dict) for v in views):
        raise Unusable("has no list of views")
    if not views:
        raise Unusable("has no view in it")
    by_id: dict[int, dict[str, Any]] = {}
    for i, view in enumerate(views):
        name = view.get("temp_id", i)
        if not isinstance(name, int) or name in by_id:
            raise Unusable(f"view {i} has no temp_id of its own")
        by_id[name] = view
    roots = [name for name, view in by_id.items() if not isinstance(parent := view.get("parent"), int) or parent not in by_id]
    paths: dict[int, NodePath] = {}
    order: list[int] = []
    stack: list[tuple[int, NodePath]] = [(root, (i,)) for i, root in enumerate(roots)]
    while stack:  # no recursion: a hostile file may be as deep as it is long
        name, path = stack.pop()
        if name in paths:
            raise Unusable(f"view {name} has two parents")
        if len(path) > _MAX_DEPTH:
            raise Unusable(f"view {name} lies deeper than {_MAX_DEPTH} levels")
        paths[name] = path
        order.append(name)
        stack.extend((child, (*path, i)) for i, child in enumerate(_children(by_id, name)))
    if len(order) != len(by_id):
        raise Unusable(f"{len(by_id) - len(order)} views hang on no window")
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
        bounds=bounds_of(view),
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


def bounds_of(view: dict[str, Any]) -> Bounds:
    match view.get("bounds"):
        case [[left, top], [right, bottom]] if all(is_number(n) for n in (left, top, right, bottom)):
            return Bounds(int(left), int(top), int(right), int(bottom))
    raise Unusable(f"view {view.get('temp_id')} has the bounds {view.get('bounds')!r}")
