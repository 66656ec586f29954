"""A recording as a state machine: events in, commands out. It never touches a phone, a file or a clock.

    phase        takes                          gives
    ─────────    ────────────────────────────   ───────────────────────────────────────────────
    new          Begin                          journal the header; clear the app (or look, to go on)
    clearing     AppCleared                     open the app
    opening      Performed, Refused             look, or stop
    starting     Captured, NotCaptured          journal the trace, then the next step
    acting       Performed, Refused, Moved      look (or the next step, where nothing was done)
    settling     Captured, NotCaptured          journal the outcome, then the next step (or clear the app, to ask from there)
    stopped      nothing

A step is journalled as begun before the command that does it, and as done after its capture, so whatever kills the
recording in between is known afterwards. `Lost` and `StopAsked` are taken in every phase but `stopped`; an event that a
phase does not take raises and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from phoneworld.device.settle import Reading, sight_digest
from phoneworld.errors import RecordingError
from phoneworld.graph.graph import Capture, StartKind, StateGraph
from phoneworld.ui.action import Action, OpenApp, TypeText, Wait, kind_of
from phoneworld.ui.node import Hierarchy, Node, Path
from recorder.asking import Asking, StartOver
from recorder.attribute import attribute, focused_field
from recorder.explore import Choice, Memory, arrive, choose, classify, recall, refuse, remember
from recorder.journal import (
    DoneRecord,
    EndRecord,
    Record,
    RecordingRecord,
    RefusedRecord,
    ResumedRecord,
    Story,
    Summary,
    TraceRecord,
    UnfinishedRecord,
    begun_record,
)
from recorder.ledger import Ledger
from recorder.redact import Redactor
from recorder.safety import Guard
from recorder.words import password

Phase = Literal["new", "clearing", "opening", "starting", "acting", "settling", "stopped"]
Reason = Literal["finished", "interrupted", "device-lost", "gave-up"]
MAX_FAILURES = 3
MAX_OUTSIDE = 9
MAX_REFUSED = 20
"""So many more refused steps than asked-for ones, and the phone is given up."""
WAIT_MS = 500
MOVED = "not done: the screen changed by itself before it"


# ---- events: what happened


@dataclass(frozen=True, slots=True)
class Begin:
    """Start, or go on with what is behind."""


@dataclass(frozen=True, slots=True)
class AppCleared:
    """The app is as after its installation."""


@dataclass(frozen=True, slots=True)
class Performed:
    """The input was injected."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The phone refused the action and did nothing."""

    message: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Nothing was done: the screen was no longer the one that the action was chosen on (a toast left, a timer fired)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The phone failed in the middle of an action: it may have done it or not."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Captured:
    """The screen was read, at `time_ms` of Unix time."""

    reading: Reading
    time_ms: int


@dataclass(frozen=True, slots=True)
class NotCaptured:
    """No tree could be had within the budget."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The phone went away."""

    message: str


@dataclass(frozen=True, slots=True)
class StopAsked:
    """The person asks for an end, or the time is up (`finished`): the running step is finished first."""

    reason: Reason = "interrupted"


Event = Begin | AppCleared | Performed | Refused | Moved | Failed | Captured | NotCaptured | Lost | StopAsked


# ---- commands: what to do next, in order


@dataclass(frozen=True, slots=True)
class ClearApp:
    package: str


@dataclass(frozen=True, slots=True)
class Perform:
    """Do an action, where the tree is still the `expected` one (a `sight_digest`) or nothing is expected."""

    action: Action
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """Wait until the screen is at rest and read it. `before` is the tree before the action, `calm` see `settle`."""

    before: Hierarchy | None = None
    calm: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Write:
    """Put pictures and then records on the disk, so that they survive a power cut, before anything else is done."""

    records: tuple[Record, ...]
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    reason: Reason
    message: str = ""


Command = ClearApp | Perform | Look | Write | Stop


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a recording stands; `words` says what is being done now, `stale` for how many steps nothing new was found."""

    step: int
    steps: int
    words: str
    why: str
    summary: Summary
    stale: int = 0


@dataclass(slots=True)
class Session:
    """One recording. `receive` is the only way in; what it returns must be carried out in order."""

    header: RecordingRecord
    guard: Guard = field(default_factory=Guard)
    redactor: Redactor = field(default_factory=Redactor)
    story: Story = field(default_factory=Story)
    memory: Memory = field(default_factory=Memory)
    asking: Asking | None = None
    phase: Phase = "new"
    here: Capture | None = None
    raw: Hierarchy | None = None
    choice: Choice | None = None
    calm: frozenset[str] = frozenset()
    failures: int = 0
    stopping: bool = False
    ending: Reason = "interrupted"
    resumed_at: str = ""
    _start_kind: StartKind = "unknown"
    _ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self._ledger = Ledger(self.story, self.redactor)

    @classmethod
    def resume(cls, story: Story, graph: StateGraph, *, steps: int, guard: Guard, redactor: Redactor, created: str) -> Session:
        """The session that goes on after a journal. `graph` is what the journal amounts to; `steps` the new total."""
        if story.header is None:
            raise RecordingError("the journal is empty: nothing was recorded yet", hint="record again without --resume")
        app, seed = story.header.app.package, story.header.seed
        memory = recall(graph, app=app, guard=guard)
        # Passwords are not in the journal; they follow from the seed, so that they can still be kept out of what comes.
        for number in range(memory.texts):
            redactor.secrets.add(password(seed, number))
        for text in memory.typed:
            redactor.made_up(text)
        header = story.header.model_copy(update={"steps": steps})
        return cls(header, guard, redactor, story, memory, resumed_at=created)

    @property
    def app(self) -> str:
        return self.header.app.package

    def receive(self, event: Event) -> tuple[Command, ...]:
        """What to do after an event. Raises RecordingError for an event that this phase does not take."""
        match self.phase, event:
            case "stopped", _:
                raise RecordingError(f"a recording that has stopped takes no {type(event).__name__}")
            case _, StopAsked(reason):
                self.stopping, self.ending = True, reason
                return ()
            case _, Lost(message):
                return self._stop("device-lost", message)
            case "new", Begin():
                return self._begin()
            case "clearing", AppCleared():
                return self._open()
            case "opening", Performed():
                return self._look("starting", None)
            case "opening", Refused(message):
                return self._stop("gave-up", message)
            case "opening" | "starting", NotCaptured(code, message) | Failed(code, message):
                return self._start_failed(code, message)
            case "starting", Captured(reading, time_ms):
                return self._start_trace(reading, time_ms)
            case "acting", Performed():
                return self._look("settling", self.raw)
            case "acting", Refused(message):
                return self._refused(message)
            case "acting", Moved():
                return self._moved()
            case "acting" | "settling", NotCaptured(code, message) | Failed(code, message):
                return self._unfinished(code, message)
            case "settling", Captured(reading, time_ms):
                return self._done(reading, time_ms)
            case _:
                raise RecordingError(f"a recording that is {self.phase} takes no {type(event).__name__}")

    def progress(self) -> Progress:
        """Where the recording stands."""
        words = self._words(self.choice) if self.choice is not None else self.phase
        return Progress(
            self.story.counted, self.header.steps, words, self.choice.why if self.choice else "", self.summary(), self.memory.stale
        )

    def summary(self, story: Story | None = None) -> Summary:
        """The figures so far, or those of the journal as it was read back, with what exploring knows."""
        tried, offered = self.memory.tried_of_offered
        return replace(
            (story or self.story).summary(), screens=self.memory.screens, skipped=len(self.memory.skipped), tried=tried, offered=offered
        )

    # ---- starting

    def _begin(self) -> tuple[Command, ...]:
        if self.resumed_at:
            self._tell(ResumedRecord(created=self.resumed_at, steps=self.header.steps))
            self._start_kind = "kept"
            return (*self._flush(), *self._look("starting", None))
        self._tell(self.header)
        if self.header.keep:
            self._start_kind = "kept"
            return (*self._flush(), *self._open())
        return self._cleared()

    def _cleared(self) -> tuple[Command, ...]:
        """A trace from cleared data is next."""
        self._start_kind = "fresh"
        self.phase = "clearing"
        return (*self._flush(), ClearApp(self.app))

    def _open(self) -> tuple[Command, ...]:
        self.phase = "opening"
        return (Perform(OpenApp(self.app)),)

    def _look(self, phase: Phase, before: Hierarchy | None) -> tuple[Command, ...]:
        self.phase = phase
        return (Look(before, self.calm),)

    def _start_trace(self, reading: Reading, time_ms: int) -> tuple[Command, ...]:
        capture = self._keep(reading, time_ms)
        self._tell(TraceRecord(id=f"t{len(self.story.traces) + 1}", start=capture.id, start_kind=self._start_kind))
        if self.asking is not None:
            self.asking.begin_trace(is_fresh=self._start_kind == "fresh")
        self._start_kind = "kept"
        self.memory = arrive(self.memory, capture, app=self.app, guard=self.guard)
        return self._next(capture, reading)

    def _start_failed(self, code: str, message: str) -> tuple[Command, ...]:
        self.failures += 1
        if self.failures >= MAX_FAILURES:
            return self._stop("gave-up", f"the screen could not be captured {self.failures} times in a row: {code}: {message}")
        return self._open() if self.failures > 1 else self._look("starting", None)

    # ---- stepping

    def _next(self, capture: Capture, reading: Reading) -> tuple[Command, ...]:
        self.failures = 0
        self.here, self.raw = capture, reading.hierarchy
        if not reading.settled:
            # A progress bar that outlasts the whole wait is part of the screen: it does not cost the limit every time.
            self.calm |= reading.busy
        if self.stopping:
            return self._stop(self.ending)
        if self.story.counted >= self.header.steps:
            return self._stop("finished")
        if self.story.refused > MAX_REFUSED + self.header.steps:
            return self._stop("gave-up", f"{self.app} or its phone refused {self.story.refused} steps")
        if self.memory.outside > MAX_OUTSIDE:
            return self._stop("gave-up", f"{self.app} does not come to the front any more")
        choice: Choice | None = None
        if self.asking is not None:
            match self.asking.next(capture, number=self.memory.texts):
                case StartOver():
                    return self._cleared()
                case Choice() as asked:
                    choice = replace(classify(capture, asked.action, asked.path), why=asked.why)
                case None if self.asking.mix <= 0:
                    return self._stop("finished")
        choice = choice or choose(
            capture, self.memory, app=self.app, seed=self.header.seed, step=self.story.begun + 1, guard=self.guard
        )
        return self._act(capture, choice, expected=sight_digest(reading.hierarchy))

    def _act(self, capture: Capture, choice: Choice, *, expected: str = "") -> tuple[Command, ...]:
        hit = attribute(capture.hierarchy, choice.action, capture.size)
        self.choice = replace(choice, path=hit)
        target = None if hit is None else capture.hierarchy.at(hit)
        if isinstance(choice.action, TypeText) and not (target is not None and target.password):
            self.redactor.made_up(choice.action.text)
        stored = self.redactor.action(choice.action, target)
        notes = ("redacted",) if stored != choice.action else ()
        self._tell(begun_record(self.story.begun + 1, capture.id, stored, hit, notes))
        self.phase = "acting"
        return (*self._flush(), Perform(choice.action, expected))

    def _done(self, reading: Reading, time_ms: int) -> tuple[Command, ...]:
        source, choice = self._standing()
        on_the_way = [self._keep(t, time_ms).id for t in reading.transients]
        target = self._keep(reading, time_ms)
        notes = read_back(choice, source, reading.hierarchy)
        step = self.story.begun
        self._tell(DoneRecord(step=step, target=target.id, settle_ms=reading.waited_ms, transients=on_the_way, notes=list(notes)))
        self.memory = remember(self.memory, source, choice, target, app=self.app, guard=self.guard)
        if self.asking is not None:
            self.asking.learn(source, choice.action, target)
        return self._next(target, reading)

    def _refused(self, message: str) -> tuple[Command, ...]:
        source, choice = self._standing()
        self._tell(RefusedRecord(step=self.story.begun, message=self.redactor.text(message)))
        self.memory = refuse(self.memory, source, choice, app=self.app)
        if self.asking is not None:
            self.asking.refused()
        assert self.raw is not None
        return self._next(source, Reading(self.raw, b"", source.state, True, 0))

    def _moved(self) -> tuple[Command, ...]:
        """What the screen did by itself is a step of its own: a wait."""
        source, _ = self._standing()
        self._tell(RefusedRecord(step=self.story.begun, message=MOVED))
        if self.asking is not None:
            self.asking.not_done()
        return self._act(source, Choice(Wait(WAIT_MS), "wait", why="the screen moved"))

    def _unfinished(self, code: str, message: str) -> tuple[Command, ...]:
        """The outcome is not known: the trace ends, and a new one begins from a fresh capture."""
        _, choice = self._standing()
        self._tell(UnfinishedRecord(step=self.story.begun, reason=code, message=self.redactor.text(message)))
        self.memory = replace(self.memory, texts=self.memory.texts + isinstance(choice.action, TypeText))
        if self.stopping:
            return self._stop(self.ending)
        return (*self._flush(), *self._look("starting", None))

    def _stop(self, reason: Reason, message: str = "") -> tuple[Command, ...]:
        message = self.redactor.text(message)
        if self.story.open is not None:
            self._tell(UnfinishedRecord(step=self.story.open.step, reason=reason, message=message))
        if self.story.header is not None:
            self._tell(EndRecord(reason=reason, message=message, redacted=dict(sorted(self.redactor.kinds.items()))))
        self.phase = "stopped"
        return (*self._flush(), Stop(reason, message))

    # ---- keeping

    def _keep(self, reading: Reading, time_ms: int) -> Capture:
        return self._ledger.keep(reading, time_ms, app=self.app)

    def _tell(self, record: Record) -> None:
        self._ledger.tell(record)

    def _flush(self) -> tuple[Command, ...]:
        records, pictures = self._ledger.flush()
        return (Write(records, pictures),) if records else ()

    def _standing(self) -> tuple[Capture, Choice]:
        assert self.here is not None and self.choice is not None
        return self.here, self.choice

    def _words(self, choice: Choice) -> str:
        name = kind_of(choice.action).replace("_", " ")
        about = choice.instance or choice.action_class.partition(" ")[2]
        return self.redactor.text(f"{name} {about}".strip())[:60]


def read_back(choice: Choice, source: Capture, after: Hierarchy) -> tuple[str, ...]:
    """What is wrong with typed text: `text-not-read-back` where the field is still there and does not hold it."""
    if not isinstance(choice.action, TypeText) or choice.path is None:
        return ()
    before = source.hierarchy.at(choice.path)
    field = _field_after(after, choice.path, before)
    if field is None:
        return ()
    text, was = choice.action.text, before.value if choice.action.mode == "append" else ""
    if field.password:
        return () if len(field.value) >= len(text) else ("text-not-read-back",)
    return () if text in field.value and len(field.value) >= len(was) + len(text) else ("text-not-read-back",)


def _field_after(after: Hierarchy, path: Path, before: Node) -> Node | None:
    """The same field in the tree after the action: the one with the focus, else the one at its place with its id."""
    focus = focused_field(after)
    candidates: Sequence[Path] = [p for p in (focus, path) if p is not None]
    for place in candidates:
        try:
            node = after.at(place)
        except IndexError:
            continue
        if node.is_editable and node.resource_id == before.resource_id and node.class_name == before.class_name:
            return node
    return None

