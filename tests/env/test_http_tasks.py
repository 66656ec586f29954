"""Tasks over HTTP end as they do in this process: the server's phone is put where they begin, and its whole state is judged."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from phoneworld.env.http_env import HttpEnv
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.errors import SessionError
from phoneworld.program.bundle import load_bundle
from phoneworld.serve.app import create_app
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Answer, Finish, Tap
from tests.env.shop_phone import CART, CHEAP, buying, write_shop
from tests.sim.shop import shop
from tests.tasks.shop_tasks import tasks

MADE = """
- id: shop/made-v1
  say: {en: "Like the milk."}
  start: {at: browsing, tables: {goods: [{name: Milk, cost: 3, liked: false}]}, variables: {bargains: true}, clock: "2026-03-02T09:30:00+00:00"}
  check: {rows: {table: goods, changed: [{where: {name: Milk}, to: {liked: true}}]}}
- {id: shop/order-v1, say: {en: Go.}, start: {at: browsing}, check: [{visited: [basket]}, {never: {state: {variables.bargains: true}}}]}
- {id: shop/told-v1, say: {en: "How many?"}, start: {at: browsing}, check: {answer: {number: 12}}}
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A real server with the shop, and the path of its bundle."""
    bundle, _ = write_shop(tmp_path_factory.mktemp("shop"))
    server = uvicorn.Server(uvicorn.Config(create_app({"shop": load_bundle(Path(bundle))}), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        thread.join(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", bundle
    server.should_exit = True
    thread.join(20)


def told(step: tuple[Any, ...]) -> tuple[Any, ...]:
    observation, reward, terminated, truncated, info = step
    info = {k: v for k, v in info.items() if k != "rules"}
    return observation.xml, observation.device, reward, terminated, truncated, info


@pytest.mark.parametrize(
    ("task", "actions"),
    [
        ("shop/made-v1", (Tap(20, 140), Finish())),
        ("shop/made-v1", (Finish(),)),
        ("shop/made-v1", (Tap(20, 140), CHEAP, Finish())),
        ("shop/order-v1", (CART, Finish())),
        ("shop/order-v1", (CHEAP, CHEAP, CART, Finish())),
        ("shop/told-v1", (Answer("twelve"),)),
        ("shop/told-v1", (Answer("13"),)),
    ],
)
def test_every_step_is_told_as_in_process(address: tuple[str, str], task: str, actions: tuple[Any, ...]) -> None:
    url, bundle = address
    listed = tasks(MADE)
    here = PhoneEnv(bundle, tasks=listed)
    with HttpEnv(url, mock=Phone([shop()]), tasks=listed) as there:
        begun = [env.reset(seed=3, task=task) for env in (here, there)]
        assert [(o.xml, o.instruction, o.device, i) for o, i in begun[:1]] == [(o.xml, o.instruction, o.device, i) for o, i in begun[1:]]
        for action in actions:
            assert told(here.step(action)) == told(there.step(action))
        assert here.terminated and there.terminated


def test_forks_and_snapshots_keep_the_task(address: tuple[str, str]) -> None:
    url, bundle = address
    with HttpEnv(url, mock=Phone([shop()]), tasks=Path(bundle).parent / "tasks") as env:
        observation, _ = env.reset(seed=1, task="shop/buy-v1")
        first, second = buying(observation.instruction)
        env.step(first)
        kept = env.snapshot()
        with env.fork(1)[0] as twin:
            twin.step(second)
            assert twin.step(Finish())[4]["success"] is True
        assert env.step(Finish())[4]["success"] is False
        env.restore(kept)
        env.step(second)
        assert env.step(Finish())[4]["success"] is True


def test_without_the_mock_it_says_what_is_missing(address: tuple[str, str]) -> None:
    with HttpEnv(address[0]) as env, pytest.raises(SessionError, match="drawn from the mock"):
        env.reset(task="shop/buy-v1")
