"""What was learned, as parts of a Program: templates, variables, tables, and the rules of each class of actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from phoneworld.compiler.derive import Derived, settle
from phoneworld.compiler.history import CURRENT, Deed, History, Sight
from phoneworld.compiler.kept import UNMODELLED, column
from phoneworld.compiler.learned import BELOW, ActionClass, Learned, RowEffects, class_of, foretell
from phoneworld.compiler.moments import MOMENT
from phoneworld.compiler.passing import Passings, rises
from phoneworld.compiler.template import SHOWN, Part
from phoneworld.program.effect import (
    DeleteRows,
    Effect,
    GoBack,
    InsertRow,
    SetRows,
    SetVar,
    Show,
    StartTimer,
    UpdateRows,
)
from phoneworld.program.expr import (
    TRUE,
    Acted,
    All,
    Case,
    Column,
    Const,
    Equal,
    Expr,
    OneOf,
    Value,
    Var,
    same_value,
)
from phoneworld.program.placement import Placement
from phoneworld.program.program import Evidence, Rule, Table, Timer, Trigger, Variable
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID, Rows, Slot, Template
from phoneworld.sim.evaluate import Row
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size


def template_of(
    screen: str,
    history: History,
    derived: Derived,
    size: Size,
    state: DeviceState,
    placement: Mapping[str, Placement],
    rotation: int = 0,
) -> Template:
    """The template of a screen."""
    windows = history.patterns[screen].windows
    return Template(tuple(_slot(screen, p, history, derived, None) for p in windows), size, state, rotation, placement)


def _slot(screen: str, part: Part, history: History, derived: Derived, table: str | None) -> Slot:
    def value(attribute: str) -> Expr:
        if table is None:
            name = history.variable(screen, part.key, attribute)
            return derived.variables.get(name, Var(name))
        cell = column(part.key, attribute)
        return derived.columns.get(table, {}).get(cell, Column(cell))

    children: list[Slot | Rows] = []
    for child in part.children:
        if child.table is not None:
            shown = history.shown_where(child.table)
            row = _slot(screen, child, history, derived, child.table)
            children.append(Rows(child.table, row, settle(shown, derived, child.table) if shown is not None else TRUE))
        else:
            children.append(_slot(screen, child, history, derived, table))
    when = value(SHOWN) if part.optional and part.table is None else TRUE
    return Slot(
        key=part.key,
        node=part.node,
        when=TRUE if when == Const(True) else when,
        attributes=tuple((a, value(a)) for a in part.varying if a not in UNMODELLED),
        children=tuple(children),
    )


def variables_of(history: History, derived: Derived, initial: Mapping[str, Value]) -> dict[str, Variable]:
    """All variables that rules keep: those that follow from nothing, the focus, the keyboard, the current rows."""
    values: dict[str, list[Value]] = {}
    for sight in history.sights():
        for name in sight.seen:
            if name not in derived.variables:
                seen = values.setdefault(name, [])
                if len(seen) < 9 and not any(
                    v is sight.variables[name] or (type(v), v) == (type(sight.variables[name]), sight.variables[name])
                    for v in seen
                ):
                    seen.append(sight.variables[name])
    made = {
        name: Variable(name, initial.get(name, vs[0]), tuple(vs) if len(vs) < 9 else ())
        for name, vs in sorted(values.items())
        if name not in (FOCUS, KEYBOARD)
    }
    for screen, pattern in history.patterns.items():
        # What only a passing capture showed is in no state of a trace, but the template speaks of it.
        for content in pattern.contents:
            for (slot, attribute), value in content.values.items():
                name = history.variable(screen, slot, attribute)
                if name not in derived.variables and (slot, attribute) in history.kept[screen]:
                    made.setdefault(name, Variable(name, value))
    made[FOCUS] = Variable(FOCUS, None)
    made[KEYBOARD] = Variable(KEYBOARD, False, (False, True))
    for filter_ in history.filters.values():
        for name in filter_.past:
            made[name] = Variable(name, None, (None, *filter_.switches))
    for table in history.columns:
        made[table + CURRENT] = Variable(table + CURRENT, None)
    return made


def free_columns(history: History, derived: Derived, table: str) -> tuple[str, ...]:
    """The columns of a table that follow from no others."""
    return tuple(c for c in history.columns[table] if c not in derived.columns.get(table, {}))


def tables_of(history: History, derived: Derived) -> dict[str, Table]:
    """All tables, with the rows they had when first seen in any trace."""
    first: dict[str, tuple[Row, ...]] = {}
    for sight in history.sights():
        for table, rows in sight.tables.items():
            first.setdefault(table, rows)
    made: dict[str, Table] = {}
    for table in history.columns:
        columns = (ROW_ID, *free_columns(history, derived, table))
        made[table] = Table(table, columns, tuple(tuple(r.get(c) for c in columns) for r in first.get(table, ())))
    return made


def kept_rows(rows: Sequence[Row], columns: Sequence[str]) -> tuple[tuple[Value, ...], ...]:
    return tuple(tuple(row.get(c) for c in columns) for row in rows)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """One way an action class turns out: under these conditions, to this screen."""

    when: Expr
    to: str | None
    """None: to the screen below."""


def outcomes(leads: Expr) -> Iterator[Outcomes]:
    """The ways a `leads` expression says, first match first."""
    match leads:
        case Case(when, then, otherwise):
            for one in outcomes(then):
                yield Outcomes(when if one.when == TRUE else All((when, one.when)), one.to)
            yield from outcomes(otherwise)
        case Const(str(screen)):
            yield Outcomes(TRUE, screen)
        case Var(name) if name == BELOW:
            yield Outcomes(TRUE, None)


def timers_of(passings: Passings) -> dict[str, Timer]:
    """What goes by itself, as timers of its own name."""
    return {
        name: Timer(name, name, False, p.after_ms, Evidence("inferred", cases=p.cases)) for name, p in passings.of.items()
    }


def general_rules(history: History, learned: Mapping[ActionClass, Learned], passings: Passings) -> list[Rule]:
    """The rules that hold whatever was recorded: one for each way an action class turns out."""
    rules: list[Rule] = []
    for of, what in learned.items():
        right = [d for d in what.cases if d.name not in what.wrong]
        if not right and (what.leads != Const(of.screen) or what.sets or what.rows):
            # No step is explained whole, but where it leads is worth telling, and what else is known of it.
            right = [d for d in what.cases if what.leads == Const(d.after.screen)]
        if not right:
            continue
        support = tuple(d.name for d in right)
        keyboard = {bool(d.before.variables.get(KEYBOARD)) for d in what.cases}
        known = Equal(Var(KEYBOARD), Const(keyboard.pop())) if of.argument == "back" and len(keyboard) == 1 else None
        for way in outcomes(what.leads):
            rules.append(
                Rule(
                    id=f"g{len(rules) + 1}",
                    screen=of.screen,
                    on=Trigger(of.kind, of.slot, of.argument),
                    when=way.when if known is None else known if way.when == TRUE else All((known, way.when)),
                    then=(*effects_of(history, what, way, passings), SetVar(MOMENT, Const(None))),
                    evidence=Evidence("inferred", support, len(support)),
                    settle_ms=median_low([d.took_ms for d in what.cases]),
                )
            )
    return rules


def effects_of(history: History, learned: Learned, way: Outcomes, passings: Passings) -> tuple[Effect, ...]:
    """What a rule does when it turns out one way."""
    of = learned.of
    effects: list[Effect] = []
    if way.to is None:
        effects.append(GoBack())
    elif way.to != of.screen:
        effects.append(Show(way.to))
    for name, expr in learned.sets.items():
        if name in (FOCUS, KEYBOARD) or way.to is None or name in history.names[way.to]:
            effects.append(SetVar(name, expr))
            if name in passings.of and (comes := rises(expr, name)) != Const(False):
                effects.append(StartTimer(name, TRUE if comes == Const(True) else comes))
    effects += _currents(history, of)
    for rows in learned.rows:
        effects += _row_effects(rows)
    return tuple(effects)


def _currents(history: History, of: ActionClass) -> list[Effect]:
    if of.kind in _UNTOUCHED:
        return []
    tables = history.patterns[of.screen].tables
    acted = next((t for t, row in tables.items() if any(p.key == of.slot for p in row.walk())), None)
    left: list[Effect] = [SetVar(t + CURRENT, Const(None)) for t in history.touched(of.screen, acted)]
    if acted is None:
        return left
    to = history.references.get(acted)
    found: list[Effect] = [] if to is None else [SetVar(to.table + CURRENT, to.found)]
    return [*(e for e in left if to is None or e != SetVar(to.table + CURRENT, Const(None))), SetVar(acted + CURRENT, Acted(ROW_ID)), *found]


def _row_effects(rows: RowEffects) -> list[Effect]:
    made: list[Effect] = []
    if rows.deleted is not None:
        made.append(DeleteRows(rows.table, rows.deleted))
    if rows.cells:
        made.append(UpdateRows(rows.table, tuple(rows.cells.items())))
    if rows.inserted is not None:
        made.append(InsertRow(rows.table, tuple(rows.inserted.items()), rows.at, rows.inserted_when))
    return made


@dataclass(frozen=True, slots=True)
class Patch:
    """What a recorded step did beyond what the general rule says, as effects; empty where the rule says it all."""

    way: Outcomes | None
    effects: tuple[Effect, ...]


def patch_of(
    history: History,
    derived: Derived,
    learned: Learned,
    deed: Deed,
    stack: tuple[str, ...],
    columns: Mapping[str, tuple[str, ...]],
    next_row: Mapping[str, int],
    *,
    whole: bool,
) -> Patch:
    """Compares what the general rule foretells of a step with what was recorded: of all that is known with `whole`, else of what is seen."""
    current = {n: v for n, v in deed.after.variables.items() if n.endswith(CURRENT)}
    told = foretell(history, learned, deed.before, deed.aim, deed.acted, current, stack, next_row)
    effects: list[Effect] = []
    right_screen = told.screen == deed.after.screen
    variables = (
        told.variables
        if right_screen
        else {**deed.before.variables, **{n: v for n, v in deed.after.variables.items() if n.endswith(CURRENT)}}
    )
    tables = told.tables if right_screen else deed.before.tables
    for name in sorted(deed.after.variables if whole else deed.after.seen):
        value = deed.after.variables[name]
        if (
            name not in derived.variables
            and not name.endswith(CURRENT)
            and not same_value(variables.get(name, _NOTHING), value)
        ):
            effects.append(SetVar(name, Const(value)))
    for table, rows in sorted(deed.after.tables.items()):
        if not whole and table not in deed.after.shown:
            continue
        kept = (ROW_ID, *columns[table])
        if kept_rows(tables.get(table, ()), kept) != kept_rows(rows, kept):
            effects.append(SetRows(table, kept_rows(rows, kept)))
        effects += _current_patch(
            history,
            deed,
            table,
            came=right_screen
            and len(tables.get(table, ())) > len(deed.before.tables.get(table, ()))
            and not (effects and isinstance(effects[-1], SetRows)),
        )
    return Patch(Outcomes(TRUE, deed.after.screen) if right_screen else None, tuple(effects))


def _current_patch(history: History, deed: Deed, table: str, *, came: bool) -> list[Effect]:
    """Sets the current row where neither the touch nor a row that `came` by a general rule makes it what it was."""
    name = table + CURRENT
    now = deed.before.variables.get(name)
    to = history.references.get(deed.table or "")
    if deed.table == table:
        now = deed.acted.get(ROW_ID)
    elif to is not None and to.table == table:
        now = to.of(deed.acted, deed.before.tables)
    elif deed.aim.kind not in _UNTOUCHED and table in history.touched(deed.before.screen, deed.table):
        now = None
    after = deed.after.variables.get(name)
    return [] if came or same_value(now, after) else [SetVar(name, Const(after))]


_UNTOUCHED = ("key", "open_app", "close_app", "wait")
_NOTHING = "\0nothing"


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What makes recorded steps one rule: all but the moments they start from."""

    screen: str
    on: Trigger
    acted: Value
    target: int
    then: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class RecordedRules:
    """The rules of recorded steps, and which of those steps the general rules do not explain."""

    rules: tuple[Rule, ...]
    exceptions: frozenset[str]
    states: Mapping[int, Sight]
    """The state that each moment is."""


def recorded_steps(
    history: History,
    derived: Derived,
    learned: Mapping[ActionClass, Learned],
    stacks: Mapping[str, tuple[str, ...]],
    moments: Mapping[str, tuple[int, ...]],
    passings: Passings,
) -> RecordedRules:
    """One rule for the recorded steps that did the same: what the general rule says, and beside it what only the recording shows.

    `moments[trace][i]` is the moment before the i-th step.
    """
    columns = {t: free_columns(history, derived, t) for t in history.columns}
    state: dict[int, Sight] = {}
    for trace, start in history.starts.items():
        state.setdefault(moments[trace][0], start)
    for deed in history.deeds:
        state.setdefault(moments[deed.trace][deed.index + 1], deed.after)
    groups: dict[_Recorded, list[tuple[int, Deed]]] = {}
    edges: dict[tuple[int, Trigger, int | None, int], _Recorded] = {}
    exceptions: set[str] = set()
    next_row: dict[str, int] = {}
    trace = ""
    for deed in history.deeds:
        if deed.trace != trace:
            trace, next_row = deed.trace, {}
        for table, rows in deed.before.tables.items():
            next_row[table] = max([next_row.get(table, 1), *(int(str(r[ROW_ID])) + 1 for r in rows)])
        what, stack = learned[class_of(deed)], stacks.get(deed.name, ())
        patch = patch_of(history, derived, what, deed, stack, columns, next_row, whole=False)
        passed = passings.gone.get(deed.name, ())
        if patch.way is None or any(not (isinstance(e, SetVar) and e.name in passed) for e in patch.effects):
            exceptions.add(deed.name)
        source, target = moments[deed.trace][deed.index], moments[deed.trace][deed.index + 1]
        on = Trigger(deed.aim.kind, deed.aim.slot, deed.aim.argument if deed.aim.kind != "type" else deed.aim.typed)
        edge = (source, on, deed.aim.row, target)
        if edge not in edges:
            # A moment is one state, that of its first sight: what leads there has to make it so.
            same = _between(deed, state[source], state[target])
            patch = patch_of(history, derived, what, same, stack, columns, next_row, whole=True)
            edges[edge] = _Recorded(
                deed.before.screen,
                on,
                same.acted.get(ROW_ID),
                target,
                _patched(history, what, patch, deed.after.screen, passings),
            )
        groups.setdefault(edges[edge], []).append((source, deed))
    rules: list[Rule] = []
    for key, found in groups.items():
        when: Expr = OneOf(MOMENT, tuple(sorted({m for m, _ in found})))
        also: list[Expr] = []
        if key.acted is not None:
            also.append(Equal(Acted(ROW_ID), Const(key.acted)))
        if key.on.kind == "key" and key.on.argument == "back":
            also.append(Equal(Var(KEYBOARD), Const(bool(found[0][1].before.variables.get(KEYBOARD)))))
        support = tuple(d.name for _, d in found)
        rules.append(
            Rule(
                id=f"r{len(rules) + 1}",
                screen=key.screen,
                on=key.on,
                when=All((when, *also)) if also else when,
                then=(*key.then, SetVar(MOMENT, Const(key.target))),
                evidence=Evidence("recorded", support, len(support)),
                settle_ms=median_low([d.took_ms for _, d in found]),
            )
        )
    return RecordedRules(tuple(rules), frozenset(exceptions), state)


def _between(deed: Deed, before: Sight, after: Sight) -> Deed:
    """The same step from one state to another that look as its own did."""
    acted = deed.acted
    if deed.table is not None and deed.aim.row is not None:
        number = before.shown[deed.table][deed.aim.row]
        acted = next(r for r in before.tables[deed.table] if r[ROW_ID] == number)
    return replace(deed, before=before, after=after, acted=acted)


def _patched(
    history: History, learned: Learned, patch: Patch, screen: str, passings: Passings
) -> tuple[Effect, ...]:
    """The general effects that lead to the recorded screen, with what the patch says instead."""
    starts = tuple(
        StartTimer(e.name) for e in patch.effects if isinstance(e, SetVar) and e.name in passings.of and e.value == Const(True)
    )
    if patch.way is None:
        stay = () if screen == learned.of.screen else (Show(screen),)
        return (*stay, *_currents(history, learned.of), *patch.effects, *starts)
    said = {e.name for e in patch.effects if isinstance(e, SetVar)}
    tables = {e.table for e in patch.effects if isinstance(e, SetRows)}
    general = effects_of(history, learned, Outcomes(TRUE, screen), passings)
    kept = tuple(
        e for e in general
        if not (isinstance(e, SetVar) and e.name in said) and not (isinstance(e, StartTimer) and e.timer in said) and not (isinstance(e, InsertRow | UpdateRows | DeleteRows) and e.table in tables)
    )  # fmt: skip
    return (*kept, *patch.effects, *starts)
