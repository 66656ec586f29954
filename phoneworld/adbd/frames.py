"""The frames of adb's shell protocol (v2): one byte of kind, four of length, then the bytes. Does no I/O."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from phoneworld.errors import WireError

MAX_FRAME = 1 << 20
_HEADER = struct.Struct("<BI")


class Kind(IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4
    WINDOW_SIZE = 5


@dataclass(frozen=True, slots=True)
class Frame:
    kind: int
    payload: bytes = b""

    def encode(self) -> bytes:
        return _HEADER.pack(self.kind, len(self.payload)) + self.payload


class FrameReader:
    """Cuts a stream of bytes into frames; holds at most one unfinished frame. Unknown kinds are passed on."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now. Raises WireError for a frame above 1 MiB."""
        self._buffer += data
        frames: list[Frame] = []
        while len(self._buffer) >= _HEADER.size:
            kind, length = _HEADER.unpack_from(self._buffer)
            if length > MAX_FRAME:
                raise WireError(f"a shell frame announces {length} bytes, the limit is {MAX_FRAME}")
            end = _HEADER.size + length
            if len(self._buffer) < end:
                break
            frames.append(Frame(kind, bytes(self._buffer[_HEADER.size : end])))
            del self._buffer[:end]
        return frames
