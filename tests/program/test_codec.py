"""Program parts as JSON: exact both ways, and refused with a place where they do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from phoneworld.errors import FileFormatError
from phoneworld.program.codec import decode, encode
from phoneworld.program.program import Rule
from phoneworld.program.template import Template
from tests.program.strategies import patient, rules, templates


def no_tree(_: object) -> str:
    raise AssertionError("rules hold no trees")


@patient
@given(rules)
def test_rules_come_back_as_they_were(rule: Rule) -> None:
    assert decode(Rule, encode(rule, no_tree), no_tree) == rule


@settings(patient, max_examples=25)
@given(templates())
def test_templates_come_back_as_they_were(template: Template) -> None:
    assert decode(Template, encode(template, no_tree), no_tree) == template


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
