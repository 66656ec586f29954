"""The Device protocol: what every phone of ours can be asked. Knows no particular phone.

A Device is synchronous and belongs to the thread that made it. Every method raises `DeviceLost` when the phone is gone;
none returns a silent False. `perform` returns when the input has been injected (and, on phones that run here, applied),
not when the screen has settled: see `settle.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """An app that can be opened: its package, the words under its icon, its launcher activity (may be empty).

    `activities` are all that it has, as the phone's state names them; empty where nobody knows.
    """

    package: str
    label: str = ""
    activity: str = ""
    activities: tuple[str, ...] = ()


@runtime_checkable
class Device(Protocol):
    """One phone."""

    @property
    def serial(self) -> str:
        """How the phone is named: an adb serial, `web:URL` or `mock:BUNDLE`."""
        ...

    @property
    def info(self) -> DeviceInfo:
        """What stays the same; read once."""
        ...

    def state(self) -> DeviceState:
        """What the phone says of itself now."""
        ...

    def hierarchy(self) -> Hierarchy:
        """The widget tree now. Raises CaptureFailed where none can be had within the budget."""
        ...

    def screenshot(self) -> bytes:
        """A PNG of the whole screen, at the rotated size. Raises CaptureFailed."""
        ...

    def perform(self, action: Action) -> None:
        """Does one action. Raises ActionError for a point outside the screen; answer, ask and finish do nothing."""
        ...

    def apps(self) -> tuple[InstalledApp, ...]:
        """What is installed and can be opened."""
        ...

    def clear_app(self, package: str) -> None:
        """Stops an app and deletes what it has stored, as `pm clear` does."""
        ...

    def close(self) -> None:
        """Lets the phone go; may be called twice."""
        ...


@runtime_checkable
class FreshableDevice(Device, Protocol):
    """A phone that can be put back to its start: the simulator, web pages."""

    def reset(self, seed: int | None = None) -> None:
        """The start state. The same seed gives the same phone: the simulator to the byte, web pages as far as chance decides."""
        ...


@runtime_checkable
class ResettableDevice(FreshableDevice, Protocol):
    """One whose state at any moment can be kept and put back too: the simulator."""

    def snapshot(self) -> str:
        """Names the state now; the name stays valid until `close`."""
        ...

    def restore(self, snapshot: str) -> None:
        """Goes back to a named state. Raises SessionError for an unknown name."""
        ...


@runtime_checkable
class StoringDevice(Device, Protocol):
    """A phone that tells what its apps have stored: web pages."""

    def stored(self, package: str) -> Mapping[str, str]:
        """The texts that an app keeps, by their keys; nothing where it does not run. Raises ActionError for an unknown app."""
        ...
