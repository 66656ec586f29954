"""How a screen is drawn from state: a tree of slots, each shown when a condition holds, with attributes that are expressions.

A template is what all captures of a screen have in common; `Rows` is a place in it where a table's rows are shown. Drawing a
template for a state gives a Hierarchy without places; where things lie is the business of its `Placement`s (`sim/arrange.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from phoneworld.program.expr import TRUE, Expr
from phoneworld.program.placement import Placement
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Node

SlotAttribute = Literal[
    "text", "content_desc", "hint", "checked", "selected", "enabled", "checkable", "clickable", "long_clickable", "scrollable",
    "focusable", "password", "resource_id", "visible",
]  # fmt: skip
"""What of a node may change while it stays the same widget. `focused` follows the variable `focus`; bounds are placed."""

FOCUS, KEYBOARD, ROW_ID = "focus", "keyboard", "#"
"""The variable that names the focused widget (None: none); the one that says whether the keyboard is up; the column of a row's id."""


def current(table: str) -> str:
    """The variable that holds the id of a table's current row: the one last acted on, or the one that came last; None where there is none."""
    return f"{table}.current"


def scroll(screen: str) -> str:
    """The variable that holds how many pixels the content of a screen has moved up; 0 at its top."""
    return f"{screen}.scroll"


@dataclass(frozen=True, slots=True)
class Scrolling:
    """How the content of the slot that scrolls moves under a finger: `ratio` pixels a pixel, once the finger has moved by `slop`.

    Content ends `rest` below its last widget (a margin is no widget). `cases` counts the recorded swipes that say so.
    """

    slot: str
    ratio: float = 1.0
    slop: float = 0.0
    rest: float = 0.0
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """One widget. `key` is unique in its template; `node` is what it looked like when first seen, without its children.

    `attributes` are those that are not always as in `node`.
    """

    key: str
    node: Node
    when: Expr = TRUE
    attributes: tuple[tuple[SlotAttribute, Expr], ...] = ()
    children: tuple[Slot | Rows, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table that satisfy `where`, in the table's order, each drawn as `row` with its columns in scope."""

    table: str
    row: Slot
    where: Expr = TRUE


Part: TypeAlias = Slot | Rows


@dataclass(frozen=True, slots=True)
class Template:
    """A screen as a function of state. `state` and `size` are those of its first capture; `placement` is by slot key.

    `scrolling` is None where nothing scrolls.
    """

    windows: tuple[Slot, ...]
    size: Size
    state: DeviceState = DeviceState()
    rotation: int = 0
    placement: Mapping[str, Placement] = field(default_factory=dict)
    scrolling: Scrolling | None = None

    def slots(self) -> Iterator[tuple[Slot, str | None]]:
        """All slots in document order, each with the table whose rows it is part of."""
        stack: list[tuple[Part, str | None]] = [(w, None) for w in reversed(self.windows)]
        while stack:
            part, table = stack.pop()
            if isinstance(part, Rows):
                stack.append((part.row, part.table))
                continue
            yield part, table
            stack.extend((child, table) for child in reversed(part.children))


@dataclass(frozen=True, slots=True)
class Drawn:
    """One widget of a drawn template. `node` has no children, and bounds only once placed. `row` is the id of its row."""

    key: str
    node: Node
    row: int | None = None
    children: tuple[Drawn, ...] = ()

    @property
    def name(self) -> str:
        """Unique in what is drawn: the slot's key, with the row's id where there is one."""
        return self.key if self.row is None else f"{self.key}#{self.row}"
