"""Every face of a phone passes the same suite, and one script of actions gives the same trees on all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phoneworld.device.mock import MockDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.env import Env
from phoneworld.env.http_env import HttpEnv
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.simulated_adb import SimulatedAdbDevice
from phoneworld.program.bundle import Bundle, load_bundle
from phoneworld.render.frames import Renderer
from phoneworld.serve.server import bundles_in
from phoneworld.testing.actions import play, random_episode
from phoneworld.testing.contract import EnvContract
from phoneworld.testing.groceries import PACKAGE
from tests.adbd.fixtures import needs_adb


class TestInProcess(EnvContract):
    packages = (PACKAGE,)

    @pytest.fixture(autouse=True)
    def _use(self, bundle: Bundle) -> None:
        self.bundle = bundle

    def make_env(self, max_steps: int | None = None) -> Env[Any]:
        return PhoneEnv(self.bundle, max_steps=max_steps)


class TestMockDevice(EnvContract):
    packages = (PACKAGE,)

    @pytest.fixture(autouse=True)
    def _use(self, bundle: Bundle) -> None:
        self.bundle = bundle

    def make_env(self, max_steps: int | None = None) -> Env[Any]:
        return DeviceEnv(MockDevice([self.bundle], draw=Renderer.of), max_steps=max_steps)


class TestOverHttp(EnvContract):
    packages = (PACKAGE,)
    steps = 15
    seeds = (0, 1)

    @pytest.fixture(autouse=True)
    def _use(self, server_url: str) -> None:
        self.url = server_url

    def make_env(self, max_steps: int | None = None) -> Env[Any]:
        return HttpEnv(self.url, max_steps=max_steps)


@needs_adb
class TestOverAdb(EnvContract):
    packages = (PACKAGE,)
    steps = 8
    seeds = (0,)

    @pytest.fixture(autouse=True)
    def _use(self, adb_serial: str) -> None:
        self.serial = adb_serial

    def make_env(self, max_steps: int | None = None) -> Env[Any]:
        return DeviceEnv(SimulatedAdbDevice(self.serial), max_steps=max_steps)


@needs_adb
@pytest.mark.parametrize("seed", [11, 12])
def test_one_script_gives_the_same_trees_to_the_byte_on_every_face(
    bundle: Bundle, server_url: str, adb_serial: str, seed: int
) -> None:
    inside = PhoneEnv(bundle)
    script = random_episode(inside, seed, 25, (PACKAGE,))
    wanted = play(inside, script, seed)
    faces: dict[str, Env[Any]] = {
        "device": DeviceEnv(MockDevice([bundle], draw=Renderer.of)),
        "http": HttpEnv(server_url),
        "adb": DeviceEnv(SimulatedAdbDevice(adb_serial)),
    }
    for name, env in faces.items():
        with env:
            for number, (mine, theirs) in enumerate(zip(play(env, script, seed), wanted, strict=True)):
                what = f"{name}, after step {number}: {script[number - 1]}"
                assert mine.xml == theirs.xml, what
                assert (mine.package, mine.keyboard) == (theirs.package, theirs.keyboard), what
                if name == "http":
                    assert mine.info == theirs.info, what


_APPS = bundles_in(Path(__file__).resolve().parents[2] / "apps")


@pytest.mark.parametrize(
    "app", _APPS or [pytest.param(None, marks=pytest.mark.skip(reason="apps/ holds no app yet"))], ids=str
)
class TestEveryAppWeShip(EnvContract):
    @pytest.fixture(autouse=True)
    def _use(self, app: Path) -> None:
        self.app = load_bundle(app)
        self.packages = (self.app.program.package,)  # type: ignore[misc]

    def make_env(self, max_steps: int | None = None) -> Env[Any]:
        return PhoneEnv(self.app, max_steps=max_steps)
