"""Places in the state of a phone, named by JMESPath: what stands there, and the merge patch that puts something else there. Pure.

A path starts at a field of the state (`clock_ms`, `apps`), or shorter at a table or a variable of the app in front:
`notes[?title=='Milk'].done`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jmespath  # type: ignore[import-untyped]
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]
from jmespath.parser import ParsedResult  # type: ignore[import-untyped]

from phoneworld.errors import OptionError

Key = str | int
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
    """What a JMESPath expression gives on the state. Raises StatePathError where it is no expression."""
    try:
        return _parsed(path).search(_root(state))
    except JMESPathError as e:
        raise _no_path(path, e) from None


def changes(state: dict[str, Any], path: str, text: str) -> tuple[dict[str, Any], tuple[Change, ...]]:
    """The merge patch that puts a value at every place a path names, and these places.

    `text` is JSON, or else words; where words stand now it is words as it is, unless it is a JSON string. Raises
    StatePathError where the path names nothing, or computes instead of naming (functions, slices, lists made anew).
    """
    root = _root(state)
    try:
        found = list(_places(_parsed(path).parsed, root, (), path))
    except JMESPathError as e:
        raise _no_path(path, e) from None
    if not found:
        raise StatePathError(f"there is nothing at {path!r} in the state", hint="`phoneworld state get` shows all that there is; a name with dots or dashes stands in double quotes: '\"s1.search.text\"'")
    patch: dict[str, Any] = {}
    told = []
    for short, before in found:
        place = _whole(state, short)
        _put(patch, state, place, _value(text, before))
        told.append(Change(_words(short), place, before))
    return patch, tuple(told)


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
                items = here.items() if isinstance(here, dict) and node["type"] == "value_projection" else enumerate(here) if isinstance(here, list) else ()
                for key, item in items:
                    if node["type"] != "filter_projection" or ParsedResult(path, children[2]).search(item):
                        yield from _places(children[1], item, (*place, key), path)
        case _:
            raise StatePathError(f"{path!r} computes something: it can be read, not set", hint="name fields, [N], [*] or [?field=='words']")


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
