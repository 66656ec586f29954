"""adb-shell: the transport in pure Python, straight to the phone's port, without an adb server."""

import io
import os
import sys

from adb_shell.adb_device import AdbDeviceTcp
from saying import call

x, y = sys.argv[1], sys.argv[2]
host, port = os.environ["PHONE"].split(":")
device = AdbDeviceTcp(host, int(port), default_transport_timeout_s=9.0)
call("connect()", lambda: device.connect(rsa_keys=[], auth_timeout_s=5))
call("shell(am start)", lambda: device.shell("am start -n org.example.pocket/.MainActivity"))
call("shell(input tap)", lambda: device.shell(f"input tap {x} {y}"))
call("exec_out(screencap -p)", lambda: device.exec_out("screencap -p", decode=False)[:8].hex())
call("streaming_shell(logcat -d)", lambda: "".join(device.streaming_shell("logcat -d")))
call("push(), stat()", lambda: (device.push(io.BytesIO(b"z" * 300_000), "/sdcard/z.bin"), list(device.stat("/sdcard/z.bin")))[1])
into = io.BytesIO()
call("pull()", lambda: (device.pull("/sdcard/z.bin", into), len(into.getvalue()), into.getvalue().strip(b"z") == b"")[1:])
call("list(/sdcard)", lambda: [f.filename.decode() for f in device.list("/sdcard")])
call("root()", lambda: device.root())
call("close()", lambda: device.close())
