"""Expressions made of expressions: parts replaced by others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, get_args

from phoneworld.program.expr import Cell, Column, Expr, Var

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


def inlined(expr: Expr, follows: Mapping[str, Expr], kind: type[Var] | type[Column] = Var) -> Expr:
    """The expression with every variable (or column) that follows from others replaced by what it follows from."""

    def change(e: Expr) -> Expr | None:
        return inlined(follows[e.name], follows, kind) if isinstance(e, kind) and e.name in follows else None

    return rewritten(expr, change)
