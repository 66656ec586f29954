"""Wrong endings of an episode that a good checker refuses: made from the oracle's right one by undoing, misplacing, misspelling and overdoing.

Each is a state (or an answer) that some wrong policy could leave behind. What the task leaves open is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

from phoneworld.program.expr import Value, same_value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row
from phoneworld.sim.state import AppState, PhoneState
from phoneworld.tasks.checker import Answer, Checker, Rows, Sql, State, Visible, Visited, shown, sought
from phoneworld.tasks.differences import Difference, differences
from phoneworld.tasks.judge import Judge, Trail
from phoneworld.tasks.oracle import spoken
from phoneworld.tasks.reading_values import day_in, normal, number_in
from phoneworld.tasks.task import written

Kind = Literal["nothing", "prefix", "dropped", "entity", "value", "field", "extra", "neighbour"]
KINDS: tuple[Kind, ...] = ("nothing", "prefix", "dropped", "entity", "value", "field", "extra", "neighbour")
_FEW = 4
"""How many other rows, variables or values stand for all of them."""


class Ending(NamedTuple):
    """How an episode ended."""

    state: PhoneState
    trail: Trail
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong ending, and what is wrong with it."""

    kind: Kind
    words: str
    ending: Ending
    asks: tuple[str, ...] = ()
    """What the instance asks for of which it is the right ending."""


class Mutator:
    """Makes the mutants of one solved instance."""

    def __init__(self, judge: Judge, right: Ending) -> None:
        self.judge = judge
        self.right = right
        self.setting = judge.setting
        self.start = judge.setting.exporter.app(judge.instance.start)
        self.app = judge.setting.exporter.app(right.state)
        found = differences(self.start, self.app, sorted(self.setting.kept))
        nodes = self._nodes = tuple(sought(judge.checker))
        self._open = self._allowed(nodes)
        self.done = tuple(d for d in found if self._is_asked(d))
        self.touched = {(d.table, d.row) for d in found}
        self._answer = next((node for node in nodes if isinstance(node, Answer)), None)
        self._sees = any(isinstance(n, Visible | Visited) or (isinstance(n, State) and n.path == "screen") for n in nodes)

    def all(self) -> Iterator[Mutant]:
        """All of them but those that need acting: prefixes and neighbours."""
        start = self.judge.instance.start
        yield Mutant("nothing", "nothing was done", Ending(start, self.judge.begin()))
        for done in self.done:
            yield from self._of(done)
        if self._sees:
            yield from self._elsewhere()
        if self._answer is not None:
            yield from self._answers(self._answer)
        yield from self._extras()

    def _allowed(self, nodes: tuple[Checker, ...]) -> frozenset[str]:
        """The tables and variables that the task says may change, but for those that it is about: a change of these is no fault."""
        names = self.setting.task.names
        own = {self.judge.targets(node).table for node in nodes if isinstance(node, Rows)}
        for node in nodes:
            said = node.path if isinstance(node, State) else node.query if isinstance(node, Sql) else ""
            own |= {t for t in self.setting.program.tables if names.called(t) in said}
            own |= {v for v in self.setting.kept if said and names.variable_called(v) in said}
        allowed = {names.table(word) for word in self.setting.task.unchanged.allow} | {names.variable(word) for word in self.setting.task.unchanged.allow}
        return frozenset(allowed - own)

    def _is_asked(self, d: Difference) -> bool:
        """True for what the task asks for, not for what it only lets happen."""
        if (d.column if d.kind == "variable" else d.table) in self._open:
            return False
        if d.kind != "changed":
            return True
        return not any((d.row, d.column) in aim.loose for node in self._nodes if isinstance(node, Rows) for aim in (self.judge.targets(node),))

    # Making states

    def _with(self, app: AppState) -> Ending:
        return self._beside(self.setting.package, app)

    def _beside(self, package: str, app: AppState) -> Ending:
        state = self.right.state
        state = state._replace(apps=state.apps.set(package, app))
        # It was shown: what must never be has happened where it is so now.
        return self.right._replace(state=state, trail=self.judge.watch(self.right.trail, state))

    def _rows(self, table: str, rows: tuple[Row, ...]) -> Ending:
        return self._with(self.app._replace(tables=self.app.tables.set(table, rows)))

    def _cells(self, table: str, *changes: tuple[int | None, str, Value]) -> Ending:
        rows = list(self.app.tables.get(table, ()))
        for i, column, value in changes:
            rows = [{**row, column: value} if row.get(ROW_ID) == i else row for row in rows]
        return self._rows(table, tuple(rows))

    def _variables(self, **changes: Value) -> Ending:
        return self._with(self.app._replace(variables=self.app.variables.update(changes)))

    def _others(self, table: str) -> list[Row]:
        """The rows of a table that nobody touched."""
        return [row for row in self.app.tables.get(table, ()) if (table, row.get(ROW_ID)) not in self.touched]

    # One thing that was done, done otherwise

    def _of(self, d: Difference) -> Iterator[Mutant]:
        words = d.words(self.setting.task.names)
        match d.kind:
            case "changed":
                yield from self._changed(d, words)
            case "added":
                yield from self._added(d, words)
            case "deleted":
                yield from self._deleted(d, words)
            case _:
                yield from self._variable(d, words)

    def _changed(self, d: Difference, words: str) -> Iterator[Mutant]:
        yield Mutant("dropped", f"not done: {words}", self._cells(d.table, (d.row, d.column, d.before)))
        for value in _wrong(d.after, d.before):
            yield Mutant("value", f"{shown(value)} instead: {words}", self._cells(d.table, (d.row, d.column, value)))
        others = [row for row in self._others(d.table) if not same_value(row.get(d.column), d.after)]
        for row in others[:_FEW]:
            ending = self._cells(d.table, (d.row, d.column, d.before), (_id(row), d.column, d.after))
            yield Mutant("entity", f"done to {_told(row)} instead: {words}", ending)
        row = next((r for r in self.app.tables[d.table] if r.get(ROW_ID) == d.row), {})
        fields = [c for c, v in row.items() if c not in (d.column, ROW_ID) and type(v) is type(d.after) and not same_value(v, d.after)]
        for column in fields[:_FEW]:
            ending = self._cells(d.table, (d.row, d.column, d.before), (d.row, column, d.after))
            yield Mutant("field", f"{self.setting.task.names.column_called(d.table, column)} instead: {words}", ending)

    def _added(self, d: Difference, words: str) -> Iterator[Mutant]:
        rows = self.app.tables[d.table]
        without = tuple(row for row in rows if row.get(ROW_ID) != d.row)
        yield Mutant("dropped", f"not done: {words}", self._rows(d.table, without))
        asked = self._asked_columns(d)
        for column in asked:
            for value in _wrong(d.cells.get(column), None):
                name = self.setting.task.names.column_called(d.table, column)
                yield Mutant("field", f"{name} {shown(value)}: {words}", self._cells(d.table, (d.row, column, value)))
        texts = [c for c in asked if isinstance(d.cells.get(c), str)]
        for kind in ("value", "entity"):
            for other in self._others(d.table)[:_FEW] if kind == "entity" else ({},):
                new = {c: other.get(c, f"{d.cells.get(c)} too") for c in texts}
                if texts and not all(same_value(new[c], d.cells.get(c)) for c in texts):
                    yield Mutant(kind, f"with {', '.join(map(shown, new.values()))}: {words}", self._cells(d.table, *((d.row, c, v) for c, v in new.items())))

    def _asked_columns(self, d: Difference) -> list[str]:
        """The columns of a row that came that the checker says something about; all with something in them where it does not go by rows."""
        rows = [node for node in self._nodes if isinstance(node, Rows) and self.judge.targets(node).table == d.table]
        if not rows:
            return [c for c, v in d.cells.items() if c != ROW_ID and v is not None]
        return list(dict.fromkeys(c for node in rows for c in self.judge.targets(node).columns_of(_id(d.cells), self.app)))

    def _deleted(self, d: Difference, words: str) -> Iterator[Mutant]:
        rows = self.app.tables.get(d.table, ())
        yield Mutant("dropped", f"not done: {words}", self._rows(d.table, (*rows, d.cells)))
        for other in self._others(d.table)[:_FEW]:
            left = tuple(row for row in rows if row is not other)
            yield Mutant("entity", f"{_told(other)} instead: {words}", self._rows(d.table, (*left, d.cells)))
        texts = [c for c, v in d.cells.items() if isinstance(v, str) and v]
        for column in texts[:_FEW]:
            yield Mutant("field", f"only one field emptied: {words}", self._rows(d.table, (*rows, {**d.cells, column: ""})))
        if texts:
            yield Mutant("value", f"emptied, not gone: {words}", self._rows(d.table, (*rows, {**d.cells, **dict.fromkeys(texts, "")})))

    def _variable(self, d: Difference, words: str) -> Iterator[Mutant]:
        yield Mutant("dropped", f"not done: {words}", self._variables(**{d.column: d.before}))
        declared = self.setting.program.variables.get(d.column)
        seen = [v for v in (declared.domain if declared else ()) if not same_value(v, d.after) and not same_value(v, d.before)]
        for value in (*seen[:_FEW], *_wrong(d.after, d.before)):
            yield Mutant("value", f"{shown(value)} instead: {words}", self._variables(**{d.column: value}))
        changed = {x.column for x in self.done}
        others = [v for v in sorted(self.setting.kept) if v not in changed and isinstance(self.app.variables.get(v), bool)]
        for name in others[:_FEW]:
            ending = self._variables(**{d.column: d.before, name: not self.app.variables.get(name)})
            yield Mutant("entity", f"{self.setting.task.names.variable_called(name)} instead: {words}", ending)

    # Being elsewhere

    def _elsewhere(self) -> Iterator[Mutant]:
        for i, reached in enumerate(self.right.trail.reached):
            if reached:
                trail = self.right.trail._replace(reached=tuple(0 if k == i else r for k, r in enumerate(self.right.trail.reached)))
                yield Mutant("dropped", "what was to be seen was not seen", self.right._replace(trail=trail))
        asked = [node for node in self._nodes if isinstance(node, State) and node.path == "screen"]
        if not asked:
            return
        others = [s for s in self.setting.program.screens if s != self.app.screen]
        for screen in others[: _FEW * 2]:
            yield Mutant("entity", f"on screen {self.setting.program.screens[screen].name} instead", self._with(self.app._replace(screen=screen)))

    # Saying something else

    def _answers(self, asked: Answer) -> Iterator[Mutant]:
        said = spoken(asked)

        def says(kind: Kind, words: str, answer: str | None) -> Mutant:
            return Mutant(kind, f"{words}: {shown(answer)}", self.right._replace(answer=answer))

        yield says("dropped", "no answer", None)
        yield says("dropped", "an empty answer", " ")
        yield says("value", "more letters", f"{said}asdf")
        for wrong in _wrong_answers(asked, said):
            yield says("value", "wrong", wrong)
        rights = {_meant(asked, said), *(_meant(asked, way) for way in asked.also)}
        cells = [
            (row, column)
            for table in self._all_tables()
            for row in table
            for column, value in row.items()
            if column != ROW_ID and isinstance(value, str | int | float) and _meant(asked, str(value)) == _meant(asked, said)
        ]
        # What says no number beside the right one is a remark, and no second answer.
        others = [v for row, column in cells[:1] for v in self._column(row, column) if _meant(asked, v) not in (None, *rights)]
        for other in others[:_FEW]:
            yield says("entity", "of another row", other)
            yield says("extra", "two answers", f"{said} or {other}")
        fields = [str(v) for row, _ in cells[:1] for c, v in row.items() if isinstance(v, str) and v and _meant(asked, v) not in (None, *rights)]
        for other in fields[:_FEW]:
            yield says("field", "another field", other)

    def _column(self, row: Row, column: str) -> list[str]:
        table = next((rows for rows in self._all_tables() if any(r is row for r in rows)), ())
        found = [spoken(Answer("text", v)) for r in table if r is not row and (v := r.get(column)) not in (None, "")]
        return list(dict.fromkeys(found))

    def _all_tables(self) -> list[tuple[Row, ...]]:
        """The tables of all apps that the task is about, at the start."""
        apps = (self.start, *(other.exporter.app(self.judge.instance.start) for other in self.setting.others.values()))
        return [rows for app in apps for rows in app.tables.values()]

    # Overdoing

    def _extras(self) -> Iterator[Mutant]:
        """The right ending, and something beside it that nobody asked for."""
        for table in sorted(set(self.app.tables) - self._open):
            others = self._others(table)
            for row in others[:2]:
                yield Mutant("extra", f"{_told(row)} is gone too", self._rows(table, tuple(r for r in self.app.tables[table] if r is not row)))
                for column, value in [(c, v) for c, v in row.items() if c != ROW_ID and isinstance(v, bool | str)][:2]:
                    other: Value = not value if isinstance(value, bool) else f"{value} too"
                    yield Mutant("extra", f"{_told(row)} is changed too", self._cells(table, (_id(row), column, other)))
            if others:
                free = max(self.app.next_row.get(table, 1), *(_id(r) + 1 for r in self.app.tables[table]))
                yield Mutant("extra", f"{_told(others[0])} is there twice", self._rows(table, (*self.app.tables[table], {**others[0], ROW_ID: free})))
        changed = {d.column for d in self.done} | self._open
        for name in [v for v in sorted(self.setting.kept) if v not in changed and isinstance(self.app.variables.get(v), bool)][:_FEW]:
            ending = self._variables(**{name: not self.app.variables.get(name)})
            yield Mutant("extra", f"{self.setting.task.names.variable_called(name)} is changed too", ending)
        yield from self._extra_rows()
        yield from self._extras_beside()

    def _extras_beside(self) -> Iterator[Mutant]:
        """The right ending, and something undone in another app."""
        state = self.right.state
        for name, other in self.setting.others.items():
            app = state.apps[other.package]
            for table, rows in sorted(app.tables.items()):
                for row in rows[:2]:
                    left = app._replace(tables=app.tables.set(table, tuple(r for r in rows if r is not row)))
                    yield Mutant("extra", f"{_told(row)} of {name} is gone too", self._beside(other.package, left))

    def _extra_rows(self) -> Iterator[Mutant]:
        for d in self.done:
            if d.kind == "added":
                free = max(_id(r) for r in self.app.tables[d.table]) + 1
                yield Mutant("extra", "it is there twice", self._rows(d.table, (*self.app.tables[d.table], {**d.cells, ROW_ID: free})))


def _wrong(right: Value, before: Value) -> list[Value]:
    """Other values of the same type, and none at all."""
    match right:
        case bool():
            found: list[Value] = [not right]
        case str():
            found = [f"{right} x", right[:-1], right.swapcase()]
        case int() | float():
            found = [right + 1, right - 1, str(right)]
        case _:
            found = ["x", 0]
    found.append(None)
    return [v for v in found if not same_value(v, right) and not (same_value(v, before) and v is not None)]


def _meant(asked: Answer, words: str) -> object:
    """What words say, for a question of this kind: two that say the same are no two answers."""
    match asked.kind:
        case "number":
            return number_in(words)
        case "date":
            return day_in(words)
        case _:
            return normal(words)


def _wrong_answers(asked: Answer, said: str) -> Iterator[str]:
    match asked.kind:
        case "number":
            number = float(asked.value) if isinstance(asked.value, int | float) else 0.0
            for wrong in (number + 1 + asked.tolerance, number - 1 - asked.tolerance, number * 10 + 1):
                yield str(int(wrong)) if wrong.is_integer() else str(wrong)
        case "date":
            day = day_in(said)
            if day is not None:
                for days in (1, -1, 365):
                    yield written(day + timedelta(days=days), "D Month YYYY")
        case "set" | "list":
            items = [str(v) for v in asked.value] if isinstance(asked.value, tuple) else [said]
            yield ", ".join(items[:-1]) or "nothing"
            yield ", ".join([*items, "something else"])
            if asked.kind == "list" and len(items) > 1:
                yield ", ".join(reversed(items))
        case _:
            yield said[: len(said) // 2] or "x"
            yield f"not {said}x"


def _id(row: Row) -> int:
    i = row.get(ROW_ID)
    return i if isinstance(i, int) else 0


def _told(row: Row) -> str:
    return next((shown(c) for name, c in row.items() if name != ROW_ID and isinstance(c, str) and c.strip()), f"row {row.get(ROW_ID)}")
