"""An evaluation: episodes of a policy on tasks, kept in a folder, gone on with where it was broken off; then the figures of the folder.

The figures are made of what lies in the folder and of nothing else, so that a run that was killed and gone on with gives the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from phoneworld.env.observation import ObservationSpec
from phoneworld.env.record import EpisodeRecord
from phoneworld.env.rollout import Executor, InProcess, Job, Phones
from phoneworld.episodes.folder import EpisodeFolder
from phoneworld.episodes.keeping import KeepTraces, task_digest
from phoneworld.episodes.replay import env_words, mock_digest
from phoneworld.episodes.trace import Trace
from phoneworld.errors import FileFormatError, PhoneWorldError
from phoneworld.evaluate.figures import Scored, report
from phoneworld.evaluate.oracle import Solver
from phoneworld.evaluate.policies import Chosen
from phoneworld.evaluate.real_phone import RealPhone
from phoneworld.tasks.task import Task

Progress = Callable[[int, int], None]
"""Told how many episodes are there, of how many."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is evaluated on what. `frames` keeps a picture of each look; with `real` it is done on the real app, and all that is seen is kept."""

    chosen: Chosen
    bundles: tuple[str, ...]
    tasks: tuple[Task, ...]
    seeds: tuple[int, ...]
    attempts: int = 1
    language: str = "en"
    frames: bool = False
    trees: bool = False
    phones: Phones = field(default_factory=lambda: Phones(""))
    real: RealPhone | None = None

    def jobs(self) -> list[Job]:
        """All its episodes, by task, seed and attempt."""
        return [Job(task.id, seed, _spoken(task, self.language), attempt) for task in self.tasks for seed in self.seeds for attempt in range(self.attempts)]

    def run(self, folder: EpisodeFolder, executor: Executor | None = None, progress: Progress = lambda done, of: None) -> int:
        """Plays what is not there yet, and returns how many that were. What was lost to the machine is played again.

        Raises WriteError for a folder of something else, or one that another process is writing.
        """
        mock = mock_digest(self.bundles)
        real = self.real is not None
        frames, trees = self.frames or real, self.trees or real
        pictured = frames or self.chosen.pictures
        phones = replace(
            self.phones, bundles=self.bundles, tasks=self.tasks, observe=ObservationSpec(screenshot="png" if pictured else "none")
        )
        about: dict[str, Any] = {
            "app": app_of(self.bundles), "mock": mock, "tasks": sha256("".join(map(task_digest, self.tasks)).encode()).hexdigest(), "policy": dict(self.chosen.facts), "env": env_words(phones), "phone": "mock" if self.real is None else self.real.device,
            "places": {"bundles": [os.path.relpath(b, folder.path) for b in self.bundles]}, "frames": frames, "trees": trees,
        }  # fmt: skip
        with folder.held():
            folder.begin(about, self.tasks)
            keep = KeepTraces(folder, about["app"], mock, about["policy"], about["env"], frames, trees)
            every = self.jobs()
            todo = [job for job in every if not _is_done(folder, keep.name(job))]
            done = len(every) - len(todo)
            progress(done, len(every))
            for _ in (executor or InProcess()).run(todo, self.chosen.policy, self.real or phones, keep) if todo else ():
                done += 1
                progress(done, len(every))
        return len(todo)

    def figures(self, folder: EpisodeFolder, *, oracle: bool = True) -> dict[str, Any]:
        """The report of what lies in the folder of this evaluation. With `oracle`, successes are held against how long the oracle needs."""
        keep = KeepTraces(folder)
        solver: Solver | None = None
        episodes: list[Scored] = []
        by_id = {task.id: task for task in self.tasks}
        for job in self.jobs():
            name = keep.name(job)
            try:
                trace = folder.read(name)
            except FileFormatError:
                continue
            record = trace.record()
            length = None
            if oracle and record.success:
                solver = solver or Solver(self.bundles, self.tasks)
                length = solver.length(job.name, job.seed)
            episodes.append(Scored(name, record, job.attempt, length))
        head = {"app": app_of(self.bundles), "policy": dict(self.chosen.facts), "tasks": len(self.tasks), "seeds": len(self.seeds), "attempts": self.attempts}
        return {**head, **report(episodes, by_id)}


def app_of(bundles: Sequence[str | Path]) -> str:
    """The packages of bundles, as headers name what is played on."""
    from phoneworld.program.bundle import load_bundle

    return ",".join(load_bundle(b).program.package for b in bundles)


def _spoken(task: Task, language: str) -> str:
    """The language, or where the task does not speak it the first that it does."""
    return language if language in task.wordings else next(iter(task.wordings))


def _is_done(folder: EpisodeFolder, name: str) -> bool:
    """True for an episode that is there to its end, and was not lost to the machine."""
    if not folder.trace_file(name).is_file():
        return False
    try:
        trace: Trace = folder.read(name)
    except PhoneWorldError:
        # What cannot be read is played again in its place.
        return False
    record: EpisodeRecord = trace.record()
    return trace.is_whole and record.error_class != "infra"
