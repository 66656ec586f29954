"""Looks at the hand-written shop, for tests of what a policy sees of it."""

from __future__ import annotations

from phoneworld.agent.screen import screen_of
from phoneworld.agent.sight import Memory, Seen
from phoneworld.env.phone_env import PhoneEnv
from tests.env.shop_phone import shop_env


def first_look(task: str = "shop/buy-v1", seed: int = 0) -> tuple[PhoneEnv, Seen]:
    """The shop at the start of a task."""
    env = shop_env()
    observation, _ = env.reset(seed, task=task)
    return env, Memory().look(screen_of(observation), observation.instruction)
