"""What scripts and logs have in common: steps in order, often without a screen. Knows no particular format.

A log of touches or a test script says what was done, seldom what was shown. Each step becomes a transition all the same.
The screens beside it (dumps in the folder) are put at the moments they belong to: where there are as many as moments, one
each in natural order of their names; else the screen whose name ends in a number n is the one after n steps. At a moment
without a screen stands one bare node, marked `no-tree`; a widget that a step names but no tree shows has no place: the
step then carries the middle of the screen, marked `place-unknown`, and what was looked for in its notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import Capture, RecordedApp, StartKind, StateGraph, Trace, Transition, Unfinished
from phoneworld.graph.importers import folder
from phoneworld.graph.importers.recording import ImportedRecording, usual_density
from phoneworld.ui.action import Action, Clear, DoubleTap, Drag, LongPress, Pinch, Swipe, Tap, TypeText, points_of
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node
from phoneworld.ui.node import Path as NodePath

ASSUMED_SIZE = Size(1080, 2400)
MAX_STEPS = 20_000
_NUMBER = re.compile(r"(\d+)\D*$")


@dataclass(frozen=True, slots=True)
class Target:
    """A widget as a script names it. `words` is the script's own way to say it; what is None is not asked for.

    `is_pattern`: text and description are regular expressions that must match as a whole, as Maestro has it.
    """

    words: str
    resource_id: str | None = None
    text: str | None = None
    content_desc: str | None = None
    class_name: str | None = None
    label: str | None = None
    index: int = 0
    is_pattern: bool = False

    def find(self, tree: Hierarchy, size: Size) -> NodePath | None:
        """The node, the `index`-th of those that are shown and fit; None where there is none."""
        asked = (self.resource_id, self.text, self.content_desc, self.class_name, self.label)
        if all(part is None for part in asked):
            return None
        found = [path for path, node in tree.walk() if self._fits(node) and tree.tap_point(path, size) is not None]
        return found[self.index] if -len(found) <= self.index < len(found) else None

    def _fits(self, node: Node) -> bool:
        own = node.resource_id
        return (
            (self.resource_id is None or own == self.resource_id or own.rpartition("/")[2] == self.resource_id)
            and (self.text is None or self._says(node.text, self.text))
            and (self.content_desc is None or self._says(node.content_desc, self.content_desc))
            and (self.class_name is None or node.class_name == self.class_name)
            and (
                self.label is None
                or any(self._says(words, self.label) for words in (node.text, node.content_desc, node.hint or "") if words)
            )
        )

    def _says(self, words: str, asked: str) -> bool:
        if words == asked:
            return True
        # A pattern from a file may take for ever on the wrong words, so only plain ones are tried.
        if not self.is_pattern or len(asked) > 200 or re.search(r"[)+*}][+*{]", asked) or len(re.findall(r"[+*{]", asked)) > 2:
            return False
        try:
            return re.fullmatch(asked, words[:500], re.I | re.S) is not None
        except re.error:
            return False


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done. With a `target` the action's coordinates are of no meaning until the target is found.

    `action` is a function of the screen's size where the script gives shares of it.
    """

    action: Action | Callable[[Size], Action]
    target: Target | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """One run of steps from one file. `screens` are captures by moment (0 is before the first step), where known by the format itself."""

    name: str
    steps: tuple[Step, ...]
    instruction: str = ""
    start_kind: StartKind = "unknown"
    seed: int | None = None
    unfinished: Unfinished | None = None
    screens: Mapping[int, Capture] = field(default_factory=dict)
    moments: Sequence[int] = ()
    """Where the log says at which moments a screen was read (page sources), these, in order."""


def recording_of(
    scripts: Sequence[Script],
    format: str,
    *,
    path: Path,
    package: str,
    size: Size | None = None,
    refused: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    device: DeviceInfo | None = None,
    activity: str = "",
    pictures: Mapping[str, bytes] | None = None,
) -> ImportedRecording:
    """The scripts as traces over the screens that lie beside them. `size` is the screen's where the log says it."""
    refused, warnings = list(refused), list(warnings)
    beside = _beside(path, refused, warnings)
    known = list(beside.graph.captures.values()) if beside else []
    stated = next((c.size for s in scripts for c in s.screens.values()), None)
    upright = size or (beside.graph.device.size if beside else None) or stated
    if upright is None:
        upright = ASSUMED_SIZE
        warnings.append(f"nothing says how large the screen is: taken as {upright.width}x{upright.height}")
    app = package or (beside.graph.app.package if beside else "")
    bare = Hierarchy((Node("android.view.View", package=app, bounds=upright.bounds),))
    captures: dict[str, Capture] = {}
    origins: dict[str, str] = {}
    traces: list[Trace] = []
    used: set[str] = set()

    def put(capture: Capture, origin: str) -> Capture:
        named = replace(capture, id=f"s{len(captures) + 1:04d}")
        captures[named.id] = named
        origins[named.id] = origin
        return named

    for script in scripts:
        placed = dict(script.screens) or (_placed(known, beside, script, warnings) if beside and len(scripts) == 1 else {})
        moments: list[Capture] = []
        for i in range(len(script.steps) + 1):
            seen = placed.get(i)
            if seen is None:
                seen = Capture("", bare, upright, state=DeviceState(package=app), notes=("no-tree",))
                moments.append(put(seen, script.name))
            else:
                used.add(seen.id)
                moments.append(put(seen, beside.origins.get(seen.id, script.name) if beside else script.name))
        transitions = []
        for step, source, target in zip(script.steps, moments, moments[1:], strict=False):
            action, hit, notes = _located(step, source)
            transitions.append(Transition(source.id, action, target.id, hit=hit, notes=notes))
        unfinished = script.unfinished
        if unfinished is not None:
            action, hit, _ = _located(Step(unfinished.action), moments[-1])
            unfinished = Unfinished(action, hit, unfinished.reason)
        traces.append(
            Trace(
                f"t{len(traces) + 1:03d}", moments[0].id, tuple(transitions), script.start_kind, script.instruction, script.seed, unfinished
            )
        )  # fmt: skip
    for capture in known:
        if capture.id not in used:
            put(capture, beside.origins.get(capture.id, "") if beside else "")
    unseen = sum("no-tree" in c.notes for c in captures.values())
    if unseen:
        warnings.append(f"{unseen} of {len(captures)} moments have no widget tree: to be looked at, not to be built")
    shown = {sha: png for sha, png in (beside.screenshots if beside else {}).items()} | dict(pictures or {})
    graph = StateGraph(
        app=RecordedApp(app, activity=activity),
        device=device or DeviceInfo(size=upright, density=usual_density(upright)),
        captures=captures,
        traces=tuple(traces),
        source=format,
    )
    return ImportedRecording(graph, format, shown, tuple(refused), tuple(warnings), origins)


def _beside(path: Path, refused: list[tuple[str, str]], warnings: list[str]) -> ImportedRecording | None:
    """The dumps and pictures in the folder of a script; only those of a folder that was given as a whole."""
    if not path.is_dir() or not folder.recognises(path):
        return None
    try:
        beside = folder.read(path)
    except FileFormatError as e:
        refused.append((path.name, e.message))
        return None
    refused += beside.refused
    warnings += beside.warnings
    return beside


def _placed(
    known: Sequence[Capture], beside: ImportedRecording, script: Script, warnings: list[str]
) -> dict[int, Capture]:
    """The screens of a folder at the moments of a script."""
    last = len(script.steps)
    if len(known) == last + 1:
        return dict(enumerate(known))
    if script.moments and len(script.moments) == len(known):
        return dict(zip(script.moments, known, strict=True))
    placed: dict[int, Capture] = {}
    for capture in known:
        number = _NUMBER.search(beside.origins[capture.id].rpartition(".")[0])
        moment = int(number[1]) if number and len(number[1]) < 9 else 0 if len(known) == 1 else -1
        if 0 <= moment <= last and moment not in placed:
            placed[moment] = capture
        else:
            warnings.append(f"{beside.origins[capture.id]}: it belongs to no moment of {script.name}; kept by itself")
    return placed


_GESTURES: tuple[tuple[type, Gesture], ...] = (
    (LongPress, "long_press"), (Drag, "long_press"), (Swipe, "scroll"), (Pinch, "scroll"), (TypeText, "type"), (Clear, "type"),
)  # fmt: skip


def _located(step: Step, source: Capture) -> tuple[Action, NodePath | None, tuple[str, ...]]:
    """The action with a place on its screen, and the node there by the one hit test."""
    notes, size = step.notes, source.size
    action = step.action(size) if callable(step.action) else step.action
    has_tree = "no-tree" not in source.notes
    if step.target is not None:
        notes = (*notes, f"selector: {step.target.words}"[:300])
        path = step.target.find(source.hierarchy, size) if has_tree else None
        point = source.hierarchy.tap_point(path, size) if path is not None else None
        if point is None:
            notes = (*notes, "place-unknown")
        action = _moved(action, point or size.bounds.center)
    points = points_of(action)
    clipped = [Point(max(0, min(size.width - 1, p.x)), max(0, min(size.height - 1, p.y))) for p in points]
    if list(points) != clipped:
        notes = (*notes, "off-screen")
        action = _moved(action, clipped[0], clipped[-1])
    if not points or not has_tree or "place-unknown" in notes:
        return action, None, notes
    gesture: Gesture = next((g for kind, g in _GESTURES if isinstance(action, kind)), "tap")
    hit = source.hierarchy.hit_test(clipped[0], gesture, size)
    return action, (hit.target or hit.node) if hit else None, notes


def _moved(action: Action, begin: Point, end: Point | None = None) -> Action:
    """The same action at another place."""
    match action:
        case Swipe() | Drag() if end is not None:
            return replace(action, x=begin.x, y=begin.y, x2=end.x, y2=end.y)
        case Swipe() | Drag():  # a script's swipe on a widget keeps its length and direction
            dx, dy = action.x2 - action.x, action.y2 - action.y
            return replace(action, x=begin.x, y=begin.y, x2=begin.x + dx, y2=begin.y + dy)
        case Tap() | DoubleTap() | LongPress() | Pinch() | TypeText() | Clear():
            return replace(action, x=begin.x, y=begin.y)
    return action
