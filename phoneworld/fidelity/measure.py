"""A mock beside the baselines, and the figures of each as plain data. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, get_args

from phoneworld.fidelity.explain import Divergence, face_words
from phoneworld.fidelity.runners import GraphReplay, MockRunner
from phoneworld.fidelity.score import Score, score
from phoneworld.graph.digests import trace_digests
from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import EvidenceKind, Program

MOCK, PLAIN, ONE_PICTURE = "mock", "plain replay", "one picture a screen"
EVIDENCE: tuple[EvidenceKind, ...] = get_args(EvidenceKind)


def measure(program: Program, heldout: StateGraph, recording: StateGraph | None = None) -> dict[str, Score]:
    """The scores of the mock, and of the baselines where its recording is there."""
    scores = {MOCK: score(MockRunner(program), heldout)}
    if recording is not None:
        scores[PLAIN] = score(GraphReplay(recording), heldout)
        scores[ONE_PICTURE] = score(GraphReplay(recording, by_screen=True), heldout)
    return scores


def recorded_traces(mock: Score, heldout: StateGraph, known: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The ids of those held-out traces that the mock was built from: its score on them says what it remembers, not how true it is.

    `known` are the digests of all steps of its recording, as its bundle keeps them. A mock tells by itself too: it is on the
    path of a recorded trace as long as each step is `recorded`; where one action had two outcomes it may leave that path.
    """
    remembered = {name for name, steps in mock.traces.items() if all(s.evidence == "recorded" for s in steps)}
    digests = trace_digests(heldout)
    return tuple(t.id for t in heldout.traces if t.id in remembered or (t.transitions and digests[t.id][-1] in known))


def remembered_words(recorded: Sequence[str], traces: int) -> str:
    """What is to be said of held-out traces that are recorded ones; "" where none is."""
    if not recorded:
        return ""
    all_of_them = len(recorded) == traces
    which = ("these are" if all_of_them else f"{len(recorded)} of the {traces} held-out traces {'is' if len(recorded) == 1 else 'are'}") + " what the mock was built from, step by step"
    return f"{which}: {'the figures say' if all_of_them else 'on those the figures say'} what it remembers, not how true it is. Traces of their own: --against a phone, with a --seed that no recording used"


def summarise(of: Score) -> dict[str, Any]:
    """What `--json` prints of one runner. All but `all` and `focus_exact` is over the steps in which the real screen changed."""
    changing = of.changing
    depths = sorted({s.depth for s in of.steps})
    return {
        "all": asdict(of.figures()),
        "changing": asdict(of.figures(changing)),
        "by_evidence": {k: asdict(of.figures(s for s in changing if s.evidence == k)) for k in EVIDENCE},
        "by_depth": [asdict(of.figures(s for s in changing if s.depth == d)) for d in depths],
        "faithful_traces": of.faithful_traces,
        "traces": len(of.traces),
        "exact_steps_before_divergence": round(of.steps_before_divergence(), 2),
        "first_divergences": dict(of.causes()),
        "focus_exact": sum(s.match.focus_exact for s in of.steps) / max(1, len(of.steps)),
    }


def divergence_to_json(divergence: Divergence) -> dict[str, Any]:
    """What `--json --explain` prints of one."""
    step = divergence.step
    return {
        "trace": step.trace,
        "step": step.depth,
        "action": divergence.action,
        "before": list(divergence.before),
        "cause": step.cause,
        "evidence": step.evidence,
        "f1": round(step.match.f1, 4),
        "missing": [face_words(f) for f in divergence.missing],
        "surplus": [face_words(f) for f in divergence.surplus],
        "other": [[face_words(a), face_words(b)] for a, b in divergence.other],
    }
