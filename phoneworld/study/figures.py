"""Figures of scores: shares with intervals, policies against each other on the same episodes, mocks against the real app. Pure numbers.

Intervals of shares are Wilson's. Differences are paired by task and seed; their intervals come from drawing whole tasks anew (bootstrap by clusters): episodes of
one task are alike, and to count them as independent would make intervals too narrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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


def difference(scores: Sequence[Score], policy: str, base: str, source: str) -> dict[str, Any]:
    """How much more often a policy succeeds than another, on the episodes that both have a score of; the interval is of 95 %."""
    mine, theirs = ({(s.task, s.seed): s.success for s in scores if s.policy == p and s.source == source and s.success is not None} for p in (policy, base))
    return _paired({key: float(mine[key]) - float(theirs[key]) for key in sorted(mine.keys() & theirs.keys())})


def transfer(scores: Sequence[Score], policy: str) -> dict[str, Any]:
    """The same episodes on mock and real app: how often both, one, none succeed, and by how much the real app is worse."""
    mock, real = ({(s.task, s.seed): s.success for s in scores if s.policy == policy and s.source == source and s.success is not None} for source in (MOCK, REAL))
    both = sorted(mock.keys() & real.keys())
    ways = Counter((mock[key], real[key]) for key in both)
    told = _paired({key: float(real[key]) - float(mock[key]) for key in both})
    return {"both": ways[True, True], "only_mock": ways[True, False], "only_real": ways[False, True], "neither": ways[False, False], **told}


def _paired(differences: dict[tuple[str, int], float]) -> dict[str, Any]:
    by_task: dict[str, list[float]] = {}
    for (task, _), value in differences.items():
        by_task.setdefault(task, []).append(value)
    if not by_task:
        return {"episodes": 0, "tasks": 0, "difference": None, "difference_interval": [-1.0, 1.0]}
    dice, tasks = Random(0), list(by_task)
    means = sorted(_mean([v for _ in tasks for v in by_task[tasks[dice.randrange(len(tasks))]]]) for _ in range(_DRAWS))
    return {
        "episodes": len(differences), "tasks": len(tasks), "difference": _mean(list(differences.values())),
        "difference_interval": [means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS) - 1]],
    }  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
