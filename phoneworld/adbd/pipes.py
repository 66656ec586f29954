"""Where a command's bytes come from and go to: the small pieces a shell joins. Knows no adb and no device."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

PIPE_LIMIT = 1 << 20


class Sink(Protocol):
    """Takes bytes; returns when they are taken. Raises BrokenPipeError when nobody will read them any more."""

    async def write(self, chunk: bytes) -> None: ...


class Source(Protocol):
    """Gives bytes as they come; `b""` at the end, from then on always."""

    async def read(self) -> bytes: ...


class Nothing:
    """/dev/null."""

    async def write(self, chunk: bytes) -> None:
        return

    async def read(self) -> bytes:
        return b""


class Collected:
    """Keeps what is written. Raises BrokenPipeError above its limit."""

    def __init__(self, limit: int = 64 << 20) -> None:
        self.content = bytearray()
        self._limit = limit

    async def write(self, chunk: bytes) -> None:
        if len(self.content) + len(chunk) > self._limit:
            raise BrokenPipeError
        self.content += chunk


class Given:
    """A source that gives these bytes once."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def read(self) -> bytes:
        content, self._content = self._content, b""
        return content


class Sent:
    """A sink over a function."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._send = send

    async def write(self, chunk: bytes) -> None:
        if chunk:
            await self._send(chunk)


class Pipe:
    """Joins a writer to a reader; the writer waits while 1 MiB is unread."""

    def __init__(self, limit: int = PIPE_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._changed = asyncio.Event()
        self._ended = False
        self._broken = False

    async def write(self, chunk: bytes) -> None:
        while len(self._buffer) >= self._limit and not self._broken and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        if self._broken or self._ended:
            raise BrokenPipeError
        self._buffer += chunk
        self._changed.set()

    async def read(self) -> bytes:
        while not self._buffer and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        content = bytes(self._buffer)
        self._buffer.clear()
        self._changed.set()
        return content

    def end(self) -> None:
        """No more will be written."""
        self._ended = True
        self._changed.set()

    def abandon(self) -> None:
        """No more will be read."""
        self._broken = True
        self._buffer.clear()
        self._changed.set()


async def read_all(source: Source, limit: int = 64 << 20) -> bytes:
    """Everything up to the end. Raises BrokenPipeError above the limit."""
    everything = Collected(limit)
    while chunk := await source.read():
        await everything.write(chunk)
    return bytes(everything.content)
