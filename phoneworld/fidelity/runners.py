"""What is run free: the mock, and two baselines that show what a slide show would score. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict

from phoneworld.compiler.screens import find_screens
from phoneworld.compiler.triggers import trigger_of
from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import EvidenceKind, Program, Trigger
from phoneworld.sim.phone import Phone
from phoneworld.sim.screenful import Screenful
from phoneworld.ui.action import Action
from phoneworld.ui.node import Hierarchy


class MockRunner:
    """The compiled mock."""

    def __init__(self, program: Program) -> None:
        self._phone = Phone([program])
        self._state = self._phone.reset()

    def start(self) -> Hierarchy:
        self._state = self._phone.reset()
        return self._phone.view(self._state).hierarchy

    def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
        step = self._phone.step(self._state, action, took_ms)
        self._state = step.state
        return self._phone.view(self._state).hierarchy, step.evidence


class GraphReplay:
    """Plain replay of the recorded graph: a state is an exact screen; an action leads where it mostly led from it, else nowhere.

    With `by_screen` a state is a whole screen of the identity, shown by its first capture: a mock that never changes within one.
    """

    def __init__(self, graph: StateGraph, *, by_screen: bool = False) -> None:
        found = find_screens(graph, {})
        layouts = {lay.id: (s, lay) for s in found.screens.values() for lay in s.layouts}
        shown = {s.id: s.layouts[0].id for s in found.screens.values()}
        self._screenfuls = {name: Screenful(s, lay) for name, (s, lay) in layouts.items()}
        counts: dict[tuple[str, Trigger], Counter[str]] = defaultdict(Counter)

        def state_of(capture: str) -> str:
            sighting = found.sightings[capture]
            return shown[sighting.screen] if by_screen else sighting.layout

        for trace in graph.traces:
            for t in trace.transitions:
                trigger = trigger_of(self._screenfuls[found.sightings[t.source].layout], t.action)
                if trigger is not None:
                    counts[(state_of(t.source), trigger)][state_of(t.target)] += 1
        self._leads = {key: min(c.items(), key=lambda item: (-item[1], item[0]))[0] for key, c in counts.items()}
        first = next(iter(graph.traces)).start if graph.traces else next(iter(graph.captures))
        self._start = self._at = state_of(first)

    def start(self) -> Hierarchy:
        self._at = self._start
        return self._screenfuls[self._at].layout.hierarchy

    def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
        trigger = trigger_of(self._screenfuls[self._at], action)
        target = self._leads.get((self._at, trigger)) if trigger is not None else None
        if target is not None:
            self._at = target
        return self._screenfuls[self._at].layout.hierarchy, "unrecorded" if target is None else "recorded"
