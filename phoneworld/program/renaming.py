"""A Program with other names for its variables, tables, columns and screens; it does what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from phoneworld.program.effect import (
    DeleteRows,
    Effect,
    InsertRow,
    SetNode,
    SetRows,
    SetVar,
    StartTimer,
    UpdateRows,
)
from phoneworld.program.expr import (
    Acted,
    All,
    Any,
    Blank,
    Calc,
    Case,
    Cell,
    Column,
    Contains,
    Count,
    Equal,
    Expr,
    Fixed,
    Join,
    Less,
    Not,
    OneOf,
    Piece,
    Plus,
    Sum,
    Trim,
    Var,
)  # fmt: skip
from phoneworld.program.program import Layout, Program, Rule, Screen, Start, Table, Timer
from phoneworld.program.template import Rows, Slot, Template, current


@dataclass(frozen=True, slots=True)
class NewNames:
    """New names by old ones; columns by their table's old name. `screens` are what people call them: their ids stay."""

    variables: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    screens: Mapping[str, str] = field(default_factory=dict)


def renamed(program: Program, names: NewNames) -> Program:
    """The Program with these names. Those of other things must not be taken: see `overrides.py`, which looks."""
    return _Renaming(names).program(program)


class _Renaming:
    def __init__(self, names: NewNames) -> None:
        self._names = names
        # The variable that names a table's current row is called after the table.
        self._variables = {current(old): current(new) for old, new in names.tables.items()} | dict(names.variables)

    def variable(self, name: str) -> str:
        return self._variables.get(name, name)

    def table(self, name: str) -> str:
        return self._names.tables.get(name, name)

    def column(self, table: str | None, name: str) -> str:
        return self._names.columns.get(table or "", {}).get(name, name)

    def program(self, program: Program) -> Program:
        slots = {s.id: {slot.key: table for slot, table in s.template.slots()} if s.template else {} for s in program.screens.values()}
        return replace(
            program,
            screens={name: self._screen(screen) for name, screen in program.screens.items()},
            starts={name: self._start(start) for name, start in program.starts.items()},
            variables={self.variable(name): replace(v, name=self.variable(name)) for name, v in program.variables.items()},
            tables={self.table(name): self._table(table) for name, table in program.tables.items()},
            rules=tuple(self._rule(rule, slots[rule.screen].get(rule.on.node)) for rule in program.rules),
            timers={name: self._timer(timer) for name, timer in program.timers.items()},
        )

    def _table(self, table: Table) -> Table:
        return replace(table, name=self.table(table.name), columns=tuple(self.column(table.name, c) for c in table.columns))

    def _timer(self, timer: Timer) -> Timer:
        return replace(timer, variable=self.variable(timer.variable), after_ms=self.expr(timer.after_ms, None, None))

    def _start(self, start: Start) -> Start:
        return replace(
            start,
            variables=tuple((self.variable(name), value) for name, value in start.variables),
            tables=tuple((self.table(name), rows) for name, rows in start.tables),
        )

    def _screen(self, screen: Screen) -> Screen:
        template = screen.template
        return replace(
            screen,
            name=self._names.screens.get(screen.id, screen.name),
            layouts=tuple(map(self._layout, screen.layouts)),
            template=template and self._template(template),
        )

    def _layout(self, layout: Layout) -> Layout:
        bindings = tuple(replace(b, value=self.expr(b.value, None, None)) for b in layout.bindings)
        return replace(layout, when=self.expr(layout.when, None, None), bindings=bindings)

    def _template(self, template: Template) -> Template:
        return replace(template, windows=tuple(self._slot(window, None, None) for window in template.windows))

    def _slot(self, slot: Slot, row: str | None, outer: str | None) -> Slot:
        def part(child: Slot | Rows) -> Slot | Rows:
            if isinstance(child, Slot):
                return self._slot(child, row, outer)
            where = self.expr(child.where, child.table, row)
            return Rows(self.table(child.table), self._slot(child.row, child.table, row), where)

        return replace(
            slot,
            when=self.expr(slot.when, row, outer),
            attributes=tuple((name, self.expr(value, row, outer)) for name, value in slot.attributes),
            children=tuple(map(part, slot.children)),
        )

    def _rule(self, rule: Rule, acted: str | None) -> Rule:
        return replace(rule, when=self.expr(rule.when, acted, acted), then=tuple(self._effect(effect, acted) for effect in rule.then))

    def _effect(self, effect: Effect, acted: str | None) -> Effect:
        match effect:
            case SetVar(name, value):
                return SetVar(self.variable(name), self.expr(value, acted, acted))
            case SetNode(_, _, _, value):
                return replace(effect, value=self.expr(value, acted, acted))
            case InsertRow(table, cells, _, when):
                new = tuple((self.column(table, name), self.expr(value, acted, acted)) for name, value in cells)
                return replace(effect, table=self.table(table), cells=new, when=self.expr(when, acted, acted))
            case UpdateRows(table, cells, where):
                new = tuple((self.column(table, name), self.expr(value, table, acted)) for name, value in cells)
                return UpdateRows(self.table(table), new, self.expr(where, table, acted))
            case DeleteRows(table, where):
                return DeleteRows(self.table(table), self.expr(where, table, acted))
            case SetRows(table, _):
                return replace(effect, table=self.table(table))
            case StartTimer(_, when):
                return replace(effect, when=self.expr(when, acted, acted))
            case _:
                return effect

    def expr(self, expr: Expr, row: str | None, acted: str | None) -> Expr:
        """`row` and `acted` are the old names of the tables whose row is in scope, and acted on."""

        def same(of: Expr) -> Expr:
            return self.expr(of, row, acted)

        match expr:
            case Var(name):
                return Var(self.variable(name))
            case OneOf(name, _):
                return replace(expr, name=self.variable(name))
            case Column(name):
                return Column(self.column(row, name))
            case Acted(name):
                return Acted(self.column(acted, name))
            case Cell(table, name, where):
                return Cell(self.table(table), self.column(table, name), self.expr(where, table, acted))
            case Count(table, where):
                return Count(self.table(table), self.expr(where, table, acted))
            case Sum(table, of, where):
                return Sum(self.table(table), self.expr(of, table, acted), self.expr(where, table, acted))
            case Not(of) | Blank(of) | Trim(of) | Plus(of, _) | Fixed(of, _, _) | Piece(of, _, _):
                return replace(expr, of=same(of))
            case All(parts) | Any(parts) | Join(parts):
                return replace(expr, of=_each(parts, same))
            case Equal(left, right) | Less(left, right) | Calc(left, _, right):
                return replace(expr, left=same(left), right=same(right))
            case Contains(text, part):
                return Contains(same(text), same(part))
            case Case(when, then, otherwise):
                return Case(same(when), same(then), same(otherwise))
            case _:
                return expr


def _each(parts: tuple[Expr, ...], change: Callable[[Expr], Expr]) -> tuple[Expr, ...]:
    return tuple(map(change, parts))
