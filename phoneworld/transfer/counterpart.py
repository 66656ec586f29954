"""The widget of one tree that is another tree's: by its words, its id, its class, what stands beside it, its place. Pure.

A path that was found on a mock is walked on the real app so: not by coordinates, which a row more or a longer text moves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from phoneworld.ui.action import Action, Clear, DoubleTap, LongPress, Tap, TypeText
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path
from phoneworld.ui.selector import node_keys

_WORDS, _ID, _KEY, _BESIDE, _NEAR = 4.0, 3.0, 2.0, 4.0, 1.0
_OTHER_WORDS = -4.0
_ENOUGH = 3.5
"""Less than this is no likeness: neither words nor id nor what stands beside it agree."""


@dataclass(frozen=True, slots=True)
class Aimed:
    """An action for the other tree. `moved` is how far the touch went, in pixels; `blind` says whether the old pixel touches the same widget there."""

    action: Action
    target: Path | None
    moved: int
    blind: bool


def aimed(action: Action, here: Hierarchy, there: Hierarchy, size: Size) -> Aimed | None:
    """The action on the counterpart of the widget that it touches. None where there is none in sight.

    What touches nothing in particular (keys, swipes, text for the field with the focus) stays as it is.
    """
    match action:
        case Tap(x, y) | DoubleTap(x, y):
            gesture: Gesture = "tap"
        case LongPress(x, y):
            gesture = "long_press"
        case TypeText(_, int(x), int(y)) | Clear(int(x), int(y)):
            gesture = "type"
        case _:
            return Aimed(action, None, 0, True)
    point = Point(x, y)
    hit = here.hit_test(point, gesture, size)
    if hit is None or hit.target is None:
        return Aimed(action, None, 0, True)
    path = counterpart(here, hit.target, there, size, gesture)
    if path is None:
        return None
    blind = there.hit_test(point, gesture, size)
    if blind is not None and blind.target == path:
        return Aimed(action, path, 0, True)
    found = there.tap_point(path, size)
    if found is None:
        return None
    moved = max(abs(found.x - point.x), abs(found.y - point.y))
    return Aimed(replace(action, x=found.x, y=found.y), path, moved, False)


def counterpart(here: Hierarchy, path: Path, there: Hierarchy, size: Size, gesture: Gesture) -> Path | None:
    """The widget of `there` in sight that is most like the one of `here`; None where none is like it."""
    wanted = _Likeness.of(here, path, node_keys(here)[path])
    keys = node_keys(there)
    best: tuple[float, Path] | None = None
    for other, node in there.walk():
        if not node.takes(gesture) or node.class_name != wanted.class_name or not there.is_visible(other, size):
            continue
        score = wanted.score(_Likeness.of(there, other, keys[other]), size)
        # The first of equals: both are read in document order.
        if score >= _ENOUGH and (best is None or score > best[0]):
            best = (score, other)
    return None if best is None else best[1]


@dataclass(frozen=True, slots=True)
class _Likeness:
    class_name: str
    id: str
    key: str
    words: frozenset[str]
    beside: Counter[str]
    center: Point

    @classmethod
    def of(cls, tree: Hierarchy, path: Path, key: str) -> _Likeness:
        chain = tree.chain(path)
        node = chain[-1]
        # What a field holds is what was typed; its hint stays.
        inside = frozenset((node.hint or node.content_desc,) if node.is_editable else _words(node)) - {""}
        around = next((Counter(words) for a in reversed(chain[:-1]) if len(words := [w for w in _words(a) if w not in inside]) > 0), Counter[str]())
        return cls(node.class_name, node.resource_id.rpartition("/")[2], key, inside, around, node.bounds.center)

    def score(self, other: _Likeness, size: Size) -> float:
        total = 0.0
        if self.words and other.words:
            common = len(self.words & other.words) / len(self.words | other.words)
            total += _WORDS * common if common else _OTHER_WORDS
        if self.id and other.id:
            total += _ID if self.id == other.id else -_ID
        if self.key == other.key:
            total += _KEY
        both = sum((self.beside | other.beside).values())
        if both:
            total += _BESIDE * sum((self.beside & other.beside).values()) / both
        far = abs(self.center.x - other.center.x) / size.width + abs(self.center.y - other.center.y) / size.height
        return total + _NEAR * max(0.0, 1 - far)


def _words(node: Node) -> list[str]:
    return [word for n in Hierarchy((node,)).nodes() if n.visible and (word := (n.value or n.content_desc).strip())]
