"""What can change what: read off a Program's rules and templates once, so that a search need not try what cannot matter."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from phoneworld.program.effect import DeleteRows, Effect, GoBack, InsertRow, SetRows, SetVar, Show, UpdateRows
from phoneworld.program.expr import (
    Case,
    Column,
    Const,
    Equal,
    Expr,
    Trim,
    Value,
    Var,
    names_in,
    same_value,
    tables_in,
    walk,
)
from phoneworld.program.program import Program, TriggerKind
from phoneworld.program.template import FOCUS, KEYBOARD, Part, Rows, Slot, current, scroll

RowDeed = Literal["added", "changed", "deleted"]
FAR = 12
"""How far a screen is thought to be from what cannot be reached by any rule that is known."""


@dataclass(frozen=True, slots=True)
class Deed:
    """What an action on a widget of a screen may do: variables it sets, rows it adds, changes or deletes, screens it leads to; and what it reads."""

    screen: str
    kind: TriggerKind
    node: str
    variables: frozenset[str]
    rows: frozenset[tuple[str, RowDeed]]
    leads: frozenset[str]
    goes_back: bool
    reads: frozenset[str]
    read_tables: frozenset[str]
    effects: tuple[Effect, ...] = ()


class Influence:
    """A Program, asked what in it can change what."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bookkeeping = frozenset((FOCUS, KEYBOARD, "moment", *map(scroll, program.screens), *(t.variable for t in program.timers.values())))
        self.deeds = tuple(_ruled(program)) + tuple(_assumed(program))
        self._at: dict[tuple[str, TriggerKind, str], list[Deed]] = {}
        for deed in self.deeds:
            self._at.setdefault((deed.screen, deed.kind, deed.node), []).append(deed)
        self._keys = {(d.screen, d.node) for d in self.deeds if d.kind == "long_press"}
        self._distances: dict[frozenset[str], Mapping[str, int]] = {}

    def at(self, screen: str, kind: TriggerKind, node: str) -> list[Deed]:
        """What an action on a widget may do; none where nobody knows."""
        return self._at.get((screen, kind, node), [])

    def keys(self, screen: str, kind: TriggerKind) -> list[Deed]:
        """What all deeds of a kind on a screen may do, whatever the widget."""
        return [d for d in self.deeds if d.screen == screen and d.kind == kind]

    @cached_property
    def _before(self) -> Mapping[str, frozenset[str]]:
        """The screens from which one step may lead to each screen."""
        before: dict[str, set[str]] = {screen: set() for screen in self.program.screens}
        for deed in self.deeds:
            for screen in deed.leads:
                before[screen].add(deed.screen)
        shown = {screen: set(of) for screen, of in before.items()}
        for screen, of in shown.items():
            for opener in of:
                before[opener].add(screen)  # Back leads to where a screen was opened from
        return {screen: frozenset(of) for screen, of in before.items()}

    def distances(self, to: Iterable[str]) -> Mapping[str, int]:
        """How many steps each screen is from the nearest of these, at least, as far as the rules say."""
        goal = frozenset(to)
        known = self._distances.get(goal)
        if known is None:
            known = self._distances[goal] = self._measured(goal)
        return known

    def _measured(self, goal: frozenset[str]) -> Mapping[str, int]:
        far: dict[str, int] = dict.fromkeys(goal, 0)
        queue = deque(goal)
        while queue:
            screen = queue.popleft()
            for before in self._before.get(screen, ()):
                if before not in far:
                    far[before] = far[screen] + 1
                    queue.append(before)
        return far

    def matters(self, variables: Iterable[str], tables: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """All variables and tables that bear on these: what sets them reads others, and so on."""
        names, rows = set(variables), set(tables)
        grown = True
        while grown:
            grown = False
            for deed in self.deeds:
                if not (deed.variables & names or any(table in rows for table, _ in deed.rows)):
                    continue
                more, more_rows = deed.reads - names - self.bookkeeping, deed.read_tables - rows
                if more or more_rows:
                    names |= more
                    rows |= more_rows
                    grown = True
        return frozenset(names), frozenset(rows)

    @cached_property
    def hiders(self) -> frozenset[str]:
        """The variables that decide which rows, and which parts of a screen, are shown."""
        found: set[str] = set()
        for screen in self.program.screens.values():
            for part in parts(screen.template.windows if screen.template else ()):
                found |= names_in(part.where if isinstance(part, Rows) else part.when)
        return frozenset(found - self.bookkeeping)

    def columns_shown(self) -> Iterator[tuple[str, str, str]]:
        """Which screen shows which column of which table."""
        for screen in self.program.screens.values():
            for part, table in tabled(screen.template.windows if screen.template else (), None):
                if isinstance(part, Slot):
                    for _, value in part.attributes:
                        for inner, looked in walk(value, table):
                            if isinstance(inner, Column) and looked:
                                yield screen.id, looked, inner.name
                            elif (column := getattr(inner, "column", None)) and (of := getattr(inner, "table", None)):
                                yield screen.id, of, column


def parts(windows: Iterable[Part]) -> Iterator[Part]:
    """All parts of a template."""
    for part, _ in tabled(windows, None):
        yield part


def tabled(windows: Iterable[Part], table: str | None) -> Iterator[tuple[Part, str | None]]:
    """All parts of a template, each with the table whose rows it is in."""
    for part in windows:
        yield part, table
        if isinstance(part, Rows):
            yield from tabled((part.row,), part.table)
        else:
            yield from tabled(part.children, table)


def _ruled(program: Program) -> Iterator[Deed]:
    for rule in program.rules:
        if rule.evidence.kind == "recorded" and rule.on.kind not in ("open_app", "close_app"):
            continue  # holds at one recorded moment only; the general rule says the same of all of them
        yield _deed(rule.screen, rule.on.kind, rule.on.node, rule.then, rule.when)
    general = {(r.screen, r.on.kind, r.on.node) for r in program.rules if r.evidence.kind != "recorded"}
    for rule in program.rules:
        if rule.evidence.kind == "recorded" and (rule.screen, rule.on.kind, rule.on.node) not in general:
            yield _deed(rule.screen, rule.on.kind, rule.on.node, rule.then, rule.when)


def _deed(screen: str, kind: TriggerKind, node: str, then: tuple[Effect, ...], when: Expr) -> Deed:
    variables: set[str] = set()
    rows: set[tuple[str, RowDeed]] = set()
    leads: set[str] = set()
    goes_back = False
    read: list[Expr] = [when]
    for effect in then:
        match effect:
            case SetVar(name, value):
                variables.add(name)
                if value != Var(name):
                    read.append(value)
            case Show(to):
                leads.add(to)
            case GoBack(to_one):
                goes_back = True
                leads.update(to_one)
            case InsertRow(table, cells, _, if_so):
                rows.add((table, "added"))
                variables.add(current(table))
                read += [if_so, *(value for _, value in cells)]
            case UpdateRows(table, cells, where):
                rows.add((table, "changed"))
                read += [where, *(value for _, value in cells)]
            case DeleteRows(table, where):
                rows.add((table, "deleted"))
                read.append(where)
            case SetRows(table, _):
                rows.update(((table, "added"), (table, "changed"), (table, "deleted")))
            case _:
                pass
    reads = frozenset[str]().union(*map(names_in, read))
    read_tables = frozenset[str]().union(*map(tables_in, read))
    return Deed(screen, kind, node, frozenset(variables), frozenset(rows), frozenset(leads - {screen}), goes_back, reads, read_tables, then)


def _assumed(program: Program) -> Iterator[Deed]:
    """What Android does by itself: a field takes words, a tick is set, where a variable or a cell keeps them."""
    for screen in program.screens.values():
        for part, table in tabled(screen.template.windows if screen.template else (), None):
            if not isinstance(part, Slot):
                continue
            for attribute, value in part.attributes:
                kind: TriggerKind | None = "type" if attribute == "text" and part.node.is_editable else "tap" if attribute == "checked" and part.node.checkable else None
                if kind is None:
                    continue
                names = names_in(value)
                rows: frozenset[tuple[str, RowDeed]] = frozenset([(table, "changed")] if table and any(isinstance(e, Column) for e, _ in walk(value)) else ())
                yield Deed(screen.id, kind, part.key, names, rows, frozenset(), False, frozenset(), frozenset())


def sources(expr: Expr) -> Iterator[Var | Const]:
    """The variables and constants that an expression may hand on as they are."""
    match expr:
        case Var() | Const():
            yield expr
        case Trim(of):
            yield from sources(of)
        case Case(_, then, otherwise):
            yield from sources(then)
            yield from sources(otherwise)
        case _:
            pass


def may_be(expr: Expr, value: Value) -> bool:
    """False where an expression is never this value, whatever the state."""
    match expr:
        case Const(always):
            return same_value(always, value)
        case Trim(of):
            return may_be(of, value)
        case Case(_, then, otherwise):
            return may_be(then, value) or may_be(otherwise, value)
        case _:
            return True


def chosen_by(expr: Expr) -> Iterator[str]:
    """The variables that say which row is meant: those that the id of a row is compared with."""
    for inner, _ in walk(expr):
        if isinstance(inner, Equal):
            for a, b in ((inner.left, inner.right), (inner.right, inner.left)):
                if a == Column("#") and isinstance(b, Var):
                    yield b.name
