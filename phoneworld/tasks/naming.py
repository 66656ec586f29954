"""Does a task name only what its mock has? Tables, columns, variables, screens and widgets, in its checkers, paths, queries and start.

Paths are read without a state: `tables.notes[?done].title` is followed from the document to the column. Where it cannot be known what is
asked (the value of a function, a literal), anything may be. What has a `{parameter}` in it is known only once it is drawn.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn

from phoneworld.errors import TaskError
from phoneworld.program.expr import Value
from phoneworld.program.program import Program
from phoneworld.tasks.checker import Cells, Checker, InApp, Rows, Sql, State, Visible, Visited, parts_of
from phoneworld.tasks.names import Exporter, Names, nearest
from phoneworld.tasks.paths import PARAMETER, Path
from phoneworld.tasks.queries import prepared
from phoneworld.ui.node import Node

_DOCUMENT = ("screen", "clock_ms", "foreground", "variables", "tables")
_ONE_OF_ROWS = frozenset({"max_by", "min_by"})
_STILL_ROWS = frozenset({"sort_by", "reverse"})
_NUMBERS = re.compile(r"\d+")
_OF_THE_SYSTEM = ("android:", "com.android.", "com.google.android.")
_LOST = re.compile(r"no such (table|column): (.+)")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What tasks may name of one app. `variables` are all that it has, by the Program's own names."""

    names: Names
    program: Program
    exporter: Exporter
    variables: frozenset[str]

    def table(self, name: str) -> str:
        """The Program's own name of a table. Raises TaskError."""
        own = self.names.table(name)
        if own not in self.program.tables:
            _missing("table", name, (*self.names.tables, *self.program.tables))
        return own

    def column(self, table: str, name: str) -> None:
        """Raises TaskError for a column that the table, by the name that tasks give it, does not have."""
        known = self.exporter.columns[self.names.called(self.names.table(table))]
        if name not in known and self.names.column(table, name) not in self.program.tables[self.names.table(table)].columns:
            _missing(f"column {table}.", name, known)

    def variable(self, name: str) -> None:
        """Raises TaskError for a variable that the app does not have."""
        if self.names.variable(name) not in self.variables:
            _missing("variable", name, (*self.names.variables, *self.variables))

    def screen(self, name: str) -> None:
        """Raises TaskError for a screen that the app does not have."""
        if self.names.screen(name) not in self.program.screens:
            _missing("screen", name, (*self.names.screens, *self.program.screens))


def check_checker(checker: Checker, app: Vocabulary, others: Mapping[str, Vocabulary], parameters: frozenset[str], *, on_phone: bool = False) -> None:
    """Raises TaskError, with the place of the part, for a name that the app does not have.

    With `on_phone` widgets are those of a real phone, of which the mock knows nothing.
    """
    try:
        match checker:
            case State(path, comparison):
                check_path(path, app, {})
                if path == "screen" and comparison.op in ("is", "not", "one_of"):
                    for word in comparison.value if isinstance(comparison.value, tuple) else (comparison.value,):
                        if not (isinstance(word, str) and "{" in word):
                            app.screen(str(word))
            case Sql(query, _, _):
                _check_query(query, app.exporter, parameters)
            case Rows():
                _check_rows(checker, app)
            case Visited(screens):
                for screen in screens:
                    app.screen(screen)
            case Visible() if not on_phone:
                _check_widget(checker, app.program)
            case InApp(other, what):
                if other not in others:
                    _missing("app", other, others)
                check_checker(what, others[other], {}, parameters, on_phone=on_phone)
            case _:
                pass
    except TaskError as e:
        raise e.at(checker.place) from None
    for part in parts_of(checker):
        try:
            check_checker(part, app, others, parameters, on_phone=on_phone)
        except TaskError as e:
            raise e.at(checker.place) from None


def _missing(what: str, name: str, known: Any) -> NoReturn:
    told = f"{what}{name}" if what.endswith(".") else f"{what} {name!r}"
    raise TaskError(f"the mock has no {told}", hint=nearest(name, known))


def _check_rows(checker: Rows, app: Vocabulary) -> None:
    app.table(checker.table)

    def cells(of: Cells) -> None:
        for column, _ in of:
            app.column(checker.table, column)

    for of in (*checker.added, *checker.deleted):
        cells(of)
    for change in checker.changed:
        cells(change.where)
        cells(change.to)
        for column in change.free:
            app.column(checker.table, column)


def _check_query(query: str, exporter: Exporter, parameters: frozenset[str]) -> None:
    class Given(dict[str, Value]):
        def __missing__(self, name: str) -> Value:
            asked.append(name)
            return None

    asked: list[str] = []
    try:
        prepared(exporter, query, Given())
    except (sqlite3.Error, sqlite3.Warning) as e:
        lost = _LOST.fullmatch(str(e))
        if lost is None:
            return  # what else is wrong with it is the checker's fault, and told as that when it is run
        columns = dict.fromkeys(column for of in exporter.columns.values() for column in of)
        _missing(lost[1], lost[2], exporter.columns if lost[1] == "table" else columns)
    for name in asked:
        if not any(name == p or name.startswith(f"{p}_") for p in parameters):
            raise TaskError(f"{query!r} asks for :{name}, which is no parameter", hint="parameters are " + (", ".join(sorted(parameters)) or "none"))


def _check_widget(asked: Visible, program: Program) -> None:
    if asked.id is None and asked.class_name is None:
        return
    nodes = list(_nodes(program))
    if asked.id is not None and not asked.id.startswith(_OF_THE_SYSTEM):
        ids = {word for node in nodes for word in (node.resource_id, node.resource_id.rpartition(":id/")[2]) if word}
        # What rows number ("done-3") is there for other numbers too.
        if _NUMBERS.sub("#", asked.id) not in {_NUMBERS.sub("#", word) for word in ids}:
            _missing("widget with the id", asked.id, ids)
    if asked.class_name is not None:
        classes = {word for node in nodes for word in (node.class_name, node.class_name.rpartition(".")[2])}
        if asked.class_name not in classes and not asked.class_name.startswith(_OF_THE_SYSTEM):
            _missing("widget of the class", asked.class_name, classes)


def _nodes(program: Program) -> Iterator[Node]:
    for screen in program.screens.values():
        for layout in screen.layouts:
            yield from layout.hierarchy.nodes()
        if screen.template is not None:
            yield from (slot.node for slot, _ in screen.template.slots())


# Paths


class _At(NamedTuple):
    """What stands at a place of a path. `table` by the name that tasks give it."""

    kind: Literal["document", "variables", "tables", "rows", "row", "apps", "anything"]
    app: Vocabulary | None = None
    table: str = ""


_ANYTHING = _At("anything")


def check_path(text: str, app: Vocabulary, others: Mapping[str, Vocabulary]) -> None:
    """Raises TaskError for a path into the document of an app that names what is not in it. `others` are under `apps`."""
    path = Path(PARAMETER.sub("`0`", text))
    if path.alone is not None:
        app.variable(path.alone)
    else:
        _follow(path.tree, _At("document", app), others)


def check_condition(where: str, table: str, app: Vocabulary) -> None:
    """Raises TaskError for a condition on the rows of a table that names what they do not have."""
    app.table(table)
    _follow(Path(PARAMETER.sub("`0`", f"[?{where}]")).tree, _At("rows", app, app.names.called(app.names.table(table))), {})


def _follow(node: Mapping[str, Any], at: _At, others: Mapping[str, Vocabulary]) -> _At:
    """What a part of a path finds, where it is asked of `at`."""
    children = node.get("children", [])
    match node["type"]:
        case "field":
            return _field(str(node["value"]), at, others)
        case "current":
            return at
        case "subexpression" | "index_expression" | "pipe":
            for child in children:
                at = _follow(child, at, others)
            return at
        case "index":
            return at._replace(kind="row") if at.kind == "rows" else _ANYTHING
        case "slice" | "identity":
            return at
        case "flatten":
            return _follow(children[0], at, others)
        case "projection" | "filter_projection":
            one = _element(_follow(children[0], at, others))
            for comparison in children[2:]:
                _follow(comparison, one, others)
            found = _follow(children[1], one, others)
            return found._replace(kind="rows") if found.kind == "row" else _ANYTHING
        case "value_projection":
            _follow(children[0], at, others)
            return _ANYTHING
        case "function_expression":
            return _called(str(node["value"]), children, at, others)
        case _:
            for child in children:
                if isinstance(child, Mapping):
                    _follow(child, at, others)
            return _ANYTHING


def _element(of: _At) -> _At:
    return of._replace(kind="row") if of.kind == "rows" else _ANYTHING


def _called(name: str, children: Any, at: _At, others: Mapping[str, Vocabulary]) -> _At:
    """What a function gives; expressions (`&cost`) are asked of what is in the list beside them."""
    given = [_follow(child, at, others) for child in children if child["type"] != "expref"]
    rows = next((one for one in given if one.kind == "rows"), _ANYTHING)
    for child in children:
        if child["type"] == "expref":
            _follow(child["children"][0], _element(rows), others)
    return rows if name in _STILL_ROWS else _element(rows) if name in _ONE_OF_ROWS else _ANYTHING


def _field(name: str, at: _At, others: Mapping[str, Vocabulary]) -> _At:
    if at.app is None:
        if at.kind == "apps":
            if name not in others:
                _missing("app", name, others)
            return _At("document", others[name])
        return _ANYTHING
    exporter = at.app.exporter
    match at.kind:
        case "document":
            known = (*_DOCUMENT, "apps") if others else _DOCUMENT
            if name not in known:
                # Who leaves out where it stands names a variable, most of all.
                variables = [f"variables.{v}" for v in exporter.variables(at.app.variables) if v == name]
                raise TaskError(f"a state has no field {name!r}", hint=nearest(name, variables or known))
            places = {"apps": _At("apps"), "variables": _At("variables", at.app), "tables": _At("tables", at.app)}
            return places.get(name, _ANYTHING)
        case "variables":
            if name not in (variables_known := exporter.variables(at.app.variables)):
                _missing("variable", name, variables_known)
            return _ANYTHING
        case "tables":
            if name not in exporter.columns:
                _missing("table", name, exporter.columns)
            return at._replace(kind="rows", table=name)
        case "row":
            if name not in exporter.columns[at.table]:
                _missing(f"column {at.table}.", name, exporter.columns[at.table])
            return _ANYTHING
        case "rows":
            raise TaskError(f"{name!r} is asked of {at.table}, which is a list of rows", hint=f"{at.table}[*].{name} for all, {at.table}[0].{name} for the first")
        case _:
            return _ANYTHING
