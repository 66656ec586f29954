"""A layout made ready to be acted on: widgets by key, and what a touch lands on, computed once. Knows no state."""

from __future__ import annotations

import hashlib
from functools import cached_property

from phoneworld.program.expr import Expr
from phoneworld.program.program import Layout, Screen
from phoneworld.ui.node import Gesture, Node, Path
from phoneworld.ui.selector import node_keys
from phoneworld.ui.xml import write_hierarchy

Touch = tuple[int, int, int, int, str, str | None]
"""left, top, right, bottom, key of the node, key of the node that takes the gesture."""


class Screenful:
    """One layout of one screen, indexed. Immutable once made; shared by all phones that run the Program."""

    def __init__(self, screen: Screen, layout: Layout) -> None:
        self.screen = screen
        self.layout = layout
        self.keys: dict[Path, str] = node_keys(layout.hierarchy)
        self.paths: dict[str, Path] = {}
        for path, key in self.keys.items():
            self.paths.setdefault(key, path)
        self._nodes: dict[str, Node] = {key: layout.hierarchy.at(path) for key, path in self.paths.items()}
        self.bound: dict[tuple[str, str], Expr] = {(self.keys[b.path], b.attribute): b.value for b in layout.bindings}
        self._checkables: dict[str, tuple[tuple[str, bool], ...]] = {}
        self._touches: dict[Gesture, tuple[Touch, ...]] = {}
        self.focus: str | None = next(
            (self.keys[path] for path, node in layout.hierarchy.walk() if node.focused and node.is_editable), None
        )

    @cached_property
    def looks(self) -> str:
        """Names what this layout looks like: equal names, equal tree and picture."""
        return hashlib.sha256(write_hierarchy(self.layout.hierarchy) + (self.layout.screenshot or "").encode()).hexdigest()[:24]

    def node(self, key: str) -> Node | None:
        """The node with this key, or None where the layout has none."""
        return self._nodes.get(key)

    def checkables(self, below: str) -> tuple[tuple[str, bool], ...]:
        """The key of each widget below a node that can be checked, and whether the layout shows it checked."""
        found = self._checkables.get(below)
        if found is None:
            path = self.paths.get(below)
            inside = () if path is None else ((p, n) for p, n in self.layout.hierarchy.walk() if p[: len(path)] == path)
            found = self._checkables[below] = tuple((self.keys[p], n.checked) for p, n in inside if n.checkable)
        return found

    def touch(self, gesture: Gesture, x: int, y: int) -> tuple[str, str | None] | None:
        """The keys of the node at a pixel and of the node that takes the gesture; the same rule as `Hierarchy.hit_test`."""
        order = self._touches.get(gesture)
        if order is None:
            order = self._touches[gesture] = self._order(gesture)
        for left, top, right, bottom, key, target in order:
            if left <= x < right and top <= y < bottom:
                return key, target
        return None

    def _order(self, gesture: Gesture) -> tuple[Touch, ...]:
        tree = self.layout.hierarchy
        order: list[Touch] = []
        for path, node in tree.touch_order(self.layout.size):
            target = tree.nearest(path, gesture)
            b = node.bounds
            order.append((b.left, b.top, b.right, b.bottom, self.keys[path], None if target is None else self.keys[target]))
        return tuple(order)
