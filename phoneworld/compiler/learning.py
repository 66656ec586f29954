"""A recording told, what follows found, what actions do learned: the passes of inference in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.aims import Aim
from phoneworld.compiler.beliefs import find_beliefs, find_worded
from phoneworld.compiler.believed import Beliefs
from phoneworld.compiler.causes import find_unseen, never_looked_at
from phoneworld.compiler.derive import Derived, find_derived
from phoneworld.compiler.effects import learn
from phoneworld.compiler.filters import find_filters
from phoneworld.compiler.history import Foretold, History, Sight, find_history, shows_all
from phoneworld.compiler.learned import ActionClass, Learned, back_stacks, foretell
from phoneworld.compiler.passing import Passings, find_passings
from phoneworld.compiler.patterns import find_patterns
from phoneworld.graph.graph import StateGraph
from phoneworld.program.expr import Fixed, Value, walk
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row

_TELLINGS, _REVISIONS = 8, 2


@dataclass(frozen=True, slots=True)
class Lesson:
    """All that was inferred from a recording."""

    history: History
    beliefs: Beliefs
    derived: Derived
    learned: Mapping[ActionClass, Learned]
    stacks: Mapping[str, tuple[str, ...]]
    passings: Passings = Passings()


def infer(graph: StateGraph, screens: Mapping[str, Sequence[str]]) -> Lesson:
    """Infers what a recording shows. `screens` are the ids of captures by screen. Pure and deterministic."""
    patterns = find_patterns(graph, screens)
    beliefs = Beliefs()
    history = find_history(graph, screens, patterns, beliefs)
    for _ in range(_TELLINGS):
        found = find_beliefs(history, beliefs)
        if found == beliefs:
            break
        beliefs = found
        history = find_history(graph, screens, patterns, beliefs)
    unseen = find_unseen(graph, history)
    if unseen:
        beliefs = replace(beliefs, unseen=unseen)
        history = find_history(graph, screens, patterns, beliefs)
    filters = find_filters(history)
    learned: dict[ActionClass, Learned] = {}
    stacks = back_stacks(history)
    if filters:
        beliefs = replace(beliefs, filters=filters)
        history = find_history(graph, screens, patterns, beliefs)
    derived = find_derived(history, sure_only=True)
    worded = find_worded(derived)
    if worded:
        beliefs = replace(beliefs, worded=worded)
        history = find_history(graph, screens, patterns, beliefs)
        derived = find_derived(history, sure_only=True)
    calculated = {n for n in beliefs.aliases if n in derived.variables and any(isinstance(e, Fixed) for e, _ in walk(derived.variables[n]))}
    if calculated:
        # What follows from other numbers is no cell of its own.
        beliefs = replace(beliefs, aliases={n: of for n, of in beliefs.aliases.items() if n not in calculated})
        history = find_history(graph, screens, patterns, beliefs)
        derived = find_derived(history, sure_only=True)
    passings = find_passings(history, derived.variables)
    learned = learn(history, derived, stacks, _doubtful(history), passings)
    for _ in range(_REVISIONS if filters else 0):
        history = find_history(graph, screens, patterns, beliefs, _Foreteller(history, learned))
        derived = find_derived(history, sure_only=True)
        passings = find_passings(history, derived.variables)
        learned = learn(history, derived, stacks, _doubtful(history), passings)
    return Lesson(history, beliefs, derived, learned, stacks, passings)


class _Foreteller:
    """What was learned in one telling, asked in the next about rows that are out of sight."""

    def __init__(self, history: History, learned: Mapping[ActionClass, Learned]) -> None:
        self._history = history
        self._learned = learned

    def __call__(
        self, before: Sight, aim: Aim, acted: Row, current: Mapping[str, Value]
    ) -> Foretold:
        what = self._learned.get(ActionClass(before.screen, aim.kind, aim.slot, aim.argument))
        if what is None:
            return Foretold(before.tables, None)
        next_row = {t: max((int(str(r[ROW_ID])) for r in rows), default=0) + 1 for t, rows in before.tables.items()}
        told = foretell(self._history, what, before, aim, acted, current, (), next_row)
        # Where no row can be out of sight, seeing is better than foretelling.
        tables = {t: rows if self._hides(before, t, current) else before.tables[t] for t, rows in told.tables.items()}
        return Foretold(tables, told.variables)

    def _hides(self, before: Sight, table: str, current: Mapping[str, Value]) -> bool:
        """True where rows may be out of sight before or after an action."""
        filter_ = self._history.filters.get(table)
        hidden = len(before.tables[table]) != len(before.shown.get(table, ()))
        if filter_ is None or hidden:
            return hidden
        if not filter_.firm:
            return filter_.mode in current
        after = replace(before, variables={**before.variables, **current})
        return not (shows_all(before, filter_) and shows_all(after, filter_))


def _doubtful(history: History) -> frozenset[str]:
    """The steps in which a table did not show all its rows, before or after: what became of it cannot be seen for sure.

    Nor can it where a table that changes out of sight was not looked at again.
    """
    changing = {change.table for changes in history.unseen.values() for change in changes}
    return frozenset(f"{deed.name} {table}" for deed, table in never_looked_at(history, changing)) | frozenset(
        f"{deed.name} {table}"
        for deed in history.deeds
        for table, filter_ in history.filters.items()
        for sight in (deed.before, deed.after)
        if sight.screen == filter_.screen and not shows_all(sight, filter_)
    )
