"""Parts of a tree, for agents that read trees and pay by the token. Knows trees only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node


def visible_part(tree: Hierarchy, size: Size) -> Hierarchy:
    """The nodes of which something is on the screen, and those around them."""
    return _pruned(tree, lambda node, _: node.visible and node.bounds.overlaps(size.bounds))


def interactive_part(tree: Hierarchy, size: Size) -> Hierarchy:
    """The visible nodes that a finger can do something with, the words inside them, and what is around them."""

    def wanted(node: Node, inside: bool) -> bool:
        return node.visible and node.bounds.overlaps(size.bounds) and (node.handles_touch or (inside and bool(node.label)))

    return _pruned(tree, wanted)


def _pruned(tree: Hierarchy, wanted: Callable[[Node, bool], bool]) -> Hierarchy:
    def part(node: Node, inside: bool) -> Node | None:
        if not node.visible:
            return None
        children = tuple(child for c in node.children if (child := part(c, inside or node.handles_touch)) is not None)
        if not children and not wanted(node, inside):
            return None
        return node if len(children) == len(node.children) and children == node.children else replace(node, children=children)

    windows = tuple(window for w in tree.windows if (window := part(w, False)) is not None)
    return replace(tree, windows=windows)
