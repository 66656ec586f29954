"""Gestures as tools, typed and documented, for models that call functions: one method a gesture. Shared by the doors TRL and MCP.

A public method is a tool; what is none starts with an underscore.
"""

from __future__ import annotations

from typing import Any

from phoneworld.dialects.dialect import Screen, scroll_towards
from phoneworld.env.elements import Element
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.errors import ActionError
from phoneworld.ui.action import Action, Answer, Clear, Finish, LongPress, OpenApp, PressKey, Tap, TypeText, Wait

TOOLS = (
    "tap", "tap_at", "long_press", "type_text", "clear_text", "swipe", "press_back", "press_home", "press_enter", "open_app", "wait",
    "answer", "finish",
)  # fmt: skip


class PhoneTools:
    """A phone to be used by calls. `apps` are the names of apps by package."""

    def __init__(self, env: Env[Any], apps: dict[str, str]) -> None:
        self._env = env
        self._apps = apps

    def tap(self, element: int) -> Any:
        """Taps an element.

        Args:
            element: The number of the element in the list of what is on the screen.
        """
        return self._on(element, lambda e: Tap(e.point.x, e.point.y))

    def tap_at(self, x: int, y: int) -> Any:
        """Taps a place on the screen.

        Args:
            x: Pixels from the left edge.
            y: Pixels from the top edge.
        """
        return self._do(Tap(x, y))

    def long_press(self, element: int) -> Any:
        """Presses an element and holds it.

        Args:
            element: The number of the element in the list of what is on the screen.
        """
        return self._on(element, lambda e: LongPress(e.point.x, e.point.y))

    def type_text(self, text: str, element: int = -1) -> Any:
        """Types text into a field.

        Args:
            text: The text to type.
            element: The number of the field in the list of what is on the screen; -1 for the field that has the focus.
        """
        if element == -1:
            return self._do(TypeText(text))
        return self._on(element, lambda e: TypeText(text, e.point.x, e.point.y))

    def clear_text(self, element: int = -1) -> Any:
        """Empties a field.

        Args:
            element: The number of the field in the list of what is on the screen; -1 for the field that has the focus.
        """
        return self._do(Clear()) if element == -1 else self._on(element, lambda e: Clear(e.point.x, e.point.y))

    def swipe(self, direction: str) -> Any:
        """Scrolls, so that more is seen of what lies in a direction.

        Args:
            direction: Where to look: "up", "down", "left" or "right".
        """
        size = self._env.screen_size()
        try:
            return self._do(scroll_towards(direction, size.bounds.center, size))
        except ActionError as e:
            return self._refuse(f"{e.message}; {e.hint}")

    def press_back(self) -> Any:
        """Goes back, as the back button does."""
        return self._do(PressKey("back"))

    def press_home(self) -> Any:
        """Goes to the home screen."""
        return self._do(PressKey("home"))

    def press_enter(self) -> Any:
        """Presses the enter key, which submits most fields."""
        return self._do(PressKey("enter"))

    def open_app(self, name: str) -> Any:
        """Opens an app.

        Args:
            name: What the app is called.
        """
        return self._do(OpenApp(Screen(self._env.screen_size(), self._apps).package(name)))

    def wait(self) -> Any:
        """Waits a second."""
        return self._do(Wait())

    def answer(self, text: str) -> Any:
        """Answers the question that was asked, and ends the task.

        Args:
            text: The answer.
        """
        return self._do(Answer(text))

    def finish(self, done: bool = True) -> Any:
        """Ends the task.

        Args:
            done: True where the task is done, False where it cannot be done.
        """
        return self._do(Finish("success" if done else "infeasible"))

    def _on(self, number: int, deed: Any) -> Any:
        elements = self._env.observation().elements
        if not isinstance(number, int) or not 0 <= number < len(elements):
            return self._refuse(f"there is no element {str(number)[:20]}; " + (f"they are 0 to {len(elements) - 1}" if elements else "nothing can be used here"))
        element: Element = elements[number]
        return self._do(deed(element))

    def _do(self, action: Action) -> Any:
        observation, reward, terminated, truncated, info = self._env.step(action)
        return self._reply(observation, reward, terminated or truncated, info, info["invalid_action"] or "")

    def _refuse(self, why: str) -> Any:
        """A call that cannot be done costs a step like any other."""
        observation, reward, terminated, truncated, info = self._env.step({"kind": "none"})
        return self._reply(observation, reward, terminated or truncated, info, why)

    def _reply(self, observation: Observation, reward: float, over: bool, info: Info, refused: str) -> Any:
        """What a call returns."""
        raise NotImplementedError


def in_words(observation: Observation, over: bool, info: Info, refused: str) -> str:
    """What a model reads after a call."""
    if over:
        return f"The episode is over: {info['termination']}."
    lines = []
    if refused:
        lines.append(f"Not done: {refused}")
    elif info["changed"] is False:
        lines.append("Nothing changed.")
    return "\n".join([*lines, f"On the screen of {observation.device.package or 'the launcher'}:", observation.text])
