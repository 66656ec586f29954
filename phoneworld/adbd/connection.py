"""The phone's end of one adb connection as a state machine: bytes in, events out; commands in, bytes out. Does no I/O.

    bytes ──► receive() ──► Connected, Opened, Received, Drained, Closed
    accept / refuse / open / send / acknowledge / close ──► output() ──► bytes

Many streams share a connection. A stream has at most one packet of ours in flight: the next WRTE goes out only after the
OKAY of the last one. A peer that does not wait for ours is taken for a few packets (the adb server sends one more when it
finds that the program behind a stream has gone) and then is an error, so a connection holds a bounded amount.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from phoneworld.adbd.codec import MAX_PAYLOAD, VERSION, VERSION_WITH_CHECK, Command, Packet, PacketReader
from phoneworld.errors import WireError

MAX_STREAMS = 256
MAX_UNREAD = 4
"""Packets of one stream that may wait for their OKAY; the protocol allows one."""


@dataclass(frozen=True, slots=True)
class Connected:
    """The peer has introduced itself."""

    banner: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The peer asks for a service: answer with `accept` or `refuse`."""

    stream: int
    service: str


@dataclass(frozen=True, slots=True)
class Received:
    """Bytes for a stream; to be followed by one `acknowledge`, before which the peer should send no more."""

    stream: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Drained:
    """Everything that was given to `send` has been taken by the peer."""

    stream: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The peer has closed a stream."""

    stream: int


Event: TypeAlias = Connected | Opened | Received | Drained | Closed


@dataclass(slots=True)
class _Stream:
    remote: int
    accepted: bool = False
    in_flight: bool = False
    unread: int = 0
    waiting: list[memoryview] = field(default_factory=list)


class Connection:
    """One connection, seen from the phone."""

    def __init__(self, banner: str, *, max_payload: int = MAX_PAYLOAD, max_streams: int = MAX_STREAMS) -> None:
        self._banner = banner.encode()
        self._max_streams = max_streams
        self._own_limit = max_payload
        self._peer_limit = max_payload
        self._check = True
        self._reader = PacketReader()
        self._connected = False
        self._streams: dict[int, _Stream] = {}
        self._next_id = 1
        self._out: list[bytes] = []

    @property
    def streams(self) -> Sequence[int]:
        """The open streams, by our own ids."""
        return tuple(self._streams)

    def receive(self, data: bytes) -> list[Event]:
        """What these bytes mean. Raises WireError; the connection is then of no more use."""
        self._reader.feed(data)
        events: list[Event] = []
        while (packet := self._reader.next_packet()) is not None:
            self._handle(packet, events)
        return events

    def output(self) -> bytes:
        """The bytes to write to the peer now."""
        out, self._out = self._out, []
        return out[0] if len(out) == 1 else b"".join(out)

    def accept(self, stream: int) -> None:
        """Begins the service that the peer asked for."""
        opened = self._streams[stream]
        opened.accepted = True
        self._put(Command.OKAY, stream, opened.remote)

    def open(self, service: str) -> int:
        """Asks the peer for a service; gives our id of the stream. Refused, it is `Closed`."""
        stream, self._next_id = self._next_id, self._next_id % 0xFFFFFFFF + 1
        self._streams[stream] = _Stream(0)
        self._put(Command.OPEN, stream, 0, service.encode(errors="surrogateescape") + b"\0")
        return stream

    def refuse(self, stream: int) -> None:
        """Tells the peer that there is no such service."""
        self._put(Command.CLSE, 0, self._streams.pop(stream).remote)

    def send(self, stream: int, payload: bytes) -> None:
        """Sends bytes on a stream, in as many packets as they need; `Drained` comes when the last one is taken."""
        if (known := self._streams.get(stream)) is None:
            return
        view = memoryview(payload)
        known.waiting += [view[i : i + self._peer_limit] for i in range(0, len(view), self._peer_limit)]
        self._send_next(stream, known)

    def acknowledge(self, stream: int) -> None:
        """Tells the peer that one packet of it is dealt with and that it may send more."""
        known = self._streams.get(stream)
        if known is not None and known.unread:
            known.unread -= 1
            self._put(Command.OKAY, stream, known.remote)

    def close(self, stream: int) -> None:
        """Ends a stream; what still waits to be sent is dropped. An unknown stream is already closed."""
        if (known := self._streams.pop(stream, None)) is not None and known.remote:
            self._put(Command.CLSE, stream, known.remote)

    def _put(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self._out.append(Packet(command, arg0, arg1, payload).encode(check=self._check))

    def _send_next(self, stream: int, known: _Stream) -> None:
        if known.waiting and not known.in_flight and known.accepted:
            known.in_flight = True
            self._put(Command.WRTE, stream, known.remote, bytes(known.waiting.pop(0)))

    def _handle(self, packet: Packet, events: list[Event]) -> None:
        if not self._connected and packet.command not in (Command.CNXN, Command.STLS, Command.AUTH, Command.SYNC):
            raise WireError(
                f"{packet.command.name} came before the connection was made", hint="the first packet must be CNXN"
            )
        match packet.command:
            case Command.CNXN:
                self._connect(packet, events)
            case Command.OPEN:
                self._open(packet, events)
            case Command.OKAY | Command.WRTE | Command.CLSE:
                known = self._streams.get(packet.arg1)
                if known is not None and known.remote == 0 and packet.command is Command.OKAY and packet.arg0:
                    known.remote, known.accepted = packet.arg0, True  # the peer has opened what we asked for
                    self._send_next(packet.arg1, known)
                    return
                if known is None or (
                    packet.arg0 != known.remote and not (packet.command is Command.CLSE and packet.arg0 == 0)
                ):
                    return  # of a stream that we have closed: the two ends may close at the same time
                self._of_stream(packet, known, events)
            case Command.AUTH | Command.STLS | Command.SYNC:
                return  # we ask for no key and offer no TLS, so nothing is to be answered

    def _connect(self, packet: Packet, events: list[Event]) -> None:
        events += [Closed(stream) for stream in self._streams]
        self._streams.clear()
        if packet.arg0 < VERSION_WITH_CHECK or not packet.arg1:
            raise WireError(f"the peer speaks adb {packet.arg0:#010x} with packets of {packet.arg1} bytes")
        self._peer_limit = min(packet.arg1, self._own_limit)
        self._check = True  # the peer knows our version only after this packet
        self._put(Command.CNXN, VERSION, self._own_limit, self._banner)
        self._check = self._reader.verify = packet.arg0 < VERSION
        self._reader.max_payload = self._own_limit
        self._connected = True
        events.append(Connected(packet.payload.rstrip(b"\0").decode(errors="replace")))

    def _open(self, packet: Packet, events: list[Event]) -> None:
        if packet.arg0 == 0:
            raise WireError("OPEN has the stream id 0, expected one above 0")
        if len(self._streams) >= self._max_streams:
            self._put(Command.CLSE, 0, packet.arg0)
            return
        stream, self._next_id = self._next_id, self._next_id % 0xFFFFFFFF + 1
        self._streams[stream] = _Stream(packet.arg0)
        events.append(Opened(stream, packet.payload.split(b"\0", 1)[0].decode(errors="surrogateescape")))

    def _of_stream(self, packet: Packet, known: _Stream, events: list[Event]) -> None:
        stream = packet.arg1
        match packet.command:
            case Command.OKAY:
                if known.in_flight:
                    known.in_flight = False
                    self._send_next(stream, known)
                    if not known.in_flight:
                        events.append(Drained(stream))
            case Command.WRTE:
                if known.unread == MAX_UNREAD:
                    raise WireError(f"the peer sent {MAX_UNREAD + 1} WRTE on stream {stream} before the OKAY of the first")
                known.unread += 1
                events.append(Received(stream, packet.payload))
            case _:
                del self._streams[stream]
                if known.remote:
                    self._put(Command.CLSE, stream, known.remote)
                events.append(Closed(stream))
