"""A recording checked against itself: everything in it that follows from the rest is worked out again. Pure.

From the graph: the node each action was attributed to (by the one hit test, see `attribute`), whether transitions join,
whether time goes forwards. From the pictures: their hashes and sizes. From the journal, where it stands beside: the graph that
it tells, trace by trace and capture by capture, and that no step begins where none stands. What cannot be worked out again
(what a log without trees hit) is counted, not passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from phoneworld.device.png import find_png
from phoneworld.errors import CaptureFailed, FileFormatError, PhoneWorldError
from phoneworld.graph.graph import Capture, StateGraph, Transition
from phoneworld.ui.action import Clear, Tap, TypeText, kind_of, points_of
from recorder.attribute import attribute
from recorder.journal import Record, tell_all

Kind = Literal["hit", "chain", "time", "picture", "journal"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not agree: where, what is written, what follows from the rest."""

    kind: Kind
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome. `agree` counts what was worked out again and is as written, `unknown` what cannot be, by kind."""

    findings: tuple[Finding, ...] = ()
    agree: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """True where nothing contradicts itself."""
        return not self.findings

    def joined(self, other: Checked) -> Checked:
        """Both together."""
        return Checked(
            self.findings + other.findings,
            dict(Counter(self.agree) + Counter(other.agree)),
            dict(Counter(self.unknown) + Counter(other.unknown)),
        )


def verify_graph(graph: StateGraph) -> Checked:
    """Hits, chains and times of a graph."""
    findings: list[Finding] = []
    agree: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for trace in graph.traces:
        at = trace.start
        clock = graph.captures[at].time_ms
        for i, step in enumerate(trace.transitions):
            where = f"{trace.id} step {i + 1}"
            source = graph.captures[step.source]
            if step.source == at:
                agree["chain"] += 1
            else:
                findings.append(Finding("chain", where, f"it starts at {step.source}, the one before ended at {at}"))
            at = step.target
            _check_hit(step, source, where, findings, agree, unknown)
            now = graph.captures[step.target].time_ms
            if not now or not clock:
                unknown["time"] += 1
            elif now < clock:
                findings.append(Finding("time", where, f"{step.target} was captured {clock - now} ms before {step.source}"))
            else:
                agree["time"] += 1
            clock = now or clock
        if trace.unfinished is not None:
            open_ = Transition(at, trace.unfinished.action, at, hit=trace.unfinished.hit)
            _check_hit(open_, graph.captures[at], f"{trace.id} unfinished", findings, agree, unknown)
    return Checked(tuple(findings), dict(agree), dict(unknown))


def _check_hit(
    step: Transition, source: Capture, where: str, findings: list[Finding], agree: Counter[str], unknown: Counter[str]
) -> None:
    if "no-tree" in source.notes or "place-unknown" in step.notes or "meant-another-node" in step.notes:
        unknown["hit"] += 1
        return
    derived = attribute(source.hierarchy, step.action, source.size)
    if derived == step.hit:
        agree["hit"] += 1
        return
    without_place = not points_of(step.action)
    if step.hit is None and (without_place or isinstance(step.action, TypeText | Clear)):
        unknown["hit"] += 1  # an importer says nothing of the field that has the focus
        return
    words = "nothing" if step.hit is None else f"node {list(step.hit)}"
    found = "nothing" if derived is None else f"node {list(derived)} ({_named(source, derived)})"
    place = f" at {points_of(step.action)[0].x}, {points_of(step.action)[0].y}" if isinstance(step.action, Tap) else ""
    findings.append(Finding("hit", where, f"{kind_of(step.action)}{place} is attributed to {words}; the hit test gives {found}"))


def _named(source: Capture, path: tuple[int, ...]) -> str:
    node = source.hierarchy.at(path)
    return node.resource_id.rpartition("/")[2] or node.label[:40] or node.class_name.rpartition(".")[2]


def verify_pictures(graph: StateGraph, pictures: Mapping[str, bytes | PhoneWorldError] | None) -> Checked:
    """Each picture as it lies on the disk: bytes whose hash was checked, or the error of reading them.

    None where the graph stands without any picture, as a shipped one does whose bundle holds them: nothing can be said then.
    """
    findings: list[Finding] = []
    agree = unknown = 0
    for capture in graph.captures.values():
        if capture.screenshot is None or pictures is None:
            unknown += 1
            continue
        found = pictures.get(capture.screenshot)
        if found is None or isinstance(found, PhoneWorldError):
            findings.append(Finding("picture", capture.id, found.message if found else f"{capture.screenshot[:12]}… was not read"))
            continue
        size = _size(found)
        if size is None:
            findings.append(Finding("picture", capture.id, "its picture is no PNG"))
        elif size != (capture.size.width, capture.size.height):
            findings.append(
                Finding("picture", capture.id, f"its picture is {size[0]}x{size[1]}, its screen {capture.size.width}x{capture.size.height}")
            )
        else:
            agree += 1
    return Checked(tuple(findings), {"picture": agree} if agree else {}, {"picture": unknown} if unknown else {})


def _size(png: bytes) -> tuple[int, int] | None:
    try:
        size = find_png(png).size
    except CaptureFailed:
        return None
    return size.width, size.height


def verify_journal(graph: StateGraph, records: Iterable[Record], *, cut: int = 0) -> Checked:
    """The graph against the one that its journal tells; `cut` is how many bytes of the journal are no whole line."""
    findings: list[Finding] = []
    if cut:
        findings.append(Finding("journal", "its end", f"{cut} bytes are no whole line: it was cut in mid-write"))
    try:
        told = tell_all(records).graph()
    except FileFormatError as e:
        return Checked((*findings, Finding("journal", "as a whole", e.message)))
    agree = 0
    for what, written, derived in (
        ("app", graph.app, told.app),
        ("device", graph.device, told.device),
        ("source", graph.source, told.source),
    ):
        if written != derived:
            findings.append(Finding("journal", what, f"the graph says {written}, its journal {derived}"))
    for name in dict.fromkeys((*told.captures, *graph.captures)):
        a, b = graph.captures.get(name), told.captures.get(name)
        if a == b:
            agree += 1
        elif a is None or b is None:
            findings.append(Finding("journal", name, f"the capture is in the {'journal' if a is None else 'graph'} only"))
        else:
            parts = [f for f in Capture.__dataclass_fields__ if getattr(a, f) != getattr(b, f)]
            findings.append(Finding("journal", name, f"graph and journal differ in {', '.join(parts)}"))
    ours, theirs = {t.id: t for t in graph.traces}, {t.id: t for t in told.traces}
    for name in dict.fromkeys((*theirs, *ours)):
        if name not in ours or name not in theirs:
            findings.append(Finding("journal", name, f"the trace is in the {'journal' if name not in ours else 'graph'} only"))
            continue
        written_trace, told_trace = ours[name], theirs[name]
        if written_trace == told_trace:
            agree += 1 + len(written_trace.transitions)
            continue
        steps = zip(written_trace.transitions, told_trace.transitions, strict=False)
        at = next((i for i, (a, b) in enumerate(steps, 1) if a != b), 0)
        lengths = len(written_trace.transitions), len(told_trace.transitions)
        what = (
            f"step {at} differs"
            if at
            else f"the graph has {lengths[0]} steps, the journal {lengths[1]}"
            if lengths[0] != lengths[1]
            else "start or end differ"
        )
        findings.append(Finding("journal", name, what))
    return Checked(tuple(findings), {"journal": agree} if agree else {})
