"""What an app has stored, read as the mock's tables and variables: so a real phone is judged by more than its screen. Pure.

Nobody says how an app keeps things; that is learned where app and mock went side by side and showed the same. A table is a list of objects
(or an object of objects) whose fields agree with its columns in every such moment; a variable is a value that changed whenever the variable
did. What does not agree is not read, and what cannot be read is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from phoneworld.errors import FileFormatError
from phoneworld.program.expr import Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.state import AppState

Document: TypeAlias = Any
"""What an app has stored, as JSON has it."""
Place: TypeAlias = tuple[str, ...]
"""The keys that lead to a value, from the outside in."""
Sample: TypeAlias = tuple[AppState, Document]
"""A moment at which app and mock showed the same: the mock's state, what the app had stored."""

FORMAT = "phoneworld-storage/1"
_DEEP = 4
_OWN_KEY = ""
"""In the place of a field: the key under which an object stands."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """Where a value stands, and what the stored values mean (by their JSON); None where they mean themselves."""

    place: Place
    means: Mapping[str, Value] | None = None

    def read(self, found: Any) -> tuple[bool, Value]:
        """Whether it can be read, and the value."""
        if self.means is None:
            return (True, found) if found is None or isinstance(found, str | int | float | bool) else (False, None)
        told = _told(found)
        return told in self.means, self.means.get(told)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """Where the rows of a table stand. `key` is the field that tells them apart, `rows` the keys of those that are there at the start, by
    row id; `others` are keys of what is there at the start and no row of the mock."""

    place: Place
    key: str
    rows: Mapping[int, str]
    others: frozenset[str]
    columns: Mapping[str, StoredValue]


@dataclass(frozen=True, slots=True)
class Known:
    """What of the app's state could be read: `app` is the mock's state at the start with that put in."""

    app: AppState
    variables: frozenset[str]
    columns: frozenset[tuple[str, str]]
    tables: frozenset[str]


@dataclass(frozen=True, slots=True)
class StorageMap:
    """How an app stores what the mock has in tables and variables."""

    tables: Mapping[str, StoredTable] = field(default_factory=dict)
    variables: Mapping[str, StoredValue] = field(default_factory=dict)

    def read(self, start: AppState, stored: Document, at_first: Document = None) -> Known:
        """What the app holds now, over the mock's state at the start of the episode. Values that were never seen are unknown.

        `at_first` is what was stored when the episode began: what was there then and is no row of the mock stays none.
        """
        values: dict[str, Value] = {}
        for name, of in self.variables.items():
            ok, value = of.read(_at(stored, of.place))
            if ok:
                values[name] = value
        app = start._replace(variables=start.variables.update(values))
        columns: set[tuple[str, str]] = set()
        tables: set[str] = set()
        for name, table in self.tables.items():
            items = _items(_at(stored, table.place), table.key)
            if items is None:
                continue
            there = frozenset(_items(_at(at_first, table.place), table.key) or ()) - frozenset(table.rows.values())
            rows, broken = _rows(table, app.tables.get(name, ()), {key: item for key, item in items.items() if key not in there})
            app = app._replace(tables=app.tables.set(name, rows))
            tables.add(name)
            columns.update((name, column) for column in table.columns if column not in broken)
        return Known(app, frozenset(values), frozenset(columns), frozenset(tables))


def _rows(table: StoredTable, before: Sequence[Mapping[str, Value]], items: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Value], ...], set[str]]:
    """The rows as they are stored, and the columns of which some value could not be read."""
    ids = {key: row for row, key in table.rows.items()}
    old = {row[ROW_ID]: row for row in before}
    free = max([0, *(i for i in old if isinstance(i, int))]) + 1
    broken: set[str] = set()
    rows: list[Mapping[str, Value]] = [row for i, row in old.items() if i not in table.rows]
    for key, item in items.items():
        if key in table.others:
            continue
        number = ids.get(key)
        if number is None:
            number, free = free, free + 1
            row: dict[str, Value] = {ROW_ID: number}
        else:
            row = dict(old.get(number, {ROW_ID: number}))
        for column, of in table.columns.items():
            ok, value = of.read(_at(item, of.place))
            if not ok:
                broken.add(column)
            elif column not in row or row[column] is not None or number not in old:
                row[column] = value
        rows.append(row)
    return tuple(rows), broken


def learn(start: AppState, samples: Sequence[Sample]) -> StorageMap:
    """Reads off moments at which app and mock showed the same how the app stores things. Quadratic in columns and fields, linear in moments."""
    tables = {}
    for name in start.tables:
        found = [t for place in _places_of_lists(samples) if (t := _table(name, place, start, samples)) is not None]
        if found:
            tables[name] = max(found, key=lambda t: (len(t.rows), len(t.columns)))
    return StorageMap(tables, dict(_variables(samples)))


def _variables(samples: Sequence[Sample]) -> Iterator[tuple[str, StoredValue]]:
    leaves = [dict(_leaves(stored)) for _, stored in samples]
    places = sorted({place for of in leaves for place in of})
    names = sorted({name for app, _ in samples for name in app.variables})
    for name in names:
        values = [app.variables.get(name) for app, _ in samples]
        if len({_told(v) for v in values}) < 2:
            continue
        for place in places:
            means = _means([of.get(place) for of in leaves], values)
            if means is not None:
                yield name, StoredValue(place, means)
                break


def _means(stored: Sequence[Any], values: Sequence[Value]) -> dict[str, Value] | None:
    """What each stored value means, where each always means the same, no two the same, and there are two at least."""
    means: dict[str, Value] = {}
    for found, value in zip(stored, values, strict=True):
        told = _told(found)
        if told in means and _told(means[told]) != _told(value):
            return None
        means[told] = value
    return means if len(means) >= 2 and len({_told(v) for v in means.values()}) == len(means) else None


def _table(name: str, place: Place, start: AppState, samples: Sequence[Sample]) -> StoredTable | None:
    """The table as it stands at a place; None where that is not its place."""
    told = [(app, items) for app, stored in samples if (items := _list_at(stored, place)) is not None]
    rows_of = [app.tables.get(name, ()) for app, _ in told]
    if not any(rows_of):
        return None
    fields = sorted({f for _, items in told for item in items for f in _scalars(item)})
    columns = sorted({column for rows in rows_of for row in rows for column in row if column != ROW_ID})
    best: tuple[int, list[dict[int, dict[str, Any]]]] | None = None
    for column in columns:
        for of in fields:
            pairs = _aligned(rows_of, [items for _, items in told], column, of)
            if pairs is not None and (best is None or sum(map(len, pairs)) > best[0]):
                best = (sum(map(len, pairs)), pairs)
    if best is None:
        return None
    pairs = best[1]
    first = {row[ROW_ID] for row in start.tables.get(name, ()) if isinstance(row[ROW_ID], int)}
    for key in sorted(fields, key=lambda f: (f != _OWN_KEY, "id" not in f.lower(), f)):
        rows = _keyed(key, pairs, first)
        if rows is not None and all(len({_told(item.get(key)) for item in items}) == len(items) for _, items in told):
            everywhere = [{_told(item.get(key)) for item in items} for _, items in told]
            taken = [{_told(item.get(key)) for item in of.values()} for of in pairs]
            others = frozenset.intersection(*(frozenset(a - b) for a, b in zip(everywhere, taken, strict=True)))
            return StoredTable(place, key, rows, others, dict(_columns(columns, fields, rows_of, pairs)))
    return None


def _aligned(rows_of: Sequence[Any], items_of: Sequence[Any], column: str, of: str) -> list[dict[int, dict[str, Any]]] | None:
    """Which object each row is, in each moment, where a column tells rows apart as a field does objects."""
    found: list[dict[int, dict[str, Any]]] = []
    seen: set[str] = set()
    for rows, items in zip(rows_of, items_of, strict=True):
        values = [_told(row.get(column)) for row in rows]
        if len(set(values)) != len(values) or not all(_names(row.get(column)) for row in rows):
            return None
        by_value = {_told(item.get(of)): item for item in items}
        if len(by_value) != len(items) and len(values) > 0:
            return None
        if not set(values) <= set(by_value):
            return None
        found.append({row[ROW_ID]: by_value[value] for row, value in zip(rows, values, strict=True)})
        seen.update(values)
    return found if len(seen) >= 2 else None


def _names(value: Value) -> bool:
    """True for what can tell one row from another."""
    return bool(value) if isinstance(value, str) else isinstance(value, int | float) and not isinstance(value, bool)


def _keyed(key: str, pairs: Sequence[dict[int, dict[str, Any]]], first: set[Any]) -> dict[int, str] | None:
    """The key of each row of the start, where it is always the same."""
    rows: dict[int, str] = {}
    for of in pairs:
        for number, item in of.items():
            if number in first and (key not in item or rows.setdefault(number, _told(item[key])) != _told(item[key])):
                return None
    return rows


def _columns(columns: Sequence[str], fields: Sequence[str], rows_of: Sequence[Any], pairs: Sequence[dict[int, dict[str, Any]]]) -> Iterator[tuple[str, StoredValue]]:
    for column in columns:
        values: list[Value] = []
        items: list[dict[str, Any]] = []
        for rows, of in zip(rows_of, pairs, strict=True):
            for row in rows:
                # What is None was never in sight: it says nothing.
                if row.get(column) is not None:
                    values.append(row[column])
                    items.append(of[row[ROW_ID]])
        told = [_told(v) for v in values]
        alike = [name for name in fields if [_told(item.get(name)) for item in items] == told]
        if len(set(told)) < 2:
            # A value that was always the same is known by its field where only one has it; a tick is too common for that.
            if len(alike) == 1 and _names(values[0]):
                yield column, StoredValue((alike[0],))
        elif alike:
            yield column, StoredValue((alike[0],))
        elif all(isinstance(v, bool) for v in values):
            found = ((name, _means([item.get(name) for item in items], values)) for name in fields)
            yield from ((column, StoredValue((name,), means)) for name, means in islice(((n, m) for n, m in found if m is not None), 1))


def _items(found: Any, key: str) -> dict[str, Any] | None:
    listed = _listed(found)
    return None if listed is None else {_told(item.get(key)): item for item in listed}


def _list_at(stored: Document, place: Place) -> list[dict[str, Any]] | None:
    return _listed(_at(stored, place))


def _listed(found: Any) -> list[dict[str, Any]] | None:
    """A list of objects, or an object of objects, as a list; each with its own key."""
    if isinstance(found, list) and all(isinstance(item, dict) for item in found):
        return [item | {_OWN_KEY: None} if _OWN_KEY in item else item for item in found]
    if isinstance(found, dict) and found and all(isinstance(item, dict) for item in found.values()):
        return [item | {_OWN_KEY: key} for key, item in found.items()]
    return None


def _places_of_lists(samples: Sequence[Sample]) -> list[Place]:
    found: set[Place] = set()

    def look(value: Any, place: Place) -> None:
        if _listed(value):
            found.add(place)
        if isinstance(value, dict) and len(place) < _DEEP:
            for key, inner in value.items():
                look(inner, (*place, str(key)))

    for _, stored in samples:
        look(stored, ())
    return sorted(found)


def _leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The single values that stand in objects, not those in lists."""
    if isinstance(value, dict) and len(place) < _DEEP:
        for key, inner in value.items():
            yield from _leaves(inner, (*place, str(key)))
    elif not isinstance(value, list | dict):
        yield place, value


def _scalars(item: Mapping[str, Any]) -> Iterator[str]:
    return (name for name, value in item.items() if not isinstance(value, list | dict))


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _told(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def stored_document(texts: Mapping[str, str]) -> Document:
    """What lies under keys as text, as JSON has it; text that is no JSON stays text."""
    document: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            document[key] = json.loads(text)
        except ValueError:
            document[key] = text
    return document


def to_json(of: StorageMap) -> dict[str, Any]:
    """As a file holds it."""

    def value(v: StoredValue) -> dict[str, Any]:
        return {"place": list(v.place)} | ({} if v.means is None else {"means": dict(v.means)})

    return {
        "format": FORMAT,
        "tables": {
            name: {
                "place": list(t.place), "key": t.key, "rows": {str(row): key for row, key in sorted(t.rows.items())}, "others": sorted(t.others),
                "columns": {column: value(v) for column, v in t.columns.items()},
            }
            for name, t in of.tables.items()
        },
        "variables": {name: value(v) for name, v in of.variables.items()},
    }  # fmt: skip


def from_json(data: Any) -> StorageMap:
    """Raises FileFormatError for what is no storage map."""

    def value(v: Any) -> StoredValue:
        return StoredValue(tuple(v["place"]), v.get("means"))

    try:
        if data["format"] != FORMAT:
            raise FileFormatError(f"a storage map of {FORMAT} was expected, found {data['format']!r}", hint="make it anew: phoneworld tasks transfer --storage FILE")
        tables = {
            name: StoredTable(
                tuple(t["place"]), t["key"], {int(row): key for row, key in t["rows"].items()}, frozenset(t["others"]),
                {column: value(v) for column, v in t["columns"].items()},
            )
            for name, t in data["tables"].items()
        }  # fmt: skip
        return StorageMap(tables, {name: value(v) for name, v in data["variables"].items()})
    except (KeyError, TypeError, AttributeError, ValueError) as e:
        raise FileFormatError(f"this is no storage map: {type(e).__name__} {e}", hint="make it anew: phoneworld tasks transfer --storage FILE") from None
