"""AndroidWorld's JSON actions: `{"action_type": "click", "x": 540, "y": 1200}`, in pixels, the fields of its `JSONAction`.

`scroll` names what is to be seen, `swipe` where the finger goes; neither has a place. `input_text` touches the place it names,
empties the field where `clear_text` says so, types, and presses Enter, as AndroidWorld's own controller does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from phoneworld.dialects.coordinates import PIXELS
from phoneworld.dialects.dialect import (
    At,
    Dialect,
    Said,
    Screen,
    finger_of,
    finger_towards,
    scroll_towards,
    scrolled_by,
    split_at_action,
    text_of,
)
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Clear,
    DoubleTap,
    Finish,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip

_FIELDS = ("action_type", "index", "x", "y", "text", "direction", "goal_status", "app_name", "keycode", "clear_text")
_JSON = json.JSONDecoder()


@dataclass(frozen=True)
class AndroidWorld(Dialect):
    """The actions of AndroidWorld's agents and of its server; without `enters`, those of the dataset AndroidControl.

    There `input_text` types and does no more, and what a finger does is said as `scroll`.
    """

    enters: bool = True

    def _read(self, text: str, screen: Screen) -> Said:
        head, body = split_at_action(text)
        brace = body.find("{")
        if brace < 0:
            raise ActionError("there is no JSON object in the text")
        try:
            given, _ = _JSON.raw_decode(body, brace)
        except ValueError as e:
            raise ActionError(f"the action is not JSON: {e}") from None
        thought = head.strip().removeprefix("Reason:").strip()
        return Said(self.actions(given, screen), thought)

    def actions(self, given: dict[str, Any], screen: Screen) -> tuple[Action, ...]:
        """What one JSON action means, as its server is sent it. Raises ActionError."""
        if surplus := sorted(str(name) for name in given if name not in _FIELDS):
            raise ActionError(f"an action has no field {', '.join(surplus)[:80]}", hint="its fields are " + ", ".join(_FIELDS))
        if given.get("index") is not None:
            raise ActionError("elements by index are not known here", hint="give x and y in pixels")
        placed = given.get("x") is not None and given.get("y") is not None
        kind = given.get("action_type")
        match kind:
            case "click" | "double_tap" | "long_press":
                point = self._point([given.get("x"), given.get("y")], screen)
                touch = Tap if kind == "click" else DoubleTap if kind == "double_tap" else LongPress
                return (touch(point.x, point.y),)
            case "input_text":
                text = text_of(given.get("text"), "text")
                first: tuple[Action, ...] = ()
                if placed:
                    point = self._point([given["x"], given["y"]], screen)
                    first = (Tap(point.x, point.y),)
                if given.get("clear_text") is True:
                    first = (*first, Clear())
                return (*first, TypeText(text), *((PressKey("enter"),) if self.enters else ()))
            case "scroll" | "swipe":
                start = self._point([given["x"], given["y"]], screen) if placed else screen.size.bounds.center
                way = text_of(given.get("direction"), "direction")
                return ((scroll_towards if kind == "scroll" else finger_towards)(way, start, screen.size),)
            case "navigate_back":
                return (PressKey("back"),)
            case "navigate_home":
                return (PressKey("home"),)
            case "keyboard_enter":
                return (PressKey("enter"),)
            case "open_app":
                return (OpenApp(screen.package(text_of(given.get("app_name"), "app_name"))),)
            case "wait" | "unknown":
                return (Wait(1000 if kind == "wait" else 0),)
            case "answer":
                return (Answer(text_of(given.get("text"), "text")),)
            case "status":
                return (Finish("success" if given.get("goal_status") in ("complete", "task_complete") else "infeasible"),)
        raise ActionError(f"no action_type {str(kind)[:40]!r}")

    def _say(self, action: Action, screen: Screen, at: At) -> str:
        match action:
            case Tap(x, y) | DoubleTap(x, y) | LongPress(x, y):
                kind = "click" if isinstance(action, Tap) else "double_tap" if isinstance(action, DoubleTap) else "long_press"
                x, y = at(x, y)
                return _json(action_type=kind, x=x, y=y)
            case Swipe() if self.enters:
                return _json(action_type="swipe", direction=finger_of(action))
            case Swipe():
                return _json(action_type="scroll", direction=scrolled_by(action))
            case TypeText(text, None, None, "append") if not self.enters:
                return _json(action_type="input_text", text=text)
            case PressKey("back"):
                return _json(action_type="navigate_back")
            case PressKey("home"):
                return _json(action_type="navigate_home")
            case PressKey("enter"):
                return _json(action_type="keyboard_enter")
            case OpenApp(package, "", ""):
                return _json(action_type="open_app", app_name=screen.label(package))
            case Wait():
                return _json(action_type="wait")
            case Answer(text):
                return _json(action_type="answer", text=text)
            case Finish(status):
                return _json(action_type="status", goal_status="complete" if status == "success" else "infeasible")
        raise self._no_word(action)

    def _tap_words(self, x: int, y: int) -> str:
        return _json(action_type="click", x=x, y=y)

    def _with_thought(self, words: str, thought: str) -> str:
        return f"Reason: {thought}\nAction: {words}" if thought else f"Action: {words}"


def _json(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


ANDROID_WORLD = AndroidWorld("android-world", PIXELS)
ANDROID_CONTROL = AndroidWorld("android-control", PIXELS, enters=False)
