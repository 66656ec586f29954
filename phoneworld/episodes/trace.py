"""One episode as lines of JSON: a header, a line a step, an end. Equal episodes, equal bytes: no clock, no place, no machine in it.

    {"kind": "episode", "format": "phoneworld-episode", "version": 1, "task": …, "seed": …, …}
    {"kind": "step", "n": 1, "action": {"kind": "tap", "x": 540, "y": 1200}, "hit": {…}, "state_id": …, "reward": 0.0, …}
    {"kind": "end", "steps": 1, "termination": "success", "success": true, …}

What came after the last whole line (a process was killed while it wrote) is dropped, and the trace is marked `cut`; a line in the
middle that is not what it should be is an error with its number. Knows no folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

from pydantic import ConfigDict, TypeAdapter, ValidationError

from phoneworld.env.outcome import ErrorClass, Termination
from phoneworld.env.record import EpisodeRecord, StepRecord
from phoneworld.errors import FileFormatError, NewerFormat
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node

FORMAT = "phoneworld-episode"
VERSION = 1
_STRICT = ConfigDict(extra="forbid", strict=True)
_WORDS = 200
_HALF = re.compile(r"\\ud[89a-f][0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Header:
    """How an episode was begun. `start` is the id of its first state, `frame` and `tree` are hashes of what was seen there.

    `mock` and `task_digest` are SHA-256 of the mock's program and of the task as it is written; `policy` and `env` say what decides
    an episode besides: the policy by name and digest; rewards, budget, and what is done about the unrecorded. The fields of an
    episode that could not be begun are empty.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    task: str | None
    seed: int
    language: str
    attempt: int
    app: str
    mock: str
    task_digest: str
    policy: dict[str, Any]
    env: dict[str, Any]
    versions: dict[str, str]
    action_space: str
    instruction: str = ""
    parameters: dict[str, Any] | None = None
    start: str = ""
    screen: tuple[int, int] | None = None
    frame: str | None = None
    tree: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """The widget that a touch landed on: where it is in the tree, what it is called, its bounds (left, top, right, bottom)."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    path: tuple[int, ...]
    id: str
    class_name: str
    words: str
    bounds: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """What was done and what came of it; `frame` and `tree` are hashes of what is seen after it. `reward` is None where there is no score."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    n: int
    action: dict[str, Any] | None
    said: str | None
    hit: Hit | None
    changed: bool | None
    evidence: str | None
    rules: tuple[str, ...]
    message: str
    invalid_action: str | None
    state_id: str
    reward: float | None
    trainable: bool
    progress: float | None
    frame: str | None = None
    tree: str | None = None

    def record(self) -> StepRecord:
        """The same as rollouts have it."""
        return StepRecord(self.action, self.reward, self.state_id, self.evidence, self.changed, self.invalid_action, self.trainable, self.progress)


@dataclass(frozen=True, slots=True)
class End:
    """How it ended, and the verdict; `explanation` is what the checker says, a line each."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    steps: int
    termination: Termination | None
    error_class: ErrorClass
    message: str
    success: bool | None
    progress: float | None
    answer: str | None
    side_effects: tuple[str, ...]
    violations: tuple[str, ...]
    unrecorded: int
    explanation: tuple[str, ...] = ()


Line: TypeAlias = Header | Step | End
_KINDS: dict[str, tuple[type[Any], TypeAdapter[Any]]] = {
    "episode": (Header, TypeAdapter(Header)), "step": (Step, TypeAdapter(Step)), "end": (End, TypeAdapter(End)),
}  # fmt: skip
_NAMES: dict[type[Any], str] = {cls: name for name, (cls, _) in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Trace:
    """An episode as it was read. Without an `end` it was broken off; `cut` where a line was broken off in the middle, too."""

    header: Header
    steps: tuple[Step, ...]
    end: End | None
    cut: bool = False

    @property
    def is_whole(self) -> bool:
        """True where it was written to its end."""
        return self.end is not None

    def lines(self) -> Iterator[bytes]:
        """The lines it is written as."""
        yield write_line(self.header)
        yield from map(write_line, self.steps)
        if self.end is not None:
            yield write_line(self.end)

    def record(self) -> EpisodeRecord:
        """The same as rollouts have it. An episode that was broken off is lost, and no score."""
        head, end = self.header, self.end
        if end is None:
            end = End(len(self.steps), "error", "infra", "the episode was broken off", None, None, None, (), (), 0)
        return EpisodeRecord(
            head.task, head.seed, head.instruction, head.start, tuple(s.record() for s in self.steps), end.termination, end.error_class,
            end.message, end.success, end.progress, end.answer, end.side_effects, end.violations, end.unrecorded,
        )  # fmt: skip


def end_of(record: EpisodeRecord, explanation: Sequence[str] = ()) -> End:
    """The last line of an episode."""
    return End(
        len(record.steps), record.termination, record.error_class, record.message, record.success, record.progress, record.answer,
        record.side_effects, record.violations, record.unrecorded, tuple(explanation),
    )  # fmt: skip


def hit_of(tree: Hierarchy, point: Point, gesture: Gesture, size: Size) -> Hit | None:
    """What a touch lands on: the widget that takes the gesture, else the topmost one that is there."""
    found = tree.hit_test(point, gesture, size)
    if found is None:
        return None
    path = found.node if found.target is None else found.target
    node = tree.at(path)
    b = node.bounds
    words = node.label or next((child.label for child in _inside(tree, path) if child.label), "")
    return Hit(path, node.resource_id, node.class_name, words[:_WORDS], (b.left, b.top, b.right, b.bottom))


def _inside(tree: Hierarchy, path: tuple[int, ...]) -> Iterator[Node]:
    stack = list(reversed(tree.at(path).children))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def write_line(line: Line) -> bytes:
    """One line with its line break. Text is ASCII with escapes: what policies type need not be text that can be encoded."""
    head: dict[str, Any] = {"kind": _NAMES[type(line)]}
    if isinstance(line, Header):
        head |= {"format": FORMAT, "version": VERSION}
    return json.dumps(head | _plain(line), ensure_ascii=True, allow_nan=False).encode() + b"\n"


def _plain(line: Any) -> dict[str, Any]:
    found = {field.name: getattr(line, field.name) for field in fields(line)}
    if isinstance(found.get("hit"), Hit):
        found["hit"] = _plain(found["hit"])
    return found


def read_trace(content: bytes, where: str) -> Trace:
    """The episode in a file's bytes. Raises FileFormatError with the number of the line that is not what it should be, NewerFormat."""
    *whole, rest = content.split(b"\n")
    lines = [_read(line, f"{where}, line {n}") for n, line in enumerate(whole, 1)]
    if not lines:
        raise FileFormatError(f"{where} has no whole line", hint="the episode was broken off before it began: run it again")
    header, *body = lines
    if not isinstance(header, Header):
        raise FileFormatError(f"{where}, line 1: expected the header of an episode, found a {_NAMES[type(header)]}", hint="is it a trace of `phoneworld eval`?")
    end: End | None = None
    if body and isinstance(last := body[-1], End):
        end = last
        body.pop()
    steps: list[Step] = []
    for n, line in enumerate(body, 2):
        if not isinstance(line, Step) or line.n != n - 1:
            found = f"step {line.n}" if isinstance(line, Step) else f"a line of kind {_NAMES[type(line)]}"
            raise FileFormatError(f"{where}, line {n}: expected step {n - 1}, found {found}", hint="the file was changed: run the episode again")
        steps.append(line)
    if end is not None and end.steps != len(steps):
        raise FileFormatError(f"{where}, line {len(lines)}: the end tells of {end.steps} steps, found {len(steps)}", hint="the file was changed: run the episode again")
    return Trace(header, tuple(steps), end if not rest else None, bool(rest))


def _read(line: bytes, where: str) -> Line:
    hint = "the file was changed: run the episode again"
    try:
        found = json.loads(line)
        kind = found.pop("kind", None) if isinstance(found, dict) else None
        text = json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError) as e:
        raise FileFormatError(f"{where} is not JSON: {e}", hint=hint) from None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise FileFormatError(f"{where}: expected a line of kind {', '.join(_KINDS)}, found {str(kind)[:40]!r}", hint=hint)
    if kind == "episode":
        if found.pop("format", None) != FORMAT:
            raise FileFormatError(f"{where}: not the header of a trace of ours", hint="is it a trace of `phoneworld eval`?")
        version = found.pop("version", None)
        if not isinstance(version, int) or version < 1:
            raise FileFormatError(f"{where}: no version", hint=hint)
        if version > VERSION:
            raise NewerFormat(f"{where}: format {version}, this PhoneWorld reads up to {VERSION}", hint="update phoneworld")
        text = json.dumps(found)
    cls, shape = _KINDS[kind]
    try:
        if _HALF.search(text) is None:
            made: Line = shape.validate_json(text)
            return made
        # Halves of surrogate pairs are no text for pydantic, but policies do type them: it checks the shape of the line without them.
        shape.validate_json(_HALF.sub(r"\\ufffd", text))
    except ValidationError as e:
        first = e.errors()[0]
        place = ".".join(map(str, first["loc"])) or kind
        raise FileFormatError(f"{where}: {place}: {first['msg']}", hint=hint) from None
    if isinstance(found.get("hit"), dict):
        found["hit"] = Hit(**_with_tuples(found["hit"]))
    halves: Line = cls(**_with_tuples(found))
    return halves


def _with_tuples(found: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
