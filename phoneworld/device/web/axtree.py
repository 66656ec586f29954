"""Blink's own accessibility tree of a page, joined with its boxes: CDP JSON in, values out. Knows no Android.

`Accessibility.getFullAXTree` says what each node is and where its name came from; the elements (`elements.py`) say where it
lies, what it scrolls and whether it listens to clicks. They are joined on the backend node id. The page is never zoomed: as
in a WebView by default it is laid out as wide as the screen, whatever its viewport meta says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from phoneworld.device.web.elements import MAIN_FRAME, Box, PageCapture

NameFrom = Literal["", "attribute", "related", "contents", "placeholder", "title"]


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


def read_page(capture: PageCapture) -> AxNode | None:
    """The page as one tree, iframes included; None where the page has no document yet."""
    return _Reader(capture).document(MAIN_FRAME)


class _Reader:
    def __init__(self, capture: PageCapture) -> None:
        self._frames = capture.frames
        self._elements = capture.elements

    def document(self, frame_id: str) -> AxNode | None:
        """The tree of one frame's document, from its AX root."""
        raw = self._frames.get(frame_id, ())
        by_id = {node["nodeId"]: node for node in raw}
        root = next((node for node in raw if "parentId" not in node), None)
        if root is None:
            return None
        built = self._node(root, by_id, "")
        return built[0] if built else None

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
        if element is not None and element.frame is not None and role in ("Iframe", "IframePresentational"):
            frame = self.document(element.frame)
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
