"""How wide text is in the fonts that the screens are drawn with, and how it fits into a box. Knows no widget.

Chromium draws; this only foretells, so that a size can be chosen. Latin text is measured in the very font file that
Chromium takes; for other scripts the width of a character is a fixed share of the size.
"""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

_FALLBACKS = '"Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Color Emoji", sans-serif'

# Names of families by what they look like; the first one installed is used, here and by Chromium alike.
FAMILIES: dict[str, tuple[str, ...]] = {
    "sans": ("Roboto", "Noto Sans", "DejaVu Sans"),
    "grotesk": ("Arial", "Liberation Sans", "Arimo"),
    "wide": ("DejaVu Sans", "Verdana"),
    "serif": ("Noto Serif", "Liberation Serif", "DejaVu Serif"),
    "mono": ("Roboto Mono", "Liberation Mono", "Noto Sans Mono", "DejaVu Sans Mono"),
}
_MEASURE_PX = 100


@dataclass(frozen=True, slots=True)
class Ink:
    """Where the ink of a line lies, in shares of the font size from the pen at the baseline; y grows downwards.

    `cover` is the share of that box that is inked: bold text covers more.
    """

    left: float
    top: float
    right: float
    bottom: float
    cover: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A font size in pixels, and into how many lines the text breaks at that size."""

    size_px: float
    lines: int


def css_stack(family: str) -> str:
    """The value of `font-family` for one of the FAMILIES."""
    return ", ".join(f'"{name}"' for name in FAMILIES[family]) + ", " + _FALLBACKS


def advance(text: str, family: str = "sans", *, bold: bool = False) -> float:
    """The width of one line of text in shares of the font size."""
    width, latin = 0.0, []
    for ch in text:
        share = _fixed_share(ch)
        if share is None:
            latin.append(ch)
        else:
            width += share
    if latin:
        width += _length("".join(latin), family, bold)
    return width


@lru_cache(maxsize=4096)
def ink(text: str, family: str = "sans", *, bold: bool = False) -> Ink | None:
    """Where the ink of this line lies; None where it has none, or is in a script that is not measured."""
    text = text[:400]
    if not text.strip() or any(_fixed_share(ch) is not None for ch in text):
        return None
    font = _font(family, bold)
    left, top, right, bottom = (int(edge) for edge in font.getbbox(text, anchor="ls"))
    canvas = Image.new("L", (right - left + 8, bottom - top + 8))
    ImageDraw.Draw(canvas).text((4 - left, 4 - top), text, 255, font, anchor="ls")
    box = canvas.getbbox()
    if box is None:
        return None
    cover = float(np.asarray(canvas.crop(box), dtype=np.float32).mean()) / 255
    x, y, scale = left - 4, top - 4, 1 / _MEASURE_PX
    return Ink((box[0] + x) * scale, (box[1] + y) * scale, (box[2] + x) * scale, (box[3] + y) * scale, cover)


@cache
def line_metrics(family: str = "sans", *, bold: bool = False) -> tuple[float, float]:
    """Ascent and descent of the font in shares of its size, both positive."""
    ascent, descent = _font(family, bold).getmetrics()
    return ascent / _MEASURE_PX, descent / _MEASURE_PX


def count_lines(text: str, width_px: float, size_px: float, family: str = "sans", *, bold: bool = False) -> int:
    """Into how many lines the text breaks in a column of this width."""
    room = width_px / size_px
    lines = 0
    for paragraph in text.split("\n"):
        lines += 1
        used = 0.0
        for word in _pieces(paragraph):
            wide = advance(word, family, bold=bold)
            if used and used + wide > room + 0.01:
                lines += 1
                used = 0.0
            while wide > room and room > 1.2:
                lines += 1
                wide -= room
            used += wide + (0.0 if len(word) == 1 and _fixed_share(word) else 0.26)
    return max(1, lines)


def fit(
    text: str, width_px: float, height_px: float, *, largest_px: float, smallest_px: float = 6.0, line: float = 1.3,
    family: str = "sans", bold: bool = False,
) -> Fit:  # fmt: skip
    """The largest size at which the text fits the box with its words whole; the smallest one where it never does."""
    size = max(smallest_px, min(largest_px, height_px / line))
    sample = text[:2000]
    words = [piece for paragraph in sample.split("\n") for piece in _pieces(paragraph)]
    longest = max((advance(word, family, bold=bold) for word in words if len(word) < 24), default=0.0)
    while True:
        lines = count_lines(sample, width_px, size, family, bold=bold)
        fits = lines * line * size <= height_px * 1.02 + 1 and longest * size <= width_px
        if fits or size <= smallest_px:
            return Fit(round(size, 2), lines)
        size = max(smallest_px, size * 0.94)


def _pieces(paragraph: str) -> list[str]:
    """Words; in scripts that are written without spaces, each character."""
    if paragraph.isascii():
        return paragraph.split(" ")
    pieces: list[str] = []
    for word in paragraph.split(" "):
        start = 0
        for i, ch in enumerate(word):
            if _fixed_share(ch) == 1.0:
                if start < i:
                    pieces.append(word[start:i])
                pieces.append(ch)
                start = i + 1
        if start < len(word):
            pieces.append(word[start:])
    return pieces


@lru_cache(maxsize=8192)
def _fixed_share(ch: str) -> float | None:
    """The width of a character that is not measured in the font, None for one that is."""
    code = ord(ch)
    if code < 0x500:
        return None
    if unicodedata.combining(ch) or code in (0x200D, 0xFE0F, 0x200E, 0x200F, 0x200B):
        return 0.0
    if 0x1F000 <= code <= 0x1FAFF or 0x2600 <= code <= 0x27BF:
        return 1.2
    if unicodedata.east_asian_width(ch) in "WF":
        return 1.0
    if 0x590 <= code <= 0x8FF or 0xFB1D <= code <= 0xFEFF:
        return 0.56
    if 0x2000 <= code <= 0x2BFF:
        return None
    return 0.62


@lru_cache(maxsize=16384)
def _length(text: str, family: str, bold: bool) -> float:
    return float(_font(family, bold).getlength(text)) / _MEASURE_PX


@cache
def _font(family: str, bold: bool) -> ImageFont.FreeTypeFont:
    path = _font_file(family, bold)
    if path is not None:
        return ImageFont.truetype(path, _MEASURE_PX, layout_engine=ImageFont.Layout.BASIC)
    font = ImageFont.load_default(_MEASURE_PX)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


@cache
def _font_file(family: str, bold: bool) -> str | None:
    """The file that fontconfig gives for the first family installed; None where fontconfig is not here."""
    matcher = shutil.which("fc-match")
    if matcher is None:
        return None
    for name in FAMILIES[family]:
        wanted = f"{name}:bold" if bold else name
        answer = subprocess.run([matcher, "-f", "%{family}\t%{file}", wanted], capture_output=True, text=True, check=False).stdout
        found, _, path = answer.partition("\t")
        if name in found.split(",") and path.endswith((".ttf", ".otf", ".ttc")):
            return path
    return None
