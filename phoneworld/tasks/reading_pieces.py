"""What a cell says in one breath, taken apart: numbers with the words beside them, phone numbers, days, marks that some rows carry. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from phoneworld.tasks.reading_values import CURRENCY, NUMBER, PHONE, called, days_in, phone_in

PieceKind = Literal["phone", "day", "price", "number"]
_LONGEST_FRAME = 24
_LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the cells of a column. `path` finds it in a cell, which stands in it as `@`; `frame` are the words that always stand beside it."""

    kind: PieceKind
    path: str
    frame: str = ""


def pieces_of(values: Sequence[str]) -> Iterator[Piece]:
    """The pieces that can be told apart in all cells of a column by what they are or by the words beside them."""
    if len(values) < 2:
        return
    if len([v for v in values if phone_in(v)]) >= 2:
        yield Piece("phone", "phone(@)")
        return  # its digits are no numbers
    dated = [v for v in values if days_in(v)]
    if dated:
        if len(dated) >= 2 and all(len(days_in(v)) == 1 for v in dated):
            yield Piece("day", "date(@)")
        return
    shapes = {tuple(_around(v)) for v in values}
    if len(shapes) != 1:
        return
    around = shapes.pop()
    for i in range(len(around) - 1):
        before = re.split(r"[·|,;/]\s", around[i])[-1]
        after = re.split(r"\s[·|,;/]", around[i + 1])[0]
        frame = " ".join(CURRENCY.sub("", before).split()) or " ".join(after.split())
        is_price = bool(CURRENCY.search(before) or CURRENCY.search(after))
        # “NB21 4400 1870”: a number beside letters and digits is part of a code.
        if len(_LETTERS.findall(frame)) >= 2 and len(frame) <= _LONGEST_FRAME and not re.search(r"\d", frame):
            yield Piece("price" if is_price else "number", f"numbers(@)[{i}]", frame)


def _around(text: str) -> Iterator[str]:
    """What stands before, between and after the numbers of a text."""
    end = 0
    for found in NUMBER.finditer(text):
        yield text[end : found.start(2)]
        end = found.end(2)
    yield text[end:]


def marks_of(values: Sequence[str]) -> tuple[str, ...]:
    """Words that stand at the end of the cells of several rows, and not of all: what some rows are and others are not."""
    ends = [re.split(r"[\d.,:;·|!?]+", v)[-1].strip() for v in values]
    counted = Counter(e for e in ends if 2 <= len(e) <= _LONGEST_FRAME and len(e.split()) <= 2 and _LETTERS.search(e))
    return tuple(sorted(word for word, n in counted.items() if 2 <= n < len(values)))


def said_in_one_breath(values: Sequence[str]) -> bool:
    """True where the cells begin with a name, and say more of the same row after it."""
    named = [v for v in values if (name := called(v)) and PHONE.search(v[len(name) :])]
    return len(named) >= 2 and len(named) * 2 > len(values) and len({called(v) for v in named}) == len(named)
