"""Texts that are made of other texts and numbers: `Done: <title>`, `<n> notes, <m> done`. Found by comparing samples."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from phoneworld.program.expr import Const, Expr, Join, Piece, Value
from phoneworld.sim.evaluate import as_text, piece

_PIECES = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]+|\s+|[^\w\s]")
_SHORTEST = 2
_TELLING = 3
"""So many letters a source must have where all texts are one: a shorter one may stand in it by chance."""


def compositions(
    texts: Sequence[Value], sources: Mapping[Expr, Sequence[Value]], limit: int = 6, whole: Collection[Expr] = ()
) -> list[Expr]:
    """Joins of constants and sources that give every text; most telling first.

    `sources[e][i]` is what `e` is where the text is `texts[i]`. Those that are `whole` may be cut: where nothing else gives the
    texts, a piece of one may.
    """
    if not texts or not all(isinstance(t, str) for t in texts):
        return []
    words = [t for t in texts if isinstance(t, str)]
    if len(set(words)) < 2:
        telling = {e: vs for e, vs in sources.items() if min(len(as_text(v)) for v in vs) >= _TELLING}
        return _substituted(words, {tuple(map(as_text, vs)): [e] for e, vs in telling.items()}, least=1)[:limit]
    by_values: dict[tuple[str, ...], list[Expr]] = {}
    for expr, values in sources.items():
        by_values.setdefault(tuple(as_text(v) for v in values), []).append(expr)
    found: list[Expr] = [
        e if any(isinstance(v, str) for v in sources[e]) else Join((e,)) for e in by_values.get(tuple(words), ())
    ]
    around = _around(words)
    for parts in (around, _aligned(words)):
        if parts is not None:
            found += _filled(parts, by_values)
    found += _substituted(words, by_values)
    if whole and not found:
        uncut = {tuple(map(as_text, sources[e])): [e] for e in whole if e in sources and all(isinstance(v, str) for v in sources[e])}
        found += _cut(tuple(words), uncut)
        found += _filled(around, by_values, uncut) if around is not None else []
    return list(dict.fromkeys(found))[:limit]


Hole = tuple[str, ...]


def _around(texts: Sequence[str]) -> list[str | Hole] | None:
    """One hole between what all texts begin and end with."""
    before = _common([list(_PIECES.findall(t)) for t in texts])
    after = _common([list(reversed(_PIECES.findall(t[len(before) :]))) for t in texts], reverse=True)
    if not before and not after:
        return None
    holes = tuple(t[len(before) : len(t) - len(after)] for t in texts)
    return [p for p in (before, holes, after) if p]


def _common(lists: Sequence[Sequence[str]], *, reverse: bool = False) -> str:
    shared: list[str] = []
    for column in zip(*lists, strict=False):
        if len(set(column)) != 1:
            break
        shared.append(column[0])
    return "".join(reversed(shared) if reverse else shared)


def _aligned(texts: Sequence[str]) -> list[str | Hole] | None:
    """Several holes, where all texts have the same number of pieces."""
    lists = [_PIECES.findall(t) for t in texts]
    if len({len(pieces) for pieces in lists}) != 1:
        return None
    parts: list[str | Hole] = []
    for column in zip(*lists, strict=True):
        constant = len(set(column)) == 1
        if parts and constant and isinstance(parts[-1], str):
            parts[-1] += column[0]
        else:
            parts.append(column[0] if constant else tuple(column))
    return parts


def _cut(texts: Hole, sources: Mapping[Hole, Sequence[Expr]]) -> list[Expr]:
    """The pieces of sources that are the texts: `27 Feb` where the source says `Everyday, 27 Feb`."""
    if len(set(texts)) < (2 if min(map(len, texts)) >= _TELLING else 3) or not all(texts):
        return []
    found: list[Expr] = []
    for values, exprs in sources.items():
        if values == texts or not all(t in v for t, v in zip(texts, values, strict=True)):
            continue
        around = [v.partition(t) for t, v in zip(texts, values, strict=True)]
        for before in _marks([b for b, _, _ in around], at_end=True):
            for after in _marks([a for _, _, a in around], at_end=False):
                if all(piece(v, before, after) == t for t, v in zip(texts, values, strict=True)):
                    found.append(Piece(exprs[0], before, after))
    return sorted(found, key=repr)[:2]


def _marks(around: Sequence[str], *, at_end: bool) -> list[str]:
    """What marks where a piece begins or ends: nothing, else the signs that all have there, else all that they have in common.

    A digit that all have is mostly one of a time or a date, and another tomorrow.
    """
    if not any(around):
        return [""]
    columns = zip(*(t[::-1] if at_end else t for t in around), strict=False)
    shared = "".join(c[0] for c in takewhile(lambda c: len(set(c)) == 1, columns))
    signs = "".join(takewhile(lambda c: not c.isalnum(), shared))
    shared = "".join(takewhile(lambda c: not c.isdigit(), shared))
    return [m[::-1] if at_end else m for m in dict.fromkeys((signs, shared)) if m]


def _filled(parts: Sequence[str | Hole], sources: Mapping[Hole, Sequence[Expr]], whole: Mapping[Hole, Sequence[Expr]] | None = None) -> list[Expr]:
    """The ways to fill all holes; one source a hole but for the last that has several. Where none fits, a piece of a `whole` one."""
    made: list[list[Expr]] = [[]]
    for part in parts:
        fitting: Sequence[Expr] = (Const(part),) if isinstance(part, str) else sources.get(part) or _cut(part, whole or {})
        made = [[*m, f] for m in made for f in fitting[:3]][:6]
    return [m[0] if len(m) == 1 else Join(tuple(m)) for m in made if m]


def _substituted(texts: Sequence[str], sources: Mapping[Hole, Sequence[Expr]], least: int = 2) -> list[Expr]:
    """Longest source first, each put in where it stands in all texts; the rest must be the same everywhere."""
    usable = [
        (values, exprs[0])
        for values, exprs in sources.items()
        if len(set(values)) >= least and all(values) and all(v in t for v, t in zip(values, texts, strict=True))
    ]
    usable.sort(key=lambda s: (-sum(map(len, s[0])), repr(s[1])))
    rest: list[list[str | int]] = [[t] for t in texts]
    used: list[Expr] = []
    for values, expr in usable:
        if max(map(len, values)) < _SHORTEST:
            continue
        split = [_split(pieces, value, len(used)) for pieces, value in zip(rest, values, strict=True)]
        if all(s is not None for s in split) and len({tuple(type(p) for p in s or ()) for s in split}) == 1:
            rest = [s for s in split if s is not None]
            used.append(expr)
    shapes = {tuple(pieces) for pieces in rest}
    if len(shapes) != 1 or not used:
        return []
    return [Join(tuple(Const(p) if isinstance(p, str) else used[p] for p in rest[0] if p != ""))]


def _split(pieces: Sequence[str | int], value: str, number: int) -> list[str | int] | None:
    """The pieces with the first standing of a value cut out and numbered; None where it stands in none."""
    for i, part in enumerate(pieces):
        if isinstance(part, str) and value in part:
            before, _, after = part.partition(value)
            return [*pieces[:i], before, number, after, *pieces[i + 1 :]]
    return None
