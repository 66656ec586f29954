"""The phone's own file tree, in memory. Never touches a file of the host.

Paths are absolute; `..` above the root stays at the root. The three names of the shared storage are one place. The whole
tree is an immutable map behind one attribute, so that a snapshot of it is an assignment.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

from immutables import Map

SHARED_STORAGE = "/storage/emulated/0"
MAX_TREE_BYTES = 256 << 20
MAX_PATH = 1024  # bytes, as adb's sync protocol has it
_ALIASES = ("/storage/self/primary", "/mnt/sdcard", "/sdcard")
_WRITABLE = (SHARED_STORAGE, "/data/local/tmp")
_FOLDERS = (
    "/data/app", "/data/data", "/data/local/tmp", "/dev", "/proc", "/sys/devices/system/cpu/cpu0/cpufreq", "/system/app", "/system/bin", "/system/etc", "/vendor",
    *(f"{SHARED_STORAGE}/{name}" for name in ("Alarms", "Android", "DCIM", "Documents", "Download", "Movies", "Music", "Pictures")),
)  # fmt: skip
_FIXED = {
    "/dev/null": b"",
    "/proc/cpuinfo": b"processor\t: 0\nBogoMIPS\t: 38.40\n\nHardware\t: PhoneWorld\n",
    "/proc/meminfo": b"MemTotal:        4194304 kB\nMemFree:         2097152 kB\nMemAvailable:    3145728 kB\n",
    "/proc/version": b"Linux version 5.15.0-phoneworld\n",
    "/proc/uptime": b"",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": b"2000000\n",
}
"""What clients read of a machine that there is not: one core, 4 GB."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a folder where `content` is None."""

    mode: int
    mtime: int = 0
    content: bytes | None = None

    @property
    def size(self) -> int:
        return 4096 if self.content is None else len(self.content)


_FOLDER = Entry(stat.S_IFDIR | 0o771)


def _fault(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


def resolve(path: str, cwd: str = "/") -> str:
    """The one absolute name of a path. Raises OSError for one that is too long or holds a NUL."""
    if "\0" in path:
        raise _fault(errno.EINVAL, path.replace("\0", "?"))
    if len(path.encode(errors="surrogateescape")) > MAX_PATH:
        raise _fault(errno.ENAMETOOLONG, path[:40] + "...")
    parts: list[str] = []
    for part in (path if path.startswith("/") else f"{cwd}/{path}").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    name = "/" + "/".join(parts)
    for alias in _ALIASES:
        if name == alias or name.startswith(alias + "/"):
            return SHARED_STORAGE + name[len(alias) :]
    return name


class FileTree:
    """Files and folders of one phone. Every method raises OSError as the calls of the same name on a phone would."""

    def __init__(self) -> None:
        entries = {"/": _FOLDER, "/system/build.prop": Entry(stat.S_IFREG | 0o644, 0, b"")}
        entries |= {path: Entry(stat.S_IFREG | 0o444, 0, content) for path, content in _FIXED.items()}
        for folder in _FOLDERS:
            while folder:
                entries[folder] = _FOLDER
                folder = folder.rpartition("/")[0]
        self.entries: Map[str, Entry] = Map(entries)
        """Everything there is, by absolute name. Assign an earlier value to go back to it."""

    @property
    def used(self) -> int:
        """Bytes in all files; linear in their number."""
        return sum(len(e.content) for name, e in self.entries.items() if e.content is not None and name not in _FIXED)

    def stat(self, path: str) -> Entry:
        name = resolve(path)
        if (entry := self.entries.get(name)) is None:
            raise _fault(errno.ENOENT, path)
        return entry

    def exists(self, path: str) -> bool:
        return resolve(path) in self.entries

    def is_folder(self, path: str) -> bool:
        entry = self.entries.get(resolve(path))
        return entry is not None and entry.content is None

    def read(self, path: str) -> bytes:
        entry = self.stat(path)
        if entry.content is None:
            raise _fault(errno.EISDIR, path)
        if resolve(path) == "/proc/uptime":  # the clock of getevent's stamps
            return f"{time.monotonic():.2f} 0.00\n".encode()
        return entry.content

    def write(self, path: str, content: bytes, *, mtime: int = 0, mode: int = 0o660, parents: bool = False) -> None:
        """Puts a file in place of what was there. `parents` makes the missing folders, as adb's sync does."""
        name = resolve(path)
        before = self.entries.get(name)
        if before is not None and before.content is None:
            raise _fault(errno.EISDIR, path)
        self._need_writable(name, path)
        room = MAX_TREE_BYTES - self.used + (before.size if before else 0)
        if len(content) > room:
            raise _fault(errno.ENOSPC, path)
        folder = name.rpartition("/")[0] or "/"
        if parents:
            self.make_folder(folder, parents=True, mtime=mtime)
        elif not self.is_folder(folder):
            raise _fault(errno.ENOENT if folder not in self.entries else errno.ENOTDIR, path)
        self.entries = self.entries.set(name, Entry(stat.S_IFREG | (mode & 0o777), mtime, bytes(content)))

    def make_folder(self, path: str, *, parents: bool = False, mtime: int = 0) -> None:
        name = resolve(path)
        if name in self.entries:
            if parents and self.is_folder(name):
                return
            raise _fault(errno.EEXIST, path)
        self._need_writable(name, path)
        above = name.rpartition("/")[0] or "/"
        if not self.is_folder(above):
            if not parents or above in self.entries:
                raise _fault(errno.ENOENT if above not in self.entries else errno.ENOTDIR, path)
            self.make_folder(above, parents=True, mtime=mtime)
        self.entries = self.entries.set(name, Entry(_FOLDER.mode, mtime))

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Takes away a file, or a folder: an empty one, or with `recursive` any."""
        name = resolve(path)
        entry = self.stat(path)
        self._need_writable(name, path)
        if name in _WRITABLE:
            raise _fault(errno.EBUSY, path)
        below = [other for other in self.entries if other.startswith(name + "/")] if entry.content is None else []
        if below and not recursive:
            raise _fault(errno.ENOTEMPTY, path)
        with self.entries.mutate() as entries:
            for other in [name, *below]:
                del entries[other]
            self.entries = entries.finish()

    def move(self, source: str, target: str, *, keep: bool = False) -> None:
        """Renames a file or folder; with `keep` copies it. A folder as target means a place in it."""
        old, new = resolve(source), resolve(target)
        self.stat(source)
        if self.is_folder(new):
            new = resolve(f"{new}/{old.rpartition('/')[2]}")
        if new == old or new.startswith(old + "/"):
            raise _fault(errno.EINVAL, target)
        self._need_writable(new, target)
        if not keep:
            self._need_writable(old, source)
        if not self.is_folder(new.rpartition("/")[0] or "/"):
            raise _fault(errno.ENOENT, target)
        moved = {
            new + name[len(old) :]: entry
            for name, entry in self.entries.items()
            if name == old or name.startswith(old + "/")
        }
        if keep and sum(e.size for e in moved.values()) > MAX_TREE_BYTES - self.used:
            raise _fault(errno.ENOSPC, target)
        with self.entries.mutate() as entries:
            for name, entry in moved.items():
                if not keep:
                    del entries[old + name[len(new) :]]
                entries[name] = entry
            self.entries = entries.finish()

    def listing(self, path: str) -> list[tuple[str, Entry]]:
        """The names in a folder, sorted. Linear in the whole tree."""
        name = resolve(path)
        if self.stat(path).content is not None:
            raise _fault(errno.ENOTDIR, path)
        prefix = name.rstrip("/") + "/"
        found = [
            (other[len(prefix) :], e) for other, e in self.entries.items() if other.startswith(prefix) and other != "/"
        ]
        return sorted((short, entry) for short, entry in found if "/" not in short)

    def glob(self, pattern: str, cwd: str = "/") -> Iterator[str]:
        """The paths that a shell pattern stands for, spelled the way the pattern is."""

        def visit(done: str, rest: list[str]) -> Iterator[str]:
            if not rest:
                yield done
                return
            head, tail = rest[0], rest[1:]
            if not any(c in head for c in "*?["):
                step = done + ("/" if done and not done.endswith("/") else "") + head
                if not head or self.exists(resolve(step, cwd)):
                    yield from visit(step or "/", tail)
                return
            folder = resolve(done or ".", cwd)
            if self.is_folder(folder):
                for name, _ in self.listing(folder):
                    if fnmatch.fnmatchcase(name, head) and (not name.startswith(".") or head.startswith(".")):
                        yield from visit(done + ("/" if done and not done.endswith("/") else "") + name, tail)

        yield from visit("", pattern.split("/"))

    def _need_writable(self, name: str, path: str) -> None:
        if not any(name == place or name.startswith(place + "/") for place in _WRITABLE):
            raise _fault(errno.EROFS if name.startswith(("/system", "/vendor")) else errno.EACCES, path)
