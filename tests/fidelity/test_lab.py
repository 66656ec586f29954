"""The lab on a real web app in Chromium: recordings go on where they broke off, prefixes are prefixes, results are kept once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from examples.fidelity import lab, results
from examples.fidelity.apps import APPS
from phoneworld.fidelity.heldout import joined
from phoneworld.graph.file import load_graph
from phoneworld.ui.action import TypeText

NOTES = APPS["notes"]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with short recordings, in a folder of its own."""
    monkeypatch.setattr(lab, "CACHE", tmp_path)
    monkeypatch.setattr(lab, "LENGTHS", (3, 2))
    monkeypatch.setattr(lab, "HELD_TRACES", 2)
    monkeypatch.setattr(lab, "HELD_STEPS", 3)
    # The source may be edited while a test runs.
    monkeypatch.setattr(results, "code_digest", lambda: "as it was")
    return tmp_path


def test_a_recording_goes_on_by_traces_and_a_result_is_measured_once(small: Path) -> None:
    first = lab.recorded(NOTES, "train", 5)
    files = sorted((small / "notes" / "train").glob("*.graph.json"))
    assert [len(g.traces[0].transitions) for g in first] == [3, 2] and len(files) == 2
    assert [t.start_kind for g in first for t in g.traces] == ["fresh", "fresh"]
    assert all(c.screenshot is None and c.settled for g in first for c in g.captures.values())

    kept = files[0].read_bytes()
    files[1].unlink()
    again = lab.recorded(NOTES, "train", 8)
    assert files[0].read_bytes() == kept
    assert [t.id for t in joined(again).traces] == ["train-1", "train-2", "train-3"]
    done = [[t.action for t in g.traces[0].transitions] for g in (first[1], again[1])]
    assert done[0] == done[1], "a trace depends on its seed and number, and on what was learnt before it"

    kept_results = small / "results.jsonl"
    words = ["score", "notes", "--actions", "5", "--results", str(kept_results), "--json", "--explain", "1", "--html", str(small / "pages")]
    found = CliRunner().invoke(lab.lab, words)
    assert found.exit_code == 0, found.output
    row = json.loads(next(line for line in found.output.splitlines() if line.startswith("{")))
    assert row["actions"] == row["done"] == 5 and row["figures"]["mock"]["traces"] == 2
    assert (small / "pages" / "notes-5.html").is_file()
    once = kept_results.read_text()
    found = CliRunner().invoke(lab.lab, ["score", "notes", "--actions", "5", "--results", str(kept_results)])
    assert found.exit_code == 0 and kept_results.read_text() == once
    found = CliRunner().invoke(lab.lab, ["report", "--results", str(kept_results), "-o", str(small / "curves.html")])
    assert found.exit_code == 0 and "| notes | 5 | random |" in found.output and "<svg" in (small / "curves.html").read_text()

    held = joined(lab.recorded(NOTES, "held"))
    assert [len(t.transitions) for t in held.traces] == [3, 3]
    typed = [{t.action.text for t in g.transitions() if isinstance(t.action, TypeText)} for g in (joined(again), held)]
    assert not {t for t in typed[0] & typed[1] if t.strip()}


def test_an_asked_recording_begins_at_random_and_then_asks(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "AT_RANDOM", 5)
    graphs = lab.asked(NOTES, 10)
    assert [t.id for t in joined(graphs).traces] == ["train-1", "train-2", "asked-3", "asked-4"]
    assert [len(t.transitions) for t in joined(graphs).traces] == [3, 2, 3, 2]
    whole = {p.name for p in (small / "notes" / "asked").glob("*.graph.json")}
    assert whole == {"003-3.graph.json", "004-2.graph.json"}
    with monkeypatch.context() as closed:
        closed.setattr(lab, "_phone", None)  # nothing is recorded again
        assert [t.id for t in joined(lab.asked(NOTES, 10)).traces] == [t.id for t in joined(graphs).traces]


def test_a_prefix_holds_the_first_actions_and_what_they_need() -> None:
    graph = load_graph(Path(__file__).parents[2] / "apps" / "notes" / "app.graph.json")
    whole = sum(1 for _ in graph.transitions())
    for actions in (1, 10, whole - 1, whole, whole + 5):
        part = results.prefix(graph, actions)
        assert list(part.transitions()) == list(graph.transitions())[: min(actions, whole)]
        assert {name for t in part.traces for name in t.captures} <= set(part.captures)
    assert results.digest(results.prefix(graph, whole)) != results.digest(results.prefix(graph, 10))


def test_every_app_is_measured_somewhere_and_the_reference_apps_wait() -> None:
    assert {name for name, app in APPS.items() if app.frozen} == {"shop", "bank", "messages", "agenda", "settings", "food"}
    assert all(300 in app.actions for app in APPS.values())
    assert sum(lab.lengths("train", 600)) == 600 and list(lab.lengths("train", 75)) == [15, 25, 20, 15]


def test_a_newer_result_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"
    for code, policy in (("a", "random"), ("b", "random"), ("b", "asking")):
        results.append(results.row_of(results.Key("notes", 75, policy, "r", "h", code), {}), kept)
    assert [(r["code"], r["policy"]) for r in results.load(kept)] == [("b", "asking"), ("b", "random")]
