"""The packets of adb's transport, bytes to values and back. Does no I/O.

A packet is a header of six little-endian words and a payload:

    command | arg0 | arg1 | payload length | payload check | magic (= command with every bit turned)

Source: the protocol.txt of Android's adb; the limits are those of its types.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from phoneworld.errors import WireError

VERSION_WITH_CHECK = 0x01000000
VERSION = 0x01000001
"""From this version on, the payload check is not looked at."""
MAX_PAYLOAD = 1 << 20
MAX_PAYLOAD_BEFORE_CONNECT = 4096

_HEADER = struct.Struct("<6I")


class Command(IntEnum):
    """The words of the transport, as four ASCII letters read little-endian."""

    SYNC = 0x434E5953
    CNXN = 0x4E584E43
    AUTH = 0x48545541
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    CLSE = 0x45534C43
    WRTE = 0x45545257
    STLS = 0x534C5453


@dataclass(frozen=True, slots=True)
class Packet:
    command: Command
    arg0: int
    arg1: int
    payload: bytes = b""

    def encode(self, *, check: bool = True) -> bytes:
        """The bytes on the wire; `check` sums the payload, which only old peers look at (cost linear in it)."""
        total = sum(self.payload) & 0xFFFFFFFF if check else 0
        header = _HEADER.pack(self.command, self.arg0, self.arg1, len(self.payload), total, self.command ^ 0xFFFFFFFF)
        return header + self.payload


class PacketReader:
    """Cuts a stream of bytes into packets. Holds at most one unfinished packet.

    After a WireError the stream has lost its place: every later call raises the same error.
    """

    def __init__(self, max_payload: int = MAX_PAYLOAD_BEFORE_CONNECT) -> None:
        self.max_payload = max_payload
        self.verify = False
        self._buffer = bytearray()
        self._error: WireError | None = None

    @property
    def held(self) -> int:
        """How many bytes of an unfinished packet are kept."""
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        """Takes bytes from the wire; packets are then had one by one from `next_packet`."""
        self._buffer += data

    def next_packet(self) -> Packet | None:
        """The next whole packet, or None where more bytes are wanted. Raises WireError."""
        if self._error is not None:
            raise self._error
        try:
            return self._parse()
        except WireError as e:
            self._error = e
            self._buffer.clear()
            raise

    def _parse(self) -> Packet | None:
        buffer = self._buffer
        if len(buffer) < _HEADER.size:
            return None
        word, arg0, arg1, length, check, magic = _HEADER.unpack_from(buffer)
        if word ^ 0xFFFFFFFF != magic:
            raise WireError(
                f"an adb header has the magic {magic:#010x}, expected {word ^ 0xFFFFFFFF:#010x}",
                hint="is the peer an adb server?",
            )
        try:
            command = Command(word)
        except ValueError:
            raise WireError(
                f"an adb header has the unknown command {word:#010x}", hint="is the peer an adb server?"
            ) from None
        if length > self.max_payload:
            raise WireError(f"{command.name} announces {length} bytes of payload, the limit is {self.max_payload}")
        end = _HEADER.size + length
        if len(buffer) < end:
            return None
        payload = bytes(memoryview(buffer)[_HEADER.size : end])
        del buffer[:end]
        if self.verify and sum(payload) & 0xFFFFFFFF != check:
            raise WireError(
                f"the payload of {command.name} sums to {sum(payload) & 0xFFFFFFFF}, its header says {check}"
            )
        return Packet(command, arg0, arg1, payload)
