"""The glass of a phone as an input device: what `getevent -lp` lists, the kernel's names and numbers, raw places to pixels. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from phoneworld.ui.action import Key
from phoneworld.ui.geometry import Size

_ADDED = re.compile(r"add device \d+: (?P<path>/dev/input/[\w.-]+)\s*$")
_NAME = re.compile(r'\s*name:\s*"(?P<name>.*)"\s*$')
_AXIS = re.compile(r"(?P<name>\w+)\s*: value (?P<value>-?\d+), min (?P<min>-?\d+), max (?P<max>-?\d+)")
TYPES = {"0000": "EV_SYN", "0001": "EV_KEY", "0003": "EV_ABS"}
CODES = {
    ("EV_SYN", "0000"): "SYN_REPORT", ("EV_SYN", "0002"): "SYN_MT_REPORT", ("EV_SYN", "0003"): "SYN_DROPPED",
    ("EV_ABS", "0000"): "ABS_X", ("EV_ABS", "0001"): "ABS_Y", ("EV_ABS", "002f"): "ABS_MT_SLOT",
    ("EV_ABS", "0035"): "ABS_MT_POSITION_X", ("EV_ABS", "0036"): "ABS_MT_POSITION_Y", ("EV_ABS", "0039"): "ABS_MT_TRACKING_ID",
    ("EV_KEY", "014a"): "BTN_TOUCH", ("EV_KEY", "0074"): "KEY_POWER", ("EV_KEY", "0072"): "KEY_VOLUMEDOWN",
    ("EV_KEY", "0073"): "KEY_VOLUMEUP", ("EV_KEY", "009e"): "KEY_BACK", ("EV_KEY", "00ac"): "KEY_HOMEPAGE",
    ("EV_KEY", "0066"): "KEY_HOME", ("EV_KEY", "001c"): "KEY_ENTER", ("EV_KEY", "000e"): "KEY_BACKSPACE", ("EV_KEY", "0244"): "KEY_APPSELECT", ("EV_KEY", "008b"): "KEY_MENU",
}  # fmt: skip
KEYS: dict[str, Key] = {
    "KEY_BACK": "back", "KEY_HOMEPAGE": "home", "KEY_HOME": "home", "KEY_APPSELECT": "recents", "KEY_MENU": "menu",
    "KEY_VOLUMEUP": "volume_up", "KEY_VOLUMEDOWN": "volume_down", "KEY_POWER": "power", "KEY_ENTER": "enter", "KEY_BACKSPACE": "backspace",
}  # fmt: skip
"""The kernel's names of keys that phones have, and what they mean."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of one axis, both ends included; `value` is where it stood when the phone was asked."""

    min: int
    max: int
    value: int | None = None


@dataclass(frozen=True, slots=True)
class InputDevice:
    """One device of `getevent -lp`. `direct` says that it lies on a screen; some touchscreens do not say so."""

    path: str
    name: str = ""
    x: Axis | None = None
    y: Axis | None = None
    multi: bool = False
    direct: bool = False


def parse_input_devices(text: str) -> tuple[InputDevice, ...]:
    """The devices that `getevent -lp` (or `-p`) lists, in its order."""
    found: list[InputDevice] = []
    path, name, direct = "", "", False
    axes: dict[str, Axis] = {}

    def close() -> None:
        if path:
            multi = "ABS_MT_POSITION_X" in axes
            x, y = (axes.get(f"ABS_MT_POSITION_{a}" if multi else f"ABS_{a}") for a in "XY")
            found.append(InputDevice(path, name, x, y, multi, direct))

    for line in text.splitlines():
        if added := _ADDED.match(line):
            close()
            path, name, direct, axes = added["path"], "", False, {}
        elif named := _NAME.match(line):
            name = named["name"]
        elif "INPUT_PROP_DIRECT" in line:
            direct = True
        elif axis := _AXIS.search(line):
            axes[CODES.get(("EV_ABS", axis["name"].lower()), axis["name"])] = Axis(int(axis["min"]), int(axis["max"]), int(axis["value"]))
    close()
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Panel:
    """Turns what the glass reports into pixels of the screen. `natural` is the screen's size when it is not turned."""

    natural: Size
    x: Axis
    y: Axis

    def pixel(self, raw_x: int, raw_y: int, rotation: int) -> tuple[int, int]:
        """The pixel under a finger while the screen is turned by `rotation` quarter turns; the glass never turns."""
        width, height = self.natural.width, self.natural.height
        x = min(width - 1, max(0, (raw_x - self.x.min) * width // (self.x.max - self.x.min + 1)))
        y = min(height - 1, max(0, (raw_y - self.y.min) * height // (self.y.max - self.y.min + 1)))
        match rotation % 4:
            case 1:
                return y, width - 1 - x
            case 2:
                return width - 1 - x, height - 1 - y
            case 3:
                return height - 1 - y, x
            case _:
                return x, y
