"""adb's file transfer over the phone's file tree: bytes in, bytes out. Does no I/O.

STAT LIST RECV SEND     the first version
LST2 STA2 LIS2          with 64-bit sizes and times
RCV2 SND2               a second packet of flags follows the path; no compression is advertised or taken
"""

from __future__ import annotations

import errno
import stat
import struct
from collections.abc import Iterator

from phoneworld.adbd.files import MAX_PATH, MAX_TREE_BYTES, Entry, FileTree, resolve
from phoneworld.errors import WireError

MAX_CHUNK = 64 * 1024
_REQUEST = struct.Struct("<4sI")
_STAT2 = struct.Struct("<4sIQQIIIIQqqq")
_SHELL_USER, _SHARED_GROUP = 2000, 1015


class SyncSession:
    """One `sync:` stream. `feed` gives the answers, in order; `finished` is true after QUIT."""

    def __init__(self, files: FileTree) -> None:
        self._files = files
        self._buffer = bytearray()
        self._upload: _Upload | None = None
        self.finished = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Answers to everything that is whole now. Raises WireError where the stream has lost its place."""
        self._buffer += data
        while not self.finished and (answer := self._next()) is not None:
            yield from answer

    def _next(self) -> Iterator[bytes] | None:
        if len(self._buffer) < _REQUEST.size:
            return None
        word, length = _REQUEST.unpack_from(self._buffer)
        if self._upload is not None:
            return self._upload_packet(self._upload, word, length)
        if word == b"QUIT":
            self.finished = True
            return iter(())
        if word not in (b"STAT", b"LIST", b"RECV", b"SEND", b"LST2", b"STA2", b"LIS2", b"RCV2", b"SND2"):
            raise WireError(f"unknown sync request {word!r}")
        if length > MAX_PATH:
            raise WireError(f"{word.decode()} announces a path of {length} bytes, the limit is {MAX_PATH}")
        extra = {b"RCV2": 8, b"SND2": 12}.get(word, 0)
        if len(self._buffer) < _REQUEST.size + length + extra:
            return None
        path = self._take(_REQUEST.size + length)[_REQUEST.size :].decode(errors="surrogateescape")
        second = self._take(extra)
        match word:
            case b"STAT":
                return iter((self._stat_v1(path),))
            case b"LST2" | b"STA2":
                return iter((_stat_v2(word, *self._stat_or_error(path)),))
            case b"LIST":
                return self._list_v1(path)
            case b"LIS2":
                return self._list_v2(path)
            case b"RECV":
                return self._receive(path)
            case b"RCV2":
                return self._receive(path) if _flags_of(second) == 0 else iter((_fail("compression is not supported"),))
            case b"SEND":
                path, _, mode = path.rpartition(",")
                self._upload = _Upload(path, int(mode) if mode.isdigit() else stat.S_IFREG | 0o644)
            case _:
                self._upload = _Upload(path, struct.unpack_from("<I", second, 4)[0])
                if struct.unpack_from("<I", second, 8)[0]:
                    self._upload.fault = "compression is not supported"
        return iter(())

    def _take(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _stat_or_error(self, path: str) -> tuple[Entry | None, int]:
        try:
            return self._files.stat(path), 0
        except OSError as e:
            return None, e.errno or errno.EIO

    def _stat_v1(self, path: str) -> bytes:
        entry, _ = self._stat_or_error(path)
        if entry is None:
            return struct.pack("<4sIII", b"STAT", 0, 0, 0)
        return struct.pack("<4sIII", b"STAT", entry.mode, entry.size, entry.mtime & 0xFFFFFFFF)

    def _listing(self, path: str) -> list[tuple[str, Entry]]:
        try:
            folder = self._files.stat(path)
            return [(".", folder), ("..", folder), *self._files.listing(path)]
        except OSError:
            return []  # adb answers an unreadable folder with an empty list

    def _list_v1(self, path: str) -> Iterator[bytes]:
        for name, entry in self._listing(path):
            raw = name.encode(errors="surrogateescape")
            yield struct.pack("<4sIIII", b"DENT", entry.mode, entry.size, entry.mtime & 0xFFFFFFFF, len(raw)) + raw
        yield b"DONE" + bytes(16)

    def _list_v2(self, path: str) -> Iterator[bytes]:
        for name, entry in self._listing(path):
            raw = name.encode(errors="surrogateescape")
            yield _stat_v2(b"DNT2", entry, 0) + struct.pack("<I", len(raw)) + raw
        yield b"DONE" + bytes(72)

    def _receive(self, path: str) -> Iterator[bytes]:
        try:
            content = memoryview(self._files.read(path))
        except OSError as e:
            yield _fail(f"open failed: {e.strerror}")
            return
        for start in range(0, len(content), MAX_CHUNK):
            chunk = content[start : start + MAX_CHUNK]
            yield _REQUEST.pack(b"DATA", len(chunk)) + chunk
        yield _REQUEST.pack(b"DONE", 0)

    def _upload_packet(self, upload: _Upload, word: bytes, length: int) -> Iterator[bytes] | None:
        if word == b"DONE":  # its length is the file's time
            self._take(_REQUEST.size)
            self._upload = None
            return iter((upload.finish(self._files, length),))
        if word != b"DATA" or length > MAX_CHUNK:
            raise WireError(
                f"expected DATA of up to {MAX_CHUNK} bytes or DONE while a file is sent, found {word!r} of {length}"
            )
        if len(self._buffer) < _REQUEST.size + length:
            return None
        upload.add(self._take(_REQUEST.size + length)[_REQUEST.size :])
        return iter(())


class _Upload:
    """A file on its way in. A fault is told at the end, as the peer listens only then; what follows it is dropped."""

    def __init__(self, path: str, mode: int) -> None:
        self.path, self.mode, self.fault = path, mode, ""
        self._content = bytearray()

    def add(self, chunk: bytes) -> None:
        if len(self._content) + len(chunk) > MAX_TREE_BYTES:
            self.fault = "No space left on device"
        if self.fault:
            self._content.clear()
        else:
            self._content += chunk

    def finish(self, files: FileTree, mtime: int) -> bytes:
        if not self.fault and stat.S_ISLNK(self.mode):
            self.fault = "symlink failed: Operation not permitted"
        if not self.fault:
            try:
                files.write(resolve(self.path), bytes(self._content), mtime=mtime, mode=self.mode, parents=True)
            except OSError as e:
                self.fault = f"couldn't create file: {e.strerror}"
        return _fail(self.fault) if self.fault else _REQUEST.pack(b"OKAY", 0)


def _flags_of(second: bytes) -> int:
    return int(struct.unpack_from("<I", second, 4)[0])


def _fail(message: str) -> bytes:
    raw = message.encode()
    return _REQUEST.pack(b"FAIL", len(raw)) + raw


def _stat_v2(word: bytes, entry: Entry | None, error: int) -> bytes:
    if entry is None:
        return _STAT2.pack(word, error, *(0,) * 10)
    return _STAT2.pack(
        word, 0, 1, 1, entry.mode, 1, _SHELL_USER, _SHARED_GROUP, entry.size, entry.mtime, entry.mtime, entry.mtime
    )
