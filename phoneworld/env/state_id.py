"""Names of phone states: equal names, the same phone but for clock, seed and step count. Stable across processes."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from phoneworld.program.expr import Value
from phoneworld.sim.evaluate import Row
from phoneworld.sim.state import AppState, PhoneState

_KEPT = 8192


class StateNamer:
    """Names states. Nothing is remembered but tables: variables know their mark, so a new state is named as fast as an old one."""

    def __init__(self) -> None:
        # By identity, for rows cannot be hashed; what is kept here cannot give its id away.
        self._tables: dict[tuple[str, int], tuple[str, tuple[Row, ...]]] = {}
        self._last: tuple[Mapping[str, tuple[Row, ...]], str] = ({}, "")

    def name(self, state: PhoneState) -> str:
        """Sixteen hexadecimal digits for foreground, screens, variables, tables, edits, back stacks and focus of all apps."""
        apps = state.apps.items()
        words = [state.foreground, *[word for item in (sorted(apps, key=_first) if len(apps) > 1 else apps) for word in self._words(*item)]]
        return blake2b(repr(words).encode(), digest_size=8).hexdigest()

    def _words(self, package: str, app: AppState) -> tuple[object, ...]:
        stack = [(place.screen, [(name, _plain(value)) for name, value in place.variables]) if place.variables else place.screen for place in app.stack]
        edits = [(key, _plain(over), _plain(value)) for key, (over, value) in sorted(app.edits.items(), key=_first)] if app.edits else ()
        return (package, app.screen, stack, app.focus, app.running, app.variables.mark, edits, self._all_tables(app.tables))

    def _all_tables(self, tables: Mapping[str, tuple[Row, ...]]) -> str:
        """Most steps leave all tables as they are."""
        last, name = self._last
        if last is not tables:
            name = " ".join(sorted([self._table(*item) for item in tables.items()]))
            self._last = (tables, name)
        return name

    def _table(self, name: str, rows: tuple[Row, ...]) -> str:
        known = self._tables.get((name, id(rows)))
        if known is None:
            if len(self._tables) >= _KEPT:
                self._tables.clear()
            whole = (name, [[(column, _plain(value)) for column, value in sorted(row.items())] for row in rows])
            known = self._tables[name, id(rows)] = (blake2b(repr(whole).encode(), digest_size=16).hexdigest(), rows)
        return known[0]


def _plain(value: Value) -> Value:
    """Values that are equal in Python (True, 1, 1.0) as one, so that the name does not hang on which was seen first."""
    return int(value) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else value


def _first(item: tuple[Any, Any]) -> Any:
    return item[0]
