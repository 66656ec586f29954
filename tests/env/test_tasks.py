"""Episodes about tasks: how they end, what they pay, what is told of them; the same on a phone that only shows its screen."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from phoneworld.device.mock import MockDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.outcome import Deadlines
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rewards import Rewards
from phoneworld.errors import CheckerError, Overdue, SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.ui.action import Action, Answer, DoubleTap, Finish, PressKey, Tap
from tests.env.shop_phone import BREAD, CART, CHEAP, buying, shop_env
from tests.sim.shop import shop
from tests.tasks.shop_tasks import BUY, tasks

UNKNOWN = DoubleTap(300, 60)
"""On the button of the cart, of which nobody knows what a double tap does."""


def ends(env: Any, *actions: Action) -> tuple[float, bool, bool, dict[str, Any]]:
    """Does the actions; all rewards together, and the rest of the last step."""
    paid = 0.0
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        paid += reward
    return paid, terminated, truncated, info


def test_a_task_brings_instruction_start_and_budget() -> None:
    env = shop_env()
    observation, info = env.reset(seed=3, task="shop/buy-v1")
    assert observation.instruction == env.book.assign("shop/buy-v1", 3, "en").instance.instruction
    assert (info["task"], info["progress"], info["success"], env.budget) == ("shop/buy-v1", 0.0, None, 12)
    again, told = shop_env().reset(seed=3, task="shop/buy-v1")
    assert (again.instruction, again.xml, told) == (observation.instruction, observation.xml, info)
    assert env.reset(seed=3, task="shop/buy-v1", language="zh")[0].instruction.endswith("放进购物车。")
    assert env.reset(seed=3)[0].instruction == "" and env.budget is None


def test_a_group_is_begun_from_one_draw() -> None:
    env = shop_env()
    env.reset(seed=3, task="shop/buy-v1")
    first = env.standing.assignment
    env.reset(seed=4, task="shop/buy-v1")
    other = env.standing.assignment
    env.reset(seed=3, task="shop/buy-v1")
    assert env.standing.assignment is first is not other and env.standing.assignment is not None
    env.reset(seed=3, task=tasks(BUY)[0])
    assert env.standing.assignment is not first  # another task, though it has the same id


def test_success_is_paid_once_and_only_at_the_end() -> None:
    env = shop_env()
    for seed in range(5):
        observation, _ = env.reset(seed=seed, task="shop/buy-v1")
        assert ends(env, *buying(observation.instruction))[:3] == (0.0, False, False)
        paid, terminated, _, info = ends(env, Finish())
        assert (paid, terminated, info["termination"], info["success"], info["progress"]) == (1.0, True, "success", True, 1.0)
        assert info["trainable"] and info["error_class"] == "none"


def test_what_is_not_done_has_failed_and_what_is_given_up_says_so() -> None:
    env = shop_env()
    env.reset(seed=0, task="shop/buy-v1")
    paid, *_, info = ends(env, Finish())
    assert (paid, info["termination"], info["success"], info["trainable"]) == (0.0, "failed", False, True)
    env.reset(seed=0, task="shop/buy-v1")
    assert ends(env, Finish("infeasible"))[3]["termination"] == "gave_up"


def test_what_else_changed_spoils_it_and_is_told() -> None:
    env = shop_env()
    observation, _ = env.reset(seed=0, task="shop/buy-v1")
    paid, *_, info = ends(env, *buying(observation.instruction), Tap(20, 140), Finish())
    assert (paid, info["success"], info["progress"], info["termination"]) == (0.0, False, 1.0, "failed")
    assert len(info["side_effects"]) == 1


def test_an_answer_is_judged() -> None:
    env = shop_env()
    for words, success in (("12", True), ("There are 12 things.", True), ("120", False)):
        env.reset(task="shop/told-v1")
        paid, terminated, _, info = ends(env, Answer(words))
        assert (paid, terminated, info["success"], info["answer"]) == (float(success), True, success, words)


def test_the_budget_truncates_and_the_state_it_ends_in_is_judged() -> None:
    env = shop_env(max_steps=2)
    observation, _ = env.reset(seed=0, task="shop/buy-v1")
    paid, terminated, truncated, info = ends(env, *buying(observation.instruction))
    assert (paid, terminated, truncated, info["termination"], info["success"]) == (1.0, False, True, "step_limit", True)
    env.reset(seed=0, task="shop/buy-v1")
    paid, *_, info = ends(env, CHEAP, CHEAP)
    assert (paid, info["termination"], info["success"]) == (0.0, "step_limit", False)


@pytest.mark.parametrize(
    ("rewards", "half", "whole"),
    [
        (Rewards(), 0.0, 1.0),
        (Rewards("delta", cap=0.5), 0.25, 1.0),
        (Rewards("delta", cap=0.0), 0.0, 1.0),
        # The agent ended the episode, so what it had been advanced is taken back.
        (Rewards("potential", cap=0.5), 0.0, 1.0),
    ],
)
def test_no_way_of_paying_pays_a_failure_as_much_as_success(rewards: Rewards, half: float, whole: float) -> None:
    env = shop_env(rewards=rewards)
    env.reset(task="shop/cheap-v1")
    assert ends(env, CHEAP, CHEAP, CHEAP, Finish())[0] == pytest.approx(half), "back and forth pays nothing"
    env.reset(task="shop/cheap-v1")
    assert ends(env, CHEAP, CART, Finish())[0] == pytest.approx(whole)
    env.reset(task="shop/cheap-v1")
    first = env.step(CHEAP)[1]
    assert first == pytest.approx(0.0 if rewards.kind == "sparse" else rewards.cap / 2)


def test_rewards_that_could_pass_success_are_refused() -> None:
    for wrong in ({"kind": "dense"}, {"cap": 1.0}, {"cap": -0.1}, {"gamma": 0.0}):
        with pytest.raises(SessionError):
            Rewards(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("choice", "truncated", "trainable", "termination"), [("noop", False, True, None), ("truncate", True, False, "unrecorded"), ("mask", False, False, None)])
def test_what_the_recording_does_not_know_is_a_choice(choice: Any, truncated: bool, trainable: bool, termination: str | None) -> None:
    env = shop_env(on_unrecorded=choice)
    before = env.reset(task="shop/cheap-v1")[0]
    observation, reward, _, cut, info = env.step(UNKNOWN)
    assert info["evidence"] == "unrecorded" and info["unrecorded"] == 1 and observation.xml == before.xml
    assert (reward, cut, info["trainable"], info["termination"]) == (0.0, truncated, trainable, termination)
    if not truncated:
        assert env.step(CHEAP)[4]["trainable"] and env.step(UNKNOWN)[4]["unrecorded"] == 2


def test_a_checker_that_fails_is_named() -> None:
    with pytest.raises(CheckerError):
        shop_env().reset(task="shop/broken-v1")


def test_a_snapshot_keeps_the_task_and_how_far_it_is() -> None:
    env = shop_env()
    env.reset(task="shop/cheap-v1")
    ends(env, CART, PressKey("back"))
    kept, twin = env.snapshot(), env.fork(1)[0]
    assert ends(env, Finish())[3]["success"] is False
    env.restore(kept)
    for one in (env, twin):
        assert ends(one, CHEAP, Finish())[3]["success"] is True, "the cart was visited before"
    observation, info = env.reset(snapshot=kept)
    assert info["step"] == 0 and info["task"] == "shop/cheap-v1" and observation.instruction
    assert ends(env, CHEAP, Finish())[3]["success"] is True


def test_unknown_tasks_and_choices_are_named() -> None:
    env = shop_env()
    with pytest.raises(SessionError) as e:
        env.reset(task="shop/buy-v2")
    assert "shop/buy-v1" in e.value.hint
    env.reset(task="shop/cheap-v1")
    ends(env, CHEAP, CART)
    with pytest.raises(SessionError):
        env.reset(task="shop/buy-v2")
    assert ends(env, Finish())[3]["success"] is True, "what cannot be begun leaves the episode that is on as it is"
    with pytest.raises(SessionError, match="says itself where it starts"):
        env.reset(task="shop/buy-v1", start="first")
    with pytest.raises(SessionError, match="noop, truncate or mask"):
        shop_env(on_unrecorded="ignore")


# --- deadlines ---------------------------------------------------------------------------------------------------------


class Ticks:
    """A clock that goes on by so much at each look."""

    def __init__(self, tick_s: float) -> None:
        self.now, self.tick_s = 0.0, tick_s

    def __call__(self) -> float:
        self.now += self.tick_s
        return self.now


def clocked(deadlines: Deadlines, tick_s: float = 1.0) -> PhoneEnv:
    env = shop_env(deadlines=deadlines)
    env._clock = Ticks(tick_s)
    return env


def test_a_reset_that_takes_too_long_is_a_fault() -> None:
    with pytest.raises(Overdue, match="the reset took"):
        clocked(Deadlines(reset_s=0.5)).reset(task="shop/cheap-v1")


@pytest.mark.parametrize(("deadlines", "error_class"), [(Deadlines(step_s=0.5), "infra"), (Deadlines(check_s=0.5), "checker")])
def test_a_step_and_a_look_of_the_checker_that_take_too_long_are_no_score(deadlines: Deadlines, error_class: str) -> None:
    env = clocked(deadlines)
    env.reset(task="shop/cheap-v1")
    _, reward, terminated, truncated, info = env.step(CHEAP)
    assert math.isnan(reward) and (terminated, truncated) == (False, True)
    assert (info["error_class"], info["trainable"], info["termination"]) == (error_class, False, "error")


def test_an_episode_that_takes_too_long_is_cut_and_judged() -> None:
    env = clocked(Deadlines(episode_s=4.5))
    env.reset(task="shop/cheap-v1")
    told = [env.step(action) for action in (CHEAP, CART, BREAD)]
    cut = next(t for t in told if t[3])
    assert cut[4]["termination"] == "time_limit" and cut[1] == float(cut[4]["success"])


# --- on a phone --------------------------------------------------------------------------------------------------------


def on_phone() -> DeviceEnv:
    device = MockDevice([Bundle(shop(), Path("nowhere"))], draw=_no_drawing)
    return DeviceEnv(device, tasks=tasks(ON_PHONE))


def _no_drawing(_: object) -> Any:
    raise AssertionError("no picture is asked for here")


ON_PHONE = """
- {id: shop/look-v1, say: {en: Look into the cart.}, check: {visible: {text: Empty}}}
- {id: shop/state-v1, say: {en: Look into the cart.}, check: {state: {variables.bargains: false}}}
- {id: shop/both-v1, say: {en: Look into the cart.}, check: {state: {variables.bargains: false}}, on_phone: {visible: {text: Empty}}}
- {id: shop/there-v1, say: {en: Wait.}, check: {visible: {text: Empty}}, start: {at: first, on_phone: [{kind: tap, x: 300, y: 60}]}}
- {id: shop/made-v1, say: {en: Wait.}, check: {visible: {text: Empty}}, start: {at: browsing}}
"""


@pytest.mark.parametrize("task", ["shop/look-v1", "shop/both-v1"])
def test_what_can_be_seen_is_judged_on_a_phone(task: str) -> None:
    with on_phone() as env:
        observation, info = env.reset(task=task)
        assert observation.instruction == "Look into the cart." and info["task"] == task
        assert ends(env, Finish())[3]["termination"] == "failed"
        env.reset(task=task)
        paid, terminated, _, info = ends(env, CART, Finish())
        assert (paid, terminated, info["termination"], info["success"]) == (1.0, True, "success", True)


def test_what_cannot_be_seen_is_unknown_and_no_score() -> None:
    with on_phone() as env:
        env.reset(task="shop/state-v1")
        paid, terminated, truncated, info = ends(env, CART, Finish())
        assert math.isnan(paid) and (terminated, truncated, info["termination"]) == (True, False, "unknown")
        assert info["success"] is None and info["trainable"] is False and info["error_class"] == "none"


def test_a_phone_is_brought_to_the_start_by_actions_or_not_at_all() -> None:
    with on_phone() as env:
        env.reset(task="shop/there-v1")
        assert ends(env, Finish())[3]["success"] is True
        with pytest.raises(SessionError, match="where a phone cannot be put"):
            env.reset(task="shop/made-v1")
