"""The measure itself: a perfect mock scores 1, each kind of fault lowers what it should and is named, and what is drawn is held out."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from phoneworld.device.mock import MockDevice
from phoneworld.errors import DeviceNotFound
from phoneworld.fidelity.acting import choose
from phoneworld.fidelity.again import RealAgain
from phoneworld.fidelity.heldout import collect
from phoneworld.fidelity.match import faces, match
from phoneworld.fidelity.measure import recorded_traces
from phoneworld.fidelity.runners import GraphReplay, MockRunner
from phoneworld.fidelity.score import Score, score
from phoneworld.graph.digests import trace_digests
from phoneworld.graph.file import save_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import EvidenceKind
from phoneworld.testing.groceries import PACKAGE
from phoneworld.testing.samples import sample_bundle, sample_graph, sample_program
from phoneworld.ui.action import Action, Tap, TypeText, check_on_screen
from phoneworld.ui.node import Hierarchy, Node


class Altered:
    """The mock with every tree it shows put through a change."""

    def __init__(self, change: object, evidence: EvidenceKind | None = None) -> None:
        self._runner = MockRunner(sample_program())
        self._change = change
        self._evidence = evidence

    def start(self) -> Hierarchy:
        return self._runner.start()

    def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
        tree, evidence = self._runner.act(action, took_ms)
        return self._change(tree), self._evidence or evidence  # type: ignore[operator]


def recorded() -> StateGraph:
    """The first trace of the sample, which starts where the mock starts."""
    graph, _ = sample_graph()
    return replace(graph, traces=graph.traces[:1])


def everywhere(change: object) -> object:
    def visit(node: Node) -> Node:
        return change(replace(node, children=tuple(visit(c) for c in node.children)))  # type: ignore[operator]

    return lambda tree: replace(tree, windows=tuple(visit(w) for w in tree.windows))


def test_a_mock_scores_one_on_its_own_recording() -> None:
    found = score(MockRunner(sample_program()), recorded())
    figures = found.figures()
    assert (figures.exact, figures.effect_exact, figures.faithful, figures.f1, figures.layout) == (1, 1, 1, 1, 1)
    assert found.faithful_traces == 1 and not found.first_divergences()
    assert 0 < len(found.changing) <= figures.steps


def test_another_value_is_not_exact_and_is_called_so() -> None:
    found = score(Altered(everywhere(lambda n: replace(n, text="X") if n.text == "Apples" else n)), recorded())
    assert found.figures().exact < 1 and found.figures().layout == 1
    assert set(found.causes()) == {"wrong value"}


def test_another_place_lowers_layout_only() -> None:
    moved = everywhere(lambda n: replace(n, bounds=n.bounds.shift(0, 9)) if n.text else n)
    figures = score(Altered(moved), recorded()).figures()
    assert figures.exact == 1 and figures.layout < 1


def test_focus_is_apart() -> None:
    found = score(Altered(everywhere(lambda n: replace(n, focused=False))), recorded())
    assert found.figures().exact == 1


def test_a_mock_that_never_changes_misses_every_change() -> None:
    start = MockRunner(sample_program()).start()
    found = score(Altered(lambda _: start), recorded())
    assert found.figures(found.changing).effect_exact == 0
    assert found.steps_before_divergence() < len(found.steps)


def test_an_early_fault_stays_until_the_app_overwrites_it() -> None:
    figures = score(MockRunner(sample_program()), _without_first_step())
    assert 0 < figures.figures().exact < 1


def test_a_trace_of_the_recording_is_known_by_what_was_done_and_shown_too() -> None:
    """Where the mock takes the other of two outcomes it leaves the recorded path, and the trace is a recorded one all the same."""
    elsewhere = score(Altered(lambda tree: tree, "inferred"), recorded())
    assert recorded_traces(elsewhere, recorded()) == ()
    known, other = (frozenset(step for steps in trace_digests(g).values() for step in steps) for g in (recorded(), _without_first_step()))
    assert recorded_traces(elsewhere, recorded(), known) == (recorded().traces[0].id,)
    assert recorded_traces(elsewhere, recorded(), other) == ()
    assert recorded_traces(score(MockRunner(sample_program()), recorded()), recorded()) == (recorded().traces[0].id,)


def _without_first_step() -> StateGraph:
    graph = recorded()
    trace = graph.traces[0]
    return replace(graph, traces=(replace(trace, start=trace.transitions[0].target, transitions=trace.transitions[1:]),))


def test_plain_replay_knows_what_was_recorded_and_nothing_else() -> None:
    graph = recorded()
    on_its_own = score(GraphReplay(graph), graph)
    assert on_its_own.figures().steps == len(graph.traces[0].transitions)
    other = replace(graph, traces=sample_graph()[0].traces[1:2])
    assert score(GraphReplay(graph), other).figures().exact < score(MockRunner(sample_program()), other).figures().exact


def test_no_steps_are_no_fault() -> None:
    assert Score(()).figures().exact == 1


def test_faces_leave_out_bare_containers_and_hints_posing_as_text() -> None:
    graph = recorded()
    capture = graph.captures[graph.traces[0].start]
    found = faces(capture.hierarchy, capture.size)
    bare = [n for n in capture.hierarchy.nodes() if not (n.text or n.content_desc or n.clickable or n.checkable)]
    assert bare and not {(n.class_name, n.bounds) for n in bare} & {(face[0], bounds) for face, bounds in found.order}
    assert match(found, found).exact


def test_what_is_chosen_lies_on_the_screen_and_repeats() -> None:
    graph = recorded()
    capture = graph.captures[graph.traces[0].start]
    kinds = set()
    for i in range(200):
        action = choose(capture.hierarchy, capture.size, keyboard=False, package=PACKAGE, dice=Random(i))
        again = choose(capture.hierarchy, capture.size, keyboard=False, package=PACKAGE, dice=Random(i))
        check_on_screen(action, capture.size)
        assert action == again
        kinds.add(type(action))
    assert Tap in kinds and len(kinds) >= 2


@pytest.fixture
def phone(tmp_path: Path) -> MockDevice:
    return MockDevice.open(sample_bundle(tmp_path / "groceries.bundle").path)


def test_held_out_traces_are_an_ordinary_graph_on_which_the_same_app_is_exact(phone: MockDevice, tmp_path: Path) -> None:
    """The mock posing as the real app here tests the loop, not the fidelity of anything."""
    found = collect(phone, PACKAGE, traces=2, steps=4, seed=5)
    phone.close()
    assert [t.start_kind for t in found.graph.traces] == ["fresh", "fresh"]
    assert all(len(t.transitions) == 4 for t in found.graph.traces)
    typed = {t.action.text for t in found.graph.transitions() if isinstance(t.action, TypeText)}
    assert not typed & {"Oat milk"}
    assert score(MockRunner(sample_program()), found.graph).figures().exact == 1
    save_graph(found.graph, tmp_path / "held.graph.json", found.pictures)
    sample_bundle(tmp_path / "app.bundle")
    words = ["fidelity", str(tmp_path / "app.bundle"), "--against", str(tmp_path / "held.graph.json"), "--json", "--html", str(tmp_path / "f.html")]
    done = subprocess.run([sys.executable, "-m", "phoneworld.cli.main", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mock"]["all"]["exact"] == 1
    assert "http" not in (tmp_path / "f.html").read_text().replace("http-equiv", "")


def test_an_app_that_does_the_same_again_agrees_with_itself(phone: MockDevice) -> None:
    held = collect(phone, PACKAGE, traces=1, steps=4, seed=6).graph
    readied: list[bool] = []
    found = score(RealAgain(phone, PACKAGE, ready=lambda: readied.append(True)), held)
    phone.close()
    assert found.figures().exact == found.figures().layout == 1 and readied == [True]


def test_an_app_that_is_not_there_is_named(phone: MockDevice) -> None:
    with pytest.raises(DeviceNotFound, match=r"org\.example\.absent"):
        collect(phone, "org.example.absent", traces=1, steps=1, seed=1)
    phone.close()
