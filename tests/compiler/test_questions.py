"""What a recording leaves open: what was never done, never so, once; with a way there that was recorded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.questions import find_questions
from phoneworld.graph.graph import StateGraph, Trace
from phoneworld.graph.plan import Plan, dumps, loads
from phoneworld.testing.groceries import PACKAGE
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import CloseApp, PressKey, TypeText


@cache
def sample_plan() -> Plan:
    graph, pixels = sample_graph()
    return find_questions(graph, compile_graph(graph, pixels), most=100)


def test_what_was_never_done_is_asked_and_what_was_done_often_comes_later() -> None:
    plan = sample_plan()
    never = {q.deed for q in plan.questions if q.kind in ("untried", "text", "back", "return")}
    assert {"type blank EditText#name", "close_app"} <= never
    assert "tap CheckBox#bought" not in never and "tap Button#save" not in never
    once = [q for q in plan.questions if q.deed == "tap Button#save"]
    assert once and all(q.kind in ("seldom", "circumstance") and "done once" in q.why for q in once)


def test_back_is_asked_of_every_screen_of_which_it_is_not_known() -> None:
    plan, (graph, _) = sample_plan(), sample_graph()
    assert {s.package for s in plan.screens} == {PACKAGE}
    backs = {q.screen: q.kind for q in plan.questions if q.deed == "key back"}
    assert set(backs) == {s.id for s in plan.screens}
    assert "back" in backs.values(), "the list was never left"
    assert any(t.action == PressKey("back") for t in graph.transitions()), "and the others were"


def test_a_row_is_asked_of_in_states_it_was_not_touched_in() -> None:
    told = {a for q in sample_plan().questions if q.deed == "tap CheckBox#bought" for a in q.given}
    assert told & {"on a ticked row", "on a row between", "all ticked", "none ticked"}


def test_the_way_to_a_question_is_a_recorded_one_and_a_shortest() -> None:
    plan, (graph, _) = sample_plan(), sample_graph()
    traces = {t.id: t for t in graph.traces}
    for question in plan.questions:
        trace = traces[question.start.trace]
        steps = question.start.steps
        assert [s.action for s in steps] == [t.action for t in trace.transitions[: len(steps)]]
        if question.kind == "back":
            screen = graph.captures[trace.captures[len(steps)]].state.activity
            sooner = {graph.captures[c].state.activity for t in graph.traces for c in t.captures[: len(steps)]}
            assert screen not in sooner, "asked where the screen comes first"


def test_typed_words_are_new_ones_and_what_is_closed_is_opened_again() -> None:
    plan = sample_plan()
    typed = [q for q in plan.questions if isinstance(q.act[0].action, TypeText)]
    assert all(q.act[0].is_fresh == q.deed.startswith("type new") for q in typed) and typed
    blank = next(q for q in typed if q.deed.startswith("type blank"))
    assert [s.target.mark for s in blank.reveal if s.target] == ["Button#save"], "blank words are sent as words are"
    closed = next(q for q in plan.questions if isinstance(q.act[0].action, CloseApp))
    assert len(closed.reveal) == 1


def test_questions_are_ranked_limited_and_the_same_each_time() -> None:
    graph, pixels = sample_graph()
    compiled = compile_graph(graph, pixels)
    five = find_questions(graph, compiled, most=5)
    assert len(five.questions) == 5
    assert dumps(five) == dumps(find_questions(graph, compiled, most=5))
    assert [q.why for q in five.questions] == [q.why for q in sample_plan().questions[:5]]
    kinds = [(q.screen, q.deed) for q in sample_plan().questions]
    assert max(map(kinds.count, kinds)) <= 2
    assert loads(dumps(sample_plan())) == replace(
        sample_plan(), questions=tuple(replace(q, gain=round(q.gain, 4)) for q in sample_plan().questions)
    )


def test_what_was_done_once_more_settles_its_question() -> None:
    graph, pixels = sample_graph()
    shorter = replace(graph, traces=tuple(_without_saving(t) for t in graph.traces))
    before = find_questions(shorter, compile_graph(_reachable(shorter), pixels), most=100)
    assert any(q.deed == "tap Button#save" and q.kind == "untried" for q in before.questions)
    assert not any(q.deed == "tap Button#save" and q.kind == "untried" for q in sample_plan().questions)


def test_a_recording_that_began_anywhere_gives_no_way_to_a_question() -> None:
    graph, pixels = sample_graph()
    kept = replace(graph, traces=tuple(replace(t, start_kind="kept") for t in graph.traces))
    assert find_questions(kept, compile_graph(kept, pixels)).questions == ()


def _without_saving(trace: Trace) -> Trace:
    """The trace up to where something is saved."""
    graph, _ = sample_graph()
    for i, t in enumerate(trace.transitions):
        if t.hit is not None and graph.captures[t.source].hierarchy.at(t.hit).resource_id.endswith("save"):
            return replace(trace, transitions=trace.transitions[:i])
    return trace


def _reachable(graph: StateGraph) -> StateGraph:
    kept = {c for t in graph.traces for c in t.captures}
    return replace(graph, captures={name: c for name, c in graph.captures.items() if name in kept})
