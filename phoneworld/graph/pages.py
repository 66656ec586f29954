"""Pages of one site told apart: what all of them share (a navigation bar, a sidebar, a footer) says nothing of which one it is.

Works on the skeletons of whole documents: the places of a page where something is drawn, by class and id from the page down.
Content is left out: words, how many rows a list has, and where the page is scrolled to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from phoneworld.graph.features import is_transient, named_paths, plain_words
from phoneworld.graph.graph import Capture
from phoneworld.ui.node import Node, Path
from phoneworld.ui.selector import Selector

Skeleton = frozenset[str]

# Of all looks that are taken for one page: what is in so many of them is their frame.
_FRAME = 0.9
# Of what two looks show beside the frame, so much in common makes them one page.
_ALIKE = 0.5
# With a part unfolded a page has at most three times the places: what holds much less is another page, with little beside the frame.
_UNFOLDED = 1 / 3
# Fewer places than this are a button that gave way to another one, or a word in the place of a list.
_FEW = 3
# Of what stands in the place of a list without rows: words and a button, in a box.
_IN_PLACE = 6
_LISTS = ("ListView", "RecyclerView", "GridView")
_LIST = "//"
"""Marks the place of a list, beside the place itself."""


def skeleton(capture: Capture, mask: tuple[Selector, ...] = ()) -> Skeleton:
    """What the pages of a capture are made of, wherever they are scrolled to. `mask` names nodes to leave out with all below them."""
    found: set[str] = set()
    masked = named_paths(capture, mask)
    stack: list[tuple[Path, Node, str]] = [((i,), window, "") for i, window in enumerate(capture.hierarchy.windows)]
    while stack:
        path, node, above = stack.pop()
        if not node.visible or path in masked or is_transient(node):
            continue
        if node.class_name.endswith("WebView"):
            at = "page"
        elif above:
            at = f"{above}/{node.class_name.rpartition('.')[2]}:{plain_words(node.resource_id)}"
            if node.is_drawn or node.resource_id:
                found.add(at)
            if node.class_name.endswith(_LISTS):
                found.add(at + _LIST)
            if node.class_name.endswith("GridView"):
                found.update(f"{at}{_LIST}/{plain_words(word)}" for word in _column_heads(node))
        else:
            at = ""
        stack.extend(((*path, i), child, at) for i, child in enumerate(node.children))
    return frozenset(found)


def _column_heads(table: Node) -> list[str]:
    """The words over the columns of a table: those of a first row that is wrapped in a head of the table."""
    first = table.children[0] if table.children else None
    if first is None or not first.children or not all(row.children for row in first.children):
        return []
    cells = [cell for row in first.children for cell in row.children]
    return [] if any(cell.children for cell in cells) else [cell.label for cell in cells if cell.label]


def told_apart(skeletons: Sequence[Skeleton]) -> list[list[int]]:
    """The pages among looks that were taken for one: the indexes of the looks at each.

    Again and again what nearly all have in common is set aside. What is left of two looks at one page is much the same, or one
    is the other with a part unfolded (a menu, a form), or there are looks between them.
    """
    done: list[list[int]] = []
    left = [list(range(len(skeletons)))]
    while left:
        group = left.pop()
        counts = Counter(place for i in group for place in skeletons[i])
        frame = {place for place, n in counts.items() if n >= _FRAME * len(group)}
        parts = _linked({i: skeletons[i] - frame for i in group}, len(frame))
        if len(parts) == 1:
            done.append(group)
        else:
            left.extend(parts)
    return sorted(done)


def _linked(looks: dict[int, Skeleton], frame: int) -> list[list[int]]:
    """Looks put together where a chain of looks that are alike leads from one to the other."""
    groups: list[list[int]] = []
    for i, own in looks.items():
        near = [g for g in groups if any(_are_one(own, looks[j], frame) for j in g)]
        groups = [g for g in groups if g not in near]
        groups.append(sorted([i, *(j for g in near for j in g)]))
    return groups


def _are_one(a: Skeleton, b: Skeleton, frame: int) -> bool:
    """True where two looks, without the frame of so many places that they share, may be of one page."""
    if len(a & b) >= _ALIKE * len(a | b):
        return True
    if _UNFOLDED * (max(len(a), len(b)) + frame) > min(len(a), len(b)) + frame:
        return False
    lists_a, lists_b = _lists(a), _lists(b)
    less, more = (a, b) if lists_a < lists_b else (b, a)
    if (lists_a < lists_b or lists_b < lists_a) and len(less - more) <= _IN_PLACE:
        # A list without rows is not drawn in a page, and words stand in its place.
        a, b = less, _without(more, lists_a ^ lists_b)
    return min(len(a - b), len(b - a)) < _FEW


def _lists(of: Skeleton) -> frozenset[str]:
    return frozenset(place.removesuffix(_LIST) for place in of if place.endswith(_LIST))


def _without(of: Skeleton, lists: frozenset[str]) -> Skeleton:
    return frozenset(place for place in of if not any(place == at or place.startswith((at + "/", at + _LIST)) for at in lists))
