"""The recorded looks of a screen that has a template: where a drawing shows what a capture showed, it lies where that lay.

Two trees show the same where they differ in places and order numbers at most. Of several recorded looks with one tree (a
page scrolled, say) the one whose own guard holds is taken, else the one that was scrolled as far as the drawing is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import fields, replace
from operator import attrgetter

from phoneworld.program.expr import OneOf, Value
from phoneworld.program.program import Layout
from phoneworld.program.template import Drawn, Template
from phoneworld.sim.compiled import Tables, Variables, compiled
from phoneworld.sim.evaluate import NO_ROW
from phoneworld.ui.node import Hierarchy, Node, Path

_LEFT_OUT = frozenset({"bounds", "index", "drawing_order", "extra", "focused", "children", "scrollable", "focusable", "visible"})
_shown = attrgetter(*(f.name for f in fields(Node) if f.name not in _LEFT_OUT))

_KEPT = 8192


class Guards:
    """Which of some layouts have a guard that holds. Found by its value where all guards ask for one variable."""

    def __init__(self, layouts: tuple[Layout, ...]) -> None:
        self._layouts = layouts
        self._guards = tuple(compiled(layout.when) for layout in layouts)
        self._seen: dict[tuple[bool, ...], tuple[Layout, ...]] = {}
        self._by_value: dict[Value, tuple[Layout, ...]] = {}
        asked = [layout.when for layout in layouts if isinstance(layout.when, OneOf)]
        self._name = asked[0].name if len(asked) == len(layouts) > 0 and len({g.name for g in asked}) == 1 else None
        if self._name is not None:
            for layout, guard in zip(layouts, asked, strict=True):
                for value in guard.values:
                    self._by_value[value] = (*self._by_value.get(value, ()), layout)

    def holding(self, variables: Variables, tables: Tables) -> tuple[Layout, ...]:
        """Those whose guards hold, in their order: for the same ones always the same tuple."""
        if self._name is not None:
            return self._by_value.get(variables.get(self._name), ())
        holds = tuple([bool(guard(variables, tables, "", NO_ROW, NO_ROW)) for guard in self._guards])
        if holds not in self._seen:
            self._seen[holds] = tuple(layout for layout, held in zip(self._layouts, holds, strict=True) if held)
        return self._seen[holds]


class Looks:
    """The layouts of a screen by what they show."""

    def __init__(self, layouts: Iterable[Layout], template: Template, density: int) -> None:
        self._slack = density // 160
        self._by_tree: dict[Hashable, list[Layout]] = {}
        self._numbers: dict[Hashable, int] = {}
        """Each tree that is part of a recorded one, by what it shows."""
        self._known: dict[int, tuple[int | None, Drawn]] = {}
        for layout in layouts:
            if layout.size == template.size:
                tree = tuple(self._of_node(w) for w in layout.hierarchy.windows)
                self._by_tree.setdefault((layout.state.keyboard, tree), []).append(layout)

    @property
    def ambiguous(self) -> tuple[Layout, ...]:
        """The layouts that are not the only one to show what they show."""
        return tuple(layout for found in self._by_tree.values() if len(found) > 1 for layout in found)

    def find(self, windows: tuple[Drawn, ...], holding: tuple[Layout, ...], *, keyboard: bool, scroll: int) -> Layout | None:
        """The recorded look of a drawing scrolled to a place, or None where it was never seen. `holding`: those whose guards hold."""
        found = self._by_tree.get((keyboard, tuple(map(self._of_drawn, windows))))
        if not found:
            return None
        if len(found) > 1:
            recorded = next((layout for layout in found if any(layout is other for other in holding)), None)
            if recorded is not None:
                return recorded
        return next((layout for layout in found if abs(layout.scroll - scroll) <= self._slack), None)

    def _of_node(self, node: Node) -> int:
        return self._numbers.setdefault((_shown(node), *map(self._of_node, node.children)), len(self._numbers))

    def _of_drawn(self, drawn: Drawn) -> int | None:
        """The number of what a drawing shows; None where nothing recorded shows that. Kept, for rows are drawn over and over."""
        known = self._known.get(id(drawn))
        if known is not None:
            return known[0]
        number: int | None = None
        below = tuple(map(self._of_drawn, drawn.children))
        if None not in below:
            number = self._numbers.get((_shown(drawn.node), *below))
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[id(drawn)] = (number, drawn)
        return number


def with_focus_of(tree: Hierarchy, windows: tuple[Drawn, ...]) -> Hierarchy:
    """The recorded tree with the focus where the drawing has it. What is no field keeps the focus it was recorded with."""
    recorded = next((path for path, node in tree.walk() if node.focused and node.is_editable), None)
    if recorded == _focus_in(windows):
        return tree

    def one(node: Node, drawn: Drawn) -> Node:
        children = tuple(map(one, node.children, drawn.children))
        focused = drawn.node.focused if node.is_editable else node.focused
        if focused == node.focused and all(a is b for a, b in zip(children, node.children, strict=True)):
            return node
        return replace(node, focused=focused, children=children)

    return replace(tree, windows=tuple(map(one, tree.windows, windows)))


def _focus_in(windows: tuple[Drawn, ...]) -> Path | None:
    stack: list[tuple[Path, Drawn]] = [((i,), w) for i, w in reversed(list(enumerate(windows)))]
    while stack:
        path, drawn = stack.pop()
        if drawn.node.focused and drawn.node.is_editable:
            return path
        stack.extend(((*path, i), child) for i, child in reversed(list(enumerate(drawn.children))))
    return None
