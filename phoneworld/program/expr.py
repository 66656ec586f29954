"""Expressions of a Program: a closed, typed, side-effect-free language. Knows no state; `sim/evaluate.py` gives it meaning.

Every read is a read of the state before the step, so the order of effects cannot matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | None
"""What a variable or a cell can hold: JSON's scalars."""


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
    """A cell of the row in scope: the row a `where` looks at, or the row acted on."""

    name: str


@dataclass(frozen=True, slots=True)
class Acted:
    """A cell of the row acted on; None where the rule was not set off on a row."""

    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the first row that satisfies `where`; None where none does."""

    table: str
    column: str
    where: Expr


@dataclass(frozen=True, slots=True)
class Plus:
    """A number and a constant; None where `of` is no number."""

    of: Expr
    by: int | float


@dataclass(frozen=True, slots=True)
class Trim:
    """Text without the white space around it; other values as they are."""

    of: Expr


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
    """The sum of an expression over the rows that satisfy `where`; what is no number counts 0."""

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
    Const | Var | Column | Acted | Typed | Cell | Plus | Trim | Contains | Not | All | Any | OneOf | Equal | Less | Blank | Count | Sum
    | Widgets | Case | Join
)  # fmt: skip

TRUE = All()


def names_in(expr: Expr) -> frozenset[str]:
    """The variables an expression reads."""
    match expr:
        case Var(name) | OneOf(name, _):
            return frozenset((name,))
        case Not(of) | Blank(of) | Trim(of) | Plus(of, _):
            return names_in(of)
        case All(of) | Any(of) | Join(of):
            return frozenset().union(*(names_in(e) for e in of))
        case Equal(left, right) | Less(left, right) | Contains(left, right) | Sum(_, left, right):
            return names_in(left) | names_in(right)
        case Count(_, where) | Cell(_, _, where):
            return names_in(where)
        case Case(when, then, otherwise):
            return names_in(when) | names_in(then) | names_in(otherwise)
        case Const() | Column() | Acted() | Typed() | Widgets():
            return frozenset()
