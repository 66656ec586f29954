"""The wrong thing at a path: each verb says what it is and what to give, and no mend leads to where one came from."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from phoneworld.graph.file import save_graph
from phoneworld.testing.samples import sample_bundle, sample_graph
from recorder.folder import JournalFolder
from tests.cli.running import Ran, phoneworld


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording with its pictures and the bundle of it, a recording that was broken off, a text that is not ours."""
    folder = tmp_path_factory.mktemp("made")
    graph, pictures = sample_graph()
    save_graph(graph, folder / "app.graph.json", pictures)
    sample_bundle(folder / "app.bundle")
    (folder / "app.bundle" / "report.html").write_text("<html>")
    (folder / "cut.journal").mkdir()
    (folder / "cut.journal" / "journal.jsonl").write_text('{"record":"recording"}\n')
    (folder / "notes.txt").write_text("milk, bread\n")
    assert phoneworld("build", folder / "app.graph.json", "-o", folder / "app.bundle").returncode == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "made"))


def refused(done: Ran, code: int) -> tuple[str, str]:
    """The error and its mend."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    error, mend = done.stderr.rstrip("\n").split("\n")
    assert error.startswith("error: ") and mend.startswith("  mend: ")
    return error.removeprefix("error: "), mend.removeprefix("  mend: ")


WANTS_GRAPH = [("build",), ("graph", "show"), ("graph", "verify"), ("graph", "diff", "app.graph.json"), ("fidelity", "app.bundle", "--against")]
WANTS_MOCK = [("serve",), ("play",), ("bench",)]


@pytest.mark.parametrize("verb", WANTS_GRAPH, ids=" ".join)
@pytest.mark.parametrize(
    ("given", "said", "mend"),
    [
        ("app.assets", "pictures of a recording", "give app.graph.json"),
        ("app.bundle/program.json", "part of a mock", "give app.graph.json"),
        ("app.bundle/trees", "part of a mock", "give app.graph.json"),
        ("app.questions.json", "questions about a recording", "give app.graph.json"),
        ("cut.journal", "journal of a recording", "graph verify --write cut.graph.json"),
        ("cut.journal/journal.jsonl", "journal of a recording", "graph verify --write cut.graph.json"),
        ("notes.txt", "no app.graph.json", "app.graph.json"),
        ("none.graph.json", "does not exist", "did you mean app.graph.json?"),
    ],
)
def test_what_is_no_recording_is_named_and_so_is_the_recording_it_belongs_to(folder: Path, verb: tuple[str, ...], given: str, said: str, mend: str) -> None:
    error, told = refused(phoneworld(*verb, given, cwd=folder), 3)
    assert said in error and mend in told


@pytest.mark.parametrize("verb", WANTS_MOCK, ids=" ".join)
@pytest.mark.parametrize(
    ("given", "said", "mend"),
    [
        ("app.bundle/program.json", "part of a mock", "give the folder app.bundle"),
        ("app.bundle/report.html", "part of a mock", "give the folder app.bundle"),
        ("app.assets", "pictures of a recording", "phoneworld build app.graph.json"),
        ("app.questions.json", "questions about a recording", "phoneworld build app.graph.json"),
        ("cut.journal", "journal of a recording", "graph verify --write cut.graph.json, then phoneworld build cut.graph.json"),
        ("app.graph.json", "a recording", "phoneworld build app.graph.json"),
    ],
)
def test_what_is_no_mock_is_named_and_so_is_the_mock_it_belongs_to(folder: Path, verb: tuple[str, ...], given: str, said: str, mend: str) -> None:
    error, told = refused(phoneworld(*verb, given, cwd=folder), 3)
    assert said in error and mend in told


def test_the_mend_of_a_part_is_taken(folder: Path) -> None:
    """What it says to give is taken in its place."""
    _, mend = refused(phoneworld("graph", "show", "app.bundle/program.json", cwd=folder), 3)
    assert phoneworld("graph", "show", mend.removeprefix("give "), "--json", cwd=folder).returncode == 0
    _, mend = refused(phoneworld("play", "app.bundle/trees", cwd=folder), 3)
    (folder / "none.jsonl").write_text("")
    assert phoneworld("play", mend.removeprefix("give the folder "), "--actions", "none.jsonl", cwd=folder).returncode == 0


def test_parts_of_ours_are_nothing_to_import(folder: Path) -> None:
    for given in ("app.assets", "app.bundle/trees", "app.questions.json", "cut.journal"):
        error, _ = refused(phoneworld("import", given, "-o", "new.graph.json", cwd=folder), 3)
        assert "nothing to import" in error


def test_a_start_that_is_not_there_is_a_wrong_option(folder: Path) -> None:
    assert "has no start" in refused(phoneworld("play", "app.bundle", "--start", "nowhere", "--actions", "notes.txt", cwd=folder), 2)[0]


# --- where a recording goes


def record(folder: Path, *words: str) -> Ran:
    return phoneworld("record", "-d", "web:http://127.0.0.1:9/", *words, cwd=folder)


def test_no_mend_of_record_leads_in_a_circle(folder: Path) -> None:
    """Whatever stands at -o: the options that the mend names are not refused with a mend that names the first ones again."""
    error, mend = refused(record(folder, "-o", "notes.txt"), 10)
    assert "no recording of ours" in error and "--force" in mend and "--resume" not in mend
    assert refused(record(folder, "-o", "notes.txt", "--resume"), 3)[0] == "notes.txt is no recording of ours"
    error, mend = refused(record(folder, "-o", "app.graph.json"), 5)
    assert "already there" in error and "--resume" not in mend, "an imported or merged recording has no journal to go on with"
    error, mend = refused(record(folder, "-o", "app.graph.json", "--resume"), 5)
    assert "journal" in error and "graph merge" in mend
    assert refused(record(folder, "-o", "new.graph.json", "--resume"), 5)[1].startswith("record without --resume")
    begun = JournalFolder.create(folder / "begun.graph.json")
    begun.close()
    (folder / "begun.journal" / "journal.jsonl").write_text('{"record":"capture"}\n')
    assert "--resume" in refused(record(folder, "-o", "begun.graph.json"), 5)[1]
    assert (folder / "notes.txt").read_text() == "milk, bread\n"


def test_what_is_asked_for_is_looked_at_before_a_phone_is_touched(folder: Path) -> None:
    """Each of these would be a phone that is not there (4) where the phone was asked first."""
    for words, code, said in [
        (("-o", "no/such/a.graph.json"), 10, "no folder no/such"),
        (("-o", "notes.txt/a.graph.json"), 10, "no folder notes.txt"),
        (("-o", "a.graph.json", "--budget", "banana"), 2, "no budget"),
        (("-o", "a.graph.json", "--allow", "nonsense"), 2, "--allow"),
        (("-o", "a.graph.json", "--avoid", "id="), 2, "names no widget"),
        (("-o", "a.graph.json", "--redact", " "), 2, "empty text"),
        (("-o", "a.graph.json", "--ask", "app.graph.json"), 3, "is a recording"),
        (("-o", "a.graph.json", "--ask", "app.questions.json", "--mode", "mirror"), 2, "--ask"),
        (("-o", "a.graph.json", "-d", "app.bundle"), 2, "is a mock"),
        (("-o", "a.graph.json", "-d", "mock:app.graph.json"), 3, "is a recording"),
    ]:
        error, _ = refused(record(folder, *words), code)
        assert said in error, words
    assert not (folder / "no").exists() and not (folder / "a.graph.json").exists()
    assert record(folder, "-o", "a.graph.json").returncode == 4


def test_a_folder_that_is_not_there_is_said_by_every_verb_that_writes(folder: Path) -> None:
    for words in [
        ("graph", "merge", "app.graph.json", "-o"), ("graph", "show", "app.graph.json", "--html"), ("graph", "show", "app.graph.json", "--svg"),
        ("graph", "diff", "app.graph.json", "app.graph.json", "--html"), ("build", "app.graph.json", "-o"), ("play", "app.bundle", "--save"),
        ("fidelity", "app.bundle", "--against", "app.graph.json", "--html"), ("phone", "mock:app.bundle", "--truth"), ("phone", "mock:app.bundle", "--log-unknown"),
    ]:  # fmt: skip
        error, mend = refused(phoneworld(*words, "no/such/thing", cwd=folder), 10)
        assert "there is no folder no/such" in error and mend.startswith("mkdir -p no/such"), words
    assert not (folder / "no").exists()


def test_a_device_and_a_pipe_are_written_into_or_refused_and_stay_what_they_are(folder: Path) -> None:
    null, pipe = folder / "null.svg", folder / "pipe.graph.json"
    null.symlink_to(os.devnull)
    os.mkfifo(pipe)
    assert phoneworld("graph", "show", "app.graph.json", "--svg", null, cwd=folder).returncode == 0
    for words in (("graph", "merge", "app.graph.json", "-o", pipe), ("graph", "merge", "app.graph.json", "-o", null), ("record", "-d", "nobody:1", "-o", pipe)):
        assert "a device or a pipe" in refused(phoneworld(*words, cwd=folder), 10)[0], words
    assert null.is_char_device() and pipe.is_fifo()


def test_a_log_takes_no_place_of_a_file_that_is_not_ours(folder: Path) -> None:
    for option in ("--truth", "--log-unknown"):
        assert "no log of ours" in refused(phoneworld("phone", "mock:app.bundle", option, "notes.txt", cwd=folder), 10)[0]
    assert (folder / "notes.txt").read_text() == "milk, bread\n"


# --- pictures that are not there


def test_pictures_that_are_missing_are_said_once(folder: Path) -> None:
    note = re.compile("drawn from the trees alone")
    assert json.loads(phoneworld("build", "app.graph.json", "-o", "app.bundle", "--json", cwd=folder).stdout)["warnings"] == []
    (folder / "none.jsonl").write_text("")
    whole = phoneworld("play", "app.bundle", "--actions", "none.jsonl", cwd=folder)
    next((folder / "app.bundle" / "assets").iterdir()).unlink()
    next((folder / "app.assets").iterdir()).unlink()
    assert phoneworld("play", "app.bundle", "--actions", "none.jsonl", cwd=folder) == whole, "without --pixels nothing is drawn"
    shutil.rmtree(folder / "app.assets")
    shutil.rmtree(folder / "app.bundle")
    built = phoneworld("build", "app.graph.json", cwd=folder)
    assert built.returncode == 0 and len(note.findall(built.stdout)) == 1 and "none of its recorded pictures is in app.assets" in built.stdout
    assert len(json.loads(phoneworld("build", "app.graph.json", "--json", cwd=folder).stdout)["warnings"]) == 1
