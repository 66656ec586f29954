"""What is told of a divergence: the step and its widget in words, what is missing, surplus or other, and how long all went well."""

from __future__ import annotations

from dataclasses import replace

from phoneworld.fidelity.curves import curves_page
from phoneworld.fidelity.explain import divergences, lines, misplaced, on_course
from phoneworld.fidelity.measure import MOCK, PLAIN, divergence_to_json, measure, summarise
from phoneworld.fidelity.report_page import report_page
from phoneworld.fidelity.runners import MockRunner
from phoneworld.fidelity.score import Score, score
from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import EvidenceKind
from phoneworld.testing.samples import sample_graph, sample_program
from phoneworld.ui.action import Action
from phoneworld.ui.node import Hierarchy, Node


class Faulty:
    """The mock with one text changed from its third action on, and another gone."""

    def __init__(self) -> None:
        self._runner = MockRunner(sample_program())
        self._acts = 0

    def start(self) -> Hierarchy:
        self._acts = 0
        return self._runner.start()

    def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
        tree, evidence = self._runner.act(action, took_ms)
        self._acts += 1
        if self._acts < 3:
            return tree, evidence
        return replace(tree, windows=tuple(_spoiled(w) for w in tree.windows)), evidence


def _spoiled(node: Node) -> Node:
    children = tuple(_spoiled(c) for c in node.children if c.text != "Bread")
    return replace(node, text="Pears" if node.text == "Apples" else node.text, children=children)


def recorded() -> StateGraph:
    graph, _ = sample_graph()
    return replace(graph, traces=graph.traces[:1])


def faulty() -> Score:
    return score(Faulty(), recorded())


def test_the_first_divergence_names_the_action_and_the_faces() -> None:
    found = divergences(faulty(), recorded())
    assert len(found) == 1
    (divergence,) = found
    shown = [f[2] for f in (*divergence.missing, *(a for a, _ in divergence.other))]
    assert {"Apples", "Bread"} <= set(shown)
    assert "Pears" in [f[2] for f in (*divergence.surplus, *(b for _, b in divergence.other))]
    assert divergence.step.depth >= 3 and len(divergence.before) == divergence.step.depth - 1
    told = "\n".join(lines(divergence))
    assert f"step {divergence.step.depth}" in told and "“Pears”" in told and "after:" in told
    as_json = divergence_to_json(divergence)
    assert as_json["action"] == divergence.action and as_json["before"] == list(divergence.before)


def test_a_perfect_mock_leaves_nothing_to_explain() -> None:
    found = score(MockRunner(sample_program()), recorded())
    assert divergences(found, recorded()) == ()
    assert all(right == total for _, right, total in on_course(found, recorded()))


def test_what_follows_a_divergence_is_not_counted_by_kind() -> None:
    counted = on_course(faulty(), recorded())
    (divergence,) = divergences(faulty(), recorded())
    assert sum(total for _, _, total in counted) == divergence.step.depth
    assert sum(total - right for _, right, total in counted) == 1
    assert counted[0][1] < counted[0][2], "the worst comes first"


def test_what_is_out_of_place_is_told_with_both_places() -> None:
    class Shifted(Faulty):
        def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
            tree, evidence = self._runner.act(action, took_ms)
            return replace(tree, windows=tuple(_shifted(w) for w in tree.windows)), evidence

    found = misplaced(score(Shifted(), recorded()), recorded())
    assert found and all(0 < m.times <= m.of for m in found)
    assert "“Bread”" in " ".join(m.example for m in found)
    assert misplaced(score(MockRunner(sample_program()), recorded()), recorded()) == []


def _shifted(node: Node) -> Node:
    children = tuple(_shifted(c) for c in node.children)
    return replace(node, children=children, bounds=node.bounds.shift(0, 9) if node.text == "Bread" else node.bounds)


def test_the_report_shows_both_phones_with_what_differs_marked() -> None:
    graph, pictures = sample_graph()
    scores = {MOCK: faulty()}
    figures = {name: summarise(s) for name, s in scores.items()}
    drawn = report_page("Groceries", figures, scores[MOCK], recorded())
    assert drawn.count("<iframe") == 2 and drawn.count("<i style=") >= 3
    assert "Pears" in drawn and "http://" not in drawn and "https://" not in drawn
    pictured = report_page("Groceries", figures, scores[MOCK], recorded(), pictures)
    assert pictured.count("<iframe") == 1 and "data:image/jpeg" in pictured
    assert graph.traces[0].id in drawn


def test_a_mock_is_measured_beside_plain_replay_and_drawn_over_the_number_of_actions() -> None:
    graph = recorded()
    scores = measure(sample_program(), graph, graph)
    assert list(scores)[:2] == [MOCK, PLAIN]
    figures = {name: summarise(s) for name, s in scores.items()}
    rows = [{"app": "groceries", "policy": "random", "actions": n, "figures": figures} for n in (75, 300)]
    page = curves_page(rows, ["groceries"])
    assert page.count("<polyline") == 4 and page.count("<circle") == 8
    assert "exact (random) after 300 actions: 100.0%" in page
