"""On real Ray, in an environment of its own: the same episodes, and an actor that dies costs the ones it had."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from phoneworld.env.on_ray import OnRay
from phoneworld.env.policy import RandomPolicy
from phoneworld.env.rollout import Phones, jobs, rollout
from phoneworld.errors import MissingDependency, SessionError
from tests.doors.trainers import RAY, run_in, trainer
from tests.env.shop_phone import write_shop

_SCRIPT = """
import os, signal, sys
import ray
from phoneworld.env.on_ray import OnRay
from phoneworld.env.policy import RandomPolicy
from phoneworld.env.rollout import Phones, jobs, rollout

class Dies:
    def begin(self, task, seed):
        self.seed = seed
        return self
    def act(self, observation, info):
        if self.seed == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"kind": "finish"}

phones = Phones(sys.argv[1], tasks=sys.argv[2])
todo = jobs(("shop/buy-v1", "shop/cheap-v1"), seeds=range(16))
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
policy = RandomPolicy(finish=0.05)
here = [e.to_bytes() for e in rollout(policy, todo, phones)]
there = [e.to_bytes() for e in rollout(policy, todo, phones, OnRay(actors=2, interleave=16))]
assert here == there and len(set(here)) > 8, "episodes differ"
told = rollout(Dies(), jobs("shop/cheap-v1", seeds=range(6)), phones, OnRay(actors=1, interleave=1))
assert [e.error_class for e in told] == ["none"] * 3 + ["infra"] + ["none"] * 2, [e.message for e in told]
assert ray.is_initialized(), "it was running before, and it stays"
ray.shutdown()
print("SAME", len(here))
"""


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependency) as e:
        rollout(RandomPolicy(), jobs(None), Phones("nowhere"), OnRay())
    assert e.value.hint == 'pip install "phoneworld[ray]"'
    with pytest.raises(SessionError):
        rollout(RandomPolicy(), jobs(None), Phones("nowhere"), OnRay(actors=0))


@pytest.mark.slow
def test_episodes_on_ray_are_the_same_and_an_actor_that_dies_costs_its_own(tmp_path: Path) -> None:
    bundle, tasks = write_shop(tmp_path)
    done = run_in(trainer(*RAY), _SCRIPT, bundle, tasks, RAY_AUTH_MODE="disabled", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
    assert done.returncode == 0 and "SAME 32" in done.stdout, done.stdout[-2000:] + done.stderr[-3000:]
