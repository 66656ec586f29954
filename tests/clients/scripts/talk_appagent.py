"""AppAgent's AndroidController, from a checkout. Only pyshine, which draws labels on pictures, is left out."""
# ruff: noqa: E402

import os
import sys
import tempfile
import types

sys.path.append(os.path.join(os.environ["REPOSITORY"], "scripts"))
sys.modules["pyshine"] = types.ModuleType("pyshine")
os.chdir(os.environ["REPOSITORY"])

from and_controller import AndroidController, list_all_devices, traverse_tree
from saying import call

x, y, name_x, name_y = (int(word) for word in sys.argv[1:])
phone = os.environ["PHONE"]
folder = tempfile.mkdtemp()
controller = AndroidController(phone)


def tree():
    elements = []
    traverse_tree(controller.get_xml("a", folder), elements, "clickable", True)
    return [[element.uid, element.bbox] for element in elements]


call("list_all_devices()", list_all_devices)
call("get_device_size()", lambda: list(controller.get_device_size()))
call("tap(x, y) on the launcher", lambda: controller.tap(120, 200))
call("get_screenshot(…)", lambda: os.path.getsize(controller.get_screenshot("a", folder)))
call("get_xml(…), traverse_tree(…)", tree)
call("tap(x, y)", lambda: controller.tap(x, y))
call("long_press(x, y)", lambda: controller.long_press(x, y))
call("text(words)", lambda: (controller.tap(name_x, name_y), controller.text("some words"))[1])
call("swipe(x, y, up)", lambda: controller.swipe(360, 1000, "up"))
call("swipe_precise(…)", lambda: controller.swipe_precise((300, 300), (100, 100)))
call("back() twice", lambda: (controller.back(), controller.back())[1])
