"""Figures of scores: shares with intervals, policies against each other on the same episodes, mocks against the real app. Pure numbers.

Intervals of shares are Wilson's. Differences are paired by task and seed; their intervals come from drawing whole tasks anew (bootstrap by clusters): episodes of
one task are alike, and to count them as independent would make intervals too narrow. Where each seed is a training run, whole runs are drawn anew too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from random import Random
from typing import Any

from phoneworld.evaluate.figures import wilson
from phoneworld.study.scores import Score
from phoneworld.train.sources import MOCK, REAL

_DRAWS = 2000


def share(scores: Iterable[Score]) -> dict[str, Any]:
    """Success of these episodes, how they ended, and how much of it was unrecorded."""
    scores = list(scores)
    scored = [s for s in scores if s.success is not None]
    won = sum(s.success is True for s in scored)
    steps = sum(s.steps for s in scores)
    return {
        "episodes": len(scores), "scored": len(scored), "succeeded": won, "success": won / len(scored) if scored else None, "interval": list(wilson(won, len(scored))),
        "ended": dict(sorted(Counter(s.ended for s in scores).items())), "unrecorded": sum(s.unrecorded for s in scores) / steps if steps else 0.0,
    }  # fmt: skip


def difference(scores: Sequence[Score], policy: str, base: str, source: str, *, by_seed: bool = False) -> dict[str, Any]:
    """How much more often a policy succeeds than another, on the episodes that both have a score of; the interval is of 95 %.

    `by_seed` where each seed is a training run of its own: then seeds are drawn anew as well.
    """
    mine, theirs = (_outcomes(scores, p, source) for p in (policy, base))
    return _paired({key: mine[key] - theirs[key] for key in sorted(mine.keys() & theirs.keys())}, by_seed=by_seed)


def carried(scores: Sequence[Score], policy: str, base: str) -> dict[str, Any]:
    """What a policy gains over another on the mock, what on the real app, on the same episodes; and the share that is kept, with its interval where the mock's gain is sure."""
    sides = [(_outcomes(scores, p, source)) for source in (MOCK, REAL) for p in (policy, base)]
    keys = sorted(set.intersection(*(set(side) for side in sides)))
    gains = [{key: mine[key] - theirs[key] for key in keys} for mine, theirs in (sides[:2], sides[2:])]
    mock, real = (_mean(list(gain.values())) if gain else None for gain in gains)
    draws = [(_weighted(gains[0], weights), _weighted(gains[1], weights)) for weights in _draws(tuple(keys), by_seed=True)] if keys else []
    kept = sorted(after / before for before, after in draws if before > 0)
    sure = len(kept) > 0.975 * len(draws) > 0
    return {
        "episodes": len(keys), "mock_gain": mock, "real_gain": real, "kept": real / mock if mock and real is not None and mock > 0 else None,
        "kept_interval": [kept[int(0.025 * len(kept))], kept[int(0.975 * len(kept)) - 1]] if sure else None,
    }  # fmt: skip


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's; None of fewer than three pairs, or where one side does not vary."""
    if len(pairs) < 3:
        return None
    (x, y) = zip(*pairs, strict=True)
    mx, my = _mean(x), _mean(y)
    vx, vy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    return sum((a - mx) * (b - my) for a, b in pairs) / sqrt(vx * vy) if vx > 0 and vy > 0 else None


def transfer(scores: Sequence[Score], policy: str, *, by_seed: bool = False) -> dict[str, Any]:
    """The same episodes on mock and real app: how often both, one, none succeed, and by how much the real app is worse."""
    mock, real = (_outcomes(scores, policy, source) for source in (MOCK, REAL))
    both = sorted(mock.keys() & real.keys())
    ways = Counter((mock[key] > 0, real[key] > 0) for key in both)
    told = _paired({key: real[key] - mock[key] for key in both}, by_seed=by_seed)
    return {"both": ways[True, True], "only_mock": ways[True, False], "only_real": ways[False, True], "neither": ways[False, False], **told}


Key = tuple[str, int]


def _outcomes(scores: Iterable[Score], policy: str, source: str) -> dict[Key, float]:
    return {(s.task, s.seed): float(s.success) for s in scores if s.policy == policy and s.source == source and s.success is not None}


def _paired(differences: dict[Key, float], *, by_seed: bool) -> dict[str, Any]:
    if not differences:
        return {"episodes": 0, "tasks": 0, "difference": None, "difference_interval": [-1.0, 1.0]}
    means = sorted(_weighted(differences, weights) for weights in _draws(tuple(differences), by_seed=by_seed))
    return {
        "episodes": len(differences), "tasks": len({task for task, _ in differences}), "difference": _mean(list(differences.values())),
        "difference_interval": [means[int(0.025 * len(means))], means[int(0.975 * len(means)) - 1]],
    }  # fmt: skip


@lru_cache(maxsize=16)
def _draws(keys: tuple[Key, ...], *, by_seed: bool) -> list[list[int]]:
    """How often each episode counts when tasks, and seeds too where they are runs of their own, are drawn anew (Owen 2007: the pigeonhole bootstrap)."""
    dice, tasks, seeds = Random(0), sorted({task for task, _ in keys}), sorted({seed for _, seed in keys})
    drawn: list[list[int]] = []
    while len(drawn) < _DRAWS:
        of_task = Counter(dice.choices(tasks, k=len(tasks)))
        of_seed = Counter(dice.choices(seeds, k=len(seeds))) if by_seed else None
        weights = [of_task[task] * (1 if of_seed is None else of_seed[seed]) for task, seed in keys]
        if any(weights):
            drawn.append(weights)
    return drawn


def _weighted(values: Mapping[Key, float], weights: Sequence[int]) -> float:
    return sum(value * weight for value, weight in zip(values.values(), weights, strict=True)) / sum(weights)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
