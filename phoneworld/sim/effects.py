"""Rules made ready, and what their effects do to rows. Every read is a read of the state before the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from phoneworld.program.effect import DeleteRows, Effect, GoBack, InsertRow, SetNode, SetVar, Show, UpdateRows
from phoneworld.program.expr import OneOf, Value, names_in
from phoneworld.program.program import Rule
from phoneworld.program.template import ROW_ID
from phoneworld.sim.compiled import Function, Tables, Variables, compiled
from phoneworld.sim.evaluate import NO_ROW, Row

Cells = tuple[tuple[str, Function], ...]


@dataclass(frozen=True, slots=True)
class Insert:
    """A row to come. `when` is None where it always comes."""

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


RowChange = Insert | Update | Delete


class ReadyRule:
    """A rule with its guard and effects as functions. `name` and `values` are set where the guard is one variable's values."""

    __slots__ = ("changes", "moves", "name", "reads", "rule", "values", "when")

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

    All changes look at the rows as they were, so that a row which comes in the step is not touched by it.
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
    if beside:
        here = next((i for i, row in enumerate(old) if acted is not NO_ROW and row.get(ROW_ID) == acted.get(ROW_ID)), None)
        rows[here + 1 if here is not None else len(rows) : here + 1 if here is not None else len(rows)] = beside
    return (*first, *(row for row in rows if row is not None), *last), next_row
