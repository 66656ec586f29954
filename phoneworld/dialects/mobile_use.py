"""The tool call `mobile_use` of Qwen2.5-VL and Qwen3-VL, and GUI-Owl, which says a sentence before it.

    Action: Open the menu.
    <tool_call>
    {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 500]}}
    </tool_call>
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from phoneworld.dialects.coordinates import QWEN25_RESIZED, THOUSAND
from phoneworld.dialects.dialect import At, Dialect, Said, Screen, milliseconds, text_of
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    Drag,
    Finish,
    Key,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip

_BUTTONS: dict[str, Key] = {"back": "back", "home": "home", "menu": "recents", "enter": "enter"}
_KEYS: dict[str, Key] = {
    "volume_up": "volume_up", "volume_down": "volume_down", "power": "power", "back": "back", "home": "home", "enter": "enter",
    "menu": "menu", "recents": "recents", "backspace": "backspace", "delete": "delete", "tab": "tab", "search": "search",
    "up": "up", "down": "down", "left": "left", "right": "right", "space": "space", "escape": "escape",
    "move_home": "move_home", "move_end": "move_end", "wake": "wake", "sleep": "sleep",
}  # fmt: skip
_BUTTON_NAMES = {"back": "Back", "home": "Home", "recents": "Menu", "enter": "Enter"}
_THOUGHT = re.compile(r"(?m)^[ \t]{0,9}(?:Thought|Action):[ \t]{0,9}")
_JSON = json.JSONDecoder()


@dataclass(frozen=True)
class MobileUse(Dialect):
    """`sentence` is the word before the thought: "Action: " with GUI-Owl, empty with Qwen, whose thought stands in tags."""

    sentence: str = ""

    def _read(self, text: str, screen: Screen) -> Said:
        opened = text.find("<tool_call>")
        brace = text.find("{", max(opened, 0))
        if brace < 0:
            raise ActionError("there is no tool call in the text")
        try:
            call, _ = _JSON.raw_decode(text, brace)
        except ValueError as e:
            raise ActionError(f"the tool call is not JSON: {e}") from None
        arguments = call.get("arguments", call) if isinstance(call, dict) else None
        if not isinstance(arguments, dict):
            raise ActionError(f"a tool call has arguments, found {str(call)[:60]!r}")
        if call.get("name", "mobile_use") != "mobile_use":
            raise ActionError(f"no tool {str(call.get('name'))[:40]!r}", hint="the tool is mobile_use")
        before = text[: opened if opened >= 0 else brace]
        thought = _THOUGHT.sub("", before.replace("<thinking>", "").replace("</thinking>", "")).strip()
        return Said((self._action(arguments, screen),), thought)

    def _action(self, given: dict[str, Any], screen: Screen) -> Action:
        kind = given.get("action")
        match kind:
            case "click" | "left_click" | "tap":
                point = self._point(given.get("coordinate"), screen)
                return Tap(point.x, point.y)
            case "long_press":
                point = self._point(given.get("coordinate"), screen)
                return LongPress(point.x, point.y, milliseconds(given.get("time"), 0.8))
            case "swipe" | "drag":
                start = self._point(given.get("coordinate", given.get("start_coordinate")), screen)
                end = self._point(given.get("coordinate2", given.get("end_coordinate")), screen)
                return (Swipe if kind == "swipe" else Drag)(start.x, start.y, end.x, end.y)
            case "type":
                return TypeText(text_of(given.get("text"), "text"))
            case "answer":
                return Answer(text_of(given.get("text"), "text"))
            case "interact" | "ask_user":
                return Ask(text_of(given.get("text"), "text"))
            case "open":
                return OpenApp(screen.package(text_of(given.get("text"), "text")))
            case "wait":
                return Wait(milliseconds(given.get("time"), 1.0))
            case "system_button":
                return PressKey(_named(_BUTTONS, given.get("button"), "button"))
            case "key":
                return Clear() if given.get("text") == "clear" else PressKey(_named(_KEYS, given.get("text"), "key"))
            case "terminate":
                return Finish("success" if _lower(given.get("status")) == "success" else "failure")
        raise ActionError(f"mobile_use has no action {str(kind)[:40]!r}")

    def _say(self, action: Action, screen: Screen, at: At) -> str:
        match action:
            case Tap(x, y):
                return _call(action="click", coordinate=at(x, y))
            case LongPress(x, y, duration_ms):
                return _call(action="long_press", coordinate=at(x, y), time=_seconds(duration_ms))
            case Swipe(x, y, x2, y2):
                return _call(action="swipe", coordinate=at(x, y), coordinate2=at(x2, y2))
            case Drag(x, y, x2, y2) if not self.sentence:
                return _call(action="drag", coordinate=at(x, y), coordinate2=at(x2, y2))
            case TypeText(text, None, None, "append"):
                return _call(action="type", text=text)
            case Clear(None, None):
                return _call(action="key", text="clear")
            case PressKey(key) if key in _BUTTON_NAMES:
                return _call(action="system_button", button=_BUTTON_NAMES[key])
            case PressKey(key):
                return _call(action="key", text=key)
            case OpenApp(package, "", ""):
                return _call(action="open", text=screen.label(package))
            case Wait(duration_ms):
                return _call(action="wait", time=_seconds(duration_ms))
            case Answer(text):
                return _call(action="answer", text=text)
            case Ask(text):
                return _call(action="interact", text=text)
            case Finish(status):
                return _call(action="terminate", status="success" if status == "success" else "failure")
        raise self._no_word(action)

    def _tap_words(self, x: int, y: int) -> str:
        return _call(action="click", coordinate=(x, y)).replace("\n", "")

    def _with_thought(self, words: str, thought: str) -> str:
        return f"{self.sentence}{thought}\n{words}" if thought else words


def _call(**arguments: Any) -> str:
    body = json.dumps({"name": "mobile_use", "arguments": arguments}, ensure_ascii=False)
    # Text that holds a tag would end the call early for readers that look for the tags; JSON may write it with an escape.
    return f"<tool_call>\n{body.replace('<', chr(92) + 'u003c')}\n</tool_call>"


def _seconds(duration_ms: int) -> float:
    return duration_ms // 1000 if duration_ms % 1000 == 0 else duration_ms / 1000


def _lower(given: object) -> str:
    return given.strip().lower() if isinstance(given, str) else ""


def _named(names: dict[str, Key], given: object, what: str) -> Key:
    name = _lower(given)
    if name not in names:
        raise ActionError(f"no {what} {str(given)[:40]!r}", hint="one of " + ", ".join(names))
    return names[name]


QWEN25 = MobileUse("qwen2.5", QWEN25_RESIZED)
QWEN3 = MobileUse("qwen3", THOUSAND)
GUI_OWL = MobileUse("gui-owl", QWEN25_RESIZED, "Action: ")
GUI_OWL15 = MobileUse("gui-owl-1.5", THOUSAND, "Action: ")
