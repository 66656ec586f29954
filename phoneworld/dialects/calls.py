"""Calls as models write them, `name(key='value', other=[1, 2])`: read with forgiveness, never evaluated.

Quotes inside a text are taken as such where they are escaped, or where what follows cannot go on the call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from phoneworld.errors import ActionError

Value = str | float | list[float] | None
# Every repetition is bounded: what a policy says may be anything, and must be read in linear time.
_NAME = re.compile(r"\s{0,99}([A-Za-z_]\w{0,40})\s{0,9}")
_KEY = re.compile(r"\s{0,9},?\s{0,9}([A-Za-z_]\w{0,40})\s{0,9}=\s{0,9}")
_CLOSE = re.compile(r"\s{0,9},?\s{0,9}\)")
_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{0,18})?")
_LIST = re.compile(r"[\[(]([-+\d.,\s]{0,200})[\])]")
_AFTER_TEXT = re.compile(r"\s{0,9}(?:\)|,\s{0,9}[A-Za-z_]\w{0,40}\s{0,9}=)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Call:
    """A name and its arguments; `end` is where in the text it ends."""

    name: str
    arguments: dict[str, Value] = field(default_factory=dict)
    end: int = 0


def read_call(text: str, start: int = 0) -> Call:
    """Reads one call at `start`. A bare name is a call without arguments. Raises ActionError for what is none."""
    named = _NAME.match(text, start)
    if named is None:
        raise ActionError(f"an action is a call, found {text[start : start + 60]!r}")
    at = named.end()
    if at >= len(text) or text[at] != "(":
        return Call(named[1], {}, at)
    at += 1
    arguments: dict[str, Value] = {}
    while True:
        key = _KEY.match(text, at)
        if key is None:
            break
        arguments[key[1]], at = _value(text, key.end())
    closed = _CLOSE.match(text, at)
    if closed is None and text[at:].strip():
        raise ActionError(f"the arguments of {named[1]} cannot be read from {text[at : at + 60]!r}")
    return Call(named[1], arguments, closed.end() if closed else len(text))


def _value(text: str, at: int) -> tuple[Value, int]:
    if at < len(text) and text[at] in "'\"":
        return _quoted(text, at)
    if (numbers := _LIST.match(text, at)) is not None:
        return read_numbers(numbers[1]), numbers.end()
    if (number := _NUMBER.match(text, at)) is not None:
        return float(number[0]) if "." in number[0] else int(number[0]), number.end()
    if text.startswith("None", at):
        return None, at + 4
    raise ActionError(f"a value must be text, a number or a list of numbers, found {text[at : at + 40]!r}")


def _quoted(text: str, at: int) -> tuple[str, int]:
    quote, at = text[at], at + 1
    parts: list[str] = []
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            parts.append(_ESCAPES.get(text[at + 1], "\\" + text[at + 1]))
            at += 2
        elif char == quote and _AFTER_TEXT.match(text, at + 1):
            return "".join(parts), at + 1
        else:
            parts.append(char)
            at += 1
    # A model that was cut off: the last quote, where there is one, ends it.
    whole = "".join(parts)
    return whole[: whole.rfind(quote)] if quote in whole else whole, at


def read_numbers(text: str) -> list[float]:
    """The numbers in a text, in order."""
    return [float(n) if "." in n else int(n) for n in _NUMBER.findall(text)]


def quoted(text: str, quote: str = "'") -> str:
    """A text as it is written in a call."""
    for char, escape in (("\\", "\\\\"), (quote, "\\" + quote), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(char, escape)
    return f"{quote}{text}{quote}"
