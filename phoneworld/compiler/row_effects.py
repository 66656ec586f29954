"""What an action does to the rows of a table: which go, which cells of which change, whether one comes and what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from phoneworld.compiler.choose import Example, choose
from phoneworld.compiler.derive import current_row
from phoneworld.compiler.history import CURRENT, OWNER, Deed, is_hidden
from phoneworld.compiler.learned import RowEffects, scope_of
from phoneworld.compiler.vocabulary import FEW_VALUES, Cases
from phoneworld.program.expr import (
    TRUE,
    Acted,
    All,
    Blank,
    Case,
    Column,
    Const,
    Equal,
    Expr,
    Not,
    Plus,
    Trim,
    Var,
    names_in,
    same_value,
)  # fmt: skip
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row, evaluate, is_whole

MOSTLY = 0.85
"""The share of steps that something has to hold in to be the doing of none of their slots."""


class RowLearner:
    """Looks for what a class of actions does to rows."""

    def __init__(self, cases: Cases) -> None:
        self._cases = cases
        self._v = cases.vocabulary
        self._of = cases.of
        self._shared = cases.shared

    def effects(self, table: str) -> RowEffects | None:
        """What becomes of a table; None where nothing does."""
        deeds = self._cases.told(table)
        changed = [d for d in deeds if d.before.tables[table] != d.after.tables[table]]
        expected = (
            self._shared.inserted
            if self._shared.inserted is not None and self._shared.inserted.table == table
            else None
        )
        if not changed and expected is None:
            return None
        if self._only_filters(table):
            return expected if expected is not None and self._comes(table, expected, deeds) else None
        deleted = self._deleted(table, deeds)
        if expected is not None and self._comes(table, expected, deeds):
            inserted, when, at = expected.inserted, expected.inserted_when, expected.at
        else:
            inserted, when, at = self._inserted(table, deeds)
        cells = self._cells_changed(table, deeds)
        if deleted is None and inserted is None and not cells:
            return None
        return RowEffects(table, deleted, cells, inserted, when, at)

    def insertion(self, table: str) -> RowEffects | None:
        """A row that comes after most of these steps, or after those that a condition tells; None where there is no such row."""
        deeds = self._cases.told(table)
        wrong, self._cases.wrong = self._cases.wrong, set()
        cells, when, at = self._inserted(table, deeds, exceptions=0)
        wrong, self._cases.wrong = self._cases.wrong, wrong
        if cells is None or len(wrong) > (1 - MOSTLY) * len(deeds):
            return None
        slots = {
            d.aim.slot
            for d in deeds
            if len(d.after.tables[table]) > len(d.before.tables[table]) and d.name not in wrong
        }
        return RowEffects(table, None, {}, cells, when, at) if len(slots) > 1 else None

    def _only_filters(self, table: str) -> bool:
        """True for what says which rows are shown: it leaves the rows themselves alone."""
        filter_ = self._v.history.filters.get(table)
        if filter_ is None or filter_.screen != self._of.screen:
            return False
        if self._cases.leaves_mode(filter_):
            return True
        field = self._v.history.variable(self._of.screen, self._of.slot, "text")
        return self._of.slot in filter_.switches or (self._of.kind == "type" and field in names_in(filter_.search))

    def _comes(self, table: str, expected: RowEffects, deeds: Sequence[Deed]) -> bool:
        """True where the row that is expected of any touch came in just the steps in which it should have."""
        for deed in deeds:
            old = {r[ROW_ID] for r in deed.before.tables[table]}
            new = [r for r in deed.after.tables[table] if r[ROW_ID] not in old]
            scope = scope_of(deed)
            due = bool(evaluate(expected.inserted_when, scope))
            if len(new) != due:
                return False
            if due and any(
                not same_value(new[0].get(c), evaluate(e, scope)) for c, e in (expected.inserted or {}).items()
            ):
                return False
        return True

    def _deleted(self, table: str, deeds: Sequence[Deed]) -> Expr | None:
        gone: list[tuple[Deed, Row, bool]] = []
        for deed in deeds:
            kept = {r[ROW_ID] for r in deed.after.tables[table]}
            gone += [(deed, r, r[ROW_ID] not in kept) for r in deed.before.tables[table]]
        if not any(g for _, _, g in gone):
            return None
        examples = [Example(scope_of(d, r), g) for d, r, g in gone]
        chosen = choose(
            examples, [Const(False), Const(True)], [*self._row_conditions(table, deeds), *self._cases.conditions]
        )
        if chosen is None:
            return None
        self._cases.note([d for d, _, _ in gone], chosen)
        return None if chosen.expr == Const(False) else chosen.expr

    def _inserted(
        self, table: str, deeds: Sequence[Deed], exceptions: int = 1
    ) -> tuple[Mapping[str, Expr] | None, Expr, Literal["first", "last"]]:
        news: list[tuple[Deed, Row, list[Row]]] = []  # the step, the row that came, all rows that it is one of
        none: list[Deed] = []
        for deed in deeds:
            old = {r[ROW_ID] for r in deed.before.tables[table]}
            added = [r for r in deed.after.tables[table] if r[ROW_ID] not in old]
            if len(added) == 1:
                news.append((deed, added[0], [r for r in deed.after.tables[table] if r.get(OWNER) == added[0].get(OWNER)]))
            elif added:
                self._cases.wrong.add(deed.name)
            else:
                none.append(deed)
        if not news:
            return None, TRUE, "last"
        cells: dict[str, Expr] = {}
        for column in self._v.columns(table):
            if column == OWNER:
                # What comes on the screen of a row is that row's.
                cells[column] = Var(self._v.history.owners[table] + CURRENT)
                continue
            examples = [Example(scope_of(d), r.get(column)) for d, r, _ in news]
            options: list[Expr] = [
                Const(v) for _, v in sorted({(type(e.value), e.value) for e in examples}, key=repr)[:FEW_VALUES]
            ]
            kinds = {type(e.value) for e in examples}
            if str in kinds:
                options += self._cases.typed()
            for wanted in kinds & {str, bool}:
                for name in self._v.sources(self._of.screen):
                    if any(isinstance(v, wanted) for v in self._v.values.get(name, ())):
                        options += [Var(name), Trim(Var(name))] if wanted is str else [Var(name)]
                options += self._cases.cells(wanted)
            if str in kinds:
                options += self._cases.composed(examples)
            chosen = choose(examples, options, self._cases.conditions, exceptions)
            if chosen is not None:
                cells[column] = chosen.expr
                self._cases.note([d for d, _, _ in news], chosen)
        when: Expr = TRUE
        if none:
            both = [*((d, True) for d, _, _ in news), *((d, False) for d in none)]
            chosen = choose(
                [Example(scope_of(d), b) for d, b in both], [Const(True), Const(False)], self._cases.conditions
            )
            if chosen is not None:
                self._cases.note([d for d, _ in both], chosen)
                when = chosen.expr
                if when == Const(False):
                    return None, TRUE, "last"
        first = sum(among[0] is row and len(among) > 1 for _, row, among in news)
        last = sum(among[-1] is row and len(among) > 1 for _, row, among in news)
        return cells, when, "first" if first > last else "last"

    def _cells_changed(self, table: str, deeds: Sequence[Deed]) -> dict[str, Expr]:
        changed: dict[str, Expr] = {}
        conditions: list[Expr] | None = None
        pairs: list[tuple[Deed, Row, Row]] = []
        for deed in deeds:
            after = {r[ROW_ID]: r for r in deed.after.tables[table]}
            pairs += [(deed, r, after[r[ROW_ID]]) for r in deed.before.tables[table] if r[ROW_ID] in after]
        for column in self._v.columns(table):
            came_from = self._v.handed.get(self._of.screen, {}).get(table, {}).get(column)
            saved: Expr | None = None if came_from is None else Case(current_row(table), Var(came_from), Column(column))
            if self._of.kind == "tap" and column == f"{self._of.slot}.checked" and not self._cases.is_radio():
                saved = Case(self._on_row(), Not(Column(column)), Column(column))
            if saved is None and all(same_value(a.get(column), b.get(column)) for _, a, b in pairs):
                continue
            if conditions is None:
                # What rows hold tells which of them change where that was seen more than once: one may be a chance.
                times = len({d.name for d, a, b in pairs if a != b})
                of_rows = self._row_conditions(table, deeds)[: None if times > 1 else 1]
                conditions = [*of_rows, *self._cases.conditions]
            examples = [Example(scope_of(d, a), b.get(column)) for d, a, b in pairs]
            kinds = {(type(e.value), e.value) for e in examples}
            options: list[Expr] = [Column(column)]
            moved = [
                e.value
                for (_, a, b), e in zip(pairs, examples, strict=True)
                if not same_value(a.get(column), b.get(column))
            ]
            options += [Const(v) for _, v in sorted({(type(v), v) for v in moved}, key=repr)[:FEW_VALUES]]
            if any(t is bool for t, _ in kinds):
                options.append(Not(Column(column)))
                options += [
                    o
                    for n in self._v.sources(self._of.screen)
                    if any(isinstance(v, bool) for v in self._v.values.get(n, ()))
                    for o in (Var(n), Not(Var(n)))
                ]
                options += [
                    o
                    for n in sorted(self._v.history.names[self._of.screen])
                    if not self._v.free(n)
                    and any(isinstance(v, bool) for v in self._v.values.get(n, ()))
                    and not n.endswith(".shown")
                    for o in (Var(n), Not(Var(n)))
                ]
            if any(is_whole(v) for v in moved):
                options += [Plus(Column(column), 1), Plus(Column(column), -1)]
            if any(t is str for t, _ in kinds):
                options += self._cases.typed()
                options += [o for c in self._v.columns(table) if c != column for o in (Column(c), Trim(Column(c)))]
                for name in self._v.sources(self._of.screen):
                    if any(isinstance(v, str) for v in self._v.values.get(name, ())):
                        options += [Var(name), Trim(Var(name))]
            chosen = choose(examples, options, conditions, expected=saved)
            if chosen is None:
                continue
            self._cases.note([d for d, _, _ in pairs], chosen)
            if chosen.expr != Column(column):
                changed[column] = chosen.expr
        return changed

    def _on_row(self) -> Expr:
        """The condition that a row is the one acted on, and that nothing swallowed the touch."""
        acted = Equal(Column(ROW_ID), Acted(ROW_ID))
        return acted if self._shared.inserted is None else All((acted, Not(self._shared.inserted.inserted_when)))

    def _row_conditions(self, table: str, deeds: Sequence[Deed]) -> list[Expr]:
        """What may tell rows from each other: which was acted on, and what they hold."""
        conditions: list[Expr] = []
        on_row = any(d.table == table for d in deeds)
        conditions.append(Equal(Column(ROW_ID), Acted(ROW_ID)) if on_row else current_row(table))
        if self._shared.inserted is not None:
            calm = Not(self._shared.inserted.inserted_when)  # words that wait to be sent may swallow the touch
            conditions += [calm, All((conditions[0], calm))]
        for column in self._v.columns(table):
            kinds = {(type(r.get(column)), r.get(column)) for d in deeds for r in d.before.tables[table]}
            known = kinds - {(type(None), None)} if is_hidden(column) else kinds
            if 1 < len(kinds) <= 4:
                conditions += [Equal(Column(column), Const(v)) for _, v in sorted(known, key=repr)]
            if any(t is str for t, _ in kinds):
                conditions.append(Blank(Column(column)) if known == kinds else Not(Blank(Column(column))))
        return conditions
