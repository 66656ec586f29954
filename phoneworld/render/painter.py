"""The one thread that owns a Chromium, and draws screens with it for all others. Knows HTML and pictures, no views.

There is one painter in a process however many renderers there are. A page is kept for each screen size and reused: only
the screen's HTML is exchanged. Pictures are answered from memory under an address that leads nowhere, all else is refused.
"""

from __future__ import annotations

import base64
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass

from playwright.sync_api import CDPSession, Page, Route
from playwright.sync_api import Error as PlaywrightError

from phoneworld.errors import BrowserError
from phoneworld.render.browser import Browser, limited
from phoneworld.ui.geometry import Size

ORIGIN = "http://phoneworld.invalid"
_PAGES_KEPT = 3
_FRAMES_A_PAGE = 400  # then its context is closed and made anew: Chromium's memory grows with the pictures it has seen
_DRAW_TIMEOUT_MS = 20_000

Pictures = Callable[[str], bytes | None]
"""What lies at a path under ORIGIN; None for nothing."""

_EXCHANGE = """
async html => {
  const old = document.querySelector('img.picture');
  document.body.innerHTML = html;
  const now = document.querySelector('img.picture');
  // The same picture again: the one that is decoded already stays.
  if (old && now && old.getAttribute('src') === now.getAttribute('src')) now.replaceWith(old);
  const lost = [];
  await Promise.all([...document.images].map(i => i.decode().catch(() => lost.push(i.getAttribute('src')))));
  return lost;
}
"""


@dataclass(slots=True)
class _Canvas:
    page: Page
    cdp: CDPSession
    pictures: Pictures | None = None
    frames: int = 0


@dataclass(frozen=True, slots=True)
class _Job:
    shell: str
    fragment: str
    size: Size
    pictures: Pictures
    done: Future[bytes]


class Painter:
    """Draws HTML to PNG in a thread of its own, started with the first job."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._browser: Browser | None = None
        self._canvases: OrderedDict[Size, _Canvas] = OrderedDict()

    def paint(self, shell: str, fragment: str, size: Size, pictures: Pictures) -> bytes:
        """A PNG of exactly this size of a page `shell` with `fragment` as its body. Waits; any thread may ask.

        Raises BrowserError where there is no Chromium, or where it died twice over this job.
        """
        job = _Job(shell, fragment, size, pictures, Future())
        with self._lock:
            if self._closed:
                raise BrowserError("this renderer is closed", hint="make another")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="phoneworld-painter", daemon=True)
                self._thread.start()
            self._jobs.put(job)
        return job.done.result()

    def close(self) -> None:
        """Ends the thread and its Chromium; jobs that were asked for are still done. May be called twice."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            if thread is not None:
                self._jobs.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.done.set_result(self._draw(job))
            except BaseException as e:
                # The asker waits for this future: whatever went wrong must reach it, not this thread's end.
                job.done.set_exception(e)
        self._drop()

    def _draw(self, job: _Job) -> bytes:
        try:
            return self._shoot(job)
        except (PlaywrightError, BrowserError) as e:
            if self._browser is None or (isinstance(e, BrowserError) and self._browser.alive):
                raise
            self._drop()
        try:
            return self._shoot(job)
        except PlaywrightError as e:
            self._drop()
            raise BrowserError(f"Chromium died twice over one screen: {str(e).splitlines()[0]}", hint="see `phoneworld doctor`") from None

    def _shoot(self, job: _Job) -> bytes:
        canvas = self._canvas(job)
        canvas.pictures = job.pictures
        with limited(canvas.page):
            try:
                lost = canvas.page.evaluate(_EXCHANGE, job.fragment)
            finally:
                canvas.pictures = None
            if lost:
                raise BrowserError(f"Chromium could not show {len(lost)} pictures of a screen, {lost[0]!r} first", hint="build the bundle again")
            canvas.frames += 1
            shot = canvas.cdp.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return base64.b64decode(shot["data"])

    def _canvas(self, job: _Job) -> _Canvas:
        canvas = self._canvases.pop(job.size, None)
        if canvas is not None and canvas.frames >= _FRAMES_A_PAGE:
            _close(canvas)
            canvas = None
        if canvas is None:
            while len(self._canvases) >= _PAGES_KEPT:
                _close(self._canvases.popitem(last=False)[1])
            canvas = self._new_canvas(job)
        self._canvases[job.size] = canvas
        return canvas

    def _new_canvas(self, job: _Job) -> _Canvas:
        if self._browser is None:
            self._browser = Browser.launch()
        page = self._browser.page(job.size)
        page.set_default_timeout(_DRAW_TIMEOUT_MS)
        with limited(page):
            canvas = _Canvas(page, page.context.new_cdp_session(page))

        def answer(route: Route) -> None:
            url = route.request.url
            found = canvas.pictures(url.removeprefix(ORIGIN)) if canvas.pictures and url.startswith(f"{ORIGIN}/") else None
            with suppress(PlaywrightError):  # a page that was closed meanwhile waits for no answer
                if url == f"{ORIGIN}/":
                    route.fulfill(body=job.shell, content_type="text/html; charset=utf-8")
                elif found is None:
                    route.abort()
                else:
                    route.fulfill(body=found, content_type="image/png")

        page.context.route("**/*", answer)
        page.goto(f"{ORIGIN}/")
        return canvas

    def _drop(self) -> None:
        self._canvases.clear()
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(PlaywrightError):
                browser.close()


def _close(canvas: _Canvas) -> None:
    with limited(canvas.page):
        canvas.page.context.close()


class _Shared:
    """The process's painter while somebody uses it. A forked child starts with none."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.painter: Painter | None = None
        self.users = 0


_shared = _Shared()


def _forget() -> None:
    global _shared
    _shared = _Shared()


os.register_at_fork(after_in_child=_forget)


class PainterLease:
    """One user's hold on the process's painter: taken with the first job, let go by `close`."""

    def __init__(self) -> None:
        self._held: _Shared | None = None

    def paint(self, shell: str, fragment: str, size: Size, pictures: Pictures) -> bytes:
        """See `Painter.paint`."""
        shared = _shared
        with shared.lock:
            if shared.painter is None:
                shared.painter = Painter()
            if self._held is not shared:
                self._held = shared
                shared.users += 1
            painter = shared.painter
        return painter.paint(shell, fragment, size, pictures)

    def close(self) -> None:
        """Lets go; the last one to do so ends Chromium. May be called twice."""
        shared, self._held = self._held, None
        if shared is None or shared is not _shared:
            return
        last: Painter | None = None
        with shared.lock:
            shared.users -= 1
            if shared.users == 0:
                last, shared.painter = shared.painter, None
        if last is not None:
            last.close()
