"""Expressions of a Program: a closed, typed, side-effect-free language. Knows no state; `sim/evaluate.py` gives it meaning.

Every read is a read of the state before the step, so the order of effects cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

Value: TypeAlias = str | int | float | bool | None
"""What a variable or a cell can hold: JSON's scalars."""
Operator: TypeAlias = Literal["+", "-", "*"]


@dataclass(frozen=True, slots=True)
class Const:
    """Always this value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Var:
    """The value of a variable of the app."""

    name: str


@dataclass(frozen=True, slots=True)
class Column:
    """A cell of the row in scope: the row that is drawn or that a `where` looks at, else the row acted on."""

    name: str


@dataclass(frozen=True, slots=True)
class Acted:
    """A cell of the row acted on; None where the rule was not set off on a row. In rows drawn within a row: of the outer one."""

    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the first row that satisfies `where`; None where none does."""

    table: str
    column: str
    where: Expr


@dataclass(frozen=True, slots=True)
class Plus:
    """A number and a constant; a text that is a whole number stays a text. None where `of` is no number."""

    of: Expr
    by: int | float


@dataclass(frozen=True, slots=True)
class Calc:
    """Two numbers put together; of a text, the one number in it ("$29.50", "3 items"), 0 where it has none. None where either is no number."""

    left: Expr
    operator: Operator
    right: Expr


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number as text: with so many `decimals` (None: as few as it takes), and `comma` between its thousands. None of what is no number."""

    of: Expr
    decimals: int | None = None
    comma: str = ""


@dataclass(frozen=True, slots=True)
class Trim:
    """Text without the white space around it; other values as they are."""

    of: Expr


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands in a text after the first `before` (from its beginning, where that is "") up to the `after` that follows (to its
    end, where that is ""). None where the text has no such place, and of what is no text.
    """

    of: Expr
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Contains:
    """True where a text has another in it, whatever the case; every text has the empty one."""

    text: Expr
    part: Expr


@dataclass(frozen=True, slots=True)
class Typed:
    """What the field holds after the typing that triggered the rule."""


@dataclass(frozen=True, slots=True)
class Not:
    of: Expr


@dataclass(frozen=True, slots=True)
class All:
    """True where every part is; true where there is none."""

    of: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Any:
    """True where one part is; false where there is none."""

    of: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """True where a variable has one of these values."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Equal:
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Less:
    """`left < right`; false where the two cannot be ordered."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Blank:
    """True for None and for text without a visible character."""

    of: Expr


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows of a table satisfy `where`."""

    table: str
    where: Expr = All()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of an expression over the rows that satisfy `where`; of a text the one number in it; what is no number counts 0."""

    table: str
    of: Expr
    where: Expr = All()


@dataclass(frozen=True, slots=True)
class Widgets:
    """How many of the widgets below a node that can be checked are shown checked (unchecked; either, where None)."""

    below: str
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """`then` where the condition holds, else `otherwise`."""

    when: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Join:
    """The parts as text, one after the other."""

    of: tuple[Expr, ...]


Expr: TypeAlias = (
    Const | Var | Column | Acted | Typed | Cell | Plus | Calc | Fixed | Trim | Piece | Contains | Not | All | Any | OneOf | Equal | Less | Blank | Count | Sum
    | Widgets | Case | Join
)  # fmt: skip

TRUE = All()


def walk(expr: Expr, table: str | None = None) -> Iterator[tuple[Expr, str | None]]:
    """The expression and all within it, each with the table whose row `Column` reads there; None outside of rows."""
    yield expr, table
    match expr:
        case Not(of) | Blank(of) | Trim(of) | Plus(of, _) | Fixed(of, _, _) | Piece(of, _, _):
            yield from walk(of, table)
        case All(of) | Any(of) | Join(of):
            for part in of:
                yield from walk(part, table)
        case Equal(left, right) | Less(left, right) | Contains(left, right) | Calc(left, _, right):
            yield from walk(left, table)
            yield from walk(right, table)
        case Count(rows, where) | Cell(rows, _, where):
            yield from walk(where, rows)
        case Sum(rows, of, where):
            yield from walk(of, rows)
            yield from walk(where, rows)
        case Case(when, then, otherwise):
            yield from walk(when, table)
            yield from walk(then, table)
            yield from walk(otherwise, table)
        case Const() | Var() | OneOf() | Column() | Acted() | Typed() | Widgets():
            pass
        case _:
            assert_never(expr)


def names_in(expr: Expr) -> frozenset[str]:
    """The variables an expression reads."""
    return frozenset(part.name for part, _ in walk(expr) if isinstance(part, Var | OneOf))


def tables_in(expr: Expr) -> frozenset[str]:
    """The tables an expression looks into."""
    return frozenset(part.table for part, _ in walk(expr) if isinstance(part, Count | Cell | Sum))


def same_value(a: Value, b: Value) -> bool:
    """Equal, and True is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)
