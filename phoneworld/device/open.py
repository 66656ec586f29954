"""A phone by its name: `web:URL`, `mock:BUNDLE`, or the serial of one that adb knows. Imports only the kind that is asked for."""

from __future__ import annotations

from phoneworld.device.device import Device
from phoneworld.errors import DeviceNotFound


def open_device(spec: str) -> Device:
    """Opens the phone; close it when done. It belongs to the thread that called this.

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

            return WebDevice(rest)
        case "mock" if colon:
            from phoneworld.device.mock import MockDevice

            return MockDevice.open(rest)
        case "http" | "https":
            raise DeviceNotFound(f"{spec!r} is a page, not a phone", hint=f"put it in a phone: web:{spec}")
        case _:
            from phoneworld.device.adb import AdbDevice

            return AdbDevice.find(spec or None)
