"""WebDevice: a web page in Chromium behind the Device protocol, with the phone around it.

The page is the one app of a small phone: status bar, launcher, soft keyboard and native windows are ours (`ui/system.py`),
the tree of the page is given as Android shows web content to UI Automator. It reaches nothing but 127.0.0.1 and localhost.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import assert_never
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import BrowserContext
from playwright.sync_api import Error as PlaywrightError

from phoneworld.device.device import InstalledApp
from phoneworld.device.web.android import Profile
from phoneworld.device.web.app import WebApp
from phoneworld.device.web.frame import Screen
from phoneworld.device.web.page import DialogOpen, WebPage
from phoneworld.device.web.picture import SystemPictures, compose
from phoneworld.device.web.world import seeded_random
from phoneworld.errors import ActionError, DeviceError, DeviceLost
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
)
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy

ACTIVITY = ".MainActivity"
_SIZE = Size(1080, 2400)
# A frozen status bar clock, as Android's own demo mode shows it: pictures must not differ by the minute.
_CLOCK_TEXT = "12:00"
# No request leaves the machine: everything but loopback goes to a proxy that is not there.
_NOWHERE = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1,localhost"}


class WebDevice:
    """One phone with one app, the web page at `url`, which is open. Belongs to the thread that made it.

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
        size: Size = _SIZE,
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
        self._screen = Screen(size, density)
        self._info = DeviceInfo(
            size=size, density=density, model="WebView", manufacturer="PhoneWorld", android="14" if profile == "current" else "11",
            sdk=34 if profile == "current" else 30, locale="en-US", timezone="UTC",
        )  # fmt: skip
        self._own_browser = browser is None
        self._browser = browser or Browser.launch()
        self._pictures = SystemPictures(self._browser, size, density)
        self._context: BrowserContext | None = None
        self._app: WebApp | None = None
        self._at_home = True
        self._closed = False
        try:
            self._open("")
        except BaseException:
            self.close()
            raise

    @property
    def serial(self) -> str:
        """`web:` and the URL."""
        return f"web:{self._url}"

    @property
    def info(self) -> DeviceInfo:
        """What stays the same."""
        return self._info

    def state(self) -> DeviceState:
        """Who is in front and whether the keyboard is up; the clock is the host's unless it was frozen."""
        app = self._front()
        clock = self._clock_ms if self._clock_ms is not None else int(time.time() * 1000)
        if app is None:
            return DeviceState(package=system.LAUNCHER_PACKAGE, activity=system.LAUNCHER_ACTIVITY, clock_ms=clock)
        app.look()
        return DeviceState(package=self._package, activity=ACTIVITY, keyboard=app.keyboard, clock_ms=clock)

    def apps(self) -> tuple[InstalledApp, ...]:
        """The one app."""
        return (InstalledApp(self._package, self._label, ACTIVITY),)

    def hierarchy(self) -> Hierarchy:
        """The active window: the app with its web content, the native window over it, or the launcher."""
        app = self._front()
        return self._launcher() if app is None else app.tree()

    def screenshot(self) -> bytes:
        """A PNG of the whole screen. Under a JavaScript dialog lies the last picture asked for before it: no new one can be had.

        A focused field's caret is held in its visible phase, so that two pictures of an idle page are equal.
        """
        app = self._front()
        if app is None:
            return compose(None, self._screen, self._pictures, clock_text=self._clock_text(), backdrop=self._launcher())
        png = app.picture()
        return compose(
            png, self._screen, self._pictures, clock_text=self._clock_text(),
            keyboard=app.layer if app.keyboard else None, window=app.window_tree(),
        )  # fmt: skip

    def perform(self, action: Action) -> None:
        """Does one action; returns when the page has taken the input. See the Device protocol.

        Recents, menu, search, volume and power keys do nothing: this phone has one app, and no such screens.
        """
        self._check()
        check_on_screen(action, self._screen.size)
        match action:
            case Answer() | Ask() | Finish():
                return
            case Wait(duration_ms):
                if self._app is not None:
                    self._app.page.pause(duration_ms)
                else:
                    time.sleep(duration_ms / 1000)
            case OpenApp(package, _, url):
                if package == system.LAUNCHER_PACKAGE:
                    self._go_home()
                    return
                self._known(package)
                self._open(url)
            case CloseApp(package):
                self._known(package)
                self._stop()
            case PressKey(key):
                self._press(key)
            case Tap(x, y) if self._at_home:
                if system.launcher_app_at(self._screen.size, self._screen.density, self._icons(), Point(x, y)) is not None:
                    self._open("")
            case Tap() | DoubleTap() | LongPress() | Swipe() | Drag() | Pinch():
                with self._input() as app:
                    if app is not None:
                        app.gesture(action)
            case TypeText(text, x, y, mode):
                self._type(text, x, y, replacing=mode == "replace")
            case Clear(x, y):
                self._type("", x, y, replacing=True)
            case _:
                assert_never(action)

    def clear_app(self, package: str) -> None:
        """Stops the app and forgets all it has stored: cookies, storage, databases, caches, service workers."""
        self._check()
        self._known(package)
        self._stop()
        context, self._context = self._context, None
        if context is not None:
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
        # Somebody else's browser may have died before us: then nothing is left to close.
        with suppress(PlaywrightError):
            self._pictures.close()
            if self._context is not None:
                self._context.close()

    def __enter__(self) -> WebDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        if self._closed:
            raise DeviceLost(f"{self.serial} was closed", hint="open it again")
        if threading.get_ident() != self._thread:
            raise DeviceError(f"{self.serial} belongs to the thread that opened it", hint="call it from there, or open another")

    def _front(self) -> WebApp | None:
        """The app where it is in front, None where the launcher is."""
        self._check()
        return None if self._at_home else self._app

    @contextmanager
    def _input(self) -> Iterator[WebApp | None]:
        """The app in front; a JavaScript dialog that opens on the way is shown."""
        app = self._front()
        try:
            yield app
        except DialogOpen:
            if app is not None:
                app.adopt_dialog()

    def _known(self, package: str) -> None:
        if package != self._package:
            raise ActionError(f"no app {package!r} is installed", hint=f"installed: {self._package}")

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock_ms / 1000 if self._clock_ms is not None else time.time(), UTC)

    def _clock_text(self) -> str:
        return _CLOCK_TEXT if self._clock_ms is None else self._now().strftime("%H:%M")

    def _icons(self) -> tuple[tuple[str, str], ...]:
        return ((self._package, self._label),)

    def _launcher(self) -> Hierarchy:
        return system.launcher(self._screen.size, self._screen.density, self._icons())

    def _open(self, url: str) -> None:
        """Brings the app to the front; starts it at its start page where it does not run. `url` is a place in it."""
        if self._app is None:
            self._app = WebApp(self._new_page(), self._screen, self._package, self._profile, self._now)
            self._app.page.goto(urljoin(self._url, url))
            if not self._label:
                self._label = self._package.rpartition(".")[2]
                with suppress(DialogOpen):
                    self._label = self._app.page.title() or self._label
        elif url:
            self._app.page.goto(urljoin(self._url, url))
        self._at_home = False

    def _new_page(self) -> WebPage:
        if self._context is not None:
            return WebPage.in_context(self._context)
        major = self._browser.version.partition(".")[0]
        page = self._browser.page(
            None, touch=True, proxy=_NOWHERE, accept_downloads=False,
            user_agent=(
                "Mozilla/5.0 (Linux; Android 14; PhoneWorld; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
                f"Version/4.0 Chrome/{major}.0.0.0 Mobile Safari/537.36"
            ),
        )  # fmt: skip
        self._context = page.context
        if self._clock_ms is not None:
            self._context.clock.set_fixed_time(self._now())
        if self._seed is not None:
            self._context.add_init_script(seeded_random(self._seed))
        return WebPage(page)

    def _stop(self) -> None:
        app, self._app = self._app, None
        self._at_home = True
        if app is not None:
            app.page.close()

    def _go_home(self) -> None:
        with self._input() as app:
            if app is not None:
                app.leave()
        self._at_home = True

    def _press(self, key: Key) -> None:
        match key:
            case "home":
                self._go_home()
            case "back":
                with self._input() as app:
                    if app is not None and not app.back():
                        self._go_home()
            case "recents" | "menu" | "search" | "volume_up" | "volume_down" | "power" | "wake" | "sleep":
                return
            case _:
                with self._input() as app:
                    if app is not None:
                        app.press(key)

    def _type(self, text: str, x: int | None, y: int | None, *, replacing: bool) -> None:
        with self._input() as app:
            if app is None:
                return
            if x is not None and y is not None:
                app.gesture(Tap(x, y))
            app.type(text, replacing=replacing)


def package_of(url: str) -> str:
    """A valid Android package name for a URL: from the last folder of its path, or else its host and port."""
    parts = urlsplit(url)
    folders = [p for p in parts.path.split("/") if p and "." not in p]
    host = "port" if parts.hostname in ("127.0.0.1", "localhost") else f"{parts.hostname or 'page'}_"
    words = folders[-1] if folders else f"{host}{parts.port or 80}"
    name = re.sub(r"[^a-z0-9_]+", "_", words.lower()).strip("_") or "page"
    return "org.phoneworld.web." + (name if name[0].isalpha() else f"app{name}")
