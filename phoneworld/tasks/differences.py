"""What is not as it was: the kept state of an app against that at the start of an episode. Costs what changed, not what there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from phoneworld.program.expr import Value, same_value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import NO_ROW, Row
from phoneworld.sim.state import AppState
from phoneworld.tasks.checker import shown
from phoneworld.tasks.names import Names

_CELLS_SHOWN = 3


class Difference(NamedTuple):
    """One thing that is not as it was. `table` and `row` are "" and None for a variable, whose name is then in `column`."""

    kind: Literal["added", "deleted", "changed", "variable"]
    table: str
    row: int | None
    column: str = ""
    before: Value = None
    after: Value = None
    cells: Row = NO_ROW

    def words(self, names: Names) -> str:
        """In the names of tasks: `notes: “Milk”, “today” added`."""
        if self.kind == "variable":
            return f"{names.variable_called(self.column)}: {shown(self.before)} became {shown(self.after)}"
        table = names.called(self.table)
        what = ", ".join(shown(c) for c in _telling(self.cells))
        if self.kind == "changed":
            column = names.column_called(self.table, self.column)
            return f"{table}, {what}: {column} was {shown(self.before)}, is {shown(self.after)}"
        return f"{table}: {what} {self.kind}"


def differences(start: AppState, now: AppState, variables: Iterable[str]) -> tuple[Difference, ...]:
    """The rows that came, went and changed, cell by cell, and the changes of these variables. The order of rows does not matter."""
    found: list[Difference] = []
    if start.tables is not now.tables:
        before_of, after_of = start.tables.get, now.tables.get
        other = [table for table in now.tables if before_of(table, ()) is not after_of(table, ())]
        other += [table for table in start.tables if table not in now.tables]
        for table in sorted(other):
            found += _of_table(table, before_of(table, ()), after_of(table, ()))
    if start.variables is not now.variables and start.variables.mark != now.variables.mark:
        for name in variables:
            old, new = start.variables.get(name), now.variables.get(name)
            if not same_value(old, new):
                found.append(Difference("variable", "", None, name, old, new))
    if start.edits is not now.edits:
        for key in sorted({*start.edits, *now.edits}):
            old, new = (edits[key][1] if key in edits else None for edits in (start.edits, now.edits))
            if key[2] == "checked" and not same_value(old, new):
                found.append(Difference("variable", "", None, f"{key[0]} {key[1]}", old, new))
    return tuple(found)


def _of_table(table: str, before: tuple[Row, ...], after: tuple[Row, ...]) -> Iterable[Difference]:
    old, new = _by_id(before), _by_id(after)
    for i, row in old.items():
        now = new.get(i)
        if now is None:
            yield Difference("deleted", table, i, cells=row)
        elif now is not row:
            columns = row if row.keys() == now.keys() else sorted({*row, *now})
            for column in columns:
                a, b = row.get(column), now.get(column)
                if a is not b and not same_value(a, b):
                    yield Difference("changed", table, i, column, a, b, row)
    for i, row in new.items():
        if i not in old:
            yield Difference("added", table, i, cells=row)


def _by_id(rows: tuple[Row, ...]) -> Mapping[int, Row]:
    return {i: row for row in rows if isinstance(i := row.get(ROW_ID), int)}


def _telling(cells: Row) -> list[Value]:
    """The first cells with words in them: what a person would know the row by."""
    told = [cell for name, cell in cells.items() if name != ROW_ID and isinstance(cell, str) and cell.strip()]
    return list(told[:_CELLS_SHOWN]) or [cells.get(ROW_ID)]
