"""Runs a Program along its own recording: every trace, free from its start, and compares each tree with what was captured."""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import EvidenceKind, Program
from phoneworld.sim.phone import Phone
from phoneworld.ui.compare import compare_trees


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """One step of a replay; index -1 is the start. `difference` is empty where the trees are equal."""

    trace: str
    index: int
    evidence: EvidenceKind
    difference: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """All traces replayed. `exact` counts steps with an equal tree, `whole` the traces in which every step was."""

    steps: tuple[ReplayedStep, ...]
    exact: int
    whole: int
    traces: int

    @property
    def faults(self) -> tuple[ReplayedStep, ...]:
        return tuple(s for s in self.steps if s.difference)


def replay(program: Program, graph: StateGraph, *, tolerance_px: int = 8) -> Replay:
    """Never corrects the mock: an error stays until the app itself overwrites it."""
    phone = Phone([program])
    steps: list[ReplayedStep] = []
    whole = 0
    for trace in graph.traces:
        state = phone.reset(start=trace.id)
        first = len(steps)
        for index in range(-1, len(trace.transitions)):
            evidence: EvidenceKind = "recorded"
            if index >= 0:
                done = phone.step(state, trace.transitions[index].action)
                state, evidence = done.state, done.evidence
            capture = graph.captures[trace.captures[index + 1]]
            compared = compare_trees(capture.hierarchy, phone.view(state).hierarchy, capture.size, tolerance_px)
            steps.append(ReplayedStep(trace.id, index, evidence, "" if compared.equal else str(compared)))
        whole += not any(s.difference for s in steps[first:])
    return Replay(tuple(steps), sum(1 for s in steps if not s.difference), whole, len(graph.traces))
