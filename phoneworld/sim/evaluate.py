"""What expressions mean: a pure function of an expression and what it may read. Total: no expression raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from phoneworld.program.expr import (
    All,
    Any,
    Blank,
    Case,
    Column,
    Const,
    Count,
    Equal,
    Expr,
    Join,
    Less,
    Not,
    OneOf,
    Typed,
    Value,
    Var,
    Widgets,
)  # fmt: skip

Row = Mapping[str, Value]
_NO_ROW: Row = {}
WidgetCount = Callable[[str, bool | None], int]
"""Counts the widgets of the layout shown: see `program.expr.Widgets`."""


def _no_widgets(below: str, checked: bool | None) -> int:
    return 0


def evaluate(
    expr: Expr,
    variables: Mapping[str, Value],
    tables: Mapping[str, tuple[Row, ...]],
    typed: str = "",
    row: Row = _NO_ROW,
    widgets: WidgetCount = _no_widgets,
) -> Value:
    """The value of an expression; None for a name that does not exist. Linear in the rows and widgets it counts."""
    match expr:
        case Const(value):
            return value
        case OneOf(name, values):
            return variables.get(name) in values
        case Var(name):
            return variables.get(name)
        case Column(name):
            return row.get(name)
        case Typed():
            return typed
        case Not(of):
            return not evaluate(of, variables, tables, typed, row, widgets)
        case All(of):
            return all(evaluate(e, variables, tables, typed, row, widgets) for e in of)
        case Any(of):
            return any(evaluate(e, variables, tables, typed, row, widgets) for e in of)
        case Equal(left, right):
            a, b = evaluate(left, variables, tables, typed, row, widgets), evaluate(right, variables, tables, typed, row, widgets)
            return a == b and isinstance(a, bool) == isinstance(b, bool)
        case Less(left, right):
            a, b = evaluate(left, variables, tables, typed, row, widgets), evaluate(right, variables, tables, typed, row, widgets)
            if isinstance(a, str) and isinstance(b, str):
                return a < b
            return isinstance(a, int | float) and isinstance(b, int | float) and a < b
        case Blank(of):
            value = evaluate(of, variables, tables, typed, row, widgets)
            return value is None or (isinstance(value, str) and not value.strip())
        case Count(table, where):
            return sum(1 for r in tables.get(table, ()) if evaluate(where, variables, tables, typed, r, widgets))
        case Widgets(below, checked):
            return widgets(below, checked)
        case Case(when, then, otherwise):
            chosen = then if evaluate(when, variables, tables, typed, row, widgets) else otherwise
            return evaluate(chosen, variables, tables, typed, row, widgets)
        case Join(of):
            return "".join(as_text(evaluate(e, variables, tables, typed, row, widgets)) for e in of)
        case _:
            assert_never(expr)


def as_text(value: Value) -> str:
    """A value as an app would show it; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
