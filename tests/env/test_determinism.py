"""Episodes are decided by their arguments: not by the process, its hash seed, its clock or zone, nor by the episodes before; and none is kept."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc

import pytest

from phoneworld.env.policy import RandomPolicy
from phoneworld.env.rollout import InProcess, Player, jobs, rollout
from tests.env.shop_phone import shop_env
from tests.webapps import ROOT

_SCRIPT = """
import hashlib
from phoneworld.env.policy import RandomPolicy
from phoneworld.env.rollout import jobs, rollout
from tests.env.shop_phone import shop_env
told = rollout(RandomPolicy(finish=0.05), jobs(("shop/buy-v1", "shop/told-v1"), seeds=range(4)), shop_env)
print(hashlib.sha256(b"".join(e.to_bytes() for e in told)).hexdigest())
"""


def test_other_processes_hash_seeds_and_zones_give_the_same_episodes() -> None:
    told = set()
    for hash_seed, zone in (("0", "UTC"), ("1", "Asia/Kathmandu"), ("77", "America/Los_Angeles")):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", _SCRIPT], env=env, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        told.add(done.stdout)
    assert len(told) == 1


@pytest.mark.parametrize("before", [3, 30])
def test_an_episode_does_not_depend_on_those_before_it(before: int) -> None:
    env, policy = shop_env(max_steps=before), RandomPolicy()
    fresh = rollout(policy, jobs("shop/buy-v1", seeds=[7]), lambda: shop_env(max_steps=12))
    for seed in range(3):
        player = Player(env, jobs("shop/cheap-v1", seeds=[seed])[0], policy)
        while player.record is None:
            player.step()
    env.max_steps = 12
    last = Player(env, jobs("shop/buy-v1", seeds=[7])[0], policy)
    while last.record is None:
        last.step()
    assert last.record.to_bytes() == fresh[0].to_bytes()


@pytest.mark.parametrize("resets", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_resets_keep_nothing(resets: int) -> None:
    env = shop_env()
    tracemalloc.start()  # before what is kept to be fast is filled: what takes its place later is no growth
    try:
        for seed in range(resets):
            env.reset(seed=seed, task="shop/buy-v1")
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for seed in range(resets, 2 * resets):
            env.reset(seed=seed, task="shop/buy-v1")
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 500_000, f"{grown} bytes more after {resets} resets"


def test_interleaving_does_not_matter() -> None:
    todo, policy = jobs("shop/buy-v1", seeds=range(8)), RandomPolicy(finish=0.1)
    told = [[e.to_bytes() for e in rollout(policy, todo, shop_env, InProcess(interleave=n))] for n in (1, 3, 8)]
    assert told[0] == told[1] == told[2]
