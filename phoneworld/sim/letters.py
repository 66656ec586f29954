"""How wide words are, and into how many lines they break, about as a sans-serif font of a phone has it. Knows no font file.

Widths are in ems, those of Helvetica's metrics (Adobe's AFM), which Arial, Liberation Sans and, nearly, Roboto share.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_NARROW = {
    **dict.fromkeys("ijl", 222), "'": 191, "|": 260, **dict.fromkeys(" !,./:;I[\\]ft", 278), **dict.fromkeys("()-`r", 333), **dict.fromkeys("{}", 334),
    '"': 355, "*": 389, "^": 469, **dict.fromkeys("Jcksvxyz", 500), **dict.fromkeys("+<=>~", 584), **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("&ABEKPSVXY", 667), **dict.fromkeys("CDHNRUw", 722), **dict.fromkeys("GOQ", 778), **dict.fromkeys("Mm", 833), "%": 889, "W": 944, "@": 1015,
    "·": 278, "•": 350, "…": 1000, "’": 222, "‘": 222, "“": 333, "”": 333, "–": 556, "—": 1000, "×": 584,
}  # fmt: skip
_COMMON = 556


@lru_cache(maxsize=4096)
def width_of(text: str) -> float:
    """The width of a text on one line, in ems."""
    return sum(_NARROW.get(c) or _other(c) for c in text) / 1000


def _other(letter: str) -> int:
    if letter.isascii():
        return _COMMON
    if unicodedata.east_asian_width(letter) in "WF":
        return 1000
    if unicodedata.combining(letter):
        return 0
    plain = unicodedata.normalize("NFD", letter)[0]
    return _NARROW.get(plain, _COMMON)


@lru_cache(maxsize=4096)
def lines_of(text: str, ems: float) -> int:
    """How many lines a text takes in a column so many ems wide: broken between words, and within those that are too long."""
    if ems <= 0:
        return 1
    count = 0
    for paragraph in text.split("\n"):
        count += 1
        used = 0.0
        for word in paragraph.split(" "):
            width = width_of(word)
            if used and used + 0.278 + width > ems:
                count += 1
                used = 0.0
            elif used:
                used += 0.278
            if width > ems:
                count += int(width / ems)
                width %= ems
            used += width
    return count
