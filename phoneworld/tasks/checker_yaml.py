"""Checkers in YAML, both ways. `reading.py` and `writing.py` hold what else a task file has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, assert_never

from phoneworld.errors import FileFormatError, TaskError
from phoneworld.program.expr import Value
from phoneworld.program.marked import Entry
from phoneworld.tasks.checker import (
    ANSWER_KINDS,
    OPERATORS,
    AllOf,
    Answer,
    AnyOf,
    Cells,
    Checker,
    Comparison,
    Custom,
    Data,
    InApp,
    InOrder,
    Never,
    NotSo,
    RowChange,
    Rows,
    Sql,
    State,
    Visible,
    Visited,
)
from phoneworld.tasks.paths import PARAMETER, Path

KINDS = ("state", "sql", "rows", "answer", "visible", "visited", "never", "all", "any", "not", "in_order", "in_app", "custom")


def read_checker(entry: Entry) -> Checker:
    """A checker: a mapping with one of `KINDS`; a list is all of its parts. Raises FileFormatError with the line."""
    checker = _read(entry)
    return checker if checker.place else replace(checker, place=entry.place)


def _read(entry: Entry) -> Checker:
    if isinstance(entry.value, tuple):
        return AllOf(_parts(entry))
    given = entry.fields(may=KINDS)
    if len(given) != 1:
        entry.wrong("one checker", "put several under `all:`")
    kind, inner = next(iter(given.items()))
    match kind:
        case "state":
            states = tuple(State(_path(name, found), read_comparison(found), place=found.place) for name, found in inner.mapping().items())
            return states[0] if len(states) == 1 else AllOf(states) if states else inner.wrong("a path and what it is")
        case "sql":
            fields = inner.fields(needs=("query",), may=OPERATORS)
            return Sql(fields["query"].text(), _operator(inner, "query"))
        case "rows":
            return _rows(inner)
        case "answer":
            return _answer(inner)
        case "visible":
            return _visible(inner)
        case "visited":
            return Visited(inner.texts())
        case "never":
            return Never(read_checker(inner))
        case "not":
            return NotSo(read_checker(inner))
        case "all":
            return AllOf(_parts(inner))
        case "any":
            return AnyOf(_parts(inner))
        case "in_order":
            return InOrder(_parts(inner))
        case "in_app":
            fields = inner.fields(needs=("app", "holds"))
            return InApp(fields["app"].text(), read_checker(fields["holds"]))
        case _:
            fields = inner.fields(needs=("name",), may=("arguments",))
            arguments = fields["arguments"].mapping().items() if "arguments" in fields else ()
            return Custom(fields["name"].text(), tuple((name, found.scalar()) for name, found in arguments))


def _parts(entry: Entry) -> tuple[Checker, ...]:
    if not entry.items():
        entry.wrong("at least one checker")
    return tuple(map(read_checker, entry.items()))


def _path(text: str, entry: Entry) -> str:
    try:
        Path(PARAMETER.sub("`0`", text))
    except TaskError as e:
        raise FileFormatError(f"{entry.place}: {entry.where}: {e.message}", hint=e.hint) from None
    return text


def read_comparison(entry: Entry) -> Comparison:
    """A value alone, that it is so; or a mapping with one of the operators."""
    return _operator(entry) if not isinstance(entry.value, str | int | float | tuple | None) else Comparison("is", read_data(entry))


def _operator(entry: Entry, *beside: str) -> Comparison:
    given = entry.fields(may=(*beside, *OPERATORS))
    named = [op for op in OPERATORS if op in given]
    if len(named) != 1:
        entry.wrong("one of " + ", ".join(OPERATORS))
    value = read_data(given[named[0]])
    if named[0] == "one_of" and not isinstance(value, tuple):
        given[named[0]].wrong("a list")
    return Comparison(named[0], value)


def read_data(entry: Entry) -> Data:
    """A value or a list of such."""
    return tuple(map(read_data, entry.items())) if isinstance(entry.value, tuple) else entry.scalar()


def _cells(entry: Entry) -> Cells:
    return tuple((name, read_comparison(found)) for name, found in entry.mapping().items())


def _rows(entry: Entry) -> Rows:
    fields = entry.fields(needs=("table",), may=("added", "changed", "deleted"))
    changed = []
    for item in fields["changed"].items() if "changed" in fields else ():
        change = item.fields(needs=("where", "to"), may=("free",))
        changed.append(RowChange(_cells(change["where"]), _cells(change["to"]), change["free"].texts() if "free" in change else ()))
    added, deleted = (tuple(map(_cells, fields[name].items())) if name in fields else () for name in ("added", "deleted"))
    if not (added or changed or deleted):
        entry.wrong("rows that are added, changed or deleted")
    return Rows(fields["table"].text(), added, tuple(changed), deleted)


def _answer(entry: Entry) -> Answer:
    fields = entry.fields(may=(*ANSWER_KINDS, "tolerance", "unit", "among", "also"))
    kinds = [kind for kind in ANSWER_KINDS if kind in fields]
    if len(kinds) != 1:
        entry.wrong("one of " + ", ".join(ANSWER_KINDS))
    kind = kinds[0]
    value = read_data(fields[kind])
    if value in ("", None, ()):
        fields[kind].wrong("what the answer is", "an empty answer would be answered by anything")
    return Answer(
        kind,
        value,
        fields["tolerance"].number() if "tolerance" in fields else 0.0,
        fields["unit"].text() if "unit" in fields else "",
        fields["among"].texts() if "among" in fields else (),
        fields["also"].texts() if "also" in fields else (),
    )


def _visible(entry: Entry) -> Visible:
    fields = entry.fields(may=("text", "description", "id", "class", "shows", "says", "checked"))
    if not fields:
        entry.wrong("what is to be seen")
    texts = {name: fields[name].text() for name in ("text", "description", "id", "shows", "says") if name in fields}
    class_name = fields["class"].text() if "class" in fields else None
    return Visible(**texts, class_name=class_name, checked=fields["checked"].flag() if "checked" in fields else None)


def write_checker(checker: Checker) -> dict[str, Any]:
    """As YAML has it; `read_checker` gives it back."""
    match checker:
        case State(path, comparison):
            return {"state": {path: write_comparison(comparison)}}
        case Sql(query, comparison, _):
            return {"sql": {"query": query, comparison.op: write_data(comparison.value)}}
        case Rows(table, added, changed, deleted):
            out: dict[str, Any] = {"table": table}
            if added:
                out["added"] = list(map(_written, added))
            if changed:
                out["changed"] = [{"where": _written(c.where), "to": _written(c.to)} | ({"free": list(c.free)} if c.free else {}) for c in changed]
            if deleted:
                out["deleted"] = list(map(_written, deleted))
            return {"rows": out}
        case Answer():
            more = {"tolerance": checker.tolerance, "unit": checker.unit, "among": list(checker.among), "also": list(checker.also)}
            return {"answer": {checker.kind: write_data(checker.value)} | {name: value for name, value in more.items() if value}}
        case Visible():
            fields = {
                "text": checker.text, "description": checker.description, "id": checker.id, "class": checker.class_name,
                "shows": checker.shows, "says": checker.says, "checked": checker.checked,
            }  # fmt: skip
            return {"visible": {name: value for name, value in fields.items() if value is not None}}
        case Visited(screens):
            return {"visited": list(screens)}
        case Never(what):
            return {"never": write_checker(what)}
        case NotSo(what):
            return {"not": write_checker(what)}
        case AllOf(parts):
            return {"all": list(map(write_checker, parts))}
        case AnyOf(parts):
            return {"any": list(map(write_checker, parts))}
        case InOrder(parts):
            return {"in_order": list(map(write_checker, parts))}
        case InApp(app, what):
            return {"in_app": {"app": app, "holds": write_checker(what)}}
        case Custom(name, arguments):
            return {"custom": {"name": name} | ({"arguments": dict(arguments)} if arguments else {})}
        case _:
            assert_never(checker)


def write_comparison(comparison: Comparison) -> Any:
    """A value alone where it `is` so, else the operator and the value."""
    value = write_data(comparison.value)
    return value if comparison.op == "is" else {comparison.op: value}


def write_data(value: Data) -> Any:
    """Tuples as lists."""
    return list(map(write_data, value)) if isinstance(value, tuple) else value


def _written(cells: Cells) -> dict[str, Any]:
    return {name: write_comparison(comparison) for name, comparison in cells}


def scalars(entry: Entry) -> tuple[tuple[str, Value], ...]:
    """A mapping of names to single values."""
    return tuple((name, found.scalar()) for name, found in entry.mapping().items())
