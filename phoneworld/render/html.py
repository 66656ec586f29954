"""A tree as a page: where each widget lies, how it is called, which template draws it. Knows no rule of any app.

CSS pixels are device pixels. Widgets lie flat on the screen in drawing order, each in its recorded bounds, so nothing can
reflow. Whatever was recorded enters the page only through Jinja's escaping, as text or as an attribute, never as style.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TypedDict

from markupsafe import Markup

from phoneworld.render import fonts
from phoneworld.render.composition import Composition, Item, Live, Patch, Piece
from phoneworld.render.dressing import caret_style, dress
from phoneworld.render.live import compose
from phoneworld.render.style import Picture
from phoneworld.render.templates import environment, templates_folder
from phoneworld.render.widgets import (
    FROM_TREE,
    TOGGLES,
    UNDRAWN,
    icon_of,
    is_list,
    is_wordless,
    kind_of_look,
    role_of,
    shown_text,
)
from phoneworld.sim.view import View
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node, Path
from phoneworld.ui.system import (
    KEYBOARD_PACKAGE,
    LAUNCHER_PACKAGE,
    SYSTEM_UI_PACKAGE,
    keyboard,
    status_bar,
    status_bar_height,
)

_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff￾￿]")
_KEY_ICONS = {
    "Delete": "backspace", "Enter": "enter", "Shift": "shift", "Hide keyboard": "keyboard_hide", "Space": "", "Symbols": "", "Letters": "",
}  # fmt: skip
_KEY_CAPS = {"Symbols": "?123", "Letters": "ABC", "Space": " "}
_TILE_COLOURS = ("#2a5bd7", "#0b7a5e", "#b3471d", "#7a3fb0", "#a3335b", "#39708a", "#8a6a14", "#4a5568")
TITLE_DP = 18.5
_DIALOG_BUTTONS = ("button1", "button2", "button3")


PictureAddress = Callable[[str, Picture, Bounds | None], str]
"""Where a page finds a picture: its hash, the picture, and which part of it (None: the whole)."""


class Parts(TypedDict):
    """What the screen's templates are filled with. `picture` is empty where there is none; `covers` are inline styles."""

    widgets: list[Widget]
    size: Size
    density: int
    picture: str
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Widget:
    """One node made ready for its template. `style` and `label_style` hold numbers and colours of ours only."""

    node: Node
    path: Path
    kind: str
    classes: str
    style: str
    label_style: str = ""
    text: str = ""
    hint: str = ""
    caption: str = ""
    icon: str = ""
    role: str = ""
    name: str = ""
    aria_checked: str = ""
    small: bool = False
    roomy: bool = False
    percent: int = 0
    live: bool = False
    source: str = ""

    @property
    def template(self) -> str:
        """The file that draws it; empty where its box is all there is to see."""
        return "" if self.kind in UNDRAWN else f"widgets/{self.kind}.html"

    @property
    def path_text(self) -> str:
        return ".".join(map(str, self.path))


def tree_page(hierarchy: Hierarchy, size: Size, density: int) -> str:
    """A whole HTML page that draws a tree from its nodes alone. It refers to nothing outside itself."""
    return page(tree_widgets(hierarchy, size, density), size, density)


def view_page(view: View, pixels: Mapping[str, bytes], *, with_pixels: bool = True) -> str:
    """A whole page that shows a view: recorded pixels where they hold, live widgets where they do not. Self-contained."""
    picture = None
    if with_pixels and view.screenshot and view.screenshot in pixels:
        picture = Picture.decode(pixels[view.screenshot], view.size)
    return page(**view_parts(view, picture, inline_address))


def view_parts(view: View, picture: Picture | None, address: PictureAddress) -> Parts:
    """What the templates need to draw a view. Without a picture, or a tree recorded with it, all is drawn from the tree."""
    widgets: list[Widget] = []
    covers: tuple[str, ...] = ()
    shown = ""
    if picture is None or view.recorded is None or view.screenshot is None:
        picture = None
        widgets += tree_widgets(view.hierarchy, view.size, view.density)
        widgets += _system_widgets(status_bar_of(view), view)
    else:
        made = compose(view.hierarchy, view.recorded, picture, view.density)
        shown = address(view.screenshot, picture, None)
        covers = tuple(f"{box_style(c.bounds)};background:{c.ground.css}" for c in made.covers)
        widgets += _composed(view, picture, made, address)
    if view.keyboard:
        widgets += _system_widgets(keyboard(view.size, view.density), view)
    return {"widgets": widgets, "size": view.size, "density": view.density, "picture": shown, "covers": covers}


def status_bar_of(view: View) -> Node | None:
    """The status bar where a tree without a picture leaves its place free; without a clock, since equal views look equal."""
    height = status_bar_height(view.density)
    strip = Bounds(0, 0, view.size.width, height)
    for node in view.hierarchy.nodes():
        if not node.children and node.visible and node.label and not node.bounds.intersect(strip).is_empty:
            return None
    return status_bar(view.size, view.density, "")


def page(widgets: list[Widget], size: Size, density: int, *, picture: str = "", covers: tuple[str, ...] = ()) -> str:
    """A whole page around one screen."""
    return environment().get_template("screen/page.html").render(
        css=screen_css(), size=size, dp=_number(density / 160), widgets=widgets, picture=picture, covers=covers
    )


def screen_fragment(widgets: list[Widget], size: Size, density: int, *, picture: str = "", covers: tuple[str, ...] = ()) -> str:
    """One screen without a page around it."""
    return environment().get_template("screen/fragment.html").render(
        size=size, dp=_number(density / 160), widgets=widgets, picture=picture, covers=covers
    )


def screen_shell(size: Size) -> str:
    """The page without a screen in it: pictures come from its own origin."""
    return environment().get_template("screen/shell.html").render(css=screen_css(), size=size)


@cache
def screen_css() -> Markup:
    """The style sheet of every screen: a file of ours, so it is not escaped."""
    return Markup((templates_folder() / "screen" / "screen.css").read_text(encoding="utf-8"))


def _system_widgets(root: Node | None, view: View) -> list[Widget]:
    """Widgets of the system's own windows; they are in no dump, so they have no path."""
    if root is None:
        return []
    widgets = tree_widgets(Hierarchy((root,)), view.size, view.density)
    return [replace(w, path=(), classes=w.classes.replace(" window", "").replace(" dialog", "")) for w in widgets]


def _composed(view: View, picture: Picture, made: Composition, address: PictureAddress) -> list[Widget]:
    """The pieces and live widgets of a composition, and for each other node a box without looks that carries its name."""
    told = _subtree_words(view.hierarchy)
    looks: dict[Path, list[Item]] = {}
    for item in made.items:
        looks.setdefault(item.path, []).append(item)
    widgets: list[Widget] = []
    for path, node in view.hierarchy.drawing(view.size):
        plain = _widget(view.hierarchy, path, node, view.size, view.density, told, crowds=False)
        items = looks.get(path, [])
        for item in items:
            widgets += _drawn(item, plain, view, picture, address)
        if not any(isinstance(item, Live) for item in items):
            widgets.append(replace(plain, kind="group", classes="n still"))
    return widgets


def _drawn(item: Item, plain: Widget, view: View, picture: Picture, address: PictureAddress) -> list[Widget]:
    node = plain.node
    bare = replace(plain, kind="group", classes="n still", role="", name="", aria_checked="", label_style="")
    if isinstance(item, Piece):
        source = address(view.screenshot or "", picture, item.source)
        return [replace(bare, kind="piece", classes="n piece", style=box_style(item.target), source=source)]
    if isinstance(item, Patch):
        return [replace(bare, style=f"{box_style(item.cover.bounds)};background:{item.cover.ground.css}")]
    if item.why == "caret":
        return [replace(plain, kind="caret", classes="n still", label_style=caret_style(node, picture, view.density))]
    if item.model is None or plain.kind in FROM_TREE:
        return [plain]
    drawn: list[Widget] = []
    if item.backing is not None:
        drawn.append(replace(bare, style=f"{box_style(item.backing.bounds)};background:{item.backing.ground.css}"))
    look = dress(item, node, view.recorded or view.hierarchy, picture, view.density)
    classes = plain.classes + " live" + (" placed" if "--mark-x" in look.style else "")
    drawn.append(replace(plain, classes=classes, style=box_style(look.box) + look.style, label_style=look.label_style, live=True))
    return drawn


def tree_widgets(hierarchy: Hierarchy, size: Size, density: int) -> list[Widget]:
    """All visible nodes from the lowest drawn to the topmost, made ready for drawing."""
    drawn = hierarchy.drawing(size)
    told = _subtree_words(hierarchy)
    return [_widget(hierarchy, path, node, size, density, told) for path, node in drawn]


def _widget(hierarchy: Hierarchy, path: Path, node: Node, size: Size, density: int, told: dict[Path, bool], *, crowds: bool = True) -> Widget:
    dp = density / 160
    leaf = not any(child.visible for child in node.children)
    kind = kind_of_look(node, leaf=leaf)
    if kind == "text" and not leaf and told[path]:
        kind = "group"
    if kind == "button" and leaf and crowds and _crowds_its_words(node, dp):
        kind = "icon_button"
    if kind == "icon_button" and crowds and _floats(node, size, dp):
        kind = "fab"
    parent = hierarchy.at(path[:-1]) if len(path) > 1 else None
    chain = hierarchy.chain(path)
    of_keyboard = node.package == KEYBOARD_PACKAGE
    in_dialog = _is_dialog(chain[0], size) and not of_keyboard and node.package != SYSTEM_UI_PACKAGE
    text = clean(shown_text(node))
    if kind in ("text", "button") and not text and leaf:
        text = clean(node.content_desc)
    text = text[:4000]
    if kind in TOGGLES and is_wordless(hierarchy, node):
        text = ""
    hint = clean(node.hint or "") if kind == "edit" else ""
    called = clean(shown_text(node) or node.content_desc or node.hint or "")
    box = node.bounds
    classes = ["n", kind]
    if parent is None:
        classes.append("keyboard" if of_keyboard else "dialog" if in_dialog else "window")
        if node.package == LAUNCHER_PACKAGE:
            classes.append("launcher")
    if node.checked:
        classes.append("on")
    if node.focused and kind == "edit":
        classes.append("has-focus")
    if not node.enabled:
        classes.append("off-duty")
    if node.selected and kind in ("group", "text"):
        classes.append("chosen")
    if kind == "button" and box.height > 72 * dp:
        classes.append("slab")
    if in_dialog and kind == "button" and node.resource_id.rsplit("/", 1)[-1] in _DIALOG_BUTTONS:
        classes.append("in-dialog")
    if kind in TOGGLES and not text and box.width < 1.8 * box.height:
        classes.append("lone")
    if parent is not None and is_list(parent) and not in_dialog and box.width > 0.8 * parent.bounds.width and box.height < size.height / 3:
        classes.append("row")
    icon = icon_of(node) if kind in ("image", "icon_button", "fab") else ""
    style = box_style(box)
    if kind == "app_icon":
        style += f";--tile:{_TILE_COLOURS[sum(map(ord, node.text)) % len(_TILE_COLOURS)]}"
    if kind == "key":
        text = text or _KEY_CAPS.get(node.content_desc, "")
        icon = _KEY_ICONS.get(node.content_desc, "")
        if node.content_desc:
            classes.append("special" if node.content_desc != "Space" else "space")
        if node.content_desc == "Enter":
            classes.append("enter")
    words = text or hint
    font_px, lines = label_size(words, box, kind, dp)
    if kind == "text":
        classes.append("title" if font_px >= TITLE_DP * dp else "quiet" if font_px < 13 * dp else "body")
        if _looks_centred(node, parent, font_px):
            classes.append("middle")
    if parent is not None and parent.class_name.endswith("NumberPicker"):
        classes.append("wheel-cell")
    if kind == "edit" and (lines > 1 or box.height > 100 * dp):
        classes.append("many")
    clamp = max(1, int((box.height + 2) / (font_px * 1.3))) if font_px else 1
    return Widget(
        node=node, path=path, kind=kind, classes=" ".join(classes), style=style,
        label_style=f"font-size:{_number(font_px)}px;-webkit-line-clamp:{clamp}" if words or kind == "key" else "",
        text=text, hint=hint, caption=called[:120], icon=icon,
        role=role_of(kind, node), name=called[:200] if kind != "group" or node.clickable else "",
        aria_checked=("true" if node.checked else "false") if node.checkable else "",
        small=min(box.width, box.height) <= 64 * dp, roomy=min(box.width, box.height) >= 88 * dp,
        percent=_percent(node),
    )  # fmt: skip


def label_size(text: str, box: Bounds, kind: str, dp: float) -> tuple[float, int]:
    """The font size for a text in a box, in pixels, and the lines it takes.

    A TextView wraps its text, so its height tells the size; but where the box is far larger than any text of a phone the
    size is the usual one of the widget.
    """
    room = {"edit": 10, "checkbox": 34, "radio": 36, "checked_text": 36, "switch": 52, "spinner": 26, "button": 14}.get(kind, 0) * dp
    width, height = max(4.0, box.width - room), max(4.0, float(box.height))
    usual, largest = {
        "button": (14, 16), "edit": (16, 18), "key": (20, 22), "checkbox": (15, 16), "radio": (15, 16), "switch": (15, 16),
        "checked_text": (16, 16), "spinner": (16, 18),
    }.get(kind, (15, 34))  # fmt: skip
    if kind == "text":
        width *= 0.985
        smallest = (11.5 if height > 30 * dp else 8.5) * dp
        found = fonts.fit(text, width, height, largest_px=largest * dp, smallest_px=smallest)
        if found.size_px >= TITLE_DP * dp:
            found = fonts.fit(text, width, height, largest_px=largest * dp, smallest_px=smallest, bold=True)
        wraps = found.lines * found.size_px * 1.3 > 0.72 * height
        if found.size_px > 24 * dp and not (wraps and len(text) < 12):
            wraps = False
        return (found.size_px, found.lines) if wraps else _capped(fonts.fit(text, width, height, largest_px=usual * dp))
    return _capped(fonts.fit(text, width, height, largest_px=usual * dp, smallest_px=8.5 * dp))


def _capped(found: fonts.Fit) -> tuple[float, int]:
    return found.size_px, found.lines


def _looks_centred(node: Node, parent: Node | None, font_px: float) -> bool:
    """A guess for trees without pictures: the words of what is tapped as a tile or tab stand in its middle."""
    if parent is None or not font_px or len(node.text) > 24:
        return False
    words = fonts.advance(node.text) * font_px
    slack = node.bounds.width - words
    tile = parent.clickable or node.clickable
    return tile and slack > 0 and parent.bounds.width < 4.2 * node.bounds.height and parent.bounds.height > 0


def box_style(box: Bounds) -> str:
    """The inline style that puts an element into its bounds."""
    return f"left:{box.left}px;top:{box.top}px;width:{box.width}px;height:{box.height}px"


def clean(text: str) -> str:
    """The text with what no page can hold (control characters, surrogate halves) shown as the replacement character."""
    return _UNDRAWABLE.sub("�", text)


def data_uri(picture: bytes) -> str:
    """A PNG or JPEG as a URI that needs no network."""
    mime = "image/jpeg" if picture[:2] == b"\xff\xd8" else "image/png"
    return f"data:{mime};base64," + base64.b64encode(picture).decode("ascii")


def inline_address(sha: str, picture: Picture, part: Bounds | None) -> str:
    """The picture, or a part of it, as a URI that needs no network."""
    return data_uri(picture.png if part is None else picture.crop_png(part))


def _is_dialog(window: Node, size: Size) -> bool:
    return window.bounds.width < 0.97 * size.width and window.bounds.height < 0.97 * size.height


def _crowds_its_words(node: Node, dp: float) -> bool:
    """True for a button too small for its words that an icon can stand for: a web page's icon buttons are such."""
    return node.bounds.width < 1.4 * node.bounds.height and fonts.advance(node.label) * 12 * dp > node.bounds.width and icon_of(node) != ""


def _floats(node: Node, size: Size, dp: float) -> bool:
    """True for a large round button in the lower right corner: a floating one, whatever its class."""
    box = node.bounds
    square = 48 * dp <= box.width < 96 * dp and abs(box.width - box.height) < 0.15 * box.width
    return node.clickable and square and box.center.x > 0.7 * size.width and box.center.y > 0.75 * size.height


def _subtree_words(hierarchy: Hierarchy) -> dict[Path, bool]:
    """For each node whether a visible descendant has words of its own."""
    told: dict[Path, bool] = {}

    def visit(path: Path, node: Node) -> bool:
        below = False
        for i, child in enumerate(node.children):
            if visit((*path, i), child):
                below = True
        told[path] = below
        return node.visible and bool(below or node.text or node.content_desc)

    for i, window in enumerate(hierarchy.windows):
        visit((i,), window)
    return told


def _percent(node: Node) -> int:
    """How far a bar is: what its text says, else a third."""
    if node.class_name.endswith(("SeekBar", "ProgressBar", "Slider", "ProgressIndicator")):
        found = re.match(r"\s*(\d{1,3})(?:[.,]\d+)?\s*%?\s*$", node.text)
        if found and int(found[1]) <= 100:
            return int(found[1])
        if found:
            return 50
    return 33


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
