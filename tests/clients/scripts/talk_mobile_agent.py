"""Mobile-Agent v3's AndroidController, from a checkout."""
# ruff: noqa: E402

import os
import sys
import tempfile
import types

folder = os.path.join(os.environ["REPOSITORY"], "Mobile-Agent-v3", "mobile_v3", "utils")
package = types.ModuleType("utils")
package.__path__ = [folder]
sys.modules["utils"] = package

from saying import call
from utils.android_controller import AndroidController

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
controller = AndroidController(f"adb -s {os.environ['PHONE']}")
shot = os.path.join(tempfile.mkdtemp(), "a b.png")
call("home()", controller.home)
call("tap(x, y) on the launcher", lambda: controller.tap(120, 200))
call("get_screenshot(path)", lambda: [controller.get_screenshot(shot), os.path.getsize(shot)])
call("tap(x, y)", lambda: controller.tap(x, y))
call("type(words)", lambda: (controller.tap(name_x, name_y), controller.type("So, 2 words!"))[1])
call("slide(…)", lambda: controller.slide(100, 1100, 100, 300))
call("back() twice", lambda: (controller.back(), controller.back())[1])
