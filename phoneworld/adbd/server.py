"""Puts a phone behind a TCP port that an adb server can connect to: `adb connect 127.0.0.1:7555`.

Two threads: one runs the sockets and the shell (asyncio), one owns the Device. There is no key exchange, so it listens on the
loopback interface unless told otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from phoneworld.adbd import DEFAULT_PORT
from phoneworld.adbd.connection import Closed, Connected, Connection, Drained, Opened, Received
from phoneworld.adbd.phone import PhoneSide
from phoneworld.adbd.reversing import end_those_of
from phoneworld.adbd.services import Service, service_named
from phoneworld.device.device import Device
from phoneworld.device.faults import Faults, faulty
from phoneworld.errors import ServeError, WireError

log = logging.getLogger("phoneworld.adbd")

UNATTENDED_S = 60.0
"""How long a command may go on whose peer has hung up."""


class AdbPhone:
    """A phone that can be had over adb for as long as the `with` block lasts.

    `device` is a Device, or a function that makes one: then it is made, used and closed on a thread of its own.
    Port 0 takes any free one; `port` says which. `faults` makes the phone as unreliable as real ones are. What
    clients ask for in vain is written to `unknown_log`, a line each.
    """

    def __init__(
        self,
        device: Device | Callable[[], Device],
        *,
        port: int = DEFAULT_PORT,
        host: str = "127.0.0.1",
        faults: Faults | None = None,
        unknown_log: Path | None = None,
    ) -> None:
        owned = device if faults is None else _unreliable(device, faults)
        self.phone = PhoneSide(owned, faults, unknown_log=unknown_log)
        self.host = host
        self.port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._wires: set[_Wire] = set()

    @property
    def serial(self) -> str:
        """How adb names the phone once it is connected."""
        return f"{self.host}:{self.port}"

    def start(self) -> AdbPhone:
        """Opens port and phone. Raises ServeError for a port that is taken, and what the device's factory raises."""
        listener = self._listen()
        try:
            self.phone.open()
        except BaseException:
            listener.close()
            raise
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._run, args=(self._loop, listener, ready), name=f"adbd-{self.port}", daemon=True
        )
        self._thread.start()
        ready.wait()
        return self

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
            listener.listen(64)
        except (OSError, OverflowError) as e:
            listener.close()
            raise ServeError(
                f"port {self.port} on {self.host} cannot be used: {getattr(e, 'strerror', None) or e}",
                hint="choose another port, or 0 for any free one",
            ) from None
        return listener

    def _run(self, loop: asyncio.AbstractEventLoop, listener: socket.socket, ready: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(loop.create_server(lambda: _Wire(self.phone, self._wires), sock=listener))
        ready.set()
        try:
            loop.run_forever()
        finally:
            server.close()
            for wire in list(self._wires):
                wire.end()
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def close(self) -> None:
        """Ends the connections, frees the port and lets the phone go; may be called twice."""
        thread, self._thread = self._thread, None
        if thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
        self.phone.close()

    def __enter__(self) -> AdbPhone:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve_phone(device: Device | Callable[[], Device], port: int = DEFAULT_PORT, host: str = "127.0.0.1") -> AdbPhone:
    """Starts a phone behind adb; call `close` on what it returns."""
    return AdbPhone(device, port=port, host=host).start()


def _unreliable(device: Device | Callable[[], Device], faults: Faults) -> Device | Callable[[], Device]:
    return (lambda: faulty(device(), faults)) if callable(device) else faulty(device, faults)


class _Wire(asyncio.Protocol):
    """One TCP connection of an adb server."""

    def __init__(self, phone: PhoneSide, wires: set[_Wire]) -> None:
        self._phone = phone
        self._wires = wires
        self.connection = Connection(phone.banner)
        self._streams: dict[int, _WireStream] = {}
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._phone.faults.is_offline:
            transport.abort()
            return
        self._socket = transport.get_extra_info("socket")
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._quick_ack()
        self._wires.add(self)

    def _quick_ack(self) -> None:
        """Acknowledges at once: a client that writes header and payload apart would else wait 40 ms for each call.

        The kernel forgets the wish, so it is said again after each read. Linux only.
        """
        if hasattr(socket, "TCP_QUICKACK") and self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def data_received(self, data: bytes) -> None:
        self._quick_ack()
        if self._phone.faults.cuts():
            self.end()
            return
        try:
            events = self.connection.receive(data)
        except WireError as e:
            log.warning("an adb connection was ended: %s", e.message)
            self.end()
            return
        for event in events:
            match event:
                case Connected(banner):
                    log.debug("connected: %s", banner)
                case Opened(number, name):
                    self._open(number, name)
                case Received(number, payload):
                    if number in self._streams:
                        self._streams[number].put(payload)
                case Drained(number):
                    if number in self._streams:
                        self._streams[number].drained()
                case Closed(number):
                    self._drop(number)
        self.flush()

    def _open(self, number: int, name: str) -> None:
        service = service_named(name, self._phone)
        if service is None:
            self._phone.refuse(f"service {name}")
            self.connection.refuse(number)
            return
        self.connection.accept(number)
        stream = self._streams[number] = _WireStream(self, number)
        stream.task = asyncio.get_running_loop().create_task(self._serve(service, stream, name))

    async def _serve(self, service: Service, stream: _WireStream, name: str) -> None:
        try:
            await service(stream, self._phone, name)
        except (BrokenPipeError, asyncio.CancelledError):
            pass  # the peer has closed the stream, or the phone is being closed
        except Exception:
            log.exception("the service %s failed", name[:200])
        finally:
            self._streams.pop(stream.number, None)
            self.connection.close(stream.number)
            self.flush()

    def _drop(self, number: int, *, at_once: bool = False) -> None:
        if (stream := self._streams.pop(number, None)) is not None:
            stream.lose(at_once=at_once)

    def open_back(self, service: str) -> _WireStream:
        """Opens a stream to the peer's side, as a reversed port does."""
        number = self.connection.open(service)
        stream = self._streams[number] = _WireStream(self, number)
        self.flush()
        return stream

    def close_back(self, number: int) -> None:
        self._streams.pop(number, None)
        self.connection.close(number)
        self.flush()

    def flush(self) -> None:
        out = self.connection.output()
        if out and self._transport is not None and not self._transport.is_closing():
            self._transport.write(out)

    def connection_lost(self, error: Exception | None) -> None:
        self._wires.discard(self)
        end_those_of(self._phone, self)
        for number in list(self._streams):
            self._drop(number)

    def end(self) -> None:
        """Ends the connection and every command on it."""
        for number in list(self._streams):
            self._drop(number, at_once=True)
        if self._transport is not None:
            self._transport.abort()


class _WireStream:
    """One stream for a service to read and write."""

    def __init__(self, wire: _Wire, number: int) -> None:
        self._wire = wire
        self.number = number
        self.task: asyncio.Task[None] | None = None
        self._inbox: deque[bytes] = deque()
        self._listened = self._spoke = False
        self._lost = False
        self._arrived = asyncio.Event()
        self._empty = asyncio.Event()
        self._writing = asyncio.Lock()

    def put(self, payload: bytes) -> None:
        self._inbox.append(payload)
        self._arrived.set()

    def drained(self) -> None:
        self._empty.set()

    def lose(self, *, at_once: bool) -> None:
        """The peer is gone: writers see a broken pipe, readers the end after all that was sent, and the command is stopped.

        It may finish first (`cat > FILE`) where it does not only speak, as a log does: `adb exec-in` hangs up as soon as it has
        sent the last byte.
        """
        self._lost = True
        self._arrived.set()
        self._empty.set()
        if self.task is None:
            return
        if at_once or (self._spoke and not self._listened):
            self.task.cancel()
        else:
            asyncio.get_running_loop().call_later(UNATTENDED_S, self.task.cancel)

    @property
    def owner(self) -> object:
        """The connection it belongs to."""
        return self._wire

    def open_back(self, service: str) -> _WireStream:
        """A stream of this side on the same connection."""
        return self._wire.open_back(service)

    def close(self) -> None:
        self._wire.close_back(self.number)

    async def read(self) -> bytes:
        self._listened = True
        while True:
            while not self._inbox:
                if self._lost:
                    return b""
                self._arrived.clear()
                await self._arrived.wait()
            payload = self._inbox.popleft()
            self._wire.connection.acknowledge(self.number)
            self._wire.flush()
            if payload:
                return payload

    async def write(self, payload: bytes) -> None:
        if not payload:
            return
        self._spoke = True
        async with self._writing:
            if self._lost:
                raise BrokenPipeError
            self._empty.clear()
            self._wire.connection.send(self.number, payload)
            self._wire.flush()
            await self._empty.wait()
            if self._lost:
                raise BrokenPipeError
