"""Numbers in texts, as apps show them: prices, counts, sums. What is read out of a text, and how a number is written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from phoneworld.program.expr import Operator, Value

_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_PLACES = 6
"""More decimals are noise of binary fractions."""
_LONGEST, _MOST = 15, 10**15


def number_in(value: Value) -> int | float | None:
    """A number itself; of a text the one number in it, 0 where it has none. None where it has several, and of what is neither."""
    if isinstance(value, str):
        found = list(_NUMBER.finditer(value))
        if not found:
            return 0
        number = _read(found[0].group()) if len(found) == 1 else None
        return -number if number is not None and _is_negative(value[: found[0].start()]) else number
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def token_in(text: str) -> str | None:
    """The one number in a text, as it is written there; None where it has none or several."""
    found = _NUMBER.findall(text)
    return found[0] if len(found) == 1 else None


def calculated(left: Value, operator: Operator, right: Value) -> int | float | None:
    """See `Calc`."""
    a, b = number_in(left), number_in(right)
    if a is None or b is None:
        return None
    return _kept(a + b if operator == "+" else a - b if operator == "-" else a * b)


def total(values: Iterable[Value]) -> int | float:
    """The sum of numbers, and of those in texts; what is neither counts 0."""
    return _kept(sum(n for v in values if (n := number_in(v)) is not None)) or 0


def fixed(value: Value, decimals: int | None, comma: str) -> str | None:
    """See `Fixed`."""
    number = number_in(value)
    if number is None or _kept(number) is None:
        return None
    if decimals is not None:
        text = f"{number:,.{min(_PLACES, max(0, decimals))}f}"
    else:
        text = f"{number:,}" if isinstance(number, int) else f"{number:,.{_PLACES}f}".rstrip("0").rstrip(".")
    return text.replace(",", comma)


def _kept(number: int | float) -> int | float | None:
    """A number without the noise of binary fractions; None of one that no app shows."""
    if not abs(number) < _MOST:
        return None
    return number if isinstance(number, int) else round(number, _PLACES)


def _read(token: str) -> int | float | None:
    """The number that digits with points and commas are: of several kinds of marks the last one stands before the decimals."""
    if len(token) > _LONGEST:
        return None
    *marks, last = [c for c in token if c in ".,"] or [""]
    if not last:
        return int(token)
    parts = re.split("[.,]", token)
    grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3
    if set(marks) <= {last} and (marks or last == ","):
        if grouped:
            return int("".join(parts))
        return float(".".join(parts)) if not marks else None
    return float("".join(parts[:-1]) + "." + parts[-1])


def _is_negative(before: str) -> bool:
    """True where what stands before a number ends in a minus, but for the sign of a currency."""
    rest = before.rstrip()
    while rest and unicodedata.category(rest[-1]) == "Sc":
        rest = rest[:-1].rstrip()
    return rest.endswith(("-", "\u2212")) and not rest[:-1].rstrip(" ").endswith(tuple("0123456789")) and not rest[-2:-1].isalnum()
