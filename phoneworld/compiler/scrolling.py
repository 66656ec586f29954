"""How the content of a screen scrolls: where each capture was scrolled to, how far a finger moves it, where it ends.

Positions come of the placements (`arrangement.scroll_of`), the finger's part from recorded swipes: a phone moves content as far
as the finger once that has left a small circle (the touch slop), and further after a fling. What no swipe tells is as on Android.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from phoneworld.compiler.arrangement import scroll_of
from phoneworld.compiler.edges import Sample
from phoneworld.compiler.fitting import cluster
from phoneworld.compiler.history import Deed
from phoneworld.compiler.moments import MOMENT
from phoneworld.graph.graph import StateGraph
from phoneworld.program.effect import SetVar
from phoneworld.program.expr import Const
from phoneworld.program.placement import Placement
from phoneworld.program.program import Rule, Screen, Start
from phoneworld.program.template import Drawn, Scrolling, scroll
from phoneworld.sim.arrange import beyond
from phoneworld.ui.action import Swipe

_PAGE_SLOP_DP, _SLOP_DP = 15, 8
"""How far a finger moves before content follows: in Chromium's pages, and by `ViewConfiguration.TOUCH_SLOP`."""
_FURTHEST_SLOP_DP = 32


@dataclass(frozen=True, slots=True)
class Swiped:
    """A recorded swipe up or down: the slot it was done to, the captures around it, how far the finger moved down (up: negative)."""

    slot: str
    before: str
    after: str
    dy: int
    name: str = ""
    """The step, as `trace:index`."""


@dataclass(frozen=True, slots=True)
class Scrolled:
    """What was found: the placements with what scrolls marked in them, the position of each capture, the rule of moving."""

    placement: Mapping[str, Placement]
    positions: Mapping[str, int]
    scrolling: Scrolling | None


def find_scrolling(
    placement: Mapping[str, Placement], samples: Mapping[str, Sample], swipes: Sequence[Swiped], density: int
) -> Scrolled:
    """How one screen scrolls. `samples` are its captures by id. Linear in the widgets."""
    scroller = next((key for key, rule in placement.items() if rule.scrolls), None)
    was_seen = scroller is not None
    nodes = _of_slots(samples)
    if scroller is None:
        # A page scrolls once its content is longer than the screen, also where that was never seen.
        scroller = next((key for key, drawn in nodes.items() if any(d.node.class_name.endswith("WebView") for d in drawn)), None)
    if scroller is None or scroller not in placement or not any(d.children for d in nodes[scroller]):
        return Scrolled(placement, {}, None)
    marked = placement if was_seen else {**placement, scroller: replace(placement[scroller], scrolls=True, clips=True)}
    is_page = any(d.node.class_name.endswith("WebView") for d in nodes[scroller])
    scrollable = {c for c, s in samples.items() if any(d.key == scroller and d.node.scrollable for d in _every(s.windows))}
    positions = {c: scroll_of(s, marked) if was_seen and c in scrollable else 0 for c, s in samples.items()}
    longer = {c: beyond(s.windows, marked, s.size, keyboard=s.keyboard, density=density) for c, s in samples.items()}
    swipes = [s for s in swipes if s.slot == scroller and s.before in positions and s.after in positions]
    slop = (_PAGE_SLOP_DP if is_page else _SLOP_DP) * density / 160
    tolerance = next(iter(samples.values())).tolerance if samples else 0.0
    rest = _rest(positions, longer, swipes, slop + 2 * tolerance, scrollable if is_page else frozenset(positions))
    ratio, slop, cases = _finger(positions, swipes, slop, tolerance, density)
    return Scrolled(marked, positions, Scrolling(scroller, ratio, slop, rest, cases))


def _rest(
    positions: Mapping[str, int], longer: Mapping[str, float], swipes: Sequence[Swiped], slack: float, scrollable: frozenset[str] | set[str]
) -> float:
    """How far content goes on below its last widget: as told by swipes that came to its end, else as little as explains what was seen."""
    ends = [
        positions[s.after] - longer[s.after]
        for s in swipes
        if s.dy < 0 and positions[s.after] > 0 and positions[s.after] - positions[s.before] < -s.dy - slack
    ]
    # A page that says it scrolls has more content than fits; one that does not has none.
    least = [max(positions[c], 1) - longer[c] for c in positions if c in scrollable]
    most = [-longer[c] for c in positions if c not in scrollable]
    if ends:
        return round(median(ends), 2)
    low = max(0.0, cluster([v for v in least if v > 0], slack)[0]) if any(v > 0 for v in least) else 0.0
    return round(min([low, *most]) if not low or len(most) > len(least) else low, 2)


def _finger(
    positions: Mapping[str, int], swipes: Sequence[Swiped], slop: float, tolerance: float, density: int
) -> tuple[float, float, int]:
    """Ratio, slop and how many swipes agree. Content that moved less than the finger came to an end, which disproves nothing."""
    moves = [(abs(s.dy), (positions[s.before] - positions[s.after]) * (1 if s.dy > 0 else -1)) for s in swipes]
    flung = [moved / finger for finger, moved in moves if moved > finger + tolerance]
    lag = [float(finger - moved) for finger, moved in moves if -tolerance <= finger - moved <= _FURTHEST_SLOP_DP * density / 160]
    if len(flung) > len(lag):
        return round(median(flung), 3), 0.0, len(moves)
    if lag:
        slop = max(0.0, cluster(lag, tolerance)[0])
    return 1.0, slop, sum(1 for finger, moved in moves if moved <= finger - slop + 2 * tolerance)


def find_swipes(graph: StateGraph, deeds: Sequence[Deed]) -> list[Swiped]:
    """All recorded swipes up or down."""
    transitions = {(trace.id, i): t for trace in graph.traces for i, t in enumerate(trace.transitions)}
    found: list[Swiped] = []
    for deed in deeds:
        action = transitions[deed.trace, deed.index].action
        if isinstance(action, Swipe) and deed.aim.kind in ("swipe_up", "swipe_down"):
            found.append(Swiped(deed.aim.slot, deed.before.capture, deed.after.capture, action.y2 - action.y, deed.name))
    return found


def with_position(start: Start, screens: Mapping[str, Screen], look: str) -> Start:
    """A start at the position of its layout, which is named before a space."""
    layout = next((lay for lay in screens[start.screen].layouts if lay.id == look.partition(" ")[0]), None)
    if layout is None or not layout.scroll:
        return start
    return replace(start, variables=(*start.variables, (scroll(start.screen), layout.scroll)))


def with_positions(
    rules: Sequence[Rule], screens: Mapping[str, Screen], looks: Mapping[int, str], swipes: Sequence[Swiped]
) -> tuple[Rule, ...]:
    """The rules of recorded steps, each with where it leaves its page; those of swipes hold for the recorded ways of the finger only.

    `looks` names the layout of each moment, before a space.
    """
    ways = {swipe.name: str(swipe.dy) for swipe in swipes}
    home = {layout.id: (screen, layout) for screen in screens.values() for layout in screen.layouts}
    ever = {s.id for s in screens.values() if any(layout.scroll for layout in s.layouts)}
    made: list[Rule] = []
    for rule in rules:
        moment = next((e.value.value for e in rule.then if isinstance(e, SetVar) and e.name == MOMENT and isinstance(e.value, Const)), None)
        found = home.get(looks[moment].partition(" ")[0]) if isinstance(moment, int) and moment in looks else None
        if found is not None and found[0].template is not None and found[0].template.scrolling is not None:
            screen, layout = found
            if screen.id in ever or rule.on.kind.startswith("swipe"):
                rule = replace(rule, then=(*rule.then, SetVar(scroll(screen.id), Const(layout.scroll))))
        here = screens[rule.screen].template
        if here is not None and here.scrolling is not None and here.scrolling.slot == rule.on.node:
            told = sorted({ways[name] for name in rule.evidence.support if name in ways})
            if told:
                more = ("", *(f"-{i}" for i in range(1, len(told))))
                made += [replace(rule, id=rule.id + n, on=replace(rule.on, argument=way)) for way, n in zip(told, more, strict=True)]
                continue
        made.append(rule)
    return tuple(made)


def _of_slots(samples: Mapping[str, Sample]) -> dict[str, list[Drawn]]:
    found: dict[str, list[Drawn]] = {}
    for sample in samples.values():
        for drawn in _every(sample.windows):
            found.setdefault(drawn.key, []).append(drawn)
    return found


def _every(windows: Sequence[Drawn]) -> list[Drawn]:
    """All widgets in document order."""
    out: list[Drawn] = []
    stack = list(windows)[::-1]
    while stack:
        drawn = stack.pop()
        out.append(drawn)
        stack.extend(drawn.children[::-1])
    return out
