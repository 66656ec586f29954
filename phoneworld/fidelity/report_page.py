"""The figures as a page, with the first divergence of each trace: what the real app showed and what the mock did. No network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phoneworld.fidelity.score import Score
from phoneworld.graph.graph import StateGraph
from phoneworld.render.templates import environment
from phoneworld.ui.action import action_to_json


def report_page(label: str, figures: Mapping[str, Mapping[str, Any]], mock: Score, heldout: StateGraph) -> str:
    """The page."""
    traces = {t.id: t for t in heldout.traces}
    divergences = [
        {
            "trace": step.trace,
            "depth": step.depth,
            "action": action_to_json(traces[step.trace].transitions[step.depth - 1].action),
            "evidence": step.evidence,
            "cause": step.cause,
            "f1": step.match.f1,
        }
        for step in mock.first_divergences()
    ]
    return environment().get_template("report/fidelity.html").render(label=label, figures=figures, divergences=divergences, traces=len(traces))
