"""The one thread that a device belongs to. Every call of the device is made there, in the order asked."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from phoneworld.device.device import Device
from phoneworld.errors import DeviceLost

T = TypeVar("T")
_Work = Callable[[], None]


class DeviceOwner:
    """Makes the device where a factory is given, calls it, and closes what it made; a device given ready is left open.

    Browser objects may only be used by the thread that made them, hence the factory. A thread of our own and not an
    executor, because the way there and back is most of what a call costs.
    """

    def __init__(self, device: Device | Callable[[], Device]) -> None:
        self._given = device
        self._device: Device | None = None
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Makes the device, and waits for it. Raises what the factory raises."""
        given = self._given
        self._thread = threading.Thread(target=self._run, name="phone", daemon=True)
        self._thread.start()
        try:
            self._device = self._submit(given).result() if callable(given) else given
        except BaseException:
            self._stop()
            raise

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _submit(self, function: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()

        def work() -> None:
            try:
                done.set_result(function())
            except BaseException as e:
                done.set_exception(e)

        self._work.put(work)
        return done

    async def call(self, ask: Callable[[Device], T]) -> T:
        """Calls the device and waits without holding up the event loop."""
        if self._thread is None:
            raise DeviceLost("the phone has been closed")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                outcome: tuple[Any, BaseException | None] = (self._ask(ask), None)
            except BaseException as e:
                outcome = (None, e)
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile: nobody waits
                loop.call_soon_threadsafe(settle, *outcome)

        def settle(value: T, error: BaseException | None) -> None:
            if done.cancelled():
                return
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)

        self._work.put(work)
        return await done

    def call_now(self, ask: Callable[[Device], T]) -> T:
        """Calls the device from a thread that may wait."""
        return self._submit(lambda: self._ask(ask)).result()

    def _ask(self, ask: Callable[[Device], T]) -> T:
        if self._device is None:
            raise DeviceLost("the phone has been closed")
        return ask(self._device)

    def _stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._work.put(None)
            thread.join()

    def close(self) -> None:
        """Closes what was made here and ends the thread; may be called twice."""
        device, self._device = self._device, None
        try:
            if device is not None and callable(self._given):
                self._submit(device.close).result()
        finally:
            self._stop()
