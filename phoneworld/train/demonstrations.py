"""How it is done: the oracle's solutions of tasks, acted as the policy would, on the mock or on another phone.

Left out of what is published on imitation: filtering by length, augmenting instructions by a language model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from phoneworld.agent.screen import ANSWER, screen_of
from phoneworld.agent.sight import NUMBERS, Choice, Memory, Seen, Sight
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import Job
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.oracle import GivenUp, Oracle
from phoneworld.ui.action import Action, Answer

DECIMALS = frozenset(NUMBERS)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A task done, step by step. `source` is where: "mock" or "real"."""

    task: str
    seed: int
    source: str
    steps: tuple[tuple[Sight, Choice], ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no demonstration."""

    task: str
    seed: int
    why: str


class Teacher:
    """Knows solutions. One a phone, for what it learns of the mock serves all tasks."""

    def __init__(self, env: PhoneEnv) -> None:
        self.env = env
        self._oracles: dict[str, Oracle] = {}

    def solution(self, judge: Judge) -> tuple[Action, ...] | str:
        """The actions that solve an instance, or why there are none."""
        package = judge.setting.package
        if package not in self._oracles:
            self._oracles[package] = Oracle(self.env.phone, package)
        found = self._oracles[package].solve(judge)
        return found.reason if isinstance(found, GivenUp) else found.actions

    def demonstrate(self, job: Job) -> Demonstration | Missing:
        """Does a task on the mock with the choices that the policy has."""
        self.env.reset(job.seed, task=job.task, language=job.language)
        assignment = self.env.standing.assignment
        assert assignment is not None
        judge, name = assignment.judge, assignment.instance.task.id
        actions = self.solution(judge)
        if isinstance(actions, str):
            return Missing(name, job.seed, f"the oracle gave up: {actions}")
        return self._act(job, name, actions)

    def _act(self, job: Job, name: str, actions: Sequence[Action]) -> Demonstration | Missing:
        env, memory = self.env, Memory()
        observation, info = env.reset(job.seed, task=job.task, language=job.language)
        steps: list[tuple[Sight, Choice]] = []
        for action in actions:
            seen = memory.look(screen_of(observation), observation.instruction)
            choice = self._answered(seen) if isinstance(action, Answer) else seen.choice(action)
            if choice is None:
                return Missing(name, job.seed, f"no choice of the policy means {action}")
            steps.append((seen.sight, choice))
            memory.did(seen, choice)
            observation, _, terminated, truncated, info = env.step(seen.action(choice))
            if terminated or truncated:
                break
        if not info["success"]:
            return Missing(name, job.seed, f"done so it is not taken: {info['termination']}")
        return Demonstration(name, job.seed, "mock", tuple(steps))

    def _answered(self, seen: Seen) -> Choice | None:
        """The words that are taken for the answer: such as are read first, then the instruction's, then numbers."""
        env, assignment = self.env, self.env.standing.assignment
        assert assignment is not None
        spans = len(seen.sight.spans)
        order = sorted(range(len(seen.texts)), key=lambda i: (seen.texts[i] in DECIMALS, i < spans, len(seen.texts[i])))
        for i in order:
            if assignment.verdict(env.standing.trail, env.state, seen.texts[i], "success").success is True:
                return Choice(len(seen.sight.kinds) - 1, ANSWER, i)
        return None


def demonstrations(env: PhoneEnv, todo: Iterable[Job]) -> tuple[list[Demonstration], list[Missing]]:
    """All that can be shown, and why the others cannot. Instances with the same words and values are shown once."""
    teacher = Teacher(env)
    shown: list[Demonstration] = []
    missing: list[Missing] = []
    known: set[tuple[Any, ...]] = set()
    for job in todo:
        assert job.task is not None
        instance = env.book.assign(job.task, job.seed, job.language).instance
        mark = (instance.task.id, instance.instruction, *sorted(instance.values.items()))
        if mark in known:
            continue
        known.add(mark)
        match teacher.demonstrate(job):
            case Demonstration() as one:
                shown.append(one)
            case why:
                missing.append(why)
    return shown, missing
