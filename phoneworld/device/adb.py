"""A phone over the real adb server: its tree, picture, state, and every action that `input` and `am` can do.

What it does not do: decide when a screen has settled (`settle.py`). Text is entered by `adb_typing.py`.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from phoneworld.device.adb_animations import Animations
from phoneworld.device.adb_reading import (
    check_injected,
    dump_failure,
    parse_activities,
    parse_focus,
    parse_keyboard,
    parse_screen,
)
from phoneworld.device.adb_server import AdbServer, AttachedDevice, ShellOutput
from phoneworld.device.adb_tree_server import PORT, TreeServer
from phoneworld.device.adb_typing import Typist
from phoneworld.device.device import InstalledApp
from phoneworld.device.png import find_png
from phoneworld.errors import ActionError, CaptureFailed, DeviceError, DeviceLost, DeviceUnusable, DumpError
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    action_to_json,
    check_on_screen,
    points_of,
)
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.keys import keycode
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import parse_hierarchy

log = logging.getLogger("phoneworld.device")

T = TypeVar("T")
DUMP_FILE = "/data/local/tmp/phoneworld_dump"
"""Each dump goes to a file of its own, this name with a number: a file that is read was written by that dump."""
_DUMPED = "dumped to:"
_MARK = "@@phoneworld@@"
_MAIN_QUERY = "cmd package query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
_PACKAGE = re.compile(r"[A-Za-z_][\w]*(\.[A-Za-z_]\w*)*")
_DUMP_TIMEOUT_S = 40.0
_SCREENCAP_TRIES = 3
_READ_TRIES = 3
_RETRY_PAUSE_S = 0.2
_RECONNECT_PAUSE_S = 0.5


class AdbDevice:
    """One phone. Every call names its serial; a phone that goes away and does not come back raises DeviceLost.

    What only reads is asked again once the phone is back; an action is not, since it may have been done.
    `dump_budget_s` bounds the tries for one tree, `reconnect_s` the wait for a phone that went away. `clock` and `sleep` are
    the host's unless a test gives others.
    """

    def __init__(
        self,
        serial: str,
        *,
        server: AdbServer | None = None,
        dump_budget_s: float = 30.0,
        reconnect_s: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._serial = serial
        self._server = server or AdbServer()
        self._dump_budget_s, self._reconnect_s = dump_budget_s, reconnect_s
        self._clock, self._sleep = clock, sleep
        self._info: DeviceInfo | None = None
        self._size_now: Size | None = None
        self._display: str = ""
        self._ours = False
        self._retried: list[str] = []
        self._dumps = 0
        self._tree_server = TreeServer(lambda: self._server.dial(serial, PORT))
        self._serves_trees: bool | None = None
        self._animations = Animations(serial, self.run)
        self._typist = Typist(self.run, self.hierarchy, clock=clock, sleep=sleep)

    @classmethod
    def find(cls, serial: str | None = None) -> AdbDevice:
        """The named phone, or the only usable one. Raises DeviceNotFound, DeviceAmbiguous, DeviceUnusable."""
        server = AdbServer()
        device = cls(server.find(serial).serial, server=server)
        if device._animations.put_back_left_behind():
            log.warning("%s: animations that a broken-off recording had switched off are on again", device.serial)
        return device

    @staticmethod
    def attached() -> tuple[AttachedDevice, ...]:
        """What is attached, usable or not."""
        return AdbServer().devices()

    @property
    def serial(self) -> str:
        return self._serial

    def run(self, line: str, timeout_s: float = 30.0) -> ShellOutput:
        """Runs a line in the phone's shell."""
        return self._server.shell(self._serial, line, timeout_s=timeout_s)

    @property
    def info(self) -> DeviceInfo:
        if self._info is None:
            self._info = self._read(self._read_info)
        return self._info

    def take_retried(self) -> tuple[str, ...]:
        """Why something had to be asked again since this was called last: codes such as NULL_ROOT, in order."""
        taken, self._retried = tuple(self._retried), []
        return taken

    def hold_still(self) -> None:
        """Switches the phone's animations off until `close`; see `adb_animations.py`."""
        self._read(self._animations.off)

    def _read(self, ask: Callable[[], T]) -> T:
        """Asks for something that changes nothing, again where the phone broke off or went away and came back."""
        for left in range(_READ_TRIES - 1, -1, -1):
            try:
                return ask()
            except DeviceLost as e:
                if not left or not self._is_back():
                    raise
                log.warning("%s; it is back", e.message)
                self._retried.append("RECONNECTED")
            except DeviceError as e:
                if not left or type(e) is not DeviceError:
                    raise
                log.warning("%s; asking again", e.message)
                self._retried.append("BROKEN_OFF")
        raise AssertionError("unreachable")

    def _is_back(self) -> bool:
        """Waits for a phone that went away, and connects to it anew where that is how it is reached."""
        deadline = self._clock() + self._reconnect_s
        while True:
            try:
                return self._server.find(self._serial).usable
            except DeviceError:
                if self._clock() >= deadline:
                    return False
            self._sleep(_RECONNECT_PAUSE_S)

    def _read_info(self) -> DeviceInfo:
        names = (
            "ro.product.model",
            "ro.product.manufacturer",
            "ro.build.version.release",
            "ro.build.version.sdk",
            "persist.sys.locale",
            "ro.product.locale",
            "persist.sys.timezone",
            "ro.phoneworld",
        )
        lines = [
            "wm size",
            "wm density",
            *(f"getprop {name}" for name in names),
            "settings get system font_scale",
            "settings get secure ui_night_mode",
        ]
        parts = [part.strip() for part in self.run(f"; echo {_MARK}; ".join(lines)).text.split(_MARK)]
        size, density = parse_screen(parts[0] + "\n" + parts[1])
        if size is None:
            raise DeviceUnusable(
                f"device {self._serial} does not say how large its screen is: {parts[0][:80]!r}",
                hint="has it finished starting?",
            )
        model, maker, android, sdk, locale, built_locale, zone, ours, font, night = parts[2:12]
        self._ours = ours == "1"
        return DeviceInfo(
            size,
            density=density,
            model=model,
            manufacturer=maker,
            android=android,
            sdk=int(sdk) if sdk.isdigit() else 0,
            locale=locale or built_locale,
            timezone=zone,
            font_scale=float(font) if re.fullmatch(r"\d+(\.\d+)?", font) else 1.0,
            night_mode=night == "2",
        )

    def state(self) -> DeviceState:
        return self._read(self._state)

    def _state(self) -> DeviceState:
        output = self.run(
            "dumpsys window | grep -E 'mCurrentFocus|mFocusedApp|mCurrentRotation|mRotation='; "
            f"echo {_MARK}; dumpsys input_method | grep -E 'mInputShown|mIsInputViewShown'; echo {_MARK}; date +%s"
        ).text
        windows, keyboard, clock = (*output.split(_MARK), "", "")[:3]
        state = replace(parse_focus(windows), keyboard=parse_keyboard(keyboard))
        self._turned(state.rotation)
        return replace(state, clock_ms=int(clock) * 1000 if clock.strip().isdigit() else None)

    def _turned(self, rotation: int) -> None:
        size = self.info.size
        self._size_now = Size(size.height, size.width) if rotation % 2 else size

    def hierarchy(self) -> Hierarchy:
        """The tree now, by the uiautomator2 server where one runs on the phone when the first tree is read, else by
        `uiautomator dump`: one way for as long as this object lives, since the two give different trees. In its attributes `compressed` is `true` where only that form could be had.

        A screen that never rests is tried again without animations, then compressed. Raises CaptureFailed with the code
        DUMP_NOT_IDLE, NULL_ROOT, DUMP_FAILED or BAD_DUMP, quoting the phone's line.
        """
        return self._read(self._hierarchy)

    def _hierarchy(self) -> Hierarchy:
        deadline = self._clock() + self._dump_budget_s
        while True:
            try:
                return self._dump()
            except CaptureFailed as e:
                failed = e
            if failed.code == "DUMP_NOT_IDLE":
                return self._dump_without_animations(deadline, failed)
            if self._clock() + _RETRY_PAUSE_S >= deadline:
                raise failed
            log.info("%s: %s; trying again", self._serial, failed.message)
            self._sleep(_RETRY_PAUSE_S)

    def _dump(self, options: str = "") -> Hierarchy:
        try:
            return self._dump_once(options)
        except CaptureFailed as e:
            self._retried.append(e.code)
            raise

    def _dump_once(self, options: str) -> Hierarchy:
        if self._serves_trees is None:
            self._serves_trees = self._tree_server.answers()
        if self._serves_trees:
            return self._parsed(self._tree_server.tree(compressed=bool(options)))
        # A file of an earlier dump, ours or another client's, must not be read as if it were new: dumps fail without a word.
        self._dumps += 1
        file = f"{DUMP_FILE}{self._dumps}.xml"
        line = f"rm -f {DUMP_FILE}*.xml; uiautomator dump {options}{file} 2>&1; cat {file}"
        output = self._server.exec_out(self._serial, line, timeout_s=_DUMP_TIMEOUT_S)
        starts = [at for mark in (b"<?xml", b"<hierarchy") if (at := output.find(mark)) >= 0]
        told = output[: min(starts, default=len(output))].decode(errors="replace").strip()
        if not starts or _DUMPED not in told:
            raise dump_failure(told)
        return self._parsed(output[min(starts) :])

    def _parsed(self, xml: bytes) -> Hierarchy:
        try:
            tree = parse_hierarchy(xml)
        except DumpError as e:
            raise CaptureFailed(
                f"the dump cannot be read: {e.message}", code="BAD_DUMP", hint="try again when the screen is at rest"
            ) from e
        self._turned(tree.rotation)
        return tree

    def _dump_without_animations(self, deadline: float, failed: CaptureFailed) -> Hierarchy:
        """One more full try and one compressed with the animations off; the scales are put back whatever happens."""
        held = self._animations.are_off
        self._animations.off()
        try:
            for options in ("", "--compressed "):
                if self._clock() >= deadline:
                    break
                try:
                    tree = self._dump(options)
                except CaptureFailed as e:
                    failed = e
                    continue
                return replace(tree, attributes=(*tree.attributes, ("compressed", "true"))) if options else tree
        finally:
            if not held:
                self._animations.put_back()
        raise failed

    def screenshot(self) -> bytes:
        """A PNG, whole to its last chunk. Raises CaptureFailed with the code NO_PNG where none can be had in three tries."""
        return self._read(self._screenshot)

    def _screenshot(self) -> bytes:
        for left in range(_SCREENCAP_TRIES - 1, -1, -1):
            output = self._server.exec_out(self._serial, f"screencap -p{self._display}", timeout_s=_DUMP_TIMEOUT_S)
            try:
                found = find_png(output)
            except CaptureFailed as e:
                self._retried.append(e.code)
                if not left:
                    raise
                if (state := self._server.state(self._serial)) != "device":
                    raise self._server.broken_off(
                        self._serial, f"its picture broke off (it is {state or 'away'})"
                    ) from None
                self._sleep(_RETRY_PAUSE_S)
                continue
            if found.before:
                log.warning(
                    "%s: %d bytes stood before the picture: %s",
                    self._serial,
                    len(found.before),
                    found.before.splitlines()[0][:120],
                )
                self._name_display()
            self._size_now = found.size
            return found.png
        raise AssertionError("unreachable")

    def _name_display(self) -> None:
        """From now on asks for the first display by its number, so that the phone has nothing to warn of."""
        if not self._display and (
            found := re.search(r"Display (\d+) ", self.run("dumpsys SurfaceFlinger --display-id").text)
        ):
            self._display = f" -d {found.group(1)}"

    def perform(self, action: Action) -> None:
        """Does one action. Raises ActionError where it lies outside the screen or adb cannot do it here.

        DeviceError where the phone went away in the middle of it and is back: it may have been done or not.
        """
        self._check(action)
        try:
            self._perform(action)
        except DeviceLost as e:
            if not self._is_back():
                raise
            self._retried.append("RECONNECTED")
            raise DeviceError(
                f"the device {self._serial} went away in the middle of an action and is back: whether it was done is not known",
                hint="look at the screen before you do it again",
            ) from e

    def _perform(self, action: Action) -> None:
        match action:
            case Tap(x, y):
                self._input(f"input tap {x} {y}")
            case DoubleTap(x, y):
                if not self._on_ours(action):
                    self._input(
                        f"input tap {x} {y} & sleep 0.1; input tap {x} {y}; wait"
                    )  # started apart, however long a start takes
            case LongPress(x, y, ms):
                self._input(f"input swipe {x} {y} {x} {y} {ms}", ms)
            case Swipe(x, y, x2, y2, ms):
                self._input(f"input swipe {x} {y} {x2} {y2} {ms}", ms)
            case Drag(x, y, x2, y2, ms):
                self._input(f"input draganddrop {x} {y} {x2} {y2} {ms}", ms)
            case Pinch():
                if not self._on_ours(action):
                    raise ActionError(
                        "adb has no way to move two fingers", hint="use a web: or mock: phone for pinches"
                    )
            case TypeText(text, x, y, mode):
                if x is not None:
                    self._input(f"input tap {x} {y}")
                if mode == "replace":
                    self._typist.clear()
                self._typist.type(text)
            case Clear(x, y):
                if x is not None:
                    self._input(f"input tap {x} {y}")
                self._typist.clear()
            case PressKey(key):
                self._input(f"input keyevent {keycode(key)}")
            case OpenApp():
                self._open(action)
            case CloseApp(package):
                self.run(f"am force-stop {_checked(package)}")
            case Wait(ms):
                self._sleep(ms / 1000)
            case Answer() | Ask() | Finish():
                return

    def _check(self, action: Action) -> None:
        points = points_of(action)
        if not points:
            return
        if self._size_now is None or not all(self._size_now.contains(point) for point in points):
            self.state()  # it may have been turned meanwhile
        check_on_screen(action, self._size_now or self.info.size)

    def _on_ours(self, action: Action) -> bool:
        """Hands a gesture that `input` has no word for to a phone of ours; False on any other phone."""
        if self.info and self._ours:
            self._input(f"cmd phoneworld perform {shlex.quote(json.dumps(action_to_json(action)))}")
            return True
        return False

    def _input(self, line: str, duration_ms: int = 0) -> None:
        check_injected(self.run(line, timeout_s=30 + duration_ms / 1000), line)

    def _open(self, action: OpenApp) -> None:
        if action.url:
            package = f" -p {_checked(action.package)}" if action.package else ""
            output = self.run(
                f"am start -W -a android.intent.action.VIEW -d {shlex.quote(action.url.strip())}{package}"
            )
            failed = "Error" in output.everything or output.status != 0
        elif action.activity:
            output = self.run(f"am start -W -n {shlex.quote(_checked(action.package) + '/' + action.activity)}")
            failed = "Error" in output.everything or output.status != 0
        else:
            output = self.run(f"monkey -p {_checked(action.package)} -c android.intent.category.LAUNCHER 1")
            failed = "No activities found" in output.everything or "Events injected: 1" not in output.everything
        if failed:
            lines = output.everything.splitlines()
            told = next(
                (line for line in lines if "Error:" in line or "No activities" in line),
                lines[-1] if lines else "it said nothing",
            )
            raise ActionError(
                f"the phone could not open {action.url or action.package}: {told.strip()}",
                hint="see what is installed: adb shell pm list packages",
            )

    def apps(self) -> tuple[InstalledApp, ...]:
        """What has a launcher icon; on phones that cannot be asked (before Android 7), every package."""
        output = self._read(lambda: self.run(_MAIN_QUERY))
        if found := parse_activities(output.text):
            return found
        return tuple(
            InstalledApp(p) for p in sorted(re.findall(r"^package:(\S+)$", self.run("pm list packages").text, re.M))
        )

    def clear_app(self, package: str) -> None:
        """Stops it and deletes what it has stored. Raises DeviceError where the phone will not."""
        output = self.run(f"pm clear {_checked(package)}", timeout_s=60)
        if "Success" not in output.everything:
            raise DeviceError(
                f"the phone did not clear {package}: {output.everything.strip() or 'it said nothing'}",
                hint="is it installed? adb shell pm list packages",
            )

    def close(self) -> None:
        """Puts the animations back where `hold_still` has switched them off; may be called twice."""
        self._animations.put_back()


def _checked(package: str) -> str:
    if not _PACKAGE.fullmatch(package):
        raise ActionError(f"{package!r} is not the name of an app", hint="for example com.android.settings")
    return package
