"""Which of our files a path is, so that the wrong one is answered with the verb that takes it; and what may be overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from phoneworld.errors import FileFormatError, WriteError
from phoneworld.graph.schema import FORMAT as GRAPH_FORMAT
from phoneworld.program.bundle import FORMAT as BUNDLE_FORMAT

Kind = Literal["graph", "bundle", "page", "other", "nothing"]
GENERATOR = "PhoneWorld"
_MARK = f'<meta name="generator" content="{GENERATOR}">'
_HEAD = 2000
"""Bytes at the start of a file, within which each of ours says what it is."""


def what_lies_at(path: Path) -> Kind:
    """What lies at a path, by its first bytes. `other` is anything that is not ours, or cannot be read."""
    try:
        if (path / "program.json").is_file():
            return "bundle" if f'"{BUNDLE_FORMAT}"'.encode() in _head(path / "program.json") else "other"
        if not path.exists():
            return "nothing"
        head = _head(path) if path.is_file() else b""
    except OSError:
        return "other"
    if f'"{GRAPH_FORMAT}"'.encode() in head:
        return "graph"
    return "page" if _MARK.encode() in head or f"<metadata>{GENERATOR}</metadata>".encode() in head else "other"


def need_graph(path: Path) -> None:
    """Raises FileFormatError, with the command that was meant, where no recording of ours can lie at the path."""
    match what_lies_at(path):
        case "nothing" if _has_journal(path):
            raise FileFormatError(
                f"{path} does not exist, but its journal does: the recording was broken off",
                hint=f"phoneworld graph verify --write {path} makes it from the journal; phoneworld record --resume -o {path} goes on recording",
            )
        case "nothing":
            raise FileFormatError(f"{path} does not exist", hint="`phoneworld record` and `phoneworld import` write an app.graph.json")
        case "bundle":
            raise FileFormatError(f"{path} is a mock, built already", hint=f"phoneworld serve {path}; from here on, give the app.graph.json that it was built from")
        case _ if path.is_dir():
            raise FileFormatError(f"{path} is a folder, and expected is an app.graph.json", hint=_instead(path, "graph"))


def need_bundle(path: Path) -> None:
    """Raises FileFormatError, with the command that was meant, where no bundle can lie at the path."""
    match what_lies_at(path):
        case "nothing":
            raise FileFormatError(f"{path} does not exist", hint="a bundle is the folder that `phoneworld build app.graph.json` writes")
        case "graph":
            raise FileFormatError(f"{path} is a recording, and expected is a mock", hint=f"build it first: phoneworld build {path}")
        case "other" if path.is_dir():
            raise FileFormatError(f"{path} is a folder, but no bundle", hint=_instead(path, "bundle"))
        case "other" | "page":
            raise FileFormatError(f"{path} is no bundle", hint="a bundle is the folder that `phoneworld build app.graph.json` writes")


def need_foreign(path: Path) -> None:
    """Raises FileFormatError where there is nothing to import, because it is ours already."""
    match what_lies_at(path):
        case "graph":
            raise FileFormatError(f"{path} is a recording of ours already: there is nothing to import", hint=f"phoneworld graph show {path}, or phoneworld build {path}")
        case "bundle":
            raise FileFormatError(f"{path} is a mock of ours already: there is nothing to import", hint=f"phoneworld serve {path}")


def may_write(path: Path, kind: Literal["graph", "page"], *, force: bool) -> None:
    """Raises WriteError where something stands at the path that is not ours to replace: asked before the work is done.

    What we wrote of the same kind is replaced, an empty file too.
    """
    if path.is_dir():
        raise WriteError(f"{path} is a folder", hint="name a file")
    try:
        taken = path.exists() and path.stat().st_size > 0 and what_lies_at(path) != kind
    except OSError as e:
        raise WriteError(f"cannot write {path}: {e.strerror or e}", hint="name another file") from None
    if taken and not force:
        words = "recording" if kind == "graph" else "page"
        raise WriteError(f"{path} is there already, and is no {words} of ours", hint="name another file, or --force to replace it")


def may_build(folder: Path) -> None:
    """Raises WriteError where a bundle may not be put, because something else stands there: asked before the work is done."""
    if what_lies_at(folder) in ("bundle", "nothing") or (folder.is_dir() and not any(folder.iterdir())):
        return
    raise WriteError(f"{folder} is there already, and is no bundle", hint="name another folder with -o")


def marked(page: str) -> str:
    """An HTML page that says that it is ours."""
    return page.replace("<head>", f"<head>\n{_MARK}", 1) if _MARK not in page else page


def _has_journal(path: Path) -> bool:
    from recorder.folder import journal_folder  # here, so that verbs without a recording start without it

    return (journal_folder(path) / "journal.jsonl").is_file()


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _instead(folder: Path, kind: Kind) -> str:
    """What in the folder was meant, or where such a thing comes from."""
    patterns = ("*.graph.json",) if kind == "graph" else ("*/program.json", "*/*/program.json")
    found = sorted(p for pattern in patterns for p in folder.glob(pattern))
    if found:
        return f"did you mean {found[0] if kind == 'graph' else found[0].parent}?"
    if kind == "graph":
        return f"recordings of others: phoneworld import {folder}"
    return "a bundle is the folder that `phoneworld build app.graph.json` writes"
