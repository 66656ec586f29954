"""What a recording keeps, whoever drives it: readings as captures without secrets, records for the journal. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from phoneworld.device.settle import Reading
from phoneworld.graph.graph import Capture
from recorder.journal import BegunRecord, Record, RecordingRecord, Story, TraceRecord, capture_record, tree_record
from recorder.redact import TEXTS_OF_ACTIONS, Redactor
from recorder.windows import window_notes


@dataclass(slots=True)
class Ledger:
    """Notes records for the next write, and tells them to the story at once."""

    story: Story = field(default_factory=Story)
    redactor: Redactor = field(default_factory=Redactor)
    _records: list[Record] = field(default_factory=list)
    _pictures: list[bytes] = field(default_factory=list)

    def keep(self, reading: Reading, time_ms: int, *, app: str, notes: tuple[str, ...] = ()) -> Capture:
        """A reading as a capture without secrets; its tree, picture and record are noted for the next write."""
        clean = self.redactor.hierarchy(reading.hierarchy)
        png = self.redactor.picture(reading.screenshot, clean.covered)
        capture = Capture(
            id=f"c{len(self.story.captures) + 1}",
            hierarchy=clean.hierarchy,
            size=reading.size,
            screenshot=hashlib.sha256(png).hexdigest() if png else None,
            state=reading.state,
            time_ms=time_ms,
            settled=reading.settled,
            tree_mode="compressed" if ("compressed", "true") in clean.hierarchy.attributes else "full",
            notes=(*reading.notes, *notes, *window_notes(reading.hierarchy, app), *(("redacted",) if clean.changed else ())),
        )
        tree = tree_record(capture.hierarchy)
        if tree.sha not in self.story.trees:
            self.tell(tree)
        if png:
            self._pictures.append(png)
        self.tell(capture_record(capture, tree.sha, retries=reading.retries, retried=reading.retried))
        return capture

    def tell(self, record: Record) -> None:
        """Takes one record in. Raises FileFormatError where it cannot follow on what was told before; then nothing is noted."""
        if isinstance(record, RecordingRecord):
            record = self._clean(record)
        self.story.tell(record)
        self._records.append(record)

    def clean(self, records: Iterable[Record]) -> tuple[Record, ...]:
        """Records as they may be stored by what is known now: a password may have stood in an instruction before it was typed."""
        return tuple(self._clean(record) for record in records)

    def flush(self) -> tuple[tuple[Record, ...], tuple[bytes, ...]]:
        """The records and pictures since the last call, in order."""
        records, pictures = tuple(self._records), tuple(self._pictures)
        self._records, self._pictures = [], []
        return records, pictures

    def _clean(self, record: Record) -> Record:
        match record:
            case RecordingRecord():  # the name of a web app is its page's title
                name = self.redactor.text(record.app.label)
                return record if name == record.app.label else record.model_copy(update={"app": record.app.model_copy(update={"label": name})})
            case TraceRecord():
                words = self.redactor.text(record.instruction)
                return record if words == record.instruction else record.model_copy(update={"instruction": words})
            case BegunRecord():
                told = {name: self.redactor.text(words) if name in TEXTS_OF_ACTIONS else words for name, words in record.action.items()}
                return record if told == record.action else record.model_copy(update={"action": told})
        return record
