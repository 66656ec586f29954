"""Open-AutoGLM's phone_agent.adb, from a checkout."""

import os
import sys

sys.path.append(os.environ["REPOSITORY"])

from phone_agent import adb
from phone_agent.config import apps
from saying import call

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
phone = os.environ["PHONE"]
apps.APP_PACKAGES["Pocket"] = "org.example.pocket"  # its table of apps has no test app
call("list_devices()", lambda: [d.device_id for d in adb.list_devices()])
call("launch_app(name)", lambda: adb.launch_app("Pocket", phone, 0.01))
call("get_current_app()", lambda: adb.get_current_app(phone))
call("tap(x, y)", lambda: adb.tap(x, y, phone, 0.01))
call("double_tap(x, y)", lambda: adb.double_tap(x, y, phone, 0.01))
call("long_press(x, y)", lambda: adb.long_press(x, y, 900, phone, 0.01))
call("swipe(…)", lambda: adb.swipe(100, 1100, 100, 300, 400, phone, 0.01))
before = call("detect_and_set_adb_keyboard()", lambda: adb.detect_and_set_adb_keyboard(phone))
call("type_text(words)", lambda: (adb.tap(name_x, name_y, phone, 0.01), adb.type_text("naïve 你好", phone))[1])
call("clear_text()", lambda: adb.clear_text(phone))
call("restore_keyboard()", lambda: adb.restore_keyboard(before, phone))
call("get_screenshot()", lambda: [(s := adb.get_screenshot(phone)).width, s.height, s.is_sensitive])
call("back() twice", lambda: (adb.back(phone, 0.01), adb.back(phone, 0.01))[1])
call("home()", lambda: adb.home(phone, 0.01))
