"""How it is done: the oracle's solutions of tasks, acted as the policy would, on the mock or on the real phone.

On the real phone each touch is aimed at the widget there that is the one touched on the mock, which runs beside.

Left out of what is published on imitation: filtering by length, augmenting instructions by a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

from phoneworld.agent.screen import ANSWER, screen_of
from phoneworld.agent.sight import NUMBERS, Choice, Memory, Seen, Sight
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import Job
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.oracle import GivenUp, Oracle
from phoneworld.train.sources import MOCK, REAL
from phoneworld.transfer.counterpart import aimed
from phoneworld.ui.action import Action, Answer, Finish

DECIMALS = frozenset(NUMBERS)
Aim = Callable[[Action, Observation], Action | None]
"""What an action of the solution is on what is seen; None where there is nothing like what it touches."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A task done, step by step. `source` is where: `MOCK` or `REAL`."""

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
    """Knows the solutions of the tasks of one mock, each found once. Several threads may ask at once, each for a real phone of its own."""

    def __init__(self, env: PhoneEnv) -> None:
        self.env = env
        self._oracles: dict[str, Oracle] = {}
        self._solutions: dict[tuple[str, str, int], tuple[Action, ...] | str] = {}
        self._mock = RLock()

    def show(self, todo: Iterable[Job], real: Env[Any] | None = None) -> tuple[list[Demonstration], list[Missing]]:
        """All that can be shown on the mock, or on the phone of `real`, which has the same tasks; and why the others cannot.

        Instances with the same words and values are shown once.
        """
        shown: list[Demonstration] = []
        missing: list[Missing] = []
        known: set[tuple[Any, ...]] = set()
        for job in todo:
            assert job.task is not None
            instance = self.env.book.assign(job.task, job.seed, job.language).instance
            mark = (instance.task.id, instance.instruction, *sorted(instance.values.items()))
            if mark in known:
                continue
            known.add(mark)
            match self.demonstrate(job, real):
                case Demonstration() as one:
                    shown.append(one)
                case why:
                    missing.append(why)
        return shown, missing

    def demonstrate(self, job: Job, real: Env[Any] | None = None) -> Demonstration | Missing:
        """Does a task with the choices that the policy has."""
        with self._mock:
            assert job.task is not None
            judge = self.env.book.assign(job.task, job.seed, job.language).judge
            actions = self._solution(judge)
            if isinstance(actions, str):
                return Missing(judge.instance.task.id, job.seed, f"the oracle gave up: {actions}")
            if real is None:
                return _act(self.env, job, MOCK, actions, lambda action, _: action)
        return _act(real, job, REAL, actions, self._beside(judge))

    def _solution(self, judge: Judge) -> tuple[Action, ...] | str:
        """The actions that solve an instance, or why there are none."""
        package, instance = judge.setting.package, judge.instance
        key = (instance.task.id, instance.instruction, instance.seed)
        if key not in self._solutions:
            if package not in self._oracles:
                self._oracles[package] = Oracle(self.env.phone, package)
            found = self._oracles[package].solve(judge)
            self._solutions[key] = found.reason if isinstance(found, GivenUp) else found.actions
        return self._solutions[key]

    def _beside(self, judge: Judge) -> Aim:
        """Aims at the real phone, with the mock going along."""
        mock, state = self.env.phone, judge.instance.start

        def aim(action: Action, shown: Observation) -> Action | None:
            nonlocal state
            device, size, reading = shown.look
            with self._mock:
                # A phone has its own clock: the mock goes by it.
                state = state._replace(clock_ms=device.clock_ms or state.clock_ms)
                turned = aimed(action, mock.look(state).hierarchy, reading.hierarchy, size)
                if not isinstance(action, Answer | Finish):
                    state = mock.step(state, action).state
            return None if turned is None else turned.action

        return aim


def demonstrations(env: PhoneEnv, todo: Iterable[Job]) -> tuple[list[Demonstration], list[Missing]]:
    """All that can be shown on the mock of `env`, and why the others cannot."""
    return Teacher(env).show(todo)


def _act(env: Env[Any], job: Job, source: str, actions: Sequence[Action], aim: Aim) -> Demonstration | Missing:
    memory, name = Memory(), job.name or ""
    observation, info = env.reset(job.seed, task=job.task, language=job.language)
    steps: list[tuple[Sight, Choice]] = []
    for action in actions:
        seen = memory.look(screen_of(observation), observation.instruction)
        meant = aim(action, observation)
        if meant is None:
            return Missing(name, job.seed, f"step {len(steps) + 1}: nothing on the real app is like what {action} touches")
        choice = _answered(env, seen) if isinstance(meant, Answer) else seen.choice(meant)
        if choice is None:
            return Missing(name, job.seed, f"no choice of the policy means {meant}")
        steps.append((seen.sight, choice))
        memory.did(seen, choice)
        observation, _, terminated, truncated, info = env.step(seen.action(choice))
        if terminated or truncated:
            break
    if info["error_class"] != "none":
        return Missing(name, job.seed, f"broken off: {info['message']}")
    if not info["success"]:
        return Missing(name, job.seed, f"done so it is not taken: {info['termination']}")
    return Demonstration(name, job.seed, source, tuple(steps))


def _answered(env: Env[Any], seen: Seen) -> Choice | None:
    """The words that are taken for the answer: such as are read first, then the instruction's, then numbers."""
    spans = len(seen.sight.spans)
    order = sorted(range(len(seen.texts)), key=lambda i: (seen.texts[i] in DECIMALS, i < spans, len(seen.texts[i])))
    for i in order:
        if env.verdict_with(seen.texts[i]).success is True:
            return Choice(len(seen.sight.kinds) - 1, ANSWER, i)
    return None
