"""How a slot's width or height follows from its text: letters of a size, lines of a height. Knows no tree.

The metrics of `sim/letters.py` are scaled to what was seen; the texts that turn out otherwise are kept by heart.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from phoneworld.compiler.edges import Seen, X, Y
from phoneworld.compiler.fitting import Candidate, cluster
from phoneworld.program.placement import Extent, Lines, Words
from phoneworld.sim.letters import lines_of, width_of

_BY_HEART = 200
_PAIRS = 30
_APART = 0.2
"""Ems by which two texts must differ in width to say how large a letter is."""
_OVERHANG = 0.5
_LOOSE = 0.04
_SIZES = [8.0 * 1.04**i for i in range(70)]  # ems from 8 to 120 pixels
_MOST = (None, 1, 2, 3, 4, 5, 6)
_USUAL_DP = 18
_LINE_EMS = 1.45  # the height of a line of text, in ems, where only one line was ever seen


def words_candidates(slot: Sequence[Seen]) -> list[Candidate[Extent]]:
    """Width by text, where different texts were seen."""
    clean = [s for s in slot if not s.blank and s.text and not s.cut_end(X)]
    widths: dict[str, list[float]] = {}
    for s in clean:
        widths.setdefault(s.text, []).append(float(s.end(X) - s.start(X)))
    if len(widths) < 2:
        return []
    tolerance = slot[0].sample.tolerance
    typical = {text: _typical(values, tolerance) for text, values in widths.items()}
    most = max(typical.values())
    size, pad = _line_through([(width_of(t), w) for t, w in typical.items() if w < most - tolerance or len(typical) < 4], max(tolerance, _LOOSE * most))
    if size <= 0:
        return []

    def width(text: str) -> float:
        return min(size * width_of(text) + pad, most_ or 1e9)

    most_: float | None = None
    if sum(size * width_of(t) + pad > most + max(tolerance, _LOOSE * most) for t in typical) > 0:
        most_ = most
    known = {t: w for t, w in typical.items() if abs(w - width(t)) > tolerance / 2}
    # A text is as wide as before, but for a little more in bold; what is known by heart explains, at a price.
    right = sum(
        abs(w - known.get(t, width(t))) <= max(2 * tolerance, _LOOSE * w) for t, values in widths.items() for w in values
    )
    rule = Words(round(size, 2), round(pad, 2), most_, dict(sorted(known.items())[:_BY_HEART]))
    return [Candidate(rule, right, len(clean), 0.04 + min(0.15, 0.01 * len(known)))]


def _typical(values: Sequence[float], tolerance: float) -> float:
    """The middle of all values where they lie close together, else of most of them."""
    low, high = min(values), max(values)
    return (low + high) / 2 if high - low <= 4 * tolerance else cluster(values, tolerance)[0]


def _line_through(points: Sequence[tuple[float, float]], tolerance: float) -> tuple[float, float]:
    """The slope and intercept on which most of the points lie, as two of them say it and all of those together refine it."""
    some = points[:: len(points) // _PAIRS + 1]
    lines = [(y / x, 0.0) for x, y in some if x > 0]
    for i, (x, y) in enumerate(some):
        for other, height in some[:i]:
            if abs(x - other) > _APART:
                slope = (y - height) / (x - other)
                lines.append((slope, y - slope * x))

    def on(line: tuple[float, float]) -> list[tuple[float, float]]:
        return [(x, y) for x, y in points if abs(line[0] * x + line[1] - y) <= tolerance]

    sound = [line for line in lines if line[0] > 0 and line[1] >= -_OVERHANG * line[0]]
    if not sound:
        return 0.0, 0.0
    best = max(sound, key=lambda line: len(on(line)))
    near = on(best)
    mx, my = fmean([x for x, _ in near]), fmean([y for _, y in near])
    spread = sum((x - mx) ** 2 for x, _ in near)
    slope = sum((x - mx) * (y - my) for x, y in near) / spread if spread > _APART else best[0]
    refined = (slope, my - slope * mx)
    return refined if slope > 0 and len(on(refined)) >= len(near) else best


def lines_candidates(slot: Sequence[Seen]) -> list[Candidate[Extent]]:
    """Height by lines of text."""
    clean = [s for s in slot if not s.blank and s.text and not s.kids and not s.cut_end(Y) and not s.cut_start(Y)]
    counts: dict[tuple[str, int, int], int] = {}
    for s in clean:
        key = (s.text, s.end(X) - s.start(X), s.end(Y) - s.start(Y))
        counts[key] = counts.get(key, 0) + 1
    if len({text for text, _, _ in counts}) < 2:
        return []
    tolerance = slot[0].sample.tolerance
    heights = [float(h) for (_, _, h), n in counts.items() for _ in range(n)]
    height, right = cluster(heights, tolerance)
    if right == len(heights):
        # Nobody saw it break. What is much higher than a line of usual letters has room around it.
        size = min(height / _LINE_EMS, _USUAL_DP * slot[0].sample.density / 160)
        if any(lines_of(text, width / size) > 1 for text, width, _ in counts):
            return []
        line = round(size * _LINE_EMS, 2)
        return [Candidate(Lines(round(size, 2), line, round(height - line, 2)), right, len(heights), 0.01)]
    best: tuple[float, float, list[Lines]] | None = None
    for size in _SIZES:
        lines = {key: lines_of(key[0], key[1] / size) for key in counts}
        for most in _MOST:
            fit = _by_lines(counts, lines, size, most, tolerance)
            if fit is None:
                continue
            rule, right_ = fit
            rank = right_ - (0.01 if most is not None else 0.0)
            if best is None or rank > best[0] + 1e-9:
                best = (rank, right_, [rule])
            elif rank > best[0] - 1e-9 and rule.most == best[2][0].most:
                best[2].append(rule)
    if best is None:
        return []
    rule = best[2][len(best[2]) // 2]
    known: dict[str, int] = {}
    for (text, width, h), _ in counts.items():
        n = lines_of(text, width / rule.size)
        n = n if rule.most is None else min(n, rule.most)
        if abs(n * rule.line + rule.pad - h) > tolerance:
            other = round((h - rule.pad) / rule.line)
            if other > 0 and abs(other * rule.line + rule.pad - h) <= tolerance:
                known[text] = other
    return [
        Candidate(
            Lines(rule.size, rule.line, rule.pad, rule.most, 0.0, dict(sorted(known.items())[:_BY_HEART])), best[1], len(heights), 0.03
        )
    ]


def _by_lines(
    counts: dict[tuple[str, int, int], int], lines: dict[tuple[str, int, int], int], size: float, most: int | None, tolerance: float
) -> tuple[Lines, float] | None:
    """The height of a line and the rest, if letters have this size, and how many widgets that explains."""
    by_count: dict[int, list[float]] = {}
    for key, n in lines.items():
        by_count.setdefault(n if most is None else min(n, most), []).extend([float(key[2])] * counts[key])
    if len(by_count) < 2:
        return None
    middles = {n: cluster(values, tolerance) for n, values in by_count.items()}
    two = sorted(middles, key=lambda n: -middles[n][1])[:2]
    low, high = min(two), max(two)
    line = (middles[high][0] - middles[low][0]) / (high - low)
    pad = middles[low][0] - line * low
    # A line is about as high as its letters and a half: what is far from that is another font than the one that breaks here.
    if not 0.9 * size <= line <= 2.5 * size or pad < -tolerance:
        return None
    right = sum(abs(line * n + pad - h) <= tolerance for n, values in by_count.items() for h in values)
    return Lines(round(size, 2), round(line, 2), round(pad, 2), most), right
