"""What holds for every verb: help, exit codes, errors in words, output for pipes."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from rich.table import Table
from typer.testing import CliRunner

from phoneworld import errors
from phoneworld.cli.exits import EXITS
from phoneworld.cli.root import command_line, tell_fault, unwrapped
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.cli.verbs import VERBS
from tests.cli.running import ROOT, phoneworld

run = CliRunner()


def commands(app: typer.Typer, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [(*before, c.name or "") for c in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        found += commands(group.typer_instance, (*before, group.name or ""))
    return found


EVERY = commands(command_line())


def test_every_verb_is_in_the_readme_and_the_table_of_verbs() -> None:
    assert {words[0] for words in EVERY} == set(VERBS)
    readme = (ROOT / "README.md").read_text()
    for words in EVERY:
        assert re.search(rf"`[^`]*\b{words[-1]}\b[^`]*`", readme), " ".join(words)


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_tells_what_a_verb_does_in_whole_paragraphs(words: tuple[str, ...]) -> None:
    done = run.invoke(command_line(words[0]), [*words, "--help"], env={"COLUMNS": "100"})
    assert done.exit_code == 0
    told = [line.strip() for line in done.output.split("╭")[0].splitlines()]
    paragraph: list[str] = []
    for line in [*told, ""]:
        if line:
            paragraph.append(line)
            continue
        for a, b in pairwise(paragraph):
            if not re.match(r"phoneworld |adb |curl |echo ", b):  # an example stands on a line of its own
                assert len(a) + 1 + len(b.split()[0]) > 80, f"broken off early: {a!r}"
        paragraph = []


def test_a_docstring_becomes_paragraphs_and_examples_stay_lines() -> None:
    assert unwrapped("One\n    line.\n\n    Two\n    lines.\n\n        example 1\n\n        example 2\n\n    End.") == (
        "One line.\n\nTwo lines.\n\n[not dim]    example 1[/]\n[not dim]    example 2[/]\n\nEnd."
    )
    assert unwrapped(None) == unwrapped("") == ""


def test_every_exit_code_has_one_meaning_and_the_readme_says_it() -> None:
    kinds = [errors.PhoneWorldError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    ours = {kind.__name__: kind.exit_code for kind in kinds if kind.__module__ == "phoneworld.errors"}
    assert set(ours.values()) <= set(EXITS)
    help_text = " ".join(run.invoke(command_line(), ["--help"], env={"COLUMNS": "200"}).output.split())
    readme = (ROOT / "README.md").read_text()
    for code, words in EXITS.items():
        assert f"{code} {words}" in help_text
        assert f"| {code} | {words} |" in readme


def test_output_is_named_out_everywhere_and_the_other_name_works() -> None:
    for words in EVERY:
        told = run.invoke(command_line(words[0]), [*words, "--help"]).output
        assert "--output" not in told, words
    done = phoneworld("graph", "merge", "apps/notes/app.graph.json", "--output", "apps/notes/README.md")
    assert done.returncode == 10 and "README.md is there already" in done.stderr


def test_a_pipe_gets_whole_lines_and_columns_are_obeyed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table("what", "where", box=None, pad_edge=False)
    table.add_row("short", "x" * 300)
    table.add_row("s", "y")
    Terminal().print(table)
    Terminal().print("word " * 100)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["what   where", "short  " + "x" * 300, "s      y", ("word " * 100).strip()]
    monkeypatch.setenv("COLUMNS", "60")
    Terminal().print("word " * 100)
    assert {len(line) <= 60 for line in capsys.readouterr().out.splitlines()} == {True}


def test_one_is_singular() -> None:
    assert [counted(n, "screen") for n in (0, 1, 2)] == ["0 screens", "1 screen", "2 screens"]
    assert counted(1, "is", "are") == "1 is" and counted(2, "is", "are") == "2 are"


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("import", "apps/notes/app.graph.json"), 3, "phoneworld build apps/notes/app.graph.json"),
        (("import", "apps/notes/bundle"), 3, "phoneworld serve apps/notes/bundle"),
        (("build", "apps/notes/bundle"), 3, "phoneworld serve apps/notes/bundle"),
        (("build", "apps/notes"), 3, "did you mean apps/notes/app.graph.json?"),
        (("build", "tests"), 3, "phoneworld import tests"),
        (("graph", "show", "apps/notes/bundle"), 3, "app.graph.json"),
        (("graph", "verify", "apps/notes"), 3, "did you mean apps/notes/app.graph.json?"),
        (("serve", "apps/notes/app.graph.json"), 3, "phoneworld build apps/notes/app.graph.json"),
        (("serve", "tests"), 3, "phoneworld build"),
        (("play", "apps/notes"), 3, "did you mean apps/notes/bundle?"),
        (("play", "README.md"), 3, "phoneworld build"),
        (("bench", "nothing"), 3, "phoneworld build"),
        (("fidelity", "apps/notes/app.graph.json", "--against", "x"), 3, "phoneworld build apps/notes/app.graph.json"),
        (("fidelity", "apps/notes/bundle", "--against", "apps/notes/app.graph.json", "--html", "README.md"), 10, "--force"),
        (("graph", "show", "apps/notes/app.graph.json", "--html", "apps/notes/app.graph.json"), 10, "--force"),
        (("graph", "show", "apps/notes/app.graph.json", "--svg", "README.md"), 10, "--force"),
        (("graph", "diff", "apps/notes/app.graph.json", "apps/notes/app.graph.json", "--html", "tests"), 10, "name a file"),
        (("import", "tests", "-o", "README.md"), 10, "--force"),
        (("build", "apps/notes/app.graph.json", "-o", "tests"), 10, "-o"),
        (("graph", "show", "apps/notes/app.graph.json", "--svg", "/proc/nothing/g.svg"), 10, "another place"),
        (("graph", "merge", "apps/notes/app.graph.json", "-o", "/proc/nothing/m.json"), 10, "another place"),
        (("record", "-o", "tests"), 10, "tests/app.graph.json"),
        (("import", "/no/such/thing"), 3, "path"),
    ],
)  # fmt: skip
def test_the_wrong_thing_is_answered_with_the_right_command(args: tuple[str, ...], code: int, words: str) -> None:
    readme = (ROOT / "README.md").read_bytes()
    done = phoneworld(*args)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    error, mend = done.stderr.rstrip("\n").split("\n")
    assert error.startswith("error: ") and mend.startswith("  mend: ") and words in mend
    assert (ROOT / "README.md").read_bytes() == readme


def test_a_fault_of_ours_is_told_in_words_and_its_traceback_on_request(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PHONEWORLD_TRACEBACK", raising=False)
    try:
        unwrapped(5)  # type: ignore[arg-type]
    except Exception as e:
        fault = e
    assert tell_fault(fault) == 1
    told = capsys.readouterr().err
    assert "Traceback" not in told and "PHONEWORLD_TRACEBACK=1" in told and "root.py, line" in told and len(told.splitlines()) == 2
    monkeypatch.setenv("PHONEWORLD_TRACEBACK", "1")
    tell_fault(fault)
    assert "Traceback" in capsys.readouterr().err
    assert tell_fault(OSError(28, "No space left on device", "out.json")) == errors.WriteError.exit_code
    assert "out.json: No space left on device" in capsys.readouterr().err


def test_words_of_others_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = phoneworld("build", str(tmp_path / "a\x1b[31m\r[bold]b\nc"))
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 2
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stderr) and "[bold]b c" in done.stderr


def test_a_reader_that_goes_away_and_a_full_disk_end_without_a_traceback() -> None:
    shown = subprocess.run(
        f"{sys.executable} -m phoneworld.cli.main graph show apps/notes/app.graph.json --json | head -c 10", shell=True, capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert len(shown.stdout) == 10 and "Traceback" not in shown.stderr
    if Path("/dev/full").exists():
        full = subprocess.run(f"{sys.executable} -m phoneworld.cli.main graph show apps/notes/app.graph.json > /dev/full", shell=True, capture_output=True, text=True, cwd=ROOT, check=False)
        assert full.returncode == errors.WriteError.exit_code and "Traceback" not in full.stderr, full.stderr


def test_every_example_is_in_the_readme_of_the_examples() -> None:
    examples = ROOT / "examples"
    told = (examples / "README.md").read_text()
    found = [p.name for p in examples.glob("*.py")] + [f"webapps/{p.name}" for p in (examples / "webapps").iterdir() if p.is_dir()]
    assert len(found) > 5 and [name for name in found if f"[`{name}`]({name})" not in told] == []


def test_the_licence_is_the_one_that_the_package_declares() -> None:
    words = (ROOT / "LICENSE").read_text()
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text()
    assert "Apache License" in words and "Version 2.0, January 2004" in words and "END OF TERMS AND CONDITIONS" in words


def test_it_runs_as_a_module_where_its_script_is_not_on_the_path(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "phoneworld", "build", "none.graph.json"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3 and "none.graph.json" in done.stderr and "Traceback" not in done.stderr
