"""Apps as places to train: what can be asked on each, what of it is held out, mocks side by side and the real phone. Opens bundles; knows no phone by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from phoneworld.agent.network import Network
from phoneworld.agent.play import Done, Played, Spent, play
from phoneworld.env.env import Env
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rewards import Rewards
from phoneworld.env.rollout import Job, jobs
from phoneworld.errors import OptionError
from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.file import load_tasks
from phoneworld.tasks.task import Task
from phoneworld.train.rl import Place
from phoneworld.train.sources import Curriculum

PAY = Rewards("delta")
"""How training is paid: half for progress, half for success. Scores are successes alone."""
UNKNOWN_LENGTH = 5
NEW_SEEDS = 100_000
"""Training draws episodes below this seed, evaluation from it on."""
VALIDATION_SEED = 50_000_000
"""Validation draws by this one, far from both."""


@dataclass(frozen=True)
class TrainedApp:
    """One app. `hold_out` is the share of its tasks that training never plays, `validation` the share that only chooses between policies; which, their ids decide."""

    bundle: str
    tasks: tuple[Task, ...]
    hold_out: float = 0.2
    validation: float = 0.0

    @classmethod
    def of(cls, bundle: str | Path, tasks: str | Path, hold_out: float = 0.2, validation: float = 0.0) -> TrainedApp:
        """Of a bundle and its task files. Raises FileFormatError, and OptionError where nothing is left to train."""
        app = cls(str(bundle), load_tasks(tasks), hold_out, validation)
        if not app.trained:
            raise OptionError(f"all tasks of {bundle} are held out", hint="a smaller --hold-out, or more tasks")
        return app

    @cached_property
    def env(self) -> PhoneEnv:
        """The mock; forks of it share program and drawing."""
        return PhoneEnv(Phone([load_bundle(self.bundle).program]), tasks=self.tasks, rewards=PAY)

    @property
    def trained(self) -> tuple[Task, ...]:
        """Tasks that training plays."""
        return tuple(t for t in self.tasks if not is_held_out(t.id, self.hold_out + self.validation))

    @property
    def validated(self) -> tuple[Task, ...]:
        """Tasks that choose between policies."""
        return tuple(t for t in self.tasks if is_held_out(t.id, self.hold_out + self.validation) and not is_held_out(t.id, self.hold_out))

    @property
    def held_out(self) -> tuple[Task, ...]:
        """Tasks that it never plays."""
        return tuple(t for t in self.tasks if is_held_out(t.id, self.hold_out))


def is_held_out(task: str, share: float) -> bool:
    """Decided by the id alone, so that it is the same in every run and for every app beside it."""
    return crc32(task.encode()) % 1000 < share * 1000


def lengths(tasks: Iterable[Task]) -> dict[str, int]:
    """The oracle's length of each task, as its tags say."""
    return {task.id: task.tags.difficulty or UNKNOWN_LENGTH for task in tasks}


def validation(place: Place, tasks: Sequence[Task]) -> Callable[[Network], float] | None:
    """The share of these tasks that a network does at `place`, each at one seed that is never trained on; None without tasks."""
    todo: list[tuple[Job, Random | None]] = [(job, None) for job in jobs(tasks, (VALIDATION_SEED,))]

    def validate(network: Network) -> float:
        outcomes = [p.record.success is True for p in place.play(network, todo, Spent()) if p.record.trainable]
        return sum(outcomes) / max(1, len(outcomes))

    return validate if todo else None


class Mocks:
    """The mocks of several apps as one place: episodes of an app are played on `width` forks of it."""

    seeds = NEW_SEEDS

    def __init__(self, apps: Sequence[TrainedApp], width: int = 32, *, without: frozenset[str] = frozenset()) -> None:
        self.tasks = Curriculum(lengths(t for app in apps for t in app.trained if t.id not in without))
        self._width = width
        self._apps = {task.id: app for app in apps for task in app.tasks}
        self._forks: dict[str, Sequence[Env[Any]]] = {}

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        """The episodes of these jobs, in their order."""
        by_app: dict[str, list[int]] = {}
        for i, (job, _) in enumerate(todo):
            by_app.setdefault(self._apps[job.name or ""].bundle, []).append(i)
        results: dict[int, Played] = {}
        for bundle, numbers in by_app.items():
            if bundle not in self._forks:
                self._forks[bundle] = self._apps[todo[numbers[0]][0].name or ""].env.fork(self._width)
            told = None if done is None else lambda i, played, numbers=numbers: done(numbers[i], played)
            results |= zip(numbers, play(network, self._forks[bundle], [todo[i] for i in numbers], spent, told), strict=True)
        return [results[i] for i in range(len(todo))]

    def close(self) -> None:
        """Lets the forks go."""
        self._forks.clear()


class RealPhone:
    """One phone, opened by the thread that plays on it when it first does. Tasks are those that hold there."""

    def __init__(self, make: Callable[[], Env[Any]], tasks: Mapping[str, int], seeds: int = NEW_SEEDS) -> None:
        if not tasks:
            raise OptionError("no task that is trained holds on the real app", hint="`phoneworld tasks transfer` says which hold, and why the others do not")
        self.tasks = Curriculum(tasks)
        self.seeds = seeds
        self._make = make
        self._env: Env[Any] | None = None

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        """The episodes of these jobs, one after the other."""
        return play(network, [self.opened()], todo, spent, done)

    def opened(self) -> Env[Any]:
        """The phone, opened where it is not yet."""
        if self._env is None:
            self._env = self._make()
        return self._env

    def close(self) -> None:
        """Lets the phone go."""
        if self._env is not None:
            self._env.close()
            self._env = None
