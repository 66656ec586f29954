"""What expressions mean: a pure function of an expression and what it may read. Total: no expression raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from phoneworld.program.expr import (
    All,
    Any,
    Blank,
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
)  # fmt: skip

Row = Mapping[str, Value]
_NO_ROW: Row = {}


def evaluate(
    expr: Expr,
    variables: Mapping[str, Value],
    tables: Mapping[str, tuple[Row, ...]],
    typed: str = "",
    row: Row = _NO_ROW,
) -> Value:
    """The value of an expression; None for a name that does not exist. Linear in the rows of the tables it counts."""
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
            return not evaluate(of, variables, tables, typed, row)
        case All(of):
            return all(evaluate(e, variables, tables, typed, row) for e in of)
        case Any(of):
            return any(evaluate(e, variables, tables, typed, row) for e in of)
        case Equal(left, right):
            a, b = evaluate(left, variables, tables, typed, row), evaluate(right, variables, tables, typed, row)
            return a == b and isinstance(a, bool) == isinstance(b, bool)
        case Less(left, right):
            a, b = evaluate(left, variables, tables, typed, row), evaluate(right, variables, tables, typed, row)
            if isinstance(a, str) and isinstance(b, str):
                return a < b
            return isinstance(a, int | float) and isinstance(b, int | float) and a < b
        case Blank(of):
            value = evaluate(of, variables, tables, typed, row)
            return value is None or (isinstance(value, str) and not value.strip())
        case Count(table, where):
            return sum(1 for r in tables.get(table, ()) if evaluate(where, variables, tables, typed, r))
        case Join(of):
            return "".join(as_text(evaluate(e, variables, tables, typed, row)) for e in of)
        case _:
            assert_never(expr)


def as_text(value: Value) -> str:
    """A value as an app would show it; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
