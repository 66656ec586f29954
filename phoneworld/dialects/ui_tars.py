"""UI-TARS and Doubao's UI-TARS: a thought, and calls.

    Thought: The button is in the middle.
    Action: click(start_box='<|box_start|>(500,500)<|box_end|>')     UI-TARS
    Action: click(point='<point>500 500</point>')                    Doubao

`scroll` names what is to be seen, not where the finger goes. Text that ends with a line break is submitted: typed, then Enter.
"""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.dialects.calls import Call, Value, quoted, read_call, read_numbers
from phoneworld.dialects.coordinates import THOUSAND, UI_TARS_RESIZED
from phoneworld.dialects.dialect import (
    At,
    Dialect,
    Said,
    Screen,
    milliseconds,
    scroll_towards,
    scrolled_by,
    split_at_action,
    text_of,
)
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    DoubleTap,
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
from phoneworld.ui.geometry import Point

_INFEASIBLE = "infeasible"
_KEYS: dict[str, Key] = {"enter": "enter", "back": "back", "home": "home"}
_MOST_ACTIONS = 16


@dataclass(frozen=True)
class UiTars(Dialect):
    """`boxes`: places are written as boxes of special tokens, else as `<point>`."""

    boxes: bool = True

    def _read(self, text: str, screen: Screen) -> Said:
        head, body = split_at_action(text)
        thought = head.strip().removeprefix("Thought:").strip()
        actions: list[Action] = []
        at = 0
        while body[at:].strip():
            if len(actions) >= _MOST_ACTIONS:
                raise ActionError(f"more than {_MOST_ACTIONS} actions in one text")
            call = read_call(body, at)
            actions += self._actions(call, screen)
            at = call.end
        if not actions:
            raise ActionError("there is no action in the text")
        return Said(tuple(actions), thought)

    def _actions(self, call: Call, screen: Screen) -> list[Action]:
        given = call.arguments
        match call.name:
            case "click" | "left_single" | "tap":
                point = self._where(given, screen)
                return [Tap(point.x, point.y)]
            case "left_double" | "double_click" | "double_tap":
                point = self._where(given, screen)
                return [DoubleTap(point.x, point.y)]
            case "long_press":
                point = self._where(given, screen)
                return [LongPress(point.x, point.y, milliseconds(given.get("time"), 0.8))]
            case "scroll" if "end_box" in given or "end_point" in given:
                start, end = self._where(given, screen), self._place_of(given.get("end_box", given.get("end_point")), screen)
                return [Swipe(start.x, start.y, end.x, end.y)]
            case "scroll":
                anywhere = not any(name in given for name in ("start_box", "point", "start_point"))
                start = screen.size.bounds.center if anywhere else self._where(given, screen)
                return [scroll_towards(text_of(given.get("direction"), "direction"), start, screen.size)]
            case "drag":
                start, end = self._where(given, screen), self._place_of(given.get("end_box", given.get("end_point")), screen)
                return [Drag(start.x, start.y, end.x, end.y)]
            case "type":
                content = text_of(given.get("content"), "content")
                typed = content[:-1] if content.endswith("\n") else content
                words: list[Action] = [TypeText(typed)] if typed else []
                return words + ([PressKey("enter")] if content.endswith("\n") or not typed else [])
            case "hotkey" | "press":
                key = text_of(given.get("key"), "key").strip().lower()
                if key not in _KEYS:
                    raise ActionError(f"no key {key[:40]!r} here", hint="one of " + ", ".join(_KEYS))
                return [PressKey(_KEYS[key])]
            case "open_app":
                return [OpenApp(screen.package(text_of(given.get("app_name"), "app_name")))]
            case "press_home":
                return [PressKey("home")]
            case "press_back":
                return [PressKey("back")]
            case "wait":
                return [Wait(milliseconds(given.get("time"), 5.0))]
            case "call_user":
                return [Ask(text_of(given.get("content", ""), "content"))]
            case "finished":
                content = text_of(given.get("content", ""), "content")
                return [Finish() if not content else Finish("infeasible") if content == _INFEASIBLE else Answer(content)]
        raise ActionError(f"{self.name} has no action {call.name[:40]!r}")

    def _where(self, given: dict[str, Value], screen: Screen) -> Point:
        return self._place_of(next((given[n] for n in ("start_box", "point", "start_point") if n in given), None), screen)

    def _place_of(self, given: Value, screen: Screen) -> Point:
        return self._point(read_numbers(given[:200]) if isinstance(given, str) else given, screen)

    def _say(self, action: Action, screen: Screen, at: At) -> str:
        start, end = ("start_box", "end_box") if self.boxes else ("start_point", "end_point")
        where = "start_box" if self.boxes else "point"
        match action:
            case Tap(x, y):
                return f"click({where}={self._written(at(x, y))})"
            case LongPress(x, y):
                return f"long_press({where}={self._written(at(x, y))})"
            case DoubleTap(x, y):
                return f"left_double({where}={self._written(at(x, y))})"
            case Swipe(x, y, x2, y2) if self.boxes:
                return f"scroll({start}={self._written(at(x, y))}, {end}={self._written(at(x2, y2))})"
            case Swipe(x, y):
                return f"scroll({where}={self._written(at(x, y))}, direction='{scrolled_by(action)}')"
            case Drag(x, y, x2, y2):
                return f"drag({start}={self._written(at(x, y))}, {end}={self._written(at(x2, y2))})"
            case TypeText(text, None, None, "append") if text and not text.endswith("\n"):
                return f"type(content={quoted(text)})"
            case PressKey("back"):
                return "press_back()"
            case PressKey("home"):
                return "press_home()"
            case PressKey("enter"):
                return "type(content='\\n')"
            case OpenApp(package, "", ""):
                return f"open_app(app_name={quoted(screen.label(package))})"
            case Wait():
                return "wait()"
            case Ask(text):
                return f"call_user(content={quoted(text)})"
            case Answer(text) if text and text != _INFEASIBLE:
                return f"finished(content={quoted(text)})"
            case Finish("success"):
                return "finished(content='')"
            case Finish():
                return f"finished(content='{_INFEASIBLE}')"
        raise self._no_word(action)

    def _written(self, at: tuple[int, int]) -> str:
        if self.boxes:
            return f"'<|box_start|>({at[0]},{at[1]})<|box_end|>'"
        return f"'<point>{at[0]} {at[1]}</point>'"

    def _tap_words(self, x: int, y: int) -> str:
        return f"Action: click({'start_box' if self.boxes else 'point'}={self._written((x, y))})"

    def _with_thought(self, words: str, thought: str) -> str:
        return f"Thought: {thought}\nAction: {words}" if thought else f"Action: {words}"


UI_TARS = UiTars("ui-tars", THOUSAND)
UI_TARS15 = UiTars("ui-tars-1.5", UI_TARS_RESIZED)
DOUBAO = UiTars("doubao", THOUSAND, boxes=False)
