"""A plain folder of dumps (UI Automator, Appium page sources, Maestro hierarchy JSON) and pictures, or one dump.

A dump `NAME.xml` (or .json) and a picture `NAME.png` (or .jpg, .webp) of the same folder belong together. Folders are read to their
depth, files in natural order of their paths. Nothing says what led from one dump to the next, so there are captures only,
unless a sidecar `phoneworld.json` in the folder says more:

    {"format": "phoneworld.folder", "version": 1, "package": "org.app", "density": 420,
     "traces": [{"start": "home", "steps": [{"action": {"kind": "tap", "x": 10, "y": 20}, "to": "detail"}]}]}

where screens are named by their path in the folder without the suffix.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from phoneworld.errors import ActionError, DumpError, FileFormatError, NewerFormat
from phoneworld.graph.file import natural_order
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.importers.maestro_hierarchy import is_maestro_hierarchy, parse_maestro_hierarchy
from phoneworld.graph.importers.recording import (
    PICTURE_SUFFIXES,
    ImportedRecording,
    Picture,
    fit_picture,
    foreground_package,
    main_package,
    read_bytes,
    read_picture,
    usual_density,
    visible_extent,
)
from phoneworld.ui.action import LongPress, Swipe, TypeText, action_from_json, points_of
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Gesture, Hierarchy
from phoneworld.ui.xml import parse_hierarchy_with_warnings

NAME = "folder"
SIDECAR = "phoneworld.json"
_DUMP_SUFFIXES = (".xml", ".uix")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StepModel(_Model):
    action: dict[str, Any]
    to: str


class TraceModel(_Model):
    start: str
    steps: list[StepModel] = []
    instruction: str = ""


class SidecarModel(_Model):
    """What a folder of dumps cannot say by itself."""

    format: Literal["phoneworld.folder"]
    version: Literal[1]
    package: str = ""
    label: str = ""
    density: Annotated[int, Field(gt=0, le=10_000)] | None = None
    model: str = ""
    locale: str = ""
    traces: list[TraceModel] = []


@dataclass(frozen=True, slots=True)
class _Dump:
    file: Path
    where: str
    hierarchy: Hierarchy
    picture: Picture | None
    notes: tuple[str, ...]


def recognises(path: Path) -> bool:
    if path.is_file():
        return path.suffix.lower() in (*_DUMP_SUFFIXES, ".txt", "") or is_maestro_hierarchy(path)
    if not path.is_dir():
        return False
    if any(next(path.rglob("*" + suffix), None) is not None for suffix in _DUMP_SUFFIXES):
        return True
    return any(is_maestro_hierarchy(file) for file in path.rglob("*.json"))


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """Each dump a capture, in natural order of the file names.

    Raises FileFormatError where not one dump could be read, or the sidecar cannot be understood.
    """
    root = path if path.is_dir() else path.parent
    files = (
        [path] if path.is_file() else sorted(_files(path), key=lambda f: natural_order(f.relative_to(root).as_posix()))
    )
    refused: list[tuple[str, str]] = []
    warnings: list[str] = []
    dumps = []
    used: set[Path] = set()
    for file in files:
        where = file.relative_to(root).as_posix()
        try:
            parse = parse_maestro_hierarchy if file.suffix.lower() == ".json" else parse_hierarchy_with_warnings
            hierarchy, doubts = parse(read_bytes(file))
        except (DumpError, FileFormatError) as e:
            refused.append((where, e.message))
            used.update(p for p in _pictures_of(file) if p.is_file())
            continue
        warnings += [f"{where}: {doubt}" for doubt in doubts]
        picture, notes = _picture(file, root, hierarchy, refused, used)
        dumps.append(_Dump(file, where, hierarchy, picture, notes))
    if path.is_dir():
        alone = (p for p in path.rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES and p not in used and p.is_file())
        refused += [
            (p.relative_to(root).as_posix(), "a picture without a dump of the same name") for p in sorted(alone)
        ]
    if not dumps:
        reason = f" ({refused[0][0]}: {refused[0][1]})" if refused else ""
        raise FileFormatError(
            f"{path}: not one dump could be read{reason}",
            hint="expected UI Automator XML, as `adb shell uiautomator dump` writes it",
        )
    sidecar = _sidecar(path / SIDECAR) if path.is_dir() else None
    captures, names = _captures(dumps)
    sizes = Counter(c.size for c in captures.values() if c.hierarchy.rotation % 2 == 0) or Counter(
        c.size for c in captures.values()
    )
    main = package or (sidecar.package if sidecar else "") or main_package(d.hierarchy for d in dumps)
    if package and package not in {n.package for d in dumps for n in d.hierarchy.nodes()}:
        warnings.append(f"no screen of this recording belongs to {package}")
    size = sizes.most_common(1)[0][0]
    graph = StateGraph(
        app=RecordedApp(main, label=sidecar.label if sidecar else ""),
        device=DeviceInfo(
            size=size,
            density=(sidecar.density if sidecar else None) or usual_density(size),
            model=sidecar.model if sidecar else "",
            locale=sidecar.locale if sidecar else "",
        ),
        captures=captures,
        traces=_traces(sidecar, names, captures, path / SIDECAR) if sidecar else (),
        source="folder",
    )
    screenshots = {d.picture.sha: d.picture.png for d in dumps if d.picture}
    origins = {c: d.where for c, d in zip(captures, dumps, strict=True)}
    return ImportedRecording(graph, NAME, screenshots, tuple(refused), tuple(warnings), origins)


def _files(path: Path) -> list[Path]:
    return [
        f for f in path.rglob("*") if f.is_file() and (f.suffix.lower() in _DUMP_SUFFIXES or is_maestro_hierarchy(f))
    ]


def _pictures_of(file: Path) -> list[Path]:
    return [file.with_suffix(suffix) for suffix in PICTURE_SUFFIXES]


def _picture(
    file: Path, root: Path, hierarchy: Hierarchy, refused: list[tuple[str, str]], used: set[Path]
) -> tuple[Picture | None, tuple[str, ...]]:
    for place in _pictures_of(file):
        if not place.is_file():
            continue
        used.add(place)
        try:
            picture, note = fit_picture(read_picture(place), visible_extent(hierarchy))
        except FileFormatError as e:
            refused.append((place.relative_to(root).as_posix(), e.message))
            continue
        if picture is None:
            refused.append((place.relative_to(root).as_posix(), note))
            continue
        return picture, ((note,) if note else ())
    return None, ()


def _captures(dumps: list[_Dump]) -> tuple[dict[str, Capture], dict[str, str]]:
    """The captures by id, and the id of each screen by its path without the suffix."""
    usual: dict[Path, Counter[Size]] = {}
    for dump in dumps:
        usual.setdefault(dump.file.parent, Counter())[
            dump.picture.size if dump.picture else visible_extent(dump.hierarchy)
        ] += 1
    captures: dict[str, Capture] = {}
    names: dict[str, str] = {}
    for i, dump in enumerate(dumps, 1):
        size = dump.picture.size if dump.picture else _assumed_size(dump.hierarchy, usual[dump.file.parent])
        capture = Capture(
            id=f"s{i:04d}",
            hierarchy=dump.hierarchy,
            size=size,
            screenshot=dump.picture.sha if dump.picture else None,
            state=DeviceState(package=foreground_package(dump.hierarchy), rotation=dump.hierarchy.rotation % 4),
            notes=dump.notes,
        )
        captures[capture.id] = capture
        names[dump.where.rpartition(".")[0] or dump.where] = capture.id
    return captures, names


def _assumed_size(hierarchy: Hierarchy, usual: Counter[Size]) -> Size:
    """The size of a dump without a picture: its extent, but for a small window the usual size of its folder."""
    extent = visible_extent(hierarchy)
    common = usual.most_common(1)[0][0]
    fits = extent.width <= common.width and extent.height <= common.height
    return common if fits else extent


def _sidecar(path: Path) -> SidecarModel | None:
    if not path.is_file():
        return None
    try:
        return SidecarModel.model_validate_json(read_bytes(path))
    except ValidationError as e:
        first = e.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        if place == "version" and isinstance(first["input"], int) and first["input"] > 1:
            raise NewerFormat(
                f"{path} has version {first['input']}; this phoneworld reads 1", hint="update phoneworld"
            ) from None
        raise FileFormatError(
            f"{path}: {place}: {first['msg']}, found {first['input']!r}", hint="mend the sidecar, or move it away"
        ) from None


def _traces(
    sidecar: SidecarModel, names: dict[str, str], captures: dict[str, Capture], path: Path
) -> tuple[Trace, ...]:
    def named(screen: str, place: str) -> str:
        if screen not in names:
            raise FileFormatError(
                f"{path}: {place}: there is no screen {screen!r}", hint="name it by its path without the suffix"
            )
        return names[screen]

    traces = []
    for i, trace in enumerate(sidecar.traces):
        at = start = named(trace.start, f"traces.{i}.start")
        transitions = []
        for j, step in enumerate(trace.steps):
            source = captures[at]
            try:
                action = action_from_json(step.action, size=source.size)
            except ActionError as e:
                raise FileFormatError(f"{path}: traces.{i}.steps.{j}.action: {e.message}", hint=e.hint) from None
            target = named(step.to, f"traces.{i}.steps.{j}.to")
            points = points_of(action)
            hit = source.hierarchy.hit_test(points[0], _gesture(action), source.size) if points else None
            transitions.append(Transition(at, action, target, hit=(hit.target or hit.node) if hit else None))
            at = target
        traces.append(Trace(f"t{i + 1:03d}", start, tuple(transitions), instruction=trace.instruction))
    return tuple(traces)


def _gesture(action: object) -> Gesture:
    match action:
        case LongPress():
            return "long_press"
        case Swipe():
            return "scroll"
        case TypeText():
            return "type"
        case _:
            return "tap"
