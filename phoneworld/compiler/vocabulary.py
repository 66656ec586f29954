"""What may be spoken of where effects are looked for: the variables and columns that do not follow from others, and conditions on them."""

from __future__ import annotations

from collections.abc import Sequence

from phoneworld.compiler.choose import Choice, Example
from phoneworld.compiler.compose import compositions
from phoneworld.compiler.derive import Derived, current_row
from phoneworld.compiler.history import CURRENT, Deed, History, Sight, is_hidden
from phoneworld.compiler.learned import TOUCHES, ActionClass, Shared
from phoneworld.compiler.modes import Filter, is_past
from phoneworld.compiler.passing import Passings
from phoneworld.program.expr import (
    Acted,
    Blank,
    Cell,
    Column,
    Const,
    Count,
    Equal,
    Expr,
    Not,
    Trim,
    Typed,
    Value,
    Var,
)  # fmt: skip
from phoneworld.program.template import FOCUS, KEYBOARD
from phoneworld.sim.evaluate import evaluate

FEW_VALUES = 6


class Vocabulary:
    """What expressions can speak of, by screen."""

    def __init__(self, history: History, derived: Derived, passings: Passings) -> None:
        self.history = history
        self.passings = passings
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
        self._passing = passings.names
        self.past = {screen: sorted(filter(is_past, shown)) for screen, shown in history.names.items()}

    def free(self, name: str) -> bool:
        return name not in self.derived.variables and not is_past(name)

    def names(self, screen: str) -> list[str]:
        """The variables of a screen that do not follow from others."""
        return self._names.get(screen, [])

    def sources(self, screen: str) -> list[str]:
        """Those that something may depend on: what a message says that goes by itself is nothing that the app remembers."""
        return [n for n in self.names(screen) if n not in self._passing]

    def columns(self, table: str) -> list[str]:
        return [c for c in self.history.columns[table] if c not in self.derived.columns.get(table, {})]


class Cases:
    """The steps of one action class, with what expressions about them may read. `wrong` are those found not to be explained."""

    def __init__(
        self, vocabulary: Vocabulary, of: ActionClass, deeds: Sequence[Deed], doubtful: frozenset[str], shared: Shared
    ) -> None:
        self.vocabulary = vocabulary
        self.of = of
        self.deeds = tuple(deeds)
        self.shared = shared if of.kind in TOUCHES else Shared(of.screen)
        self.wrong: set[str] = set()
        self.conditions = self._conditions()
        self._doubtful = doubtful

    def note(self, deeds: Sequence[Deed], chosen: Choice) -> None:
        """Keeps which steps a choice does not explain."""
        self.wrong.update(deeds[i].name for i in chosen.wrong)

    def told(self, table: str) -> list[Deed]:
        """The steps that tell what became of a table."""
        told = [d for d in self.deeds if table in d.before.tables and table in d.after.tables]
        return [d for d in told if f"{d.name} {table}" not in self._doubtful] or told

    def leaves_mode(self, filter_: Filter) -> bool:
        """True for an action after which rows are mostly in sight that a filter hid before. All others leave a filter as it is."""
        told = [d for d in self.deeds if d.after.screen == filter_.screen and filter_.hides(d.before.variables)]
        left = sum(d.before.variables.get(filter_.mode) != d.after.variables.get(filter_.mode) for d in told)
        return bool(told) and left >= len(told) / 2

    def is_radio(self) -> bool:
        """True where the slot is one of several of which one is ticked."""
        parts = self.vocabulary.history.patterns[self.of.screen].walk()
        return any(p.key == self.of.slot and "RadioButton" in p.node.class_name for p in parts)

    def composed(self, examples: Sequence[Example]) -> list[Expr]:
        """Texts around the words of fields and what was typed."""
        words = [e for e in examples if isinstance(e.value, str)]
        sources: dict[Expr, list[Value]] = {
            Var(name): [e.scope.variables.get(name) for e in words]
            for name in self.vocabulary.sources(self.of.screen)
            if all(isinstance(e.scope.variables.get(name), str) for e in words)
        }
        if self.of.kind == "type":
            sources[Typed()] = [e.scope.typed for e in words]
        for expr in self.cells(str):
            cells = [evaluate(expr, e.scope) for e in words]
            if all(isinstance(c, str) for c in cells):
                sources[expr] = cells
        return compositions([e.value for e in words], sources)

    def typed(self) -> list[Expr]:
        return [Typed(), Trim(Typed())] if self.of.kind == "type" else []

    def cells(self, wanted: type) -> list[Expr]:
        """Cells of the row acted on and of current rows, and what follows from them."""
        options: list[Expr] = []
        acted = {d.table for d in self.deeds if d.table}
        for table in sorted({t for d in self.deeds for t in d.before.tables}):
            for column in self.vocabulary.columns(table):
                kinds = {type(r.get(column)) for d in self.deeds[:5] for r in d.before.tables.get(table, ())}
                if wanted not in kinds:
                    continue
                options.append(Acted(column) if table in acted else Cell(table, column, current_row(table)))
                if wanted is bool:
                    options.append(Not(options[-1]))
        return options

    def _conditions(self) -> list[Expr]:
        conditions: list[Expr] = []
        if self.of.kind == "type":
            conditions.append(Blank(Typed()))
        for name in [*self.vocabulary.sources(self.of.screen), KEYBOARD]:
            values = {(type(d.before.variables.get(name)), d.before.variables.get(name)) for d in self.deeds}
            if len(values) > 1 and len(values) <= FEW_VALUES:
                conditions += (
                    [Var(name)]
                    if bool in {t for t, _ in values}
                    else [Equal(Var(name), Const(v)) for _, v in sorted(values, key=repr)]
                )
            if len(values) > 1 and any(t is str for t, _ in values):
                conditions.append(Blank(Var(name)))
        for name in sorted(self.vocabulary.history.names.get(self.of.screen, ())):
            if isinstance(self.vocabulary.derived.variables.get(name), Cell):  # what the screen says of the current row
                found = {d.before.variables.get(name) for d in self.deeds}
                conditions += [Var(name)] if True in found and False in found else []
        focus = sorted(
            {str(d.before.variables.get(FOCUS)).partition("#")[0] for d in self.deeds if d.before.variables.get(FOCUS)}
        )
        conditions.append(Equal(Var(FOCUS), Const(None)))
        conditions += [Equal(Var(FOCUS), Const(f)) for f in focus]
        tables = {t for d in self.deeds for t in d.before.tables}
        acted = {d.table for d in self.deeds if d.table}
        for table in sorted(tables):
            columns = self.vocabulary.columns(table)
            conditions += [Equal(Count(table), Const(n)) for n in (0, 1)]
            conditions.append(Equal(Var(table + CURRENT), Const(None)))
            for column in columns:
                kinds = {
                    (type(r.get(column)), r.get(column)) for d in self.deeds for r in d.before.tables.get(table, ())
                }
                if bool in {t for t, _ in kinds} and len(kinds) > 1:
                    conditions += [
                        Equal(Count(table, Equal(Column(column), Const(True))), Const(0)),
                        Equal(Count(table, Not(Equal(Column(column), Const(True)))), Const(0)),
                    ]
                known = kinds - {(type(None), None)} if is_hidden(column) else kinds  # what was never seen is no reason for anything
                if table in acted and 1 < len(kinds) <= 4:
                    conditions += [Equal(Acted(column), Const(v)) for _, v in sorted(known, key=repr)]
                if table in acted and str in {t for t, _ in known}:
                    conditions.append(Blank(Acted(column)) if known == kinds else Not(Blank(Acted(column))))
        return list(dict.fromkeys(conditions))
