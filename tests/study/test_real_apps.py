"""Real apps side by side: the same episodes as one after the other, and a phone that is lost costs what was played on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network, Shape
from phoneworld.agent.play import Played, Spent
from phoneworld.device.mock import MockDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.rollout import Job
from phoneworld.errors import DeviceLost
from phoneworld.program.bundle import Bundle
from phoneworld.sim.phone import Phone
from phoneworld.study.real_apps import RealApps
from phoneworld.ui.action import Action
from tests.sim.shop import PACKAGE, shop
from tests.tasks.shop_tasks import tasks
from tests.transfer.shops import TASKS, _no_drawing, starting_at_the_list

NETWORK = Network(Shape(width=16, heads=2, layers=1), seed=3)


class Unplugged(MockDevice):
    """A phone that goes away at its third action."""

    left = 3

    def perform(self, action: Action) -> None:
        self.left -= 1
        if self.left < 0:
            raise DeviceLost("it went away", hint="")
        super().perform(action)


@dataclass
class Shops:
    """The shop in the place of a real app; the phones that are opened first go away."""

    lost: int = 0
    device: str = "mock:shop"
    opened: list[DeviceEnv] = field(default_factory=list)

    def __call__(self, browser: object) -> DeviceEnv:
        assert browser is None, "no page, no browser"
        kind = Unplugged if len(self.opened) < self.lost else MockDevice
        phone = kind([Bundle(starting_at_the_list(shop()), Path("nowhere"))], draw=_no_drawing)
        self.opened.append(DeviceEnv(phone, PACKAGE, tasks=tasks(TASKS), mock=Phone([starting_at_the_list(shop())]), max_steps=4))
        return self.opened[-1]


def played(phones: int, shops: Shops, heard: list[int]) -> tuple[list[Played], Spent]:
    apps: Any = {"shop": shops}
    place, spent = RealApps(apps, {"shop/look-v1": 2}, phones=phones), Spent()
    names = ("shop/look-v1", "shop/read-v1", "shop/buy-v1")
    todo = [(Job(names[i % 3], i), Random(i)) for i in range(9)]
    try:
        return place.play(NETWORK, todo, spent, lambda number, _: heard.append(number)), spent
    finally:
        place.close()


def test_episodes_played_side_by_side_are_those_played_one_after_the_other() -> None:
    heard: list[int] = []
    one, spent = played(1, Shops(), [])
    three, _ = played(3, shops := Shops(), heard)
    assert [p.record.to_bytes() for p in one] == [p.record.to_bytes() for p in three]
    assert sorted(heard) == list(range(9)) and 1 <= len(shops.opened) <= 3
    assert spent.steps == sum(len(p.decisions) for p in one) and spent.wall_s > 0


def test_a_phone_that_is_lost_costs_one_episode_and_is_opened_again() -> None:
    told, _ = played(1, shops := Shops(lost=1), [])
    lost = [p.record.error_class for p in told]
    assert lost.count("infra") == 1 and set(lost) == {"infra", "none"} and len(shops.opened) == 2
    assert lost.index("infra") < 3


def test_what_an_app_cannot_be_opened_for_is_raised() -> None:
    class Broken(Shops):
        def __call__(self, browser: object) -> DeviceEnv:
            raise DeviceLost("there is none", hint="")

    with pytest.raises(DeviceLost):
        played(2, Broken(), [])
