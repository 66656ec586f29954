"""Program parts as JSON: exact both ways, and refused with a place where they do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError
from phoneworld.program.codec import decode, encode
from phoneworld.program.effect import DeleteRows, GoBack, InsertRow, SetNode, SetVar, Show, UpdateRows
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
    Var,
    Widgets,
)  # fmt: skip
from phoneworld.program.program import Evidence, Rule, Trigger

values = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
names = st.text("abc_", min_size=1, max_size=4)
expressions: st.SearchStrategy[Expr] = st.recursive(
    st.builds(Const, values) | st.builds(Var, names) | st.builds(Column, names) | st.just(Typed())
    | st.builds(OneOf, names, st.lists(values, max_size=3).map(tuple)) | st.builds(Widgets, names, st.none() | st.booleans()),
    lambda e: st.builds(Not, e) | st.builds(Blank, e) | st.builds(Equal, e, e) | st.builds(Less, e, e)
    | st.builds(Count, names, e) | st.builds(Case, e, e, e) | st.lists(e, max_size=3).map(tuple).flatmap(
        lambda parts: st.sampled_from([All(parts), Any(parts), Join(parts)])
    ),
    max_leaves=8,
)  # fmt: skip
cells = st.lists(st.tuples(names, expressions), max_size=2).map(tuple)
effects = (
    st.builds(SetVar, names, expressions) | st.builds(SetNode, names, names, st.sampled_from(["text", "checked"]), expressions)
    | st.builds(Show, names, st.booleans()) | st.builds(GoBack, st.lists(names, max_size=2).map(tuple)) | st.builds(InsertRow, names, cells) | st.builds(UpdateRows, names, cells, expressions)
    | st.builds(DeleteRows, names, expressions)
)  # fmt: skip
rules = st.builds(
    Rule, names, names, st.builds(Trigger, st.sampled_from(["tap", "type", "key"]), names, st.none() | names), expressions,
    st.lists(effects, max_size=3).map(tuple), st.builds(Evidence, st.sampled_from(["recorded", "assumed"]), st.just(("t:1",)), st.integers(0, 9)),
)  # fmt: skip


def no_tree(_: object) -> str:
    raise AssertionError("rules hold no trees")


@given(rules)
def test_rules_come_back_as_they_were(rule: Rule) -> None:
    assert decode(Rule, encode(rule, no_tree), no_tree) == rule


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ({"id": 1, "screen": "s", "on": {"kind": "tap"}, "when": {"op": "All"}, "then": [], "evidence": {"kind": "recorded"}}, "id"),
        ({"id": "r", "screen": "s", "on": {"kind": "fly"}, "when": {"op": "All"}, "then": [], "evidence": {"kind": "recorded"}}, "on.kind"),
        ({"id": "r", "screen": "s", "on": {"kind": "tap"}, "when": {"op": "Exec"}, "then": [], "evidence": {"kind": "recorded"}}, "when"),
        ({"id": "r", "screen": "s", "on": {"kind": "tap"}, "when": {"op": "All"}, "then": {}, "evidence": {"kind": "recorded"}}, "then"),
        ({"id": "r"}, "program"),
        ({"id": "r", "code": "import os"}, "program"),
        ([], "program"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(broken: object, place: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        decode(Rule, broken, no_tree)
    assert place in caught.value.message
