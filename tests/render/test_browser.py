"""Chromium is found, starts as root, and never outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from phoneworld.errors import BrowserError
from phoneworld.render import browser as browser_room
from phoneworld.render.browser import Browser, cdp, find_chromium
from phoneworld.ui.geometry import Size


def group_of(browser: Browser) -> list[psutil.Process]:
    """Every process of a browser: its marked ones and all they started."""
    found = list(browser._processes)
    for process in browser._processes:
        found += process.children(recursive=True)
    return found


def assert_gone(processes: list[psutil.Process]) -> None:
    """Waits for the ends of these processes. A zombie that its new parent has yet to reap counts as gone."""
    for process in processes:
        try:
            process.wait(timeout=20)
        except psutil.TimeoutExpired:
            assert process.status() == psutil.STATUS_ZOMBIE, process


def test_a_page_has_the_size_in_device_pixels_and_nothing_outlives_close() -> None:
    with Browser.launch() as browser:
        page = browser.page(Size(123, 77), scale=2)
        png = page.screenshot()
        assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (246, 154)
        processes = group_of(browser)
        assert len(processes) >= 2
        assert browser.alive
    assert not browser.alive
    assert_gone(processes)
    browser.close()


def test_two_browsers_share_a_thread_and_close_apart() -> None:
    first, second = Browser.launch(), Browser.launch()
    first.close()
    assert second.alive
    assert second.page(Size(10, 10)).evaluate("1 + 1") == 2
    second.close()


def test_another_thread_may_close_but_not_draw() -> None:
    with Browser.launch() as browser:
        processes = group_of(browser)
        caught: list[BrowserError] = []

        def other() -> None:
            try:
                browser.page(Size(10, 10))
            except BrowserError as e:
                caught.append(e)
            browser.close()

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert "another thread" in caught[0].message
        assert_gone(processes)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_chromium_dies_with_its_killed_owner(how: signal.Signals) -> None:
    script = (
        "from phoneworld.render.browser import Browser\n"
        "browser = Browser.launch()\n"
        "print(*[p.pid for p in browser._processes], flush=True)\n"
        "input()\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    processes = [psutil.Process(int(pid)) for pid in owner.stdout.readline().split()]
    processes += [child for p in processes for child in p.children(recursive=True)]
    assert len(processes) >= 2
    owner.send_signal(how)
    owner.communicate()
    assert_gone(processes)


def test_no_chromium_names_the_one_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PHONEWORLD_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr(browser_room, "_BINARIES", ())
    with pytest.raises(BrowserError) as caught:
        find_chromium()
    assert "install" in caught.value.hint and "chromium" in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_playwrights_own_chromium_is_found_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = tmp_path / "chromium-1200" / "chrome-linux" / "chrome"
    binary.parent.mkdir(parents=True)
    binary.write_text("")
    binary.chmod(0o755)
    monkeypatch.delenv("PHONEWORLD_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr(browser_room, "_BINARIES", ())
    assert find_chromium() == binary


def test_a_wrong_path_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(BrowserError, match="/nowhere/chromium"):
        find_chromium()


def test_a_program_that_is_no_chromium_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", "/bin/false")
    with pytest.raises(BrowserError) as caught:
        Browser.launch()
    assert "/bin/false" in caught.value.message and "\n" not in caught.value.message
    monkeypatch.delenv("PHONEWORLD_CHROMIUM")
    with Browser.launch() as browser:
        assert browser.alive


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused the sandbox")
def test_root_is_handled() -> None:
    with Browser.launch() as browser:
        assert any("--no-sandbox" in p.cmdline() for p in browser._processes)


def test_a_cdp_call_answers_what_playwright_answers_and_raises_what_it_raises() -> None:
    with Browser.launch() as browser:
        page = browser.page(Size(200, 100))
        page.set_content("<p>one<p>two<input value=three>")
        session = page.context.new_cdp_session(page)
        asked = {"computedStyles": ["color"], "includePaintOrder": True}
        assert cdp(session, "DOMSnapshot.captureSnapshot", asked, 10_000) == session.send("DOMSnapshot.captureSnapshot", asked)
        assert cdp(session, "Page.getFrameTree", None, 10_000) == session.send("Page.getFrameTree")
        with pytest.raises(PlaywrightError, match="nonsense"):
            cdp(session, "Page.nonsense", {}, 10_000)
        with pytest.raises(PlaywrightTimeout):
            cdp(session, "Runtime.evaluate", {"expression": "new Promise(() => 0)", "awaitPromise": True}, 50)
