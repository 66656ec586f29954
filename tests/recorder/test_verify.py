"""A recording checked against itself and against its journal: what holds, and that each kind of damage is found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from phoneworld.errors import FileFormatError
from phoneworld.graph.file import load_graph, save_graph
from phoneworld.graph.graph import StateGraph, Transition, Unfinished
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import Tap
from recorder.attribute import attribute
from recorder.folder import JournalFolder, journal_folder
from recorder.journal import (
    DoneRecord,
    Record,
    TraceRecord,
    UnfinishedRecord,
    begun_record,
    capture_record,
    header,
    tree_record,
    write_record,
)
from recorder.verify import verify_graph, verify_journal, verify_pictures


def sample() -> StateGraph:
    """The sample recording as if our recorder had made it, broken off in mid-step."""
    graph, _ = sample_graph()
    end = graph.captures[graph.traces[0].transitions[-1].target]
    hit = attribute(end.hierarchy, Tap(5, 5), end.size)
    first = replace(graph.traces[0], unfinished=Unfinished(Tap(5, 5), hit=hit, reason="interrupted"))
    traces = tuple(replace(t, seed=0) for t in (first, *graph.traces[1:]))
    return replace(graph, traces=traces, source="phoneworld record")


def journal_of(graph: StateGraph) -> list[Record]:
    """The journal that our recorder would have written of a graph."""
    records: list[Record] = [header(graph.app, graph.device, serial="x", seed=0, steps=9, keep=False, allow=(), created=graph.created)]
    trees: set[str] = set()
    for capture in graph.captures.values():
        tree = tree_record(capture.hierarchy)
        records += [] if tree.sha in trees else [tree]
        trees.add(tree.sha)
        records.append(capture_record(capture, tree.sha))
    number = 0
    for trace in graph.traces:
        records.append(TraceRecord(id=trace.id, start=trace.start, start_kind=trace.start_kind))
        at = trace.start
        for step in trace.transitions:
            number += 1
            records.append(begun_record(number, step.source, step.action, step.hit))
            records.append(DoneRecord(step=number, target=step.target, settle_ms=step.settle_ms))
            at = step.target
        if trace.unfinished:
            number += 1
            records.append(begun_record(number, at, trace.unfinished.action, trace.unfinished.hit))
            records.append(UnfinishedRecord(step=number, reason=trace.unfinished.reason))
    return records


def test_a_whole_recording_holds_with_its_pictures_and_its_journal() -> None:
    graph, pictures = sample(), sample_graph()[1]
    checked = verify_graph(graph).joined(verify_pictures(graph, pictures)).joined(verify_journal(graph, journal_of(graph)))
    steps = sum(1 for _ in graph.transitions())
    assert checked.holds and checked.agree["chain"] == checked.agree["time"] == steps
    assert checked.agree["hit"] + checked.unknown.get("hit", 0) == steps + 1
    assert checked.agree["picture"] == len(graph.captures)
    assert checked.agree["journal"] == len(graph.captures) + len(graph.traces) - 1 + steps + 1


def _step(graph: StateGraph, change: Callable[[Transition], Transition]) -> StateGraph:
    first = graph.traces[0]
    steps = (change(first.transitions[0]), *first.transitions[1:])
    return replace(graph, traces=(replace(first, transitions=steps), *graph.traces[1:]))


DAMAGES: dict[str, tuple[str, Callable[[StateGraph], StateGraph]]] = {
    "another node": ("hit", lambda g: _step(g, lambda t: replace(t, hit=(0,)))),
    "no node": ("hit", lambda g: _step(g, lambda t: replace(t, hit=None))),
    "another place": ("hit", lambda g: _step(g, lambda t: replace(t, action=Tap(900, 2250)))),
    "a chain that does not join": ("chain", lambda g: _step(g, lambda t: replace(t, target=list(g.captures)[-1]))),
    "time that goes back": (
        "time",
        lambda g: replace(g, captures=g.captures | {"c1": replace(g.captures["c1"], time_ms=1)}),
    ),
    "an action's outcome": ("journal", lambda g: _step(g, lambda t: replace(t, settle_ms=t.settle_ms + 1))),
    "a lost trace": ("journal", lambda g: replace(g, traces=g.traces[1:])),
    "a shorter trace": (
        "journal",
        lambda g: replace(g, traces=(*g.traces[:-1], replace(g.traces[-1], transitions=g.traces[-1].transitions[:-1]))),
    ),
    "a capture of its own": ("journal", lambda g: replace(g, captures=g.captures | {"x": replace(g.captures["c1"], id="x")})),
    "another state": ("journal", lambda g: replace(g, captures=g.captures | {"c2": replace(g.captures["c2"], settled=False)})),
    "another app": ("journal", lambda g: replace(g, app=replace(g.app, version="9"))),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_each_kind_of_damage_is_found(name: str) -> None:
    kind, damage = DAMAGES[name]
    graph = sample()
    damaged = damage(graph)
    checked = verify_graph(damaged).joined(verify_journal(damaged, journal_of(graph)))
    assert kind in {f.kind for f in checked.findings} and all(f.where and f.message for f in checked.findings)


def test_pictures_that_are_missing_damaged_or_of_another_size_are_found() -> None:
    graph, pictures = sample(), dict(sample_graph()[1])
    missing, *_ = pictures
    assert not verify_pictures(graph, {k: v for k, v in pictures.items() if k != missing}).holds
    assert not verify_pictures(graph, pictures | {missing: FileFormatError("damaged")}).holds
    assert not verify_pictures(graph, pictures | {missing: b"GIF"}).holds
    small = replace(graph, captures={k: replace(c, size=replace(c.size, width=c.size.width - 1)) for k, c in graph.captures.items()})
    assert len(verify_pictures(small, pictures).findings) == len(graph.captures)
    assert verify_pictures(graph, None).holds and verify_pictures(graph, None).unknown["picture"] == len(graph.captures)


def test_a_journal_that_contradicts_itself_is_a_finding_and_no_traceback() -> None:
    graph = sample()
    records = journal_of(graph)
    (finding,) = verify_journal(graph, [r for r in records if not isinstance(r, TraceRecord)]).findings
    assert finding.kind == "journal" and "begins at" in finding.message
    assert not verify_journal(graph, []).holds and not verify_journal(graph, records, cut=5).holds


def test_the_verb_joins_graph_pictures_and_journal(tmp_path: Path) -> None:
    graph, pictures = sample(), sample_graph()[1]
    file = tmp_path / "app.graph.json"
    save_graph(graph, file, pictures)
    folder = journal_folder(file)
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(b"".join(write_record(r) for r in journal_of(graph)))

    def verify(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "phoneworld.cli.main", "graph", "verify", str(file), *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    good = verify("--json")
    said = json.loads(good.stdout)
    assert good.returncode == 0 and said["holds"] and said["journal"] and said["agree"]["journal"]
    save_graph(DAMAGES["another node"][1](load_graph(file)), file, pictures)
    bad = verify()
    assert bad.returncode == 1 and "✗" in bad.stdout and "the hit test gives" in bad.stdout and "step 1 differs" in bad.stdout
    (folder / "journal.jsonl").write_bytes(b"{not json\n{}\n")
    damaged = verify()
    assert damaged.returncode == 3 and "damaged" in damaged.stderr and "Traceback" not in damaged.stderr


def test_a_recording_that_was_killed_is_written_from_its_journal_without_a_phone(tmp_path: Path) -> None:
    graph, pictures = sample(), sample_graph()[1]
    file = tmp_path / "app.graph.json"
    killed = JournalFolder.create(file)
    killed.append(journal_of(graph), pictures.values())
    with (journal_folder(file) / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"record":"done","st')  # in the middle of a write

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "phoneworld", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    held = run("graph", "verify", "--write", str(file))
    assert held.returncode == 5 and "another recorder" in held.stderr
    killed.close()
    missing = run("build", str(file))
    assert missing.returncode == 3 and f"graph verify --write {file}" in missing.stderr and "--resume" in missing.stderr
    written = run("graph", "verify", "--write", str(file))
    assert written.returncode == 0, written.stdout + written.stderr
    assert load_graph(file) == graph
    assert run("graph", "verify", "--write", str(file)).returncode == 0, "the pictures lie beside the graph by now"
    nothing = run("graph", "verify", "--write", str(tmp_path / "other.graph.json"))
    assert nothing.returncode == 3 and "other.journal" in nothing.stderr and "Traceback" not in nothing.stderr
