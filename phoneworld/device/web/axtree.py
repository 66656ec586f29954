"""Blink's own accessibility tree of a page, joined with its boxes: CDP JSON in, values out. Knows no Android.

`Accessibility.getFullAXTree` says what each node is and where its name came from; `DOMSnapshot.captureSnapshot` says where it
lies, what it scrolls and whether it listens to clicks. They are joined on the backend node id. Coordinates come out in CSS
pixels of the viewport of the whole page: document coordinates, less scrolling, plus the place of the iframe. The page is
never zoomed: as in a WebView by default it is laid out as wide as the screen, whatever its viewport meta says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

COMPUTED_STYLES = ("overflow-x", "overflow-y", "padding-left", "padding-top")

NameFrom = Literal["", "attribute", "related", "contents", "placeholder", "title"]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PageCapture:
    """What was read from a page in one go: the AX nodes of each frame by its id, and the DOM snapshot."""

    frames: Mapping[str, Sequence[Mapping[str, Any]]]
    snapshot: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AxNode:
    """One unignored node. `role` is Blink's role: see `_role`. `box` is x, y, width, height; None where it has no layout."""

    role: str
    name: str = ""
    name_from: NameFrom = ""
    value: str = ""
    placeholder: str = ""
    description: str = ""
    tooltip: str = ""
    tag: str = ""
    html_id: str = ""
    url: str = ""
    checked: str | None = None
    selected: bool = False
    focusable: bool = False
    focused: bool = False
    disabled: bool = False
    readonly: bool = False
    clickable: bool = False
    scrollable: bool = False
    password: bool = False
    editable: bool = False
    rich: bool = False
    box: Box | None = None
    children: tuple[AxNode, ...] = ()

    def walk(self) -> Iterator[AxNode]:
        """This node and all below it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class _Element:
    """What the snapshot knows of a DOM node."""

    tag: str
    attributes: Mapping[str, str]
    box: Box | None
    clickable: bool
    scrollable: bool
    content_document: int | None


def read_page(capture: PageCapture) -> AxNode | None:
    """The page as one tree, iframes included; None where the page has no document yet."""
    reader = _Reader(capture)
    documents = capture.snapshot.get("documents", ())
    return reader.document(0) if documents else None


class _Reader:
    def __init__(self, capture: PageCapture) -> None:
        self._frames = capture.frames
        self._strings: Sequence[str] = capture.snapshot.get("strings", ())
        self._documents: Sequence[Mapping[str, Any]] = capture.snapshot.get("documents", ())
        self._elements: dict[int, _Element] = {}
        self._read: set[int] = set()

    def document(self, index: int) -> AxNode | None:
        """The tree of one document of the snapshot, from its AX root."""
        if index == 0:
            self._place(0, 0.0, 0.0)
        frame_id = self._string(self._documents[index].get("frameId", -1))
        raw = self._frames.get(frame_id, ())
        by_id = {node["nodeId"]: node for node in raw}
        root = next((node for node in raw if "parentId" not in node), None)
        if root is None:
            return None
        built = self._node(root, by_id, "")
        return built[0] if built else None

    def _string(self, index: int) -> str:
        return self._strings[index] if 0 <= index < len(self._strings) else ""

    def _place(self, index: int, left: float, top: float) -> None:
        """Reads the boxes of a document whose viewport lies at (left, top), then of the iframes in it."""
        if index in self._read:
            return
        self._read.add(index)
        document = self._documents[index]
        x0, y0 = left - document.get("scrollOffsetX", 0), top - document.get("scrollOffsetY", 0)
        nodes, layout = document["nodes"], document["layout"]
        boxes: dict[int, int] = {}
        for position, node_index in enumerate(layout["nodeIndex"]):
            boxes.setdefault(node_index, position)
        clickable = set(nodes.get("isClickable", {}).get("index", ()))
        contents = nodes.get("contentDocumentIndex", {})
        inner = dict(zip(contents.get("index", ()), contents.get("value", ()), strict=True))
        viewport = self._viewport_scrolls(document, boxes)
        for i, backend_id in enumerate(nodes["backendNodeId"]):
            flat = nodes["attributes"][i]
            attributes = {self._string(flat[k]): self._string(flat[k + 1]) for k in range(0, len(flat) - 1, 2)}
            at = boxes.get(i)
            box: Box | None = None
            scrolls = False
            if at is not None:
                x, y, width, height = layout["bounds"][at]
                box = (x + x0, y + y0, width, height)
                scrolls = self._scrolls(layout, at)
            if i == 0 and viewport is not None:
                scrolls = viewport
            tag = self._string(nodes["nodeName"][i]).lower()
            self._elements[backend_id] = _Element(tag, attributes, box, i in clickable, scrolls, inner.get(i))
            if i in inner and at is not None and box is not None:
                frame_left, frame_top = self._content_corner(layout, at)
                self._place(inner[i], box[0] + frame_left, box[1] + frame_top)

    def _scrolls(self, layout: Mapping[str, Any], position: int) -> bool:
        """True where the box has more content than room and a finger may scroll it (Blink's user-scrollable)."""
        scroll, client = layout.get("scrollRects", ()), layout.get("clientRects", ())
        styles = layout["styles"][position]
        if position >= len(scroll) or not scroll[position] or not client[position] or len(styles) < 2:
            return False
        over_x, over_y = self._string(styles[0]), self._string(styles[1])
        wide = scroll[position][2] > client[position][2] + 1 and over_x in ("auto", "scroll")
        tall = scroll[position][3] > client[position][3] + 1 and over_y in ("auto", "scroll")
        return wide or tall

    def _viewport_scrolls(self, document: Mapping[str, Any], boxes: Mapping[int, int]) -> bool | None:
        """True where a finger may scroll the document itself. None where nothing is laid out.

        The overflow of `html`, or of `body` where that is visible, is the overflow of the viewport (CSS Overflow 3).
        """
        layout, nodes = document["layout"], document["nodes"]
        if 0 not in boxes:
            return None
        over = ["visible", "visible"]
        for position in boxes.values():
            node = layout["nodeIndex"][position]
            tag = self._string(nodes["nodeName"][node])
            styles = layout["styles"][position]
            if tag in ("HTML", "BODY") and len(styles) >= 2:
                over = [own if own != "visible" else self._string(styles[axis]) for axis, own in enumerate(over)]
            if tag == "BODY":
                break
        width, height = layout["bounds"][boxes[0]][2:4]
        wide = document.get("contentWidth", 0) > width + 1 and over[0] not in ("hidden", "clip")
        tall = document.get("contentHeight", 0) > height + 1 and over[1] not in ("hidden", "clip")
        return bool(wide or tall)

    def _content_corner(self, layout: Mapping[str, Any], position: int) -> tuple[float, float]:
        """From the border box of an iframe to its content: border and padding."""
        client = layout.get("clientRects", ())
        border = client[position][:2] if position < len(client) and client[position] else (0, 0)
        styles = layout["styles"][position]
        padding = [_pixels(self._string(s)) for s in styles[2:4]] if len(styles) >= 4 else [0.0, 0.0]
        return border[0] + padding[0], border[1] + padding[1]

    def _node(self, raw: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]], around: str) -> list[AxNode]:
        """The node with its children; the children alone where it is ignored; nothing for the boxes of text lines.

        `around` is how the parent is edited, since only the outermost editable element is a field.
        """
        role = str(raw.get("role", {}).get("value", ""))
        if role == "InlineTextBox":
            return []
        properties = {p["name"]: p["value"].get("value") for p in raw.get("properties", ())}
        editable = str(properties.get("editable") or "")
        inside = editable or around
        children: list[AxNode] = []
        for child_id in raw.get("childIds", ()):
            if (child := by_id.get(child_id)) is not None:
                children.extend(self._node(child, by_id, around if raw.get("ignored") else inside))
        if raw.get("ignored"):
            return children
        element = self._elements.get(raw.get("backendDOMNodeId", -1))
        attributes = element.attributes if element else {}
        tag = element.tag if element else ""
        if element is not None and element.content_document is not None and role in ("Iframe", "IframePresentational"):
            frame = self.document(element.content_document)
            children = [frame] if frame is not None else []
        name, name_from = _name(raw, role)
        return [
            AxNode(
                role=_role(role, tag, editable, properties),
                name=name,
                name_from=name_from,
                value=_text_of(raw.get("value")),
                placeholder=attributes.get("placeholder", attributes.get("aria-placeholder", "")),
                description=_text_of(raw.get("description")),
                tooltip=attributes.get("title", ""),
                tag=tag,
                html_id=attributes.get("id", ""),
                url=str(properties.get("url") or ""),
                checked=_checked(properties),
                selected=bool(properties.get("selected")),
                focusable=bool(properties.get("focusable")),
                focused=bool(properties.get("focused")),
                disabled=bool(properties.get("disabled")),
                readonly=bool(properties.get("readonly")),
                clickable=bool(element and element.clickable),
                scrollable=bool(element and element.scrollable),
                password=tag == "input" and attributes.get("type", "").lower() == "password",
                editable=bool(editable) and not around,
                rich=editable == "richtext" and not around,
                box=element.box if element else None,
                children=tuple(children),
            )
        ]


def _role(role: str, tag: str, editable: str, properties: Mapping[str, Any]) -> str:
    """Blink's role where CDP gives the ARIA name for several of them: buttons, comboboxes.

    CDP's `chromeRole` would tell them apart, but its numbers change from version to version.
    """
    match role:
        case "button" if properties.get("pressed") is not None:
            return "ToggleButton"
        case "button" if properties.get("hasPopup"):
            return "PopUpButton"
        case "combobox" if tag == "select":
            return "ComboBoxSelect"
        case "combobox" if editable:
            return "TextFieldWithComboBox"
        case "combobox":
            return "ComboBoxMenuButton"
        case _:
            return role


def _name(raw: Mapping[str, Any], role: str) -> tuple[str, NameFrom]:
    """The accessible name and the kind of the first source that gave it."""
    name = _text_of(raw.get("name"))
    if role == "RootWebArea":
        return name, "title"
    for source in raw.get("name", {}).get("sources", ()):
        if source.get("superseded") or source.get("invalid") or not ("value" in source or "attributeValue" in source):
            continue
        match source.get("type"):
            case "attribute":
                return name, "title" if source.get("attribute") == "title" else "attribute"
            case "relatedElement":
                return name, "related"
            case "placeholder":
                return name, "placeholder"
            case "contents" | "implicit":
                return name, "contents"
    return name, ("contents" if name else "")


def _checked(properties: Mapping[str, Any]) -> str | None:
    state = properties.get("checked", properties.get("pressed"))
    return None if state is None else str(state)


def _text_of(value: Mapping[str, Any] | None) -> str:
    found = value.get("value") if value else None
    return "" if found is None else str(found)


def _pixels(style: str) -> float:
    try:
        return float(style.removesuffix("px"))
    except ValueError:
        return 0.0
