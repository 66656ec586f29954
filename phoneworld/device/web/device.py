"""WebDevice: a web page in Chromium behind the Device protocol, with the phone around it.

The page is one app of a small phone: status bar, launcher, soft keyboard and native windows are ours (`ui/system.py`), the
tree of the page is given as Android shows web content to UI Automator. It reaches nothing but 127.0.0.1 and localhost.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from datetime import UTC, datetime
from typing import assert_never
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import BrowserContext
from playwright.sync_api import Error as PlaywrightError

from phoneworld.device.device import InstalledApp
from phoneworld.device.web import native, touch
from phoneworld.device.web.android import Placement, Profile, android_tree
from phoneworld.device.web.axtree import read_page
from phoneworld.device.web.frame import app_window, content_bounds
from phoneworld.device.web.page import DialogOpen, WebPage
from phoneworld.device.web.picture import SystemPictures, compose
from phoneworld.device.web.world import seeded_random
from phoneworld.errors import ActionError, BrowserError, CaptureFailed, DeviceError, DeviceLost
from phoneworld.render.browser import Browser
from phoneworld.ui import system
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    Key,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    check_on_screen,
    points_of,
)
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy

ACTIVITY = ".MainActivity"
_DRAG_HOLD_MS = 550
# A frozen status bar clock, as Android's own demo mode shows it: pictures must not differ by the minute.
_CLOCK_TEXT = "12:00"
# No request leaves the machine: everything but loopback goes to a proxy that is not there.
_NOWHERE = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1,localhost"}


class WebDevice:
    """One phone with one app: the web page at `url`. Belongs to the thread that made it.

    Args:
        url: The app's start page, on 127.0.0.1 or localhost.
        profile: `current` for the trees of WebViews of 2024 and later, `old` for those of about 2021.
        size: The screen in pixels.
        density: Dots an inch; 480 makes 3 pixels of one CSS pixel.
        package: The app's package name; one is made from the URL where it is empty.
        label: The words under its icon; the page's title where it is empty.
        clock_ms: Freezes the page's `Date` at this Unix time; timers run on.
        seed: Makes `Math.random` repeat, in each document anew.
        browser: A browser of this thread to live in; it stays open. None launches one.

    Raises:
        BrowserError: Chromium is missing.
        DeviceUnusable: The URL cannot be loaded.
    """

    def __init__(
        self,
        url: str,
        *,
        profile: Profile = "current",
        size: Size = Size(1080, 2400),  # noqa: B008
        density: int = 480,
        package: str = "",
        label: str = "",
        clock_ms: int | None = None,
        seed: int | None = None,
        browser: Browser | None = None,
    ) -> None:
        self._url = url
        self._profile: Profile = profile
        self._package = package or package_of(url)
        self._label = label
        self._clock_ms = clock_ms
        self._seed = seed
        self._thread = threading.get_ident()
        self._info = DeviceInfo(
            size=size, density=density, model="WebView", manufacturer="PhoneWorld", android="14", sdk=34, locale="en-US", timezone="UTC"
        )
        self._dpr = density / 160
        self._own_browser = browser is None
        self._browser = browser or Browser.launch()
        self._pictures = SystemPictures(self._browser, size, density)
        self._context: BrowserContext | None = None
        self._page: WebPage | None = None
        self._closed = False
        self._forget_page()
        self._at_home = False
        try:
            self._open("")
        except BaseException:
            self.close()
            raise

    # What it says of itself

    @property
    def serial(self) -> str:
        return f"web:{self._url}"

    @property
    def info(self) -> DeviceInfo:
        return self._info

    def state(self) -> DeviceState:
        """Who is in front and whether the keyboard is up; the clock is the host's unless it was frozen."""
        self._check()
        if not self._at_home:
            self._look()
        package, activity = (system.LAUNCHER_PACKAGE, system.LAUNCHER_ACTIVITY) if self._at_home else (self._package, ACTIVITY)
        clock = self._clock_ms if self._clock_ms is not None else int(time.time() * 1000)
        return DeviceState(package=package, activity=activity, keyboard=self._keyboard, clock_ms=clock)

    def apps(self) -> tuple[InstalledApp, ...]:
        """The one app."""
        return (InstalledApp(self._package, self._label, ACTIVITY),)

    # What it shows

    def hierarchy(self) -> Hierarchy:
        """The active window: the app with its web content, or the native window over it, or the launcher."""
        self._check()
        if self._at_home:
            return self._launcher()
        page = self._look()
        if self._window is None:
            try:
                root = read_page(page.capture())
            except DialogOpen:
                self._adopt_dialog()
            else:
                if root is None:
                    raise CaptureFailed("the page has no document yet", code="NULL_ROOT", hint="wait for it to load")
                viewport = content_bounds(self._info.size, self._info.density, keyboard=self._keyboard)
                web = android_tree(root, Placement(viewport, self._dpr), package=self._package, profile=self._profile)
                return app_window(web, self._info.size, self._info.density, self._package, keyboard=self._keyboard)
        return self._native_tree()

    def screenshot(self) -> bytes:
        """A PNG of the whole screen. Under a JavaScript dialog lies the last picture taken before it, since the page is blocked."""
        self._check()
        size, density = self._info.size, self._info.density
        if self._at_home:
            return compose(None, size, density, self._pictures, clock_text=self._clock_text(), backdrop=self._launcher())
        page = self._look()
        if not isinstance(self._window, native.Message):
            try:
                self._last_picture = page.picture()
                self._picture_is_new = True
            except DialogOpen:
                self._adopt_dialog()
        return compose(
            self._last_picture, size, density, self._pictures, clock_text=self._clock_text(),
            keyboard=self._layer if self._keyboard else None,
            window=self._native_tree() if self._window is not None else None,
        )  # fmt: skip

    # What it does

    def perform(self, action: Action) -> None:
        """Does one action; returns when the page has taken the input. See the Device protocol."""
        self._check()
        check_on_screen(action, self._info.size)
        try:
            self._perform(action)
        except DialogOpen:
            self._adopt_dialog()

    def clear_app(self, package: str) -> None:
        """Stops the app and forgets all it has stored: cookies, storage, databases, caches, service workers."""
        self._check()
        self._known(package)
        self._stop()
        if self._context is not None:
            context, self._context = self._context, None
            try:
                context.close()
            except PlaywrightError as e:
                raise DeviceLost(f"the browser is gone: {str(e).splitlines()[0]}", hint="open the device again") from None

    def close(self) -> None:
        """Closes the page and the browser; may be called twice."""
        if self._closed:
            return
        self._closed = True
        if self._own_browser:
            self._browser.close()
            return
        self._pictures.close()
        if self._context is not None:
            try:
                self._context.close()
            except PlaywrightError:
                return  # The browser died before us: nothing is left to close.

    def __enter__(self) -> WebDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Inside

    def _check(self) -> None:
        if self._closed:
            raise DeviceLost(f"{self.serial} was closed", hint="open it again")
        if threading.get_ident() != self._thread:
            raise DeviceError(f"{self.serial} belongs to the thread that opened it", hint="call it from there, or open another")

    def _forget_page(self) -> None:
        self._window: native.Window | None = None
        self._window_context = 0
        self._keyboard = False
        self._layer: system.Layer = "lower"
        self._field = 0
        self._document = 0.0
        self._touched = False
        self._last_picture: bytes | None = None
        self._picture_is_new = False

    def _known(self, package: str) -> None:
        if package != self._package:
            raise ActionError(f"no app {package!r} is installed", hint=f"installed: {self._package}")

    def _clock_text(self) -> str:
        return _CLOCK_TEXT if self._clock_ms is None else datetime.fromtimestamp(self._clock_ms / 1000, UTC).strftime("%H:%M")

    def _launcher(self) -> Hierarchy:
        return system.launcher(self._info.size, self._info.density, ((self._package, self._label),))

    def _native_tree(self) -> Hierarchy:
        if self._window is None:
            raise CaptureFailed("the native window closed while it was read", code="NULL_ROOT", hint="try again")
        return native.tree_of(self._window, self._info.size, self._info.density, self._package)

    def _css_screen(self) -> Size:
        size = self._info.size
        return Size(math.ceil(size.width / self._dpr), math.ceil(size.height / self._dpr))

    def _css_viewport(self) -> Size:
        box = content_bounds(self._info.size, self._info.density, keyboard=self._keyboard)
        return Size(math.ceil(box.width / self._dpr), math.ceil(box.height / self._dpr))

    # The app's life

    def _open(self, url: str) -> None:
        """Brings the app to the front; starts it at its start page where it does not run."""
        if self._page is None:
            self._forget_page()
            self._page = self._new_page()
            self._page.goto(self._url)
            if not self._label:
                title = self._page.evaluate("document.title") if self._page.dialog is None else ""
                self._label = str(title or "").strip() or self._package.rpartition(".")[2]
        if url:
            self._page.goto(urljoin(self._url, url))
        self._at_home = False

    def _new_page(self) -> WebPage:
        viewport = self._css_viewport()
        screen = self._css_screen()
        if self._context is None:
            major = self._browser.version.partition(".")[0]
            page = self._browser.page(
                viewport, scale=self._dpr, mobile=False, touch=True, screen={"width": screen.width, "height": screen.height},
                proxy=_NOWHERE, accept_downloads=False,
                user_agent=(
                    "Mozilla/5.0 (Linux; Android 14; PhoneWorld; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
                    f"Version/4.0 Chrome/{major}.0.0.0 Mobile Safari/537.36"
                ),
            )  # fmt: skip
            self._context = page.context
            if self._clock_ms is not None:
                self._context.clock.set_fixed_time(self._clock_ms)
            if self._seed is not None:
                self._context.add_init_script(seeded_random(self._seed))
        else:
            try:
                page = self._context.new_page()
            except PlaywrightError as e:
                raise BrowserError(f"Chromium opens no page: {str(e).splitlines()[0]}", hint="it died or was killed; start again") from None
        opened = WebPage(page)
        opened.set_viewport(viewport, screen, self._dpr)
        return opened

    def _stop(self) -> None:
        page, self._page = self._page, None
        self._forget_page()
        self._at_home = True
        if page is not None:
            page.close()

    def _go_home(self) -> None:
        self._show_keyboard(False)
        self._at_home = True

    # Looking: what may have changed without us

    def _running(self) -> WebPage:
        if self._page is None:
            raise DeviceLost("the app does not run", hint="open it again")
        return self._page

    def _look(self) -> WebPage:
        """Takes in what the page did by itself: dialogs, new windows, popups, moves of the focus."""
        page = self._running()
        try:
            if page.dialog is None and not isinstance(self._window, native.Message):
                page.follow_popups()
                self._take_reports(page, tapped=False)
        except DialogOpen:
            pass
        if page.dialog is not None:
            self._adopt_dialog()
        return page

    def _adopt_dialog(self) -> None:
        dialog = self._running().dialog
        if dialog is None or isinstance(self._window, native.Message):
            return
        kind: native.MessageKind
        match dialog.type:
            case "alert" | "confirm" | "prompt" | "beforeunload" as kind:
                pass
            case other:
                raise DeviceError(f"Chromium opened a dialog of the unknown type {other!r}", hint="update phoneworld")
        title = "Confirm Navigation" if kind == "beforeunload" else f'The page at "{_origin(self._url)}" says:'
        message = dialog.message or ("Changes you made may not be saved." if kind == "beforeunload" else "")
        self._keyboard = False
        self._window = native.Message(kind, title, message, dialog.default_value if kind == "prompt" else None)

    def _take_reports(self, page: WebPage, *, tapped: bool) -> None:
        field_tapped = False
        for context_id, report in page.take_reports():
            if report.get("kind") == "field":
                field_tapped = True
            elif (window := native.window_of(report, self._now())) is not None:
                self._window, self._window_context = window, context_id
        field, document = page.focused_field()
        if document != self._document:
            # A new document may focus a field by itself: as in a WebView that shows no keyboard until it is touched.
            self._document, self._field = document, 0
            self._touched = tapped and field_tapped
        if not field:
            self._show_keyboard(False)
        elif (tapped and field_tapped) or (field != self._field and self._touched):
            self._show_keyboard(True)
        self._field = field

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock_ms / 1000 if self._clock_ms is not None else time.time(), UTC)

    def _show_keyboard(self, shown: bool) -> None:
        """Shows or hides the keyboard; the page is resized to what is left, and the field brought into view."""
        if shown == self._keyboard:
            return
        self._keyboard, self._layer = shown, "lower"
        if self._page is not None and self._page.dialog is None:
            self._page.set_viewport(self._css_viewport(), self._css_screen(), self._dpr)
            if shown:
                self._page.evaluate("phoneworld.reveal()")

    # Acting

    def _perform(self, action: Action) -> None:
        match action:
            case Answer() | Ask() | Finish():
                return
            case Wait(duration_ms):
                self._running().pause(duration_ms) if self._page is not None else time.sleep(duration_ms / 1000)
            case OpenApp(package, _, url):
                if package == system.LAUNCHER_PACKAGE:
                    self._go_home()
                else:
                    self._known(package)
                    self._open(url)
            case CloseApp(package):
                self._known(package)
                self._stop()
            case PressKey(key):
                self._press(key)
            case TypeText(text, x, y, mode):
                if x is not None and y is not None:
                    self._gesture(Tap(x, y))
                self._type(text, replacing=mode == "replace")
            case Clear(x, y):
                if x is not None and y is not None:
                    self._gesture(Tap(x, y))
                self._type("", replacing=True)
            case Tap() | DoubleTap() | LongPress() | Swipe() | Drag() | Pinch():
                self._gesture(action)
            case _:
                assert_never(action)

    def _gesture(self, action: Tap | DoubleTap | LongPress | Swipe | Drag | Pinch) -> None:
        size, density = self._info.size, self._info.density
        start = points_of(action)[0]
        if self._at_home:
            if isinstance(action, Tap) and system.launcher_app_at(size, density, ((self._package, self._label),), start):
                self._open("")
            return
        page = self._look()
        if self._keyboard and system.keyboard_bounds(size, density).contains(start):
            for _ in range(2 if isinstance(action, DoubleTap) else 1 if isinstance(action, Tap | LongPress) else 0):
                self._tap_key(start)
            return
        if self._window is not None:
            self._touch_window(self._window, action, start)
            return
        if start.y < system.status_bar_height(density):
            return
        self._keep_picture(page)
        self._picture_is_new = False
        self._touched = True
        at = self._on_page(start)
        match action:
            case Tap():
                touch.tap(page, at)
            case DoubleTap():
                touch.double_tap(page, at)
            case LongPress(_, _, duration_ms):
                touch.long_press(page, at, duration_ms)
            case Swipe(_, _, x2, y2, duration_ms):
                touch.swipe(page, at, self._on_page(Point(x2, y2)), duration_ms)
            case Drag(_, _, x2, y2, duration_ms):
                touch.swipe(page, at, self._on_page(Point(x2, y2)), duration_ms, hold_ms=_DRAG_HOLD_MS)
            case Pinch(_, _, scale, duration_ms):
                touch.pinch(page, at, scale, duration_ms)
            case _:
                assert_never(action)
        page.follow_popups()
        self._take_reports(page, tapped=True)

    def _on_page(self, point: Point) -> touch.Point:
        """The middle of a pixel of the screen, in CSS pixels of the page's viewport."""
        return ((point.x + 0.5) / self._dpr, (point.y + 0.5 - system.status_bar_height(self._info.density)) / self._dpr)

    def _keep_picture(self, page: WebPage) -> None:
        """Takes a picture before an input that may open a JavaScript dialog: then none can be had any more."""
        if not self._picture_is_new:
            self._last_picture = page.picture()

    def _touch_window(self, window: native.Window, action: Action, start: Point) -> None:
        size, density = self._info.size, self._info.density
        if isinstance(action, Swipe | Drag):
            self._window = native.drag(window, size, density, start, Point(action.x2, action.y2)) or window
            return
        if not isinstance(action, Tap | DoubleTap | LongPress):
            return
        outcome = native.tap(window, size, density, start)
        if isinstance(outcome, native.Answer):
            self._answer(outcome)
        elif outcome is not None:
            self._window = outcome
        elif isinstance(window, native.Message) and window.field is not None:
            self._keyboard, self._layer = True, "lower"

    def _answer(self, answer: native.Answer) -> None:
        """Closes the native window and tells the page what was chosen."""
        window, self._window = self._window, None
        page = self._running()
        self._picture_is_new = False
        if isinstance(window, native.Message):
            self._keyboard = False
            page.answer_dialog(answer.accepted, str(answer.value))
            # The page goes on from here; its next dialog, if any, is known once it has answered a call.
            page.evaluate("0")
        elif answer.accepted and isinstance(answer.value, int):
            page.evaluate(f"phoneworld.choose({answer.value})", self._window_context)
        elif answer.accepted:
            page.evaluate(f"phoneworld.fill({json.dumps(str(answer.value))})", self._window_context)
        self._take_reports(page, tapped=True)

    def _press(self, key: Key) -> None:
        match key:
            case "home":
                self._go_home()
            case "back":
                self._back()
            case "recents" | "menu" | "search" | "volume_up" | "volume_down" | "power" | "wake" | "sleep":
                return
            case _:
                if self._at_home:
                    return
                page = self._look()
                if self._window is not None:
                    self._key_to_window(self._window, key)
                    return
                self._keep_picture(page)
                self._picture_is_new = False
                self._touched = True
                touch.press_key(page, key)
                self._take_reports(page, tapped=True)

    def _back(self) -> None:
        """Hides the keyboard, else closes the native window, else goes back in the history, else leaves the app."""
        if self._at_home:
            return
        page = self._look()
        if self._keyboard:
            if isinstance(self._window, native.Message):
                self._keyboard = False
            else:
                self._show_keyboard(False)
        elif self._window is not None:
            self._answer(native.Answer(False))
        else:
            self._keep_picture(page)
            self._picture_is_new = False
            if not page.go_back():
                self._go_home()

    def _key_to_window(self, window: native.Window, key: Key) -> None:
        if key == "escape":
            self._answer(native.Answer(False))
        elif key == "enter" and isinstance(window, native.Message):
            self._answer(native.Answer(True, window.field or ""))
        elif key == "backspace":
            self._window = native.erase(window)

    def _tap_key(self, point: Point) -> None:
        key = system.key_at(self._info.size, self._info.density, point, self._layer)
        match key:
            case None:
                return
            case "hide":
                self._back()
            case "shift":
                self._layer = "lower" if self._layer == "upper" else "upper"
            case "symbols":
                self._layer = "symbols"
            case "letters":
                self._layer = "lower"
            case "backspace" | "enter":
                self._press("backspace" if key == "backspace" else "enter")
            case _:
                if self._layer == "upper":
                    self._layer = "lower"
                self._type(key, replacing=False, at_end=False)

    def _type(self, text: str, *, replacing: bool, at_end: bool = True) -> None:
        """Types into what has the focus: at its end, in place of all, or where the caret is."""
        if self._at_home:
            return
        page = self._look()
        if self._window is not None:
            self._window = native.type_into(self._window, text, replacing=replacing)
            return
        self._keep_picture(page)
        self._picture_is_new = False
        self._touched = True
        if replacing:
            if page.evaluate("phoneworld.selectAll()") and not text:
                touch.press_key(page, "backspace")
        elif at_end:
            page.evaluate("phoneworld.caretToEnd()")
        touch.type_text(page, text)
        self._take_reports(page, tapped=False)


def package_of(url: str) -> str:
    """A valid Android package name for a URL: from the last folder of its path, or else its host and port."""
    parts = urlsplit(url)
    folders = [p for p in parts.path.split("/") if p and "." not in p]
    host = "port" if parts.hostname in ("127.0.0.1", "localhost") else f"{parts.hostname or 'page'}_"
    words = folders[-1] if folders else f"{host}{parts.port or 80}"
    name = re.sub(r"[^a-z0-9_]+", "_", words.lower()).strip("_") or "page"
    return "org.phoneworld.web." + (name if name[0].isalpha() else f"app{name}")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
