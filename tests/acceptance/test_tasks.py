"""Every app that is shipped has tasks, and they are proved: `phoneworld check` of all of them (slow), and a quick look at each."""

from __future__ import annotations

from pathlib import Path

import pytest

from phoneworld.cli.files import bundles_of
from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.file import load_tasks
from phoneworld.tasks.oracle import Solution
from phoneworld.tasks.prove import Prover
from tests.cli.running import ROOT, phoneworld

APPS = sorted(p.parent for p in (ROOT / "apps").glob("*/tasks"))


@pytest.mark.parametrize("app", APPS, ids=lambda p: p.name)
def test_the_tasks_of_an_app_are_solved_and_speak_two_languages(app: Path) -> None:
    tasks = tuple(t for t in load_tasks(app / "tasks") if not t.id.rpartition("-v")[0][-1:].isdigit())
    prover = Prover(Phone([load_bundle(bundle).program for bundle in bundles_of(app)]), tasks)
    assert len(tasks) >= (10 if (app / "bundle").is_dir() else 5), "of several apps together there are fewer"
    for task in tasks:
        assert task.id.startswith(f"{app.name}/") and {"en", "zh"} <= set(task.wordings)
        one = prover.solved(task, 0)
        assert not isinstance(one, str), f"{task.id}: {one}"
        assert isinstance(one.solution, Solution) and one.episode.verdict.success is True


@pytest.mark.slow
@pytest.mark.parametrize("app", APPS, ids=lambda p: p.name)
def test_every_task_of_an_app_is_proved(app: Path) -> None:
    done = phoneworld("check", app)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
