"""How long a tap and a picture take through the adb face: a client of the raw transport, without the adb program between."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from phoneworld.adbd.codec import MAX_PAYLOAD, VERSION, Command, Packet, PacketReader
from phoneworld.adbd.server import AdbPhone
from phoneworld.cli.bench.measure import WINDOWS
from phoneworld.device.mock import MockDevice
from phoneworld.errors import WireError
from phoneworld.ui.action import Tap

_FEWEST, _MOST = 20, 2000


@dataclass(frozen=True, slots=True)
class AdbFigures:
    """Milliseconds from asking to the end of the stream: median and 95th percentile. Pictures are None without Chromium."""

    calls: int
    tap_ms: float
    tap_p95_ms: float
    screencap_ms: float | None
    screencap_p95_ms: float | None
    screencap_kb: float | None


class RawClient:
    """The host's end of one connection to a phone's port. One stream at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = PacketReader(MAX_PAYLOAD)
        self._stream = 0
        self._send(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2\0"), check=True)
        self._take(Command.CNXN)

    def _send(self, packet: Packet, *, check: bool = False) -> None:
        self._socket.sendall(packet.encode(check=check))

    def _next(self) -> Packet:
        while (packet := self._reader.next_packet()) is None:
            data = self._socket.recv(1 << 20)
            if not data:
                raise WireError("the phone has closed the connection")
            self._reader.feed(data)
        return packet

    def _take(self, command: Command) -> Packet:
        packet = self._next()
        if packet.command is not command:
            raise WireError(f"expected {command.name}, found {packet.command.name}")
        return packet

    def ask(self, service: str) -> bytes:
        """Opens a service and reads it to its end."""
        self._stream += 1
        self._send(Packet(Command.OPEN, self._stream, 0, service.encode() + b"\0"))
        remote, out = self._take(Command.OKAY).arg0, b""
        while (packet := self._next()).command is Command.WRTE:
            out += packet.payload
            self._send(Packet(Command.OKAY, self._stream, remote))
        self._send(Packet(Command.CLSE, self._stream, remote))
        return out

    def close(self) -> None:
        self._socket.close()


def latency(bundle: Path, taps: Sequence[Tap], seconds: float) -> AdbFigures:
    """Serves the bundle on a port of its own and measures: taps that walk through the app, then pictures of one state."""
    with AdbPhone(lambda: MockDevice.open(bundle), port=0) as phone:
        client = RawClient(phone.port)
        try:
            lines = [f"shell:input tap {tap.x} {tap.y}" for tap in taps]
            taken = _times(lambda i: client.ask(lines[i % len(lines)]), seconds)
            picture = client.ask("exec:screencap -p")  # draws it, so that the next ones are those of a cached state
            if not picture.startswith(b"\x89PNG"):
                return AdbFigures(len(taken), median(taken), _p95(taken), None, None, None)
            shots = _times(lambda i: client.ask("exec:screencap -p"), seconds)
        finally:
            client.close()
    return AdbFigures(
        len(taken), median(taken), _p95(taken), median(shots), _p95(shots), len(picture) / 1000
    )


def _times(call: Callable[[int], object], seconds: float) -> list[float]:
    """How long each of many calls takes, in ms, in the window that was least disturbed by other programs."""
    windows: list[list[float]] = []
    number = 0
    for _ in range(WINDOWS):
        out: list[float] = []
        end = perf_counter() + seconds / WINDOWS
        while len(out) < _FEWEST or (len(out) < _MOST and perf_counter() < end):
            began = perf_counter()
            call(number)
            out.append((perf_counter() - began) * 1000)
            number += 1
        windows.append(out)
    return min(windows, key=median)


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]
