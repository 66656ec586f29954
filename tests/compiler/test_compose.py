"""Texts made of other texts and numbers: what is found is what was put in, and nothing where nothing was."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from phoneworld.compiler.compose import compositions
from phoneworld.program.expr import Const, Expr, Join, Value, Var
from phoneworld.sim.evaluate import Scope, evaluate

names = st.text(st.characters(categories=["L"]), min_size=2, max_size=8)


def made(expr: Expr, **values: Value) -> Value:
    return evaluate(expr, Scope(values))


def holds(expr: Expr, texts: Sequence[str], **sources: Sequence[Value]) -> bool:
    return all(made(expr, **{n: vs[i] for n, vs in sources.items()}) == text for i, text in enumerate(texts))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(names, st.integers(0, 99)), min_size=2, max_size=6), names, names)
def test_whatever_is_found_gives_every_text(rows: list[tuple[str, int]], before: str, between: str) -> None:
    texts = [f"{before}: {a}, {between} {n}" for a, n in rows]
    sources: dict[Expr, list[Value]] = {Var("a"): [a for a, _ in rows], Var("n"): [n for _, n in rows]}
    for expr in compositions(texts, sources):
        assert holds(expr, texts, a=[a for a, _ in rows], n=[n for _, n in rows])


@settings(deadline=None, max_examples=60)
@given(st.lists(names, min_size=2, max_size=6, unique=True), names)
def test_a_word_among_constants_is_found_and_holds_for_words_never_seen(words: list[str], around: str) -> None:
    assume(all(w not in around for w in words))
    texts = [f"{around}: {w}!" for w in words]
    found = compositions(texts, {Var("a"): list(words)})
    assert found
    assert made(found[0], a="Never Seen") == f"{around}: Never Seen!"


def test_two_counts_in_one_line() -> None:
    left, done = [3, 2, 1], [0, 1, 2]
    found = compositions([f"{a} notes, {b} done" for a, b in zip(left, done, strict=True)], {Var("a"): left, Var("b"): done})
    assert made(found[0], a=7, b=12) == "7 notes, 12 done"


def test_a_number_behind_letters() -> None:
    for before in ("org.example:id/row", "org.example:id/row_", "item-"):
        found = compositions([f"{before}{n}" for n in (1, 2, 5)], {Var("n"): [1, 2, 5]})
        assert found and made(found[0], n=14) == f"{before}14"


def test_a_text_that_is_another_is_that_other() -> None:
    assert compositions(["x", "y"], {Var("a"): ["x", "y"]})[0] == Var("a")


def test_a_piece_of_what_may_be_cut_is_found_by_the_signs_around_it() -> None:
    rows = ["Everyday, 27 Feb", "Household, 3 Mar", "Savings, 9 Mar"]
    dates = [r.partition(", ")[2] for r in rows]
    assert compositions(dates, {Var("a"): rows}) == [], "nothing is cut unasked"
    found = compositions(dates, {Var("a"): rows}, whole=[Var("a")])
    assert made(found[0], a="Holidays, 1 May") == "1 May"
    found = compositions([f"On {d}" for d in dates], {Var("a"): rows}, whole=[Var("a")])
    assert made(found[0], a="Holidays, 1 May") == "On 1 May"


def test_a_digit_of_all_marks_no_piece() -> None:
    said = ["See you at ten 09:12", "All is well 09:48"]
    assert not compositions([s.partition(" 09")[0] for s in said], {Var("a"): said}, whole=[Var("a")])


def test_a_number_becomes_text() -> None:
    found = compositions(["3", "4"], {Var("n"): [3, 4]})
    assert found and made(found[0], n=5) == "5"


def test_a_word_within_two_others_that_differ_is_not_made_of_one() -> None:
    assert compositions(["x and more", "y or less"], {Var("a"): ["x", "y"]}) == []


def test_what_was_always_the_same_says_nothing_but_where_a_long_word_stands_in_it() -> None:
    assert compositions(["Left: 3", "Left: 3"], {Var("n"): [3, 3]}) == []
    found = compositions(["To Oat milk", "To Oat milk"], {Var("a"): ["Oat milk", "Oat milk"]})
    assert found == [Join((Const("To "), Var("a")))]


def test_nothing_is_made_of_nothing() -> None:
    assert compositions([], {}) == []
    assert compositions([None, "x"], {Var("a"): ["x", "x"]}) == []
    assert compositions(["x", "y"], {}) == []
    assert compositions(["x", "y"], {Var("a"): [None, None]}) == []
