"""What a phone shows in a state: the tree a dump would give now, and which recorded picture lies under it. Knows no pixels."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node


@dataclass(frozen=True, slots=True)
class View:
    """One screenful.

    `hierarchy` is what UI Automator would dump. `recorded` is the tree that was captured together with `screenshot` (a
    hash); where both trees agree the recorded pixels are right, where they differ the drawing must be live. `recorded` and
    `screenshot` are None where no picture belongs to this state. `keyboard` is True where the soft keyboard is to be
    drawn by us (a recorded picture taken with the keyboard up already shows it). `key` names the looks: equal keys, equal
    pictures.
    """

    hierarchy: Hierarchy
    size: Size
    density: int
    state: DeviceState
    key: str
    recorded: Hierarchy | None = None
    screenshot: str | None = None
    keyboard: bool = False


def above(tree: Hierarchy, top: int) -> Hierarchy:
    """The tree with all but its windows cut at the top of the keyboard, as where Android makes the app smaller (adjustResize).

    What lies below keeps its node, without area, as web pages report what is scrolled out of sight.
    """

    def cut(node: Node) -> Node:
        b = node.bounds
        if b.bottom > top:
            b = Bounds(b.left, b.top, b.right, top) if b.top < top else Bounds(0, 0, 0, 0)
        children = tuple(map(cut, node.children))
        unchanged = b == node.bounds and all(a is c for a, c in zip(children, node.children, strict=True))
        return node if unchanged else replace(node, bounds=b, children=children)

    return replace(tree, windows=tuple(replace(w, children=tuple(map(cut, w.children))) for w in tree.windows))
