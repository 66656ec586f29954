"""A small recorded scene whose every pixel is known: a list in which each row has a colour of its own, a field, toggles."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from phoneworld.sim.view import View
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node, Path

SIZE = Size(360, 640)
DENSITY = 160
PAPER = (250, 250, 250)
INK = (30, 30, 34)
ROW_COLOURS = ((200, 10, 10), (10, 140, 10), (10, 10, 200), (150, 90, 0))
FAB_COLOUR = (120, 0, 160)
SHA = "ab" * 32
ROW = 60
FIELD, BOX, LIST, FAB = (0, 1), (0, 2), (0, 3), (0, 4)


def _rows() -> tuple[Node, ...]:
    rows = []
    for i, name in enumerate(("Alpha", "Bravo", "Charlie", "Delta")):
        top = 200 + i * ROW
        words = Node("android.widget.TextView", name, "x:id/title", bounds=Bounds(60, top + 12, 300, top + 48))
        tick = Node("android.widget.CheckBox", "", "x:id/tick", checkable=True, checked=i == 1, clickable=True, bounds=Bounds(12, top + 14, 44, top + 46))
        rows.append(Node("android.widget.LinearLayout", "", "x:id/row", clickable=True, bounds=Bounds(0, top, 360, top + ROW), children=(tick, words)))
    return tuple(rows)


def tree() -> Hierarchy:
    """The tree that was recorded."""
    heading = Node("android.widget.TextView", "Things 12", "x:id/heading", bounds=Bounds(16, 10, 344, 50))
    field = Node("android.widget.EditText", "", "x:id/search", hint="Search", clickable=True, focusable=True, bounds=Bounds(16, 70, 344, 118))
    box = Node("android.widget.Button", "Save", "x:id/save", clickable=True, bounds=Bounds(100, 136, 260, 180))
    rows = Node("androidx.recyclerview.widget.RecyclerView", "", "x:id/list", scrollable=True, bounds=Bounds(0, 200, 360, 640), children=_rows())
    fab = Node("android.widget.ImageButton", "", "x:id/add", content_desc="Add", clickable=True, bounds=Bounds(280, 390, 336, 446))
    root = Node("android.widget.FrameLayout", bounds=SIZE.bounds, children=(heading, field, box, rows, fab))
    return Hierarchy((root,))


def picture() -> NDArray[np.uint8]:
    """What the screenshot shows: (height, width, 3) uint8."""
    image = Image.new("RGB", (SIZE.width, SIZE.height), PAPER)
    pen = ImageDraw.Draw(image)
    pen.text((16, 18), "Things 12", INK, ImageFont.load_default(24))
    pen.rounded_rectangle((100, 136, 259, 179), 22, (20, 90, 200))
    pen.text((180, 158), "Save", (255, 255, 255), ImageFont.load_default(18), anchor="mm")
    pen.text((20, 86), "Search", (130, 130, 136), ImageFont.load_default(18))
    pen.rectangle((16, 114, 343, 115), (90, 90, 96))
    for i, row in enumerate(_rows()):
        top = row.bounds.top
        pen.text((60, top + 18), row.children[1].text, ROW_COLOURS[i], ImageFont.load_default(22))
        pen.rectangle((18, top + 20, 37, top + 39), (20, 90, 200) if i == 1 else PAPER, (90, 90, 96), 2)
    pen.rectangle((280, 390, 335, 445), FAB_COLOUR)
    return np.asarray(image).copy()


def png(rgb: NDArray[np.uint8] | None = None) -> bytes:
    out = io.BytesIO()
    Image.fromarray(picture() if rgb is None else rgb).save(out, "PNG")
    return out.getvalue()


def view(now: Hierarchy, key: str = "now", *, keyboard: bool = False, recorded: bool = True) -> View:
    return View(now, SIZE, DENSITY, DeviceState("x", ".Main", keyboard), key, tree() if recorded else None, SHA if recorded else None, keyboard)


def change(path: Path, **values: object) -> Hierarchy:
    """The recorded tree with attributes of one node changed."""
    before = tree()
    return before.replace_at(path, replace(before.at(path), **values))  # type: ignore[arg-type]


def shifted(node: Node, dy: int) -> Node:
    return replace(node, bounds=node.bounds.shift(0, dy), children=tuple(shifted(c, dy) for c in node.children))


def without_row(index: int) -> Hierarchy:
    """The list after a row was deleted: those below it have moved up."""
    before = tree()
    rows = before.at(LIST).children
    kept = (*rows[:index], *(shifted(row, -ROW) for row in rows[index + 1 :]))
    return before.replace_at(LIST, replace(before.at(LIST), children=kept))


def near(rgb: NDArray[np.uint8], colour: tuple[int, int, int], tolerance: int = 60) -> NDArray[np.bool_]:
    """Which pixels are about this colour."""
    found: NDArray[np.bool_] = np.abs(rgb.astype(int) - np.array(colour)).sum(axis=2) <= tolerance
    return found


def hued_like(rgb: NDArray[np.uint8], colour: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Which pixels are any mixture of this colour with the paper: antialiased ink of it."""
    away = np.array(PAPER, float) - np.array(colour, float)
    offset = np.array(PAPER, float) - rgb.astype(float)
    share = (offset @ away) / (away @ away)
    rest = np.abs(offset - share[..., None] * away).sum(axis=2)
    found: NDArray[np.bool_] = (share > 0.12) & (rest < 14)
    return found
