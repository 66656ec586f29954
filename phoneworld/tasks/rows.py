"""Rows that were to come, change and go: which rows of the start are meant, how far a state is, and what of a difference was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from phoneworld.errors import TaskError
from phoneworld.program.expr import Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row
from phoneworld.sim.state import AppState
from phoneworld.tasks.checker import Cells, Comparison, Rows, shown
from phoneworld.tasks.differences import Difference
from phoneworld.tasks.names import nearest
from phoneworld.tasks.task import Setting
from phoneworld.tasks.verdict import Finding

Wanted = tuple[tuple[str, Comparison], ...]
"""What is asked of cells, by the Program's own columns."""


class RowsAim:
    """A `Rows` checker against the start of an episode. Raises TaskError for names that are not there, and where it means no row at all."""

    def __init__(self, checker: Rows, setting: Setting, start: AppState) -> None:
        names = setting.task.names
        self.checker = checker
        self.table = names.table(checker.table)
        if self.table not in setting.program.tables:
            raise TaskError(f"the app has no table {checker.table!r}", hint=nearest(checker.table, (*names.tables, *setting.program.tables)))
        columns = (*setting.program.tables[self.table].columns, ROW_ID)

        def own(column: str) -> str:
            found = names.column(checker.table, column)
            if found not in columns:
                raise TaskError(f"{checker.table} has no column {column!r}", hint=nearest(column, setting.exporter.columns[names.called(self.table)]))
            return found

        def wanted(cells: Cells) -> Wanted:
            return tuple((own(name), comparison) for name, comparison in cells)

        self._before: dict[Value, Row] = {row[ROW_ID]: row for row in start.tables.get(self.table, ())}
        self._added = tuple(map(wanted, checker.added))
        self.deleted: dict[int, Cells] = {}
        for cells in checker.deleted:
            self.deleted.update(dict.fromkeys(self._meant(wanted(cells), cells), cells))
        self.changed: dict[int, list[tuple[str, Comparison]]] = {}
        self._free: set[tuple[int, str]] = set()
        self.loose: set[tuple[int | None, str]] = set()
        """The cells that may change to anything."""
        for change in checker.changed:
            for row in self._meant(wanted(change.where), change.where):
                self.changed.setdefault(row, []).extend(wanted(change.to))
                self.loose.update((row, own(column)) for column in change.free)
                self._free.update((row, own(column)) for column in (*(name for name, _ in change.to), *change.free))

        self.asked = frozenset(name for wanted in self._added for name, _ in wanted) | {name for of in self.changed.values() for name, _ in of}
        """The columns of which something is asked."""
        # What is asked, in words that are made when somebody reads them. None of it holds this object: it goes when it is let go.
        table, before = checker.table, self._before
        self._asked = tuple(partial(_say_added, table, cells) for cells in checker.added)
        self._gone = tuple((i, partial(_say_deleted, table, before[i])) for i in self.deleted)
        self._to_be = tuple(
            (i, tuple((name, to, partial(_say_changed, table, before[i], name, to)) for name, to in asked)) for i, asked in self.changed.items()
        )

    def _meant(self, wanted: Wanted, cells: Cells) -> tuple[int, ...]:
        found = tuple(i for i, row in self._before.items() if isinstance(i, int) and _fits(row, wanted))
        if not found:
            asked = ", ".join(f"{name} {comparison}" for name, comparison in cells) or "anything"
            raise TaskError(f"no row of {self.checker.table} is like {asked} at the start", hint="draw it with a row parameter, or let the start add it")
        return found

    def columns_of(self, row: int, app: AppState) -> tuple[str, ...]:
        """The columns that the checker asks something of, in a row that came."""
        come = self._come(app.tables.get(self.table, ()))
        return tuple(dict.fromkeys(c for wanted, i in zip(self._added, come, strict=True) if i == row for c, _ in wanted))

    def look(self, app: AppState) -> Finding:
        """What of it holds in a state."""
        rows = app.tables.get(self.table, ())
        now: Mapping[Value, Row] = {row[ROW_ID]: row for row in rows}
        parts: list[Finding] = []
        for i, words in self._gone:
            parts.append(Finding.plain(words, i not in now, "it is there" if i in now else "it is gone"))
        for i, asked_of in self._to_be:
            row = now.get(i)
            for name, comparison, words in asked_of:
                found = "the row is gone" if row is None else partial(shown, row.get(name))
                parts.append(Finding.plain(words, row is not None and comparison.holds(row.get(name)), found))
        come = self._come(rows) if self._added else []
        for wanted, asked, fitting in zip(self._added, self._asked, come, strict=True):
            if fitting is not None:
                parts.append(Finding.plain(asked, True, "it is there"))
                continue
            near = max((sum(_fits(row, (w,)) for w in wanted) for row in rows if row[ROW_ID] not in self._before), default=0)
            parts.append(Finding(asked, False, "no new row is so", near / (len(wanted) + 1)))
        return parts[0] if len(parts) == 1 else Finding.every(parts, [True] * len(parts))

    def asks(self, difference: Difference, app: AppState) -> bool:
        """True where a difference, in that state, is one that the checker asks for."""
        if difference.table != self.table:
            return False
        match difference.kind:
            case "deleted":
                return difference.row in self.deleted
            case "changed":
                return (difference.row, difference.column) in self._free
            case "added":
                return difference.row in self._come(app.tables.get(self.table, ()))
            case _:
                return False

    def _come(self, rows: Iterable[Row]) -> list[Value]:
        """The id of the new row that each of the wanted ones is; None where none is left for it. One row is one of them only."""
        new = {row[ROW_ID]: row for row in rows if row[ROW_ID] not in self._before}
        fitting = [[i for i, row in new.items() if _fits(row, wanted)] for wanted in self._added]
        taken: dict[Value, int] = {}

        def place(k: int, seen: set[Value]) -> bool:
            for i in fitting[k]:
                if i not in seen:
                    seen.add(i)
                    if i not in taken or place(taken[i], seen):
                        taken[i] = k
                        return True
            return False

        for k in range(len(fitting)):
            place(k, set())
        found: list[Value] = [None] * len(fitting)
        for i, k in taken.items():
            found[k] = i
        return found


def _say_added(table: str, cells: Cells) -> str:
    return f"{table}: {', '.join(f'{name} {comparison}' for name, comparison in cells)} added"


def _say_deleted(table: str, row: Row) -> str:
    return f"{_told(table, row)} deleted"


def _say_changed(table: str, row: Row, name: str, to: Comparison) -> str:
    return f"{_told(table, row)}: {name} {to}"


def _told(table: str, row: Row) -> str:
    words = [shown(c) for name, c in row.items() if name != ROW_ID and isinstance(c, str) and c.strip()][:2]
    return f"{table}, {', '.join(words) or f'row {row[ROW_ID]}'}"


def _fits(row: Row, wanted: Wanted) -> bool:
    return all(comparison.holds(row.get(name)) for name, comparison in wanted)
