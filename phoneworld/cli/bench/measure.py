"""The measurements of `phoneworld bench`. Each runs in windows, of which the best counts: other programs can only slow one down.

What runs in this process alone is measured in seconds of its processor time, which is what one core can do; pictures, which
Chromium draws, in seconds of the clock.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time

import psutil  # type: ignore[import-untyped]

from phoneworld.cli.bench.walk import Walk
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.program.bundle import Bundle
from phoneworld.render.frames import Renderer
from phoneworld.ui.geometry import Size

WINDOWS = 5
MANY = 100
LARGE_WIDTH, SMALL_WIDTH = 1080, 360
_FEWEST_LOOKS = 8
_PICTURED_STEPS = 128

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class PixelFigures:
    """With a picture read at each step. `first_ms` is the mean time of a picture of a look not drawn before, of which there
    were `looks`; `steps_per_s_first` the rate on a walk where nothing was drawn before; `steps_per_s` the rate when it was."""

    size: str
    looks: int
    first_ms: float
    steps_per_s_first: float
    steps_per_s: float


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Resident memory of the whole process, in MB, with one environment and with a hundred; and what one more takes, in kB."""

    envs_1_mb: float
    envs_100_mb: float
    per_env_kb: float


def steps_per_s(
    env: PhoneEnv,
    walk: Walk,
    seconds: float,
    look: Callable[[Observation], object] | None = None,
    *,
    clock: Clock = process_time,
) -> float:
    """Steps a second of one environment on the walk, resets included; `look` reads what is to be read after each step."""
    actions = walk.actions
    step = env.step

    def without() -> None:
        env.reset()
        for action in actions:
            step(action)

    def looking() -> None:
        assert look is not None
        look(env.reset()[0])
        for action in actions:
            look(step(action)[0])

    return len(actions) / best_time(looking if look else without, seconds, clock)


def reset_us(bundle: Bundle, seconds: float) -> float:
    """Microseconds of a reset."""
    env = PhoneEnv(bundle)
    return 1e6 * best_time(env.reset, seconds)


def fork_us(bundle: Bundle, walk: Walk, seconds: float) -> float:
    """Microseconds of one fork of an environment in mid-episode."""
    env = _in_the_middle(bundle, walk)
    return 1e6 / MANY * best_time(lambda: env.fork(MANY), seconds)


def restore_us(bundle: Bundle, walk: Walk, seconds: float) -> float:
    """Microseconds of a snapshot and a restore of it."""
    env = _in_the_middle(bundle, walk)
    return 1e6 * best_time(lambda: env.restore(env.snapshot()), seconds)


def pixels(bundle: Bundle, walk: Walk, seconds: float, scale: float) -> PixelFigures:
    """The figures with pictures, read as arrays at this scale of the phone's size."""
    renderer = Renderer.of([bundle])
    try:
        env = PhoneEnv(
            bundle, observe=ObservationSpec(tree=False, text=False, screenshot="array", scale=scale), drawing=renderer
        )
        size = env.observe.picture_size(env.reset()[0].size)
        # The first picture of all starts Chromium and is not counted.
        _ = env.reset()[0].screenshot
        part = replace(walk, actions=walk.actions[:_PICTURED_STEPS])
        seen = {env.phone.look(env.state).key}
        times: list[float] = []
        done, spent = 0, 0.0
        for action in part.actions:
            start = perf_counter()
            _ = env.step(action)[0].screenshot
            took = perf_counter() - start
            done, spent = done + 1, spent + took
            key = env.phone.look(env.state).key
            if key not in seen:
                seen.add(key)
                times.append(took)
            if spent > 4 * seconds and len(times) >= _FEWEST_LOOKS:
                part = replace(walk, actions=walk.actions[:done])
                break
        rate = steps_per_s(env, part, seconds, lambda o: o.screenshot, clock=perf_counter)
        return PixelFigures(
            f"{size.width}x{size.height}", len(times), 1000 * sum(times) / max(1, len(times)), done / spent, rate
        )
    finally:
        renderer.close()


def memory(load: Callable[[], Bundle], walk_of: Callable[[PhoneEnv], Sequence[object]]) -> MemoryFigures:
    """Resident memory with one environment and with a hundred, each somewhere else on the walk."""
    env = PhoneEnv(load())
    env.reset()
    actions = walk_of(env)
    for action in actions:
        env.step(action)  # type: ignore[arg-type]
    one = _resident()
    twins = env.fork(MANY - 1)
    for number, twin in enumerate(twins):
        twin.reset(number)
        for action in actions[: 1 + number]:
            twin.step(action)  # type: ignore[arg-type]
    many = _resident()
    return MemoryFigures(one / 1e6, many / 1e6, max(0.0, (many - one) / (MANY - 1) / 1e3))


def best_time(run: Callable[[], object], seconds: float, clock: Clock = process_time) -> float:
    """Seconds of one call: the mean of the best of five windows that together take about `seconds`."""
    run()
    best = float("inf")
    for _ in range(WINDOWS):
        calls, start = 0, clock()
        while True:
            run()
            calls += 1
            elapsed = clock() - start
            if elapsed >= seconds / WINDOWS:
                break
        best = min(best, elapsed / calls)
    return best


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = [
            line.partition(":")[2].strip()
            for line in cpuinfo.read_text(errors="replace").splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count() or 1,
        "python": sys.version.split()[0],
        "system": platform.platform(terse=True),
    }


def scales(size: Size) -> tuple[float, ...]:
    """The scales at which pictures are measured: the phone's own size, 1080 pixels wide and 360."""
    return tuple(sorted({1.0, LARGE_WIDTH / size.width, SMALL_WIDTH / size.width}, reverse=True))


def _in_the_middle(bundle: Bundle, walk: Walk) -> PhoneEnv:
    env = PhoneEnv(bundle)
    env.reset()
    for action in walk.actions[: len(walk.actions) // 2]:
        env.step(action)
    return env


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)
