"""What was learned of actions, as data, and what it foretells: the words in which `effects.py` learns and `assemble.py` writes rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from phoneworld.compiler.aims import Aim
from phoneworld.compiler.history import Deed, History, Sight
from phoneworld.program.expr import TRUE, Const, Expr, Value
from phoneworld.program.program import TriggerKind
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Row, Scope, evaluate

BELOW = "<below>"
"""Read in `leads`: the screen below on the back stack."""

TOUCHES: tuple[TriggerKind, ...] = ("tap", "double_tap", "long_press")


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
    at: Literal["first", "last"] = "last"


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after an action, as far as what was learned tells."""

    screen: str
    variables: dict[str, Value]
    tables: dict[str, tuple[Row, ...]]


def foretell(
    history: History,
    learned: Learned,
    before: Sight,
    aim: Aim,
    acted: Row,
    current: Mapping[str, Value],
    stack: tuple[str, ...],
    next_row: Mapping[str, int],
) -> Outcome:
    """What the learned effects make of a state. `current` are the variables that the action itself sets: current rows, filters."""
    scope = Scope(before.variables, before.tables, aim.typed, acted=acted)
    at_screen = Scope(
        {**scope.variables, BELOW: stack[-1] if stack else None}, scope.tables, scope.typed, acted=scope.acted
    )
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


def scope_of(deed: Deed, row: Row | None = None) -> Scope:
    """What may be read before a step."""
    return Scope(deed.before.variables, deed.before.tables, deed.aim.typed, row or {}, deed.acted)


def back_stacks(history: History) -> dict[str, tuple[str, ...]]:
    """The screens below on the back stack before each step: one is left for a screen below it, or covered by a new one."""
    stacks: dict[str, tuple[str, ...]] = {}
    trace = ""
    stack: tuple[str, ...] = ()
    for deed in history.deeds:
        if deed.trace != trace:
            trace, stack = deed.trace, ()
        stacks[deed.name] = stack
        here, there = deed.before.screen, deed.after.screen
        if there != here:
            stack = stack[: stack.index(there)] if there in stack else (*stack, here)
    return stacks
