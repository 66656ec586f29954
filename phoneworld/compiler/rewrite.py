"""Expressions made of expressions: parts replaced by others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, get_args

from phoneworld.program.expr import Cell, Column, Count, Expr, Sum, Var

_KINDS: tuple[type, ...] = get_args(Expr)


def rewritten(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with every part for which `change` gives another put in its place, from the top down."""
    new = change(expr)
    if new is not None:
        return new
    changed: dict[str, Any] = {}
    for f in fields(expr):
        value = getattr(expr, f.name)
        if isinstance(value, _KINDS):
            changed[f.name] = rewritten(value, change)  # type: ignore[arg-type]
        elif isinstance(value, tuple) and value and isinstance(value[0], _KINDS):
            changed[f.name] = tuple(rewritten(v, change) for v in value)
    return replace(expr, **changed) if changed else expr


def with_cells(expr: Expr, table: str, where: Expr) -> Expr:
    """An expression over a row's columns as one over the row that `where` finds."""
    return rewritten(expr, lambda e: Cell(table, e.name, where) if isinstance(e, Column) else None)


def settled(
    expr: Expr, variables: Mapping[str, Expr], columns: Mapping[str, Mapping[str, Expr]], table: str | None = None
) -> Expr:
    """The expression with all that follows from others replaced by what it follows from: variables, and columns of rows.

    `table` is the one whose row is in scope.
    """

    def change(e: Expr) -> Expr | None:
        match e:
            case Var(name) if name in variables:
                return settled(variables[name], variables, columns)
            case Column(name) if table is not None and name in columns.get(table, {}):
                return settled(columns[table][name], variables, columns, table)
            case Count(rows, where):
                return Count(rows, settled(where, variables, columns, rows))
            case Sum(rows, of, where):
                return Sum(rows, settled(of, variables, columns, rows), settled(where, variables, columns, rows))
            case Cell(rows, name, where):
                inner = settled(where, variables, columns, rows)
                follows = columns.get(rows, {}).get(name)
                return (
                    Cell(rows, name, inner)
                    if follows is None
                    else with_cells(settled(follows, variables, columns, rows), rows, inner)
                )
            case _:
                return None

    return rewritten(expr, change)


def inlined(expr: Expr, follows: Mapping[str, Expr], kind: type[Var] | type[Column] = Var) -> Expr:
    """The expression with every variable (or column) that follows from others replaced by what it follows from."""

    def change(e: Expr) -> Expr | None:
        return inlined(follows[e.name], follows, kind) if isinstance(e, kind) and e.name in follows else None

    return rewritten(expr, change)
