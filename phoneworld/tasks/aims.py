"""What is still to be done for a goal, in terms of the Program: which deeds would do it, and what they would need. Guides the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phoneworld.program.effect import InsertRow, SetVar, UpdateRows
from phoneworld.program.expr import Const, Expr, Value, Var, same_value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.state import AppState
from phoneworld.tasks.checker import (
    AllOf,
    Answer,
    AnyOf,
    Cells,
    Checker,
    Custom,
    InApp,
    InOrder,
    Never,
    NotSo,
    Rows,
    Sql,
    State,
    Visible,
    Visited,
)
from phoneworld.tasks.influence import FAR, Deed, Influence, RowDeed, chosen_by, may_be, sources
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.task import path_of
from phoneworld.tasks.verdict import Finding

Need = tuple[str, Value]
"""A variable and what it has to hold."""


@dataclass(frozen=True, slots=True)
class Way:
    """One deed that brings an aim about, on its screen, once its needs are met."""

    screen: str
    needs: tuple[Need, ...] = ()
    arrives: bool = False
    """True where to be on the screen is enough."""


@dataclass(frozen=True, slots=True)
class Aim:
    """One part of a goal: the ways to bring it about (none: nobody knows how), and what it is about."""

    ways: tuple[Way, ...]
    variables: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    rows: frozenset[tuple[str, int]] = frozenset()
    deeds: frozenset[tuple[str, RowDeed]] = frozenset()
    words: tuple[str, ...] = ()
    once: str = ""
    """Aims with one name are brought about together."""
    hopeless: bool = False
    """Nothing that is known ever does it."""


class Aims:
    """The aims of a goal, by the places of its findings."""

    def __init__(self, judge: Judge, influence: Influence) -> None:
        self.judge = judge
        self.influence = influence
        self.names = judge.setting.task.names
        self._start = judge.setting.exporter.app(judge.instance.start)
        self._columns = frozenset(influence.columns_shown())
        self._of: dict[int, tuple[Aim, ...]] = {}
        self.all: list[Aim] = []
        self._collect(judge.checker)

    def _collect(self, checker: Checker) -> None:
        match checker:
            case AllOf(parts) | AnyOf(parts) | InOrder(parts):
                for part in parts:
                    self._collect(part)
            case NotSo(what):
                self._collect(what)
            case Never() | InApp():
                pass
            case _:
                aims = tuple(self._leaf(checker))
                self._of[id(checker)] = aims
                self.all += aims

    def open(self, finding: Finding) -> list[Aim]:
        """The aims that do not hold yet. Of several ways that would do, those of the way that is furthest."""
        found: list[Aim] = []
        self._open(self.judge.checker, finding, found)
        return found

    def _open(self, checker: Checker, finding: Finding, found: list[Aim]) -> None:
        if finding.holds is True:
            return
        match checker:
            case AllOf(parts):
                for part, told in zip(parts, finding.parts, strict=True):
                    self._open(part, told, found)
            case InOrder(parts):
                for part, told in zip(parts, finding.parts, strict=True):
                    if told.holds is not True:
                        self._open(part, told, found)
                        return
                self._open(parts[-1], finding.parts[-1], found)
            case AnyOf(parts):
                best = max(range(len(parts)), key=lambda i: (finding.parts[i].progress, -i))
                self._open(parts[best], finding.parts[best], found)
            case NotSo(what):
                found += self._of.get(id(what), ())
            case Never() | InApp():
                pass
            case Rows():
                each = finding.parts or (finding,)
                found += [aim for aim, one in zip(self._of[id(checker)], each, strict=True) if one.holds is not True]
            case Visited():
                reached = round(finding.progress * len(checker.screens))
                found += self._of[id(checker)][reached:]
            case _:
                found += self._of[id(checker)]

    def distance(self, aims: list[Aim], app: AppState) -> int:
        """About how many actions these aims still take: a guess that seldom is too high."""
        total, seen = 0, set[str]()
        for aim in aims:
            if aim.once and aim.once in seen:
                continue
            seen.add(aim.once)
            best = FAR if aim.ways else 1
            for way in aim.ways:
                far = self.influence.distances((way.screen,)).get(app.screen, FAR) + (not way.arrives)
                far += sum(not same_value(app.variables.get(name), value) for name, value in way.needs)
                best = min(best, far)
            # The way to one thing is often the way to the next.
            total = total + best if total == 0 else total + max(1, best // 2)
        return total

    # What each checker needs

    def _leaf(self, checker: Checker) -> Iterator[Aim]:
        match checker:
            case State("screen", comparison) if isinstance(comparison.value, str):
                yield Aim((Way(self.names.screen(comparison.value), arrives=True),), once=comparison.value)
            case State("screen", comparison) if isinstance(comparison.value, tuple) and comparison.op == "one_of":
                yield Aim(tuple(Way(self.names.screen(str(screen)), arrives=True) for screen in comparison.value))
            case State(path, comparison):
                variables = frozenset(map(self.names.variable, path_of(path).variables))
                tables = frozenset(table for table in self.judge.setting.program.tables if f"tables.{self.names.called(table)}" in path.replace('"', ""))
                value = comparison.value if comparison.op == "is" and not isinstance(comparison.value, tuple) else None
                yield self._aim(variables, frozenset((t, deed) for t in tables for deed in _DEEDS), value=value)
            case Sql():
                yield self._aim(frozenset(), frozenset((t, deed) for t in self.judge.setting.program.tables for deed in _DEEDS))
            case Rows():
                yield from self._rows(checker)
            case Visited(screens):
                for screen in screens:
                    yield Aim((Way(self.names.screen(screen), arrives=True),), once=screen)
            case Visible():
                words = tuple(w for w in (checker.text, checker.shows, checker.says, checker.description) if w)
                rows = frozenset(self._rows_with(words))
                about = {table for table, _ in rows}
                ways = tuple(Way(screen, arrives=True) for screen in sorted({s for s, t, column in self._columns if t in about and self._says(t, column, words)}))
                yield Aim(ways, rows=rows, words=words)
            case Answer() | Custom():
                yield Aim(())
            case _:
                return

    def _rows(self, checker: Rows) -> Iterator[Aim]:
        table = self.names.table(checker.table)
        target = self.judge.targets(checker)
        for row in target.deleted:
            yield self._aim(frozenset(), frozenset(((table, "deleted"),)), row=row, once=f"deleted {table} {row}")
        for row, wanted in target.changed.items():
            for cell in wanted:
                yield self._aim(frozenset(), frozenset(((table, "changed"),)), (cell,), row=row, once=f"changed {table} {row}")
        for i, cells in enumerate(checker.added):
            own = tuple((self.names.column(checker.table, name), comparison) for name, comparison in cells)
            yield self._aim(frozenset(), frozenset(((table, "added"),)), own, once=f"added {table} {i}")

    def _aim(
        self,
        variables: frozenset[str],
        rows: frozenset[tuple[str, RowDeed]],
        cells: Cells = (),
        *,
        row: int | None = None,
        value: Value = None,
        once: str = "",
    ) -> Aim:
        ways: dict[Way, None] = {}
        for deed in self.influence.deeds:
            if (deed.variables & variables or deed.rows & rows) and self._can(deed, rows, cells):
                ways.setdefault(Way(deed.screen, tuple(self._needs(deed, variables, rows, cells, row, value))))
        tables = frozenset(table for table, _ in rows)
        words = tuple(c.value for _, c in cells if isinstance(c.value, str))
        named = frozenset((table, row) for table in tables if row is not None)
        asked = words if not isinstance(value, str) else (*words, value)
        return Aim(tuple(ways), variables, tables, named, rows, asked, once, not ways)

    def _can(self, deed: Deed, rows: frozenset[tuple[str, RowDeed]], cells: Cells) -> bool:
        """False where what the deed puts into a row is never what is asked for."""
        wanted = {name: c.value for name, c in cells if c.op == "is" and not isinstance(c.value, tuple)}
        for effect in deed.effects:
            if isinstance(effect, InsertRow) and (effect.table, "added") in rows:
                given = dict(effect.cells)
                return all(may_be(given.get(column, Const(None)), value) or self._changes(effect.table, column) for column, value in wanted.items())
        return True

    def _changes(self, table: str, column: str) -> bool:
        """True where something is known to change this column of a row that is there."""
        return any(
            (table, "changed") in deed.rows
            and (not deed.effects or any(isinstance(e, UpdateRows) and e.table == table and column in dict(e.cells) for e in deed.effects))
            for deed in self.influence.deeds
        )

    def _needs(
        self, deed: Deed, variables: frozenset[str], rows: frozenset[tuple[str, RowDeed]], cells: Cells, row: int | None, value: Value
    ) -> Iterator[Need]:
        wanted = {name: c.value for name, c in cells if c.op == "is" and not isinstance(c.value, tuple)}
        for effect in deed.effects:
            match effect:
                case SetVar(name, expr) if name in variables and value is not None:
                    yield from _handed_on(expr, value)
                case InsertRow(table, of, _, _) if (table, "added") in rows:
                    for column, expr in of:
                        if column in wanted:
                            yield from _handed_on(expr, wanted[column])
                case UpdateRows(table, of, where) if (table, "changed") in rows:
                    for column, expr in of:
                        if column in wanted:
                            yield from _handed_on(expr, wanted[column])
                            if row is not None:
                                yield from ((name, row) for name in (*chosen_by(expr), *chosen_by(where)))
                case _:
                    pass

    def _rows_with(self, words: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        for table, rows in self._start.tables.items():
            for cells in rows:
                i = cells.get(ROW_ID)
                if isinstance(i, int) and any(isinstance(c, str) and any(w in c for w in words) for c in cells.values()):
                    yield table, i

    def _says(self, table: str, column: str, words: tuple[str, ...]) -> bool:
        return any(isinstance(c := row.get(column), str) and any(w in c for w in words) for row in self._start.tables.get(table, ()))


_DEEDS: tuple[RowDeed, ...] = ("added", "changed", "deleted")


def _handed_on(expr: Expr, value: Value) -> Iterator[Need]:
    """What the one variable that an expression hands on has to hold for it to be a value."""
    found = list(dict.fromkeys(sources(expr)))
    if any(isinstance(s, Const) and same_value(s.value, value) for s in found):
        return
    names = [s.name for s in found if isinstance(s, Var)]
    if len(names) == 1:
        yield names[0], value


def typed_words(aims: Mapping[int, Aim] | list[Aim], variable: str) -> Iterator[str]:
    """What a field that is kept in a variable might have to hold: what some way needs in it, else all words of the goal."""
    listed = list(aims.values()) if isinstance(aims, Mapping) else aims
    needed = [value for aim in listed for way in aim.ways for name, value in way.needs if name == variable and isinstance(value, str)]
    yield from dict.fromkeys(needed or (word for aim in listed for word in aim.words))
