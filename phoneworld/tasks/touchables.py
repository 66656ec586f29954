"""What a finger can do on a screen, with a pixel at which it really does it; and what lies out of sight. Reads the simulator's own hit test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from phoneworld.sim.drawing import Drawing
from phoneworld.sim.screenful import Screenful
from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Gesture, Node, Path

_GESTURES: tuple[Gesture, ...] = ("tap", "type", "long_press")
_PLACES = ((1, 1, 2), (1, 1, 4), (3, 3, 4), (3, 1, 4), (1, 3, 4), (1, 1, 10), (9, 1, 10), (1, 9, 10), (9, 9, 10))


class Touchable(NamedTuple):
    """A widget that takes a gesture: its slot and row, the node, and the pixel; None where it is out of sight, which is above, below or neither."""

    gesture: Gesture
    key: str
    table: str | None
    row: int | None
    node: Node
    path: Path
    point: Point | None
    beyond: int = 0


def touchables(surface: Drawing | Screenful, *, density: int, keyboard: bool) -> Iterator[Touchable]:
    """Every widget that takes a tap, typing or a long press, in document order."""
    size = surface.size
    floor = system.keyboard_bounds(size, density).top if keyboard else size.height
    for path, node in surface.hierarchy.walk():
        if not node.visible:
            continue
        for gesture in _GESTURES:
            if not node.takes(gesture):
                continue
            key, table, row = identity(surface, path)
            point = _open(surface, path, node, gesture, size, floor)
            beyond = 0 if point is not None else _side(node.bounds, floor)
            yield Touchable(gesture, key, table, row, node, path, point, beyond)


def identity(surface: Drawing | Screenful, path: Path) -> tuple[str, str | None, int | None]:
    """The slot, the table and the row of the widget at a path."""
    if isinstance(surface, Drawing):
        drawn = surface.drawn(surface.name(path))
        if drawn is not None:
            return drawn.key, surface.model.table_of.get(drawn.key), drawn.row
    return surface.name(path), None, None


def _open(surface: Drawing | Screenful, path: Path, node: Node, gesture: Gesture, size: Size, floor: int) -> Point | None:
    name = surface.name(path)
    bounds = node.bounds.intersect(Bounds(0, 0, size.width, floor))
    if bounds.is_empty:
        return None
    for across, down, of in _PLACES:
        x, y = bounds.left + bounds.width * across // of, bounds.top + bounds.height * down // of
        if not bounds.contains(Point(x, y)):
            continue
        touched = surface.touch(gesture, x, y)
        if touched is not None and touched[1] == name:
            return Point(x, y)
    return None


def _side(bounds: Bounds, floor: int) -> int:
    """1 for what lies below what is shown, -1 for what lies above, 0 where that cannot be said."""
    if bounds.is_empty:
        return 0
    return 1 if bounds.top >= floor - 1 or bounds.center.y >= floor - 1 else -1 if bounds.bottom <= 1 or bounds.center.y <= 1 else 0


def scroller(surface: Drawing | Screenful, floor: int) -> Bounds | None:
    """The largest part of the screen in which a finger scrolls something."""
    best: Bounds | None = None
    for _, node in surface.hierarchy.walk():
        if node.scrollable and node.visible:
            bounds = node.bounds.intersect(Bounds(0, 0, surface.size.width, floor))
            if not bounds.is_empty and (best is None or bounds.area > best.area):
                best = bounds
    return best
