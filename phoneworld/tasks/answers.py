"""Whether an answer in a person's words says what is asked for. Strict about what matters, easy about how it is said; never a loose substring."""

from __future__ import annotations

import re
from typing import assert_never

from phoneworld.tasks.checker import Answer
from phoneworld.tasks.reading_values import day_in, days_in, normal, number_in, numbers_in, same_day, words

_BETWEEN = re.compile(r"\s*(?:[,;\n、，；]|\band\b|和|以及)\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)、])\s*")
_UNITS = ({"$", "usd", "dollar", "dollars"}, {"€", "eur", "euro", "euros"}, {"£", "gbp", "pound", "pounds"}, {"¥", "￥", "cny", "rmb", "yuan", "元", "块"},
          {"%", "percent", "％"}, {"min", "minute", "minutes", "分钟"}, {"h", "hour", "hours", "小时"}, {"day", "days", "天"})  # fmt: skip


def answers(asked: Answer, given: str) -> bool:
    """True where what was given answers what was asked. An empty answer answers nothing."""
    if not normal(given) or asked.value is None or asked.value == "":
        return False
    match asked.kind:
        case "number":
            return _is_number(asked, given)
        case "date":
            wanted, days = day_in(str(asked.value)), days_in(given)
            return wanted is not None and bool(days) and all(same_day(wanted, day) for day in days)
        case "text" | "choice":
            return _is_words(asked, given)
        case "set" | "list":
            return _are_things(asked, given)
        case _:
            assert_never(asked.kind)


def _is_number(asked: Answer, given: str) -> bool:
    wanted = number_in(asked.value) if isinstance(asked.value, str) else asked.value
    found = set(numbers_in(given))
    if not isinstance(wanted, int | float) or isinstance(wanted, bool) or len(found) != 1:
        return False
    return abs(found.pop() - wanted) <= asked.tolerance + 1e-9 and _unit_fits(asked.unit, given)


def _unit_fits(unit: str, given: str) -> bool:
    """True unless the answer names another unit of those that are known."""
    if not unit:
        return True
    said = set(words(given)) | {c for c in given if c in "$€£¥￥%％"}
    mine: set[str] = next((like for like in _UNITS if unit.casefold() in like), {unit.casefold()})
    return not any(like & said for like in _UNITS if like is not mine) or bool(mine & said)


def _is_words(asked: Answer, given: str) -> bool:
    ways = (str(asked.value), *asked.also)
    if any(normal(given) == normal(way) for way in ways):
        return True
    return bool(asked.among) and bool(named := _named(given, (*ways, *asked.among))) and named <= {words(way) for way in ways}


def _named(given: str, things: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Which of these things an answer names. A longer name holds a shorter one: who says "oat milk" has not said "milk"."""
    rest, named = words(given), set[tuple[str, ...]]()
    for thing in sorted({words(thing) for thing in things} - {()}, key=len, reverse=True):
        i = 0
        while i + len(thing) <= len(rest):
            if rest[i : i + len(thing)] == thing:
                named.add(thing)
                rest = (*rest[:i], "|", *rest[i + len(thing) :])
            i += 1
    return named


def _are_things(asked: Answer, given: str) -> bool:
    wanted = [normal(str(item)) for item in (asked.value if isinstance(asked.value, tuple) else (asked.value,))]
    text = given.casefold()
    # A thing may hold a comma itself: those that are asked for are found as they are, longest first.
    for i, item in sorted(enumerate(wanted), key=lambda pair: -len(pair[1])):
        text = re.sub(rf"(?<!\w){re.escape(item)}(?!\w)", f"\0{i}\0", text, count=1)
    pieces = [normal(_BULLET.sub("", piece)) for piece in _BETWEEN.split(text)]
    found = [wanted[int(piece.strip("\0"))] if re.fullmatch("\0\\d+\0", piece) else piece for piece in pieces if piece]
    if asked.kind == "list":
        return found == wanted
    return sorted(found) == sorted(wanted)
