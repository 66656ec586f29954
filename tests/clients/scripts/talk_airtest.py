"""Airtest's ADB class, with the adb program of the machine."""

import os
import pathlib
import shutil
import sys
import tempfile

from airtest.core.android.adb import ADB
from saying import call

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
adb = ADB(os.environ["PHONE"], adb_path=shutil.which("adb"), server_addr=("127.0.0.1", int(os.environ["ADB_PORT"])))
app = "org.example.pocket"
call("devices()", lambda: [d for d in adb.devices() if d[0] == os.environ["PHONE"]])
call("get_status()", lambda: adb.get_status())
call("start_app(package)", lambda: adb.start_app(app))
call("start_app_timing(package, activity)", lambda: isinstance(adb.start_app_timing(app, ".MainActivity"), int))
call("get_top_activity()", lambda: list(adb.get_top_activity()[:2]))
call("touch((x, y))", lambda: adb.touch((x, y)))
call("swipe((x, y), (x2, y2))", lambda: adb.swipe((100, 1100), (100, 300), 400))
call("text(words)", lambda: (adb.touch((name_x, name_y)), adb.text("some words"))[1])
call("keyevent(BACK)", lambda: adb.keyevent("BACK"))
call("is_keyboard_shown()", lambda: adb.is_keyboard_shown())
call("is_screenon(), is_locked()", lambda: (adb.is_screenon(), adb.is_locked()))
call("get_display_info()", lambda: {k: adb.get_display_info()[k] for k in ("width", "height", "orientation", "max_x", "max_y")})
call("getDisplayOrientation()", lambda: adb.getDisplayOrientation())
call("snapshot()", lambda: adb.snapshot()[:8].hex())
call("list_app(), path_app()", lambda: (adb.list_app(third_only=True), adb.path_app(app)[:10]))
call("check_app(package)", lambda: adb.check_app(app))
call("get_package_version(package)", lambda: adb.get_package_version(app))
with tempfile.TemporaryDirectory() as folder:
    here = os.path.join(folder, "a.txt")
    with open(here, "w") as out:
        out.write("airtest")
    call("push(), exists_file(), file_size()", lambda: (adb.push(here, "/sdcard/a.txt"), adb.exists_file("/sdcard/a.txt"), adb.file_size("/sdcard/a.txt"))[1:])
    call("pull()", lambda: (adb.pull("/sdcard/a.txt", os.path.join(folder, "b.txt")), pathlib.Path(folder, "b.txt").read_text())[1])
call("forward(), remove_forward()", lambda: (adb.forward("tcp:39871", "tcp:9008"), adb.get_forwards() is not None, adb.remove_forward("tcp:39871"))[1])
call("sdk_version, get_model(), get_manufacturer()", lambda: (adb.sdk_version, adb.get_model(), adb.get_manufacturer()))
call("get_memory(), get_storage()", lambda: (adb.get_memory(), adb.get_storage()))
call("get_battery(), get_cpuinfo()", lambda: adb.get_device_info()["memory"])
call("getprop()", lambda: adb.getprop("ro.build.version.sdk"))
call("logcat()", lambda: next(adb.logcat("ActivityTaskManager")).decode())
call("clear_app(package)", lambda: adb.clear_app(app))
call("stop_app(package)", lambda: adb.stop_app(app))
