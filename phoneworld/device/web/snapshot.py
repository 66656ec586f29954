"""Elements of a page from `DOMSnapshot.captureSnapshot`. Pure: CDP JSON in, values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phoneworld.device.web.elements import MAIN_FRAME, Box, Element

COMPUTED_STYLES = ("overflow-x", "overflow-y", "padding-left", "padding-top")


def elements_of(snapshot: Mapping[str, Any]) -> dict[int, Element]:
    """The elements of all documents by backend node id."""
    reader = _Reader(snapshot)
    if snapshot.get("documents"):
        reader.place(0, 0.0, 0.0)
    return reader.elements


def text_length(snapshot: Mapping[str, Any]) -> int:
    """How many characters were copied."""
    return sum(len(text) for text in snapshot.get("strings", ()))


def frames_of(snapshot: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the frames whose documents are in it; the main frame is `MAIN_FRAME`, and comes first."""
    return tuple(snapshot["strings"][d["frameId"]] if i else MAIN_FRAME for i, d in enumerate(snapshot.get("documents", ())))


class _Reader:
    def __init__(self, snapshot: Mapping[str, Any]) -> None:
        self._strings: Sequence[str] = snapshot.get("strings", ())
        self._documents: Sequence[Mapping[str, Any]] = snapshot.get("documents", ())
        self._frames = frames_of(snapshot)
        self.elements: dict[int, Element] = {}
        self._read: set[int] = set()

    def _string(self, index: int) -> str:
        return self._strings[index] if 0 <= index < len(self._strings) else ""

    def place(self, index: int, left: float, top: float) -> None:
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
                # A document fills its viewport however it is scrolled.
                box, scrolls = (left, top, *layout["bounds"][at][2:]) if at is not None else None, viewport
            tag = self._string(nodes["nodeName"][i]).lower()
            self.elements[backend_id] = Element(tag, attributes, box, i in clickable, scrolls, self._frames[inner[i]] if i in inner else None)
            if i in inner and at is not None and box is not None:
                frame_left, frame_top = self._content_corner(layout, at)
                self.place(inner[i], box[0] + frame_left, box[1] + frame_top)

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


def _pixels(style: str) -> float:
    try:
        return float(style.removesuffix("px"))
    except ValueError:
        return 0.0
