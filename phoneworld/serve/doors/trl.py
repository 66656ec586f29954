"""The door for TRL: `GRPOTrainer(environment_factory=TrlPhones(Phones(BUNDLE, tasks=TASKS)), ...)`. Imports nothing of TRL.

A row of the dataset names `task` and `seed`, so that a group starts at the same to the byte. Tools are those of `tools.py`; with
`vision` they return the picture too. The reward is that of the episode; None, which TRL leaves out, where there is no score.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PIL import Image

from phoneworld.env.assignment import TaskBook
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Info
from phoneworld.serve.doors.tools import PhoneTools, in_words


class TrlPhone(PhoneTools):
    """One phone, reset for each episode."""

    def __init__(self, env: Env[Any], *, vision: bool = False) -> None:
        book: TaskBook | None = getattr(env, "book", None)
        super().__init__(env, {} if book is None else {package: model.program.label for package, model in book.phone.models.items()})
        self._vision = vision
        self._paid = 0.0
        self._scored = True

    def reset(self, task: str | None = None, seed: int = 0, language: str = "en", **row: Any) -> Any:
        """Begins an episode; the other columns of the row are left alone."""
        observation, info = self._env.reset(seed, task=task, language=language)
        self._paid, self._scored = 0.0, True
        words = in_words(observation, False, {**info, "changed": None}, "")
        return self._blocks(observation, f"{observation.instruction}\n\n{words}" if observation.instruction else words)

    def get_reward(self) -> float | None:
        """What the episode was paid; None where that is no score."""
        return self._paid if self._scored and not math.isnan(self._paid) else None

    def _reply(self, observation: Observation, reward: float, over: bool, info: Info, refused: str) -> Any:
        self._paid += reward
        self._scored = self._scored and info["error_class"] in ("none", "agent") and info["termination"] != "unknown"
        return self._blocks(observation, in_words(observation, over, info, refused))

    def _blocks(self, observation: Observation, words: str) -> Any:
        if not self._vision:
            return words
        picture = Image.open(io.BytesIO(observation.png)).convert("RGB")
        return [{"type": "image", "image": picture}, {"type": "text", "text": words}]


@dataclass(frozen=True, slots=True)
class TrlPhones:
    """Makes phones for `environment_factory`: mocks, or real ones (`phoneworld.evaluate.real_phone.RealPhone`, which is opened by the thread that TRL calls it from)."""

    phones: Callable[[], Env[Any]]
    vision: bool = False

    def __call__(self) -> TrlPhone:
        """A new phone."""
        env = self.phones()
        if self.vision and env.observe.screenshot == "none":
            env.observe = ObservationSpec(screenshot="png", scale=env.observe.scale, marks=True)
        return TrlPhone(env, vision=self.vision)
