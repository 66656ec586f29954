"""droidrun (mobilerun): its Android driver over adb, with Portal's content provider, its TCP mode off."""

import asyncio
import os
import sys

from mobilerun_core_local.driver.android.adb import AndroidDriver
from saying import call

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
app = "org.example.pocket"
loop = asyncio.new_event_loop()
driver = AndroidDriver(serial=os.environ["PHONE"], use_tcp=False, portal_mode="required")


def wait(name, make):
    return call(name, lambda: loop.run_until_complete(make()))


async def typed(text, clear):
    await driver.tap(name_x, name_y)
    return await driver.input_text(text, clear)


async def clipboard():
    await driver.set_clipboard("naïve ☃")
    return await driver.get_clipboard()


async def tree():
    state = await driver.get_ui_tree()
    return {"keys": sorted(state), "package": state["phone_state"]["packageName"], "root": state["a11y_tree"]["className"]}


async def apps():
    return [await driver.get_apps(), await driver.list_packages()]


async def picture():
    return (await driver.screenshot())[:8].hex()


wait("connect() with Portal required", driver.connect)
call("portal_available, Portal's version", lambda: [driver.portal_available, driver._portal_version])
wait("start_app(package)", lambda: driver.start_app(app))
wait("tap(x, y)", lambda: driver.tap(x, y))
wait("get_ui_tree()", tree)
wait("input_text(words)", lambda: typed("naïve 你好", False))
wait("input_text(words, clear=True)", lambda: typed("new", True))
wait("swipe(…)", lambda: driver.swipe(100, 1100, 100, 300, 300))
wait("press_button(back)", lambda: driver.press_button("back"))
wait("set_clipboard, get_clipboard", clipboard)
wait("screenshot()", picture)
wait("get_apps(), list_packages()", apps)
wait("get_date()", driver.get_date)
wait("open_deep_link(url)", lambda: driver.open_deep_link("https://example.org/d"))
wait("clear_app_data(package)", lambda: driver.clear_app_data(app))
wait("stop_app(package)", lambda: driver.stop_app(app))
