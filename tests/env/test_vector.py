"""Many phones with one interface: the same as one by one, here and in processes; a worker that dies costs its episodes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from phoneworld.env.gym import TASKS_ID, GymPhoneEnv
from phoneworld.env.seeds import episode_seed
from phoneworld.env.vector import PhoneVectorEnv
from phoneworld.errors import SessionError
from tests.env.shop_phone import write_shop

OPTIONS: dict[str, Any] = {"max_nodes": 8, "max_steps": 5}
FINISH = (14, 0, 0, 0)


@pytest.fixture(scope="module")
def shop_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    bundle, tasks = write_shop(tmp_path_factory.mktemp("shop"))
    # Of the tasks one has a checker that cannot be worked out: here the seeds choose among the others.
    file = Path(tasks) / "shop.yaml"
    text = file.read_text(encoding="utf-8")
    start = text.index("- id: shop/broken-v1")
    file.write_text(text[:start] + text[text.index("- id: shop/told-v1") :], encoding="utf-8")
    return bundle, tasks


@pytest.fixture(params=[0, 2], ids=["here", "two processes"])
def envs(request: pytest.FixtureRequest, shop_files: tuple[str, str]) -> Iterator[PhoneVectorEnv]:
    envs = PhoneVectorEnv(5, bundle=shop_files[0], tasks=shop_files[1], workers=request.param, **OPTIONS)
    yield envs
    envs.close()


def test_each_phone_is_as_it_is_alone(envs: PhoneVectorEnv, shop_files: tuple[str, str]) -> None:
    alone = [GymPhoneEnv(shop_files[0], tasks=shop_files[1], **OPTIONS) for _ in range(5)]
    arrays, infos = envs.reset(seed=7)
    wanted = [env.reset(seed=7 + i) for i, env in enumerate(alone)]
    over = [False] * 5
    envs.action_space.seed(1)
    for _ in range(20):
        for i, (obs, info) in enumerate(wanted):
            assert all(np.array_equal(arrays[name][i], obs[name]) for name in obs), f"phone {i}"
            assert (infos["state_id"][i], infos["task"][i]) == (info["state_id"], info["task"])
        assert arrays["node_bounds"].shape == (5, 8, 4)
        assert all(np.array_equal(mask, env.action_masks()) for mask, env in zip(envs.action_masks(), alone, strict=True))
        actions = envs.action_space.sample()
        arrays, rewards, terminated, truncated, infos = envs.step(actions)
        wanted = []
        for i, env in enumerate(alone):
            if over[i]:
                over[i] = False
                wanted.append(env.reset())
                assert (rewards[i], terminated[i], truncated[i]) == (0.0, False, False)
                continue
            obs, reward, ended, cut, info = env.step(actions[i])
            wanted.append((obs, info))
            assert (rewards[i], terminated[i], truncated[i]) == (reward, ended, cut)
            over[i] = ended or cut


def test_gymnasium_makes_it_by_its_id(shop_files: tuple[str, str]) -> None:
    envs = gymnasium.make_vec(TASKS_ID, num_envs=3, bundle=shop_files[0], tasks=shop_files[1], **OPTIONS)
    assert isinstance(envs, PhoneVectorEnv) and envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    arrays, infos = envs.reset(seed=0)
    assert arrays in envs.observation_space and infos["_task"].all()
    envs.close()


def test_autoreset_in_the_same_step_or_never(shop_files: tuple[str, str]) -> None:
    envs = PhoneVectorEnv(2, bundle=shop_files[0], tasks=shop_files[1], autoreset="same_step", **OPTIONS)
    envs.reset(seed=0)
    _, _, terminated, _, infos = envs.step(np.array([FINISH, (12, 0, 0, 0)]))
    assert terminated.tolist() == [True, False] and infos["step"].tolist() == [0, 1]
    assert infos["final_info"][0]["termination"] == "failed" and "text" in infos["final_obs"][0]
    envs.close()
    envs = PhoneVectorEnv(2, bundle=shop_files[0], tasks=shop_files[1], autoreset="disabled", **OPTIONS)
    envs.reset(seed=0)
    envs.step(np.array([FINISH, (12, 0, 0, 0)]))
    _, infos = envs.reset(options={"reset_mask": np.array([True, False])})
    assert infos["_step"].tolist() == [True, False]
    assert envs.step(np.array([(12, 0, 0, 0)] * 2))[4]["step"].tolist() == [1, 2]
    with pytest.raises(SessionError, match="2 seeds"):
        envs.reset(seed=[1, 2, 3])
    envs.close()


def test_a_worker_that_dies_costs_its_episodes_and_is_started_again(shop_files: tuple[str, str]) -> None:
    envs = PhoneVectorEnv(4, bundle=shop_files[0], tasks=shop_files[1], workers=2, **OPTIONS)
    envs.reset(seed=0)
    process = envs._groups[1]._process  # type: ignore[union-attr]
    os.kill(process.pid, signal.SIGKILL)
    process.join(20)
    wait = np.array([(12, 0, 0, 0)] * 4)
    _, rewards, terminated, truncated, infos = envs.step(wait)
    assert truncated.tolist() == [False, False, True, True] and not terminated.any()
    assert np.isnan(rewards).tolist() == [False, False, True, True]
    assert infos["error_class"].tolist() == ["none", "none", "infra", "infra"] and not infos["trainable"][2]
    arrays, rewards, _, truncated, infos = envs.step(wait)
    assert not truncated.any() and infos["step"].tolist() == [2, 2, 0, 0] and not np.isnan(rewards).any()
    assert arrays["node_mask"].any(axis=1).all()
    envs.close()


def test_no_shared_memory_is_left(shop_files: tuple[str, str]) -> None:
    before = set(os.listdir("/dev/shm"))
    envs = PhoneVectorEnv(2, bundle=shop_files[0], tasks=shop_files[1], workers=1, **OPTIONS)
    names = set(envs._store.names.values())
    assert names <= set(os.listdir("/dev/shm"))
    envs.close()
    envs.close()
    assert not names & set(os.listdir("/dev/shm")) - before


def test_episodes_that_are_not_seeded_follow_from_the_seed_and_their_number(shop_files: tuple[str, str]) -> None:
    def tasks_of(steps: int) -> list[tuple[str, int]]:
        env = GymPhoneEnv(shop_files[0], tasks=shop_files[1], **OPTIONS)
        told = [env.reset(seed=3)[1]]
        for _ in range(4):
            for _ in range(steps):
                env.step((12, 0, 0, 0))
            told.append(env.reset()[1])
        return [(info["task"], info["seed"]) for info in told]

    assert tasks_of(0) == tasks_of(3) and tasks_of(0)[1][1] == episode_seed(3, 1)
    assert len(set(tasks_of(0))) == 5
