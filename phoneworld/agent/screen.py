"""A look as a list of things: what can be acted on, and what can be read; and what acting on them means. Knows trees and no instruction.

Only what a person could use of a tree is read: words, kinds, places, states; and the words of resource ids, for pictures are not looked at and an
icon without words would be nameless. Left out of what agents do: pixels; of the union of actions: double taps, drags, pinches, sideways swipes,
other keys, opening other apps, asking, giving up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from phoneworld.agent.words import name_ids, word_ids
from phoneworld.env.elements import Element
from phoneworld.env.observation import Observation
from phoneworld.ui.action import Action, Answer, Finish, LongPress, PressKey, Swipe, Tap, TypeText, Wait
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path

VERBS = ("tap", "long_press", "type", "scroll_down", "scroll_up", "back", "enter", "wait", "finish", "answer")
"""What can be done: the first five to a thing, the others by themselves."""
ON_THINGS = 5
TYPE, ANSWER = VERBS.index("type"), VERBS.index("answer")
_ALONE: tuple[Action, ...] = (PressKey("back"), PressKey("enter"), Wait(), Finish())
ROLES = ("words", "item", "field", "checkbox", "radio", "switch", "button", "slider", "dropdown", "image", "list", "text")
STATIC_TRAITS = 13
_MOST_THINGS = 96
_MOST_WORDS = 24
_LONGEST_COPY = 80
_MOST_PIECES = 4
_BETWEEN = re.compile(r"\s[·•|–—]\s|\n")


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing on the screen. `text` is what can be copied of it; `near` are the words that stand beside it, or that a field holds.

    `key` is the same for what is the same widget on another look of this process.
    """

    path: Path
    key: tuple[object, ...]
    text: str
    words: tuple[int, ...]
    near: tuple[int, ...]
    role: int
    traits: tuple[float, ...]
    verbs: tuple[int, ...]
    point: Point
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Screen:
    """All things of one look, in document order."""

    things: tuple[Thing, ...]
    by_path: dict[Path, int]
    size: Size
    tree: Hierarchy

    def shows_the_same(self, other: Screen) -> bool:
        """True where the things of both are the same and look the same."""
        return self is other or [(t.key, t.near, t.traits) for t in self.things] == [(t.key, t.near, t.traits) for t in other.things]


def screen_of(observation: Observation) -> Screen:
    """What an observation shows; worked out once for each look."""
    device, size, reading = observation.look
    keyboard = device.keyboard

    def read() -> Screen:
        return _read(reading.hierarchy, size, reading.listing(size).elements, size.height * 6 // 10 if keyboard else size.height)

    return reading.memo(("train", size, keyboard), read)


def action_of(screen: Screen, verb: int, place: int, words: str) -> Action:
    """The action that a choice means: a verb, the number of a thing (where it needs one), words (where it needs some)."""
    if verb >= ON_THINGS:
        return Answer(words) if verb == ANSWER else _ALONE[verb - ON_THINGS]
    thing = screen.things[place]
    x, y = thing.point.x, thing.point.y
    match VERBS[verb]:
        case "tap":
            return Tap(x, y)
        case "long_press":
            return LongPress(x, y)
        case "type":
            return TypeText(words, x, y, "replace")
        case way:
            middle, reach = thing.bounds.center, thing.bounds.height * 3 // 10 * (1 if way == "scroll_down" else -1)
            return Swipe(middle.x, middle.y + reach, middle.x, middle.y - reach)


def choice_of(screen: Screen, action: Action) -> tuple[int, int] | None:
    """The verb of an action and the number of the thing it hits (-1 where it needs none); None where no choice means the same."""
    match action:
        case Tap(x, y):
            return _on(screen, 0, x, y, "tap")
        case LongPress(x, y):
            return _on(screen, 1, x, y, "long_press")
        case TypeText(_, int(x), int(y), _):
            return _on(screen, TYPE, x, y, "type")
        case Swipe(x, y, x2, y2) if abs(y2 - y) >= abs(x2 - x):
            return _on(screen, 3 if y2 < y else 4, x, y, "scroll")
        case PressKey("back" | "enter" as key):
            return VERBS.index(key), -1
        case Wait():
            return VERBS.index("wait"), -1
        case Finish("success"):
            return VERBS.index("finish"), -1
        case Answer():
            return ANSWER, -1
        case _:
            return None


def _on(screen: Screen, verb: int, x: int, y: int, gesture: Gesture) -> tuple[int, int] | None:
    hit = screen.tree.hit_test(Point(x, y), gesture, screen.size)
    place = None if hit is None or hit.target is None else screen.by_path.get(hit.target)
    return None if place is None or verb not in screen.things[place].verbs else (verb, place)


def _read(tree: Hierarchy, size: Size, elements: tuple[Element, ...], floor: int) -> Screen:
    by_path = {element.path: element for element in elements}
    boxes = {path: Bounds(left, top, right, bottom) for left, top, right, bottom, path, _ in tree.touch_boxes(size)}
    inside = _words_inside(tree)
    things: list[Thing] = []
    for path, node in tree.walk():
        if path in boxes and (path in by_path or node.label):
            things.append(_thing(path, node, by_path.get(path), boxes[path], inside, size, floor))
            things += _pieces(things[-1])
    # Of too many, those that can only be read go first.
    room = _MOST_THINGS - sum(bool(t.verbs) for t in things)
    kept: list[Thing] = []
    for thing in things:
        if thing.verbs or room > 0:
            kept.append(thing)
            room -= not thing.verbs
    things = kept[:_MOST_THINGS]
    return Screen(tuple(things), {t.path: i for i, t in reversed([*enumerate(things)])}, size, tree)


def _thing(path: Path, node: Node, element: Element | None, box: Bounds, inside: dict[Path, tuple[str, ...]], size: Size, floor: int) -> Thing:
    gestures = () if element is None else element.gestures
    label = node.label if element is None else element.label
    text = "" if node.is_editable else node.text or node.content_desc
    verbs = tuple(v for v, g in enumerate(("tap", "long_press", "type", "scroll", "scroll")) if g in gestures)
    if element is not None:
        box = element.bounds
    if "scroll" in gestures:
        # A finger that starts on the keyboard types.
        box = Bounds(box.left, box.top, box.right, max(box.top + 1, min(box.bottom, floor)))
    traits = (
        box.center.x / size.width, box.center.y / size.height, box.width / size.width, box.height / size.height, float(node.checkable), float(node.checked),
        float(node.selected), float(node.focused), float(node.enabled), float(node.is_editable), float(bool(node.is_editable and node.value)),
        float(bool(text)), min(1.0, len(label) / 80),
    )  # fmt: skip
    named = name_ids(node.resource_id)
    near = word_ids(node.value)[:_MOST_WORDS] if node.is_editable else _beside(path, inside)
    role = ROLES.index("words" if element is None else element.role)
    return Thing(
        path, (named, node.class_name, label), text if len(text) <= _LONGEST_COPY else "", (*word_ids(label)[:_MOST_WORDS], *named), near, role, traits,
        verbs, box.center if element is None else element.point, box,
    )  # fmt: skip


def _pieces(thing: Thing) -> list[Thing]:
    """What of a longer text stands for itself: its parts between dots and bars, and its words with a digit in them (prices, times, counts)."""
    if len(thing.text.split()) < 3:
        return []
    parts = [part.strip() for part in _BETWEEN.split(thing.text)]
    found = dict.fromkeys(part for part in (*(parts if len(parts) > 1 else ()), *(w.strip(".,;:()") for w in thing.text.split() if any(map(str.isdigit, w)))) if part)
    found.pop(thing.text, None)
    return [
        replace(thing, key=(*thing.key, part), text=part, words=word_ids(part), near=thing.words[:_MOST_WORDS], role=ROLES.index("words"), verbs=())
        for part in [*found][:_MOST_PIECES]
    ]


def _words_inside(tree: Hierarchy) -> dict[Path, tuple[str, ...]]:
    """The words that stand in each visible node and below it."""
    inside: dict[Path, tuple[str, ...]] = {}

    def gather(path: Path, node: Node) -> tuple[str, ...]:
        found = [node.label] if node.label and not node.is_editable else []
        for i, child in enumerate(node.children):
            if child.visible:
                found += gather((*path, i), child)
        inside[path] = tuple(found)
        return inside[path]

    for i, window in enumerate(tree.windows):
        if window.visible:
            gather((i,), window)
    return inside


def _beside(path: Path, inside: dict[Path, tuple[str, ...]]) -> tuple[int, ...]:
    """The words of the smallest container that has others too; none where those are half a page."""
    own = inside.get(path, ())
    for depth in range(len(path) - 1, 0, -1):
        around = inside.get(path[:depth], ())
        if len(around) > len(own):
            found = [i for text in around if text not in own for i in word_ids(text)]
            return tuple(found) if len(found) <= _MOST_WORDS else ()
    return ()
