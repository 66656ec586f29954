"""What an action does, learned from all the times it was done: where it leads, which variables it sets, what becomes of rows.

Actions are taken together by screen, kind, slot and argument; a slot in a row is one slot, whatever the row. For each thing
that could change, the simplest expression over the state before (and what was typed, and the row acted on) is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from phoneworld.compiler.choose import Choice, Example, choose
from phoneworld.compiler.compose import compositions
from phoneworld.compiler.derive import Derived, current_row, settle
from phoneworld.compiler.history import CURRENT, Aim, Deed, History, Sight, is_hidden, screen_of
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
from phoneworld.program.program import TriggerKind
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Row, Scope, evaluate

BELOW = "<below>"
"""Read in `leads`: the screen below on the back stack."""
_FEW_VALUES, _FEW_TEXTS = 6, 2


@dataclass(frozen=True, slots=True)
class ActionClass:
    """Actions that are one: on a screen, of a kind, on a slot, with an argument (a key, a package)."""

    screen: str
    kind: TriggerKind
    slot: str
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class RowEffects:
    """What becomes of a table: which rows go (`deleted`), which cells of rows change, whether a row comes, and where."""

    table: str
    deleted: Expr | None = None
    cells: Mapping[str, Expr] = field(default_factory=dict)
    inserted: Mapping[str, Expr] | None = None
    inserted_when: Expr = TRUE
    at: str = "last"


@dataclass(frozen=True, slots=True)
class Learned:
    """What one action class does. `leads` gives the id of the screen after it (or `BELOW`). `wrong` are the steps not explained."""

    of: ActionClass
    cases: tuple[Deed, ...]
    leads: Expr
    sets: Mapping[str, Expr]
    rows: tuple[RowEffects, ...]
    wrong: frozenset[str] = frozenset()


def class_of(deed: Deed) -> ActionClass:
    return ActionClass(deed.before.screen, deed.aim.kind, deed.aim.slot, deed.aim.argument)


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
    learned = {c: _Learner(vocabulary, c, deeds, stacks, doubtful, shared[c.screen]).learned() for c, deeds in groups.items()}
    vocabulary.handed = _handed_over(history, learned)
    for c, what in learned.items():
        if what.rows and any(t in vocabulary.handed.get(c.screen, {}) for t in (r.table for r in what.rows)):
            learned[c] = _Learner(vocabulary, c, groups[c], stacks, doubtful, shared[c.screen]).learned()
    learned = {c: _swallowed(what, learned, shared[c.screen]) for c, what in learned.items()}
    learned = {c: _promoted(history, derived, what, learned, stacks) for c, what in learned.items()}
    learned = {c: _settled(what, derived) for c, what in learned.items()}
    for screen, pattern in history.patterns.items():
        if not shared[screen].sets and shared[screen].inserted is None:
            continue
        for part in pattern.walk():
            of = ActionClass(screen, "tap", part.key)
            if of not in learned and not part.node.is_editable and not part.node.checkable:
                learned[of] = _settled(shared[screen].learned(of), derived)
    return learned


def _settled(what: Learned, derived: Derived) -> Learned:
    """The same with every expression over what is kept, and nothing that follows."""
    rows = tuple(
        replace(
            r,
            deleted=None if r.deleted is None else settle(r.deleted, derived, r.table),
            cells={c: settle(e, derived, r.table) for c, e in r.cells.items()},
            inserted=None if r.inserted is None else {c: settle(e, derived) for c, e in r.inserted.items()},
            inserted_when=settle(r.inserted_when, derived),
        )
        for r in what.rows
    )
    return replace(what, leads=settle(what.leads, derived), sets={n: settle(e, derived) for n, e in what.sets.items()}, rows=rows)


def _handed_over(history: History, learned: Mapping[ActionClass, Learned]) -> dict[str, dict[str, dict[str, str]]]:
    """The fields of each screen that are filled from a row when one comes there: table, column and the field's variable."""
    handed: dict[str, dict[str, dict[str, str]]] = {}
    for what in learned.values():
        for name, expr in what.sets.items():
            match expr:
                case Cell(table, column, where) if where == current_row(table):
                    pass
                case Acted(column) if (found := next((d.table for d in what.cases if d.table), None)) is not None:
                    table = found
                case _:
                    continue
            if column != ROW_ID:
                handed.setdefault(screen_of(name), {}).setdefault(table, {})[column] = name
    return handed


def _swallowed(what: Learned, learned: Mapping[ActionClass, Learned], shared: Shared) -> Learned:
    """What a touch does that leads elsewhere, with what becomes of it while words wait to be sent.

    Sending them moves the page under the finger: where that was seen to swallow touches, and never not to, it swallows all.
    """
    pending = shared.inserted.inserted_when if shared.inserted is not None else None
    if pending is None or what.of.kind not in _TOUCHES or not isinstance(what.leads, Const) or what.leads.value == what.of.screen:
        return what
    lost = kept = 0
    for of, other in learned.items():
        if of.screen != what.of.screen or of.kind not in _TOUCHES or all(d.after.screen == of.screen for d in other.cases):
            continue
        for deed in other.cases:
            if evaluate(pending, _scope(deed)):
                lost, kept = lost + (deed.after.screen == of.screen), kept + (deed.after.screen != of.screen)
    if lost < _SWALLOWED or kept:
        return what
    return replace(what, leads=Case(pending, Const(what.of.screen), what.leads), sets={**shared.sets, **what.sets})


_SWALLOWED = 2


def _promoted(
    history: History, derived: Derived, what: Learned, learned: Mapping[ActionClass, Learned], stacks: Mapping[str, tuple[str, ...]]
) -> Learned:
    """What an action does, or what another of the screen does where that explains this one better from more cases.

    Enter in a form's last field and its button are one thing to the app; the one tells what the other was too seldom tried for.
    """
    ends = {d.after.screen for d in what.cases}
    if len(what.cases) >= _OFTEN or not _submits(what.of) or not (what.rows or any(n not in (FOCUS, KEYBOARD) for n in what.sets)):
        return what
    own = len(what.wrong)
    best: tuple[int, int, str, Learned] | None = None
    for of, other in learned.items():
        if of.screen != what.of.screen or of == what.of or not _submits(of) or of.kind == what.of.kind or not other.rows or len(other.cases) <= len(what.cases) or not ends <= {d.after.screen for d in other.cases}:
            continue
        wrong = [d.name for d in what.cases if not _explains(history, derived, other, d, stacks.get(d.name, ()))]
        if len(wrong) <= own and len(wrong) < len(what.cases):
            rank = (len(wrong), -len(other.cases), repr(of))
            if best is None or rank < best[:3]:
                best = (*rank, replace(other, of=what.of, cases=what.cases, wrong=frozenset(wrong)))
    return what if best is None else best[3]


_OFTEN = 8


def _submits(of: ActionClass) -> bool:
    """True for a touch and for the keys that send a form."""
    return of.kind == "tap" or (of.kind == "key" and of.argument in ("enter", "search"))


def _explains(history: History, derived: Derived, learned: Learned, deed: Deed, stack: tuple[str, ...]) -> bool:
    """True where what was learned of an action tells a step of another right, as far as it was seen."""
    current = {n: v for n, v in deed.after.variables.items() if n.endswith((CURRENT, ".mode"))}
    next_row = {t: max((int(str(r[ROW_ID])) for r in rows), default=0) + 1 for t, rows in deed.before.tables.items()}
    told = foretell(history, learned, deed.before, deed.aim, deed.acted, current, stack, next_row)
    if told.screen != deed.after.screen:
        return False
    seen = (n for n in deed.after.seen if n not in derived.variables and n not in (FOCUS, KEYBOARD))
    if any(not same_value(told.variables.get(n), deed.after.variables[n]) for n in seen):
        return False
    for table, rows in deed.after.tables.items():
        free = [c for c in history.columns[table] if c not in derived.columns.get(table, {}) and not is_hidden(c)]
        if [[r.get(c) for c in free] for r in rows] != [[r.get(c) for c in free] for r in told.tables.get(table, ())]:
            return False
    return True


_TOUCHES: tuple[TriggerKind, ...] = ("tap", "double_tap", "long_press")
_MOSTLY = 0.85


@dataclass(frozen=True, slots=True)
class Shared:
    """What touching anything else does while a field has the focus, whatever is touched: the field is left, its words are sent."""

    screen: str
    sets: Mapping[str, Expr] = field(default_factory=dict)
    inserted: RowEffects | None = None
    deeds: tuple[Deed, ...] = ()

    def learned(self, of: ActionClass) -> Learned:
        """What an action does of which nothing else is known."""
        return Learned(of, self.deeds, Const(self.screen), self.sets, () if self.inserted is None else (self.inserted,))


def _shared(
    vocabulary: _Vocabulary, screen: str, history: History, stacks: Mapping[str, tuple[str, ...]], doubtful: frozenset[str]
) -> Shared:
    """Looks at all touches of a screen together: what is the same for most slots is no doing of theirs."""
    by_field: dict[str, list[Deed]] = {}
    for deed in history.deeds:
        focus = str(deed.before.variables.get(FOCUS) or "").partition("#")[0]
        if deed.before.screen == screen and focus and deed.aim.kind in _TOUCHES and deed.aim.slot != focus:
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
            changed = {d.aim.slot for i, d in enumerate(there) if i not in chosen.wrong and not same_value(d.before.variables.get(name), d.after.variables[name])}
            if len(changed) > 1:
                sets[name] = Case(left, chosen.expr, sets.get(name, Var(name)))
                used += there
        for table in history.patterns[screen].tables:
            effects = learner.insertion(table)
            if effects is not None and inserted is None:
                inserted = replace(effects, inserted_when=left if effects.inserted_when in (TRUE, Const(True)) else All((left, effects.inserted_when)))
                used += deeds
    return Shared(screen, sets, inserted, tuple({d.name: d for d in used}.values()))


class _Vocabulary:
    """What expressions can speak of, by screen."""

    def __init__(self, history: History, derived: Derived) -> None:
        self.history = history
        self.derived = derived
        self.handed: dict[str, dict[str, dict[str, str]]] = {}
        """See `_handed_over`. What a form was filled from is what it is expected to be saved to."""
        sights = list(history.sights())
        self.by_screen: dict[str, list[Sight]] = {}
        for sight in sights:
            self.by_screen.setdefault(sight.screen, []).append(sight)
        values: dict[str, set[tuple[type, Value]]] = {}
        for sight in sights:
            for name in sight.seen:
                values.setdefault(name, set()).add((type(sight.variables[name]), sight.variables[name]))
        self.values = {n: [v for _, v in sorted(vs, key=repr)] for n, vs in values.items()}
        self._names = {
            screen: sorted(n for n in shown if self.free(n)) for screen, shown in history.names.items()
        }

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
        self._shared = shared if of.kind in _TOUCHES else Shared(of.screen)
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
            scope = Scope({**deed.before.variables, BELOW: stack[-1] if stack else None}, deed.before.tables, deed.aim.typed, acted=deed.acted)
            examples.append(Example(scope, deed.after.screen))
        options: list[Expr] = [Const(s) for s in sorted({d.after.screen for d in self._deeds})]
        if all(self._stacks.get(d.name) for d in self._deeds) and any(d.after.screen != d.before.screen for d in self._deeds):
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
        if expected is None and all(same_value(d.before.variables.get(name, _UNKNOWN), d.after.variables[name]) for d in deeds):
            return None, deeds
        examples = [Example(_scope(d), d.after.variables[name]) for d in deeds]
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
        slots = {d.aim.slot for d in deeds if len(d.after.tables[table]) > len(d.before.tables[table]) and d.name not in wrong}
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
        expected = self._shared.inserted if self._shared.inserted is not None and self._shared.inserted.table == table else None
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
            scope = _scope(deed)
            due = bool(evaluate(expected.inserted_when, scope))
            if len(new) != due:
                return False
            if due and any(not same_value(new[0].get(c), evaluate(e, scope)) for c, e in (expected.inserted or {}).items()):
                return False
        return True

    def _deleted(self, table: str, deeds: Sequence[Deed]) -> Expr | None:
        gone: list[tuple[Deed, Row, bool]] = []
        for deed in deeds:
            kept = {r[ROW_ID] for r in deed.after.tables[table]}
            gone += [(deed, r, r[ROW_ID] not in kept) for r in deed.before.tables[table]]
        if not any(g for _, _, g in gone):
            return None
        examples = [Example(_scope(d, r), g) for d, r, g in gone]
        chosen = choose(examples, [Const(False), Const(True)], [*self._row_conditions(table, deeds), *self._conditions])
        if chosen is None:
            return None
        self._note([d for d, _, _ in gone], chosen)
        return None if chosen.expr == Const(False) else chosen.expr

    def _inserted(self, table: str, deeds: Sequence[Deed], exceptions: int = 1) -> tuple[Mapping[str, Expr] | None, Expr, str]:
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
            examples = [Example(_scope(d), r.get(column)) for d, r, _ in news]
            options = [Const(v) for _, v in sorted({(type(e.value), e.value) for e in examples}, key=repr)[:_FEW_VALUES]]
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
            chosen = choose([Example(_scope(d), b) for d, b in both], [Const(True), Const(False)], self._conditions)
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
            examples = [Example(_scope(d, a), b.get(column)) for d, a, b in pairs]
            kinds = {(type(e.value), e.value) for e in examples}
            options: list[Expr] = [Column(column)]
            moved = [e.value for (_, a, b), e in zip(pairs, examples, strict=True) if not same_value(a.get(column), b.get(column))]
            options += [Const(v) for _, v in sorted({(type(v), v) for v in moved}, key=repr)[:_FEW_VALUES]]
            if any(t is bool for t, _ in kinds):
                options.append(Not(Column(column)))
                options += [o for n in self._v.names(self._of.screen) if any(isinstance(v, bool) for v in self._v.values.get(n, ())) for o in (Var(n), Not(Var(n)))]
                options += [o for n in sorted(self._v.history.names[self._of.screen]) if not self._v.free(n) and any(isinstance(v, bool) for v in self._v.values.get(n, ())) and not n.endswith(".shown") for o in (Var(n), Not(Var(n)))]
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
                conditions += [Var(name)] if bool in {t for t, _ in values} else [Equal(Var(name), Const(v)) for _, v in sorted(values, key=repr)]
            if len(values) > 1 and any(t is str for t, _ in values):
                conditions.append(Blank(Var(name)))
        focus = sorted({str(d.before.variables.get(FOCUS)).partition("#")[0] for d in self._deeds if d.before.variables.get(FOCUS)})
        conditions.append(Equal(Var(FOCUS), Const(None)))
        conditions += [Equal(Var(FOCUS), Const(f)) for f in focus]
        tables = {t for d in self._deeds for t in d.before.tables}
        acted = {d.table for d in self._deeds if d.table}
        for table in sorted(tables):
            columns = self._v.columns(table)
            conditions += [Equal(Count(table), Const(n)) for n in (0, 1)]
            conditions.append(Equal(Var(table + CURRENT), Const(None)))
            for column in columns:
                kinds = {(type(r.get(column)), r.get(column)) for d in self._deeds for r in d.before.tables.get(table, ())}
                if bool in {t for t, _ in kinds} and len(kinds) > 1:
                    conditions += [Equal(Count(table, Equal(Column(column), Const(True))), Const(0)), Equal(Count(table, Not(Equal(Column(column), Const(True)))), Const(0))]
                if table in acted and 1 < len(kinds) <= 4:
                    conditions += [Equal(Acted(column), Const(v)) for _, v in sorted(kinds, key=repr)]
                if table in acted and str in {t for t, _ in kinds}:
                    conditions.append(Blank(Acted(column)))
        return list(dict.fromkeys(conditions))

    def _note(self, deeds: Sequence[Deed], chosen: Choice) -> None:
        self._wrong.update(deeds[i].name for i in chosen.wrong)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after an action, as far as what was learned tells."""

    screen: str
    variables: dict[str, Value]
    tables: dict[str, tuple[Row, ...]]


def foretell(
    history: History, learned: Learned, before: Sight, aim: Aim, acted: Row, current: Mapping[str, Value], stack: tuple[str, ...], next_row: Mapping[str, int]
) -> Outcome:
    """What the learned effects make of a state. `current` are the variables that the action itself sets: current rows, filters."""
    scope = Scope(before.variables, before.tables, aim.typed, acted=acted)
    at_screen = Scope({**scope.variables, BELOW: stack[-1] if stack else None}, scope.tables, scope.typed, acted=scope.acted)
    screen = str(evaluate(learned.leads, at_screen))
    variables = dict(before.variables)
    for name, expr in learned.sets.items():
        if name in history.names.get(screen, ()) or name in (FOCUS, KEYBOARD):
            variables[name] = evaluate(expr, scope)
    variables |= current
    tables = dict(before.tables)
    for effects in learned.rows:
        if effects.table in tables:
            tables[effects.table] = _rows_after(effects, tables[effects.table], scope, next_row.get(effects.table, 1))
    return Outcome(screen, variables, tables)


def _rows_after(effects: RowEffects, rows: tuple[Row, ...], scope: Scope, fresh: int) -> tuple[Row, ...]:
    after: list[Row] = []
    for row in rows:
        at = scope.at(row)
        if effects.deleted is not None and evaluate(effects.deleted, at):
            continue
        after.append({**row, **{c: evaluate(e, at) for c, e in effects.cells.items()}})
    if effects.inserted is not None and evaluate(effects.inserted_when, scope):
        new: Row = {ROW_ID: fresh, **{c: evaluate(e, scope) for c, e in effects.inserted.items()}}
        after.insert(0 if effects.at == "first" else len(after), new)
    return tuple(after)


_UNKNOWN = "\0unknown"


def _scope(deed: Deed, row: Row | None = None) -> Scope:
    """What may be read before a step."""
    return Scope(deed.before.variables, deed.before.tables, deed.aim.typed, row or {}, deed.acted)


def back_stacks(history: History) -> dict[str, tuple[str, ...]]:
    """The screens below on the back stack before each step: one is left for a screen below it, or covered by a new one."""
    stacks: dict[str, tuple[str, ...]] = {}
    trace, stack = "", ()
    for deed in history.deeds:
        if deed.trace != trace:
            trace, stack = deed.trace, ()
        stacks[deed.name] = stack
        here, there = deed.before.screen, deed.after.screen
        if there != here:
            stack = stack[: stack.index(there)] if there in stack else (*stack, here)
    return stacks

