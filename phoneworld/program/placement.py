"""Where a widget of a template lies: rules that place it from what lies around it. Data only; `sim/arrange.py` gives it meaning.

Each axis of a slot has a position and an extent. Lengths are pixels of the capture and may be fractions: a page whose pixels
are not the screen's rounds every edge, and a whole number would add up its error down a long list. *Shown* is what has an area.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

# --- positions: one edge, or the middle ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Near:
    """Starts `at` after the start of its parent."""

    at: float


@dataclass(frozen=True, slots=True)
class After:
    """Starts `gap` after the end of the shown sibling before it, or, where there is none, `first` after its parent's start.

    `gaps` are those after siblings of certain keys, where they differ. With `furthest` it starts after whichever of the
    siblings before it reaches furthest. With `wraps` it goes back to `first` where it would end beyond its parent.
    """

    gap: float
    first: float
    gaps: tuple[tuple[str, float], ...] = ()
    furthest: bool = False
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Along y, for siblings that wrap along x: as high as the sibling before it where it lies right of that, else on a new line.

    A new line is `gap` below all that came before; the first is `first` below the start of the parent.
    """

    gap: float
    first: float


@dataclass(frozen=True, slots=True)
class Before:
    """Ends `gap` before the start of the shown sibling after it, or, where there is none, `last` before its parent's end."""

    gap: float
    last: float


@dataclass(frozen=True, slots=True)
class Far:
    """Ends `at` before the end of its parent."""

    at: float


@dataclass(frozen=True, slots=True)
class Middle:
    """Its middle is `at` after the middle of its parent."""

    at: float


@dataclass(frozen=True, slots=True)
class Pinned:
    """Starts `at` after the start of the screen, however its parent is scrolled."""

    at: float


@dataclass(frozen=True, slots=True)
class Afloat:
    """Ends `at` above the floor: the bottom of the screen, or, with the keyboard up, `raised` above that bottom.

    Where `raised` is None nothing was seen with the keyboard up: it then floats `at` above the keyboard.
    """

    at: float
    raised: float | None = None


Position: TypeAlias = Near | After | Line | Before | Far | Middle | Pinned | Afloat

# --- extents: how wide or high --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exactly:
    """Always the same."""

    length: float


@dataclass(frozen=True, slots=True)
class Fill:
    """Reaches until `inset` before the end of its parent."""

    inset: float


@dataclass(frozen=True, slots=True)
class Until:
    """Reaches until `gap` before the shown sibling after it, or, where there is none, until `last` before its parent's end."""

    gap: float
    last: float


@dataclass(frozen=True, slots=True)
class Reach:
    """Reaches until `inset` above the floor (see `Afloat`)."""

    inset: float
    raised: float | None = None


@dataclass(frozen=True, slots=True)
class Wrap:
    """Ends `pad` after the furthest end of its children; without shown ones it is `empty` long."""

    pad: float
    empty: float = 0


@dataclass(frozen=True, slots=True)
class Words:
    """As wide as its text in letters of `size` pixels (an em), and `pad`; at most `most`. `known`: widths of texts that are otherwise."""

    size: float
    pad: float
    most: float | None = None
    known: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lines:
    """As high as the lines of its text, each `line` high, at most `most` of them, and `pad`.

    Lines break where letters of `size` pixels do not fit into its width less `inset`. `known`: counts of lines of texts that are otherwise.
    """

    size: float
    line: float
    pad: float
    most: int | None = None
    inset: float = 0
    known: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Portion:
    """A share of its parent's extent, and `more`."""

    share: float
    more: float = 0


Extent: TypeAlias = Exactly | Fill | Until | Reach | Wrap | Words | Lines | Portion


@dataclass(frozen=True, slots=True)
class Axis:
    """How a slot lies along one axis."""

    position: Position
    extent: Extent


@dataclass(frozen=True, slots=True)
class While:
    """How a slot lies while the slot `key` is there, or, where `checked` is said, while it is there and checked so."""

    key: str
    x: Axis
    y: Axis
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """The rule of one slot: the first of `cases` that holds, else `x` and `y`. `explained` is the share of its samples that agree.

    With `clips` what is below it is cut to its bounds, and has none where nothing is left. `scrolls` marks the one slot whose
    content moves with the scroll position. With `hidden` it is in the tree and has no place.
    """

    x: Axis
    y: Axis
    cases: tuple[While, ...] = ()
    clips: bool = False
    scrolls: bool = False
    hidden: bool = False
    explained: float = 1.0
