"""What a phone behind adb has beside its Device: files, settings, input methods, properties, a finger on the glass.

All that a phone remembers is one immutable value (`Memory`), so `cmd phoneworld snapshot` keeps it by keeping a reference.
"""

from __future__ import annotations

import json
import logging
import re
import time
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Protocol

from immutables import Map

from phoneworld.adbd.files import Entry, FileTree
from phoneworld.adbd.fingers import FingerEvents
from phoneworld.adbd.journal import Journal
from phoneworld.adbd.owner import DeviceOwner
from phoneworld.adbd.watching import Watch
from phoneworld.device.device import Device, InstalledApp
from phoneworld.device.faults import FaultPlan, Faults
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Point, Size

log = logging.getLogger("phoneworld.adbd")

LATIN_IME = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
UIA2_KEYBOARD = "com.github.uiautomator/.AdbKeyboard"
PORTAL_KEYBOARD = "com.mobilerun.portal/.input.MobilerunKeyboardIME"
INPUT_METHODS = (LATIN_IME, ADB_KEYBOARD, UIA2_KEYBOARD, PORTAL_KEYBOARD)
ENABLED_AT_FIRST = (LATIN_IME, ADB_KEYBOARD)
FEATURES = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,fixed_push_symlink_timestamp,sendrecv_v2"
_REFUSALS_KEPT = 200


class Duplex(Protocol):
    """One adb stream: `read` gives `b""` when the peer has closed it, `write` returns when the peer has taken the bytes."""

    async def read(self) -> bytes: ...

    async def write(self, payload: bytes) -> None: ...


class Listener(Protocol):
    """What answers connections to one of the phone's ports."""

    async def serve(self, stream: Duplex) -> None: ...


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything the phone's side remembers. `settings` is by (namespace, name)."""

    files: Map[str, Entry]
    settings: Map[tuple[str, str], str]
    properties: Map[str, str]
    all_selected: bool = False
    """True after Ctrl+A: the next key or text replaces what the field holds."""
    clipboard: str = ""


@dataclass(slots=True)
class Finger:
    """A finger put down by `input motionevent DOWN` and not lifted yet."""

    start: Point
    last: Point
    since_s: float
    moved_after_s: float | None = None


def token(of: str) -> str:
    """The hexadecimal handle that dumps print for a window or record: the same for the same name."""
    return f"{zlib.crc32(of.encode()):x}"


def full_class(package: str, activity: str) -> str:
    """The activity's whole class name."""
    return package + activity if activity.startswith(".") else activity


def short_class(package: str, activity: str) -> str:
    """The activity as components print it: without the package where it begins with it."""
    return activity.removeprefix(package) if activity.startswith(package + ".") else activity


class PhoneSide:
    """One phone as its shell sees it."""

    def __init__(
        self, device: Device | Callable[[], Device], faults: Faults | None = None, *, unknown_log: Path | None = None
    ) -> None:
        self.owner = DeviceOwner(device)
        self.faults = faults or Faults(FaultPlan())
        """What goes wrong on the wire; by default nothing does."""
        self.files = FileTree()
        self.environment = {
            "HOME": "/",
            "PATH": "/system/bin",
            "EXTERNAL_STORAGE": "/sdcard",
            "SHELL": "/system/bin/sh",
            "USER": "shell",
        }
        self.finger: Finger | None = None
        self.refusals: deque[str] = deque(maxlen=_REFUSALS_KEPT)
        """Commands that were not served and actions that had no effect, newest last: the list of what is to be added."""
        self.unknown_log = unknown_log
        self.listeners: dict[str, Listener] = {}
        """What listens on the phone's own ports now, by `tcp:PORT` or `localabstract:NAME`."""
        self.journal = Journal()
        self.watches: set[Watch] = set()
        """Who is told of each action, and of what came of it."""
        self.snapshots: dict[str, Memory] = {}
        self.started_s = time.monotonic()
        self._memory = Memory(self.files.entries, Map(), Map())

    def open(self) -> None:
        """Makes the device on its thread and sets the phone up from what it says of itself."""
        self.owner.open()
        self.serial, self.info = self.owner.call_now(lambda device: (device.serial, device.info))
        self._memory = Memory(
            self.files.entries, _default_settings(self.info), _default_properties(self.info, self.serial)
        )
        self._first = self._memory
        self.fingers = FingerEvents(self.info.size)

    def close(self) -> None:
        self.owner.close()

    @property
    def memory(self) -> Memory:
        """What the phone remembers now."""
        return replace(self._memory, files=self.files.entries)

    @memory.setter
    def memory(self, memory: Memory) -> None:
        self._memory = memory
        self.files.entries = memory.files

    def forget(self) -> None:
        """Goes back to how the phone was when it was opened; the Device is not touched."""
        self.memory = self._first
        self.finger = None

    def setting(self, namespace: str, name: str) -> str | None:
        return self._memory.settings.get((namespace, name))

    def put_setting(self, namespace: str, name: str, value: str | None) -> None:
        """Stores a setting; None deletes it."""
        settings = self._memory.settings
        key = (namespace, name)
        self._memory = replace(
            self._memory,
            settings=settings.set(key, value)
            if value is not None
            else (settings.delete(key) if key in settings else settings),
        )

    @property
    def input_method(self) -> str:
        return self.setting("secure", "default_input_method") or LATIN_IME

    def set_clipboard(self, text: str) -> None:
        self._memory = replace(self._memory, clipboard=text)

    def select_all(self, selected: bool) -> None:
        self._memory = replace(self._memory, all_selected=selected)

    def set_property(self, name: str, value: str) -> None:
        self._memory = replace(self._memory, properties=self._memory.properties.set(name, value))

    @property
    def properties(self) -> Map[str, str]:
        return self._memory.properties

    @property
    def banner(self) -> str:
        """What the phone says of itself when adb connects."""
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        return "device::" + "".join(f"{name}={self.properties[name]};" for name in names) + f"features={FEATURES}"

    def refuse(self, what: str) -> None:
        """Keeps what could not be served, and writes it to the compatibility log where there is one."""
        self.refusals.append(what)
        log.info("not served: %s", what)
        if self.unknown_log is not None:
            when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
            line = json.dumps({"time": when, "phone": self.serial, "not_served": what}, ensure_ascii=False)
            try:
                with self.unknown_log.open("a", encoding="utf-8", errors="backslashreplace") as out:
                    out.write(line + "\n")
            except OSError as e:
                log.warning("the compatibility log %s cannot be written: %s", self.unknown_log, e)
                self.unknown_log = None

    async def note(self, tag: str, text: str, level: str = "I") -> None:
        """One line for logcat, by the phone's own clock."""
        clock_ms = await self.owner.call(lambda device: device.state().clock_ms)
        self.journal.add(tag, text, level, int(time.time() * 1000) if clock_ms is None else clock_ms)

    async def now_s(self) -> int:
        """The phone's own clock, in seconds; the host's where the device has none."""
        clock_ms = await self.owner.call(lambda device: device.state().clock_ms)
        return int(time.time()) if clock_ms is None else clock_ms // 1000


def screen_size(info: DeviceInfo, state: DeviceState) -> Size:
    """The screen as it is turned now."""
    return Size(info.size.height, info.size.width) if state.rotation % 2 else info.size


def app_of(apps: tuple[InstalledApp, ...], package: str) -> InstalledApp | None:
    return next((app for app in apps if app.package == package), None)


def component_of(app: InstalledApp) -> str:
    """`package/.Activity`, with a name made up where the launcher activity is not known."""
    return f"{app.package}/{short_class(app.package, app.activity) or '.MainActivity'}"


def _default_settings(info: DeviceInfo) -> Map[tuple[str, str], str]:
    return Map({
        ("global", "window_animation_scale"): "1.0", ("global", "transition_animation_scale"): "1.0",
        ("global", "animator_duration_scale"): "1.0", ("global", "airplane_mode_on"): "0", ("global", "wifi_on"): "1",
        ("global", "adb_enabled"): "1", ("global", "device_provisioned"): "1", ("global", "device_name"): info.model or "PhoneWorld",
        ("secure", "default_input_method"): LATIN_IME, ("secure", "enabled_input_methods"): ":".join(ENABLED_AT_FIRST),
        ("secure", "android_id"): "9f3a2c5e71b80d46", ("secure", "ui_night_mode"): "2" if info.night_mode else "1",
        ("secure", "location_mode"): "3", ("system", "screen_brightness"): "102", ("system", "screen_brightness_mode"): "0",
        ("system", "accelerometer_rotation"): "0", ("system", "user_rotation"): "0", ("system", "font_scale"): str(info.font_scale),
        ("system", "screen_off_timeout"): "600000",
    })  # fmt: skip


def _default_properties(info: DeviceInfo, serial: str) -> Map[str, str]:
    model = re.sub(r"[^\w .-]", "_", info.model) or "PhoneWorld"
    word = re.sub(r"\W+", "_", model.lower())
    name = (
        re.sub(r"[^\w.-]", "_", serial.rsplit(":", 1)[0] if "://" in serial else PurePosixPath(serial).name) or "phone"
    )
    maker = info.manufacturer or "PhoneWorld"
    return Map({
        "ro.product.name": word, "ro.product.model": model, "ro.product.device": word, "ro.product.manufacturer": maker,
        "ro.product.brand": maker.lower(), "ro.product.cpu.abi": "arm64-v8a", "ro.product.cpu.abilist": "arm64-v8a",
        "ro.product.locale": info.locale or "en-US", "ro.serialno": f"PW{token(serial)}", "ro.boot.serialno": f"PW{token(serial)}",
        "ro.build.version.sdk": str(info.sdk or 34), "ro.build.version.release": info.android or "14",
        "ro.build.version.codename": "REL", "ro.build.type": "user", "ro.build.tags": "release-keys", "ro.build.characteristics": "default",
        "ro.build.display.id": f"PhoneWorld {name}", "ro.build.id": "PHONEWORLD", "ro.debuggable": "0", "ro.secure": "1",
        "ro.build.fingerprint": f"{maker}/{word}/{word}:{info.android or '14'}/PHONEWORLD/1:user/release-keys",
        "ro.sf.lcd_density": str(info.density), "ro.hardware": "phoneworld", "ro.phoneworld": "1",
        "persist.sys.locale": info.locale or "en-US", "persist.sys.timezone": info.timezone or "UTC",
        "sys.boot_completed": "1", "dev.bootcomplete": "1", "init.svc.bootanim": "stopped", "gsm.sim.state": "ABSENT",
    })  # fmt: skip
