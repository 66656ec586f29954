"""Rules of a Program in a person's words: what sets one off, what it changes, and the expressions in both. Pure; knows no page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from phoneworld.program.effect import DeleteRows, Effect, GoBack, InsertRow, SetNode, SetRows, SetVar, Show, UpdateRows
from phoneworld.program.expr import (
    TRUE,
    Acted,
    All,
    Any,
    Blank,
    Case,
    Cell,
    Column,
    Const,
    Contains,
    Count,
    Equal,
    Expr,
    Join,
    Less,
    Not,
    OneOf,
    Plus,
    Sum,
    Trim,
    Typed,
    Value,
    Var,
    Widgets,
)
from phoneworld.program.program import Trigger

LONGEST = 60


def widget_words(node: str, label: str = "") -> str:
    """A widget in a person's words: its label, else the last part of its name, on one line."""
    return shortened(label or node.rsplit("/", 1)[-1])


def shortened(words: str, length: int = LONGEST) -> str:
    """The words on one line, cut where they are long."""
    line = " ".join(words.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def trigger_words(on: Trigger) -> str:
    """A trigger in words: what is done, to which widget."""
    node = on.node.rsplit("/", 1)[-1] if ":id/" in on.node or len(on.node) > LONGEST else on.node
    words = on.kind.replace("_", " ")
    if on.argument is not None:
        words += f" “{shortened(on.argument)}”"
    return f"{words} on {node}" if node else words


def effect_words(effect: Effect, names: Mapping[str, str]) -> str:
    """An effect in words; `names` are those of the screens by their id."""
    match effect:
        case SetVar(name, value):
            return f"{name} becomes {expression_words(value)}"
        case SetNode(_, node, attribute, value):
            return f"{attribute.replace('_', ' ')} of {widget_words(node)} becomes {expression_words(value)}"
        case Show(screen):
            return f"show {names[screen]}"
        case GoBack(to):
            return "go back" + (f" to {' or '.join(names[s] for s in to)}" if to else "")
        case InsertRow(table, cells, at, when):
            where = {"first": "at the top", "last": "at the end", "after_acted": "below"}[at]
            return f"a new row in {table} {where}{_with(cells)}" + ("" if when == TRUE else f", if {expression_words(when)}")
        case UpdateRows(table, cells, where):
            return f"{_rows(table, where)}: {', '.join(f'{name} becomes {expression_words(value)}' for name, value in cells)}"
        case DeleteRows(table, where):
            return f"{_rows(table, where)} go"
        case SetRows(table, rows):
            return f"{table} holds {len(rows)} {'row' if len(rows) == 1 else 'rows'}"
        case _:
            assert_never(effect)


def expression_words(expr: Expr) -> str:
    """An expression in words."""
    match expr:
        case Const(value):
            return value_words(value)
        case Var(name):
            return name
        case Column(name):
            return f"its {name}"
        case Acted(name):
            return f"the {name} of the row acted on"
        case Cell(table, column, where):
            return f"the {column} of the row of {table} where {expression_words(where)}"
        case Plus(of, by):
            return f"{expression_words(of)} {'+' if by >= 0 else '−'} {abs(by)}"
        case Trim(of):
            return f"{expression_words(of)} without blanks around it"
        case Contains(text, part):
            return f"{expression_words(text)} contains {expression_words(part)}"
        case Typed():
            return "what was typed"
        case Not(of):
            return f"not ({expression_words(of)})"
        case All(of):
            return _joined(of, " and ") if of else "always"
        case Any(of):
            return _joined(of, " or ") if of else "never"
        case OneOf(name, values):
            return f"{name} is {' or '.join(value_words(v) for v in values)}"
        case Equal(left, right):
            return f"{expression_words(left)} is {expression_words(right)}"
        case Less(left, right):
            return f"{expression_words(left)} is less than {expression_words(right)}"
        case Blank(of):
            return f"{expression_words(of)} is blank"
        case Count(table, where):
            return f"how many {_rows(table, where)} there are"
        case Sum(table, of, where):
            return f"the sum of {expression_words(of)} over {_rows(table, where)}"
        case Widgets(below, checked):
            kind = {True: "checked", False: "unchecked", None: "checkable"}[checked]
            return f"how many {kind} widgets there are below {widget_words(below)}"
        case Case(when, then, otherwise):
            return f"{expression_words(then)} if {expression_words(when)}, else {expression_words(otherwise)}"
        case Join(of):
            return " followed by ".join(map(expression_words, of)) or "nothing"
        case _:
            assert_never(expr)


def value_words(value: Value) -> str:
    """A constant in words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case str():
            return f"“{shortened(value)}”"
        case _:
            return str(value)


def _rows(table: str, where: Expr) -> str:
    return f"the rows of {table}" if where == TRUE else f"the rows of {table} where {expression_words(where)}"


def _with(cells: Iterable[tuple[str, Expr]]) -> str:
    words = ", ".join(f"{name} {expression_words(value)}" for name, value in cells)
    return f" with {words}" if words else ""


def _joined(parts: Iterable[Expr], word: str) -> str:
    return word.join(f"({expression_words(p)})" if isinstance(p, All | Any | Case) else expression_words(p) for p in parts)
