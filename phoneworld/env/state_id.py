"""Names of phone states: equal names, the same phone but for clock, seed and step count. Stable across processes.

A name is a sum of marks. Variables know theirs (`sim/values.py`), tables and what is around them are marked once and kept, so a new
state is named as fast as an old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from phoneworld.program.expr import Value
from phoneworld.sim.evaluate import Row
from phoneworld.sim.state import AppState, PhoneState

_KEPT = 8192
_SHORT = (1 << 64) - 1


class StateNamer:
    """Names states. What it remembers, it keeps with what it is known by: an id is never another thing's."""

    def __init__(self) -> None:
        self._frames: dict[tuple[object, ...], tuple[int, object]] = {}
        self._tables: dict[tuple[str, int], tuple[int, tuple[Row, ...]]] = {}
        self._last: tuple[Mapping[str, tuple[Row, ...]], int] = ({}, 0)

    def name(self, state: PhoneState) -> str:
        """Sixteen hexadecimal digits for foreground, screens, variables, tables, edits, back stacks and focus of all apps."""
        foreground, mark = state.foreground, 0
        for package, app in state.apps.items():
            own = self._frame(foreground, package, app) ^ app.variables.mark ^ self._all_tables(app.tables)
            # Sums of what was mixed once more do not cancel out between two apps that hold the same.
            mark += own if len(state.apps) == 1 else _mark((package, own))
        return f"{mark & _SHORT:016x}"

    def _frame(self, foreground: str, package: str, app: AppState) -> int:
        """The mark of all but variables and tables."""
        key = (foreground, package, app.screen, id(app.stack), app.focus, app.running)
        known = self._frames.get(key)
        if known is None:
            if len(self._frames) >= _KEPT:
                self._frames.clear()
            stack = [(place.screen, [(name, _plain(value)) for name, value in place.variables]) for place in app.stack]
            known = self._frames[key] = (_mark((foreground, package, app.screen, stack, app.focus, app.running)), app.stack)
        if not app.edits:
            return known[0]
        edits = [(at, _plain(over), _plain(value)) for at, (over, value) in sorted(app.edits.items(), key=_first)]
        return known[0] ^ _mark(edits)

    def _all_tables(self, tables: Mapping[str, tuple[Row, ...]]) -> int:
        """Most steps leave all tables as they are."""
        last, mark = self._last
        if last is not tables:
            mark = 0
            for name, rows in tables.items():
                mark ^= self._table(name, rows)
            self._last = (tables, mark)
        return mark

    def _table(self, name: str, rows: tuple[Row, ...]) -> int:
        known = self._tables.get((name, id(rows)))
        if known is None:
            if len(self._tables) >= _KEPT:
                self._tables.clear()
            whole = (name, [[(column, _plain(value)) for column, value in sorted(row.items())] for row in rows])
            known = self._tables[name, id(rows)] = (_mark(whole), rows)
        return known[0]


def _mark(of: object) -> int:
    return int.from_bytes(blake2b(repr(of).encode("utf-8", "backslashreplace"), digest_size=16).digest())


def _plain(value: Value) -> Value:
    """Values that are equal in Python (True, 1, 1.0) as one, so that the name does not hang on which was seen first."""
    return int(value) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else value


def _first(item: tuple[Any, Any]) -> Any:
    return item[0]
