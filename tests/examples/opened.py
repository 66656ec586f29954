"""A reference app in a real Chromium with a touch screen, and what it complained about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Size


@dataclass(frozen=True, slots=True)
class Opened:
    """A page on a 360 x 780 touch screen; `complaints` are its console errors and uncaught exceptions."""

    page: Page
    complaints: list[str]

    def tap(self, *selectors: str) -> None:
        """Taps one element after the other, waiting for each to be there."""
        for selector in selectors:
            self.page.tap(selector)

    def stored(self, key: str) -> Any:
        """What localStorage keeps under a key, parsed."""
        return json.loads(self.page.evaluate("key => localStorage.getItem(key)", key) or "null")

    def says(self, selector: str, text: str) -> None:
        """Waits until the element shows this text, and fails with what it shows instead."""
        self.page.wait_for_selector(selector)
        try:
            self.page.wait_for_function(
                "([selector, text]) => document.querySelector(selector)?.innerText.trim() === text", arg=[selector, text], timeout=5000
            )
        except Exception as e:
            raise AssertionError(f"{selector} shows {self.page.inner_text(selector)!r}, expected {text!r}") from e


@contextmanager
def opened(url: str) -> Iterator[Opened]:
    """Opens an app and asserts, at the end, that it never complained."""
    with Browser.launch() as browser:
        page = browser.page(Size(360, 780), mobile=True, touch=True)
        page.set_default_timeout(15_000)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(url)
        yield Opened(page, complaints)
        assert complaints == []
