"""A Chromium that says nothing any more: what is asked of it ends, by name. It is stopped for real, as a machine without memory stops it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from phoneworld.device.web import WebDevice
from phoneworld.device.web.page import WebPage
from phoneworld.errors import BrowserError, DeviceLost
from phoneworld.render import browser as browser_room
from phoneworld.render.browser import Browser, limited
from phoneworld.ui.geometry import Size
from tests.webapps import ROOT, served

SILENT = "did not answer within"


@pytest.fixture
def browser() -> Iterator[Browser]:
    with Browser.launch() as running:
        yield running


def stop(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on it takes calls and answers none."""
    monkeypatch.setattr(browser_room, "LIMIT_S", 0.3)
    for process in browser._processes:
        os.killpg(os.getpgid(process.pid), signal.SIGSTOP)


def test_a_context_that_is_not_closed_is_a_browser_that_died(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    page = browser.page(Size(100, 100))
    stop(browser, monkeypatch)
    with pytest.raises(BrowserError, match=SILENT), limited(page):
        page.context.close()
    assert not browser.alive


def test_a_page_that_is_not_opened_is_a_browser_that_died(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(browser, monkeypatch)
    with pytest.raises(BrowserError, match=SILENT):
        browser.page(Size(100, 100))


def test_what_is_in_time_is_not_touched(browser: Browser) -> None:
    page = browser.page(Size(100, 100))
    with limited(page):
        assert page.evaluate("1 + 1") == 2
    with limited(browser.page(None).context):
        pass
    assert browser.alive and page.evaluate("2 + 2") == 4


def test_a_driver_that_hangs_is_ended_and_the_next_browser_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread of its own: a driver is shared by all browsers of one."""

    def hang() -> None:
        with Browser.launch() as browser:
            page = browser.page(Size(100, 100))
            stop(browser, monkeypatch)
            driver = browser_room._driver_of[browser._playwright]
            driver.suspend()
            with pytest.raises(BrowserError, match=SILENT), limited(page):
                page.evaluate("1 + 1")
            assert not browser.alive and not driver.is_running()
        monkeypatch.setattr(browser_room, "LIMIT_S", 30.0)
        with Browser.launch() as another:
            assert another.page(Size(100, 100)).evaluate("1 + 1") == 2
            driver = browser_room._driver_of[another._playwright]
            driver.suspend()
            monkeypatch.setattr(browser_room, "LIMIT_S", 0.3)
        assert not driver.is_running(), "closing ends it too"

    monkeypatch.setattr(browser_room, "DRIVER_S", 0.3)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(hang).result()


@pytest.mark.parametrize("closing", [True, False], ids=["page.close", "dialog.accept"])
def test_a_page_that_is_not_closed_or_answered_is_a_phone_that_is_lost(browser: Browser, monkeypatch: pytest.MonkeyPatch, closing: bool) -> None:
    page = WebPage(browser.page(None, touch=True))
    page.run("void setTimeout(() => alert('hello'))")
    while page.dialog is None:
        page.pause(10)
    stop(browser, monkeypatch)
    with pytest.raises(DeviceLost, match=SILENT):
        page.close() if closing else page.answer_dialog(True)


def test_another_page_of_a_context_is_not_opened(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    context = browser.page(None, touch=True).context
    stop(browser, monkeypatch)
    with pytest.raises(DeviceLost, match=SILENT):
        WebPage.in_context(context)


def test_an_app_that_cannot_be_cleared_is_a_phone_that_is_lost_and_can_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(ROOT / "examples" / "webapps" / "notes") as url, WebDevice(url, density=420) as phone:
        stop(phone._browser, monkeypatch)
        with pytest.raises(DeviceLost):
            phone.clear_app(phone.apps()[0].package)
