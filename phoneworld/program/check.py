"""Does a Program refer only to what it has? Knows nothing of what it means."""

from __future__ import annotations

from collections.abc import Iterable

from phoneworld.errors import ProgramError
from phoneworld.program.effect import (
    DeleteRows,
    GoBack,
    InsertRow,
    SetNode,
    SetRows,
    SetVar,
    Show,
    StartTimer,
    UpdateRows,
)
from phoneworld.program.expr import Acted, Cell, Column, Count, Expr, OneOf, Sum, Var, walk
from phoneworld.program.program import Program, Rule, Screen, Table, all_variables
from phoneworld.program.template import ROW_ID, Rows, Slot, Template
from phoneworld.ui.selector import node_keys

_MEND = "build the bundle again from its graph"


def check_program(program: Program) -> None:
    """Raises ProgramError where a Program refers to something it does not have."""
    _Check(program).all()


class _Check:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.variables = frozenset(all_variables(program))
        self.slots = {s.id: dict(_slots(s)) for s in program.screens.values() if s.template}
        """The table of each slot of a screen that has a template."""

    def all(self) -> None:
        program = self.program
        if not program.starts:
            raise ProgramError("the program has no start", hint="record at least one capture of the app")
        for table in program.tables.values():
            _rows(table, table.rows, f"table {table.name!r}")
        for trace, start in program.starts.items():
            where = f"start {trace!r}"
            self.screen(start.screen, where)
            for name, _ in start.variables:
                self.need(name in self.variables, f"variable {name!r}", where)
            for name, rows in start.tables:
                self.table(name, where)
                _rows(program.tables[name], rows, where)
        for screen in program.screens.values():
            self.layouts(screen)
            if screen.template is not None:
                self.template(screen.template, f"the template of screen {screen.id!r}")
        for rule in program.rules:
            self.rule(rule)
        for timer in program.timers.values():
            self.need(timer.variable in self.variables, f"variable {timer.variable!r}", f"timer {timer.name!r}")
            self.expr(timer.after_ms, f"timer {timer.name!r}")

    def need(self, ok: bool, what: str, where: str) -> None:
        if not ok:
            raise ProgramError(f"{where} refers to {what}, which the program does not have", hint=_MEND)

    def screen(self, name: str, where: str) -> None:
        self.need(name in self.program.screens, f"screen {name!r}", where)

    def table(self, name: str, where: str) -> None:
        self.need(name in self.program.tables, f"table {name!r}", where)

    def column(self, table: str, name: str, where: str) -> None:
        self.need(name == ROW_ID or name in self.program.tables[table].columns, f"column {name!r} of table {table!r}", where)

    def expr(self, expr: Expr, where: str, *, row: str | None = None, acted: str | None = None) -> None:
        """`row` and `acted` are the tables of the row in scope and of the row acted on, where they are known."""
        for part, table in walk(expr, row):
            match part:
                case Var(name) | OneOf(name, _):
                    self.need(name in self.variables, f"variable {name!r}", where)
                case Count(rows, _) | Sum(rows, _, _):
                    self.table(rows, where)
                case Cell(rows, name, _):
                    self.table(rows, where)
                    self.column(rows, name, where)
                case Column(name) if table is not None:
                    self.column(table, name, where)
                case Acted(name) if acted is not None:
                    self.column(acted, name, where)
                case _:
                    pass

    def layouts(self, screen: Screen) -> None:
        if not screen.layouts:
            raise ProgramError(f"screen {screen.id!r} has no layout", hint=_MEND)
        for layout in screen.layouts:
            where = f"layout {layout.id!r}"
            self.expr(layout.when, where)
            for binding in layout.bindings:
                self.expr(binding.value, where)
                try:
                    layout.hierarchy.at(binding.path)
                except IndexError:
                    self.need(False, f"node {binding.path}", where)

    def template(self, template: Template, where: str) -> None:
        seen: set[str] = set()
        stack: list[tuple[Slot, str | None, str | None]] = [(w, None, None) for w in template.windows]
        while stack:
            slot, row, acted = stack.pop()
            if slot.key in seen:
                raise ProgramError(f"{where} has two slots {slot.key!r}, expected keys that differ", hint=_MEND)
            seen.add(slot.key)
            for expr in (slot.when, *(value for _, value in slot.attributes)):
                self.expr(expr, f"slot {slot.key!r} of {where}", row=row, acted=acted)
            for child in slot.children:
                if isinstance(child, Rows):
                    self.table(child.table, where)
                    self.expr(child.where, f"the rows below {slot.key!r} of {where}", row=child.table, acted=row)
                    stack.append((child.row, child.table, row))
                else:
                    stack.append((child, row, acted))
        if not seen:
            raise ProgramError(f"{where} has no window", hint=_MEND)
        for key in template.placement:
            self.need(key in seen, f"slot {key!r}", f"a placement in {where}")
        if template.scrolling is not None:
            self.need(template.scrolling.slot in seen, f"slot {template.scrolling.slot!r}", f"the scrolling of {where}")

    def rule(self, rule: Rule) -> None:
        where = f"rule {rule.id!r}"
        self.screen(rule.screen, where)
        acted: str | None = None
        if rule.screen in self.slots and rule.on.node:
            slots, screen = self.slots[rule.screen], self.program.screens[rule.screen]
            known = rule.on.node in slots or any(rule.on.node in node_keys(lay.hierarchy).values() for lay in screen.layouts)
            self.need(known, f"widget {rule.on.node!r} of screen {rule.screen!r}", where)
            acted = slots.get(rule.on.node)
        self.expr(rule.when, where, row=acted, acted=acted)
        for effect in rule.then:
            match effect:
                case SetVar(name, value):
                    self.need(name in self.variables, f"variable {name!r}", where)
                    self.expr(value, where, row=acted, acted=acted)
                case SetNode(screen_id, _, _, value):
                    self.screen(screen_id, where)
                    self.expr(value, where, row=acted, acted=acted)
                case Show(screen_id, _):
                    self.screen(screen_id, where)
                case GoBack(to):
                    for screen_id in to:
                        self.screen(screen_id, where)
                case InsertRow(table, cells, _, when):
                    self.table(table, where)
                    for name, value in cells:
                        self.column(table, name, where)
                        self.expr(value, where, row=acted, acted=acted)
                    self.expr(when, where, row=acted, acted=acted)
                case UpdateRows(table, cells, rows):
                    self.table(table, where)
                    for name, value in cells:
                        self.need(name in self.program.tables[table].columns, f"column {name!r} of table {table!r} to set", where)
                        self.expr(value, where, row=table, acted=acted)
                    self.expr(rows, where, row=table, acted=acted)
                case DeleteRows(table, rows):
                    self.table(table, where)
                    self.expr(rows, where, row=table, acted=acted)
                case SetRows(table, cells_of_rows):
                    self.table(table, where)
                    _rows(self.program.tables[table], cells_of_rows, where)
                case StartTimer(timer, when):
                    self.need(timer in self.program.timers, f"timer {timer!r}", where)
                    self.expr(when, where, row=acted, acted=acted)


def _slots(screen: Screen) -> Iterable[tuple[str, str | None]]:
    return () if screen.template is None else ((slot.key, table) for slot, table in screen.template.slots())


def _rows(table: Table, rows: tuple[tuple[object, ...], ...], where: str) -> None:
    for row in rows:
        if len(row) != len(table.columns):
            raise ProgramError(f"{where} has a row of {len(row)} cells, expected {len(table.columns)}", hint=_MEND)
    if ROW_ID in table.columns:
        ids = [row[table.columns.index(ROW_ID)] for row in rows]
        if len(set(ids)) != len(ids) or not all(type(i) is int and i >= 0 for i in ids):
            raise ProgramError(f"{where} has rows whose ids are not whole numbers that differ", hint=_MEND)
