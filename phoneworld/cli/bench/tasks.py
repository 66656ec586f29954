"""The measurements about tasks, and of many phones at once. Timed as those of `measure.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from phoneworld.cli.bench.measure import best_time
from phoneworld.cli.bench.walk import Walk
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.vector import PhoneVectorEnv
from phoneworld.program.bundle import Bundle
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.file import load_tasks
from phoneworld.ui.action import Action

MANY_PHONES = 64
FRAME = (800, 360)
_SEEDS = 8
_STEPS = 64
_STEPPED = 10


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """Of `tasks` tasks, in microseconds, the mean and the slowest: reset with a seed that was not drawn before; and with one that was,
    as groups do (`again`); a state judged, of states each other than the one before. `steps_per_s`: steps with a task on, each judged."""

    tasks: int
    reset_us: float
    slowest_reset_us: float
    check_us: float
    slowest_check_us: float
    again_us: float
    steps_per_s: float


def task_figures(bundle: Bundle, folder: Path, walk: Walk, seconds: float) -> TaskFigures:
    """Of all tasks in a folder. What is made ready once for all episodes is not counted."""
    env = PhoneEnv(bundle, tasks=load_tasks(folder), max_steps=_STEPS + 1)
    actions = walk.actions[:_STEPS]
    resets, checks, agains, steps = [], [], [], []
    fresh = count()
    share = seconds / 4 / len(env.book.tasks)
    stepped = list(env.book.tasks)[:: 1 + len(env.book.tasks) // _STEPPED]
    for name in env.book.tasks:

        def reset(name: str = name) -> None:
            for _ in range(_SEEDS):
                env.reset(next(fresh), task=name)

        def again(name: str = name) -> None:
            for _ in range(_SEEDS):
                env.reset(0, task=name)

        def stepping(name: str = name) -> None:
            env.reset(0, task=name)
            for action in actions:
                env.step(action)

        resets.append(1e6 / _SEEDS * best_time(reset, share))
        agains.append(1e6 / _SEEDS * best_time(again, share))
        states = _states(env, actions)
        checks.append(1e6 / len(states) * best_time(partial(_judge_all, env, states), share))
        if name in stepped:
            steps.append(best_time(stepping, share) / len(actions))
    return TaskFigures(
        len(resets), _mean(resets), max(resets), _mean(checks), max(checks), _mean(agains), 1 / _mean(steps)
    )  # fmt: skip


def _mean(of: Sequence[float]) -> float:
    return sum(of) / len(of)


def _states(env: PhoneEnv, actions: Sequence[Action]) -> list[PhoneState]:
    """The states on a walk from where the environment is, each other than the one before."""
    states = [env.state]
    for action in actions:
        after = env.phone.step(states[-1], action).state
        if after.apps is not states[-1].apps:
            states.append(after)
    return states


def _judge_all(env: PhoneEnv, states: Sequence[PhoneState]) -> None:
    standing = env.standing
    assert standing.assignment is not None
    for state in states:
        standing.assignment.verdict(standing.trail, state, None, "success")


def vector_steps_per_s(bundle: Bundle, folder: Path | None, seconds: float, *, frames: bool) -> float:
    """Steps a second of 64 phones in this process, all together, by the clock: samples of the action space, arrays handed out,
    episodes begun anew; with `frames` with a picture of 360x800 of each, drawn by then or not."""
    tasks = () if folder is None else load_tasks(folder)
    envs = PhoneVectorEnv(MANY_PHONES, bundle=bundle, tasks=tasks, max_steps=50, screenshot=FRAME if frames else None)
    try:
        envs.reset(seed=0)
        envs.action_space.seed(0)
        # Chromium is started, and most of what 64 phones see at first is drawn.
        envs.step(envs.action_space.sample())
        steps, start = 0, perf_counter()
        while (elapsed := perf_counter() - start) < seconds:
            envs.step(envs.action_space.sample())
            steps += MANY_PHONES
        return steps / elapsed
    finally:
        envs.close()
