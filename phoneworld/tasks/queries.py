"""SQL over the tables of an app, in memory. A query can read them and nothing else."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing

from phoneworld.errors import CheckerError
from phoneworld.program.expr import Value
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.checker import Data
from phoneworld.tasks.names import Exporter

_READS = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_MOST_STEPS = 2_000_000


def query_tables(exporter: Exporter, state: PhoneState, query: str, arguments: Mapping[str, Value]) -> Data:
    """The first column of the first row that a query gives; None where it gives none. Costs a copy of all tables: about a millisecond.

    Raises CheckerError for a query that cannot be run, writes, or does not end.
    """
    tables = exporter.document(state)["tables"]
    with sqlite3.connect(":memory:") as base:
        try:
            for name, rows in tables.items():
                add_table(base, name, exporter.columns[name], rows)
            base.set_authorizer(lambda what, *_: sqlite3.SQLITE_OK if what in _READS else sqlite3.SQLITE_DENY)
            base.set_progress_handler(lambda: 1, _MOST_STEPS)
            found = base.execute(_in_words_of_sqlite(query), dict(arguments)).fetchone()
        except (sqlite3.Error, sqlite3.Warning) as e:
            raise CheckerError(f"{query!r} cannot be run: {e}", hint="a query that reads the tables " + ", ".join(tables)) from None
        finally:
            base.set_authorizer(None)
    value: Data = found[0] if found else None
    return value.hex() if isinstance(value, bytes) else value


def prepared(exporter: Exporter, query: str, arguments: Mapping[str, Value]) -> None:
    """Makes a query ready, over tables without rows, and does not run it. Raises sqlite3.Error where it cannot be."""
    with closing(sqlite3.connect(":memory:")) as base:
        for name, columns in exporter.columns.items():
            add_table(base, name, columns, ())
        base.execute(f"explain {_in_words_of_sqlite(query)}", arguments)


def _in_words_of_sqlite(query: str) -> str:
    """`:note.title` is no name of a parameter for SQLite, `:note_title` is."""
    return re.sub(r":(\w+)\.(\w+)", r":\1_\2", query)


def add_table(base: sqlite3.Connection, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Value]]) -> None:
    """Makes a table of rows; what a row does not have is null. Names may hold any characters. Raises sqlite3.Error."""
    base.execute(f"create table {_quoted(name)} ({', '.join(map(_quoted, columns))})")
    base.executemany(f"insert into {_quoted(name)} values ({', '.join('?' * len(columns))})", [[row.get(c) for c in columns] for row in rows])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
