"""Tasks over several apps on one phone: a value is read in one and used in another; what happens in any of them counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from phoneworld.cli.files import bundles_of
from phoneworld.errors import FileFormatError, TaskError
from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.checker import InApp, Visible
from phoneworld.tasks.file import load_tasks
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.prove import Prover
from phoneworld.tasks.task import Task
from phoneworld.tasks.task_yaml import dumps, loads
from phoneworld.ui.action import OpenApp
from tests.cli.running import ROOT, phoneworld

TOGETHER = ROOT / "apps" / "together"
SHOP = "org.example.shop"


@pytest.fixture(scope="module")
def prover() -> Prover:
    return Prover(Phone([load_bundle(b).program for b in bundles_of(TOGETHER)]), load_tasks(TOGETHER))


def _task(prover: Prover, name: str) -> Task:
    return next(task for task in prover.tasks if name in task.id)


def test_a_value_is_read_in_one_app_and_written_in_another(prover: Prover) -> None:
    task = _task(prover, "order-amount")
    one = prover.solved(task, 0)
    assert not isinstance(one, str), one
    assert OpenApp(SHOP) in one.solution.actions and one.episode.verdict.success
    assert [s for s in one.solution.screens if s.startswith("shop ")] and [s for s in one.solution.screens if " " not in s]
    proof = prover.prove(task, seeds=2, random=20)
    assert not [fault for fault in proof.faults if "random" not in fault] and proof.mutants["extra"] > 0 and not proof.survivors


def test_what_was_to_be_read_before_anything_is_done_is_read_first(prover: Prover) -> None:
    one = prover.solved(_task(prover, "delivered"), 0)
    assert not isinstance(one, str), one
    assert one.solution.actions[0] == OpenApp(SHOP)


def test_a_change_in_any_of_the_apps_is_a_side_effect(prover: Prover) -> None:
    task = _task(prover, "order-amount")
    one = prover.solved(task, 0)
    assert not isinstance(one, str), one
    state = one.episode.state
    shop = state.apps[SHOP]
    rows = shop.tables["s4.saved"]
    spoilt = state._replace(apps=state.apps.set(SHOP, shop._replace(tables=shop.tables.set("s4.saved", rows[1:]))))
    verdict = one.judge.verdict(one.judge.begin(), spoilt)
    assert verdict.goal and not verdict.success
    assert [words for words in verdict.side_effects if words.startswith("shop: saved")]


def test_what_is_asked_to_be_seen_in_an_app_is_seen_while_it_is_in_front(prover: Prover) -> None:
    task = _task(prover, "order-amount")
    setting = prover.setting(task)
    instance = setting.instance(0)
    there = prover.phone.step(instance.start, OpenApp(SHOP)).state
    words = next(n.text for n in prover.phone.look(there).hierarchy.nodes() if n.visible and n.text)
    seen = Judge(setting, replace(instance, checker=InApp("shop", Visible(says=words))))
    assert seen.verdict(seen.begin(), there).success
    back = prover.phone.step(there, OpenApp(setting.package)).state
    assert not seen.verdict(seen.begin(), back).success


def test_task_files_say_which_apps_and_are_written_back(prover: Prover) -> None:
    assert loads(dumps(prover.tasks)) == prover.tasks
    task = _task(prover, "order-amount")
    assert set(task.apps) == {"shop", "messages"} and task.tags.category == "cross-app"
    with pytest.raises(TaskError, match="none of its apps"):
        Judge(prover.setting(task), replace(prover.setting(task).instance(0), checker=InApp("bank", Visible(says="x"))))
    with pytest.raises(TaskError, match="none of the task's apps"):
        other = replace(task, parameters={"order": replace(task.parameters["order"], app="bank")})  # type: ignore[type-var]
        prover.setting(other).instance(0)


def test_a_phone_of_several_apps_is_a_file_of_their_places(tmp_path: Path) -> None:
    assert [b.parent.name for b in bundles_of(TOGETHER)] == ["notes", "shop", "messages"]
    (tmp_path / "phone.yaml").write_text("apps: []\n")
    with pytest.raises(FileFormatError, match="at least one"):
        bundles_of(tmp_path)
    (tmp_path / "phone.yaml").write_text("apps: [nowhere]\n")
    with pytest.raises(FileFormatError, match="does not exist"):
        bundles_of(tmp_path)


def test_eval_plays_them(tmp_path: Path) -> None:
    done = phoneworld("eval", TOGETHER, "--policy", "oracle", "--seeds", "1", "--only", "phone-number", "--out", tmp_path / "runs", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["success"] == 1.0
