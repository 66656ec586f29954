"""Writes episodes down while they are played, in whatever process that is: a line is on the disk before the next step is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from phoneworld import __version__
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.parsing import parse_action
from phoneworld.env.record import EpisodeRecord, StepRecord
from phoneworld.env.rollout import Job, Keep, Pen, Took
from phoneworld.episodes.folder import EpisodeFolder
from phoneworld.episodes.trace import FORMAT, VERSION, End, Header, Hit, Line, Step, end_of, hit_of, write_line
from phoneworld.errors import ActionError, FileFormatError, WriteError
from phoneworld.graph.file import write_atomically
from phoneworld.tasks.task import Task
from phoneworld.tasks.task_yaml import dumps
from phoneworld.ui.action import LongPress, Swipe, TypeText, points_of
from phoneworld.ui.node import Gesture

ACTION_SPACE = "phoneworld-actions-1, pixels"


@dataclass(frozen=True, slots=True)
class KeepTraces:
    """Keeps each episode as a trace in a folder.

    `app` and `mock` name what is played on (its package; the digest of its program); `policy` and `env` are what headers say of
    them. `frames` and `trees` keep what is seen, too: of a mock neither is needed, for a replay shows both.
    """

    folder: EpisodeFolder
    app: str = ""
    mock: str = ""
    policy: Mapping[str, Any] | None = None
    env: Mapping[str, Any] | None = None
    frames: bool = False
    trees: bool = False

    def begin(self, job: Job, env: Env[Any], observation: Observation, info: Info) -> Pen:
        """A pen whose first line is written. Raises WriteError; BrowserError where pictures cannot be drawn."""
        assignment = env.standing.assignment
        size = observation.size
        header = self._header(
            job,
            task_digest="" if assignment is None else task_digest(assignment.instance.task),
            instruction=observation.instruction,
            parameters=None if assignment is None else _plain(assignment.instance.values),
            start=str(info["state_id"]),
            screen=(size.width, size.height),
        )
        frame, tree = self.seen(observation)
        return _Pen(self, self.name(job), replace(header, frame=frame, tree=tree))

    def lost(self, job: Job, record: EpisodeRecord) -> None:
        """Ends the trace of an episode that was lost: what was cut off is dropped, what was written stays."""
        name = self.name(job)
        lines: list[Line] = []
        try:
            before = self.folder.read(name)
            if not before.is_whole:
                lines = [before.header, *before.steps]
        except FileFormatError:
            lines = []
        if not lines:
            lines = [self._header(job)]
        end = replace(end_of(record), steps=len(lines) - 1)
        write_atomically(self.folder.trace_file(name), b"".join(map(write_line, (*lines, end))))

    def name(self, job: Job) -> str:
        """The name of a job's episode in the folder."""
        return self.folder.name_of(job.name, job.seed, attempt=job.attempt, language=job.language)

    def seen(self, observation: Observation) -> tuple[str | None, str | None]:
        """The hashes of picture and tree of a look, as far as they are kept."""
        tree = self.folder.put("xml", observation.look[2].xml) if self.trees else None
        return self.folder.put("png", observation.png) if self.frames else None, tree

    def _header(self, job: Job, **more: Any) -> Header:
        versions = {"phoneworld": __version__, "format": f"{FORMAT}-{VERSION}"}
        fields: dict[str, Any] = {"task_digest": "", **more}
        return Header(
            job.name, job.seed, job.language, job.attempt, self.app, self.mock, policy=dict(self.policy or {}), env=dict(self.env or {}),
            versions=versions, action_space=ACTION_SPACE, **fields,
        )  # fmt: skip


_: type[Keep] = KeepTraces


class _Pen:
    """Writes one trace."""

    def __init__(self, keep: KeepTraces, name: str, header: Header) -> None:
        self._keep, self._name = keep, name
        self._times: list[list[float]] = []
        self._began = datetime.now(UTC)
        self._lines = 0
        file = keep.folder.trace_file(name)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what a process that is killed has written is there.
            self._file = open(file, "wb", buffering=0)  # noqa: SIM115
        except OSError as e:
            raise _cannot(file, e) from None
        self._write(header)

    def step(self, step: StepRecord, said: str | None, info: Info, before: Observation, after: Observation, took: Took) -> None:
        self._times.append([round(took.policy_s, 6), round(took.env_s, 6)])
        frame, tree = self._keep.seen(after)
        self._lines += 1
        self._write(Step(
            self._lines, step.action, said, _hit(step.action, before), step.changed, step.evidence, tuple(info["rules"]), info["message"],
            step.invalid_action, step.state_id, step.reward, step.trainable, step.progress, frame, tree,
        ))  # fmt: skip

    def end(self, record: EpisodeRecord, explanation: Sequence[str]) -> None:
        # A step whose picture could not be drawn is in the record, and not in the trace.
        self._write(replace(end_of(record, explanation), steps=self._lines))
        self._file.close()
        times = {"began": self._began.isoformat(), "steps": self._times}
        write_atomically(self._keep.folder.times_file(self._name), json.dumps(times).encode() + b"\n", durable=False)

    def _write(self, line: Header | Step | End) -> None:
        try:
            self._file.write(write_line(line))
        except OSError as e:
            raise _cannot(self._keep.folder.trace_file(self._name), e) from None


def _cannot(file: Any, e: OSError) -> WriteError:
    return WriteError(f"cannot write {file}: {e.strerror or e}", hint="free some disk, or name another folder")


def _hit(given: dict[str, Any] | None, before: Observation) -> Hit | None:
    """What the first touch of an action lands on; None where it touches nothing."""
    _, size, reading = before.look
    try:
        action = parse_action(given, lambda: size)
    except ActionError:
        return None
    points = points_of(action)
    if not points:
        return None
    gesture: Gesture = "long_press" if isinstance(action, LongPress) else "scroll" if isinstance(action, Swipe) else "type" if isinstance(action, TypeText) else "tap"
    return hit_of(reading.hierarchy, points[0], gesture, size)


_digests: dict[int, tuple[Task, str]] = {}


def task_digest(task: Task) -> str:
    """SHA-256 of a task as it is written."""
    known = _digests.get(id(task))
    if known is None or known[0] is not task:
        # The task is kept too, so that no other can come by its id.
        known = _digests[id(task)] = (task, sha256(dumps([task]).encode()).hexdigest())
    return known[1]


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if value is None or isinstance(value, bool | int | float | str) else str(value) for name, value in values.items()}
