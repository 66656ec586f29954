"""The one whole PNG in what a phone printed. Pure; knows no device.

Warnings may stand before it (a phone with several displays writes them to the same stream), and old adb turned every LF into
CRLF, once or twice. A clean picture may truly hold CR LF, so the damage is only undone where the signature shows it.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from phoneworld.errors import CaptureFailed
from phoneworld.ui.geometry import Size

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DAMAGES = ((SIGNATURE.replace(b"\n", b"\r\n"), b"\r\n"), (SIGNATURE.replace(b"\n", b"\r\r\n"), b"\r\r\n"))


@dataclass(frozen=True, slots=True)
class FoundPng:
    """The picture's bytes, its size, and the text that stood before it."""

    png: bytes
    size: Size
    before: str = ""


def find_png(output: bytes) -> FoundPng:
    """Finds it, undoes line-end damage, and checks it chunk by chunk to its end.

    Raises CaptureFailed with the code NO_PNG where there is none or it is not whole. Linear in the bytes.
    """
    for signature, line_end in ((SIGNATURE, b""), *_DAMAGES):
        at = output.find(signature)
        if at >= 0:
            png = output[at:].replace(line_end, b"\n") if line_end else output[at:]
            return FoundPng(*_whole(png), before=output[:at].decode(errors="replace"))
    told = output[:120].decode(errors="replace").strip().splitlines()
    raise CaptureFailed(
        f"expected a PNG from screencap, found {len(output)} bytes without its signature"
        + (f": {told[0]}" if told else ""),
        code="NO_PNG",
        hint="is the screen on and unlocked? a protected screen gives no picture",
    )


def _whole(data: bytes) -> tuple[bytes, Size]:
    """The bytes up to the end of the last chunk, and the size in the first."""
    at, size = len(SIGNATURE), None
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            break
        (stored,) = struct.unpack_from(">I", data, end - 4)
        if zlib.crc32(data[at + 4 : end - 4]) != stored:
            raise CaptureFailed(
                f"the picture is damaged: the checksum of its chunk {kind!r} at byte {at} is wrong",
                code="NO_PNG",
                hint="try again",
            )
        if size is None:
            if kind != b"IHDR" or length != 13:
                raise CaptureFailed(f"the picture starts with the chunk {kind!r}, expected IHDR", code="NO_PNG")
            size = Size(*struct.unpack_from(">II", data, at + 8))
        if kind == b"IEND":
            return data[:end], size
        at = end
    raise CaptureFailed(f"the picture stops after {len(data)} bytes, before its end", code="NO_PNG", hint="try again")
