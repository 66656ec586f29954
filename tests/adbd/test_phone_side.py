"""What a phone has beside its screen: logs, installing, ports, settings that a reset restores; and many phones in one process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from phoneworld.adbd.apk import package_of
from phoneworld.adbd.server import AdbPhone
from phoneworld.errors import FileFormatError
from tests.adbd.fixtures import Attached, Desk, needs_adb, streaming
from tests.adbd.pocket import PACKAGE, PocketPhone
from tests.adbd.tiny_apk import apk


class TestLogs:
    def test_what_happened_is_logged_and_a_dump_ends(self, desk: Desk) -> None:
        desk.out(f"am start -n {PACKAGE}/.MainActivity; log -p w -t Mine 'one two'")
        assert desk.out("logcat -d -v brief -s Mine") == "--------- beginning of main\nW/Mine    ( 1201): one two\n"
        assert f"cmp={PACKAGE}/.MainActivity" in desk.out("logcat -d ActivityTaskManager:I '*:S'")
        assert desk.out("logcat -d -v raw -t 1") == "one two\n"
        assert desk.out("logcat -c; logcat -d -v raw") == ""
        for wrong in ("-v nonsense", "--bogus", "-d -t soon", "-T 13:00", "-b bogus", "-m few", "-Q", "-t", "-d --pid abc", "-d Mine:X", "-d -f /sdcard/log", "-G much", "-G 1", "-G", "-d --pid=", "-d --uid x", "-d --regex", "-B -d", "-v threadtime,nonsense"):
            out, err, status = desk.sh(f"logcat {wrong}")
            assert (out, status) == ("", 1) and err.startswith("logcat: "), wrong

    @pytest.mark.parametrize(
        ("line", "shown"),
        [
            ("-G 1M", ""), ("-G1M", ""), ("--buffer-size=64K", ""), ("-L", ""), ("--last", ""), ("-P ''", ""), ("-p", "\n"), ("--prune=x", ""),
            ("-S", "size/num main               Total\nTotal    3/1                3/1\nNow      3/1                3/1\n"),
            ("-G 1M; logcat -g", "main: ring buffer is 1 MiB (1 of 2000 lines used)\n"), ("-g", "main: ring buffer is 256 KiB (1 of 2000 lines used)\n"),
        ],
    )  # fmt: skip
    def test_what_sets_or_tells_of_the_buffer_ends(self, desk: Desk, line: str, shown: str) -> None:
        desk.out("logcat -c; log -t Mine one")
        assert desk.out(f"logcat {line}") == shown

    def test_only_the_lines_of_a_process_or_user_are_shown(self, desk: Desk) -> None:
        desk.out("logcat -c; log -t Mine hello")
        for line, shown in (("--pid=1", ""), ("--pid 1", ""), ("--pid 1201", "hello\n"), ("--uid=2000", ""), ("--uid 1000,2000", "hello\n")):
            assert desk.out(f"logcat -d -v raw {line}") == shown, line

    def test_long_options_take_a_word_of_their_own(self, desk: Desk) -> None:
        desk.out("logcat -c; log -t Mine hello; log -t Mine other; log -t Mine help")
        assert desk.out("logcat -d --regex hel --format raw") == "hello\nhelp\n"
        assert desk.out("logcat --max-count 1 --regex=hel --format=raw --buffer main") == "hello\n"

    def test_the_beginning_is_told_only_before_a_line(self, desk: Desk) -> None:
        desk.out("logcat -c; log -t Mine hello")
        assert desk.out("logcat -d -s Nobody") == desk.out("logcat -d -b crash") == desk.out("logcat -d --regex none") == ""
        assert desk.out("logcat -d -v tag -s Mine") == "--------- beginning of main\nI/Mine    : hello\n"

    def test_a_form_can_be_modified(self, desk: Desk) -> None:
        desk.out("log -t Mine hello")
        assert desk.out("logcat -d -v epoch -s Mine | tail -1").startswith("1767225600.123 ") and desk.sh("logcat --help")[2] == 0
        assert desk.out("logcat -d -v time,year,color -s Mine | tail -1") == "2026-01-01 00:00:00.123 I/Mine    ( 1201): hello\n"

    def test_moments_can_be_told_by_the_microsecond(self, desk: Desk) -> None:
        desk.out("log -t Mine hello")
        for form, begins in (("threadtime,usec", "01-01 00:00:00.123000 "), ("epoch,usec", "1767225600.123000 "), ("year,zone", "2026-01-01 00:00:00.123 +0000 ")):
            assert desk.out(f"logcat -d -v {form} -s Mine | tail -1").startswith(begins), form

    def test_what_is_shown_can_begin_at_a_moment(self, desk: Desk) -> None:
        desk.out("log -t Mine hello")
        for since, shown in (("01-01 00:00:00.123", "hello\n"), ("01-01 00:00:00.124", ""), ("2030-01-01 00:00:00.000", ""), ("0.000", "hello\n"), ("02-31 00:00:00.000", "")):
            assert desk.out(f"logcat -d -v raw -s Mine -t '{since}'") == shown, since
        assert desk.out("logcat -d -v raw -b crash") == "" and desk.out("logcat -d -v raw -s Mine -b crash,main") == "hello\n"

    def test_the_default_form_has_date_process_level_and_tag(self, desk: Desk) -> None:
        desk.out("log -t Mine hello")
        assert desk.out("logcat -d | tail -1") == "01-01 00:00:00.123  1201  1201 I Mine    : hello\n"

    @needs_adb
    def test_it_streams_until_the_reader_goes(self, attached: Attached) -> None:
        with streaming(attached, "logcat -v raw | grep wanted") as process:
            assert process.stdout is not None
            attached.shell("log -t A not this; log -t A wanted")
            assert process.stdout.readline() == b"wanted\n"
        assert attached.shell("echo still here")[0] == "still here\n"


class TestInstalling:
    @pytest.mark.parametrize("utf8", [False, True])
    def test_the_package_of_an_apk_is_read_from_its_manifest(self, utf8: bool) -> None:
        assert package_of(apk("org.example.notes", utf8=utf8)) == "org.example.notes"

    def test_what_is_no_apk_is_an_error_with_words(self) -> None:
        whole = apk("org.example.notes")
        for bad in (b"", b"PK", whole[:-30], whole[:60], b"x" * 1000):
            with pytest.raises(FileFormatError):
                package_of(bad)

    @needs_adb
    def test_the_real_adb_installs_what_is_there_and_is_refused_the_rest(self, attached: Attached, tmp_path: Path) -> None:
        own, other, broken = tmp_path / "own.apk", tmp_path / "other.apk", tmp_path / "broken.apk"
        own.write_bytes(apk(PACKAGE))
        other.write_bytes(apk("org.example.elsewhere"))
        broken.write_bytes(b"no zip")
        assert b"Success" in attached.adb("install", "-r", str(own)).stdout
        refused = attached.adb("install", str(other))
        assert refused.returncode != 0 and b"INSTALL_FAILED_INTERNAL_ERROR" in refused.stdout + refused.stderr
        assert attached.adb("install", str(broken)).returncode != 0
        assert attached.shell("pm list packages -3")[0] == f"package:{PACKAGE}\n"
        assert attached.adb("uninstall", PACKAGE).returncode != 0


def test_files_settings_clipboard_and_input_method_go_back_with_a_snapshot_and_a_reset(desk: Desk) -> None:
    desk.out("settings put system font_scale 1.3; echo a > /sdcard/a; ime set com.android.adbkeyboard/.AdbIME")
    desk.phone.set_clipboard("first")
    kept = desk.out("cmd phoneworld snapshot").strip()
    desk.out("settings put system font_scale 2.0; rm /sdcard/a; ime reset")
    desk.phone.set_clipboard("second")
    desk.out(f"cmd phoneworld restore {kept}")
    assert desk.out("settings get system font_scale; cat /sdcard/a; settings get secure default_input_method") == (
        "1.3\na\ncom.android.adbkeyboard/.AdbIME\n"
    )
    assert desk.phone.memory.clipboard == "first"
    desk.out("cmd phoneworld reset")
    assert desk.out("settings get system font_scale; ls /sdcard/a 2>&1; settings get secure default_input_method") == (
        "1.0\nls: /sdcard/a: No such file or directory\ncom.android.inputmethod.latin/.LatinIME\n"
    )
    assert desk.phone.memory.clipboard == ""


class TestKeys:
    def test_ctrl_c_and_ctrl_v_carry_text(self, desk: Desk) -> None:
        desk.out(f"am start -n {PACKAGE}/.MainActivity; input tap 360 650; input text abc")
        desk.out("input keycombination 113 29; input keycombination 113 31; input keycombination 113 50; input keycombination CTRL_LEFT V")
        assert desk.device.memory.fields[0] == "abcabc"

    def test_a_key_pressed_long_or_with_shift(self, desk: Desk) -> None:
        desk.out(f"am start -n {PACKAGE}/.MainActivity; input tap 360 650; input keycombination 59 29; input keyevent --longpress 30")
        assert desk.device.memory.fields[0] == "Ab"
        assert desk.sh("input keycombination 113")[2] == 255


def test_providers_answer_in_rows(desk: Desk) -> None:
    desk.out(f"am start -n {PACKAGE}/.MainActivity")
    assert desk.out("content query --uri content://settings/system --where \"name='font_scale'\"").endswith("name=font_scale, value=1.0\n")
    row = desk.out("content query --uri content://com.mobilerun.portal/state_full")
    told = json.loads(json.loads(row.removeprefix("Row: 0 result="))["result"])
    assert told["phone_state"]["packageName"] == PACKAGE and told["device_context"]["screen_bounds"]["width"] == 720
    assert desk.sh("content query --uri content://org.example/none")[2] == 1
    assert any("org.example" in line for line in desk.phone.refusals)


def test_the_compatibility_log_has_a_line_for_each_thing_not_served(tmp_path: Path) -> None:
    log = tmp_path / "unknown.jsonl"
    device = PocketPhone()
    with AdbPhone(device, port=0, unknown_log=log) as phone, socket.create_connection(("127.0.0.1", phone.port)):
        phone.phone.refuse("nosuch --thing")
        phone.phone.refuse("zwei\nZeilen ☃")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["not_served"] for line in lines] == ["nosuch --thing", "zwei\nZeilen ☃"]
    assert {line["phone"] for line in lines} == {"pocket:1"}


@needs_adb
def test_an_unknown_command_is_127_and_in_the_log(adb_server: int, tmp_path: Path) -> None:
    log = tmp_path / "unknown.jsonl"
    base = ["adb", "-P", str(adb_server)]
    with AdbPhone(PocketPhone(), port=0, unknown_log=log) as phone:
        subprocess.run([*base, "connect", phone.serial], check=True, capture_output=True, timeout=20)
        done = subprocess.run([*base, "-s", phone.serial, "shell", "minicap -i"], capture_output=True, timeout=20, check=False)
        subprocess.run([*base, "disconnect", phone.serial], check=True, capture_output=True, timeout=20)
    assert (done.returncode, done.stderr) == (127, b"/system/bin/sh: minicap: inaccessible or not found\n")
    assert json.loads(log.read_text())["not_served"] == "minicap -i"


_MANY = """
import json, sys, time
from phoneworld.adbd.server import AdbPhone
from tests.adbd.pocket import PocketPhone
from phoneworld.device.adb_server import AdbServer

def peak_mb():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6

phones = [AdbPhone(PocketPhone(serial="pocket:0"), port=0).start()]
server = AdbServer(port=int(sys.argv[1]))
server.connect(phones[0].serial)
one = peak_mb()
phones += [AdbPhone(PocketPhone(serial=f"pocket:{i}"), port=0).start() for i in range(1, 64)]
began = time.monotonic()
connected = [server.connect(p.serial) for p in phones[1:]]
took = time.monotonic() - began
usable = sum(d.usable for d in server.devices() if d.serial in {p.serial for p in phones})
print(json.dumps({"connected": sum(map(bool, connected)) + 1, "usable": usable, "took_s": took, "more_mb": peak_mb() - one}))
for p in phones:
    server.disconnect(p.serial)
    p.close()
"""


@needs_adb
def test_64_phones_in_one_process_connect_and_are_small(adb_server: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MANY, str(adb_server)], capture_output=True, text=True, timeout=120, check=False,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    print(told)
    assert told["connected"] == told["usable"] == 64
    assert told["more_mb"] < 64
