"""Several real apps as one place to play and to show things: so many threads, each with a browser of its own in which every app has a page. Knows no training.

While a page settles, others are played on; which episode is played where makes no difference, for each begins with an app that was cleared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from phoneworld.agent.network import Network
from phoneworld.agent.play import Done, Played, Spent, play
from phoneworld.env.env import Env
from phoneworld.env.rollout import Job
from phoneworld.errors import BrowserError, DeviceError
from phoneworld.evaluate.real_phone import RealPhone
from phoneworld.train.places import NEW_SEEDS
from phoneworld.train.sources import Curriculum

if TYPE_CHECKING:
    from phoneworld.render.browser import Browser


T = TypeVar("T")


class RealApps:
    """The apps by name; a task's name begins with that of its app. `lengths` are the tasks that are trained there."""

    seeds = NEW_SEEDS

    def __init__(self, apps: Mapping[str, RealPhone], lengths: Mapping[str, int], *, phones: int = 1) -> None:
        self.tasks = Curriculum(lengths)
        self._benches = [_Bench(apps) for _ in range(phones)]

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        """The episodes of these jobs, in their order, some at once."""
        began, before, lock = perf_counter(), spent.wall_s, Lock()

        def one(number: int, env: Env[Any]) -> tuple[Played, bool]:
            own = Spent()
            (played,) = play(network, [env], [todo[number]], own)
            with lock:
                spent.add(own)
                if done is not None:
                    done(number, played)
            return played, played.record.error_class == "infra"

        results = self.each([_app_of(job) for job, _ in todo], one)
        # The threads' own clocks ran side by side.
        spent.wall_s = before + perf_counter() - began
        return results

    def each(self, apps: Sequence[str], work: Callable[[int, Env[Any]], tuple[T, bool]]) -> list[T]:
        """What comes of `work`, done for each number on the app of that number, some at once; in their order.

        `work` says besides whether the phone was lost: then the next has a new one.
        """
        waiting = deque(enumerate(apps))
        results: dict[int, T] = {}
        lock = Lock()

        def serve(bench: _Bench) -> None:
            while True:
                with lock:
                    if not waiting:
                        return
                    number, app = waiting.popleft()
                result = bench.do(app, number, work)
                with lock:
                    results[number] = result

        failures = [bench.thread.submit(serve, bench) for bench in self._benches]
        for failure in failures:
            try:
                failure.result()
            except BaseException:
                waiting.clear()
                raise
        return [results[number] for number in range(len(apps))]

    def close(self) -> None:
        """Closes pages and browsers."""
        for bench in self._benches:
            bench.thread.submit(bench.close).result()
            bench.thread.shutdown()


class _Bench:
    """One thread, its browser, and the apps that were opened in it."""

    def __init__(self, apps: Mapping[str, RealPhone]) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="real-apps")
        self._apps = apps
        self._browser: Browser | None = None
        self._open: dict[str, Env[Any]] = {}

    def do(self, name: str, number: int, work: Callable[[int, Env[Any]], tuple[T, bool]]) -> T:
        """Does one piece of work on an app. After one that lost the browser, the next has a new one."""
        if name not in self._open:
            app = self._apps[name]
            self._open[name] = app(self._own() if app.device.startswith(("web:", "mini:")) else None)
        result, lost = work(number, self._open[name])
        if lost:
            self.close()
        return result

    def _own(self) -> Browser:
        if self._browser is None:
            from phoneworld.render.browser import Browser

            self._browser = Browser.launch()
        return self._browser

    def close(self) -> None:
        """Closes what is open."""
        with suppress(BrowserError, DeviceError):
            for env in self._open.values():
                env.close()
        self._open.clear()
        if self._browser is not None:
            self._browser.close()
            self._browser = None


def _app_of(job: Job) -> str:
    return (job.name or "").partition("/")[0]
