"""Every widget of the captures of a screen with what lies around it: what the fitting of placements looks at. Knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phoneworld.program.template import Drawn
from phoneworld.ui import system
from phoneworld.ui.geometry import Size

X, Y = 0, 1
Box = tuple[int, int, int, int]
"""Left, top, right, bottom: start of axis `a` at index `a`, end at index `a + 2`."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One recorded capture of a screen, matched to its template: the nodes have the bounds they were recorded with."""

    windows: tuple[Drawn, ...]
    size: Size
    density: int = 160
    keyboard: bool = False

    @property
    def floor(self) -> int:
        """Where the keyboard begins, if it is up, else the bottom of the screen."""
        return system.keyboard_bounds(self.size, self.density).top if self.keyboard else self.size.height

    @property
    def tolerance(self) -> float:
        """How far two edges may differ that one rule explains: pages round to pixels of their own."""
        return 0.5 + self.density / 160


class Seen:
    """One widget of one capture. `clip` is what it was cut to; `blank` says that it has no area.

    `raw` is where it was seen; `box` where it would be if its page were not `scrolled`. `pinned`: it stayed when all around moved.
    """

    __slots__ = ("blank", "box", "clip", "clipped", "drawn", "kids", "number", "parent", "pinned", "place", "raw", "sample", "scrolled", "siblings", "text")

    def __init__(self, sample: Sample, number: int, drawn: Drawn, parent: Seen | None, place: int) -> None:
        self.sample, self.number, self.drawn, self.parent, self.place = sample, number, drawn, parent, place
        b = drawn.node.bounds
        self.raw: Box = (b.left, b.top, b.right, b.bottom)
        self.box = self.raw
        self.blank = b.is_empty
        node = drawn.node
        self.text = node.text or node.content_desc or node.hint or ""
        self.kids: list[Seen] = []
        self.siblings: list[Seen] = []
        self.clip: Box = (0, 0, sample.size.width, sample.size.height)
        self.clipped = False
        self.scrolled = False
        self.pinned = False

    def start(self, axis: int) -> int:
        return self.box[axis]

    def end(self, axis: int) -> int:
        return self.box[axis + 2]

    def outer(self, axis: int) -> tuple[int, int]:
        """Start and end of the parent, or of the screen."""
        if self.parent is not None:
            return self.parent.box[axis], self.parent.box[axis + 2]
        return 0, (self.sample.size.width if axis == X else self.sample.size.height)

    def cut_start(self, axis: int) -> bool:
        """True where the start may lie further out than what is seen: only where the content has been scrolled."""
        return axis == Y and self.scrolled and not self.pinned and self.raw[axis] <= self.clip[axis]

    def cut_end(self, axis: int) -> bool:
        """True where the end may lie further out than what is seen: at the rim of something that clips."""
        return self.clipped and self.raw[axis + 2] >= self.clip[axis + 2]

    @property
    def area(self) -> int:
        return (self.raw[2] - self.raw[0]) * (self.raw[3] - self.raw[1])

    def covers(self, other: Seen) -> bool:
        """True where the two share area that rounding does not explain."""
        a, b, slack = self.box, other.box, 2 * self.sample.tolerance
        return min(a[2], b[2]) - max(a[0], b[0]) > slack and min(a[3], b[3]) - max(a[1], b[1]) > slack

    @property
    def signature(self) -> tuple[object, ...]:
        """What the fitting of its rules looks at: many widgets that agree in it prove little more than a few."""
        before, after = self.previous, self.following
        return (
            self.raw, self.box, self.parent.box if self.parent else None, self.text, self.sample.keyboard, self.scrolled,
            before and (before.drawn.key, before.box), after and (after.drawn.key, after.box), tuple([kid.box for kid in self.kids]),
        )  # fmt: skip

    def unscroll(self, shift: int, top: float, bottom: float) -> None:
        """Puts it where it would be, for a page that has moved up by `shift`; `top` and `bottom` are where rules expect it then."""
        self.scrolled = True
        if self.blank or (self.cut_start(Y) and self.cut_end(Y)):
            return
        seen, expected = (self.raw[Y + 2], bottom) if self.cut_start(Y) else (self.raw[Y], top)
        if abs(seen + shift - expected) <= abs(seen - expected):
            left, start, right, end = self.raw
            self.box = (left, start + shift, right, end + shift)
        else:
            self.pinned = True

    @property
    def previous(self) -> Seen | None:
        """The sibling before it that has a place."""
        return next((s for s in reversed(self.siblings[: self.place]) if not s.blank), None)

    @property
    def following(self) -> Seen | None:
        """The sibling after it that has a place."""
        return next((s for s in self.siblings[self.place + 1 :] if not s.blank), None)


@dataclass(frozen=True, slots=True)
class Slots:
    """All widgets of all samples: by the key of their slot, and by sample in document order."""

    by_key: dict[str, list[Seen]]
    by_sample: list[list[Seen]]
    clips: frozenset[str]
    circumstances: dict[tuple[str, bool | None], frozenset[int]]
    """What holds in some samples and not in others (a slot is there; a slot is checked, or not), with the numbers of those samples."""


def collect(samples: Sequence[Sample]) -> Slots:
    """Links every widget to those around it. Linear in the nodes."""
    by_key: dict[str, list[Seen]] = {}
    by_sample: list[list[Seen]] = []
    clips = frozenset(
        drawn.key
        for sample in samples
        for drawn in _walk(sample.windows)
        if drawn.node.scrollable or drawn.node.class_name.endswith("WebView")
    )
    for number, sample in enumerate(samples):
        every: list[Seen] = []
        roots = [Seen(sample, number, window, None, i) for i, window in enumerate(sample.windows)]
        for root in roots:
            root.siblings = roots
        stack = roots[::-1]
        while stack:
            seen = stack.pop()
            every.append(seen)
            by_key.setdefault(seen.drawn.key, []).append(seen)
            seen.kids = [Seen(sample, number, child, seen, i) for i, child in enumerate(seen.drawn.children)]
            clip = seen.clip
            if seen.drawn.key in clips:
                clip = tuple(f(a, b) for f, a, b in zip((max, max, min, min), clip, seen.box, strict=True))  # type: ignore[assignment]
            for kid in seen.kids:
                kid.siblings, kid.clip = seen.kids, clip
                kid.clipped = seen.clipped or seen.drawn.key in clips
            stack.extend(reversed(seen.kids))
        by_sample.append(every)
    return Slots(by_key, by_sample, clips, _circumstances(by_key, len(samples)))


def _circumstances(by_key: dict[str, list[Seen]], samples: int) -> dict[tuple[str, bool | None], frozenset[int]]:
    """Each way to divide the samples once, by the first slot that does so."""
    once: dict[frozenset[int], tuple[str, bool | None]] = {}
    for key, slot in by_key.items():
        if any(seen.drawn.row is not None for seen in slot):
            continue
        there = frozenset(seen.number for seen in slot)
        checked = frozenset(seen.number for seen in slot if seen.drawn.node.checked)
        for true, state in ((there, None), (checked, True), (there - checked, False)):
            if true and len(true) < samples:
                once.setdefault(true, (key, state))
    return {condition: true for true, condition in once.items()}


def _walk(windows: tuple[Drawn, ...]) -> list[Drawn]:
    stack = list(windows)
    out = []
    while stack:
        drawn = stack.pop()
        out.append(drawn)
        stack.extend(drawn.children)
    return out
