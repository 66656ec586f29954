"""A phone by its name: `web:URL`, `mock:BUNDLE`, or the serial of one that adb knows. Imports only the kind that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.device.device import Device
from phoneworld.errors import DeviceNotFound
from phoneworld.ui.geometry import Size


@dataclass(frozen=True, slots=True)
class WebPhone:
    """The phone that a web page is put in: its screen, and what the app is called ("" for what the page suggests)."""

    size: Size = Size(1080, 2400)
    density: int = 480
    package: str = ""
    label: str = ""


def open_device(spec: str, web: WebPhone | None = None) -> Device:
    """Opens the phone; close it when done. It belongs to the thread that called this. `web` is for web pages only.

    An empty name takes the only phone that adb knows. Raises DeviceNotFound and its kin, each with its mend.
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind in ("web", "mock") and not rest:
        raise DeviceNotFound(
            f"{spec!r} names no {'page' if kind == 'web' else 'bundle'}",
            hint="for example web:http://127.0.0.1:8000 or mock:apps/notes",
        )
    match kind:
        case "web" if colon:
            from phoneworld.device.web import WebDevice

            web = web or WebPhone()
            return WebDevice(rest, size=web.size, density=web.density, package=web.package, label=web.label)
        case "mock" if colon:
            from phoneworld.device.mock import MockDevice

            return MockDevice.open(rest)
        case "http" | "https":
            raise DeviceNotFound(f"{spec!r} is a page, not a phone", hint=f"put it in a phone: web:{spec}")
        case _:
            from phoneworld.device.adb import AdbDevice

            return AdbDevice.find(spec or None)
