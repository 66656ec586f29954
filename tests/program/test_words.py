"""A Program in words: valid YAML, every rule named with what it does and how far it is believed."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import phoneworld.program.effect as effect_module
import phoneworld.program.expr as expr_module
from phoneworld.program.effect import DeleteRows, InsertRow, UpdateRows
from phoneworld.program.expr import Acted, Blank, Cell, Column, Const, Equal, Expr, Join, Not, Plus, Sum, Typed, Var
from phoneworld.program.program import Program, Rule, Trigger
from phoneworld.program.words import effect_in_words, expr_in_words, program_in_words, trigger_in_words
from phoneworld.testing.samples import sample_program
from tests.program.strategies import expressions, names, patient, rules, rules_over
from tests.sim.programs import program
from tests.sim.shop import shop


@pytest.mark.parametrize("made", [shop, program, sample_program])
def test_every_rule_is_named_with_its_evidence(made: object) -> None:
    whole: Program = made()  # type: ignore[operator]
    read = yaml.safe_load(program_in_words(whole))
    assert [r["id"] for r in read["rules"]] == [r.id for r in whole.rules]
    for said, rule in zip(read["rules"], whole.rules, strict=True):
        assert said["believed"].startswith(rule.evidence.kind) and (not rule.evidence.cases or str(rule.evidence.cases) in said["believed"])
        assert len(said["do"]) == len(rule.then)
    assert set(read["variables"]) >= set(whole.variables) and set(read["tables"]) == set(whole.tables)
    assert len(read["screens"]) == len(whole.screens)


def test_what_a_rule_does_can_be_read() -> None:
    said = {r["id"]: r for r in yaml.safe_load(program_in_words(shop()))["rules"]}
    assert said["drop"]["action"] == "tap of drop on screen Cart" and said["drop"]["do"] == ["delete from cart where the row = this row"]
    assert said["more"]["when"] == "this quantity < 3" and said["more"]["believed"] == "inferred, 3 cases"
    assert said["open"]["do"] == ["set moment to null", "set chosen to this row", 'set note to ""', "show screen Product"]
    assert said["submit"]["action"] == "key enter in query on screen List"


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        (Sum("cart", Column("quantity")), "sum of its quantity over cart"),
        (Cell("products", "title", Equal(Column("#"), Var("chosen"))), "products.title where the row = chosen"),
        (Not(Blank(Var("name"))), "not (name is blank)"),
        (Join((Const("no "), Plus(Var("n"), -1))), '"no " & (n - 1)'),
        (Typed(), "what was typed"),
    ],
)
def test_expressions_in_words(expr: Expr, words: str) -> None:
    assert expr_in_words(expr) == words


def test_effects_and_triggers_in_words() -> None:
    assert effect_in_words(InsertRow("cart", (("title", Acted("title")), ("quantity", Const(1))), "first", Not(Var("full")))) == "insert into cart first {title: this title, quantity: 1} if not full"
    assert effect_in_words(UpdateRows("cart", (("quantity", Const(2)),))) == "change cart to {quantity: 2}"
    assert effect_in_words(DeleteRows("cart")) == "delete from cart every row"
    assert trigger_in_words(Trigger("type", "org.example:id/name")) == "typing anything into name"
    assert trigger_in_words(Trigger("open_app", "", "org.example")) == "open of app org.example"


@settings(patient, max_examples=40)
@given(st.lists(rules_over(names, st.just("list"), names | st.text(max_size=4), ("tap", "type", "key")), max_size=3), st.text(max_size=8))
def test_any_rule_and_any_words_are_valid_yaml(made: list[Rule], label: str) -> None:
    whole = replace(shop(), rules=tuple(made), label=label)
    read = yaml.safe_load(program_in_words(whole))
    assert read["app"] == label and [r["id"] for r in read["rules"] or []] == [r.id for r in made]


CLASSES = re.compile(
    r"\b(" + "|".join(n for m in (effect_module, expr_module) for n, v in vars(m).items() if isinstance(v, type) and v.__module__ == m.__name__) + r")\("
)


@patient
@given(expressions)
def test_every_expression_has_words(expr: Expr) -> None:
    words = expr_in_words(expr)
    assert words and not CLASSES.search(words) and "\n" not in words


@patient
@given(rules)
def test_every_rule_has_words(rule: Rule) -> None:
    assert trigger_in_words(rule.on)
    for effect in rule.then:
        words = effect_in_words(effect, defaultdict(lambda: "Screen"))
        assert words and not CLASSES.search(words)
