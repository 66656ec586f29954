"""The whole screen as a PNG: the page's own pixels, with what the system draws around and over them.

Decoding and encoding 1080x2400 pixels costs far more than taking them. Where nothing lies over the page its PNG is not
decoded: the rows of the status bar and of the keyboard are put above and below its rows, still filtered, and compressed anew.
"""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress

import numpy as np
from PIL import Image, ImageDraw
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from phoneworld.device.web.frame import Screen
from phoneworld.errors import BrowserError
from phoneworld.render.browser import Browser, limited
from phoneworld.render.html import tree_page
from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

# What Android leaves of the window behind a dialog (its dim amount is 0.6).
_DIMMED = 0.4
_CORNER_DP = 16
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_FILTER_NONE, _FILTER_UP = 0, 2


class SystemPictures:
    """Draws trees of the system, each once, in a page of its own. Belongs to the browser's thread."""

    def __init__(self, browser: Browser, size: Size, density: int) -> None:
        self._browser = browser
        self._size = size
        self._density = density
        self._page: Page | None = None
        self._drawn: dict[Hierarchy, Image.Image] = {}
        self._rows: dict[tuple[Hierarchy, Bounds], bytes] = {}

    def image(self, hierarchy: Hierarchy, bounds: Bounds) -> Image.Image:
        """The drawing of a tree, cut to some bounds of the screen."""
        whole = self._drawn.get(hierarchy)
        if whole is None:
            if len(self._drawn) >= 32:
                self._drawn.clear()
                self._rows.clear()
            whole = self._drawn[hierarchy] = self._draw(hierarchy)
        return whole.crop((bounds.left, bounds.top, bounds.right, bounds.bottom))

    def rows(self, hierarchy: Hierarchy, bounds: Bounds) -> bytes:
        """The same as filtered rows of a PNG, ready to be put among others: the first row refers to none above it."""
        key = (hierarchy, bounds)
        if key not in self._rows:
            pixels = np.asarray(self.image(hierarchy, bounds), dtype=np.uint8).reshape(bounds.height, bounds.width * 3)
            filtered = np.empty((bounds.height, bounds.width * 3 + 1), dtype=np.uint8)
            filtered[0, 0], filtered[1:, 0] = _FILTER_NONE, _FILTER_UP
            filtered[0, 1:], filtered[1:, 1:] = pixels[0], pixels[1:] - pixels[:-1]
            self._rows[key] = filtered.tobytes()
        return self._rows[key]

    def _draw(self, hierarchy: Hierarchy) -> Image.Image:
        if self._page is None:
            self._page = self._browser.page(self._size)
        try:
            self._page.set_content(tree_page(hierarchy, self._size, self._density), wait_until="load")
            png = self._page.screenshot(type="png")
        except PlaywrightError as e:
            raise BrowserError(f"Chromium draws no system window: {str(e).splitlines()[0]}", hint="it died; open the device again") from None
        return Image.open(io.BytesIO(png)).convert("RGB")

    def close(self) -> None:
        """Closes the page that draws."""
        if self._page is not None:
            with suppress(PlaywrightError, BrowserError), limited(self._page):
                self._page.context.close()
            self._page = None


def compose(
    page_png: bytes | None,
    screen: Screen,
    pictures: SystemPictures,
    *,
    clock_text: str,
    keyboard: system.Layer | None = None,
    window: Hierarchy | None = None,
    title_bar: Node | None = None,
    backdrop: Hierarchy | None = None,
) -> bytes:
    """A PNG of the screen: the page (or the `backdrop` tree, or white), dimmed under a window, the keyboard, the bars."""
    size, density = screen.size, screen.density
    status = system.status_bar(size, density, clock_text)
    bar = Hierarchy((status,) if title_bar is None else (status, title_bar))
    bar_box = Bounds(0, 0, size.width, screen.top)
    keys = Hierarchy((system.keyboard(size, density, keyboard),)) if keyboard is not None else None
    if page_png is not None and window is None and backdrop is None:
        below = pictures.rows(keys, screen.keyboard) if keys is not None else b""
        if (whole := stack(pictures.rows(bar, bar_box), page_png, below, size)) is not None:
            return whole
    canvas = Image.new("RGB", (size.width, size.height), "white")
    if backdrop is not None:
        canvas.paste(pictures.image(backdrop, size.bounds), (0, 0))
    elif page_png is not None:
        canvas.paste(Image.open(io.BytesIO(page_png)).convert("RGB"), (0, screen.top))
    canvas.paste(pictures.image(bar, bar_box), (0, 0))
    if window is not None:
        canvas = canvas.point(lambda level: int(level * _DIMMED))
        box = window.windows[0].bounds.intersect(size.bounds)
        corners = Image.new("L", (box.width, box.height), 0)
        ImageDraw.Draw(corners).rounded_rectangle((0, 0, box.width - 1, box.height - 1), system.px(_CORNER_DP, density), fill=255)
        canvas.paste(pictures.image(window, box), (box.left, box.top), corners)
    if keys is not None:
        canvas.paste(pictures.image(keys, screen.keyboard), (screen.keyboard.left, screen.keyboard.top))
    out = io.BytesIO()
    canvas.save(out, "PNG", compress_level=1)
    return out.getvalue()


def stack(above: bytes, png: bytes, below: bytes, size: Size) -> bytes | None:
    """One PNG of filtered rows, the rows of a PNG, and filtered rows; None where that PNG is not of the kind or size needed."""
    chunks = dict.fromkeys((b"IHDR", b"IDAT"), b"")
    at = len(_SIGNATURE)
    while at + 8 <= len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind in chunks:
            chunks[kind] += png[at + 8 : at + 8 + length]
        at += 12 + length
    width, _, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    stride = size.width * 3 + 1
    room = size.height * stride - len(above) - len(below)
    rows = zlib.decompress(chunks[b"IDAT"])
    # Eight bits of red, green and blue, not interlaced; and its first row must mean the same under any row above it.
    if width != size.width or form != [8, 2, 0, 0, 0] or len(rows) != room or rows[0] not in (_FILTER_NONE, _FILTER_UP):
        return None
    packer = zlib.compressobj(1)
    packed = b"".join(
        (packer.compress(above), packer.compress(bytes((_FILTER_NONE,))), packer.compress(memoryview(rows)[1:]), packer.compress(below), packer.flush())
    )
    header = struct.pack(">IIBBBBB", size.width, size.height, *form)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
