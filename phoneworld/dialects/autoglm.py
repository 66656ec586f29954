"""AutoGLM's calls: `do(action="Tap", element=[500,500])`, `finish(message="...")`, with the thought in tags before them.

    <think>The button is in the middle.</think><answer>do(action="Tap", element=[500,500])</answer>

Its own reader takes the text of `Type` and of `finish` as it stands between the quotes, without escapes; so do we. Its `Type`
empties the field first, which is TypeText's mode "replace"; into an empty field both modes are one.
"""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.dialects.calls import quoted, read_call
from phoneworld.dialects.coordinates import THOUSANDTH
from phoneworld.dialects.dialect import At, Dialect, Said, Screen, milliseconds, text_of
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
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


@dataclass(frozen=True)
class AutoGlm(Dialect):
    """The words of Open-AutoGLM."""

    def _read(self, text: str, screen: Screen) -> Said:
        thought, body = "", text
        if "<answer>" in text:
            thought, _, body = text.partition("<answer>")
            if (end := body.rfind("</answer>")) >= 0:
                body = body[:end]
        elif (at := max(text.rfind("\ndo("), text.rfind("\nfinish("))) >= 0:
            thought, body = text[:at], text[at:]
        thought = thought.replace("<think>", "").replace("</think>", "").strip()
        return Said((self._action(body.strip(), screen),), thought)

    def _action(self, body: str, screen: Screen) -> Action:
        if body.startswith("finish"):
            message = _raw(body, "message=") if "message=" in body else ""
            return Finish() if not message else Finish("infeasible") if message == "infeasible" else Answer(message)
        if body.startswith(('do(action="Type"', 'do(action="Type_Name"')):
            return TypeText(_raw(body, "text="), mode="replace")
        call = read_call(body)
        if call.name != "do":
            raise ActionError(f"an action is do(...) or finish(...), found {body[:60]!r}")
        given = call.arguments
        name = given.get("action")
        match name:
            case "Tap" | "Long Press" | "Double Tap":
                point = self._point(given.get("element"), screen)
                touch = Tap if name == "Tap" else DoubleTap if name == "Double Tap" else LongPress
                return touch(point.x, point.y)
            case "Swipe":
                start, end = self._point(given.get("start"), screen), self._point(given.get("end"), screen)
                return Swipe(start.x, start.y, end.x, end.y)
            case "Type" | "Type_Name":
                return TypeText(text_of(given.get("text"), "text"), mode="replace")
            case "Launch":
                return OpenApp(screen.package(text_of(given.get("app"), "app")))
            case "Back":
                return PressKey("back")
            case "Home":
                return PressKey("home")
            case "Wait" | "Note" | "Call_API":
                # Notes and summaries are for the agent itself: the phone only waits.
                return Wait(milliseconds(given.get("duration"), 1.0) if name == "Wait" else 0)
            case "Take_over" | "Interact":
                return Ask(text_of(given.get("message", ""), "message"))
        raise ActionError(f"{self.name} has no action {str(name)[:40]!r}")

    def _say(self, action: Action, screen: Screen, at: At) -> str:
        match action:
            case Tap(x, y):
                return f'do(action="Tap", element={_list(at(x, y))})'
            case LongPress(x, y):
                return f'do(action="Long Press", element={_list(at(x, y))})'
            case DoubleTap(x, y):
                return f'do(action="Double Tap", element={_list(at(x, y))})'
            case Swipe(x, y, x2, y2):
                return f'do(action="Swipe", start={_list(at(x, y))}, end={_list(at(x2, y2))})'
            case TypeText(text, None, None):
                return f'do(action="Type", text="{text}")'
            case OpenApp(package, "", ""):
                return f'do(action="Launch", app={quoted(screen.label(package), chr(34))})'
            case PressKey("back"):
                return 'do(action="Back")'
            case PressKey("home"):
                return 'do(action="Home")'
            case Wait(duration_ms):
                return f'do(action="Wait", duration="{duration_ms / 1000:g} seconds")'
            case Ask(text):
                return f'do(action="Take_over", message={quoted(text, chr(34))})'
            case Answer(text) if text and text != "infeasible":
                return f'finish(message="{text}")'
            case Finish(status):
                return 'finish(message="")' if status == "success" else 'finish(message="infeasible")'
        raise self._no_word(action)

    def _tap_words(self, x: int, y: int) -> str:
        return f"<answer>do(action=\"Tap\", element={_list((x, y))})</answer>"

    def _with_thought(self, words: str, thought: str) -> str:
        return f"<think>{thought}</think><answer>{words}</answer>"


def _list(at: tuple[int, int]) -> str:
    return f"[{at[0]},{at[1]}]"


def _raw(body: str, mark: str) -> str:
    """What stands between the quotes after a mark and before the end of the call, as it stands."""
    words = body.partition(mark)[2].lstrip()
    if words[:1] not in ('"', "'"):
        raise ActionError(f"{mark[:-1]} must be text in quotes, found {words[:40]!r}")
    end = words.rstrip().removesuffix(")").rstrip()
    return end[1:-1] if len(end) > 1 and end[-1] == end[0] else end[1:]


AUTOGLM = AutoGlm("autoglm", THOUSANDTH)
