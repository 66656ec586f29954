"""Episodes do not depend on who runs them; what is lost is marked, and costs nothing else."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from typing import Any

import pytest

from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.policy import Actor, RandomPolicy, Script
from phoneworld.env.processes import Processes
from phoneworld.env.record import EpisodeRecord
from phoneworld.env.rewards import Rewards
from phoneworld.env.rollout import InProcess, Job, Phones, jobs, rollout
from phoneworld.errors import FileFormatError, SessionError
from phoneworld.ui.action import Action, Finish, Tap
from tests.env.shop_phone import ADD, BREAD, CHEAP, shop_env, write_shop

ALL = ("shop/buy-v1", "shop/cheap-v1", "shop/told-v1")


@pytest.fixture(scope="module")
def phones(tmp_path_factory: pytest.TempPathFactory) -> Phones:
    bundle, tasks = write_shop(tmp_path_factory.mktemp("shop"))
    return Phones(bundle, tasks=tasks, rewards=Rewards("delta"))


def lines(episodes: list[EpisodeRecord]) -> list[bytes]:
    return [e.to_bytes() for e in episodes]


def test_32_interleaved_episodes_are_the_same_as_one_by_one_and_as_in_two_processes(phones: Phones) -> None:
    policy, todo = RandomPolicy(finish=0.05), jobs(ALL, seeds=range(11))[:32]
    one_by_one = rollout(policy, todo, phones)
    assert len({line for line in lines(one_by_one)}) > 16 and any(e.success for e in one_by_one) is not None
    assert lines(rollout(policy, todo, phones, InProcess(interleave=32))) == lines(one_by_one)
    assert lines(rollout(policy, todo, phones, Processes(workers=2, interleave=16))) == lines(one_by_one)


def test_an_episode_says_what_happened(phones: Phones) -> None:
    (episode,) = rollout(Script((Tap(150, 220), ADD, Finish())), [Job("shop/buy-v1", _seed_of("Cheese"))], phones)
    assert (episode.success, episode.termination, episode.total, len(episode.steps)) == (True, "success", 1.0, 3)
    assert episode.steps[0].action == {"kind": "tap", "x": 150, "y": 220} and "Cheese" in episode.instruction
    assert json.loads(episode.to_bytes())["steps"][2]["progress"] == 1.0


def _seed_of(name: str) -> int:
    env = shop_env()
    return next(seed for seed in range(100) if name in env.book.assign("shop/buy-v1", seed, "en").instance.instruction)


class Stumbles:
    """Acts at random; in episodes of these seeds it raises, kills its process, or does not come back."""

    def __init__(self, seeds: tuple[int, ...], how: str) -> None:
        self.seeds, self.how = seeds, how

    def begin(self, task: str | None, seed: int) -> Actor:
        return _Stumbler(self.how if seed in self.seeds else "", random.Random(seed))


class _Stumbler:
    def __init__(self, how: str, dice: random.Random) -> None:
        self.how, self.dice, self.steps = how, dice, 0

    def act(self, observation: Observation, info: Info) -> Action:
        self.steps += 1
        if self.steps == 2 and self.how == "raise":
            raise ValueError("I do not know")
        if self.steps == 2 and self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.steps == 2 and self.how == "hang":
            threading.Event().wait()
        return Finish() if self.steps > 3 else self.dice.choice((CHEAP, BREAD))


def test_a_policy_that_raises_costs_its_own_episode(phones: Phones) -> None:
    todo = jobs("shop/cheap-v1", seeds=range(4))
    good = rollout(Stumbles((), ""), todo, phones)
    told = rollout(Stumbles((2,), "raise"), todo, phones, InProcess(interleave=2))
    assert [e.error_class for e in told] == ["none", "none", "agent", "none"] and "I do not know" in told[2].message
    assert [lines(told)[i] for i in (0, 1, 3)] == [lines(good)[i] for i in (0, 1, 3)] and len(told[2].steps) == 1
    assert told[2].success is None and not told[2].trainable


@pytest.mark.parametrize("how", ["die", "hang"])
def test_a_worker_that_dies_or_hangs_costs_its_episodes_and_nothing_else(phones: Phones, how: str) -> None:
    todo = jobs("shop/cheap-v1", seeds=range(6))
    good = rollout(Stumbles((), ""), todo, phones)
    told = rollout(Stumbles((3,), how), todo, phones, Processes(workers=2, episodes_s=20 if how == "hang" else None))
    assert [e.error_class for e in told] == ["none", "none", "none", "infra", "none", "none"], [e.message for e in told]
    assert (told[3].termination, told[3].success, told[3].trainable, told[3].steps) == ("error", None, False, ())
    assert ("signal 9" if how == "die" else "longer than 20 s") in told[3].message
    assert [lines(told)[i] for i in (0, 1, 2, 4, 5)] == [lines(good)[i] for i in (0, 1, 2, 4, 5)]


def test_a_task_that_cannot_be_is_the_fault_of_the_env_or_of_its_checker(phones: Phones) -> None:
    told = rollout(RandomPolicy(finish=1.0), [Job("shop/nothing-v1", 0), Job("shop/broken-v1", 0), Job("shop/cheap-v1", 0)], phones)
    assert [e.error_class for e in told] == ["env", "checker", "none"] and "no task" in told[0].message
    assert told[0].total != told[0].total, "there is no score"


def test_what_cannot_be_sent_or_made_is_named(phones: Phones) -> None:
    with pytest.raises(SessionError, match="cannot be sent"):
        rollout(Script((Finish(),)), jobs(None), lambda: shop_env(), Processes(workers=1))
    with pytest.raises(FileFormatError, match="no such bundle"):
        rollout(Script((Finish(),)), jobs(None), Phones("nowhere"), Processes(workers=1))
    with pytest.raises(SessionError):
        rollout(Script((Finish(),)), jobs(None), phones, Processes(workers=0))


def test_a_policy_that_never_ends_is_given_up_without_a_budget() -> None:
    class Waits:
        def begin(self, task: str | None, seed: int) -> Any:
            return self

        def act(self, observation: Observation, info: Info) -> dict[str, Any]:
            return {"kind": "tap", "x": 0, "y": -1}

    (episode,) = rollout(Waits(), jobs(None), shop_env)
    assert episode.termination == "step_limit" and len(episode.steps) == 10_000
