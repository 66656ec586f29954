"""The widgets that can be acted on, as a numbered list for agents that read. Knows trees only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path

LABEL_LIMIT = 200
_GESTURES: tuple[Gesture, ...] = ("tap", "long_press", "scroll", "type")
_ROLES = (
    ("EditText", "field"), ("AutoCompleteTextView", "field"), ("SearchAutoComplete", "field"), ("CheckBox", "checkbox"),
    ("RadioButton", "radio"), ("Switch", "switch"), ("SwitchCompat", "switch"), ("ToggleButton", "switch"),
    ("ImageButton", "button"), ("Button", "button"), ("SeekBar", "slider"), ("Spinner", "dropdown"), ("ImageView", "image"),
    ("RecyclerView", "list"), ("ListView", "list"), ("ScrollView", "list"), ("GridView", "list"), ("TextView", "text"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Element:
    """One widget that takes a gesture. `bounds` is the part of it that is on the screen and not clipped, `point` a pixel at which a touch finds it.

    `label` are its words, or those of what lies inside it; `gestures` what it takes where nothing covers it, the first at `point`.
    """

    index: int
    path: Path
    node: Node
    role: str
    label: str
    bounds: Bounds
    point: Point
    gestures: tuple[Gesture, ...]

    def line(self) -> str:
        """One line of text without line breaks."""
        parts = [str(self.index), self.role]
        if self.label:
            parts.append(_quoted(self.label))
        node = self.node
        if node.is_editable and node.value and node.value != self.label:
            parts.append(f"holding {_quoted(node.value)}")
        if node.checkable:
            parts.append("on" if node.checked else "off")
        if node.selected:
            parts.append("selected")
        if node.focused:
            parts.append("focused")
        if "scroll" in self.gestures:
            parts.append("scrolls")
        if not node.enabled:
            parts.append("disabled")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Listing:
    """A screen in words: what can be acted on, and the lines that show it together with the words that stand between."""

    elements: tuple[Element, ...]
    lines: tuple[str, ...]

    def text(self, limit: int, where: Callable[[Point], str] | None = None) -> str:
        """The lines, cut to `limit` characters; cut text ends with "…". With `where` each element says also where a touch finds it, in its words."""
        lines = self.lines
        if where is not None:
            numbered = iter(self.elements)
            lines = tuple(line if line.startswith("- ") else f"{line} {where(next(numbered).point)}" for line in lines)
        text = "\n".join(lines)
        return text if len(text) <= limit else (text[: limit - 1] + "…" if limit > 0 else "")


def list_screen(hierarchy: Hierarchy, size: Size) -> Listing:
    """What can be acted on now, numbered, and what can be read, in document order. What no touch can find is no element."""
    order = [(path, node.bounds) for path, node in hierarchy.touch_order(size)]
    touchable = dict(order)
    elements: list[Element] = []
    lines: list[str] = []
    told: Path | None = None
    for path, node in hierarchy.walk():
        bounds = touchable.get(path)
        if bounds is None:
            continue
        open_at = _open_points(hierarchy, path, node, bounds, order)
        if open_at:
            gestures = tuple(open_at)
            element = Element(
                len(elements), path, node, _role(node), _label(node, gestures), bounds, open_at[gestures[0]], gestures
            )
            elements.append(element)
            lines.append(element.line())
            if not node.label and gestures != ("scroll",):
                told = path
        elif node.label and not (told and path[: len(told)] == told):
            lines.append(f"- {_quoted(_cut(node.label))}")
    return Listing(tuple(elements), tuple(lines))


def _open_points(
    hierarchy: Hierarchy, path: Path, node: Node, bounds: Bounds, order: list[tuple[Path, Bounds]]
) -> dict[Gesture, Point]:
    """The gestures that the widget takes, each with a pixel at which it really gets it."""
    taken = [g for g in _GESTURES if node.takes(g)]
    if not taken:
        return {}
    points = [(point, top) for point in _points(bounds) if (top := _topmost(point, order)) is not None]
    open_at: dict[Gesture, Point] = {}
    for gesture in taken:
        place = next((point for point, top in points if hierarchy.nearest(top, gesture) == path), None)
        if place is not None:
            open_at[gesture] = place
    return open_at


def _topmost(point: Point, order: list[tuple[Path, Bounds]]) -> Path | None:
    return next((path for path, bounds in order if bounds.contains(point)), None)


def _points(b: Bounds) -> tuple[Point, ...]:
    centre = b.center
    places = ((1, 1), (3, 1), (1, 3), (3, 3), (2, 1), (2, 3), (1, 2), (3, 2))
    quarters = tuple(Point(b.left + b.width * i // 4, b.top + b.height * j // 4) for i, j in places)
    corners = (
        Point(b.left, b.top),
        Point(b.right - 1, b.top),
        Point(b.left, b.bottom - 1),
        Point(b.right - 1, b.bottom - 1),
    )
    return (centre, *quarters, *corners)


def _role(node: Node) -> str:
    for ending, role in _ROLES:
        if node.class_name.endswith(ending):
            return role
    return "item"


def _label(node: Node, gestures: tuple[Gesture, ...]) -> str:
    """The widget's own words, else those inside it; what only scrolls is not called by its content."""
    if node.is_editable:
        return _cut(node.content_desc or node.hint or node.text)
    return _cut(node.label or ("" if gestures == ("scroll",) else " · ".join(_words(node))))


def _cut(words: str) -> str:
    return words if len(words) <= LABEL_LIMIT else words[: LABEL_LIMIT - 1] + "…"


def _words(node: Node) -> list[str]:
    words: list[str] = []
    stack = list(reversed(node.children))
    while stack and sum(map(len, words)) < LABEL_LIMIT:
        child = stack.pop()
        if not child.visible or child.is_editable:
            continue
        if child.label:
            words.append(child.label)
        else:
            stack.extend(reversed(child.children))
    return words


def _quoted(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'
