"""The apps of a web phone: what each is, its page and storage, and which of its screens is in front. Knows no launcher.

An app is a page, or a plain host: a native screen that lists the mini-apps in it. A mini-app is a page too, but lies in
its host's package, under a native title bar with a capsule, and closing it shows the host again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import time
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import BrowserContext
from playwright.sync_api import Error as PlaywrightError

from phoneworld.device.web.android import Profile
from phoneworld.device.web.app import WebApp
from phoneworld.device.web.frame import Screen
from phoneworld.device.web.page import DialogOpen, WebPage
from phoneworld.device.web.world import seeded_random
from phoneworld.errors import BrowserError, DeviceLost, DeviceNotFound
from phoneworld.render.browser import Browser, limited
from phoneworld.ui import mini

ACTIVITY = ".MainActivity"
MINI_ACTIVITY = ".MiniAppActivity"
# No request leaves the machine: everything but loopback goes to a proxy that is not there.
_NOWHERE = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1,localhost"}


@dataclass(frozen=True, slots=True)
class AppSpec:
    """One app of a web phone. Without `url` it is a plain host; with `host`, a mini-app in the app of that package."""

    url: str = ""
    package: str = ""
    label: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the pages find on this phone, the same for all of them.

    `clock_ms` freezes `Date` (timers run on); `seed` makes `Math.random` repeat in each document anew; `geolocation` is
    latitude and longitude, None where pages may not ask.
    """

    profile: Profile = "current"
    clock_ms: int | None = None
    seed: int | None = None
    locale: str = "en-US"
    timezone: str = "UTC"
    night_mode: bool = False
    geolocation: tuple[float, float] | None = None

    def now(self) -> datetime:
        """The time that pages are told, in UTC."""
        return datetime.fromtimestamp(self.clock_ms / 1000 if self.clock_ms is not None else time(), UTC)

    def context_options(self, browser_version: str) -> dict[str, Any]:
        """What a browser context is made with."""
        android = "14" if self.profile == "current" else "11"
        major = browser_version.partition(".")[0]
        options: dict[str, Any] = {
            "proxy": _NOWHERE, "accept_downloads": False, "locale": self.locale, "timezone_id": self.timezone,
            "color_scheme": "dark" if self.night_mode else "light",
            "user_agent": (
                f"Mozilla/5.0 (Linux; Android {android}; PhoneWorld; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
                f"Version/4.0 Chrome/{major}.0.0.0 Mobile Safari/537.36"
            ),
        }  # fmt: skip
        if self.geolocation is not None:
            latitude, longitude = self.geolocation
            options |= {"geolocation": {"latitude": latitude, "longitude": longitude}, "permissions": ["geolocation"]}
        return options


class Installed:
    """One installed page: its storage, which lasts, and its running app, which does not."""

    def __init__(self, spec: AppSpec, browser: Browser, screen: Screen, conditions: Conditions, links: tuple[str, ...]) -> None:
        self.spec = spec
        self.label = spec.label
        self.app: WebApp | None = None
        self.offline = False
        self._browser = browser
        self._screen = replace(screen, bar=mini.bar_height(screen.density)) if spec.host else screen
        self._conditions = conditions
        self._links = links
        self._context: BrowserContext | None = None

    def open(self, url: str = "") -> WebApp:
        """The running app, started where it does not run; `url` is a place in it. Raises DeviceUnusable where it cannot be loaded."""
        if self.app is None:
            conditions = self._conditions
            self.app = WebApp(self._page(), self._screen, self.spec.package, conditions.profile, conditions.now)
            self._load(self.app, url)
            if not self.label:
                self.label = self.spec.package.rpartition(".")[2]
                with suppress(DialogOpen):
                    self.label = self.app.page.title() or self.label
        elif url:
            self._load(self.app, url)
        return self.app

    def stop(self) -> None:
        """Ends the running app; what it has stored stays."""
        app, self.app = self.app, None
        if app is not None:
            app.page.close()

    def clear(self) -> None:
        """Ends it and forgets all it has stored: cookies, storage, databases, caches, service workers."""
        self.stop()
        context, self._context = self._context, None
        if context is not None:
            with _lost_with_it(context):
                context.close()

    def reseed(self, seed: int | None) -> None:
        """What `Math.random` begins with from the next start after `clear` on; None leaves it as it is."""
        if seed is not None:
            self._conditions = replace(self._conditions, seed=seed)

    def set_offline(self, offline: bool) -> None:
        """Cuts the network off, or puts it back. Where it is cut the start page still loads, as an installed app would start."""
        self.offline = offline
        if self._context is not None:
            with _lost_with_it(self._context):
                self._context.set_offline(offline)

    def _load(self, app: WebApp, url: str) -> None:
        offline = self.offline
        if offline:
            self.set_offline(False)
        try:
            app.page.goto(urljoin(self.spec.url, url))
        finally:
            if offline:
                self.set_offline(True)

    def _page(self) -> WebPage:
        if self._context is not None:
            return WebPage.in_context(self._context, self._links)
        page = self._browser.page(None, touch=True, **self._conditions.context_options(self._browser.version))
        self._context = page.context
        with _lost_with_it(self._context):
            if self._conditions.clock_ms is not None:
                self._context.clock.set_fixed_time(self._conditions.now())
            if self._conditions.seed is not None:
                self._context.add_init_script(seeded_random(self._conditions.seed))
        return WebPage(page, self._links)


@contextmanager
def _lost_with_it(context: BrowserContext) -> Iterator[None]:
    """Turns the end of the browser, and its silence, into DeviceLost."""
    try:
        with limited(context):
            yield
    except (PlaywrightError, BrowserError) as e:
        raise DeviceLost(f"the browser is gone: {str(e).splitlines()[0]}", hint="open the device again") from None


class Task:
    """One app with its mini-apps. `shown` is the page in front when the app is; None is the plain host's own screen."""

    def __init__(self, package: str, label: str, main: Installed | None, minis: tuple[Installed, ...]) -> None:
        self.package = package
        self.main = main
        self.minis = minis
        self.shown = main
        self._label = label

    @property
    def label(self) -> str:
        """The words under its icon."""
        return self.main.label if self.main is not None else self._label

    @property
    def pages(self) -> tuple[Installed, ...]:
        """Its own page, if it has one, and those of its mini-apps."""
        return (() if self.main is None else (self.main,)) + self.minis

    @property
    def activity(self) -> str:
        """The activity in front."""
        return MINI_ACTIVITY if self.shown in self.minis else ACTIVITY

    def open(self, activity: str = "", url: str = "") -> None:
        """Brings it up as it was left, or a mini-app where the activity, or the URL in a plain host, asks for one."""
        wants_mini = bool(self.minis) and activity.endswith(MINI_ACTIVITY)
        if (wants_mini and self.shown not in self.minis) or (url and self.shown is None):
            self.shown = self.minis[0]
        if self.shown is not None:
            self.shown.open(url)

    def open_mini(self, url: str) -> None:
        """Shows the mini-app that this URL leads into."""
        for installed in self.minis:
            if url.startswith(installed.spec.url):
                self.shown = installed
                installed.open(url if url != installed.spec.url else "")
                return

    def close_mini(self) -> None:
        """Shows the host again; the mini-app runs on, as hosts keep them warm."""
        if self.shown in self.minis:
            self.shown = self.main
            if self.main is not None:
                self.main.open()

    def stop(self) -> None:
        """Ends all its pages; it starts with its own screen."""
        for installed in self.pages:
            installed.stop()
        self.shown = self.main


def parse_spec(text: str) -> AppSpec:
    """An app from `web:URL`, or from `mini:URL?host=PACKAGE`, where the last `host=` names the package that hosts it."""
    kind, _, rest = text.partition(":")
    if kind == "web" and rest:
        return AppSpec(_page_url(rest))
    if kind == "mini":
        found = re.fullmatch(r"(.+)[?&]host=([A-Za-z]\w*(?:\.[A-Za-z]\w*)+)", rest, re.ASCII)
        if found:
            return AppSpec(_page_url(found[1]), host=found[2])
        raise DeviceNotFound(
            f"{text!r} does not say which app hosts the mini-app", hint="for example mini:http://127.0.0.1:8000/?host=org.example.chat"
        )
    raise DeviceNotFound(f"{text!r} names no page", hint="web:URL, or mini:URL?host=PACKAGE")


def _page_url(url: str) -> str:
    """The URL as given. Raises DeviceNotFound where it is none of a page that a server serves: files of this machine are no apps."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return url
    except ValueError:
        pass
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?", url, re.ASCII):
        raise DeviceNotFound(f"{url!r} is no address of a page", hint=f"did you mean web:http://{url} ?")
    raise DeviceNotFound(f"{url!r} is no address of a page", hint="http://127.0.0.1:PORT, as python -m http.server -d FOLDER --bind 127.0.0.1 8000 serves one")


def install(specs: Sequence[AppSpec], browser: Browser, screen: Screen, conditions: Conditions) -> dict[str, Task]:
    """The apps by package, in the order given; a host that is named but not given is a plain one. Raises DeviceNotFound for two of one name."""
    named: list[AppSpec] = []
    taken = {spec.package for spec in specs if spec.package}
    for spec in specs:
        if spec.host:
            named.append(replace(spec, package=spec.host))
            continue
        package = spec.package or package_of(spec.url)
        if not spec.package:
            base, n = package, 2
            while package in taken:
                package, n = f"{base}{n}", n + 1
            taken.add(package)
        elif any(other.package == package and not other.host for other in named):
            raise DeviceNotFound(f"two apps are called {package}", hint="give each a package of its own")
        named.append(replace(spec, package=package))
    tasks: dict[str, Task] = {}
    for package in dict.fromkeys(spec.package for spec in named):
        minis = [spec for spec in named if spec.package == package and spec.host]
        main = next((spec for spec in named if spec.package == package and not spec.host), AppSpec(package=package))
        installed = [Installed(spec, browser, screen, conditions, _links(spec, minis)) for spec in ([main] if main.url else []) + minis]
        label = main.label or package.rpartition(".")[2].capitalize()
        tasks[package] = Task(package, label, installed.pop(0) if main.url else None, tuple(installed))
    return tasks


def _links(of: AppSpec, minis: Sequence[AppSpec]) -> tuple[str, ...]:
    """The mini-apps that a link in a page leads out to; what lies in the page's own folder stays in it."""
    return tuple(spec.url for spec in minis if not of.url.startswith(spec.url))


def package_of(url: str) -> str:
    """A valid Android package name for a URL: from the last folder of its path, or else its host and port."""
    parts = urlsplit(url)
    folders = [p for p in parts.path.split("/") if p and "." not in p]
    host = "port" if parts.hostname in ("127.0.0.1", "localhost") else f"{parts.hostname or 'page'}_"
    words = folders[-1] if folders else f"{host}{parts.port or 80}"
    name = re.sub(r"[^a-z0-9_]+", "_", words.lower()).strip("_") or "page"
    return "org.phoneworld.web." + (name if name[0].isalpha() else f"app{name}")
