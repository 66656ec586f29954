"""What every dialect does: text to actions, an action to text. One class a family, one instance a convention.

    said = QWEN3.parse(text, Screen(Size(1080, 2400)))
    QWEN3.emit(Tap(540, 1200), screen, thought="The button is in the middle.")

Hostile text raises ActionError and nothing else. What a family has no word for raises ActionError too, when it is emitted.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias

from phoneworld.dialects.coordinates import Coordinates
from phoneworld.errors import ActionError
from phoneworld.ui.action import Action, LongPress, Swipe, action_from_json, action_to_json, kind_of
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy

TEXT_LIMIT = 200_000
"""Characters that are read at most: a policy that rambles is refused, not parsed."""

Direction = Literal["up", "down", "left", "right"]
At: TypeAlias = Callable[[int, int], tuple[int, int]]
"""Pixels to the numbers of a convention."""
_SCROLL_SHARE = 0.4
_TAGS = re.compile(r"</?(?:tool_call|thinking|think|answer)>")
"""What a thought must not hold, for readers look for it."""
_ACTION_LINE = re.compile(r"(?m)^[ \t]{0,9}Action:")
_OPPOSITE: dict[str, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Screen:
    """What a speaker speaks of: the size in pixels as it is rotated now, and the names of apps by package."""

    size: Size
    apps: Mapping[str, str] = field(default_factory=dict)

    def package(self, name: str) -> str:
        """The package of an app by its name, in any case; a name that is not known stands for itself."""
        wanted = name.strip().casefold()
        return next((package for package, label in self.apps.items() if wanted in (label.casefold(), package.casefold())), name)

    def label(self, package: str) -> str:
        """What an app is called."""
        return self.apps.get(package) or package


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says: the actions in order (most often one) and the thought that came with them."""

    actions: tuple[Action, ...]
    thought: str = ""


@dataclass(frozen=True)
class Dialect(ABC):
    """The words of one agent family in one coordinate convention."""

    name: str
    coordinates: Coordinates

    def parse(self, text: str, screen: Screen) -> Said:
        """Reads what a policy said. Raises ActionError for what is none of this dialect, or outside the screen."""
        if not isinstance(text, str):
            raise ActionError(f"{self.name} is text, found {type(text).__name__}", hint=self.example(screen))
        if len(text) > TEXT_LIMIT:
            raise ActionError(f"{len(text)} characters of text, at most {TEXT_LIMIT} are read", hint="stop the policy earlier")
        try:
            said = self._read(text, screen)
        except RecursionError:
            raise ActionError(f"the text is nested too deeply to be {self.name}", hint=self.example(screen)) from None
        except ActionError as e:
            raise ActionError(e.message, hint=e.hint or self.example(screen)) from None
        return replace(said, actions=tuple(action_from_json(action_to_json(a), size=screen.size) for a in said.actions))

    def emit(self, action: Action, screen: Screen, *, thought: str = "", tree: Hierarchy | None = None) -> str:
        """Says one action. With `tree`, places are chosen such that they come back in the node that the action touches.

        Raises ActionError for what the family has no word for.
        """
        words = self._say(action, screen, lambda x, y: self._place(action, Point(x, y), screen.size, tree))
        return self._with_thought(words, " ".join(_TAGS.sub("", thought).split()))

    def in_coordinates(self, coordinates: Coordinates) -> Self:
        """The same words in another convention."""
        return replace(self, coordinates=coordinates)

    def where(self, size: Size) -> Callable[[Point], str]:
        """How lists of elements say where an element is, to a model that sees no picture: `at [500, 120]`, in its own coordinates."""
        return lambda point: "at [{}, {}]".format(*self.coordinates.write(point, size))

    def example(self, screen: Screen) -> str:
        """A tap in the middle, for hints."""
        middle = screen.size.bounds.center
        x, y = self.coordinates.write(middle, screen.size)
        return "for example " + self._tap_words(x, y)

    @abstractmethod
    def _read(self, text: str, screen: Screen) -> Said: ...

    @abstractmethod
    def _say(self, action: Action, screen: Screen, at: At) -> str: ...

    @abstractmethod
    def _tap_words(self, x: int, y: int) -> str: ...

    @abstractmethod
    def _with_thought(self, words: str, thought: str) -> str: ...

    def _place(self, action: Action, point: Point, size: Size, tree: Hierarchy | None) -> tuple[int, int]:
        near = self.coordinates.near(point, size)
        if tree is None:
            return near[0]
        gesture: Gesture = "long_press" if isinstance(action, LongPress) else "scroll" if isinstance(action, Swipe) else "tap"
        wanted = _touched(tree, point, gesture, size)
        return next((at for at in near if _touched(tree, self.coordinates.read(*at, size), gesture, size) == wanted), near[0])

    def _point(self, given: Any, screen: Screen) -> Point:
        """A pixel of what was said as a place: two numbers, or four of a box, whose middle is meant. Raises ActionError."""
        if not isinstance(given, list | tuple) or len(given) not in (2, 4):
            raise ActionError(f"a place is [x, y], found {str(given)[:60]!r}")
        if len(given) == 4:
            for i in (0, 2):
                self.coordinates.read(given[i], given[i + 1], screen.size)
            given = ((given[0] + given[2]) / 2, (given[1] + given[3]) / 2)
        return self.coordinates.read(given[0], given[1], screen.size)

    def _no_word(self, action: Action) -> ActionError:
        return ActionError(f"{self.name} has no word for {kind_of(action)}", hint="say it with other actions, or in another dialect")


def _touched(tree: Hierarchy, point: Point, gesture: Gesture, size: Size) -> object:
    hit = tree.hit_test(point, gesture, size)
    return None if hit is None else (hit.target, hit.node if hit.target is None else None)


def scroll_towards(direction: str, start: Point, size: Size) -> Swipe:
    """The swipe that shows more of what lies in a direction: the finger moves the other way, two fifths of the screen.

    It starts where it was asked to, or as far from the rim as it takes to be as long.
    """
    return finger_towards(_OPPOSITE[one_direction(direction)], start, size)


def finger_towards(direction: str, start: Point, size: Size) -> Swipe:
    """The swipe of a finger in a direction."""
    way = one_direction(direction)
    dx = {"left": -1, "right": 1}.get(way, 0) * int(size.width * _SCROLL_SHARE)
    dy = {"up": -1, "down": 1}.get(way, 0) * int(size.height * _SCROLL_SHARE)
    x2 = min(max(start.x + dx, 0), size.width - 1)
    y2 = min(max(start.y + dy, 0), size.height - 1)
    return Swipe(start.x, start.y, x2, y2)


def finger_of(swipe: Swipe) -> Direction:
    """Which way a finger mostly moves."""
    dx, dy = swipe.x2 - swipe.x, swipe.y2 - swipe.y
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"


def scrolled_by(swipe: Swipe) -> Direction:
    """In which direction a swipe shows more."""
    return _OPPOSITE[finger_of(swipe)]


def one_direction(given: object) -> Direction:
    """Raises ActionError for what is no direction."""
    word = given.strip().lower() if isinstance(given, str) else ""
    if word not in _OPPOSITE:
        raise ActionError(f"no direction {str(given)[:40]!r}", hint="up, down, left or right")
    return _OPPOSITE[_OPPOSITE[word]]


def split_at_action(text: str) -> tuple[str, str]:
    """What comes before the last line that starts with "Action:", and what comes after these words."""
    marks = list(_ACTION_LINE.finditer(text))
    if marks:
        return text[: marks[-1].start()], text[marks[-1].end() :]
    if text.lstrip().startswith(("Thought:", "Reason:")):
        head, _, body = text.rpartition("Action:")
        return head, body
    return "", text


def text_of(given: object, name: str) -> str:
    """A text that was said. Raises ActionError for what is none."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ActionError(f"{name} must be text, found {str(given)[:40]!r}")
    return str(given)


def milliseconds(given: object, default_s: float) -> int:
    """Seconds, as a number or as words ("2 seconds"), in milliseconds; what is left out or senseless is the default."""
    if isinstance(given, str):
        given = given.strip().partition(" ")[0]
        given = float(given) if given.replace(".", "", 1).isascii() and given.replace(".", "", 1).isdigit() else default_s
    seconds = given if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 600 else default_s
    return round(seconds * 1000)
