"""Numbers in texts that count widgets: "3 items left" is how many boxes below the list are not checked.

For each text of a screen, each number in it is compared, over all layouts of the screen that write the text the same way, with
how many checkable widgets below each container are checked, unchecked, or there at all. A count is believed where it gives the
number in every layout, the number was seen to vary, and no simpler count does as well. Words that depend on the number being one
(item, items) are learnt as two ways of writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from phoneworld.program.expr import Case, Const, Equal, Expr, Join, Widgets
from phoneworld.program.program import Binding, Evidence, Screen
from phoneworld.sim.screenful import Screenful
from phoneworld.ui.node import Node, Path

_NUMBER = re.compile(r"(?<![\w.,:/-])\d{1,4}(?![\w:/-]|[.,]\d)")
FEWEST_LAYOUTS = 3
FEWEST_VALUES = 2


@dataclass(frozen=True, slots=True)
class _Written:
    """A text with its numbers taken out, in one layout."""

    screenful: Screenful
    path: Path
    parts: tuple[str, ...]
    numbers: tuple[int, ...]


def find_counts(screens: Mapping[str, Screen]) -> dict[str, Screen]:
    """The screens with bindings for the texts that count. Texts that are bound already are left alone."""
    return {s.id: _with_counts(s) for s in screens.values()}


def _with_counts(screen: Screen) -> Screen:
    prepared = [Screenful(screen, lay) for lay in screen.layouts]
    texts: dict[str, list[_Written]] = {}
    for screenful in prepared:
        bound = {b.path for b in screenful.layout.bindings if b.attribute == "text"}
        for path, node in screenful.layout.hierarchy.walk():
            if node.text and path not in bound and not node.is_editable and _NUMBER.search(node.text):
                texts.setdefault(screenful.keys[path], []).append(_written(screenful, path, node))
    found: dict[str, list[Binding]] = {}
    for written in texts.values():
        for group, expr in _explained(written):
            for w in group:
                evidence = Evidence("inferred", (), len(group))
                found.setdefault(w.screenful.layout.id, []).append(Binding(w.path, "text", expr, evidence))
    layouts = tuple(replace(lay, bindings=(*lay.bindings, *found.get(lay.id, ()))) for lay in screen.layouts)
    return replace(screen, layouts=layouts)


def _written(screenful: Screenful, path: Path, node: Node) -> _Written:
    matches = list(_NUMBER.finditer(node.text))
    ends = [0, *(m.end() for m in matches)]
    starts = [*(m.start() for m in matches), len(node.text)]
    parts = tuple(node.text[a:b] for a, b in zip(ends, starts, strict=True))
    return _Written(screenful, path, parts, tuple(int(m.group()) for m in matches))


def _explained(written: Sequence[_Written]) -> Iterator[tuple[list[_Written], Expr]]:
    """Groups of layouts that write a text with as many numbers, and the expression that gives it in all of them."""
    for slots in sorted({len(w.numbers) for w in written}):
        group = [w for w in written if len(w.numbers) == slots]
        if len(group) < FEWEST_LAYOUTS:
            continue
        counts = [_count_of(group, i) for i in range(slots)]
        if all(c is None for c in counts):
            continue
        text = _text_of(group, counts)
        if text is not None:
            yield group, text


def _count_of(group: Sequence[_Written], slot: int) -> Widgets | None:
    """The count that gives one of the numbers in every layout of the group."""
    values = [w.numbers[slot] for w in group]
    if len(set(values)) < FEWEST_VALUES:
        return None
    containers = set.intersection(*(set(_containers(w.screenful)) for w in group))
    # The smallest container first: what lies further out counts widgets that have nothing to do with it.
    for below in sorted(containers, key=lambda key: (-len(group[0].screenful.paths[key]), key)):
        for checked in (None, True, False):
            if all(_count(w.screenful, below, checked) == value for w, value in zip(group, values, strict=True)):
                return Widgets(below, checked)
    return None


def _containers(screenful: Screenful) -> Iterator[str]:
    """The nodes with checkable widgets below them, and not so themselves."""
    seen: set[Path] = set()
    for path, node in screenful.layout.hierarchy.walk():
        if node.checkable:
            seen.update(path[:depth] for depth in range(1, len(path)))
    return (screenful.keys[path] for path in sorted(seen))


def _count(screenful: Screenful, below: str, checked: bool | None) -> int:
    return sum(1 for _, said in screenful.checkables(below) if checked is None or said == checked)


def _text_of(group: Sequence[_Written], counts: Sequence[Widgets | None]) -> Expr | None:
    """The whole text from its counts; None where what stands between the numbers is not explained by them."""
    ways = {w.parts for w in group}
    numbers_of = {parts: [w.numbers for w in group if w.parts == parts] for parts in ways}
    if len(ways) == 1:
        return _joined(group[0].parts, group[0].numbers, counts, numbers_of[group[0].parts])
    if len(ways) != 2:
        return None
    for slot, count in enumerate(counts):
        one = next((p for p in ways if all(n[slot] == 1 for n in numbers_of[p])), None)
        if count is None or one is None:
            continue
        (other,) = ways - {one}
        if any(n[slot] == 1 for n in numbers_of[other]):
            continue
        singular = _joined(one, numbers_of[one][0], counts, numbers_of[one])
        plural = _joined(other, numbers_of[other][0], counts, numbers_of[other])
        if singular is not None and plural is not None:
            return Case(Equal(count, Const(1)), singular, plural)
    return None


def _joined(
    parts: tuple[str, ...], sample: tuple[int, ...], counts: Sequence[Widgets | None], all_numbers: Sequence[tuple[int, ...]]
) -> Expr | None:
    """Parts and numbers in turn; a number without a count must be the same everywhere."""
    pieces: list[Expr] = []
    for i, part in enumerate(parts):
        if part:
            pieces.append(Const(part))
        if i < len(sample):
            count = counts[i]
            if count is None and any(a[i] != b[i] for a, b in pairwise(all_numbers)):
                return None
            pieces.append(Const(str(sample[i])) if count is None else count)
    return pieces[0] if len(pieces) == 1 else Join(tuple(pieces))


