"""The journal: what a recording did, one JSON object a line, and the graph that follows from it. Pure: bytes and values.

The lines, in the order in which they can appear (`{"record": ...}` names each):

    recording   the first line: format, version, app, device, seed, options
    tree        a widget tree as UI Automator XML under the SHA-256 of its text; written once, before what refers to it
    capture     one moment: its tree, its picture (a file beside the journal), device state, time
    trace       a trace begins at a capture
    begun       a step, written and flushed *before* the phone is touched
    done        the step's outcome: the capture at which it ended
    refused     nothing was done (the phone refused, or the screen had just changed by itself); the trace goes on
    unfinished  the step's outcome could not be captured; its trace ends here
    resumed     the recording goes on after it had stopped or was killed
    end         it stopped in good order, and why

A journal that was cut anywhere loses only the line that was cut. A step that was begun and has no outcome is unfinished.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from phoneworld.errors import FileFormatError, NewerFormat
from phoneworld.graph.file import loads
from phoneworld.graph.graph import Capture, RecordedApp, StartKind, StateGraph
from phoneworld.graph.schema import FORMAT as GRAPH_FORMAT
from phoneworld.graph.schema import VERSION as GRAPH_VERSION
from phoneworld.graph.schema import (
    ActionObject,
    AppModel,
    CaptureId,
    CaptureModel,
    DeviceModel,
    Natural,
    Sha256,
    StateModel,
)
from phoneworld.ui.action import Action, action_to_json
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.node import Hierarchy, Path
from phoneworld.ui.xml import write_hierarchy

FORMAT: Literal["phoneworld.journal"] = "phoneworld.journal"
VERSION = 1
SOURCE = "phoneworld record"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RecordingRecord(_Record):
    record: Literal["recording"] = "recording"
    format: Literal["phoneworld.journal"] = FORMAT
    version: Literal[1] = 1
    app: AppModel
    device: DeviceModel
    serial: str = ""
    seed: int = 0
    steps: Natural = 0
    keep: bool = False
    allow: list[str] = []
    created: str = ""
    mode: str = "explore"


class TreeRecord(_Record):
    record: Literal["tree"] = "tree"
    sha: Sha256
    xml: str


class CaptureRecord(_Record):
    record: Literal["capture"] = "capture"
    capture: CaptureModel
    retries: Natural = 0
    retried: dict[str, Natural] = {}


class TraceRecord(_Record):
    record: Literal["trace"] = "trace"
    id: str
    start: CaptureId
    start_kind: StartKind
    instruction: str = ""


class BegunRecord(_Record):
    record: Literal["begun"] = "begun"
    step: Natural
    source: CaptureId
    action: ActionObject
    hit: list[Natural] | None = None
    notes: list[str] = []


class DoneRecord(_Record):
    record: Literal["done"] = "done"
    step: Natural
    target: CaptureId
    settle_ms: Natural = 0
    transients: list[CaptureId] = []
    notes: list[str] = []


class RefusedRecord(_Record):
    record: Literal["refused"] = "refused"
    step: Natural
    message: str = ""


class UnfinishedRecord(_Record):
    record: Literal["unfinished"] = "unfinished"
    step: Natural
    reason: str
    message: str = ""


class ResumedRecord(_Record):
    record: Literal["resumed"] = "resumed"
    created: str = ""
    steps: Natural = 0


class EndRecord(_Record):
    record: Literal["end"] = "end"
    reason: str
    message: str = ""
    redacted: dict[str, Natural] = {}


Record = (
    RecordingRecord
    | TreeRecord
    | CaptureRecord
    | TraceRecord
    | BegunRecord
    | DoneRecord
    | RefusedRecord
    | UnfinishedRecord
    | ResumedRecord
    | EndRecord
)
_ANY: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="record")])


@dataclass(frozen=True, slots=True)
class Summary:
    """What a recording holds, in figures. `steps` are the captured ones; `screens`, `skipped`, `tried` and `offered` are filled in
    by exploring: kinds of action that were tried on the screens that offer them, of all that were seen.

    `redacted` counts captures and steps, `redacted_kinds` what was taken out, by kind.
    """

    steps: int = 0
    screens: int = 0
    transitions: int = 0
    traces: int = 0
    unsettled: int = 0
    uncaptured: int = 0
    unfinished: int = 0
    refused: int = 0
    retried: int = 0
    redacted: int = 0
    skipped: int = 0
    tried: int = 0
    offered: int = 0
    elapsed_s: float = 0.0
    retried_for: dict[str, int] = field(default_factory=dict)
    redacted_kinds: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Story:
    """A journal folded into what it says. Feed it records in order with `tell`; `graph` is what they amount to."""

    header: RecordingRecord | None = None
    trees: dict[str, str] = field(default_factory=dict)
    captures: dict[str, CaptureModel] = field(default_factory=dict)
    traces: list[dict[str, Any]] = field(default_factory=list)
    open: BegunRecord | None = None
    begun: int = 0
    ended: str = ""
    retried: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    steps: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def tell(self, record: Record) -> None:
        """Takes in the next record. Raises FileFormatError where it cannot follow on what was told before."""
        if (self.header is None) != isinstance(record, RecordingRecord):
            raise FileFormatError("a journal begins with one `recording` record" if self.header is None else "two recordings in one journal")
        match record:
            case RecordingRecord():
                self.header, self.steps = record, record.steps
            case TreeRecord():
                self.trees[record.sha] = record.xml
            case CaptureRecord():
                self.captures[record.capture.id] = record.capture
                self.retried += record.retries
                self.reasons.update(record.retried)
            case TraceRecord():
                self.close("interrupted")
                self.traces.append({
                    "id": record.id, "start": record.start, "start_kind": record.start_kind, "instruction": record.instruction,
                    "transitions": [],
                })  # fmt: skip
            case BegunRecord():
                if not self.traces or self.open is not None or self.at != record.source:
                    raise FileFormatError(f"step {record.step} begins at {record.source}, where no trace stands")
                self.open = record
                self.begun += 1
            case DoneRecord():
                begun = self._opened(record.step)
                transition = {
                    "source": begun.source,
                    "action": begun.action,
                    "target": record.target,
                    "hit": begun.hit,
                    "settle_ms": record.settle_ms,
                    "transients": record.transients,
                    "notes": begun.notes + record.notes,
                }
                self.traces[-1]["transitions"].append(transition)
                self.open = None
            case RefusedRecord():
                self._opened(record.step)
                self.open = None
                self.refused += 1
            case UnfinishedRecord():
                self._opened(record.step)
                self.close(record.reason)
            case ResumedRecord():
                self.close("interrupted")
                self.steps, self.ended = record.steps, ""
            case EndRecord():
                self.close("interrupted")
                self.ended = record.reason
                self.kinds.update(record.redacted)

    def close(self, reason: str) -> None:
        """A step that is still open is unfinished: it is kept as such at the end of its trace."""
        if self.open is not None:
            self.traces[-1]["unfinished"] = {"action": self.open.action, "hit": self.open.hit, "reason": reason}
            self.open = None

    @property
    def counted(self) -> int:
        """How many steps count towards those that were asked for: all that were begun but the refused, which did nothing."""
        return self.begun - self.refused

    @property
    def at(self) -> str:
        """The capture at which the last trace stands."""
        return self._end(self.traces[-1])

    def graph(self) -> StateGraph:
        """The recorded whole. A step that is still open counts as unfinished. Raises FileFormatError for a journal that is none."""
        if self.header is None:
            raise FileFormatError("the journal is empty: nothing was recorded yet", hint="record again without --resume")
        self.close("interrupted")
        content = {
            "format": GRAPH_FORMAT,
            "version": GRAPH_VERSION,
            "source": SOURCE,
            "created": self.header.created,
            "app": self.header.app.model_dump(),
            "device": self.header.device.model_dump(),
            "trees": self.trees,
            "captures": [c.model_dump() for c in self.captures.values()],
            "traces": [{**trace, "seed": self.header.seed} for trace in self.traces],
        }
        return loads(orjson.dumps(content), where="the journal")

    def summary(self) -> Summary:
        """The figures that the journal itself knows."""
        transitions = sum(len(t["transitions"]) for t in self.traces)
        broken = [t["unfinished"]["reason"] for t in self.traces if "unfinished" in t]
        redacted = sum("redacted" in c.notes for c in self.captures.values())
        redacted += sum("redacted" in step["notes"] for t in self.traces for step in t["transitions"])
        ends = {c for t in self.traces for c in (t["start"], *(step["target"] for step in t["transitions"]))}
        return Summary(
            steps=transitions,
            transitions=transitions,
            traces=len(self.traces),
            unsettled=sum(not self.captures[c].settled for c in ends),
            uncaptured=sum(reason not in ("interrupted", "device-lost") for reason in broken),
            unfinished=sum(reason in ("interrupted", "device-lost") for reason in broken),
            refused=self.refused,
            retried=self.retried,
            retried_for=dict(self.reasons.most_common()),
            redacted=redacted,
            redacted_kinds=dict(sorted(self.kinds.items())),
            elapsed_s=sum(self.captures[self._end(t)].time_ms - self.captures[t["start"]].time_ms for t in self.traces) / 1000,
        )

    @staticmethod
    def _end(trace: dict[str, Any]) -> str:
        end: str = trace["transitions"][-1]["target"] if trace["transitions"] else trace["start"]
        return end

    def _opened(self, step: int) -> BegunRecord:
        if self.open is None or self.open.step != step:
            raise FileFormatError(f"step {step} ends without having begun")
        return self.open


def write_record(record: Record) -> bytes:
    """One line: JSON in UTF-8, without what equals its default. A surrogate half becomes U+FFFD."""
    fields = record.model_dump(exclude_defaults=True)
    return orjson.dumps({"record": record.record, **fields} | _always(record)) + b"\n"


def _always(record: Record) -> dict[str, Any]:
    return {"format": record.format, "version": record.version} if isinstance(record, RecordingRecord) else {}


def read_records(content: bytes, *, where: str = "journal.jsonl") -> tuple[tuple[Record, ...], int]:
    """The records in a journal, and how many bytes of it are whole lines: what follows was cut in mid-write.

    Raises FileFormatError for a line that is damaged though others follow it, NewerFormat for a later version.
    """
    records: list[Record] = []
    whole = 0
    while whole < len(content):
        end = content.find(b"\n", whole)
        if end < 0:
            break
        line = content[whole:end]
        try:
            records.append(_read_line(line))
        except (orjson.JSONDecodeError, ValidationError) as e:
            if not content[end:].strip(b"\0\n"):
                break  # a disk that lost power may leave zeros or half a line with its end
            reason = str(e).splitlines()[0]
            raise FileFormatError(
                f"{where}: line {len(records) + 1} is damaged: {reason}",
                hint="it was edited or overwritten; delete the lines from there on, then --resume",
            ) from None
        whole = end + 1
    return tuple(records), whole


def _read_line(line: bytes) -> Record:
    obj = orjson.loads(line)
    if isinstance(obj, dict) and obj.get("format") == FORMAT and isinstance(obj.get("version"), int) and obj["version"] > VERSION:
        raise NewerFormat(
            f"the journal has version {obj['version']}; this phoneworld reads up to {VERSION}",
            hint="update phoneworld: pip install -U phoneworld",
        )
    return _ANY.validate_python(obj)


def tell_all(records: Iterable[Record]) -> Story:
    """The story that records tell."""
    story = Story()
    for record in records:
        story.tell(record)
    return story


def header(
    app: RecordedApp,
    device: DeviceInfo,
    *,
    serial: str,
    seed: int,
    steps: int,
    keep: bool,
    allow: Sequence[str],
    created: str,
    mode: str = "explore",
) -> RecordingRecord:
    """The first line of a journal."""
    model = {name: getattr(device, name) for name in DeviceModel.model_fields if name not in ("width", "height")}
    return RecordingRecord(
        app=AppModel(package=app.package, label=app.label, activity=app.activity, version=app.version),
        device=DeviceModel(width=device.size.width, height=device.size.height, **model),
        serial=serial,
        seed=seed,
        steps=steps,
        keep=keep,
        allow=list(allow),
        created=created,
        mode=mode,
    )


def tree_record(hierarchy: Hierarchy) -> TreeRecord:
    """A tree as it is stored, named by the hash of its text."""
    xml = write_hierarchy(hierarchy).decode("utf-8")
    return TreeRecord(sha=hashlib.sha256(xml.encode("utf-8")).hexdigest(), xml=xml)


def capture_record(capture: Capture, tree: str, *, retries: int = 0, retried: Sequence[str] = ()) -> CaptureRecord:
    """A capture as it is stored; `tree` is the hash of its tree, `retried` why something was asked for again."""
    state = capture.state
    return CaptureRecord(
        capture=CaptureModel(
            id=capture.id,
            tree=tree,
            width=capture.size.width,
            height=capture.size.height,
            screenshot=capture.screenshot,
            state=StateModel(**{name: getattr(state, name) for name in StateModel.model_fields}),
            time_ms=capture.time_ms,
            settled=capture.settled,
            tree_mode=capture.tree_mode,
            notes=list(capture.notes),
        ),
        retries=retries,
        retried=dict(Counter(retried)),
    )


def begun_record(step: int, source: str, action: Action, hit: Path | None, notes: Iterable[str] = ()) -> BegunRecord:
    """A step as it is stored before it is done."""
    return BegunRecord(
        step=step, source=source, action=action_to_json(action), hit=None if hit is None else list(hit), notes=list(notes)
    )
