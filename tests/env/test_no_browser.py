"""Where Chromium is missing or dead, an episode that needs pictures is lost and marked; it is no failure of the policy."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from phoneworld.env.gym import TASKS_ID
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Info
from phoneworld.env.rollout import Phones, jobs, rollout
from phoneworld.errors import BrowserError
from phoneworld.serve.doors.messages import MessageEnv, Turn
from phoneworld.ui.geometry import Size
from tests.env.shop_phone import CHEAP, write_shop


@pytest.fixture
def phones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_chromium: None) -> Phones:
    """The shop, whose screens must be drawn, on a machine whose Chromium is named wrongly."""
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", str(tmp_path / "nothing"))
    bundle, tasks = write_shop(tmp_path)
    return Phones(bundle, tasks=tasks, observe=ObservationSpec(screenshot="png"))


class _Looks:
    def begin(self, task: str | None, seed: int) -> Any:
        return self

    def act(self, observation: Observation, info: Info) -> Any:
        assert observation.png
        return CHEAP


def test_an_episode_of_a_policy_that_looks_is_lost(phones: Phones) -> None:
    (episode,) = rollout(_Looks(), jobs("shop/cheap-v1"), phones)
    assert (episode.error_class, episode.termination, episode.success, episode.trainable) == ("infra", "error", None, False)
    assert math.isnan(episode.total)


def test_gymnasium_truncates_it_and_shows_what_was_last_seen(phones: Phones) -> None:
    env: Any = gymnasium.make(TASKS_ID, bundle=phones.bundles, tasks=phones.tasks, task="shop/cheap-v1").unwrapped
    first, _ = env.reset(seed=0)
    # From here on it is to show pictures too.
    env._picture = Size(90, 200)
    arrays, reward, terminated, truncated, info = env.step((12, 0, 0, 0))
    assert math.isnan(reward) and (terminated, truncated) == (False, True)
    assert (info["error_class"], info["trainable"], info["termination"]) == ("infra", False, "error")
    assert np.array_equal(arrays["node_bounds"], first["node_bounds"])
    with pytest.raises(BrowserError):
        env.reset()
    env.close()


def test_a_conversation_ends_without_a_score(phones: Phones) -> None:
    async def go() -> Turn:
        env = MessageEnv(phones)
        await env.reset(task="shop/cheap-v1")
        env._images = "png"
        turn = await env.step('{"action": "wait", "time": 1}')
        with pytest.raises(BrowserError):
            await env.reset(task="shop/cheap-v1")
        await env.close()
        return turn

    with ThreadPoolExecutor(1) as own:  # no loop of another test runs there
        turn = own.submit(asyncio.run, go()).result()
    assert turn.done and math.isnan(turn.reward) and turn.info["error_class"] == "infra" and turn.messages == []
