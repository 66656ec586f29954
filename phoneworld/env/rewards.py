"""What a task pays: 1 for success and nothing else, or something on the way that never adds up to success."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from phoneworld.errors import SessionError

Kind = Literal["sparse", "delta", "potential"]


@dataclass(frozen=True, slots=True)
class Rewards:
    """How steps are paid, from the progress p of the checker (0 to 1).

        sparse      1 at the end, if the task is done
        delta       cap * (p - p before) at each step; success pays 1 - cap besides
        potential   gamma * cap * p - cap * p before (Ng, Harada and Russell 1999: leaves the best policy the best), p = 0 where the
                    agent has ended the episode; success pays 1 besides

    So an episode that fails is paid at most `cap`, one that succeeds at least 1 - cap * p at its start, which is more.
    """

    kind: Kind = "sparse"
    cap: float = 0.5
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("sparse", "delta", "potential"):
            raise SessionError(f"rewards are sparse, delta or potential, found {self.kind!r}", hint='Rewards("delta")')
        if not 0 <= self.cap < 1 or not 0 < self.gamma <= 1:
            raise SessionError(
                f"cap is at least 0 and below 1, gamma above 0 and at most 1; found {self.cap} and {self.gamma}",
                hint='Rewards("potential", cap=0.5, gamma=0.99)',
            )

    def step(self, before: float, now: float, *, success: bool, terminated: bool) -> float:
        """What one step is paid. `success` only where the episode ends with it; `terminated` where the agent ended it."""
        match self.kind:
            case "sparse":
                return float(success)
            case "delta":
                return self.cap * (now - before) + (1 - self.cap) * success
            case "potential":
                after = 0.0 if terminated else self.cap * now
                return self.gamma * after - self.cap * before + success
