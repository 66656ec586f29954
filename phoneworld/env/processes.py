"""The executor with processes of its own: each makes its environments and plays episodes; a crash costs those it was playing.

A worker is started by spawn, for threads and Chromium do not survive a fork: a script that uses this needs the usual
`if __name__ == "__main__":`.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any

from phoneworld.env.policy import Policy
from phoneworld.env.record import EpisodeRecord, lost_episode
from phoneworld.env.rollout import Job, Keep, MakeEnv, interleaved, twins
from phoneworld.errors import PhoneWorldError, SessionError

_SPAWN = get_context("spawn")
_END_S = 5.0


@dataclass(frozen=True, slots=True)
class Processes:
    """`workers` processes, each with `interleave` episodes at a time.

    `episodes_s` bounds what a worker may take for one batch of `interleave` episodes; one that takes longer is ended, and its
    episodes are lost. `batch` episodes are handed out at a time (at least `interleave`).
    """

    workers: int = 2
    interleave: int = 1
    batch: int | None = None
    episodes_s: float | None = None

    def run(self, jobs: Sequence[Job], policy: Policy, make_env: MakeEnv, keep: Keep | None = None) -> Iterator[tuple[int, EpisodeRecord]]:
        """Each job's number and its episode, in the order in which they end. Lost ones are marked `infra`."""
        if self.workers < 1 or self.interleave < 1:
            raise SessionError(f"{self.workers} workers with {self.interleave} episodes each run nothing", hint="at least 1 of both")
        try:
            setup = pickle.dumps((policy, make_env, self.interleave, keep))
        except (pickle.PicklingError, AttributeError, TypeError) as e:
            raise SessionError(
                f"policy or environment cannot be sent to another process: {e}",
                hint="use functions and classes of a module, and Phones(...) for the environment",
            ) from None
        size = max(self.interleave, self.batch or self.interleave)
        numbered = list(enumerate(jobs))
        waiting = deque(numbered[i : i + size] for i in range(0, len(numbered), size))
        workers = [_Worker(setup) for _ in range(min(self.workers, len(waiting)))]
        try:
            yield from self._collect(workers, waiting, setup, keep)
        finally:
            for worker in workers:
                worker.end()

    def _collect(self, workers: list[_Worker], waiting: deque[list[tuple[int, Job]]], setup: bytes, keep: Keep | None) -> Iterator[tuple[int, EpisodeRecord]]:
        while waiting or any(worker.open for worker in workers):
            for place, worker in enumerate(workers):
                if not worker.open and waiting:
                    if not worker.give(waiting[0]):
                        worker.end()
                        workers[place] = _Worker(setup)
                        continue
                    waiting.popleft()
            left = None if self.episodes_s is None else max(0.0, self.episodes_s - max((w.busy_s for w in workers if w.open), default=0.0))
            ready = wait([w.line for w in workers if w.open], timeout=left)
            for place, worker in enumerate(workers):
                late = self.episodes_s is not None and worker.open and worker.busy_s > self.episodes_s
                if worker.line not in ready and not late:
                    continue
                told = worker.hear() if worker.line in ready else None
                if told is not None:
                    yield told
                    continue
                why = f"the episodes took longer than {self.episodes_s:g} s" if late else f"the worker died ({worker.ended_by()})"
                lost = worker.open
                worker.end()
                workers[place] = _Worker(setup)
                for number, job in lost.items():
                    record = lost_episode(job.name, job.seed, "infra", why)
                    if keep is not None:
                        keep.lost(job, record)
                    yield number, record


class _Worker:
    """One process, the line to it, and the jobs it has not answered yet."""

    def __init__(self, setup: bytes) -> None:
        self.line, theirs = _SPAWN.Pipe()
        self._process: BaseProcess = _SPAWN.Process(target=_work, args=(theirs, setup), daemon=True)
        self._process.start()
        theirs.close()
        self.open: dict[int, Job] = {}
        self._since = 0.0

    @property
    def busy_s(self) -> float:
        """Seconds since it was given its jobs."""
        return monotonic() - self._since

    def give(self, batch: list[tuple[int, Job]]) -> bool:
        """Hands out jobs; False where the process is gone."""
        try:
            self.line.send(batch)
        except OSError:
            return False
        self.open, self._since = dict(batch), monotonic()
        return True

    def hear(self) -> tuple[int, EpisodeRecord] | None:
        """One episode, or None where the process is gone. What the environment could not be made from, or written to, is raised."""
        try:
            told = self.line.recv()
        except (EOFError, OSError):
            return None
        if isinstance(told, PhoneWorldError):
            raise told
        number, record = told
        del self.open[number]
        return number, record

    def ended_by(self) -> str:
        """How the process ended, in words."""
        self._process.join(_END_S)
        code = self._process.exitcode
        return "it does not answer" if code is None else f"signal {-code}" if code < 0 else f"exit {code}"

    def end(self) -> None:
        """Ends the process."""
        self.line.close()
        self._process.join(_END_S if not self.open else 0.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _work(line: Connection, setup: bytes) -> None:
    """What a worker does: plays the batches it is handed until the line is closed."""
    policy, make_env, interleave, keep = pickle.loads(setup)
    envs: list[Any] = []
    try:
        while True:
            try:
                batch = line.recv()
            except (EOFError, KeyboardInterrupt):
                return
            try:
                if not envs:
                    envs = twins(make_env(), interleave, make_env)
                for told in interleaved(envs, batch, policy, keep):
                    line.send(told)
            except PhoneWorldError as e:
                line.send(e)
                return
    except (BrokenPipeError, KeyboardInterrupt):
        return
    finally:
        for env in reversed(envs):
            env.close()
