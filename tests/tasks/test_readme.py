"""The task of the root README is one for the notes app, and a good question."""

from __future__ import annotations

import re
from pathlib import Path

from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.prove import Prover
from phoneworld.tasks.task_yaml import loads

ROOT = Path(__file__).resolve().parents[2]


def test_it_is_proved() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (task,) = loads(text, "README.md")
    assert set(task.wordings) == {"en", "zh"}
    proof = Prover(Phone([load_bundle(ROOT / "apps" / "notes" / "bundle").program]), [task]).prove(task, seeds=3, random=100)
    assert proof.proved, proof.faults
