"""A phone that goes away is no score of 0; and a phone that cannot be put back is put back by clearing its app."""

from __future__ import annotations

import math
import subprocess

import httpx
import pytest

from phoneworld.adbd.server import AdbPhone
from phoneworld.device.adb import AdbDevice
from phoneworld.device.mock import MockDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.http_env import HttpEnv
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.simulated_adb import SimulatedAdbDevice
from phoneworld.errors import DeviceError, DeviceLost, DeviceUnusable, SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.render.frames import Renderer
from phoneworld.testing.groceries import PACKAGE, SIZE
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import Answer, OpenApp, PressKey, Tap, TypeText
from tests.adbd.fixtures import needs_adb

BOX = Tap(90, 313)


def test_a_session_that_is_gone_ends_the_episode_as_a_fault(server_url: str) -> None:
    env = HttpEnv(server_url)
    first, told = env.reset(seed=0)
    httpx.delete(f"{server_url}/api/sessions/{env.session}").raise_for_status()
    observation, reward, terminated, truncated, info = env.step(BOX)
    assert math.isnan(reward) and (terminated, truncated) == (False, True)
    assert (info["error_class"], info["termination"], info["invalid_action"]) == ("infra", "error", None)
    assert "no session" in info["message"] and observation == first and info["state_id"] == told["state_id"]
    assert env.step(Answer("too late"))[2:4] == (False, True), "it stays ended"
    with pytest.raises(SessionError, match="no session"):
        env.reset()
    env.close()


def test_a_server_that_is_not_there_is_a_lost_device() -> None:
    with HttpEnv("http://127.0.0.1:9") as env, pytest.raises(DeviceLost, match="does not answer"):
        env.reset()


def test_a_server_that_is_none_of_ours_is_named(server_url: str) -> None:
    with HttpEnv(f"{server_url}/somewhere") as env, pytest.raises(DeviceError, match="Not Found"):
        env.reset()


def test_an_unknown_bundle_and_an_unknown_start_are_named(server_url: str) -> None:
    with HttpEnv(server_url, ["nothing"]) as env, pytest.raises(SessionError, match="no bundle 'nothing'"):
        env.reset()
    with HttpEnv(server_url) as env, pytest.raises(SessionError, match="no start 'nowhere'"):
        env.reset(start="nowhere")


def test_a_reset_over_http_goes_to_the_first_start_unless_told_otherwise(server_url: str) -> None:
    with HttpEnv(server_url) as env:
        first = env.reset()[1]["state_id"]
        env.reset(start="t3")
        env.step(BOX)
        assert env.reset()[1]["state_id"] == first


def test_forks_over_http_go_their_own_ways(server_url: str) -> None:
    with HttpEnv(server_url) as env:
        env.reset(seed=0)
        env.step(BOX)
        one, other = env.fork(2)
        moved, still = one.step(BOX)[4], other.step(PressKey("enter"))[4]
        assert one.session != other.session and moved["step"] == still["step"] == 2
        assert moved["state_id"] != still["state_id"] == env.step(PressKey("enter"))[4]["state_id"]
        for twin in (one, other):
            twin.close()


def test_pictures_over_http_are_those_of_the_phone(server_url: str) -> None:
    graph, pictures = sample_graph()
    with HttpEnv(server_url, observe=ObservationSpec(screenshot="png")) as env:
        assert env.reset()[0].png == pictures[graph.captures["c0"].screenshot or ""]
    with HttpEnv(server_url, observe=ObservationSpec(tree=False, text=False, screenshot="array", scale=1 / 3)) as env:
        assert env.reset()[0].screenshot.shape == (800, 360, 3)


def test_a_device_that_is_closed_ends_the_episode_as_a_fault(bundle: Bundle) -> None:
    device = MockDevice([bundle], draw=Renderer.of)
    env = DeviceEnv(device)
    env.reset()
    device.close()
    observation, reward, terminated, truncated, info = env.step(BOX)
    assert math.isnan(reward) and (terminated, truncated, info["error_class"]) == (False, True, "infra")
    assert observation.text


def test_a_simulated_device_keeps_its_evidence(bundle: Bundle) -> None:
    with DeviceEnv(MockDevice([bundle], draw=Renderer.of)) as env:
        env.reset()
        info = env.step(BOX)[4]
        assert info["evidence"] == "recorded" and info["rules"]
        with pytest.raises(SessionError, match="one start"):
            env.reset(start="t2")


@needs_adb
def test_a_phone_that_is_unplugged_ends_the_episode_as_a_fault(bundle: Bundle, adb_server: int) -> None:
    with AdbPhone(lambda: MockDevice([bundle], draw=Renderer.of), port=0) as phone:
        subprocess.run(
            ["adb", "-P", str(adb_server), "connect", phone.serial], capture_output=True, timeout=20, check=True
        )
        env = DeviceEnv(SimulatedAdbDevice(phone.serial))
        env.reset()
    _, reward, terminated, truncated, info = env.step(BOX)
    assert math.isnan(reward) and (terminated, truncated, info["error_class"]) == (False, True, "infra")


@needs_adb
def test_a_phone_like_any_other_is_put_back_by_clearing_its_app(adb_serial: str) -> None:
    """The plain AdbDevice knows no reset: the app is cleared and opened, and the screen watched until it rests."""
    with pytest.raises(SessionError, match="no simulated phone"):
        DeviceEnv(AdbDevice(adb_serial))
    device = AdbDevice(adb_serial)
    with DeviceEnv(device, PACKAGE, observe=ObservationSpec(screenshot="png")) as env:
        assert not env.supports_snapshots
        first, told = env.reset(seed=0)
        assert first.device.package == PACKAGE and first.size == SIZE and first.png
        after, *_, info = env.step(BOX)
        assert info["changed"] and info["evidence"] is None and after.xml != first.xml
        again, told_again = env.reset(seed=0)
        assert again.xml == first.xml and told_again["state_id"] == told["state_id"]
        with pytest.raises(SessionError, match="cannot be put back"):
            env.snapshot()


@needs_adb
def test_a_half_done_action_is_refused_and_what_it_did_is_seen(adb_serial: str) -> None:
    with DeviceEnv(SimulatedAdbDevice(adb_serial)) as env:
        ticked = (env.reset(), env.step(BOX))[1][0]
        env.reset()
        observation, *_, info = env.step(TypeText("no field here 😀", BOX.x, BOX.y))
        assert info["invalid_action"] and observation.xml == ticked.xml, "the tap was made, the typing was not"
        assert env.step(OpenApp("no.such.app"))[4]["invalid_action"].startswith("the phone could not open")


@needs_adb
def test_a_phone_without_our_controls_is_no_simulated_one(adb_serial: str) -> None:
    device = SimulatedAdbDevice(adb_serial)
    with pytest.raises(SessionError, match="no state is kept"):
        device.restore("nothing")
    with pytest.raises(DeviceUnusable, match="cmd phoneworld"):
        device._control("fly")
