"""Demonstrations are solutions that the policy can do, and training on them teaches them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network, Shape
from phoneworld.agent.play import Spent, play
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import Job, jobs
from phoneworld.errors import OptionError
from phoneworld.sim.phone import Phone
from phoneworld.train.demonstrations import Demonstration, Missing, Teacher, demonstrations
from phoneworld.train.sft import SftOptions, train
from phoneworld.train.sources import REAL
from tests.env.shop_phone import shop_env
from tests.sim.shop import shop
from tests.tasks.shop_tasks import tasks
from tests.transfer.shops import (
    TASKS,
    StoringShop,
    learned,
    one_more_above,
    only_acorns,
    real_shop,
    starting_at_the_list,
    without,
)

SMALL = Shape(width=32, heads=2)


def test_what_is_shown_is_a_solution_and_what_cannot_be_shown_says_why() -> None:
    shown, missing = demonstrations(shop_env(), jobs(("shop/buy-v1", "shop/cheap-v1", "shop/told-v1"), range(3)))
    assert {d.task for d in shown} == {"shop/buy-v1", "shop/cheap-v1", "shop/told-v1"} and all(d.steps for d in shown)
    assert not [m for m in missing if m.task != "shop/buy-v1"]
    short = shop_env(max_steps=1)
    assert demonstrations(short, [Job("shop/cheap-v1", 0)])[1] == [Missing("shop/cheap-v1", 0, "done so it is not taken: step_limit")]


def test_the_same_instance_is_shown_once() -> None:
    shown, _ = demonstrations(shop_env(), jobs("shop/cheap-v1", range(5)))
    assert len(shown) == 1


def teacher_of_the_shop() -> Teacher:
    return Teacher(PhoneEnv(Phone([starting_at_the_list(shop())]), tasks=tasks(TASKS)))


def test_the_real_app_shows_it_where_things_stand_there() -> None:
    teacher = teacher_of_the_shop()
    todo = jobs(("shop/buy-v1", "shop/read-v1", "shop/like-v1"), range(2))
    real = real_shop(one_more_above, StoringShop, storage=learned())
    shown, missing = teacher.show(todo, real)
    assert missing == [] and {d.task for d in shown} == {"shop/buy-v1", "shop/read-v1", "shop/like-v1"} and {d.source for d in shown} == {REAL}
    on_mock = {(d.task, d.seed): d for d in teacher.show(todo)[0]}
    pairs = [(d, on_mock[d.task, d.seed]) for d in shown]
    assert [len(d.steps) for d, _ in pairs] == [len(m.steps) for _, m in pairs]
    assert any(a.kinds.size != b.kinds.size for d, m in pairs for (a, _), (b, _) in zip(d.steps, m.steps, strict=True)), "what is learned from is what the real app shows"


def test_what_the_real_app_does_otherwise_is_missing_and_says_why() -> None:
    teacher = teacher_of_the_shop()
    real = real_shop(without("cart"), StoringShop, storage=learned())
    shown, (look,) = teacher.show(jobs(("shop/read-v1", "shop/look-v1"), (0,)), real)
    assert [d.task for d in shown] == ["shop/read-v1"] and look.task == "shop/look-v1" and look.why.startswith("done so it is not taken")
    shown, (buy,) = teacher.show([Job("shop/buy-v1", 0)], real_shop(only_acorns, StoringShop, storage=learned()))
    assert shown == [] and "nothing on the real app is like what" in buy.why
    shown, (untold,) = teacher.show([Job("shop/like-v1", 0)], real_shop())
    assert shown == [] and untold.task == "shop/like-v1", "a phone that does not tell what it stores cannot say that it was done"


def test_training_on_demonstrations_teaches_goods_that_were_never_named() -> None:
    env = shop_env()
    goods = {seed: env.reset(seed, task="shop/buy-v1")[0].instruction for seed in range(36)}
    held_out = [seed for seed, words in goods.items() if any(name in words for name in ("Dates", "Honey", "Grapes"))]
    shown, _ = demonstrations(env, jobs("shop/buy-v1", [seed for seed in goods if seed not in held_out]))
    todo = [(Job("shop/buy-v1", seed), None) for seed in held_out]
    network = Network(SMALL)
    before = sum(p.record.success is True for p in play(network, [env], todo))
    epochs = train(network, shown, SftOptions(epochs=24, batch=8, rate=3e-3))
    after = sum(p.record.success is True for p in play(network, env.fork(4), todo))
    assert len(todo) > 5 and before <= 0.2 * len(todo) and after >= 0.8 * len(todo)
    assert epochs[-1].loss < 0.3 * epochs[0].loss and epochs[0].steps == sum(len(d.steps) for d in shown)


def test_training_gives_the_same_weights_every_time() -> None:
    shown, _ = demonstrations(shop_env(), jobs("shop/buy-v1", range(4)))
    one, other = Network(SMALL), Network(SMALL)
    for network in (one, other):
        train(network, shown, SftOptions(epochs=2, batch=4))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not torch.equal(one.words.weight, Network(SMALL).words.weight)


def test_without_demonstrations_nothing_is_trained() -> None:
    with pytest.raises(OptionError):
        train(Network(SMALL), [Demonstration("a/b-v1", 0, "mock", ())])


def test_episodes_played_together_are_those_played_by_executors_and_time_is_told() -> None:
    from phoneworld.agent.policy import NetworkPolicy
    from phoneworld.env.rollout import InProcess, rollout

    network, env, spent = Network(SMALL, seed=1), shop_env(max_steps=4), Spent()
    todo = jobs(("shop/buy-v1", "shop/cheap-v1", "shop/broken-v1"), range(3))
    together = play(network, env.fork(4), [(job, None) for job in todo], spent)
    apart = rollout(NetworkPolicy(network), todo, lambda: shop_env(max_steps=4), InProcess())
    assert [p.record.to_bytes() for p in together] == [r.to_bytes() for r in apart]
    assert {p.record.error_class for p in together if p.record.task == "shop/broken-v1"} == {"checker"}
    assert all(len(p.decisions) == len(p.record.steps) for p in together)
    assert spent.steps == sum(len(p.decisions) for p in together) and sum(spent.shares().values()) == pytest.approx(1.0)
