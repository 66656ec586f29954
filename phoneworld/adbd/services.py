"""The services that a stream can ask for: shell, exec, sync. One function a service; a new one is one entry in `SERVICES`."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Awaitable, Callable
from typing import Protocol

from phoneworld.adbd import reversing
from phoneworld.adbd.commands import COMMANDS
from phoneworld.adbd.commands.screen import raw_pixels
from phoneworld.adbd.frames import Frame, FrameReader, Kind
from phoneworld.adbd.phone import Duplex, PhoneSide
from phoneworld.adbd.pipes import Sent
from phoneworld.adbd.reversing import BackStream
from phoneworld.adbd.shell import Shell, Streams
from phoneworld.adbd.sync import SyncSession
from phoneworld.adbd.terminal import interact
from phoneworld.errors import CaptureFailed, WireError

log = logging.getLogger("phoneworld.adbd")


class Stream(Duplex, Protocol):
    """One stream that the peer has opened."""

    @property
    def owner(self) -> object: ...

    def open_back(self, service: str) -> BackStream: ...


Service = Callable[[Stream, PhoneSide, str], Awaitable[None]]


async def shell(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`shell:LINE` and `shell,v2,TERM=…,pty|raw:LINE`; without a line it is a terminal, or a script on stdin."""
    head, _, line = service.partition(":")
    options = head.split(",")[1:]
    framed = "v2" in options
    terminal = not line and "raw" not in options

    async def stdout(chunk: bytes) -> None:
        await stream.write(Frame(Kind.STDOUT, chunk).encode() if framed else chunk)

    async def stderr(chunk: bytes) -> None:
        await stream.write(
            Frame(Kind.STDERR if "pty" not in options else Kind.STDOUT, chunk).encode() if framed else chunk
        )

    runner = Shell(phone, COMMANDS)
    streams = Streams(_Stdin(stream, framed=framed), Sent(stdout), Sent(stderr))
    status = await (runner.run(line, streams) if line else interact(runner, streams, terminal=terminal))
    if framed:
        await stream.write(Frame(Kind.EXIT, bytes([status & 0xFF])).encode())


class _Stdin:
    """What the peer types, read only when a command asks for it; so a peer that sends much to one that does not must wait."""

    def __init__(self, stream: Stream, *, framed: bool) -> None:
        self._stream = stream
        self._frames = FrameReader() if framed else None
        self._ended = False

    async def read(self) -> bytes:
        while not self._ended:
            chunk = await self._stream.read()
            if not chunk:
                self._ended = True
            elif self._frames is None:
                return chunk
            else:
                frames = self._frames.feed(chunk)
                self._ended = any(frame.kind == Kind.CLOSE_STDIN for frame in frames)
                if typed := b"".join(frame.payload for frame in frames if frame.kind == Kind.STDIN):
                    return typed
        return b""


async def execute(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`exec:LINE`: raw bytes both ways, stdout and stderr on one stream, no exit status."""
    await shell(stream, phone, "exec,raw:" + service.partition(":")[2])


async def sync(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`sync:`: file transfer."""
    session = SyncSession(phone.files)
    while not session.finished and (chunk := await stream.read()):
        try:
            batch = bytearray()
            for answer in session.feed(chunk):
                batch += answer
                if len(batch) >= 512 * 1024:
                    await stream.write(bytes(batch))
                    batch.clear()
            if batch:
                await stream.write(bytes(batch))
        except WireError as e:
            log.info("a sync stream was ended: %s", e.message)
            return


async def _say(stream: Stream, text: str) -> None:
    await stream.write(text.encode())


async def root(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`root:`: refused in words, as a phone of a shop does."""
    await _say(stream, "adbd cannot run as root in production builds\n")


async def framebuffer(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`framebuffer:`: a header of version 1, then RGBA. Where there is no picture the stream just ends."""
    try:
        png = await phone.owner.call(lambda device: device.screenshot())
    except CaptureFailed as e:
        phone.refuse(f"framebuffer: {e.message}")
        return
    raw = await asyncio.to_thread(raw_pixels, png)
    width, height = struct.unpack_from("<2I", raw)
    channels = (0, 8, 16, 8, 8, 8, 24, 8)  # offset and length in bits: red, blue, green, alpha
    await stream.write(struct.pack("<13I", 1, 32, width * height * 4, width, height, *channels))
    await stream.write(raw[16:])


async def reverse(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`reverse:forward:LOCAL;REMOTE`, list-forward, killforward, killforward-all."""
    await stream.write(reversing.answer(phone, service.partition(":")[2], stream.owner, stream.open_back))


async def refuse_restart(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`remount:`, `tcpip:`, `usb:`, `reboot:`…: refused in words."""
    phone.refuse(f"service {service}")
    await _say(stream, f"{service.partition(':')[0]} is not done here: the phone is a process on this machine\n")


async def listening(stream: Stream, phone: PhoneSide, service: str) -> None:
    """`tcp:PORT` and `localabstract:NAME`, where something on the phone listens."""
    await phone.listeners[service].serve(stream)


SERVICES: dict[str, Service] = {
    "shell": shell, "exec": execute, "sync": sync, "root": root, "unroot": root, "framebuffer": framebuffer, "reverse": reverse,
    "remount": refuse_restart, "tcpip": refuse_restart, "usb": refuse_restart, "reboot": refuse_restart,
}  # fmt: skip
"""By the word before the first `:` or `,`. Whatever is not here is refused: the client prints `error: closed`."""
_SOCKETS = ("tcp", "localabstract", "localreserved", "localfilesystem")


def service_named(service: str, phone: PhoneSide) -> Service | None:
    """The function for a service string, or None where it is not served."""
    head = service.split(":", 1)[0].split(",", 1)[0]
    if head in _SOCKETS:
        return listening if service in phone.listeners else None
    return SERVICES.get(head)
