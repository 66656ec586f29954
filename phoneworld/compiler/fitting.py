"""The best rule of each kind for one axis of one slot, with the share it explains. Knows what kinds there are, not which wins.

A length is fitted to what is clean (edges that nothing cut): the middle of the largest cluster of observed values. What is cut
supports a rule only weakly, and contradicts one that ends a widget before its visible end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from phoneworld.compiler.edges import Seen, X, Y
from phoneworld.program.placement import (
    Afloat,
    After,
    Before,
    Exactly,
    Extent,
    Far,
    Fill,
    Middle,
    Near,
    Pinned,
    Portion,
    Position,
    Reach,
    Until,
    Wrap,
)

_Rule = TypeVar("_Rule", covariant=True)
_WEAK = 0.5
_WHOLE = 0.03
_PUSHED = 4
_LOW = 0.6
_ENTRY = 0.01
"""The price of one more number in a rule."""


@dataclass(frozen=True, slots=True)
class Candidate(Generic[_Rule]):
    """A rule, how many of how many informative widgets it explains, and its price."""

    rule: _Rule
    right: float
    of: float
    price: float

    @property
    def worth(self) -> float:
        """The share explained, careful where little was seen, less the price. To explain all is worth something by itself."""
        whole = _WHOLE if self.of and self.right > self.of - 1e-9 else 0.0
        return (self.right + 0.5) / (self.of + 1) + whole - self.price


def across(values: Sequence[float], tolerance: float, axis: int) -> tuple[float, int]:
    """As `cluster`; but along a line of text, where letters in bold push the rest aside, a middle near to all explains them too."""
    middle, right = cluster(values, tolerance)
    low, high = min(values), max(values)
    if axis == X and right < len(values) and high - low <= _PUSHED * tolerance:
        return (low + high) / 2, len(values)
    return middle, right


def cluster(values: Sequence[float], tolerance: float) -> tuple[float, int]:
    """The mean of the largest group of values that lie within the tolerance of its middle, and how many it holds."""
    ordered = sorted(values)
    best, first = (0, 0), 0
    for last, value in enumerate(ordered):
        while value - ordered[first] > 2 * tolerance:
            first += 1
        if last + 1 - first > best[1] - best[0]:
            best = (first, last + 1)
    group = ordered[best[0] : best[1]]
    return round(sum(group) / len(group), 2), len(group)


def _known_before(seen: Seen) -> bool:
    """False where what lies before it was scrolled away, so that nobody knows where that ends."""
    return not seen.scrolled or not any(s.blank for s in seen.siblings[: seen.place])


def position_candidates(slot: Sequence[Seen], axis: int, *, is_row: bool) -> list[Candidate[Position]]:
    """The best position of each kind. A row of a list is expected to follow the row before it."""
    tolerance = slot[0].sample.tolerance
    shown = [s for s in slot if not s.blank]
    clean = [s for s in shown if not s.cut_start(axis) and (s.parent is None or not s.parent.cut_start(axis))]
    found: list[Candidate[Position]] = []
    if not clean:
        clean = shown
    near = [float(s.start(axis) - s.outer(axis)[0]) for s in clean]
    at, right = across(near, tolerance, axis)
    # What stayed while all around it moved lies by the screen, not by what it is in.
    stayed = sum(s.pinned and not (s.parent is not None and s.parent.pinned) for s in shown) if axis == Y else 0
    found.append(Candidate(Near(at), right, len(near) + stayed, 0.01 if axis == Y else 0.0))
    found += [replace(c, of=c.of + stayed) for c in _after(clean, axis, tolerance, is_row=is_row)]
    if axis == Y:
        fixed = [float(s.raw[axis]) for s in shown]
        at, right = across(fixed, tolerance, axis)
        found.append(Candidate(Pinned(at), right, len(fixed), 0.05))
        whole = [s for s in shown if not s.cut_end(axis)]
        # What lies over its sibling, low on the screen, floats: a button that stays in reach when the keyboard comes.
        low = [s for s in whole if s.raw[Y] > _LOW * s.sample.size.height and (p := s.previous) is not None and s.covers(p)]
        price = -0.02 if low and len(low) == len([s for s in whole if not s.sample.keyboard]) else 0.06
        if stands_on_floor(shown, tolerance):
            whole, price = shown, -0.02
        found += [Candidate(Afloat(*pair), right, of, price) for pair, right, of in _above_floor(whole, tolerance)]
    # A parent that ends with the screen may end beyond it; across the screen that is rare.
    ends = [s for s in shown if not s.cut_end(axis) and (axis == X or s.parent is None or not s.parent.cut_end(axis))]
    if ends:
        far = [float(s.outer(axis)[1] - s.end(axis)) for s in ends]
        at, right = across(far, tolerance, axis)
        found.append(Candidate(Far(at), right, len(far) + stayed, 0.03))
        both = [s for s in ends if not s.cut_start(axis)]
        if both:
            middles = [(s.start(axis) + s.end(axis) - sum(s.outer(axis))) / 2 for s in both]
            at, right = across(middles, tolerance, axis)
            found.append(Candidate(Middle(at), right, len(middles) + stayed, 0.04))
        found += [replace(c, of=c.of + stayed) for c in _before(ends, axis, tolerance)]
    return found


def _after(clean: Sequence[Seen], axis: int, tolerance: float, *, is_row: bool) -> list[Candidate[Position]]:
    found: list[Candidate[Position]] = []
    firsts: list[float] = []
    gaps: dict[str, list[float]] = {}
    lead: list[float] = []
    for s in clean:
        if not _known_before(s):
            continue
        previous = s.previous
        if previous is None:
            firsts.append(float(s.start(axis) - s.outer(axis)[0]))
        elif not previous.cut_end(axis):
            gaps.setdefault(previous.drawn.key, []).append(float(s.start(axis) - previous.end(axis)))
            lead.append(float(next(k for k in s.siblings if not k.blank).start(axis) - s.outer(axis)[0]))
    of = sum(map(len, gaps.values())) + len(firsts)
    if not of or not (gaps or is_row):
        return []
    price = -0.05 if is_row and axis == Y else 0.0 if axis == Y else 0.03
    first, right = across(firsts, tolerance, axis) if firsts else (min(lead), 0)
    if not gaps:
        return [Candidate(After(0.0, first), right, of, price)]
    gap, fit = across([v for values in gaps.values() for v in values], tolerance, axis)
    others: list[tuple[str, float]] = []
    for key, values in gaps.items():
        own, count = across(values, tolerance, axis)
        near = sum(abs(v - gap) <= tolerance for v in values)
        if count > near:
            others.append((key, own))
            fit += count - near
    # What lies beside its sibling, not past it, does not flow.
    if gap < -tolerance * 2:
        return []
    found.append(Candidate(After(gap, first, tuple(sorted(others))), right + fit, of, price + _ENTRY * len(others)))
    return found


def _before(ends: Sequence[Seen], axis: int, tolerance: float) -> list[Candidate[Position]]:
    gaps = [float(n.start(axis) - s.end(axis)) for s in ends if (n := s.following) is not None and not n.cut_start(axis)]
    lasts = [float(s.outer(axis)[1] - s.end(axis)) for s in ends if s.following is None]
    if not gaps:
        return []
    gap, right = across(gaps, tolerance, axis)
    if gap < -tolerance * 2:
        return []
    last, fit = across(lasts, tolerance, axis) if lasts else (float(min(s.outer(axis)[1] - s.end(axis) for s in ends)), 0)
    return [Candidate(Before(gap, float(last)), right + fit, len(gaps) + len(lasts), 0.05)]


def stands_on_floor(shown: Sequence[Seen], tolerance: float) -> bool:
    """True for what ends at the rim and is as high with the keyboard as without: a bar that moves with the rim is not cut by it."""
    if len({s.sample.keyboard for s in shown}) < 2:
        return False
    heights = [s.raw[Y + 2] - s.raw[Y] for s in shown]
    return max(heights) - min(heights) <= tolerance and all(abs(s.raw[Y + 2] - s.sample.floor) <= 1 for s in shown)


def _above_floor(shown: Sequence[Seen], tolerance: float) -> Iterable[tuple[tuple[float, float | None], int, int]]:
    """The distance of the bottom edge from the floor, without and with the keyboard."""
    down = [float(s.sample.size.height - s.raw[Y + 2]) for s in shown if not s.sample.keyboard]
    up = [float(s.sample.floor - s.raw[Y + 2]) for s in shown if s.sample.keyboard]
    if not down and not up:
        return
    at, right = cluster(down or up, tolerance)
    raised: float | None = None
    if up:
        over, fit = cluster(up, tolerance)
        if down:
            right += fit
        if abs(over - at) > tolerance:
            raised = round(over + next(s.sample.size.height - s.sample.floor for s in shown if s.sample.keyboard), 2)
    yield (at, raised), right, len(down) + len(up)


def extent_candidates(slot: Sequence[Seen], axis: int, content: Mapping[Seen, float]) -> list[Candidate[Extent]]:
    """The best extent of each kind but those of text. `content` holds where the content of a widget ends, where that is known."""
    tolerance = slot[0].sample.tolerance
    shown = [s for s in slot if not s.blank]
    started = [s for s in shown if not s.cut_start(axis)]
    clean = [s for s in started if not s.cut_end(axis)]
    cut = [s for s in shown if s.cut_end(axis)]
    if axis == Y and stands_on_floor(shown, tolerance):
        clean, cut = shown, []
    found: list[Candidate[Extent]] = []
    if clean:
        length, right = across([float(s.end(axis) - s.start(axis)) for s in clean], tolerance, axis)
        weak = sum(s.start(axis) + length >= s.end(axis) - tolerance for s in cut)
        # What ends with its parent every time does so for that reason.
        flush = axis == Y and all(abs(s.outer(axis)[1] - s.end(axis)) <= 1 for s in clean)
        price = 0.06 if flush else 0.0
        found.append(Candidate(Exactly(length), right + _WEAK * weak, len(clean) + len(cut) - (1 - _WEAK) * weak, price))
    whole = [s for s in clean if s.parent is None or not s.parent.cut_end(axis)]
    insets = [float(s.outer(axis)[1] - s.end(axis)) for s in whole or cut]
    if insets:
        inset, right = cluster(insets, tolerance)
        if not whole:
            right = 0
        loose = [s for s in shown if s not in whole] if whole else cut
        weak = sum(s.outer(axis)[1] - inset >= s.end(axis) - tolerance for s in loose)
        spans = [s.outer(axis)[1] - s.outer(axis)[0] for s in whole]
        # Where the parent's extent varies too, it may as well be the parent that follows.
        price = 0.03 if axis == Y else 0.05 if spans and max(spans) - min(spans) > tolerance else 0.01
        found.append(Candidate(Fill(inset), right + _WEAK * weak, len(whole) + len(loose) - (1 - _WEAK) * weak, price))
    if axis == Y:
        upper = slot[0].parent is not None and slot[0].parent.parent is None
        # What is cut at the floor may reach further: it says little of how far.
        little = (1 - _WEAK) * sum(s.cut_end(axis) for s in shown)
        for pair, right, of in _above_floor(shown, tolerance):
            found.append(Candidate(Reach(*pair), max(0.0, right - little), max(0.0, of - little), 0.02 if upper else 0.04))
    found += _until(clean, axis, tolerance)
    found += _wrap(clean, cut, axis, content, tolerance)
    lengths = {s.outer(axis)[1] - s.outer(axis)[0] for s in whole}
    if len(lengths) > 1 and max(lengths) > 1.2 * min(lengths):
        share, _ = cluster([(s.end(axis) - s.start(axis)) / max(1, s.outer(axis)[1] - s.outer(axis)[0]) for s in whole], 0.01)
        right = sum(abs(share * (s.outer(axis)[1] - s.outer(axis)[0]) - (s.end(axis) - s.start(axis))) <= tolerance for s in whole)
        found.append(Candidate(Portion(share), right, len(whole), 0.05))
    return found


def _until(clean: Sequence[Seen], axis: int, tolerance: float) -> list[Candidate[Extent]]:
    pairs = [(s, n) for s in clean if (n := s.following) is not None and not n.cut_start(axis)]
    lasts = [float(s.outer(axis)[1] - s.end(axis)) for s in clean if s.following is None]
    if not pairs:
        return []
    gap, right = cluster([float(n.start(axis) - s.end(axis)) for s, n in pairs], tolerance)
    if gap < -tolerance * 2:
        return []
    last, fit = cluster(lasts, tolerance) if lasts else (gap, 0)
    return [Candidate(Until(gap, last), right + fit, len(pairs) + len(lasts), 0.05)]


def _wrap(
    clean: Sequence[Seen], cut: Sequence[Seen], axis: int, content: Mapping[Seen, float], tolerance: float
) -> list[Candidate[Extent]]:
    full = [s for s in clean if s in content]
    if not full:
        return []
    pad, right = cluster([s.end(axis) - content[s] for s in full], tolerance)
    hollow = [s for s in clean if s not in content and all(kid.blank for kid in s.kids)]
    empty, fit = cluster([float(s.end(axis) - s.start(axis)) for s in hollow], tolerance) if hollow else (max(0.0, pad), 0)
    short = sum(1 for s in cut if s in content and content[s] + pad < s.end(axis) - tolerance)
    weak = sum(1 for s in cut if s in content) - short
    return [
        Candidate(
            Wrap(pad, empty),
            right + fit + _WEAK * weak,
            len(full) + len(hollow) + short + _WEAK * weak,
            0.05 if full[0].parent is None else -0.01 if axis == Y else 0.02,
        )
    ]
