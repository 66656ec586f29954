"""A recording whose steps somebody else does: a person in the mirror or on the phone, an agent over adb.

It keeps what the exploring session keeps, in the same journal: a trace stands at a capture, a step is written as begun before
it is done and as done after its capture. A `Driven` belongs to one thread, the one that may use the phone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Literal

from phoneworld.device.device import Device
from phoneworld.device.settle import Reading, settle, sight_digest
from phoneworld.errors import RecordingError
from phoneworld.graph.graph import Capture, RecordedApp, StartKind
from phoneworld.graph.identity import features, same_screen
from phoneworld.ui.action import Action, Wait
from phoneworld.ui.node import Hierarchy
from recorder.attribute import attribute
from recorder.explore import Choice, recall
from recorder.folder import JournalFolder
from recorder.journal import (
    DoneRecord,
    EndRecord,
    RefusedRecord,
    ResumedRecord,
    Story,
    TraceRecord,
    UnfinishedRecord,
    begun_record,
    header,
    tell_all,
)
from recorder.ledger import Ledger
from recorder.redact import redactor_of
from recorder.run import Recorded, installed, now
from recorder.safety import Guard
from recorder.session import WAIT_MS, Reason, read_back

Mode = Literal["mirror", "touch", "attach"]


class Driven:
    """One recording; `here` is the capture at which the trace stands, `reading` what was read then, with its secrets."""

    def __init__(self, device: Device, journal: JournalFolder, ledger: Ledger, app: str, look: Callable[[Hierarchy | None], Reading]) -> None:
        self.device = device
        self.app = app
        self.here: Capture | None = None
        self.reading: Reading | None = None
        self._look = look
        self._journal = journal
        self._ledger = ledger
        self._secrets = ledger.redactor.known
        self._acting: tuple[Choice, Capture] | None = None
        self._stood_at: deque[Capture] = deque(maxlen=50)

    @classmethod
    def open(
        cls,
        device: Device,
        app: str,
        out: FilePath | str,
        *,
        mode: Mode,
        force: bool = False,
        resume: bool = False,
        redact: Iterable[str] = (),
        redact_personal: bool = True,
        look: Callable[[Hierarchy | None], Reading] | None = None,
    ) -> Driven:
        """Begins a journal for what is done on this phone, or goes on with the one beside `out`. Raises RecordingError."""
        redactor = redactor_of(redact, personal=redact_personal)
        ledger = Ledger(Story(), redactor)
        known = None if resume else installed(device, app)
        journal = JournalFolder.open(FilePath(out)) if known is None else JournalFolder.create(FilePath(out), force=force)
        redactor.salt = journal.salt()
        if known is None:
            ledger.story = tell_all(journal.read())
            if ledger.story.header is None:
                raise RecordingError("the journal is empty: nothing was recorded yet", hint="record again with --force instead of --resume")
            if app and app != ledger.story.header.app.package:
                raise RecordingError(f"that recording is of {ledger.story.header.app.package}, not of {app}", hint="give another -o")
            installed(device, ledger.story.header.app.package, recorded_on=ledger.story.header.serial)
            ledger.tell(ResumedRecord(created=now()))
        else:
            ledger.tell(
                header(
                    RecordedApp(known.package, known.label, known.activity), device.info, serial=device.serial, seed=0, steps=0, keep=True,
                    allow=(), created=now(), mode=mode,
                )
            )  # fmt: skip
        assert ledger.story.header is not None
        driven = cls(device, journal, ledger, ledger.story.header.app.package, look or (lambda before: settle(device, before=before)))
        driven._write()
        return driven

    @property
    def steps(self) -> int:
        """Steps begun so far."""
        return self._ledger.story.begun

    @property
    def recorded(self) -> int:
        """Steps whose outcome is known, as the summary counts them."""
        return sum(len(trace["transitions"]) for trace in self._ledger.story.traces)

    @property
    def in_trace(self) -> bool:
        """True while what is done is recorded."""
        return self.here is not None

    def look(self, before: Hierarchy | None = None) -> Reading:
        """The screen once it is at rest. Raises CaptureFailed, DeviceLost."""
        return self._look(before)

    def stands(self, tree: Hierarchy) -> bool:
        """True where a tree is still the one at which the trace stands."""
        return self.reading is not None and sight_digest(tree) == sight_digest(self.reading.hierarchy)

    def was_here_before(self, reading: Reading) -> bool:
        """True where this screen is not the one at which the trace stands, but one that it stood at earlier."""
        here = self._standing()
        now = features(replace(here, hierarchy=reading.hierarchy, size=reading.size, state=reading.state))
        if same_screen(now, features(here)):
            return False
        return any(same_screen(now, features(capture)) for capture in self._stood_at)

    # ---- traces

    def start_trace(self, reading: Reading, *, instruction: str = "", kind: StartKind = "kept", notes: tuple[str, ...] = ()) -> None:
        """A trace begins here; one that is open ends."""
        self.stop_trace()
        story = self._ledger.story
        capture = self._keep(reading, notes)
        name = f"t{len(story.traces) + 1}"
        words = self._ledger.redactor.text(instruction.strip())
        self._ledger.tell(TraceRecord(id=name, start=capture.id, start_kind=kind, instruction=words))
        self.here, self.reading = capture, reading
        self._stood_at.clear()
        self._write()

    def stop_trace(self) -> None:
        """What is done from now on is not recorded. A step in mid-air is unfinished."""
        if self._acting is not None:
            self.unfinished("interrupted", "")
        self.here = self.reading = None

    # ---- steps

    def begin(self, action: Action, notes: tuple[str, ...] = ()) -> None:
        """Writes a step down before it is done, or, where a person's finger was faster, before its outcome is read."""
        here = self._standing()
        hit = attribute(here.hierarchy, action, here.size)
        # As the phone showed it: the stored tree holds placeholders, and what is typed is added to what they stand for.
        shown = here.hierarchy if self.reading is None else self.reading.hierarchy
        target = None if hit is None else shown.at(hit)
        stored = self._ledger.redactor.action(action, target)
        if stored != action:
            notes = (*notes, "redacted")
        self._ledger.tell(begun_record(self.steps + 1, here.id, stored, hit, notes))
        self._acting = (Choice(action, "", path=hit), here)
        self._write()

    def done(self, reading: Reading, notes: tuple[str, ...] = ()) -> Capture:
        """Writes the outcome of the step down; the trace stands there now."""
        assert self._acting is not None
        choice, source = self._acting
        time_ms = _time_ms()
        on_the_way = [self._keep(t, (), time_ms).id for t in reading.transients]
        target = self._keep(reading, (), time_ms)
        missing = read_back(choice, source, reading.hierarchy)
        self._ledger.tell(
            DoneRecord(step=self.steps, target=target.id, settle_ms=reading.waited_ms, transients=on_the_way, notes=[*notes, *missing])
        )
        self._stood_at.append(source)
        self._acting, self.here, self.reading = None, target, reading
        self._write()
        return target

    def refused(self, message: str) -> None:
        """Nothing was done: the phone refused."""
        self._ledger.tell(RefusedRecord(step=self.steps, message=self._ledger.redactor.text(message)))
        self._acting = None
        self._write()

    def unfinished(self, reason: str, message: str) -> None:
        """The outcome of the step is not known: the trace ends."""
        if self._acting is not None:
            self._ledger.tell(UnfinishedRecord(step=self.steps, reason=reason, message=self._ledger.redactor.text(message)))
            self._acting = None
            self._write()
        self.here = self.reading = None

    def moved(self, reading: Reading) -> None:
        """What the screen did by itself since the last step is a step of its own: a wait."""
        if not self.stands(reading.hierarchy):
            self.begin(Wait(WAIT_MS), ("by-itself",))
            self.done(reading)

    # ---- the end

    def finish(self, reason: Reason = "finished", message: str = "") -> Recorded:
        """Writes the graph and lets the journal go. Raises RecordingError where nothing was recorded."""
        try:
            self.stop_trace()
            redactor = self._ledger.redactor
            kinds = dict(sorted(redactor.kinds.items()))
            self._ledger.tell(EndRecord(reason=reason, message=redactor.text(message), redacted=kinds))
            self._write()
            story = tell_all(self._journal.read())
            if not story.traces:
                raise RecordingError(message or "nothing was recorded: no trace was started", hint="record again with --force")
            graph = story.graph()
            self._journal.write_graph(graph)
            screens = recall(graph, app=self.app, guard=Guard()).screens
            return Recorded(graph, self._journal.out, reason, message, replace(story.summary(), screens=screens))
        finally:
            self.close()

    def close(self) -> None:
        """Lets the journal go; what was written stays. May be called twice."""
        self._journal.close()

    def _standing(self) -> Capture:
        if self.here is None:
            raise RecordingError("no trace is open", hint="start one first")
        return self.here

    def _keep(self, reading: Reading, notes: tuple[str, ...], time_ms: int | None = None) -> Capture:
        return self._ledger.keep(reading, _time_ms() if time_ms is None else time_ms, app=self.app, notes=notes)

    def _write(self) -> None:
        if (known := self._ledger.redactor.known) > self._secrets:
            self._secrets = known
            self._journal.clean(self._ledger.clean)
        self._journal.append(*self._ledger.flush())


def _time_ms() -> int:
    return round(time.time() * 1000)
