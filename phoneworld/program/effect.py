"""Effects of a rule: what changes. A closed union; all values are computed from the state before the step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from phoneworld.program.expr import TRUE, Expr, Value

NodeAttribute = Literal["text", "content_desc", "checked", "selected"]


@dataclass(frozen=True, slots=True)
class SetVar:
    """The variable takes the value."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class SetNode:
    """One attribute of one widget of a screen is shown with this value, as long as the layout itself does not change it."""

    screen: str
    node: str
    attribute: NodeAttribute
    value: Expr


@dataclass(frozen=True, slots=True)
class Show:
    """The screen comes to the front of the app's back stack: in place if it is shown, back to it if it lies below, else on top.

    `as_left`: off the recorded path, a screen that lies below looks as it was left; that wins over what else the rule sets.
    """

    screen: str
    as_left: bool = False


@dataclass(frozen=True, slots=True)
class GoBack:
    """The screen is left for the nearest one below it on the back stack that is among `to` (for the next one where `to` is empty).

    It looks as it was left. Nothing happens where none lies below.
    """

    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InsertRow:
    """A new row where `when` holds; it gets an id of its own (`template.ROW_ID`) and becomes the current row. Cells that are not named are None.

    The current row of a table is the variable `template.current(table)`, where the program has it.
    """

    table: str
    cells: tuple[tuple[str, Expr], ...]
    at: Literal["first", "last", "after_acted"] = "last"
    when: Expr = TRUE


@dataclass(frozen=True, slots=True)
class UpdateRows:
    table: str
    cells: tuple[tuple[str, Expr], ...]
    where: Expr = TRUE


@dataclass(frozen=True, slots=True)
class DeleteRows:
    table: str
    where: Expr = TRUE


@dataclass(frozen=True, slots=True)
class SetRows:
    """The table holds exactly these rows from then on, each in the order of its columns: what a recorded step was seen to do."""

    table: str
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class StartTimer:
    """The timer of this name begins anew where `when` holds."""

    timer: str
    when: Expr = TRUE


Effect: TypeAlias = SetVar | SetNode | Show | GoBack | InsertRow | UpdateRows | DeleteRows | SetRows | StartTimer
