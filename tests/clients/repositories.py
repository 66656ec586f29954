"""The conversations of agents that are repositories only: each by the environment variable that names a checkout of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from phoneworld.adbd.phone import ADB_KEYBOARD, LATIN_IME
from phoneworld.ui.action import Swipe
from tests.adbd.fixtures import Attached
from tests.adbd.pocket import ACTIVITY, LAUNCHER, NAME, PACKAGE, PLUS
from tests.clients.conversation import SCRIPTS, Check, Report, run_script
from tests.clients.install import python_client, repository

_PLACES = [str(n) for b in (PLUS, NAME) for n in (b.center.x, b.center.y)]


def _commit(checkout: Path) -> str:
    done = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "checkout"


def _run(phone: Attached, client: str, variable: str, script: str, checks: dict[str, Check], *needs: str) -> Report:
    checkout = repository(variable, client)
    python = python_client(script.removeprefix("talk_").removesuffix(".py").replace("_", "-"), *needs)
    report = Report(client, _commit(checkout))
    return run_script(report, [str(python), str(SCRIPTS / script), *_PLACES], checks, phone, REPOSITORY=str(checkout))


def talk_open_autoglm(phone: Attached) -> Report:
    device, face = phone.device, phone.served.phone
    checks = {
        "list_devices()": Check("the phone among them", lambda v: phone.serial in v),
        "launch_app(name)": Check("the app is in front", lambda v: v is True and device.memory.front == PACKAGE),
        "get_current_app()": Check("its name", lambda v: v == "Pocket"),
        "tap(x, y)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "double_tap(x, y)": Check("two more", lambda v: device.memory.count == 3),
        "long_press(x, y)": Check("a long press", lambda v: device.memory.count == 13),
        "swipe(…)": Check("a swipe", lambda v: device.events[-1] == Swipe(100, 1100, 100, 300, 400)),
        "detect_and_set_adb_keyboard()": Check("the other keyboard before, ADBKeyBoard now", lambda v: v == LATIN_IME and face.input_method == ADB_KEYBOARD),
        "type_text(words)": Check("words that are not ASCII", lambda v: device.memory.fields[0] == "naïve 你好"),
        "clear_text()": Check("the field is empty", lambda v: device.memory.fields[0] == ""),
        "restore_keyboard()": Check("the keyboard as before", lambda v: face.input_method == LATIN_IME),
        "get_screenshot()": Check("the screen's size", lambda v: v == [720, 1280, False]),
        "back() twice": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
        "home()": Check("it stays", lambda v: device.memory.front == LAUNCHER),
    }
    return _run(phone, "Open-AutoGLM", "PHONEWORLD_OPEN_AUTOGLM", "talk_open_autoglm.py", checks, "openai", "pillow")


def talk_appagent(phone: Attached) -> Report:
    device = phone.device
    checks = {
        "list_all_devices()": Check("the phone among them", lambda v: phone.serial in v),
        "get_device_size()": Check("as the phone is", lambda v: v == [720, 1280]),
        "tap(x, y) on the launcher": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "get_screenshot(…)": Check("a file", lambda v: v == len(device.screenshot())),
        "get_xml(…), traverse_tree(…)": Check("what can be clicked", lambda v: v[0][1] == [[100, 400], [500, 520]] and len(v) == 3),
        "tap(x, y)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "long_press(x, y)": Check("a long press", lambda v: device.memory.count == 11),
        "text(words)": Check("the field holds them", lambda v: device.memory.fields[0] == "some words"),
        "swipe(x, y, up)": Check("a swipe up", lambda v: device.events[-1] == Swipe(360, 1000, 360, 712, 400)),
        "swipe_precise(…)": Check("a swipe", lambda v: device.events[-1] == Swipe(300, 300, 100, 100, 400)),
        "back() twice": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
    }
    return _run(phone, "AppAgent", "PHONEWORLD_APPAGENT", "talk_appagent.py", checks, "pyyaml", "colorama", "opencv-python-headless")


def talk_mobile_agent(phone: Attached) -> Report:
    device = phone.device
    checks = {
        "home()": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
        "tap(x, y) on the launcher": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "get_screenshot(path)": Check("a file", lambda v: v == [True, len(device.screenshot())]),
        "tap(x, y)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "type(words)": Check("the field holds them", lambda v: device.memory.fields[0] == "So, 2 words!"),
        "slide(…)": Check("a swipe", lambda v: device.events[-1] == Swipe(100, 1100, 100, 300, 500)),
        "back() twice": Check("the launcher is in front", lambda v: device.memory.front == LAUNCHER),
    }
    return _run(phone, "Mobile-Agent v3", "PHONEWORLD_MOBILE_AGENT", "talk_mobile_agent.py", checks)


def talk_droidbot(phone: Attached) -> Report:
    device = phone.device
    checks = {
        "check_connectivity()": Check("yes", lambda v: v is True),
        "get_model_number(), get_sdk_version(), get_release_version()": Check("as the phone is", lambda v: v == ["Pocket One", 34, "14"]),
        "get_ro_secure(), get_ro_debuggable()": Check("1, 0", lambda v: v == [1, 0]),
        "get_display_info(), get_display_density()": Check("the screen", lambda v: v[:2] == [720, 1280]),
        "get_installed_apps()": Check("the app among them", lambda v: PACKAGE in v),
        "get_orientation()": Check("natural", lambda v: v == 0),
        "send_intent(start)": Check("the app is in front", lambda v: device.memory.front == PACKAGE),
        "get_top_activity_name()": Check("its activity", lambda v: v in (f"{PACKAGE}/.MainActivity", f"{PACKAGE}/{ACTIVITY}")),
        "get_current_activity_stack()": Check("the same", lambda v: v and v[0].startswith(PACKAGE)),
        "touch(x, y)": Check("the counter is 1", lambda v: device.memory.count == 1),
        "long_touch(x, y)": Check("a long press", lambda v: device.memory.count == 11),
        "drag(…)": Check("a swipe", lambda v: device.events[-1] == Swipe(100, 1100, 100, 300, 400)),
        "type(words)": Check("the field holds them", lambda v: device.memory.fields[0] == "words"),
        "press(BACK)": Check("the keyboard is gone", lambda v: not device.memory.keyboard),
        "get_settings(), change_settings(…)": Check("an error", bool, gap="needs root, here as on a phone of a shop: it writes the settings' database"),
        "get_package_path(package)": Check("its place", lambda v: v.startswith("/data/app/") and v.endswith("base.apk")),
        "push_file, pull_file": Check("8 bytes", lambda v: v == 8),
        "start_activity_via_monkey(package)": Check("an error", bool, gap="it calls monkey without a count, which a phone refuses too"),
        "unlock()": Check("it was not locked", lambda v: True),
    }
    return _run(phone, "DroidBot's device layer", "PHONEWORLD_DROIDBOT", "talk_droidbot.py", checks)


REPOSITORIES: dict[str, Callable[[Attached], Report]] = {
    "Open-AutoGLM": talk_open_autoglm,
    "AppAgent": talk_appagent,
    "Mobile-Agent": talk_mobile_agent,
    "DroidBot": talk_droidbot,
}
