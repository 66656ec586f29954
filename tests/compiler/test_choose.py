"""The simplest expression that explains examples: total, deterministic, honest about what it does not explain, never worse than a constant."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.compiler.choose import ERROR_BITS, Example, bits, choose
from phoneworld.program.expr import (
    Blank,
    Case,
    Column,
    Const,
    Count,
    Equal,
    Expr,
    Join,
    Not,
    Plus,
    Trim,
    Value,
    Var,
    same_value,
)
from phoneworld.sim.evaluate import Scope, evaluate

WORDS = ("", "a", "b", " a ", "1")
values = st.one_of(st.sampled_from(WORDS), st.booleans(), st.integers(-1, 2), st.none())


@st.composite
def examples(draw: st.DrawFn) -> list[Example]:
    made = []
    for _ in range(draw(st.integers(0, 12))):
        variables: dict[str, Value] = {"a": draw(st.sampled_from(WORDS)), "b": draw(st.booleans()), "n": draw(st.integers(0, 3))}
        made.append(Example(Scope(variables), draw(st.one_of(values, st.sampled_from(list(variables.values()))))))
    return made


OPTIONS: tuple[Expr, ...] = (Var("a"), Var("b"), Not(Var("b")), Var("n"), Plus(Var("n"), 1), Trim(Var("a")), Join((Var("a"), Const("!"))))
CONDITIONS: tuple[Expr, ...] = (Var("b"), Blank(Var("a")), Equal(Var("n"), Const(0)), Equal(Var("a"), Const("a")), Var("missing"))


def constants(found: list[Example]) -> list[Expr]:
    return [Const(v) for _, v in sorted({(type(e.value).__name__, e.value) for e in found}, key=repr)]


@settings(deadline=None, max_examples=150)
@given(examples(), st.lists(st.sampled_from(OPTIONS)), st.lists(st.sampled_from(CONDITIONS)), st.integers(0, 3))
def test_what_is_chosen_is_never_worse_than_a_constant_and_says_what_it_does_not_explain(
    found: list[Example], options: list[Expr], conditions: list[Expr], exceptions: int
) -> None:
    chosen = choose(found, [*options, *constants(found)], conditions, exceptions)
    if not found:
        assert chosen is None
        return
    assert chosen is not None
    wrong = tuple(i for i, e in enumerate(found) if not same_value(evaluate(chosen.expr, e.scope), e.value))
    assert chosen.wrong == wrong
    for constant in constants(found):
        assert isinstance(constant, Const)
        missed = sum(not same_value(constant.value, e.value) for e in found)
        assert chosen.bits <= ERROR_BITS * missed + bits(constant)


@settings(deadline=None, max_examples=50)
@given(examples(), st.lists(st.sampled_from(OPTIONS)), st.lists(st.sampled_from(CONDITIONS)))
def test_the_same_question_has_the_same_answer(found: list[Example], options: list[Expr], conditions: list[Expr]) -> None:
    assert choose(found, options, conditions) == choose(list(found), list(options), list(conditions))


@settings(deadline=None, max_examples=50)
@given(examples(), st.lists(st.sampled_from(OPTIONS)), st.lists(st.sampled_from(CONDITIONS)))
def test_more_to_choose_from_never_makes_it_worse_without_exceptions(
    found: list[Example], options: list[Expr], conditions: list[Expr]
) -> None:
    few = choose(found, options, conditions, exceptions=0)
    many = choose(found, [*options, *OPTIONS], conditions, exceptions=0)
    assert few is None or (many is not None and many.bits <= few.bits)


def test_no_value_that_explains_anything_gives_none() -> None:
    assert choose([Example(Scope({"a": "x"}), "y")], [Var("a")]) is None
    assert choose([], [Const(1)]) is None


def test_true_is_not_one() -> None:
    chosen = choose([Example(Scope({}), True), Example(Scope({}), True)], [Const(1), Const(True)])
    assert chosen is not None and chosen.expr == Const(True)


def test_a_variable_that_was_always_right_wins_over_a_constant_that_was_not() -> None:
    found = [Example(Scope({"a": w}), w) for w in ("x", "y", "z")]
    chosen = choose(found, [Const("x"), Const("y"), Const("z"), Var("a")])
    assert chosen is not None and (chosen.expr, chosen.wrong) == (Var("a"), ())


def test_of_two_that_are_always_right_the_shorter_wins() -> None:
    chosen = choose([Example(Scope({"a": "x"}), "x")] * 3, [Join((Var("a"),)), Var("a")])
    assert chosen is not None and chosen.expr == Var("a")


def test_an_exception_is_made_where_a_condition_tells_it() -> None:
    found = [Example(Scope({"a": w}), w or "none") for w in ("x", "", "y", "", "z")]
    chosen = choose(found, [Var("a"), Const("none")], [Blank(Var("a"))])
    assert chosen is not None and chosen.wrong == ()
    assert isinstance(chosen.expr, Case)
    assert evaluate(chosen.expr, Scope({"a": "new"})) == "new"
    assert evaluate(chosen.expr, Scope({"a": "  "})) == "none"


def test_an_exception_needs_more_than_it_costs() -> None:
    """One example against many, told apart only by a long condition: it is left unexplained."""
    dear = Equal(Join((Var("a"), Var("a"), Var("a"), Var("a"))), Const("a long word and more of it"))
    found = [*[Example(Scope({"a": "x"}), "usual")] * 5, Example(Scope({"a": "y"}), "odd")]
    chosen = choose(found, [Const("usual"), Const("odd")], [dear])
    assert chosen is not None and chosen.expr == Const("usual") and chosen.wrong == (5,)


def test_two_conditions_at_once_are_found_where_neither_is_enough() -> None:
    found = [Example(Scope({"a": a, "b": b}), a == "" and b) for a in ("", "x", "y") for b in (True, False)] * 3
    chosen = choose(found, [Const(False), Const(True)], [Blank(Var("a")), Var("b")])
    assert chosen is not None and chosen.wrong == ()
    assert evaluate(chosen.expr, Scope({"a": "", "b": True})) is True
    assert evaluate(chosen.expr, Scope({"a": "new", "b": True})) is False


def test_what_is_known_from_elsewhere_is_kept_if_nothing_speaks_against_it() -> None:
    expected = Join((Var("a"), Const("!")))
    found = [Example(Scope({"a": "x"}), "x!")] * 2
    chosen = choose(found, [Const("x!")], expected=expected)
    assert chosen is not None and chosen.expr == expected
    against = choose([Example(Scope({"a": w}), "x!") for w in "xyzuv"], [Const("x!")], expected=expected)
    assert against is not None and against.expr == Const("x!")


def test_informative_are_the_examples_that_could_have_said_no() -> None:
    same = choose([Example(Scope({}), "x")] * 4, [Const("x")])
    assert same is not None and same.informative == 0
    differ = choose([Example(Scope({"a": w}), w) for w in "xy"], [Var("a")])
    assert differ is not None and differ.informative == 2


def test_a_longer_word_costs_more_and_a_part_less_than_the_whole() -> None:
    assert bits(Const("a")) < bits(Const("a longer one"))
    for whole in (Not(Var("a")), Blank(Var("a")), Equal(Var("a"), Const(1)), Join((Var("a"), Var("b"))), Case(Var("b"), Var("a"), Const(0))):
        assert bits(whole) > bits(Var("a"))
    assert bits(Count("t", Column("c"))) > bits(Count("t"))
