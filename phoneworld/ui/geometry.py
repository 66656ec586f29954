"""Points, sizes and rectangles in pixels of the capture. Knows nothing but integers.

A `Bounds` is half-open: it holds `left <= x < right` and `top <= y < bottom`.

          left        right
     top   ┌──────────┐·
           │ inside   │·   the right and bottom edges belong
           │          │·   to the neighbour
           └──────────┘·
    bottom  · · · · · · ·
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A pixel; (0, 0) is the top left corner of the screen."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int

    def contains(self, point: Point) -> bool:
        """True where the point is a pixel of a screen of this size: 0..width-1, 0..height-1."""
        return 0 <= point.x < self.width and 0 <= point.y < self.height

    @property
    def bounds(self) -> Bounds:
        return Bounds(0, 0, self.width, self.height)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A half-open rectangle. It may be empty or inverted, as dumps have them; then it contains no point."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        return max(0, self.bottom - self.top)

    @property
    def area(self) -> int:
        return self.width * self.height

    @property
    def is_empty(self) -> bool:
        return self.right <= self.left or self.bottom <= self.top

    @property
    def center(self) -> Point:
        """The middle pixel; for an even extent the one right of and below the middle."""
        return Point((self.left + self.right) // 2, (self.top + self.bottom) // 2)

    def contains(self, point: Point) -> bool:
        return self.left <= point.x < self.right and self.top <= point.y < self.bottom

    def overlaps(self, other: Bounds) -> bool:
        """True where the two share at least one pixel."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return left < min(self.right, other.right) and top < min(self.bottom, other.bottom)

    def intersect(self, other: Bounds) -> Bounds:
        """The common rectangle; `Bounds(0, 0, 0, 0)` where there is none."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        if right <= left or bottom <= top:
            return Bounds(0, 0, 0, 0)
        return Bounds(left, top, right, bottom)

    def shift(self, dx: int, dy: int) -> Bounds:
        return Bounds(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)

    def largest_edge_distance(self, other: Bounds) -> int:
        """The largest distance in pixels between two like edges of the two rectangles."""
        return max(
            abs(self.left - other.left),
            abs(self.top - other.top),
            abs(self.right - other.right),
            abs(self.bottom - other.bottom),
        )

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"
