"""One widget tree, and the one hit test that every room uses. Knows no file format.

A node is named by its *path*: the indexes from the window down, so `(0, 2, 1)` is the second child of the third child of
the first window. Children are in document order; a later sibling is drawn above an earlier one unless `drawing_order` says
otherwise (the order that Android's own dumper reports on API 24 and later).

A touch looks for its target as on Android (`ViewGroup.dispatchTouchEvent`): from the topmost node down, children before
their parents, it falls through what only draws (a label, a picture) and stops at the first node that handles touches. So
a picture drawn over a button does not block it. What a web page draws stops the touch in any case, as in the DOM, and no
touch passes from one window to the one below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from phoneworld.ui.geometry import Bounds, Point, Size

Path = tuple[int, ...]
Gesture = Literal["tap", "long_press", "scroll", "type"]

_NOWHERE = Bounds(0, 0, 0, 0)
_PLAIN_CONTAINERS = ("Layout", "ViewGroup", "android.view.View", "ComposeView", "ViewPager", "ViewStub")


@lru_cache(maxsize=1024)
def _traits(class_name: str) -> tuple[bool, bool, bool, bool]:
    """What the name of a class tells: a field that takes text, a container that draws nothing, words, a web page."""
    return (
        class_name.endswith(("EditText", "AutoCompleteTextView", "SearchAutoComplete")),
        class_name.endswith(_PLAIN_CONTAINERS),
        class_name.endswith("TextView"),
        class_name.endswith("WebView"),
    )


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
        return _traits(self.class_name)[0]

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
    def handles_touch(self) -> bool:
        """True where a touch ends at this node, whatever comes of it: a disabled button swallows taps, as on Android."""
        return self.clickable or self.checkable or self.long_clickable or self.scrollable or self.is_editable

    @property
    def is_drawn(self) -> bool:
        """True where it puts something on the screen by itself. A bare container does not."""
        if self.text or self.content_desc or self.clickable or self.checkable or self.long_clickable:
            return True
        return not _traits(self.class_name)[1]


TouchBox = tuple[int, int, int, int, Path, Node]
"""Left, top, right and bottom of what can be touched of a node, its path, the node."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a point hits: `node` is the topmost drawn node there, `target` the one that takes the gesture, if any does.

    `occluded` holds the further nodes under the point that would take the gesture, topmost first, without ancestors and
    descendants of the target: where it is not empty a naive test (smallest area, document order) might choose another.
    """

    node: Path
    target: Path | None
    occluded: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One whole tree: one or several top-level windows, and the display rotation in quarter turns.

    Of two windows the larger lies below, for Android does not report a window that another one covers; of two of one size
    the later lies above. Tools list windows in no reliable order.
    """

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
        return all(n.visible for n in self.chain(path)) and self.at(path).bounds.overlaps(viewport.bounds)

    def tap_point(self, path: Path, viewport: Size) -> Point | None:
        """The middle of what of a node is on the screen and inside the scrollers around it, or None where nothing is."""
        if not self.is_visible(path, viewport):
            return None
        chain = self.chain(path)
        shown = chain[-1].bounds.intersect(viewport.bounds)
        for ancestor in chain[:-1]:
            if ancestor.scrollable:
                shown = shown.intersect(ancestor.bounds)
        return None if shown.is_empty else shown.center

    def drawing(self, viewport: Size) -> tuple[tuple[Path, Node], ...]:
        """The visible nodes from the lowest drawn to the topmost. Parents come below their children."""
        screen = viewport.bounds
        return tuple((path, node) for path, node, _ in self._from_below(screen) if node.bounds.overlaps(screen))

    def touch_order(self, viewport: Size) -> tuple[tuple[Path, Node], ...]:
        """The visible nodes in the order in which a touch looks for them: the first one that holds the point stops it.

        What handles touches comes first, from the top; then what is only drawn; then the next window; bare containers
        last. A node's bounds are cut to what of it can be touched. Linear in the nodes: keep the result of a tree that is
        touched often.
        """
        order: list[tuple[Path, Node]] = []
        for left, top, right, bottom, path, node in self.touch_boxes(viewport):
            cut = Bounds(left, top, right, bottom)
            order.append((path, node if cut == node.bounds else replace(node, bounds=cut)))
        return tuple(order)

    def touch_boxes(self, viewport: Size) -> tuple[TouchBox, ...]:
        """As `touch_order`, for what asks often: the edges of what can be touched of each node, its path, and the node as it is."""
        windows: dict[int, tuple[list[TouchBox], list[TouchBox]]] = {i: ([], []) for i in self._window_order()}
        bare: list[TouchBox] = []
        stack: list[tuple[Path, Node, bool, int, int, int, int]] = [
            ((i,), self.windows[i], False, 0, 0, viewport.width, viewport.height) for i in reversed(windows)
        ]
        while stack:
            path, node, in_page, left, top, right, bottom = stack.pop()
            if not node.visible:
                continue
            editable, plain, words, web = _traits(node.class_name)
            in_page = in_page or web
            b = node.bounds
            x0 = b.left if b.left > left else left
            y0 = b.top if b.top > top else top
            x1 = b.right if b.right < right else right
            y1 = b.bottom if b.bottom < bottom else bottom
            shown = x0 < x1 and y0 < y1
            if node.children and (shown or not node.scrollable):
                children = node.children
                clip = (x0, y0, x1, y1) if node.scrollable else (left, top, right, bottom)
                for i in reversed(drawing_sequence(children)):
                    stack.append(((*path, i), children[i], in_page, *clip))
            if not shown:
                continue
            # A page's tree has no stacking order: an empty box of it that takes no touch mostly lies behind (the veil of a dialog).
            says = node.text or node.content_desc
            if editable or node.clickable or node.checkable or node.long_clickable or node.scrollable:
                kind = windows[path[0]][0]
            elif plain and not says:
                kind = bare
            elif in_page and (says or node.children or not words):
                kind = windows[path[0]][0]
            else:
                kind = windows[path[0]][1]
            kind.append((x0, y0, x1, y1, path, node))
        order: list[TouchBox] = []
        for handling, drawn in reversed(windows.values()):
            order += handling[::-1]
            order += drawn[::-1]
        return (*order, *reversed(bare))

    def _window_order(self) -> list[int]:
        """The indexes of the windows, the lowest first."""
        return sorted(range(len(self.windows)), key=lambda i: (-self.windows[i].bounds.area, i))

    def hit_test(self, point: Point, gesture: Gesture, viewport: Size | None = None) -> Hit | None:
        """What a gesture at a point lands on, or None where the point is off the screen or on nothing.

        The rule (one for the whole product): the touch stops at the first node of `touch_order` that holds the point; that
        node's nearest ancestor-or-self that takes the gesture is the target. Linear in the nodes.
        """
        viewport = viewport or self.extent
        if not viewport.contains(point):
            return None
        under = [path for path, node in self.touch_order(viewport) if node.bounds.contains(point)]
        if not under:
            return None
        target = self.nearest(under[0], gesture)
        here = set(under)
        top = next(
            (path for path, node in reversed(self.drawing(viewport)) if path in here and (node.is_drawn or node.handles_touch)),
            under[0],
        )
        occluded: list[Path] = []
        for path in under:
            other = self.nearest(path, gesture)
            if other is not None and other not in occluded and not (target and _one_line(other, target)):
                occluded.append(other)
        return Hit(top, target, tuple(occluded))

    def nearest(self, path: Path, gesture: Gesture) -> Path | None:
        """The node itself or its nearest ancestor that takes the gesture; None past a disabled node that handles touches.

        A switch that is checkable but not clickable leaves taps to a clickable row around it.
        """
        chain = self.chain(path)
        checkable: Path | None = None
        for depth in range(len(path), 0, -1):
            node = chain[depth - 1]
            if not node.enabled and gesture != "scroll" and node.handles_touch:
                return checkable
            if not node.takes(gesture):
                continue
            if gesture != "tap" or node.clickable or node.is_editable:
                return path[:depth]
            checkable = checkable or path[:depth]
        return checkable

    def _from_below(self, screen: Bounds) -> Iterator[tuple[Path, Node, Bounds]]:
        """Every node whose ancestors are visible, from the lowest drawn up, and the part of the screen it is clipped to."""
        stack: list[tuple[Path, Node, Bounds]] = [((i,), self.windows[i], screen) for i in reversed(self._window_order())]
        while stack:
            path, node, clip = stack.pop()
            if not node.visible:
                continue
            yield path, node, clip
            if node.children:
                inside = clip.intersect(node.bounds) if node.scrollable else clip
                children = node.children
                for i in reversed(drawing_sequence(children)):
                    stack.append(((*path, i), children[i], inside))


def _one_line(a: Path, b: Path) -> bool:
    """True where one is the other or an ancestor of it."""
    shorter = min(len(a), len(b))
    return a[:shorter] == b[:shorter]


def drawing_sequence(children: tuple[Node, ...]) -> Sequence[int]:
    """The indexes of siblings from the lowest drawn to the topmost."""
    orders = [child.drawing_order or 0 for child in children]
    if not any(orders):
        return range(len(children))
    return sorted(range(len(children)), key=orders.__getitem__)
