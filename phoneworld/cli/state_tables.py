"""The tables of a phone's state as an SQLite file, which other programs can open. Pure: values in, bytes out."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

from phoneworld.errors import ServeError
from phoneworld.program.template import ROW_ID
from phoneworld.tasks.queries import add_table

VARIABLES = "_variables"


def as_sqlite(state: dict[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """The file, and the names of its tables: those of the state, with the package before a name that two apps have.

    Its table `_variables` has the variables of all apps. Raises ServeError where a cell holds what SQLite cannot.
    """
    apps: dict[str, Any] = state["apps"]
    # SQLite takes two names that differ in case for one.
    times = Counter(name.casefold() for app in apps.values() for name in app["tables"])
    named = {
        (name if times[name.casefold()] == 1 and name.casefold() != VARIABLES else f"{package} {name}"): rows
        for package, app in apps.items()
        for name, rows in app["tables"].items()
    }
    variables = [{"app": package, "name": name, "value": value} for package, app in apps.items() for name, value in app["variables"].items()]
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            for name, rows in named.items():
                add_table(base, name, tuple(dict.fromkeys(column for row in rows for column in row)) or (ROW_ID,), rows)
            add_table(base, VARIABLES, ("app", "name", "value"), variables)
            base.commit()
            return base.serialize(), tuple(named)
        except (sqlite3.Error, OverflowError) as e:
            raise ServeError(f"the state cannot be written as SQLite: {e}", hint="`phoneworld state get` prints it as JSON") from None
