"""The measurements about tasks, and of many phones at once. Timed as those of `measure.py`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from phoneworld.cli.bench.measure import best_time
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.vector import PhoneVectorEnv
from phoneworld.program.bundle import Bundle
from phoneworld.tasks.file import load_tasks

MANY_PHONES = 64
FRAME = (800, 360)
_SEEDS = 8


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """Of `tasks` tasks, in microseconds, the mean and the slowest: drawn by another seed and reset; judged, at the start."""

    tasks: int
    reset_us: float
    slowest_reset_us: float
    check_us: float
    slowest_check_us: float


def task_figures(bundle: Bundle, folder: Path, seconds: float) -> TaskFigures:
    """Of all tasks in a folder. What is made ready once for all episodes is not counted."""
    env = PhoneEnv(bundle, tasks=load_tasks(folder))
    resets, checks = [], []
    for name in env.book.tasks:

        def reset(name: str = name) -> None:
            for seed in range(_SEEDS):
                env.reset(seed, task=name)

        def check() -> None:
            standing = env.standing
            assert standing.assignment is not None
            standing.assignment.verdict(standing.trail, env.state, None, "success")

        share = seconds / 2 / len(env.book.tasks)
        resets.append(1e6 / _SEEDS * best_time(reset, share))
        checks.append(1e6 * best_time(check, share))
    return TaskFigures(len(resets), sum(resets) / len(resets), max(resets), sum(checks) / len(checks), max(checks))


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
