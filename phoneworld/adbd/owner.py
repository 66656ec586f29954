"""The one thread that a device belongs to. Every call of the device is made there, in the order asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from phoneworld.device.device import Device
from phoneworld.errors import DeviceLost

T = TypeVar("T")


class DeviceOwner:
    """Makes the device where a factory is given, calls it, and closes what it made; a device given ready is left open.

    Browser objects may only be used by the thread that made them, hence the factory.
    """

    def __init__(self, device: Device | Callable[[], Device]) -> None:
        self._given = device
        self._device: Device | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="phone")

    def open(self) -> None:
        """Makes the device, and waits for it. Raises what the factory raises."""
        given = self._given
        try:
            self._device = self._thread.submit(given).result() if callable(given) else given
        except BaseException:
            self._thread.shutdown()
            raise

    async def call(self, ask: Callable[[Device], T]) -> T:
        """Calls the device and waits without holding up the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, ask)

    def call_now(self, ask: Callable[[Device], T]) -> T:
        """Calls the device from a thread that may wait."""
        return self._thread.submit(self._ask, ask).result()

    def _ask(self, ask: Callable[[Device], T]) -> T:
        if self._device is None:
            raise DeviceLost("the phone has been closed")
        return ask(self._device)

    def close(self) -> None:
        """Closes what was made here and ends the thread; may be called twice."""
        device, self._device = self._device, None
        try:
            if device is not None and callable(self._given):
                self._thread.submit(device.close).result()
        finally:
            self._thread.shutdown()
