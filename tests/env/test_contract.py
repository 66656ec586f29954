"""Every face of a phone passes the same suite, and one script of actions gives the same trees on all of them."""

from __future__ import annotations

from phoneworld.env.phone_env import PhoneEnv
from phoneworld.sim.phone import Phone
from phoneworld.testing.contract import EnvContract
from phoneworld.testing.groceries import PACKAGE
from phoneworld.testing.samples import sample_program


class TestInProcess(EnvContract):
    packages = (PACKAGE,)

    def make_env(self, max_steps: int | None = None) -> PhoneEnv:
        return PhoneEnv(Phone([sample_program()]), max_steps=max_steps)
