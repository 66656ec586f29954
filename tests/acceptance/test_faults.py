"""Recordings over the real adb program from a phone with every fault at 5 %: nothing is lost, and nothing is made up.

The phone writes down what it truly showed at each dump and screenshot; each capture of the recording is held against that.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from phoneworld.cli.exits import UNCAPTURED
from phoneworld.device.faults import KNOBS, tree_name
from phoneworld.graph.file import load_graph
from phoneworld.graph.graph import Capture, StateGraph
from recorder.folder import journal_folder
from recorder.journal import read_records
from tests.adbd.fixtures import needs_adb
from tests.webapps import ROOT, served, todomvc

PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]
FAULTLAB = ROOT / "examples" / "webapps" / "faultlab"
FAULTS = "all=0.05,idle=0.05:0.3,slow-screencap=0.05:0.3,late-settle=0.05:0.6"
SLACK_MS = 50
"""Host and phone read the same clock, but the recorder rounds on its own."""


@contextmanager
def phone(url: str, truth: Path, *, faults: str, seed: int) -> Iterator[str]:
    """The serial of a web page behind adb, with those faults, writing its truth."""
    words = [
        "phone", f"web:{url}", "--adb", "0", "--size", "540x1200", "--density", "240", "--fault", faults,
        "--fault-seed", str(seed), "--truth", str(truth), "--json",
    ]  # fmt: skip
    process = subprocess.Popen([*PHONEWORLD, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["serial"]
    finally:
        process.terminate()
        process.wait(30)


def record(serial: str, out: Path, steps: int, seed: int) -> dict[str, Any]:
    """The summary of a recording that must have come to its end."""
    words = ["record", "--device", serial, "--steps", str(steps), "--seed", str(seed), "--allow", "all", "-o", str(out), "--json"]
    done = subprocess.run([*PHONEWORLD, *words], capture_output=True, text=True, timeout=1800)
    assert done.returncode in (0, UNCAPTURED), done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["reason"] == "finished"
    return told


@dataclass(slots=True)
class Verdict:
    """How a recording compares with the truth: captures that are true, marked as incomplete, and made up."""

    true: int = 0
    marked: Counter[str] = field(default_factory=Counter)
    made_up: list[str] = field(default_factory=list)


def marks(capture: Capture) -> list[str]:
    """What says of a capture that it is not the whole truth."""
    return [n for n in capture.notes if n in ("unsettled", "picture-only")] + (["compressed"] if capture.tree_mode == "compressed" else [])


def compare(graph: StateGraph, truth: list[dict[str, Any]]) -> Verdict:
    """Each capture against what the phone showed between the capture before it and itself."""
    verdict, since_ms = Verdict(), 0
    ends = [c for trace in graph.traces for c in trace.captures]
    for name in ends:
        capture = graph.captures[name]
        shown = {row["tree"] for row in truth if since_ms - SLACK_MS <= row["time_ms"] <= capture.time_ms + SLACK_MS and "tree" in row}
        if tree_name(capture.hierarchy) in shown:
            verdict.true += 1
        elif why := marks(capture):
            verdict.marked.update(why)
        else:
            verdict.made_up.append(name)
        since_ms = capture.time_ms
    # What was seen on the way must have been shown some time before.
    for name, capture in graph.captures.items():
        if name in ends:
            continue
        shown = {row["tree"] for row in truth if row["time_ms"] <= capture.time_ms + SLACK_MS and "tree" in row}
        if tree_name(capture.hierarchy) not in shown and not marks(capture):
            verdict.made_up.append(name)
    return verdict


def held_against_the_truth(folder: Path, out: Path, told: dict[str, Any], steps: int) -> Verdict:
    """Checks that no step is lost, no state made up, and that the summary tells what was asked for again."""
    graph = load_graph(out)
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    records, _ = read_records((journal_folder(out) / "journal.jsonl").read_bytes())
    begun = sum(r.record == "begun" for r in records)
    ended = Counter(r.record for r in records if r.record in ("done", "refused", "unfinished"))
    assert begun >= steps
    assert begun == ended["done"] + ended["refused"] + ended["unfinished"], "every step that was begun has an end"
    assert sum(1 for _ in graph.transitions()) == ended["done"] == told["transitions"]
    assert sum(t.unfinished is not None for t in graph.traces) == ended["unfinished"] == told["uncaptured"] + told["unfinished"]
    assert told["retried"] == sum(told["retried_for"].values()) > 0
    struck = Counter(row["fault"] for row in truth if row.get("fault"))
    assert struck, "no fault struck: the test proves nothing"
    verdict = compare(graph, truth)
    print(
        f"{out.name}: {steps} steps, {told['elapsed_s']:.0f} s, done/refused/unfinished {dict(ended)}; faults {dict(struck)}; "
        f"retried {told['retried_for']}; captures true {verdict.true}, marked {dict(verdict.marked)}, made up {len(verdict.made_up)}"
    )
    assert verdict.made_up == []
    assert verdict.true >= 0.9 * (verdict.true + verdict.marked.total()), "marks are for what could not be had, not for everything"
    return verdict


LENGTHS = [20, pytest.param(200, marks=pytest.mark.slow)]


@needs_adb
@pytest.mark.parametrize("steps", LENGTHS)
def test_todomvc_recorded_with_every_fault_loses_no_step_and_makes_up_no_state(
    steps: int,
    tmp_path: Path,
    adb_server: object,
) -> None:
    out = tmp_path / "todo.graph.json"
    with served(todomvc("vanillajs")) as url, phone(url, tmp_path / "truth.jsonl", faults=FAULTS, seed=steps) as serial:
        told = record(serial, out, steps, seed=1)
    held_against_the_truth(tmp_path, out, told, steps)


@needs_adb
@pytest.mark.parametrize("steps", LENGTHS)
def test_the_fault_lab_recorded_with_every_fault_loses_no_step_and_makes_up_no_state(
    steps: int,
    tmp_path: Path,
    adb_server: object,
) -> None:
    """Endless spinner, late content, dialogs, a select, a screen without pictures, a pop-up that is in no tree."""
    out = tmp_path / "faultlab.graph.json"
    with served(FAULTLAB) as url, phone(url, tmp_path / "truth.jsonl", faults=f"{FAULTS},secure@Balance", seed=steps) as serial:
        told = record(serial, out, steps, seed=2)
    held_against_the_truth(tmp_path, out, told, steps)
    graph = load_graph(out)
    for capture in graph.captures.values():
        if any(n.label.startswith("Balance") for n in capture.hierarchy.nodes()) and capture.settled:
            assert "secure" in capture.notes, "a picture that is forbidden is marked, and the tree is kept"
    if steps == 200:
        notes = Counter(n for c in graph.captures.values() for n in c.notes)
        assert notes["secure"] and notes["picture-only"] and notes["unsettled"], notes


def test_every_knob_is_turned() -> None:
    """`all` leaves none out, so a knob that is added is tested here too."""
    from phoneworld.device.faults import parse_faults

    assert set(parse_faults(FAULTS).chances) == set(KNOBS) and min(parse_faults(FAULTS).chances.values()) == 0.05
