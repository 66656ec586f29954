"""What ms-swift takes as a plugin (`--external_plugins`): a phone as its environment, a scheduler that lets the phone go, and the reward.

A row names its phone: `env_config: {name: phoneworld, bundle: ..., tasks: ..., task: ..., seed: ..., dialect: ...}`; see `rows.py`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean
from typing import Any

from swift.rewards import ORM, orms
from swift.rollout.gym_env import Env, envs
from swift.rollout.multi_turn import GYMScheduler, multi_turns

from phoneworld.env.rollout import Phones
from phoneworld.serve.doors.messages import MessageEnv

Messages = list[dict[str, Any]]


class PhoneEnv(Env):
    """One episode on a mock phone, spoken to in a dialect."""

    def __init__(self, env_config: dict[str, Any]) -> None:
        super().__init__(env_config)
        self._phone = MessageEnv(Phones(env_config["bundle"], tasks=env_config["tasks"]), dialect=env_config.get("dialect", "qwen3"))
        self.trainable = True

    async def reset(self, config: Any) -> tuple[str, dict[str, Any], str]:
        """The screen with what is asked, nothing, and how to speak."""
        system, user = await self._phone.reset(self.env_config["task"], self.env_config["seed"])
        return user["content"], {}, system["content"]

    async def step(self, action: Messages) -> tuple[str, float, bool, dict[str, Any]]:
        """Does what the last message says."""
        turn = await self._phone.step(action[-1]["content"])
        self.trainable = bool(turn.info["trainable"])
        return (turn.messages[0]["content"] if turn.messages else ""), turn.reward, turn.done, turn.info

    async def close(self) -> None:
        """Lets the phone go."""
        await self._phone.close()


class PhoneScheduler(GYMScheduler):
    """Gym's, which also tells the reward whether an episode may be trained on, and closes the phone where `max_turns` ends it.

    Gym's own closes only what the environment ended.
    """

    async def on_turn_end(self, infer_request: Any, response_choice: Any, current_turn: int) -> dict[str, Any]:
        """One step of the phone."""
        phone = self._envs.get(infer_request.uuid)
        told: dict[str, Any] = await super().on_turn_end(infer_request, response_choice, current_turn)
        if phone is not None:
            told["rollout_infos"]["trainable"] = phone.trainable
        if self.max_turns and current_turn >= self.max_turns:
            await self._close_and_remove(infer_request.uuid)
        return told


class PhoneReward(ORM):
    """What each episode was paid. One without a score (a fault of the phone or the checker) gets the mean of its group.

    So its advantage is none. ms-swift itself counts a reward that is None or NaN as 0, which would be a punishment.
    """

    def __call__(self, completions: list[str], rollout_infos: list[dict[str, Any]], env_config: list[dict[str, Any]], **columns: Any) -> list[float]:
        """The rewards, in order; groups are told apart by task and seed."""
        paid = [float(infos["total_reward"]) if infos["trainable"] else math.nan for infos in rollout_infos]
        group = [(config["task"], config["seed"]) for config in env_config]
        known: dict[object, list[float]] = defaultdict(list)
        for name, reward in zip(group, paid, strict=True):
            if not math.isnan(reward):
                known[name].append(reward)
        return [fmean(known[name] or [0.0]) if math.isnan(reward) else reward for name, reward in zip(group, paid, strict=True)]


envs["phoneworld"] = PhoneEnv
multi_turns["phoneworld"] = PhoneScheduler
orms["phoneworld"] = PhoneReward
