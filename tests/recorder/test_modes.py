"""`phoneworld record` in its modes, as processes of their own, over the real adb."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx

from phoneworld.errors import DeviceLost, RecordingError
from phoneworld.graph.file import load_graph
from phoneworld.ui.action import PressKey, Tap
from tests.adbd.fixtures import Attached, needs_adb
from tests.adbd.pocket import PACKAGE, PLUS, Memory

pytestmark = needs_adb

X, Y = PLUS.center.x, PLUS.center.y


def started(attached: Attached, out: Path, *words: str, ready: str) -> tuple[subprocess.Popen[str], str]:
    """A recorder, and what it said when it was ready."""
    command = [sys.executable, "-m", "phoneworld.cli.main", "record", "-d", attached.serial, "--app", PACKAGE, "-o", str(out), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    told = ""
    for line in process.stderr:
        told += line
        if re.search(ready, told):
            return process, told
    raise AssertionError(f"the recorder ended with {process.wait()}: {told}")


def test_a_person_touches_an_agent_drives_and_a_person_mirrors(attached: Attached, tmp_path: Path) -> None:
    attached.device.memory = Memory(front=PACKAGE)
    out = tmp_path / "touch.graph.json"
    process, _ = started(attached, out, "--mode", "touch", "--budget", "2", "--instruction", "count", ready="listening to .*phoneworld_touch")
    finger = json.dumps({"kind": "tap", "x": X, "y": Y})
    attached.shell(f"cmd phoneworld finger '{finger}'")
    assert process.stderr is not None and process.stderr.readline() == "1 step\n"
    attached.shell(f"cmd phoneworld finger '{finger}'")
    told, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    (trace,) = load_graph(out).traces
    assert [t.action for t in trace.transitions] == [Tap(X, Y)] * 2 and trace.instruction == "count"
    assert "finished" in told and attached.device.memory.count == 2

    out = tmp_path / "attach.graph.json"
    process, said = started(attached, out, "--mode", "attach", "--adb", "0", "--budget", "2", ready=r"agents use \S+")
    serial = re.search(r"agents use (\S+?),", said)
    assert serial is not None
    agent = ["adb", "-P", str(attached.server_port), "-s", serial[1], "shell"]
    subprocess.run([*agent, f"input tap {X} {Y}; input keyevent BACK"], check=True, timeout=60, capture_output=True)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    (trace,) = load_graph(out).traces
    assert [t.action for t in trace.transitions] == [Tap(X, Y), PressKey("back")]

    out = tmp_path / "mirror.graph.json"
    process, said = started(attached, out, "--mode", "mirror", "--port", "0", ready=r"http://\S+?:\d+")
    url = re.search(r"http://[\d.:]+\d", said)
    assert url is not None
    api = url[0] + "/api/mirror"
    view = httpx.get(api, timeout=30).json()
    while view["busy"]:
        view = httpx.get(api, params={"version": view["version"], "busy": view["busy"]}, timeout=30).json()
    strokes = [[[[X, Y, 0], [X, Y, 60]]]]
    httpx.post(api + "/input", json={"version": view["version"], "input": {"kind": "strokes", "strokes": strokes}}, timeout=30).raise_for_status()
    while view["steps"] < 1 or view["busy"]:
        view = httpx.get(api, params={"version": view["version"], "busy": view["busy"]}, timeout=30).json()
    httpx.post(api + "/finish", json={}, timeout=30).raise_for_status()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    (trace,) = load_graph(out).traces
    assert [t.action for t in trace.transitions] == [Tap(X, Y)] and load_graph(out).app.package == PACKAGE


def test_a_phone_that_goes_away_leaves_a_recording_and_says_how_to_go_on_in_that_mode(attached: Attached, tmp_path: Path) -> None:
    attached.device.memory = Memory(front=PACKAGE)
    out = tmp_path / "touch.graph.json"
    process, _ = started(attached, out, "--mode", "touch", ready="listening to")
    attached.shell(f"cmd phoneworld finger '{json.dumps({'kind': 'tap', 'x': X, 'y': Y})}'")
    assert process.stderr is not None and process.stderr.readline() == "1 step\n"
    subprocess.run(["adb", "-P", str(attached.server_port), "disconnect", attached.serial], check=True, capture_output=True, timeout=20)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == DeviceLost.exit_code, errors
    assert f"--resume --mode touch --device {attached.serial} -o {out}" in errors
    (trace,) = load_graph(out).traces
    assert [t.action for t in trace.transitions] == [Tap(X, Y)]


def test_a_wrong_wish_is_one_line_with_its_mend(tmp_path: Path) -> None:
    words = ["--mode", "touch", "-d", "mock:apps/notes/bundle", "-o", str(tmp_path / "a.graph.json")]
    command = [sys.executable, "-m", "phoneworld.cli.main", "record", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == RecordingError.exit_code and "--mode mirror" in done.stderr and "Traceback" not in done.stderr, done.stderr
