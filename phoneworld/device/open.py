"""A phone by its name: `web:URL`, `mini:URL?host=PACKAGE`, `mock:BUNDLE`, or the serial of one that adb knows. Imports only the kind that is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from phoneworld.device.device import Device
from phoneworld.errors import DeviceNotFound
from phoneworld.ui.geometry import Size

if TYPE_CHECKING:
    from phoneworld.render.browser import Browser


@dataclass(frozen=True, slots=True)
class WebPhone:
    """The phone that web pages are put in: its screen, what the first app is called ("" for what the page suggests), and the rest.

    `apps` are further apps as `web:URL` or `mini:URL?host=PACKAGE`; what the other fields mean, `WebDevice` says.
    """

    size: Size = Size(1080, 2400)
    density: int = 480
    package: str = ""
    label: str = ""
    apps: tuple[str, ...] = ()
    profile: Literal["current", "old"] = "current"
    clock_ms: int | None = None
    seed: int | None = None
    locale: str = "en-US"
    timezone: str = "UTC"
    night_mode: bool = False
    geolocation: tuple[float, float] | None = None
    offline: bool = False


def open_device(spec: str, web: WebPhone | None = None, browser: Browser | None = None) -> Device:
    """Opens the phone; close it when done. It belongs to the thread that called this.

    `web` is for web pages only, and so is `browser`: one of this thread for the pages to live in, which stays open.

    An empty name takes the only phone that adb knows. Raises DeviceNotFound and its kin, each with its mend.
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind in ("web", "mini", "mock") and not rest:
        raise DeviceNotFound(
            f"{spec!r} names no {'bundle' if kind == 'mock' else 'page'}",
            hint="for example web:http://127.0.0.1:8000 or mock:apps/notes",
        )
    match kind:
        case "web" | "mini" if colon:
            return _web_device(spec, web or WebPhone(), browser)
        case "mock" if colon:
            from phoneworld.device.mock import MockDevice

            return MockDevice.open(rest)
        case "http" | "https":
            raise DeviceNotFound(f"{spec!r} is a page, not a phone", hint=f"put it in a phone: web:{spec}")
        case _:
            from phoneworld.device.adb import AdbDevice

            return AdbDevice.find(spec or None)


def _web_device(spec: str, web: WebPhone, browser: Browser | None) -> Device:
    from phoneworld.device.web import WebDevice, parse_spec

    first = parse_spec(spec)
    if not first.host:
        first = replace(first, package=web.package, label=web.label)
    return WebDevice(
        apps=(first, *(parse_spec(text) for text in web.apps)),
        size=web.size,
        density=web.density,
        profile=web.profile,
        clock_ms=web.clock_ms,
        seed=web.seed,
        locale=web.locale,
        timezone=web.timezone,
        night_mode=web.night_mode,
        geolocation=web.geolocation,
        offline=web.offline,
        browser=browser,
    )
