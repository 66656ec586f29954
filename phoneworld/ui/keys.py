"""Android's key codes and names, both ways. Knows no device.

A key is either one of ours (`Key`, always two letters or more) or one printable character. Numbers: `android.view.KeyEvent`.
"""

from __future__ import annotations

from phoneworld.ui.action import Key

KEY_CODES: dict[Key, int] = {
    "back": 4, "home": 3, "recents": 187, "enter": 66, "backspace": 67, "delete": 112, "tab": 61, "escape": 111,
    "search": 84, "menu": 82, "space": 62, "up": 19, "down": 20, "left": 21, "right": 22, "move_home": 122,
    "move_end": 123, "volume_up": 24, "volume_down": 25, "power": 26, "wake": 224, "sleep": 223,
}  # fmt: skip

_ANDROID_NAMES: dict[str, int] = {
    "BACK": 4, "HOME": 3, "APP_SWITCH": 187, "ENTER": 66, "DEL": 67, "FORWARD_DEL": 112, "TAB": 61, "ESCAPE": 111,
    "SEARCH": 84, "MENU": 82, "SPACE": 62, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22,
    "DPAD_CENTER": 23, "MOVE_HOME": 122, "MOVE_END": 123, "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "WAKEUP": 224,
    "SLEEP": 223, "NUMPAD_ENTER": 160, "COMMA": 55, "PERIOD": 56, "GRAVE": 68, "MINUS": 69, "EQUALS": 70,
    "LEFT_BRACKET": 71, "RIGHT_BRACKET": 72, "BACKSLASH": 73, "SEMICOLON": 74, "APOSTROPHE": 75, "SLASH": 76, "AT": 77,
    "PLUS": 81, "STAR": 17, "POUND": 18, "UNKNOWN": 0, "SOFT_LEFT": 1, "SOFT_RIGHT": 2, "CALL": 5, "ENDCALL": 6,
    "CAMERA": 27, "CLEAR": 28, "ALT_LEFT": 57, "ALT_RIGHT": 58, "SHIFT_LEFT": 59, "SHIFT_RIGHT": 60, "SYM": 63,
    "EXPLORER": 64, "ENVELOPE": 65, "NUM": 78, "HEADSETHOOK": 79, "FOCUS": 80, "NOTIFICATION": 83, "MEDIA_PLAY_PAUSE": 85,
    "MEDIA_STOP": 86, "MEDIA_NEXT": 87, "MEDIA_PREVIOUS": 88, "MUTE": 91, "PAGE_UP": 92, "PAGE_DOWN": 93, "CTRL_LEFT": 113,
    "CTRL_RIGHT": 114, "CAPS_LOCK": 115, "META_LEFT": 117, "META_RIGHT": 118, "INSERT": 124, "VOLUME_MUTE": 164,
    "SETTINGS": 176, "ASSIST": 219, "BRIGHTNESS_DOWN": 220, "BRIGHTNESS_UP": 221, "CUT": 277, "COPY": 278, "PASTE": 279,
    "SYSRQ": 120,
}  # fmt: skip
_ANDROID_NAMES |= {str(digit): 7 + digit for digit in range(10)}
_ANDROID_NAMES |= {f"NUMPAD_{digit}": 144 + digit for digit in range(10)}
_ANDROID_NAMES |= {chr(ord("A") + i): 29 + i for i in range(26)}

_CHARACTERS: dict[int, str] = {
    55: ",", 56: ".", 68: "`", 69: "-", 70: "=", 71: "[", 72: "]", 73: "\\", 74: ";", 75: "'", 76: "/", 77: "@", 81: "+",
    17: "*", 18: "#",
}  # fmt: skip
_CHARACTERS |= {7 + digit: str(digit) for digit in range(10)} | {144 + digit: str(digit) for digit in range(10)}
_CHARACTERS |= {29 + i: chr(ord("a") + i) for i in range(26)}

_MEANING: dict[int, Key] = {code: key for key, code in KEY_CODES.items()} | {23: "enter", 160: "enter"}
LAST_KEY_CODE = 326  # the highest code of API 36


def keycode(key: str) -> int:
    """Android's code of one of our keys or of one printable character. Raises KeyError where no key types it alone."""
    if key in KEY_CODES:
        return KEY_CODES[key]
    if key == " ":
        return KEY_CODES["space"]
    for code, character in _CHARACTERS.items():
        if character == key:
            return code
    raise KeyError(key)


def code_named(name: str) -> int | None:
    """The code that `input keyevent` would take this word for: `4`, `BACK` or `KEYCODE_BACK`; None where it is no key.

    A digit alone is a code, as on a phone: `KEYCODE_4` is the key of the digit.
    """
    if name.isascii() and name.isdigit():
        code = int(name)
        return code if code <= LAST_KEY_CODE else None
    return _ANDROID_NAMES.get(name.upper().removeprefix("KEYCODE_"))


def key_of_code(code: int) -> str | None:
    """Our key, or the character, that a code stands for; None for a key that does nothing here."""
    return _MEANING.get(code) or _CHARACTERS.get(code)


def key_named(name: str) -> str | None:
    """Our `Key`, or one character, for a word of `input keyevent`; None for an unknown word or a key without effect here."""
    code = code_named(name)
    return None if code is None else key_of_code(code)
