"""A mock against held-out traces: it starts where they start and runs free, never corrected. Pure.

`exact`: every face agrees. `effect-exact`: what appeared, vanished and changed since the step before is the same on both.
`faithful`: F1 at least 0.95, on the same screen. A trace is, when all its steps are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from phoneworld.fidelity.match import Faces, Match, effect, faces, match
from phoneworld.graph.features import features
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.identity import same_screen
from phoneworld.program.program import EvidenceKind
from phoneworld.ui.action import Action
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

FAITHFUL_F1 = 0.95
Cause = Literal["unknown action", "wrong screen", "wrong effect", "wrong value", "wrong order", "missed change", "change too many"]


class FreeRunner(Protocol):
    """Something that poses as the app: the mock, or a baseline."""

    def start(self) -> Hierarchy:
        """The start screen."""
        ...

    def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
        """What is shown after an action, and what that rests on. `took_ms` is how long the real phone was given, None where that is unknown."""
        ...


@dataclass(frozen=True, slots=True)
class ScoredStep:
    """One step of one held-out trace; `depth` counts from 1. `changed` says whether the real screen changed, `shown` is what the mock shows."""

    trace: str
    depth: int
    evidence: EvidenceKind
    changed: bool
    match: Match
    effect_exact: bool
    same_screen: bool
    shown: Hierarchy
    cause: Cause | None = None

    @property
    def faithful(self) -> bool:
        return self.same_screen and self.match.f1 >= FAITHFUL_F1


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of steps, 0 to 1; `layout` of the matched nodes. 0 steps give 1.0, as nothing was wrong."""

    steps: int
    exact: float
    effect_exact: float
    faithful: float
    f1: float
    layout: float


@dataclass(frozen=True, slots=True)
class Score:
    """All steps of all traces."""

    steps: tuple[ScoredStep, ...]

    def figures(self, steps: Iterable[ScoredStep] | None = None) -> Figures:
        """The figures over some of the steps; over all where none are given."""
        of = list(self.steps if steps is None else steps)
        if not of:
            return Figures(0, 1.0, 1.0, 1.0, 1.0, 1.0)
        n, matched = len(of), sum(s.match.matched for s in of)
        return Figures(
            n,
            sum(s.match.exact for s in of) / n,
            sum(s.effect_exact for s in of) / n,
            sum(s.faithful for s in of) / n,
            sum(s.match.f1 for s in of) / n,
            sum(s.match.laid_out for s in of) / matched if matched else 1.0,
        )

    @property
    def changing(self) -> tuple[ScoredStep, ...]:
        """The steps in which the real screen changed: what the bars are about."""
        return tuple(s for s in self.steps if s.changed)

    @property
    def traces(self) -> dict[str, list[ScoredStep]]:
        of: dict[str, list[ScoredStep]] = {}
        for step in self.steps:
            of.setdefault(step.trace, []).append(step)
        return of

    @property
    def faithful_traces(self) -> int:
        return sum(all(s.faithful for s in steps) for steps in self.traces.values())

    def steps_before_divergence(self) -> float:
        """The mean number of exact steps before the first that is not."""
        runs = [next((s.depth - 1 for s in steps if not s.match.exact), len(steps)) for steps in self.traces.values()]
        return sum(runs) / len(runs) if runs else 0.0

    def first_divergences(self) -> tuple[ScoredStep, ...]:
        """The first step of each trace that is not exact."""
        found = (next((s for s in steps if not s.match.exact), None) for steps in self.traces.values())
        return tuple(s for s in found if s is not None)

    def causes(self) -> Counter[str]:
        """What the first divergences were."""
        return Counter(s.cause or "" for s in self.first_divergences())


def score(runner: FreeRunner, heldout: StateGraph) -> Score:
    """Runs every held-out trace on the runner."""
    steps: list[ScoredStep] = []
    for trace in heldout.traces:
        beside = SideBySide(trace.id, heldout.captures[trace.start], runner.start())
        for transition in trace.transitions:
            tree, evidence = runner.act(transition.action, heldout.took_ms(transition))
            steps.append(beside.step(heldout.captures[transition.target], tree, evidence))
    return Score(tuple(steps))


class SideBySide:
    """The real app and the mock from one start on, a step after the other."""

    def __init__(self, trace: str, real: Capture, mock: Hierarchy) -> None:
        self.trace = trace
        self.depth = 0
        self._real, self._mock = faces(real.hierarchy, real.size), faces(mock, real.size)

    def step(self, capture: Capture, tree: Hierarchy, evidence: EvidenceKind) -> ScoredStep:
        """How the mock's tree compares with the real screen after the next action."""
        self.depth += 1
        real, mock = faces(capture.hierarchy, capture.size), faces(tree, capture.size)
        compared = match(real, mock)
        real_effect, mock_effect = effect(self._real, real), effect(self._mock, mock)
        changed = any(real_effect)
        same = _same_screen(capture, tree)
        cause = None if compared.exact else _cause(evidence, changed, any(mock_effect), same, real, mock)
        self._real, self._mock = real, mock
        return ScoredStep(self.trace, self.depth, evidence, changed, compared, real_effect == mock_effect, same, tree, cause)


def _same_screen(capture: Capture, tree: Hierarchy) -> bool:
    mine = Capture("mock", tree, capture.size, state=capture.state)
    return same_screen(features(capture), features(mine))


def _cause(evidence: EvidenceKind, changed: bool, mock_changed: bool, same: bool, real: Faces, mock: Faces) -> Cause:
    if changed and evidence == "unrecorded":
        return "unknown action"
    if not same:
        return "wrong screen"
    if real.counted == mock.counted:
        return "wrong order"
    if changed and not mock_changed:
        return "missed change"
    if mock_changed and not changed:
        return "change too many"
    shapes = [[(f[0], f[1]) for f, _ in side.order] for side in (real, mock)]
    return "wrong value" if shapes[0] == shapes[1] else "wrong effect"


def viewport(graph: StateGraph) -> Size:
    """The size of the first capture."""
    return next(iter(graph.captures.values())).size
