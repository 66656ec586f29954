"""What happened in an episode, as data: the same episode, the same bytes, whoever ran it. Knows no clock and no place."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from phoneworld.env.outcome import ErrorClass, Info, Termination


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step: the action as JSON (None where it was no action), and what came of it. `reward` is None where there is no score."""

    action: dict[str, Any] | None
    reward: float | None
    state_id: str
    evidence: str | None
    changed: bool | None
    invalid_action: str | None
    trainable: bool
    progress: float | None

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One episode. `success` is None where it cannot be told; with an `error_class` other than "none" and "agent" there is no score."""

    task: str | None
    seed: int
    instruction: str
    start: str
    steps: tuple[StepRecord, ...]
    termination: Termination | None
    error_class: ErrorClass
    message: str
    success: bool | None
    progress: float | None
    answer: str | None
    side_effects: tuple[str, ...]
    violations: tuple[str, ...]
    unrecorded: int

    @property
    def trainable(self) -> bool:
        """False where the episode says nothing of the policy."""
        return self.error_class in ("none", "agent") and self.termination not in ("error", "unknown")

    @property
    def total(self) -> float:
        """All rewards; NaN where one of them is no score."""
        return math.nan if any(s.reward is None for s in self.steps) or not self.trainable else sum(s.reward or 0.0 for s in self.steps)

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        out = {name: getattr(self, name) for name in self.__slots__}
        return out | {"steps": [s.to_json() for s in self.steps], "side_effects": [*self.side_effects], "violations": [*self.violations]}

    def to_bytes(self) -> bytes:
        """One line of JSON: equal episodes, equal bytes."""
        return json.dumps(self.to_json(), ensure_ascii=True, sort_keys=True, allow_nan=False).encode()


def lost_episode(task: str | None, seed: int, error_class: ErrorClass, message: str) -> EpisodeRecord:
    """An episode of which nothing is known but that it was lost."""
    return EpisodeRecord(task, seed, "", "", (), "error", error_class, message, None, None, None, (), (), 0)


def step_record(action: dict[str, Any] | None, reward: float, info: Info) -> StepRecord:
    """What one step told."""
    return StepRecord(
        action, None if math.isnan(reward) else reward, info["state_id"], info["evidence"], info["changed"], info["invalid_action"],
        info["trainable"], info["progress"],
    )  # fmt: skip


def episode_record(instruction: str, start: str, steps: tuple[StepRecord, ...], info: Info, answer: str | None) -> EpisodeRecord:
    """What an episode told at its end."""
    return EpisodeRecord(
        info["task"], info["seed"], instruction, start, steps, info["termination"], info["error_class"], info["message"],
        info["success"], info["progress"], answer, info["side_effects"], info["violations"], info["unrecorded"],
    )  # fmt: skip
