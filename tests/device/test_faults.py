"""The faults themselves, byte for byte as phones show them; and AdbDevice, over the real adb program, against each of them."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from phoneworld.adbd.commands import COMMANDS
from phoneworld.adbd.phone import PhoneSide
from phoneworld.adbd.pipes import Collected, Given
from phoneworld.adbd.server import AdbPhone
from phoneworld.adbd.shell import Shell, Streams
from phoneworld.device.adb import AdbDevice
from phoneworld.device.adb_reading import parse_screen
from phoneworld.device.adb_server import AdbServer
from phoneworld.device.device import Device, ResettableDevice
from phoneworld.device.faults import KNOBS, WARNING, FaultPlan, Faults, faulty, parse_faults, tree_name
from phoneworld.device.png import SIGNATURE
from phoneworld.errors import ActionError, CaptureFailed, DeviceError, DeviceLost, PhoneWorldError, TruncatedDump
from phoneworld.ui.action import OpenApp, Tap, TypeText
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy
from tests.adbd.fixtures import needs_adb, run_apart
from tests.adbd.pocket import NOTE, PACKAGE, PLUS, PocketPhone

IDLE = "ERROR: could not get idle state.\n"
NULL_ROOT = "ERROR: null root node returned by UiTestAutomationBridge.\n"
PLUS_TAP = Tap(PLUS.center.x, PLUS.center.y)


@dataclass
class Time:
    """A clock that only moves when somebody sleeps."""

    now_s: float = 0.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@dataclass
class PocketWithDialog(PocketPhone):
    """The pocket phone with a window over its app."""

    asks: bool = False

    def hierarchy(self) -> Hierarchy:
        beneath = super().hierarchy()
        ok = Node("android.widget.Button", text="OK", package=PACKAGE, clickable=True, bounds=Bounds(200, 600, 500, 700))
        dialog = Node("android.widget.FrameLayout", package=PACKAGE, bounds=Bounds(100, 500, 620, 800), children=(ok,))
        return replace(beneath, windows=(dialog,)) if self.asks else beneath


class Bench:
    """A shell on a pocket phone with faults, without any adb between."""

    def __init__(self, faults: str, *, seed: int = 0, truth: Path | None = None) -> None:
        self.time = Time()
        self.pocket = PocketWithDialog()
        self.pocket.perform(OpenApp(PACKAGE))
        self.faults = Faults(parse_faults(faults), seed=seed, truth=truth, clock=self.time.clock, sleep=self.time.sleep)
        self.device = faulty(self.pocket, self.faults)
        self.phone = PhoneSide(self.device, self.faults)
        self.phone.open()

    def run(self, line: str) -> tuple[bytes, bytes, int]:
        stdout, stderr = Collected(), Collected()
        status = run_apart(Shell(self.phone, COMMANDS).run(line, Streams(Given(b""), stdout, stderr)))
        return bytes(stdout.content), bytes(stderr.content), status

    def strike(self, **chances: float) -> None:
        """Other faults from now on."""
        self.faults.plan = replace(self.faults.plan, chances={name.replace("_", "-"): c for name, c in chances.items()})


@pytest.fixture
def bench() -> Iterator[type[Bench]]:
    made: list[Bench] = []

    class Noted(Bench):
        def __init__(self, faults: str, *, seed: int = 0, truth: Path | None = None) -> None:
            super().__init__(faults, seed=seed, truth=truth)
            made.append(self)

    yield Noted
    for one in made:
        one.phone.close()


class TestWords:
    def test_knobs_chances_times_and_the_rest_are_read(self) -> None:
        plan = parse_faults("idle=0.1:2, nullroot=1,all=.05,secure@My account,offline@30")
        assert plan.chances["idle"] == 0.1 and plan.chances["nullroot"] == 1 and plan.chances["crlf"] == 0.05
        assert set(plan.chances) == set(KNOBS) and plan.seconds == {"idle": 2}
        assert (plan.secure_words, plan.offline_at_s, plan.offline_for_s) == (("My account",), 30, 5)
        assert parse_faults("offline@1.5:inf").offline_for_s == math.inf
        assert set(parse_faults("").chances.values()) == {0.0}
        assert {k for k, chance in parse_faults("killed,late-settle").chances.items() if chance == 0.05} == {"killed", "late-settle"}

    @pytest.mark.parametrize("text", ["idel=0.1", "idel", "idle=2", "idle=x", "nullroot=0.1:3", "offline", "all=0.1:2", "=1", "secure@"])
    def test_what_names_no_fault_is_an_error_with_a_hint(self, text: str) -> None:
        with pytest.raises(PhoneWorldError) as e:
            parse_faults(text)
        assert e.value.hint

    @given(st.text(max_size=40))
    def test_any_text_is_a_plan_or_a_named_error(self, text: str) -> None:
        try:
            assert isinstance(parse_faults(text), FaultPlan)
        except PhoneWorldError as e:
            assert e.message

    def test_a_seed_repeats_and_a_knob_does_not_hang_on_the_others(self) -> None:
        def strikes(text: str, seed: int) -> list[bool]:
            faults = Faults(parse_faults(text), seed=seed)
            return [faults.strikes("crlf") for _ in range(200) if faults.strikes("banner") in (True, False)]

        assert strikes("crlf=0.3", 1) == strikes("crlf=0.3,banner=0.9", 1) != strikes("crlf=0.3", 2)
        assert 30 < sum(strikes("crlf=0.3", 1)) < 90

    def test_the_command_line_names_every_knob_and_refuses_others(self) -> None:
        def run(*words: str) -> subprocess.CompletedProcess[str]:
            env = {**os.environ, "COLUMNS": "400"}
            command = [sys.executable, "-m", "phoneworld.cli.main", "phone", *words]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)

        shown = run("--help").stdout
        assert [knob for knob in KNOBS if knob not in shown] == [], "a knob is missing in --help"
        explained = run("web:", "--fault", "help")
        assert explained.returncode == 0 and all(knob.words in explained.stdout for knob in KNOBS.values())
        wrong = run("web:http://127.0.0.1:9/", "--fault", "idel=0.1")
        assert wrong.returncode == 2 and "no fault 'idel'" in wrong.stderr and "Traceback" not in wrong.stderr

    def test_truth_that_cannot_be_written_is_a_named_error(self, tmp_path: Path) -> None:
        with pytest.raises(PhoneWorldError, match="cannot be written"):
            Faults(FaultPlan(), truth=tmp_path / "none" / "truth.jsonl")


class TestWire:
    """What a client reads, exactly."""

    def test_no_idle_state_takes_its_time_and_leaves_no_file(self, bench: type[Bench]) -> None:
        b = bench("idle=1")
        assert b.run("uiautomator dump /sdcard/a.xml") == (IDLE.encode(), b"", 0)
        assert b.time.slept == [10.0]
        assert b.run("ls /sdcard/a.xml")[2] != 0

    def test_null_root_leaves_the_file_of_an_earlier_dump(self, bench: type[Bench]) -> None:
        b = bench("")
        b.run("uiautomator dump /sdcard/a.xml")
        before = b.run("cat /sdcard/a.xml")
        b.pocket.perform(PLUS_TAP)
        b.strike(nullroot=1)
        assert b.run("uiautomator dump /sdcard/a.xml") == (NULL_ROOT.encode(), b"", 0)
        assert b.run("cat /sdcard/a.xml") == before

    def test_a_stale_dump_says_nothing_and_leaves_the_old_file(self, bench: type[Bench]) -> None:
        b = bench("")
        b.run("uiautomator dump /sdcard/a.xml")
        before = b.run("cat /sdcard/a.xml")
        b.pocket.perform(PLUS_TAP)
        b.strike(staledump=1)
        assert b.run("uiautomator dump /sdcard/a.xml") == (b"", b"", 0)
        assert b.run("cat /sdcard/a.xml") == before and b"Count 0" in before[0]

    def test_an_old_tree_is_served_as_if_it_were_new(self, bench: type[Bench]) -> None:
        b = bench("oldtree=1")
        first = b.device.hierarchy()
        b.pocket.perform(PLUS_TAP)
        assert b.device.hierarchy() == first != b.pocket.hierarchy()

    def test_a_killed_dump_has_its_status_and_no_file(self, bench: type[Bench]) -> None:
        b = bench("killed=1")
        assert b.run("uiautomator dump /sdcard/a.xml") == (b"", b"Killed\n", 137)
        assert b.run("ls /sdcard/a.xml")[2] != 0

    def test_a_glued_banner_stands_on_the_line_of_the_tree(self, bench: type[Bench]) -> None:
        b = bench("banner=1")
        out, _, status = b.run("uiautomator dump /dev/tty")
        assert out.startswith(b"UI hierchary dumped to: /dev/tty<?xml") and status == 0
        assert parse_hierarchy(out) == b.pocket.hierarchy()

    def test_a_truncated_tree_is_recognised_as_one(self, bench: type[Bench]) -> None:
        b = bench("truncated=1")
        with pytest.raises(TruncatedDump):
            parse_hierarchy(b.run("uiautomator dump /dev/tty")[0])

    def test_pictures_are_spoiled_as_phones_spoil_them(self, bench: type[Bench]) -> None:
        b = bench("")
        clean = b.run("screencap -p")[0]
        assert clean.startswith(SIGNATURE)
        b.strike(warning=1)
        assert b.run("screencap -p")[0] == WARNING + clean
        assert b.run("screencap -p -d 0")[0] == clean, "with its display named the phone has nothing to warn of"
        b.run("screencap -p /sdcard/a.png")
        assert b.run("cat /sdcard/a.png")[0] == clean
        b.strike(crlf=1)
        assert b.run("screencap -p")[0] == clean.replace(b"\n", b"\r\n")
        b.strike(truncated=1)
        assert (cut := b.run("screencap -p")[0]) != clean and clean.startswith(cut)

    def test_a_forbidden_picture_is_black_and_of_the_right_size(self, bench: type[Bench]) -> None:
        b = bench("secure@Count 0")
        with Image.open(io.BytesIO(b.run("screencap -p")[0])) as picture:
            assert (picture.size, picture.convert("RGB").getbbox()) == ((720, 1280), None)
        b.pocket.perform(PLUS_TAP)
        assert b.run("screencap -p")[0] == b.pocket.screenshot()

    def test_a_slow_picture_takes_its_time(self, bench: type[Bench]) -> None:
        b = bench("slow-screencap=1:3")
        b.run("screencap -p")
        assert b.time.slept == [3.0]

    def test_a_late_screen_shows_the_old_one_for_a_while(self, bench: type[Bench]) -> None:
        b = bench("late-settle=1:2")
        before = (b.pocket.hierarchy(), b.pocket.screenshot())
        b.run(f"input tap {PLUS_TAP.x} {PLUS_TAP.y}")
        assert b.pocket.memory.count == 1, "the app itself is not late"
        assert (b.device.hierarchy(), b.device.screenshot()) == before
        b.time.sleep(2)
        assert (b.device.hierarchy(), b.device.screenshot()) == (b.pocket.hierarchy(), b.pocket.screenshot()) != before

    def test_a_missing_pop_up_is_in_no_dump_as_long_as_it_stands(self, bench: type[Bench]) -> None:
        b = bench("")
        beneath = b.device.hierarchy()
        b.strike(popup_missing=1)
        b.pocket.asks = True
        assert b.device.hierarchy() == b.device.hierarchy() == beneath
        b.strike()
        assert b.device.hierarchy() == beneath, "it was rolled for when it opened"
        b.pocket.asks = False
        assert b.device.hierarchy() == beneath
        b.pocket.asks = True
        assert b.device.hierarchy() == b.pocket.hierarchy() != beneath

    def test_the_truth_says_what_was_shown_and_which_fault_struck(self, bench: type[Bench], tmp_path: Path) -> None:
        b = bench("", truth=tmp_path / "truth.jsonl")
        b.run("uiautomator dump; screencap -p")
        b.strike(nullroot=1, secure=1, warning=1)
        b.run("uiautomator dump; screencap -p")
        rows = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
        true = tree_name(b.pocket.hierarchy())
        assert [(r["n"], r["what"], r.get("tree"), r.get("served"), r["fault"]) for r in rows] == [
            (1, "tree", true, true, None), (2, "picture", true, None, None), (3, "tree", true, None, "nullroot"),
            (4, "picture", true, None, "secure"), (5, "wire", None, None, "warning"),
        ]  # fmt: skip
        assert b.faults.struck == {"nullroot": 1, "secure": 1, "warning": 1}

    def test_a_phone_with_faults_is_still_the_phone_it_was(self, bench: type[Bench]) -> None:
        b = bench("all=0.5")
        assert isinstance(b.device, Device) and isinstance(b.device, ResettableDevice)
        assert b.device.events is b.pocket.events  # type: ignore[attr-defined]
        name = b.device.snapshot()
        b.device.perform(PLUS_TAP)
        b.device.restore(name)
        assert b.pocket.memory.count == 0


@contextmanager
def over_adb(port: int, faults: str, *, seed: int = 0, time: Time | None = None) -> Iterator[tuple[AdbDevice, PocketPhone, Time]]:
    """A pocket phone with faults, over the real adb program. Nobody sleeps; the offline clock and the device's are one."""
    time = time or Time()
    pocket = PocketPhone()
    pocket.perform(OpenApp(PACKAGE))
    at_work = Faults(parse_faults(faults), seed=seed, clock=time.clock, sleep=time.sleep)
    server = AdbServer(port=port)
    with AdbPhone(pocket, port=0, faults=at_work) as served:
        assert server.connect(served.serial)
        device = AdbDevice(served.serial, server=server, clock=time.clock, sleep=time.sleep)
        try:
            yield device, pocket, time
        finally:
            device.close()
            server.disconnect(served.serial)


@needs_adb
class TestOverAdb:
    @pytest.mark.parametrize(
        ("knob", "codes"),
        [
            ("idle", {"DUMP_NOT_IDLE"}), ("nullroot", {"NULL_ROOT"}), ("staledump", {"DUMP_FAILED"}), ("killed", {"DUMP_FAILED"}),
            ("banner", set()), ("truncated", {"BAD_DUMP", "NO_PNG"}), ("warning", set()), ("crlf", set()), ("slow-screencap", set()),
        ],
    )  # fmt: skip
    def test_the_tree_and_the_picture_are_right_or_marked_whatever_strikes(
        self,
        knob: str,
        codes: set[str],
        adb_server: int,
    ) -> None:
        with over_adb(adb_server, f"{knob}=0.35", seed=3) as (device, pocket, _):
            retried: list[str] = []
            trees = pictures = 0
            for _ in range(8):
                try:
                    tree = device.hierarchy()
                    if ("compressed", "true") not in tree.attributes:
                        assert tree == pocket.hierarchy()
                    trees += 1
                    assert device.screenshot() == pocket.screenshot()
                    pictures += 1
                except CaptureFailed as e:
                    assert e.code in codes
                retried += device.take_retried()
                pocket.perform(PLUS_TAP)
            assert set(retried) == codes and trees >= 7 and pictures >= 7
            assert device.take_retried() == ()

    def test_a_file_that_another_client_left_is_never_read(self, adb_server: int) -> None:
        with over_adb(adb_server, "staledump=1") as (device, _, time):
            device.run("echo '<hierarchy rotation=\"0\"><node bounds=\"[0,0][9,9]\"/></hierarchy>' > /data/local/tmp/phoneworld_dump1.xml")
            with pytest.raises(CaptureFailed):
                device.hierarchy()
            assert time.now_s <= 30

    def test_a_phone_that_goes_offline_and_comes_back_is_asked_again(self, adb_server: int) -> None:
        with over_adb(adb_server, "offline@30:0") as (device, pocket, time):
            assert device.hierarchy() == pocket.hierarchy()
            time.now_s = 30.0
            assert device.hierarchy() == pocket.hierarchy()
            assert device.take_retried() == ("RECONNECTED",)

    def test_an_action_that_was_broken_off_is_not_done_again_and_is_said_to_be_unknown(self, adb_server: int) -> None:
        with over_adb(adb_server, "offline@30:0") as (device, pocket, time):
            device.state()
            time.now_s = 30.0
            with pytest.raises(DeviceError, match="whether it was done is not known") as e:
                device.perform(PLUS_TAP)
            assert not isinstance(e.value, DeviceLost) and pocket.memory.count <= 1
            device.perform(PLUS_TAP)
            assert pocket.memory.count in (1, 2)

    def test_plain_text_is_waited_for_and_an_error_where_it_does_not_arrive(
        self,
        adb_server: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        with over_adb(adb_server, "late-settle=1:1.5") as (device, pocket, time):
            pocket.perform(Tap(NOTE.center.x, NOTE.center.y))
            device.perform(TypeText("slow"))
            assert pocket.memory.fields[1] == "slow" and 1.5 <= time.now_s < 4
        with over_adb(adb_server, "") as (device, pocket, time):
            pocket.perform(Tap(NOTE.center.x, NOTE.center.y))
            monkeypatch.setattr(PocketPhone, "_set_field", lambda self, text, *, keep: None)
            with pytest.raises(ActionError, match="still holds ''"):
                device.perform(TypeText("lost"))

    def test_animations_are_held_still_and_put_back(
        self,
        adb_server: int,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        scales = "; ".join(
            f"settings get global {n}" for n in ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")
        )
        with over_adb(adb_server, "idle=0.5:1", seed=1) as (device, _, _):
            device.run("settings put global window_animation_scale 0.5; settings delete global animator_duration_scale")
            device.hold_still()
            assert device.run(scales).text.split() == ["0", "0", "0"]
            for _ in range(4):
                with suppress(CaptureFailed):
                    device.hierarchy()
            assert "DUMP_NOT_IDLE" in device.take_retried()
            assert device.run(scales).text.split() == ["0", "0", "0"], "a dump that wants them off leaves them off"
            [kept] = (tmp_path / "phoneworld" / "animations").iterdir()
            device.close()
            assert device.run(scales).text.split() == ["0.5", "1.0", "null"]
            assert not kept.exists()

    def test_animations_that_a_killed_process_left_off_are_put_back_by_the_next(
        self,
        adb_server: int,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        with over_adb(adb_server, "") as (device, _, _):
            device.run("settings put global window_animation_scale 0.7")
            script = (
                "import sys; from phoneworld.device.adb import AdbDevice; d = AdbDevice.find(sys.argv[1]); d.hold_still(); "
                "print('still', flush=True); sys.stdin.read()"
            )
            other = subprocess.Popen(
                [sys.executable, "-c", script, device.serial], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
            )
            assert other.stdout is not None and other.stdout.readline() == "still\n"
            asked = "settings get global window_animation_scale"
            AdbDevice.find(device.serial)
            assert device.run(asked).text == "0\n", "while that process lives, they are its own"
            other.send_signal(signal.SIGKILL)
            other.communicate()
            assert device.run(asked).text == "0\n"
            AdbDevice.find(device.serial)
            assert device.run(asked).text == "0.7\n"
            assert not list((tmp_path / "phoneworld" / "animations").iterdir())


@pytest.mark.parametrize(
    ("text", "size", "density"),
    [
        ("Physical size: 1080x2400\nPhysical density: 420\n", Size(1080, 2400), 420),
        ("Physical size: 1440x3120\nOverride size: 1080x2340\nPhysical density: 560\nOverride density: 420\n", Size(1080, 2340), 420),
        ("Physical size: 800x1280\r\nPhysical density: 213\r\n", Size(800, 1280), 213),
        ("error: no service\n", None, 420),
    ],
)
def test_what_was_overridden_is_what_counts(text: str, size: Size | None, density: int) -> None:
    assert parse_screen(text) == (size, density)
