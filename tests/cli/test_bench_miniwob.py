"""`phoneworld bench --miniwob`: what is missing is named, what is measured stands beside ours. No figure is asserted: machines differ."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from phoneworld.cli.bench import verb
from phoneworld.cli.bench.miniwob import TASKS
from phoneworld.cli.root import command_line
from phoneworld.errors import MissingDependency
from tests.cli.running import ROOT

run = CliRunner()


def test_miniwob_that_is_not_installed_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "miniwob", None)
    done = run.invoke(command_line(), ["bench", "--miniwob", "--no-pixels", "--seconds", "0.01"])
    assert isinstance(done.exception, MissingDependency)
    assert "miniwob" in done.exception.message and "phoneworld[miniwob]" in done.exception.hint


def test_both_stand_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    ours = {"app": "org.example.notes", "steps_per_s_text": 20000, "reset_us": 7.0, "tasks": {"reset_us": 190.0}}
    verb._print_beside(ours, [{"task": "enter-text", "reset_ms": 25.2, "steps_per_s": 49.1}])
    shown = capsys.readouterr().out
    assert "org.example.notes" in shown and "0.190 ms" in shown and "enter-text" in shown and "25.2 ms" in shown


@pytest.mark.slow
def test_miniwob_is_measured_beside() -> None:
    pytest.importorskip("miniwob", reason='miniwob is not installed: pip install "phoneworld[miniwob]", apt install chromium-driver')
    command = ["bench", str(ROOT / "apps" / "notes" / "bundle"), "--miniwob", "--no-pixels", "--seconds", "0.2", "--json"]
    done = run.invoke(command_line(), command)
    assert done.exit_code == 0, done.output
    beside = json.loads(done.stdout)["miniwob"]
    assert [of["task"] for of in beside] == list(TASKS) and all(of["steps_per_s"] > 0 and of["reset_ms"] > 0 for of in beside)
