"""YAML with the line of everything in it, so that what is wrong in a file is told where it stands. Pure: text in, entries out.

Only what JSON has is read as anything but words: no dates, no `yes`, `no`, `on`, `off`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]

from phoneworld.errors import FileFormatError
from phoneworld.program.expr import Value

_DEEPEST, _MOST = 64, 200_000


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Scalars as JSON has them."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag.rpartition(":")[2] in ("int", "float", "null")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), ["t", "f"])


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a file: what it is, where it stands."""

    value: Value | tuple[Entry, ...] | Mapping[str, Entry]
    file: str
    line: int
    where: str

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    def wrong(self, expected: str, hint: str = "") -> NoReturn:
        """Raises FileFormatError: what was expected here, what was found, where."""
        raise FileFormatError(f"{self.file}:{self.line}: {self.where}: expected {expected}, found {self.kind}", hint=hint)

    @property
    def kind(self) -> str:
        """What it is, in words."""
        match self.value:
            case None:
                return "nothing"
            case bool():
                return "true" if self.value else "false"
            case str():
                return repr(self.value if len(self.value) <= 40 else self.value[:39] + "…")
            case tuple():
                return "a list"
            case int() | float():
                return str(self.value)
            case _:
                return "a mapping of " + (", ".join(self.value) or "nothing")

    def fields(self, *, needs: tuple[str, ...] = (), may: tuple[str, ...] = ()) -> Mapping[str, Entry]:
        """A mapping with these fields and no others."""
        given = self.mapping()
        known = (*needs, *may)
        for name, entry in given.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                raise FileFormatError(f"{entry.file}:{entry.line}: {self.where} has no field {name!r}", hint=f"did you mean {near[0]}?" if near else "its fields are " + ", ".join(known))
        for name in needs:
            if name not in given:
                raise FileFormatError(f"{self.file}:{self.line}: {self.where} lacks {name}", hint="its fields are " + ", ".join(known))
        return given

    def mapping(self) -> Mapping[str, Entry]:
        """A mapping with fields of any name."""
        if not isinstance(self.value, Mapping):
            self.wrong("a mapping")
        return self.value

    def items(self) -> tuple[Entry, ...]:
        """A list."""
        if not isinstance(self.value, tuple):
            self.wrong("a list")
        return self.value

    def text(self) -> str:
        """Words."""
        if not isinstance(self.value, str):
            self.wrong("text", "put it in quotes" if isinstance(self.value, int | float) else "")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts; one text is a list of one."""
        return (self.value,) if isinstance(self.value, str) else tuple(item.text() for item in self.items())

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.wrong("true or false")
        return self.value

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not low <= self.value <= high:
            self.wrong(f"a whole number from {low} to {high}")
        return self.value

    def number(self) -> float:
        """A number."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            self.wrong("a number")
        return self.value

    def scalar(self) -> Value:
        """Words, a number, true, false or nothing."""
        if isinstance(self.value, tuple | Mapping):
            self.wrong("a single value", "words, a number, true, false or null")
        return self.value

    def plain(self) -> Any:
        """What stands here as JSON has it."""
        if isinstance(self.value, tuple):
            return [entry.plain() for entry in self.value]
        if isinstance(self.value, Mapping):
            return {name: entry.plain() for name, entry in self.value.items()}
        return self.value


def read_marked(text: str, file: str) -> Entry:
    """The entries of a YAML text. Raises FileFormatError, with file and line, where it is none."""
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise FileFormatError(f"{file}:1: the file is empty", hint="write something into it, or remove it")
        return _Reader(loader, file).entry(node, "the file", 0)
    except yaml.MarkedYAMLError as e:
        line = (e.problem_mark or e.context_mark).line + 1 if e.problem_mark or e.context_mark else 1
        raise FileFormatError(f"{file}:{line}: not YAML: {e.problem or e.context}", hint="look at the indentation and the quotes of that line") from None
    except (yaml.YAMLError, RecursionError, ValueError) as e:
        raise FileFormatError(f"{file}: not YAML: {str(e).splitlines()[0]}", hint="save it as UTF-8 without control characters") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Reader:
    def __init__(self, loader: Any, file: str) -> None:
        self._loader = loader
        self._file = file
        self._read = 0

    def entry(self, node: Any, where: str, depth: int) -> Entry:
        line = node.start_mark.line + 1
        self._read += 1
        if depth > _DEEPEST or self._read > _MOST:
            raise FileFormatError(f"{self._file}:{line}: nested deeper than {_DEEPEST} levels, or more than {_MOST} values", hint="split the file")
        if isinstance(node, yaml.MappingNode):
            return Entry(dict(self._members(node, where, depth)), self._file, line, where)
        if isinstance(node, yaml.SequenceNode):
            items = tuple(self.entry(child, f"{where}[{i}]", depth + 1) for i, child in enumerate(node.value))
            return Entry(items, self._file, line, where)
        value = self._loader.construct_object(node)
        if value is not None and not isinstance(value, str | int | float | bool):
            raise FileFormatError(f"{self._file}:{line}: {where}: a value of a kind that JSON does not have", hint="use text, numbers, true, false, lists and mappings")
        return Entry(value, self._file, line, where)

    def _members(self, node: Any, where: str, depth: int) -> Iterator[tuple[str, Entry]]:
        seen: set[str] = set()
        for key, child in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise FileFormatError(f"{self._file}:{line}: {where}: a name that is no text", hint="names are words; put them in quotes")
            name = key.value
            if name in seen:
                raise FileFormatError(f"{self._file}:{line}: {where} has {name!r} twice", hint="keep one of them")
            seen.add(name)
            yield name, self.entry(child, name if where == "the file" else f"{where}.{name}", depth + 1)
