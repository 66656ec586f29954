"""Which step brought a row to a table out of sight: a product that was added shows in the cart only once one goes there.

Between two sights of a table rows may have come. Which of the steps between brought them is told by the whole recording: one whose like
comes before new rows and not before sights that show none. Looking at a list adds nothing to it as a rule, but where nothing tells
otherwise the step that shows a row is taken for the one that brought it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from phoneworld.compiler.believed import Unseen
from phoneworld.compiler.history import Deed, History, is_hidden, shows_all
from phoneworld.graph.graph import StateGraph
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row

_STRANGER = 0.5
"""A row comes by a step on a screen that shows, or a field that holds, at least so much of the row's words."""


@dataclass(frozen=True, slots=True)
class _Like:
    """Steps that are alike, on whichever screen: the bar at the bottom is on many."""

    kind: str
    slot: str
    argument: str | None


@dataclass(frozen=True, slots=True)
class _Gap:
    """The steps from one sight of a table to the next, and the rows that had come in between."""

    deeds: tuple[Deed, ...]
    came: tuple[tuple[Row, int | None], ...]


def find_unseen(graph: StateGraph, history: History) -> dict[tuple[str, int], tuple[Unseen, ...]]:
    """By trace and step what a step is believed to have brought to tables out of sight."""
    words = _Words(graph)
    found: dict[tuple[str, int], list[Unseen]] = {}
    for table in sorted(history.columns):
        if table not in history.owners:
            gaps = list(_gaps(history, table))
            standing = _standing(gaps)
            for gap in gaps:
                for deed, came in _brought(gap, standing, words):
                    found.setdefault((deed.trace, deed.index), []).append(Unseen(table, came))
    return {step: tuple(changes) for step, changes in found.items()}


def never_looked_at(history: History, tables: Iterable[str]) -> Iterator[tuple[Deed, str]]:
    """The steps after which a table was not seen again in their trace: what became of it is not known."""
    for table in sorted(tables):
        trace, seen = "", False
        for deed in reversed(history.deeds):
            if deed.trace != trace:
                trace, seen = deed.trace, False
            seen = seen or table in deed.after.shown
            if not seen:
                yield deed, table


def sights_unknown(history: History) -> set[int]:
    """The ids of sights at which what a table holds out of sight is not known: a step of a kind that brings rows to it, and no look since."""
    bringing = {(d.before.screen, d.aim.kind, d.aim.slot) for d in history.deeds if (d.trace, d.index) in history.unseen}
    changing = {change.table for changes in history.unseen.values() for change in changes}
    never = {d.name for d, _ in never_looked_at(history, changing)}
    unknown: set[int] = set()
    trace, lost = "", False
    for deed in history.deeds:
        if deed.trace != trace:
            trace, lost = deed.trace, False
        lost = lost or (deed.name in never and (deed.before.screen, deed.aim.kind, deed.aim.slot) in bringing)
        if lost:
            unknown.add(id(deed.after))
    return unknown


def _gaps(history: History, table: str) -> Iterator[_Gap]:
    filter_ = history.filters.get(table)
    since: list[Deed] = []
    trace, known = "", False
    for deed in history.deeds:
        if deed.trace != trace:
            trace, since = deed.trace, []
            known = table in deed.before.tables
        since.append(deed)
        if table not in deed.after.shown:
            continue
        sure = filter_ is None or (shows_all(deed.after, filter_) and shows_all(deed.before, filter_))
        if known and sure and len(since) > 1 and table not in deed.before.shown:
            yield _Gap(tuple(since), tuple(_came(history, table, deed)))
        since, known = [], True


def _came(history: History, table: str, deed: Deed) -> Iterator[tuple[Row, int | None]]:
    """The rows that are new to the step that shows a table, each with the id of the one before it.

    Where rows went too, it is another view of things: another day, another month.
    """
    columns = [c for c in history.columns[table] if not is_hidden(c)]
    before = {r[ROW_ID] for r in deed.before.tables[table]}
    after = [int(str(r[ROW_ID])) for r in deed.after.tables[table]]
    if before - set(after):
        return
    for i, row in enumerate(deed.after.tables[table]):
        if row[ROW_ID] not in before:
            yield {ROW_ID: row[ROW_ID], **{c: row.get(c) for c in columns}}, after[i - 1] if i else None


def _like(deed: Deed) -> _Like:
    return _Like(deed.aim.kind, deed.aim.slot, deed.aim.argument)


def _standing(gaps: Sequence[_Gap]) -> Counter[_Like]:
    """How much more often each kind of step comes before new rows than before none."""
    standing: Counter[_Like] = Counter()
    for gap in gaps:
        for like in {_like(d) for d in gap.deeds}:
            standing[like] += 1 if gap.came else -1
    return standing


def _brought(gap: _Gap, standing: Counter[_Like], words: _Words) -> Iterator[tuple[Deed, tuple[tuple[Row, int | None], ...]]]:
    """The steps of a gap that brought the new rows; none where the step that shows them did."""
    rows = [row for row, _ in gap.came]
    if not rows:
        return

    def fit(deed: Deed) -> float:
        return sum(_known(row, words.at(deed)) for row in rows) / len(rows)

    reveal = _like(gap.deeds[-1])
    best = max(gap.deeds, key=lambda d: (standing[_like(d)], fit(d), d.before.screen == d.after.screen, d.index))
    if _like(best) == reveal or standing[_like(best)] <= standing[reveal] or fit(best) < _STRANGER:
        return
    alike = [d for d in gap.deeds if _like(d) == _like(best)]
    if len(rows) < 2 or len(alike) < 2:
        yield best, gap.came
        return
    # Each row came by the step that knew most of it.
    shares: dict[int, list[tuple[Row, int | None]]] = {}
    for row, behind in gap.came:
        by = max(range(len(alike)), key=lambda i: (_known(row, words.at(alike[i])), -len(shares.get(i, ())), i))
        shares.setdefault(by, []).append((row, behind))
    for i, own in sorted(shares.items()):
        yield alike[i], tuple(own)


def _known(row: Row, words: frozenset[str]) -> float:
    """How much of a row's words a step can have known."""
    said = [v.strip() for c, v in row.items() if isinstance(v, str) and c != ROW_ID and c.endswith((".text", ".content_desc")) and v.strip()]
    return sum(any(v == w or v in w for w in words) for v in said) / len(said) if said else 1.0


class _Words:
    """What the screen says that a step was done on."""

    def __init__(self, graph: StateGraph) -> None:
        self._graph = graph
        self._known: dict[str, frozenset[str]] = {}

    def at(self, deed: Deed) -> frozenset[str]:
        name = deed.before.capture
        if name not in self._known:
            nodes = self._graph.captures[name].hierarchy.nodes()
            self._known[name] = frozenset(w for n in nodes for w in (n.text.strip(), n.content_desc.strip()) if w)
        return self._known[name]
