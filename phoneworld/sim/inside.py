"""What is inside a widget of a drawn tree: how long it is and where its children start in it. Knows no state and no recording.

That depends on its width and height and on little else, so it is laid out once for each of them and kept: a step changes a row,
and the others are there already. Lines of text break at a width, so x comes before y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from phoneworld.program.placement import (
    Afloat,
    After,
    Axis,
    Before,
    Exactly,
    Extent,
    Far,
    Fill,
    Line,
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

K = TypeVar("K")
V = TypeVar("V")
Facts = tuple[tuple[str, bool], ...]
"""Slots that are there, each with whether it is checked."""

_NOWHERE = Bounds(0, 0, 0, 0)
_KEPT = 8192
_PLANS_KEPT = 64
_ANYWHERE = -1


class Placing:
    """A placement made ready."""

    __slots__ = ("axes", "clips", "fills", "hidden", "moves", "scrolls")

    def __init__(self, placement: Placement, x: Axis, y: Axis) -> None:
        self.axes = ((x.position, x.extent), (y.position, y.extent))
        self.clips, self.scrolls, self.hidden = placement.clips, placement.scrolls, placement.hidden
        self.moves = not isinstance(y.position, Pinned | Afloat)
        self.fills = isinstance(y.extent, Fill | Reach)


class Laid:
    """What is inside a widget: how long it is, and where its children start in it. Immutable once made, but for `node`."""

    __slots__ = ("built", "drawn", "height", "kids", "reach", "rule", "scroller", "width", "xs", "ys")

    def __init__(
        self, drawn: Drawn, rule: Placing, width: float, height: float, kids: Sequence[Laid], xs: Sequence[float], ys: Sequence[float]
    ) -> None:
        self.drawn, self.rule, self.width, self.height = drawn, rule, width, height
        self.kids, self.xs, self.ys = kids, xs, ys
        self.built: tuple[tuple[object, ...], Node] | None = None
        # What fills its parent ends where that does, however long the content is: only what is in it counts.
        reach = own = 0.0 if rule.fills else height
        scroller = self if rule.scrolls and not rule.hidden else None
        for i, kid in enumerate(kids):
            if scroller is None:
                scroller = kid.scroller
            if ys[i] + kid.reach > reach and kid.rule.moves and not kid.rule.hidden:
                reach = ys[i] + kid.reach
        self.scroller: Laid | None = scroller
        """What scrolls in it, the outermost."""
        self.reach: float = own if rule.clips or rule.hidden else reach
        """How far below its start what moves with it reaches."""


class Plan:
    """All that is kept of one template's placements, and of the widgets laid out by them: found by identity, and kept with it."""

    __slots__ = ("_about", "_arounds", "_watched", "as_drawn", "cases", "laid", "placement", "rules", "shrunk")

    def __init__(self, placement: Mapping[str, Placement]) -> None:
        self.placement = placement
        self.rules = {key: Placing(p, p.x, p.y) for key, p in placement.items()}
        self.cases = {
            key: tuple((c.key, c.checked, Placing(p, c.x, c.y)) for c in p.cases) for key, p in placement.items() if p.cases
        }
        self._watched = frozenset(case.key for p in placement.values() for case in p.cases)
        self._about: dict[int, tuple[bool, Facts, Drawn]] = {}
        self.laid: dict[tuple[int, float, float | None, float, int], Laid] = {}
        self.shrunk: dict[tuple[int, float, float, int], tuple[float, Drawn]] = {}
        self._arounds: dict[tuple[object, ...], int] = {}
        self.as_drawn: dict[tuple[int, int, int, int, bool], Placing] = {}

    def number(self, around: tuple[object, ...]) -> int:
        """A number for the circumstances that what is laid out may depend on."""
        if len(self._arounds) >= _KEPT:
            for kept in (self._arounds, self.laid, self.shrunk):
                kept.clear()
        return self._arounds.setdefault(around, len(self._arounds))

    def about(self, drawn: Drawn) -> tuple[bool, Facts, Drawn]:
        """Whether what is inside a widget depends on its size only (not on the screen, the keyboard or other slots); what is there
        of the slots that others ask for."""
        known = self._about.get(id(drawn))
        if known is not None:
            return known
        alone = True
        facts: Facts = ((drawn.key, drawn.node.checked),) if drawn.key in self._watched else ()
        for kid in drawn.children:
            placement = self.placement.get(kid.key)
            # Without a placement it lies as it was seen in its parent, which is part of what is laid out.
            if placement is not None and (placement.cases or _asks_more(placement.x) or _asks_more(placement.y)):
                alone = False
            inner, more, _ = self.about(kid)
            alone = inner and alone
            facts += more
        known = (alone, facts, drawn)
        _keep(self._about, id(drawn), known)
        return known


def _asks_more(axis: Axis) -> bool:
    """True for what lies by the screen or by the keyboard."""
    return isinstance(axis.position, Pinned | Afloat) or isinstance(axis.extent, Reach)


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    if len(kept) >= _KEPT:
        kept.clear()
    kept[key] = value


_plans: dict[int, Plan] = {}


def plan_of(placement: Mapping[str, Placement]) -> Plan:
    plan = _plans.get(id(placement))
    if plan is None:
        if len(_plans) >= _PLANS_KEPT:
            _plans.clear()
        plan = _plans[id(placement)] = Plan(placement)
    return plan


class Page:
    """One arranging: the screen, and what is there."""

    __slots__ = ("around", "bottom", "floor", "keyboard", "plan", "size", "there", "windows")

    def __init__(self, plan: Plan, windows: tuple[Drawn, ...], size: Size, keyboard: bool, density: int) -> None:
        self.plan = plan
        self.windows = windows
        self.size = size
        self.keyboard = keyboard
        self.bottom = size.height
        self.floor = system.keyboard_bounds(size, density).top if keyboard else size.height
        facts = tuple([fact for drawn in windows for fact in plan.about(drawn)[1]])
        self.there = dict(facts)
        self.around = plan.number((size.height, self.floor, facts))
        """Names all of it that what is inside a widget may depend on beside its size and its place."""

    def inside_screen(self) -> tuple[Sequence[Laid], Sequence[float], Sequence[float]]:
        """The windows laid out, and where they start."""
        kids, xs, ys, _ = self.children(self.windows, None, self.size.width, self.size.height, 0.0, 0.0)
        return kids, xs, ys

    def rule(self, drawn: Drawn, parent: Drawn | None) -> Placing:
        key = drawn.key
        if key in self.plan.cases:
            there = self.there
            for other, checked, rule in self.plan.cases[key]:
                if other in there and (checked is None or checked == there[other]):
                    return rule
        found = self.plan.rules.get(key)
        return found if found is not None else self.as_drawn(drawn, parent)

    def as_drawn(self, drawn: Drawn, parent: Drawn | None) -> Placing:
        """Where a slot without a rule lies: as its node did in the node around it, rows of a list below each other."""
        own = drawn.node.bounds
        around = parent.node.bounds if parent is not None else _NOWHERE
        in_list = parent is not None and drawn.row is not None and parent.row is None
        key = (own.left - around.left, own.top - around.top, own.right - own.left, own.bottom - own.top, in_list)
        found = self.plan.as_drawn.get(key)
        if found is None:
            left, top = float(key[0]), float(key[1])
            x, y = Axis(Near(left), Exactly(own.width)), Axis(After(0.0, top) if in_list else Near(top), Exactly(own.height))
            found = Placing(Placement(x, y), x, y)
            _keep(self.plan.as_drawn, key, found)
        return found

    def inside(self, drawn: Drawn, rule: Placing, width: float, height: float | None, pad: float, empty: float, top: float) -> Laid:
        """What is inside a widget of this size; where `height` is None it wraps its children."""
        plan = self.plan
        key = (id(drawn), width, height, 0.0, _ANYWHERE) if plan.about(drawn)[0] else (id(drawn), width, height, top, self.around)
        known = plan.laid.get(key)
        if known is not None and known.rule is rule:
            return known
        if drawn.children:
            kids, xs, ys, end = self.children(drawn.children, drawn, width, height, pad, top)
            if height is None and not any(kid.height > 0 for kid in kids):
                end = max(0.0, empty)
        else:
            kids, xs, ys, end = [], [], [], max(0.0, empty) if height is None else height
        laid = Laid(drawn, rule, width, end, kids, xs, ys)
        _keep(plan.laid, key, laid)
        return laid

    def children(
        self, drawn: tuple[Drawn, ...], parent: Drawn | None, width: float, height: float | None, pad: float, top: float
    ) -> tuple[list[Laid], list[float], list[float], float]:
        """Siblings laid out, where they start in their parent, and how high that is."""
        rules = [self.rule(kid, parent) for kid in drawn]
        xs, widths, _ = self.along(drawn, rules, 0, width, 0.0, 0.0, (), (), [])
        kids: list[Laid | None] = [None] * len(drawn)
        ys, heights, end = self.along(drawn, rules, 1, height, pad, top, xs, widths, kids)
        laid = [
            kid if kid is not None else self.inside(drawn[i], rules[i], widths[i], heights[i], 0.0, 0.0, top + ys[i])
            for i, kid in enumerate(kids)
        ]
        return laid, xs, ys, end

    def along(
        self,
        drawn: tuple[Drawn, ...],
        rules: Sequence[Placing],
        axis: int,
        size: float | None,
        pad: float,
        origin: float,
        xs: Sequence[float],
        widths: Sequence[float],
        kids: list[Laid | None],
    ) -> tuple[list[float], list[float], float]:
        """Starts and lengths of siblings along an axis, and how long their parent is: where `size` is None it wraps them.

        What needs to know the parent's extent, or what comes after it, is placed last, backwards.
        """
        count = len(drawn)
        starts = [0.0] * count
        lengths = [0.0] * count
        later: list[int] = []
        last = -1
        end = reach = content = 0.0
        for i in range(count):
            rule = rules[i]
            if rule.hidden:
                continue
            position, extent = rule.axes[axis]
            if type(extent) is Until or type(position) is Before or (size is None and _waits(position, extent)):
                later.append(i)
                continue
            whole = size if size is not None else 0.0
            # The start first, where it does not hang on the length.
            start = 0.0
            if type(position) is Near:
                start = position.at
            elif type(position) is After:
                start = self._after(position, drawn, last, end, reach)
            elif type(position) is Line:
                start = position.first if last < 0 else starts[last] if axis and xs[i] > xs[last] else reach + position.gap
            elif type(position) is Pinned:
                start = position.at - origin
            if type(extent) is Exactly:
                length = extent.length
            elif type(extent) is Fill:
                length = whole - extent.inset - start
            else:
                length = self._length(drawn[i], rule, axis, extent, whole, origin + start, widths[i] if axis else 0.0, kids, i)
            if length < 0.0:
                length = 0.0
            if type(position) is Far:
                start = whole - position.at - length
            elif type(position) is Middle:
                start = (whole - length) / 2 + position.at
            elif type(position) is Afloat:
                start = self._floor(position.at, position.raised) - origin - length
            elif type(position) is After and position.wraps and last >= 0 and start + length > whole + 1.0:
                start = position.first
            starts[i] = start
            lengths[i] = length
            if length > 0.0:
                last = i
                end = start + length
                if end > reach:
                    reach = end
                if end > content and (rule.moves or not axis):
                    content = end
        if size is None:
            size = content + pad if content + pad > 0.0 else 0.0
        for i in reversed(later):
            self._late(drawn, rules, i, axis, size, origin, starts, lengths, widths, kids)
        return starts, lengths, size

    def _late(
        self,
        drawn: tuple[Drawn, ...],
        rules: Sequence[Placing],
        i: int,
        axis: int,
        size: float,
        origin: float,
        starts: list[float],
        lengths: list[float],
        widths: Sequence[float],
        kids: list[Laid | None],
    ) -> None:
        """Places one of those that wait for the parent's extent or for what comes after them."""
        position, extent = rules[i].axes[axis]
        following = next((starts[j] for j in range(i + 1, len(drawn)) if lengths[j] > 0.0), None)
        last = next((j for j in range(i - 1, -1, -1) if lengths[j] > 0.0), -1)
        start = 0.0
        match position:
            case Near(at):
                start = at
            case Pinned(at):
                start = at - origin
            case After():
                ends = [starts[j] + lengths[j] for j in range(i) if lengths[j] > 0.0]
                start = self._after(position, drawn, last, starts[last] + lengths[last] if last >= 0 else 0.0, max(ends, default=0.0))
            case Line(gap, first):
                start = first if last < 0 else starts[last] + lengths[last] + gap
            case _:
                pass
        match extent:
            case Until(gap, at_end):
                length = (size - at_end if following is None else following - gap) - start
            case Fill(inset):
                length = size - inset - start
            case Exactly(fixed):
                length = fixed
            case _:
                length = self._length(drawn[i], rules[i], axis, extent, size, origin + start, widths[i] if axis else 0.0, kids, i)
        length = max(0.0, length)
        match position:
            case Far(at):
                start = size - at - length
            case Middle(at):
                start = (size - length) / 2 + at
            case Before(gap, at_end):
                start = (size - at_end if following is None else following - gap) - length
            case Afloat(at, raised):
                start = self._floor(at, raised) - origin - length
            case _:
                pass
        starts[i], lengths[i] = start, length

    def _after(self, position: After, drawn: tuple[Drawn, ...], last: int, end: float, reach: float) -> float:
        if last < 0:
            return position.first
        gap = position.gap
        if position.gaps:
            key = drawn[last].key
            gap = next((g for k, g in position.gaps if k == key), gap)
        return (reach if position.furthest else end) + gap

    def _length(
        self,
        drawn: Drawn,
        rule: Placing,
        axis: int,
        extent: Extent,
        size: float,
        top: float,
        width: float,
        kids: list[Laid | None],
        i: int,
    ) -> float:
        """How long a widget is that is neither of a fixed length nor filling its parent; `top` is where it starts on the screen."""
        match extent:
            case Wrap(pad, empty):
                if not axis:
                    return self._shrunk(drawn, pad, empty)
                laid = self.inside(drawn, rule, width, None, pad, empty, top)
                kids[i] = laid
                return laid.height
            case Words(em, pad, most, known):
                text = _text(drawn.node)
                seen = known.get(text) if known else None
                length = seen if seen is not None else em * width_of(text) + pad
                return length if most is None or length < most else most
            case Lines(em, line, pad, most_lines, inset, counts):
                text = _text(drawn.node)
                count = counts.get(text) or lines_of(text, (width - inset) / em)
                return line * (count if most_lines is None or count < most_lines else most_lines) + pad
            case Reach(inset, raised):
                return self._floor(inset, raised) - top
            case Portion(share, more):
                return share * size + more
            case _:
                return 0.0

    def _shrunk(self, drawn: Drawn, pad: float, empty: float) -> float:
        """The width of a widget that wraps its children."""
        key = (id(drawn), pad, empty, _ANYWHERE if self.plan.about(drawn)[0] else self.around)
        known = self.plan.shrunk.get(key)
        if known is not None:
            return known[0]
        width = empty
        if drawn.children:
            rules = [self.rule(kid, drawn) for kid in drawn.children]
            _, lengths, size = self.along(drawn.children, rules, 0, None, pad, 0.0, (), (), [])
            if any(lengths):
                width = size
        _keep(self.plan.shrunk, key, (width, drawn))
        return width

    def _floor(self, above: float, raised: float | None) -> float:
        if self.keyboard and raised is not None:
            return self.bottom - raised
        return self.floor - above


def _waits(position: Position, extent: Extent) -> bool:
    """True for what cannot be placed before its parent's extent is known."""
    return isinstance(position, Far | Middle) or isinstance(extent, Fill | Portion)


def _text(node: Node) -> str:
    return node.text or node.content_desc or node.hint or ""
