"""`input`: touches, keys and text. Each returns when its effect can be seen; it prints nothing.

What a phone would ignore (a touch outside the screen, text where nothing has the focus) is ignored, with status 0, and kept in
the list of `cmd phoneworld refused`.
"""

from __future__ import annotations

import asyncio
import re

from phoneworld.adbd.commands.registry import cmd, command
from phoneworld.adbd.phone import Finger, PhoneSide, screen_size
from phoneworld.adbd.shell import Call
from phoneworld.device.device import Device
from phoneworld.errors import ActionError
from phoneworld.ui.action import Action, Clear, Drag, LongPress, PressKey, Swipe, Tap, TypeText, action_to_json
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.keys import code_named, key_of_code

LONG_PRESS_MS = 500
"""Android's ViewConfiguration.getLongPressTimeout since API 29."""
TOUCH_SLOP_DP = 8
_DEFAULT_SWIPE_MS = 300
_SOURCES = {
    "keyboard",
    "mouse",
    "joystick",
    "touchnavigation",
    "touchpad",
    "trackball",
    "dpad",
    "stylus",
    "gamepad",
    "touchscreen",
    "rotaryencoder",
}
_CTRL, _SHIFT = (113, 114), {59, 60}
_KEY_A, _KEY_C, _KEY_V, _KEY_X, _DEL, _FORWARD_DEL = 29, 31, 50, 52, 67, 112
_USAGE = "Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]\n  tap swipe draganddrop motionevent text keyevent keycombination"


class _BadArguments(Exception):
    """The words after the verb are not what it takes."""


class _NoKeyFor(Exception):
    """A text that holds a character which no key of the virtual keyboard makes."""


def gesture(info_density: int, start: Point, end: Point, duration_ms: int, *, held_ms: int = 0) -> Action:
    """What one finger did: a tap, a long press, a swipe, or a drag where it was held before it moved."""
    slop = TOUCH_SLOP_DP * info_density // 160
    if abs(start.x - end.x) <= slop and abs(start.y - end.y) <= slop:
        if duration_ms >= LONG_PRESS_MS:
            return LongPress(start.x, start.y, duration_ms)
        return Tap(start.x, start.y)
    if held_ms >= LONG_PRESS_MS:
        return Drag(start.x, start.y, end.x, end.y, duration_ms)
    return Swipe(start.x, start.y, end.x, end.y, duration_ms)


async def perform(phone: PhoneSide, action: Action) -> None:
    """Does an action as a phone does: one that cannot have an effect has none, and is kept in the list of refusals."""

    def ask(device: Device) -> None:
        done = _kept_on_screen(phone, device, action)
        watches = tuple(phone.watches)
        for watch in watches:
            watch.look(device)
        device.perform(done)
        for watch in watches:
            watch.look(device, done)

    try:
        await phone.owner.call(ask)
    except ActionError as e:
        phone.refuse(f"{action_to_json(action)}: {e.message}")


def _kept_on_screen(phone: PhoneSide, device: Device, action: Action) -> Action:
    """A finger may leave the screen: the end of a swipe is cut to the edge. It cannot come down outside."""
    if not isinstance(action, Swipe | Drag):
        return action
    end = Point(action.x2, action.y2)
    if phone.info.size.contains(end):
        return action
    size: Size = screen_size(phone.info, device.state())
    kind = type(action)
    return kind(
        action.x, action.y, min(max(end.x, 0), size.width - 1), min(max(end.y, 0), size.height - 1), action.duration_ms
    )


async def type_text(phone: PhoneSide, text: str) -> None:
    """Text into what has the focus; a newline is the Enter key and a tab the Tab key, as key events are."""
    replace_all = phone.memory.all_selected
    phone.select_all(False)
    for piece in re.split(r"([\n\t])", text):
        if piece in ("\n", "\t"):
            await perform(phone, PressKey("enter" if piece == "\n" else "tab"))
        elif piece:
            await perform(phone, TypeText(piece, mode="replace" if replace_all else "append"))
            replace_all = False


async def press(phone: PhoneSide, code: int) -> None:
    """One key down and up."""
    if phone.memory.all_selected:
        phone.select_all(False)
        if code in (_DEL, _FORWARD_DEL):
            await perform(phone, Clear())
            return
    key = key_of_code(code)
    if key is None:
        phone.refuse(f"key code {code}")
    elif len(key) == 1:
        await type_text(phone, key)
    else:
        await perform(phone, PressKey(key))  # type: ignore[arg-type]


def _numbers(words: list[str], least: int, most: int) -> list[int]:
    if not least <= len(words) <= most:
        raise _BadArguments
    try:
        return [int(float(word)) for word in words]
    except (ValueError, OverflowError):
        raise _BadArguments from None


def _codes(words: list[str]) -> list[int]:
    codes = [code_named(word) for word in words]
    if not codes or None in codes:
        raise _BadArguments
    return [code for code in codes if code is not None]


@command("input")
@cmd("input")
async def input_(call: Call) -> int:
    args = list(call.args)
    if args and args[0] in _SOURCES:
        args.pop(0)
    if args[:1] == ["-d"]:
        del args[:2]
    if not args:
        return await call.fail(_USAGE, 255)
    verb, words = args[0], args[1:]
    try:
        done = await _do(call, verb, words)
    except _NoKeyFor as e:
        call.phone.refuse(f"input text {e}")
        return await call.fail(
            "\nException occurred while executing 'text':\njava.lang.NullPointerException: Attempt to get length of null array\n"
            "input text takes ASCII only: use ADBKeyBoard for the rest",
            255,
        )
    except _BadArguments:
        return await call.fail(f"Error: Invalid arguments for command: {verb}\n{_USAGE}", 255)
    if not done:
        call.phone.refuse("input " + " ".join(args))
        return await call.fail(f"Error: Unknown command: {verb}\n{_USAGE}", 255)
    return 0


async def _do(call: Call, verb: str, words: list[str]) -> bool:
    phone = call.phone
    if verb not in ("text", "keyevent", "keycombination"):
        phone.select_all(False)
    match verb:
        case "tap":
            x, y = _numbers(words, 2, 2)
            await perform(phone, Tap(x, y))
        case "swipe":
            x, y, x2, y2, ms = [*_numbers(words, 4, 5), _DEFAULT_SWIPE_MS][:5]
            await perform(phone, gesture(phone.info.density, Point(x, y), Point(x2, y2), max(0, ms)))
        case "draganddrop":
            x, y, x2, y2, ms = [*_numbers(words, 4, 5), LONG_PRESS_MS + _DEFAULT_SWIPE_MS][:5]
            await perform(phone, Drag(x, y, x2, y2, max(0, ms)))
        case "text":
            if not words:
                raise _BadArguments
            if not words[0].isascii():
                raise _NoKeyFor(words[0])
            await type_text(phone, words[0].replace("%s", " "))
        case "keyevent":
            for timed in ("--delay", "--duration"):
                if timed in words:
                    at = words.index(timed)
                    words = words[:at] + words[at + 2 :]
            options = {word for word in words if word.startswith("--")}
            if unknown := options - {"--longpress", "--doubletap", "--async"}:
                phone.refuse(f"input keyevent {' '.join(sorted(unknown))}")
            for code in _codes([word for word in words if word not in options]):
                await press(phone, code)
                if "--doubletap" in options:
                    await press(phone, code)
        case "keycombination":
            if words[:1] == ["-t"]:
                words = words[2:]
            codes = _codes(words)
            if len(codes) < 2:
                raise _BadArguments
            await _combination(phone, codes)
        case "motionevent":
            await _motion(phone, words)
        case _:
            return False
    return True


async def _combination(phone: PhoneSide, codes: list[int]) -> None:
    """Ctrl+A, C, X, V in a field; Shift with a letter. Others do nothing here, as where an app has no shortcut for them."""
    held, last = set(codes[:-1]), codes[-1]
    key = key_of_code(last)
    if held <= set(_CTRL) and last == _KEY_A:
        phone.select_all(True)
    elif held <= set(_CTRL) and last in (_KEY_C, _KEY_X):
        if phone.memory.all_selected:
            tree = await phone.owner.call(lambda device: device.hierarchy())
            focused = next((node for node in tree.nodes() if node.focused and node.is_editable), None)
            if focused is not None:
                phone.set_clipboard(focused.value)
            if last == _KEY_X:
                await press(phone, _DEL)
    elif held <= set(_CTRL) and last == _KEY_V:
        await type_text(phone, phone.memory.clipboard)
    elif held <= _SHIFT and key is not None and len(key) == 1 and key.isalpha():
        await type_text(phone, key.upper())
    else:
        phone.refuse(f"input keycombination {' '.join(map(str, codes))}")


async def _motion(phone: PhoneSide, words: list[str]) -> None:
    """DOWN, any number of MOVE, UP, or CANCEL, and where."""
    verb = words[0].upper() if words else ""
    if verb == "CANCEL":
        phone.finger = None
        return
    x, y = _numbers(words[1:], 2, 2)
    if verb not in ("DOWN", "MOVE", "UP"):
        raise _BadArguments
    await motion(phone, verb, Point(x, y))


async def motion(phone: PhoneSide, verb: str, at: Point) -> None:
    """One event of a finger: DOWN, MOVE or UP. The gesture is done when the finger is lifted."""
    now_s = asyncio.get_running_loop().time()
    if verb == "DOWN":
        phone.finger = Finger(at, at, now_s)
        return
    finger = phone.finger
    if finger is None:
        phone.refuse(f"input motionevent {verb} without DOWN")
        return
    if at != finger.last and finger.moved_after_s is None:
        finger.moved_after_s = now_s - finger.since_s
    finger.last = at
    if verb == "UP":
        phone.finger = None
        held_ms = int((finger.moved_after_s or 0) * 1000)
        lasted_ms = int((now_s - finger.since_s) * 1000)
        await perform(phone, gesture(phone.info.density, finger.start, at, lasted_ms, held_ms=held_ms))
