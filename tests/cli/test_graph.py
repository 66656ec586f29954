"""`phoneworld import` and `phoneworld graph`, run as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phoneworld.graph.file import load_graph, save_graph, screenshot_bytes
from phoneworld.graph.merge import renamed_app
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.geometry import Size
from phoneworld.ui.xml import write_hierarchy
from tests.cli.running import phoneworld
from tests.graph.sample import notes_graph, png, screen, text
from tests.graph.test_diff import SecondVersion, record
from tests.shared import CORPUS, needs_shared


@pytest.fixture
def dumps_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "dumps"
    folder.mkdir()
    (folder / "home.xml").write_bytes(
        write_hierarchy(screen(text("Notes", "title"), text("Add", "add", top=100, clickable=True)))
    )
    (folder / "home.png").write_bytes(png("white", Size(1080, 2400)))
    (folder / "broken.xml").write_bytes(b"<hierarchy>")
    return folder


def test_import_writes_a_graph_and_says_what_was_left_out(dumps_folder: Path, tmp_path: Path) -> None:
    refused = phoneworld("import", dumps_folder, "-o", "out/app.graph.json", cwd=tmp_path)
    assert refused.returncode == 10 and "mkdir -p out" in refused.stderr
    (tmp_path / "out").mkdir()
    run = phoneworld("import", dumps_folder, "-o", "out/app.graph.json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "broken.xml" in run.stdout and "left out: 1" in run.stdout
    graph = load_graph(tmp_path / "out" / "app.graph.json")
    (capture,) = graph.captures.values()
    assert capture.screenshot and screenshot_bytes(tmp_path / "out" / "app.graph.json", capture.screenshot) == png(
        "white", Size(1080, 2400)
    )


def test_import_as_json(dumps_folder: Path, tmp_path: Path) -> None:
    run = phoneworld("import", dumps_folder, "--json", "--package", "org.other", "--format", "folder", cwd=tmp_path)
    summary = json.loads(run.stdout)
    assert (summary["format"], summary["captures"], summary["pictures"]) == ("folder", 1, 1)
    assert summary["app"]["package"] == "org.other" and len(summary["warnings"]) == 1
    assert [r["path"] for r in summary["refused"]] == ["broken.xml"] and summary["refused"][0]["reason"]
    assert (tmp_path / "app.graph.json").is_file()


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("import", "nothing"), 3, "does not exist"),
        (("import", ".", "--format", "carrier-pigeon"), 2, "unknown format"),
        (("import", ".", "--format", "appium"), 3, "no session on Android"),
        (("graph", "diff", "nothing.json", "nothing.json"), 3, "does not exist"),
        (("graph", "verify", "nothing.json"), 3, "does not exist"),
        (("graph", "show", "nothing.json"), 3, "does not exist"),
        (("graph", "show", "dumps/broken.xml"), 3, "is no app.graph.json"),
        (("graph", "merge", "nothing.json", "-o", "x.json"), 3, "does not exist"),
    ],
)
def test_a_wrong_path_is_one_line_and_a_mend(
    dumps_folder: Path, tmp_path: Path, args: tuple[str, ...], code: int, words: str
) -> None:
    run = phoneworld(*args, cwd=tmp_path)
    assert run.returncode == code and words in run.stderr and "mend:" in run.stderr
    assert "Traceback" not in run.stderr


def test_show_says_what_is_there_and_draws_it(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    save_graph(graph, tmp_path / "app.graph.json", pictures)
    run = phoneworld("graph", "show", "app.graph.json", "--html", "g.html", "--svg", "g.svg", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    for words in (
        "org.example.notes",
        "3 (1 unsettled, 1 without a picture)",
        "2 with 3 transitions",
        "tap 1",
        "fr-FR",
    ):
        assert words in run.stdout, words
    assert (tmp_path / "g.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "g.svg").read_text().startswith("<svg ")


def test_show_as_json_and_a_missing_picture_is_a_note(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    save_graph(graph, tmp_path / "app.graph.json", dict(list(pictures.items())[:1]))
    summary = json.loads(phoneworld("graph", "show", "app.graph.json", "--json", cwd=tmp_path).stdout)
    assert summary["captures"] == 3 and summary["unsettled"] == 1 and summary["transitions"] == 3
    assert summary["actions"] == {"tap": 1, "type": 1, "press_key": 1} and summary["several_outcomes"] == []
    assert [len(s["captures"]) for s in summary["screens"]] == [1, 2]
    assert summary["warnings"] == ["1 of 2 pictures are not beside the file"]


def test_merge_puts_recordings_together_and_warns(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    save_graph(graph, tmp_path / "a.graph.json", pictures)
    save_graph(graph, tmp_path / "b.graph.json", None)
    run = phoneworld("graph", "merge", "a.graph.json", "b.graph.json", "-o", "c.graph.json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "6 captures" in run.stdout
    merged = load_graph(tmp_path / "c.graph.json")
    assert all(screenshot_bytes(tmp_path / "c.graph.json", sha) for sha in merged.screenshots())


def test_recordings_of_one_web_app_on_two_ports_merge_with_as(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    save_graph(graph, tmp_path / "a.graph.json", pictures)
    save_graph(renamed_app(graph, "web.localhost.p8001"), tmp_path / "b.graph.json", pictures)
    refused = phoneworld("graph", "merge", "a.graph.json", "b.graph.json", "-o", "c.graph.json", cwd=tmp_path)
    assert refused.returncode == 3 and "--as" in refused.stderr
    run = phoneworld("graph", "merge", "a.graph.json", "b.graph.json", "-o", "c.graph.json", "--as", "org.notes", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    merged = load_graph(tmp_path / "c.graph.json")
    assert merged.app.package == "org.notes" and len(merged.captures) == 6
    assert {n.package for c in merged.captures.values() for n in c.hierarchy.nodes()} == {"org.notes"}
    ids = {n.resource_id for c in merged.captures.values() for n in c.hierarchy.nodes() if n.resource_id}
    assert ids and all(i.startswith("org.notes:id/") for i in ids)


def test_diff_says_what_changed_draws_it_and_fails_a_check(tmp_path: Path) -> None:
    graph, pictures = sample_graph()
    save_graph(graph, tmp_path / "a.graph.json", pictures)
    save_graph(record(SecondVersion()), tmp_path / "b.graph.json")
    same = phoneworld("graph", "diff", "a.graph.json", "a.graph.json", "--check", cwd=tmp_path)
    assert same.returncode == 0 and "nothing changed" in same.stdout
    run = phoneworld("graph", "diff", "a.graph.json", "b.graph.json", "--check", "--html", "d.html", cwd=tmp_path)
    assert run.returncode == 1, run.stderr
    for words in ("− Switch “Urgent” (urgent)", "+ Button “Share” (share)", "leads elsewhere", "tap “Add”", "d.html"):
        assert words in run.stdout, words
    assert (tmp_path / "d.html").read_text().startswith("<!doctype html>")
    told = phoneworld("graph", "diff", "a.graph.json", "b.graph.json", "--json", cwd=tmp_path)
    summary = json.loads(told.stdout)
    assert told.returncode == 0 and summary["differs"] and len(summary["broken"]) == len(summary["gone"]) == len(summary["new"]) == 1


@needs_shared
def test_a_droidbot_run_from_end_to_end(tmp_path: Path) -> None:
    run = phoneworld("import", CORPUS / "traces" / "droidbot-kea-myexpenses", "-o", "k.graph.json", cwd=tmp_path)
    assert run.returncode == 0 and "15 captures, 13 pictures, 12 transitions in 4 traces" in run.stdout, run.stdout
    assert phoneworld("graph", "show", "k.graph.json", "--svg", "k.svg", cwd=tmp_path).returncode == 0


def test_merge_as_json_tells_what_was_put_together(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    save_graph(graph, tmp_path / "a.graph.json", pictures)
    save_graph(graph, tmp_path / "b.graph.json", None)
    run = phoneworld("graph", "merge", "a.graph.json", "b.graph.json", "-o", "c.graph.json", "--json", cwd=tmp_path)
    told = json.loads(run.stdout)
    assert (told["captures"], told["traces"], told["out"], told["pictures"]) == (6, 4, "c.graph.json", len(pictures))
    assert told["files"] == ["a.graph.json", "b.graph.json"] and isinstance(told["warnings"], list)


def test_what_is_ours_is_written_again_and_what_is_not_stays(dumps_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    out.write_text('{"letters": ["dear"]}')
    refused = phoneworld("import", dumps_folder, "-o", out, cwd=tmp_path)
    assert refused.returncode == 10 and "--force" in refused.stderr and out.read_text() == '{"letters": ["dear"]}'
    assert phoneworld("import", dumps_folder, "-o", out, "--force", cwd=tmp_path).returncode == 0
    assert phoneworld("import", dumps_folder, "-o", out, cwd=tmp_path).returncode == 0
    page = tmp_path / "g.html"
    for name in ("g.html", "g.svg"):
        kind = "--" + name.partition(".")[2]
        for _ in range(2):
            assert phoneworld("graph", "show", out, kind, name, cwd=tmp_path).returncode == 0
        (tmp_path / name).write_text("<p>by hand")
        assert phoneworld("graph", "show", out, kind, name, cwd=tmp_path).returncode == 10
    assert page.read_text() == "<p>by hand"
