"""Two trees, as far as a user or an agent would tell them apart. Pure.

Compared are the visible nodes that carry words, a state or an action: class, id, words, checked, selected, enabled. Focus is
apart, for frameworks lose it when they redraw; so are bounds, which are a figure of their own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

Face = tuple[str, str, str, str, bool, bool, bool]
"""class, id, text, description, checked, selected, enabled."""


TOLERANCE_PX = 8
"""How far an edge may lie from where it should be, for a face to count as laid out."""


@dataclass(frozen=True, slots=True)
class Faces:
    """What a tree shows: the faces in document order with their bounds, and where the focus is."""

    order: tuple[tuple[Face, Bounds], ...]
    focus: tuple[int, ...]

    @property
    def counted(self) -> Counter[Face]:
        return Counter(face for face, _ in self.order)


@dataclass(frozen=True, slots=True)
class Match:
    """How a mock's tree compares with the real one. `f1` is over faces as a multiset; `laid_out` of `matched` lie within 8 px."""

    exact: bool
    focus_exact: bool
    f1: float
    matched: int
    laid_out: int


def faces(tree: Hierarchy, size: Size) -> Faces:
    """The faces of a tree. Linear in the nodes."""
    order: list[tuple[Face, Bounds]] = []
    focus: list[int] = []
    for _, node in tree.drawing(size):
        if not _tells(node):
            continue
        if node.focused and node.is_editable:
            focus.append(len(order))
        face = (node.class_name, node.resource_id, node.value, node.content_desc, node.checked, node.selected, node.enabled)
        order.append((face, node.bounds))
    return Faces(tuple(order), tuple(focus))


def _tells(node: Node) -> bool:
    return bool(
        node.text or node.content_desc or node.checkable or node.selected or node.clickable or node.long_clickable or node.is_editable
    )


def placed(real: Faces, mock: Faces) -> list[tuple[Face, Bounds, Bounds]]:
    """The faces that both show, with where each is: equal faces are paired in document order."""
    places: dict[Face, list[Bounds]] = {}
    for face, bounds in mock.order:
        places.setdefault(face, []).append(bounds)
    return [(face, bounds, places[face].pop(0)) for face, bounds in real.order if places.get(face)]


def match(real: Faces, mock: Faces) -> Match:
    """Compares what two trees show."""
    a, b = real.counted, mock.counted
    common = sum((a & b).values())
    total = sum(a.values()) + sum(b.values())
    pairs = placed(real, mock)
    matched = len(pairs)
    laid_out = sum(mine.largest_edge_distance(theirs) <= TOLERANCE_PX for _, mine, theirs in pairs)
    exact = [f for f, _ in real.order] == [f for f, _ in mock.order]
    return Match(exact, exact and real.focus == mock.focus, 2 * common / total if total else 1.0, matched, laid_out)


def effect(before: Faces, after: Faces) -> tuple[Counter[Face], Counter[Face]]:
    """What appeared and what vanished; a change is both."""
    return after.counted - before.counted, before.counted - after.counted
