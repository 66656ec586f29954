"""Which of its rows a table shows: filters, and the mode a filter is in where no switch of it was touched.

Back returns to the mode before, an app that starts anew begins without one: what is shown tells. A mode lets rows through; where
a row is shown that the mode would hide, it is no longer in force, and another one is that shows these rows and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from phoneworld.program.expr import All, Case, Column, Const, Equal, Expr, Value, Var, walk
from phoneworld.sim.evaluate import Row, Scope, evaluate

MODE = ".mode"
_PAST, _LONG_PAST = ".past" + MODE, ".long_past" + MODE


@dataclass(frozen=True, slots=True)
class Filter:
    """What a table shows of its rows: `where`, which reads `mode`, the variable that names the one of `switches` in force.

    `search` is the part of `where` that reads a field. `also` are places beside the switches that do what one of them does.
    `firm` where the switches' conditions were hardly ever contradicted when they were touched: only then do rows tell the mode.
    """

    table: str
    screen: str
    mode: str
    switches: tuple[str, ...]
    where: Expr
    search: Expr
    also: Mapping[str, str] = field(default_factory=dict)
    firm: bool = True

    @property
    def past(self) -> tuple[str, ...]:
        """The variables that hold the mode and those before it, last first."""
        return (self.mode, self.table + _PAST, self.table + _LONG_PAST) if self.mode else ()

    def switched_by(self, slot: str) -> str | None:
        """The mode that a touch of a slot switches to."""
        return slot if slot in self.switches else self.also.get(slot)

    def switched(self, variables: Mapping[str, Value], mode: str) -> dict[str, Value]:
        """The mode and those before it after a switch was touched."""
        now = [variables.get(n) for n in self.past]
        return dict(zip(self.past, now if now[0] == mode else [mode, *now], strict=False))

    def after_switch(self, name: str, slot: str) -> Expr | None:
        """What one of the variables of modes is after a touch of a slot; None where that is no switch."""
        mode = self.switched_by(slot)
        if mode is None:
            return None
        if name == self.mode:
            return Const(mode)
        return Case(Equal(Var(self.mode), Const(mode)), Var(name), Var(self.past[self.past.index(name) - 1]))

    def after_return(self, name: str) -> Expr:
        """What one of the variables of modes is after a return to the mode before."""
        return Var(self.past[self.past.index(name) + 1]) if name != self.past[-1] else Const(None)

    def hides(self, variables: Mapping[str, Value]) -> bool:
        """True where the mode in force lets not all rows through."""
        return self.meaning(variables.get(self.mode)) != self.meaning(None)

    def shows(self, row: Row, variables: Mapping[str, Value], mode: Value) -> bool:
        """True where a row is shown in a mode."""
        return bool(evaluate(self.where, Scope({**variables, self.mode: mode}, row=row)))

    def meaning(self, mode: Value) -> Expr:
        """What a mode shows, the same for modes that show the same."""
        return pinned(self.where, self.mode, mode)


def is_past(name: str) -> bool:
    """True for the variables that hold a mode of before."""
    return name.endswith((_PAST, _LONG_PAST))


def pinned(where: Expr, name: str, value: Value) -> Expr:
    """A filter's condition in one mode."""
    match where:
        case Case(Equal(Var(read), Const(of)), then, otherwise) if read == name:
            return pinned(then if of == value else otherwise, name, value)
        case All(of=parts):
            return All(tuple(pinned(p, name, value) for p in parts))
    return where


def hides_nothing(filter_: Filter, variables: Mapping[str, Value]) -> bool:
    """True where a filter lets all rows through, whatever they hold."""
    scope = Scope(variables)
    columns = {e.name for e, _ in walk(filter_.where) if isinstance(e, Column)}
    probes: tuple[Row, ...] = ({}, *(dict.fromkeys(columns, v) for v in (True, False, "a", None)))
    return all(evaluate(filter_.where, scope.at(p)) for p in probes)


@dataclass(frozen=True, slots=True)
class Found:
    """The modes now and before; `told` where what is shown leaves no other mode possible."""

    modes: Mapping[str, Value]
    told: bool


def mode_after(
    filter_: Filter,
    before: Mapping[str, Value],
    known: Sequence[Row],
    shown: Sequence[Row],
    likely: Mapping[str, Value] | None,
) -> Found:
    """The mode after a step that touched no switch.

    `known` are all rows as they are believed to be, `shown` those on the screen, `likely` what was learned of such steps.
    """
    now = [before.get(n) for n in filter_.past]
    words = {_words(r) for r in shown}
    columns = {e.name for e, _ in walk(filter_.where) if isinstance(e, Column)}

    def lets_through(mode: Value) -> bool:
        return all(
            filter_.shows(r, before, mode) for r in shown if all(r.get(c) is not None for c in columns)
        )

    def fits(mode: Value) -> bool:
        return lets_through(mode) and all(_words(r) in words for r in known if filter_.shows(r, before, mode))

    modes = dict.fromkeys((*now, None, *filter_.switches))
    fitting = [m for m in modes if fits(m)]
    told = len({repr(filter_.meaning(m)) for m in fitting}) == 1
    if likely is not None and likely.get(filter_.mode) in fitting:
        return Found({n: likely.get(n) for n in filter_.past}, told)
    if lets_through(now[0]):
        return Found(dict(zip(filter_.past, now, strict=True)), told and now[0] in fitting)
    mode = next((m for m in (*fitting, *modes) if lets_through(m)), now[0])
    back = [now[1], now[2], None] if mode == now[1] else [mode, None, None]
    return Found(dict(zip(filter_.past, back, strict=True)), told)


def _words(row: Row) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted((c, v) for c, v in row.items() if isinstance(v, str) and not c.startswith("@")))
