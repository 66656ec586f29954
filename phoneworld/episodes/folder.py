"""A folder of episodes on the disk.

    episodes.json                     what they are of: the mock and where it is, the policy, the options; the same for all of them
    tasks.yaml                        the tasks as they were when the episodes were played (tasks-2.yaml, … where they do not share their names)
    traces/APP/NAME/seed-3.jsonl      an episode (seed-3.zh.jsonl in Chinese, seed-3.try-1.jsonl the second attempt); `trace.py` has its lines
    times/APP/NAME/seed-3.json        how long it took and when it was: apart, for it is never twice the same
    frames/HASH.png, trees/HASH.xml   what was seen, each once, by the SHA-256 of its content

Two runs of the same are the same to the byte but for `times`: `diff -r --exclude times A B` says nothing. A line is on the disk
before the next step is done. Nothing that is read can name a file outside the folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from phoneworld.episodes.trace import Trace, read_trace
from phoneworld.errors import FileFormatError, NewerFormat, UnsafePath, WriteError
from phoneworld.graph.file import write_atomically
from phoneworld.tasks.file import load_tasks, save_tasks
from phoneworld.tasks.names import Names
from phoneworld.tasks.task import Task

FORMAT = "phoneworld-episodes"
VERSION = 1
_HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"seed-(-?\d+)(?:\.try-(\d+))?(?:\.[A-Za-z-]+)?\.jsonl")


@dataclass(frozen=True, slots=True)
class Kept:
    """One trace in a folder: its name there and what it holds."""

    name: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class EpisodeFolder:
    """Where episodes lie. Goes to other processes by pickle; they write into it side by side."""

    path: Path

    @property
    def about(self) -> dict[str, Any]:
        """What `episodes.json` says. Raises FileFormatError where it is not there or is none of ours."""
        file = self.path / "episodes.json"
        hint = "`phoneworld eval … --out DIR` writes a folder of episodes"
        try:
            found = json.loads(file.read_bytes())
        except OSError as e:
            raise FileFormatError(f"{self.path} holds no episodes: {e.strerror or e}: episodes.json", hint=hint) from None
        except (ValueError, RecursionError):
            raise FileFormatError(f"{file} is not JSON", hint=hint) from None
        if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("version"), int):
            raise FileFormatError(f"{file} is no file of episodes of ours", hint=hint)
        if found["version"] > VERSION:
            raise NewerFormat(f"{file}: format {found['version']}, this PhoneWorld reads up to {VERSION}", hint="update phoneworld")
        return found

    @property
    def is_ours(self) -> bool:
        """True where episodes were begun here."""
        return (self.path / "episodes.json").is_file()

    def begin(self, about: Mapping[str, Any], tasks: Iterable[Task]) -> None:
        """Makes the folder, or goes on with one that holds the same. Raises WriteError where it holds something else."""
        whole = {"format": FORMAT, "version": VERSION, **about}
        if self.is_ours:
            differ = sorted(name for name in {*whole, *self.about} - {"places"} if whole.get(name) != self.about.get(name))
            if differ:
                raise WriteError(f"{self.path} holds episodes of something else: {', '.join(differ)} differ", hint="name another folder, or remove this one")
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if any(p.name != "lock" for p in self.path.iterdir()):
                raise WriteError(f"{self.path} is there already, and holds no episodes", hint="name another folder")
            groups: list[tuple[Names, list[Task]]] = []
            for task in tasks:
                group = next((of for names, of in groups if names == task.names), None)
                if group is None:
                    groups.append((task.names, group := []))
                group.append(task)
            for number, (_, of) in enumerate(groups, 1):
                save_tasks(of, self.path / ("tasks.yaml" if number == 1 else f"tasks-{number}.yaml"))
            # Last: where this is there, all of it is.
            write_atomically(self.path / "episodes.json", json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n")
        except OSError as e:
            raise WriteError(f"cannot write {self.path}: {e.strerror or e}", hint="name another folder") from None

    def tasks(self) -> tuple[Task, ...]:
        """The tasks as they were; none where the episodes had none."""
        return tuple(task for file in sorted(self.path.glob("tasks*.yaml")) for task in load_tasks(file))

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts, no other process plays episodes into the folder. Raises WriteError where one does."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = open(self.path / "lock", "wb")  # noqa: SIM115
        except OSError as e:
            raise WriteError(f"cannot write {self.path}: {e.strerror or e}", hint="name another folder") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise WriteError(f"{self.path} is being written by another process", hint="wait for it, or name another folder") from None
            yield

    def name_of(self, task: str | None, seed: int, *, attempt: int = 0, language: str = "en") -> str:
        """The name of an episode in the folder, such as `notes/add-v1/seed-3`."""
        end = f"seed-{seed}" + (f".try-{attempt}" if attempt else "") + ("" if language == "en" else f".{quote(language, safe='')}")
        parts = [quote(part, safe="") for part in (task or "no-task").split("/")]
        # A part of dots only would be a folder of the system's, and none at all no folder.
        return "/".join((*(part if part.strip(".") else part.replace(".", "%2E") or "%" for part in parts), end))

    def trace_file(self, name: str) -> Path:
        """Where the trace of an episode lies."""
        return self.path / "traces" / f"{_inside(name)}.jsonl"

    def times_file(self, name: str) -> Path:
        """Where it is told how long an episode took."""
        return self.path / "times" / f"{_inside(name)}.json"

    def names(self) -> list[str]:
        """The names of all episodes, by task, seed and attempt."""
        root = self.path / "traces"
        return sorted((p.relative_to(root).as_posix().removesuffix(".jsonl") for p in root.rglob("*.jsonl")), key=_order)

    def read(self, name: str) -> Trace:
        """The trace of an episode. Raises FileFormatError with the line that is wrong."""
        file = self.trace_file(name)
        try:
            content = file.read_bytes()
        except OSError as e:
            raise FileFormatError(f"cannot read {file}: {e.strerror or e}", hint="`phoneworld eval … --out DIR` writes episodes") from None
        return read_trace(content, str(file))

    def traces(self) -> Iterator[Kept]:
        """All episodes of which there is a whole line, by task, seed and attempt."""
        for name in self.names():
            if self.trace_file(name).stat().st_size:
                yield Kept(name, self.read(name))

    def times(self, name: str) -> dict[str, Any]:
        """How long an episode took; nothing where that is not known."""
        try:
            found = json.loads(self.times_file(name).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def put(self, kind: str, content: bytes) -> str:
        """Keeps a frame (`png`) or a tree (`xml`), once, and returns its name. Raises WriteError."""
        sha = hashlib.sha256(content).hexdigest()
        file = self.content_file(kind, sha)
        if not file.exists():
            write_atomically(file, content, durable=False)
        return sha

    def content(self, kind: str, sha: str) -> bytes:
        """A frame (`png`) or a tree (`xml`) by its hash. Raises FileFormatError where it is missing, UnsafePath where it is no hash."""
        try:
            return self.content_file(kind, sha).read_bytes()
        except OSError as e:
            raise FileFormatError(f"{self.path}: {kind} {sha[:12]}… cannot be read: {e.strerror or e}", hint="run the episodes again") from None

    def content_file(self, kind: str, sha: str) -> Path:
        """Where a frame or a tree lies."""
        if not _HASH.fullmatch(sha):
            raise UnsafePath(f"{self.path}: {sha[:40]!r} is not the name of a {kind}", hint="run the episodes again")
        return self.path / {"png": "frames", "xml": "trees"}[kind] / f"{sha}.{kind}"


def _inside(name: str) -> str:
    if name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")) or "\0" in name:
        raise UnsafePath(f"{name[:80]!r} is not the name of an episode", hint="for example notes/add-v1/seed-0")
    return name


def _order(name: str) -> tuple[str, int, int, str]:
    task, _, file = name.rpartition("/")
    found = _NAME.fullmatch(f"{file}.jsonl")
    return (task, int(found[1]), int(found[2] or 0), file) if found else (task, 0, 0, file)
