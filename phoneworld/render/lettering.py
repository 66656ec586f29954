"""How a recorded text is set: found in its own pixels, held against the fonts of `fonts.py`. Knows no widget.

Within the bounds there may be signs beside the words (the glass in a search field), so the ink is cut at its wide gaps and
the run of it is taken that fits the words best in any font.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phoneworld.render import fonts
from phoneworld.render.style import NEAR, Picture, Rgb, ink_threshold
from phoneworld.ui.geometry import Bounds

_UNLIKELY = {"sans": 0.0, "grotesk": 0.03, "wide": 0.15, "serif": 0.5, "mono": 0.4}
_SURE = 1.5  # a worse match than this says nothing
_GROWN_PX = 3  # antialiasing and shadows around ink


@dataclass(frozen=True, slots=True)
class TextLook:
    """How a text is set, in pixels.

    `ink` is where its words are, on the screen; `free` how far a line may run to the left and right of it without meeting
    another sign. `baseline` is counted from the top of its bounds to the first line's, None for the middle. It is not `sure`
    where the ink is not that of the words, but stands where words do.
    """

    size_px: float
    colour: Rgb
    family: str = "sans"
    bold: bool = False
    align: str = "start"
    baseline: float | None = None
    line_px: float | None = None
    lines: int = 1
    ink: Bounds = Bounds(0, 0, 0, 0)
    free: tuple[int, int] = (0, 0)
    pen: float = 0.0
    sure: bool = True


@dataclass(frozen=True, slots=True)
class _Match:
    wrong: float
    size: float
    family: str
    bold: bool
    ink: fonts.Ink
    box: Bounds
    free: tuple[int, int]


def text_look(picture: Picture, box: Bounds, text: str) -> TextLook | None:
    """How this text is set in these bounds; None where the pixels do not tell. Remembered with the picture."""
    key = (box, text)
    if key not in picture.remembered:
        picture.remembered[key] = _measure(picture, box, text.strip())
    found = picture.remembered[key]
    assert found is None or isinstance(found, TextLook)
    return found


def words_box(picture: Picture, box: Bounds, text: str, *, framed: bool = False) -> Bounds:
    """What must be covered so that nothing of this text can be seen: its ink, or all of the ground where that is not sure.

    `framed` where the box is the inside of a frame, whose round corners then stay.
    """
    look = text_look(picture, box, text) if text else None
    if look is None or not look.sure:
        return picture.solid(box, framed=framed)
    grown = Bounds(look.ink.left - _GROWN_PX, look.ink.top - _GROWN_PX, look.ink.right + _GROWN_PX, look.ink.bottom + _GROWN_PX)
    return grown.intersect(box)


def _measure(picture: Picture, box: Bounds, words: str) -> TextLook | None:
    area = picture.solid(box)
    away = picture.away(area)
    if not words or away.size == 0 or int(away.max()) < 2 * NEAR:
        return None
    inked: NDArray[np.bool_] = np.asarray(away > ink_threshold(away))
    place = area.intersect(picture.size.bounds)
    whole = _box_of(inked, place, 0, inked.shape[1])
    colour = picture.ink_colour(area, away) or (0, 0, 0)
    lines = _bands(np.asarray(inked.any(axis=1)))
    one_line = "\n" not in words and (len(lines) == 1 or whole.height < 1.6 * whole.width / max(0.3, fonts.advance(words)))
    if not one_line:
        look = _several(words, box, whole, lines, colour, (place.left, place.right))
        if not 0.3 < look.size_px * fonts.advance(words.replace("\n", " ")) / (look.lines * whole.width) < 2:
            return None
        return _aligned(look, place) if _is_ragged(inked, lines) else look
    if fonts.ink(words) is None:
        # Not a script that is measured: the ink is taken as it is.
        size = min(whole.height / 0.92, 1.15 * whole.width / max(0.3, fonts.advance(words)))
        middle = TextLook(round(size, 2), colour, ink=whole, free=(place.left, place.right), pen=float(whole.left))
        return _aligned(middle, place)
    best: _Match | None = None
    for match in _matches(words, inked, away, place):
        if best is None or match.wrong < best.wrong:
            best = match
    if best is None or best.wrong > _SURE:
        return _guessed(inked, place, colour)
    b = best.box
    colour = picture.ink_colour(b, away[b.top - place.top : b.bottom - place.top, b.left - place.left : b.right - place.left]) or colour
    baseline = best.box.bottom - best.ink.bottom * best.size - box.top
    look = TextLook(
        round(best.size, 2), colour, best.family, best.bold, "start", baseline, ink=best.box, free=best.free,
        pen=best.box.left - best.ink.left * best.size,
    )  # fmt: skip
    return _aligned(look, Bounds(best.free[0], place.top, best.free[1], place.bottom))


def _matches(words: str, inked: NDArray[np.bool_], away: NDArray[np.int16], place: Bounds) -> Iterator[_Match]:
    """Each run of ink against each font. `wrong` is 0 for a perfect match."""
    strongest = max(1, int(away.max()))
    width = inked.shape[1]
    for start, end, free_left, free_right in _runs(inked):
        box = _box_of(inked, place, start, end)
        if box.height < 4 or box.width < 2:
            continue
        shade = away[box.top - place.top : box.bottom - place.top, box.left - place.left : box.right - place.left]
        cover = float(shade.mean()) / strongest
        # Leaving ink aside needs a better match than taking all of it.
        partial = 0.5 if free_left > 0 or free_right < width else 0.0
        for family in fonts.FAMILIES:
            for bold in (False, True):
                ink = fonts.ink(words, family, bold=bold)
                if ink is None:
                    continue
                by_width, by_height = box.width / max(0.05, ink.right - ink.left), box.height / max(0.05, ink.bottom - ink.top)
                off = abs(math.log(by_width / by_height))
                if off > 0.5:
                    continue
                wrong = 3 * off + 0.7 * abs(math.log(max(0.02, cover) / max(0.02, ink.cover))) + _UNLIKELY[family] + partial
                size = by_width if len(words) > 3 and off < 0.12 else math.sqrt(by_width * by_height)
                yield _Match(wrong, size, family, bold, ink, box, (place.left + free_left, place.left + free_right))


def _guessed(inked: NDArray[np.bool_], place: Bounds, colour: Rgb) -> TextLook | None:
    """What ink that does not match its words tells all the same: the widest run that is shaped like words, set in the middle."""
    boxes = [_box_of(inked, place, start, end) for start, end, _, _ in _runs(inked, (inked.shape[0] // 3,))]
    lines = [b for b in boxes if b.width > 1.8 * b.height and 6 <= b.height < 0.62 * inked.shape[0]]
    if not lines:
        return None
    widest = max(lines, key=lambda b: b.width)
    size = widest.height / 0.84  # between words with and without descenders
    return TextLook(round(size, 2), colour, ink=widest, free=(widest.left, place.right), pen=float(widest.left), sure=False)


def _runs(inked: NDArray[np.bool_], bridges: tuple[int, ...] = ()) -> Iterator[tuple[int, int, int, int]]:
    """Columns from where to where ink may be the words, and from where to where they may run without meeting other ink.

    Words are bridged over gaps of several widths; a frame at the rim is no word.
    """
    columns = np.asarray(inked.any(axis=0))
    width, height = len(columns), inked.shape[0]
    seen: set[tuple[int, int]] = set()
    for bridge in bridges or (height, height // 2, height // 3, height // 5, 8):
        bands = _bands(columns, bridge=bridge)
        if len(bands) > 7:
            continue
        for first in range(len(bands)):
            for last in range(first, len(bands)):
                start, end = bands[first][0], bands[last][1]
                if (start, end) not in seen:
                    seen.add((start, end))
                    margin = bridge // 3
                    free_left = bands[first - 1][1] + margin if first else 0
                    free_right = bands[last + 1][0] - margin if last + 1 < len(bands) else width
                    yield start, end, min(start, free_left), max(end, free_right)


def _several(words: str, box: Bounds, whole: Bounds, lines: list[tuple[int, int]], colour: Rgb, free: tuple[int, int]) -> TextLook:
    pitch = (lines[-1][0] - lines[0][0]) / max(1, len(lines) - 1) or float(whole.height)
    ink = fonts.ink(words.replace("\n", " ")) or fonts.Ink(0, -0.77, 1, 0.2, 0.2)
    tall = max(bottom - top for top, bottom in lines)
    size = min(tall / (ink.bottom - ink.top), pitch / 1.05)
    return TextLook(
        round(size, 2), colour, baseline=whole.top - box.top - ink.top * size, line_px=pitch if len(lines) > 1 else None,
        lines=len(lines), ink=whole, free=free, pen=float(whole.left),
    )  # fmt: skip


def _aligned(look: TextLook, area: Bounds) -> TextLook:
    """The look with its side: in the middle where both gaps are equal and wide, at the end where only the left one is wide."""
    left, right = look.ink.left - area.left, area.right - look.ink.right
    if abs(left - right) <= max(4, 0.05 * area.width) and min(left, right) > 0.4 * look.size_px:
        return replace(look, align="center")
    if right < 0.3 * look.size_px and left > 1.2 * look.size_px:
        return replace(look, align="end")
    return look


def _box_of(inked: NDArray[np.bool_], place: Bounds, start: int, end: int) -> Bounds:
    """The box around the ink between two columns, on the screen."""
    part = inked[:, start:end]
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    return Bounds(
        place.left + start + int(columns[0]), place.top + int(rows[0]),
        place.left + start + int(columns[-1]) + 1, place.top + int(rows[-1]) + 1,
    )  # fmt: skip


def _bands(line: NDArray[np.bool_], bridge: int = 0) -> list[tuple[int, int]]:
    """Runs of True; runs less than `bridge` apart count as one."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
    bands: list[tuple[int, int]] = []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if bands and start - bands[-1][1] < bridge:
            bands[-1] = (bands[-1][0], end)
        else:
            bands.append((start, end))
    return bands


def _is_ragged(inked: NDArray[np.bool_], lines: list[tuple[int, int]]) -> bool:
    """True where the lines start at different places: they are centred or stand at the right."""
    starts = [int(np.flatnonzero(inked[top:bottom].any(axis=0))[0]) for top, bottom in lines if bottom - top > 2]
    return max(starts, default=0) - min(starts, default=0) > max(4, max(bottom - top for top, bottom in lines) // 4)
