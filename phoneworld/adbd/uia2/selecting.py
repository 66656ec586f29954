"""UiSelector as uiautomator2 sends it (a dict with a mask of its fields) evaluated on a Hierarchy.

Meaning of the fields: AOSP's UiSelector.matchesSelector. `…Contains` and `…StartsWith` do not look at case, `…Matches` is a
whole match. Only what is visible can be found. Does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from phoneworld.errors import ActionError
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node, Path

_TEXTS: dict[str, Callable[[Node], str]] = {
    "text": lambda n: n.text,
    "description": lambda n: n.content_desc,
    "className": lambda n: n.class_name,
    "packageName": lambda n: n.package,
    "resourceId": lambda n: n.resource_id,
}
_FLAGS: dict[str, Callable[[Node], bool]] = {
    "checkable": lambda n: n.checkable,
    "checked": lambda n: n.checked,
    "clickable": lambda n: n.clickable,
    "longClickable": lambda n: n.long_clickable,
    "scrollable": lambda n: n.scrollable,
    "enabled": lambda n: n.enabled,
    "focusable": lambda n: n.focusable,
    "focused": lambda n: n.focused,
    "selected": lambda n: n.selected,
}
MASKS = {
    "text": 0x01, "textContains": 0x02, "textMatches": 0x04, "textStartsWith": 0x08, "className": 0x10,
    "classNameMatches": 0x20, "description": 0x40, "descriptionContains": 0x80, "descriptionMatches": 0x0100,
    "descriptionStartsWith": 0x0200, "checkable": 0x0400, "checked": 0x0800, "clickable": 0x1000, "longClickable": 0x2000,
    "scrollable": 0x4000, "enabled": 0x8000, "focusable": 0x010000, "focused": 0x020000, "selected": 0x040000,
    "packageName": 0x080000, "packageNameMatches": 0x100000, "resourceId": 0x200000, "resourceIdMatches": 0x400000,
    "index": 0x800000, "instance": 0x01000000,
}  # fmt: skip
_DEEPEST = 16


def find(tree: Hierarchy, screen: Size, selector: dict[str, Any]) -> list[Path]:
    """The paths of all that a selector names, in document order. Raises ActionError for a selector that makes no sense."""
    return _find(tree, screen, selector, _DEEPEST)


def _find(tree: Hierarchy, screen: Size, selector: dict[str, Any], depth: int) -> list[Path]:
    everything = [(path, node) for path, node in tree.walk() if tree.is_visible(path, screen)]
    found = _matching(everything, selector)
    joints, parts = selector.get("childOrSibling") or [], selector.get("childOrSiblingSelector") or []
    if not (isinstance(joints, list) and isinstance(parts, list) and len(joints) == len(parts) and len(parts) <= depth):
        raise ActionError(
            f"expected as many of childOrSibling as of childOrSiblingSelector, {depth} at most",
            hint="see uiautomator2's Selector",
        )
    for joint, part in zip(joints, parts, strict=True):
        if joint not in ("child", "sibling"):
            raise ActionError(f"childOrSibling is 'child' or 'sibling', found {str(joint)[:40]!r}")
        roots = {path if joint == "child" else path[:-1] for path in found}
        below = [
            (path, node) for path, node in everything if any(path[:n] in roots for n in range(len(path)))
        ]
        found = _matching(below, part)
    return found


def _matching(nodes: Iterable[tuple[Path, Node]], selector: Any) -> list[Path]:
    if not isinstance(selector, dict):
        raise ActionError(f"a selector is an object of fields, found {str(selector)[:60]!r}")
    mask = selector.get("mask")
    tests: list[Callable[[Node], bool]] = []
    instance: int | None = None
    for name, value in selector.items():
        bit = MASKS.get(name)
        if bit is None or (isinstance(mask, int) and not mask & bit):
            continue
        if name == "instance":
            instance = _whole(name, value)
        else:
            tests.append(_test(name, value))
    found = [path for path, node in nodes if all(test(node) for test in tests)]
    if instance is None:
        return found
    return found[instance : instance + 1] if instance >= 0 else []


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ActionError(f"{name} is a whole number, found {str(value)[:40]!r}")
    return value


def _test(name: str, value: Any) -> Callable[[Node], bool]:
    if name in _FLAGS:
        flag, wanted = _FLAGS[name], bool(value)
        return lambda node: flag(node) == wanted
    if name == "index":
        number = _whole(name, value)
        return lambda node: node.index == number
    base, how = name, ""
    for ending in ("Contains", "StartsWith", "Matches"):
        if name.endswith(ending):
            base, how = name.removesuffix(ending), ending
    text, words = _TEXTS[base], str(value)
    match how:
        case "":
            return lambda node: text(node) == words
        case "Contains":
            return lambda node: words.lower() in text(node).lower()
        case "StartsWith":
            return lambda node: text(node).lower().startswith(words.lower())
        case _:
            try:
                pattern = re.compile(words, re.DOTALL)
            except re.error as e:
                raise ActionError(f"{name}: {words[:80]!r} is no regular expression: {e}") from None
            return lambda node: pattern.fullmatch(text(node)) is not None


def describe(selector: Any) -> str:
    """A selector as UiSelector prints itself in its errors."""
    if not isinstance(selector, dict):
        return str(selector)
    inner = ", ".join(
        f"{name.upper()}={value}" for name, value in selector.items() if name in MASKS and value is not None
    )
    return f"UiSelector[{inner}]"
