"""How Android shows web content to UI Automator: Blink's tree in, UI Automator's tree out, by rule. Pure.

The rules are those of Chromium's `browser_accessibility_android.cc`, `ax_assistant_structure.cc` and
`AccessibilityNodeInfoBuilder.java`, checked against recorded dumps. There are two profiles: `current` is the WebView of
2024 and later, `old` that of about 2021 (all web text in content-desc, no TextView, Spinner and CheckBox for more roles).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from phoneworld.device.web.axtree import AxNode
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Node

Profile = Literal["current", "old"]

WEB_VIEW = "android.webkit.WebView"
VIEW = "android.view.View"
_TEXT_VIEW = "android.widget.TextView"
_BULLET = "•"

_TEXTS = {"StaticText", "LineBreak", "ListMarker"}
_TEXT_VIEW_CANDIDATES = {"generic", "paragraph", "heading"}
_IFRAMES = {"Iframe", "IframePresentational"}
_DOCUMENTS = {"RootWebArea", "PdfRoot"}
_LINKS = {"link", "doc-backlink", "doc-biblioref", "doc-glossref", "doc-noteref"}
_IMAGES = {"image", "img", "Canvas", "SvgRoot", "graphics-symbol", "doc-cover"}
_DATES = {"Date", "DateTime", "InputTime"}
_RANGES = {"slider", "progressbar", "meter", "scrollbar", "spinbutton", "separator"}
_COMBOBOXES = {"ComboBoxMenuButton", "ComboBoxGrouping", "TextFieldWithComboBox"}
_FIELDS = {"textbox", "searchbox", "spinbutton", "TextFieldWithComboBox"}
_TABLES = {"table", "grid", "treegrid"}
_TABLE_PARTS = {"table", "cell", "gridcell", "row", "LayoutTable", "LayoutTableCell", "LayoutTableRow"}
_COLLECTIONS = {"DescriptionList", "list", "listbox", "tree", "menu", "menubar", "MenuListPopup", "tablist"} | _TABLES
_ALWAYS_LEAVES = {"image", "img", "meter", "scrollbar", "slider", "separator", "progressbar", "button", "ComboBoxSelect"} | _DATES
_CONTAINERS = {
    "Iframe", "IframePresentational", "banner", "complementary", "contentinfo", "form", "main", "navigation", "region",
    "search", "ComboBoxGrouping", "grid", "listbox", "list", "menu", "menubar", "radiogroup", "tablist", "tree", "treegrid",
    "group",
}  # fmt: skip
# Roles that take their name from their content (ARIA). Toggle and popup buttons are not among them.
_NAMED_BY_CONTENT = {
    "button", "cell", "gridcell", "checkbox", "columnheader", "rowheader", "row", "heading", "option", "menuitem",
    "menuitemcheckbox", "menuitemradio", "radio", "switch", "tab", "tooltip", "treeitem", "DisclosureTriangle",
    "DisclosureTriangleGrouped", "StaticText", "LineBreak",
} | _LINKS  # fmt: skip
_CONTROLS = {
    "button", "checkbox", "ColorWell", "ComboBoxMenuButton", "ComboBoxSelect", "DisclosureTriangle",
    "DisclosureTriangleGrouped", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "PopUpButton", "radio",
    "scrollbar", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "TextFieldWithComboBox", "ToggleButton",
    "treegrid", "treeitem", "option",
} | _DATES | _LINKS  # fmt: skip

CLASSES = {
    "searchbox": "android.widget.EditText",
    "spinbutton": "android.widget.EditText",
    "textbox": "android.widget.EditText",
    "TextFieldWithComboBox": "android.widget.EditText",
    "StaticText": _TEXT_VIEW,
    "button": "android.widget.Button",
    "PopUpButton": "android.widget.Button",
    "ToggleButton": "android.widget.ToggleButton",
    "switch": "android.widget.ToggleButton",
    "checkbox": "android.widget.CheckBox",
    "radio": "android.widget.RadioButton",
    "radiogroup": "android.widget.RadioGroup",
    "ColorWell": "android.widget.Spinner",
    "ComboBoxMenuButton": "android.widget.Spinner",
    "Date": "android.widget.Spinner",
    "DateTime": "android.widget.Spinner",
    "InputTime": "android.widget.Spinner",
    "slider": "android.widget.SeekBar",
    "progressbar": "android.widget.ProgressBar",
    "meter": "android.widget.ProgressBar",
    "image": "android.widget.Image",
    "img": "android.widget.Image",
    "Canvas": "android.widget.Image",
    "SvgRoot": "android.widget.Image",
    "list": "android.widget.ListView",
    "listbox": "android.widget.ListView",
    "DescriptionList": "android.widget.ListView",
    "table": "android.widget.GridView",
    "grid": "android.widget.GridView",
    "treegrid": "android.widget.GridView",
    "tablist": "android.widget.TabWidget",
    "menuitem": "android.view.MenuItem",
    "menuitemcheckbox": "android.view.MenuItem",
    "menuitemradio": "android.view.MenuItem",
    "dialog": "android.app.Dialog",
}
OLD_CLASSES = CLASSES | {
    "StaticText": VIEW,
    "PopUpButton": "android.widget.Spinner",
    "ComboBoxSelect": "android.widget.Spinner",
    "switch": "android.widget.CheckBox",
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the WebView lies: `viewport` in pixels of the screen; `dpr` pixels a CSS pixel."""

    viewport: Bounds
    dpr: float

    def bounds(self, box: tuple[float, float, float, float] | None) -> Bounds:
        """The enclosing rectangle in whole CSS pixels, times the scale, cut to the viewport; empty at 0, 0 outside it."""
        if box is None:
            return Bounds(0, 0, 0, 0)
        # Layout is in 64ths of a pixel: what floating point adds on top must not widen the rectangle.
        left, top = math.floor(box[0] + 1e-3), math.floor(box[1] + 1e-3)
        right, bottom = math.ceil(box[0] + box[2] - 1e-3), math.ceil(box[1] + box[3] - 1e-3)
        scale, x, y = self.dpr, self.viewport.left, self.viewport.top
        whole = Bounds(int(left * scale) + x, int(top * scale) + y, int(right * scale) + x, int(bottom * scale) + y)
        return whole.intersect(self.viewport)


def android_tree(root: AxNode, placement: Placement, *, package: str, profile: Profile = "current") -> Node:
    """The web root node (class android.webkit.WebView) and all below it, as UI Automator would dump them."""
    element_has_focus = any(node.focused and node.role not in _DOCUMENTS for node in root.walk())
    return _Converter(placement, package, profile, element_has_focus).node(root, None, 0)


@dataclass(frozen=True, slots=True)
class _Converter:
    placement: Placement
    package: str
    profile: Profile
    element_has_focus: bool

    def node(self, ax: AxNode, parent: AxNode | None, index: int) -> Node:
        leaf = _is_leaf(ax)
        is_root = parent is None
        children = () if leaf else tuple(self.node(child, ax, i) for i, child in enumerate(ax.children))
        text, description = self._words(ax)
        enabled = not ax.disabled and not (self.profile == "old" and ax.readonly)
        return Node(
            class_name=self._class(ax, parent),
            text=text,
            content_desc=description,
            hint=(_hint(ax) or None) if self.profile == "current" else None,
            resource_id=ax.html_id,
            package=self.package,
            checkable=ax.checked is not None and (ax.checked != "mixed" or self.profile == "current"),
            checked=ax.checked == "true",
            clickable=_is_clickable(ax, parent),
            enabled=enabled,
            focusable=_is_focusable(ax, parent),
            focused=ax.focused and (ax.role not in _DOCUMENTS or (is_root and not self.element_has_focus)),
            scrollable=ax.scrollable,
            password=ax.password,
            selected=ax.selected,
            bounds=self.placement.viewport if is_root else self.placement.bounds(ax.box),
            index=index,
            children=children,
        )

    def _class(self, ax: AxNode, parent: AxNode | None) -> str:
        if ax.role in _DOCUMENTS:
            return WEB_VIEW if parent is None else VIEW
        if ax.role in _IMAGES and _is_clickable(ax, parent):
            return "android.widget.ImageButton" if self.profile == "current" else "android.widget.Image"
        if _is_field(ax):
            return "android.widget.EditText"
        if self.profile == "old":
            return OLD_CLASSES.get(ax.role, VIEW)
        if ax.role in _TEXT_VIEW_CANDIDATES and _only_texts(ax):
            return _TEXT_VIEW
        return CLASSES.get(ax.role, VIEW)

    def _words(self, ax: AxNode) -> tuple[str, str]:
        """Text and content-desc."""
        text = _text(ax)
        description = ax.name if _name_goes_to(ax) == "content-desc" else ""
        if ax.role in _LINKS:
            return "", description or text
        if self.profile == "old" and not _is_field(ax):
            return "", description or text
        return text, description


def _is_field(ax: AxNode) -> bool:
    return ax.rich or (ax.role in _FIELDS and (ax.editable or ax.role != "spinbutton" or ax.tag == "input"))


def _is_atomic_field(ax: AxNode) -> bool:
    return _is_field(ax) and not ax.rich


def _only_texts(ax: AxNode) -> bool:
    return all(child.role in _TEXTS for child in ax.children)


def _has_list_marker(ax: AxNode) -> bool:
    return any(child.role == "ListMarker" for child in ax.children)


def _any_below(ax: AxNode, test: Callable[[AxNode], bool]) -> bool:
    return any(test(child) or _any_below(child, test) for child in ax.children)


def _is_leaf(ax: AxNode) -> bool:
    """True where Android drops everything below the node."""
    if not ax.children or _is_atomic_field(ax):
        return True
    if ax.rich:
        return not _any_below(ax, lambda n: n.focusable)
    if ax.role in _IFRAMES or ax.role in _DOCUMENTS:
        return False
    if ax.role in _ALWAYS_LEAVES or ax.role in _TEXTS:
        return True
    if ax.role in _LINKS or ax.role in ("listbox", "tabpanel", "tablist"):
        return False
    if ax.focusable and ax.name_from == "attribute" and ax.role not in ("menuitem", "ComboBoxMenuButton"):
        return False
    if _only_texts(ax) and not _has_list_marker(ax):
        return True
    if ax.name_from == "contents" and (ax.focusable or ax.role == "heading") and _text(ax):
        return not _any_below(ax, lambda n: n.focusable or n.role in _TABLE_PARTS)
    return False


def _name_goes_to(ax: AxNode) -> Literal["text", "content-desc", "title"]:
    """Which property the accessible name becomes; `title` is the container title, which dumps do not hold."""
    match ax.name_from:
        case "attribute" | "related" if ax.role in _CONTAINERS:
            return "title"
        case "attribute" if ax.role in _IMAGES or ax.role in _NAMED_BY_CONTENT:
            return "content-desc"
        case _:
            return "text"


def _promotes_value(ax: AxNode) -> bool:
    """True where the text is the value, even an empty one, and the name goes to the hint."""
    if ax.role in _DATES:
        return True
    if ax.role == "spinbutton":
        return _is_field(ax)
    if ax.role == "ColorWell" or ax.role in _RANGES:
        return False
    return bool(ax.value) or _is_field(ax) or ax.role in _COMBOBOXES


def _value(ax: AxNode) -> str:
    return _BULLET * len(ax.value) if ax.password else ax.value


def _text(ax: AxNode) -> str:
    """What Android takes as the text of the node and, where it is a link, as its description."""
    if ax.role in _IFRAMES:
        return ""
    if _promotes_value(ax) and not ax.rich:
        return _value(ax)
    if ax.role == "ColorWell":
        return ax.value
    goes_to = _name_goes_to(ax)
    text = ax.name if goes_to == "text" and not ax.rich else ""
    if ax.role in _DOCUMENTS or ax.role == "separator":
        return text
    overridden = ax.role in _NAMED_BY_CONTENT and goes_to == "content-desc" and bool(ax.name)
    if not text and not overridden:
        images_too = ax.focusable and all(child.role in _TEXTS or child.role in _IMAGES or child.role == "Video" for child in ax.children)
        if (_only_texts(ax) and not _has_list_marker(ax)) or images_too:
            text = "".join(_text(child) for child in ax.children)
    if ax.rich and not text:
        text = ax.value
    if not text and goes_to == "text" and (ax.role in _LINKS or ax.role in _IMAGES or ax.role == "Video"):
        text = _last_of_url(ax.url)
    return text


def _last_of_url(url: str) -> str:
    """The last segment of a URL without its extension."""
    last = url.rstrip("/").rpartition("/")[2]
    stem, dot, _ = last.rpartition(".")
    return stem if dot else last


def _hint(ax: AxNode) -> str:
    parts: list[str] = []
    if _promotes_value(ax) and _name_goes_to(ax) == "text" and ax.name:
        parts.append(ax.name)
    if ax.name_from != "placeholder" and ax.placeholder:
        parts.append(ax.placeholder)
    if ax.description and ax.description != ax.tooltip:
        parts.append(ax.description)
    return " ".join(parts)


def _is_clickable(ax: AxNode, parent: AxNode | None) -> bool:
    if ax.role in _TEXTS:
        return False
    if ax.clickable and ax.role not in _DOCUMENTS:
        return True
    if ax.role == "heading":
        if len(ax.children) == 1 and ax.children[0].role in _LINKS:
            return True
        if parent is not None and parent.role in _LINKS:
            return True
    if ax.role in _IFRAMES or ax.role in _DOCUMENTS:
        return False
    return ax.role in _CONTROLS or _is_field(ax) or (ax.role == "separator" and ax.focusable)


def _is_focusable(ax: AxNode, parent: AxNode | None) -> bool:
    if ax.role in _IFRAMES or (ax.role in _DOCUMENTS and parent is not None):
        return bool(ax.name)
    if not ax.focusable:
        return False
    wraps_collections = bool(ax.children) and all(child.role in _COLLECTIONS for child in ax.children)
    return not (ax.role == "generic" and not ax.name and wraps_collections)
