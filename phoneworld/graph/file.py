"""`app.graph.json`: a StateGraph on disk and back. One of the few files of the lower rooms that does I/O, at its end.

`dumps` and `loads` are pure. The file is JSON: its `format`, its `version`, the app, the device, the widget trees as
UI Automator XML text stored once under the SHA-256 of that text, the captures (which name their tree and picture by hash),
the traces. Pictures lie beside it, `app.assets/<sha256>.png` for `app.graph.json`. The JSON Schema that is generated from
the models in `schema.py` is published with the package as `app.graph.schema.json`.

A file of an older version goes through one converter a version step; a newer one is refused with `NewerFormat`.
"""

from __future__ import annotations

import gc
import glob
import hashlib
import itertools
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from phoneworld.errors import ActionError, DumpError, FileFormatError, NewerFormat, WriteError
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition, Unfinished
from phoneworld.graph.schema import (
    FORMAT,
    VERSION,
    AppModel,
    CaptureModel,
    DeviceModel,
    GraphModel,
    StateModel,
    TraceModel,
    TransitionModel,
    UnfinishedModel,
)
from phoneworld.graph.trees import read_trees
from phoneworld.ui.action import Action, action_from_json, action_to_json
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import write_hierarchy

SCHEMA_FILE = Path(__file__).with_name("app.graph.schema.json")

# From version n to n + 1, as plain JSON. A format change adds its step here and a golden of the old file to the tests.
CONVERTERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}

_SHA256 = re.compile(r"[0-9a-f]{64}")
_PNG = b"\x89PNG\r\n\x1a\n"
_STREAM = re.compile(r"/dev/(stdout|stderr)|(?:/dev|/proc/self)/fd/(\d+)")
_WRITES = itertools.count()
_TEMPORARY = re.compile(r"\..+\.(\d+)\.tmp")
_WORD = re.compile(r"(\d+)")
_HEAD = 2000


def dumps(graph: StateGraph) -> bytes:
    """The bytes of `app.graph.json`. Equal graphs give equal bytes: captures stand in natural order of their ids.

    Raises FileFormatError where the graph contradicts itself (see `loads`).
    """
    texts: dict[str, str] = {}
    trees: dict[str, Hierarchy] = {}
    names: dict[int, str] = {}  # by identity: a graph holds each tree object alive, and hashing a tree by value is slow
    captures = []
    for capture in sorted(graph.captures.values(), key=lambda c: natural_order(c.id)):
        tree = names.get(id(capture.hierarchy))
        if not capture.hierarchy.windows:
            raise FileFormatError(
                f"the graph: the tree of capture {capture.id} has no node", hint="leave that capture out"
            )
        if tree is None:
            text = write_hierarchy(capture.hierarchy).decode("utf-8")
            tree = names[id(capture.hierarchy)] = _sha(text)
            texts[tree], trees[tree] = text, capture.hierarchy
        captures.append(_capture_to_json(capture, tree))
    device = graph.device
    content = {
        "format": FORMAT,
        "version": VERSION,
        "source": graph.source,
        "created": graph.created,
        "app": {name: getattr(graph.app, name) for name in AppModel.model_fields},
        "device": {
            "width": device.size.width,
            "height": device.size.height,
            **{name: getattr(device, name) for name in list(DeviceModel.model_fields)[2:]},
        },
        "trees": dict(sorted(texts.items())),
        "captures": captures,
        "traces": [_trace_to_json(trace) for trace in graph.traces],
    }
    content = _without_lone_surrogates(content)
    _build(_validate(content, "the graph"), "the graph", trees)
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def loads(content: bytes, *, where: str = "app.graph.json") -> StateGraph:
    """The graph in these bytes; `where` names them in errors.

    Raises NewerFormat for a later version, and FileFormatError for anything that is not a whole, consistent graph: other
    JSON, a missing or ill-typed field, a tree whose text does not have its hash, a capture, transition or hit that refers
    to nothing, a trace whose transitions do not join. One parse of each distinct tree.
    """
    try:
        obj = orjson.loads(content)
    except orjson.JSONDecodeError as e:
        raise FileFormatError(
            f"{where} is not JSON: {e}", hint="an interrupted copy? take the file from its source again"
        ) from None
    if not isinstance(obj, dict) or obj.get("format") != FORMAT:
        found = obj.get("format") if isinstance(obj, dict) else type(obj).__name__
        raise FileFormatError(
            f'{where}: expected a JSON object with "format": "{FORMAT}", found {found!r}',
            hint="recordings of other tools are read by `phoneworld import PATH -o app.graph.json`",
        )
    model = _validate(_converted(obj, where), where)
    for sha, text in model.trees.items():
        if _sha(text) != sha:
            raise FileFormatError(
                f"{where}: trees.{sha[:12]}… holds a text whose SHA-256 is {_sha(text)[:12]}…",
                hint="the file was edited or damaged; restore it, or name the tree by the hash of its text",
            )
    try:
        trees = read_trees(model.trees)
    except DumpError as e:
        raise FileFormatError(f"{where}: trees.{e.message}", hint=e.hint) from None
    return _build(model, where, trees)


def natural_order(name: str) -> tuple[tuple[int, int | str], ...]:
    """A sort key under which `c2` comes before `c10`."""
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in _WORD.split(name) if part)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _converted(obj: dict[str, Any], where: str) -> dict[str, Any]:
    version = obj.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(f"{where}: version: expected one from 1 to {VERSION}, found {version!r}")
    if version > VERSION:
        raise NewerFormat(
            f"{where} has version {version} of the format; this phoneworld reads up to {VERSION}",
            hint="update phoneworld: pip install -U phoneworld",
        )
    while version < VERSION:
        obj = CONVERTERS[version](obj)
        version += 1
    return obj


def _validate(obj: dict[str, Any], where: str) -> GraphModel:
    try:
        return GraphModel.model_validate(obj)
    except ValidationError as e:
        first = e.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        found = repr(first["input"])
        found = found if len(found) <= 80 else found[:77] + "..."
        raise FileFormatError(
            f"{where}: {place}: {first['msg']}, found {found}"
            + (f" (and {e.error_count() - 1} more)" if e.error_count() > 1 else ""),
            hint="the fields are described by app.graph.schema.json in the package",
        ) from None


def _build(model: GraphModel, where: str, trees: Mapping[str, Hierarchy]) -> StateGraph:
    """The graph of a valid model, with every reference in it checked."""

    def refuse(place: str, what: str) -> FileFormatError:
        return FileFormatError(
            f"{where}: {place}: {what}", hint="the file was cut or edited; record or import again, or undo the edit"
        )

    def done(
        place: str, source: Capture, step: TransitionModel | UnfinishedModel
    ) -> tuple[Action, tuple[int, ...] | None]:
        try:
            action = action_from_json(step.action, size=source.size)
        except ActionError as e:
            raise refuse(f"{place}.action", e.message) from None
        hit = None if step.hit is None else tuple(step.hit)
        if hit is not None and not _has(source.hierarchy, hit):
            raise refuse(f"{place}.hit", f"the tree of {source.id} has no node at {list(hit)}")
        return action, hit

    captures: dict[str, Capture] = {}
    for i, c in enumerate(model.captures):
        if c.id in captures:
            raise refuse(f"captures.{i}", f"the id {c.id} is taken by an earlier capture")
        if c.tree not in trees:
            raise refuse(f"captures.{i}", f"there is no tree {c.tree[:12]}…")
        captures[c.id] = Capture(
            id=c.id,
            hierarchy=trees[c.tree],
            size=Size(c.width, c.height),
            screenshot=c.screenshot,
            state=DeviceState(c.state.package, c.state.activity, c.state.keyboard, c.state.rotation, c.state.clock_ms),
            time_ms=c.time_ms,
            settled=c.settled,
            tree_mode=c.tree_mode,
            notes=tuple(c.notes),
        )
    traces = []
    for i, trace in enumerate(model.traces):
        if trace.start not in captures:
            raise refuse(f"traces.{i}.start", f"there is no capture {trace.start}")
        at = trace.start
        transitions = []
        for j, t in enumerate(trace.transitions):
            place = f"traces.{i}.transitions.{j}"
            for name in (t.source, t.target, *t.transients):
                if name not in captures:
                    raise refuse(place, f"there is no capture {name}")
            if t.source != at:
                raise refuse(place, f"it starts at {t.source}, the one before it ended at {at}")
            at = t.target
            action, hit = done(place, captures[t.source], t)
            transitions.append(
                Transition(t.source, action, t.target, hit, t.settle_ms, tuple(t.transients), tuple(t.notes))
            )
        unfinished = None
        if trace.unfinished is not None:
            unfinished = Unfinished(
                *done(f"traces.{i}.unfinished", captures[at], trace.unfinished), trace.unfinished.reason
            )
        traces.append(
            Trace(
                trace.id, trace.start, tuple(transitions), trace.start_kind, trace.instruction, trace.seed, unfinished
            )
        )
    app, device = model.app, model.device
    return StateGraph(
        app=RecordedApp(app.package, app.label, app.activity, app.version),
        device=DeviceInfo(
            size=Size(device.width, device.height),
            **{name: getattr(device, name) for name in list(DeviceModel.model_fields)[2:]},
        ),
        captures=captures,
        traces=tuple(traces),
        source=model.source,
        created=model.created,
    )


def _has(hierarchy: Hierarchy, path: tuple[int, ...]) -> bool:
    siblings = hierarchy.windows
    for i in path:
        if i >= len(siblings):
            return False
        siblings = siblings[i].children
    return bool(path)


def _differing(values: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Without what equals its default: the file stays readable."""
    return {
        k: v for k, v in values.items() if model.model_fields[k].is_required() or v != model.model_fields[k].default
    }


def _capture_to_json(capture: Capture, tree: str) -> dict[str, Any]:
    state = _differing({name: getattr(capture.state, name) for name in StateModel.model_fields}, StateModel)
    return {
        "id": capture.id,
        "tree": tree,
        "width": capture.size.width,
        "height": capture.size.height,
        **({"screenshot": capture.screenshot} if capture.screenshot else {}),
        **({"state": state} if state else {}),
        **_differing(
            {
                "time_ms": capture.time_ms,
                "settled": capture.settled,
                "tree_mode": capture.tree_mode,
                "notes": list(capture.notes),
            },
            CaptureModel,
        ),
    }


def _trace_to_json(trace: Trace) -> dict[str, Any]:
    transitions = [
        _differing(
            {
                "source": t.source,
                "action": action_to_json(t.action),
                "target": t.target,
                "hit": None if t.hit is None else list(t.hit),
                "settle_ms": t.settle_ms,
                "transients": list(t.transients),
                "notes": list(t.notes),
            },
            TransitionModel,
        )
        for t in trace.transitions
    ]
    return {
        "id": trace.id,
        "start": trace.start,
        **_differing(
            {"start_kind": trace.start_kind, "instruction": trace.instruction, "seed": trace.seed}, TraceModel
        ),
        "transitions": transitions,
        **({"unfinished": _unfinished_to_json(trace.unfinished)} if trace.unfinished is not None else {}),
    }


def _unfinished_to_json(unfinished: Unfinished) -> dict[str, Any]:
    hit = None if unfinished.hit is None else list(unfinished.hit)
    values = {"action": action_to_json(unfinished.action), "hit": hit, "reason": unfinished.reason}
    return _differing(values, UnfinishedModel)


def _without_lone_surrogates(value: Any) -> Any:
    """The same JSON value with each surrogate half as U+FFFD: a JSON file is valid UTF-8, whatever a phone said."""
    if isinstance(value, str):
        return value if value.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [_without_lone_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {k: _without_lone_surrogates(v) for k, v in value.items()}
    return value


# ---- the edge: files


def assets_folder(path: Path | str) -> Path:
    """Where the pictures of a graph file lie: `app.assets` for `app.graph.json`."""
    path = Path(path)
    name = path.name.removesuffix(".json").removesuffix(".graph")
    return path.with_name(name + ".assets")


def is_graph_file(path: Path | str) -> bool:
    """True where the first bytes of a file say that it is a graph of ours; False where there is none, or it cannot be read."""
    try:
        with open(path, "rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(_HEAD)
    except OSError:
        return False


def load_graph(path: Path | str) -> StateGraph:
    """Reads a graph file. Pictures are not opened (see `screenshot_bytes`). Raises FileFormatError, NewerFormat.

    The garbage collector rests meanwhile: it would walk over hundreds of thousands of new nodes again and again, which
    takes longer than reading them, and none of them is garbage.
    """
    content = _read(Path(path), "the graph file")
    resting = gc.isenabled()
    gc.disable()
    try:
        return loads(content, where=str(path))
    finally:
        if resting:
            gc.enable()


def save_graph(graph: StateGraph, path: Path | str, screenshots: Mapping[str, bytes] | None = None) -> None:
    """Writes the graph, after the pictures that are not there yet. A crash at any moment leaves the old file whole.

    `screenshots` maps a picture's SHA-256 to its PNG; None where they already lie in the assets folder. Raises
    FileFormatError where the graph contradicts itself or a picture is not what its hash says, WriteError where the
    disk does not take it.
    """
    path = Path(path)
    content = dumps(graph)
    folder = assets_folder(path)
    _remove_leftovers(path.parent, path.name)
    _remove_leftovers(folder)
    for sha in sorted(screenshots or {}):
        save_screenshot(folder, (screenshots or {})[sha], sha)
    write_atomically(path, content)


def save_screenshot(folder: Path, png: bytes, sha: str | None = None) -> str:
    """Puts a PNG into an assets folder under its SHA-256, which it returns. Does nothing where it already lies there."""
    found = hashlib.sha256(png).hexdigest()
    if sha is not None and found != sha:
        raise FileFormatError(f"expected the picture {sha[:12]}…, found bytes whose SHA-256 is {found[:12]}…")
    if not png.startswith(_PNG):
        raise FileFormatError(
            f"the picture {found[:12]}… is no PNG: it starts with {png[:8]!r}", hint="convert it to PNG"
        )
    place = folder / f"{found}.png"
    if not (place.is_file() and place.read_bytes() == png):
        write_atomically(place, png)
    return found


def screenshot_bytes(path: Path | str, sha: str) -> bytes:
    """The PNG of a hash, from beside the graph file. Raises FileFormatError where it is missing or damaged."""
    if not _SHA256.fullmatch(sha):
        raise FileFormatError(f"expected the SHA-256 of a picture (64 hex digits), found {sha!r}")
    place = assets_folder(path) / f"{sha}.png"
    png = _read(place, "the picture")
    if hashlib.sha256(png).hexdigest() != sha:
        raise FileFormatError(
            f"{place} is damaged: its content does not have the hash of its name", hint="copy it again from its source"
        )
    return png


def missing_screenshots(graph: StateGraph, path: Path | str) -> frozenset[str]:
    """The hashes of pictures that the graph refers to and that do not lie beside its file."""
    folder = assets_folder(path)
    return frozenset(sha for sha in graph.screenshots() if not (folder / f"{sha}.png").is_file())


def is_special(path: Path) -> bool:
    """True for what stands at a path and is neither a file nor a folder, through links: a device, a pipe, a socket."""
    return _stream_of(path) is not None or (path.exists() and not path.is_file() and not path.is_dir())


def _stream_of(path: Path) -> int | None:
    """The number of the open stream that a path names (`/dev/stdout`), which may be a file."""
    found = _STREAM.fullmatch(str(path))
    return None if found is None else int(found[2]) if found[2] else 1 if found[1] == "stdout" else 2


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes beside the target, then renames: readers see the old file or the new one, never a half.

    With `durable` it is on the disk when this returns. Into a device or a pipe (`/dev/stdout`) it is written, for nothing may take its place.
    Raises WriteError (old file untouched) where the disk is full or the folder cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{next(_WRITES)}.{os.getpid()}.tmp")
    try:
        if (stream := _stream_of(path)) is not None:
            with open(stream, "wb", closefd=False) as opened:
                opened.write(content)
            return
        if is_special(path):
            path.write_bytes(content)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, target)
        if not durable:
            return
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as e:
        kept = "; the file that was there is unchanged" if target.exists() else ""
        raise WriteError(
            f"cannot write {path}: {e.strerror or e}{kept}", hint="free space on that disk, or write to another folder"
        ) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _remove_leftovers(folder: Path, name: str = "") -> None:
    """Deletes the temporary files of writers that were killed in mid-write; those of living processes stay."""
    for entry in folder.glob(f".{glob.escape(name)}*.tmp"):
        match = _TEMPORARY.fullmatch(entry.name)
        if match and not Path("/proc", match[1]).exists() and Path("/proc/self").exists():
            with suppress(OSError):
                entry.unlink()


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileFormatError(f"{what} {path} does not exist", hint="check the path") from None
    except OSError as e:
        raise FileFormatError(
            f"{what} {path} cannot be read: {e.strerror or e}", hint="check the path and its permissions"
        ) from None
