"""Expressions made into functions, for what is evaluated at every step. They mean what `evaluate` says, several times as fast.

Nothing here counts widgets (`program.expr.Widgets` is 0): rules and templates know rows, only the bindings of a layout see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never

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
from phoneworld.sim.evaluate import Row, as_text, piece, plus

Variables: TypeAlias = Mapping[str, Value]
Tables: TypeAlias = Mapping[str, tuple[Row, ...]]
Function: TypeAlias = Callable[[Variables, Tables, str, Row, Row], Value]
"""Variables, tables, what was typed, the row in scope, the row acted on. Plain arguments: a Scope a row would cost more than the rest."""


def always(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
    """The function of the condition that always holds."""
    return True


def compiled(expr: Expr) -> Function:
    """The function of an expression."""
    match expr:
        case Const(value):
            return lambda v, t, typed, row, acted: value
        case Var(name):
            return lambda v, t, typed, row, acted: v.get(name)
        case OneOf(name, values):
            return lambda v, t, typed, row, acted: v.get(name) in values
        case Column(name):
            return lambda v, t, typed, row, acted: row.get(name)
        case Acted(name):
            return lambda v, t, typed, row, acted: acted.get(name)
        case Typed():
            return lambda v, t, typed, row, acted: typed
        case Plus(inner, by):
            number = compiled(inner)
            return lambda v, t, typed, row, acted: plus(number(v, t, typed, row, acted), by)
        case Calc(left, operator, right):
            a, b = compiled(left), compiled(right)
            return lambda v, t, typed, row, acted: calculated(a(v, t, typed, row, acted), operator, b(v, t, typed, row, acted))
        case Fixed(inner, decimals, comma):
            written = compiled(inner)
            return lambda v, t, typed, row, acted: fixed(written(v, t, typed, row, acted), decimals, comma)
        case Trim(inner):
            return _trim(compiled(inner))
        case Piece(inner, before, after):
            cut = compiled(inner)
            return lambda v, t, typed, row, acted: piece(cut(v, t, typed, row, acted), before, after)
        case Contains(text, part):
            return _contains(compiled(text), compiled(part))
        case Not(inner):
            of = compiled(inner)
            return lambda v, t, typed, row, acted: not of(v, t, typed, row, acted)
        case All(parts):
            return _all(tuple(compiled(p) for p in parts))
        case Any(parts):
            each = tuple(compiled(p) for p in parts)
            return lambda v, t, typed, row, acted: any(f(v, t, typed, row, acted) for f in each)
        case Equal(left, right):
            return _equal(compiled(left), compiled(right))
        case Less(left, right):
            return _less(compiled(left), compiled(right))
        case Blank(inner):
            return _blank(compiled(inner))
        case Cell(table, column, where):
            return _cell(table, column, compiled(where))
        case Count(table, where):
            return _count(table, compiled(where))
        case Sum(table, inner, where):
            return _sum(table, compiled(inner), compiled(where))
        case Widgets():
            return lambda v, t, typed, row, acted: 0
        case Case(condition, first, second):
            when, then, otherwise = compiled(condition), compiled(first), compiled(second)
            return lambda v, t, typed, row, acted: (then if when(v, t, typed, row, acted) else otherwise)(v, t, typed, row, acted)
        case Join(parts):
            pieces = tuple(compiled(p) for p in parts)
            return lambda v, t, typed, row, acted: "".join([as_text(f(v, t, typed, row, acted)) for f in pieces])
        case _:
            assert_never(expr)


def _trim(of: Function) -> Function:
    def trim(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        text = of(v, t, typed, row, acted)
        return text.strip() if isinstance(text, str) else text

    return trim


def _contains(text: Function, part: Function) -> Function:
    def contains(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        sought = as_text(part(v, t, typed, row, acted)).casefold()
        return sought in as_text(text(v, t, typed, row, acted)).casefold()

    return contains


def _all(parts: tuple[Function, ...]) -> Function:
    match parts:
        case ():
            return always
        case (one,):
            return lambda v, t, typed, row, acted: bool(one(v, t, typed, row, acted))
        case (one, two):
            return lambda v, t, typed, row, acted: bool(one(v, t, typed, row, acted) and two(v, t, typed, row, acted))
        case _:
            return lambda v, t, typed, row, acted: all(f(v, t, typed, row, acted) for f in parts)


def _equal(left: Function, right: Function) -> Function:
    def equal(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        a, b = left(v, t, typed, row, acted), right(v, t, typed, row, acted)
        return a == b and isinstance(a, bool) == isinstance(b, bool)

    return equal


def _less(left: Function, right: Function) -> Function:
    def less(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        a, b = left(v, t, typed, row, acted), right(v, t, typed, row, acted)
        if isinstance(a, str) and isinstance(b, str):
            return a < b
        return isinstance(a, int | float) and isinstance(b, int | float) and a < b

    return less


def _blank(of: Function) -> Function:
    def blank(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        value = of(v, t, typed, row, acted)
        return value is None or (isinstance(value, str) and not value.strip())

    return blank


def _cell(table: str, column: str, where: Function) -> Function:
    def cell(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        for candidate in t.get(table, ()):
            if where(v, t, typed, candidate, acted):
                return candidate.get(column)
        return None

    return cell


def _count(table: str, where: Function) -> Function:
    if where is always:
        return lambda v, t, typed, row, acted: len(t.get(table, ()))

    def count(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        return sum([1 for r in t.get(table, ()) if where(v, t, typed, r, acted)])

    return count


def _sum(table: str, of: Function, where: Function) -> Function:
    def summed(v: Variables, t: Tables, typed: str, row: Row, acted: Row) -> Value:
        return total([of(v, t, typed, r, acted) for r in t.get(table, ()) if where(v, t, typed, r, acted)])

    return summed
