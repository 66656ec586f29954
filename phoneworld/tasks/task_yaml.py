"""Task files: YAML text to tasks and back. Raises FileFormatError with the line of what is wrong.

    names:                                       # what the Program's tables, variables and screens are called here
      tables: {notes: {is: s1.notes, columns: {title: "note-#/TextView[0].text"}}}
    tasks:
    - id: notes/delete-v1
      say: {en: ["Delete the note “{note.title}”."], zh: ["删除笔记“{note.title}”。"]}
      parameters: {note: {row: notes}}
      check: {rows: {table: notes, deleted: [{"#": "{note.row}"}]}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never, get_args

import yaml  # type: ignore[import-untyped]

from phoneworld.errors import ActionError, FileFormatError, TaskError
from phoneworld.program.expr import Value
from phoneworld.program.marked import Entry, read_marked
from phoneworld.tasks.checker import (
    Unchanged,
    bound,
    parameters_in,
)  # fmt: skip
from phoneworld.tasks.checker_yaml import read_checker, scalars, write_checker
from phoneworld.tasks.names import Names, TableName
from phoneworld.tasks.paths import PARAMETER
from phoneworld.tasks.task import (
    TASK_ID,
    WEEKDAYS,
    Category,
    Day,
    Found,
    OneOf,
    OtherApp,
    Parameter,
    RowOf,
    Seen,
    Start,
    Tags,
    Task,
    Whole,
)
from phoneworld.ui.action import action_from_json, action_to_json

_TASK = ("parameters", "start", "unchanged", "budget", "tags", "look", "on_phone", "package")
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "row": ("where", "unlike", "app"), "one_of": (), "seen": (), "whole": (), "day": ("weekday", "form"), "find": (),
}  # fmt: skip


def loads(text: str, file: str = "tasks.yaml") -> tuple[Task, ...]:
    """The tasks of a file's text."""
    top = read_marked(text, file).fields(needs=("tasks",), may=("names", "apps"))
    names = _names(top["names"]) if "names" in top else Names()
    apps = {name: _other(entry) for name, entry in top["apps"].mapping().items()} if "apps" in top else {}
    tasks = tuple(_task(entry, names, apps) for entry in top["tasks"].items())
    seen: set[str] = set()
    for entry, task in zip(top["tasks"].items(), tasks, strict=True):
        if task.id in seen:
            raise FileFormatError(f"{file}:{entry.line}: there is a task {task.id} already", hint="give it another name, or raise its version")
        seen.add(task.id)
    return tasks


def _places(fields: Mapping[str, Entry], deep: int = 3) -> dict[str, str]:
    """File and line of each part, by the names on the way to it: `start.variables.dark`."""
    places: dict[str, str] = {}
    for name, entry in fields.items():
        places[name] = entry.place
        if deep > 1 and isinstance(entry.value, Mapping):
            places |= {f"{name}.{inner}": place for inner, place in _places(entry.value, deep - 1).items()}
    return places


def _names(entry: Entry) -> Names:
    fields = entry.fields(may=("tables", "variables", "screens"))
    tables: dict[str, TableName] = {}
    for name, found in fields["tables"].mapping().items() if "tables" in fields else ():
        of = found.fields(needs=("is",), may=("columns",))
        columns = of["columns"].mapping().items() if "columns" in of else ()
        tables[name] = TableName(of["is"].text(), {short: column.text() for short, column in columns})
    plain = [
        {name: found.text() for name, found in (fields[kind].mapping().items() if kind in fields else ())} for kind in ("variables", "screens")
    ]
    return Names(tables, plain[0], plain[1], _places(fields, 4))


def _other(entry: Entry) -> OtherApp:
    fields = entry.fields(needs=("package",), may=("names",))
    return OtherApp(fields["package"].text(), _names(fields["names"]) if "names" in fields else Names())


def _task(entry: Entry, names: Names, apps: Mapping[str, OtherApp]) -> Task:
    fields = entry.fields(needs=("id", "say", "check"), may=_TASK)
    if not TASK_ID.fullmatch(fields["id"].text()):
        fields["id"].wrong("an id such as notes/delete-v1", "app, slash, name in lower case, -v and a number")
    wordings = {language: found.texts() for language, found in fields["say"].mapping().items()}
    if not wordings or not all(wordings.values()) or not all(w.strip() for ways in wordings.values() for w in ways):
        fields["say"].wrong("at least one wording", 'for example en: ["Delete the note “{note.title}”."]')
    task = Task(
        fields["id"].text(),
        wordings,
        read_checker(fields["check"]),
        {name: _parameter(found) for name, found in fields["parameters"].mapping().items()} if "parameters" in fields else {},
        _start(fields["start"]) if "start" in fields else Start(),
        _unchanged(fields["unchanged"]) if "unchanged" in fields else Unchanged(),
        fields["budget"].whole(1, 1000) if "budget" in fields else 30,
        _tags(fields["tags"]) if "tags" in fields else Tags(),
        names,
        read_checker(fields["look"]) if "look" in fields else None,
        read_checker(fields["on_phone"]) if "on_phone" in fields else None,
        fields["package"].text() if "package" in fields else "",
        apps,
        {"": entry.place, **_places(fields)},
    )
    _check_parameters(task, fields)
    return task


def _parameter(entry: Entry) -> Parameter:
    given = entry.fields(may=(*_PARAMETERS, *(name for more in _PARAMETERS.values() for name in more)))
    kinds = [kind for kind in _PARAMETERS if kind in given]
    if len(kinds) != 1:
        entry.wrong("one of " + ", ".join(_PARAMETERS))
    kind = kinds[0]
    entry.fields(needs=(kind,), may=_PARAMETERS[kind])
    inner = given[kind]
    match kind:
        case "row":
            where, app = (given[name].text() if name in given else "" for name in ("where", "app"))
            return RowOf(inner.text(), where, given["unlike"].texts() if "unlike" in given else (), app)
        case "one_of":
            return OneOf(tuple(item.scalar() for item in inner.items()) or inner.wrong("at least one value"))
        case "seen":
            return Seen(inner.text())
        case "whole":
            return Whole(*_range(inner))
        case "day":
            weekday = given["weekday"].text().lower() if "weekday" in given else ""
            if weekday and weekday not in WEEKDAYS:
                given["weekday"].wrong("one of " + ", ".join(WEEKDAYS))
            return Day(_range(inner), weekday, given["form"].text() if "form" in given else "YYYY-MM-DD")
        case _:
            return Found(inner.text())


def _range(entry: Entry) -> tuple[int, int]:
    ends = [item.whole(-1_000_000, 1_000_000) for item in entry.items()]
    if len(ends) != 2 or ends[0] > ends[1]:
        entry.wrong("[lowest, highest]")
    return ends[0], ends[1]


def _start(entry: Entry) -> Start:
    fields = entry.fields(may=("at", "variables", "tables", "add", "clock", "on_phone"))

    def rows(kind: str) -> tuple[tuple[str, tuple[tuple[tuple[str, Value], ...], ...]], ...]:
        if kind not in fields:
            return ()
        return tuple((name, tuple(map(scalars, found.items()))) for name, found in fields[kind].mapping().items())

    actions = []
    for item in fields["on_phone"].items() if "on_phone" in fields else ():
        try:
            actions.append(action_from_json(item.plain()))
        except ActionError as e:
            raise FileFormatError(f"{item.file}:{item.line}: {item.where}: {e.message}", hint=e.hint) from None
    return Start(
        fields["at"].text() if "at" in fields else "",
        scalars(fields["variables"]) if "variables" in fields else (),
        rows("tables"),
        rows("add"),
        fields["clock"].text() if "clock" in fields else "",
        tuple(actions),
    )


def _unchanged(entry: Entry) -> Unchanged:
    if isinstance(entry.value, bool):
        return Unchanged(on=entry.value)
    fields = entry.fields(may=("allow", "watch"))
    allow, watch = (fields[name].texts() if name in fields else () for name in ("allow", "watch"))
    return Unchanged(allow, watch)


def _tags(entry: Entry) -> Tags:
    fields = entry.fields(may=("category", "skills", "difficulty"))
    category = fields["category"].text() if "category" in fields else "app"
    if category not in get_args(Category):
        fields["category"].wrong("one of " + ", ".join(get_args(Category)))
    return Tags(
        category,  # type: ignore[arg-type]
        fields["skills"].texts() if "skills" in fields else (),
        fields["difficulty"].whole(0, 1000) if "difficulty" in fields else None,
    )


def _check_parameters(task: Task, fields: Mapping[str, Entry]) -> None:
    """Whatever is used is there. Cells of a row are known once there is an app: any is taken."""

    class Names_(dict[str, Value]):
        def __missing__(self, name: str) -> Value:
            return "0"

        def __contains__(self, name: object) -> bool:
            return str(name).partition(".")[0] in task.parameters

    def use(entry: Entry, names: Iterable[str]) -> None:
        for name in names:
            if name.partition(".")[0] not in task.parameters:
                raise FileFormatError(f"{entry.file}:{entry.line}: {entry.where} uses {{{name}}}, which is no parameter", hint="parameters are " + (", ".join(task.parameters) or "none"))

    for language, ways in task.wordings.items():
        use(fields["say"].mapping()[language], (name for way in ways for name in parameters_in(way)))
    for name, checker in (("check", task.check), ("look", task.look), ("on_phone", task.on_phone)):
        if checker is not None:
            try:
                bound(checker, Names_(dict.fromkeys(task.parameters, "0")))
            except TaskError as e:
                raise FileFormatError(f"{fields[name].file}:{fields[name].line}: {task.id}: {e.message}", hint=e.hint) from None
    for name, parameter in task.parameters.items():
        if isinstance(parameter, RowOf | Found):
            text = parameter.where if isinstance(parameter, RowOf) else parameter.path
            use(fields["parameters"].mapping()[name], PARAMETER.findall(text))


# Writing


def dumps(tasks: Iterable[Task]) -> str:
    """The text of a task file, which `loads` gives back. Raises TaskError for tasks that do not share their names."""
    tasks = tuple(tasks)
    names = tasks[0].names if tasks else Names()
    apps = tasks[0].apps if tasks else {}
    if any(task.names != names or task.apps != apps for task in tasks):
        raise TaskError("tasks of one file share their names and apps", hint="write a file for each set of names")
    top: dict[str, Any] = {"names": written} if (written := _write_names(names)) else {}
    if apps:
        top["apps"] = {name: {"package": app.package} | ({"names": written} if (written := _write_names(app.names)) else {}) for name, app in apps.items()}
    top["tasks"] = list(map(write_task, tasks))
    text: str = yaml.dump(top, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=140, default_flow_style=None)
    return text


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes what could be read as a date or as `yes` in quotes, as the safe dumper does, and never shortens by anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_names(names: Names) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if names.tables:
        out["tables"] = {name: {"is": t.table} | ({"columns": dict(t.columns)} if t.columns else {}) for name, t in names.tables.items()}
    for kind, of in (("variables", names.variables), ("screens", names.screens)):
        if of:
            out[kind] = dict(of)
    return out


def write_task(task: Task) -> dict[str, Any]:
    """One task as YAML has it."""
    out: dict[str, Any] = {"id": task.id, "say": {language: list(ways) for language, ways in task.wordings.items()}}
    if task.package:
        out["package"] = task.package
    if task.parameters:
        out["parameters"] = {name: _write_parameter(parameter) for name, parameter in task.parameters.items()}
    if task.start != Start():
        out["start"] = _write_start(task.start)
    out["check"] = write_checker(task.check)
    for name, checker in (("look", task.look), ("on_phone", task.on_phone)):
        if checker is not None:
            out[name] = write_checker(checker)
    if task.unchanged != Unchanged():
        lists = {"allow": list(task.unchanged.allow), "watch": list(task.unchanged.watch)}
        out["unchanged"] = {name: of for name, of in lists.items() if of} if task.unchanged.on else False
    out["budget"] = task.budget
    tags = {"category": task.tags.category, "skills": list(task.tags.skills), "difficulty": task.tags.difficulty}
    if task.tags != Tags():
        out["tags"] = {name: value for name, value in tags.items() if value not in (None, [])}
    return out


def _write_parameter(parameter: Parameter) -> dict[str, Any]:
    match parameter:
        case RowOf(table, where, unlike, app):
            return {"row": table} | ({"app": app} if app else {}) | ({"where": where} if where else {}) | ({"unlike": list(unlike)} if unlike else {})
        case OneOf(values):
            return {"one_of": list(values)}
        case Seen(variable):
            return {"seen": variable}
        case Whole(low, high):
            return {"whole": [low, high]}
        case Day(after, weekday, form):
            return {"day": list(after)} | ({"weekday": weekday} if weekday else {}) | ({"form": form} if form != "YYYY-MM-DD" else {})
        case Found(path):
            return {"find": path}
        case _:
            assert_never(parameter)


def _write_start(start: Start) -> dict[str, Any]:
    tables, add = ({name: [dict(row) for row in rows] for name, rows in of} for of in (start.tables, start.add))
    out = {"at": start.at, "variables": dict(start.variables), "tables": tables, "add": add, "clock": start.clock}
    out = {name: value for name, value in out.items() if value}
    return out | ({"on_phone": [action_to_json(action) for action in start.on_phone]} if start.on_phone else {})
