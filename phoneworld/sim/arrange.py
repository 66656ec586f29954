"""A drawn tree and the placements of its slots, to widgets with bounds. Knows no state and no recording.

`inside.py` lays out what is inside each widget; a second walk, here, makes bounds of it: moves by the scroll position, cuts to
what clips, rounds. Total: every tree has a place, whatever its placements say; a slot without one keeps the bounds of its
node, rows of it below each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from phoneworld.program.placement import Placement, Wrap
from phoneworld.program.template import Drawn
from phoneworld.sim.inside import Laid, Page, plan_of
from phoneworld.sim.nodes import NAMES, node_of, values_of
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node

_NOWHERE = Bounds(0, 0, 0, 0)
_BOUNDS, _INDEX, _CHILDREN, _SCROLLABLE = (NAMES.index(name) for name in ("bounds", "index", "children", "scrollable"))

Edges = tuple[float, float, float, float]


def arrange(
    windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int, scroll: int = 0
) -> tuple[Node, ...]:
    """The windows as widgets with children and bounds, in pixels of a screen of `size`.

    `scroll` is how many pixels the content of the slot that scrolls has moved up. Linear in the nodes; what was arranged
    before in the same place costs next to nothing. Neither placement nor trees may be changed afterwards.
    """
    laid, xs, ys = Page(plan_of(placement), windows, size, keyboard, density).inside_screen()
    return _Bounds(scroll, None).windows(laid, xs, ys, size)


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
    laid, xs, ys = Page(plan_of(placement), windows, size, keyboard, density).inside_screen()
    longer = _beyond(laid, ys, size)
    if longer is None:
        return Arranged(_Bounds(0, None).windows(laid, xs, ys, size), 0, 0)
    # A page one pixel of its own too long stays where it is.
    most = max(0, round(longer + rest))
    most = most if most > density // 160 else 0
    scroll = min(max(scroll, 0), most)
    return Arranged(_Bounds(scroll, most).windows(laid, xs, ys, size), scroll, most)


def beyond(windows: tuple[Drawn, ...], placement: Mapping[str, Placement], size: Size, *, keyboard: bool, density: int) -> float:
    """How far what scrolls reaches below the end of what it scrolls in; negative where it is shorter, 0 where nothing scrolls."""
    laid, _, ys = Page(plan_of(placement), windows, size, keyboard, density).inside_screen()
    return _beyond(laid, ys, size) or 0.0


def _beyond(laid: Sequence[Laid], ys: Sequence[float], size: Size) -> float | None:
    """As `beyond`; None where nothing scrolls."""
    scroller = next((w.scroller for w in laid if w.scroller is not None), None)
    if scroller is None or not scroller.kids:
        return None
    top = 0.0
    at: Laid | None = None
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
    laid, xs, ys = Page(plan_of(placement), windows, size, keyboard, density).inside_screen()
    out: list[Edges] = []
    stack = [(w, x, y) for w, x, y in reversed(list(zip(laid, xs, ys, strict=True)))]
    while stack:
        box, left, top = stack.pop()
        out.append((left, top, left + box.width, top + box.height))
        stack += [(kid, left + x, top + y) for kid, x, y in reversed(list(zip(box.kids, box.xs, box.ys, strict=True)))]
    return out


class _Bounds:
    """The walk from what was laid out to widgets with bounds."""

    __slots__ = ("longer", "scroll")

    def __init__(self, scroll: int, longer: int | None) -> None:
        self.scroll = scroll
        self.longer = longer
        """How far the content can be moved; None where that is not asked, and what scrolls is said by the nodes."""

    def windows(self, laid: Sequence[Laid], xs: Sequence[float], ys: Sequence[float], size: Size) -> tuple[Node, ...]:
        clip = (0, 0, size.width, size.height)
        return tuple([self.node(w, i, xs[i], ys[i], 0, clip) for i, w in enumerate(laid)])

    def node(self, laid: Laid, index: int, left: float, top: float, shift: int, clip: tuple[int, int, int, int]) -> Node:
        """The widget of what was laid out, and those below it; `left` and `top` are where it starts before scrolling."""
        key = (index, left, top, shift, clip, *((self.scroll, self.longer) if laid.scroller is not None else ()))
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
        below = shift + self.scroll if rule.scrolls else shift
        values = list(values_of(drawn.node))
        values[_BOUNDS] = Bounds(x0, y0, x1, y1) if shown else _NOWHERE
        if rule.scrolls and self.longer is not None:
            values[_SCROLLABLE] = self.longer > 0
        xs, ys = laid.xs, laid.ys
        if laid.kids:
            values[_CHILDREN] = tuple([self.node(kid, i, left + xs[i], top + ys[i], below, inner) for i, kid in enumerate(laid.kids)])
        if drawn.row is not None:
            values[_INDEX] = index
        node = node_of(values)
        laid.built = (key, node)
        return node


def _nowhere(drawn: Drawn, index: int) -> Node:
    values = list(values_of(drawn.node))
    values[_BOUNDS] = _NOWHERE
    values[_CHILDREN] = tuple([_nowhere(child, i) for i, child in enumerate(drawn.children)])
    if drawn.row is not None:
        values[_INDEX] = index
    return node_of(values)
