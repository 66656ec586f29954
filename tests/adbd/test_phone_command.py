"""`phoneworld phone` and `phoneworld devices` as a person runs them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from phoneworld.cli.main import main
from phoneworld.device.adb import AdbDevice
from phoneworld.device.adb_server import AdbServer
from phoneworld.errors import BrowserError
from phoneworld.render.browser import find_chromium
from phoneworld.ui.action import Tap, TypeText
from tests.adbd.fixtures import Attached, needs_adb
from tests.webapps import served

PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]
NOTES_MOCK = Path(__file__).parents[2] / "apps" / "notes" / "bundle"
PAGE = """<!doctype html><title>Counter</title><meta name=viewport content="width=device-width">
<button id=plus style="font-size:40px" onclick="this.textContent = 'Count ' + ++n">Plus</button><script>let n = 0</script>
<p><input id=name placeholder=Name style="font-size:40px">"""


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """The command line, in this process."""

    def call(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["phoneworld", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)

    return call


@contextmanager
def running(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, object]]]:
    """The command while it runs, and the line that it printed when it was ready."""
    command = subprocess.Popen([*PHONEWORLD, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert command.stdout is not None
        line = command.stdout.readline()
        assert line, "it ended before it was ready"
        yield command, json.loads(line)
    finally:
        command.send_signal(signal.SIGINT)
        command.wait(timeout=30)


@needs_adb
def test_a_web_page_is_a_phone_until_it_is_interrupted(adb_server: int, tmp_path: Path) -> None:
    try:
        find_chromium()
    except BrowserError as e:
        pytest.skip(e.message)
    (tmp_path / "index.html").write_text(PAGE)
    with served(tmp_path) as url, running("phone", f"web:{url}", "--port", "0", "--json") as (command, ready):
        assert ready == {
            "serial": f"127.0.0.1:{ready['port']}",
            "host": "127.0.0.1",
            "port": ready["port"],
            "phone": f"web:{url}",
            "connected": True,
            "warnings": [],
        }
        device = AdbDevice.find(str(ready["serial"]))
        (app,) = device.apps()
        assert device.state().package == app.package
        for expected in ("Plus", "Count 1", "Count 2"):
            tree = device.hierarchy()
            path = next(path for path, node in tree.walk() if node.text == expected)
            point = tree.tap_point(path, device.info.size)
            assert point is not None
            device.perform(Tap(point.x, point.y))
        tree = device.hierarchy()
        field = next(node for node in tree.nodes() if node.is_editable)
        device.perform(TypeText("naïve 你好 & co", field.bounds.center.x, field.bounds.center.y))
        assert next(node for node in device.hierarchy().nodes() if node.is_editable).value == "naïve 你好 & co"
        assert device.state().keyboard
        assert device.screenshot().startswith(b"\x89PNG")
        device.run("cmd phoneworld reset --seed 3")
        fresh = device.hierarchy()
        assert any(node.text == "Plus" for node in fresh.nodes())
        assert not next(node for node in fresh.nodes() if node.is_editable).value and not device.state().keyboard
        kept = device.run("cmd phoneworld snapshot")
        assert kept.status == 1 and "cmd phoneworld reset" in kept.everything, "its pages' state cannot be kept, and it says what can be done"
        command.send_signal(signal.SIGINT)
        assert command.wait(timeout=30) == 0
    assert str(ready["serial"]) not in [d.serial for d in AdbServer().devices()]
    with socket.socket() as port:
        port.bind(("127.0.0.1", int(str(ready["port"]))))


def test_a_taken_port_is_named_and_the_status_is_not_0(run: Callable[..., Ran]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("phone", f"mock:{NOTES_MOCK}", "--adb", str(port))
    assert done.status == 11 and f"port {port}" in done.err


@pytest.mark.parametrize("spec", ["emulator-5554", "web:", "mock:/no/such/bundle"])
def test_what_is_no_phone_is_an_error_with_a_mend(run: Callable[..., Ran], spec: str) -> None:
    done = run("phone", spec, "--port", "0")
    assert done.status != 0 and done.err.startswith("error:")


@needs_adb
def test_devices_are_listed_with_what_can_be_used(run: Callable[..., Ran], attached: Attached) -> None:
    listed = json.loads(run("devices", "--json").out)
    assert {
        "serial": attached.serial,
        "state": "device",
        "model": "Pocket One",
        "usable": True,
        "reason": "",
        "mend": "",
    } in listed
    assert attached.serial in run("devices").out
    assert os.environ["ANDROID_ADB_SERVER_PORT"] == str(attached.server_port)
