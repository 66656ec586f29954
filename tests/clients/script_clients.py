"""The conversations of clients that live in environments of their own: what each call of their scripts should have done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from phoneworld.adbd.commands.providers import PORTAL_VERSION
from phoneworld.adbd.phone import PORTAL_KEYBOARD
from phoneworld.ui.action import Swipe
from tests.adbd.fixtures import Attached
from tests.adbd.pocket import ACTIVITY, LAUNCHER, NAME, PACKAGE, PLUS
from tests.adbd.tiny_apk import apk
from tests.clients.conversation import SCRIPTS, Check, Report, run_script, version_of
from tests.clients.install import npm_client, python_client

PNG = "89504e470d0a1a0a"
_PLUS = (str(PLUS.center.x), str(PLUS.center.y))
_NAME = (str(NAME.center.x), str(NAME.center.y))


def _setting(phone: Attached, name: str) -> str | None:
    return phone.served.phone.setting("system", name)


def talk_adb_shell(phone: Attached) -> Report:
    python = python_client("adb-shell", "adb-shell==0.4.4")
    device = phone.device
    checks = {
        "connect()": Check("the transport answers without a key", lambda v: v is True),
        "shell(am start)": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "shell(input tap)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "exec_out(screencap -p)": Check("a PNG", lambda v: v == PNG),
        "streaming_shell(logcat -d)": Check("the start is logged, and it ends", lambda v: PACKAGE in v),
        "push(), stat()": Check("the size", lambda v: v[1] == 300_000),
        "pull()": Check("the same bytes", lambda v: v == [300_000, True]),
        "list(/sdcard)": Check("the file is there", lambda v: "z.bin" in v),
        "root()": Check("refused in words", lambda v: True),
        "close()": Check("the connection ends", lambda v: True),
    }
    report = Report("adb-shell", version_of(python, "adb-shell"))
    return run_script(report, [str(python), str(SCRIPTS / "talk_adb_shell.py"), *_PLUS], checks, phone)


def talk_android_env(phone: Attached) -> Report:
    python = python_client("android-env", "android-env==1.3.0")
    device = phone.device
    checks = {
        "start_activity": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "get_current_activity": Check("its activity", lambda v: v == f"{PACKAGE}/{ACTIVITY}"),
        "tap": Check("the counter is 1", lambda v: device.memory.count == 1),
        "input_text": Check("the field has the focus", lambda v: device.memory.focus == 0),
        "input_text(words)": Check("the field holds them", lambda v: device.memory.fields[0] == "some words"),
        "generic(keycombination CTRL+A, then DEL)": Check("the field is empty", lambda v: device.memory.fields[0] == ""),
        "press_button(ENTER)": Check("the keyboard is gone", lambda v: not device.memory.keyboard),
        "get_orientation": Check("natural", lambda v: v == 0),
        "settings put": Check("the setting", lambda v: _setting(phone, "screen_off_timeout") == "7"),
        "settings get": Check("the setting", lambda v: v == "7"),
        "package_manager list packages": Check("the app among them", lambda v: PACKAGE in v),
        "package_manager list features": Check("a touch screen", lambda v: any("touchscreen" in one for one in v)),
        "dumpsys window": Check("the focus", lambda v: v is True),
        "send_broadcast": Check("taken, and nobody listens", lambda v: any("NOTHING" in r for r in phone.served.phone.refusals)),
        "push": Check("the file is there", lambda v: phone.served.phone.files.stat("/sdcard/q.bin").size == 100_000),
        "pull": Check("all of it", lambda v: v == 100_000),
        "install_apk(of its own app)": Check("success: it is there", lambda v: True),
        "package_manager clear": Check("nothing is left", lambda v: device.memory.count == 0),
        "press_button(HOME)": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
        "force_stop": Check("it stays", lambda v: device.memory.front == LAUNCHER),
    }
    report = Report("android-env's adb parser", version_of(python, "android-env"))
    command = [str(python), str(SCRIPTS / "talk_android_env.py"), *_PLUS, *_NAME]
    return run_script(report, command, checks, phone, OWN_APK=apk(PACKAGE).hex())


def talk_airtest(phone: Attached) -> Report:
    python = python_client("airtest", "airtest==1.4.3")
    device = phone.device
    checks = {
        "devices()": Check("listed as a device", lambda v: v == [[phone.serial, "device"]]),
        "get_status()": Check("device", lambda v: v == "device"),
        "start_app(package)": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "start_app_timing(package, activity)": Check("a time", lambda v: v is True),
        "get_top_activity()": Check("its activity", lambda v: v == [PACKAGE, ".MainActivity"]),
        "touch((x, y))": Check("the counter is 1", lambda v: device.memory.count == 1),
        "swipe((x, y), (x2, y2))": Check("a swipe", lambda v: device.events[-1] == Swipe(100, 1100, 100, 300, 400)),
        "text(words)": Check("the field holds them", lambda v: device.memory.fields[0] == "some words"),
        "keyevent(BACK)": Check("the keyboard is gone", lambda v: not device.memory.keyboard),
        "is_keyboard_shown()": Check("no", lambda v: v is False),
        "is_screenon(), is_locked()": Check("on and not locked", lambda v: v == [True, False]),
        "get_display_info()": Check("the screen", lambda v: v == {"width": 720, "height": 1280, "orientation": 0, "max_x": 719, "max_y": 1279}),
        "getDisplayOrientation()": Check("natural", lambda v: v == 0),
        "snapshot()": Check("a PNG", lambda v: v == PNG),
        "list_app(), path_app()": Check("the app and its place", lambda v: v == [[PACKAGE], "/data/app/"]),
        "check_app(package)": Check("it is there", lambda v: v is True),
        "get_package_version(package)": Check("1", lambda v: v in (1, "1")),
        "push(), exists_file(), file_size()": Check("there, 7 bytes", lambda v: v == [True, 7]),
        "pull()": Check("the same", lambda v: v == "airtest"),
        "forward(), remove_forward()": Check("listed, then gone", lambda v: v is True),
        "sdk_version, get_model(), get_manufacturer()": Check("as the phone is", lambda v: v == [34, "Pocket One", "Example"]),
        "get_memory(), get_storage()": Check("sizes", lambda v: all(v)),
        "get_battery(), get_cpuinfo()": Check("the whole of get_device_info", lambda v: bool(v)),
        "getprop()": Check("34", lambda v: v.strip() == "34"),
        "logcat()": Check("a line of the system", lambda v: "START" in v),
        "clear_app(package)": Check("nothing is left", lambda v: device.memory.count == 0),
        "stop_app(package)": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
    }
    report = Report("airtest", version_of(python, "airtest"))
    return run_script(report, [str(python), str(SCRIPTS / "talk_airtest.py"), *_PLUS, *_NAME], checks, phone)


def sdk_folder(client: Path) -> Path:
    """A folder shaped as an Android SDK that holds the machine's own adb, for clients that look only there."""
    tools = client / "sdk" / "platform-tools"
    tools.mkdir(parents=True, exist_ok=True)
    link = tools / "adb"
    if not link.exists():
        link.symlink_to(str(shutil.which("adb")))
    return tools.parent


def talk_appium_adb(phone: Attached) -> Report:
    client = npm_client("appium-adb", "appium-adb@16.0.9")
    device = phone.device
    checks = {
        "getConnectedDevices()": Check("listed as a device", lambda v: f"{phone.serial} device" in v),
        "getApiLevel(), getPlatformVersion()": Check("34, 14", lambda v: v == [34, "14"]),
        "getModel(), getManufacturer()": Check("as the phone is", lambda v: v == ["Pocket One", "Example"]),
        "startApp({pkg, activity})": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "activateApp(pkg)": Check("it still is", lambda v: device.memory.front == PACKAGE),
        "getFocusedPackageAndActivity()": Check("its activity", lambda v: v["appPackage"] == PACKAGE and v["appActivity"].endswith("MainActivity")),
        "waitForActivity(…)": Check("it is shown", lambda v: True),
        "shell(input tap)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "inputText(words)": Check("the field holds them", lambda v: device.memory.fields[0] == "some words"),
        "isSoftKeyboardPresent()": Check("yes", lambda v: v["isKeyboardShown"] is True),
        "hideKeyboard()": Check("the keyboard is gone", lambda v: not device.memory.keyboard and device.memory.front == PACKAGE),
        "keyevent(4)": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
        "isScreenLocked()": Check("no", lambda v: v is False),
        "getScreenSize(), getScreenDensity()": Check("as the phone is", lambda v: v == ["720x1280", 320]),
        "getScreenOrientation()": Check("natural", lambda v: v == 0),
        "takeScreenshot()": Check("a PNG", lambda v: v == PNG),
        "isAppInstalled(pkg)": Check("yes, no", lambda v: v == [True, False]),
        "listInstalledPackages()": Check("the app among them", lambda v: PACKAGE in v),
        "getPackageInfo(pkg)": Check("versions", lambda v: v == [PACKAGE, 1, "1.0"]),
        "resolveLaunchableActivity(pkg)": Check("its activity", lambda v: v == f"{PACKAGE}/.MainActivity"),
        "processExists(pkg)": Check("it runs", lambda v: v is True),
        "setting get, put": Check("the setting", lambda v: v == "99" and _setting(phone, "screen_off_timeout") == "99"),
        "availableIMEs(), enabledIMEs(), defaultIME()": Check("four, two, the default", lambda v: v[:2] == [4, 2]),
        "setIME(ADBKeyBoard)": Check("selected", lambda v: phone.served.phone.input_method == "com.android.adbkeyboard/.AdbIME"),
        "push(), fileExists(), fileSize()": Check("there, 6 bytes", lambda v: v == [True, 6]),
        "pull()": Check("the same", lambda v: v == "appium"),
        "ls(), rimraf()": Check("there, then not", lambda v: v == [["a"], []]),
        "forwardPort(), removePortForward()": Check("listed", lambda v: v is True),
        "reversePort(), removePortReverse()": Check("listed", lambda v: v is True),
        "install(apk of its own app)": Check("success: it is there", lambda v: True),
        "startLogcat(), getLogcatLogs()": Check("streams, and ends", lambda v: v is True),
        "root(), isRoot()": Check("refused: it is not root", lambda v: v is False),
        "clear(pkg)": Check("nothing is left", lambda v: device.memory.count == 0),
        "forceStop(pkg)": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
    }
    report = Report("appium-adb", "16.0.9")
    command = ["node", str(SCRIPTS / "talk_appium_adb.mjs"), *_PLUS, *_NAME]
    sdk = str(sdk_folder(client))
    return run_script(
        report, command, checks, phone, CLIENT=str(client), ANDROID_HOME=sdk, ANDROID_SDK_ROOT=sdk, OWN_APK=apk(PACKAGE).hex()
    )


def talk_droidrun(phone: Attached) -> Report:
    python = python_client("droidrun", "droidrun==0.7.4")
    device = phone.device
    checks = {
        "connect() with Portal required": Check("its keyboard is selected", lambda v: phone.served.phone.input_method == PORTAL_KEYBOARD),
        "portal_available, Portal's version": Check("yes, and which", lambda v: v == [True, PORTAL_VERSION]),
        "start_app(package)": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "tap(x, y)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "get_ui_tree()": Check("tree, state, context", lambda v: v == {"keys": ["a11y_tree", "device_context", "phone_state"], "package": PACKAGE, "root": "android.widget.FrameLayout"}),
        "input_text(words)": Check("words that are not ASCII", lambda v: device.memory.fields[0] == "naïve 你好"),
        "input_text(words, clear=True)": Check("only the new words", lambda v: device.memory.fields[0] == "new"),
        "swipe(…)": Check("a swipe", lambda v: device.events[-1] == Swipe(100, 1100, 100, 300, 300)),
        "press_button(back)": Check("the keyboard is gone", lambda v: not device.memory.keyboard),
        "set_clipboard, get_clipboard": Check("what was put there", lambda v: v == "naïve ☃" == phone.served.phone.memory.clipboard),
        "screenshot()": Check("a PNG", lambda v: v == PNG),
        "get_apps(), list_packages()": Check("the one app", lambda v: [a["package"] for a in v[0]] == v[1] == [PACKAGE]),
        "get_date()": Check("the phone's clock", lambda v: "2026" in v),
        "open_deep_link(url)": Check("the app has the link", lambda v: device.memory.url == "https://example.org/d"),
        "clear_app_data(package)": Check("nothing is left", lambda v: device.memory.count == 0),
        "stop_app(package)": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
    }
    report = Report("droidrun", version_of(python, "droidrun"))
    return run_script(report, [str(python), str(SCRIPTS / "talk_droidrun.py"), *_PLUS, *_NAME], checks, phone)


SCRIPTED: dict[str, Callable[[Attached], Report]] = {
    "adb-shell": talk_adb_shell,
    "android-env": talk_android_env,
    "airtest": talk_airtest,
    "appium-adb": talk_appium_adb,
    "droidrun": talk_droidrun,
}
