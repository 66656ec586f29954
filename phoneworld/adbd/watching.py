"""Who listens to what happens on a phone: looks at it before and after each action, and now and then between them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from phoneworld.adbd.accessibility import AccessibilityEvent, Moment, events_between
from phoneworld.device.device import Device
from phoneworld.errors import CaptureFailed, DumpError
from phoneworld.ui.action import Action
from phoneworld.ui.geometry import Size


class Watch:
    """One listener, as a `with` block in an event loop. `look` and `acted` are called on the thread of the device."""

    def __init__(self, watches: set[Watch]) -> None:
        self._watches = watches
        self._last: Moment | None = None
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Queue[AccessibilityEvent] = asyncio.Queue()

    def __enter__(self) -> Watch:
        self._watches.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._watches.discard(self)

    @property
    def is_ready(self) -> bool:
        """True once it has seen the screen: from then on nothing is missed."""
        return self._last is not None

    def look(self, device: Device, action: Action | None = None) -> None:
        """Tells what has happened since it last looked, by an action or by itself. A screen that cannot be read is looked at next time."""
        try:
            now = Moment(device.hierarchy(), device.state())
        except (CaptureFailed, DumpError):
            return
        before, self._last = self._last, now
        if before is not None:
            size: Size = now.tree.extent
            for event in events_between(before, now, action, size):
                with suppress(RuntimeError):  # the loop has been closed meanwhile: nobody listens
                    self._loop.call_soon_threadsafe(self._told.put_nowait, event)

    async def next(self, timeout_s: float) -> AccessibilityEvent | None:
        """The next event, None where none came in time."""
        try:
            return await asyncio.wait_for(self._told.get(), timeout_s)
        except TimeoutError:
            return None
