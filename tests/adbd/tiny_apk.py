"""The smallest file that is an APK: a ZIP with a binary AndroidManifest.xml that names a package."""

from __future__ import annotations

import io
import struct
import zipfile


def manifest(package: str, *, utf8: bool = False) -> bytes:
    """`<manifest package="…"/>` in Android's binary XML."""
    strings, pool = ["manifest", "package", package], b""
    offsets = []
    for text in strings:
        offsets.append(len(pool))
        if utf8:
            raw = text.encode()
            pool += bytes([len(text), len(raw)]) + raw + b"\0"
        else:
            pool += struct.pack("<H", len(text)) + text.encode("utf-16-le") + b"\0\0"
    pool += b"\0" * (-len(pool) % 4)
    start = 28 + 4 * len(strings)
    head = struct.pack("<HHIIIIII", 1, 28, start + len(pool), len(strings), 0, 0x100 if utf8 else 0, start, 0)
    string_pool = head + struct.pack(f"<{len(offsets)}I", *offsets) + pool
    attribute = struct.pack("<IiiHBBi", 0xFFFFFFFF, 1, 2, 8, 0, 3, 2)
    element = struct.pack("<IIHHHHHH", 0xFFFFFFFF, 0, 20, 20, 1, 0, 0, 0) + attribute
    start_element = struct.pack("<HHIII", 0x0102, 16, 16 + len(element), 1, 0xFFFFFFFF) + element
    body = string_pool + start_element
    return struct.pack("<HHI", 3, 8, 8 + len(body)) + body


def apk(package: str, *, utf8: bool = False) -> bytes:
    """An APK of that package, with nothing else in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("AndroidManifest.xml", manifest(package, utf8=utf8))
    return out.getvalue()
