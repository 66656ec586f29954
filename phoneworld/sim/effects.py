"""Rules made ready, and what their effects do to rows. Every read is a read of the state before the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from phoneworld.program.effect import DeleteRows, Effect, GoBack, InsertRow, SetNode, SetRows, SetVar, Show, UpdateRows
from phoneworld.program.expr import OneOf, Value, names_in
from phoneworld.program.program import Rule
from phoneworld.program.template import ROW_ID
from phoneworld.sim.compiled import Function, Tables, Variables, compiled
from phoneworld.sim.evaluate import NO_ROW, Row

Cells = tuple[tuple[str, Function], ...]


@dataclass(frozen=True, slots=True)
class Insert:
    """A row that comes where `when` holds."""

    table: str
    at: Literal["first", "last", "after_acted"]
    cells: Cells
    when: Function


@dataclass(frozen=True, slots=True)
class Update:
    table: str
    cells: Cells
    where: Function


@dataclass(frozen=True, slots=True)
class Delete:
    table: str
    where: Function


@dataclass(frozen=True, slots=True)
class Replace:
    """Other rows instead of all there are."""

    table: str
    rows: tuple[tuple[Value, ...], ...]


RowChange = Insert | Update | Delete | Replace


class ReadyRule:
    """A rule with its guard and effects as functions. `name` and `values` are set where the guard is one variable's values."""

    __slots__ = ("changes", "inserts", "moves", "name", "reads", "rule", "tables", "values", "when")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.name = ""
        self.values: frozenset[Value] = frozenset()
        if isinstance(rule.when, OneOf):
            self.name, self.values = rule.when.name, frozenset(rule.when.values)
        self.when = compiled(rule.when)
        self.reads = names_in(rule.when)
        self.moves: tuple[tuple[SetVar | SetNode, Function] | Show | GoBack, ...] = tuple(
            (e, compiled(e.value)) if isinstance(e, SetVar | SetNode) else e
            for e in rule.then
            if isinstance(e, SetVar | SetNode | Show | GoBack)
        )
        self.changes: tuple[RowChange, ...] = tuple(c for c in map(_change, rule.then) if c is not None)
        self.tables: tuple[str, ...] = tuple(dict.fromkeys(c.table for c in self.changes))
        self.inserts = any(isinstance(c, Insert) for c in self.changes)

    def holds(self, variables: Variables, tables: Tables, typed: str, acted: Row) -> bool:
        """True where the guard does."""
        if self.name:
            return variables.get(self.name) in self.values
        return bool(self.when(variables, tables, typed, acted, acted))


def _change(effect: Effect) -> RowChange | None:
    match effect:
        case InsertRow(table, cells, at, when):
            return Insert(table, at, _cells(cells), compiled(when))
        case UpdateRows(table, cells, where):
            return Update(table, _cells(cells), compiled(where))
        case DeleteRows(table, where):
            return Delete(table, compiled(where))
        case SetRows(table, rows):
            return Replace(table, rows)
        case _:
            return None


def _cells(cells: tuple[tuple[str, object], ...]) -> Cells:
    return tuple((name, compiled(value)) for name, value in cells)  # type: ignore[arg-type]


def changed_rows(
    changes: Sequence[RowChange],
    table: str,
    columns: Sequence[str],
    variables: Variables,
    tables: Tables,
    typed: str,
    acted: Row,
    next_row: int,
) -> tuple[tuple[Row, ...], int]:
    """The rows of one table after the changes that are its own, and the next free row id.

    All changes look at the rows as they were, so that a row which comes in the step is not touched by it. Rows that were seen to be
    there (`SetRows`) are all there is, whatever else the rule says of the table.
    """
    old = tables.get(table, ())
    rows: list[Row | None] = list(old)
    first: list[Row] = []
    last: list[Row] = []
    beside: list[Row] = []
    for change in changes:
        if change.table != table:
            continue
        match change:
            case Insert(_, at, cells, when):
                if when(variables, tables, typed, acted, acted):
                    new: dict[str, Value] = dict.fromkeys(columns)
                    new.update({name: f(variables, tables, typed, acted, acted) for name, f in cells})
                    new[ROW_ID] = next_row
                    next_row += 1
                    (first if at == "first" else beside if at == "after_acted" else last).append(new)
            case Update(_, cells, where):
                for i, row in enumerate(old):
                    standing = rows[i]
                    if standing is not None and where(variables, tables, typed, row, acted):
                        rows[i] = {**standing, **{name: f(variables, tables, typed, row, acted) for name, f in cells}}
            case Delete(_, where):
                for i, row in enumerate(old):
                    if rows[i] is not None and where(variables, tables, typed, row, acted):
                        rows[i] = None
            case Replace(_, others):
                given = with_ids([dict(zip(columns, cells, strict=True)) for cells in others], next_row)
                return given, max(next_row, next_id(given))
    if beside:
        at_row = next((i for i, row in enumerate(old) if acted is not NO_ROW and row.get(ROW_ID) == acted.get(ROW_ID)), len(rows) - 1)
        rows[at_row + 1 : at_row + 1] = beside
    return (*first, *(row for row in rows if row is not None), *last), next_row


def with_ids(rows: Sequence[Row], next_row: int) -> tuple[Row, ...]:
    """The rows, each with an id; those without get the next ones."""
    numbered: list[Row] = []
    for row in rows:
        if ROW_ID not in row:
            row, next_row = {**row, ROW_ID: next_row}, next_row + 1
        numbered.append(row)
    return tuple(numbered)


def next_id(rows: Sequence[Row]) -> int:
    """The id after the highest in these rows; 1 where there is none."""
    return max((i for row in rows if isinstance(i := row.get(ROW_ID), int)), default=0) + 1
