"""What is asked of a policy: an instruction with parameters, where it starts, when it is reached. Everything is decided by the seed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, TypeAlias, assert_never

from immutables import Map

from phoneworld.errors import TaskError, TaskFault
from phoneworld.program.expr import Value, same_value
from phoneworld.program.program import all_variables
from phoneworld.program.template import ROW_ID
from phoneworld.sim.effects import next_id, with_ids
from phoneworld.sim.evaluate import Row
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import AppState, PhoneState
from phoneworld.tasks.checker import AllOf, Checker, Unchanged, bound, filled, fixed_parts, said
from phoneworld.tasks.kept import kept_variables
from phoneworld.tasks.names import Exporter, Names, nearest
from phoneworld.tasks.naming import Vocabulary, check_checker, check_condition, check_path
from phoneworld.tasks.paths import Path, with_parameters
from phoneworld.ui.action import Action

TASK_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*/[a-z0-9][a-z0-9_-]*-v[1-9][0-9]*")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
_DAY_TOKEN = re.compile(r"YYYY|Month|Mon|MM|DD|M|D|Weekday")

_FOUND_KEPT = 64

Category = Literal["app", "mini-app", "system", "cross-app"]


@dataclass(frozen=True, slots=True)
class RowOf:
    """A row of a table as it is at the start: `{name.column}` are its cells. `where` is a condition on rows, in JMESPath; `unlike` names other row parameters.

    `app` is one of the task's other apps, where it is a row of that.
    """

    table: str
    where: str = ""
    unlike: tuple[str, ...] = ()
    app: str = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """One of the values that a variable was seen to have, but not the one it has at the start."""

    variable: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, both ends included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day after the start's own: some days later, or the next weekday of a name. Written as `form` says (YYYY, MM, M, Mon, Month, DD, D, Weekday); `{name.iso}` is the day as 2026-08-24."""

    after: tuple[int, int] = (1, 1)
    weekday: str = ""
    form: str = "YYYY-MM-DD"


@dataclass(frozen=True, slots=True)
class Found:
    """What a path finds in the state at the start, with the parameters before it. Other apps of the task are under `apps`."""

    path: str


Parameter: TypeAlias = RowOf | OneOf | Seen | Whole | Day | Found


@dataclass(frozen=True, slots=True)
class Start:
    """Where an episode begins: a start of the app (the first where it is ""), and what is other than there.

    `tables` are whole, `add` comes after the rows that are there; cells that are not named are None. `clock` is a time with its
    distance from UTC (2026-08-19T23:30:00+02:00). `on_phone` brings a real phone there, from the app's first screen.
    """

    at: str = ""
    variables: tuple[tuple[str, Value], ...] = ()
    tables: tuple[tuple[str, tuple[tuple[tuple[str, Value], ...], ...]], ...] = ()
    add: tuple[tuple[str, tuple[tuple[tuple[str, Value], ...], ...]], ...] = ()
    clock: str = ""
    on_phone: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Tags:
    """What kind of task it is. `difficulty` is the length of the oracle's solution."""

    category: Category = "app"
    skills: tuple[str, ...] = ()
    difficulty: int | None = None


@dataclass(frozen=True, slots=True)
class OtherApp:
    """An app on the phone beside the one that a task is about, and what the task calls its tables, variables and screens."""

    package: str
    names: Names = Names()


@dataclass(frozen=True, slots=True)
class Task:
    """`wordings` are ways to say it, by language.

    `look` is what has to be seen before an answer can be known, each part of an `all` at its own time: the oracle goes there; success does
    not ask for it. `on_phone` is checked on a real phone, whose state cannot be read, in the place of `check`. `apps` are further apps that have
    to do with it, each by a short name.
    """

    id: str
    wordings: Mapping[str, tuple[str, ...]]
    check: Checker
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    start: Start = Start()
    unchanged: Unchanged = Unchanged()
    budget: int = 30
    tags: Tags = Tags()
    names: Names = Names()
    look: Checker | None = None
    on_phone: Checker | None = None
    package: str = ""
    apps: Mapping[str, OtherApp] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """File and line of what it says (`start.variables.dark`), of itself under "", where it was read from a file."""

    def place(self, *names: str) -> str:
        """File and line of a part, or of what it is part of; "" where it was not read from a file."""
        whole = (".".join(names[:n]) for n in range(len(names), -1, -1))
        return next((self.places[name] for name in whole if name in self.places), "")

    @property
    def app(self) -> str:
        """The short name of the app, from the id."""
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Instance:
    """A task as a seed draws it: what to say to the policy, where to begin, what to check."""

    task: Task
    seed: int
    language: str
    instruction: str
    values: Mapping[str, Value]
    start: PhoneState
    checker: Checker
    look: Checker | None
    on_phone: Checker | None


class Setting:
    """A task on a phone, made ready to be drawn many times. Raises TaskError where the app has not what the task names."""

    def __init__(self, task: Task, phone: Phone, *, kept: frozenset[str] | None = None) -> None:
        self.task = task
        self.phone = phone
        self.package = task.package or phone.main
        if self.package not in phone.models:
            raise TaskError(f"{task.id} is about {self.package}, which is not on this phone", hint=nearest(self.package, phone.models), place=task.place("package"))
        self.program = phone.models[self.package].program
        self.variables = frozenset(all_variables(self.program))
        with _placed(task):
            task.names.check(self.program, self.variables)
        self.exporter = Exporter(task.names, self.program)
        self.vocabulary = Vocabulary(task.names, self.program, self.exporter, self.variables)
        self.kept = (kept_variables(self.program) if kept is None else kept) | self._watched()
        """The variables that nobody may change unasked. Working them out reads the whole Program: several tasks may share them."""
        self.kept_in_order = tuple(sorted(self.kept))
        self.free_variables, self.free_columns = self._allowed()
        self.others = {name: self._beside(app) for name, app in task.apps.items()}
        """The task's other apps, each as if it were the one that the task is about."""
        self._fixed = frozenset(part for of in (task.check, task.look, task.on_phone) if of is not None for part in fixed_parts(of))
        self._values: dict[str, tuple[AppState, int, Any]] = {}
        self._found: dict[tuple[str, str], tuple[tuple[Row, ...], list[Row]]] = {}
        self._check_names()

    def _beside(self, app: OtherApp) -> Setting:
        task = replace(
            self.task, package=app.package, names=app.names, apps={}, start=Start(), unchanged=Unchanged(on=self.task.unchanged.on), look=None, on_phone=None,
            check=AllOf(()), parameters={},
        )  # fmt: skip
        return Setting(task, self.phone)

    def _check_names(self) -> None:
        """Raises TaskError, with file and line where the task has them, for a name that is in no app of the task."""
        task, own = self.task, self.vocabulary
        others = {name: other.vocabulary for name, other in self.others.items()}
        for name, checker in (("check", task.check), ("look", task.look), ("on_phone", task.on_phone)):
            if checker is not None:
                with _placed(task, name):
                    check_checker(checker, own, others, frozenset(task.parameters), on_phone=name == "on_phone")
        for name, parameter in task.parameters.items():
            with _placed(task, "parameters", name):
                self._check_parameter(name, parameter, others)
        starts = self.phone.models[self.phone.main].program.starts
        if task.start.at and task.start.at not in starts:
            raise TaskError(f"the app has no start {task.start.at!r}", hint=nearest(task.start.at, starts), place=task.place("start", "at"))
        for name, _ in task.start.variables:
            with _placed(task, "start", "variables", name):
                own.variable(name)
        for kind, tables in (("tables", task.start.tables), ("add", task.start.add)):
            for name, rows in tables:
                with _placed(task, "start", kind, name):
                    own.table(name)
                    for column in {column for cells in rows for column, _ in cells}:
                        own.column(name, column)

    def _check_parameter(self, name: str, parameter: Parameter, others: Mapping[str, Vocabulary]) -> None:
        match parameter:
            case RowOf(table, where, unlike, app):
                if app and app not in others:
                    raise TaskError(f"{name} is a row of {app!r}, which is none of the task's apps", hint=nearest(app, others))
                of = others[app] if app else self.vocabulary
                of.table(table)
                if where:
                    check_condition(where, table, of)
                rows = [other for other, one in self.task.parameters.items() if isinstance(one, RowOf) and other != name]
                if unknown := [other for other in unlike if other not in rows]:
                    raise TaskError(f"{name} is unlike {unknown[0]!r}, which is no row that the task draws", hint=nearest(unknown[0], rows))
            case Seen(variable):
                self.vocabulary.variable(variable)
            case Found(path):
                check_path(path, self.vocabulary, others)
            case OneOf() | Whole() | Day():
                pass
            case _:
                assert_never(parameter)

    def instance(self, seed: int = 0, language: str = "en") -> Instance:
        """What this seed draws. Raises TaskError where a parameter has nothing to be drawn from, or the task does not speak the language."""
        task = self.task
        if language not in task.wordings:
            raise TaskError(f"{task.id} has no wording in {language!r}", hint="it has " + ", ".join(task.wordings), place=task.place("say"))
        with _placed(task):
            return self._instance(seed, language)

    def _instance(self, seed: int, language: str) -> Instance:
        task = self.task
        values: dict[str, Value] = {}
        rows: dict[str, tuple[str, Value]] = {}
        later = []
        offset = 0
        if task.start.clock:
            with _placed(task, "start", "clock"):
                offset = int((_clock(task.start.clock).utcoffset() or timedelta()).total_seconds())
        state = self._start(seed, {}, patched=False)
        for name, parameter in task.parameters.items():
            if isinstance(parameter, RowOf | Found):
                later.append(name)
            else:
                self._draw(name, parameter, seed, state, offset, values, rows)
        if task.start != Start():
            with _placed(task, "start"):
                state = self._start(seed, values, patched=True)
        for name in later:
            self._draw(name, task.parameters[name], seed, state, offset, values, rows)
        wordings = task.wordings[language]
        with _placed(task, "say", language):
            instruction = said(wordings[_dice(task.id, seed, "wording") % len(wordings)], values)
        look, on_phone = (None if of is None else bound(of, values, self._fixed) for of in (task.look, task.on_phone))
        return Instance(task, seed, language, instruction, values, state, bound(task.check, values, self._fixed), look, on_phone)

    def _allowed(self) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
        """The variables, and the columns (of a table; "" for all of it), that the task allows to change unasked."""
        names, program = self.task.names, self.program
        variables: set[str] = set()
        columns: set[tuple[str, str]] = set()
        for word in self.task.unchanged.allow:
            table, _, column = word.partition(".")
            if names.variable(word) in self.variables:
                variables.add(names.variable(word))
            elif names.table(word) in program.tables:
                columns.add((names.table(word), ""))
            elif names.table(table) in program.tables:
                with _placed(self.task, "unchanged"):
                    self.vocabulary.column(table, column)
                columns.add((names.table(table), names.column(table, column)))
            else:
                known = (*names.tables, *names.variables, *program.tables, *self.variables)
                raise TaskError(f"{word!r} is allowed to change, and is neither table, table.column nor variable", hint=nearest(word, known), place=self.task.place("unchanged"))
        return frozenset(variables), frozenset(columns)

    def _watched(self) -> frozenset[str]:
        watched = frozenset(map(self.task.names.variable, self.task.unchanged.watch))
        if unknown := sorted(watched - self.variables):
            with _placed(self.task, "unchanged"):
                self.vocabulary.variable(unknown[0])
        return watched

    def _draw(
        self, name: str, parameter: Parameter, seed: int, state: PhoneState, offset: int, values: dict[str, Value], rows: dict[str, tuple[str, Value]]
    ) -> None:
        with _placed(self.task, "parameters", name):
            self._drawn(name, parameter, seed, state, offset, values, rows)

    def _drawn(
        self, name: str, parameter: Parameter, seed: int, state: PhoneState, offset: int, values: dict[str, Value], rows: dict[str, tuple[str, Value]]
    ) -> None:
        dice = _dice(self.task.id, seed, name)
        match parameter:
            case OneOf(of):
                values[name] = of[dice % len(of)]
            case Whole(low, high):
                values[name] = low + dice % (high - low + 1)
            case Day():
                day = _drawn_day(parameter, _today(state.clock_ms, offset), dice)
                values[name], values[f"{name}.iso"] = written(day, parameter.form), day.isoformat()
            case Seen(variable):
                values[name] = self._seen(variable, state, dice)
            case Found(path):
                found = self._value(with_parameters(path, values), state)
                if isinstance(found, list | dict):
                    raise TaskError(f"{self.task.id}: {name} finds a list or an object", hint="a parameter is one value: add [0], length(@) or join(', ', @)")
                values[name] = found
            case RowOf():
                row = self._row(name, parameter, state, dice, values, rows)
                rows[name] = (self.task.names.table(parameter.table), row[ROW_ID]) if not parameter.app else ("", None)
                values.update({f"{name}.{column}": cell for column, cell in row.items()})
                values[f"{name}.row"] = row[ROW_ID]
            case _:
                assert_never(parameter)

    def _seen(self, variable: str, state: PhoneState, dice: int) -> Value:
        own = self.task.names.variable(variable)
        if own not in self.program.variables:
            raise TaskError(f"the mock has no variable {own!r}", hint=nearest(own, self.program.variables))
        now = self.exporter.app(state).variables.get(own)
        others = [value for value in self.program.variables[own].domain if not same_value(value, now)]
        if not others:
            raise TaskError(f"{variable} was seen with one value only, nothing can be drawn", hint="name the values with one_of")
        return others[dice % len(others)]

    def _row(self, name: str, parameter: RowOf, state: PhoneState, dice: int, values: Mapping[str, Value], rows: Mapping[str, tuple[str, Value]]) -> Row:
        if parameter.app:
            if parameter.app not in self.others:
                raise TaskError(f"{name} is a row of {parameter.app!r}, which is none of the task's apps", hint=nearest(parameter.app, self.others))
            return self.others[parameter.app]._row(name, replace(parameter, app=""), state, dice, values, {})
        table = self.task.names.table(parameter.table)
        if table not in self.program.tables:
            raise TaskError(f"the mock has no table {parameter.table!r}", hint=nearest(parameter.table, self.exporter.columns))
        found = self._fitting(table, with_parameters(parameter.where, values), self.exporter.app(state))
        taken = {rows.get(other) for other in parameter.unlike}
        if parameter.unlike:
            found = [row for row in found if (table, row[ROW_ID]) not in taken]
        if not found:
            raise TaskError(f"{self.task.id}: no row of {parameter.table} is left for {name} where {parameter.where or 'any'}", hint="let the start add one, or ask for less")
        return found[dice % len(found)]

    def _value(self, path: str, state: PhoneState) -> Any:
        """What a path finds; worked out once for the same start."""
        app = self.exporter.app(state)
        known = self._values.get(path)
        if known is None or known[0] is not app or known[1] != state.clock_ms:
            if len(self._values) >= _FOUND_KEPT:
                self._values.clear()
            known = self._values[path] = (app, state.clock_ms, path_of(path).find(self._document(state)))
        return known[2]

    def _document(self, state: PhoneState) -> dict[str, Any]:
        document = self.exporter.document(state)
        return document | {"apps": {name: other.exporter.document(state) for name, other in self.others.items()}} if self.others else document

    def _fitting(self, table: str, where: str, app: AppState) -> list[Row]:
        """The rows that are so; worked out once for the same rows. Not to be changed."""
        rows = app.tables.get(table, ())
        known = self._found.get((table, where))
        if known is None or known[0] is not rows:
            if len(self._found) >= _FOUND_KEPT:
                self._found.clear()
            exported: list[Row] = list(self.exporter.rows(app, table))
            known = (rows, (path_of(f"[?{where}]").find(exported) or []) if where else exported)
            self._found[table, where] = known
        return known[1]

    def _start(self, seed: int, values: Mapping[str, Value], *, patched: bool) -> PhoneState:
        start = self.task.start
        state = self.phone.reset(seed, start.at or None)
        if start.clock:
            state = state._replace(clock_ms=int(_clock(start.clock).timestamp() * 1000))
        if not patched or not (start.variables or start.tables or start.add):
            return state
        app = state.apps[self.package]
        names = self.task.names
        changes = {names.variable(name): filled(value, values) for name, value in start.variables}
        if unknown := sorted(set(changes) - self.variables):
            raise TaskError(f"the start sets {unknown[0]!r}, which the mock does not have", hint=nearest(unknown[0], self.variables))
        app = app._replace(variables=app.variables.update(changes))
        for name, rows in start.tables:
            app = self._with_rows(app, name, (), rows, values)
        for name, rows in start.add:
            app = self._with_rows(app, name, app.tables.get(names.table(name), ()), rows, values)
        # What was recorded at a moment is not what happens in a state that was made.
        app = self.phone.models[self.package].off_path(app._replace(departed=True))
        return state._replace(apps=Map(state.apps).set(self.package, app))

    def _with_rows(
        self, app: AppState, name: str, before: tuple[Row, ...], rows: tuple[tuple[tuple[str, Value], ...], ...], values: Mapping[str, Value]
    ) -> AppState:
        names = self.task.names
        table = names.table(name)
        if table not in self.program.tables:
            raise TaskError(f"the start fills table {name!r}, which the mock does not have", hint=nearest(name, self.program.tables))
        columns = self.program.tables[table].columns
        made: list[Row] = []
        for cells in rows:
            row: dict[str, Value] = dict.fromkeys(c for c in columns if c != ROW_ID)
            for column, value in cells:
                own = names.column(name, column)
                if own not in columns:
                    raise TaskError(f"the start fills {name}.{column}, which the mock does not have", hint=nearest(own, columns))
                row[own] = filled(value, values)
            made.append(row)
        free = max(app.next_row.get(table, 1), next_id(before))
        all_rows = (*before, *with_ids(made, free))
        next_row = app.next_row.set(table, max(free, next_id(all_rows)))
        same = self.phone.models[self.package].same_rows(all_rows)
        return app._replace(tables=app.tables.set(table, same), next_row=next_row)


@contextmanager
def _placed(task: Task, *names: str) -> Iterator[None]:
    """What is wrong inside is told with the file and line of a part of the task."""
    try:
        yield
    except TaskFault as e:
        raise e.at(task.place(*names)) from None


@lru_cache(maxsize=4096)
def path_of(text: str) -> Path:
    """The path of a text, read once."""
    return Path(text)


def _dice(task: str, seed: int, name: str) -> int:
    """A number that task, seed and name decide, the same in every process."""
    return int.from_bytes(blake2b(f"{task}\0{seed}\0{name}".encode(), digest_size=8).digest())


def _clock(text: str) -> datetime:
    try:
        clock = datetime.fromisoformat(text)
    except ValueError:
        raise TaskError(f"{text!r} is no time", hint="for example 2026-08-19T23:30:00+02:00") from None
    if clock.tzinfo is None:
        raise TaskError(f"the time {text!r} does not say its distance from UTC", hint=f"for example {text}+00:00")
    return clock


def _today(clock_ms: int, offset_s: int) -> date:
    return (datetime.fromtimestamp(clock_ms / 1000, UTC) + timedelta(seconds=offset_s)).date()


def _drawn_day(parameter: Day, today: date, dice: int) -> date:
    if parameter.weekday:
        ahead = (WEEKDAYS.index(parameter.weekday) - today.weekday() - 1) % 7 + 1
        return today + timedelta(days=ahead)
    low, high = parameter.after
    return today + timedelta(days=low + dice % (high - low + 1))


def written(day: date, form: str) -> str:
    """A day as a form says, in English."""
    parts = {
        "YYYY": f"{day.year:04d}", "Month": _MONTHS[day.month - 1], "Mon": _MONTHS[day.month - 1][:3], "MM": f"{day.month:02d}", "M": str(day.month),
        "DD": f"{day.day:02d}", "D": str(day.day), "Weekday": WEEKDAYS[day.weekday()].capitalize(),
    }  # fmt: skip
    return _DAY_TOKEN.sub(lambda m: parts[m[0]], form)
