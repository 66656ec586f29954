"""What logcat shows: the last lines of the phone's log, and who waits for the next ones. One event loop; does no I/O."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

KEPT = 2000
FIRST_SIZE = 256 << 10
LEVELS = "VDIWEF"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `number` counts from 1 and never goes back; `time_ms` is the phone's clock."""

    number: int
    time_ms: int
    level: str
    tag: str
    text: str
    process: int = 1201


class Journal:
    """The log of one phone, in memory, bounded."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._count = 0
        self.size = FIRST_SIZE
        """The size of the buffer in bytes, as `logcat -G` was told it. What is kept is counted in lines whatever it says."""
        self._changed: set[asyncio.Event] = set()

    def add(self, tag: str, text: str, level: str, time_ms: int) -> None:
        """Takes one line, cut to one line."""
        self._count += 1
        self._entries.append(Entry(self._count, time_ms, level, tag, text.replace("\n", " ")[:4000]))
        for event in self._changed:
            event.set()

    def after(self, number: int) -> list[Entry]:
        """The lines that are kept and came after this number."""
        return [entry for entry in self._entries if entry.number > number]

    def clear(self) -> None:
        """Forgets what was logged; who waits goes on waiting."""
        self._entries.clear()

    async def wait(self, number: int) -> list[Entry]:
        """The lines after this number, as soon as there are any."""
        event = asyncio.Event()
        self._changed.add(event)
        try:
            while not (entries := self.after(number)):
                event.clear()
                await event.wait()
            return entries
        finally:
            self._changed.discard(event)
