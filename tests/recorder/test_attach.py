"""Attach mode: an agent drives a phone through our adb face, with the real adb program, and is recorded."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneworld.adbd.server import AdbPhone
from phoneworld.device.adb import AdbDevice
from phoneworld.errors import ActionError, CaptureFailed
from phoneworld.graph.file import load_graph
from phoneworld.ui.action import LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, Wait
from recorder.attach import RecordingDevice
from recorder.driven import Driven
from tests.adbd.fixtures import Attached, needs_adb
from tests.adbd.pocket import NAME, PACKAGE, PLUS, Memory, PocketPhone

X, Y = PLUS.center.x, PLUS.center.y


@pytest.fixture
def agent_side(attached: Attached, tmp_path: Path) -> Iterator[tuple[AdbPhone, Driven, list[str]]]:
    """Two adb faces: the phone's own, and ours in front of it, which the agent uses."""
    driven = Driven.open(AdbDevice.find(attached.serial), PACKAGE, tmp_path / "agent.graph.json", mode="attach")
    base = ["adb", "-P", str(attached.server_port)]
    with AdbPhone(RecordingDevice(driven, instruction="count to two"), port=0) as face:
        subprocess.run([*base, "connect", face.serial], capture_output=True, timeout=20, check=True)
        yield face, driven, [*base, "-s", face.serial]
        subprocess.run([*base, "disconnect", face.serial], capture_output=True, timeout=20, check=True)


@needs_adb
def test_what_an_agent_does_over_adb_is_recorded_with_what_it_saw(
    attached: Attached, agent_side: tuple[AdbPhone, Driven, list[str]], tmp_path: Path
) -> None:
    _, driven, adb = agent_side

    def shell(line: str) -> str:
        return subprocess.run([*adb, "shell", line], capture_output=True, timeout=60, check=True, text=True).stdout

    shell(f"monkey -p {PACKAGE} -c android.intent.category.LAUNCHER 1")
    shell(f"input tap {X} {Y}; input tap {X} {Y}")
    shell(f"input swipe {X} {Y} {X} {Y} 600")
    attached.device.memory = Memory(front=PACKAGE, count=40)  # the app does something by itself
    assert "Count 40" in shell("uiautomator dump /sdcard/d.xml >/dev/null; cat /sdcard/d.xml")
    shell(f"input tap {NAME.center.x} {NAME.center.y}; input text hello")
    shell("input keyevent 4; input swipe 300 1000 300 700 200")
    graph = driven.finish().graph
    (trace,) = graph.traces
    assert trace.instruction == "count to two" and load_graph(tmp_path / "agent.graph.json") == graph
    kinds = [type(t.action) for t in trace.transitions]
    assert kinds == [OpenApp, Tap, Tap, LongPress, Wait, Tap, TypeText, PressKey, Swipe]
    counts = [next(n.text for n in graph.captures[c].hierarchy.nodes() if n.text) for c in trace.captures]
    assert counts == ["Pocket", "Count 0", "Count 1", "Count 2", "Count 12", *["Count 40"] * 5]
    assert trace.transitions[4].notes == ("by-itself",)
    plus = graph.captures[trace.captures[1]].hierarchy.at(trace.transitions[1].hit or ())
    assert plus.text == "Plus"
    typed = trace.transitions[6]
    assert typed.action == TypeText("hello") and typed.notes == ()
    assert [n.text for n in graph.captures[typed.target].hierarchy.nodes() if n.is_editable] == ["hello", ""]
    assert "launcher" in graph.captures[trace.start].notes


def test_a_refusal_and_an_unreadable_screen_are_told_as_what_they_are(tmp_path: Path) -> None:
    phone = PocketPhone(memory=Memory(front=PACKAGE))
    driven = Driven.open(phone, PACKAGE, tmp_path / "a.graph.json", mode="attach")
    device = RecordingDevice(driven)
    device.perform(Tap(X, Y))
    with pytest.raises(ActionError):
        device.perform(TypeText("nowhere to go"))
    looks: list[None] = []
    usual = driven._look

    def fails_once(before: object) -> object:
        looks.append(None)
        if len(looks) == 1:
            raise CaptureFailed("ERROR: could not get idle state.", code="DUMP_NOT_IDLE")
        return usual(before)  # type: ignore[arg-type]

    driven._look = fails_once  # type: ignore[assignment,method-assign]
    device.perform(Tap(X, Y))
    device.perform(Tap(X, Y))
    device.clear_app(PACKAGE)
    phone.memory = Memory(front=PACKAGE)
    device.perform(Tap(X, Y))
    done = driven.finish()
    first, second, third = done.graph.traces
    assert first.unfinished is not None and first.unfinished.reason == "DUMP_NOT_IDLE" and len(first.transitions) == 1
    assert (second.start_kind, third.start_kind) == ("kept", "fresh")
    assert (done.summary.refused, done.summary.uncaptured, done.summary.steps) == (1, 1, 3)
    assert phone.memory.count == 1


def test_beyond_its_limit_an_agent_goes_on_unrecorded(tmp_path: Path) -> None:
    phone = PocketPhone(memory=Memory(front=PACKAGE))
    driven = Driven.open(phone, PACKAGE, tmp_path / "a.graph.json", mode="attach")
    told: list[int] = []
    device = RecordingDevice(driven, limit=2, on_step=told.append)
    for _ in range(4):
        device.perform(Tap(X, Y))
    assert (phone.memory.count, told, len(driven.finish().graph.traces[0].transitions)) == (4, [1, 2], 2)
