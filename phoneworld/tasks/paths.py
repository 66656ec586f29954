"""JMESPath over states: `$name` stands for a parameter, `number(@)`, `numbers(@)`, `date(@)`, `phone(@)` and `called(@)` read out of what an app shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jmespath  # type: ignore[import-untyped]
from jmespath import functions
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]

from phoneworld.errors import TaskError
from phoneworld.program.expr import Value
from phoneworld.tasks.reading_values import called, day_in, number_in, numbers_in, phone_in

PARAMETER = re.compile(r"\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


class _Functions(functions.Functions):  # type: ignore[misc]
    """What paths can do beside JMESPath's own functions."""

    @functions.signature({"types": ["string", "number", "boolean", "null"]})  # type: ignore[untyped-decorator]
    def _func_number(self, value: Any) -> float | None:
        return number_in(value) if isinstance(value, str) else value

    @functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
    def _func_date(self, value: Any) -> str | None:
        day = day_in(value) if value else None
        return day.isoformat() if day else None

    @functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
    def _func_numbers(self, value: Any) -> list[float]:
        return list(numbers_in(value)) if value else []

    @functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
    def _func_phone(self, value: Any) -> str | None:
        return phone_in(value) if value else None

    @functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
    def _func_called(self, value: Any) -> str | None:
        return called(value) if value else None

    @functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
    def _func_lower(self, value: Any) -> str | None:
        return str(value).lower() if value else None


_OPTIONS = jmespath.Options(custom_functions=_Functions())


class Path:
    """A JMESPath expression, read once. Raises TaskError where the text is none."""

    __slots__ = ("_parsed", "alone", "text", "variables")

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            if not text.strip():
                raise TaskError("an empty path names nothing", hint="for example: length(tables.notes)")
            self._parsed = jmespath.compile(text)
            named = self.variables = frozenset(_variables(self._parsed.parsed))
            """The variables it names: `variables.NAME`."""
            node = self._parsed.parsed
            self.alone = next(iter(named)) if len(named) == 1 and node["type"] == "subexpression" and node["children"][1]["type"] == "field" else None
            """The variable, where the path is nothing but its name: most are, and such need no document."""
        except JMESPathError as e:
            words = next((line.strip() for line in str(e).splitlines() if line.strip()), "no reason given")
            raise TaskError(f"{text!r} is no path: {words}", hint="JMESPath; names with dots, dashes or slashes stand in double quotes") from None

    @property
    def tree(self) -> Mapping[str, Any]:
        """The expression as JMESPath parses it: `type`, `children` and, for some, `value`."""
        tree: Mapping[str, Any] = self._parsed.parsed
        return tree

    def find(self, document: Any) -> Any:
        """What stands there; None where nothing does. Raises TaskError where the path asks for what cannot be worked out."""
        try:
            return self._parsed.search(document, options=_OPTIONS)
        except (JMESPathError, TypeError) as e:  # comparing words with numbers raises a bare TypeError
            raise TaskError(f"{self.text!r} cannot be worked out: {str(e).splitlines()[0]}", hint="compare numbers with numbers: number(price)") from None


def _variables(node: Mapping[str, Any]) -> Iterator[str]:
    children = node.get("children", [])
    if node["type"] == "subexpression" and children[0] == {"type": "field", "children": [], "value": "variables"} and children[1]["type"] == "field":
        yield children[1]["value"]
    for child in children:
        if isinstance(child, Mapping) and "type" in child:
            yield from _variables(child)


def with_parameters(path: str, values: Mapping[str, Value]) -> str:
    """The path with the values of parameters in the place of their names. Raises TaskError for a parameter that is not there."""

    def literal(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise TaskError(f"{path!r} uses ${match[1]}, which is no parameter", hint="parameters are " + (", ".join(values) or "none"))
        return "`" + json.dumps(values[match[1]]).replace("`", "\\u0060") + "`"

    return PARAMETER.sub(literal, path)
