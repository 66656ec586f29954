"""A tree made ready to be touched: what a touch lands on, by the one hit test, worked out once. Knows no state."""

from __future__ import annotations

from collections.abc import Mapping

from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path

Touch = tuple[int, int, int, int, str, str | None]
"""left, top, right, bottom, name of the node, name of the node that takes the gesture."""


class Surface:
    """A tree whose nodes have names."""

    def __init__(self, hierarchy: Hierarchy, size: Size) -> None:
        self.hierarchy = hierarchy
        self.size = size
        self._touches: dict[Gesture, tuple[Touch, ...]] = {}

    @property
    def keys(self) -> Mapping[Path, str]:
        """The name of every node."""
        raise NotImplementedError

    def node(self, key: str) -> Node | None:
        """The node with this name, or None where the tree has none."""
        raise NotImplementedError

    def touch(self, gesture: Gesture, x: int, y: int) -> tuple[str, str | None] | None:
        """The names of the node at a pixel and of the node that takes the gesture; the same rule as `Hierarchy.hit_test`."""
        order = self._touches.get(gesture)
        if order is None:
            order = self._touches[gesture] = self._order(gesture)
        for left, top, right, bottom, key, target in order:
            if left <= x < right and top <= y < bottom:
                return key, target
        return None

    def _order(self, gesture: Gesture) -> tuple[Touch, ...]:
        tree, keys = self.hierarchy, self.keys
        order: list[Touch] = []
        for path, node in tree.touch_order(self.size):
            target = tree.nearest(path, gesture)
            b = node.bounds
            order.append((b.left, b.top, b.right, b.bottom, keys[path], None if target is None else keys[target]))
        return tuple(order)
