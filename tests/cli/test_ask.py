"""The loop on the command line: build writes what is open, record --ask goes and does it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from phoneworld.graph.file import load_graph, save_graph
from phoneworld.graph.plan import loads
from phoneworld.program.bundle import load_bundle
from phoneworld.testing.samples import sample_graph
from tests.cli.running import phoneworld


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording of the groceries app, and what `phoneworld build` made of it."""
    folder = tmp_path_factory.mktemp("built")
    graph, pixels = sample_graph()
    save_graph(graph, folder / "app.graph.json", pixels)
    done = phoneworld("build", "app.graph.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "told.txt").write_text(done.stdout)
    return folder


def test_build_prints_the_open_questions_and_writes_them_beside_the_bundle(built: Path) -> None:
    plan = loads((built / "app.questions.json").read_bytes())
    told = " ".join((built / "told.txt").read_text().split())
    assert plan.package == "org.example.groceries" and len(plan.questions) > 10
    assert all(" ".join(q.why.split()) in told for q in plan.questions[:5])
    assert "phoneworld record --ask app.questions.json" in told
    before = (built / "app.questions.json").read_bytes()
    again = phoneworld("build", "app.graph.json", "--json", cwd=built)
    assert json.loads(again.stdout)["questions"]["all"] == len(plan.questions)
    assert (built / "app.questions.json").read_bytes() == before, "the same recording gives the same questions"


def test_build_lays_corrections_over_what_was_inferred_each_time(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corrected"
    shutil.copytree(built, folder)
    corrections = folder / "overrides.yaml"
    corrections.write_text("names:\n  tables:\n    groceries: {is: s1.list, columns: {name: title.text}}\nforbid:\n- {screen: s2, tap: urgent}\n")
    for _ in range(2):
        done = phoneworld("build", "app.graph.json", "--json", "--strict", cwd=folder)
        told = json.loads(done.stdout)
        assert told["overrides"] == {"file": "overrides.yaml", "renamed": 2, "forbidden": 1, "added": 0}, done.stderr
        assert told["replay"]["exact"] == told["replay"]["steps"], "what was recorded replays as before"
        explained = told["explained"]
        assert explained["by_rules"] + explained["by_exceptions"] == explained["steps"] == told["replay"]["steps"] - told["replay"]["traces"]
        assert explained["by_rules"] > explained["by_exceptions"]
    assert "groceries" in load_bundle(folder / "app.bundle").program.tables
    before = (folder / "app.bundle" / "program.json").read_bytes()
    corrections.write_text("names:\n  tables:\n    groceries: {is: s1.lits}\n")
    refused = phoneworld("build", "app.graph.json", cwd=folder)
    assert refused.returncode == 3 and "overrides.yaml:3: " in refused.stderr and "did you mean s1.list?" in refused.stderr
    assert (folder / "app.bundle" / "program.json").read_bytes() == before
    assert phoneworld("build", "app.graph.json", "--overrides", "none.yaml", cwd=folder).returncode == 3


def test_build_leaves_what_is_no_plan_of_ours_alone(built: Path, tmp_path: Path) -> None:
    (tmp_path / "app.questions.json").write_text('{"mine": 1}')
    done = phoneworld("build", built / "app.graph.json", "-o", tmp_path / "bundle")
    assert done.returncode == 10 and "no questions of ours" in done.stderr
    assert (tmp_path / "app.questions.json").read_text() == '{"mine": 1}' and not (tmp_path / "bundle").exists()


def test_record_asks_the_questions_of_any_phone(built: Path, tmp_path: Path) -> None:
    """Here the phone is the mock itself, which is one too."""
    out = tmp_path / "asked.graph.json"
    done = phoneworld(
        "record", "--device", f"mock:{built / 'app.bundle'}", "--ask", built / "app.questions.json", "--mix", "0", "--steps", "14", "-o", out, "--json"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    plan = loads((built / "app.questions.json").read_bytes())
    assert told["app"] == plan.package and told["steps"] + told["refused"] <= 14
    assert len(told["asked"]["answered"]) >= 3 and set(told["asked"]["answered"]) <= {q.why for q in plan.questions}
    assert len(told["asked"]["answered"]) + len(told["asked"]["not_reached"]) + told["asked"]["left"] == len(plan.questions)
    assert sum(len(t.transitions) for t in load_graph(out).traces) == told["steps"]


@pytest.mark.parametrize(
    ("content", "options", "code", "words"),
    [
        (None, (), 3, "does not exist"),
        (b"", (), 3, "is not JSON"),
        (b'{"format": "phoneworld.app-graph"}', (), 3, "phoneworld build"),
        (b"ours", ("--mode", "touch"), 2, "--mode touch"),
        (b"ours", ("--mix", "2"), 2, "--mix"),
        (b"ours", ("--app", "org.example.other", "--device", "mock"), 5, "not about org.example.other"),
    ],
)
def test_what_cannot_be_asked_is_said_before_a_phone_is_touched(
    built: Path, tmp_path: Path, content: bytes | None, options: tuple[str, ...], code: int, words: str
) -> None:
    path = tmp_path / "x.questions.json"
    if content is not None:
        path.write_bytes((built / "app.questions.json").read_bytes() if content == b"ours" else content)
    options = tuple(f"mock:{built / 'app.bundle'}" if o == "mock" else o for o in options)
    done = phoneworld("record", "--ask", path, "-o", tmp_path / "out.graph.json", *options)
    assert done.returncode == code and words in " ".join(done.stderr.split()), done.stderr
    assert not (tmp_path / "out.graph.json").exists()
