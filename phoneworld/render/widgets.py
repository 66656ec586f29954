"""Which look a node gets: its kind by class, its icon by words. One kind, one template in `templates/widgets/`.

Only the tree is read here; colours taken from pictures come from `style.py`.
"""

from __future__ import annotations

import re

from phoneworld.ui.node import Hierarchy, Node, Path
from phoneworld.ui.system import LAUNCHER_PACKAGE

_BY_ENDING: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Keyboard$Key",), "key"),
    (("CheckedTextView",), "checked_text"),
    (("RadioButton",), "radio"),
    (("Switch", "SwitchCompat", "SwitchMaterial", "ToggleButton", "MaterialSwitch"), "switch"),
    (("CheckBox",), "checkbox"),
    (("RatingBar",), "rating"),
    (("SeekBar", "Slider"), "seekbar"),
    (("ProgressBar", "ProgressIndicator"), "progress"),
    (("Spinner",), "spinner"),
    (("FloatingActionButton",), "fab"),
    (("ImageButton",), "icon_button"),
    (("ImageView", "widget.Image", "view.Image"), "image"),
    (("Chip", "Button"), "button"),
    (("VideoView", "SurfaceView", "TextureView", "MapView"), "media"),
    (("CardView",), "card"),
    (("Toolbar", "ActionBarContainer", "AppBarLayout"), "bar"),
    (("BottomNavigationView", "TabLayout", "TabWidget"), "bar"),
    (("WebView",), "web"),
)
UNDRAWN = ("group", "card", "bar")
"""Kinds without a template: a box, or nothing."""
FROM_TREE = (*UNDRAWN, "web", "media", "progress", "seekbar", "rating")
"""Kinds that are drawn as the tree says and never dressed in the colours of their picture: they hold no words or marks that change."""
TOGGLES = ("checkbox", "radio", "switch", "checked_text")
_LISTS = ("ListView", "RecyclerView", "ExpandableListView")

# Words in descriptions and ids, to the names of drawings in templates/widgets/icons.html. The first that matches.
_ICON_WORDS: tuple[tuple[str, str], ...] = (
    ("back", r"navigate up|back|go back|return|arrow_?back|zurück|retour|返回"),
    ("more", r"more options|overflow|more|weitere optionen|更多"),
    ("menu", r"navigation drawer|open drawer|hamburger|menu|菜单"),
    ("search", r"search|find|magnif|suche|搜索"),
    ("close", r"close|dismiss|cancel|clear|remove|关闭"),
    ("add", r"add|new|create|plus|compose|添加|新建"),
    ("delete", r"delete|trash|bin|discard|删除"),
    ("edit", r"edit|rename|pencil|编辑"),
    ("share", r"share|send|分享"),
    ("settings", r"settings?|preferences|options|gear|设置"),
    ("heart", r"favou?rites?|like|heart|收藏"),
    ("star", r"star|rate|rating|bookmark"),
    ("home", r"home|首页"),
    ("person", r"profile|account|avatar|user|contact|person|me|我的"),
    ("mic", r"voice|mic|microphone|speak|语音"),
    ("camera", r"camera|photo|shoot|拍照"),
    ("play", r"play|start|resume|播放"),
    ("pause", r"pause"),
    ("next", r"next|forward|chevron|arrow_?right|skip"),
    ("down", r"expand|dropdown|drop down|collapse|arrow_?down"),
    ("check", r"done|save|confirm|apply|check|ok"),
    ("info", r"info|about|help"),
    ("bell", r"notifications?|alarm|bell|reminder"),
    ("refresh", r"refresh|reload|sync|undo|reset"),
    ("clock", r"time|clock|history|recent"),
    ("calendar", r"date|calendar|day"),
    ("cart", r"cart|basket|shop|buy"),
    ("phone", r"call|phone|dial"),
    ("mail", r"mail|inbox|message|chat"),
    ("filter", r"filter|sort"),
    ("globe", r"language|web|browser|globe|internet"),
    ("lock", r"lock|password|secure"),
    ("location", r"location|map|place|address"),
    ("folder", r"folder|file|directory"),
    ("wifi", r"wi-?fi|signal"),
    ("battery", r"battery"),
    ("download", r"download"),
)
_ICONS = tuple((name, re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE)) for name, words in _ICON_WORDS)


def kind_of_look(node: Node, *, leaf: bool) -> str:
    """The name of the template that draws this node; `group` draws nothing of its own."""
    name = node.class_name.rsplit(".", 1)[-1] if node.class_name.startswith("android.widget") else node.class_name
    if node.is_editable:
        return "edit"
    if node.package == LAUNCHER_PACKAGE and node.resource_id.endswith(":id/icon"):
        return "app_icon"
    for endings, kind in _BY_ENDING:
        if name.endswith(endings) or node.class_name.endswith(endings):
            return _refined(kind, node, leaf)
    if node.checkable and leaf:
        return "checkbox"
    if node.text or (leaf and node.content_desc):
        if leaf and node.clickable and not node.text and _icon_sized(node):
            return "icon_button"
        return "text"
    return "group"


def _refined(kind: str, node: Node, leaf: bool) -> str:
    if kind in ("web", "card", "bar", "media"):
        return kind if leaf or kind in ("card", "bar") else "group"
    if kind == "image" and not leaf:
        return "group"
    if kind in ("button", "icon_button") and not leaf and not node.text:
        return "group"
    return kind


def _icon_sized(node: Node) -> bool:
    width, height = node.bounds.width, node.bounds.height
    return bool(width and height) and 0.6 < width / height < 1.7 and icon_of(node) != ""


def is_list(node: Node) -> bool:
    """True for a container whose children are rows."""
    return node.class_name.endswith(_LISTS)


def icon_of(node: Node) -> str:
    """The name of the drawing that its description or its id calls for; empty where they call for none."""
    words = node.content_desc or node.text
    if words and len(words) < 60:
        for name, pattern in _ICONS:
            if pattern.search(words):
                return name
    local = node.resource_id.rsplit("/", 1)[-1]
    for name, pattern in _ICONS:
        if local and pattern.search(local):
            return name
    return ""


def is_wordless(tree: Hierarchy, toggle: Node) -> bool:
    """True for a toggle that shows no words of its own: web pages give it those of the label beside it."""
    words = toggle.text
    if not words:
        return True
    box = toggle.bounds
    for other in tree.nodes():
        if other is not toggle and other.text == words and not other.children and not other.checkable:
            beside = other.bounds.top < box.bottom and other.bounds.bottom > box.top
            if beside and other.visible:
                return True
    return False


def labels_within(tree: Hierarchy, toggle: Node) -> list[tuple[Path, Node]]:
    """The texts that lie in a toggle's bounds without being part of it, with their paths."""
    box = toggle.bounds
    return [
        (path, node)
        for path, node in tree.walk()
        if node.text and not node.children and node.visible and node is not toggle and not node.checkable and box.contains(node.bounds.center)
    ]


def shown_text(node: Node) -> str:
    """What is to be read on it: bullets for a password, nothing where an old phone gives the hint as the text."""
    text = node.value
    return "•" * len(text) if node.password else text


def role_of(kind: str, node: Node) -> str:
    """The ARIA role of a look; empty where it has none."""
    match kind:
        case "edit":
            return "textbox"
        case "checkbox":
            return "checkbox"
        case "switch":
            return "switch"
        case "radio":
            return "radio"
        case "checked_text":
            return "option"
        case "progress":
            return "progressbar"
        case "seekbar" | "rating":
            return "slider"
        case "spinner":
            return "combobox"
        case "image" | "media":
            return "button" if node.clickable else "img"
        case "button" | "icon_button" | "fab" | "key":
            return "button"
    return "button" if node.clickable else ""
