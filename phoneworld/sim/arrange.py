"""A drawn tree and the placements of its slots, to widgets with bounds. Knows no state and no recording.

Each axis is laid out in a first walk, relative to the parent (what wraps its children learns its extent from them on the way
back); a second walk makes bounds of it: moves by the scroll position, cuts to what clips, rounds. Lines of text break at a
width, so x comes before y. Total: every tree has a place, whatever its placements say; a slot without one keeps the bounds of its
node, moved by flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from phoneworld.program.placement import (
    Afloat,
    After,
    Axis,
    Before,
    Exactly,
    Extent,
    Far,
    Fill,
    Lines,
    Middle,
    Near,
    Pinned,
    Placement,
    Portion,
    Position,
    Reach,
    Until,
    Words,
    Wrap,
)
from phoneworld.program.template import Drawn
from phoneworld.sim.letters import lines_of, width_of
from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node

_NOWHERE = Bounds(0, 0, 0, 0)
_X, _Y = 0, 1


def arrange(
    windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int, scroll: int = 0
) -> tuple[Node, ...]:
    """The windows as widgets with children and bounds, in pixels of a screen of `size`.

    `scroll` is how many pixels the content of the slot that scrolls has moved up. Linear in the nodes.
    """
    boxes = _laid(windows, placement, size, keyboard, density)
    clip = (0, 0, size.width, size.height)
    return tuple(_node(box, i, 0.0, 0.0, 0, scroll, clip) for i, box in enumerate(boxes))


def whole_bounds(
    windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int
) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of every widget in document order, not scrolled and not cut."""
    out: list[tuple[float, float, float, float]] = []
    stack = [(box, 0.0, 0.0) for box in reversed(_laid(windows, placement, size, keyboard, density))]
    while stack:
        box, left, top = stack.pop()
        left, top = left + box.start[_X], top + box.start[_Y]
        out.append((left, top, left + box.length[_X], top + box.length[_Y]))
        stack.extend((kid, left, top) for kid in reversed(box.kids))
    return out


def _laid(windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, keyboard: bool, density: int) -> list[_Box]:
    floor = system.keyboard_bounds(size, density).top if keyboard else size.height
    page = _Page(placement, size.height, floor, keyboard)
    there = {drawn.key: drawn.node.checked for drawn in _every(windows)} if any(p.cases for p in placement.values()) else {}
    boxes = [_Box(window, placement, None, there) for window in windows]
    page.lay(boxes, _X, size.width, 0.0, 0.0)
    page.lay(boxes, _Y, size.height, 0.0, 0.0)
    return boxes


def _every(windows: tuple[Drawn, ...]) -> list[Drawn]:
    every = list(windows)
    for drawn in every:
        every.extend(drawn.children)
    return every


class _Box:
    """One widget being laid out: where it starts in its parent and how long it is, along each axis."""

    __slots__ = ("drawn", "kids", "length", "moves", "placement", "rules", "start", "text")

    def __init__(self, drawn: Drawn, placement: Mapping[str, Placement], parent: Drawn | None, there: Mapping[str, bool]) -> None:
        self.drawn = drawn
        rule = placement.get(drawn.key)
        if rule is None:
            rule = _as_drawn(drawn, parent)
        self.placement = rule
        self.rules = (rule.x, rule.y)
        for case in rule.cases:
            if case.key in there and (case.checked is None or case.checked == there[case.key]):
                self.rules = (case.x, case.y)
                break
        node = drawn.node
        self.text = node.text or node.content_desc or node.hint or ""
        self.start = [0.0, 0.0]
        self.length = [0.0, 0.0]
        self.moves = not isinstance(self.rules[_Y].position, Pinned | Afloat)
        self.kids = [_Box(child, placement, drawn, there) for child in drawn.children]


def _as_drawn(drawn: Drawn, parent: Drawn | None) -> Placement:
    """Where a slot without a rule lies: as its node did in the node around it, rows of a list below each other."""
    own = drawn.node.bounds
    around = parent.node.bounds if parent is not None else _NOWHERE
    left, top = float(own.left - around.left), float(own.top - around.top)
    down: Position = Near(top)
    if parent is not None and drawn.row is not None and parent.row is None:
        down = After(0.0, top)
    return Placement(Axis(Near(left), Exactly(own.width)), Axis(down, Exactly(own.height)))


class _Page:
    """Lays boxes out along one axis at a time."""

    __slots__ = ("bottom", "floor", "keyboard", "placement")

    def __init__(self, placement: Mapping[str, Placement], bottom: int, floor: int, keyboard: bool) -> None:
        self.placement = placement
        self.bottom, self.floor, self.keyboard = bottom, floor, keyboard

    def lay(self, boxes: list[_Box], axis: int, size: float | None, pad: float, origin: float) -> float:
        """Places siblings in a parent that is `size` long, or, where that is None, wraps them; returns how long it is."""
        later: list[int] = []
        end: float | None = None
        reach = 0.0
        content = 0.0
        for i, box in enumerate(boxes):
            if box.placement.hidden:
                continue
            rule = box.rules[axis]
            position, extent = rule.position, rule.extent
            if isinstance(position, Before) or isinstance(extent, Until) or (size is None and _needs_size(position, extent)):
                later.append(i)
                continue
            before = reach if isinstance(position, After) and position.furthest and end is not None else end
            at = self._put(box, axis, size or 0.0, origin, before, self._key_before(boxes, i, axis), None)
            if box.length[axis] > 0:
                end = at
                reach = max(reach, at)
                if box.moves or axis == _X:
                    content = max(content, at)
        if size is None:
            size = max(0.0, content + pad)
        for i in reversed(later):
            before = next((b.start[axis] + b.length[axis] for b in reversed(boxes[:i]) if b.length[axis] > 0), None)
            following = next((b.start[axis] for b in boxes[i + 1 :] if b.length[axis] > 0), None)
            self._put(boxes[i], axis, size, origin, before, self._key_before(boxes, i, axis), following)
        return size

    @staticmethod
    def _key_before(boxes: list[_Box], i: int, axis: int) -> str:
        position = boxes[i].rules[axis].position
        if isinstance(position, After) and position.gaps:
            for j in range(i - 1, -1, -1):
                if boxes[j].length[axis] > 0:
                    return boxes[j].drawn.key
        return ""

    def _put(
        self, box: _Box, axis: int, size: float, origin: float, before: float | None, key_before: str, following: float | None
    ) -> float:
        """Places one box and what is in it; returns where it ends. All but `origin` is relative to its parent."""
        position, extent = box.rules[axis].position, box.rules[axis].extent
        start: float | None = None
        match position:
            case Near(at):
                start = at
            case After(gap, first, gaps):
                start = first if before is None else before + (dict(gaps).get(key_before, gap) if gaps else gap)
            case Pinned(at):
                start = at - origin
            case _:
                pass
        length = self._length(box, axis, extent, size, origin, start, following)
        match position:
            case Far(at):
                start = size - at - length
            case Middle(at):
                start = (size - length) / 2 + at
            case Before(gap, last):
                start = (size - last if following is None else following - gap) - length
            case Afloat(at, raised):
                start = self._floor(at, raised) - origin - length
            case _:
                pass
        assert start is not None
        box.start[axis] = start
        box.length[axis] = length
        if box.kids and not isinstance(extent, Wrap):
            self.lay(box.kids, axis, length, 0.0, origin + start)
        return start + length

    def _length(
        self, box: _Box, axis: int, extent: Extent, size: float, origin: float, start: float | None, following: float | None
    ) -> float:
        at = start or 0.0
        match extent:
            case Exactly(length):
                return max(0.0, length)
            case Wrap(pad, empty):
                length = self.lay(box.kids, axis, None, pad, origin + at)
                return length if any(kid.length[axis] > 0 for kid in box.kids) else max(0.0, empty)
            case Fill(inset):
                return max(0.0, size - inset - at)
            case Words(em, pad, most, known):
                seen = known.get(box.text)
                width = seen if seen is not None else em * width_of(box.text) + pad
                return max(0.0, width if most is None else min(width, most))
            case Lines(em, line, pad, most, inset, known):
                count = known.get(box.text) or lines_of(box.text, (box.length[_X] - inset) / em)
                return max(0.0, line * (count if most is None else min(count, most)) + pad)
            case Reach(inset, raised):
                return max(0.0, self._floor(inset, raised) - origin - at)
            case Until(gap, last):
                return max(0.0, (size - last if following is None else following - gap) - at)
            case Portion(share, more):
                return max(0.0, share * size + more)

    def _floor(self, above: float, raised: float | None) -> float:
        if self.keyboard and raised is not None:
            return self.bottom - raised
        return self.floor - above


def _needs_size(position: Position, extent: Extent) -> bool:
    return isinstance(position, Far | Middle | Before) or isinstance(extent, Fill | Until | Portion)


def _node(box: _Box, index: int, left: float, top: float, shift: int, scroll: int, clip: tuple[int, int, int, int]) -> Node:
    """The widget of a laid box and those below it; `left` and `top` are where its parent starts before scrolling."""
    if box.placement.hidden:
        return _nowhere(box.drawn, index)
    left += box.start[_X]
    top += box.start[_Y]
    if not box.moves:
        shift = 0
    x0, x1 = round(left), round(left + box.length[_X])
    y0, y1 = round(top) - shift, round(top + box.length[_Y]) - shift
    # A page that has moved up is longer than the screen, and so is what fills it.
    if shift and isinstance(box.rules[_Y].extent, Fill) and abs(y1 + shift - clip[3]) <= 1:
        y1 += shift
    whole = x1 - x0, y1 - y0
    x0, y0, x1, y1 = max(x0, clip[0]), max(y0, clip[1]), min(x1, clip[2]), min(y1, clip[3])
    # A last pixel that is left of what was cut comes of rounding.
    least = 1 if (x1 - x0, y1 - y0) == whole else 2
    bounds = Bounds(x0, y0, x1, y1) if x0 + min(least, whole[0]) <= x1 and y0 + min(least, whole[1]) <= y1 and x0 < x1 and y0 < y1 else _NOWHERE
    if box.placement.clips:
        clip = (x0, y0, x1, y1)
    below = shift + scroll if box.placement.scrolls else shift
    children = tuple([_node(kid, i, left, top, below, scroll, clip) for i, kid in enumerate(box.kids)])
    return replace(box.drawn.node, bounds=bounds, children=children, index=index if box.drawn.row is not None else box.drawn.node.index)


def _nowhere(drawn: Drawn, index: int) -> Node:
    children = tuple([_nowhere(child, i) for i, child in enumerate(drawn.children)])
    return replace(drawn.node, bounds=_NOWHERE, children=children, index=index if drawn.row is not None else drawn.node.index)
