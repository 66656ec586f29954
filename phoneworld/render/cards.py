"""A card (a container on a ground of its own, with rounded corners and a shadow) drawn in another size from its recorded pixels."""

from __future__ import annotations

from collections.abc import Iterator

from phoneworld.render.composition import Cover, Item, Patch, Piece
from phoneworld.render.style import Ground
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Path

_RIM = 4  # times the shadow: as far from its bounds a card has rounded corners


def card_items(path: Path, source: Bounds, target: Bounds, ground: Ground, margin: int) -> Iterator[Item]:
    """The ground of a card, and over it its corners and rims, taken from where it was recorded (`source`) to where it is now.

    `margin` is how far its shadow reaches, in pixels.
    """
    rim = min(_RIM * margin, source.width // 2, source.height // 2, target.width // 2, target.height // 2)
    inset = min(rim, margin)
    yield Patch(path, Cover(Bounds(target.left + inset, target.top + inset, target.right - inset, target.bottom - inset), ground))
    for left in (True, False):
        for top in (True, False):
            yield from _strips(path, _corner(source, rim, left, top), _corner(target, rim, left, top))
    for side in ("left", "right", "top", "bottom"):
        yield from _strips(path, _side(source, rim, side), _side(target, rim, side))


def _corner(box: Bounds, rim: int, left: bool, top: bool) -> Bounds:
    x = box.left if left else box.right - rim
    y = box.top if top else box.bottom - rim
    return Bounds(x, y, x + rim, y + rim)


def _side(box: Bounds, rim: int, side: str) -> Bounds:
    """A rim without its corners, as thin as shadows and borders are."""
    thin = max(1, rim // _RIM)
    match side:
        case "left":
            return Bounds(box.left, box.top + rim, box.left + thin, box.bottom - rim)
        case "right":
            return Bounds(box.right - thin, box.top + rim, box.right, box.bottom - rim)
        case "top":
            return Bounds(box.left + rim, box.top, box.right - rim, box.top + thin)
        case _:
            return Bounds(box.left + rim, box.bottom - thin, box.right - rim, box.bottom)


def _strips(path: Path, source: Bounds, target: Bounds) -> Iterator[Piece]:
    """The pixels of one rectangle laid over another as often as it takes."""
    if source.is_empty or target.is_empty:
        return
    for top in range(target.top, target.bottom, source.height):
        for left in range(target.left, target.right, source.width):
            width, height = min(source.width, target.right - left), min(source.height, target.bottom - top)
            yield Piece(path, Bounds(source.left, source.top, source.left + width, source.top + height), Bounds(left, top, left + width, top + height))
