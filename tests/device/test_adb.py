"""AdbDevice over the real adb program against our own phone's side of adb; and the readers of what real phones print."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import get_args

import pytest

from phoneworld.device.adb import AdbDevice
from phoneworld.device.adb_reading import dump_failure, parse_activities, parse_focus, parse_keyboard
from phoneworld.device.adb_server import AdbServer, choose, parse_devices
from phoneworld.device.adb_typing import text_commands
from phoneworld.device.device import Device, InstalledApp
from phoneworld.device.open import open_device
from phoneworld.errors import (
    ActionError,
    CaptureFailed,
    DeviceAmbiguous,
    DeviceError,
    DeviceLost,
    DeviceNotFound,
    DeviceUnusable,
)
from phoneworld.ui.action import (
    Action,
    Answer,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    Key,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from tests.adbd.fixtures import Attached
from tests.adbd.pocket import ACTIVITY, NAME, NOTE, PACKAGE, PLUS, PocketPhone
from tests.shared import CASES, needs_shared

needs_adb = pytest.mark.skipif(shutil.which("adb") is None, reason="the adb program is not installed (apt install adb)")

TEXTS = [
    "app agent test",
    "שלום!",
    "你好 世界",
    "naïve café",
    "😀👩‍👩‍👧",
    "مرحبا 123",
    "a\nb",
    "",
    "100%s off %%s",
    'it\'s "$HOME" `id` & | ; <>(){}*?~#\\',
    "x" * 450,
]


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def device(attached: Attached, slept: list[float]) -> Iterator[AdbDevice]:
    """The phone over adb. Its sleeps are only noted, and its clock is their sum."""
    device = AdbDevice(
        attached.serial,
        server=AdbServer(port=attached.server_port),
        dump_budget_s=3,
        clock=lambda: sum(slept),
        sleep=slept.append,
    )
    yield device
    device.close()


@pytest.fixture
def pocket(attached: Attached) -> PocketPhone:
    return attached.device


@pytest.fixture
def in_app(device: AdbDevice, pocket: PocketPhone) -> PocketPhone:
    """The phone with the app in front and its note field in focus."""
    device.perform(OpenApp(PACKAGE))
    device.perform(Tap(NOTE.center.x, NOTE.center.y))
    pocket.events.clear()
    return pocket


@needs_adb
class TestOverAdb:
    """Everything here goes through the adb program."""

    def test_it_is_a_device_and_says_what_the_phone_is(self, device: AdbDevice, pocket: PocketPhone) -> None:
        assert isinstance(device, Device)
        info = device.info
        assert (info.size, info.density, info.model, info.android, info.sdk) == (
            Size(720, 1280),
            320,
            "Pocket One",
            "14",
            34,
        )
        assert (info.locale, info.timezone, info.font_scale, info.night_mode) == ("en-GB", "Europe/Berlin", 1.0, False)

    def test_state_tree_and_picture_are_those_of_the_phone(self, device: AdbDevice, in_app: PocketPhone) -> None:
        assert device.state() == DeviceState(PACKAGE, ACTIVITY, keyboard=True, rotation=0, clock_ms=1_767_225_600_000)
        assert device.hierarchy() == in_app.hierarchy()
        assert device.screenshot() == in_app.screenshot()
        device.perform(PressKey("home"))
        assert device.state().keyboard is False and device.state().package != PACKAGE

    @pytest.mark.parametrize(
        "action",
        [
            Tap(10, 20), LongPress(10, 20, 900), Swipe(10, 20, 300, 900, 250), Drag(10, 20, 300, 900, 700), CloseApp(PACKAGE),
            OpenApp(PACKAGE), OpenApp(PACKAGE, url="app://x/1?a=b&c=d"), DoubleTap(10, 20), Pinch(300, 400, 2.0),
            *(PressKey(key) for key in get_args(Key) if key != "space"),
        ],
        ids=str,
    )  # fmt: skip
    def test_an_action_arrives_as_itself(self, device: AdbDevice, in_app: PocketPhone, action: Action) -> None:
        device.perform(action)
        assert in_app.events == [action]

    def test_what_changes_nothing_on_the_phone_is_not_sent(
        self, device: AdbDevice, in_app: PocketPhone, slept: list[float]
    ) -> None:
        for action in (Answer("42"), Finish(), Wait(250)):
            device.perform(action)
        assert in_app.events == [] and slept == [0.25]

    @pytest.mark.parametrize("text", TEXTS, ids=ascii)
    def test_typed_text_reads_back_equal(self, device: AdbDevice, in_app: PocketPhone, text: str) -> None:
        device.perform(TypeText(text))
        assert in_app.memory.fields[1] == text

    @needs_shared
    def test_case_42_texts_read_back_equal(self, device: AdbDevice, in_app: PocketPhone) -> None:
        cases = json.loads((CASES / "42-input-text.json").read_text())["cases"]
        assert len(cases) == 8
        for text in cases:
            device.perform(TypeText(text, NOTE.center.x, NOTE.center.y, "replace"))
            assert in_app.memory.fields[1] == text
            field = next(n for n in device.hierarchy().nodes() if n.resource_id.endswith("note"))
            assert field.value == text

    def test_replacing_and_clearing_empty_the_field_first(self, device: AdbDevice, in_app: PocketPhone) -> None:
        device.perform(TypeText("old\ntext"))
        device.perform(TypeText("new", mode="replace"))
        assert in_app.memory.fields[1] == "new"
        device.perform(Clear(NAME.center.x, NAME.center.y))
        device.perform(Clear(NOTE.center.x, NOTE.center.y))
        assert in_app.memory.fields == ("", "")

    def test_the_input_method_is_put_back_after_typing(self, device: AdbDevice, in_app: PocketPhone) -> None:
        device.perform(TypeText("é"))
        assert (
            device.run("settings get secure default_input_method").text.strip()
            == "com.android.inputmethod.latin/.LatinIME"
        )

    def test_without_adb_keyboard_other_text_is_refused_and_nothing_is_typed(
        self, device: AdbDevice, in_app: PocketPhone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "phoneworld.adbd.commands.settings.INPUT_METHODS", ("com.android.inputmethod.latin/.LatinIME",)
        )
        with pytest.raises(ActionError, match="cannot enter 'ï'") as e:
            device.perform(TypeText("naïve"))
        assert "ADBKeyBoard" in e.value.hint
        assert in_app.memory.fields == ("", "") and in_app.events == []
        device.perform(TypeText("a\nb"))  # this much the plain keyboard can do
        assert in_app.memory.fields[1] == "a\nb"

    def test_text_that_did_not_arrive_is_an_error(
        self, device: AdbDevice, in_app: PocketPhone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(in_app.__class__, "_set_field", lambda self, text, *, keep: None)
        with pytest.raises(ActionError, match="not entered as given"):
            device.perform(TypeText("é"))
        with pytest.raises(ActionError, match="no field has the focus"):
            device.perform(PressKey("home"))
            device.perform(TypeText("é"))

    def test_a_point_outside_the_screen_is_refused_before_it_is_sent(
        self, device: AdbDevice, pocket: PocketPhone
    ) -> None:
        for action in (Tap(720, 5), Swipe(5, 5, 5, 1280), LongPress(-1, 5)):
            with pytest.raises(ActionError, match="outside the screen"):
                device.perform(action)
        assert pocket.events == []

    def test_a_turned_screen_is_read_and_touched_as_it_is_turned(self, device: AdbDevice, pocket: PocketPhone) -> None:
        device.hierarchy()
        pocket.rotation = 1
        device.perform(Tap(1200, 700))
        assert pocket.events == [Tap(1200, 700)]
        assert device.state().rotation == 1 and device.hierarchy().rotation == 1

    @pytest.mark.parametrize(
        "uri",
        [
            "app://item/7?a=b&c=d&e=f",
            "app://p?q=a|b|c",
            "app://p;reboot",
            "app://p?x=$(id)",
            "  https://e.org/?a=1&b='2'  ",
        ],
    )
    def test_a_deep_link_arrives_whole_and_runs_nothing(self, device: AdbDevice, pocket: PocketPhone, uri: str) -> None:
        device.perform(OpenApp("", url=uri))
        assert pocket.memory.url == uri.strip() and pocket.events == [OpenApp(PACKAGE, url=uri.strip())]

    @needs_shared
    def test_case_44_deep_links(self, device: AdbDevice, pocket: PocketPhone) -> None:
        for uri in json.loads((CASES / "44-deeplinks.json").read_text())["cases"]:
            device.perform(OpenApp(PACKAGE, url=uri))
            assert pocket.memory.url == uri.strip()

    def test_what_cannot_be_opened_is_a_named_error_and_not_the_home_screen(
        self, device: AdbDevice, in_app: PocketPhone
    ) -> None:
        for action, told in (
            (OpenApp("", url="nowhere://x"), "unable to resolve"),
            (OpenApp("org.none"), "No activities"),
            (OpenApp(PACKAGE, ".Nope"), "does not exist"),
        ):
            with pytest.raises(ActionError, match=told):
                device.perform(action)
        with pytest.raises(ActionError, match="not the name of an app"):
            device.perform(CloseApp("x; reboot"))
        assert in_app.memory.front == PACKAGE

    def test_apps_are_listed_with_their_labels_and_can_be_cleared(self, device: AdbDevice, in_app: PocketPhone) -> None:
        assert device.apps() == (InstalledApp(PACKAGE, "Pocket", ACTIVITY),)
        device.clear_app(PACKAGE)
        assert in_app.memory.front != PACKAGE
        with pytest.raises(DeviceError, match="did not clear org"):
            device.clear_app("org.none")

    def test_a_missing_window_is_waited_for(self, device: AdbDevice, in_app: PocketPhone, slept: list[float]) -> None:
        in_app.faults += [CaptureFailed("x", code="NULL_ROOT")] * 2
        assert device.hierarchy() == in_app.hierarchy()
        assert slept == [0.2, 0.2]

    def test_a_window_that_never_comes_is_an_error_within_the_budget_and_no_old_tree(
        self, device: AdbDevice, in_app: PocketPhone, slept: list[float]
    ) -> None:
        device.hierarchy()  # leaves a file behind that must not be read again
        in_app.faults += [CaptureFailed("x", code="NULL_ROOT")] * 100
        with pytest.raises(CaptureFailed, match="null root node returned") as e:
            device.hierarchy()
        assert e.value.code == "NULL_ROOT" and 2.5 < sum(slept) <= 3

    def test_a_screen_that_does_not_rest_is_had_compressed_and_marked(
        self, device: AdbDevice, in_app: PocketPhone
    ) -> None:
        device.run("settings put global window_animation_scale 0.5; settings delete global animator_duration_scale")
        in_app.faults += [CaptureFailed("x", code="DUMP_NOT_IDLE")] * 2
        tree = device.hierarchy()
        assert dict(tree.attributes)["compressed"] == "true" and len(list(tree.nodes())) == 5
        assert (
            device.run("settings get global window_animation_scale; settings get global animator_duration_scale").text
            == "0.5\nnull\n"
        )
        assert "compressed" not in dict(device.hierarchy().attributes)

    def test_a_screen_that_never_rests_is_an_error_that_quotes_the_phone(
        self, device: AdbDevice, in_app: PocketPhone
    ) -> None:
        in_app.faults += [CaptureFailed("x", code="DUMP_NOT_IDLE")] * 3
        with pytest.raises(CaptureFailed, match="ERROR: could not get idle state") as e:
            device.hierarchy()
        assert e.value.code == "DUMP_NOT_IDLE"
        assert device.run("settings get global window_animation_scale").text == "1.0\n"

    def test_warnings_before_the_picture_are_dropped(self, device: AdbDevice, in_app: PocketPhone) -> None:
        clean = in_app.screenshot()
        in_app.before_picture = b"[Warning] Multiple displays were found\n"
        assert device.screenshot() == clean == device.screenshot()

    def test_no_picture_is_an_error(self, device: AdbDevice, in_app: PocketPhone) -> None:
        in_app.faults += [CaptureFailed("secure", code="NO_PNG")] * 3
        with pytest.raises(CaptureFailed, match="Capturing failed: secure") as e:
            device.screenshot()
        assert e.value.code == "NO_PNG"

    def test_a_phone_that_goes_away_is_lost_in_every_call(self, device: AdbDevice, attached: Attached) -> None:
        device.state()
        attached.served.close()
        for call in (device.state, device.hierarchy, device.screenshot, device.apps, lambda: device.perform(Tap(1, 1))):
            with pytest.raises(DeviceLost):
                call()

    def test_an_address_is_connected_to_when_it_is_named(self, attached: Attached, adb_server: int) -> None:
        AdbServer(port=adb_server).disconnect(attached.serial)
        found = open_device(attached.serial)
        assert found.serial == attached.serial and found.info.size == Size(720, 1280)

    def test_a_name_that_is_not_attached_says_what_is(self, attached: Attached) -> None:
        with pytest.raises(DeviceNotFound, match=f"no device 'XYZ' is attached \\(attached: {attached.serial}\\)"):
            AdbDevice.find("XYZ")
        with pytest.raises(DeviceNotFound, match=r"127\.0\.0\.1:1'") as e:
            AdbDevice.find("127.0.0.1:1")
        assert e.value.hint == "adb connect 127.0.0.1:1"

    def test_trees_come_from_a_uiautomator2_server_where_one_runs_and_a_session_keeps_its_way(
        self,
        device: AdbDevice,
        attached: Attached,
        in_app: PocketPhone,
    ) -> None:
        assert device.hierarchy() == in_app.hierarchy()
        device.run("echo x > /data/local/tmp/u2.jar")
        base = ["adb", "-P", str(attached.server_port), "-s", attached.serial]
        line = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main"
        with subprocess.Popen([*base, "shell", line], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as running:
            assert running.stdout is not None and b"Starting Server" in running.stdout.readline()
            device.run("rm -f /data/local/tmp/phoneworld_dump*")
            other = AdbDevice(attached.serial, server=AdbServer(port=attached.server_port), dump_budget_s=0)
            assert other.hierarchy() == in_app.hierarchy()
            assert "phoneworld_dump" not in device.run("ls /data/local/tmp").text, "nothing was dumped"
            device.hierarchy()
            assert "phoneworld_dump" in device.run("ls /data/local/tmp").text, "one way a session"
            running.terminate()
        with pytest.raises(CaptureFailed) as e:
            other.hierarchy()
        assert e.value.code == "TREE_SERVER" and "uiautomator2" in e.value.hint

    def test_a_counter_is_driven_from_end_to_end(self, device: AdbDevice, pocket: PocketPhone) -> None:
        device.perform(OpenApp(PACKAGE))
        for n in range(1, 4):
            tree = device.hierarchy()
            plus = next(path for path, node in tree.walk() if node.text == "Plus")
            point = tree.tap_point(plus, device.info.size)
            assert point is not None
            device.perform(Tap(point.x, point.y))
            assert any(node.text == f"Count {n}" for node in device.hierarchy().nodes())
        assert pocket.memory.count == 3 and PLUS.contains(point)


LISTING = """* daemon not running; starting now at tcp:5037
* daemon started successfully
List of devices attached
emulator-5554          device product:sdk model:Pixel_9 device:emu64 transport_id:1
0A1B2C\tunauthorized usb:1-1 transport_id:2
10.0.0.7:5555          offline transport_id:3
?????????\tno permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html]
HT 42\trecovery transport_id:9
"""


def test_a_listing_tells_usable_from_unusable_with_a_reason_and_a_mend_each() -> None:
    devices = parse_devices(LISTING)
    assert [(d.serial, d.state, d.usable) for d in devices] == [
        ("emulator-5554", "device", True), ("0A1B2C", "unauthorized", False), ("10.0.0.7:5555", "offline", False),
        ("?????????", "no permissions", False), ("HT 42", "recovery", False),
    ]  # fmt: skip
    assert devices[0].model == "Pixel 9"
    assert all(d.reason and d.mend and "\n" not in d.mend for d in devices[1:])
    assert devices[2].mend == "adb disconnect 10.0.0.7:5555; adb connect 10.0.0.7:5555"


@needs_shared
def test_case_45_listing() -> None:
    devices = parse_devices((CASES / "45-adb-devices.txt").read_text())
    assert [d.serial for d in devices if d.usable] == ["emulator-5554", "ACME 5S"]
    assert len([d for d in devices if not d.usable and d.reason]) == 3
    with pytest.raises(DeviceAmbiguous):
        choose(devices, None)
    assert choose(devices, "ACME 5S").usable


def test_choosing_names_no_device_many_devices_and_unusable_ones() -> None:
    devices = parse_devices(LISTING)
    assert choose(devices, None).serial == "emulator-5554"
    with pytest.raises(DeviceNotFound) as none:
        choose((), None)
    with pytest.raises(DeviceAmbiguous, match="2 devices") as many:
        choose((devices[0], devices[0]), None)
    with pytest.raises(DeviceUnusable, match="key") as unusable:
        choose(devices[1:2], None)
    with pytest.raises(DeviceUnusable, match="0A1B2C"):
        choose(devices, "0A1B2C")
    for e in (none, many, unusable):
        assert e.value.hint and "\n" not in e.value.hint and e.value.exit_code != 0


@pytest.mark.parametrize(
    ("text", "package", "activity", "rotation"),
    [
        ("mFocusedApp=AppWindowToken{38600b56 token=Token{9ea1171 ActivityRecord{2c7c4318 u0 foo/bar t181}}}", "foo", "bar", 0),
        ("  mCurrentFocus=Window{2785a60 u0 a.b/a.b.Main}\n  mFocusedApp=ActivityRecord{d72327 u0 a.b/.Main t409}\n", "a.b", "a.b.Main", 0),
        ("  mCurrentFocus=null\n  mCurrentFocus=Window{1 u10 a.b/a.b.C}\n", "a.b", "a.b.C", 0),
        ("  mCurrentFocus=Window{1 u0 PopupWindow:7f3e}\n  mFocusedApp=ActivityRecord{2 u0 a.b/.C t1}", "a.b", "a.b.C", 0),
        ("  mCurrentFocus=Window{1 u0 Application Not Responding: x.y}\n  mFocusedApp=ActivityRecord{2 u0 a.b/.C t1}", "a.b", "a.b.C", 0),
        ("  mCurrentFocus=Window{1 u0 NotificationShade}\n  mFocusedApp=ActivityRecord{2 u0 a.b/.C t1}", "com.android.systemui", "NotificationShade", 0),
        ("mCurrentRotation=ROTATION_90\n mCurrentFocus=Window{1 u0 a/a.B}", "a", "a.B", 1),
        ("mRotation=3 mAltOrientation=false\n mCurrentFocus=Window{1 u0 a/a.B}", "a", "a.B", 3),
        ("  mCurrentFocus=null\n  mFocusedApp=null\n", "", "", 0),
    ],
)  # fmt: skip
def test_the_focus_is_read_from_what_androids_print(text: str, package: str, activity: str, rotation: int) -> None:
    state = parse_focus(text)
    assert (state.package, state.activity, state.rotation) == (package, activity, rotation)


def test_the_keyboard_is_read_from_either_line() -> None:
    assert parse_keyboard("mShowRequested=true mInputShown=true\n mIsInputViewShown=false")
    assert not parse_keyboard("mInputShown=false")
    assert parse_keyboard("    mIsInputViewShown=true")
    assert not parse_keyboard("")


def test_apps_are_read_from_the_full_listing_of_a_phone() -> None:
    text = (
        "2 activities found:\n  Activity #0:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n"
        "    ActivityInfo:\n      name=com.android.settings.Settings\n      packageName=com.android.settings\n"
        "      labelRes=0x7f12 nonLocalizedLabel=null icon=0x0 banner=0x0\n      ApplicationInfo:\n        packageName=com.android.settings\n"
        "  Activity #1:\n    priority=0\n    ActivityInfo:\n      name=org.x.Main\n      packageName=org.x\n"
        "      labelRes=0x0 nonLocalizedLabel=My App icon=0x0 banner=0x0\n"
    )
    assert parse_activities(text) == (
        InstalledApp("com.android.settings", "", "com.android.settings.Settings"),
        InstalledApp("org.x", "My App", "org.x.Main"),
    )
    assert parse_activities("No activities found\n") == ()


@needs_shared
def test_case_01_a_failed_dump_is_named_and_quoted() -> None:
    failed = dump_failure((CASES / "01-idle-error.txt").read_text())
    assert failed.code == "DUMP_NOT_IDLE" and "ERROR: could not get idle state." in failed.message


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("ERROR: null root node returned by UiTestAutomationBridge.", "NULL_ROOT"),
        ("Killed", "DUMP_FAILED"),
        ("", "DUMP_FAILED"),
    ],
)
def test_other_dump_failures_are_named(told: str, code: str) -> None:
    assert dump_failure(told).code == code


def test_text_is_cut_where_input_would_read_a_blank_into_it() -> None:
    assert list(text_commands("a b%sc")) == ["input text a%sb%", "input text sc"]
    assert list(text_commands("a\n")) == ["input text a", "input keyevent 66"]
    assert [len(line) for line in text_commands("y" * 450)] == [211, 211, 61]


@pytest.mark.parametrize("spec", ["web:", "mock:", "http://127.0.0.1:1/"])
def test_a_name_that_is_no_phone_says_what_one_looks_like(spec: str) -> None:
    with pytest.raises(DeviceNotFound) as e:
        open_device(spec)
    assert e.value.hint
