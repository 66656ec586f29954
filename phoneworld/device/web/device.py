"""WebDevice: web pages in Chromium behind the Device protocol, with the phone around them.

Each page is an app, or a mini-app in one, of a small phone: status bar, launcher, soft keyboard and native windows are ours
(`ui/system.py`, `ui/mini.py`), the tree of a page is given as Android shows web content to UI Automator. It reaches nothing
but 127.0.0.1 and localhost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from playwright.sync_api import Error as PlaywrightError

from phoneworld.device.device import InstalledApp
from phoneworld.device.web.android import Profile
from phoneworld.device.web.app import CLOSE, RESTART, WebApp
from phoneworld.device.web.apps import ACTIVITY, MINI_ACTIVITY, AppSpec, Conditions, Task, install
from phoneworld.device.web.frame import Screen
from phoneworld.device.web.native import Files
from phoneworld.device.web.page import DialogOpen
from phoneworld.device.web.picture import SystemPictures, compose
from phoneworld.errors import ActionError, DeviceError, DeviceLost, DeviceNotFound
from phoneworld.render.browser import Browser
from phoneworld.ui import mini, system
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

_SIZE = Size(1080, 2400)
# A frozen status bar clock, as Android's own demo mode shows it: pictures must not differ by the minute.
_CLOCK_TEXT = "12:00"


class WebDevice:
    """A phone whose apps are web pages; the first is open. Belongs to the thread that made it.

    Args:
        url: The start page of its one app, on 127.0.0.1 or localhost; "" where `apps` says what there is.
        apps: Its apps and mini-apps, after the one at `url`.
        profile: `current` for the trees of WebViews of 2024 and later, `old` for those of about 2021.
        size: The screen in pixels.
        density: Dots an inch; 480 makes 3 pixels of one CSS pixel.
        package: The package name of the app at `url`; one is made from the URL where it is empty.
        label: The words under its icon; the page's title where it is empty.
        clock_ms: Freezes the pages' `Date` at this Unix time; timers run on.
        seed: Makes `Math.random` repeat, in each document anew.
        locale: Of pages' `navigator.language` and formats.
        timezone: Of pages' `Date`, by its IANA name.
        night_mode: Pages are told that a dark look is preferred.
        geolocation: Latitude and longitude that pages are told; None refuses it.
        offline: Pages start without network; see `set_offline`.
        browser: A browser of this thread to live in; it stays open. None launches one.

    Raises:
        BrowserError: Chromium is missing.
        DeviceNotFound: There is no app, or two are called the same.
        DeviceUnusable: A page cannot be loaded.
    """

    def __init__(
        self,
        url: str = "",
        *,
        apps: Sequence[AppSpec] = (),
        profile: Profile = "current",
        size: Size = _SIZE,
        density: int = 480,
        package: str = "",
        label: str = "",
        clock_ms: int | None = None,
        seed: int | None = None,
        locale: str = "en-US",
        timezone: str = "UTC",
        night_mode: bool = False,
        geolocation: tuple[float, float] | None = None,
        offline: bool = False,
        browser: Browser | None = None,
    ) -> None:
        specs = ((AppSpec(url, package, label),) if url else ()) + tuple(apps)
        if not any(spec.url for spec in specs):
            raise DeviceNotFound("a web phone needs a page", hint="for example web:http://127.0.0.1:8000")
        self._specs = specs
        self._conditions = Conditions(profile, clock_ms, seed, locale, timezone, night_mode, geolocation)
        self._offline = offline
        self._thread = threading.get_ident()
        self._zone = _zone(timezone)
        self._screen = Screen(size, density)
        self._info = DeviceInfo(
            size=size, density=density, model="WebView", manufacturer="PhoneWorld", android="14" if profile == "current" else "11",
            sdk=34 if profile == "current" else 30, locale=locale, timezone=timezone, night_mode=night_mode,
        )  # fmt: skip
        self._own_browser = browser is None
        self._browser = browser or Browser.launch()
        self._pictures = SystemPictures(self._browser, size, density)
        self._tasks: dict[str, Task] = {}
        self._current: Task | None = None
        self._recent: list[str] = []
        self._closed = False
        try:
            self._tasks = install(specs, self._browser, self._screen, self._conditions)
            self._start()
        except BaseException:
            self.close()
            raise

    @property
    def serial(self) -> str:
        """`web:` and the URL of each app, `mini:` and that of each mini-app."""
        return " ".join(f"mini:{s.url}?host={s.host}" if s.host else f"web:{s.url}" for s in self._specs if s.url)

    @property
    def info(self) -> DeviceInfo:
        """What stays the same."""
        return self._info

    def state(self) -> DeviceState:
        """Who is in front and whether the keyboard is up; the clock is the host's unless it was frozen."""
        self._check()
        frozen = self._conditions.clock_ms
        clock = frozen if frozen is not None else int(time.time() * 1000)
        task, app = self._current, self._front()
        if task is None:
            return DeviceState(package=system.LAUNCHER_PACKAGE, activity=system.LAUNCHER_ACTIVITY, clock_ms=clock)
        if app is not None:
            app.look()
            if isinstance(app.window, Files):
                return DeviceState(package=system.DOCUMENTS_PACKAGE, activity=system.DOCUMENTS_ACTIVITY, clock_ms=clock)
        return DeviceState(package=task.package, activity=task.activity, keyboard=app is not None and app.keyboard, clock_ms=clock)

    def apps(self) -> tuple[InstalledApp, ...]:
        """The apps; mini-apps are part of their hosts."""
        return tuple(InstalledApp(t.package, t.label, ACTIVITY, (ACTIVITY, *([MINI_ACTIVITY] if t.minis else []))) for t in self._tasks.values())

    def hierarchy(self) -> Hierarchy:
        """The active window: the app with its web content, the native window over it, a host's own screen, or the launcher."""
        self._check()
        app = self._front()
        return self._native_screen() if app is None else app.tree()

    def screenshot(self) -> bytes:
        """A PNG of the whole screen. Under a JavaScript dialog lies the last picture asked for before it: no new one can be had.

        A focused field's caret is held in its visible phase, so that two pictures of an idle page are equal.
        """
        self._check()
        app = self._front()
        if app is None:
            return compose(None, self._screen, self._pictures, clock_text=self._clock_text(), backdrop=self._native_screen())
        png, window = app.picture(), app.window_tree()
        if window is not None and isinstance(app.window, Files):
            return compose(None, self._screen, self._pictures, clock_text=self._clock_text(), backdrop=window)
        return compose(
            png, app.screen, self._pictures, clock_text=self._clock_text(),
            keyboard=app.layer if app.keyboard else None, window=window, title_bar=app.bar(),
        )  # fmt: skip

    def perform(self, action: Action) -> None:
        """Does one action; returns when the page has taken the input. See the Device protocol.

        Recents brings the app that was in front before. Menu, search, volume and power keys do nothing.
        """
        self._check()
        check_on_screen(action, self._screen.size)
        match action:
            case Answer() | Ask() | Finish():
                return
            case Wait(duration_ms):
                if (app := self._front()) is not None:
                    app.page.pause(duration_ms)
                else:
                    time.sleep(duration_ms / 1000)
            case OpenApp(package, activity, url):
                if package == system.LAUNCHER_PACKAGE:
                    self._go_home()
                    return
                self._bring(self._known(package), activity, url)
            case CloseApp(package):
                self._stop(self._known(package))
            case PressKey(key):
                self._press(key)
            case Tap(x, y) if self._front() is None:
                self._tap_native(Point(x, y))
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
        """Stops the app and forgets all it and its mini-apps have stored: cookies, storage, databases, caches, service workers."""
        self._check()
        task = self._known(package)
        self._stop(task)
        for installed in task.pages:
            installed.clear()

    def stored(self, package: str) -> Mapping[str, str]:
        """What the pages of an app keep in `localStorage`, as texts by their keys; nothing where it does not run. Raises CaptureFailed."""
        self._check()
        found: dict[str, str] = {}
        for installed in self._known(package).pages:
            if installed.app is not None:
                found |= installed.app.stored()
        return found

    def reset(self, seed: int | None = None) -> None:
        """The phone as it was when it was opened: nothing stored, the first app in front. What servers keep is theirs.

        A `seed` takes the place of the one that it was opened with.
        """
        self._check()
        for package, task in self._tasks.items():
            self.clear_app(package)
            for installed in task.pages:
                installed.reseed(seed)
        self._recent.clear()
        self._start()

    def set_offline(self, offline: bool) -> None:
        """Switches the network of all pages off or on. Offline a start page still loads, as an installed app would start."""
        self._check()
        self._offline = offline
        for task in self._tasks.values():
            for installed in task.pages:
                installed.set_offline(offline)

    def close(self) -> None:
        """Closes the page and the browser; may be called twice."""
        if self._closed:
            return
        self._closed = True
        if self._own_browser:
            self._browser.close()
            return
        # Somebody else's browser may have died before us: then nothing is left to close.
        with suppress(PlaywrightError, DeviceLost):
            self._pictures.close()
            for task in self._tasks.values():
                for installed in task.pages:
                    installed.clear()

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
        """The page's app in front; None where the launcher is, or a host's own screen."""
        shown = self._current.shown if self._current is not None else None
        return shown.app if shown is not None else None

    @contextmanager
    def _input(self) -> Iterator[WebApp | None]:
        """The app in front; a JavaScript dialog that opens on the way is shown, and what its page asks of the phone is done."""
        self._check()
        task, app = self._current, self._front()
        try:
            yield app
        except DialogOpen:
            if app is not None:
                app.adopt_dialog()
        if task is not None and app is not None and app.wish:
            wish, app.wish = app.wish, ""
            app.leave()
            if wish == CLOSE:
                task.close_mini()
            elif wish == RESTART and task.shown is not None:
                task.shown.stop()
                task.shown.open()
            elif wish != RESTART:
                task.open_mini(wish)

    def _known(self, package: str) -> Task:
        if package not in self._tasks:
            raise ActionError(f"no app {package!r} is installed", hint=f"installed: {', '.join(self._tasks)}")
        return self._tasks[package]

    def _clock_text(self) -> str:
        return _CLOCK_TEXT if self._conditions.clock_ms is None else self._conditions.now().astimezone(self._zone).strftime("%H:%M")

    def _icons(self) -> tuple[tuple[str, str], ...]:
        return tuple((t.package, t.label) for t in self._tasks.values())

    def _native_screen(self) -> Hierarchy:
        """The launcher, or the own screen of a plain host."""
        task, size, density = self._current, self._screen.size, self._screen.density
        if task is None:
            return system.launcher(size, density, self._icons())
        return mini.host_screen(size, density, task.label, tuple(m.label for m in task.minis), task.package)

    def _tap_native(self, point: Point) -> None:
        task, size, density = self._current, self._screen.size, self._screen.density
        if task is None:
            package = system.launcher_app_at(size, density, self._icons(), point)
            if package is not None:
                self._bring(self._tasks[package])
        elif (row := mini.host_row_at(size, density, len(task.minis), point)) is not None:
            task.open_mini(task.minis[row].spec.url)

    def _start(self) -> None:
        """Opens the first app. The others are opened once before it, for their titles and to know that they can be."""
        tasks = list(self._tasks.values())
        first = tasks[0].minis[0] if self._specs[0].host else tasks[0].main
        for task in tasks:
            for installed in task.pages:
                installed.set_offline(self._offline)
                if installed is not first and not installed.label:
                    installed.open()
                    installed.clear()
        tasks[0].shown = first
        self._bring(tasks[0])

    def _bring(self, task: Task, activity: str = "", url: str = "") -> None:
        """Brings an app to the front; starts it where it does not run."""
        if task is not self._current:
            self._go_home()
        task.open(activity, url)
        self._current = task
        self._recent = [task.package, *(p for p in self._recent if p != task.package)]

    def _stop(self, task: Task) -> None:
        task.stop()
        if task is self._current:
            self._current = None

    def _go_home(self) -> None:
        with self._input() as app:
            if app is not None:
                app.leave()
        self._current = None

    def _press(self, key: Key) -> None:
        match key:
            case "home":
                self._go_home()
            case "back":
                self._back()
            case "recents":
                front = self._current.package if self._current is not None else ""
                before = next((p for p in self._recent if p != front), "")
                if before:
                    self._bring(self._tasks[before])
            case "menu" | "search" | "volume_up" | "volume_down" | "power" | "wake" | "sleep":
                return
            case _:
                with self._input() as app:
                    if app is not None:
                        app.press(key)

    def _back(self) -> None:
        """To what was before: in the page, then from the mini-app to its host, then to the launcher."""
        task = self._current
        with self._input() as app:
            if task is None or (app is not None and app.back()):
                return
        if task.shown in task.minis:
            task.close_mini()
        else:
            self._go_home()

    def _type(self, text: str, x: int | None, y: int | None, *, replacing: bool) -> None:
        with self._input() as app:
            if app is None:
                return
            if x is not None and y is not None:
                app.gesture(Tap(x, y))
            app.type(text, replacing=replacing)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise DeviceNotFound(f"there is no time zone {name!r}", hint="an IANA name, for example Europe/Berlin") from None
