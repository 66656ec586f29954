"""The whole screen as a PNG: the page's own pixels, with what the system draws pasted around and over them."""

from __future__ import annotations

import io
from contextlib import suppress

from PIL import Image
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from phoneworld.errors import BrowserError
from phoneworld.render.browser import Browser
from phoneworld.render.html import tree_page
from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy

# What Android leaves of the window behind a dialog (its dim amount is 0.6).
_DIMMED = 0.4


class SystemPictures:
    """Draws trees of the system, each once, in a page of its own. Belongs to the browser's thread."""

    def __init__(self, browser: Browser, size: Size, density: int) -> None:
        self._browser = browser
        self._size = size
        self._density = density
        self._page: Page | None = None
        self._drawn: dict[Hierarchy, Image.Image] = {}

    def image(self, hierarchy: Hierarchy, bounds: Bounds) -> Image.Image:
        """The drawing of a tree, cut to some bounds of the screen."""
        whole = self._drawn.get(hierarchy)
        if whole is None:
            if len(self._drawn) >= 32:
                self._drawn.clear()
            whole = self._drawn[hierarchy] = self._draw(hierarchy)
        return whole.crop((bounds.left, bounds.top, bounds.right, bounds.bottom))

    def _draw(self, hierarchy: Hierarchy) -> Image.Image:
        if self._page is None:
            self._page = self._browser.page(self._size)
        try:
            self._page.set_content(tree_page(hierarchy, self._size, self._density), wait_until="load")
            png = self._page.screenshot(type="png")
        except PlaywrightError as e:
            raise BrowserError(f"Chromium draws no system window: {str(e).splitlines()[0]}", hint="it died; open the device again") from None
        image = Image.open(io.BytesIO(png))
        image.load()
        return image.convert("RGB")

    def close(self) -> None:
        if self._page is not None:
            with suppress(PlaywrightError):
                self._page.context.close()
            self._page = None


def compose(
    page_png: bytes | None,
    size: Size,
    density: int,
    pictures: SystemPictures,
    *,
    clock_text: str,
    keyboard: system.Layer | None = None,
    window: Hierarchy | None = None,
    backdrop: Hierarchy | None = None,
) -> bytes:
    """A PNG of the screen: the page (or the `backdrop` tree, or white), dimmed under a window, the keyboard, the status bar."""
    screen = Image.new("RGB", (size.width, size.height), "white")
    top = system.status_bar_height(density)
    if backdrop is not None:
        screen.paste(pictures.image(backdrop, size.bounds), (0, 0))
    elif page_png is not None:
        screen.paste(Image.open(io.BytesIO(page_png)).convert("RGB"), (0, top))
    bar = Hierarchy((system.status_bar(size, density, clock_text),))
    screen.paste(pictures.image(bar, Bounds(0, 0, size.width, top)), (0, 0))
    if window is not None:
        screen = screen.point(lambda level: int(level * _DIMMED))
        box = window.windows[0].bounds.intersect(size.bounds)
        screen.paste(pictures.image(window, box), (box.left, box.top))
    if keyboard is not None:
        box = system.keyboard_bounds(size, density)
        keys = Hierarchy((system.keyboard(size, density, keyboard),))
        screen.paste(pictures.image(keys, box), (box.left, box.top))
    out = io.BytesIO()
    screen.save(out, "PNG", compress_level=1)
    return out.getvalue()
