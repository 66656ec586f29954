"""A phone without its pictures: where a tree costs a hundredth of a picture, a step is ten times as fast."""

from __future__ import annotations

from phoneworld.device.device import Device, InstalledApp
from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy


class TreesOnly:
    """The phone, but that a picture of it is empty, which `settle` knows."""

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
        """No picture."""
        return b""

    def perform(self, action: Action) -> None:
        self._device.perform(action)

    def apps(self) -> tuple[InstalledApp, ...]:
        return self._device.apps()

    def clear_app(self, package: str) -> None:
        self._device.clear_app(package)

    def close(self) -> None:
        self._device.close()
