"""Mocks in other processes, on this machine or a cluster: a place like `Mocks`, with the same numbers however many are at work.

Episodes are handed out in chunks that follow from the jobs alone, each with the weights of its update.
Left out of what big trainers do: rollouts that go on while the weights change, and weights sent by a channel of their own (these are 1.6 MB).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from random import Random
from threading import Thread
from time import perf_counter
from typing import Any, Protocol

from phoneworld.agent.network import Network
from phoneworld.agent.play import Done, Played, Spent
from phoneworld.env.extras import need
from phoneworld.env.rollout import Job
from phoneworld.errors import OptionError, PhoneWorldError
from phoneworld.train.places import NEW_SEEDS, Mocks, TrainedApp, lengths
from phoneworld.train.sources import Curriculum

CHUNK = 16
"""Episodes that are played at once: one pass of the network serves them all."""
Chunk = list[tuple[Job, Random | None]]
Result = tuple[list[Played], Spent]


class Hands(Protocol):
    """What plays chunks."""

    def play(self, network: Network, chunks: Sequence[Chunk]) -> Iterator[Result]:
        """What comes of each, in their order."""
        ...

    def close(self) -> None:
        """Ends them."""
        ...


class SpreadMocks:
    """The mocks of several apps, played by `hands`."""

    seeds = NEW_SEEDS

    def __init__(self, apps: Sequence[TrainedApp], hands: Hands) -> None:
        self.tasks = Curriculum(lengths(t for app in apps for t in app.trained))
        self._apps = {task.id: app.bundle for app in apps for task in app.tasks}
        self._hands = hands

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        """The episodes of these jobs, in their order."""
        began, before = perf_counter(), spent.wall_s
        by_app: dict[str, list[int]] = {}
        for number, (job, _) in enumerate(todo):
            by_app.setdefault(self._apps[job.name or ""], []).append(number)
        chunks = [numbers[i : i + CHUNK] for numbers in by_app.values() for i in range(0, len(numbers), CHUNK)]
        results: dict[int, Played] = {}
        for numbers, (played, own) in zip(chunks, self._hands.play(network, [[todo[n] for n in numbers] for numbers in chunks]), strict=True):
            spent.add(own)
            for number, one in zip(numbers, played, strict=True):
                results[number] = one
                if done is not None:
                    done(number, one)
        spent.wall_s = before + perf_counter() - began
        return [results[number] for number in range(len(todo))]

    def close(self) -> None:
        """Ends what plays."""
        self._hands.close()


class ByProcesses:
    """`workers` processes on this machine, started when they are first needed."""

    def __init__(self, apps: Sequence[TrainedApp], workers: int) -> None:
        self._pool = ProcessPoolExecutor(_some(workers), get_context("spawn"), _begin, (_sent(apps),))

    def play(self, network: Network, chunks: Sequence[Chunk]) -> Iterator[Result]:
        """What comes of each, in their order. Raises PhoneWorldError where a process died."""
        try:
            yield from self._pool.map(_play, [network] * len(chunks), chunks)
        except BrokenProcessPool:
            raise PhoneWorldError("a process that played episodes died", hint="memory may have run out: fewer --workers. The same command goes on from the last update") from None

    def close(self) -> None:
        """Ends them."""
        self._pool.shutdown(cancel_futures=True)


class OnRay:
    """`workers` Ray actors of a core each: on this machine, or on the cluster at `address`. Raises MissingDependency without Ray."""

    def __init__(self, apps: Sequence[TrainedApp], workers: int, address: str | None = None) -> None:
        self._ray = need("ray", "ray")
        _some(workers)
        self._started = not self._ray.is_initialized()
        if self._started:
            try:
                self._ray.init(address=address, log_to_driver=False, **({} if address else {"include_dashboard": False, "num_cpus": workers}))
            except (ConnectionError, ValueError, RuntimeError) as e:
                raise PhoneWorldError(f"there is no Ray cluster at {address!r}: {e}", hint="`ray start --head` starts one, and says its address") from None
        if workers > (cores := int(self._ray.cluster_resources().get("CPU", 0))):
            # Ray would wait for more of them, for ever and without a word.
            raise OptionError(f"{workers} workers need a core each, and the Ray cluster has {cores}", hint=f"--workers {max(1, cores)} or fewer")
        actor = self._ray.remote(num_cpus=1)(_Stage)
        self._actors = [actor.remote(_sent(apps)) for _ in range(workers)]

    def play(self, network: Network, chunks: Sequence[Chunk]) -> Iterator[Result]:
        """What comes of each, in their order. Raises PhoneWorldError where an actor died."""
        weights = self._ray.put(network)
        try:
            yield from need("ray.util", "ray").ActorPool(self._actors).map(lambda actor, chunk: actor.play.remote(weights, chunk), chunks)
        except self._ray.exceptions.RayActorError as e:
            raise PhoneWorldError(f"an actor that played episodes died ({type(e).__name__})", hint="the same command goes on from the last update") from None
        except self._ray.exceptions.RayTaskError as e:
            raise e.as_instanceof_cause() from None

    def close(self) -> None:
        """Ends them, and Ray where it was started here."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors.clear()
        if self._started:
            self._ray.shutdown()


class _Stage:
    """Where chunks are played, one after the other."""

    def __init__(self, apps: Sequence[TrainedApp]) -> None:
        self._mocks = Mocks(apps, CHUNK)

    def play(self, network: Network, chunk: Chunk) -> Result:
        spent = Spent()
        return self._mocks.play(network, chunk, spent), spent


_stage: _Stage | None = None
"""Of a process that plays."""


def _begin(apps: Sequence[TrainedApp]) -> None:
    global _stage
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's
    Thread(target=_end_with_the_run, daemon=True).start()
    _stage = _Stage(apps)


def _end_with_the_run() -> None:
    """A run that was killed tells nobody: without this its processes would wait for work for ever."""
    run: Any = parent_process()
    run.join()
    os._exit(1)


def _play(network: Network, chunk: Chunk) -> Result:
    assert _stage is not None
    return _stage.play(network, chunk)


def _sent(apps: Sequence[TrainedApp]) -> tuple[TrainedApp, ...]:
    """Without the environments that were opened here, and with whole paths: on a cluster an actor stands in another folder."""
    return tuple(replace(app, bundle=str(Path(app.bundle).resolve())) for app in apps)


def _some(workers: int) -> int:
    if workers < 1:
        raise OptionError(f"{workers} workers play nothing", hint="--workers 1 or more")
    return workers
