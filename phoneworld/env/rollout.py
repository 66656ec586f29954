"""Collecting episodes: a policy on tasks, in any executor. The results do not depend on which.

    episodes = rollout(RandomPolicy(), jobs("notes/add-a-note-v1", seeds=range(8)), make_env=Phones(BUNDLE, tasks=TASKS))

`Phones` says how an environment is made; it goes to other processes by pickle. What happens in an episode is decided by task,
seed and policy. A policy that raises costs its own episode, marked `agent`; a fault of the phone is `infra`, of the mock `env`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from phoneworld.env.env import Env
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Deadlines, ErrorClass, Info, OnUnrecorded, fault_of
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.policy import Actor, Policy
from phoneworld.env.record import EpisodeRecord, StepRecord, episode_record, lost_episode, step_record
from phoneworld.env.rewards import Rewards
from phoneworld.errors import BrowserError, DeviceError, PhoneWorldError, SessionError
from phoneworld.tasks.task import Task
from phoneworld.ui.action import Action, action_to_json

MakeEnv: TypeAlias = Callable[[], Env[Any]]
See: TypeAlias = Callable[["Job", Observation, Info], None]
_UNBOUNDED = 10_000
"""Steps after which an episode without any budget is given up: a policy need not ever finish."""


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to be run. `task` is the id of one of the environment's tasks, or a Task, or None for none."""

    task: Task | str | None
    seed: int
    language: str = "en"

    @property
    def name(self) -> str | None:
        """The id of the task."""
        return self.task.id if isinstance(self.task, Task) else self.task


@dataclass(frozen=True, slots=True)
class Phones:
    """How simulated phones are made: the arguments of `PhoneEnv`, with paths in the place of what cannot be sent."""

    bundles: str | tuple[str, ...]
    tasks: str | tuple[Task, ...] = ()
    observe: ObservationSpec = ObservationSpec()
    max_steps: int | None = None
    rewards: Rewards = Rewards()
    on_unrecorded: OnUnrecorded = "noop"
    deadlines: Deadlines = Deadlines()

    def __call__(self) -> PhoneEnv:
        """A new environment."""
        return PhoneEnv(
            self.bundles, tasks=self.tasks, observe=self.observe, max_steps=self.max_steps, rewards=self.rewards,
            on_unrecorded=self.on_unrecorded, deadlines=self.deadlines,
        )  # fmt: skip


class Executor(Protocol):
    """Where episodes are run."""

    def run(self, jobs: Sequence[Job], policy: Policy, make_env: MakeEnv) -> Iterator[tuple[int, EpisodeRecord]]:
        """Each job's number and its episode, in the order in which they end."""
        ...


def jobs(tasks: Task | str | Iterable[Task | str] | None, seeds: Iterable[int] = (0,), language: str = "en") -> list[Job]:
    """Every task with every seed."""
    each: Sequence[Task | str | None] = [tasks] if tasks is None or isinstance(tasks, Task | str) else list(tasks)
    seeds = list(seeds)
    return [Job(task, seed, language) for task in each for seed in seeds]


def rollout(policy: Policy, todo: Sequence[Job], make_env: MakeEnv, executor: Executor | None = None) -> list[EpisodeRecord]:
    """The episodes of all jobs, in their order. Without an executor in this process, one after the other."""
    results: dict[int, EpisodeRecord] = dict((executor or InProcess()).run(todo, policy, make_env))
    return [results[number] for number in range(len(todo))]


class Player:
    """One episode on one environment, step by step. `see` is shown each look, for those who keep pictures."""

    def __init__(self, env: Env[Any], job: Job, policy: Policy, see: See | None = None) -> None:
        self.env = env
        self.job = job
        self._see = see
        self._steps: list[StepRecord] = []
        self._answer: str | None = None
        self.record: EpisodeRecord | None = None
        self._observation: Observation | None = None
        self._info: Info = {}
        self._start = ""
        try:
            self._observation, self._info = env.reset(job.seed, task=job.task, language=job.language)
        except PhoneWorldError as e:
            self.record = lost_episode(job.name, job.seed, "env" if isinstance(e, SessionError) else fault_of(e), e.message)
            return
        self._start = self._info["state_id"]
        try:
            self._actor: Actor = policy.begin(job.name, job.seed)
        except Exception as e:  # as in `step`
            self._end(self._blamed("agent", f"the policy raised {type(e).__name__}: {e}"))
            return
        if see is not None:
            see(job, self._observation, self._info)

    def step(self) -> None:
        """Does one step; `record` is there once the episode has ended."""
        assert self._observation is not None and self.record is None
        try:
            action = self._actor.act(self._observation, self._info)
        except (BrowserError, DeviceError) as e:
            # It looked, and there was nothing to be seen: no fault of the policy.
            self._end(self._blamed(fault_of(e), e.message))
            return
        except Exception as e:  # whatever a policy raises is its own fault, and costs its own episode
            self._end(self._blamed("agent", f"the policy raised {type(e).__name__}: {e}"))
            return
        try:
            self._observation, reward, terminated, truncated, self._info = self.env.step(action)
        except Exception as e:  # a mock that raises is broken: no score, and no reason to stop the others
            self._end(self._blamed("env", f"the mock raised {type(e).__name__}: {e}"))
            return
        self._answer = self._info["answer"]
        self._steps.append(step_record(_as_json(action), reward, self._info))
        if self._see is not None:
            self._see(self.job, self._observation, self._info)
        if terminated or truncated:
            self._end(self._info)
        elif len(self._steps) >= _UNBOUNDED:
            self._end({**self._info, "termination": "step_limit"})

    def _blamed(self, error_class: ErrorClass, message: str) -> Info:
        return {**self._info, "termination": "error", "error_class": error_class, "message": message, "success": None}

    def _end(self, info: Info) -> None:
        self.record = episode_record(self.env.instruction, self._start, tuple(self._steps), info, self._answer)


def _as_json(action: Action | Mapping[str, Any]) -> dict[str, Any] | None:
    """An action as JSON; None for what is none, or cannot be written."""
    try:
        plain = dict(action) if isinstance(action, Mapping) else action_to_json(action)
        json.dumps(plain, allow_nan=False)
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return plain


@dataclass(frozen=True, slots=True)
class InProcess:
    """Here, `interleave` episodes at a time, one step of each in turn."""

    interleave: int = 1
    see: See | None = None

    def run(self, jobs: Sequence[Job], policy: Policy, make_env: MakeEnv) -> Iterator[tuple[int, EpisodeRecord]]:
        """Each job's number and its episode, in the order in which they end."""
        envs = twins(make_env(), min(max(1, self.interleave), max(1, len(jobs))), make_env)
        try:
            yield from interleaved(envs, list(enumerate(jobs)), policy, self.see)
        finally:
            for env in reversed(envs):
                env.close()


def twins(env: Env[Any], n: int, make_env: MakeEnv) -> list[Env[Any]]:
    """`n` environments: forks of one where it can be forked, for they share program and drawing."""
    if isinstance(env, PhoneEnv):
        return [env, *env.fork(n - 1)]
    return [env, *(make_env() for _ in range(n - 1))]


def interleaved(envs: Sequence[Env[Any]], todo: Sequence[tuple[int, Job]], policy: Policy, see: See | None = None) -> Iterator[tuple[int, EpisodeRecord]]:
    """Runs the jobs on these environments, one step of each in turn."""
    if not envs:
        raise SessionError("there is no environment to run on", hint="interleave at least 1")
    waiting = list(reversed(todo))
    playing: list[tuple[int, Player] | None] = [None] * len(envs)
    while True:
        busy = False
        for place, env in enumerate(envs):
            held = playing[place]
            if held is None and waiting:
                number, job = waiting.pop()
                held = playing[place] = (number, Player(env, job, policy, see))
            if held is None:
                continue
            busy = True
            number, player = held
            if player.record is None:
                player.step()
            if player.record is not None:
                playing[place] = None
                yield number, player.record
        if not busy and not waiting:
            return
