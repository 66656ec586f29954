"""Episodes in parquet, in the shape of AndroidControl: an instruction, pictures, actions, each episode a trace.

One row an episode (as in `smolagents/android-control`): `episode_id`, `goal`, `actions` (structs, or JSON text),
`step_instructions`, `screenshots_b64` or `screenshots` (bytes, or structs with `bytes`), and where they are kept
`accessibility_trees` (serialised `AndroidAccessibilityForest`, the form of android_env) with widths and heights. There is
one more picture than there are actions. Coordinates are pixels of the picture.

Reading parquet needs pyarrow: `pip install "phoneworld[datasets]"`. Everything else here does without.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from phoneworld.errors import DumpError, FileFormatError, MissingDependency
from phoneworld.graph.graph import Capture
from phoneworld.graph.importers.accessibility import parse_forest
from phoneworld.graph.importers.recording import ImportedRecording, foreground_package, main_package
from phoneworld.graph.importers.script import Script, Step, recording_of
from phoneworld.ui.action import Action, Answer, Finish, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, Wait
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node

NAME = "episodes"
MAX_EPISODES = 2_000
_MAGIC = b"PAR1"
_WANTED = (
    "episode_id", "goal", "actions", "step_instructions", "screenshots_b64", "screenshots", "accessibility_trees",
    "screenshot_widths", "screenshot_heights",
)  # fmt: skip
# A scroll says which way the content is gone through: the finger moves against it.
_SCROLLS = {"down": (0.5, 0.7, 0.5, 0.3), "up": (0.5, 0.3, 0.5, 0.7), "right": (0.8, 0.5, 0.2, 0.5), "left": (0.2, 0.5, 0.8, 0.5)}


def recognises(path: Path) -> bool:
    if path.is_dir():
        return next(path.glob("*.parquet"), None) is not None
    try:
        with path.open("rb") as file:
            return file.read(4) == _MAGIC
    except OSError:
        return False


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """Each episode a trace; the app is the one most screens belong to.

    Raises MissingDependency without pyarrow, FileFormatError where no episode can be used.
    """
    refused: list[tuple[str, str]] = []
    scripts: list[Script] = []
    pictures: dict[str, bytes] = {}
    warnings: list[str] = []
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    for file in files:
        for number, row in enumerate(_rows(file)):
            if len(scripts) >= MAX_EPISODES:
                warnings.append(f"only the first {MAX_EPISODES} episodes are read: each becomes part of one graph")
                break
            where = f"{file.name}: row {number}"
            try:
                scripts.append(_episode(row, where, pictures, refused))
            except FileFormatError as e:
                refused.append((where, e.message))
    if not scripts:
        reason = f" ({refused[-1][0]}: {refused[-1][1]})" if refused else ""
        raise FileFormatError(f"{path}: not one episode could be used{reason}", hint="expected columns goal, actions and screenshots")
    app = package or main_package(c.hierarchy for s in scripts for c in s.screens.values() if "no-tree" not in c.notes)
    return recording_of(
        scripts, NAME, path=files[0], package=app, refused=refused, warnings=warnings, pictures=pictures
    )


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow as arrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import pyarrow.parquet as parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise MissingDependency(
            f"reading {file} needs pyarrow, which is not installed", hint='pip install "phoneworld[datasets]"'
        ) from None
    # A damaged file raises errors of Arrow, of Python (OSError, ValueError, KeyError) and of decoding.
    damaged = (arrow.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
    try:
        table = parquet.ParquetFile(file)
        columns = [name for name in _WANTED if name in set(table.schema_arrow.names)]
        if "actions" not in columns:
            raise FileFormatError(
                f"{file}: expected a column `actions`, found {', '.join(table.schema_arrow.names[:12]) or 'none'}",
                hint="one row an episode, as AndroidControl has it",
            )
        for batch in table.iter_batches(batch_size=1, columns=columns):
            yield from batch.to_pylist()
    except FileFormatError:
        raise
    except damaged as e:
        raise FileFormatError(f"{file} is damaged: {str(e).splitlines()[0] if str(e) else type(e).__name__}"[:300]) from None


def _episode(row: dict[str, Any], where: str, pictures: dict[str, bytes], refused: list[tuple[str, str]]) -> Script:
    actions = [_json(a) for a in _list(row.get("actions"))]
    if not actions:
        raise FileFormatError("has no action")
    trees = _list(row.get("accessibility_trees"))
    shots = _list(row.get("screenshots_b64")) or _list(row.get("screenshots"))
    widths, heights = _list(row.get("screenshot_widths")), _list(row.get("screenshot_heights"))
    words = _list(row.get("step_instructions"))
    screens: dict[int, Capture] = {}
    for i in range(len(actions) + 1):
        capture = _capture(_at(shots, i), _at(trees, i), (_at(widths, i), _at(heights, i)), f"{where}: step {i}", pictures, refused)
        if capture is not None:
            screens[i] = capture
    if not screens:
        raise FileFormatError("has neither a picture nor a tree")
    steps = []
    for i, act in enumerate(actions):
        size = screens[i].size if i in screens else next(iter(screens.values())).size
        action = _action(act, size)
        if action is None:
            raise FileFormatError(f"its action {i} has no action of ours: {json.dumps(act, default=str)[:160]}")
        word = _at(words, i)
        notes = (f"instruction: {word}"[:500],) if isinstance(word, str) and word else ()
        if isinstance(action, OpenApp) and "." not in action.package:
            notes = (*notes, "app-by-name")
        steps.append(Step(action, notes=notes))
    goal = row.get("goal")
    return Script(where, tuple(steps), instruction=goal if isinstance(goal, str) else "", screens=screens)


def _capture(
    shot: Any, tree: Any, stated: tuple[Any, Any], where: str, pictures: dict[str, bytes], refused: list[tuple[str, str]]
) -> Capture | None:
    """One moment: its picture and its tree, None where it has neither."""
    png, size = b"", None
    if shot is not None:
        try:
            png, size = _picture(shot)
        except FileFormatError as e:
            refused.append((where, e.message))
    if size is None and all(isinstance(v, int) and 0 < v <= 20_000 for v in stated):
        size = Size(*stated)
    hierarchy: Hierarchy | None = None
    notes: tuple[str, ...] = ()
    if isinstance(tree, bytes | str) and tree:
        try:
            hierarchy = parse_forest(tree if isinstance(tree, bytes) else base64.b64decode(tree, validate=True))
        except (DumpError, binascii.Error, ValueError) as e:
            refused.append((where, f"its tree cannot be read: {e}"[:200]))
    size = size or (hierarchy.extent if hierarchy is not None and not hierarchy.extent.bounds.is_empty else None)
    if size is None:
        return None
    if hierarchy is None:
        hierarchy = Hierarchy((Node("android.view.View", bounds=size.bounds),))
        notes = ("no-tree",)
    sha = hashlib.sha256(png).hexdigest() if png else None
    if sha:
        pictures[sha] = png
    return Capture("", hierarchy, size, screenshot=sha, state=DeviceState(package=foreground_package(hierarchy)), notes=notes)


def _picture(shot: Any) -> tuple[bytes, Size]:
    """PNG bytes and size of a picture as these files have it. Raises FileFormatError."""
    content = shot.get("bytes") if isinstance(shot, dict) else shot
    if isinstance(content, str):
        try:
            content = base64.b64decode(content.rpartition(",")[2], validate=False)
        except (binascii.Error, ValueError):
            raise FileFormatError("its picture is not base64") from None
    if not isinstance(content, bytes) or not content:
        raise FileFormatError("its picture is empty")
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            size = Size(*image.size)
            if image.format == "PNG":
                return content, size
            out = io.BytesIO()
            image.convert("RGB").save(out, "PNG", compress_level=2)
            return out.getvalue(), size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as e:
        raise FileFormatError(f"its picture cannot be read: {e}"[:200]) from None


def _action(act: Any, size: Size) -> Action | None:
    """The action of ours, None where there is none."""
    if not isinstance(act, dict):
        return None
    kind = act.get("action_type")
    x, y = _number(act.get("x")), _number(act.get("y"))
    match kind:
        case "click" if x is not None and y is not None:
            return Tap(x, y)
        case "long_press" if x is not None and y is not None:
            return LongPress(x, y)
        case "scroll":
            shares = _SCROLLS.get(str(act.get("direction")).lower())
            if shares is None:
                return None
            w, h = size.width - 1, size.height - 1
            return Swipe(int(shares[0] * w), int(shares[1] * h), int(shares[2] * w), int(shares[3] * h), 400)
        case "input_text":
            return TypeText(act["text"]) if isinstance(act.get("text"), str) else None
        case "open_app":
            return OpenApp(act["app_name"]) if isinstance(act.get("app_name"), str) else None
        case "navigate_home":
            return PressKey("home")
        case "navigate_back":
            return PressKey("back")
        case "keyboard_enter":
            return PressKey("enter")
        case "wait":
            return Wait()
        case "answer":
            return Answer(act["text"]) if isinstance(act.get("text"), str) else None
        case "status" | "terminate":
            return Finish("infeasible" if "infeasible" in str(act.get("goal_status") or act.get("status")) else "success")
    return None


def _json(value: Any) -> Any:
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and -1e6 < value < 1e6 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _at(values: list[Any], i: int) -> Any:
    return values[i] if i < len(values) else None
