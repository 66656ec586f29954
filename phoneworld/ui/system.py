"""What the system draws, as trees: status bar, soft keyboard, dialogs, pickers, launcher. One drawing for every phone of ours.

Pure: sizes in, nodes out. Geometry is in dp (160 to the inch) times the density, after stock Android; the ids are Android's.
The screens around mini-apps are in `mini.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Literal

from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

LAUNCHER_PACKAGE = "com.android.launcher3"
LAUNCHER_ACTIVITY = ".uioverrides.QuickstepLauncher"
KEYBOARD_PACKAGE = "com.android.inputmethod.latin"
SYSTEM_UI_PACKAGE = "com.android.systemui"
DOCUMENTS_PACKAGE = "com.android.documentsui"
DOCUMENTS_ACTIVITY = ".picker.PickActivity"

Layer = Literal["lower", "upper", "symbols"]

_KEY_CLASS = "android.inputmethodservice.Keyboard$Key"
_ROWS: dict[Layer, tuple[str, str, str]] = {
    "lower": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "upper": ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"),
    "symbols": ("1234567890", "@#$_&-+()/", "*\"':;!?"),
}
# What a key with a description does; every other key types its text.
_SPECIAL = {
    "Delete": "backspace", "Enter": "enter", "Shift": "shift", "Space": " ", "Symbols": "symbols",
    "Letters": "letters", "Hide keyboard": "hide",
}  # fmt: skip
_KEYBOARD_DP = 270
_STRIP_DP = 40
_ROW_DP = 48
_LIST_ROWS = 8


def px(dp: float, density: int) -> int:
    """Whole pixels of a length in dp."""
    return round(dp * density / 160)


def status_bar_height(density: int) -> int:
    """The height of the status bar in pixels: 24 dp."""
    return px(24, density)


def status_bar(size: Size, density: int, clock_text: str) -> Node:
    """The bar at the top: the clock at the left, the signal and battery signs at the right."""
    height = status_bar_height(density)
    ui = SYSTEM_UI_PACKAGE

    def sign(place: int, words: str, name: str) -> Node:
        right = size.width - px(10 + 20 * place, density)
        box = Bounds(right - px(16, density), px(4, density), right, height - px(4, density))
        return Node("android.widget.ImageView", content_desc=words, resource_id=f"{ui}:id/{name}", package=ui, bounds=box)

    clock = Node(
        "android.widget.TextView", text=clock_text, content_desc=clock_text, resource_id=f"{ui}:id/clock", package=ui,
        bounds=Bounds(px(12, density), px(2, density), px(72, density), height - px(2, density)),
    )  # fmt: skip
    children = (clock, sign(1, "Wifi signal full.", "wifi_signal"), sign(0, "Battery 100 percent.", "battery"))
    root = Node("android.widget.FrameLayout", resource_id=f"{ui}:id/status_bar", package=ui, bounds=Bounds(0, 0, size.width, height))
    return replace(root, children=_numbered(children))


@lru_cache(maxsize=32)
def keyboard_bounds(size: Size, density: int) -> Bounds:
    """Where the soft keyboard lies: 270 dp at the bottom, never more than two fifths of the screen."""
    height = min(px(_KEYBOARD_DP, density), size.height * 2 // 5)
    return Bounds(0, size.height - height, size.width, size.height)


@lru_cache(maxsize=32)
def keyboard(size: Size, density: int, layer: Layer = "lower") -> Node:
    """The soft keyboard: a strip with the hide key, three rows of characters, a bottom row."""
    bounds = keyboard_bounds(size, density)
    strip = bounds.height * _STRIP_DP // _KEYBOARD_DP
    row_height = (bounds.height - strip) / 4
    unit = size.width / 10
    keys = [_key("", "Hide keyboard", Bounds(size.width - round(unit * 1.2), bounds.top, size.width, bounds.top + strip))]

    def row(number: int, cells: list[tuple[str, str, float]]) -> None:
        """One row from the left; a cell is text, description, width in key widths; a row is centred."""
        top = bounds.top + strip + round(number * row_height)
        bottom = bounds.top + strip + round((number + 1) * row_height)
        x = (size.width - unit * sum(width for _, _, width in cells)) / 2
        for text, description, width in cells:
            keys.append(_key(text, description, Bounds(round(x), top, round(x + unit * width), bottom)))
            x += unit * width

    first, second, third = _ROWS[layer]
    row(0, [(c, "", 1) for c in first])
    row(1, [(c, "", 1) for c in second])
    row(2, [("", "Shift", 1.5), *((c, "", 1) for c in third), ("", "Delete", 1.5)])
    turn = "Letters" if layer == "symbols" else "Symbols"
    row(3, [("", turn, 1.5), (",", "", 1), ("", "Space", 5), (".", "", 1), ("", "Enter", 1.5)])
    root = Node("android.widget.FrameLayout", resource_id=f"{KEYBOARD_PACKAGE}:id/keyboard_view", package=KEYBOARD_PACKAGE, bounds=bounds)
    return replace(root, children=_numbered(tuple(keys)))


def key_at(size: Size, density: int, point: Point, layer: Layer = "lower") -> str | None:
    """What the key at a point does: a character, or backspace, enter, shift, symbols, letters, hide. None between the keys."""
    for left, top, right, bottom, key in _keys(size, density, layer):
        if left <= point.x < right and top <= point.y < bottom:
            return key
    return None


@lru_cache(maxsize=32)
def _keys(size: Size, density: int, layer: Layer) -> tuple[tuple[int, int, int, int, str], ...]:
    """The edges of each key, and what it does."""
    boxes = [(node.bounds, _SPECIAL.get(node.content_desc, node.text)) for node in keyboard(size, density, layer).children]
    return tuple((b.left, b.top, b.right, b.bottom, key) for b, key in boxes)


def dialog(
    size: Size, density: int, title: str, message: str, buttons: tuple[str, ...], package: str, *, field: str | None = None
) -> Node:
    """An AlertDialog with up to three buttons: `android:id/button1` is the first, at the right. `field` adds a text field."""
    width = _dialog_width(size, density)
    inner = width - 2 * px(24, density)
    parts: list[tuple[int, Node]] = []
    if title:
        parts.append((px(18, density), _text("alertTitle", title, package)))
    title_height = _text_height(title, 20, inner, density) if title else 0
    heights = [title_height] if title else []
    if message:
        parts.append((px(12 if title else 20, density), _text("message", message, package)))
        heights.append(min(_text_height(message, 16, inner, density), size.height * 3 // 5))
    if field is not None:
        # Chromium's own prompt dialog names its field so.
        box = Node(
            "android.widget.EditText", text=field, resource_id=f"{package}:id/js_modal_dialog_prompt", package=package,
            clickable=True, focusable=True, focused=True, long_clickable=True,
        )  # fmt: skip
        parts.append((px(8, density), box))
        heights.append(px(48, density))
    total = sum(gap for gap, _ in parts) + sum(heights) + px(16 + 52, density)
    left, top = (size.width - width) // 2, (size.height - total) // 2
    y = top
    children: list[Node] = []
    for (gap, node), height in zip(parts, heights, strict=True):
        y += gap
        box_left = left + px(24, density)
        children.append(replace(node, bounds=Bounds(box_left, y, box_left + inner, y + height)))
        y += height
    bar = _button_bar(Bounds(left, y + px(16, density), left + width, top + total), density, buttons, package)
    return _dialog_frame(Bounds(left, top, left + width, top + total), (*children, bar), package)


def choice_dialog(
    size: Size,
    density: int,
    title: str,
    options: tuple[str, ...],
    selected: int | None,
    package: str,
    *,
    enabled: tuple[bool, ...] = (),
    first: int = 0,
) -> Node:
    """A dialog with a list of single choices; `first` is the option at the top of the list when it is scrolled.

    As in a real ListView only the rows that can be seen are in the tree: see `choice_at` for which option a row is.
    """
    width = _dialog_width(size, density)
    row = px(_ROW_DP, density)
    shown = choice_rows(size, density, len(options))
    head = px(18 + 12, density) + _text_height(title, 20, width - 2 * px(24, density), density) if title else px(8, density)
    total = head + shown * row + px(8, density)
    left, top = (size.width - width) // 2, (size.height - total) // 2
    children: list[Node] = []
    if title:
        box = Bounds(left + px(24, density), top + px(18, density), left + width - px(24, density), top + head - px(12, density))
        children.append(replace(_text("alertTitle", title, package), bounds=box))
    rows = []
    for place in range(shown):
        i = first + place
        if i >= len(options):
            break
        y = top + head + place * row
        able = enabled[i] if i < len(enabled) else True
        rows.append(
            Node(
                "android.widget.CheckedTextView", text=options[i], resource_id="android:id/text1", package=package,
                checkable=True, checked=i == selected, clickable=able, enabled=able, focusable=able,
                bounds=Bounds(left, y, left + width, y + row),
            )
        )  # fmt: skip
    children.append(
        Node(
            "android.widget.ListView", resource_id="android:id/select_dialog_listview", package=package, focusable=True,
            scrollable=len(options) > shown, bounds=Bounds(left, top + head, left + width, top + head + shown * row),
            children=_numbered(tuple(rows)),
        )
    )  # fmt: skip
    return _dialog_frame(Bounds(left, top, left + width, top + total), tuple(children), package)


def choice_rows(size: Size, density: int, options: int) -> int:
    """How many rows of a choice dialog are shown at once."""
    return max(1, min(options, _LIST_ROWS, (size.height * 4 // 5) // px(_ROW_DP, density)))


def picker_dialog(
    size: Size, density: int, columns: tuple[tuple[str, str, str], ...], buttons: tuple[str, ...], package: str, *, focused: int | None = None
) -> Node:
    """A dialog of number pickers, as Android draws dates and times in spinner mode.

    A column is what the button above it, its field, and the button below it say: the value before, the value, the one after.
    """
    width = _dialog_width(size, density)
    cell = (width - 2 * px(16, density)) // len(columns)
    row = px(_ROW_DP, density)
    total = px(16, density) + 3 * row + px(16 + 52, density)
    left, top = (size.width - width) // 2, (size.height - total) // 2
    pickers = []
    for i, (before, value, after) in enumerate(columns):
        x, y = left + px(16, density) + i * cell, top + px(16, density)
        boxes = [Bounds(x, y + n * row, x + cell, y + (n + 1) * row) for n in range(3)]
        button = Node("android.widget.Button", package=package, clickable=True, focusable=True, long_clickable=True)
        field = Node(
            "android.widget.EditText", text=value, resource_id="android:id/numberpicker_input", package=package,
            clickable=True, focusable=True, focused=i == focused, long_clickable=True, bounds=boxes[1],
        )  # fmt: skip
        parts = (replace(button, text=before, bounds=boxes[0]), field, replace(button, text=after, bounds=boxes[2]))
        pickers.append(
            Node(
                "android.widget.NumberPicker", package=package, scrollable=True,
                bounds=Bounds(x, y, x + cell, y + 3 * row), children=_numbered(parts),
            )
        )  # fmt: skip
    bar = _button_bar(Bounds(left, top + total - px(52, density), left + width, top + total), density, buttons, package)
    box = Bounds(left + px(16, density), top + px(16, density), left + px(16, density) + cell * len(columns), top + px(16, density) + 3 * row)
    group = Node("android.widget.LinearLayout", resource_id="android:id/pickers", package=package, bounds=box, children=_numbered(tuple(pickers)))
    return _dialog_frame(Bounds(left, top, left + width, top + total), (group, bar), package)


def launcher(size: Size, density: int, apps: tuple[tuple[str, str], ...]) -> Hierarchy:
    """The home screen: an icon for each (package, label), four in a row, in the order given. `launcher_app_at` finds one."""
    pkg = LAUNCHER_PACKAGE
    icons = tuple(
        Node(
            "android.widget.TextView", text=label or name, content_desc=label or name, resource_id=f"{pkg}:id/icon", package=pkg,
            clickable=True, long_clickable=True, focusable=True, bounds=_icon_bounds(size, density, i),
        )
        for i, (name, label) in enumerate(apps)
    )  # fmt: skip
    top = status_bar_height(density)
    workspace = Node(
        "android.view.ViewGroup", resource_id=f"{pkg}:id/workspace", package=pkg, content_desc="Home",
        bounds=Bounds(0, top, size.width, size.height), children=_numbered(icons),
    )  # fmt: skip
    layer = Node("android.widget.FrameLayout", resource_id=f"{pkg}:id/drag_layer", package=pkg, bounds=size.bounds, children=(workspace,))
    return Hierarchy((Node("android.widget.FrameLayout", package=pkg, bounds=size.bounds, children=(layer,)),))


def launcher_app_at(size: Size, density: int, apps: tuple[tuple[str, str], ...], point: Point) -> str | None:
    """The package of the icon at a point of the home screen."""
    for i, (package, _) in enumerate(apps):
        if _icon_bounds(size, density, i).contains(point):
            return package
    return None


def documents(size: Size, density: int, names: tuple[str, ...]) -> Hierarchy:
    """The system's file chooser: a toolbar with the way back, and a row for each file."""
    pkg = DOCUMENTS_PACKAGE
    top, bar, row, inset = status_bar_height(density), px(56, density), px(64, density), px(16, density)
    line = px(24, density)

    def words(text: str, name: str, left: int, middle: int) -> Node:
        box = Bounds(left, middle - line // 2, size.width - inset, middle - line // 2 + line)
        return Node("android.widget.TextView", text=text, resource_id=name, package=pkg, bounds=box)

    back = Node(
        "android.widget.ImageButton", content_desc="Back", package=pkg, clickable=True, focusable=True, bounds=Bounds(0, top, bar, top + bar)
    )
    toolbar = Node(
        "android.view.ViewGroup", resource_id=f"{pkg}:id/toolbar", package=pkg, bounds=Bounds(0, top, size.width, top + bar),
        children=_numbered((back, words("Downloads", "", bar + inset, top + bar // 2))),
    )  # fmt: skip
    rows = tuple(
        Node(
            "android.widget.LinearLayout", resource_id=f"{pkg}:id/item_root", package=pkg, clickable=True, long_clickable=True, focusable=True,
            bounds=Bounds(0, top + bar + i * row, size.width, top + bar + (i + 1) * row),
            children=(words(name, "android:id/title", inset, top + bar + i * row + row // 2),),
        )
        for i, name in enumerate(names)
    )  # fmt: skip
    listing = Node(
        "androidx.recyclerview.widget.RecyclerView", resource_id=f"{pkg}:id/dir_list", package=pkg, focusable=True,
        bounds=Bounds(0, top + bar, size.width, size.height), children=_numbered(rows),
    )  # fmt: skip
    return Hierarchy((Node("android.widget.FrameLayout", package=pkg, bounds=size.bounds, children=_numbered((toolbar, listing))),))


def _icon_bounds(size: Size, density: int, place: int) -> Bounds:
    cell, height = size.width // 4, px(96, density)
    x, y = (place % 4) * cell, status_bar_height(density) + px(64, density) + (place // 4) * height
    return Bounds(x, y, x + cell, y + height)


def _key(text: str, description: str, bounds: Bounds) -> Node:
    return Node(_KEY_CLASS, text=text, content_desc=description, package=KEYBOARD_PACKAGE, clickable=True, bounds=bounds)


def _text(name: str, text: str, package: str) -> Node:
    return Node("android.widget.TextView", text=text, resource_id=f"android:id/{name}", package=package)


def _dialog_width(size: Size, density: int) -> int:
    return min(size.width - 2 * px(24, density), px(480, density))


def _text_height(text: str, sp: int, width: int, density: int) -> int:
    """The height of wrapped text, by an average glyph width; wide scripts count double."""
    lines = 0
    for line in text.split("\n"):
        units = sum(2 if ord(c) > 0x2E7F else 1 for c in line)
        lines += max(1, -(-units * px(sp * 0.52, density) // max(1, width)))
    return lines * px(sp * 1.35, density)


def _button_bar(box: Bounds, density: int, buttons: tuple[str, ...], package: str) -> Node:
    """The row of buttons: the first at the right, the second to its left, the third at the far left, as Android puts them."""
    nodes: list[Node] = []
    right = box.right - px(12, density)
    for i, text in enumerate(buttons):
        width = max(px(64, density), sum(2 if ord(c) > 0x2E7F else 1 for c in text) * px(8.5, density) + px(24, density))
        x = box.left + px(12, density) if i == 2 else right - width
        bounds = Bounds(x, box.top + px(2, density), x + width, box.top + px(50, density))
        nodes.append(
            Node(
                "android.widget.Button", text=text, resource_id=f"android:id/button{i + 1}", package=package,
                clickable=True, focusable=True, bounds=bounds,
            )
        )  # fmt: skip
        right = x - px(4, density)
    ordered = tuple(sorted(nodes, key=lambda n: n.bounds.left))
    return Node("android.widget.ScrollView", resource_id="android:id/buttonPanel", package=package, bounds=box, children=_numbered(ordered))


def _dialog_frame(bounds: Bounds, children: tuple[Node, ...], package: str) -> Node:
    panel = Node(
        "android.widget.LinearLayout", resource_id="android:id/parentPanel", package=package, bounds=bounds, children=_numbered(children)
    )
    content = Node("android.widget.FrameLayout", resource_id="android:id/content", package=package, bounds=bounds, children=(panel,))
    return Node("android.widget.FrameLayout", package=package, bounds=bounds, children=(content,))


def _numbered(children: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(child, index=i) for i, child in enumerate(children))
