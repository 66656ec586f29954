"""DroidBot's Device and its ADB adapter, from a checkout; its package's own __init__, which wants androguard, is passed over."""
# ruff: noqa: E402

import os
import sys
import tempfile
import types

package = types.ModuleType("droidbot")
package.__path__ = [os.path.join(os.environ["REPOSITORY"], "droidbot")]
sys.modules["droidbot"] = package

from droidbot.adapter.adb import ADB
from droidbot.device import Device
from droidbot.intent import Intent
from saying import call

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
app = "org.example.pocket"
out = tempfile.mkdtemp()
device = Device(device_serial=os.environ["PHONE"], output_dir=out)
adb = ADB(device)
device.adb = adb
call("check_connectivity()", adb.check_connectivity)
call("get_model_number(), get_sdk_version(), get_release_version()", lambda: [adb.get_model_number(), adb.get_sdk_version(), adb.get_release_version()])
call("get_ro_secure(), get_ro_debuggable()", lambda: [adb.get_ro_secure(), adb.get_ro_debuggable()])
call("get_display_info(), get_display_density()", lambda: [adb.get_display_info()["width"], adb.get_display_info()["height"], adb.get_display_density()])
call("get_installed_apps()", lambda: list(adb.get_installed_apps()))
call("get_orientation()", adb.get_orientation)
call("send_intent(start)", lambda: device.send_intent(Intent(prefix="start", suffix=f"{app}/.MainActivity")))
call("get_top_activity_name()", device.get_top_activity_name)
call("get_current_activity_stack()", device.get_current_activity_stack)
call("touch(x, y)", lambda: adb.touch(x, y))
call("long_touch(x, y)", lambda: adb.long_touch(x, y))
call("drag(…)", lambda: adb.drag((100, 1100), (100, 300), 400))
call("type(words)", lambda: (adb.touch(name_x, name_y), adb.type("words"))[1])
call("press(BACK)", lambda: adb.press("BACK"))
call("get_settings(), change_settings(…)", lambda: [device.change_settings("system", "screen_off_timeout", "31"), device.get_settings()["system"]["screen_off_timeout"]][1])
call("get_package_path(package)", lambda: device.get_package_path(app))
with open(os.path.join(out, "f.txt"), "w") as file:
    file.write("droidbot")
call("push_file, pull_file", lambda: (device.push_file(os.path.join(out, "f.txt"), "/sdcard/f.txt"), device.pull_file("/sdcard/f.txt", os.path.join(out, "g.txt")), os.path.getsize(os.path.join(out, "g.txt")))[2])
call("start_activity_via_monkey(package)", lambda: device.start_activity_via_monkey(app))
call("unlock()", lambda: adb.unlock())
