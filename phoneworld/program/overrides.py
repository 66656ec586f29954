"""What a person corrects in what was inferred: a file beside the recording, laid over the Program each time that is built.

    package: org.example.notes                  # may be left out
    label: Notes
    names:                                      # as in task files: the new name, and what is called so
      tables: {notes: {is: s1.notes, columns: {title: "note-#/TextView[0].text"}}}
      variables: {dark: s3.dark.checked}
      screens: {Editor: s2}
    start: {dark: false}                        # what a variable is before anything is done
    forbid:                                     # what was inferred of these actions is not true
    - {screen: Editor, tap: share}
    rules:                                      # what is true instead, or was never recorded
    - {screen: Editor, tap: clear, do: [{op: SetVar, name: s2.body.text, value: ""}]}

In `forbid`, `start` and `rules` the new names count. An action is `KIND: WIDGET`, a widget named as `program.yaml` names it; `with` is its
argument (a key's name, say). Effects (`do`) and conditions (`when`) are written as in `program.json`; a plain value stands for itself.
What was seen while recording goes before what is added here, and is not forbidden: recordings replay as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, get_args

from phoneworld.errors import FileFormatError, ProgramError
from phoneworld.program.check import check_program
from phoneworld.program.codec import decode
from phoneworld.program.effect import Effect
from phoneworld.program.expr import TRUE, Expr
from phoneworld.program.marked import Entry, read_marked
from phoneworld.program.program import Evidence, Program, Rule, Trigger, TriggerKind, all_variables
from phoneworld.program.renaming import NewNames, renamed
from phoneworld.ui.node import Hierarchy

FIELDS = ("package", "label", "names", "start", "forbid", "rules")
_KINDS: tuple[str, ...] = get_args(TriggerKind)


@dataclass(frozen=True, slots=True)
class Overridden:
    """The Program as corrected, and how much of what was corrected: rules that were forbidden by each entry of `forbid`, in order."""

    program: Program
    renamed: int = 0
    forbidden: tuple[int, ...] = ()
    added: int = 0


def overridden(program: Program, text: str, file: str = "overrides.yaml") -> Overridden:
    """The Program with the corrections of a file's text. Raises FileFormatError, with the line, for what it does not have or cannot be."""
    top = read_marked(text, file).fields(may=FIELDS)
    if "package" in top and top["package"].text() != program.package:
        top["package"].wrong(f"{program.package}, the app of the recording beside it", "each app has its overrides in a folder of its own")
    names = _names(top["names"], program) if "names" in top else NewNames()
    program = renamed(program, names)
    if "label" in top:
        program = replace(program, label=top["label"].text())
    if "start" in top:
        program = _started(program, top["start"])
    forbidden: list[int] = []
    for entry in top["forbid"].items() if "forbid" in top else ():
        screens, on = _action(entry, program, entry.fields(needs=("screen",), may=("with", *_KINDS)))
        kept = tuple(rule for rule in program.rules if not _is_of(rule, screens, on))
        forbidden.append(len(program.rules) - len(kept))
        if len(kept) == len(program.rules):
            entry.wrong("an action of which something was inferred", "program.yaml in the bundle says what was; recorded steps stay as they are")
        program = replace(program, rules=kept)
    added = [rule for entry in (top["rules"].items() if "rules" in top else ()) for rule in _rules(entry, program, file)]
    if added:
        added = [replace(rule, id=f"o{number}") for number, rule in enumerate(added, 1)]
        first = next((i for i, rule in enumerate(program.rules) if rule.evidence.kind != "recorded"), len(program.rules))
        program = replace(program, rules=(*program.rules[:first], *added, *program.rules[first:]))
        _check(program, {rule.id: rule.evidence.support[0] for rule in added}, file)
    count = len(names.variables) + len(names.tables) + len(names.screens) + sum(map(len, names.columns.values()))
    return Overridden(program, count, tuple(forbidden), len(added))


def _names(entry: Entry, program: Program) -> NewNames:
    fields = entry.fields(may=("tables", "variables", "screens"))
    known = all_variables(program)
    tables: dict[str, str] = {}
    columns: dict[str, dict[str, str]] = {}
    for new, found in _members(fields, "tables"):
        of = found.fields(needs=("is",), may=("columns",))
        table = _one_of(of["is"], program.tables, "a table of the mock")
        _free(found, new, program.tables, tables, table)
        tables[table] = new
        own = program.tables[table].columns
        for short, column in of["columns"].mapping().items() if "columns" in of else ():
            old = _one_of(column, own, f"a column of {table}")
            _free(column, short, own, columns.setdefault(table, {}), old)
            columns[table][old] = short
    variables: dict[str, str] = {}
    for new, found in _members(fields, "variables"):
        old = _one_of(found, [name for name in known if name in program.variables], "a variable of the mock")
        _free(found, new, known, variables, old)
        variables[old] = new
    screens: dict[str, str] = {}
    for new, found in _members(fields, "screens"):
        screens[_screen(found, program)[0]] = new
    return NewNames(variables, tables, columns, screens)


def _members(fields: Mapping[str, Entry], name: str) -> Iterator[tuple[str, Entry]]:
    yield from fields[name].mapping().items() if name in fields else ()


def _free(entry: Entry, new: str, taken: Any, given: Mapping[str, str], old: str) -> None:
    """A new name must be nobody's, and a thing has one."""
    if old in given:
        entry.wrong(f"something that has no other name yet ({old} is called {given[old]})", "keep one of the two")
    if not new.strip() or (new in taken and new != old) or new in given.values():
        raise FileFormatError(f"{entry.file}:{entry.line}: {new!r} is the name of something else", hint="take another name")


def _one_of(entry: Entry, known: Any, what: str) -> str:
    name = entry.text()
    if name not in known:
        near = get_close_matches(name, list(known), 2, 0.4)
        entry.wrong(what, f"did you mean {' or '.join(near)}?" if near else "program.yaml in the bundle names them all")
    return name


def _screen(entry: Entry, program: Program) -> tuple[str, ...]:
    """The screens of that id or name."""
    name = entry.text()
    if name in program.screens:
        return (name,)
    called = tuple(s.id for s in program.screens.values() if s.name == name)
    if not called:
        _one_of(entry, [*program.screens, *(s.name for s in program.screens.values())], "a screen of the mock")
    return called


def _started(program: Program, entry: Entry) -> Program:
    known = all_variables(program)
    values = {_one_of(replace(found, value=name), known, "a variable of the mock"): found.scalar() for name, found in entry.mapping().items()}
    variables = {name: replace(v, initial=values[name]) if name in values else v for name, v in program.variables.items()}
    for name in values.keys() - variables.keys():
        variables[name] = replace(known[name], initial=values[name])
    return replace(program, variables=variables)


def _action(entry: Entry, program: Program, fields: Mapping[str, Entry]) -> tuple[tuple[str, ...], Trigger]:
    """The screens and the action that an entry is about; the widget "" is any."""
    kinds = [kind for kind in _KINDS if kind in fields]
    if len(kinds) != 1:
        entry.wrong("one action", "such as tap: WIDGET; the kinds are " + ", ".join(_KINDS))
    node = fields[kinds[0]].text()
    return _screen(fields["screen"], program), Trigger(kinds[0], node, fields["with"].text() if "with" in fields else None)  # type: ignore[arg-type]


def _is_of(rule: Rule, screens: tuple[str, ...], on: Trigger) -> bool:
    same = rule.on.kind == on.kind and on.node in ("", rule.on.node) and on.argument in (None, rule.on.argument)
    return same and rule.screen in screens and rule.evidence.kind != "recorded"


def _rules(entry: Entry, program: Program, file: str) -> Iterator[Rule]:
    fields = entry.fields(needs=("screen", "do"), may=("with", "when", *_KINDS))
    screens, on = _action(entry, program, fields)
    when = _read(Expr, fields["when"]) if "when" in fields else TRUE
    then = tuple(_read(Effect, effect) for effect in fields["do"].items())
    for screen in screens:
        yield Rule("", screen, on, when, then, Evidence("assumed", (f"{file}:{entry.line}",)))


def _read(kind: Any, entry: Entry) -> Any:
    try:
        return decode(kind, entry.plain(), _no_tree, f"{entry.file}:{entry.line}: {entry.where}")
    except FileFormatError as e:
        raise FileFormatError(e.message, hint="effects and conditions are written as in program.json of the bundle") from None


def _no_tree(name: str) -> Hierarchy:
    raise FileFormatError(f"{name!r} is a tree, and none can be given here", hint="leave it out")


def _check(program: Program, lines: Mapping[str, str], file: str) -> None:
    try:
        check_program(program)
    except ProgramError as e:
        where = next((line for name, line in lines.items() if f"rule {name!r}" in e.message), file)
        raise FileFormatError(f"{where}: {e.message}", hint="program.yaml in the bundle names what there is") from None
