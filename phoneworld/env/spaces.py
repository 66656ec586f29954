"""Observations and actions as Gymnasium spaces: fixed-size arrays, text of any character, and the way back to an Action."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.text import Text
from numpy.typing import NDArray

from phoneworld.env.elements import Element
from phoneworld.env.observation import Observation
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Clear,
    DoubleTap,
    Finish,
    LongPress,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.geometry import Point, Size

KINDS: tuple[str, ...] = (
    "tap", "long_press", "double_tap", "swipe_up", "swipe_down", "swipe_left", "swipe_right", "type", "clear", "back", "home",
    "enter", "wait", "answer", "finish",
)  # fmt: skip
PLACES = 1000
"""Coordinates are thousandths of the screen: 0..999."""
FLAGS: tuple[str, ...] = (
    "tap", "long_press", "scroll", "type", "checkable", "checked", "enabled", "focused", "selected", "password",
)  # fmt: skip
_ON_A_POINT = frozenset(
    ("tap", "long_press", "double_tap", "swipe_up", "swipe_down", "swipe_left", "swipe_right", "clear")
)
_SWIPE = {"swipe_up": (0, -1), "swipe_down": (0, 1), "swipe_left": (-1, 0), "swipe_right": (1, 0)}
_SWIPE_SHARE = 0.4
_SAMPLE = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789.,:;!?@#'\"()-\n日本語😀é"


class _EveryCharacter(AbstractSet[str]):
    """All code points as a set, without holding them."""

    def __contains__(self, item: object) -> bool:
        return isinstance(item, str) and len(item) == 1

    def __iter__(self) -> Iterator[str]:
        return map(chr, range(len(self)))

    def __len__(self) -> int:
        return sys.maxunicode + 1


class _CharacterList(Sequence[str]):
    def __getitem__(self, index: Any) -> Any:
        return chr(int(index))

    def __len__(self) -> int:
        return sys.maxunicode + 1


class UnicodeText(Text):
    """Text of up to `max_length` characters, any characters. Flattens to code points; samples from a small alphabet."""

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=_SAMPLE, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A text of at most 64 characters. Takes no mask."""
        if mask is not None or probability is not None:
            raise ValueError("this space has every character there is: it takes no mask")
        length = int(self.np_random.integers(0, min(self.max_length, 64) + 1))
        return "".join(self.np_random.choice(self._char_list, size=length)) if length else ""

    @property
    def character_set(self) -> Any:
        return _EveryCharacter()

    @property
    def character_list(self) -> Any:
        return _CharacterList()

    def character_index(self, char: str) -> np.int32:
        return np.int32(ord(char))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"


def observation_space(*, max_nodes: int, text_limit: int, picture: Size | None) -> spaces.Dict:
    """The space of `observation_arrays`."""
    parts: dict[str, spaces.Space[Any]] = {
        "instruction": UnicodeText(text_limit),
        "text": UnicodeText(text_limit),
        "node_bounds": spaces.Box(0.0, 1.0, (max_nodes, 4), np.float32),
        "node_flags": spaces.MultiBinary((max_nodes, len(FLAGS))),
        "node_mask": spaces.MultiBinary(max_nodes),
        "keyboard": spaces.Discrete(2),
        "rotation": spaces.Discrete(4),
    }
    if picture is not None:
        parts["screenshot"] = spaces.Box(0, 255, (picture.height, picture.width, 3), np.uint8)
    return spaces.Dict(parts)


def observation_arrays(
    observation: Observation, *, max_nodes: int, text_limit: int, picture: Size | None
) -> dict[str, Any]:
    """An observation as arrays, all new.

    `node_bounds` (n, 4) left, top, right, bottom as shares of the screen; row i is element i of the text; `node_flags` (n, 10)
    in the order of FLAGS; `node_mask` (n,) 1 where there is an element.
    """
    size = observation.size
    bounds, flags, mask = observation.look[2].memo(
        ("nodes", size, max_nodes), lambda: _node_arrays(observation.elements[:max_nodes], size, max_nodes)
    )
    arrays: dict[str, Any] = {
        "instruction": observation.instruction[:text_limit],
        "text": observation.text,
        "node_bounds": bounds.copy(),
        "node_flags": flags.copy(),
        "node_mask": mask.copy(),
        "keyboard": np.int64(observation.device.keyboard),
        "rotation": np.int64(observation.device.rotation % 4),
    }
    if picture is not None:
        arrays["screenshot"] = picture_array(observation, picture)
    return arrays


def _node_arrays(
    elements: Sequence[Element], size: Size, max_nodes: int
) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int8]]:
    bounds = np.zeros((max_nodes, 4), np.float32)
    flags = np.zeros((max_nodes, len(FLAGS)), np.int8)
    mask = np.zeros(max_nodes, np.int8)
    for i, element in enumerate(elements):
        b = element.bounds
        bounds[i] = (b.left / size.width, b.top / size.height, b.right / size.width, b.bottom / size.height)
        flags[i] = _flags(element)
        mask[i] = 1
    return np.clip(bounds, 0.0, 1.0), flags, mask


def picture_array(observation: Observation, size: Size) -> NDArray[np.uint8]:
    """The picture at a size, as an array of its own."""
    array: NDArray[np.uint8] = observation.look[2].picture("array", size)
    return array.copy()


def _flags(element: Element) -> tuple[bool, ...]:
    node, gestures = element.node, element.gestures
    return (
        "tap" in gestures, "long_press" in gestures, "scroll" in gestures, "type" in gestures, node.checkable, node.checked,
        node.enabled, node.focused, node.selected, node.password,
    )  # fmt: skip


def discrete_action_space(texts: Sequence[str]) -> spaces.MultiDiscrete:
    """Kind, x, y in thousandths, and which of `texts` is typed or answered."""
    return spaces.MultiDiscrete([len(KINDS), PLACES, PLACES, max(1, len(texts))])


def free_action_space(text_limit: int) -> spaces.Dict:
    """The same with free text."""
    return spaces.Dict(
        {
            "kind": spaces.Discrete(len(KINDS)),
            "x": spaces.Discrete(PLACES),
            "y": spaces.Discrete(PLACES),
            "text": UnicodeText(text_limit),
        }
    )


def action_of(given: Any, size: Size, texts: Sequence[str]) -> Action:
    """The Action that a sample of either space means on a screen of this size. Raises ActionError for what is neither.

    Type and clear act on what has the focus where the point is (0, 0). A swipe runs two fifths of the screen.
    """
    try:
        if isinstance(given, dict):
            kind, x, y, words = int(given["kind"]), int(given["x"]), int(given["y"]), str(given["text"])
        else:
            kind, x, y, number = (int(v) for v in given)
            words = texts[number] if texts else ""
        name = KINDS[kind] if kind >= 0 else ""
        in_range = 0 <= x < PLACES and 0 <= y < PLACES and bool(name)
    except (KeyError, IndexError, TypeError, ValueError) as e:
        raise ActionError(
            f"an action of this environment is kind, x, y, text; found {str(given)[:80]!r} ({e})",
            hint="sample one: env.action_space.sample()",
        ) from None
    if not in_range:
        raise ActionError(
            f"x and y are 0..{PLACES - 1}, found ({x}, {y})", hint="sample one: env.action_space.sample()"
        )
    return _action(name, Point(_pixel(x, size.width), _pixel(y, size.height)), words, size, focus=x == y == 0)


def thousandths(point: Point, size: Size) -> tuple[int, int]:
    """The thousandths whose pixel is nearest to a point."""
    return min(PLACES - 1, point.x * PLACES // size.width), min(PLACES - 1, point.y * PLACES // size.height)


def _pixel(place: int, extent: int) -> int:
    return min(extent - 1, int((place + 0.5) / PLACES * extent))


def _action(name: str, at: Point, words: str, size: Size, *, focus: bool) -> Action:
    match name:
        case "tap":
            return Tap(at.x, at.y)
        case "long_press":
            return LongPress(at.x, at.y)
        case "double_tap":
            return DoubleTap(at.x, at.y)
        case "type":
            return TypeText(words) if focus else TypeText(words, at.x, at.y)
        case "clear":
            return Clear() if focus else Clear(at.x, at.y)
        case "back" | "home" | "enter":
            return PressKey(name)
        case "wait":
            return Wait()
        case "answer":
            return Answer(words)
        case "finish":
            return Finish()
    dx, dy = _SWIPE[name]
    x2 = min(max(at.x + int(dx * size.width * _SWIPE_SHARE), 0), size.width - 1)
    y2 = min(max(at.y + int(dy * size.height * _SWIPE_SHARE), 0), size.height - 1)
    return Swipe(at.x, at.y, x2, y2)


def kind_mask(observation: Observation, max_steps_left: int | None = None) -> NDArray[np.bool_]:
    """Which kinds make sense now: no typing without a field, no tap without a widget that takes one."""
    elements = observation.elements
    gestures = {g for e in elements for g in e.gestures}
    sensible = {
        "tap": "tap" in gestures or observation.device.keyboard,
        "double_tap": "tap" in gestures,
        "long_press": "long_press" in gestures,
        "type": "type" in gestures,
        "clear": "type" in gestures,
        "enter": observation.device.keyboard,
    }
    scrolls = "scroll" in gestures
    return np.array([scrolls if kind in _SWIPE else sensible.get(kind, True) for kind in KINDS], dtype=np.bool_)
