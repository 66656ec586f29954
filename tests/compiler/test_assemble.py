"""What was learned as a Program: it replays all that was recorded, says where each rule comes from, and is one thing only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.compiler.assemble import Outcomes, outcomes
from phoneworld.compiler.compile import Compilation, compile_graph
from phoneworld.compiler.learned import BELOW
from phoneworld.compiler.moments import MOMENT
from phoneworld.program.bundle import dumps
from phoneworld.program.check import check_program
from phoneworld.program.effect import SetVar
from phoneworld.program.expr import TRUE, All, Case, Const, Equal, Expr, Var, names_in
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, Clear, PressKey, Tap, TypeText
from tests.compiler.chores import App, Chore, Kind, add, play, record, shown_texts, walk

TICKS = (
    ("tap done 0", "tap done 1", "tap done 0", "tap done 0", *add("Rugs"), *add("Bins"), "tap done 3", "tap remove 1", "tap done 2"),
    (*add("Lawn"), "tap remove 0", "tap remove 0", "tap done 1", "tap clear_done", *add("Roof"), "tap remove 0"),
    ("tap row 0", "tap starred", "tap up", "tap row 1", "back", "tap row 2", "tap starred", "tap up"),
)


@cache
def compiled() -> Compilation:
    return compile_graph(record(TICKS))


# Whatever is recorded replays

KINDS = (
    Kind(), Kind(count=False, says_empty=True), Kind(tabs=True), Kind(search=True), Kind(numbered=True), Kind(live=True), Kind(quick=True),
    Kind(tabs=True, search=True, quick=True), Kind(newest_first=True, mark_all=True), Kind(prefixed=True, says_empty=True),
)  # fmt: skip
walks = st.lists(st.lists(st.integers(0, 500), max_size=10), min_size=1, max_size=3)


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(KINDS), walks)
def test_every_recorded_step_replays_whatever_was_done(kind: Kind, choices: Sequence[Sequence[int]]) -> None:
    start = App(kind)
    graph = record([walk(start, c) for c in choices], start)
    found = compile_graph(graph)
    assert not found.replay.faults
    assert all(step.evidence == "recorded" for step in found.replay.steps)
    check_program(found.program)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.sampled_from(KINDS), st.lists(st.lists(st.integers(0, 500), max_size=25), min_size=1, max_size=5))
def test_long_recordings_replay_too(kind: Kind, choices: Sequence[Sequence[int]]) -> None:
    start = App(kind)
    found = compile_graph(record([walk(start, c) for c in choices], start))
    assert not found.replay.faults
    assert all(step.evidence == "recorded" for step in found.replay.steps)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 500), max_size=12))
def test_the_mock_is_total_where_nothing_was_recorded(choices: list[int]) -> None:
    """A walk over the mock itself: each step is answered, and says what it knows."""
    phone = Phone([compiled().program])
    state = phone.reset()
    for choice in choices:
        nodes = [n for n in phone.view(state).hierarchy.nodes() if n.takes("tap")]
        taps: list[Action] = [Tap(n.bounds.center.x, n.bounds.center.y) for n in nodes]
        can = [*taps, TypeText("Gate"), Clear(), PressKey("enter"), PressKey("back")]
        step = phone.step(state, can[choice % len(can)])
        assert step.evidence in ("recorded", "inferred", "assumed", "unrecorded")
        state = step.state


# Rules


def test_the_same_recording_gives_the_same_program() -> None:
    assert dumps(compile_graph(record(TICKS)).program) == dumps(compiled().program)


def test_general_rules_explain_a_plain_app_without_exceptions() -> None:
    assert not compiled().exceptions


def test_each_rule_says_which_steps_speak_for_it() -> None:
    steps = {f"t{t}:{i}" for t, script in enumerate(TICKS, 1) for i in range(len(script))}
    by_kind: dict[str, set[str]] = {}
    for rule in compiled().program.rules:
        assert rule.evidence.cases == len(rule.evidence.support) > 0
        by_kind.setdefault(rule.evidence.kind, set()).update(rule.evidence.support)
    assert by_kind["recorded"] == steps
    assert by_kind["inferred"] == steps


def test_only_recorded_rules_look_at_the_moment_and_every_rule_says_the_next_one() -> None:
    for rule in compiled().program.rules:
        assert (MOMENT in names_in(rule.when)) == (rule.evidence.kind == "recorded")
        (moment,) = [e.value for e in rule.then if isinstance(e, SetVar) and e.name == MOMENT]
        assert isinstance(moment, Const)
        assert (moment.value is None) == (rule.evidence.kind == "inferred")


def test_ids_of_rules_are_unique() -> None:
    ids = [rule.id for rule in compiled().program.rules]
    assert len(ids) == len(set(ids))


def test_off_the_recorded_path_a_step_is_at_most_inferred() -> None:
    program = compiled().program
    for played in play(program, ["tap done 2", *add("Gate"), "tap done 3", "tap done 0"]):
        assert played.step.evidence == "inferred"
        assert played.same, played.difference


def test_on_the_recorded_path_a_step_is_recorded() -> None:
    for script in TICKS:
        for played in play(compiled().program, script):
            assert played.step.evidence == "recorded" and played.same


# Variables, tables, starts, templates


def test_what_follows_is_no_variable_and_what_is_typed_is_one() -> None:
    names = set(compiled().program.variables)
    assert not [n for n in names if n.endswith((".count.text", ".clear_done.shown"))]
    assert any(n.endswith(".draft.text") for n in names)
    assert {MOMENT, FOCUS, KEYBOARD} <= names


def test_a_table_starts_with_the_rows_of_the_first_screen() -> None:
    (table,) = compiled().program.tables.values()
    assert table.columns[0] == ROW_ID
    at = table.columns.index("name.text")
    assert [row[at] for row in table.rows] == ["Dishes", "Laundry", "Windows"]
    assert [row[0] for row in table.rows] == [1, 2, 3]


def test_a_trace_that_began_elsewhere_has_a_start_of_its_own() -> None:
    """The second recording goes on where the app was left: it starts with other rows, on other state."""
    first, other = record(TICKS), record([["tap done 0", "tap remove 0"]], App(chores=(Chore(9, "Mirrors"), Chore(10, "Attic"))))
    captures = {f"x{name}": c for name, c in other.captures.items()}
    captures = {name: replace(c, id=name) for name, c in captures.items()}
    moved = tuple(replace(t, source=f"x{t.source}", target=f"x{t.target}") for t in other.traces[0].transitions)
    trace = replace(other.traces[0], id="later", start=f"x{other.traces[0].start}", transitions=moved, start_kind="kept")
    found = compile_graph(replace(first, captures={**first.captures, **captures}, traces=(*first.traces, trace)))
    assert not found.replay.faults
    phone = Phone([found.program])
    assert shown_texts(phone.view(phone.reset()).hierarchy, "name") == ["Dishes", "Laundry", "Windows"]
    assert shown_texts(phone.view(phone.reset(start="later")).hierarchy, "name") == ["Mirrors", "Attic"]


def test_every_screen_has_a_template_of_all_its_slots() -> None:
    program = compiled().program
    assert len(program.screens) == 3
    for screen in program.screens.values():
        assert screen.template is not None
        keys = [slot.key for slot, _ in screen.template.slots()]
        assert len(keys) == len(set(keys))
        placed = set(screen.template.placement)
        assert placed <= set(keys)


def test_what_was_never_touched_is_asked() -> None:
    nodes = {q.node for q in compiled().open_questions}
    assert "rename" in nodes
    assert "add" not in nodes and "done" not in nodes


# What leads where


def test_outcomes_are_told_first_match_first() -> None:
    when = Equal(Var("a"), Const(""))
    leads: Expr = Case(when, Const("s1"), Case(Var("b"), Var(BELOW), Const("s2")))
    assert list(outcomes(leads)) == [Outcomes(when, "s1"), Outcomes(Var("b"), None), Outcomes(TRUE, "s2")]


def test_outcomes_of_an_exception_within_an_exception_hold_under_both_conditions() -> None:
    leads: Expr = Case(Var("a"), Case(Var("b"), Const("s1"), Const("s2")), Const("s3"))
    assert list(outcomes(leads)) == [Outcomes(All((Var("a"), Var("b"))), "s1"), Outcomes(Var("a"), "s2"), Outcomes(TRUE, "s3")]
