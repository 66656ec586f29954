"""The recorded looks of a screen that has a template: where a drawing shows what a capture showed, it lies where that lay.

Two trees show the same where they differ in places and order numbers at most. Of several recorded looks with one tree (a
page scrolled, say) the one whose own guard holds is taken, else the first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, replace
from operator import attrgetter

from phoneworld.program.program import Layout
from phoneworld.program.template import Drawn, Template
from phoneworld.ui.node import Hierarchy, Node, Path

_LEFT_OUT = frozenset({"bounds", "index", "drawing_order", "extra", "focused", "children", "scrollable", "focusable", "visible"})
_shown = attrgetter(*(f.name for f in fields(Node) if f.name not in _LEFT_OUT))


class Looks:
    """The layouts of a screen by what they show."""

    def __init__(self, layouts: Iterable[Layout], template: Template) -> None:
        self._by_tree: dict[Hashable, list[Layout]] = {}
        for layout in layouts:
            if layout.size == template.size:
                tree = tuple(_of_node(w) for w in layout.hierarchy.windows)
                self._by_tree.setdefault((layout.state.keyboard, tree), []).append(layout)

    @property
    def ambiguous(self) -> tuple[Layout, ...]:
        """The layouts that are not the only one to show what they show."""
        return tuple(layout for found in self._by_tree.values() if len(found) > 1 for layout in found)

    def find(self, windows: tuple[Drawn, ...], *, keyboard: bool, holds: Callable[[Layout], bool]) -> Layout | None:
        """The recorded look of a drawing, or None where it was never seen."""
        found = self._by_tree.get((keyboard, tuple(map(_of_drawn, windows))))
        if not found:
            return None
        return next((layout for layout in found if holds(layout)), found[0]) if len(found) > 1 else found[0]


def _of_node(node: Node) -> Hashable:
    return (_shown(node), tuple(map(_of_node, node.children))) if node.children else (_shown(node), ())


def _of_drawn(drawn: Drawn) -> Hashable:
    return (_shown(drawn.node), tuple(map(_of_drawn, drawn.children))) if drawn.children else (_shown(drawn.node), ())


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
