"""A tree made ready to be touched: what a touch lands on, by the one hit test, worked out once. Knows no state."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path, TouchBox

_BAND = 6
"""Touch boxes are found by bands of the screen of 2**6 pixels, each made when it is first touched."""


class Surface:
    """A tree whose nodes have names."""

    def __init__(self, hierarchy: Hierarchy, size: Size) -> None:
        self.hierarchy = hierarchy
        self.size = size
        self._touched: dict[tuple[Gesture, Path], tuple[str, str | None]] = {}
        self._boxes: dict[str, str | None] = {}
        self._bands: dict[int, tuple[TouchBox, ...]] = {}

    @property
    def keys(self) -> Mapping[Path, str]:
        """The name of every node."""
        raise NotImplementedError

    def name(self, path: Path) -> str:
        """The name of one node."""
        return self.keys[path]

    def node(self, key: str) -> Node | None:
        """The node with this name, or None where the tree has none."""
        raise NotImplementedError

    def box_in(self, key: str) -> str | None:
        """The name of the one widget with a check inside another, where nothing else in there takes a tap; None where there is none."""
        if key not in self._boxes:
            self._boxes[key] = self._box_in(key)
        return self._boxes[key]

    def _box_in(self, key: str) -> str | None:
        above = next((path for path, name in self.keys.items() if name == key), None)
        if above is None:
            return None
        below = ((path, node) for path, node in self.hierarchy.walk() if len(path) > len(above) and path[: len(above)] == above)
        takers = [(path, node) for path, node in below if node.takes("tap")]
        return self.name(takers[0][0]) if len(takers) == 1 and takers[0][1].checkable else None

    @cached_property
    def _order(self) -> tuple[TouchBox, ...]:
        return self.hierarchy.touch_boxes(self.size)

    def touch(self, gesture: Gesture, x: int, y: int) -> tuple[str, str | None] | None:
        """The names of the node at a pixel and of the node that takes the gesture; the same rule as `Hierarchy.hit_test`."""
        band = self._bands.get(y >> _BAND)
        if band is None:
            low = y >> _BAND << _BAND
            band = self._bands[y >> _BAND] = tuple([box for box in self._order if box[1] < low + (1 << _BAND) and box[3] > low])
        for left, top, right, bottom, path, _ in band:
            if left <= x < right and top <= y < bottom:
                found = self._touched.get((gesture, path))
                if found is None:
                    target = self.hierarchy.nearest(path, gesture)
                    found = self._touched[gesture, path] = (self.name(path), None if target is None else self.name(target))
                return found
        return None
