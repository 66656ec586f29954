"""Where the slots of a template lie, inferred from its captures: the cheapest rule an edge that explains what was seen.

Every edge of every widget is compared with those around it (its parent, the siblings before and after, the screen, the floor);
for each kind of rule the best length is found, and the kinds compete by the share they explain and a price each (`fitting.py`,
`wording.py`). Rules first come from all captures as if none was scrolled; then each capture's shift against them is its scroll
position, and the rules are found again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from phoneworld.compiler.edges import Sample, Seen, Slots, X, Y, collect
from phoneworld.compiler.fitting import Candidate, cluster, extent_candidates, position_candidates
from phoneworld.compiler.twins import like_twins
from phoneworld.compiler.wording import lines_candidates, words_candidates
from phoneworld.graph.graph import Capture
from phoneworld.program.placement import (
    Afloat,
    After,
    Axis,
    Before,
    Exactly,
    Far,
    Fill,
    Middle,
    Near,
    Pinned,
    Placement,
    Portion,
    Position,
    Reach,
    Until,
    While,
    Wrap,
)
from phoneworld.program.template import Drawn
from phoneworld.sim.arrange import whole_bounds
from phoneworld.ui.node import Node, Path

__all__ = ["Sample", "find_placements", "sample_of", "scroll_of"]

_MOST_SAMPLES = 150
_POOR = 0.9
_CASE = 0.08
_ALIKE = 5
_SHARED = 0.4
_BY_THE_END = (Far, Middle, Before, Pinned, Afloat)
_TO_THE_END = (Fill, Until, Portion)
"""Places and extents that need to know where the parent ends."""
_Positions: TypeAlias = Mapping[tuple[str, int], list[Candidate[Position]]]
_HIDDEN = Placement(Axis(Near(0), Exactly(0)), Axis(Near(0), Exactly(0)), hidden=True)


def find_placements(samples: Sequence[Sample]) -> dict[str, Placement]:
    """The placement of each slot of which a widget was seen, by the slot's key. Near linear in the widgets."""
    samples = _distinct(samples)
    if not samples:
        return {}
    slots = collect(samples)
    scroller = _scroller(slots)
    if scroller is None:
        return _fit(slots, None)
    inside = _inside(slots, scroller)
    moved = _look_scrolled(slots, inside)
    found = like_twins(_fit(slots, scroller, without=moved), slots, inside, without=moved)
    for number in moved:
        shift, moving = _shift(samples[number], slots.by_sample[number], found)
        if shift:
            for seen, (_, top, _, bottom) in moving:
                seen.unscroll(shift, top, bottom)
    return like_twins(_fit(slots, scroller), slots, inside)


def sample_of(capture: Capture, places: Mapping[Path, tuple[str, int | None]], density: int) -> Sample:
    """A capture as a sample; `places` says of each of its nodes which slot it is, and which row it is in."""

    def drawn(node: Node, path: Path) -> Drawn:
        key, row = places[path]
        children = tuple([drawn(child, (*path, i)) for i, child in enumerate(node.children)])
        return Drawn(key, replace(node, children=()), row, children)

    windows = tuple([drawn(window, (i,)) for i, window in enumerate(capture.hierarchy.windows)])
    return Sample(windows, capture.size, density, capture.state.keyboard)


def _look_scrolled(slots: Slots, inside: set[str]) -> set[int]:
    """The numbers of the samples in which something lies over what it elsewhere follows, or is gone before something that is there."""
    room: dict[str, int] = {}
    for key in inside:
        gaps = [seen.start(Y) - before.end(Y) for seen in slots.by_key[key] if not seen.blank and (before := seen.previous) is not None]
        room[key] = max(gaps, default=0)
    never = {key for key in inside if all(seen.blank for seen in slots.by_key[key])}
    moved: set[int] = set()
    for every in slots.by_sample:
        for seen in every:
            key = seen.drawn.key
            if key not in inside or key in never:
                continue
            slack = seen.sample.tolerance
            before = seen.previous
            if seen.blank:
                around = seen.parent
                gone = seen.following is not None and around is not None and not around.blank and around.raw[Y] <= around.clip[Y]
            else:
                under = before is not None and room[key] >= -slack and seen.start(Y) - before.end(Y) < -3 * slack
                # Content slides under a bar; a button over the content is smaller than what it covers.
                gone = under and before is not None and seen.area > before.area
            if gone:
                moved.add(seen.number)
                break
    return moved


def scroll_of(sample: Sample, placement: Mapping[str, Placement]) -> int:
    """How far the content of the slot that scrolls has moved up in a capture: the common shift of what can be seen of it."""
    return _shift(sample, collect([sample]).by_sample[0], placement)[0]


def _shift(
    sample: Sample, every: Sequence[Seen], placement: Mapping[str, Placement]
) -> tuple[int, list[tuple[Seen, tuple[float, float, float, float]]]]:
    """How far the content has moved up, and what can be seen of it, each with where its rules place it."""
    if not any(rule.scrolls for rule in placement.values()):
        return 0, []
    places = whole_bounds(sample.windows, placement, sample.size, keyboard=sample.keyboard, density=sample.density)
    inside: set[Seen] = set()
    moving: list[tuple[Seen, tuple[float, float, float, float]]] = []
    shifts: list[float] = []
    for seen, place in zip(every, places, strict=True):
        around = seen.parent
        if around is None or not (around in inside or placement[around.drawn.key].scrolls):
            continue
        inside.add(seen)
        moving.append((seen, place))
        if seen.blank or _pinned(seen, placement):
            continue
        if seen.raw[Y] > seen.clip[Y]:
            shifts.append(place[1] - seen.raw[Y])
        elif not seen.cut_end(Y):
            shifts.append(place[3] - seen.raw[Y + 2])
    if not shifts:
        return 0, moving
    shift, count = cluster(shifts, sample.tolerance)
    return (round(shift) if count >= _SHARED * len(shifts) and shift > 2 * sample.tolerance else 0), moving


def _pinned(seen: Seen, placement: Mapping[str, Placement]) -> bool:
    at: Seen | None = seen
    while at is not None:
        rule = placement.get(at.drawn.key)
        if rule is not None and isinstance(rule.y.position, Pinned | Afloat):
            return True
        at = at.parent
    return False


def _distinct(samples: Sequence[Sample]) -> list[Sample]:
    """Each capture once, and so few that fitting them all stays quick, spread over the recording."""
    once = list({(s.windows, s.size, s.density, s.keyboard): s for s in samples}.values())
    if len(once) <= _MOST_SAMPLES:
        return once
    return [once[i * len(once) // _MOST_SAMPLES] for i in range(_MOST_SAMPLES)]


def _scroller(slots: Slots) -> str | None:
    """The slot whose content moves: the outermost that says it scrolls."""
    for every in slots.by_sample:
        for seen in every:
            if seen.drawn.node.scrollable:
                return seen.drawn.key
    return None


def _inside(slots: Slots, scroller: str) -> set[str]:
    """The keys of what lies in the scroller."""
    inside: set[str] = set()
    for seen in slots.by_key.get(scroller, ()):
        stack = list(seen.kids)
        while stack:
            kid = stack.pop()
            inside.add(kid.drawn.key)
            stack.extend(kid.kids)
    return inside


def _fit(slots: Slots, scroller: str | None, *, without: Collection[int] = ()) -> dict[str, Placement]:
    shown = {key: seen for key, seen in slots.by_key.items() if not all(s.blank for s in seen)}
    if without:
        shown = {key: [s for s in seen if s.number not in without and not s.blank] or seen for key, seen in shown.items()}
    shown = {key: _some(seen) for key, seen in shown.items()}
    positions = {(key, axis): _positions(seen, axis) for key, seen in shown.items() for axis in (X, Y)}
    axes: dict[tuple[str, int], tuple[Axis, float]] = {}
    depth = {key: _depth(seen[0]) for key, seen in shown.items()}
    for key in sorted(shown, key=lambda k: -depth[k]):
        for axis in (X, Y):
            axes[key, axis] = _choose(shown[key], axis, positions, axes)
    for key in sorted(shown, key=lambda k: depth[k]):
        parent = shown[key][0].parent
        around = axes.get((parent.drawn.key, Y)) if parent is not None else None  # None too where the parent never had an area
        if axes[key, Y][1] < _POOR and around is not None and not isinstance(around[0].extent, Wrap):
            axes[key, Y] = _choose(shown[key], Y, positions, axes, fill=True)
    found: dict[str, Placement] = {}
    for key in slots.by_key:
        if key not in shown:
            found[key] = replace(_HIDDEN, clips=key in slots.clips)
            continue
        x, x_share = axes[key, X]
        y, y_share = axes[key, Y]
        share = min(x_share, y_share)
        rule = Placement(x, y, clips=key in slots.clips, scrolls=key == scroller, explained=round(share, 3))
        found[key] = rule if share >= _POOR else _by_cases(rule, shown[key], slots, positions, axes)
    return found


def _by_cases(
    rule: Placement, slot: Sequence[Seen], slots: Slots, positions: _Positions, axes: Mapping[tuple[str, int], tuple[Axis, float]]
) -> Placement:
    """The rule with one more for while another slot is there, or checked, where that explains much more."""
    key = slot[0].drawn.key
    best: tuple[float, Placement] | None = None
    everywhere = [s for s in slots.by_key[key] if not s.blank]
    for (other, checked), true in slots.circumstances.items():
        inside = [s for s in everywhere if s.number in true]
        outside = [s for s in everywhere if s.number not in true]
        if not inside or not outside or other == key:
            continue
        sides = []
        for side in (inside, outside):
            own = {**positions, **{(key, axis): _positions(side, axis) for axis in (X, Y)}}
            sides.append([_choose(side, axis, own, axes, wrapped=_wrapped(slot[0], axis, axes)) for axis in (X, Y)])
        right = sum(min(x[1], y[1]) * len(side) for (x, y), side in zip(sides, (inside, outside), strict=True))
        share = right / (len(inside) + len(outside))
        if share > rule.explained + _CASE and (best is None or share > best[0] + 1e-9):
            case = While(other, sides[0][X][0], sides[0][Y][0], checked)
            best = (share, replace(rule, x=sides[1][X][0], y=sides[1][Y][0], cases=(case,), explained=round(share, 3)))
    return best[1] if best is not None else rule


def _wrapped(seen: Seen, axis: int, axes: Mapping[tuple[str, int], tuple[Axis, float]]) -> bool:
    """Whether its parent ends where its content ends."""
    around = axes.get((seen.parent.drawn.key, axis)) if seen.parent is not None else None
    return around is not None and isinstance(around[0].extent, Wrap)


def _some(slot: Sequence[Seen]) -> list[Seen]:
    """The widgets, but of those that look alike in all that matters only a few: what is seldom seen must not drown."""
    counts: Counter[tuple[object, ...]] = Counter()
    kept = []
    for seen in slot:
        signature = seen.signature
        counts[signature] += 1
        if counts[signature] <= _ALIKE:
            kept.append(seen)
    return kept


def _depth(seen: Seen) -> int:
    depth = 0
    at = seen.parent
    while at is not None:
        depth, at = depth + 1, at.parent
    return depth


def _positions(slot: Sequence[Seen], axis: int) -> list[Candidate[Position]]:
    is_row = any(s.drawn.row is not None and (s.parent is None or s.parent.drawn.row is None) for s in slot)
    return sorted(position_candidates(slot, axis, is_row=is_row), key=lambda c: -c.worth)


def _choose(
    slot: Sequence[Seen],
    axis: int,
    positions: _Positions,
    axes: Mapping[tuple[str, int], tuple[Axis, float]],
    *,
    fill: bool = False,
    wrapped: bool = False,
) -> tuple[Axis, float]:
    """The pair of a position and an extent that is worth most: what ends by its parent cannot start by it too.

    `fill`: it may fill its parent though it has content. `wrapped`: the parent ends by it, so it may not lie by the parent's end.
    """
    candidates = extent_candidates(slot, axis, _content(slot, axis, axes))
    candidates += words_candidates(slot) if axis == X else lines_candidates(slot)
    key = slot[0].drawn.key
    # What starts where this ends cannot be what this ends at.
    followers = [positions[n.drawn.key, axis][0].rule for n in (s.following for s in slot if not s.blank) if n is not None]
    anchors = (Far, Middle, Pinned, Afloat, *((Near,) if axis == X else ()))
    leads = not all(isinstance(rule, anchors) for rule in followers)
    # Down a page it is the content that makes its parent high, not the other way round.
    pushes = axis == Y and (any(isinstance(rule, After) for rule in followers) or any(s.text and not s.kids for s in slot))
    best: tuple[float, Axis, float] | None = None
    for position in positions[key, axis]:
        for extent in candidates:
            if isinstance(position.rule, Far | Middle | Before | Afloat) and isinstance(extent.rule, Fill | Until | Reach):
                continue
            if wrapped and (isinstance(position.rule, _BY_THE_END) or isinstance(extent.rule, _TO_THE_END)):
                continue
            if leads and (isinstance(position.rule, Before) or isinstance(extent.rule, Until)):
                continue
            if pushes and not fill and isinstance(extent.rule, Fill):
                continue
            worth = position.worth + extent.worth
            if best is None or worth > best[0] + 1e-9:
                share = min(c.right / c.of if c.of else 1.0 for c in (position, extent))
                best = (worth, Axis(position.rule, extent.rule), share)
    if best is None:
        return Axis(positions[key, axis][0].rule, Exactly(float(max(s.end(axis) - s.start(axis) for s in slot)))), 0.0
    return best[1], best[2]


def _content(slot: Sequence[Seen], axis: int, axes: Mapping[tuple[str, int], tuple[Axis, float]]) -> dict[Seen, float]:
    """Where the content of a widget ends: the furthest end of its children that need not know their parent's extent."""
    out: dict[Seen, float] = {}
    for seen in slot:
        ends: list[int] = []
        for kid in seen.kids:
            rule = axes.get((kid.drawn.key, axis))
            if rule is None or isinstance(rule[0].position, _BY_THE_END) or isinstance(rule[0].extent, _TO_THE_END):
                continue
            if kid.blank and not (seen.scrolled or seen.cut_end(axis)):
                continue
            if kid.blank:
                # Scrolled away, or below the rim: nobody knows where the content ends.
                ends = []
                break
            ends.append(kid.end(axis))
        if ends:
            out[seen] = float(max(ends))
    return out
