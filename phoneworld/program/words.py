"""A Program in words, as YAML: what a person reads to see what a mock does and why it is believed. Reads back as plain data, not as a Program."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import assert_never

from phoneworld.program.effect import (
    DeleteRows,
    Effect,
    GoBack,
    InsertRow,
    SetNode,
    SetRows,
    SetVar,
    Show,
    StartTimer,
    UpdateRows,
)
from phoneworld.program.expr import (
    TRUE,
    Acted,
    All,
    Any,
    Blank,
    Calc,
    Case,
    Cell,
    Column,
    Const,
    Contains,
    Count,
    Equal,
    Expr,
    Fixed,
    Join,
    Less,
    Not,
    OneOf,
    Piece,
    Plus,
    Sum,
    Trim,
    Typed,
    Value,
    Var,
    Widgets,
)  # fmt: skip
from phoneworld.program.program import Program, Rule, Screen, Trigger, all_variables
from phoneworld.program.template import ROW_ID

_VALUES_SHOWN = 6
_ROWS_SHOWN = 20
_LONGEST = 60
_PLAIN = re.compile(r"[A-Za-z]\w*(?:[ ,.] ?\w+)*", re.ASCII)
_TAKEN = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def program_in_words(program: Program) -> str:
    """The screens, variables, tables and every rule of a Program, in its order."""
    lines = [f"app: {_text(program.label)}", f"package: {_text(program.package)}", "screens:"]
    names = Counter(s.name for s in program.screens.values())
    called = {s.id: s.name if s.name and names[s.name] == 1 else f"{s.name} ({s.id})".strip() for s in program.screens.values()}
    for screen in program.screens.values():
        lines.append(f"  {_text(called[screen.id])}: {_text(_screen(screen))}")
    lines.append("variables:")
    for variable in all_variables(program).values():
        seen = ", ".join(_value(v) for v in variable.domain[:_VALUES_SHOWN]) + (", …" if len(variable.domain) > _VALUES_SHOWN else "")
        lines.append(f"  {_text(variable.name)}: {_text('starts as ' + _value(variable.initial) + (f', seen as {seen}' if seen else ''))}")
    lines.append("tables:")
    for table in program.tables.values():
        lines += [f"  {_text(table.name)}:", f"    columns: {json.dumps(table.columns, ensure_ascii=False)}", "    rows:"]
        lines += [f"    - {json.dumps(row, ensure_ascii=False)}" for row in table.rows[:_ROWS_SHOWN]]
        if len(table.rows) > _ROWS_SHOWN:
            lines.append(f"    - {_text(f'and {len(table.rows) - _ROWS_SHOWN} more')}")
    if program.timers:
        lines.append("timers:")
    for timer in program.timers.values():
        said = f"sets {timer.variable} to {_value(timer.value)} {expr_in_words(timer.after_ms)} ms after it was started"
        lines.append(f"  {_text(timer.name)}: {_text(f'{said}; {timer.evidence.kind}, {timer.evidence.cases} cases')}")
    lines.append("rules:")
    for rule in program.rules:
        lines += _rule(rule, called)
    return "\n".join(_or_empty(lines)) + "\n"


def _or_empty(lines: list[str]) -> Iterable[str]:
    """A list or mapping without entries is said to be one, since a bare key would read as null."""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        deeper = following.startswith(" " * (len(line) - len(line.lstrip()) + 1)) or following.lstrip().startswith("- ")
        bare = line.endswith(":") and not deeper
        yield f"{line} {'[]' if line.strip() in ('rows:', 'do:', 'rules:') else '{}'}" if bare else line


def _screen(screen: Screen) -> str:
    drawn = ", drawn from state" if screen.template else ""
    looks = len(screen.layouts)
    return f"{looks} recorded look{'s' if looks != 1 else ''}{drawn}"


def _rule(rule: Rule, called: Mapping[str, str]) -> list[str]:
    lines = [f"- id: {_text(rule.id)}", f"  action: {_text(f'{trigger_in_words(rule.on)} on screen {called[rule.screen]}')}"]
    if rule.when != TRUE:
        lines.append(f"  when: {_text(expr_in_words(rule.when))}")
    lines.append("  do:")
    lines += [f"  - {_text(effect_in_words(effect, called))}" for effect in rule.then]
    cases = f", {rule.evidence.cases} case{'s' if rule.evidence.cases != 1 else ''}" if rule.evidence.cases else ""
    lines.append(f"  believed: {_text(rule.evidence.kind + cases)}")
    return lines


def trigger_in_words(on: Trigger) -> str:
    """`tap of add`, `key enter in query`, `typing "x" into name`."""
    name, said = _name(on.node), "" if on.argument is None else on.argument
    match on.kind:
        case "type":
            return f"typing {_value(said) if on.argument is not None else 'anything'} into {name or 'no field'}"
        case "key":
            return f"key {said or 'of any name'}" + (f" in {name}" if name else "")
        case "open_app" | "close_app":
            return f"{on.kind.removesuffix('_app')} of app {said}"
        case "wait":
            return "waiting"
        case _:
            return f"{on.kind.replace('_', ' ')} of {name or 'nothing'}" + (f" by {_value(said)}" if said else "")


def effect_in_words(effect: Effect, called: Mapping[str, str] | None = None) -> str:
    """What an effect does, as a phrase; `called` has the names of screens by id."""
    names = called or {}
    match effect:
        case SetVar(name, value):
            return f"set {name} to {expr_in_words(value)}"
        case SetNode(screen, node, attribute, value):
            return f"show {attribute} of {_name(node)} on screen {names.get(screen, screen)} as {expr_in_words(value)}"
        case Show(screen, as_left):
            return f"show screen {names.get(screen, screen)}" + (" as it was left" if as_left else "")
        case GoBack(to):
            return "go back" + (f" to {' or '.join(names.get(s, s) for s in to)}" if to else "")
        case InsertRow(table, cells, at, when):
            where = {"first": " first", "last": "", "after_acted": " after this row"}[at]
            return f"insert into {table}{where} {_cells(cells)}" + _if(when, "if")
        case UpdateRows(table, cells, where_rows):
            return f"change {table} to {_cells(cells)}" + _if(where_rows, "where")
        case DeleteRows(table, where_rows):
            return f"delete from {table}" + (_if(where_rows, "where") or " every row")
        case SetRows(table, rows):
            return f"{table} holds {len(rows)} row{'s' if len(rows) != 1 else ''}" + (": " + "; ".join(", ".join(map(_value, row)) for row in rows[:3]) if rows else "") + ("; …" if len(rows) > 3 else "")
        case StartTimer(timer, when):
            return f"start timer {timer}" + _if(when, "if")
        case _:
            assert_never(effect)


def expr_in_words(expr: Expr) -> str:
    """An expression as a person would read it aloud."""
    match expr:
        case Const(value):
            return _value(value)
        case Var(name):
            return name
        case Column(name):
            return "the row" if name == ROW_ID else f"its {name}"
        case Acted(name):
            return "this row" if name == ROW_ID else f"this {name}"
        case Typed():
            return "what was typed"
        case Cell(table, column, where):
            return f"{table}.{column}{_if(where, 'where')}"
        case Plus(of, by):
            return f"{_part(of)} {'+' if by >= 0 else '-'} {abs(by)}"
        case Calc(left, operator, right):
            return f"{_part(left)} {'×' if operator == '*' else operator} {_part(right)}"
        case Fixed(of, decimals, _):
            return f"{_part(of)} as a number" + ("" if decimals is None else f" with {decimals} decimals")
        case Trim(of):
            return f"trimmed {_part(of)}"
        case Piece(of, before, after):
            bounds = (f"after {_value(before)}" if before else "") + (f"{' ' if before else ''}up to {_value(after)}" if after else "")
            return f"the part of {_part(of)} {bounds}".rstrip()
        case Contains(text, part):
            return f"{_part(text)} contains {_part(part)}"
        case Not(of):
            return f"not {_part(of)}"
        case All(()):
            return "always"
        case Any(()):
            return "never"
        case All(of):
            return " and ".join(map(_part, of))
        case Any(of):
            return " or ".join(map(_part, of))
        case OneOf(name, values):
            return f"{name} is {' or '.join(map(_value, values[:_VALUES_SHOWN])) or 'nothing'}" + (" or …" if len(values) > _VALUES_SHOWN else "")
        case Equal(left, right):
            return f"{_part(left)} = {_part(right)}"
        case Less(left, right):
            return f"{_part(left)} < {_part(right)}"
        case Blank(of):
            return f"{_part(of)} is blank"
        case Count(table, where):
            return f"count of {table}{_if(where, 'where')}"
        case Sum(table, of, where):
            return f"sum of {_part(of)} over {table}{_if(where, 'where')}"
        case Widgets(below, checked):
            return f"count of {'' if checked is None else 'checked ' if checked else 'unchecked '}widgets below {_name(below)}"
        case Case(when, then, otherwise):
            return f"{_part(then)} if {_part(when)} else {_part(otherwise)}"
        case Join(of):
            return " & ".join(map(_part, of)) or '""'
        case _:
            assert_never(expr)


def _part(expr: Expr) -> str:
    """In brackets, where the words of a part would run into those around it."""
    words = expr_in_words(expr)
    plain = isinstance(expr, Const | Var | Column | Acted | Typed) or (isinstance(expr, All | Any | Join) and len(expr.of) < 2 and not expr.of)
    return words if plain else f"({words})"


def _if(when: Expr, word: str) -> str:
    return "" if when == TRUE else f" {word} {expr_in_words(when)}"


def _cells(cells: Iterable[tuple[str, Expr]]) -> str:
    return "{" + ", ".join(f"{name}: {expr_in_words(value)}" for name, value in cells) + "}"


def _name(node: str) -> str:
    """A widget's name without its package."""
    return node.rpartition(":id/")[2]


def _value(value: Value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(words: str) -> str:
    """A YAML scalar: plain where nothing in it could be taken for anything else, else in JSON's quotes."""
    if _PLAIN.fullmatch(words) and words.lower() not in _TAKEN:
        return words
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in json.dumps(words, ensure_ascii=False))
