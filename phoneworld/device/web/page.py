"""One live page: guarded CDP calls, captures, history, the isolated world. Knows no Android and no phone around it.

While a JavaScript dialog is open every call to the page blocks until it is answered, and so does the touch that opened it.
So each call waits in slices, and gives up with `DialogOpen` as soon as a dialog is known to be there.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Dialog, Page
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from phoneworld.device.web.elements import PageCapture
from phoneworld.device.web.reading import PageReader
from phoneworld.device.web.world import BINDING, GIVE_FILE, SCRIPT, SHOW_PICKER, WORLD, links_script
from phoneworld.errors import BrowserError, CaptureFailed, DeviceLost, DeviceUnusable
from phoneworld.render.browser import cdp, limited
from phoneworld.ui.geometry import Size

_SLICE_MS = 150
_BEGINS_MS = 10
_BUDGET_MS = 9_600
_LOAD_BUDGET_MS = 30_000
_GONE = ("Target page, context or browser has been closed", "Target closed", "Page crashed", "Browser has been closed", "Connection closed")
# A page that navigates in the middle of a call takes its contexts and frames with it: the call is to be made again.
_PAGE_MOVED = "PAGE_MOVED"
_MENDS = (
    ("ERR_UNSAFE_PORT", "no browser opens that port: serve the page on another one, for example 8000"),
    ("ERR_PROXY_CONNECTION_FAILED", "a web phone reaches 127.0.0.1 and localhost only: serve the page on this machine"),
    ("ERR_CONNECTION_REFUSED", "nothing listens there: start its server, for example python -m http.server -d FOLDER --bind 127.0.0.1 PORT"),
    ("Timeout", "something listens there and does not answer: look at its server"),
    ("ERR_SSL", "its server speaks no TLS: http:// in place of https://"),
    ("invalid URL", "for example web:http://127.0.0.1:8000"),
)
"""What Chromium says of a page that it cannot load, and what mends it."""
_BY_VALUE = {"returnByValue": True, "awaitPromise": True}
_MOVED = ("Cannot find context", "Execution context", "No frame", "Frame with the given", "uniqueContextId", "Inspected target navigated")


class DialogOpen(Exception):
    """A JavaScript dialog opened while a call to the page was waiting. Never leaves this package."""


class WebPage:
    """A page of a browser context, watched from an isolated world. Links to `mini_apps` (URLs) are reported, not followed."""

    def __init__(self, page: Page, mini_apps: tuple[str, ...] = ()) -> None:
        self._page = page
        self._mini_apps = mini_apps
        self._crashed = False
        self._context_id: int | None = None
        self._opened = ""
        self._announced = self._followed = 0
        self._popups: set[str] = set()
        self._target: dict[str, Any] = {}
        self._fingers = False
        self._listening = True
        self._patience: dict[str, int] = {}
        self._metrics: dict[str, Any] = {}
        self._metrics_in_doubt = False
        self.dialog: Dialog | None = None
        self._chooser = 0
        self.reports: list[tuple[int, dict[str, Any]]] = []
        page.on("crash", lambda _: self._note_crash())
        page.on("dialog", self._note_dialog)
        with self.guard(), limited(page):
            self._cdp: CDPSession = page.context.new_cdp_session(page)
            self._cdp.on("Runtime.bindingCalled", self._note_report)
            self._cdp.on("Page.windowOpen", self._note_window)
            self._cdp.on("Page.fileChooserOpened", self._note_chooser)
        self._target = self.send("Target.getTargetInfo")["targetInfo"]
        for domain in ("Page", "Runtime", "Accessibility"):
            self.send(f"{domain}.enable")
        self.send("Page.setInterceptFileChooserDialog", {"enabled": True})
        self.send("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD})
        self.send("Page.addScriptToEvaluateOnNewDocument", {"source": SCRIPT + links_script(mini_apps), "worldName": WORLD})
        self.send("Page.addScriptToEvaluateOnNewDocument", {"source": SHOW_PICKER})
        self.reader = PageReader(self.send)
        self._listen(False)

    @classmethod
    def in_context(cls, context: BrowserContext, mini_apps: tuple[str, ...] = ()) -> WebPage:
        """A new page of a context that already has its cookies and storage."""
        try:
            with limited(context):
                page = context.new_page()
        except (PlaywrightError, BrowserError) as e:
            raise DeviceLost(f"Chromium opens no page: {_first_line(e)}", hint="it died or was killed; open the device again") from None
        return cls(page, mini_apps)

    @property
    def url(self) -> str:
        """Where the page is now."""
        return self._page.url

    def title(self) -> str:
        """The document's title. Raises DialogOpen."""
        return str(self.evaluate("document.title") or "").strip()

    def _note_crash(self) -> None:
        self._crashed = True

    def _note_dialog(self, dialog: Dialog) -> None:
        self.dialog = dialog

    def _note_chooser(self, event: dict[str, Any]) -> None:
        self._chooser = int(event.get("backendNodeId", 0))
        self.reports.append((0, {"kind": "file", "multiple": event.get("mode") == "selectMultiple"}))

    def choose_file(self, name: str, mime_type: str, content: bytes) -> None:
        """Gives the file field whose chooser is open a file. A chooser that nobody answers is one that was cancelled."""
        chooser, self._chooser = self._chooser, 0
        if chooser:
            field = self.send("DOM.resolveNode", {"backendNodeId": chooser})["object"]["objectId"]
            words = [{"value": word} for word in (name, mime_type, b64encode(content).decode())]
            self.send_input("Runtime.callFunctionOn", {"objectId": field, "functionDeclaration": GIVE_FILE, "arguments": words})

    def _note_window(self, event: dict[str, Any]) -> None:
        self._opened = str(event.get("url", ""))
        self._announced += 1

    def _note_report(self, event: dict[str, Any]) -> None:
        if event.get("name") == BINDING:
            self.reports.append((int(event["executionContextId"]), json.loads(event["payload"])))

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turns the end of the page or of the browser into DeviceLost, and what else Playwright raises into CaptureFailed."""
        try:
            yield
        except BrowserError as e:
            raise DeviceLost(e.message, hint="open the device again (memory may be short)") from None
        except PlaywrightTimeout as e:
            raise CaptureFailed(
                f"the page did not answer: {_first_line(e)}", code="PAGE_BUSY", hint="its script is busy; wait and try again"
            ) from None
        except PlaywrightError as e:
            line = _first_line(e)
            if self._crashed or self._page.is_closed() or any(words in line for words in _GONE):
                raise DeviceLost(f"the page or its browser is gone: {line}", hint="open the device again (memory may be short)") from None
            raise CaptureFailed(f"the page refused: {line}", code="PAGE_REFUSED", hint="it may be navigating; try again") from None

    def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """One CDP call that may be made again. Raises DialogOpen, DeviceLost, CaptureFailed."""
        patience = self._patience.get(method, _SLICE_MS)
        while True:
            if self._crashed:
                raise DeviceLost("the page crashed", hint="open the device again (memory may be short)")
            if self.dialog is not None:
                raise DialogOpen
            try:
                return cdp(self._cdp, method, params, patience)
            except PlaywrightTimeout:
                if self.dialog is None and patience >= _BUDGET_MS:
                    raise CaptureFailed(
                        f"{method} took more than {_BUDGET_MS} ms", code="PAGE_BUSY", hint="the page's script is busy; wait and try again"
                    ) from None
                if self.dialog is None:
                    # A slow page is asked with more patience from now on, so that the work is not begun twice each time.
                    patience = min(_BUDGET_MS, patience * 4)
                    self._patience[method] = min(patience, 2_400)
            except PlaywrightError as e:
                if any(words in str(e) for words in _MOVED):
                    raise CaptureFailed(
                        f"the page navigated while it was asked: {_first_line(e)}", code=_PAGE_MOVED, hint="wait for it to load"
                    ) from None
                with self.guard():
                    raise

    def send_input(self, method: str, params: dict[str, Any]) -> None:
        """One CDP call that must not be made twice. Raises DialogOpen where it, or one before it, opened a dialog."""
        if self.dialog is not None:
            raise DialogOpen
        if self._metrics_in_doubt:
            self._emulate()
        if method == "Input.dispatchTouchEvent":
            self._fingers = bool(params["touchPoints"])
        self._listen(True)
        try:
            cdp(self._cdp, method, params, _SLICE_MS)
        except PlaywrightTimeout:
            # Either a dialog holds it, or the page's script is busy: then wait until the page answers anything at all.
            self.send("Runtime.evaluate", {"expression": "0"})
        except PlaywrightError as e:
            if not any(words in str(e) for words in _MOVED):
                with self.guard():
                    raise
        if self.dialog is not None:
            raise DialogOpen
        self._listen(self._fingers)

    def _listen(self, listening: bool) -> None:
        """Lets the page take input only while it is ours.

        Chromium has a mouse at the corner of its window, and moves it when a picture is taken or a layout changes. A phone
        has none: what was touched last stays hovered until the next touch, as in a WebView.
        """
        if listening != self._listening:
            self.send("Input.setIgnoreInputEvents", {"ignore": not listening})
            self._listening = listening

    def evaluate(self, expression: str) -> Any:
        """The JSON value of an expression in the main frame's isolated world. It may be run more than once."""
        for attempt in range(3):
            try:
                answer = self.send("Runtime.evaluate", {**_BY_VALUE, "expression": expression, "contextId": self._context()})
            except CaptureFailed as e:
                self._context_id = None
                if e.code != _PAGE_MOVED or attempt == 2:
                    raise
                continue
            if "exceptionDetails" not in answer:
                return answer.get("result", {}).get("value")
            # The document is new, and our script has not run in it yet.
            self._context_id = None
            self.send("Runtime.evaluate", {"expression": SCRIPT + links_script(self._mini_apps), "contextId": self._context()})
        return None

    def run(self, expression: str, context_id: int | None = None) -> None:
        """Runs an expression once, in the main frame's isolated world or in a given one that may be gone by now."""
        self.send_input("Runtime.evaluate", {**_BY_VALUE, "expression": expression, "contextId": context_id or self._context()})

    def _context(self) -> int:
        return self._context_id or self._new_context()

    def _new_context(self) -> int:
        frame = self.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        created = self.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
        self._context_id = int(created["executionContextId"])
        return self._context_id

    def goto(self, url: str) -> None:
        """Loads a URL and waits for its load event, or for a dialog. Raises DeviceUnusable where it cannot be loaded."""
        try:
            self._page.goto(url, wait_until="commit", timeout=_LOAD_BUDGET_MS)
        except PlaywrightError as e:
            if self._crashed or self._page.is_closed() or any(words in str(e) for words in _GONE):
                raise DeviceLost(f"the page or its browser is gone: {_first_line(e)}", hint="open the device again") from None
            if self.dialog is None:
                raise DeviceUnusable(f"{url} cannot be loaded: {_first_line(e)}", hint=_mend_of(e, url)) from None
        self._wait_for_load()

    def _wait_for_load(self) -> None:
        """Until the load event, or a dialog, which would hold it up. A page that never finishes is used as it is."""
        for _ in range(_LOAD_BUDGET_MS // _SLICE_MS):
            if self.dialog is not None:
                return
            with self.guard(), suppress(PlaywrightTimeout):
                self._page.wait_for_load_state("load", timeout=_SLICE_MS)
                return

    def capture(self) -> PageCapture:
        """The accessibility tree of every frame with its elements, read in one go."""
        for attempt in range(3):
            try:
                return self.reader.capture()
            except CaptureFailed as e:
                if e.code != _PAGE_MOVED or attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def picture(self) -> bytes:
        """A PNG of the viewport. A blinking caret is held in its visible phase while the picture is taken.

        For that moment the focused document has one more adopted style sheet; nothing else of it changes.
        """
        held = self.focused_field()[0] > 0
        if held:
            self.evaluate("phoneworld.holdCaret()")
        try:
            shot = self.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        finally:
            # Chromium changes the emulated screen to take a picture, and at times puts it back so that touches arrive
            # divided by the scale, until the screen is set again (seen in 156: about one page in three).
            self._metrics_in_doubt = True
            if held and self.dialog is None:
                self.evaluate("phoneworld.releaseCaret()")
        return b64decode(shot["data"])

    def focused_field(self) -> tuple[int, float]:
        """A number for the editable element that has the focus, the same as long as it is the same, 0 for none; and one
        for the document it is in."""
        found = self.evaluate("phoneworld.focus()")
        return (int(found["id"]), float(found["document"])) if isinstance(found, dict) else (0, 0.0)

    def take_reports(self) -> list[tuple[int, dict[str, Any]]]:
        """What the isolated world has reported since it was last asked, with the context it came from."""
        taken, self.reports = self.reports, []
        return taken

    def set_viewport(self, viewport: Size, screen: Size, dpr: float) -> None:
        """Shows the page in a viewport, in CSS pixels, on a screen of a size; it gets its resize events.

        This session has to emulate the screen, and Playwright must not: pictures come at full scale only in the session
        that emulates.
        """
        self._metrics = {
            "width": viewport.width, "height": viewport.height, "deviceScaleFactor": dpr, "mobile": False,
            "screenWidth": screen.width, "screenHeight": screen.height,
        }  # fmt: skip
        self._emulate()

    def _emulate(self) -> None:
        self.send("Emulation.setDeviceMetricsOverride", self._metrics)
        self._metrics_in_doubt = False

    def go_back(self) -> bool:
        """One entry back in the history; False where there is none."""
        entry = self._entry_before()
        if entry is None:
            return False
        self.send_input("Page.navigateToHistoryEntry", {"entryId": entry})
        # The page before goes on for a while; until the other has begun, its load event would be that of the old one.
        with suppress(DialogOpen):
            for _ in range(_BUDGET_MS // _BEGINS_MS):
                if self._current_entry() == entry:
                    break
                self.pause(_BEGINS_MS)
        self._wait_for_load()
        return True

    def can_go_back(self) -> bool:
        """True where the history has an entry before this one. Raises DialogOpen."""
        return self._entry_before() is not None

    def _current_entry(self) -> int | None:
        """The id of the entry that is shown; None while one page takes the place of another."""
        try:
            history = self.send("Page.getNavigationHistory")
        except CaptureFailed:
            return None
        return int(history["entries"][history["currentIndex"]]["id"])

    def _entry_before(self) -> int | None:
        """The id of the entry before this one in the history; the blank page before the app does not count."""
        history = self.send("Page.getNavigationHistory")
        index = history["currentIndex"]
        if index < 1 or history["entries"][index - 1]["url"] == "about:blank":
            return None
        return int(history["entries"][index - 1]["id"])

    def follow_popups(self) -> None:
        """Shows in this page what was opened in a new window, as a WebView without window support does.

        A mini-app is not shown but reported, as one that a link leads to in the page itself is.
        """
        opened, self._opened = self._opened, ""
        # A window is both announced and there, whichever is told first, and is followed once.
        if len(self._page.context.pages) > 1:
            for target in self.send("Target.getTargets")["targetInfos"]:
                if target["type"] == "page" and self._is_popup(target):
                    # Not by Playwright, which waits without a limit for a window that is still being made.
                    with suppress(CaptureFailed):
                        self.send("Target.closeTarget", {"targetId": target["targetId"]})
                    opened = opened or str(target["url"])
                    self._popups.add(target["targetId"])
        windows = max(self._announced, len(self._popups))
        if windows <= self._followed or not opened:
            return
        self._followed = windows
        if any(opened.startswith(link) for link in self._mini_apps):
            self.reports.append((0, {"kind": "mini", "url": opened}))
        elif opened != "about:blank":
            # What cannot be loaded shows Chromium's own error page, as a link in the page itself would.
            with suppress(DeviceUnusable):
                self.goto(opened)

    def _is_popup(self, target: dict[str, Any]) -> bool:
        """True for another page of this page's context; other apps have contexts of their own."""
        own = self._target
        return target["targetId"] != own["targetId"] and target.get("browserContextId") == own.get("browserContextId")

    def answer_dialog(self, accept: bool, text: str = "") -> None:
        """Answers the open JavaScript dialog."""
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            return
        with self.guard(), limited(self._page):
            if accept:
                dialog.accept(text if dialog.type == "prompt" else None)
            else:
                dialog.dismiss()
        if self._fingers:
            # The dialog came while the finger was down, and its end was never sent.
            self.send_input("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})

    def pause(self, duration_ms: float) -> None:
        """Lets time pass for the page, and takes in what it reports meanwhile."""
        with self.guard():
            self._page.wait_for_timeout(duration_ms)

    def close(self) -> None:
        """Closes the page; what its origin has stored stays in the context."""
        if not self._page.is_closed():
            with self.guard(), limited(self._page):
                self._page.close()


def _mend_of(error: Exception, url: str) -> str:
    """What to do about a page that cannot be loaded, by what Chromium says of it."""
    return next((mend for words, mend in _MENDS if words in str(error)), f"is its server running? open {url} in a browser")


def _first_line(error: Exception) -> str:
    """What happened, without the names of the calls that were made: those are ours, not the person's."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
    return re.sub(r"^(?:[A-Z]\w+\.\w+: |Protocol error \([\w.]+\): )+", "", line)
