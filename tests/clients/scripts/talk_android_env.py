"""android_env's adb parser, with its own controller and the adb program."""

import os
import shutil
import sys
import tempfile

from android_env.components import adb_call_parser, adb_controller, config_classes
from android_env.proto import adb_pb2
from saying import call

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
config = config_classes.AdbControllerConfig(
    adb_path=shutil.which("adb"), adb_server_port=int(os.environ["ADB_PORT"]), device_name=os.environ["PHONE"], default_timeout=20
)
parser = adb_call_parser.AdbCallParser(adb_controller.AdbController(config))
Request = adb_pb2.AdbRequest


def ask(name, request, read=lambda response: ""):
    def run():
        response = parser.parse(request)
        assert response.status == adb_pb2.AdbResponse.Status.OK, response.error_message
        return read(response)

    call(name, run)


activity = "org.example.pocket/org.example.pocket.MainActivity"
ask("start_activity", Request(start_activity=Request.StartActivity(full_activity=activity, force_stop=True)))
ask("get_current_activity", Request(get_current_activity=Request.GetCurrentActivity()), lambda r: r.get_current_activity.full_activity)
ask("tap", Request(tap=Request.Tap(x=x, y=y)))
ask("input_text", Request(tap=Request.Tap(x=name_x, y=name_y)))
ask("input_text(words)", Request(input_text=Request.InputText(text="some%swords")))
ask("generic(keycombination CTRL+A, then DEL)", Request(generic=Request.GenericRequest(args=["shell", "input keycombination 113 29 && input keyevent 67"])))
ask("press_button(ENTER)", Request(press_button=Request.PressButton(button=Request.PressButton.Button.ENTER)))
ask("get_orientation", Request(get_orientation=Request.GetOrientationRequest()), lambda r: r.get_orientation.orientation)
put = Request.SettingsRequest(name_space=Request.SettingsRequest.Namespace.SYSTEM, put=Request.SettingsRequest.Put(key="screen_off_timeout", value="7"))
ask("settings put", Request(settings=put))
get = Request.SettingsRequest(name_space=Request.SettingsRequest.Namespace.SYSTEM, get=Request.SettingsRequest.Get(key="screen_off_timeout"))
ask("settings get", Request(settings=get), lambda r: r.settings.output.decode().strip())
items = Request.PackageManagerRequest(list=Request.PackageManagerRequest.List(packages=Request.PackageManagerRequest.List.Packages()))
ask("package_manager list packages", Request(package_manager=items), lambda r: list(r.package_manager.list.items))
features = Request.PackageManagerRequest(list=Request.PackageManagerRequest.List(features=Request.PackageManagerRequest.List.Features()))
ask("package_manager list features", Request(package_manager=features), lambda r: list(r.package_manager.list.items))
ask("dumpsys window", Request(dumpsys=Request.DumpsysRequest(service="window")), lambda r: "mCurrentFocus" in r.dumpsys.output.decode())
ask("send_broadcast", Request(send_broadcast=Request.SendBroadcast(action="org.example.NOTHING")))
ask("push", Request(push=Request.Push(content=b"q" * 100_000, path="/sdcard/q.bin")))
ask("pull", Request(pull=Request.Pull(path="/sdcard/q.bin")), lambda r: len(r.pull.content))
with tempfile.NamedTemporaryFile(suffix=".apk") as apk:
    apk.write(bytes.fromhex(os.environ["OWN_APK"]))
    apk.flush()
    ask("install_apk(of its own app)", Request(install_apk=Request.InstallApk(filesystem=Request.InstallApk.Filesystem(path=apk.name))))
ask("package_manager clear", Request(package_manager=Request.PackageManagerRequest(clear=Request.PackageManagerRequest.Clear(package_name="org.example.pocket"))))
ask("press_button(HOME)", Request(press_button=Request.PressButton(button=Request.PressButton.Button.HOME)))
ask("force_stop", Request(force_stop=Request.ForceStop(package_name="org.example.pocket")))
