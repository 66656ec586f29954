"""Which package an APK holds: the one thing of it that this phone can use. Reads the binary XML of its manifest; does no I/O.

Layout: ResourceTypes.h of Android's frameworks/base (ResStringPool_header, ResXMLTree_attrExt).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from phoneworld.errors import FileFormatError

_STRING_POOL, _START_ELEMENT = 0x0001, 0x0102
_UTF8 = 1 << 8
_MAX_MANIFEST = 4 << 20
_HINT = "is it an .apk file, whole?"


def package_of(apk: bytes) -> str:
    """The package name in the manifest of an APK. Raises FileFormatError."""
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive:
            about = archive.getinfo("AndroidManifest.xml")
            if about.file_size > _MAX_MANIFEST:
                raise FileFormatError(f"AndroidManifest.xml says it has {about.file_size} bytes", hint=_HINT)
            manifest = archive.read(about)
        return _package(manifest)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as e:
        raise FileFormatError(f"no AndroidManifest.xml can be read from the APK: {e}", hint=_HINT) from None
    except (struct.error, IndexError, ValueError) as e:
        raise FileFormatError(f"the AndroidManifest.xml of the APK is damaged: {e}", hint=_HINT) from None


def _package(xml: bytes) -> str:
    strings: list[str] = []
    at = 8
    while at + 8 <= len(xml):
        kind, header, size = struct.unpack_from("<HHI", xml, at)
        if size < 8 or at + size > len(xml):
            raise FileFormatError("a part of the AndroidManifest.xml is longer than the whole", hint=_HINT)
        chunk = xml[at : at + size]
        if kind == _STRING_POOL:
            strings = _strings(chunk, header)
        elif kind == _START_ELEMENT:
            _, name, start, width, count = struct.unpack_from("<IIHHH", chunk, header)
            if strings[name] == "manifest":
                for i in range(count):
                    _, key, raw = struct.unpack_from("<Iii", chunk, header + start + i * width)
                    if strings[key] == "package" and raw >= 0:
                        return str(strings[int(raw)])
            break
        at += size
    raise FileFormatError("the AndroidManifest.xml of the APK names no package", hint=_HINT)


def _strings(chunk: bytes, header: int) -> list[str]:
    count, _, flags, start = struct.unpack_from("<IIII", chunk, 8)
    if count > len(chunk) // 4:
        raise FileFormatError("the strings of the AndroidManifest.xml are damaged", hint=_HINT)
    out: list[str] = []
    for offset in struct.unpack_from(f"<{count}I", chunk, header):
        at = start + offset
        if flags & _UTF8:
            at += 2 if chunk[at] & 0x80 else 1  # how many characters
            length, at = (
                (((chunk[at] & 0x7F) << 8) | chunk[at + 1], at + 2) if chunk[at] & 0x80 else (chunk[at], at + 1)
            )
            out.append(chunk[at : at + length].decode("utf-8", "replace"))
        else:
            (length,) = struct.unpack_from("<H", chunk, at)
            out.append(chunk[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace"))
    return out
