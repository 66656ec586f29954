"""What goes by itself: a message that is there until some time after it came, whatever is done meanwhile.

A part that comes and goes is taken to pass where its age tells when it goes better than what was done does. What has passed in
a step is no doing of that step, and what a passing part says is remembered by nothing else of the app.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from phoneworld.compiler.history import Deed, History, Sight
from phoneworld.compiler.learned import ActionClass, class_of
from phoneworld.compiler.template import SHOWN
from phoneworld.program.expr import Case, Const, Equal, Expr, Not, Value, Var, same_value

_ERROR_BITS, _TIMER_BITS, _SPLIT_BITS, _CLASS_BITS = 14.0, 20.0, 12.0, 6.0
_TIMES = 3
"""A part must have been seen to go this often, after as many kinds of actions."""
_FEW = 6
_ROUND_MS = (10_000, 5000, 1000, 500, 250, 100, 50, 10, 5)


@dataclass(frozen=True, slots=True)
class Passing:
    """A part that goes by itself: the variable that says whether it is there, how long it is, the variables of what is in it."""

    variable: str
    after_ms: Expr
    parts: frozenset[str]
    cases: int


@dataclass(frozen=True, slots=True)
class Passings:
    """All that passes, by variable, and which of it passed by itself in which step (`trace:index`), or came."""

    of: Mapping[str, Passing] = field(default_factory=dict)
    gone: Mapping[str, frozenset[str]] = field(default_factory=dict)
    came: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """All variables that a passing part is made of."""
        return frozenset(n for p in self.of.values() for n in (p.variable, *p.parts))

    def inside(self, name: str) -> Passing | None:
        """The passing part that a variable is inside of."""
        return next((p for p in self.of.values() if name in p.parts), None)


@dataclass(frozen=True, slots=True)
class _Look:
    """The part was there before a step: how old it was after it, and whether it had gone. `state` is what it was when it came."""

    deed: Deed
    age_ms: int
    gone: bool
    state: Mapping[str, Value]


def find_passings(history: History, follows: Collection[str] = ()) -> Passings:
    """What goes by itself, as the times of a recording show it; nothing in a recording that tells no times.

    The variables that `follows` names go when what they follow from says so.
    """
    of: dict[str, Passing] = {}
    gone: dict[str, set[str]] = {}
    came: dict[str, set[str]] = {}
    inside = _insides(history)
    for name in sorted(inside, key=lambda n: (-len(inside[n]), n)):
        if name in follows or any(name in p.parts for p in of.values()):
            continue
        arrivals: list[str] = []
        looks = list(_looks(history, name, inside[name], arrivals))
        found = _timed(name, looks, inside[name])
        if found is None:
            continue
        of[name] = found
        for deed in arrivals:
            came.setdefault(deed, set()).add(name)
        for look in looks:
            if look.gone and look.age_ms >= _number(found.after_ms, look.state):
                gone.setdefault(look.deed.name, set()).add(name)
    return Passings(of, *({deed: frozenset(names) for deed, names in by.items()} for by in (gone, came)))


def _insides(history: History) -> dict[str, frozenset[str]]:
    """The variables that say whether a part outside of rows is there, each with those of what is in the part."""
    found: dict[str, set[str]] = {}
    for screen, pattern in history.patterns.items():
        for part in pattern.walk():
            name = history.variable(screen, part.key, SHOWN)
            if (part.key, SHOWN) not in history.kept[screen]:
                continue
            below = {p.key for p in part.walk()}
            found.setdefault(name, set()).update(
                history.variable(screen, slot, attribute) for slot, attribute in history.kept[screen] if slot in below
            )
    return {name: frozenset(parts - {name}) for name, parts in found.items()}


def _looks(history: History, name: str, parts: frozenset[str], arrivals: list[str]) -> Iterator[_Look]:
    """Every look at a part that had come in the trace, from the step after it came until it is gone.

    The steps in which it came are put into `arrivals`.
    """
    starters = _starters(history, name, parts)
    trace, since, state = "", 0, dict[str, Value]()
    for deed in history.deeds:
        before, after = deed.before, deed.after
        if deed.trace != trace:
            trace, since = deed.trace, 0
        was, here = before.variables.get(name) is True, after.variables.get(name) is True
        seen = name in after.seen
        again = class_of(deed) in starters and _words(after, parts) in starters[class_of(deed)]
        if seen and here and (not was or again or _words(before, parts) != _words(after, parts)):
            since = before.time_ms
            arrivals.append(deed.name)
            state = {n: after.variables.get(n) for n in parts}
        elif since and seen and was:
            yield _Look(deed, after.time_ms - since, not here, state)
        if seen and not here:
            since = 0


def _starters(history: History, name: str, parts: frozenset[str]) -> dict[ActionClass, set[frozenset[tuple[str, str]]]]:
    """The actions after which the part was always there, once without having been there before, and what it said then."""
    came: dict[ActionClass, list[bool]] = {}
    fresh: dict[ActionClass, set[frozenset[tuple[str, str]]]] = {}
    for deed in history.deeds:
        if name in deed.after.seen:
            here = deed.after.variables[name] is True
            came.setdefault(class_of(deed), []).append(here)
            if here and deed.before.variables.get(name) is not True:
                fresh.setdefault(class_of(deed), set()).add(_words(deed.after, parts))
    return {c: said for c, said in fresh.items() if all(came[c])}


def _words(sight: Sight, parts: frozenset[str]) -> frozenset[tuple[str, str]]:
    """What a part says."""
    return frozenset((n, v) for n in parts if isinstance(v := sight.variables.get(n), str))


def _timed(name: str, looks: Sequence[_Look], parts: frozenset[str]) -> Passing | None:
    """How long a part is there, where that explains when it goes better than the actions do; None elsewhere."""
    ended = [x for x in looks if x.gone]
    if len(ended) < _TIMES or len({class_of(x.deed) for x in ended}) < _TIMES:
        return None
    bits, after_ms = _lasting(looks)
    for condition in _conditions(looks, parts):
        one = [x for x in looks if _holds(condition, x.state)]
        other = [x for x in looks if not _holds(condition, x.state)]
        (one_bits, one_ms), (other_bits, other_ms) = _lasting(one), _lasting(other)
        if one_bits + other_bits + _SPLIT_BITS < bits:
            bits, after_ms = one_bits + other_bits + _SPLIT_BITS, Case(condition, one_ms, other_ms)
    if bits + _TIMER_BITS >= _by_actions(looks):
        return None
    return Passing(name, after_ms, parts, len(ended))


def _lasting(looks: Sequence[_Look]) -> tuple[float, Expr]:
    """The time that explains most, and what is left unexplained by it: going early by actions that always end it costs little."""
    ages = sorted({x.age_ms for x in looks if x.gone} | {x.age_ms + 1 for x in looks if not x.gone})
    best: tuple[float, int, int] | None = None
    for low, high in zip([0, *ages], ages, strict=False):
        kept = [x for x in looks if x.age_ms >= high and not x.gone]
        early = [x for x in looks if x.age_ms < high]
        found = (_ERROR_BITS * len(kept) + _by_actions(early), low, high)
        if best is None or found[0] <= best[0]:
            best = found
    if best is None:
        return 0.0, Const(0)
    return best[0], Const(_roundest(best[1], best[2]))


def _by_actions(looks: Iterable[_Look]) -> float:
    """What it costs to say of each kind of action whether it makes the part go."""
    by_class: dict[ActionClass, list[bool]] = {}
    for look in looks:
        by_class.setdefault(class_of(look.deed), []).append(look.gone)
    cost = 0.0
    for gone in by_class.values():
        if any(gone):
            cost += min(_CLASS_BITS + _ERROR_BITS * gone.count(False), _ERROR_BITS * gone.count(True))
    return cost


def _roundest(low: int, high: int) -> int:
    """The roundest number above `low`, and `high` at most."""
    for unit in _ROUND_MS:
        number = high // unit * unit
        if number > low:
            return number
    return high


def _conditions(looks: Sequence[_Look], parts: frozenset[str]) -> Iterator[Expr]:
    """What is in the part when it comes may say how long it stays: a button in it, its words."""
    for name in sorted(parts):
        values = {(type(v), v) for x in looks if (v := x.state.get(name)) is not None}
        if 1 < len(values) <= _FEW:
            for kind, value in sorted(values, key=repr):
                if kind is not bool or value:
                    yield Equal(Var(name), Const(value))


def _holds(condition: Expr, state: Mapping[str, Value]) -> bool:
    match condition:
        case Equal(Var(name), Const(value)):
            return same_value(state.get(name), value)
        case _:
            return False


def _number(after_ms: Expr, state: Mapping[str, Value]) -> int:
    match after_ms:
        case Const(int(number)):
            return number
        case Case(condition, then, otherwise):
            return _number(then if _holds(condition, state) else otherwise, state)
        case _:
            return 0


def rises(expr: Expr, variable: str) -> Expr:
    """When an expression that a variable is set to makes it true, whatever it was: when a passing part comes, then, or comes anew."""
    match expr:
        case Var(name) if name == variable:
            return Const(False)
        case Case(when, then, otherwise):
            one, other = rises(then, variable), rises(otherwise, variable)
            if one == other:
                return one
            if (one, other) == (Const(True), Const(False)):
                return when
            return Not(when) if (one, other) == (Const(False), Const(True)) else Case(when, one, other)
        case _:
            return expr
