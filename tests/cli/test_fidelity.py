"""`phoneworld fidelity` on traces that lie on the disk: what it says of traces that the mock was built from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from phoneworld.graph.file import save_graph
from phoneworld.testing.samples import sample_bundle, sample_graph
from tests.cli.running import phoneworld

SEEN = "what the mock was built from, step by step"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle, the recording it was built from, and nothing that says by its name or place that they belong together."""
    sample_bundle(tmp_path / "mock")
    graph, pictures = sample_graph()
    (tmp_path / "elsewhere").mkdir()
    save_graph(graph, tmp_path / "elsewhere" / "traces.graph.json", pictures)
    return tmp_path


def test_the_recording_itself_is_no_held_out_set_and_that_is_said(folder: Path) -> None:
    run = ("fidelity", folder / "mock", "--against", folder / "elsewhere" / "traces.graph.json")
    shown = phoneworld(*run, "--html", folder / "page.html")
    assert shown.returncode == 0 and f"note: these are {SEEN}" in shown.stdout
    told = json.loads(phoneworld(*run, "--json").stdout)
    assert told["recorded_traces"] == [t.id for t in sample_graph()[0].traces] and SEEN in told["warnings"][0]
    assert SEEN in (folder / "page.html").read_text()


def test_traces_of_their_own_are_not_called_recorded(folder: Path) -> None:
    graph, pictures = sample_graph()
    first = graph.traces[0]
    later = replace(first, start=first.transitions[0].target, transitions=first.transitions[1:])
    save_graph(replace(graph, traces=(later, graph.traces[1])), folder / "some.graph.json", pictures)
    run = ("fidelity", folder / "mock", "--against", folder / "some.graph.json")
    told = json.loads(phoneworld(*run, "--json").stdout)
    assert told["recorded_traces"] == [graph.traces[1].id] and f"1 of the 2 held-out traces is {SEEN}" in told["warnings"][0]
    save_graph(replace(graph, traces=(later,)), folder / "some.graph.json", pictures)
    told = json.loads(phoneworld(*run, "--json", "--html", folder / "page.html").stdout)
    assert (told["traces"], told["recorded_traces"], told["warnings"]) == (1, [], [])
    assert SEEN not in phoneworld(*run).stdout and SEEN not in (folder / "page.html").read_text()


def test_a_recording_that_went_on_after_the_build_is_not_what_the_mock_was_built_from(folder: Path) -> None:
    """Its new traces are held out, though they lie in the recording beside the bundle; that the two differ is said."""
    graph, pictures = sample_graph()
    file = folder / "app.graph.json"
    save_graph(replace(graph, traces=graph.traces[:1]), file, pictures)
    assert phoneworld("build", file).returncode == 0
    run = ("fidelity", folder / "app.bundle", "--against", file, "--json")
    told = json.loads(phoneworld(*run).stdout)
    assert told["recorded_traces"] == [graph.traces[0].id] and len(told["warnings"]) == 1
    save_graph(graph, file, pictures)
    told = json.loads(phoneworld(*run).stdout)
    assert graph.traces[0].id in told["recorded_traces"] and len(told["recorded_traces"]) < len(graph.traces)
    assert any("was not built from" in warning and "as it is now" in warning for warning in told["warnings"])
    (folder / "app.bundle" / "source.json").write_text("[]")
    done = phoneworld(*run)
    assert done.returncode == 3 and "source.json" in done.stderr and "build the bundle again" in done.stderr
