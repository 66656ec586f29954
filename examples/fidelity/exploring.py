"""Recording by exploring: what `phoneworld record` does by itself, with a share of chance beside.

Chance alone comes back to what is in reach of the first screen; the explorer prefers what was never tried, and walks to where
something is left to try.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.ui.action import Action
from recorder.attribute import attribute
from recorder.explore import Memory, arrive, choose, classify, recall, remember
from recorder.safety import KINDS, Guard

AT_RANDOM = 0.3
"""This share of the steps is left to chance."""


@dataclass(slots=True)
class ExploringLead:
    """Explores within the traces of the lab. The apps of the lab are there to be tried, so nothing is left alone."""

    app: str
    seed: int
    memory: Memory = field(default_factory=Memory)
    guard: Guard = field(default_factory=lambda: Guard(frozenset(KINDS)))
    _steps: int = 0
    _stands: bool = False

    @classmethod
    def after(cls, recording: StateGraph, *, seed: int) -> ExploringLead:
        """Goes on after what was recorded."""
        guard = Guard(frozenset(KINDS))
        memory = recall(recording, app=recording.app.package, guard=guard)
        return cls(recording.app.package, seed, memory, guard, sum(1 for _ in recording.transitions()))

    def begin_trace(self) -> None:
        """The app is opened anew."""
        self._stands = False

    def choose(self, capture: Capture) -> Action | None:
        """The next step; None where chance is to act."""
        if not self._stands:
            self.memory, self._stands = arrive(self.memory, capture, app=self.app, guard=self.guard), True
        self._steps += 1
        if Random(f"lead:{self.seed}:{self._steps}").random() < AT_RANDOM:
            return None
        return choose(capture, self.memory, app=self.app, seed=self.seed, step=self._steps, guard=self.guard).action

    def learn(self, source: Capture, action: Action, target: Capture) -> None:
        """Every step tells what was tried, whoever chose it."""
        choice = classify(source, action, attribute(source.hierarchy, action, source.size))
        self.memory = remember(self.memory, source, choice, target, app=self.app, guard=self.guard)
