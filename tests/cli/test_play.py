"""`phoneworld play`: a line of action in, what it did and how that is known out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from phoneworld.cli.root import command_line
from phoneworld.device.settle import png_size
from phoneworld.errors import FileFormatError, OptionError
from phoneworld.testing.groceries import SIZE
from phoneworld.testing.samples import sample_bundle
from phoneworld.ui.xml import parse_hierarchy

app = command_line()

TAP = '{"kind": "tap", "x": 90, "y": 313}\n'


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(sample_bundle(tmp_path_factory.mktemp("play") / "sample.bundle").path)


def play(path: str, *words: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["play", path, *words], input=given)


def test_each_line_is_a_step_with_its_evidence(path: str) -> None:
    script = (
        TAP + "\n# a comment\n" + '{"kind": "tap", "x": 0.9, "y": 0.945, "space": "unit"}\n{"kind": "finish"}\n' + TAP
    )
    done = play(path, "--actions", "-", "--json", given=script)
    assert done.exit_code == 0, done.output
    start, tick, add, end = (json.loads(line) for line in done.stdout.splitlines())
    assert start["action"] is None and start["step"] == 0
    assert (tick["step"], tick["evidence"], tick["changed"], tick["action"]["kind"]) == (1, "recorded", True, "tap")
    assert add["activity"].endswith("FormActivity") and 'field "What to buy"' in add["text"]
    assert (end["termination"], end["status"]) == ("finish", "success"), "the line after it is not played"


def test_the_same_lines_from_a_file_are_told_to_people(path: str, tmp_path: Path) -> None:
    file = tmp_path / "actions.jsonl"
    file.write_text(TAP + '{"kind": "tap", "x": 99999, "y": 1}\n')
    done = play(path, "--actions", str(file))
    assert done.exit_code == 0
    assert "recorded" in done.stdout and "refused" in done.stdout and 'checkbox "Bought Apples" on' in done.stdout
    assert play(path, "--actions", str(file), "--strict").exit_code == 2


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ('{"kind": "tap", ', "line 2: not JSON"),
        ('{"kind": "fly"}', "line 2: unknown action kind 'fly'"),
        ("[1]", "line 2: an action is a JSON object"),
        ('{"kind": "tap", "x": NaN, "y": 1}', "line 2: tap.x must be a number"),
        ("[" * 100_000, "line 2: not JSON"),
    ],
)
def test_a_bad_line_is_named_after_those_before_it_were_played(path: str, second: str, message: str) -> None:
    done = play(path, "--actions", "-", "--json", given=TAP + second + "\n")
    assert len(done.stdout.splitlines()) == 2
    assert isinstance(done.exception, FileFormatError) and message in done.exception.message
    assert done.exception.hint and done.exception.exit_code == 3


def test_bytes_that_are_no_text_are_named(path: str, tmp_path: Path) -> None:
    file = tmp_path / "actions.jsonl"
    file.write_bytes(b"\xff\xfe\x00")
    done = play(path, "--actions", str(file))
    assert isinstance(done.exception, FileFormatError) and "not UTF-8" in done.exception.message


def test_a_file_that_is_not_there_and_a_start_that_is_not_are_named(path: str) -> None:
    assert isinstance(play(path, "--actions", "/no/such/file").exception, FileFormatError)
    assert isinstance(play(path, "--start", "nowhere", given="quit\n").exception, OptionError)


def test_trees_and_pictures_are_saved_at_each_step(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = play(path, "--actions", "-", "--save", str(folder), "--pixels", "--json", given=TAP)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(p.name for p in folder.iterdir()) == [
        "step-0000.png",
        "step-0000.xml",
        "step-0001.png",
        "step-0001.xml",
    ]
    assert told[1]["tree"].endswith("step-0001.xml")
    assert parse_hierarchy((folder / "step-0001.xml").read_bytes()).windows
    assert png_size((folder / "step-0001.png").read_bytes()) == SIZE


def test_by_hand_numbers_words_and_keys_are_actions(path: str) -> None:
    done = play(path, "--json", given='7\n1 Salt\nback\ntap 500 700\n99\nnonsense\n{"kind": "wait"}\n{\nreset\nquit\n')
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert [s["action"] and s["action"]["kind"] for s in steps] == [None, "tap", "type", "press_key", "tap", "wait"]
    assert steps[2]["action"]["text"] == "Salt" and 'holding "Salt"' in steps[2]["text"]
    assert done.exit_code == 0
    for words in ("there is no element 99", "'nonsense' is no action", "not JSON"):
        assert words in done.stderr


def test_a_budget_ends_it(path: str) -> None:
    done = play(path, "--actions", "-", "--json", "--max-steps", "2", given=TAP * 5)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 3 and told[-1]["termination"] == "step_limit"
