"""Which of our files a path is, so that the wrong one is answered with the verb that takes it; and what may be written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from phoneworld.cli.terminal import counted
from phoneworld.errors import FileFormatError, OptionError, WriteError
from phoneworld.graph.file import is_special
from phoneworld.graph.plan import FORMAT as QUESTIONS_FORMAT
from phoneworld.graph.schema import FORMAT as GRAPH_FORMAT
from phoneworld.program.bundle import FORMAT as BUNDLE_FORMAT
from phoneworld.program.bundle import Bundle

Kind = Literal["graph", "bundle", "questions", "page", "other", "nothing"]
GENERATOR = "PhoneWorld"
_MARK = f'<meta name="generator" content="{GENERATOR}">'
_HASHED = re.compile(r"[0-9a-f]{64}\.png")
_HEAD = 2000
"""Bytes at the start of a file, within which each of ours says what it is."""
_FROM_BUILD = "a bundle is the folder that `phoneworld build app.graph.json` writes"
_FROM_RECORD = "`phoneworld record` and `phoneworld import` write an app.graph.json"


def what_lies_at(path: Path) -> Kind:
    """What lies at a path, by its first bytes. `other` is anything that is not ours as a whole, or cannot be read."""
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
    if f'"{QUESTIONS_FORMAT}"'.encode() in head:
        return "questions"
    return "page" if _MARK.encode() in head or f"<metadata>{GENERATOR}</metadata>".encode() in head else "other"


@dataclass(frozen=True, slots=True)
class Part:
    """A path that is a part of something of ours: what it is (`is the journal of a recording`), and the whole that it belongs to, where that is there."""

    words: str
    graph: Path | None = None
    bundle: Path | None = None
    journal_of: Path | None = None
    """The graph file that this journal writes, whether it is there or not."""


def part_at(path: Path) -> Part | None:
    """What a path is a part of: a bundle, a recording's pictures or its journal, the questions about one. None for all else."""
    try:
        for inside in (path, *list(path.absolute().parents)[:2]):
            if inside != path and what_lies_at(inside) == "bundle":
                bundle = _short(inside, path)
                return Part("is a part of a mock", recording_of(bundle), bundle)
            if (inside == path or inside.suffix == ".journal") and (inside / "journal.jsonl").is_file():
                graphs = _graphs_beside(inside)
                return Part("is the journal of a recording", graphs[0] if graphs else None, journal_of=_short(inside.with_suffix(".graph.json"), path))
            if inside.suffix == ".assets" and any(_HASHED.fullmatch(p.name) for p in inside.glob("*.png")):
                graphs = _graphs_beside(inside)
                return Part("is a picture of a recording" if inside != path else "holds the pictures of a recording", graphs[0] if graphs else None)
        if what_lies_at(path) == "questions":
            stem = path.name.removesuffix(".json").removesuffix(".questions")
            return Part("holds the questions about a recording", next((p for p in (path.with_name(f"{stem}.graph.json"), path.with_name(f"{stem}.json")) if p.is_file()), None))
    except OSError:
        return None
    return None


def need_graph(path: Path) -> None:
    """Raises FileFormatError, with the command that was meant, where no recording of ours can lie at the path."""
    kind = what_lies_at(path)
    if kind == "graph":
        return
    if kind == "bundle":
        source = recording_of(path)
        instead = str(source) if source is not None else "the app.graph.json that it was built from"
        raise FileFormatError(f"{path} is a mock, built already", hint=f"phoneworld serve {path}; from here on, give {instead}")
    if kind == "nothing":
        if _has_journal(path):
            raise FileFormatError(
                f"{path} does not exist, but its journal does: the recording was broken off",
                hint=f"phoneworld graph verify --write {path} makes it from the journal; phoneworld record --resume -o {path} goes on recording",
            )
        raise FileFormatError(f"{path} does not exist", hint=_near(path, path.parent, "*.graph.json") or _FROM_RECORD)
    if (part := part_at(path)) is not None:
        if part.graph is not None:
            hint = f"give {part.graph}"
        elif part.journal_of is not None:
            hint = f"phoneworld graph verify --write {part.journal_of} makes the recording from it: give that"
        else:
            hint = "give the app.graph.json that it belongs to"
        raise FileFormatError(f"{path} {part.words}, and expected is an app.graph.json", hint=hint)
    if path.is_dir():
        raise FileFormatError(f"{path} is a folder, and expected is an app.graph.json", hint=_near(path, path, "*.graph.json") or f"recordings of others: phoneworld import {path}")
    if kind == "page":
        raise FileFormatError(f"{path} is a page that shows a recording or a mock, and expected is an app.graph.json", hint=_near(path, path.parent, "*.graph.json") or _FROM_RECORD)
    if not _may_be_json(path):
        raise FileFormatError(f"{path} is no app.graph.json", hint=_near(path, path.parent, "*.graph.json") or f"recordings of others: phoneworld import {path}")


def need_journal(path: Path) -> None:
    """Raises FileFormatError where no journal lies beside a graph file that could be written from it."""
    from recorder.folder import journal_folder

    if not _has_journal(path):
        there = path.exists()
        raise FileFormatError(
            f"{path} cannot be written from its journal: there is no {journal_folder(path)}",
            hint="only `phoneworld record` keeps one; without --write the file is checked as it is" if there else "give the -o of the recording",
        )


def need_bundle(path: Path) -> None:
    """Raises FileFormatError, with the command that was meant, where no bundle can lie at the path."""
    kind = what_lies_at(path)
    if kind == "bundle":
        return
    if kind == "nothing":
        raise FileFormatError(f"{path} does not exist", hint=_near_bundle(path, path.parent) or _FROM_BUILD)
    if kind == "graph":
        raise FileFormatError(f"{path} is a recording, and expected is a mock", hint=f"build it first: phoneworld build {path}")
    if (part := part_at(path)) is not None:
        source = part.graph or part.journal_of
        if part.bundle is not None:
            hint = f"give the folder {part.bundle}"
        else:
            first = f"phoneworld graph verify --write {source}, then " if part.graph is None and source is not None else ""
            hint = f"build its recording first: {first}phoneworld build {source or 'app.graph.json'}"
        raise FileFormatError(f"{path} {part.words}, and expected is a mock", hint=hint)
    if path.is_dir():
        raise FileFormatError(f"{path} is a folder, but no bundle", hint=_near_bundle(path, path) or _FROM_BUILD)
    raise FileFormatError(f"{path} is no bundle", hint=_FROM_BUILD)


TOGETHER = "phone.yaml"
"""The file that makes a folder a phone of several apps: `apps: [../notes, ../shop]`, the first in front."""


def bundles_of(app: Path) -> tuple[Path, ...]:
    """The bundles that a folder stands for: its own, those of the apps that its phone.yaml lists, or itself. Raises FileFormatError."""
    if (app / "bundle").is_dir():
        found: tuple[Path, ...] = (app / "bundle",)
    elif (app / TOGETHER).is_file():
        from phoneworld.program.marked import read_marked

        file = app / TOGETHER
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise FileFormatError(f"cannot read {file}: {e}", hint="apps: [../notes, ../shop]") from None
        listed = read_marked(text, str(file)).fields(needs=("apps",))["apps"]
        found = tuple(place / "bundle" if (place / "bundle").is_dir() else place for place in (app / words for words in listed.texts()))
        if not found:
            listed.wrong("at least one app", "apps: [../notes, ../shop]")
    else:
        found = (app,)
    for bundle in found:
        need_bundle(bundle)
    return found


def need_foreign(path: Path) -> None:
    """Raises FileFormatError where there is nothing to import, because it is ours already."""
    match what_lies_at(path):
        case "graph":
            raise FileFormatError(f"{path} is a recording of ours already: there is nothing to import", hint=f"phoneworld graph show {path}, or phoneworld build {path}")
        case "bundle":
            raise FileFormatError(f"{path} is a mock of ours already: there is nothing to import", hint=f"phoneworld serve {path}")
    if (part := part_at(path)) is not None:
        if part.bundle is not None:
            hint = f"phoneworld serve {part.bundle}"
        elif part.graph is None and part.journal_of is not None:
            hint = f"phoneworld graph verify --write {part.journal_of} makes the recording from it"
        else:
            hint = f"phoneworld graph show {part.graph or 'app.graph.json'}"
        raise FileFormatError(f"{path} {part.words} of ours already: there is nothing to import", hint=hint)


def need_questions(path: Path) -> None:
    """Raises FileFormatError where no questions of ours can lie at the path."""
    made = "`phoneworld build app.graph.json` writes app.questions.json"
    match what_lies_at(path):
        case "graph":
            raise FileFormatError(f"{path} is a recording, and expected are the questions about one", hint=f"phoneworld build {path} writes them")
        case "nothing":
            raise FileFormatError(f"{path} does not exist", hint=_near(path, path.parent, "*.questions.json") or made)
        case _ if path.is_dir():
            raise FileFormatError(f"{path} is a folder, and expected is an app.questions.json", hint=_near(path, path.parent, "*.questions.json") or made)


def need_phone(spec: str) -> None:
    """Raises where the name of a phone (`mock:BUNDLE`, a serial, a page) names a mock or a recording in a way that cannot be meant."""
    if spec.startswith("mock:") and len(spec) > len("mock:"):
        need_bundle(Path(spec.removeprefix("mock:")))
    elif spec and what_lies_at(Path(spec)) == "bundle":
        raise OptionError(f"{spec} is a mock, not a phone", hint=f"put it in a phone: mock:{spec}")
    elif spec and what_lies_at(Path(spec)) == "graph":
        raise OptionError(f"{spec} is a recording, not a phone", hint=f"phoneworld build {spec}, then mock:BUNDLE")


def recording_of(bundle: Path) -> Path | None:
    """The recording that lies beside a bundle, as in apps/ or as `build` puts it."""
    resolved = bundle.resolve()
    stem = resolved.name.removesuffix(".bundle")
    for found in (resolved.parent / f"{stem}.graph.json", resolved.parent / "app.graph.json"):
        if found.is_file():
            return _short(found, bundle)
    return None


def pictures_note(bundle: Bundle) -> str:
    """What is to be said where recorded pictures are not in the bundle: those screens are drawn from their trees. "" where all are."""
    wanted, missing = bundle.program.screenshots(), bundle.missing()
    if not missing:
        return ""
    which = "none of its recorded pictures is" if missing == wanted else f"{len(missing)} of {counted(len(wanted), 'recorded picture')} {'is' if len(missing) == 1 else 'are'} not"
    return f"{which} in {bundle.path / 'assets'}: what they show is drawn from the trees alone; phoneworld build with the pictures beside the recording puts them in"


def need_place(path: Path) -> None:
    """Raises WriteError where the folder is not there that a file, or a folder of ours, shall be put into: no verb makes it by itself."""
    folder = path.absolute().parent
    if not folder.is_dir():
        shown = path.parent if not path.is_absolute() else folder
        raise WriteError(f"cannot write {path}: {'no folder' if folder.exists() else 'there is no folder'} {shown}", hint=f"mkdir -p {shown}, or name another place")
    if not os.access(folder, os.W_OK):
        raise WriteError(f"cannot write {path}: no permission in {folder}", hint="name another place")


def may_write(path: Path, kind: Literal["graph", "page"], *, force: bool) -> None:
    """Raises WriteError where something stands at the path that is not ours to replace: asked before the work is done.

    What we wrote of the same kind is replaced, an empty file too.
    """
    if path.is_dir():
        raise WriteError(f"{path} is a folder", hint="name a file")
    need_place(path)
    try:
        if kind == "graph" and is_special(path):
            raise WriteError(f"{path} is a device or a pipe, and a recording is a file with its pictures beside it", hint="name a file: -o app.graph.json")
        taken = path.exists() and path.stat().st_size > 0 and what_lies_at(path) != kind
    except OSError as e:
        raise WriteError(f"cannot write {path}: {e.strerror or e}", hint="name another file") from None
    if taken and not force:
        words = "recording" if kind == "graph" else "page"
        raise WriteError(f"{path} is there already, and is no {words} of ours", hint="name another file, or --force to replace it")


def may_replace(path: Path, begins: bytes, kind: str, *, force: bool) -> None:
    """Raises WriteError where something stands at the path that does not begin as files of a kind do."""
    if path.is_dir():
        raise WriteError(f"{path} is a folder", hint="name a file")
    need_place(path)
    if not force and path.is_file() and path.stat().st_size and not _head(path).startswith(begins):
        raise WriteError(f"{path} is there already, and is no {kind}", hint="name another file, or --force to replace it")


def may_log(log: Path, begins: bytes) -> None:
    """Raises WriteError where a log whose lines begin so would empty, or grow in, a file that is none of ours."""
    if log.is_file() and log.stat().st_size and not _head(log).startswith(begins):
        raise WriteError(f"{log} is there already, and is no log of ours", hint="name another file")


def may_build(folder: Path) -> None:
    """Raises WriteError where a bundle may not be put, because something else stands there: asked before the work is done."""
    need_place(folder)
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


def _may_be_json(path: Path) -> bool:
    """False for a file that is empty or starts as no object of JSON does. One that cannot be read is for its reader to tell of."""
    try:
        return _head(path).lstrip().startswith(b"{")
    except OSError:
        return True


def _near(asked: Path, folder: Path, pattern: str) -> str:
    """What in the folder may have been meant; "" where there is nothing of the kind."""
    return _nearest(asked, folder.glob(pattern)) if folder.is_dir() else ""


def _near_bundle(asked: Path, folder: Path) -> str:
    return _nearest(asked, (p.parent for pattern in ("*/program.json", "*/*/program.json") for p in folder.glob(pattern))) if folder.is_dir() else ""


def _nearest(asked: Path, found: Iterable[Path]) -> str:
    """By its name where there are several, or what there is."""
    names = sorted({str(path) for path in found})
    near = names if len(names) == 1 else get_close_matches(str(asked), names, 1)
    if near:
        return f"did you mean {near[0]}?"
    return "there are " + ", ".join(names[:3]) + (", ..." if len(names) > 3 else "") if names else ""


def _graphs_beside(folder: Path) -> list[Path]:
    """The graph files whose pictures or journal this folder is: `app.graph.json` or `app.json` for `app.assets`."""
    return [p for p in (folder.with_suffix(".graph.json"), folder.with_suffix(".json")) if p.is_file()]


def _short(path: Path, asked: Path) -> Path:
    """A path as the one that was asked for is written: from here, where that is."""
    if asked.is_absolute():
        return path
    try:
        return Path(os.path.relpath(path))
    except (OSError, ValueError):
        return path
