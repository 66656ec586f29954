"""Maestro hierarchy JSON (`maestro hierarchy`): one screen as nested `attributes` and `children`.

Android's has `class`, `package` and flags since 2023, earlier ones only texts, ids and bounds; iOS has `title` and `value`
and neither. An iOS screen is refused: what its widgets are is not said. `folder` reads these files as it reads dumps.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from phoneworld.errors import DumpError, EmptyDump, NotADump, TruncatedDump
from phoneworld.graph.importers.recording import begins_with
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import MAX_BYTES, MAX_DEPTH

_KNOWN_BY = re.compile(r'"attributes"\s*:\s*\{')
_BOUNDS = re.compile(r"\[(-?\d{1,7}),(-?\d{1,7})\]\[(-?\d{1,7}),(-?\d{1,7})\]")
_MEANT = {
    "text", "accessibilityText", "resource-id", "bounds", "enabled", "focused", "selected", "checked", "clickable", "hintText",
    "class", "package", "scrollable", "password", "long-clickable", "checkable", "focusable",
}  # fmt: skip


def is_maestro_hierarchy(path: Path) -> bool:
    """True where a file looks like one."""
    return path.suffix.lower() == ".json" and begins_with(path, _KNOWN_BY, 4096)


def parse_maestro_hierarchy(data: bytes) -> tuple[Hierarchy, tuple[str, ...]]:
    """The tree, and in words what is doubtful. Raises a kind of DumpError."""
    if len(data) > MAX_BYTES:
        raise DumpError(f"a hierarchy is at most {MAX_BYTES} bytes, found {len(data)}")
    text = data.decode("utf-8-sig", "replace")
    start = text.find("{")  # the command prints a line about the device first
    if start < 0:
        raise NotADump("expected a JSON object with attributes and children, found none")
    try:
        root, _ = json.JSONDecoder().raw_decode(text, start)
    except RecursionError:
        raise DumpError(f"the tree is deeper than {MAX_DEPTH} elements") from None
    except ValueError as e:
        raise TruncatedDump(f"the hierarchy is not JSON: {e}", hint="run `maestro hierarchy` again") from None
    if not isinstance(root, dict) or not isinstance(root.get("attributes"), dict):
        raise NotADump("expected a JSON object with attributes and children", hint="is this the output of `maestro hierarchy`?")
    order = _in_order(root)
    names = {name for item, _ in order for name in item["attributes"]}
    if "class" not in names and not names & {"clickable", "scrollable", "package"}:
        raise NotADump(
            "an iOS screen: its widgets have a title and a value, none has a class; PhoneWorld records Android",
            hint="take the hierarchy on an Android phone",
        )
    nodes: dict[int, Node] = {}
    for item, index in reversed(order):
        children = tuple(nodes[id(child)] for child in _children(item))
        nodes[id(item)] = _node(item, index, children)
    top = nodes[id(root)]
    windows = tuple(w for w in top.children if w.children or not w.bounds.is_empty) if top.bounds.is_empty else (top,)
    if not windows:
        raise EmptyDump("expected a widget tree, found a root without a node")
    return Hierarchy(windows), () if "class" in names else ("no widget has a class: all are taken as plain views",)


def _in_order(root: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """All objects from the root down, each with its index; parents first."""
    order: list[tuple[dict[str, Any], int]] = []
    level, depth = [(root, 0)], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise DumpError(f"the tree is deeper than {MAX_DEPTH} elements")
        order += level
        level = [(child, i) for item, _ in level for i, child in enumerate(_children(item))]
    return order


def _children(item: dict[str, Any]) -> list[dict[str, Any]]:
    children = item.get("children")
    if not isinstance(children, list):
        return []
    return [c for c in children if isinstance(c, dict) and isinstance(c.get("attributes"), dict)]


def _node(item: dict[str, Any], index: int, children: tuple[Node, ...]) -> Node:
    given = item["attributes"]

    def words(name: str) -> str:
        return given[name] if isinstance(given.get(name), str) else ""

    def flag(name: str, default: bool = False) -> bool:
        value = given.get(name, item.get(name))  # later versions put the flags beside the attributes
        return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value), default)

    found = _BOUNDS.fullmatch(words("bounds"))
    extra = tuple((k, v) for k, v in given.items() if k not in _MEANT and isinstance(v, str) and re.fullmatch(r"[A-Za-z][\w-]*", k) and v)
    return Node(
        words("class") or "android.view.View", words("text"), words("resource-id"), words("package"), words("accessibilityText"),
        words("hintText") or None, flag("checkable"), flag("checked"), flag("clickable"), flag("enabled", True), flag("focusable"),
        flag("focused"), flag("scrollable"), flag("long-clickable"), flag("password"), flag("selected"),
        bounds=Bounds(*map(int, found.groups())) if found else Bounds(0, 0, 0, 0), index=index, extra=extra, children=children,
    )  # fmt: skip
