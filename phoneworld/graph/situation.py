"""What a screen is to somebody who plans: which screen it is, what a widget on it is alike to, and in what circumstances it is.

All of it is read from one tree, so that it can be told of a recording and of a running phone alike. Knows no compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from phoneworld.graph.graph import Capture
from phoneworld.ui.action import Action, CloseApp, OpenApp, PressKey, Swipe, TypeText, Wait, kind_of
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node, Path

_DIGITS = re.compile(r"\d+")
_LONGEST_LABEL = 30
_LABELS_OF_ROW = 3
ON_THE_ROW = "on the row "
"""How the circumstance begins that says which row an action is done on."""
_RECOGNISED = 0.8


@dataclass(frozen=True, slots=True)
class Sketch:
    """What a screen is known by: the marks that all its captures have, and the bare marks of its rows and of what is in them."""

    id: str
    name: str
    package: str
    always: frozenset[str]
    rows: frozenset[str] = frozenset()
    cells: frozenset[str] = frozenset()


def bare_mark(tree: Hierarchy, path: Path) -> str:
    """The kind of a widget, whatever it says: its class and id without numbers, else its class below the nearest widget with an id."""
    *above, node = tree.chain(path)
    return bare_name(node, next((a.resource_id for a in reversed(above) if a.resource_id), ""))


def bare_name(node: Node, owner: str) -> str:
    """The bare mark of a node; `owner` is the id of the nearest widget around it that has one."""
    short = node.class_name.rpartition(".")[2]
    if node.resource_id:
        return f"{short}#{_plain(node.resource_id)}"
    return f"{short}<{_plain(owner)}" if owner else short


def mark(tree: Hierarchy, path: Path, cells: frozenset[str] = frozenset()) -> str:
    """The kind of a widget; outside rows one that has no id is told from its like by its words."""
    bare, node = bare_mark(tree, path), tree.at(path)
    if node.resource_id or node.is_editable or bare in cells or not 0 < len(node.label) <= _LONGEST_LABEL:
        return bare
    return f"{bare} {node.label!r}"


@dataclass(frozen=True, slots=True)
class Scene:
    """A capture as seen with a sketch of its screen: what is in sight with its mark, in document order, and where the rows are."""

    capture: Capture
    sketch: Sketch
    nodes: tuple[tuple[Path, Node, str], ...]
    rows: tuple[Path, ...]

    def alike(self, name: str) -> list[Path]:
        """The places of all widgets with a mark."""
        return [path for path, _, found in self.nodes if found == name]

    def mark(self, path: Path) -> str:
        return mark(self.capture.hierarchy, path, self.sketch.cells)


def scene_of(capture: Capture, sketch: Sketch) -> Scene:
    """Looks at a capture. Linear in the nodes."""
    nodes: list[tuple[Path, Node, str]] = []
    rows: list[Path] = []
    for path, node in in_sight(capture.hierarchy, capture.size):
        nodes.append((path, node, mark(capture.hierarchy, path, sketch.cells)))
        if sketch.rows and not (rows and path[: len(rows[-1])] == rows[-1]) and bare_mark(capture.hierarchy, path) in sketch.rows:
            rows.append(path)
    return Scene(capture, sketch, tuple(nodes), tuple(rows))


def marks(tree: Hierarchy, size: Size) -> frozenset[str]:
    """The marks of everything in sight, by words too where there is no id."""
    return frozenset(mark(tree, path) for path, _ in in_sight(tree, size))


def in_sight(tree: Hierarchy, size: Size) -> Iterator[tuple[Path, Node]]:
    """The nodes that are shown within the screen, in document order."""
    stack: list[tuple[Path, Node]] = [((i,), w) for i, w in reversed(list(enumerate(tree.windows)))]
    while stack:
        path, node = stack.pop()
        if not node.visible:
            continue
        if node.bounds.overlaps(size.bounds):
            yield path, node
        stack.extend(((*path, i), node.children[i]) for i in range(len(node.children) - 1, -1, -1))


def package_in_front(capture: Capture) -> str:
    """The package of what is shown: of the first window that names one, else what the phone says."""
    return next((w.package for w in capture.hierarchy.windows if w.package and w.visible), capture.state.package)


def recognise(sketches: Sequence[Sketch], capture: Capture) -> Sketch | None:
    """The screen that a capture shows: the one with the most of its marks there; None where too many are missing."""
    package, size = package_in_front(capture), capture.size
    bare = marks(capture.hierarchy, size)
    best: tuple[int, float, Sketch] | None = None
    for sketch in sketches:
        if sketch.package != package or not sketch.always:
            continue
        found = len(sketch.always & bare)
        share = found / len(sketch.always)
        if share >= _RECOGNISED and (best is None or (found, share) > best[:2]):
            best = (found, share, sketch)
    return None if best is None else best[2]


def circumstances(scene: Scene, path: Path | None = None) -> frozenset[str]:
    """In words, what may matter to an action on this widget of this screen: rows, ticks, the keyboard, what a field holds."""
    tree, sketch, rows = scene.capture.hierarchy, scene.sketch, scene.rows
    told = ["keyboard up" if scene.capture.state.keyboard else "keyboard down"]
    for _, node, name in scene.nodes:
        if node.focused and node.is_editable and node.value:
            told.append("with pending text" if node.value.strip() else "with blank text")
        if node.selected and node.label and name not in sketch.cells:
            told.append(f"while {node.label!r} is selected")
    if sketch.rows:
        told.append(("no row", "one row")[len(rows)] if len(rows) < 2 else "several rows")
        ticks = [tick for row in rows if (tick := _tick(tree.at(row))) is not None]
        if ticks:
            told.append("all ticked" if all(ticks) else "some ticked" if any(ticks) else "none ticked")
    if path is not None and tree.at(path).focused and tree.at(path).is_editable:
        told.append("on the field with the focus")
    own = None if path is None else next((i for i, r in enumerate(rows) if path[: len(r)] == r), None)
    if own is not None:
        told.append(f"{ON_THE_ROW}{_row_words(tree.at(rows[own]))!r}")
        tick = _tick(tree.at(rows[own]))
        if tick is not None:
            told.append("on a ticked row" if tick else "on an unticked row")
        if len(rows) > 1:
            told.append("on the first row" if own == 0 else "on the last row" if own == len(rows) - 1 else "on a row between")
    return frozenset(told)


def deed_of(scene: Scene, action: Action, hit: Path | None) -> str:
    """What an action is alike to on its screen: its kind and the mark of what it hit; of typing also what sort of text."""
    at = "" if hit is None else f" {scene.mark(hit)}"
    match action:
        case TypeText(text):
            return f"type {sort_of_text(scene.capture, text)}{at or _focused(scene)}"
        case PressKey(key):
            return f"key {key}{_focused(scene) if key == 'enter' else ''}"
        case Swipe(x, y, x2, y2):
            way = ("left" if x2 < x else "right") if abs(x2 - x) > abs(y2 - y) else "up" if y2 < y else "down"
            return f"swipe {way}{at}"
        case OpenApp() | CloseApp() | Wait():
            return kind_of(action)
        case _:
            return f"{kind_of(action)}{at}"


def _focused(scene: Scene) -> str:
    return next((f" {name}" for _, node, name in scene.nodes if node.focused and node.is_editable), "")


def sort_of_text(capture: Capture, text: str) -> Literal["blank", "known", "new"]:
    """Whether a text says nothing, or what the screen shows already."""
    if not text.strip():
        return "blank"
    return "known" if any(not n.is_editable and text.strip() == n.text.strip() for n in capture.hierarchy.nodes()) else "new"


def words_of(told: Iterable[str]) -> str:
    """Circumstances as one phrase."""
    return ", ".join(sorted(told))


def _row_words(row: Node) -> str:
    """The first words of a row: what tells it from the others."""
    labels: dict[str, None] = {}
    stack = [row]
    while stack and len(labels) < _LABELS_OF_ROW:
        node = stack.pop()
        if node.label.strip() and not node.is_editable:
            labels[node.label.strip()[:_LONGEST_LABEL]] = None
        stack.extend(reversed(node.children))
    return " · ".join(labels)


def _tick(row: Node) -> bool | None:
    """Whether the first box of a row is ticked; None where it has none."""
    stack = [row]
    while stack:
        node = stack.pop()
        if node.checkable:
            return node.checked
        stack.extend(reversed(node.children))
    return None


def _plain(name: str) -> str:
    return _DIGITS.sub("*", name.rpartition(":id/")[2] or name)
