"""What each command prints and does, as clients parse it (the strings are Android's own)."""

from __future__ import annotations

import base64
import io
import json
import re
import shlex
import struct
from pathlib import Path

import pytest
from PIL import Image

from phoneworld.adbd.commands import CMD, COMMANDS, DUMPSYS
from phoneworld.errors import CaptureFailed
from phoneworld.ui.action import Clear, Drag, LongPress, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import parse_hierarchy
from tests.adbd.fixtures import Desk
from tests.adbd.pocket import ACTIVITY, NAME, NOTE, PACKAGE, PLUS

OPEN = f"monkey -p {PACKAGE} -c android.intent.category.LAUNCHER 1"


@pytest.fixture
def app(desk: Desk) -> Desk:
    """The app is in front and its first field has the focus."""
    desk.out(OPEN)
    desk.out(f"input tap {NAME.center.x} {NAME.center.y}")
    return desk


def tree_of(desk: Desk) -> Hierarchy:
    return parse_hierarchy(desk.raw("uiautomator dump /dev/tty")[0])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wm size", "Physical size: 720x1280\n"),
        ("wm density", "Physical density: 320\n"),
        ("getprop ro.product.model", "Pocket One\n"),
        ("getprop ro.build.version.sdk", "34\n"),
        ("getprop ro.build.version.release", "14\n"),
        ("getprop sys.boot_completed", "1\n"),
        ("getprop ro.sf.lcd_density", "320\n"),
        ("getprop no.such", "\n"),
        ("getprop no.such fallback", "fallback\n"),
        ("settings get global no_such", "null\n"),
        ("settings put global x 1; settings get global x; settings delete global x; settings get global x", "1\nDeleted 1 rows\nnull\n"),
        ("ime list -s", "com.android.inputmethod.latin/.LatinIME\ncom.android.adbkeyboard/.AdbIME\n"),
        ("ime set com.android.adbkeyboard/.AdbIME; settings get secure default_input_method",
         "Input method com.android.adbkeyboard/.AdbIME selected for user #0\ncom.android.adbkeyboard/.AdbIME\n"),
        ("ime enable com.android.adbkeyboard/.AdbIME", "Input method com.android.adbkeyboard/.AdbIME: already enabled for user #0\n"),
        ("pm list packages -3", f"package:{PACKAGE}\n"),
        ("pm list packages pocket", f"package:{PACKAGE}\n"),
        ("cmd package resolve-activity --brief " + PACKAGE + " | tail -n 1", f"{PACKAGE}/.MainActivity\n"),
        ("cmd package query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER | grep 'packageName=' | head -1 | tr -d ' '", f"packageName={PACKAGE}\n"),
        ("whoami", "shell\n"),
        ("am get-current-user", "0\n"),
        ("dumpsys input_method | grep -o mInputShown=false", "mInputShown=false\n"),
        ("dumpsys SurfaceFlinger --display-id | grep -c '^Display [0-9]* '", "1\n"),
        ("date +%s", "1767225600\n"),
        ("date +%Y-%m-%d", "2026-01-01\n"),
        ("date '+%H:%M %Z'", "01:00 CET\n"),
    ],
)  # fmt: skip
def test_output_is_as_clients_parse_it(desk: Desk, line: str, expected: str) -> None:
    assert desk.out(line) == expected


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ("ime set com.none/.Ime", 255, "Unknown input method com.none/.Ime cannot be selected for user #0"),
        ("run-as org.example.pocket true", 1, "run-as: package not debuggable: org.example.pocket"),
        ("input wiggle 1 2", 255, "Error: Unknown command: wiggle"),
        ("input tap 1", 255, "Error: Invalid arguments for command: tap"),
        ("input tap a b", 255, "Error: Invalid arguments for command: tap"),
        ("input keyevent KEYCODE_NOSUCH", 255, "Error: Invalid arguments for command: keyevent"),
        ("input", 255, "Usage: input"),
        ("settings get nowhere x", 255, "Invalid namespace 'nowhere'"),
        ("cmd nosuch", 20, "cmd: Can't find service: nosuch"),
        ("wm size 10x10", 255, "Error: the screen of this phone has a fixed size"),
        ("screencap -p /none/x.png", 1, "Error opening file: /none/x.png"),
        ("input text 你好", 255, "Attempt to get length of null array"),
        ("input text héllo", 255, "Attempt to get length of null array"),
        ("am start -n foo", 255, "java.lang.IllegalArgumentException: Bad component name: foo"),
        ("am start -W -n foo/", 255, "java.lang.IllegalArgumentException: Bad component name: foo/"),
        ("am broadcast -n foo", 255, "java.lang.IllegalArgumentException: Bad component name: foo"),
        ("kill", 1, "usage: kill"),
        ("kill -9 77", 1, "kill: 77: No such process"),
        ("kill -s TERM 1201", 1, "kill: 1201: Operation not permitted"),
        ("kill init", 1, "kill: init: arguments must be jobs or process IDs"),
        ("find /none", 1, "find: '/none': No such file or directory"),
        ("find /sdcard -exec rm", 1, "find: bad arg '-exec'"),
        ("find /sdcard -name", 1, "find: '-name' needs 1 arg"),
        ("find /sdcard -type x", 1, "find: bad -type 'x'"),
        ("find /sdcard -maxdepth x", 1, "find: -maxdepth 'x'"),
        ("cmd phoneworld restore nothing", 1, "no state is kept under the name 'nothing'"),
        ("cmd phoneworld perform '{'", 1, "perform takes one JSON object"),
        ("cmd phoneworld perform '{\"kind\": \"fly\"}'", 1, "unknown action kind 'fly'"),
        ("pm path org.none", 1, ""),
    ],
)  # fmt: skip
def test_what_fails_says_so_on_stderr_with_a_status(desk: Desk, line: str, status: int, told: str) -> None:
    out, err, found = desk.sh(line)
    assert (out, found) == ("", status)
    assert told in err


def test_an_action_whose_quotes_are_gone_is_answered_with_a_line_that_works(desk: Desk) -> None:
    """`adb shell cmd phoneworld finger '{"kind": …}'` reaches the phone without its inner quotes."""
    desk.out(OPEN)
    for verb, kind in (("finger", Tap), ("perform", Tap)):
        _out, err, status = desk.sh(f'cmd phoneworld {verb} {{"kind":"tap","x":{PLUS.center.x}, "y":{PLUS.center.y}}}')
        assert status == 1 and "takes one JSON object" in err
        line = err.splitlines()[-1].strip()
        program, word, on_the_phone = shlex.split(line)
        assert (program, word) == ("adb", "shell"), line
        assert desk.out(on_the_phone) == "" and desk.device.events[-1] == kind(PLUS.center.x, PLUS.center.y)
    _out, err, status = desk.sh("cmd phoneworld perform '{'")
    assert status == 1 and desk.sh(shlex.split(err.splitlines()[-1])[2])[2] == 0


def test_the_readme_names_every_command_that_is_served_and_none_that_is_not() -> None:
    served, _, rest = (Path(__file__).parents[2] / "phoneworld/adbd/README.md").read_text().partition("Not served: ")
    named = {word.rpartition("/")[2] for code in re.findall(r"`([^`]+)`", served) for word in code.split()}
    programs = {"app_process", "app_process32", "app_process64"}  # what u2.jar is started by
    assert not {*COMMANDS, *CMD, *DUMPSYS} - programs - named - set(re.findall(r"[\w-]+", served))
    refused = rest.partition("among them `")[2].partition("`")[0].split()
    assert len(refused) > 10 and not set(refused) & set(COMMANDS)


def test_files_are_found_by_name_kind_and_depth(desk: Desk) -> None:
    desk.out("mkdir -p /sdcard/a/b; touch /sdcard/a/One.png /sdcard/a/b/two.png /sdcard/a/b/three.txt")
    for line, shown in (
        ("find /sdcard/a", "/sdcard/a /sdcard/a/One.png /sdcard/a/b /sdcard/a/b/three.txt /sdcard/a/b/two.png"),
        ("find /sdcard/a/ -name '*.png'", "/sdcard/a/One.png /sdcard/a/b/two.png"),
        ("cd /sdcard/a; find . -type d", ". ./b"),
        ("cd /sdcard/a; find -iname 'one*' -type f -print", "./One.png"),
        ("find /sdcard/a -maxdepth 1 -mindepth 1", "/sdcard/a/One.png /sdcard/a/b"),
        ("find /sdcard/a/One.png /sdcard/a/b -name b", "/sdcard/a/b"),
        ("find / -maxdepth 0", "/"),
    ):
        assert desk.out(line).split() == shown.split(), line


def test_monkey_starts_an_app_and_tells_of_one_that_is_absent(desk: Desk) -> None:
    assert re.fullmatch(
        r"Events injected: 1\n## Network stats: elapsed time=\d+ms \(0ms mobile, 0ms wifi, \d+ms not connected\)\n",
        desk.out(OPEN),
    )
    assert desk.device.memory.front == PACKAGE
    assert desk.sh("monkey -p org.none -c android.intent.category.LAUNCHER 1") == (
        "** No activities found to run, monkey aborted.\n",
        "",
        252,
    )


def test_am_start_opens_a_component_and_waits(desk: Desk) -> None:
    out = desk.out(f"am start -W -n {PACKAGE}/{ACTIVITY}")
    assert re.fullmatch(
        rf"Starting: Intent {{ cmp={PACKAGE}/\.MainActivity }}\nStatus: ok\nLaunchState: COLD\nActivity: {PACKAGE}/\.MainActivity\n"
        r"TotalTime: \d+\nWaitTime: \d+\nComplete\n", out,
    )  # fmt: skip
    assert desk.sh(f"am start -n {PACKAGE}/.MainActivity")[1].startswith(
        "Warning: Activity not started, its current task"
    )
    assert "LaunchState: COLD" in desk.out(f"am start -S -W {PACKAGE}/.MainActivity")


def test_am_start_home_and_force_stop(app: Desk) -> None:
    assert app.out("am start -a android.intent.action.MAIN -c android.intent.category.HOME") == (
        "Starting: Intent { act=android.intent.action.MAIN cat=[android.intent.category.HOME] }\n"
    )
    assert app.device.memory.front != PACKAGE
    app.out(OPEN)
    assert app.out(f"am force-stop {PACKAGE}; am force-stop org.none") == ""
    assert app.device.memory.front != PACKAGE


@pytest.mark.parametrize(
    "uri",
    [
        "app://item/7?a=b&c=d&e=f",
        "app://p?q=a|b|c",
        "app://p;reboot",
        "app://p?x=$(id)",
        "https://example.com/?a=1&b=2",
    ],
)
def test_a_deep_link_arrives_whole(desk: Desk, uri: str) -> None:
    desk.out(f"am start -a android.intent.action.VIEW -d '{uri}'")
    assert (desk.device.memory.front, desk.device.memory.url) == (PACKAGE, uri)


def test_what_cannot_be_started_is_an_error_in_androids_words(desk: Desk) -> None:
    assert desk.sh("am start -n org.none/.A")[1:] == (
        "Error type 3\nError: Activity class {org.none/org.none.A} does not exist.\n",
        1,
    )
    assert desk.sh(f"am start -n {PACKAGE}/.Nope")[2] == 1
    _out, err, status = desk.sh("am start -a android.intent.action.VIEW -d nowhere://x")
    assert (
        status == 1
        and "Error: Activity not started, unable to resolve Intent { act=android.intent.action.VIEW dat=nowhere://x"
        in err
    )
    assert desk.device.memory.front != PACKAGE


def test_the_focus_is_named_in_every_dump_that_clients_read(app: Desk) -> None:
    for line in ("dumpsys window", "dumpsys window windows", "dumpsys window displays"):
        out = app.out(line)
        assert re.search(rf"mCurrentFocus=Window{{\w+ u0 {PACKAGE}/{ACTIVITY}}}", out)
        assert re.search(rf"mFocusedApp=ActivityRecord{{\w+ u0 {PACKAGE}/\.MainActivity t\d+}}", out)
    activities = app.out("dumpsys activity activities")
    for word in ("topResumedActivity=", "mResumedActivity: ", "* Hist #0: "):
        assert re.search(rf"{re.escape(word)}ActivityRecord{{\w+ u0 {PACKAGE}/\.MainActivity t\d+}}", activities)
    assert re.search(rf"ACTIVITY {PACKAGE}/\.MainActivity \w+ pid=\d+", app.out("dumpsys activity top"))
    assert re.search(
        rf"taskId=\d+: .* visible=true topActivity=ComponentInfo{{{PACKAGE}/{ACTIVITY}}}", app.out("am stack list")
    )
    assert "mInputShown=true" in app.out("dumpsys input_method")


def test_rotation_and_frames_follow_the_screen(desk: Desk) -> None:
    desk.device.rotation = 1
    assert "orientation=1, " in desk.out("dumpsys display") and "deviceWidth=720, deviceHeight=1280" in desk.out(
        "dumpsys display"
    )
    assert "SurfaceOrientation: 1" in desk.out("dumpsys input") and "logicalFrame=[0, 0, 1280, 720]" in desk.out(
        "dumpsys input"
    )
    desk.out("input tap 1200 700")
    assert desk.device.events == [Tap(1200, 700)]
    assert not desk.phone.refusals


def test_a_dump_goes_to_a_file_or_the_terminal(app: Desk) -> None:
    assert app.out("uiautomator dump") == "UI hierchary dumped to: /sdcard/window_dump.xml\n"
    assert app.out("uiautomator dump /data/local/tmp/d.xml") == "UI hierchary dumped to: /data/local/tmp/d.xml\n"
    stored = app.out("cat /sdcard/window_dump.xml")
    assert stored.startswith("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"")
    assert app.out("uiautomator dump /dev/tty") == stored + "UI hierchary dumped to: /dev/tty\n"
    assert parse_hierarchy(stored.encode()) == parse_hierarchy(stored.encode() + b"UI hierchary dumped to: /dev/tty\n")


def test_a_compressed_dump_leaves_out_containers_and_nothing_else(app: Desk) -> None:
    full = tree_of(app)
    short = parse_hierarchy(app.raw("uiautomator dump --compressed /dev/tty")[0])
    assert len(list(full.nodes())) == 6 and len(list(short.nodes())) == 5
    assert [n.text for n in short.nodes() if n.text] == [n.text for n in full.nodes() if n.text]
    assert [n.index for n in short.windows[0].children] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("DUMP_NOT_IDLE", "ERROR: could not get idle state.\n"),
        ("NULL_ROOT", "ERROR: null root node returned by UiTestAutomationBridge.\n"),
    ],
)
def test_a_failed_dump_is_told_on_stdout_with_status_0_and_leaves_the_old_file(app: Desk, code: str, line: str) -> None:
    app.out("uiautomator dump")
    before = app.out("cat /sdcard/window_dump.xml")
    app.device.faults.append(CaptureFailed("not now", code=code))
    assert app.sh("uiautomator dump") == (line, "", 0)
    assert app.out("cat /sdcard/window_dump.xml") == before


def test_a_picture_three_ways(app: Desk) -> None:
    png, _, _ = app.raw("screencap -p")
    app.out("screencap -p /sdcard/s.png; screencap /sdcard/t.png")
    assert app.raw("cat /sdcard/s.png")[0] == png == app.raw("cat /sdcard/t.png")[0] == app.device.screenshot()
    raw, _, _ = app.raw("screencap")
    width, height, form, _ = struct.unpack_from("<4I", raw)
    assert (width, height, form) == (720, 1280, 1)
    assert raw[16:] == Image.open(io.BytesIO(png)).convert("RGBA").tobytes()


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("input tap 10 20", Tap(10, 20)),
        ("input touchscreen tap 10.7 20.2", Tap(10, 20)),
        ("input -d 0 tap 10 20", Tap(10, 20)),
        ("input swipe 10 20 10 20 800", LongPress(10, 20, 800)),
        ("input swipe 10 20 12 22 600", LongPress(10, 20, 600)),
        ("input swipe 10 20 10 20 100", Tap(10, 20)),
        ("input touchscreen swipe 10 20 300 400", Swipe(10, 20, 300, 400, 300)),
        ("input swipe 10 20 300 400 50", Swipe(10, 20, 300, 400, 50)),
        ("input swipe 10 20 10 5000", Swipe(10, 20, 10, 1279, 300)),
        ("input draganddrop 10 20 300 400 900", Drag(10, 20, 300, 400, 900)),
        ("input motionevent DOWN 10 20; input motionevent UP 11 21", Tap(10, 20)),
        ("input keyevent 4", PressKey("back")),
        ("input keyevent KEYCODE_HOME", PressKey("home")),
        ("input keyevent --longpress ENTER", PressKey("enter")),
    ],
)
def test_input_becomes_one_action(desk: Desk, line: str, action: object) -> None:
    assert desk.out(line) == ""
    assert desk.device.events == [action]


def test_a_finger_moved_step_by_step_is_one_gesture(desk: Desk) -> None:
    desk.out(
        "input motionevent DOWN 10 20; input motionevent MOVE 10 200; input motionevent MOVE 10 400; input motionevent UP 10 500"
    )
    (swipe,) = desk.device.events
    assert isinstance(swipe, Swipe) and (swipe.x, swipe.y, swipe.x2, swipe.y2) == (10, 20, 10, 500)
    assert desk.sh("input motionevent UP 1 1")[2] == 0 and len(desk.device.events) == 1


def test_a_touch_outside_the_screen_does_nothing_and_is_kept_in_the_list(desk: Desk) -> None:
    before = desk.device.memory
    assert desk.sh("input tap 5000 20") == ("", "", 0)
    assert desk.device.memory == before
    assert "outside the screen" in desk.out("cmd phoneworld refused")


def test_input_returns_when_its_effect_can_be_seen(app: Desk) -> None:
    for n in range(1, 4):
        app.out(f"input tap {PLUS.center.x} {PLUS.center.y}")
        assert f"Count {n}" in [node.text for node in tree_of(app).nodes()]


def test_text_is_typed_with_its_blanks_and_signs(app: Desk) -> None:
    app.out("input text 'a%sb c'; input text \\$x\\&\\\"y\\\"; input keyevent SPACE 29 7")
    assert app.device.memory.fields[0] == 'a b c$x&"y" a0'
    app.out("input keyevent 67 67; input text only one")
    assert app.device.memory.fields[0] == 'a b c$x&"y" only'


def test_a_newline_in_text_is_the_enter_key(app: Desk) -> None:
    app.out(f"input tap {NOTE.center.x} {NOTE.center.y}; input text $'a\\nb'")
    assert app.device.memory.fields[1] == "a\nb"
    assert app.device.events[-3:] == [TypeText("a"), PressKey("enter"), TypeText("b")]


def test_select_all_and_delete_empties_the_field(app: Desk) -> None:
    app.out("input text old; input keycombination 113 29 && input keyevent 67")
    assert app.device.memory.fields[0] == "" and app.device.events[-1] == Clear()
    app.out("input text old; input keycombination CTRL_LEFT A; input text new")
    assert app.device.memory.fields[0] == "new"
    app.out("input keycombination 113 29; input tap 300 650; input keyevent DEL")
    assert app.device.memory.fields[0] == "ne"


def test_adb_keyboard_takes_any_text_once_it_is_selected(app: Desk) -> None:
    text = "naïve café 你好 😀"
    line = f"am broadcast -a ADB_INPUT_B64 --es msg {base64.b64encode(text.encode()).decode()}"
    told = "Broadcasting: Intent { act=ADB_INPUT_B64 flg=0x400000 (has extras) }\nBroadcast completed: result=0\n"
    assert app.out(line) == told
    assert app.device.memory.fields[0] == ""  # nobody listens yet, and a phone does not say so
    app.out("ime set com.android.adbkeyboard/.AdbIME")
    assert app.out(line) == told
    assert app.device.memory.fields[0] == text
    app.out(
        "am broadcast -a ADB_INPUT_TEXT --es msg '!'; am broadcast -a ADB_INPUT_B64 --es msg; am broadcast -a ADB_INPUT_CHARS --eia chars 128512,97; am broadcast -a ADB_INPUT_CODE --ei code 67"
    )
    assert app.device.memory.fields[0] == text + "!😀"
    app.out("am broadcast -a ADB_CLEAR_TEXT")
    assert app.device.memory.fields[0] == ""


def test_pm_clear_forgets_what_the_app_stored(app: Desk) -> None:
    app.out("input text x")
    assert app.out(f"pm clear {PACKAGE}") == "Success\n"
    assert app.device.memory.fields[0] == ""
    assert app.sh("pm clear org.none") == ("Failed\n", "", 1)


def test_a_phone_is_put_back_kept_and_restored_with_all_that_it_remembers(app: Desk) -> None:
    app.out("input text kept; settings put system x 1; echo f > /sdcard/f; ime set com.android.adbkeyboard/.AdbIME")
    name = app.out("cmd phoneworld snapshot").strip()
    app.out("cmd phoneworld reset --seed 7")
    assert app.device.memory.count == 7
    assert app.sh("settings get system x; cat /sdcard/f")[0] == "null\n"
    state = json.loads(app.out("cmd phoneworld state"))
    assert (
        state["input_method"].endswith("LatinIME")
        and state["resettable"] is True
        and state["clock_ms"] == 1_767_225_600_123
    )
    app.out(f"cmd phoneworld restore {name}")
    assert app.device.memory.fields[0] == "kept"
    assert app.out("settings get system x; cat /sdcard/f") == "1\nf\n"
    assert json.loads(app.out("cmd phoneworld state"))["package"] == PACKAGE


def test_a_whole_action_can_be_handed_over(app: Desk) -> None:
    app.out(f'cmd phoneworld perform \'{{"kind": "double_tap", "x": {PLUS.center.x}, "y": {PLUS.center.y}}}\'')
    assert app.device.memory.count == 2


def test_a_lost_phone_answers_in_words(app: Desk) -> None:
    app.device.lost = True
    for line in ("input tap 1 1", "dumpsys window", "uiautomator dump", OPEN, "screencap -p"):
        _out, err, status = app.sh(line)
        assert status == 1 and "the pocket phone is gone" in err, line


def test_every_command_has_one_place_and_its_tables_do_not_overlap() -> None:
    assert {
        "input",
        "am",
        "pm",
        "screencap",
        "uiautomator",
        "wm",
        "dumpsys",
        "cmd",
        "settings",
        "ime",
        "monkey",
    } <= COMMANDS.keys()
    assert {"package", "activity", "phoneworld"} <= CMD.keys()
    assert {"window", "activity", "input_method", "display", "input"} <= DUMPSYS.keys()
