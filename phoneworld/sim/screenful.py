"""A layout made ready to be acted on: widgets by key, and what a touch lands on, computed once. Knows no state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property

from phoneworld.program.expr import Expr
from phoneworld.program.program import Layout, Screen
from phoneworld.sim.surface import Surface
from phoneworld.ui.node import Node, Path
from phoneworld.ui.selector import node_keys
from phoneworld.ui.xml import write_hierarchy


class Screenful(Surface):
    """One layout of one screen, indexed. Immutable once made; shared by all phones that run the Program."""

    def __init__(self, screen: Screen, layout: Layout) -> None:
        super().__init__(layout.hierarchy, layout.size)
        self.screen = screen
        self.layout = layout
        self._keys: dict[Path, str] = node_keys(layout.hierarchy)
        self.paths: dict[str, Path] = {}
        for path, key in self._keys.items():
            self.paths.setdefault(key, path)
        self._nodes: dict[str, Node] = {key: layout.hierarchy.at(path) for key, path in self.paths.items()}
        self.bound: dict[tuple[str, str], Expr] = {(self._keys[b.path], b.attribute): b.value for b in layout.bindings}
        self._checkables: dict[str, tuple[tuple[str, bool], ...]] = {}
        self.focus: str | None = next(
            (self._keys[path] for path, node in layout.hierarchy.walk() if node.focused and node.is_editable), None
        )

    @property
    def keys(self) -> Mapping[Path, str]:
        """The name of every node: `ui.selector.node_keys`."""
        return self._keys

    @cached_property
    def looks(self) -> str:
        """Names what this layout looks like: equal names, equal tree and picture."""
        return hashlib.sha256(write_hierarchy(self.layout.hierarchy) + (self.layout.screenshot or "").encode()).hexdigest()[:24]

    def node(self, key: str) -> Node | None:
        """The node with this key, or None where the layout has none."""
        return self._nodes.get(key)

    def checkables(self, below: str) -> tuple[tuple[str, bool], ...]:
        """The key of each widget below a node that can be checked, and whether the layout shows it checked."""
        found = self._checkables.get(below)
        if found is None:
            path = self.paths.get(below)
            inside = () if path is None else ((p, n) for p, n in self.layout.hierarchy.walk() if p[: len(path)] == path)
            found = self._checkables[below] = tuple((self._keys[p], n.checked) for p, n in inside if n.checkable)
        return found
