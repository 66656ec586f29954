"""Pieces of work in processes of their own, each told of as it gets on. Knows no work in particular.

A worker that dies ends the study with an error: what was done is on the disk, and begun again it goes on from there. If the study itself is killed, even
by a signal that nobody can catch, its workers end with it, so that none goes on writing beside the next one.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Protocol

import psutil  # type: ignore[import-untyped]

from phoneworld.errors import PhoneWorldError

_SPAWN = get_context("spawn")
_END_S = 10.0
Tell = Callable[[str, int | None], None]
"""Hears of progress: of which piece of work, and by how much; None once it is done."""


class Work(Protocol):
    """A piece of work, sent to a process by pickle."""

    @property
    def name(self) -> str:
        """What it is called in the progress."""
        ...

    def run(self, tell: Callable[[int], None]) -> None:
        """Does it. What has been done already is not done again."""
        ...


class Crew:
    """So many processes, started when there is work for them, ended when the crew is let go."""

    def __init__(self, workers: int) -> None:
        self._most = workers
        self._workers: list[_Worker] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.let_go()
        for worker in self._workers:
            worker.end()

    def do(self, works: Sequence[Work], tell: Tell) -> None:
        """Does all of them, begun in this order. Raises what one of them raised, and PhoneWorldError where a worker died."""
        waiting = list(reversed(works))
        while len(self._workers) < min(self._most, len(works)):
            self._workers.append(_Worker())
        while waiting or any(worker.busy for worker in self._workers):
            for worker in self._workers:
                if not worker.busy and waiting:
                    worker.give(waiting.pop())
            for line in wait([worker.line for worker in self._workers if worker.busy]):
                worker = next(worker for worker in self._workers if worker.line is line)
                told = worker.hear()
                if isinstance(told, PhoneWorldError):
                    raise told
                tell(worker.busy, told)
                if told is None:
                    worker.busy = ""


class _Worker:
    """One process. `busy` is the name of what it does now."""

    def __init__(self) -> None:
        self.line, theirs = _SPAWN.Pipe()
        self._life, lives = _SPAWN.Pipe()
        # No daemon: it starts processes of its own.
        self._process: BaseProcess = _SPAWN.Process(target=_work, args=(theirs, lives))
        self._process.start()
        theirs.close()
        lives.close()
        self.busy = ""

    def give(self, work: Work) -> None:
        """Hands out work."""
        self.line.send(work)
        self.busy = work.name

    def hear(self) -> int | PhoneWorldError | None:
        """How much more was done; None at the end; what it raised. A worker that died is an error too."""
        try:
            told: int | PhoneWorldError | None = self.line.recv()
        except (EOFError, OSError):
            self._process.join(_END_S)
            return PhoneWorldError(f"the process at work on {self.busy} died (exit {self._process.exitcode})", hint="the same command goes on from here")
        return told

    def let_go(self) -> None:
        """Tells it to end: at once where it is at work."""
        if self.busy:
            self._life.close()
        self.line.close()

    def end(self) -> None:
        """Waits until it has ended."""
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._life.close()
        self._process.close()


def _work(line: Connection, life: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the study's
    Thread(target=_end_with, args=(life,), daemon=True).start()
    while True:
        try:
            work: Work = line.recv()
        except EOFError:
            return
        try:
            work.run(lambda n: line.send(n))
        except PhoneWorldError as e:
            line.send(e)
        else:
            line.send(None)


def _end_with(life: Connection) -> None:
    """Ends this process, and the browsers it started, once the other end of the line is gone."""
    try:
        life.recv()
    except (EOFError, OSError):
        for child in psutil.Process().children(recursive=True):
            try:
                child.kill()
            except psutil.Error:
                continue
        os._exit(1)
