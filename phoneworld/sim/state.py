"""PhoneState: where a running phone is, as an immutable value. Snapshot, restore and fork are assignments.

`state_to_json` and `state_from_json` are exact inverses, so a state can be stored, sent, edited and put back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from immutables import Map

from phoneworld.errors import FileFormatError
from phoneworld.program.expr import Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.effects import next_id, with_ids
from phoneworld.sim.evaluate import Row
from phoneworld.sim.values import Values

NodeEdit = tuple[str, str, str]
"""Screen, node key, attribute."""


@dataclass(frozen=True, slots=True)
class Place:
    """A screen as it was left, on the back stack: the screen and the variables that choose its layout."""

    screen: str
    variables: tuple[tuple[str, Value], ...] = ()


class AppState(NamedTuple):
    """One app.

    `edits` holds what a widget shows instead of what its layout says, with the layout's value at the time of the edit: an
    edit lasts until the layout itself changes that value. `focus` is the node key of the field that has the focus where
    that differs from the layout. `departed` is True from the first step on that the recording did not hold. `next_row` is the id
    of the next new row of each table: ids are never given twice. `timers` holds the milliseconds that are left of those which run.
    """

    screen: str
    variables: Values
    tables: Map[str, tuple[Row, ...]] = Map()
    edits: Map[NodeEdit, tuple[Value, Value]] = Map()
    stack: tuple[Place, ...] = ()
    focus: str | None = None
    running: bool = True
    departed: bool = False
    next_row: Map[str, int] = Map()
    timers: Map[str, int] = Map()


class PhoneState(NamedTuple):
    """The whole phone: its apps, which is in front ("" for the launcher), the clock (Unix ms), the seed, the steps made."""

    apps: Map[str, AppState]
    foreground: str
    clock_ms: int = 0
    seed: int = 0
    steps: int = 0
    recents: tuple[str, ...] = ()


def state_to_json(state: PhoneState) -> dict[str, Any]:
    """The state as JSON, keys sorted: the same state, the same text."""
    return {
        "foreground": state.foreground,
        "clock_ms": state.clock_ms,
        "seed": state.seed,
        "steps": state.steps,
        "recents": list(state.recents),
        "apps": {
            package: {
                "screen": app.screen,
                "variables": dict(sorted(app.variables.items())),
                "tables": {name: [dict(row) for row in rows] for name, rows in sorted(app.tables.items())},
                "edits": [
                    {"screen": s, "node": n, "attribute": a, "over": over, "value": value}
                    for (s, n, a), (over, value) in sorted(app.edits.items())
                ],
                "stack": [{"screen": p.screen, "variables": dict(p.variables)} for p in app.stack],
                "focus": app.focus,
                "running": app.running,
                "departed": app.departed,
                "next_row": dict(sorted(app.next_row.items())),
                "timers": dict(sorted(app.timers.items())),
            }
            for package, app in sorted(state.apps.items())
        },
    }


def state_from_json(obj: Any) -> PhoneState:
    """A state from its JSON. Raises FileFormatError that names the field that does not fit."""
    top = _fields(obj, "state", {"foreground": str, "clock_ms": int, "seed": int, "steps": int, "recents": list, "apps": dict})
    return PhoneState(
        apps=Map({package: _app(app, f"apps.{package}") for package, app in top["apps"].items()}),
        foreground=top["foreground"],
        clock_ms=top["clock_ms"],
        seed=top["seed"],
        steps=top["steps"],
        recents=tuple(_check(p, str, "recents") for p in top["recents"]),
    )


def _app(obj: Any, where: str) -> AppState:
    kinds: dict[str, type | tuple[type, ...]] = {
        "screen": str, "variables": dict, "tables": dict, "edits": list, "stack": list, "focus": (str, type(None)),
        "running": bool, "departed": bool, "next_row": dict, "timers": dict,
    }  # fmt: skip
    app = _fields(obj, where, kinds)
    edits: dict[NodeEdit, tuple[Value, Value]] = {}
    for i, item in enumerate(app["edits"]):
        at = f"{where}.edits[{i}]"
        edit = _fields(item, at, {"screen": str, "node": str, "attribute": str, "over": object, "value": object})
        edits[(edit["screen"], edit["node"], edit["attribute"])] = (_value(edit["over"], at), _value(edit["value"], at))
    tables, next_row = _tables(app["tables"], f"{where}.tables", app["next_row"])
    places = []
    for i, item in enumerate(app["stack"]):
        place = _fields(item, f"{where}.stack[{i}]", {"screen": str, "variables": dict})
        places.append(Place(place["screen"], tuple((k, _value(v, f"{where}.stack[{i}]")) for k, v in place["variables"].items())))
    return AppState(
        screen=app["screen"],
        variables=Values({k: _value(v, f"{where}.variables.{k}") for k, v in app["variables"].items()}),
        tables=Map(tables),
        edits=Map(edits),
        stack=tuple(places),
        focus=app["focus"],
        running=app["running"],
        departed=app["departed"],
        next_row=Map(next_row),
        timers=Map({name: _check(left, int, f"{where}.timers.{name}") for name, left in app["timers"].items()}),
    )


def _tables(obj: dict[str, Any], where: str, given: dict[str, Any]) -> tuple[dict[str, tuple[Row, ...]], dict[str, int]]:
    """The tables, and their next free row ids. A row that was written without an id gets one."""
    tables: dict[str, tuple[Row, ...]] = {}
    next_row = {name: _check(number, int, f"{where}.next_row.{name}") for name, number in given.items()}
    for name, items in obj.items():
        rows: list[Row] = []
        for i, item in enumerate(_check(items, list, f"{where}.{name}")):
            at = f"{where}.{name}[{i}]"
            row: Row = {column: _value(cell, at) for column, cell in _check(item, dict, at).items()}
            if ROW_ID in row:
                _check(row[ROW_ID], int, f"{at}.{ROW_ID}")
            rows.append(row)
        if rows or name in next_row:
            tables[name] = with_ids(rows, max(next_row.get(name, 1), next_id(rows)))
            next_row[name] = max(next_row.get(name, 1), next_id(tables[name]))
        else:
            tables[name] = ()
    return tables, next_row


_HINT = "give it the shape that GET .../state and `phoneworld state get` show"
_JSON_NAMES: Mapping[type, str] = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false", dict: "an object", list: "a list", type(None): "null",
    object: "a value",
}  # fmt: skip
"""What a person who writes JSON calls the types of Python that JSON is read as."""


def _fields(obj: Any, where: str, kinds: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    given: dict[str, Any] = _check(obj, dict, where)
    if set(given) != set(kinds):
        odd = sorted(set(given) ^ set(kinds))
        raise FileFormatError(f"{where}: its fields are {', '.join(kinds)}; {', '.join(odd)} is missing or surplus", hint=_HINT)
    return {name: _check(given[name], kind, f"{where}.{name}") for name, kind in kinds.items()}


def _check(obj: Any, kind: type | tuple[type, ...], where: str) -> Any:
    if not isinstance(obj, kind) or (kind is int and isinstance(obj, bool)):
        names = " or ".join(_JSON_NAMES[k] for k in ((kind,) if isinstance(kind, type) else kind))
        raise FileFormatError(f"{where}: expected {names}, found {_JSON_NAMES[type(obj)]}", hint=_HINT)
    return obj


def _value(obj: Any, where: str) -> Value:
    if obj is not None and not isinstance(obj, str | int | float | bool):
        raise FileFormatError(f"{where}: expected text, a number, true, false or null, found {_JSON_NAMES[type(obj)]}", hint="values are JSON scalars")
    value: Value = obj
    return value
