"""`phoneworld tasks transfer`: its figures, its exit codes, what it refuses. The phone is a mock of the same app; see `tests/transfer` for others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from phoneworld.cli.root import command_line
from phoneworld.cli.transfer import summary
from phoneworld.errors import FileFormatError, OptionError
from phoneworld.program.bundle import save_bundle
from phoneworld.transfer.run import Transferred, Walked
from tests.sim.shop import shop
from tests.tasks.shop_tasks import NAMES
from tests.transfer.shops import TASKS, kept

run = CliRunner()


def written(folder: Path) -> Path:
    save_bundle(kept(shop()), folder / "bundle", {})
    (folder / "tasks").mkdir()
    (folder / "tasks" / "shop.yaml").write_text(NAMES + "tasks:\n" + TASKS, encoding="utf-8")
    return folder


def test_the_tasks_of_a_mock_hold_on_a_phone_that_is_the_same(tmp_path: Path) -> None:
    app = written(tmp_path)
    command = ["tasks", "transfer", str(app), "--device", f"mock:{app / 'bundle'}"]
    done = run.invoke(command_line(), [*command, "--only", "look", "--only", "cheap", "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 0 and (told["of"], told["holds"], told["holds_blind"], told["why"]) == (2, 2, 2, {})
    assert {t["task"]: t["aimed"]["by"] for t in told["tasks"]} == {"shop/look-v1": "checker", "shop/cheap-v1": "screens"}
    shown = run.invoke(command_line(), [*command, "--only", "look"])
    assert shown.exit_code == 0 and "1 of 1 task hold on the real app (100%)" in " ".join(shown.stdout.split())


def test_a_file_of_somebody_else_stays_and_an_unknown_task_is_named(tmp_path: Path) -> None:
    app = written(tmp_path)
    other = tmp_path / "notes.json"
    other.write_text('{"mine": 1}', encoding="utf-8")
    for more, error in (([f"--storage={other}"], FileFormatError), (["--only", "nothing"], OptionError)):
        done = run.invoke(command_line(), ["tasks", "transfer", str(app), "--device", f"mock:{app / 'bundle'}", *more])
        assert done.exit_code and isinstance(done.exception, error)
    assert other.read_text(encoding="utf-8") == '{"mine": 1}'


@pytest.mark.parametrize(("good", "share"), [(9, 0.9), (0, 0.0)])
def test_what_cannot_be_told_counts_as_not_holding_and_is_told_apart(good: int, share: float) -> None:
    yes, unknown = Walked(True, "storage", steps=3, faithful_steps=3), Walked(None, "screens", "wrong value", "step 1", 2, 1)
    told = [Transferred("a/b-v1", 0, "", (), yes, unknown)] * good + [Transferred("a/c-v1", 0, "", (), unknown, unknown)] * (10 - good)
    figures = summary(told)
    assert (figures["holds"], figures["holds_share"], figures["unknown"], figures["holds_blind"]) == (good, share, 10 - good, 0)
    assert figures["why"] == {"wrong value": 10 - good} and figures["steps"] == 3 * good + 2 * (10 - good)


def test_a_command_puts_the_server_back_before_each_task_and_one_that_fails_is_told(tmp_path: Path) -> None:
    app = written(tmp_path)
    log = tmp_path / "log"
    command = ["tasks", "transfer", str(app), "--device", f"mock:{app / 'bundle'}", "--only", "look", "--only", "cheap", "--json"]
    done = run.invoke(command_line(), [*command, "--before-each", f"sh -c 'echo back >> {log}'"])
    assert done.exit_code == 0 and log.read_text(encoding="utf-8").count("back") == 2
    for words in ("false", "no-such-program-anywhere"):
        done = run.invoke(command_line(), [*command, "--before-each", words])
        assert done.exit_code and isinstance(done.exception, OptionError) and "--before-each" in done.exception.message
