"""@mobilenext/mobile-mcp: an MCP server over stdio that drives the phone; its two robots, the adb one and mobilecli."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phoneworld.ui.action import Swipe
from tests.adbd.fixtures import Attached
from tests.adbd.pocket import LAUNCHER, NAME, PACKAGE, PLUS
from tests.adbd.tiny_apk import apk
from tests.clients.conversation import Report
from tests.clients.install import npm_client
from tests.clients.script_clients import sdk_folder

VERSION = "1.0.4"
_SLOWEST_RUN_S = 240.0
_REFUSED = "Please fix the issue and try again."


class Tools:
    """The MCP server as a process; calls its tools one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._number = 0
        self._ask("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if message.get("id") == self._number:
                    if "error" in message:
                        raise RuntimeError(message["error"]["message"])
                    return message["result"]
        raise RuntimeError(f"mobile-mcp ended while it was asked {method}")

    def call(self, tool: str, **arguments: Any) -> str:
        """The text a tool answers with; its errors are raised."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", part["type"]) for part in result["content"])
        if result.get("isError") or text.startswith(("Error", "MCP error")) or text.endswith(_REFUSED):
            raise RuntimeError(text)
        return text


@contextlib.contextmanager
def _serving(phone: Attached, *, legacy: bool) -> Iterator[Tools]:
    client = npm_client("mobile-mcp", f"@mobilenext/mobile-mcp@{VERSION}")
    env = {**os.environ, "MOBILEMCP_DISABLE_TELEMETRY": "1", "ANDROID_HOME": str(sdk_folder(client))}
    env |= {"ANDROID_ADB_SERVER_PORT": str(phone.server_port), "ANDROID_SERIAL": phone.serial}
    if legacy:
        env["MOBILEMCP_LEGACY_ROBOT"] = "1"
    entry = client / "node_modules" / "@mobilenext" / "mobile-mcp" / "lib" / "index.js"
    _end_daemon(client)
    process = subprocess.Popen(
        ["node", str(entry)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env
    )
    watchdog = threading.Timer(_SLOWEST_RUN_S, process.kill)
    watchdog.start()
    try:
        yield Tools(process)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait(timeout=30)
        _end_daemon(client)


def _end_daemon(client: Path) -> None:
    """mobilecli leaves a daemon behind that remembers the adb server of its first run, and so finds no phone in the next."""
    for program in (client / "node_modules" / "@mobilenext").glob("mobilecli-*/mobilecli-*"):
        subprocess.run([str(program), "daemon", "stop"], capture_output=True, timeout=30, check=False)


def talk_mobile_mcp(phone: Attached, *, legacy: bool) -> Report:
    """Every tool that can work on Android, with one robot or the other."""
    report = Report(f"mobile-mcp ({'adb' if legacy else 'mobilecli'} robot)", VERSION)
    device, call, at = phone.device, report.call, {"device": phone.serial}
    with _serving(phone, legacy=legacy) as tools, tempfile.TemporaryDirectory() as folder:

        def ask(tool: str, **arguments: Any) -> Any:
            return lambda: tools.call(tool, **at, **arguments)

        call("list_available_devices", "the phone among them", lambda: tools.call("mobile_list_available_devices"), lambda v: phone.serial in v)
        call("launch_app", "the app is in front", ask("mobile_launch_app", packageName=PACKAGE), lambda _: device.memory.front == PACKAGE)
        if legacy:
            call("list_apps", "the one app", ask("mobile_list_apps"), lambda v: PACKAGE in v)
        else:
            report.gap("list_apps", "needs code on the device: mobilecli pushes a program of its own", ask("mobile_list_apps"))
            call("get_foreground_app", "the app", ask("mobile_get_foreground_app"), lambda v: PACKAGE in v)
        call("get_screen_size", "as the phone is", ask("mobile_get_screen_size"), lambda v: "720x1280" in v)
        call("list_elements_on_screen", "the button and its place", ask("mobile_list_elements_on_screen", format="json"), lambda v: "Plus" in v and f"{PACKAGE}:id/plus" in v)
        call("click_on_screen_at_coordinates", "the counter is 1", ask("mobile_click_on_screen_at_coordinates", x=PLUS.center.x, y=PLUS.center.y), lambda _: device.memory.count == 1)
        call("double_tap_on_screen", "two more", ask("mobile_double_tap_on_screen", x=PLUS.center.x, y=PLUS.center.y), lambda _: device.memory.count == 3)
        call("long_press_on_screen_at_coordinates", "a long press", ask("mobile_long_press_on_screen_at_coordinates", x=PLUS.center.x, y=PLUS.center.y, duration=700), lambda _: device.memory.count == 13)
        call("type_keys", "the field holds them", lambda: (ask("mobile_click_on_screen_at_coordinates", x=NAME.center.x, y=NAME.center.y)(), ask("mobile_type_keys", text="some words", submit=False)()), lambda _: device.memory.fields[0] == "some words")
        call("press_button(BACK)", "the keyboard is gone", ask("mobile_press_button", button="BACK"), lambda _: not device.memory.keyboard)
        call("swipe_on_screen(up)", "a swipe up", ask("mobile_swipe_on_screen", direction="up"), lambda _: isinstance(device.events[-1], Swipe) and device.events[-1].y > device.events[-1].y2)
        call("get_orientation", "portrait", ask("mobile_get_orientation"), lambda v: "portrait" in v)
        call("save_screenshot", "a PNG", ask("mobile_save_screenshot", saveTo=f"{folder}/a.png"), lambda _: Path(folder, "a.png").read_bytes().startswith(b"\x89PNG"))
        call("open_url", "the app has the link", ask("mobile_open_url", url="https://example.org/m"), lambda _: device.memory.url == "https://example.org/m")
        own = Path(folder, "own.apk")
        own.write_bytes(apk(PACKAGE))
        call("install_app(its own)", "success: it is there", ask("mobile_install_app", path=str(own)), lambda _: True)
        call("press_button(HOME)", "the launcher is in front", ask("mobile_press_button", button="HOME"), lambda _: device.memory.front == LAUNCHER)
        call("terminate_app", "it is stopped", ask("mobile_terminate_app", packageName=PACKAGE), lambda _: device.memory.front == LAUNCHER)
    return report
