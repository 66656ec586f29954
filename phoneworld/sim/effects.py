"""Rules made ready, and what their effects do to rows. Every read is a read of the state before the step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from phoneworld.program.effect import (
    DeleteRows,
    Effect,
    GoBack,
    InsertRow,
    SetNode,
    SetRows,
    SetVar,
    Show,
    StartTimer,
    UpdateRows,
)  # fmt: skip
from phoneworld.program.expr import Const, OneOf, Value, names_in
from phoneworld.program.program import Rule
from phoneworld.program.template import ROW_ID, current
from phoneworld.sim.compiled import Function, Tables, Variables, compiled
from phoneworld.sim.evaluate import NO_ROW, Row

Cells = tuple[tuple[str, Function], ...]
_ROWS_KEPT = 16_384


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
    """A rule with its guard and effects as functions: what it sets to a value it names, what it works out, where it leads, rows."""

    __slots__ = ("changes", "computed", "constants", "edits", "reads", "rule", "starts", "tables", "ways", "when")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.when = compiled(rule.when)
        self.reads = names_in(rule.when)
        set_to = {e.name: e.value for e in rule.then if isinstance(e, SetVar)}
        self.constants: dict[str, Value] = {name: e.value for name, e in set_to.items() if isinstance(e, Const)}
        self.computed: Cells = tuple((name, compiled(e)) for name, e in set_to.items() if not isinstance(e, Const))
        self.ways: tuple[Show | GoBack, ...] = tuple(e for e in rule.then if isinstance(e, Show | GoBack))
        self.edits: tuple[tuple[SetNode, Function], ...] = tuple((e, compiled(e.value)) for e in rule.then if isinstance(e, SetNode))
        self.starts: tuple[tuple[str, Function], ...] = tuple((e.timer, compiled(e.when)) for e in rule.then if isinstance(e, StartTimer))
        self.changes: tuple[RowChange, ...] = tuple(c for c in map(_change, rule.then) if c is not None)
        inserted = {c.table for c in self.changes if isinstance(c, Insert)}
        self.tables: tuple[tuple[str, str], ...] = tuple(
            (table, current(table) if table in inserted else "") for table in dict.fromkeys(c.table for c in self.changes)
        )
        """The tables it changes, each with the variable that names its current row where it may get new ones."""

    def find(self, variables: Variables, tables: Tables, typed: str, acted: Row) -> ReadyRule | None:
        """Itself where its guard holds."""
        return self if self.when(variables, tables, typed, acted, acted) else None


class RulesByValue:
    """Rules one after the other whose guards all ask which of some values one variable has: found by the value."""

    __slots__ = ("name", "reads", "rules")

    def __init__(self, name: str) -> None:
        self.name = name
        self.reads = frozenset((name,))
        self.rules: dict[Value, ReadyRule] = {}

    def find(self, variables: Variables, tables: Tables, typed: str, acted: Row) -> ReadyRule | None:
        """The first of them whose guard holds."""
        return self.rules.get(variables.get(self.name))


def ready_rules(rules: Iterable[Rule]) -> tuple[ReadyRule | RulesByValue, ...]:
    """The rules of one trigger, in their order, to be asked one after the other."""
    ready: list[ReadyRule | RulesByValue] = []
    for rule in rules:
        if not isinstance(rule.when, OneOf):
            ready.append(ReadyRule(rule))
            continue
        last = ready[-1] if ready else None
        if not isinstance(last, RulesByValue) or last.name != rule.when.name:
            ready.append(last := RulesByValue(rule.when.name))
        made = ReadyRule(rule)
        for value in rule.when.values:
            last.rules.setdefault(value, made)
    return tuple(ready)


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


class SameRows:
    """Equal rows as one object, equal tables as one tuple of them. A step changes a row of many: only what is new is read."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._by_cells: dict[tuple[object, ...], Row] = {}
        self._tables: dict[tuple[int, ...], tuple[Row, ...]] = {}

    def table(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """These rows, or equal ones given before. Cells are equal where their types are too, for 1 is True."""
        if len(self._rows) >= _ROWS_KEPT or len(self._tables) >= _ROWS_KEPT:
            for kept in (self._rows, self._by_cells, self._tables):
                kept.clear()
        same = tuple([row if id(row) in self._rows else self._row(row) for row in rows])
        return self._tables.setdefault(tuple(map(id, same)), same)

    def _row(self, row: Row) -> Row:
        cells = tuple(row.values())
        known = self._by_cells.setdefault((*row, *cells, *map(type, cells)), row)
        self._rows[id(known)] = known
        return known


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
