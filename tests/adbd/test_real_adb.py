"""The real adb program and adbutils against the phone: what they accept, parse and transfer."""

from __future__ import annotations

import os
from pathlib import Path

import adbutils

from phoneworld.ui.xml import parse_hierarchy
from tests.adbd.fixtures import Attached, needs_adb, until
from tests.adbd.pocket import ACTIVITY, NAME, PACKAGE, PLUS

pytestmark = needs_adb


def test_the_phone_is_listed_as_a_device_with_its_names(attached: Attached) -> None:
    line = next(
        one for one in attached.adb("devices", "-l").stdout.decode().splitlines() if one.startswith(attached.serial)
    )
    assert line.split()[1] == "device"
    assert "product:pocket_one model:Pocket_One device:pocket_one" in line
    assert attached.adb("get-state").stdout == b"device\n"


def test_exit_status_and_streams_come_through(attached: Attached) -> None:
    assert attached.shell("echo out; ls /none; exit 9") == ("out\n", "ls: /none: No such file or directory\n", 9)
    assert attached.adb("exec-out", "echo", "a b", ">&2").stdout == b"a b >&2\n"  # each word is quoted by adb
    assert attached.shell("minicap")[1:] == ("/system/bin/sh: minicap: inaccessible or not found\n", 127)


def test_a_script_on_stdin_is_run(attached: Attached) -> None:
    done = attached.adb("shell", stdin=b"cd /sdcard\npwd\nexit 3\n")
    assert (done.stdout, done.returncode) == (b"/storage/emulated/0\n", 3)


def test_what_is_fed_to_a_command_arrives_whole_though_the_client_hangs_up(attached: Attached) -> None:
    for size in (0, 5, 70_000, 3_000_000):
        content = os.urandom(size)
        assert attached.adb("exec-in", f"cat > /sdcard/fed{size}", stdin=content).returncode == 0
        until(lambda at=f"/sdcard/fed{size}", size=size: attached.shell(f"stat -c %s {at}")[0] == f"{size}\n")  # it returns before the phone is done
        assert attached.adb("exec-out", "cat", f"/sdcard/fed{size}").stdout == content


def test_tree_and_picture_arrive_whole(attached: Attached) -> None:
    out = attached.adb("exec-out", "uiautomator", "dump", "/dev/tty").stdout
    assert out.endswith(b"UI hierchary dumped to: /dev/tty\n")
    assert parse_hierarchy(out) == attached.device.hierarchy()
    assert attached.adb("exec-out", "screencap", "-p").stdout == attached.device.screenshot()
    assert len(attached.adb("exec-out", "screencap").stdout) == 16 + 720 * 1280 * 4


def test_files_and_folders_go_there_and_back(attached: Attached, tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    here = tmp_path / "dir"
    (here / "sub").mkdir(parents=True)
    (here / "big.bin").write_bytes(content)
    (here / "sub" / "empty").write_bytes(b"")
    (here / "sub" / "naïve 你好.txt").write_bytes(b"x")
    assert attached.adb("push", str(here), "/sdcard/Download").returncode == 0
    assert (
        attached.shell("cd /sdcard/Download/dir && ls sub && cat big.bin | wc -c")[0]
        == "empty\nnaïve 你好.txt\n3000000\n"
    )
    back = tmp_path / "back"
    assert attached.adb("pull", "/sdcard/Download/dir", str(back)).returncode == 0
    assert (back / "big.bin").read_bytes() == content
    assert sorted(p.name for p in (back / "sub").iterdir()) == ["empty", "naïve 你好.txt"]


def test_no_file_of_the_host_is_reachable(attached: Attached, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    done = attached.adb("pull", f"/sdcard/../../../..{tmp_path}/secret", str(tmp_path / "got"))
    assert done.returncode != 0 and not (tmp_path / "got").exists()
    assert attached.adb("push", str(tmp_path / "secret"), "/etc/evil").returncode != 0
    assert not os.path.exists("/etc/evil")


def test_clients_that_quote_pipe_and_ask_for_the_status(attached: Attached) -> None:
    assert attached.shell("rm -f /sdcard/t.xml; uiautomator dump /sdcard/t.xml && echo success") == (
        "UI hierchary dumped to: /sdcard/t.xml\nsuccess\n", "", 0,
    )  # fmt: skip
    assert attached.shell("dumpsys window | grep -E 'mCurrentFocus|mFocusedApp' | wc -l")[0] == "2\n"


def test_adbutils_drives_it(attached: Attached) -> None:
    d = adbutils.AdbClient(port=attached.server_port).device(attached.serial)
    d.app_start(PACKAGE)
    current = d.app_current()
    assert (current.package, current.activity) == (PACKAGE, ACTIVITY)
    d.click(PLUS.center.x, PLUS.center.y)
    d.click(NAME.center.x, NAME.center.y)
    d.send_keys("a b")
    assert attached.device.memory.count == 1 and attached.device.memory.fields[0] == "a b"
    assert "Count 1" in d.dump_hierarchy()
    assert d.screenshot().size == (720, 1280) and tuple(d.window_size()) == (720, 1280)
    done = d.shell2("exit 4", v2=True)
    assert done.returncode == 4 and d.shell2("nosuch").returncode == 127
    assert d.sync.push(b"abc", "/sdcard/x.bin", check=True) == 3 and d.sync.read_bytes("/sdcard/x.bin") == b"abc"
    assert d.list_packages(["-3"]) == [PACKAGE] and d.getprop("ro.product.model") == "Pocket One"
    assert d.rotation() == 0 and d.is_screen_on() and d.battery().level == 100
    d.keyevent("BACK")
    d.keyevent("BACK")
    assert d.app_current().package != PACKAGE
    d.app_stop(PACKAGE)


def test_a_reset_keeps_the_connection(attached: Attached) -> None:
    attached.shell(f"am start -n {PACKAGE}/.MainActivity; input tap {PLUS.center.x} {PLUS.center.y}")
    kept = attached.shell("cmd phoneworld snapshot")[0].strip()
    assert attached.shell("cmd phoneworld reset --seed 5")[2] == 0 and attached.device.memory.count == 5
    assert attached.shell(f"cmd phoneworld restore {kept}")[2] == 0 and attached.device.memory.count == 1
    assert attached.adb("get-state").stdout == b"device\n"
