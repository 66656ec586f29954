"""What tasks call the tables, columns, variables and screens of a Program, and the state as a document with these names.

A Program names things after widgets (`s1.notes`, `done-#.checked`); people who write tasks do not want to. A name that stands for nothing
stands for itself, so a task may use the Program's own names too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from phoneworld.errors import TaskError
from phoneworld.program.expr import Value
from phoneworld.program.program import Program
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row
from phoneworld.sim.state import AppState, PhoneState

_TABLES_KEPT = 64


@dataclass(frozen=True, slots=True)
class TableName:
    """The table of the Program that a name stands for, and its columns by the names of tasks."""

    table: str
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of tasks for what a Program has."""

    tables: Mapping[str, TableName] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    screens: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """File and line of each (`tables.notes.columns.title`), where they were read from a file."""

    def table(self, name: str) -> str:
        """The Program's own name of a table."""
        named = self.tables.get(name)
        return named.table if named else name

    def column(self, table: str, name: str) -> str:
        """The Program's own name of a column of a table that is called `table`."""
        named = self.tables.get(table)
        return named.columns.get(name, name) if named else name

    def variable(self, name: str) -> str:
        """The Program's own name of a variable."""
        return self.variables.get(name, name)

    def screen(self, name: str) -> str:
        """The Program's own name of a screen."""
        return self.screens.get(name, name)

    def called(self, table: str) -> str:
        """What tasks call a table of the Program."""
        return next((name for name, named in self.tables.items() if named.table == table), table)

    def column_called(self, table: str, column: str) -> str:
        """What tasks call a column of a table of the Program."""
        named = self.tables.get(self.called(table))
        return next((name for name, own in named.columns.items() if own == column), column) if named else column

    def variable_called(self, variable: str) -> str:
        """What tasks call a variable of the Program."""
        return next((name for name, own in self.variables.items() if own == variable), variable)

    def check(self, program: Program, variables: frozenset[str]) -> None:
        """Raises TaskError for a name that stands for what the Program does not have. `variables` are all that it has."""
        for name, named in self.tables.items():
            if named.table not in program.tables:
                raise TaskError(
                    f"{name} stands for table {named.table!r}, which the mock does not have", hint=nearest(named.table, program.tables),
                    place=self.places.get(f"tables.{name}", ""),
                )  # fmt: skip
            columns = (*program.tables[named.table].columns, ROW_ID)
            for short, column in named.columns.items():
                if column not in columns:
                    raise TaskError(
                        f"{name}.{short} stands for column {column!r}, which {named.table} does not have", hint=nearest(column, columns),
                        place=self.places.get(f"tables.{name}.columns.{short}", ""),
                    )  # fmt: skip
        for name, variable in self.variables.items():
            if variable not in variables:
                raise TaskError(
                    f"{name} stands for variable {variable!r}, which the mock does not have", hint=nearest(variable, variables),
                    place=self.places.get(f"variables.{name}", ""),
                )  # fmt: skip
        for name, screen in self.screens.items():
            if screen not in program.screens:
                raise TaskError(
                    f"{name} stands for screen {screen!r}, which the mock does not have", hint=nearest(screen, program.screens),
                    place=self.places.get(f"screens.{name}", ""),
                )  # fmt: skip


def nearest(word: str, known: Any) -> str:
    """A hint: the known names that are most like a word, else the first few."""
    names = sorted(set(map(str, known)))
    if not names:
        return "it has none at all"
    near = get_close_matches(word, names, 3, 0.4)
    return "did you mean " + ", ".join(near) if near else "there are " + ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


class Exporter:
    """States as documents for paths and queries: `tables`, `variables`, `screen`, `clock_ms`, by the names of tasks."""

    def __init__(self, names: Names, program: Program) -> None:
        self.names = names
        self.package = program.package
        self._tables: dict[str, tuple[tuple[Row, ...], list[dict[str, Value]]]] = {}
        self._short = {named.table: {own: short for short, own in named.columns.items()} for named in names.tables.values()}
        self.columns = {
            names.called(table.name): tuple(self._short.get(table.name, {}).get(c, c) for c in dict.fromkeys((*table.columns, ROW_ID)))
            for table in program.tables.values()
        }
        """The columns of each table, all by the names of tasks."""
        self._called = {named.table: name for name, named in names.tables.items()}
        self._screens_called = {own: name for name, own in names.screens.items()}
        self._variables_called = {own: name for name, own in names.variables.items()}

    def app(self, state: PhoneState) -> AppState:
        """The app that the task is about."""
        return state.apps[self.package]

    def rows(self, app: AppState, table: str) -> list[dict[str, Value]]:
        """The rows of one of the Program's tables, with the columns called as in tasks and the row's id as `#`. Not to be changed."""
        rows = app.tables.get(table, ())
        known = self._tables.get(table)
        if known is not None and known[0] is rows:
            return known[1]
        short = self._short.get(table, {})
        exported = [{short.get(column, column): cell for column, cell in row.items()} for row in rows]
        if len(self._tables) >= _TABLES_KEPT:
            self._tables.clear()
        self._tables[table] = (rows, exported)
        return exported

    def screen(self, state: PhoneState) -> str:
        """The screen that the app shows."""
        return self.screen_called(self.app(state).screen)

    def screen_called(self, screen: str) -> str:
        """What tasks call a screen of the Program."""
        return self._screens_called.get(screen, screen)

    def variables(self, own: Iterable[str]) -> frozenset[str]:
        """What the variables of a Program are called in documents."""
        return frozenset(self._variables_called.get(name, name) for name in own)

    def document(self, state: PhoneState) -> dict[str, Any]:
        """The state of the app as JSON has it. Not to be changed."""
        app = self.app(state)
        called = self._variables_called
        return {
            "screen": self.screen(state),
            "clock_ms": state.clock_ms,
            "foreground": state.foreground,
            "variables": {called.get(name, name): value for name, value in app.variables.items()},
            "tables": {self._called.get(table, table): self.rows(app, table) for table in app.tables},
        }
