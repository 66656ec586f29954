"""One widget tree, and the one hit test that every room uses. Knows no file format.

A node is named by its *path*: the indexes from the window down, so `(0, 2, 1)` is the second child of the third child of
the first window. Children are in document order; a later sibling is drawn above an earlier one unless `drawing_order` says
otherwise (the order that Android's own dumper reports on API 24 and later).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from phoneworld.ui.geometry import Bounds, Point, Size

Path = tuple[int, ...]
Gesture = Literal["tap", "long_press", "scroll", "type"]

_NOWHERE = Bounds(0, 0, 0, 0)
_PLAIN_CONTAINERS = ("Layout", "ViewGroup", "android.view.View", "ComposeView", "ViewPager", "ViewStub")


@dataclass(frozen=True, slots=True)
class Node:
    """One widget as UI Automator reports it. `extra` keeps every attribute we give no meaning to, in document order."""

    class_name: str
    text: str = ""
    resource_id: str = ""
    package: str = ""
    content_desc: str = ""
    hint: str | None = None
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False
    visible: bool = True
    bounds: Bounds = _NOWHERE
    index: int = 0
    drawing_order: int | None = None
    extra: tuple[tuple[str, str], ...] = ()
    children: tuple[Node, ...] = ()

    @property
    def is_editable(self) -> bool:
        """True for a field that takes text."""
        return self.class_name.endswith(("EditText", "AutoCompleteTextView", "SearchAutoComplete"))

    @property
    def label(self) -> str:
        """The words a person would call it by: its text, else its description, else its hint."""
        return self.text or self.content_desc or self.hint or ""

    @property
    def value(self) -> str:
        """What a field holds: empty where older Android reports the hint as the text."""
        return "" if self.is_editable and self.hint and self.text == self.hint else self.text

    def takes(self, gesture: Gesture) -> bool:
        """True where this node itself would handle the gesture."""
        if not self.enabled:
            return False
        match gesture:
            case "tap":
                return self.clickable or self.checkable or self.is_editable
            case "long_press":
                return self.long_clickable
            case "scroll":
                return self.scrollable
            case "type":
                return self.is_editable

    @property
    def is_drawn(self) -> bool:
        """True where it puts something on the screen by itself. A bare container lets touches fall through, as on Android."""
        if self.text or self.content_desc or self.clickable or self.checkable or self.long_clickable:
            return True
        return not self.class_name.endswith(_PLAIN_CONTAINERS)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a point hits: `node` is the topmost drawn node, `target` the nearest ancestor-or-self that takes the gesture.

    `occluded` holds further targets lying under the point that the hit hides, topmost first: where it is not empty a
    naive test (smallest area, document order) might have chosen differently.
    """

    node: Path
    target: Path | None
    occluded: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One whole tree: one or several top-level windows (later ones above), and the display rotation in quarter turns."""

    windows: tuple[Node, ...]
    rotation: int = 0
    attributes: tuple[tuple[str, str], ...] = ()

    def walk(self) -> Iterator[tuple[Path, Node]]:
        """All nodes with their paths, in document order."""
        stack: list[tuple[Path, Node]] = [((i,), window) for i, window in reversed(list(enumerate(self.windows)))]
        while stack:
            path, node = stack.pop()
            yield path, node
            children = node.children
            for i in range(len(children) - 1, -1, -1):
                stack.append(((*path, i), children[i]))

    def nodes(self) -> Iterator[Node]:
        """All nodes in document order."""
        return (node for _, node in self.walk())

    def at(self, path: Path) -> Node:
        """The node at a path. Raises IndexError where there is none."""
        node = self.windows[path[0]]
        for i in path[1:]:
            node = node.children[i]
        return node

    def chain(self, path: Path) -> tuple[Node, ...]:
        """The node at a path and its ancestors, window first."""
        chain = [self.windows[path[0]]]
        for i in path[1:]:
            chain.append(chain[-1].children[i])
        return tuple(chain)

    def replace_at(self, path: Path, node: Node) -> Hierarchy:
        """The same tree with one node put in the place of another. Costs one copy a level."""

        def rebuild(old: Node, rest: Path) -> Node:
            if not rest:
                return node
            children = list(old.children)
            children[rest[0]] = rebuild(children[rest[0]], rest[1:])
            return replace(old, children=tuple(children))

        windows = list(self.windows)
        windows[path[0]] = rebuild(windows[path[0]], path[1:])
        return replace(self, windows=tuple(windows))

    @property
    def extent(self) -> Size:
        """The smallest screen, from (0, 0), that holds the windows: the screen's size where nothing better is known."""
        return Size(
            max((w.bounds.right for w in self.windows), default=0), max((w.bounds.bottom for w in self.windows), default=0)
        )

    def is_visible(self, path: Path, viewport: Size) -> bool:
        """True where the node and its ancestors are shown and its bounds share area with the viewport."""
        return all(n.visible for n in self.chain(path)) and not self.at(path).bounds.intersect(viewport.bounds).is_empty

    def tap_point(self, path: Path, viewport: Size) -> Point | None:
        """The middle of the visible part of a node, or None where nothing of it can be seen."""
        if not self.is_visible(path, viewport):
            return None
        return self.at(path).bounds.intersect(viewport.bounds).center

    def drawing(self, viewport: Size) -> tuple[tuple[Path, Node], ...]:
        """The visible nodes from the lowest drawn to the topmost. Parents come below their children."""
        drawn: list[tuple[Path, Node]] = []
        screen = viewport.bounds

        def visit(path: Path, node: Node) -> None:
            if not node.visible:
                return
            if not node.bounds.intersect(screen).is_empty:
                drawn.append((path, node))
            for i in drawing_sequence(node.children):
                visit((*path, i), node.children[i])

        for i, window in enumerate(self.windows):
            visit((i,), window)
        return tuple(drawn)

    def touch_order(self, viewport: Size) -> tuple[tuple[Path, Node], ...]:
        """The visible nodes in the order in which a touch looks for them: drawn ones from the top, then bare containers."""
        top_down = self.drawing(viewport)[::-1]
        return tuple(p for p in top_down if p[1].is_drawn) + tuple(p for p in top_down if not p[1].is_drawn)

    def hit_test(self, point: Point, gesture: Gesture, viewport: Size | None = None) -> Hit | None:
        """What a gesture at a point lands on, or None where the point is off the screen or on nothing.

        The rule (one for the whole product): the topmost *drawn* node at the point, then its nearest ancestor that takes
        the gesture. Bare containers count as drawn only where nothing else lies under the point. Linear in the nodes.
        """
        viewport = viewport or self.extent
        if not viewport.contains(point):
            return None
        under = [path for path, node in self.touch_order(viewport) if node.bounds.contains(point)]
        if not under:
            return None
        top, *below = under
        target = self.nearest(top, gesture)
        occluded: list[Path] = []
        for path in below:
            other = self.nearest(path, gesture)
            if other is not None and other != target and other not in occluded and other != top[: len(other)]:
                occluded.append(other)
        return Hit(top, target, tuple(occluded))

    def nearest(self, path: Path, gesture: Gesture) -> Path | None:
        """The node itself or its nearest ancestor that takes the gesture."""
        chain = self.chain(path)
        for depth in range(len(path), 0, -1):
            if chain[depth - 1].takes(gesture):
                return path[:depth]
        return None


def drawing_sequence(children: tuple[Node, ...]) -> Iterator[int]:
    """The indexes of siblings from the lowest drawn to the topmost."""
    if any(child.drawing_order is not None for child in children):
        return iter(sorted(range(len(children)), key=lambda i: (children[i].drawing_order or 0, i)))
    return iter(range(len(children)))
