"""A drawn tree and the placements of its slots, to widgets with bounds. Knows no state and no recording.

What is inside a widget depends on its width and height and on little else, so it is laid out once for each of them and kept:
a step changes a row, and the others are there already. Lines of text break at a width, so x comes before y. A second walk
makes bounds of it: moves by the scroll position, cuts to what clips, rounds. Total: every tree has a place, whatever its
placements say; a slot without one keeps the bounds of its node, rows of it below each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from phoneworld.sim.nodes import NAMES, node_of, values_of
from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node

_NOWHERE = Bounds(0, 0, 0, 0)
_KEPT = 4096
_PLANS_KEPT = 64
_BOUNDS, _INDEX, _CHILDREN, _SCROLLABLE = (NAMES.index(name) for name in ("bounds", "index", "children", "scrollable"))

Edges = tuple[float, float, float, float]


def arrange(
    windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int, scroll: int = 0
) -> tuple[Node, ...]:
    """The windows as widgets with children and bounds, in pixels of a screen of `size`.

    `scroll` is how many pixels the content of the slot that scrolls has moved up. Linear in the nodes; what was arranged
    before in the same place costs next to nothing. Neither placement nor trees may be changed afterwards.
    """
    page = _Page(_plan(placement), windows, size, keyboard, density)
    laid, xs, ys = page.inside_screen()
    clip = (0, 0, size.width, size.height)
    return tuple([page.node(w, i, xs[i], ys[i], 0, scroll, clip) for i, w in enumerate(laid)])


@dataclass(frozen=True, slots=True)
class Arranged:
    """Windows arranged, how far their content was moved up, and how far it can be moved at all."""

    windows: tuple[Node, ...]
    scroll: int
    most: int


def arrange_scrolled(
    windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int, scroll: int, rest: float
) -> Arranged:
    """As `arrange`, but no further than the content goes, which ends `rest` below its last widget; that it scrolls is told by its node.

    A page without scrolling parts is at 0 of 0.
    """
    page = _Page(_plan(placement), windows, size, keyboard, density)
    laid, xs, ys = page.inside_screen()
    clip = (0, 0, size.width, size.height)
    longer = _beyond(laid, ys, size)
    most = 0
    if longer is not None:
        # A page one pixel of its own too long stays where it is.
        most = max(0, round(longer + rest))
        page.longer = most = most if most > density // 160 else 0
        scroll = min(max(scroll, 0), most)
    else:
        scroll = 0
    return Arranged(tuple([page.node(w, i, xs[i], ys[i], 0, scroll, clip) for i, w in enumerate(laid)]), scroll, most)


def beyond(windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int) -> float:
    """How far what scrolls reaches below the end of what it scrolls in; negative where it is shorter, 0 where nothing scrolls."""
    laid, _, ys = _Page(_plan(placement), windows, size, keyboard, density).inside_screen()
    return _beyond(laid, ys, size) or 0.0


def _beyond(laid: Sequence[_Laid], ys: Sequence[float], size: Size) -> float | None:
    """As `beyond`; None where nothing scrolls."""
    scroller = next((w.scroller for w in laid if w.scroller is not None), None)
    if scroller is None or not scroller.kids:
        return None
    top = 0.0
    at: _Laid | None = None
    while at is not scroller:
        place = next(i for i, kid in enumerate(laid) if kid.scroller is scroller)
        at, top = laid[place], top + ys[place]
        laid, ys = at.kids, at.ys
    ends = [y + kid.reach for kid, y in zip(scroller.kids, scroller.ys, strict=True) if kid.rule.moves and not kid.rule.hidden]
    # What is as high as its content is cut by the screen, as far as anyone can see.
    wraps = type(scroller.rule.axes[1][1]) is Wrap
    end = float(size.height) if wraps or top + scroller.height > size.height else top + scroller.height
    return top + max(ends, default=0.0) - end


def whole_bounds(
    windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int
) -> list[Edges]:
    """Left, top, right and bottom of every widget in document order, not scrolled and not cut."""
    laid, xs, ys = _Page(_plan(placement), windows, size, keyboard, density).inside_screen()
    out: list[Edges] = []
    stack = [(w, x, y) for w, x, y in reversed(list(zip(laid, xs, ys, strict=True)))]
    while stack:
        box, left, top = stack.pop()
        out.append((left, top, left + box.width, top + box.height))
        stack += [(kid, left + x, top + y) for kid, x, y in reversed(list(zip(box.kids, box.xs, box.ys, strict=True)))]
    return out


class _Rule:
    """A placement made ready."""

    __slots__ = ("axes", "clips", "fills", "hidden", "moves", "scrolls")

    def __init__(self, placement: Placement, x: Axis, y: Axis) -> None:
        self.axes = ((x.position, x.extent), (y.position, y.extent))
        self.clips, self.scrolls, self.hidden = placement.clips, placement.scrolls, placement.hidden
        self.moves = not isinstance(y.position, Pinned | Afloat)
        self.fills = isinstance(y.extent, Fill | Reach)


class _Laid:
    """What is inside a widget: how long it is, and where its children start in it. Immutable once made, but for `node`."""

    __slots__ = ("built", "drawn", "height", "kids", "reach", "rule", "scroller", "width", "xs", "ys")

    def __init__(
        self, drawn: Drawn, rule: _Rule, width: float, height: float, kids: Sequence[_Laid], xs: Sequence[float], ys: Sequence[float]
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
        self.scroller: _Laid | None = scroller
        """What scrolls in it, the outermost."""
        self.reach: float = own if rule.clips or rule.hidden else reach
        """How far below its start what moves with it reaches."""


class _Plan:
    """All that is kept of one template's placements."""

    __slots__ = ("alone", "as_drawn", "cases", "laid", "placement", "rules", "shrunk")

    def __init__(self, placement: Mapping[str, Placement]) -> None:
        self.placement = placement
        self.rules = {key: _Rule(p, p.x, p.y) for key, p in placement.items()}
        self.cases = {
            key: tuple((c.key, c.checked, _Rule(p, c.x, c.y)) for c in p.cases) for key, p in placement.items() if p.cases
        }
        self.laid: dict[tuple[int, float, float | None], _Laid] = {}
        self.shrunk: dict[int, tuple[float, Drawn]] = {}
        self.alone: dict[int, tuple[bool, Drawn]] = {}
        self.as_drawn: dict[tuple[int, int, int, int, bool], _Rule] = {}

    def is_alone(self, drawn: Drawn) -> bool:
        """True where what is inside a widget depends on its size only: not on the screen, the keyboard or other slots."""
        known = self.alone.get(id(drawn))
        if known is not None:
            return known[0]
        alone = True
        for kid in drawn.children:
            placement = self.placement.get(kid.key)
            # Without a placement it lies as it was seen in its parent, which is part of what is laid out.
            if placement is not None and (
                placement.cases or isinstance(placement.y.position, Pinned | Afloat) or isinstance(placement.y.extent, Reach)
            ):
                alone = False
            alone = self.is_alone(kid) and alone
        if len(self.alone) >= _KEPT:
            self.alone.clear()
        self.alone[id(drawn)] = (alone, drawn)
        return alone


_plans: dict[int, _Plan] = {}


def _plan(placement: Mapping[str, Placement]) -> _Plan:
    plan = _plans.get(id(placement))
    if plan is None:
        if len(_plans) >= _PLANS_KEPT:
            _plans.clear()
        plan = _plans[id(placement)] = _Plan(placement)
    return plan


class _Page:
    """One arranging: the screen, and what is there."""

    __slots__ = ("bottom", "floor", "keyboard", "longer", "plan", "size", "there", "windows")

    def __init__(self, plan: _Plan, windows: tuple[Drawn, ...], size: Size, keyboard: bool, density: int) -> None:
        self.plan = plan
        self.windows = windows
        self.size = size
        self.keyboard = keyboard
        self.longer: int | None = None
        """How far its content can be moved; None where that is not asked, and what scrolls is said by the nodes."""
        self.bottom = size.height
        self.floor = system.keyboard_bounds(size, density).top if keyboard else size.height
        self.there: Mapping[str, bool] = {d.key: d.node.checked for d in _every(windows)} if plan.cases else {}

    def inside_screen(self) -> tuple[Sequence[_Laid], Sequence[float], Sequence[float]]:
        """The windows laid out, and where they start."""
        kids, xs, ys, _ = self.children(self.windows, None, self.size.width, self.size.height, 0.0, 0.0)
        return kids, xs, ys

    def rule(self, drawn: Drawn, parent: Drawn | None) -> _Rule:
        key = drawn.key
        if key in self.plan.cases:
            there = self.there
            for other, checked, rule in self.plan.cases[key]:
                if other in there and (checked is None or checked == there[other]):
                    return rule
        found = self.plan.rules.get(key)
        return found if found is not None else self.as_drawn(drawn, parent)

    def as_drawn(self, drawn: Drawn, parent: Drawn | None) -> _Rule:
        """Where a slot without a rule lies: as its node did in the node around it, rows of a list below each other."""
        own = drawn.node.bounds
        around = parent.node.bounds if parent is not None else _NOWHERE
        in_list = parent is not None and drawn.row is not None and parent.row is None
        key = (own.left - around.left, own.top - around.top, own.right - own.left, own.bottom - own.top, in_list)
        found = self.plan.as_drawn.get(key)
        if found is None:
            left, top = float(key[0]), float(key[1])
            x, y = Axis(Near(left), Exactly(own.width)), Axis(After(0.0, top) if in_list else Near(top), Exactly(own.height))
            if len(self.plan.as_drawn) >= _KEPT:
                self.plan.as_drawn.clear()
            found = self.plan.as_drawn[key] = _Rule(Placement(x, y), x, y)
        return found

    def inside(self, drawn: Drawn, rule: _Rule, width: float, height: float | None, pad: float, empty: float, top: float) -> _Laid:
        """What is inside a widget of this size; where `height` is None it wraps its children."""
        alone = self.plan.is_alone(drawn)
        key = (id(drawn), width, height)
        if alone:
            known = self.plan.laid.get(key)
            if known is not None and known.rule is rule:
                return known
        if drawn.children:
            kids, xs, ys, end = self.children(drawn.children, drawn, width, height, pad, top)
            if height is None and not any(kid.height > 0 for kid in kids):
                end = max(0.0, empty)
        else:
            kids, xs, ys, end = [], [], [], max(0.0, empty) if height is None else height
        laid = _Laid(drawn, rule, width, end, kids, xs, ys)
        if alone:
            if len(self.plan.laid) >= _KEPT:
                self.plan.laid.clear()
            self.plan.laid[key] = laid
        return laid

    def children(
        self, drawn: tuple[Drawn, ...], parent: Drawn | None, width: float, height: float | None, pad: float, top: float
    ) -> tuple[list[_Laid], list[float], list[float], float]:
        """Siblings laid out, where they start in their parent, and how high that is."""
        rules = [self.rule(kid, parent) for kid in drawn]
        xs, widths, _ = self.along(drawn, rules, 0, width, 0.0, 0.0, (), (), [])
        kids: list[_Laid | None] = [None] * len(drawn)
        ys, heights, end = self.along(drawn, rules, 1, height, pad, top, xs, widths, kids)
        laid = [
            kid if kid is not None else self.inside(drawn[i], rules[i], widths[i], heights[i], 0.0, 0.0, top + ys[i])
            for i, kid in enumerate(kids)
        ]
        return laid, xs, ys, end

    def along(
        self,
        drawn: tuple[Drawn, ...],
        rules: Sequence[_Rule],
        axis: int,
        size: float | None,
        pad: float,
        origin: float,
        xs: Sequence[float],
        widths: Sequence[float],
        kids: list[_Laid | None],
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
        rules: Sequence[_Rule],
        i: int,
        axis: int,
        size: float,
        origin: float,
        starts: list[float],
        lengths: list[float],
        widths: Sequence[float],
        kids: list[_Laid | None],
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
        rule: _Rule,
        axis: int,
        extent: Extent,
        size: float,
        top: float,
        width: float,
        kids: list[_Laid | None],
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
        known = self.plan.shrunk.get(id(drawn))
        if known is not None:
            return known[0]
        width = empty
        if drawn.children:
            rules = [self.rule(kid, drawn) for kid in drawn.children]
            _, lengths, size = self.along(drawn.children, rules, 0, None, pad, 0.0, (), (), [])
            if any(lengths):
                width = size
        if self.plan.is_alone(drawn):
            if len(self.plan.shrunk) >= _KEPT:
                self.plan.shrunk.clear()
            self.plan.shrunk[id(drawn)] = (width, drawn)
        return width

    def _floor(self, above: float, raised: float | None) -> float:
        if self.keyboard and raised is not None:
            return self.bottom - raised
        return self.floor - above

    def node(
        self, laid: _Laid, index: int, left: float, top: float, shift: int, scroll: int, clip: tuple[int, int, int, int]
    ) -> Node:
        """The widget of what was laid out, and those below it; `left` and `top` are where it starts before scrolling."""
        key = (index, left, top, shift, scroll, clip, self.longer)
        built = laid.built
        if built is not None and built[0] == key:
            return built[1]
        rule, drawn = laid.rule, laid.drawn
        if rule.hidden:
            node = _nowhere(drawn, index)
            laid.built = (key, node)
            return node
        if not rule.moves:
            shift = 0
        x0, x1 = round(left), round(left + laid.width)
        y0, y1 = round(top) - shift, round(top + laid.height) - shift
        # A page that has moved up is longer than the screen, and so is what fills it; what fills a row of it is not.
        if shift and rule.fills and drawn.row is None and abs(y1 + shift - clip[3]) <= 1:
            y1 += shift
        wide, high = x1 - x0, y1 - y0
        if x0 < clip[0]:
            x0 = clip[0]
        if y0 < clip[1]:
            y0 = clip[1]
        if x1 > clip[2]:
            x1 = clip[2]
        if y1 > clip[3]:
            y1 = clip[3]
        if x1 - x0 == wide and y1 - y0 == high:
            shown = wide > 0 and high > 0
        else:
            # A last pixel that is left of what was cut comes of rounding.
            shown = x1 - x0 >= min(2, max(wide, 1)) and y1 - y0 >= min(2, max(high, 1))
        inner = (x0, y0, x1, y1) if rule.clips else clip
        below = shift + scroll if rule.scrolls else shift
        values = list(values_of(drawn.node))
        values[_BOUNDS] = Bounds(x0, y0, x1, y1) if shown else _NOWHERE
        if rule.scrolls and self.longer is not None:
            values[_SCROLLABLE] = self.longer > 0
        xs, ys = laid.xs, laid.ys
        if laid.kids:
            values[_CHILDREN] = tuple([self.node(kid, i, left + xs[i], top + ys[i], below, scroll, inner) for i, kid in enumerate(laid.kids)])
        if drawn.row is not None:
            values[_INDEX] = index
        node = node_of(values)
        laid.built = (key, node)
        return node


def _waits(position: Position, extent: Extent) -> bool:
    """True for what cannot be placed before its parent's extent is known."""
    return isinstance(position, Far | Middle) or isinstance(extent, Fill | Portion)


def _text(node: Node) -> str:
    return node.text or node.content_desc or node.hint or ""


def _every(windows: tuple[Drawn, ...]) -> list[Drawn]:
    every = list(windows)
    for drawn in every:
        every.extend(drawn.children)
    return every


def _nowhere(drawn: Drawn, index: int) -> Node:
    values = list(values_of(drawn.node))
    values[_BOUNDS] = _NOWHERE
    values[_CHILDREN] = tuple([_nowhere(child, i) for i, child in enumerate(drawn.children)])
    if drawn.row is not None:
        values[_INDEX] = index
    return node_of(values)
