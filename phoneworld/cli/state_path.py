"""Places in the state of a phone, named by JMESPath: what stands there, and the merge patch that puts something else there. Pure.

A path starts at a field of the state (`clock_ms`, `apps`), or shorter at a table or a variable of the app in front:
`notes[?title=='Milk'].done`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import jmespath  # type: ignore[import-untyped]
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]
from jmespath.parser import ParsedResult  # type: ignore[import-untyped]

from phoneworld.errors import OptionError

Key = str | int
_NAMED = 8
Place = tuple[Key, ...]


class StatePathError(OptionError):
    """A path that is none, names nothing, or names what cannot be set."""


@dataclass(frozen=True, slots=True)
class Change:
    """A place of the state as it was named and from the root, and what stood there."""

    words: str
    place: Place
    before: Any


def read(state: dict[str, Any], path: str) -> Any:
    """What a JMESPath expression gives on the state; None where a null stands there.

    Raises StatePathError where it is no expression, or names what is not there.
    """
    root = _root(state)
    try:
        parsed = _parsed(path)
        found = parsed.search(root)
        gap = _gap(parsed.parsed, root, (), path) if found is None or found == [] else None
        if gap is not None:
            raise _nothing_there(root, path, gap)
        # jmespath 1.1 ends `apps.*` after one more name: `apps.*.variables.dark` gives null, whatever stands there.
        rows = _named(parsed.parsed, root, path) if found is None and ".*." in path else []
    except JMESPathError as e:
        raise _no_path(path, e) from None
    return rows or found


def changes(state: dict[str, Any], path: str, text: str) -> tuple[dict[str, Any], tuple[Change, ...]]:
    """The merge patch that puts a value at every place a path names, and these places.

    `text` is JSON, or else words; where words stand now it is words as it is, unless it is a JSON string. Raises
    StatePathError where the path names nothing, or computes instead of naming (functions, slices, lists made anew).
    """
    root = _root(state)
    try:
        parsed = _parsed(path).parsed
        found = list(_places(parsed, root, (), path))
        gap = None if found else _gap(parsed, root, (), path)
    except JMESPathError as e:
        raise _no_path(path, e) from None
    if gap is not None:
        raise _nothing_there(root, path, gap)
    if not found:
        raise StatePathError(f"there is nothing at {path!r}: no row is as it says", hint="`phoneworld state get` shows all that there is")
    patch: dict[str, Any] = {}
    told = []
    for short, before in found:
        place = _whole(state, short)
        _put(patch, state, place, _value(text, before))
        told.append(Change(_words(short), place, before))
    return patch, tuple(told)


def _named(node: dict[str, Any], root: Any, path: str) -> list[Any]:
    """What stands at the places that a path names, but for nulls; nothing where it computes."""
    with suppress(StatePathError):
        return [value for _, value in _places(node, root, (), path) if value is not None]
    return []


def value_at(state: Any, place: Place) -> Any:
    """What stands at a place, None where it is not there."""
    for key in place:
        try:
            state = state[key]
        except (KeyError, IndexError, TypeError):
            return None
    return state


def _parsed(path: str) -> Any:
    if not path.strip():
        raise StatePathError("an empty path names nothing", hint="for example: phoneworld state get clock_ms")
    return jmespath.compile(path)


def _no_path(path: str, error: Exception) -> StatePathError:
    words = next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
    return StatePathError(f"{path!r} is no path: {words}", hint="JMESPath, for example: notes[?title=='Milk'].done; a name with dots or dashes stands in double quotes: \"s1.notes\"[0]")


def _front(state: dict[str, Any]) -> dict[str, Any]:
    app: dict[str, Any] = state["apps"].get(state["foreground"], {})
    return app


def _root(state: dict[str, Any]) -> dict[str, Any]:
    """The state with tables and variables of the app in front within reach; its own fields win."""
    front = _front(state)
    return {**front.get("variables", {}), **front.get("tables", {}), **state}


def _whole(state: dict[str, Any], place: Place) -> Place:
    """The place from the root of the state itself."""
    first = place[0] if place else ""
    if first in state:
        return place
    section = "tables" if first in _front(state).get("tables", {}) else "variables"
    return ("apps", state["foreground"], section, *place)


def _places(node: dict[str, Any], value: Any, at: Place, path: str) -> Iterator[tuple[Place, Any]]:
    """Where a parsed expression leads from a value, each place with what stands there."""
    children = node.get("children", [])
    match node["type"]:
        case "identity" | "current":
            yield at, value
        case "field":
            if isinstance(value, dict) and node["value"] in value:
                yield (*at, node["value"]), value[node["value"]]
        case "index":
            if isinstance(value, list) and -len(value) <= node["value"] < len(value):
                index = node["value"] % len(value)
                yield (*at, index), value[index]
        case "subexpression" | "index_expression":
            found = [(at, value)]
            for child in children:
                found = [step for place, here in found for step in _places(child, here, place, path)]
            yield from found
        case "projection" | "filter_projection" | "value_projection":
            for place, here in _places(children[0], value, at, path):
                for row, item in _rows(here, place):
                    if isinstance(here, dict) is not (node["type"] == "value_projection"):
                        continue
                    if node["type"] != "filter_projection" or ParsedResult(path, children[2]).search(item):
                        yield from _places(children[1], item, row, path)
        case _:
            raise StatePathError(f"{path!r} computes something: it can be read, not set", hint="name fields, [N], [*] or [?field=='words']")


@dataclass(frozen=True, slots=True)
class _Gap:
    """Where a path leaves what there is: the place it reached, what stands there, and the name or number that is not in it."""

    at: Place
    value: Any
    key: Key


def _gap(node: dict[str, Any], value: Any, at: Place, path: str) -> _Gap | None:
    """The first step of a parsed expression that leads nowhere from a value. None where each leads on: to a null, or to no rows.

    Of several rows it is enough that one leads on. What computes is not looked into.
    """
    children = node.get("children", [])
    match node["type"]:
        case "field" if value is not None and not (isinstance(value, dict) and node["value"] in value):
            return _Gap(at, value, node["value"])
        case "index" if value is not None and not (isinstance(value, list) and -len(value) <= node["value"] < len(value)):
            return _Gap(at, value, node["value"])
        case "subexpression" | "index_expression" | "pipe":
            here = [(at, value)]
            for child in children:
                gaps = [_gap(child, found, place, path) for place, found in here]
                if gaps and all(gaps):
                    return gaps[0]
                if child["type"] not in _NAMING:
                    return None
                here = [step for place, found in here for step in _places(child, found, place, path)]
        case "projection" | "filter_projection" | "value_projection":
            if (gap := _gap(children[0], value, at, path)) is not None:
                return gap
            rows = [row for place, found in _places(children[0], value, at, path) for row in _rows(found, place)]
            if node["type"] == "filter_projection":
                for name in _fields(children[2]):
                    if rows and not any(isinstance(row, dict) and name in row for _, row in rows):
                        return _Gap(rows[0][0], rows[0][1], name)
                rows = [(place, row) for place, row in rows if ParsedResult(path, children[2]).search(row)]
            gaps = [_gap(children[1], row, place, path) for place, row in rows]
            return gaps[0] if gaps and all(gaps) else None
        case "flatten":
            return _gap(children[0], value, at, path)
    return None


_NAMING = frozenset({"identity", "current", "field", "index", "subexpression", "index_expression", "projection", "filter_projection", "value_projection"})
"""The kinds of expression that name places, in the words of jmespath's parser; all others compute."""


def _rows(value: Any, at: Place) -> list[tuple[Place, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [((*at, key), item) for key, item in items]


def _fields(condition: dict[str, Any]) -> list[str]:
    """The fields of a row that a condition on rows speaks of."""
    if condition["type"] == "field":
        return [condition["value"]]
    children = condition.get("children", [])
    return [name for child in (children[:1] if condition["type"] == "subexpression" else children) for name in _fields(child)]


def _nothing_there(root: dict[str, Any], path: str, gap: _Gap) -> StatePathError:
    """The error that says how far a path leads, and what there is near it."""
    where = _words(gap.at) or "the state"
    match gap.value:
        case dict() as fields:
            said, near = f"{where} has no {str(gap.key)!r}", get_close_matches(str(gap.key), map(str, fields), 3)
            if not gap.at and (quoted := next((name for name in fields if path.startswith(name) and not name.isidentifier()), None)):
                hint = f"a name with dots or dashes stands in double quotes: '\"{quoted}\"{path.removeprefix(quoted)}'"
            elif near:
                hint = f"did you mean {' or '.join(_quoted(name) for name in near)}?"
            else:
                hint = "there are: " + ", ".join(_quoted(str(name)) for name in list(fields)[:_NAMED]) + (", …" if len(fields) > _NAMED else "")
        case list() as rows:
            said = f"{where} is a list of {len(rows)}" if isinstance(gap.key, int) else f"{where} is a list, which has no {str(gap.key)!r}"
            hint = f"name its rows: {where}[N], {where}[*] or {where}[?field=='words']; numbers start at 0" if rows else "it is empty"
        case _:
            said, hint = f"{where} is {json.dumps(gap.value, ensure_ascii=False)[:40]}, in which nothing lies", f"phoneworld state get '{where}'"
    return StatePathError(f"there is nothing at {path!r}: {said}", hint=hint)


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f"'\"{name}\"'"


def _value(text: str, before: Any) -> Any:
    if isinstance(before, str) and not text.startswith('"'):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _put(patch: dict[str, Any], state: dict[str, Any], place: Place, value: Any) -> None:
    """Adds one value to a merge patch. A list is patched whole, as such patches have it."""
    here, original = patch, state
    for depth, key in enumerate(place):
        assert isinstance(key, str)
        if depth == len(place) - 1:
            here[key] = value
            return
        if isinstance(original[key], list):
            here.setdefault(key, _copied(original[key]))
            _put_in(here[key], place[depth + 1 :], value)
            return
        here, original = here.setdefault(key, {}), original[key]


def _put_in(target: Any, place: Place, value: Any) -> None:
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(v) for v in value]
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _words(place: Place) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")
