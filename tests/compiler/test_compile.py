"""From a recording to a program: what was recorded replays, what is guessed says so, and the same input gives the same bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.errors import PhoneWorldError, ProgramError
from phoneworld.graph.graph import StateGraph
from phoneworld.graph.importers import import_recording
from phoneworld.program.bundle import dumps
from phoneworld.program.effect import Show
from phoneworld.sim.phone import Phone
from phoneworld.testing.groceries import PACKAGE
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import Action, PressKey, Tap, TypeText
from phoneworld.ui.node import Node
from tests.shared import CORPUS, needs_shared

RUNS = {
    "droidbot-album-sample": 68,
    "droidbot-droidxp": 36,
    "droidbot-exp-small": 22,
    "genie-activitydiary-main": 12,
    "genie-activitydiary-mutant": 14,
}
"""Runs of the corpus, with the number of events of which both states were recorded."""


def shown(phone: Phone, state: object, name: str) -> list[Node]:
    return [n for n in phone.view(state).hierarchy.nodes() if n.resource_id.endswith(f":id/{name}")]  # type: ignore[arg-type]


def tap_on(node: Node) -> Tap:
    return Tap(node.bounds.center.x, node.bounds.center.y)


def test_every_recorded_trace_replays_free_from_its_start() -> None:
    graph, pixels = sample_graph()
    compiled = compile_graph(graph, pixels)
    steps = sum(len(t.transitions) + 1 for t in graph.traces)
    assert (compiled.replay.exact, compiled.replay.whole, compiled.replay.faults) == (steps, 3, ())
    assert all(step.evidence == "recorded" for step in compiled.replay.steps)


def test_a_replay_that_differs_is_reported() -> None:
    """The check can fail: a graph whose last capture is another screen does not replay as the one that was compiled."""
    from phoneworld.compiler.verify import replay

    graph, pixels = sample_graph()
    program = compile_graph(graph, pixels).program
    trace = graph.traces[0]
    wrong = replace(graph.captures[trace.captures[-1]], hierarchy=graph.captures[trace.captures[-2]].hierarchy)
    found = replay(program, replace(graph, captures={**graph.captures, wrong.id: wrong}))
    assert [s.index for s in found.faults if s.trace == trace.id] == [len(trace.transitions) - 1]


def test_the_same_recording_gives_the_same_bytes() -> None:
    graph, pixels = sample_graph()
    assert dumps(compile_graph(graph, pixels).program) == dumps(compile_graph(graph, dict(reversed(pixels.items()))).program)


def test_without_pictures_it_compiles_too() -> None:
    graph, _ = sample_graph()
    assert not compile_graph(graph).replay.faults


def test_every_rule_names_what_supports_it() -> None:
    graph, pixels = sample_graph()
    names = {f"{t.id}:{i}" for t in graph.traces for i in range(len(t.transitions))}
    compiled = compile_graph(graph, pixels)
    assert compiled.rules_by_evidence().keys() >= {"recorded", "inferred"}
    for rule in compiled.program.rules:
        assert set(rule.evidence.support) <= names
        if rule.evidence.kind != "assumed":
            assert rule.evidence.cases == len(rule.evidence.support) > 0


def test_other_words_than_the_recorded_ones_appear_where_the_app_showed_those() -> None:
    """The recording typed "Oat milk" and saved it: typing something else shows that in the list, `inferred`."""
    graph, pixels = sample_graph()
    phone = Phone([compile_graph(graph, pixels).program])
    state = phone.reset(start="t2")
    actions: list[Action] = []
    for transition in graph.traces[1].transitions[:6]:
        action = transition.action
        actions.append(replace(action, text="Rye bread") if isinstance(action, TypeText) else action)
    for action in actions:
        step = phone.step(state, action)
        state = step.state
    assert step.evidence == "inferred"
    assert any("Rye bread" in n.label for n in phone.view(state).hierarchy.nodes())
    assert not any("Oat milk" in n.label for n in phone.view(state).hierarchy.nodes())


def test_a_widget_that_always_led_to_one_screen_leads_there_from_moments_at_which_it_was_not_tried() -> None:
    graph, pixels = sample_graph()
    phone = Phone([compile_graph(graph, pixels).program])
    state = phone.step(phone.reset(), tap_on(shown(phone, phone.reset(), "bought")[0])).state
    step = phone.step(state, tap_on(shown(phone, state, "add")[0]))
    assert (step.evidence, step.changed) == ("inferred", True)
    assert shown(phone, step.state, "save")


def test_back_at_a_moment_where_it_was_not_recorded_shows_the_screen_as_it_was_left() -> None:
    graph, pixels = sample_graph()
    phone = Phone([compile_graph(graph, pixels).program])
    bought = phone.step(phone.reset(), tap_on(shown(phone, phone.reset(), "bought")[0])).state
    form = phone.step(bought, tap_on(shown(phone, bought, "add")[0])).state
    back = phone.step(form, PressKey("back"))
    assert back.evidence in ("inferred", "assumed")
    assert phone.view(back.state).hierarchy == phone.view(bought).hierarchy


def test_what_was_never_tried_is_asked_and_does_nothing() -> None:
    graph, pixels = sample_graph()
    only = replace(graph, traces=(replace(graph.traces[0], transitions=graph.traces[0].transitions[:1]),))
    compiled = compile_graph(only, pixels)
    assert any(q.node == "add" for q in compiled.open_questions)
    phone = Phone([compiled.program])
    step = phone.step(phone.reset(), tap_on(shown(phone, phone.reset(), "add")[0]))
    assert (step.changed, step.evidence) == (False, "unrecorded")


def test_an_action_that_led_to_two_places_keeps_both_and_is_reported() -> None:
    """Two traces start alike, and the same tap led to two screens: each replays from its own start."""
    graph, pixels = sample_graph()
    one = graph.traces[0]
    first = one.transitions[0]
    elsewhere = next(c for c in graph.captures.values() if any(n.resource_id.endswith(":id/save") for n in c.hierarchy.nodes()))
    other = replace(one, id="other", transitions=(replace(first, target=elsewhere.id),))
    compiled = compile_graph(replace(graph, traces=(one, other)), pixels)
    assert not compiled.replay.faults
    assert [dict(a.outcomes).values() for a in compiled.ambiguities] and len(compiled.ambiguities[0].outcomes) == 2


def test_a_recording_without_captures_is_refused() -> None:
    graph, _ = sample_graph()
    with pytest.raises(ProgramError, match="no capture"):
        compile_graph(replace(graph, captures={}, traces=()))


def test_a_dark_picture_of_an_equal_tree_is_another_layout() -> None:
    from io import BytesIO

    from PIL import Image

    graph, pixels = sample_graph()
    start = graph.captures[graph.traces[0].start]
    dark = BytesIO()
    Image.new("RGB", (start.size.width, start.size.height), "#101010").save(dark, "PNG")
    night = replace(start, id="night", screenshot="d" * 64)
    alone = StateGraph(graph.app, graph.device, {start.id: start, "night": night})
    for known, layouts in (({**pixels, "d" * 64: dark.getvalue()}, 2), (pixels, 1)):
        program = compile_graph(alone, known).program
        assert sum(len(s.layouts) for s in program.screens.values()) == layouts


def test_the_app_is_found_again_after_leaving_it() -> None:
    graph, pixels = sample_graph()
    program = compile_graph(graph, pixels).program
    assert program.package == PACKAGE
    shows = [e.screen for r in program.rules for e in r.then if isinstance(e, Show)]
    assert shows and set(shows) <= set(program.screens)


@needs_shared
@pytest.mark.parametrize("run", RUNS)
def test_runs_of_others_build_and_replay_all_their_edges(run: str) -> None:
    imported = import_recording(CORPUS / "traces" / run)
    compiled = compile_graph(imported.graph, imported.screenshots)
    assert sum(1 for _ in imported.graph.transitions()) == RUNS[run]
    assert compiled.replay.exact == len(compiled.replay.steps) == RUNS[run] + compiled.replay.traces
    assert compiled.replay.whole == compiled.replay.traces


@needs_shared
def test_every_dump_of_the_corpus_builds_as_a_single_screen_or_is_refused_with_a_reason() -> None:
    built, refused = 0, {}
    for file in sorted(CORPUS.rglob("*.xml")):
        try:
            imported = import_recording(file)
        except PhoneWorldError as e:
            refused[file.name] = e.message
            continue
        refused.update(imported.refused)
        for capture in imported.graph.captures.values():
            phone = Phone([compile_graph(imported.graph, imported.screenshots).program])
            assert phone.view(phone.reset()).hierarchy == capture.hierarchy
            built += 1
    assert (built, sum(name.endswith(".xml") for name in refused)) == (350, 2), refused
    assert all(refused.values())
