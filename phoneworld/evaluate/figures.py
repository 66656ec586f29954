"""Figures of episodes: how many succeed and how sure that is, how far the others came, what was no score. Pure numbers, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

from phoneworld.env.record import EpisodeRecord
from phoneworld.tasks.task import Task

_Z = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One episode as figures need it. `oracle` is how many actions the oracle needs for the same, None where that is not known."""

    name: str
    record: EpisodeRecord
    attempt: int = 0
    oracle: int | None = None

    @property
    def success(self) -> bool | None:
        """None where there is no score: nothing is known, or it cannot be told. A policy that raised has not succeeded."""
        record = self.record
        if record.error_class in ("infra", "checker", "env") or record.termination == "unknown":
            return None
        return record.success is True

    @property
    def why(self) -> str:
        """In a word, how it ended: success, failed, step_limit, …; or whose fault it was that there is no score."""
        record = self.record
        if record.error_class in ("infra", "checker", "env"):
            return record.error_class
        return "raised" if record.termination == "error" else record.termination or "error"


def wilson(successes: int, of: int) -> tuple[float, float]:
    """Wilson's score interval of 95 % for a share (E. B. Wilson, 1927); (0, 1) where nothing was tried."""
    if of == 0:
        return 0.0, 1.0
    share, z2 = successes / of, _Z * _Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    # The ends are exact: sums of floats would leave a speck of doubt about what never happened.
    return 0.0 if successes == 0 else max(0.0, middle - half), 1.0 if successes == of else min(1.0, middle + half)


def pass_at(k: int, successes: int, of: int) -> float:
    """The chance that one of k tries succeeds, without bias from `of` tries (Chen et al. 2021); `of` is at least k."""
    return 1.0 - comb(of - successes, k) / comb(of, k)


def summary(episodes: Sequence[Scored]) -> dict[str, Any]:
    """The figures of these episodes, as JSON has them. Shares are of what was scored; None where there is nothing to take a share of."""
    scored = [e for e in episodes if e.success is not None]
    won = [e for e in scored if e.success]
    steps = sum(len(e.record.steps) for e in episodes)
    beside = [e for e in won if e.oracle]
    progress = [e.record.progress for e in scored if e.record.progress is not None]
    ended = Counter(e.why for e in episodes)
    return {
        "episodes": len(episodes),
        "scored": len(scored),
        "succeeded": len(won),
        "success": _share(len(won), len(scored)),
        "interval": list(wilson(len(won), len(scored))),
        "progress": _mean(progress),
        "ended": dict(sorted(ended.items())),
        "without_score": {kind: ended[kind] for kind in ("infra", "checker", "env", "unknown") if ended[kind]},
        "steps": _mean([len(e.record.steps) for e in scored]),
        "against_oracle": {"episodes": len(beside), "steps_per_oracle_step": _mean([len(e.record.steps) / e.oracle for e in beside if e.oracle])},
        "unrecorded_steps": _share(sum(e.record.unrecorded for e in episodes), steps),
        "invalid_actions": _share(sum(s.invalid_action is not None for e in episodes for s in e.record.steps), steps),
        "with_side_effects": sum(bool(e.record.side_effects) for e in scored),
        "with_violations": sum(bool(e.record.violations) for e in scored),
    }


def passes(episodes: Sequence[Scored]) -> dict[str, float]:
    """pass@k for k = 1, 2, 4, …, as the mean over what was tried k times or more.

    What counts as tries of one thing are the attempts at one seed where there were several, else the seeds of one task.
    """
    several = any(e.attempt for e in episodes)
    groups = grouped(
        [e for e in episodes if e.success is not None], lambda e: [f"{e.record.task} {e.record.seed}" if several else str(e.record.task)]
    )
    most = max((len(of) for of in groups.values()), default=0)
    found: dict[str, float] = {}
    k = 1
    while k <= most:
        tried = [pass_at(k, sum(e.success is True for e in of), len(of)) for of in groups.values() if len(of) >= k]
        found[str(k)] = sum(tried) / len(tried)
        k *= 2
    return found


def grouped(episodes: Iterable[Scored], keys: Callable[[Scored], Iterable[str]]) -> dict[str, list[Scored]]:
    """The episodes by key, in the order of keys; an episode may have several."""
    groups: dict[str, list[Scored]] = {}
    for episode in episodes:
        for key in keys(episode):
            groups.setdefault(key, []).append(episode)
    return dict(sorted(groups.items()))


def tags_of(task: Task | None) -> list[str]:
    """The words by which the figures of a task are put together with others': app, category, skills, how long the oracle's way is."""
    if task is None:
        return []
    long = task.tags.difficulty
    way = [] if long is None else ["oracle:1-4" if long < 5 else "oracle:5-9" if long < 10 else "oracle:10 or more"]
    return [f"app:{task.app}", f"category:{task.tags.category}", *(f"skill:{skill}" for skill in task.tags.skills), *way]


def report(episodes: Sequence[Scored], tasks: Mapping[str, Task]) -> dict[str, Any]:
    """All figures of an evaluation: of everything, by tag and by task, and a line an episode."""
    return {
        **summary(episodes),
        "pass_at": passes(episodes),
        "pass_at_of": "attempts at one seed" if any(e.attempt for e in episodes) else "seeds of one task",
        "by_tag": {tag: summary(of) for tag, of in grouped(episodes, lambda e: tags_of(tasks.get(str(e.record.task)))).items()},
        "by_task": {task: summary(of) for task, of in grouped(episodes, lambda e: [str(e.record.task)]).items()},
        "each": [
            {
                "name": e.name, "success": e.success, "ended": e.why, "progress": e.record.progress, "steps": len(e.record.steps),
                "oracle": e.oracle, "message": e.record.message if e.record.termination == "error" else "",
            }
            for e in episodes
        ],
    }  # fmt: skip


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
