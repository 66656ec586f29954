"""Whether two trees show the same: used for every replay of a recording. Knows no pixels.

Compared is what is visible: class, id, text, state, and bounds within a tolerance. Nodes that cannot be seen count only as
the way to those that can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node, Path

_ATTRIBUTES: tuple[tuple[str, Callable[[Node], str | bool]], ...] = (
    ("class_name", lambda node: node.class_name),
    ("resource_id", lambda node: node.resource_id),
    ("text", lambda node: node.text),
    ("content_desc", lambda node: node.content_desc),
    ("hint", lambda node: node.hint or ""),
    ("checkable", lambda node: node.checkable),
    ("checked", lambda node: node.checked),
    ("clickable", lambda node: node.clickable),
    ("enabled", lambda node: node.enabled),
    ("focused", lambda node: node.focused),
    ("scrollable", lambda node: node.scrollable),
    ("password", lambda node: node.password),
    ("selected", lambda node: node.selected),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two trees differ, at a path of the expected tree (of the found one where a node is surplus).

    `attribute` is a field of Node, `rotation` of the tree, or `node` for a node that is missing (`found` is empty) or
    surplus (`expected` is empty).
    """

    path: Path
    attribute: str
    expected: str
    found: str

    def __str__(self) -> str:
        where = ".".join(map(str, self.path)) or "tree"
        if self.attribute == "node":
            return f"{where}: missing {self.expected}" if self.expected else f"{where}: surplus {self.found}"
        return f"{where}: {self.attribute} is {self.found!r}, expected {self.expected!r}"


@dataclass(frozen=True, slots=True)
class TreeComparison:
    """All differences, in document order, and how many visible nodes were compared in pairs."""

    differences: tuple[Difference, ...]
    compared: int

    @property
    def equal(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        return self.summary()

    def summary(self, limit: int = 5) -> str:
        """A line that says how they compare, then the first differences, one a line."""
        if self.equal:
            return f"equal: {self.compared} visible nodes"
        lines = [f"{len(self.differences)} differences over {self.compared} visible nodes"]
        lines += [str(difference) for difference in self.differences[:limit]]
        if len(self.differences) > limit:
            lines.append(f"and {len(self.differences) - limit} more")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A node that is visible or leads to a visible one; `words` is equal for subtrees of equal classes, ids and texts."""

    path: Path
    node: Node
    visible: bool
    words: int
    children: tuple[_Seen, ...]


def compare_trees(a: Hierarchy, b: Hierarchy, size: Size, tolerance_px: int = 8) -> TreeComparison:
    """What `b` shows otherwise than `a`, which is what was expected, on a screen of this size.

    Nodes are paired by their place among what is visible; where siblings differ in number, equal subtrees are paired first,
    so that one more row is one difference and not one in each row after it.
    """
    differences: list[Difference] = []
    if a.rotation != b.rotation:
        differences.append(Difference((), "rotation", str(a.rotation), str(b.rotation)))
    compared = 0
    stack = list(reversed(_pairs(_visible_part(a, size), _visible_part(b, size))))
    while stack:
        expected, found = stack.pop()
        if expected is not None and found is not None:
            if expected.visible and found.visible:
                compared += 1
                differences.extend(_compare_nodes(expected, found, tolerance_px))
            elif expected.visible or found.visible:
                differences.append(_lone(expected, None) if expected.visible else _lone(None, found))
            stack.extend(reversed(_pairs(expected.children, found.children)))
        elif expected is not None:
            if expected.visible:
                differences.append(_lone(expected, None))
            stack.extend((child, None) for child in reversed(expected.children))
        elif found is not None:
            if found.visible:
                differences.append(_lone(None, found))
            stack.extend((None, child) for child in reversed(found.children))
    return TreeComparison(tuple(differences), compared)


def _visible_part(hierarchy: Hierarchy, size: Size) -> tuple[_Seen, ...]:
    """The tree without what is neither visible nor leads to something visible; as `Hierarchy.is_visible`, in one pass."""
    screen = size.bounds
    order: list[tuple[Path, Node]] = []
    stack: list[tuple[Path, Node]] = [((i,), window) for i, window in enumerate(hierarchy.windows)]
    while stack:
        path, node = stack.pop()
        if node.visible:
            order.append((path, node))
            stack.extend(((*path, i), child) for i, child in enumerate(node.children))
    kept: dict[Path, list[_Seen]] = {}  # by the path of the parent, last child first
    for path, node in reversed(order):
        children = tuple(kept.pop(path, ()))
        visible = node.bounds.overlaps(screen)
        if visible or children:
            words = hash((node.class_name, node.resource_id, node.text, *(child.words for child in children)))
            kept.setdefault(path[:-1], []).append(_Seen(path, node, visible, words, children))
    return tuple(kept.get((), ()))


def _pairs(a: Sequence[_Seen], b: Sequence[_Seen]) -> list[tuple[_Seen | None, _Seen | None]]:
    """Siblings in pairs, as many of one as of the other by place, else first those with equal words, then of one kind."""
    if len(a) == len(b):
        return list(zip(a, b, strict=True))
    return list(_aligned(a, b, (lambda seen: seen.words, lambda seen: (seen.node.class_name, seen.node.resource_id))))


def _aligned(
    a: Sequence[_Seen], b: Sequence[_Seen], keys: tuple[Callable[[_Seen], object], ...]
) -> Iterator[tuple[_Seen | None, _Seen | None]]:
    if len(a) == len(b):
        yield from zip(a, b, strict=True)
    elif not keys:
        yield from ((seen, None) for seen in a)
        yield from ((None, seen) for seen in b)
    else:
        key, *rest = keys
        matcher = SequenceMatcher(None, [key(seen) for seen in a], [key(seen) for seen in b], autojunk=False)
        for tag, i, i2, j, j2 in matcher.get_opcodes():
            yield from _aligned(a[i:i2], b[j:j2], () if tag == "equal" else tuple(rest))


def _compare_nodes(a: _Seen, b: _Seen, tolerance_px: int) -> list[Difference]:
    differences = [
        Difference(a.path, name, str(value(a.node)), str(value(b.node)))
        for name, value in _ATTRIBUTES
        if value(a.node) != value(b.node)
    ]
    if a.node.bounds.largest_edge_distance(b.node.bounds) > tolerance_px:
        differences.append(Difference(a.path, "bounds", str(a.node.bounds), str(b.node.bounds)))
    return differences


def _lone(expected: _Seen | None, found: _Seen | None) -> Difference:
    seen = expected or found
    assert seen is not None
    node = seen.node
    what = f"{node.class_name.rpartition('.')[2]} {node.resource_id or repr(node.label[:40])} at {node.bounds}"
    return Difference(seen.path, "node", what if expected else "", "" if expected else what)
