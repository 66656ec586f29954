"""Where episodes come from: mock and real phone as one interface, how much of each, and which tasks next. Decided by numbers, never by time.

Left out of what is published on curricula: learned difficulty, replay of old episodes, generated tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from phoneworld.errors import OptionError

MOCK, REAL = "mock", "real"


@dataclass(frozen=True, slots=True)
class Mixing:
    """The share of groups that are played on the real phone: from `first` at the first update to `last` at the last, in a straight line."""

    first: float = 0.0
    last: float = 0.0

    @classmethod
    def of(cls, words: str) -> Mixing:
        """Of "0.5", or of "0.8:0.2" for a schedule. Raises OptionError."""
        try:
            ends = [float(word) for word in words.split(":")]
        except ValueError:
            ends = []
        if not 1 <= len(ends) <= 2 or not all(0 <= end <= 1 for end in ends):
            raise OptionError(f"{words!r} is no share of real groups", hint="a number from 0 to 1, or two with a colon: 0.8:0.2")
        return cls(ends[0], ends[-1])

    def real_groups(self, update: int, updates: int, groups: int) -> int:
        """How many of the groups of an update are real: so that after each update the sum is as near to the share as it can be."""

        def until(n: int) -> float:
            return groups * sum(self.first + (self.last - self.first) * i / max(1, updates - 1) for i in range(n))

        # Rounded sums, not sums of rounded ones: a tenth of eight groups is now one, now none.
        return round(until(update + 1)) - round(until(update))


@dataclass(slots=True)
class Curriculum:
    """Which tasks are worth playing: those that are now solved and now not. What is not known yet is guessed from the oracle's length.

    A task's chance is p (1 - p) + `floor`, where p is its share of solved episodes so far, with a prior of `weight` episodes at
    `ease` ** length: short tasks come first, and what is always or never solved comes seldom.
    """

    lengths: Mapping[str, int]
    ease: float = 0.85
    weight: float = 4.0
    floor: float = 0.02
    solved: dict[str, list[float]] = field(default_factory=dict)

    def chances(self) -> dict[str, float]:
        """How likely each task is drawn; they need not add up to 1."""
        out: dict[str, float] = {}
        for task, length in self.lengths.items():
            won, of = self.solved.get(task, (0.0, 0.0))
            p = (won + self.weight * self.ease**length) / (of + self.weight)
            out[task] = p * (1 - p) + self.floor
        return out

    def draw(self, n: int, dice: Random) -> list[str]:
        """So many different tasks where there are as many."""
        chances = self.chances()
        drawn: list[str] = []
        for _ in range(n):
            left = {t: c for t, c in chances.items() if t not in drawn} or chances
            drawn.append(dice.choices(list(left), list(left.values()))[0])
        return drawn

    def learn(self, task: str, outcomes: Sequence[bool]) -> None:
        """Takes in how episodes of a task ended; older ones fade."""
        won, of = self.solved.get(task, (0.0, 0.0))
        self.solved[task] = [0.8 * won + sum(outcomes), 0.8 * of + len(outcomes)]
