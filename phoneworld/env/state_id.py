"""Names of phone states: equal names, the same phone but for clock, seed and step count. Stable across processes."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from phoneworld.program.expr import Value
from phoneworld.sim.state import AppState, PhoneState

_KEPT = 8192


class StateNamer:
    """Names states. A state seen before is found by hash, in a microsecond; a new one is read, in some tens of them."""

    def __init__(self) -> None:
        # Tables are looked up by identity, for their rows cannot be hashed; kept here, their id cannot be given away.
        self._known: dict[tuple[Any, ...], tuple[str, Any]] = {}

    def name(self, state: PhoneState) -> str:
        """Sixteen hexadecimal digits for foreground, screens, variables, tables, edits, back stacks and focus of all apps."""
        apps = state.apps.items()
        words = [state.foreground]
        for package, app in sorted(apps, key=_first) if len(apps) > 1 else apps:
            tables = app.tables
            key = (app.screen, app.variables, app.edits, app.stack, app.focus, app.running, id(tables))
            known = self._known.get(key)
            if known is None:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                known = self._known[key] = (_words(app), tables)
            words += (package, known[0])
        return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _words(app: AppState) -> str:
    whole = (
        app.screen,
        [(place.screen, [(name, _plain(value)) for name, value in place.variables]) for place in app.stack],
        app.focus,
        app.running,
        [(name, _plain(value)) for name, value in sorted(app.variables.items(), key=_first)],
        [(key, _plain(over), _plain(value)) for key, (over, value) in sorted(app.edits.items(), key=_first)],
        [
            (name, [[(column, _plain(value)) for column, value in sorted(row.items())] for row in rows])
            for name, rows in sorted(app.tables.items(), key=_first)
        ],
    )
    return blake2b(repr(whole).encode(), digest_size=16).hexdigest()


def _plain(value: Value) -> Value:
    """Values that are equal in Python (True, 1, 1.0) as one, so that the name does not hang on which was seen first."""
    return int(value) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else value


def _first(item: tuple[Any, Any]) -> Any:
    return item[0]
