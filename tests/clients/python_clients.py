"""The conversations of the clients that the project's own environment holds: adbutils and uiautomator2."""

from __future__ import annotations

import io
import socket
import threading
from typing import Any

import adbutils
import uiautomator2

from phoneworld.ui.action import Drag, LongPress, Pinch, Swipe
from phoneworld.ui.xml import parse_hierarchy
from tests.adbd.fixtures import Attached
from tests.adbd.pocket import ACTIVITY, LAUNCHER, NAME, NOTE, PACKAGE, PLUS
from tests.adbd.tiny_apk import apk
from tests.clients.conversation import Report, version_of


def talk_adbutils(phone: Attached) -> Report:
    """Every group of calls of adbutils' AdbDevice."""
    report = Report("adbutils", version_of(None, "adbutils"))
    client = adbutils.AdbClient(port=phone.server_port)
    d, device, call = client.device(phone.serial), phone.device, report.call
    call("app_start(package)", "the app is in front", lambda: d.app_start(PACKAGE), lambda _: device.memory.front == PACKAGE)
    call("app_current()", "names package and activity", d.app_current, lambda v: (v.package, v.activity) == (PACKAGE, ACTIVITY))
    call("click(x, y)", "the counter is 1", lambda: d.click(*_xy(PLUS)), lambda _: device.memory.count == 1)
    call(
        "click, send_keys", "the field holds the words",
        lambda: (d.click(*_xy(NAME)), d.send_keys("a b & c")), lambda _: device.memory.fields[0] == "a b & c",
    )  # fmt: skip
    call("swipe(…, 0.5)", "a swipe of 500 ms", lambda: d.swipe(100, 1100, 100, 300, 0.5), lambda _: device.events[-1] == Swipe(100, 1100, 100, 300, 500))
    call("drag(…)", "a drag", lambda: d.drag(100, 1100, 100, 300, 1), lambda _: isinstance(device.events[-1], Drag))
    call("keyevent(BACK) twice", "the launcher is in front", lambda: (d.keyevent("BACK"), d.keyevent("BACK")), lambda _: device.memory.front == LAUNCHER)
    call("dump_hierarchy()", "the tree of the phone", d.dump_hierarchy, lambda v: parse_hierarchy(v.encode()) == device.hierarchy())
    call("screenshot()", "a picture of the screen's size", d.screenshot, lambda v: v.size == (720, 1280))
    call("framebuffer()", "the same picture, raw", d.framebuffer, lambda v: _same_picture(v, device.screenshot()))
    call("window_size(), rotation()", "as the phone is", lambda: (tuple(d.window_size()), d.rotation()), lambda v: v == ((720, 1280), 0))
    call("shell2(exit 4)", "the exit status", lambda: d.shell2("exit 4", v2=True), lambda v: v.returncode == 4)
    call("shell2(unknown)", "127", lambda: d.shell2("no-such-command"), lambda v: v.returncode == 127)
    call("sync.push, read_bytes", "3 MB come back equal", lambda: _there_and_back(d), lambda v: v)
    call("sync.stat, list", "size and names", lambda: (d.sync.stat("/sdcard/x.bin").size, [f.path for f in d.sync.list("/sdcard")]), lambda v: v[0] == 3_000_000 and "x.bin" in v[1])
    call("list_packages(-3)", "the one app", lambda: d.list_packages(["-3"]), lambda v: v == [PACKAGE])
    call("app_info(package)", "versions", lambda: d.app_info(PACKAGE), lambda v: (v.version_name, v.version_code) == ("1.0", 1))
    call("getprop, prop", "the model", lambda: (d.getprop("ro.product.model"), d.prop.model), lambda v: v == ("Pocket One", "Pocket One"))
    call("battery(), is_screen_on()", "full and on", lambda: (d.battery().level, d.is_screen_on()), lambda v: v == (100, True))
    call("brightness_value = 50", "the setting", lambda: setattr(d, "brightness_value", 50), lambda _: phone.served.phone.setting("system", "screen_brightness") == "50")
    call("switch_airplane(True)", "the setting", lambda: d.switch_airplane(True), lambda _: phone.served.phone.setting("global", "airplane_mode_on") == "1")
    call("open_browser(url)", "the app has the link", lambda: d.open_browser("https://example.org/x"), lambda _: device.memory.url == "https://example.org/x")
    call("forward, reverse", "bytes go to the phone's port and back to the host", lambda: _round_trip(d), lambda v: v == b"HELLO")
    call("reverse_list, reverse_remove", "the one, then none", lambda: _reversals(d), lambda v: v == ([("tcp:6200", "tcp:6201")], []))
    call("logcat(…)", "the start is logged", lambda: d.shell("logcat -d"), lambda v: f"pkg={PACKAGE}" in v or PACKAGE in v)
    call("install(apk of its own app)", "success: it is there", lambda: _install(d, PACKAGE), lambda v: v == "Success")
    call("install(apk of another app)", "refused in words", lambda: _install(d, "org.example.elsewhere"), lambda v: "INSTALL_FAILED" in v)
    call("app_clear, app_stop", "nothing is left", lambda: (d.app_clear(PACKAGE), d.app_stop(PACKAGE)), lambda _: device.memory.count == 0)
    return report


def _xy(bounds: Any) -> tuple[int, int]:
    return bounds.center.x, bounds.center.y


def _same_picture(image: Any, png: bytes) -> bool:
    from PIL import Image

    return bool(image.convert("RGB").tobytes() == Image.open(io.BytesIO(png)).convert("RGB").tobytes())


def _there_and_back(d: adbutils.AdbDevice) -> bool:
    content = bytes(range(256)) * 11719
    content = content[:3_000_000]
    d.sync.push(content, "/sdcard/x.bin", check=True)
    return bool(d.sync.read_bytes("/sdcard/x.bin") == content)


def _round_trip(d: adbutils.AdbDevice) -> bytes:
    """Host → forwarded port → the phone's port → reversed to a server of the host, which shouts back."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def shout() -> None:
            peer, _ = server.accept()
            with peer:
                peer.sendall(peer.recv(100).upper())

        threading.Thread(target=shout, daemon=True).start()
        d.reverse("tcp:6100", f"tcp:{server.getsockname()[1]}")
        port = d.forward_port(6100)
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
                s.sendall(b"hello")
                return s.recv(100)
        finally:
            d.reverse_remove("tcp:6100")
            d.forward_remove(f"tcp:{port}")


def _reversals(d: adbutils.AdbDevice) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    d.reverse("tcp:6200", "tcp:6201")
    before = [(r.remote, r.local) for r in d.reverse_list()]
    d.reverse_remove("tcp:6200")
    return before, [(r.remote, r.local) for r in d.reverse_list()]


def _install(d: adbutils.AdbDevice, package: str) -> str:
    d.sync.push(io.BytesIO(apk(package)), "/data/local/tmp/x.apk")
    return str(d.shell("pm install -r /data/local/tmp/x.apk"))


def talk_uiautomator2(phone: Attached) -> Report:
    """uiautomator2 as it comes: it pushes u2.jar, starts it, and speaks JSON-RPC to port 9008 of the phone."""
    report = Report("uiautomator2", version_of(None, "uiautomator2"))
    device, call = phone.device, report.call
    d = uiautomator2.Device(adbutils.AdbClient(port=phone.server_port).device(phone.serial))
    d.settings["wait_timeout"] = 2.0
    _talk_apps(report, d, phone)
    _talk_selectors(report, d, phone)
    call("xpath(…).click()", "the counter is one more", lambda: _counted(phone, lambda: d.xpath('//*[@text="Plus"]').click()), lambda v: v == 1)
    call("press(back) twice", "the launcher is in front", lambda: (d.press("back"), d.press("back")), lambda _: device.memory.front == LAUNCHER)
    call("session(package)", "a session of the app", lambda: d.session(PACKAGE).info["currentPackageName"], lambda v: v == PACKAGE)
    call("app_clear, app_stop", "nothing is left", lambda: (d.app_clear(PACKAGE), d.app_stop(PACKAGE)), lambda _: device.memory.count == 0)
    call("stop_uiautomator()", "nothing listens any more", d.stop_uiautomator, lambda _: not phone.served.phone.listeners)
    return report


def _counted(phone: Attached, act: Any) -> int:
    before = phone.device.memory.count
    act()
    return int(phone.device.memory.count - before)


def _talk_apps(report: Report, d: uiautomator2.Device, phone: Attached) -> None:
    device, call = phone.device, report.call
    call("app_start(package)", "the app is in front", lambda: d.app_start(PACKAGE), lambda _: device.memory.front == PACKAGE)
    call("app_current()", "names package and activity", d.app_current, lambda v: (v["package"], v["activity"]) == (PACKAGE, ACTIVITY))
    call("app_wait(front)", "its process", lambda: d.app_wait(PACKAGE, front=True), lambda v: v > 0)
    call("info, device_info", "size, package, model", lambda: (d.info, d.device_info), lambda v: (v[0]["displayWidth"], v[0]["currentPackageName"], v[1]["model"]) == (720, PACKAGE, "Pocket One"))
    call("window_size()", "as the phone is", d.window_size, lambda v: v == (720, 1280))
    call("app_list, app_info", "the one app", lambda: (d.app_list("-3"), d.app_info(PACKAGE)["versionName"]), lambda v: v == ([PACKAGE], "1.0"))
    call("dump_hierarchy()", "the tree of the phone", d.dump_hierarchy, lambda v: parse_hierarchy(v.encode()) == device.hierarchy())
    call("screenshot()", "a picture of the screen's size", d.screenshot, lambda v: v.size == (720, 1280))
    call("open_url(url)", "the app has the link", lambda: d.open_url("https://example.org/y"), lambda _: device.memory.url == "https://example.org/y")


def _talk_selectors(report: Report, d: uiautomator2.Device, phone: Attached) -> None:
    device, call = phone.device, report.call
    plus, name = d(text="Plus"), d(resourceId=f"{PACKAGE}:id/name")
    call("click(x, y)", "the counter is one more", lambda: _counted(phone, lambda: d.click(*_xy(PLUS))), lambda v: v == 1)
    call("click(0.4, 0.35) in shares of the screen", "the counter is one more", lambda: _counted(phone, lambda: d.click(0.4, 0.36)), lambda v: v == 1)
    call("double_click(x, y)", "two clicks", lambda: _counted(phone, lambda: d.double_click(*_xy(PLUS))), lambda v: v == 2)
    call("long_click(x, y)", "a long press", lambda: _counted(phone, lambda: d.long_click(*_xy(PLUS), 0.6)), lambda v: v == 10)
    call("(text=).exists, count", "one, and none", lambda: (bool(plus.exists), plus.count, bool(d(text="Minus").exists)), lambda v: v == (True, 1, False))
    call("(text=).click()", "the counter is one more", lambda: _counted(phone, plus.click), lambda v: v == 1)
    call("(textMatches=, textContains=, descriptionContains=)", "found, found, not", lambda: (d(textMatches="P.us").count, d(textContains="LUS").count, d(descriptionContains="x").count), lambda v: v == (1, 1, 0))
    call("(className=)[1], instance=", "the second field", lambda: (d(className="android.widget.EditText")[1].info["resourceName"], d(className="android.widget.EditText", instance=1).info["resourceName"]), lambda v: v == (f"{PACKAGE}:id/note",) * 2)
    call("(className=) iterated", "both fields", lambda: [e.info["resourceName"] for e in d(className="android.widget.EditText")], lambda v: v == [f"{PACKAGE}:id/name", f"{PACKAGE}:id/note"])
    call("child(), sibling()", "the button by its column, the count by the button", lambda: (d(className="android.widget.LinearLayout").child(text="Plus").count, plus.sibling(textStartsWith="count").get_text()), lambda v: v[0] == 1 and v[1].startswith("Count "))
    call("child_by_text, child_by_instance", "found by name later", lambda: (d(className="android.widget.LinearLayout").child_by_text("Plus", className="android.widget.Button").info["text"], d(className="android.widget.LinearLayout").child_by_instance(1, className="android.widget.EditText").info["resourceName"]), lambda v: v == ("Plus", f"{PACKAGE}:id/note"))
    call("info, bounds(), center()", "as in the tree", lambda: (plus.info["clickable"], plus.bounds(), plus.center()), lambda v: v == (True, (100, 400, 500, 520), (300.0, 460.0)))
    call("set_text, get_text, clear_text", "words that are not ASCII, then none", lambda: (name.set_text("naïve 你好"), name.get_text(), device.memory.fields[0], name.clear_text(), device.memory.fields[0]), lambda v: (v[1], v[2], v[4]) == ("naïve 你好", "naïve 你好", ""))
    call("send_keys(text) by its keyboard", "the field holds them", lambda: (name.click(), d.send_keys("snow ☃")), lambda _: device.memory.fields[0] == "snow ☃" and phone.served.phone.input_method.startswith("com.github.uiautomator/"))
    call("send_keys(text, clear=True)", "only the new words", lambda: (name.click(), d.send_keys("new", clear=True)), lambda _: device.memory.fields[0] == "new")
    call("hide_keyboard()", "the keyboard is gone, the app is not", lambda: (d(resourceId=f"{PACKAGE}:id/note").click(), d.hide_keyboard()), lambda _: not device.memory.keyboard and device.memory.front == PACKAGE)
    call("clipboard", "what was put there", lambda: (d.set_clipboard("clip"), d.clipboard), lambda v: v[1] == "clip")
    call("wait, wait_gone", "there, not there, gone", lambda: (plus.wait(timeout=1), d(text="No").wait(timeout=0.3), d(text="No").wait_gone(timeout=1)), lambda v: v == (True, False, True))
    call("a widget that is not there", "UiObjectNotFoundError", lambda: _raised(lambda: d(text="No").click(timeout=0.1)), lambda v: v == "UiObjectNotFoundError")
    call("swipe(…, steps=20)", "a swipe of 100 ms", lambda: d.swipe(360, 1100, 360, 300, steps=20), lambda _: device.events[-1] == Swipe(360, 1100, 360, 300, 100))
    call("swipe_ext(up)", "a swipe", lambda: d.swipe_ext("up"), lambda _: isinstance(device.events[-1], Swipe))
    call("drag(…)", "a drag", lambda: d.drag(360, 1100, 360, 300), lambda _: isinstance(device.events[-1], Drag))
    call("(…).drag_to(selector)", "a drag to its middle", lambda: plus.drag_to(resourceId=f"{PACKAGE}:id/note"), lambda _: device.events[-1] == Drag(*_xy(PLUS), *_xy(NOTE), 500))
    call("(…).swipe(left), long_click", "a swipe inside it, a long press", lambda: (plus.swipe("left"), plus.long_click(0.7)), lambda _: isinstance(device.events[-1], LongPress) and isinstance(device.events[-2], Swipe))
    call("pinch_in, pinch_out", "two pinches", lambda: (plus.pinch_in(50), plus.pinch_out(50)), lambda _: [isinstance(e, Pinch) and (e.scale > 1) for e in device.events[-2:]] == [False, True])
    call("touch.down.move.up", "one swipe", lambda: d.touch.down(360, 1000).move(360, 700).up(360, 400), lambda _: isinstance(device.events[-1], Swipe) and (device.events[-1].y, device.events[-1].y2) == (1000, 400))
    call("scroll, fling", "swipes; the end is told", lambda: (d(className="android.widget.LinearLayout").scroll.forward(), d(className="android.widget.LinearLayout").fling.toEnd(max_swipes=3)), lambda v: v == (False, True))
    call("orientation, last_toast", "natural, none", lambda: (d.orientation, d.last_toast), lambda v: v == ("natural", None))
    call("screen_on(), press(66)", "keys", lambda: (d.screen_on(), d.press(66)), lambda _: "enter" in str(device.events[-1]))
    call("open_notification()", "refused in words", lambda: _raised(d.open_notification), lambda v: v == "RPCUnknownError")


def _raised(act: Any) -> str:
    try:
        act()
    except Exception as e:
        return type(e).__name__
    return ""
