"""`getevent`: the touch screen as the kernel tells of it."""

from __future__ import annotations

from phoneworld.adbd import fingers
from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.fingers import FingerEvents, KernelEvent
from phoneworld.adbd.shell import Call
from phoneworld.ui.geometry import Size

_TYPE_LABELS = {fingers.EV_KEY: "KEY", fingers.EV_ABS: "ABS"}
_OTHER_DEVICES = (("/dev/input/event1", "phoneworld_keys", (0x72, 0x73, 0x74)), ("/dev/input/event0", "gpio-keys", ()))
_KEY_LABELS = {0x72: "KEY_VOLUMEDOWN", 0x73: "KEY_VOLUMEUP", 0x74: "KEY_POWER"}


@command("getevent")
async def getevent(call: Call) -> int:
    """`getevent [-t] [-n] [-s SWITCH] [-S] [-v MASK] [-d] [-p] [-i] [-l] [-q] [-c COUNT] [-r] [DEVICE]`"""
    flags, count, device = "", 0, ""
    words = list(call.args)
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            flags += word[1:]
            if word[1:] in ("c", "s", "v"):
                value = words.pop(0) if words else ""
                if word == "-c":
                    if not value.isdigit():
                        return await call.fail("getevent: -c takes a number")
                    count = int(value)
        else:
            device = word
    known = [fingers.DEVICE, *(path for path, _, _ in _OTHER_DEVICES)]
    if device and device not in known:
        return await call.fail(f"could not open {device}, No such file or directory")
    labels = "l" in flags
    if "p" in flags or "i" in flags:
        await call.out(_devices(call.phone.fingers, labels=labels, only=device))
        return 0
    if not device:
        await call.out("".join(_added(number, path, name) for number, (path, name) in enumerate(_listed(), 1)))
    left = count
    with call.phone.fingers.read() as reading:
        while True:
            events = await reading.next()
            if device and device != fingers.DEVICE:
                continue
            if count:
                events = events[:left]
                left -= len(events)
            path = "" if device else f"{fingers.DEVICE}: "
            await call.out("".join(line(event, labels=labels, timed="t" in flags, path=path) for event in events))
            if count and left <= 0:
                return 0


def line(event: KernelEvent, *, labels: bool, timed: bool, path: str) -> str:
    """One event as getevent prints it: numbers in hexadecimal, or the names of the kernel's headers."""
    stamp = f"[{event.time_s:15.6f}] " if timed else ""
    if not labels:
        return f"{stamp}{path}{event.type:04x} {event.code:04x} {event.value:08x}\n"
    kind = fingers.TYPES.get(event.type, f"{event.type:04x}")
    code = fingers.CODES.get((event.type, event.code), f"{event.code:04x}")
    value = f"{event.value:08x}"
    if event.type == fingers.EV_KEY:
        value = {0: "UP", 1: "DOWN"}.get(event.value, value)
    return f"{stamp}{path}{kind:<12} {code:<20} {value:<20}\n"


def _listed() -> list[tuple[str, str]]:
    return [*((path, name) for path, name, _ in _OTHER_DEVICES), (fingers.DEVICE, fingers.NAME)]


def _added(number: int, path: str, name: str) -> str:
    return f'add device {number}: {path}\n  name:     "{name}"\n'


def _devices(source: FingerEvents, *, labels: bool, only: str) -> str:
    out = ""
    for number, (path, name) in enumerate(_listed(), 1):
        if only and only != path:
            continue
        out += _added(number, path, name) + "  events:\n"
        if path == fingers.DEVICE:
            out += _touch_screen(source.panel, labels=labels)
            out += "  input props:\n    " + ("INPUT_PROP_DIRECT" if labels else "0001") + "\n"
            continue
        keys = next(keys for at, _, keys in _OTHER_DEVICES if at == path)
        shown = [_KEY_LABELS[key] if labels else f"{key:04x}" for key in keys]
        if shown:
            out += "    KEY (0001): " + " ".join(f"{one:<21}" if labels else f"{one} " for one in shown).rstrip() + "\n"
        out += "  input props:\n    <none>\n"
    return out


def _touch_screen(panel: Size, *, labels: bool) -> str:
    axes = (
        (fingers.SLOT, fingers.SLOTS - 1), (fingers.TOUCH_MAJOR, 255), (fingers.POSITION_X, panel.width - 1),
        (fingers.POSITION_Y, panel.height - 1), (fingers.TRACKING_ID, 65535), (fingers.PRESSURE, 255),
    )  # fmt: skip
    button = fingers.CODES[fingers.EV_KEY, fingers.BTN_TOUCH] if labels else f"{fingers.BTN_TOUCH:04x}"
    out = f"    KEY (0001): {button}\n"
    for i, (code, most) in enumerate(axes):
        name = f"{fingers.CODES[fingers.EV_ABS, code]:<21}" if labels else f"{code:04x} "
        head = "    ABS (0003): " if i == 0 else " " * 16
        out += f"{head}{name} : value 0, min 0, max {most}, fuzz 0, flat 0, resolution 0\n"
    return out
