"""Collecting episodes: a policy on tasks, in any executor. The results do not depend on which.

    episodes = rollout(RandomPolicy(), jobs("notes/add-a-note-v1", seeds=range(8)), make_env=Phones(BUNDLE, tasks=TASKS))

`Phones` says how an environment is made; it goes to other processes by pickle. What happens in an episode is decided by task,
seed and policy. A policy that raises costs its own episode, marked `agent`; a fault of the phone is `infra`, of the mock `env`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, TypeAlias

from phoneworld.env.env import Env
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Deadlines, ErrorClass, Info, OnUnrecorded, fault_of
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.policy import Actor, Policy
from phoneworld.env.record import EpisodeRecord, StepRecord, episode_record, lost_episode, step_record
from phoneworld.env.rewards import Rewards
from phoneworld.env.seeds import episode_seed
from phoneworld.errors import BrowserError, DeviceError, PhoneWorldError, PolicyLost, SessionError, WriteError
from phoneworld.tasks.task import Task
from phoneworld.ui.action import Action, action_to_json

MakeEnv: TypeAlias = Callable[[], Env[Any]]
_UNBOUNDED = 10_000
"""Steps after which an episode without any budget is given up: a policy need not ever finish."""


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to be run. `task` is the id of one of the environment's tasks, or a Task, or None for none.

    Another `attempt` is the same episode for a policy with other dice.
    """

    task: Task | str | None
    seed: int
    language: str = "en"
    attempt: int = 0

    @property
    def name(self) -> str | None:
        """The id of the task."""
        return self.task.id if isinstance(self.task, Task) else self.task

    @property
    def dice(self) -> int:
        """The seed that the policy is told."""
        return episode_seed(self.seed, self.attempt)


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of real time that a step took: in the policy, and in the environment."""

    policy_s: float
    env_s: float


class Pen(Protocol):
    """Writes down one episode as it goes. What it raises of a phone or a browser ends the episode as a fault of those."""

    def step(self, step: StepRecord, said: str | None, info: Info, before: Observation, after: Observation, took: Took) -> None:
        """One step: what was done (`said`: in which words), what was looked at before it, and what came of it."""
        ...

    def end(self, record: EpisodeRecord, explanation: Sequence[str]) -> None:
        """What was told at its end, and what the checker says of it, a line each."""
        ...


class Keep(Protocol):
    """Keeps episodes, in whatever process they are played: it is sent there by pickle."""

    def begin(self, job: Job, env: Env[Any], observation: Observation, info: Info) -> Pen:
        """A pen for an episode that stands at its start."""
        ...

    def lost(self, job: Job, record: EpisodeRecord) -> None:
        """Keeps an episode of which nothing is known but that it was lost: it could not be begun, or its process died."""
        ...


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

    def run(self, jobs: Sequence[Job], policy: Policy, make_env: MakeEnv, keep: Keep | None = None) -> Iterator[tuple[int, EpisodeRecord]]:
        """Each job's number and its episode, in the order in which they end. `keep` writes them down where they are played."""
        ...


def jobs(tasks: Task | str | Iterable[Task | str] | None, seeds: Iterable[int] = (0,), language: str = "en") -> list[Job]:
    """Every task with every seed."""
    each: Sequence[Task | str | None] = [tasks] if tasks is None or isinstance(tasks, Task | str) else list(tasks)
    seeds = list(seeds)
    return [Job(task, seed, language) for task in each for seed in seeds]


def rollout(policy: Policy, todo: Sequence[Job], make_env: MakeEnv, executor: Executor | None = None, keep: Keep | None = None) -> list[EpisodeRecord]:
    """The episodes of all jobs, in their order. Without an executor in this process, one after the other."""
    results: dict[int, EpisodeRecord] = dict((executor or InProcess()).run(todo, policy, make_env, keep))
    return [results[number] for number in range(len(todo))]


class Player:
    """One episode on one environment, step by step, written down by `keep`."""

    def __init__(self, env: Env[Any], job: Job, policy: Policy, keep: Keep | None = None) -> None:
        self.env = env
        self.job = job
        self._pen: Pen | None = None
        self._actor: Actor | None = None
        self._steps: list[StepRecord] = []
        self._answer: str | None = None
        self.record: EpisodeRecord | None = None
        self._observation: Observation | None = None
        self._info: Info = {}
        self._start = ""
        try:
            self._observation, self._info = env.reset(job.seed, task=job.task, language=job.language)
            self._start = self._info["state_id"]
            if keep is not None:
                self._pen = keep.begin(job, env, self._observation, self._info)
        except WriteError:
            raise
        except PhoneWorldError as e:
            self.record = lost_episode(job.name, job.seed, "env" if isinstance(e, SessionError) else fault_of(e), e.message)
            if keep is not None:
                keep.lost(job, self.record)
            return
        try:
            self._actor = policy.begin(job.name, job.dice)
        except (BrowserError, DeviceError, PolicyLost) as e:
            self._end(self._blamed(fault_of(e), e.message))
        except Exception as e:  # as in `step`
            self._end(self._blamed("agent", f"the policy raised {type(e).__name__}: {e}"))

    def step(self) -> None:
        """Does one step; `record` is there once the episode has ended."""
        assert self._observation is not None and self._actor is not None and self.record is None
        seen = self._observation
        began = perf_counter()
        try:
            action = self._actor.act(seen, self._info)
        except (BrowserError, DeviceError, PolicyLost) as e:
            # It looked, and there was nothing to be seen, or what acts is somewhere else and gone: no fault of the policy.
            self._end(self._blamed(fault_of(e), e.message))
            return
        except Exception as e:  # whatever a policy raises is its own fault, and costs its own episode
            self._end(self._blamed("agent", f"the policy raised {type(e).__name__}: {e}"))
            return
        decided = perf_counter()
        try:
            self._observation, reward, terminated, truncated, self._info = self.env.step(action)
        except Exception as e:  # a mock that raises is broken: no score, and no reason to stop the others
            self._end(self._blamed("env", f"the mock raised {type(e).__name__}: {e}"))
            return
        self._answer = self._info["answer"]
        self._steps.append(step_record(_as_json(action), reward, self._info))
        if self._pen is not None:
            took = Took(decided - began, perf_counter() - decided)
            said = getattr(self._actor, "said", None)
            try:
                self._pen.step(self._steps[-1], said if isinstance(said, str) else None, self._info, seen, self._observation, took)
            except (BrowserError, DeviceError) as e:
                self._end(self._blamed(fault_of(e), e.message))
                return
        if terminated or truncated:
            self._end(self._info)
        elif len(self._steps) >= _UNBOUNDED:
            self._end({**self._info, "termination": "step_limit"})

    def _blamed(self, error_class: ErrorClass, message: str) -> Info:
        return {**self._info, "termination": "error", "error_class": error_class, "message": message, "success": None}

    def _end(self, info: Info) -> None:
        self.record = episode_record(self.env.instruction, self._start, tuple(self._steps), info, self._answer)
        if (close := getattr(self._actor, "close", None)) is not None:
            close()
        if self._pen is not None:
            verdict = self.env.standing.verdict
            self._pen.end(self.record, () if verdict is None else verdict.explain().splitlines())


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

    def run(self, jobs: Sequence[Job], policy: Policy, make_env: MakeEnv, keep: Keep | None = None) -> Iterator[tuple[int, EpisodeRecord]]:
        """Each job's number and its episode, in the order in which they end."""
        envs = twins(make_env(), min(max(1, self.interleave), max(1, len(jobs))), make_env)
        try:
            yield from interleaved(envs, list(enumerate(jobs)), policy, keep)
        finally:
            for env in reversed(envs):
                env.close()


def twins(env: Env[Any], n: int, make_env: MakeEnv) -> list[Env[Any]]:
    """`n` environments: forks of one where it can be forked, for they share program and drawing."""
    if isinstance(env, PhoneEnv):
        return [env, *env.fork(n - 1)]
    return [env, *(make_env() for _ in range(n - 1))]


def interleaved(envs: Sequence[Env[Any]], todo: Sequence[tuple[int, Job]], policy: Policy, keep: Keep | None = None) -> Iterator[tuple[int, EpisodeRecord]]:
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
                held = playing[place] = (number, Player(env, job, policy, keep))
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
