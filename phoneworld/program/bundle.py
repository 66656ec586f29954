"""A Program on disk with its pictures: a folder that other tools can open, the same bytes for the same Program.

    program.json        format, version, and the Program; trees named by hash
    trees/HASH.xml      each tree once, as UI Automator XML
    assets/HASH.png     each picture once
    source.json         which recorded steps it was built from, by their digests (`graph/digests.py`); not needed to run it

Nothing in a bundle can run code, and no name in it can leave its folder. Knows neither compiler nor drawing.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phoneworld.errors import DumpError, FileFormatError, NewerFormat, UnsafePath, WriteError
from phoneworld.graph.digests import trace_digests
from phoneworld.graph.graph import StateGraph
from phoneworld.program.check import check_program
from phoneworld.program.codec import decode, encode
from phoneworld.program.program import Program
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy

FORMAT = "phoneworld-bundle"
SOURCE_FORMAT = "phoneworld-source"
VERSION = 1
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A Program and the folder its pictures lie in."""

    program: Program
    path: Path

    def asset(self, sha: str) -> bytes:
        """The PNG with this hash. Raises FileFormatError where it is missing, UnsafePath where it is no hash."""
        if not _HASH.fullmatch(sha):
            raise UnsafePath(f"{self.path}: {sha!r} is not the name of a picture", hint="build the bundle again from its graph")
        try:
            return (self.path / "assets" / f"{sha}.png").read_bytes()
        except OSError as e:
            raise FileFormatError(
                f"{self.path}: picture {sha[:12]}… cannot be read ({e.strerror})", hint="build the bundle again from its graph"
            ) from None

    def built_from(self) -> frozenset[str]:
        """The digests of all steps it was built from; none where the bundle does not say. Raises FileFormatError where it says it wrongly."""
        place = self.path / "source.json"
        if not place.is_file():
            return frozenset()
        try:
            return frozenset(str(step) for steps in json.loads(place.read_bytes())["traces"].values() for step in steps)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
            raise FileFormatError(f"{place} does not say what the mock was built from ({type(e).__name__})", hint="build the bundle again from its graph") from None

    def missing(self) -> frozenset[str]:
        """The hashes of pictures that the Program refers to and that do not lie in the folder."""
        return frozenset(sha for sha in self.program.screenshots() if not (self.path / "assets" / f"{sha}.png").is_file())


def source_dumps(graph: StateGraph) -> bytes:
    """`source.json` of a bundle that is built from this recording."""
    traces = {name: list(steps) for name, steps in trace_digests(graph).items()}
    return json.dumps({"format": SOURCE_FORMAT, "version": VERSION, "traces": traces}, indent=1).encode() + b"\n"


def dumps(program: Program) -> dict[str, bytes]:
    """The files of a bundle but for its pictures, by their path in it. Pure; deterministic to the byte."""
    check_program(program)
    files: dict[str, bytes] = {}

    def store(tree: Hierarchy) -> str:
        xml = write_hierarchy(tree)
        name = hashlib.sha256(xml).hexdigest()
        files[f"trees/{name}.xml"] = xml
        return name

    body = {"format": FORMAT, "version": VERSION, "program": encode(program, store)}
    text = json.dumps(body, ensure_ascii=False, indent=1, sort_keys=True)
    files["program.json"] = text.encode() + b"\n"
    return dict(sorted(files.items()))


def loads(files: Mapping[str, bytes], where: str = "bundle") -> Program:
    """The Program of a bundle's files. Raises FileFormatError, NewerFormat, UnsafePath; ProgramError where it contradicts itself."""
    try:
        body: Any = json.loads(files["program.json"])
    except (ValueError, RecursionError):
        raise FileFormatError(f"{where}/program.json is not JSON", hint="build the bundle again from its graph") from None
    except KeyError:
        raise FileFormatError(f"{where} has no program.json", hint="a bundle is what `phoneworld build` writes") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise FileFormatError(f"{where}/program.json is not a bundle of ours", hint="a bundle is what `phoneworld build` writes")
    version = body.get("version")
    if not isinstance(version, int) or version < 1:
        raise FileFormatError(f"{where}/program.json has no version", hint="build the bundle again from its graph")
    if version > VERSION:
        raise NewerFormat(f"{where} has format {version}, this PhoneWorld reads up to {VERSION}", hint="update phoneworld")
    trees: dict[str, Hierarchy] = {}

    def fetch(name: str) -> Hierarchy:
        if not _HASH.fullmatch(name):
            raise UnsafePath(f"{where}/program.json: {name[:60]!r} is not the name of a tree", hint="build the bundle again from its graph")
        if name not in trees:
            try:
                trees[name] = parse_hierarchy(files[f"trees/{name}.xml"])
            except KeyError:
                raise FileFormatError(f"{where}: tree {name[:12]}… is missing", hint="build the bundle again from its graph") from None
            except DumpError as e:
                raise FileFormatError(f"{where}: tree {name[:12]}…: {e.message}", hint="build the bundle again from its graph") from None
        return trees[name]

    program: Program = decode(Program, body.get("program"), fetch)
    check_program(program)
    return program


def load_bundle(path: Path | str) -> Bundle:
    """Reads a bundle's folder. Pictures are read when asked for."""
    path = Path(path)
    if not path.is_dir():
        raise FileFormatError(f"{path}: no such bundle", hint="a bundle is the folder that `phoneworld build` writes")
    files = {}
    try:
        for file in [path / "program.json", *sorted((path / "trees").glob("*.xml"))]:
            if file.is_file():
                files[file.relative_to(path).as_posix()] = file.read_bytes()
    except OSError as e:
        raise FileFormatError(f"{e.filename}: cannot be read ({e.strerror})", hint="check the folder's permissions") from None
    return Bundle(loads(files, str(path)), path)


def _is_ours(path: Path) -> bool:
    """True for a folder that is empty or holds a bundle: others may have a program.json too."""
    try:
        if (path / "program.json").is_file():
            with open(path / "program.json", "rb") as file:
                return f'"format": "{FORMAT}"'.encode() in file.read(200)
        return path.is_dir() and not any(path.iterdir())
    except OSError:
        return False


def save_bundle(program: Program, path: Path | str, pixels: Mapping[str, bytes], extra: Mapping[str, bytes] | None = None) -> Bundle:
    """Writes a bundle whole or not at all: into a folder beside it, then swapped in.

    `pixels` maps the hashes that the Program refers to to PNG bytes; `extra` files (a report) are written along. A folder
    that stands at `path` is replaced only where it is a bundle or empty.
    """
    path = Path(path)
    if path.exists() and not _is_ours(path):
        raise WriteError(f"{path} exists and is not a bundle", hint="name another folder with -o")
    files = {**dumps(program), **(extra or {})}
    for sha in sorted(program.screenshots()):
        if not _HASH.fullmatch(sha):
            raise UnsafePath(f"{sha!r} is not the name of a picture", hint="record or import again")
        if sha in pixels:
            files[f"assets/{sha}.png"] = pixels[sha]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as e:
        raise WriteError(f"{path}: cannot be written ({e.strerror})", hint="name a folder you may write to with -o") from None
    try:
        for name, content in files.items():
            (fresh / name).parent.mkdir(exist_ok=True)
            (fresh / name).write_bytes(content)
        os.chmod(fresh, 0o755)
        old = None
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
            os.replace(path, old / path.name)
        os.replace(fresh, path)
        if old:
            shutil.rmtree(old, ignore_errors=True)
    except OSError as e:
        shutil.rmtree(fresh, ignore_errors=True)
        raise WriteError(f"{path}: cannot be written ({e.strerror})", hint="free some disk, or name another folder with -o") from None
    return Bundle(program, path)
