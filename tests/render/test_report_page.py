"""The build report: everything that was compiled is in it, by screen, in words; what was recorded is text and never markup."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from lxml import html

import phoneworld.program.effect as effect_module
import phoneworld.program.expr as expr_module
from phoneworld.compiler.compile import Compilation, compile_graph
from phoneworld.render.report_page import LINES_SHOWN, report_page, rule_groups
from phoneworld.render.rule_words import widget_words
from phoneworld.testing.samples import sample_graph
from tests.render.test_graph_page import HOSTILE

CLASSES = re.compile(r"\b(" + "|".join(n for m in (effect_module, expr_module) for n, v in vars(m).items() if isinstance(v, type) and v.__module__ == m.__name__) + r")\(")


def compiled() -> Compilation:
    return compile_graph(*sample_graph())


def test_every_rule_is_counted_under_its_screen_and_one_line_stands_for_those_alike() -> None:
    program = compiled().program
    names = {s.id: s.name for s in program.screens.values()}
    groups = rule_groups(program.rules, names)
    counted: dict[str, int] = defaultdict(int)
    for rule in program.rules:
        counted[names[rule.screen]] += 1
    assert {g.screen: g.count for g in groups} == dict(counted)
    for group in groups:
        assert sum(line.moments for line in group.lines) == group.count and not group.more
        assert len({(line.on, line.then, line.kind) for line in group.lines}) == len(group.lines)


def test_a_screen_with_very_many_rules_does_not_make_an_endless_page() -> None:
    program = compiled().program
    rule = program.rules[0]
    many = tuple(replace(rule, on=replace(rule.on, argument=f"words {i}")) for i in range(10 * LINES_SHOWN))
    (group,) = rule_groups(many, {rule.screen: "Screen"})
    assert (group.count, len(group.lines), group.more) == (10 * LINES_SHOWN, LINES_SHOWN, 9 * LINES_SHOWN)


def test_the_page_holds_the_figures_every_screen_and_what_was_never_tried() -> None:
    graph, pictures = sample_graph()
    found = compile_graph(graph, pictures)
    page = html.fromstring(report_page(graph, found, pictures))
    words = " ".join(page.text_content().split())
    for screen in found.program.screens.values():
        assert screen.name in words
    assert f"{found.replay.exact} / {len(found.replay.steps)}" in words
    assert len(page.xpath("//details//li")) == len(found.open_questions)
    assert not CLASSES.search(words)


def test_recorded_words_are_text_and_never_markup() -> None:
    graph, pictures = sample_graph()
    found = compile_graph(graph, pictures)
    screens = {key: replace(screen, name=HOSTILE) for key, screen in found.program.screens.items()}
    questions = tuple(replace(q, label=HOSTILE) for q in found.open_questions)
    hostile = replace(found, program=replace(found.program, label=HOSTILE, screens=screens), open_questions=questions)
    page = html.fromstring(report_page(replace(graph, source=HOSTILE), hostile, pictures).encode(errors="replace"))
    assert page.xpath("//script | //link | //object | //@onload | //@onerror") == []


def test_a_widget_is_named_shortly_on_one_line() -> None:
    assert widget_words("org.example:id/list/View[0]", "Buy\n milk") == "Buy milk"
    assert widget_words("org.example:id/list/View[0]") == "View[0]"
    assert len(widget_words("", "word " * 100)) == 60
