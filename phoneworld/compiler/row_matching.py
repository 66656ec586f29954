"""Rows from one sight of a table to the next: which row was which, and where those out of sight stand among those seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from phoneworld.compiler.template import Pattern
from phoneworld.program.expr import Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row

_DIGITS = re.compile(r"\d+")


def told(row: Row, before: Row | None) -> Row:
    """What a row tells: a part that is gone keeps its tick, which is out of sight, but not its words."""
    if before is None:
        return row
    return {c: v for c, v in row.items() if v is not None or not isinstance(before.get(c), bool)}


def merged(known: Sequence[Row], seen: Sequence[Row], out: set[Value]) -> tuple[Row, ...]:
    """The rows on the screen in their order, and between them those out of sight (by id) where they stood before."""
    there = {r[ROW_ID] for r in seen}
    after: dict[Value, list[Row]] = {}
    last: Value = None
    for row in known:
        if row[ROW_ID] in there:
            last = row[ROW_ID]
        elif row[ROW_ID] in out:
            after.setdefault(last, []).append(row)
    merged = list(after.get(None, ()))
    for row in seen:
        merged.append(row)
        merged += after.get(row[ROW_ID], ())
    return tuple(merged)


_GAP, _WORDS_CHANGED, _FLAG_CHANGED = 1.2, 1.0, 0.3


def match_rows(old: Sequence[Row], new: Sequence[Row], columns: Sequence[str], acted: int | None) -> list[int | None]:
    """For each new row the index of the old row that it was; None for one that is new.

    Rows that hold the same words are the same wherever they stand, and whichever part shows the words (a label, then the field
    that edits it), if no other row holds them; the rest is matched in order by the cheapest alignment, in which the row acted
    on is the likelier one to have gone or changed.
    """
    words = [c for c in columns if c.endswith((".text", ".content_desc"))]
    found: list[int | None] = [None] * len(new)

    def identity(row: Row) -> tuple[str, ...]:
        return tuple(sorted(str(row[c]) for c in words if row.get(c) is not None))

    spots: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(old):
        spots.setdefault(identity(row), []).append(i)
    wanted: dict[tuple[str, ...], list[int]] = {}
    for j, row in enumerate(new):
        wanted.setdefault(identity(row), []).append(j)
    for key, js in wanted.items():
        if any(key) and len(js) == 1 and len(spots.get(key, ())) == 1:
            found[js[0]] = spots[key][0]
    used = {i for i in found if i is not None}
    left_old = [i for i in range(len(old)) if i not in used]
    left_new = [j for j in range(len(new)) if found[j] is None]
    n, m = len(left_old), len(left_new)

    def cost(i: int, j: int) -> float:
        a, b = old[left_old[i]], new[left_new[j]]
        changed = sum(
            _WORDS_CHANGED if isinstance(a.get(c), str) and isinstance(b.get(c), str) else _FLAG_CHANGED
            for c in columns
            if a.get(c) != b.get(c)
        )
        return changed * (0.9 if a.get(ROW_ID) == acted else 1.0)

    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            if i == n and j == m:
                continue
            options = []
            if i < n and j < m:
                options.append(best[i + 1][j + 1] + cost(i, j))
            if i < n:
                options.append(best[i + 1][j] + (_GAP * 0.95 if old[left_old[i]].get(ROW_ID) == acted else _GAP))
            if j < m:
                options.append(best[i][j + 1] + _GAP)
            best[i][j] = min(options)
    i = j = 0
    while j < m:
        if i < n and best[i][j] == best[i + 1][j + 1] + cost(i, j):
            found[left_new[j]] = left_old[i]
            i, j = i + 1, j + 1
        elif i < n and best[i][j] == best[i + 1][j] + (_GAP * 0.95 if old[left_old[i]].get(ROW_ID) == acted else _GAP):
            i += 1
        else:
            j += 1
    return found


def number_slot(pattern: Pattern, table: str) -> str | None:
    """The slot of a row whose id holds one number, another one in each row of every capture."""
    row = pattern.tables[table]
    for part in row.walk():
        name = f"{part.key}.resource_id"
        ids = [[number_of(r.get(name)) for r in content.rows.get(table, ())] for content in pattern.contents]
        if any(ids) and all(n >= 0 for ns in ids for n in ns) and all(len(set(ns)) == len(ns) for ns in ids):
            return part.key
    return None


def number_of(name: Value) -> int:
    """The number in an id; -1 where there is none or more than one."""
    numbers = _DIGITS.findall(name) if isinstance(name, str) else []
    return int(numbers[0]) if len(numbers) == 1 else -1
