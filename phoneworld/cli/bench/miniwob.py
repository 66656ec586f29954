"""MiniWoB++ beside our own figures: the browser environment that web agents are measured on, on the same machine in the same run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from phoneworld.cli.bench.measure import best_time
from phoneworld.env.extras import need
from phoneworld.errors import BrowserError, MissingDependency
from phoneworld.render.browser import find_chromium

TASKS = ("click-test-2", "click-checkboxes", "enter-text")
"""Pages of a button, of boxes to tick, and of a field: none of them moves by itself."""
_STEPS = 8


@dataclass(frozen=True, slots=True)
class MiniwobFigures:
    """Of one page: an episode begun, in milliseconds, and steps a second. A step is a click at a place, with all that its `step` returns:
    the elements of the page and a picture of 160x210; by the clock, as a browser does the work."""

    task: str
    reset_ms: float
    steps_per_s: float


def miniwob_figures(seconds: float) -> list[MiniwobFigures]:
    """The figures of MiniWoB++, by Selenium and Chromium's driver. Raises MissingDependency where one of these is missing, BrowserError where it does not start."""
    need("miniwob", "miniwob")
    gymnasium = need("gymnasium", "miniwob")
    with _drivers():
        found = []
        for task in TASKS:
            try:
                found.append(_of(gymnasium, task, seconds))
            except Exception as e:  # Selenium raises many kinds; each says that the browser is not there
                words = str(e).splitlines()[0] if str(e) else type(e).__name__
                raise BrowserError(f"MiniWoB++ does not start: {words}", hint="apt install chromium chromium-driver") from e
        return found


def _of(gymnasium: Any, task: str, seconds: float) -> MiniwobFigures:
    env = gymnasium.make(f"miniwob/{task}-v1", disable_env_checker=True)
    try:
        env.reset(seed=0)
        # Its episodes end by themselves after ten seconds: these are not to end in mid-measurement.
        env.unwrapped.instance.driver.execute_script("core.EPISODE_MAX_TIME = 1e9")
        env.reset(seed=0)
        # The corner of the page: a click there leaves the episode as it is, so that it can be done again and again.
        click = env.unwrapped.create_action("CLICK_COORDS", coords=np.array([1.0, 209.0], np.float32))

        def resets() -> None:
            env.reset(seed=1)

        def steps() -> None:
            for _ in range(_STEPS):
                if any(env.step(click)[2:4]):
                    env.reset(seed=1)

        return MiniwobFigures(task, best_time(resets, seconds / 2, perf_counter) * 1000, _STEPS / best_time(steps, seconds / 2, perf_counter))
    finally:
        env.close()


@contextmanager
def _drivers() -> Iterator[None]:
    """Chromium and its driver, told to MiniWoB++ where nobody has told it others."""
    driver = os.environ.get("MINIWOB_CHROMEDRIVER") or shutil.which("chromedriver")
    if driver is None:
        raise MissingDependency("chromedriver is not installed, and MiniWoB++ needs it", hint="apt install chromium-driver")
    ours = {"MINIWOB_CHROMEDRIVER": driver, "MINIWOB_CHROME_BINARY": os.environ.get("MINIWOB_CHROME_BINARY") or shutil.which("chromium") or str(find_chromium())}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
