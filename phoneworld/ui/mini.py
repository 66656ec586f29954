"""What an app that hosts mini-apps draws natively around them, as trees: its own screen, the title bar with the capsule, the menu.

Pure, as `system.py` is. The shapes are those of chat apps' hosts: a bar of 48 dp with the page's title in the middle, and the
capsule (menu and close) at its right end; nobody's own ids or pictures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

BAR_DP = 48
_ROW_DP = 56
_LINE_DP = 24

BarPart = Literal["back", "menu", "close"]
MENU = ("Re-enter mini-app", "Close mini-app", "Cancel")


def bar_height(density: int) -> int:
    """The height of a mini-app's title bar in pixels."""
    return system.px(BAR_DP, density)


def title_bar(size: Size, density: int, title: str, package: str, *, can_go_back: bool) -> Node:
    """The bar under the status bar: an arrow where there is a page to go back to, the title, the capsule."""
    boxes = _bar_boxes(size, density)
    parts = [
        _control(f"{package}:id/actionbar_up", "Back", package, boxes["back"]) if can_go_back else None,
        Node("android.widget.TextView", text=title, resource_id=f"{package}:id/actionbar_title", package=package, bounds=_title_box(size, density)),
        Node(
            "android.widget.LinearLayout", resource_id=f"{package}:id/capsule", package=package,
            bounds=Bounds(boxes["menu"].left, boxes["menu"].top, boxes["close"].right, boxes["close"].bottom),
            children=_numbered((
                _control(f"{package}:id/capsule_menu", "More", package, boxes["menu"]),
                _control(f"{package}:id/capsule_close", "Close", package, boxes["close"]),
            )),
        ),
    ]  # fmt: skip
    top = system.status_bar_height(density)
    return Node(
        "android.widget.RelativeLayout", resource_id=f"{package}:id/actionbar", package=package,
        bounds=Bounds(0, top, size.width, top + bar_height(density)), children=_numbered(tuple(p for p in parts if p is not None)),
    )  # fmt: skip


def bar_part_at(size: Size, density: int, point: Point, *, can_go_back: bool) -> BarPart | None:
    """What of a mini-app's title bar is at a point."""
    for name, box in _bar_boxes(size, density).items():
        if box.contains(point) and (name != "back" or can_go_back):
            return name
    return None


def menu(size: Size, density: int, package: str) -> Node:
    """The sheet that the capsule's menu brings up from the bottom, with the rows of `MENU`."""
    row = system.px(_ROW_DP, density)
    top = size.height - row * len(MENU)
    inset = system.px(24, density)
    rows = []
    for i, words in enumerate(MENU):
        box = Bounds(0, top + i * row, size.width, top + (i + 1) * row)
        line = Node(
            "android.widget.TextView", text=words, resource_id=f"{package}:id/sheet_text", package=package,
            bounds=_line(Bounds(inset, box.top, size.width - inset, box.bottom), density),
        )  # fmt: skip
        rows.append(
            Node(
                "android.widget.LinearLayout", resource_id=f"{package}:id/sheet_item", package=package, clickable=True, focusable=True,
                bounds=box, children=(line,),
            )
        )  # fmt: skip
    box = Bounds(0, top, size.width, size.height)
    sheet = Node("android.widget.LinearLayout", resource_id=f"{package}:id/sheet", package=package, bounds=box, children=_numbered(tuple(rows)))
    return Node("android.widget.FrameLayout", package=package, bounds=box, children=(sheet,))


def host_screen(size: Size, density: int, label: str, minis: tuple[str, ...], package: str) -> Hierarchy:
    """The screen of an app that does nothing but host: its name, and its mini-apps in a list. `host_row_at` finds one."""
    top, bar = system.status_bar_height(density), bar_height(density)
    title = Node(
        "android.widget.TextView", text=label, resource_id=f"{package}:id/title", package=package,
        bounds=_line(Bounds(system.px(16, density), top, size.width - system.px(16, density), top + bar), density),
    )  # fmt: skip
    rows = []
    for i, words in enumerate(minis):
        box = _row_box(size, density, i)
        name = Node(
            "android.widget.TextView", text=words, resource_id=f"{package}:id/mini_name", package=package,
            bounds=_line(Bounds(box.left + system.px(16, density), box.top, box.right - system.px(16, density), box.bottom), density),
        )  # fmt: skip
        rows.append(
            Node(
                "android.widget.LinearLayout", resource_id=f"{package}:id/mini_row", package=package, clickable=True, focusable=True,
                bounds=box, children=(name,),
            )
        )  # fmt: skip
    listing = Node(
        "android.widget.ListView", resource_id=f"{package}:id/minis", package=package, focusable=True,
        bounds=Bounds(0, top + bar, size.width, size.height), children=_numbered(tuple(rows)),
    )  # fmt: skip
    content = Node(
        "android.widget.FrameLayout", resource_id="android:id/content", package=package, bounds=Bounds(0, top, size.width, size.height),
        children=_numbered((title, listing)),
    )  # fmt: skip
    return Hierarchy((Node("android.widget.FrameLayout", package=package, bounds=size.bounds, children=(content,)),))


def host_row_at(size: Size, density: int, minis: int, point: Point) -> int | None:
    """Which mini-app of the host's list is at a point."""
    return next((i for i in range(minis) if _row_box(size, density, i).contains(point)), None)


def _row_box(size: Size, density: int, place: int) -> Bounds:
    top = system.status_bar_height(density) + bar_height(density) + place * system.px(_ROW_DP, density)
    return Bounds(0, top, size.width, top + system.px(_ROW_DP, density)).intersect(size.bounds)


def _bar_boxes(size: Size, density: int) -> dict[BarPart, Bounds]:
    top, bottom = system.status_bar_height(density), system.status_bar_height(density) + bar_height(density)
    inset, unit = system.px(8, density), system.px(44, density)
    right = size.width - inset
    return {
        "back": Bounds(0, top, unit, bottom),
        "menu": Bounds(right - 2 * unit, top + inset, right - unit, bottom - inset),
        "close": Bounds(right - unit, top + inset, right, bottom - inset),
    }


def _title_box(size: Size, density: int) -> Bounds:
    boxes = _bar_boxes(size, density)
    return _line(Bounds(boxes["back"].right, boxes["back"].top, boxes["menu"].left - system.px(8, density), boxes["back"].bottom), density)


def _line(box: Bounds, density: int) -> Bounds:
    """One line of text in the middle of a box, as high as its letters need."""
    height = system.px(_LINE_DP, density)
    top = box.top + (box.height - height) // 2
    return Bounds(box.left, top, box.right, top + height)


def _control(name: str, words: str, package: str, bounds: Bounds) -> Node:
    return Node(
        "android.widget.ImageButton", content_desc=words, resource_id=name, package=package, clickable=True, focusable=True, bounds=bounds
    )


def _numbered(children: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(child, index=i) for i, child in enumerate(children))
