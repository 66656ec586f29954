"""The phone's settings, driven by touch: masters disable what depends on them, dialogs check, everything is kept."""

from __future__ import annotations

import json

from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Size
from tests.webapps import ROOT, served


def test_masters_disable_dialogs_check_and_all_is_kept() -> None:
    troubles: list[str] = []
    with served(ROOT / "examples" / "webapps" / "settings") as url, Browser.launch() as browser:
        page = browser.page(Size(360, 760), mobile=True, touch=True)
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.goto(url)

        page.tap("#open-network")
        page.tap("#airplane")
        assert page.is_disabled("#open-wifi") and page.is_disabled("#roaming")
        page.tap("#airplane")
        page.tap("#dataLimit")
        page.fill("#limit", "900")
        page.tap("#ask-yes")
        assert page.inner_text("#limit-error") == "From 1 to 500 GB."
        page.fill("#limit", "45")
        page.tap("#ask-yes")
        page.wait_for_function("document.getElementById('dataLimit-summary').textContent === '45 GB a month'")

        page.tap("#open-wifi")
        page.tap("#network-3")
        page.fill("#wifi-password", "short")
        page.tap("#ask-yes")
        assert page.inner_text("#wifi-password-error") == "At least 8 characters, not 5."
        page.go_back()
        page.wait_for_selector("#ask", state="hidden")
        page.tap("#network-3")
        page.fill("#wifi-password", "long enough")
        page.tap("#ask-yes")
        page.wait_for_function("document.getElementById('network-3-summary').textContent.startsWith('Connected')")

        page.evaluate("location.hash = '#/storage'")
        page.tap("#clear-caches")
        page.tap("#ask-yes")
        page.wait_for_selector("#clear-caches:disabled")
        assert page.inner_text("#part-apps-value") == "3.34 GB"

        page.evaluate("location.hash = '#/about'")
        for _ in range(7):
            page.tap("#build")
        page.go_back()
        page.reload()
        assert page.evaluate("location.hash") == "#/storage"
        page.evaluate("location.hash = '#/'")
        page.wait_for_selector("#open-developer")
        assert page.inner_text("#open-network-summary") == "Wi-Fi: Flat 12 upstairs"
        kept = json.loads(page.evaluate("localStorage['settings.values']"))
        assert (kept["dataLimit"], kept["buildTaps"], kept["developer"]) == (45, 7, True)
        assert json.loads(page.evaluate("localStorage['settings.tables']"))["connected"] == 3
        page.context.close()
    assert troubles == []
