"""Program parts to JSON and back, by their types. Knows the shape of dataclasses and unions, and nothing of what they mean.

A member of a union is written with its class name under "op", so that a reader needs no context. Trees are not written here:
`bundle.py` stores them beside the program and passes them by hash.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, Literal, get_args, get_origin

from phoneworld.errors import FileFormatError
from phoneworld.ui.node import Hierarchy

Json = Any


def encode(value: Any, tree: Callable[[Hierarchy], str]) -> Json:
    """JSON of a value; fields that hold their default are left out. `tree` stores a tree and names it."""
    if isinstance(value, Hierarchy):
        return tree(value)
    if is_dataclass(value):
        out = {"op": type(value).__name__} if type(value).__name__ in _union_names() else {}
        for field in fields(value):
            item = getattr(value, field.name)
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            if item != default:
                out[field.name] = encode(item, tree)
        return out
    if isinstance(value, Mapping):
        return {k: encode(v, tree) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [encode(v, tree) for v in value]
    return value


def decode(kind: Any, obj: Json, tree: Callable[[str], Hierarchy], where: str = "program") -> Any:
    """A value of type `kind` from JSON. Raises FileFormatError that says where the JSON does not fit."""
    if kind is Hierarchy:
        return tree(_as(str, obj, where))
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        if obj not in args:
            _refuse(where, "one of " + ", ".join(map(str, args)), obj)
        return obj
    if origin in (typing.Union, types.UnionType):
        return _decode_union(args, obj, tree, where)
    if origin is tuple:
        items = _as(list, obj, where)
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(decode(args[0], item, tree, f"{where}[{i}]") for i, item in enumerate(items))
        if len(items) != len(args):
            _refuse(where, f"{len(args)} items", items)
        return tuple(decode(a, item, tree, f"{where}[{i}]") for i, (a, item) in enumerate(zip(args, items, strict=True)))
    if origin is Mapping or origin is dict:
        return {k: decode(args[1], v, tree, f"{where}.{k}") for k, v in _as(dict, obj, where).items()}
    if is_dataclass(kind):
        return _decode_dataclass(kind, obj, tree, where)
    if kind is float and type(obj) is int:
        return float(obj)
    return _as(kind, obj, where)


def _decode_dataclass(kind: Any, obj: Json, tree: Callable[[str], Hierarchy], where: str) -> Any:
    given = dict(_as(dict, obj, where))
    given.pop("op", None)
    hints = _hints(kind)
    if surplus := sorted(set(given) - set(hints)):
        _refuse(where, "fields " + ", ".join(hints), surplus)
    values = {name: decode(hints[name], item, tree, f"{where}.{name}") for name, item in given.items()}
    try:
        return kind(**values)
    except TypeError as e:
        raise FileFormatError(f"{where}: {e}", hint="build the bundle again from its graph") from None


def _decode_union(args: tuple[Any, ...], obj: Json, tree: Callable[[str], Hierarchy], where: str) -> Any:
    if isinstance(obj, dict) and "op" in obj:
        for member in args:
            if getattr(member, "__name__", "") == obj["op"]:
                return _decode_dataclass(member, obj, tree, where)
        _refuse(where, "op among " + ", ".join(getattr(a, "__name__", str(a)) for a in args), obj["op"])
    if obj is None or isinstance(obj, str | int | float | bool):
        plain = next((member for member in args if getattr(member, "__name__", "") == "Const"), None)
        if plain is not None:
            return plain(obj)  # among expressions a plain value stands for itself
    for member in args:
        if member is type(None):
            if obj is None:
                return None
        elif isinstance(member, type) and not is_dataclass(member):
            if type(obj) is member:
                return obj
        elif not isinstance(obj, str | int | float | bool | None):
            return decode(member, obj, tree, where)
    _refuse(where, "a value of its type", obj)


def _as(kind: type, obj: Json, where: str) -> Any:
    if type(obj) is not kind:
        _refuse(where, kind.__name__, obj)
    return obj


def _refuse(where: str, expected: str, found: Any) -> typing.NoReturn:
    raise FileFormatError(f"{where}: expected {expected}, found {str(found)[:60]!r}", hint="build the bundle again from its graph")


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@lru_cache(maxsize=1)
def _union_names() -> frozenset[str]:
    from phoneworld.program.effect import Effect
    from phoneworld.program.expr import Expr
    from phoneworld.program.placement import Extent, Position
    from phoneworld.program.template import Part

    return frozenset(member.__name__ for union in (Expr, Effect, Part, Position, Extent) for member in get_args(union))
