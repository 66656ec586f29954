"""OS-Atlas-Pro's lines: `CLICK <point>[[500, 500]]</point>`, `TYPE [text]`, `SCROLL [DOWN]`, `COMPLETE`.

    Thoughts:
    The button is in the middle.
    Actions:
    CLICK <point>[[500, 500]]</point>

`SCROLL` names what is to be seen, as in AndroidControl, on which it was trained; it has no place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from phoneworld.dialects.calls import read_numbers
from phoneworld.dialects.coordinates import THOUSAND
from phoneworld.dialects.dialect import At, Dialect, Said, Screen, scroll_towards, scrolled_by
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Clear,
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

_KEYS: dict[str, Key] = {"PRESS_BACK": "back", "PRESS_HOME": "home", "PRESS_RECENT": "recents", "ENTER": "enter"}
_WORDS = {key: word for word, key in _KEYS.items()}
# Every repetition is bounded: what a policy says may be anything, and must be read in linear time.
_ACTIONS = re.compile(r"(?mi)^[ \t]{0,9}actions?:[ \t]{0,9}")
_THOUGHTS = re.compile(r"(?i)^thoughts?:")
_LINE = re.compile(r"\s{0,99}([A-Z_]{3,20})\b[ \t]{0,9}")
_POINT = re.compile(r"\[\[([-+\d.,\s]{1,80})\]\]|\(([-+\d.,\s]{1,80})\)")


@dataclass(frozen=True)
class OsAtlas(Dialect):
    """The words of OS-Atlas-Pro."""

    def _read(self, text: str, screen: Screen) -> Said:
        head, body = "", text
        for mark in _ACTIONS.finditer(text):
            head, body = text[: mark.start()], text[mark.end() :]
            if _LINE.match(body) is not None:
                break
        thought = _THOUGHTS.sub("", head.strip(), count=1).strip()
        line = _LINE.match(body)
        if line is None:
            raise ActionError(f"an action is a word in capitals, found {body.strip()[:60]!r}")
        return Said((self._action(line[1], body[line.end() :], screen),), thought)

    def _action(self, word: str, rest: str, screen: Screen) -> Action:
        match word:
            case "CLICK":
                point = self._place_in(rest, screen)
                return Tap(point.x, point.y)
            case "LONG_PRESS":
                point = self._place_in(rest, screen)
                return LongPress(point.x, point.y)
            case "TYPE":
                return TypeText(_bracketed(rest))
            case "SCROLL":
                return scroll_towards(_bracketed(rest), screen.size.bounds.center, screen.size)
            case "OPEN_APP":
                return OpenApp(screen.package(_bracketed(rest)))
            case "CLEAR":
                return Clear()
            case "WAIT":
                return Wait()
            case "COMPLETE":
                return Finish()
            case "IMPOSSIBLE":
                return Finish("infeasible")
        if word not in _KEYS:
            raise ActionError(f"{self.name} has no action {word!r}")
        return PressKey(_KEYS[word])

    def _place_in(self, rest: str, screen: Screen) -> Point:
        found = _POINT.search(rest[:400])
        if found is None:
            raise ActionError(f"there is no place in {rest[:60]!r}")
        return self._point(read_numbers(found[1] or found[2]), screen)

    def _say(self, action: Action, screen: Screen, at: At) -> str:
        match action:
            case Tap(x, y):
                return f"CLICK {_point(at(x, y))}"
            case LongPress(x, y):
                return f"LONG_PRESS {_point(at(x, y))}"
            case TypeText(text, None, None, "append"):
                return f"TYPE [{text}]"
            case Swipe():
                return f"SCROLL [{scrolled_by(action).upper()}]"
            case OpenApp(package, "", ""):
                return f"OPEN_APP [{screen.label(package)}]"
            case PressKey(key) if key in _WORDS:
                return _WORDS[key]
            case Wait():
                return "WAIT"
            case Finish(status):
                return "COMPLETE" if status == "success" else "IMPOSSIBLE"
        raise self._no_word(action)

    def _tap_words(self, x: int, y: int) -> str:
        return f"CLICK {_point((x, y))}"

    def _with_thought(self, words: str, thought: str) -> str:
        return f"Thoughts:\n{thought}\nActions:\n{words}" if thought else f"Actions:\n{words}"


def _point(at: tuple[int, int]) -> str:
    return f"<point>[[{at[0]}, {at[1]}]]</point>"


def _bracketed(rest: str) -> str:
    """What stands between the first bracket and the last."""
    start, end = rest.find("["), rest.rfind("]")
    if start != 0 or end < start:
        raise ActionError(f"text stands in brackets, found {rest[:60]!r}")
    return rest[start + 1 : end]


OS_ATLAS = OsAtlas("os-atlas", THOUSAND)
