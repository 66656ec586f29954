"""One run of actions on the simulator, judged: a pure function of the instance and the actions. Environments do the same step by step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from phoneworld.program.program import EvidenceKind, weakest
from phoneworld.sim.phone import Step
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Action, Answer, Finish, Status

Ending = Literal["finish", "answer", "budget", "open"]


@dataclass(frozen=True, slots=True)
class Episode:
    """What happened: the steps, how it ended (`open`: the actions ran out before the policy said anything), the verdict.

    `evidence` is the weakest of all steps, `recorded` where there is none.
    """

    actions: tuple[Action, ...]
    steps: tuple[Step, ...]
    state: PhoneState
    ending: Ending
    verdict: Verdict
    evidence: EvidenceKind


def run(judge: Judge, actions: Iterable[Action]) -> Episode:
    """Does the actions from the instance's start until one of them ends the episode, the budget is used up, or none is left."""
    phone, instance = judge.setting.phone, judge.instance
    state, trail = instance.start, judge.begin()
    steps: list[Step] = []
    done: list[Action] = []
    answer: str | None = None
    status: Status = "success"
    ending: Ending = "open"
    for action in actions:
        step = phone.step(state, action)
        state = step.state
        steps.append(step)
        done.append(action)
        trail = judge.watch(trail, state)
        match action:
            case Answer(text):
                answer, ending = text, "answer"
            case Finish(said):
                status, ending = said, "finish"
            case _ if len(steps) >= instance.task.budget:
                ending = "budget"
        if ending != "open":
            break
    verdict = judge.verdict(trail, state, answer=answer, status=status)
    evidence = weakest("recorded", *(s.evidence for s, a in zip(steps, done, strict=True) if not isinstance(a, Answer | Finish)))
    return Episode(tuple(done), tuple(steps), state, ending, verdict, evidence)
