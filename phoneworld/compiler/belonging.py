"""Which variables of a screen belong to the row that it shows: three ways to foretell what is seen on arrival, and the best wins.

A details screen shows the row that was touched. What is seen there may be the row's own (a description, a heart that is red for
this one only), or the app's (the number on a tab), or begin anew each time (a quantity of 1). Each arrival is foretold from the
recording: by what was last seen of the same row, by what was last seen at all, and by what is mostly seen on arrival.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from phoneworld.compiler.history import CURRENT, History, Sight
from phoneworld.program.expr import Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row

_TELLING = 1.5
"""So many arrivals more must be foretold by the row than by anything else."""
_NEW = 0.5
"""What it costs to say what a row holds, in arrivals foretold wrong."""

RowKey = int | tuple[tuple[str, Value], ...]
"""A row as it is in every trace: its words, for an id may be another row's in another trace; the id where it has no words."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A sight of a details screen, with the row it shows. `arrived`: the screen before was another."""

    trace: str
    row: RowKey
    sight: Sight
    arrived: bool


def visits(history: History, screen: str, table: str) -> Iterator[Visit]:
    """The sights of a screen with a current row of the table, in the order of recording."""
    rows: dict[tuple[str, int], RowKey] = {}
    for deed in history.deeds:
        if deed.after.screen != screen:
            continue
        current = deed.after.variables.get(table + CURRENT)
        if not isinstance(current, int):
            continue
        at = (deed.trace, current)
        if at not in rows:
            row = next((r for r in deed.after.tables.get(table, ()) if r[ROW_ID] == current), None)
            rows[at] = _words(row or {}) or current
        yield Visit(deed.trace, rows[at], deed.after, deed.before.screen != screen)


def of_the_row(seen: Sequence[Visit], names: Iterable[str]) -> list[str]:
    """The names of variables that are foretold best by the row."""
    return [n for n in names if _foretold_by_row([(v, v.sight.variables[n]) for v in seen if n in v.sight.seen])]


def list_of_the_row(seen: Sequence[Visit], table: str) -> bool:
    """True where what is shown of a table on the details screen is foretold best by the row: its rows belong to that one."""
    told: list[tuple[Visit, object]] = []
    for visit in seen:
        shown = visit.sight.shown.get(table)
        if shown is not None:
            rows = {r[ROW_ID]: r for r in visit.sight.tables[table]}
            told.append((visit, tuple(_words(rows[n]) for n in shown)))
    return _foretold_by_row(told)


def _words(row: Row) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted((c, v) for c, v in row.items() if isinstance(v, str) and not c.startswith("@")))


def _foretold_by_row(told: Sequence[tuple[Visit, object]]) -> bool:
    """True where the last seen of the same row foretells an arrival better than the last seen at all, or the usual."""
    seen = [(visit, (type(value).__name__, value)) for visit, value in told]  # for 1 is True
    if len({value for _, value in seen}) < 2 or len({visit.row for visit, _ in seen}) < 2:
        return False
    arrived = Counter(value for visit, value in seen if visit.arrived)
    usual = arrived.most_common(1)[0][0] if arrived else None
    first: dict[RowKey, dict[str, object]] = defaultdict(dict)
    for visit, value in seen:
        first[visit.row].setdefault(visit.trace, value)
    by_row = by_last = by_usual = 0.0
    last: dict[str, object] = {}
    last_of: dict[tuple[str, RowKey], object] = {}
    known: set[RowKey] = set()
    for visit, value in seen:
        at = (visit.trace, visit.row)
        if visit.arrived:
            by_last += last.get(visit.trace, usual) != value
            by_usual += usual != value
            foretold = last_of.get(at, _usual_elsewhere(first[visit.row], visit.trace))
            if foretold is None:
                by_row += _NEW * (value != usual) * (visit.row not in known)
            else:
                by_row += foretold != value
            known.add(visit.row)
        last[visit.trace] = last_of[at] = value
    others = min(by_last, by_usual)
    return by_row <= others / 2 and others - by_row >= _TELLING


def _usual_elsewhere(first: Mapping[str, object], trace: str) -> object | None:
    others = Counter(value for t, value in first.items() if t != trace)
    return others.most_common(1)[0][0] if others else None
