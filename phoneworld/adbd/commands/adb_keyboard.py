"""ADBKeyBoard: the input method that takes text from broadcasts, the way clients enter what is not ASCII.

As the real one it hears nothing unless it is the selected input method (`ime set com.android.adbkeyboard/.AdbIME`).
Messages: github.com/senzhk/ADBKeyBoard.
"""

from __future__ import annotations

import base64
import binascii

from phoneworld.adbd.commands.inputs import perform, press
from phoneworld.adbd.phone import ADB_KEYBOARD, UIA2_KEYBOARD, PhoneSide
from phoneworld.ui.action import Clear, PressKey, TypeText

ACTIONS = ("ADB_INPUT_TEXT", "ADB_INPUT_B64", "ADB_INPUT_CHARS", "ADB_INPUT_CODE", "ADB_EDITOR_CODE", "ADB_CLEAR_TEXT")
UIA2_ACTIONS = (
    "ADB_KEYBOARD_INPUT_TEXT",
    "ADB_KEYBOARD_SET_TEXT",
    "ADB_KEYBOARD_CLEAR_TEXT",
    "ADB_KEYBOARD_HIDE",
    "ADB_KEYBOARD_SMART_ENTER",
    "ADB_KEYBOARD_EDITOR_CODE",
    "ADB_KEYBOARD_GET_CLIPBOARD",
)
"""uiautomator2's keyboard, of com.github.uiautomator: its extra `text` is base64, and it answers with a result."""
_EDITOR_ACTIONS = {"2", "3", "4", "6"}  # go, search, send, done


async def hear(phone: PhoneSide, action: str, extras: dict[str, str]) -> None:
    """Does what a broadcast asks; a message without its extra is ignored."""
    if phone.input_method != ADB_KEYBOARD:
        phone.refuse(f"broadcast {action}: {phone.input_method} is selected, not {ADB_KEYBOARD}")
        return
    message = extras.get("msg", "")
    match action:
        case "ADB_INPUT_TEXT":
            await _commit(phone, message)
        case "ADB_INPUT_B64":
            try:
                await _commit(phone, base64.b64decode(message, validate=False).decode(errors="replace"))
            except binascii.Error:
                phone.refuse(f"broadcast {action}: not base64: {message[:80]}")
        case "ADB_INPUT_CHARS":
            numbers = [part for part in extras.get("chars", "").split(",") if part.isdigit()]
            await _commit(phone, "".join(chr(int(n)) for n in numbers if int(n) < 0x110000))
        case "ADB_INPUT_CODE":
            if (code := extras.get("code", "")).isdigit():
                await press(phone, int(code))
        case "ADB_EDITOR_CODE":
            if extras.get("code") in _EDITOR_ACTIONS:
                await perform(phone, PressKey("enter"))
        case "ADB_CLEAR_TEXT":
            await perform(phone, Clear())


async def hear_uia2(phone: PhoneSide, action: str, extras: dict[str, str]) -> tuple[int, str]:
    """Does what a broadcast to uiautomator2's keyboard asks; its result code (-1 is success) and data."""
    if phone.input_method != UIA2_KEYBOARD:
        phone.refuse(f"broadcast {action}: {phone.input_method} is selected, not {UIA2_KEYBOARD}")
        return 0, ""
    try:
        text = base64.b64decode(extras.get("text", ""), validate=False).decode(errors="replace")
    except binascii.Error:
        return 0, "not base64"
    match action:
        case "ADB_KEYBOARD_INPUT_TEXT":
            await _commit(phone, text)
        case "ADB_KEYBOARD_SET_TEXT":
            await perform(phone, TypeText(text, mode="replace") if text else Clear())
        case "ADB_KEYBOARD_CLEAR_TEXT":
            await perform(phone, Clear())
        case "ADB_KEYBOARD_HIDE":
            if await phone.owner.call(lambda device: device.state().keyboard):
                await perform(phone, PressKey("back"))  # hides the keyboard and nothing more, while it is shown
        case "ADB_KEYBOARD_SMART_ENTER":
            await perform(phone, PressKey("enter"))
        case "ADB_KEYBOARD_EDITOR_CODE":
            if extras.get("code") in _EDITOR_ACTIONS:
                await perform(phone, PressKey("enter"))
        case "ADB_KEYBOARD_GET_CLIPBOARD":
            return -1, base64.b64encode(phone.memory.clipboard.encode(errors="replace")).decode()
    return -1, "success"


async def _commit(phone: PhoneSide, text: str) -> None:
    """Commits text as an input method does: newlines belong to it and are no key."""
    if text:
        replace_all = phone.memory.all_selected
        phone.select_all(False)
        await perform(phone, TypeText(text, mode="replace" if replace_all else "append"))
