"""What of a pattern a state has to keep: the attributes of its slots that vary, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterable

from phoneworld.compiler.template import SHOWN, Part, Pattern

UNMODELLED = frozenset({"scrollable", "focusable", "visible"})
"""Attributes that follow from the layout, as of now: a page scrolls where its content is longer than the screen."""


def column(slot: str, attribute: str) -> str:
    """The name of the column behind one attribute of one slot of a row."""
    return f"{slot}.{attribute}"


def what_varies(pattern: Pattern) -> tuple[tuple[str, str], ...]:
    """Slot and attribute of everything outside tables that varies."""
    kept: list[tuple[str, str]] = []

    def visit(parts: Iterable[Part]) -> None:
        for part in parts:
            if part.table is None:
                kept.extend(
                    (part.key, a) for a in ((SHOWN,) if part.optional else ()) + part.varying if a not in UNMODELLED
                )
                visit(part.children)

    visit(pattern.windows)
    return tuple(kept)


def columns_of(pattern: Pattern, table: str) -> tuple[str, ...]:
    """The columns of a table: what varies from row to row."""
    row = pattern.tables[table]
    return tuple(
        column(p.key, a)
        for p in row.walk()
        for a in ((SHOWN,) if p.optional and p is not row else ()) + p.varying
        if a not in UNMODELLED
    )


def table_of(pattern: Pattern, slot: str) -> str | None:
    return next((t for t, row in pattern.tables.items() if any(p.key == slot for p in row.walk())), None)
