"""Recording by asking: a stretch at random, then rounds of building, asking what is open, and going on at random beside.

Both ways of recording act at random alike (`phoneworld/fidelity/acting.py`) and begin with the same traces; what is compared is
what half of the later actions is spent on.
"""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.questions import find_questions
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.ui.action import Action
from recorder.asking import MIX, Asking, StartOver
from recorder.safety import KINDS, Guard

AT_RANDOM = 150
"""So many actions are done at random before anything is asked."""
TRACES_A_ROUND = 2


@dataclass(slots=True)
class AskingLead:
    """Asks questions within the traces of the lab: these end by their length, so the app is never started over in between."""

    asking: Asking

    def choose(self, capture: Capture) -> Action | None:
        """The next step of a question; None where chance is to act."""
        found = self.asking.next(capture)
        assert not isinstance(found, StartOver)
        return None if found is None else found.action

    def learn(self, source: Capture, action: Action, target: Capture) -> None:
        """Every step may settle a question."""
        self.asking.learn(source, action, target)


def lead_for(recording: StateGraph, *, seed: int, mix: float = MIX) -> AskingLead:
    """One round: asks what a recording leaves open. The apps of the lab are there to be tried, so nothing is left alone."""
    plan = find_questions(recording, compile_graph(recording))
    return AskingLead(Asking(plan, mix=mix, seed=seed, guard=Guard(frozenset(KINDS)), may_start_over=False))
