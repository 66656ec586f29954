"""What of an app's state a person would miss: rows of its tables, and settings. Not where one is, what a half-filled form holds, what a message says."""

from __future__ import annotations

from collections.abc import Iterator

from phoneworld.program.effect import GoBack, SetVar, Show
from phoneworld.program.expr import Expr, Not, Var, names_in
from phoneworld.program.program import Program
from phoneworld.program.template import Slot


def kept_variables(program: Program) -> frozenset[str]:
    """The variables that hold a setting: what a widget that can be checked shows, and what no way to a screen sets by itself.

    A tick in a form that is emptied whenever it is opened is no setting before the form is saved; then it is in a row.
    """
    shown = {name for screen in program.screens.values() if screen.template for slot, _ in screen.template.slots() for name in _checks(slot)}
    timed = {timer.variable for timer in program.timers.values()}
    fresh: set[str] = set()
    for rule in program.rules:
        if any(isinstance(effect, Show | GoBack) for effect in rule.then):
            fresh.update(e.name for e in rule.then if isinstance(e, SetVar) and not _stays(e.name, e.value))
    return frozenset(shown - timed - fresh)


def _checks(slot: Slot) -> Iterator[str]:
    if slot.node.checkable:
        for attribute, value in slot.attributes:
            if attribute == "checked":
                yield from names_in(value)


def _stays(name: str, value: Expr) -> bool:
    """True for a variable that is set to itself, or turned round: a tap on the widget itself that also leads somewhere."""
    return value == Var(name) or value == Not(Var(name))
