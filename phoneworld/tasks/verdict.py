"""What a judge says: whether the goal is reached, how far it is, and apart from that what else happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from phoneworld.tasks.differences import Difference

Words: TypeAlias = str | Callable[[], str]
"""A text, or what makes it: most findings are never read."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one checker asks, whether it holds (None: cannot be seen here), what was found instead; how far it is from 0 to 1."""

    asks: Words
    holds: bool | None
    shows: Words
    progress: float
    parts: tuple[Finding, ...] = ()

    @property
    def what(self) -> str:
        """What is asked, as a phrase."""
        return self.asks if isinstance(self.asks, str) else self.asks()

    @property
    def found(self) -> str:
        """What was found, as a phrase."""
        return self.shows if isinstance(self.shows, str) else self.shows()

    @classmethod
    def plain(cls, asks: Words, holds: bool, shows: Words) -> Finding:
        """Of something that holds or does not, with nothing in between."""
        return cls(asks, holds, shows, 1.0 if holds else 0.0)

    @classmethod
    def every(cls, parts: Sequence[Finding], counted: Sequence[bool]) -> Finding:
        """Of several that must all hold. Progress is the mean of those that are counted."""
        holds = False if any(p.holds is False for p in parts) else None if any(p.holds is None for p in parts) else True
        scores = [p.progress for p, counts in zip(parts, counted, strict=True) if counts]
        progress = sum(scores) / len(scores) if scores else float(holds is True)
        return cls("all of these", holds, partial(_counted, tuple(parts)), progress, tuple(parts))

    @classmethod
    def some(cls, parts: Sequence[Finding]) -> Finding:
        """Of several of which one must hold."""
        holds = True if any(p.holds is True for p in parts) else None if any(p.holds is None for p in parts) else False
        progress = max((p.progress for p in parts), default=0.0)
        return cls("one of these", holds, partial(_counted, tuple(parts)), progress, tuple(parts))

    def lines(self, depth: int = 0) -> list[str]:
        """One line a checker, those inside it after it, further in."""
        mark = {True: "yes", False: "no ", None: "?  "}[self.holds]
        told = f" (found: {self.found})" if self.holds is not True else ""
        lines = [f"{'  ' * depth}{mark} {self.what}{told}"]
        for part in self.parts:
            lines += part.lines(depth + 1)
        return lines


def _counted(parts: tuple[Finding, ...]) -> str:
    return f"{sum(p.holds is True for p in parts)} of {len(parts)}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`success`: the goal holds, nothing forbidden happened, nothing else changed (None: cannot be decided on this phone).

    `goal` is the goal alone. `progress` is how much of it holds, 0 to 1. `side_effects` are changes that nobody asked for, `violations`
    what must never have been.
    """

    success: bool | None
    goal: bool
    progress: float
    side_effects: tuple[str, ...]
    violations: tuple[str, ...]
    finding: Finding
    surplus: tuple[Difference, ...] = ()
    """The side effects as differences of the state."""

    def explain(self) -> str:
        """What holds and what does not, a line each."""
        lines = self.finding.lines()
        lines += [f"also changed: {words}" for words in self.side_effects]
        lines += [f"happened and must not: {words}" for words in self.violations]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "success": self.success, "goal": self.goal, "progress": self.progress,
            "side_effects": list(self.side_effects), "violations": list(self.violations), "explanation": self.explain().splitlines(),
        }  # fmt: skip
