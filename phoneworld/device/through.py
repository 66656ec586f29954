"""A phone seen through another: the base of those that change one thing about a phone and pass everything else on."""

from __future__ import annotations

from phoneworld.device.device import Device, InstalledApp
from phoneworld.device.settle import take_retried
from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy


class Through:
    """Passes everything on to `device`, also why that asked again for a tree or a picture."""

    def __init__(self, device: Device) -> None:
        self._device = device

    @property
    def serial(self) -> str:
        return self._device.serial

    @property
    def info(self) -> DeviceInfo:
        return self._device.info

    def state(self) -> DeviceState:
        return self._device.state()

    def hierarchy(self) -> Hierarchy:
        return self._device.hierarchy()

    def screenshot(self) -> bytes:
        return self._device.screenshot()

    def perform(self, action: Action) -> None:
        self._device.perform(action)

    def apps(self) -> tuple[InstalledApp, ...]:
        return self._device.apps()

    def clear_app(self, package: str) -> None:
        self._device.clear_app(package)

    def close(self) -> None:
        self._device.close()

    def take_retried(self) -> tuple[str, ...]:
        return take_retried(self._device)
