"""What an action does, learned from all the times it was done: where it leads, which variables it sets, what becomes of rows.

Actions are taken together by screen, kind, slot and argument; a slot in a row is one slot, whatever the row. For each thing
that could change, the simplest expression over the state before (and what was typed, and the row acted on) is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from phoneworld.compiler.choose import Choice, Example, choose
from phoneworld.compiler.compose import compositions
from phoneworld.compiler.derive import Derived, current_row
from phoneworld.compiler.history import CURRENT, Deed, History, Sight
from phoneworld.compiler.learned import BELOW, TOUCHES, ActionClass, Learned, RowEffects, Shared, class_of, scope_of
from phoneworld.compiler.sharing import handed_over, promoted, settled, swallowed
from phoneworld.program.expr import (
    TRUE,
    Acted,
    All,
    Blank,
    Case,
    Cell,
    Column,
    Const,
    Count,
    Equal,
    Expr,
    Join,
    Not,
    Plus,
    Trim,
    Typed,
    Value,
    Var,
    names_in,
    same_value,
)  # fmt: skip
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Row, Scope, evaluate

_FEW_VALUES, _FEW_TEXTS = 6, 2


def learn(
    history: History, derived: Derived, stacks: Mapping[str, tuple[str, ...]], doubtful: frozenset[str] = frozenset()
) -> dict[ActionClass, Learned]:
    """What each action class does, and what a tap does on slots of which nothing else is known.

    `stacks` is the back stack before each step; `doubtful` names steps and tables (`step table`) not to learn from.
    """
    groups: dict[ActionClass, list[Deed]] = {}
    for deed in history.deeds:
        groups.setdefault(class_of(deed), []).append(deed)
    vocabulary = _Vocabulary(history, derived)
    shared = {screen: _shared(vocabulary, screen, history, stacks, doubtful) for screen in history.patterns}
    learned = {
        c: _Learner(vocabulary, c, deeds, stacks, doubtful, shared[c.screen]).learned() for c, deeds in groups.items()
    }
    vocabulary.handed = handed_over(history, learned)
    for c, what in learned.items():
        if what.rows and any(t in vocabulary.handed.get(c.screen, {}) for t in (r.table for r in what.rows)):
            learned[c] = _Learner(vocabulary, c, groups[c], stacks, doubtful, shared[c.screen]).learned()
    learned = {c: swallowed(what, learned, shared[c.screen]) for c, what in learned.items()}
    learned = {c: promoted(history, derived, what, learned, stacks) for c, what in learned.items()}
    learned = {c: settled(what, derived) for c, what in learned.items()}
    for screen, pattern in history.patterns.items():
        if not shared[screen].sets and shared[screen].inserted is None:
            continue
        for part in pattern.walk():
            of = ActionClass(screen, "tap", part.key)
            if of not in learned and not part.node.is_editable and not part.node.checkable:
                learned[of] = settled(shared[screen].learned(of), derived)
    return learned


_MOSTLY = 0.85


def _shared(
    vocabulary: _Vocabulary,
    screen: str,
    history: History,
    stacks: Mapping[str, tuple[str, ...]],
    doubtful: frozenset[str],
) -> Shared:
    """Looks at all touches of a screen together: what is the same for most slots is no doing of theirs."""
    by_field: dict[str, list[Deed]] = {}
    for deed in history.deeds:
        focus = str(deed.before.variables.get(FOCUS) or "").partition("#")[0]
        if deed.before.screen == screen and focus and deed.aim.kind in TOUCHES and deed.aim.slot != focus:
            by_field.setdefault(focus, []).append(deed)
    sets: dict[str, Expr] = {}
    inserted: RowEffects | None = None
    used: list[Deed] = []
    for focus, deeds in sorted(by_field.items()):
        if len({d.aim.slot for d in deeds}) < 2 or len(deeds) < 3:
            continue
        left = Equal(Var(FOCUS), Const(focus))
        anywhere = [replace(d, acted={}, table=None) for d in deeds]  # what is shared knows no row
        learner = _Learner(vocabulary, ActionClass(screen, "tap", ""), anywhere, stacks, doubtful, Shared(screen))
        for name in (*vocabulary.names(screen), FOCUS, KEYBOARD):
            chosen, there = learner.choice(name, exceptions=0 if name in (FOCUS, KEYBOARD) else 1)
            if chosen is None or chosen.expr == Var(name) or len(chosen.wrong) > (1 - _MOSTLY) * len(there):
                continue
            changed = {
                d.aim.slot
                for i, d in enumerate(there)
                if i not in chosen.wrong and not same_value(d.before.variables.get(name), d.after.variables[name])
            }
            if len(changed) > 1:
                sets[name] = Case(left, chosen.expr, sets.get(name, Var(name)))
                used += there
        for table in history.patterns[screen].tables:
            effects = learner.insertion(table)
            if effects is not None and inserted is None:
                inserted = replace(
                    effects,
                    inserted_when=left
                    if effects.inserted_when in (TRUE, Const(True))
                    else All((left, effects.inserted_when)),
                )
                used += deeds
    return Shared(screen, sets, inserted, tuple({d.name: d for d in used}.values()))


class _Vocabulary:
    """What expressions can speak of, by screen."""

    def __init__(self, history: History, derived: Derived) -> None:
        self.history = history
        self.derived = derived
        self.handed: dict[str, dict[str, dict[str, str]]] = {}
        """See `sharing.handed_over`. What a form was filled from is what it is expected to be saved to."""
        sights = list(history.sights())
        self.by_screen: dict[str, list[Sight]] = {}
        for sight in sights:
            self.by_screen.setdefault(sight.screen, []).append(sight)
        values: dict[str, set[tuple[type, Value]]] = {}
        for sight in sights:
            for name in sight.seen:
                values.setdefault(name, set()).add((type(sight.variables[name]), sight.variables[name]))
        self.values = {n: [v for _, v in sorted(vs, key=repr)] for n, vs in values.items()}
        self._names = {screen: sorted(n for n in shown if self.free(n)) for screen, shown in history.names.items()}

    def free(self, name: str) -> bool:
        return name not in self.derived.variables

    def names(self, screen: str) -> list[str]:
        """The variables of a screen that do not follow from others."""
        return self._names.get(screen, [])

    def columns(self, table: str) -> list[str]:
        return [c for c in self.history.columns[table] if c not in self.derived.columns.get(table, {})]


class _Learner:
    def __init__(
        self,
        vocabulary: _Vocabulary,
        of: ActionClass,
        deeds: list[Deed],
        stacks: Mapping[str, tuple[str, ...]],
        doubtful: frozenset[str],
        shared: Shared,
    ) -> None:
        self._shared = shared if of.kind in TOUCHES else Shared(of.screen)
        self._v = vocabulary
        self._of = of
        self._deeds = deeds
        self._stacks = stacks
        self._doubtful = doubtful
        self._wrong: set[str] = set()
        self._conditions = self._all_conditions()

    def learned(self) -> Learned:
        leads = self._leads()
        sets: dict[str, Expr] = {}
        rows: list[RowEffects] = []
        afters = {d.after.screen for d in self._deeds}
        names = {n for screen in afters for n in self._v.names(screen)} | {FOCUS, KEYBOARD}
        for name in sorted(names):
            expr = self._set(name)
            if expr is not None and expr != Var(name):
                sets[name] = expr
        tables = sorted({t for d in self._deeds for t in d.after.tables})
        for table in tables:
            effects = self._rows(table)
            if effects is not None:
                rows.append(effects)
        return Learned(self._of, tuple(self._deeds), leads, sets, tuple(rows), frozenset(self._wrong))

    # Where it leads

    def _leads(self) -> Expr:
        examples = []
        for deed in self._deeds:
            stack = self._stacks.get(deed.name, ())
            scope = Scope(
                {**deed.before.variables, BELOW: stack[-1] if stack else None},
                deed.before.tables,
                deed.aim.typed,
                acted=deed.acted,
            )
            examples.append(Example(scope, deed.after.screen))
        options: list[Expr] = [Const(s) for s in sorted({d.after.screen for d in self._deeds})]
        if all(self._stacks.get(d.name) for d in self._deeds) and any(
            d.after.screen != d.before.screen for d in self._deeds
        ):
            options.append(Var(BELOW))
        chosen = choose(examples, options, self._conditions)
        assert chosen is not None
        self._note(self._deeds, chosen)
        return chosen.expr

    # Variables

    def _set(self, name: str) -> Expr | None:
        chosen, deeds = self.choice(name)
        if chosen is None:
            return None
        self._note(deeds, chosen)
        return chosen.expr

    def choice(self, name: str, exceptions: int = 2) -> tuple[Choice | None, list[Deed]]:
        """What a variable becomes, and the steps after which it was seen. No choice where it never changed."""
        deeds = [d for d in self._deeds if name in d.after.seen]
        expected = self._shared.sets.get(name) or self._toggle(name)
        if not deeds:
            return None, deeds
        if expected is None and all(
            same_value(d.before.variables.get(name, _UNKNOWN), d.after.variables[name]) for d in deeds
        ):
            return None, deeds
        examples = [Example(scope_of(d), d.after.variables[name]) for d in deeds]
        return choose(examples, self._values(name, examples), self._conditions, exceptions, expected), deeds

    def _toggle(self, name: str) -> Expr | None:
        """What a tap on a box that can be ticked is expected to do to it."""
        if self._of.kind != "tap" or name != self._v.history.variable(self._of.screen, self._of.slot, "checked"):
            return None
        return None if self._is_radio() else Not(Var(name))

    def _is_radio(self) -> bool:
        parts = self._v.history.patterns[self._of.screen].walk()
        return any(p.key == self._of.slot and "RadioButton" in p.node.class_name for p in parts)

    def insertion(self, table: str) -> RowEffects | None:
        """A row that comes after most of these steps, or after those that a condition tells; None where there is no such row."""
        deeds = self._told(table)
        wrong, self._wrong = self._wrong, set()
        cells, when, at = self._inserted(table, deeds, exceptions=0)
        wrong, self._wrong = self._wrong, wrong
        if cells is None or len(wrong) > (1 - _MOSTLY) * len(deeds):
            return None
        slots = {
            d.aim.slot
            for d in deeds
            if len(d.after.tables[table]) > len(d.before.tables[table]) and d.name not in wrong
        }
        return RowEffects(table, None, {}, cells, when, at) if len(slots) > 1 else None

    def _told(self, table: str) -> list[Deed]:
        """The steps that tell what became of a table."""
        told = [d for d in self._deeds if table in d.before.tables and table in d.after.tables]
        return [d for d in told if f"{d.name} {table}" not in self._doubtful] or told

    def _values(self, name: str, examples: Sequence[Example]) -> list[Expr]:
        values = {(type(e.value), e.value) for e in examples}
        options: list[Expr] = [Var(name)]
        if len(values) <= _FEW_VALUES:
            options += [Const(v) for _, v in sorted(values, key=repr)]
        kinds = {t for t, _ in values}
        if bool in kinds:
            options.append(Not(Var(name)))
        if name == FOCUS:
            slots = {str(v).partition("#")[0] for _, v in values if isinstance(v, str) and "#" in str(v)}
            options += [Join((Const(f"{slot}#"), Acted(ROW_ID))) for slot in sorted(slots)]
            return options
        if str in kinds:
            options += self._typed()
            if self._of.kind == "key":
                options.append(Join((Var(name), Const("\n"))))
        if kinds & {str, bool}:
            wanted = str if str in kinds else bool
            for other in self._v.names(self._of.screen):
                if other != name and any(isinstance(v, wanted) for v in self._v.values.get(other, ())):
                    options += [Var(other), Trim(Var(other))] if wanted is str else [Var(other), Not(Var(other))]
            options += self._cells(wanted)
        if str in kinds and len(values) > _FEW_TEXTS:
            options += self._composed(examples)
        if int in kinds:
            options += [Plus(Var(name), 1), Plus(Var(name), -1)]
        return options

    def _composed(self, examples: Sequence[Example]) -> list[Expr]:
        """Texts around the words of fields and what was typed."""
        words = [e for e in examples if isinstance(e.value, str)]
        sources: dict[Expr, list[Value]] = {
            Var(name): [e.scope.variables.get(name) for e in words]
            for name in self._v.names(self._of.screen)
            if all(isinstance(e.scope.variables.get(name), str) for e in words)
        }
        if self._of.kind == "type":
            sources[Typed()] = [e.scope.typed for e in words]
        for expr in self._cells(str):
            cells = [evaluate(expr, e.scope) for e in words]
            if all(isinstance(c, str) for c in cells):
                sources[expr] = cells
        return compositions([e.value for e in words], sources)

    def _typed(self) -> list[Expr]:
        return [Typed(), Trim(Typed())] if self._of.kind == "type" else []

    def _cells(self, wanted: type) -> list[Expr]:
        """Cells of the row acted on and of current rows, and what follows from them."""
        options: list[Expr] = []
        acted = {d.table for d in self._deeds if d.table}
        for table in sorted({t for d in self._deeds for t in d.before.tables}):
            for column in self._v.columns(table):
                kinds = {type(r.get(column)) for d in self._deeds[:5] for r in d.before.tables.get(table, ())}
                if wanted not in kinds:
                    continue
                options.append(Acted(column) if table in acted else Cell(table, column, current_row(table)))
                if wanted is bool:
                    options.append(Not(options[-1]))
        return options

    # Rows

    def _rows(self, table: str) -> RowEffects | None:
        deeds = self._told(table)
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

    def _only_filters(self, table: str) -> bool:
        """True for what says which rows are shown: it leaves the rows themselves alone."""
        filter_ = self._v.history.filters.get(table)
        if filter_ is None or filter_.screen != self._of.screen:
            return False
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
        chosen = choose(examples, [Const(False), Const(True)], [*self._row_conditions(table, deeds), *self._conditions])
        if chosen is None:
            return None
        self._note([d for d, _, _ in gone], chosen)
        return None if chosen.expr == Const(False) else chosen.expr

    def _inserted(
        self, table: str, deeds: Sequence[Deed], exceptions: int = 1
    ) -> tuple[Mapping[str, Expr] | None, Expr, Literal["first", "last"]]:
        news: list[tuple[Deed, Row, int]] = []
        none: list[Deed] = []
        for deed in deeds:
            old = {r[ROW_ID] for r in deed.before.tables[table]}
            added = [(r, i) for i, r in enumerate(deed.after.tables[table]) if r[ROW_ID] not in old]
            if len(added) == 1:
                news.append((deed, *added[0]))
            elif added:
                self._wrong.add(deed.name)
            else:
                none.append(deed)
        if not news:
            return None, TRUE, "last"
        cells: dict[str, Expr] = {}
        for column in self._v.columns(table):
            examples = [Example(scope_of(d), r.get(column)) for d, r, _ in news]
            options: list[Expr] = [
                Const(v) for _, v in sorted({(type(e.value), e.value) for e in examples}, key=repr)[:_FEW_VALUES]
            ]
            kinds = {type(e.value) for e in examples}
            if str in kinds:
                options += self._typed()
            for wanted in kinds & {str, bool}:
                for name in self._v.names(self._of.screen):
                    if any(isinstance(v, wanted) for v in self._v.values.get(name, ())):
                        options += [Var(name), Trim(Var(name))] if wanted is str else [Var(name)]
                options += self._cells(wanted)
            if str in kinds:
                options += self._composed(examples)
            chosen = choose(examples, options, self._conditions, exceptions)
            if chosen is not None:
                cells[column] = chosen.expr
                self._note([d for d, _, _ in news], chosen)
        when: Expr = TRUE
        if none:
            both = [*((d, True) for d, _, _ in news), *((d, False) for d in none)]
            chosen = choose([Example(scope_of(d), b) for d, b in both], [Const(True), Const(False)], self._conditions)
            if chosen is not None:
                self._note([d for d, _ in both], chosen)
                when = chosen.expr
                if when == Const(False):
                    return None, TRUE, "last"
        first = sum(i == 0 and len(d.after.tables[table]) > 1 for d, _, i in news)
        last = sum(i == len(d.after.tables[table]) - 1 and i > 0 for d, _, i in news)
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
            if self._of.kind == "tap" and column == f"{self._of.slot}.checked" and not self._is_radio():
                saved = Case(self._on_row(), Not(Column(column)), Column(column))
            if saved is None and all(same_value(a.get(column), b.get(column)) for _, a, b in pairs):
                continue
            if conditions is None:
                conditions = [*self._row_conditions(table, deeds), *self._conditions]
            examples = [Example(scope_of(d, a), b.get(column)) for d, a, b in pairs]
            kinds = {(type(e.value), e.value) for e in examples}
            options: list[Expr] = [Column(column)]
            moved = [
                e.value
                for (_, a, b), e in zip(pairs, examples, strict=True)
                if not same_value(a.get(column), b.get(column))
            ]
            options += [Const(v) for _, v in sorted({(type(v), v) for v in moved}, key=repr)[:_FEW_VALUES]]
            if any(t is bool for t, _ in kinds):
                options.append(Not(Column(column)))
                options += [
                    o
                    for n in self._v.names(self._of.screen)
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
            if any(t is str for t, _ in kinds):
                options += self._typed()
                options += [o for c in self._v.columns(table) if c != column for o in (Column(c), Trim(Column(c)))]
                for name in self._v.names(self._of.screen):
                    if any(isinstance(v, str) for v in self._v.values.get(name, ())):
                        options += [Var(name), Trim(Var(name))]
            chosen = choose(examples, options, conditions, expected=saved)
            if chosen is None:
                continue
            self._note([d for d, _, _ in pairs], chosen)
            if chosen.expr != Column(column):
                changed[column] = chosen.expr
        return changed

    # Conditions

    def _on_row(self) -> Expr:
        """The condition that a row is the one acted on, and that nothing swallowed the touch."""
        acted = Equal(Column(ROW_ID), Acted(ROW_ID))
        return acted if self._shared.inserted is None else All((acted, Not(self._shared.inserted.inserted_when)))

    def _row_conditions(self, table: str, deeds: Sequence[Deed]) -> list[Expr]:
        conditions: list[Expr] = []
        on_row = any(d.table == table for d in deeds)
        conditions.append(Equal(Column(ROW_ID), Acted(ROW_ID)) if on_row else current_row(table))
        if self._shared.inserted is not None:
            calm = Not(self._shared.inserted.inserted_when)  # words that wait to be sent may swallow the touch
            conditions += [calm, All((conditions[0], calm))]
        for column in self._v.columns(table):
            kinds = {(type(r.get(column)), r.get(column)) for d in deeds for r in d.before.tables[table]}
            if 1 < len(kinds) <= 4:
                conditions += [Equal(Column(column), Const(v)) for _, v in sorted(kinds, key=repr)]
            if any(t is str for t, _ in kinds):
                conditions.append(Blank(Column(column)))
        return conditions

    def _all_conditions(self) -> list[Expr]:
        conditions: list[Expr] = []
        if self._of.kind == "type":
            conditions.append(Blank(Typed()))
        for name in [*self._v.names(self._of.screen), KEYBOARD]:
            values = {(type(d.before.variables.get(name)), d.before.variables.get(name)) for d in self._deeds}
            if len(values) > 1 and len(values) <= _FEW_VALUES:
                conditions += (
                    [Var(name)]
                    if bool in {t for t, _ in values}
                    else [Equal(Var(name), Const(v)) for _, v in sorted(values, key=repr)]
                )
            if len(values) > 1 and any(t is str for t, _ in values):
                conditions.append(Blank(Var(name)))
        focus = sorted(
            {str(d.before.variables.get(FOCUS)).partition("#")[0] for d in self._deeds if d.before.variables.get(FOCUS)}
        )
        conditions.append(Equal(Var(FOCUS), Const(None)))
        conditions += [Equal(Var(FOCUS), Const(f)) for f in focus]
        tables = {t for d in self._deeds for t in d.before.tables}
        acted = {d.table for d in self._deeds if d.table}
        for table in sorted(tables):
            columns = self._v.columns(table)
            conditions += [Equal(Count(table), Const(n)) for n in (0, 1)]
            conditions.append(Equal(Var(table + CURRENT), Const(None)))
            for column in columns:
                kinds = {
                    (type(r.get(column)), r.get(column)) for d in self._deeds for r in d.before.tables.get(table, ())
                }
                if bool in {t for t, _ in kinds} and len(kinds) > 1:
                    conditions += [
                        Equal(Count(table, Equal(Column(column), Const(True))), Const(0)),
                        Equal(Count(table, Not(Equal(Column(column), Const(True)))), Const(0)),
                    ]
                if table in acted and 1 < len(kinds) <= 4:
                    conditions += [Equal(Acted(column), Const(v)) for _, v in sorted(kinds, key=repr)]
                if table in acted and str in {t for t, _ in kinds}:
                    conditions.append(Blank(Acted(column)))
        return list(dict.fromkeys(conditions))

    def _note(self, deeds: Sequence[Deed], chosen: Choice) -> None:
        self._wrong.update(deeds[i].name for i in chosen.wrong)


_UNKNOWN = "\0unknown"
