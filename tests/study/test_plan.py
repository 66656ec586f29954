"""Arms of a plan: what they are, and one whose share of real groups changes as it goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network
from phoneworld.agent.policy import save
from phoneworld.study.plan import Arm, read_plan
from phoneworld.study.works import FindOut, RunArm, Setup
from phoneworld.train.sources import MOCK, REAL, Mixing
from tests.study.tiny import write_study


def test_an_arm_ends_and_its_share_is_one() -> None:
    assert Arm(steps=5).mixing == Mixing() and Arm(real_fraction="0.8:0.2", steps=5, updates=3).mixing == Mixing(0.8, 0.2)
    for wrong, why in (
        ({"real_fraction": "half", "steps": 5}, "no share"), ({"real_fraction": "1:0", "steps": 5}, "updates"), ({"real_fraction": 0.5}, "ends by"),
        ({"real_steps": 5}, "without real groups"),
    ):  # fmt: skip
        with pytest.raises(ValidationError, match=why):
            Arm.model_validate(wrong)


def test_a_share_that_changes_goes_from_all_real_to_none(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    file.write_text(file.read_text().replace("mock: {steps: 40}", 'mock: {real_fraction: "1:0", steps: 80, updates: 3}').replace("scored: {", "tasks: 10\n    scored: {"))
    plan = read_plan(file)
    setup = Setup(plan, "tiny", tmp_path / "out", {app.name: app.device for app in plan.apps})
    for app in plan.apps:
        FindOut(setup, app).run(lambda n: None)
    save(Network(seed=0), setup.folder / "sft.pt")
    RunArm(setup, "mock", 0).run(lambda n: None)
    played = [json.loads(line)["episodes"] for line in (setup.run_folder("mock", 0) / "updates.jsonl").read_text().splitlines()]
    assert played[0] == {REAL: 4} and played[-1] == {MOCK: 4} and len(played) == 3
