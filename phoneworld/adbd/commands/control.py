"""`cmd phoneworld`: what no real phone has. Puts a phone back, keeps and restores states, does whole actions of ours."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

from phoneworld.adbd.commands.registry import cmd
from phoneworld.adbd.phone import screen_size
from phoneworld.adbd.shell import Call
from phoneworld.device.device import Device, FreshableDevice, ResettableDevice
from phoneworld.errors import DeviceUnusable, PhoneWorldError, SessionError
from phoneworld.ui.action import (
    DoubleTap,
    Drag,
    LongPress,
    Pinch,
    Swipe,
    Tap,
    action_from_json,
    points_of,
)

_UNQUOTED = re.compile(r"[A-Za-z_]\w*")
USAGE = """cmd phoneworld: controls of a phone that runs here
  reset [--seed N]   back to the start; the same seed gives the same phone
  snapshot           keep the state now; prints its name
  restore NAME       back to a kept state
  state              what the phone says of itself, as JSON
  perform JSON       do one action, for example {"kind": "double_tap", "x": 1, "y": 2}
  finger JSON        the same by a finger on the glass: getevent tells of it too
                     from a computer it is quoted twice: adb shell "cmd phoneworld finger '{\\"kind\\": \\"tap\\", \\"x\\": 1, \\"y\\": 2}'"
  refused            commands that were not served, oldest first"""


def _freshable(device: Device) -> FreshableDevice:
    if not isinstance(device, FreshableDevice):
        raise DeviceUnusable(
            f"{device.serial} cannot be reset from here: it is neither simulated nor a web page, or it is being recorded",
            hint="while it is recorded, the phone behind it is asked itself; or start one with `phoneworld phone mock:BUNDLE` or web:URL",
        )
    return device


def _resettable(device: Device) -> ResettableDevice:
    if not isinstance(device, ResettableDevice):
        raise DeviceUnusable(
            f"the state of {device.serial} cannot be kept: it is not a simulated phone",
            hint="start one with `phoneworld phone mock:BUNDLE`; `cmd phoneworld reset` puts a web page back to its start",
        )
    return device


def _no_json(verb: str, text: str, fault: ValueError) -> str:
    """What is wrong with the text, and a whole line that works: the text itself where only its quotes are gone."""
    mended = _UNQUOTED.sub(r'"\g<0>"', text)
    try:
        action_from_json(json.loads(mended), size=None)
    except (ValueError, PhoneWorldError):
        mended = '{"kind": "tap", "x": 540, "y": 1200}'
    shown = mended.replace('"', '\\"')  # within double quotes of the host's shell
    why = "the phone's own shell takes one pair of quotes away, so quote twice" if '"' not in text else "quote it twice"
    return f"Error: {verb} takes one JSON object, not {text[:80]}: {fault}\n{why}:\n  adb shell \"cmd phoneworld {verb} '{shown}'\""


@cmd("phoneworld")
async def phoneworld(call: Call) -> int:
    phone = call.phone
    match call.args:
        case ["reset"]:
            await call.device(lambda device: _freshable(device).reset(None))
            phone.forget()
        case ["reset", "--seed", seed] if seed.lstrip("-").isdigit():
            await call.device(lambda device: _freshable(device).reset(int(seed)))
            phone.forget()
        case ["snapshot"]:
            name = await call.device(lambda device: _resettable(device).snapshot())
            phone.snapshots[name] = phone.memory
            await call.out(name + "\n")
        case ["restore", name]:
            if name not in phone.snapshots:
                raise SessionError(
                    f"no state is kept under the name {name!r}", hint="`cmd phoneworld snapshot` prints the name to use"
                )
            await call.device(lambda device: _resettable(device).restore(name))
            phone.memory, phone.finger = phone.snapshots[name], None
        case ["state"]:
            state, resettable = await call.device(lambda device: (device.state(), isinstance(device, FreshableDevice)))
            told = {
                "serial": phone.serial,
                **asdict(state),
                "input_method": phone.input_method,
                "resettable": resettable,
            }
            await call.out(json.dumps(told, ensure_ascii=False) + "\n")
        case ["perform", *words] if words:
            try:
                obj = json.loads(" ".join(words))
            except ValueError as e:
                return await call.fail(_no_json("perform", " ".join(words), e))
            action = action_from_json(obj, size=None)
            await call.device(lambda device: device.perform(action))
        case ["finger", *words] if words:
            try:
                obj = json.loads(" ".join(words))
            except ValueError as e:
                return await call.fail(_no_json("finger", " ".join(words), e))
            touch = action_from_json(obj, size=None)
            if not isinstance(touch, Tap | DoubleTap | LongPress | Swipe | Drag | Pinch):
                return await call.fail("Error: a finger taps, presses, swipes, drags or pinches")
            rotation, size = await call.device(lambda device: (device.state().rotation, screen_size(device.info, device.state())))
            if out := [p for p in points_of(touch) if not size.contains(p)]:
                return await call.fail(f"Error: {out[0].x},{out[0].y} is not on the glass, which is {size.width}x{size.height}")
            phone.fingers.touch(touch, rotation=rotation)
            await call.device(lambda device: device.perform(touch))
        case ["refused"]:
            await call.out("".join(f"{line}\n" for line in phone.refusals))
        case _:
            return await call.fail(USAGE)
    return 0
