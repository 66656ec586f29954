"""What to do next on a screen, drawn at random with weights: how recordings and held-out traces act. Pure.

Every kind of widget has the same chance, so that a long list does not drown the rest; fields with the focus are typed into, rows
are touched even where nothing says that they take it (some show their buttons only then), and a widget that led to a dead end is
rarely touched again. Equal dice choose equally on equal screens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from phoneworld.ui.action import Action, CloseApp, DoubleTap, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node, Path

Kind = tuple[str, str, str]
"""Class, id, and id of the nearest ancestor that has one."""

POLICY = 3
"""Changes when the same seed acts otherwise; recordings tell it in their source."""

_BLANK, _ONE_WORD, _KNOWN = 0.05, 0.07, 0.06
_BACK, _BACK_STUCK, _RESTART, _SWIPE = 0.05, 0.3, 0.015, 0.06
_DOUBLE_TAP, _LONG_PRESS = 0.2, 0.15
_ROW_TEXT, _OTHER_TEXT, _DEAD_END, _HAS_FOCUS, _EMPTY_FIELD = 0.7, 0.05, 0.05, 0.15, 2.0
_WORDS = "words"  # stands for the class of what shows words and takes no touch by itself
_LISTS = ("ListView", "RecyclerView", "GridView")
_ASKS_NUMBER = ("amount", "number", "price", "quantity", "phone", "zip", "weight", "pin", "iban", "code")
_ID_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that are typed: a phrase is one of `first` and one of `second`."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    def phrase(self, dice: Random) -> str:
        return f"{dice.choice(self.first)} {dice.choice(self.second)}"


TRAINING = Vocabulary(
    ("amber", "brisk", "calm", "dusty", "faded", "gentle", "hollow", "ivory", "jolly", "keen", "lively", "mellow", "narrow", "olive",
     "rapid", "silver", "tidy", "upper", "velvet", "warm", "young", "zesty", "copper", "distant", "frosty", "golden", "humble", "modest"),
    ("anchor", "basket", "candle", "drawer", "easel", "feather", "hammer", "island", "jacket", "kettle", "meadow", "needle", "orchard",
     "pepper", "quilt", "ribbon", "saddle", "umbrella", "valley", "window", "yarn", "bridge", "cellar", "dinner", "engine", "forest"),
)  # fmt: skip
HELD_OUT = Vocabulary(
    ("quiet", "purple", "seven", "wooden", "early", "round", "Nordic", "plain", "urgent", "salty", "tall", "blue", "spare", "noisy"),
    ("harbour", "teapots", "ladder", "Monday", "receipt", "violin", "compass", "parcel", "garden", "signal", "cabin", "mirror", "tulips"),
)  # fmt: skip


@dataclass(slots=True)
class Memory:
    """What acting remembers of a recording: how often a touch led where hardly anything can be done, and how often it did not; how
    often a widget changed nothing lately.
    """

    dead_ends: Counter[tuple[Kind, str]] = field(default_factory=Counter)
    dead_kinds: Counter[Kind] = field(default_factory=Counter)
    live_kinds: Counter[Kind] = field(default_factory=Counter)
    idle: Counter[tuple[Kind, str]] = field(default_factory=Counter)

    def learn(self, before: Hierarchy, hit: Path | None, after: Hierarchy, size: Size, package: str) -> None:
        """Takes in where a touch led."""
        if hit is None:
            return
        kind, label = kind_of(before, hit), before.at(hit).label
        self.idle[kind, label] = self.idle[kind, label] + 1 if before == after else 0
        if len(_takers(after, size, package)) <= 1 < len(_takers(before, size, package)):
            self.dead_ends[kind, label] += 1
            self.dead_kinds[kind] += 1
        else:
            self.live_kinds[kind] += 1

    def is_dead_end(self, kind: Kind, label: str) -> bool:
        """True where a widget, or two of its kind and none otherwise, led to a dead end."""
        return self.dead_ends[kind, label] > 0 or (self.dead_kinds[kind] > 1 and not self.live_kinds[kind])


def choose(
    tree: Hierarchy,
    size: Size,
    *,
    keyboard: bool,
    package: str,
    dice: Random,
    words: Vocabulary = HELD_OUT,
    memory: Memory | None = None,
    last: Action | None = None,
    is_stuck: bool = False,
) -> Action:
    """What to do next; `last` is what was done before this screen, `is_stuck` says that it changed nothing."""
    visible = [(path, node) for path, node in tree.walk() if tree.is_visible(path, size)]
    if not any(node.package == package for _, node in visible):
        return OpenApp(package)
    focused = next((node for _, node in visible if node.focused and node.is_editable), None)
    if focused is not None and keyboard:
        # A field that is empty again after Enter may ask for one more, or keep what it was given: only one in two gets it.
        if not focused.value and dice.random() < (0.5 if last == PressKey("enter") else 0.85):
            return _typing(focused, visible, words, dice)
        rest = [path for path, node in visible if node.is_editable and node.enabled and not node.focused and not node.value]
        if rest and isinstance(last, TypeText) and dice.random() < 0.5 and (point := tree.tap_point(dice.choice(rest), size)):
            return Tap(point.x, point.y)  # the next field of a form
        if focused.value and dice.random() < 0.7:
            # Mostly what was typed is sent; what stood there before is mostly changed.
            share = 0.75 if isinstance(last, TypeText) else 0.4
            return PressKey("enter") if dice.random() < share else _typing(focused, visible, words, dice)
    chance = dice.random()
    if chance < (_BACK_STUCK if is_stuck and last != PressKey("back") else _BACK):
        return PressKey("back")
    chance = dice.random()
    if chance < _RESTART:
        return CloseApp(package)
    scrollers = [node for _, node in visible if node.scrollable]
    if chance < _RESTART + _SWIPE and scrollers:
        return _swipe(dice.choice(scrollers).bounds.intersect(size.bounds), dice)
    return _touch(tree, size, dice, memory or Memory())


def kind_of(tree: Hierarchy, path: Path) -> Kind:
    """What a widget is alike to."""
    chain = tree.chain(path)
    node = chain[-1]
    return node.class_name, node.resource_id, next((a.resource_id for a in reversed(chain[:-1]) if a.resource_id), "")


def _touch(tree: Hierarchy, size: Size, dice: Random, memory: Memory) -> Action:
    kinds: dict[Kind, list[tuple[Path, Point, float]]] = {}
    order = tree.touch_order(size)
    for path, node in tree.drawing(size):
        is_taker, is_words = node.takes("tap"), bool(node.text) and not node.children
        point = tree.tap_point(path, size) if is_taker or is_words else None
        if point is None:
            continue
        under = next((p for p, n in order if n.bounds.contains(point)), None)
        target = tree.nearest(under, "tap") if under is not None else None
        kind = kind_of(tree, path)
        weight = (_DEAD_END if memory.is_dead_end(kind, node.label) else _inviting(node)) / (1 + memory.idle[kind, node.label])
        if is_taker and target == path:
            kinds.setdefault(kind, []).append((path, point, weight))
        elif not is_taker and target is None:
            weight *= _ROW_TEXT if _in_list(tree, path) else _OTHER_TEXT
            kinds.setdefault((_WORDS, *kind[1:]), []).append((path, point, weight))
    if not kinds:
        return PressKey("back")
    names = sorted(kinds)
    kind = dice.choices(names, [sum(w for _, _, w in kinds[n]) / len(kinds[n]) for n in names])[0]
    members = kinds[kind]
    path, point, _ = dice.choices(members, [weight for _, _, weight in members])[0]
    if kind[0] == _WORDS and dice.random() < _DOUBLE_TAP:
        return DoubleTap(point.x, point.y)
    if tree.at(path).long_clickable and dice.random() < _LONG_PRESS:
        return LongPress(point.x, point.y)
    return Tap(point.x, point.y)


def _inviting(node: Node) -> float:
    """Forms are there to be filled in: an empty field is likelier to be touched, and not again while it has the focus."""
    if not node.is_editable:
        return 1.0
    return _HAS_FOCUS if node.focused else 1.0 if node.value else _EMPTY_FIELD


def _in_list(tree: Hierarchy, path: Path) -> bool:
    return any(node.class_name.endswith(_LISTS) for node in tree.chain(path)[:-1])


def _takers(tree: Hierarchy, size: Size, package: str) -> list[Path]:
    return [p for p, n in tree.walk() if n.package == package and n.takes("tap") and tree.is_visible(p, size)]


def _typing(target: Node, visible: Iterable[tuple[Path, Node]], words: Vocabulary, dice: Random) -> Action:
    mode_dice, text_dice = dice.random(), dice.random()
    asked = f"{target.hint or ''} {target.content_desc}".casefold()
    named = {word.casefold() for word in _ID_WORDS.findall(target.resource_id)}
    if any(word in asked or word in named for word in _ASKS_NUMBER):
        text = str(dice.randrange(1, 400))
    elif text_dice < _BLANK:
        text = " "
    elif text_dice < _BLANK + _ONE_WORD:
        text = dice.choice(words.second)
    elif text_dice < _BLANK + _ONE_WORD + (0.5 if "search" in asked or "search" in named else _KNOWN):
        # A search for what is shown finds something; anywhere else it makes a duplicate.
        shown = sorted({n.text for _, n in visible if n.text.strip() and len(n.text) <= 40 and not n.is_editable})
        text = dice.choice(shown) if shown else words.phrase(dice)
    else:
        text = words.phrase(dice)
    return TypeText(text, mode="replace" if target.value and mode_dice < 0.6 else "append")


def _swipe(area: Bounds, dice: Random) -> Action:
    x, y = area.center.x, area.center.y
    reach = max(1, area.height // 4)
    up = dice.random() < 0.65
    start, end = (y + reach, y - reach) if up else (y - reach, y + reach)
    return Swipe(x, start, x, end, 400)
