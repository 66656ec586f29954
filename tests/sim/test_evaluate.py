"""Expressions are total, and mean what their names say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

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
from phoneworld.sim.evaluate import evaluate
from tests.program.test_codec import expressions

VARIABLES: dict[str, Value] = {"a": 1, "b": "two", "c": None, "ab": True}
TABLES = {"a": ({"a": 1, "b": "x"}, {"a": 2, "b": ""})}


@given(expressions, st.text(max_size=3))
def test_no_expression_raises(expr: Expr, typed: str) -> None:
    evaluate(expr, VARIABLES, TABLES, typed)


def test_meanings() -> None:
    cases: list[tuple[Expr, Value]] = [
        (Var("a"), 1), (Var("absent"), None), (Typed(), "now"), (Equal(Const(1), Const(True)), False),
        (Equal(Var("a"), Const(1)), True), (Less(Const("a"), Const("b")), True), (Less(Const("a"), Const(1)), False),
        (Blank(Const(" \n")), True), (Blank(Const(0)), False), (Not(Blank(Var("c"))), False), (All(()), True), (Any(()), False),
        (OneOf("b", ("one", "two")), True), (Count("a"), 2), (Count("a", Blank(Column("b"))), 1), (Count("absent"), 0),
        (Join((Var("a"), Const(" x "), Var("c"), Var("ab"))), "1 x true"),
    ]  # fmt: skip
    for expr, expected in cases:
        assert evaluate(expr, VARIABLES, TABLES, "now") == expected, expr
