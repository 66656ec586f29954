"""`$((…))`: the integers of the phone's shell, which have 32 bits. Pure: values in, values out."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from phoneworld.errors import ActionError

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<number>0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})(?![0-9A-Za-z_])|\$?(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\$\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|\$(?P<special>[?$#])|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|!~()?:]))"
)
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_MAX_NESTING = 50


class ArithmeticFault(ActionError):
    """A text between `$((` and `))` that is no sum of integers."""


def evaluate(text: str, value_of: Callable[[str], str]) -> int:
    """The value of an expression: C's operators but for assignments. Raises ArithmeticFault. `value_of` gives variables as texts."""
    tokens: list[str | int] = []
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise ArithmeticFault(f"{text.strip()}: unexpected '{text[at:].strip()[:1]}'")
        at = found.end()
        if found["number"]:
            tokens.append(_wrapped(int(found["number"], 0 if found["number"][:2] in ("0x", "0X") else 10)))
        elif name := found["name"] or found["braced"] or found["special"]:
            tokens.append(_number(value_of(name)))
        else:
            tokens.append(found["sign"])
    if not tokens:
        return 0
    reader = _Reader(text.strip(), tokens)
    value = reader.choice(0)
    if reader.at < len(tokens):
        raise reader.fault()
    return value


class _Reader:
    def __init__(self, text: str, tokens: list[str | int]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    def fault(self) -> ArithmeticFault:
        found = f"'{self.tokens[self.at]}'" if self.at < len(self.tokens) else "end of expression"
        return ArithmeticFault(f"{self.text}: unexpected {found}")

    def took(self, *signs: str) -> str:
        """The sign that stands here, if it is one of these; then it is passed."""
        here = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if isinstance(here, str) and here in signs:
            self.at += 1
            return here
        return ""

    def choice(self, depth: int) -> int:
        if depth > _MAX_NESTING:
            raise ArithmeticFault(f"{self.text[:40]}: nested too deeply")
        value = self.level(0, depth)
        if self.took("?"):
            yes = self.choice(depth + 1)
            if not self.took(":"):
                raise self.fault()
            no = self.choice(depth + 1)
            return yes if value else no
        return value

    def level(self, level: int, depth: int) -> int:
        if level == len(_LEVELS):
            return self.single(depth)
        value = self.level(level + 1, depth)
        while sign := self.took(*_LEVELS[level]):
            value = self.joined(sign, value, self.level(level + 1, depth))
        return value

    def single(self, depth: int) -> int:
        if depth > _MAX_NESTING:
            raise ArithmeticFault(f"{self.text[:40]}: nested too deeply")
        if sign := self.took("+", "-", "!", "~"):
            value = self.single(depth + 1)
            return _wrapped({"+": value, "-": -value, "!": int(not value), "~": ~value}[sign])
        if self.took("("):
            value = self.choice(depth + 1)
            if not self.took(")"):
                raise self.fault()
            return value
        if self.at < len(self.tokens) and isinstance(number := self.tokens[self.at], int):
            self.at += 1
            return number
        raise self.fault()

    def joined(self, sign: str, a: int, b: int) -> int:
        if sign in ("/", "%"):
            if b == 0:
                raise ArithmeticFault(f"{self.text}: zero divisor")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return _wrapped(quotient if sign == "/" else a - b * quotient)
        return _wrapped(int(_DOES[sign](a, b)))


_DOES: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: bool(a) or bool(b),
    "&&": lambda a, b: bool(a) and bool(b),
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "<<": lambda a, b: a << (b & 31), ">>": lambda a, b: a >> (b & 31),
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip


def _number(text: str) -> int:
    if not text.strip():
        return 0
    if re.fullmatch(r"\s*-?[0-9]{1,20}\s*", text, re.ASCII) is None:
        raise ArithmeticFault(f"{text[:40]}: bad number")
    return _wrapped(int(text))


def _wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)
