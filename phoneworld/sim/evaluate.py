"""What expressions mean: a pure function of an expression and what it may read. Total: no expression raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from immutables import Map

from phoneworld.program.expr import (
    Acted,
    All,
    Any,
    Blank,
    Calc,
    Case,
    Cell,
    Column,
    Const,
    Contains,
    Count,
    Equal,
    Expr,
    Fixed,
    Join,
    Less,
    Not,
    OneOf,
    Piece,
    Plus,
    Sum,
    Trim,
    Typed,
    Value,
    Var,
    Widgets,
)  # fmt: skip
from phoneworld.sim.amounts import calculated, fixed, total

Row = Mapping[str, Value]
NO_ROW: Row = Map()
"""Where no row is in scope."""
WidgetCount = Callable[[str, bool | None], int]
"""Counts the widgets of the layout shown: see `program.expr.Widgets`."""


def _no_widgets(below: str, checked: bool | None) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may read. `row` is the row that a `where` looks at, `acted` the row acted on."""

    variables: Mapping[str, Value]
    tables: Mapping[str, tuple[Row, ...]] = Map()
    typed: str = ""
    row: Row = NO_ROW
    acted: Row = NO_ROW
    widgets: WidgetCount = _no_widgets

    def at(self, row: Row) -> Scope:
        """The same with another row in scope."""
        return Scope(self.variables, self.tables, self.typed, row, self.acted, self.widgets)


def evaluate(expr: Expr, scope: Scope) -> Value:
    """The value of an expression; None for a name that does not exist. Linear in the rows and widgets it counts."""
    match expr:
        case Const(value):
            return value
        case OneOf(name, values):
            return scope.variables.get(name) in values
        case Var(name):
            return scope.variables.get(name)
        case Column(name):
            return scope.row.get(name)
        case Acted(name):
            return scope.acted.get(name)
        case Typed():
            return scope.typed
        case Cell(table, column, where):
            return next((r.get(column) for r in scope.tables.get(table, ()) if evaluate(where, scope.at(r))), None)
        case Plus(of, by):
            return plus(evaluate(of, scope), by)
        case Calc(left, operator, right):
            return calculated(evaluate(left, scope), operator, evaluate(right, scope))
        case Fixed(of, decimals, comma):
            return fixed(evaluate(of, scope), decimals, comma)
        case Trim(of):
            text = evaluate(of, scope)
            return text.strip() if isinstance(text, str) else text
        case Piece(of, before, after):
            return piece(evaluate(of, scope), before, after)
        case Contains(text_of, part_of):
            text, part = evaluate(text_of, scope), evaluate(part_of, scope)
            return as_text(part).casefold() in as_text(text).casefold()
        case Not(of):
            return not evaluate(of, scope)
        case All(of):
            return all(evaluate(e, scope) for e in of)
        case Any(of):
            return any(evaluate(e, scope) for e in of)
        case Equal(left, right):
            a, b = evaluate(left, scope), evaluate(right, scope)
            return a == b and isinstance(a, bool) == isinstance(b, bool)
        case Less(left, right):
            a, b = evaluate(left, scope), evaluate(right, scope)
            if isinstance(a, str) and isinstance(b, str):
                return a < b
            return isinstance(a, int | float) and isinstance(b, int | float) and a < b
        case Blank(of):
            value = evaluate(of, scope)
            return value is None or (isinstance(value, str) and not value.strip())
        case Count(table, where):
            return sum(1 for r in scope.tables.get(table, ()) if evaluate(where, scope.at(r)))
        case Sum(table, of, where):
            return total(evaluate(of, scope.at(r)) for r in scope.tables.get(table, ()) if evaluate(where, scope.at(r)))
        case Widgets(below, checked):
            return scope.widgets(below, checked)
        case Case(when, then, otherwise):
            return evaluate(then if evaluate(when, scope) else otherwise, scope)
        case Join(of):
            return "".join(as_text(evaluate(e, scope)) for e in of)
        case _:
            assert_never(expr)


def plus(value: Value, by: int | float) -> Value:
    """A number and a constant; see `Plus`."""
    if isinstance(value, str):
        return str(int(value) + int(by)) if is_whole(value) else None
    return value + by if isinstance(value, int | float) and not isinstance(value, bool) else None


def is_whole(text: Value) -> bool:
    """True for a text that is a whole number, written plainly and not long."""
    return isinstance(text, str) and len(text) <= 9 and text.isascii() and text.removeprefix("-").isdigit()


def piece(text: Value, before: str, after: str) -> str | None:
    """What stands between the two: see `program.expr.Piece`."""
    if not isinstance(text, str):
        return None
    at = text.find(before)
    start = at + len(before)
    end = text.find(after, start) if after else len(text)
    return text[start:end] if at >= 0 and end >= 0 else None


def as_text(value: Value) -> str:
    """A value as an app would show it; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
