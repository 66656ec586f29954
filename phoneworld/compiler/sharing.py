"""What actions have to do with each other: what one learned of an action says of another that was seldom done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from phoneworld.compiler.derive import Derived, current_row, settle
from phoneworld.compiler.history import CURRENT, Deed, History, is_hidden, screen_of
from phoneworld.compiler.learned import TOUCHES, ActionClass, Learned, Shared, foretell, scope_of
from phoneworld.program.expr import Acted, Case, Cell, Const, same_value
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import evaluate


def settled(what: Learned, derived: Derived) -> Learned:
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
    return replace(
        what, leads=settle(what.leads, derived), sets={n: settle(e, derived) for n, e in what.sets.items()}, rows=rows
    )


def handed_over(history: History, learned: Mapping[ActionClass, Learned]) -> dict[str, dict[str, dict[str, str]]]:
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


def swallowed(what: Learned, learned: Mapping[ActionClass, Learned], shared: Shared) -> Learned:
    """What a touch does that leads elsewhere, with what becomes of it while words wait to be sent.

    Sending them moves the page under the finger: where that was seen to swallow touches, and never not to, it swallows all.
    """
    pending = shared.inserted.inserted_when if shared.inserted is not None else None
    if (
        pending is None
        or what.of.kind not in TOUCHES
        or not isinstance(what.leads, Const)
        or what.leads.value == what.of.screen
    ):
        return what
    lost = kept = 0
    for of, other in learned.items():
        if (
            of.screen != what.of.screen
            or of.kind not in TOUCHES
            or all(d.after.screen == of.screen for d in other.cases)
        ):
            continue
        for deed in other.cases:
            if evaluate(pending, scope_of(deed)):
                lost, kept = lost + (deed.after.screen == of.screen), kept + (deed.after.screen != of.screen)
    if lost < _SWALLOWED or kept:
        return what
    return replace(what, leads=Case(pending, Const(what.of.screen), what.leads), sets={**shared.sets, **what.sets})


_SWALLOWED = 2


def promoted(
    history: History,
    derived: Derived,
    what: Learned,
    learned: Mapping[ActionClass, Learned],
    stacks: Mapping[str, tuple[str, ...]],
) -> Learned:
    """What an action does, or what another of the screen does where that explains this one better from more cases.

    Enter in a form's last field and its button are one thing to the app; the one tells what the other was too seldom tried for.
    """
    ends = {d.after.screen for d in what.cases}
    if (
        len(what.cases) >= _OFTEN
        or not _submits(what.of)
        or not (what.rows or any(n not in (FOCUS, KEYBOARD) for n in what.sets))
    ):
        return what
    own = len(what.wrong)
    best: tuple[int, int, str, Learned] | None = None
    for of, other in learned.items():
        if (
            of.screen != what.of.screen
            or of == what.of
            or not _submits(of)
            or of.kind == what.of.kind
            or not other.rows
            or len(other.cases) <= len(what.cases)
            or not ends <= {d.after.screen for d in other.cases}
            or {d.table for d in other.cases} - {d.table for d in what.cases}
        ):
            continue
        wrong = [d.name for d in what.cases if not explains(history, derived, other, d, stacks.get(d.name, ()))]
        if len(wrong) <= own and len(wrong) < len(what.cases):
            rank = (len(wrong), -len(other.cases), repr(of))
            if best is None or rank < best[:3]:
                best = (*rank, replace(other, of=what.of, cases=what.cases, wrong=frozenset(wrong)))
    return what if best is None else best[3]


_OFTEN = 8


def _submits(of: ActionClass) -> bool:
    """True for a touch and for the keys that send a form."""
    return of.kind == "tap" or (of.kind == "key" and of.argument in ("enter", "search"))


def explains(history: History, derived: Derived, learned: Learned, deed: Deed, stack: tuple[str, ...]) -> bool:
    """True where what was learned of an action tells a step of another right, as far as it was seen."""
    current = {n: v for n, v in deed.after.variables.items() if n.endswith(CURRENT)}
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
