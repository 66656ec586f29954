"""Expressions are total, and mean what their names say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phoneworld.program.expr import (
    Acted,
    All,
    Any,
    Blank,
    Case,
    Cell,
    Column,
    Const,
    Contains,
    Count,
    Equal,
    Expr,
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
from phoneworld.sim.compiled import compiled
from phoneworld.sim.evaluate import Scope, evaluate
from tests.program.strategies import expressions, expressions_over, few_names

VARIABLES: dict[str, Value] = {"a": 1, "b": "two", "c": None, "ab": True}
TABLES: dict[str, tuple[dict[str, Value], ...]] = {"a": ({"a": 1, "b": "x"}, {"a": 2, "b": ""})}


@given(expressions, st.text(max_size=3))
def test_no_expression_raises(expr: Expr, typed: str) -> None:
    evaluate(expr, Scope(VARIABLES, TABLES, typed, acted={"a": 3}))


@given(expressions_over(few_names), st.text(max_size=3), st.sampled_from(TABLES["a"]))
def test_a_compiled_expression_means_what_the_expression_means(expr: Expr, typed: str, row: dict[str, Value]) -> None:
    acted: dict[str, Value] = {"a": 3, "c": "x"}
    said = evaluate(expr, Scope(VARIABLES, TABLES, typed, row, acted))
    made = compiled(expr)(VARIABLES, TABLES, typed, row, acted)
    assert made == said and type(made) is type(said)


def test_meanings() -> None:
    cases: list[tuple[Expr, Value]] = [
        (Var("a"), 1), (Var("absent"), None), (Typed(), "now"), (Equal(Const(1), Const(True)), False),
        (Equal(Var("a"), Const(1)), True), (Less(Const("a"), Const("b")), True), (Less(Const("a"), Const(1)), False),
        (Blank(Const(" \n")), True), (Blank(Const(0)), False), (Not(Blank(Var("c"))), False), (All(()), True), (Any(()), False),
        (OneOf("b", ("one", "two")), True), (Count("a"), 2), (Count("a", Blank(Column("b"))), 1), (Count("absent"), 0),
        (Join((Var("a"), Const(" x "), Var("c"), Var("ab"))), "1 x true"),
        (Acted("b"), ""), (Cell("a", "b", Equal(Column("a"), Var("a"))), "x"), (Cell("a", "b", Not(All())), None), (Plus(Var("a"), 2), 3),
        (Plus(Var("b"), 2), None), (Plus(Var("ab"), 1), None), (Plus(Const("9"), 1), "10"), (Plus(Const("-1"), -1), "-2"), (Plus(Const("1.5"), 1), None),
        (Trim(Const(" a \n")), "a"), (Trim(Var("a")), 1), (Contains(Var("b"), Const("W")), True),
        (Piece(Const("Mill, 3 May, late"), ", ", ","), "3 May"), (Piece(Const("Mill, 3 May"), "", ","), "Mill"), (Piece(Const("Mill, 3 May"), ", ", ""), "3 May"),
        (Piece(Const("Mill"), ", ", ""), None), (Piece(Const("Mill, 3"), ", ", "!"), None), (Piece(Const(3), "", ""), None), (Piece(Const("a"), "", ""), "a"),
        (Contains(Var("c"), Const("")), True), (Contains(Const("a"), Var("b")), False), (Sum("a", Column("a")), 3),
        (Sum("a", Column("b")), 0), (Sum("a", Column("a"), Equal(Column("#"), Acted("#"))), 3),
    ]  # fmt: skip
    for expr, expected in cases:
        assert evaluate(expr, Scope(VARIABLES, TABLES, "now", acted=TABLES["a"][1])) == expected, expr


def test_widgets_are_counted_by_who_knows_the_layout_and_a_case_chooses() -> None:
    def counted(below: str, checked: bool | None) -> int:
        return {None: 3, True: 1, False: 2}[checked] if below == "list" else 0

    left = Widgets("list", False)
    words = Case(Equal(left, Const(1)), Const("one left"), Join((left, Const(" left"))))
    assert evaluate(words, Scope(VARIABLES, TABLES, widgets=counted)) == "2 left"
    assert evaluate(Case(Equal(Widgets("list", True), Const(1)), Const("one"), Const("many")), Scope(VARIABLES, TABLES, widgets=counted)) == "one"
    assert evaluate(left, Scope(VARIABLES, TABLES)) == 0
