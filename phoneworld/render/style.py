"""What a recorded picture tells of its widgets: its grounds, frames and colours. Knows no state and no text.

A `Picture` is a decoded screenshot. Estimates are from one picture alone, and cheap: the most frequent colour of a
widget's pixels is what lies under it, and what stands out from that is its ink.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from phoneworld.errors import FileFormatError
from phoneworld.ui.geometry import Bounds, Size

Rgb = tuple[int, int, int]
Pixels = NDArray[np.uint8]

NEAR = 24  # summed over the channels: what still counts as the same colour
_COLOUR_CHUNKS = {b"iCCP", b"gAMA", b"cHRM", b"tRNS", b"cICP", b"acTL"}


@dataclass(frozen=True, slots=True)
class Ground:
    """What lies under a widget: one colour, or a run from one to another (`across`: left to right, else top to bottom)."""

    start: Rgb
    end: Rgb
    across: bool = False

    @property
    def css(self) -> str:
        if self.start == self.end:
            return hex_colour(self.start)
        return f"linear-gradient({'90deg' if self.across else '180deg'},{hex_colour(self.start)},{hex_colour(self.end)})"

    def is_near(self, other: Ground) -> bool:
        """True where both look the same."""
        ends = zip(self.start + self.end, other.start + other.end, strict=True)
        return sum(abs(a - b) for a, b in ends) <= 2 * NEAR

    def cut(self, area: Bounds, part: Bounds) -> Ground:
        """The ground of a part of the area that this is the ground of."""
        if self.start == self.end:
            return self
        if self.across:
            first, last, extent = part.left - area.left, part.right - area.left, max(1, area.width)
        else:
            first, last, extent = part.top - area.top, part.bottom - area.top, max(1, area.height)
        return Ground(mix(self.end, self.start, first / extent), mix(self.end, self.start, last / extent), self.across)

    def pixels(self, width: int, height: int) -> NDArray[np.int16]:
        """The ground as pixels: (height, width, 3), or something that broadcasts to it."""
        ends = np.array([self.start, self.end], dtype=np.float32)
        if self.start == self.end:
            flat: NDArray[np.int16] = ends[0].astype(np.int16)
            return flat
        at = np.linspace(0, 1, width if self.across else height, dtype=np.float32)[:, None]
        run: NDArray[np.int16] = (ends[0] * (1 - at) + ends[1] * at).astype(np.int16)
        return run[None, :, :] if self.across else run[:, None, :]


class Picture:
    """One screenshot at the size of its screen. `rgb` is (height, width, 3) uint8, sRGB; do not write to it."""

    def __init__(self, rgb: Pixels, png: bytes | None = None) -> None:
        self.rgb = rgb
        self.rgb.setflags(write=False)
        self._png = png
        self.remembered: dict[tuple[Bounds, str], object] = {}

    @classmethod
    def decode(cls, content: bytes, size: Size) -> Picture:
        """Reads a PNG or JPEG and brings it to the size: scaled where the shape is the same, else cut or filled at the
        right and bottom. Raises FileFormatError where it is no picture."""
        try:
            opened = Image.open(io.BytesIO(content))
            opened.load()
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as e:
            raise FileFormatError(f"a screenshot cannot be read as a picture: {e}", hint="record or import it again") from None
        clean = opened.mode == "RGB" and opened.size == (size.width, size.height) and _is_plain_png(content)
        image: Image.Image = opened.convert("RGB")
        if image.size != (size.width, size.height):
            image = _brought_to(image, size)
        return cls(np.asarray(image).copy(), content if clean else None)

    @property
    def size(self) -> Size:
        return Size(self.rgb.shape[1], self.rgb.shape[0])

    @cached_property
    def png(self) -> bytes:
        """The picture as a PNG without any colour management: the very bytes recorded, where they are that already."""
        return self._png or encode_png(self.rgb)

    @property
    def has_png(self) -> bool:
        """True where `png` costs nothing."""
        return self._png is not None or "png" in self.__dict__

    def crop_png(self, box: Bounds) -> bytes:
        """A part of the picture as a PNG; `box` must lie inside."""
        return encode_png(self.part(box))

    def part(self, box: Bounds) -> Pixels:
        """The pixels of the part of a box that lies inside the picture (a view, possibly empty)."""
        inside = box.intersect(self.size.bounds)
        return self.rgb[inside.top : inside.bottom, inside.left : inside.right]

    def ground(self, box: Bounds) -> Ground:
        """What lies under a widget, from the pixels inside its bounds: words and signs cover the lesser part of them.

        The most frequent colour, where the rim agrees; else (a gradient, a photo, heavy white words on one) a run of colour
        between two edges of the rim.
        """
        part = self.part(box)
        if part.size == 0:
            return Ground((255, 255, 255), (255, 255, 255))
        colour, share = mode(part.reshape(-1, 3))
        rim = np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]])
        agrees = float((distance(rim, colour) <= NEAR).mean())
        if (share > 0.34 and agrees > 0.2) or share > 0.72:
            return Ground(colour, colour)
        return _run(part)

    def ground_outside(self, box: Bounds) -> Ground:
        """What lies around a widget that may fill its bounds with a shape of its own, from the pixels just outside them."""
        whole = Bounds(box.left - 4, box.top - 4, box.right + 4, box.bottom + 4).intersect(self.size.bounds)
        part = self.part(whole)
        outside = np.ones(part.shape[:2], dtype=bool)
        outside[box.top - whole.top : box.bottom - whole.top, box.left - whole.left : box.right - whole.left] = False
        pixels = part[outside]
        if len(pixels):
            colour, share = mode(pixels)
            if share > 0.5:
                return Ground(colour, colour)
        return self.ground(box)

    def away(self, box: Bounds, ground: Ground | None = None) -> NDArray[np.int16]:
        """How far each pixel of a box is from its ground (or another), summed over the channels."""
        part = self.part(box)
        if part.size == 0:
            return np.zeros((0, 0), dtype=np.int16)
        return distance(part, (ground or self.ground(box)).pixels(part.shape[1], part.shape[0]))

    def ground_around(self, box: Bounds, parent: Bounds, others: tuple[Bounds, ...]) -> Ground:
        """What lies under a widget with a background of its own: what its parent shows between its children."""
        area = parent.intersect(self.size.bounds)
        free = np.ones((max(0, area.height), max(0, area.width)), dtype=bool)
        for other in (box, *others):
            o = other.intersect(area)
            free[o.top - area.top : o.bottom - area.top, o.left - area.left : o.right - area.left] = False
        pixels = self.part(area)[free]
        if len(pixels) >= 120:
            colour, share = mode(pixels)
            if share > 0.5:
                return Ground(colour, colour)
        return self.ground(box)

    def interior(self, box: Bounds) -> Bounds:
        """The part of a field or button inside its frame and above its underline."""
        part = self.part(box)
        if part.shape[0] < 12 or part.shape[1] < 12:
            return box
        inside = box.intersect(self.size.bounds)
        reach = max(6, inside.height // 4)
        wide = part.astype(np.int16)
        top, bottom = _frame(wide, reach, 0.55)
        # A caret is a column too, but not as high as a frame.
        left, right = _frame(wide.transpose(1, 0, 2), reach, 0.72)
        return Bounds(inside.left + left, inside.top + top, inside.right - right, inside.bottom - bottom)

    def solid(self, box: Bounds, *, framed: bool = False) -> Bounds:
        """The part of a box between the round corners of its own background; `framed` where a line runs round them."""
        part = self.part(box)
        height, width = part.shape[:2]
        if min(height, width) < 8:
            return box
        ground = self.ground(box).pixels(width, height) + np.zeros((height, width, 3), dtype=np.int16)
        corners = distance(part[[1, -2]], ground[[1, -2]]) > NEAR
        reach = min(int(0.6 * height), width // 3)

        def inset(columns: NDArray[np.bool_]) -> int:
            far = np.flatnonzero(columns[:, :reach].all(axis=0))
            return int(far[-1]) + 1 if len(far) and (framed or far[0] == 0) else 0

        inside = box.intersect(self.size.bounds)
        return Bounds(inside.left + inset(corners), inside.top, inside.right - inset(corners[:, ::-1]), inside.bottom)

    def ink_box(self, box: Bounds, ground: Ground | None = None) -> Bounds | None:
        """The smallest box around what stands out from its ground (or another); None where nothing does."""
        away = self.away(box, ground)
        if away.size == 0 or int(away.max()) < 2 * NEAR:
            return None
        marked = away > ink_threshold(away)
        rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
        if not len(rows):
            return None
        inside = box.intersect(self.size.bounds)
        left, top = inside.left + int(columns[0]), inside.top + int(rows[0])
        return Bounds(left, top, inside.left + int(columns[-1]) + 1, inside.top + int(rows[-1]) + 1)

    def ink_colour(self, box: Bounds, away: NDArray[np.int16] | None = None) -> Rgb | None:
        """The colour of what stands out most from the ground; None where nothing does. `away` where it is known."""
        part = self.part(box)
        away = self.away(box) if away is None else away
        if away.size == 0 or int(away.max()) < 2 * NEAR:
            return None
        return mode(part[away >= 0.82 * int(away.max())].reshape(-1, 3))[0]

    @cached_property
    def accent(self) -> Rgb | None:
        """The most frequent strong colour: what this app marks things with. None where all is grey."""
        sample = self.rgb[::3, ::3].reshape(-1, 3).astype(np.int16)
        strong = sample[(sample.max(axis=1) - sample.min(axis=1)) > 70]
        return mode(strong.astype(np.uint8))[0] if len(strong) > 0.0004 * len(sample) else None


def hex_colour(colour: Rgb) -> str:
    """A colour as CSS writes it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def mix(a: Rgb, b: Rgb, share: float) -> Rgb:
    """`share` of a and the rest of b."""
    return (
        round(a[0] * share + b[0] * (1 - share)), round(a[1] * share + b[1] * (1 - share)), round(a[2] * share + b[2] * (1 - share)),
    )  # fmt: skip


def luminance(colour: Rgb) -> float:
    """How light a colour is, 0 to 1."""
    return (0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]) / 255


def encode_png(rgb: Pixels) -> bytes:
    """A PNG of (height, width, 3) uint8, quickly rather than small."""
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb)).save(out, "PNG", compress_level=1)
    return out.getvalue()


def _is_plain_png(content: bytes) -> bool:
    """True for an 8-bit RGB PNG that no browser would recolour."""
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[24:26] != b"\x08\x02":
        return False
    at = 8
    while at + 8 <= len(content):
        length, name = struct.unpack(">I4s", content[at : at + 8])
        if name in _COLOUR_CHUNKS:
            return False
        if name == b"IDAT":
            return True
        at += 12 + length
    return False


def _brought_to(image: Image.Image, size: Size) -> Image.Image:
    width, height = image.size
    if abs(width / height / (size.width / size.height) - 1) < 0.02:
        return image.resize((size.width, size.height), Image.Resampling.BOX if width > size.width else Image.Resampling.BICUBIC)
    if abs(width - size.width) > 0.02 * size.width:
        image = image.resize((size.width, max(1, round(height * size.width / width))), Image.Resampling.BICUBIC)
    fill = Image.new("RGB", (size.width, size.height), image.getpixel((0, image.height - 1)))
    fill.paste(image, (0, 0))
    return fill


def mode(pixels: Pixels) -> tuple[Rgb, float]:
    """The most frequent colour of (n, 3) pixels, and the share of pixels near it."""
    packed = (pixels[:, 0].astype(np.uint32) << 16) | (pixels[:, 1].astype(np.uint32) << 8) | pixels[:, 2]
    values, counts = np.unique(packed, return_counts=True)
    best = int(values[int(counts.argmax())])
    colour = (best >> 16, best >> 8 & 255, best & 255)
    return colour, float((distance(pixels, colour) <= NEAR).mean())


def distance(pixels: Pixels, colour: Rgb | NDArray[np.int16]) -> NDArray[np.int16]:
    """How far pixels are from a colour (or from one each), summed over the channels."""
    away: NDArray[np.int16] = np.abs(pixels.astype(np.int16) - np.array(colour, dtype=np.int16)).sum(axis=-1).astype(np.int16)
    return away


def ink_threshold(away: NDArray[np.int16]) -> float:
    """From which distance to the ground on a pixel is ink and not a shade of the ground."""
    return max(2.5 * NEAR, 0.3 * float(away.max()))


def _run(part: Pixels) -> Ground:
    """A run of colour between two opposite edges: the pair whose edges are the more even."""
    edges = {
        True: (part[:, :2].reshape(-1, 3), part[:, -2:].reshape(-1, 3)),
        False: (part[:2].reshape(-1, 3), part[-2:].reshape(-1, 3)),
    }
    across = min(edges, key=lambda side: sum(float(edge.std(axis=0).sum()) for edge in edges[side]))
    first, last = ((int(r), int(g), int(b)) for r, g, b in (np.median(edge, axis=0) for edge in edges[across]))
    return Ground(first, last, across)


def _frame(part: NDArray[np.int16], reach: int, share: float) -> tuple[int, int]:
    """How many rows at the top and at the bottom belong to a frame or underline: up to the innermost sharp edge across."""
    step = 4

    def inset(rows: NDArray[np.int16]) -> int:
        near = min(reach, len(rows) // 3)
        if near < 1 or len(rows) <= near + step:
            return 0
        change = np.abs(rows[:near] - rows[step : near + step]).sum(axis=2) > NEAR
        edges = np.flatnonzero(change.mean(axis=1) > share)
        return int(edges[-1]) + step + 1 if len(edges) else 0

    return inset(part), inset(part[::-1])
