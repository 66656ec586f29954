"""`AndroidAccessibilityForest` bytes (the trees of android_env and AndroidControl) to a Hierarchy.

A reader of the protobuf wire format, as far as these messages need it; the numbers of their fields are those of
`android_env/proto/a11y/*.proto` in google-deepmind/android_env.
"""

from __future__ import annotations

from collections.abc import Iterator

from phoneworld.errors import DumpError, EmptyDump, TruncatedDump
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import MAX_BYTES, MAX_DEPTH

_APPLICATION, _INPUT_METHOD, _SYSTEM = 1, 2, 3
_TEXTS = {3: "class_name", 4: "content_desc", 5: "hint", 6: "package", 7: "text", 10: "resource_id"}
_FLAGS = {
    12: "checkable", 13: "checked", 14: "clickable", 16: "enabled", 17: "focusable", 18: "focused", 19: "long_clickable",
    20: "password", 21: "scrollable", 22: "selected", 23: "visible",
}  # fmt: skip


def parse_forest(data: bytes) -> Hierarchy:
    """The windows of the main display as one tree; keyboard and system bars are left out, as `uiautomator dump` does.

    Raises a kind of DumpError.
    """
    if len(data) > MAX_BYTES:
        raise DumpError(f"a forest is at most {MAX_BYTES} bytes, found {len(data)}")
    windows: list[tuple[int, Node]] = []
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            found = _window(value)
            if found is not None:
                windows.append(found)
    if not windows:
        raise EmptyDump("expected a forest with an app's window, found none")
    return Hierarchy(tuple(node for _, node in sorted(windows, key=lambda w: w[0])))


def _window(data: bytes) -> tuple[int, Node] | None:
    layer, kind, display, tree = 0, _APPLICATION, 0, b""
    for number, value in _fields(data):
        if isinstance(value, int):
            if number == 2:
                display = value
            elif number == 4:
                layer = _signed(value)
            elif number == 6:
                kind = value
        elif number == 11:
            tree = value
    if display != 0 or kind in (_INPUT_METHOD, _SYSTEM) or not tree:
        return None
    root = _tree(tree)
    return None if root is None else (layer, root)


def _tree(data: bytes) -> Node | None:
    given: dict[int, tuple[dict[str, object], tuple[int, ...]]] = {}
    first: int | None = None
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            name, fields, children = _node(value)
            if name in given:
                raise DumpError(f"two nodes have the id {name}")
            given[name] = (fields, children)
            first = name if first is None else first
    if first is None:
        return None
    below = {child for _, children in given.values() for child in children}
    root = next((name for name in given if name not in below), first)
    order: list[tuple[int, int]] = []
    seen = {root}
    level, depth = [(root, 0)], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise DumpError(f"the tree is deeper than {MAX_DEPTH} elements")
        order += level
        following = []
        for name, _ in level:
            for i, child in enumerate(c for c in given[name][1] if c in given):
                if child in seen:
                    raise DumpError(f"node {child} has two parents")
                seen.add(child)
                following.append((child, i))
        level = following
    nodes: dict[int, Node] = {}
    for name, index in reversed(order):
        fields, children = given[name]
        below_it = tuple(nodes[c] for c in children if c in nodes)
        nodes[name] = Node(index=index, children=below_it, **fields)  # type: ignore[arg-type]
    return nodes[root]


def _node(data: bytes) -> tuple[int, dict[str, object], tuple[int, ...]]:
    # proto3 leaves out what is false, so an absent flag is a false one: enabled and visible too.
    fields: dict[str, object] = {name: False for name in _FLAGS.values()} | {"class_name": "android.view.View"}
    name, children = 0, list[int]()
    editable = False
    for number, value in _fields(data):
        if isinstance(value, int):
            if number == 1:
                name = _signed(value)
            elif number in _FLAGS:
                fields[_FLAGS[number]] = bool(value)
            elif number == 15:
                editable = bool(value)
            elif number == 25:
                children.append(_signed(value))
            elif number == 30:
                fields["drawing_order"] = _signed(value)
        elif number == 2:
            fields["bounds"] = _bounds(value)
        elif number in _TEXTS:
            fields[_TEXTS[number]] = value.decode("utf-8", "replace")
        elif number == 25:
            children += [_signed(v) for v in _packed(value)]
    if editable and not str(fields["class_name"]).endswith(("EditText", "AutoCompleteTextView")):
        fields["extra"] = (("editable", "true"),)
    return name, fields, tuple(children)


def _bounds(data: bytes) -> Bounds:
    sides = [0, 0, 0, 0]
    for number, value in _fields(data):
        if 1 <= number <= 4 and isinstance(value, int):
            sides[number - 1] = _signed(value)
    return Bounds(*sides)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of one message in order: varints as numbers, what has a length as bytes; fixed ones are stepped over."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                yield key >> 3, value
            case 2:
                length, at = _varint(data, at)
                if length > len(data) - at:
                    raise TruncatedDump(f"a field of {length} bytes where {len(data) - at} are left")
                yield key >> 3, data[at : at + length]
                at += length
            case 1 | 5 as fixed:
                at += 8 if fixed == 1 else 4
                if at > len(data):
                    raise TruncatedDump("the forest stops inside a field")
            case wire:
                raise DumpError(f"these bytes are no forest: a field of wire type {wire}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7
    raise TruncatedDump("the forest stops inside a number") if shift < 70 else DumpError("these bytes are no forest: a number without end")


def _packed(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _signed(value: int) -> int:
    """An int32 as protobuf writes it: sign-extended to 64 bits."""
    value &= 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value
