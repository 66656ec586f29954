"""How agent families write a place on the screen: whole numbers on a grid of their own. Knows sizes and points only.

    pixels      of the screen itself
    resized     pixels of the picture as the model's processor resized it (both sides a multiple of a patch)
    thousand    0..1000 of the screen, whatever its shape
    thousandth  0..999 of it

A place is read as the pixel its number falls in: number / extent of the grid * extent of the screen, cut to a whole number.
It is written as the number whose pixel is nearest, so a place comes back within half a step of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Literal

from phoneworld.errors import ActionError
from phoneworld.ui.geometry import Point, Size

Kind = Literal["pixels", "resized", "thousand", "thousandth"]
_MOST_LOPSIDED = 200


@dataclass(frozen=True, slots=True)
class Coordinates:
    """One convention. `patch`, `min_pixels` and `max_pixels` are the processor's, and count for `resized` only."""

    kind: Kind
    patch: int = 28
    min_pixels: int = 56 * 56
    max_pixels: int = 14 * 14 * 4 * 16384

    def grid(self, size: Size) -> Size:
        """The extent that numbers are shares of, on a screen of this size."""
        match self.kind:
            case "pixels":
                return size
            case "resized":
                return smart_resize(size, patch=self.patch, min_pixels=self.min_pixels, max_pixels=self.max_pixels)
            case "thousand" | "thousandth":
                return Size(1000, 1000)

    def largest(self, size: Size) -> tuple[int, int]:
        """The largest numbers that may be said. Families say the rim as `width` as well as `width - 1`."""
        if self.kind == "thousandth":
            return 999, 999
        grid = self.grid(size)
        return grid.width, grid.height

    def read(self, x: float, y: float, size: Size) -> Point:
        """The pixel that a place means. Raises ActionError where it is none of this convention."""
        largest = self.largest(size)
        for name, value, most in (("x", x, largest[0]), ("y", y, largest[1])):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise ActionError(f"{name} is {str(value)[:40]}, outside 0..{most}", hint=f"coordinates are {self.kind}: 0..{most}")
        grid = self.grid(size)
        return Point(
            min(size.width - 1, floor(x * size.width / grid.width)), min(size.height - 1, floor(y * size.height / grid.height))
        )

    def write(self, point: Point, size: Size) -> tuple[int, int]:
        """The numbers whose pixel is nearest to a point of the screen."""
        return self.near(point, size)[0]

    def near(self, point: Point, size: Size) -> list[tuple[int, int]]:
        """The numbers around a point, those whose pixel is nearest first."""
        grid, largest = self.grid(size), self.largest(size)
        if self.kind == "pixels":
            return [(point.x, point.y)]
        xs = _around(point.x, size.width, grid.width, largest[0])
        ys = _around(point.y, size.height, grid.height, largest[1])

        def distance(at: tuple[int, int]) -> tuple[int, int, int]:
            there = self.read(*at, size)
            return (there.x - point.x) ** 2 + (there.y - point.y) ** 2, *at

        return sorted(((x, y) for x in xs for y in ys), key=distance)


def _around(pixel: int, extent: int, grid: int, largest: int) -> list[int]:
    middle = round((pixel + 0.5) * grid / extent)
    return sorted({min(max(number, 0), largest) for number in range(middle - 1, middle + 2)})


def smart_resize(size: Size, *, patch: int, min_pixels: int, max_pixels: int) -> Size:
    """The size that the processors of Qwen-VL models give a picture: both sides multiples of `patch`, the area within bounds.

    Raises ActionError for a screen more than 200 times as long as wide, which they refuse too.
    """
    width, height = size.width, size.height
    if min(width, height) < 1 or max(width, height) > _MOST_LOPSIDED * min(width, height):
        raise ActionError(f"a screen of {width}x{height} cannot be resized for this model", hint="use another convention: thousand")
    w, h = max(patch, round(width / patch) * patch), max(patch, round(height / patch) * patch)
    if w * h > max_pixels:
        by = sqrt(width * height / max_pixels)
        w, h = max(patch, floor(width / by / patch) * patch), max(patch, floor(height / by / patch) * patch)
    elif w * h < min_pixels:
        by = sqrt(min_pixels / (width * height))
        w, h = ceil(width * by / patch) * patch, ceil(height * by / patch) * patch
    return Size(w, h)


PIXELS = Coordinates("pixels")
THOUSAND = Coordinates("thousand")
THOUSANDTH = Coordinates("thousandth")
QWEN25_RESIZED = Coordinates("resized")
"""As the processor of Qwen2.5-VL resizes by default: patches of 28, 56*56 to 12,845,056 pixels."""
UI_TARS_RESIZED = Coordinates("resized", 28, 100 * 28 * 28, 16384 * 28 * 28)
"""As UI-TARS 1.5 is deployed: patches of 28, 78,400 to 12,845,056 pixels."""
CONVENTIONS = (PIXELS, THOUSAND, THOUSANDTH, QWEN25_RESIZED, UI_TARS_RESIZED)
