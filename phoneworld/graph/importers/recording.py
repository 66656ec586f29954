"""What every importer gives back, and how a picture is taken in. Knows no particular format."""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from PIL import Image, UnidentifiedImageError

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import StateGraph
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
MOST_PX = 100_000
"""What `app.graph.json` takes as a side of a screen."""
_ASPECT_TOLERANCE = 0.02
_MAX_TEXT = 64 * 1024 * 1024
_ANSI = re.compile(r"\x1b\[[0-9;:-]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class ImportedRecording:
    """A foreign recording as a graph.

    `screenshots` maps SHA-256 to PNG. `refused` lists what could not be read or used, each with its reason; `warnings`
    what was read but is doubtful. `origins` maps each capture id to the file it came from, relative to the recording.
    """

    graph: StateGraph
    format: str
    screenshots: Mapping[str, bytes] = field(default_factory=dict)
    refused: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)


class Importer(Protocol):
    """One foreign format. A new one is a module with these three names and a line in the registry."""

    NAME: str

    def recognises(self, path: Path) -> bool:
        """True where the path looks like a recording of this format; opens as little as it can."""
        ...

    def read(self, path: Path, *, package: str | None = None) -> ImportedRecording:
        """Reads all of it. Raises FileFormatError only where nothing at all could be used."""
        ...


@dataclass(frozen=True, slots=True)
class Picture:
    """A decoded check of a picture: its PNG bytes and its size."""

    png: bytes
    size: Size

    @property
    def sha(self) -> str:
        return hashlib.sha256(self.png).hexdigest()


def read_picture(path: Path) -> Picture:
    """A picture file as PNG: a PNG byte for byte as it is, anything else converted. Raises FileFormatError where it is none."""
    content = read_bytes(path)
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            size = Size(*image.size)
            if image.format == "PNG":
                return Picture(content, size)
            return Picture(_png(image.convert("RGB")), size)
    except UnidentifiedImageError:
        raise FileFormatError(f"expected a picture, found {len(content)} bytes that are none") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as e:
        raise FileFormatError(f"expected a whole picture, found {len(content)} bytes: {e}") from None


def fit_picture(picture: Picture, extent: Size) -> tuple[Picture | None, str]:
    """The picture in the pixels of a tree of this extent, and a note on what was done ("" where it fitted).

    A tree that reaches beyond its picture was taken at another scale (the picture is then resized) or at another rotation
    (then they do not belong together: None).
    """
    if extent.width <= picture.size.width and extent.height <= picture.size.height:
        return picture, ""
    if extent.width == 0 or extent.height == 0:
        return picture, ""
    stretch = (extent.width / picture.size.width) / (extent.height / picture.size.height)
    if abs(stretch - 1) > _ASPECT_TOLERANCE:
        return None, (
            f"the picture is {picture.size.width}x{picture.size.height}, the tree {extent.width}x{extent.height}: not of one moment"
        )
    with Image.open(io.BytesIO(picture.png)) as image:
        resized = image.convert("RGB").resize((extent.width, extent.height), Image.Resampling.LANCZOS)
    return Picture(_png(resized), extent), "scaled-picture"


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=2)
    return out.getvalue()


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises FileFormatError with the system's reason where it cannot be had."""
    try:
        return path.read_bytes()
    except OSError as e:
        raise FileFormatError(f"cannot be read: {e.strerror or e}") from None


def read_text(path: Path) -> str:
    """A log as text, colours and carriage returns removed. Raises FileFormatError."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_TEXT + 1)
    except OSError as e:
        raise FileFormatError(f"{path} cannot be read: {e.strerror or e}") from None
    if len(content) > _MAX_TEXT:
        raise FileFormatError(f"{path} is larger than {_MAX_TEXT} bytes", hint="cut the part that matters out of it")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):  # PowerShell's `>`
        text = content.decode("utf-16", "replace")
    else:
        text = content.decode("utf-8-sig", "replace")
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def begins_with(path: Path, pattern: re.Pattern[str], length: int = 65_536) -> bool:
    """True where the first part of a file has what a format is known by."""
    try:
        with path.open("rb") as file:
            head = file.read(length)
    except OSError:
        return False
    text = head.decode("utf-16", "ignore") if head[:2] in (b"\xff\xfe", b"\xfe\xff") else head.decode("utf-8", "ignore")
    return pattern.search(_ANSI.sub("", text)) is not None


def files_of(path: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """The path itself where it is a file, else the files directly in that folder whose names end so, sorted."""
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from sorted(f for f in path.iterdir() if f.is_file() and f.suffix.lower() in suffixes)


def visible_extent(hierarchy: Hierarchy) -> Size:
    """How far the windows reach; never below one pixel, never more than a recording may have."""
    extent = hierarchy.extent
    return Size(min(max(1, extent.width), MOST_PX), min(max(1, extent.height), MOST_PX))


def usual_density(size: Size) -> int:
    """For a recording that does not say it: the standard bucket that makes the short side nearest to 400 dp wide."""
    short = min(size.width, size.height)
    return min((120, 160, 240, 320, 420, 480, 560, 640), key=lambda d: abs(short * 160 / d - 400))


def main_package(hierarchies: Iterable[Hierarchy]) -> str:
    """The package that most trees belong to, the system's own set aside; "" where none is named."""
    counts: Counter[str] = Counter()
    for hierarchy in hierarchies:
        if package := foreground_package(hierarchy):
            counts[package] += 1
    own = {p: n for p, n in counts.items() if not _is_system(p)} or counts
    return max(own, key=lambda p: (own[p], p), default="")


def foreground_package(hierarchy: Hierarchy) -> str:
    """The package of the topmost window that names one."""
    for window in reversed(hierarchy.windows):
        nodes = [window]
        while nodes:
            node = nodes.pop(0)
            if node.package:
                return node.package
            nodes.extend(node.children)
    return ""


def _is_system(package: str) -> bool:
    return (
        package in ("android", "com.android.systemui")
        or "launcher" in package
        or "permissioncontroller" in package
        or "packageinstaller" in package
    )
