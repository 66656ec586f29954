"""The journal on disk: `app.journal/` beside `app.graph.json`. The only part of the recorder that writes files.

    app.journal/journal.jsonl          one record a line, appended to and flushed to the disk with every write
    app.journal/salt                   the key of the placeholders for personal texts; not to be handed on
    app.journal/pictures/<sha256>.png  screenshots, each on the disk before the record that refers to it

Once the graph is written and has been read back, the pictures lie in `app.assets/` and are removed here; the lines stay, so
that the recording can still be extended with `--resume`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from phoneworld.errors import FileFormatError, PhoneWorldError, RecordingError, WriteError
from phoneworld.graph.file import (
    assets_folder,
    is_graph_file,
    is_special,
    load_graph,
    missing_screenshots,
    save_graph,
    save_screenshot,
    screenshot_bytes,
)
from phoneworld.graph.graph import StateGraph
from recorder.journal import Record, RecordingRecord, read_records, write_record


def journal_folder(out: Path | str) -> Path:
    """Where the journal of a graph file lies: `app.journal` for `app.graph.json`."""
    return assets_folder(out).with_suffix(".journal")


def may_record(out: Path, *, resume: bool = False, force: bool = False) -> None:
    """Raises where no recording can begin, or go on with `resume`, at a path. Asked before a phone is touched, each time with a mend that leads on.

    WriteError where something stands there that is not ours, FileFormatError where that should be gone on with, RecordingError
    where a recording stands there already, or none that can be gone on with.
    """
    folder = journal_folder(out)
    has_journal = (folder / "journal.jsonl").is_file()
    stands = out.exists() and out.stat().st_size > 0
    if out.is_dir():
        raise WriteError(f"{out} is a folder", hint=f"name a file in it: -o {out / 'app.graph.json'}")
    if is_special(out):
        raise WriteError(f"{out} is a device or a pipe, and a recording is a file with its pictures beside it", hint="name a file: -o app.graph.json")
    if stands and not is_graph_file(out):
        if resume:
            raise FileFormatError(f"{out} is no recording of ours", hint="give the -o of the recording to go on with")
        if not force:
            raise WriteError(f"{out} is there already, and is no recording of ours", hint="name another file with -o, or --force to replace it")
    if resume and not has_journal:
        if stands:
            raise RecordingError(
                f"{out} cannot be gone on with: its journal {folder} is not there (it was imported, merged or copied)",
                hint=f"record into another file, then: phoneworld graph merge {out} OTHER.graph.json -o BOTH.graph.json",
            )
        raise RecordingError(
            f"there is nothing to resume: {folder} does not exist", hint="record without --resume, or give the -o of the recording to go on with"
        )
    if resume or force:
        return
    if stands and not has_journal:
        raise RecordingError(f"{out} is already there", hint="choose another -o, or --force to start over and replace it")
    if stands or (has_journal and not _is_blank(folder / "journal.jsonl")):
        standing = out if stands else folder
        raise RecordingError(f"{standing} is already there", hint="--resume goes on with it, --force starts over, or choose another -o")
    if folder.exists() and not has_journal and (not folder.is_dir() or any(folder.iterdir())):
        raise WriteError(f"{folder}, where the journal goes, is there already, and is none of ours", hint="name another file with -o, or move it away")


def recorded_on(out: Path) -> str:
    """The phone that a recording was made on, by the first line of its journal; "" where that cannot be had."""
    try:
        with open(journal_folder(out) / "journal.jsonl", "rb") as journal:
            first = next(iter(read_records(journal.readline())[0]), None)
    except (OSError, PhoneWorldError):
        return ""
    return first.serial if isinstance(first, RecordingRecord) else ""


class JournalFolder:
    """One journal, held by one recorder at a time."""

    def __init__(self, out: Path, file: int) -> None:
        self.out = out
        self.folder = journal_folder(out)
        self._file = file

    @classmethod
    def create(cls, out: Path, *, force: bool = False) -> JournalFolder:
        """An empty journal. Raises what `may_record` does where something already lies there, unless `force` removes it.

        One that ended before it had seen a screen (no phone, a port that is taken) is none.
        """
        may_record(out, force=force)
        folder = journal_folder(out)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            journal = cls._held(out, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            os.ftruncate(journal._file, 0)
            shutil.rmtree(folder / "pictures", ignore_errors=True)
            (folder / "salt").unlink(missing_ok=True)
            _flush_folder(folder)
            _flush_folder(folder.parent)
        except OSError as e:
            raise _unwritable(folder, e) from None
        return journal

    @classmethod
    def open(cls, out: Path) -> JournalFolder:
        """The journal of an earlier recording. Raises what `may_record` does, and RecordingError where another recorder holds it."""
        may_record(out, resume=True)
        try:
            return cls._held(out, os.O_RDWR | os.O_APPEND)
        except OSError as e:
            raise _unwritable(journal_folder(out), e) from None

    @classmethod
    def _held(cls, out: Path, flags: int) -> JournalFolder:
        path = journal_folder(out) / "journal.jsonl"
        file = os.open(path, flags, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(file), os.stat(path)):
                raise OSError("another recorder has put a cleaned journal in its place")
        except OSError:
            os.close(file)
            raise RecordingError(
                f"{path} is being written by another recorder", hint="wait until it has stopped, or choose another -o"
            ) from None
        return cls(out, file)

    def salt(self) -> bytes:
        """The key of this recording's placeholders: made once, readable by its owner only, never in the graph.

        With it the placeholders of short numbers could be tried out: what is handed on is the graph and its assets.
        """
        path = self.folder / "salt"
        try:
            if not path.is_file():
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                os.write(handle, os.urandom(16))
                os.fsync(handle)
                os.close(handle)
            return path.read_bytes()
        except OSError as e:
            raise _unwritable(path, e) from None

    def read(self) -> tuple[Record, ...]:
        """The records so far; a line that was cut in mid-write is removed from the file. Raises FileFormatError."""
        path = self.folder / "journal.jsonl"
        content = path.read_bytes()
        records, whole = read_records(content, where=str(path))
        if whole < len(content):
            os.ftruncate(self._file, whole)
            os.fsync(self._file)
        return records

    def append(self, records: Iterable[Record], pictures: Iterable[bytes] = ()) -> None:
        """Puts pictures, then records on the disk; returns when they would survive a power cut. Raises WriteError."""
        for png in pictures:
            if not self._in_assets(png):
                save_screenshot(self.folder / "pictures", png)
        try:
            _write(self._file, records)
        except OSError as e:
            raise _unwritable(self.folder, e) from None

    def clean(self, clean: Callable[[Iterable[Record]], Iterable[Record]]) -> None:
        """Puts cleaned records in the place of those that stand, whole or not at all. Raises FileFormatError, WriteError."""
        standing = self.read()
        cleaned = tuple(clean(standing))
        if cleaned == standing:
            return
        path = self.folder / "journal.jsonl"
        fresh = path.with_suffix(".new")
        try:
            file = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _write(file, cleaned)
                os.replace(fresh, path)
            except OSError:
                os.close(file)
                raise
            os.close(self._file)
            self._file = file
            _flush_folder(self.folder)
        except OSError as e:
            raise _unwritable(path, e) from None

    def write_graph(self, graph: StateGraph) -> None:
        """Writes the graph file and its pictures, reads them back, then drops the journal's copies of the pictures."""
        save_graph(graph, self.out, Pictures(self.folder / "pictures", graph.screenshots()))
        written = load_graph(self.out)
        if missing := missing_screenshots(written, self.out):
            raise FileFormatError(f"{self.out} lacks {len(missing)} of its pictures", hint=f"{self.folder} still holds the recording")
        for sha in graph.screenshots():
            screenshot_bytes(self.out, sha)
        shutil.rmtree(self.folder / "pictures", ignore_errors=True)

    def close(self) -> None:
        """Lets the journal go; may be called twice."""
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
            self._file = -1

    def _in_assets(self, png: bytes) -> bool:
        return (assets_folder(self.out) / f"{hashlib.sha256(png).hexdigest()}.png").is_file()


class Pictures(Mapping[str, bytes]):
    """The pictures of a graph that lie in a folder, read one by one when they are asked for."""

    def __init__(self, folder: Path, wanted: Iterable[str]) -> None:
        self._folder = folder
        self._names = [sha for sha in sorted(wanted) if (folder / f"{sha}.png").is_file()]

    def __getitem__(self, sha: str) -> bytes:
        if sha not in self._names:
            raise KeyError(sha)
        return (self._folder / f"{sha}.png").read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _is_blank(journal: Path) -> bool:
    """True for a journal in which nothing was ever seen. What cannot be read is left alone."""
    try:
        return b'"record":"capture"' not in journal.read_bytes()
    except OSError:
        return False


def _write(file: int, records: Iterable[Record]) -> None:
    lines = b"".join(write_record(record) for record in records)
    while lines:
        lines = lines[os.write(file, lines) :]
    os.fsync(file)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, e: OSError) -> WriteError:
    return WriteError(f"cannot write {path}: {e.strerror or e}", hint="free space on that disk, or choose another -o")
