"""The task of the root README is one for the notes app, and a good question."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.prove import Prover
from phoneworld.tasks.task import Setting, Start
from phoneworld.tasks.task_yaml import loads

ROOT = Path(__file__).resolve().parents[2]


PHONE = Phone([load_bundle(ROOT / "apps" / "notes" / "bundle").program])
TASK, START = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_it_is_proved() -> None:
    (task,) = loads(TASK, "README.md")
    assert set(task.wordings) == {"en", "zh"}
    proof = Prover(PHONE, [task]).prove(task, seeds=3, random=100)
    assert proof.proved, proof.faults


def test_the_start_begins_where_it_says_and_has_every_field_there_is() -> None:
    (_, task) = loads(f"{TASK}- id: notes/start-v1\n  say: {{en: do it}}\n  parameters: {{title: {{one_of: [Bread]}}}}\n  check: {{state: {{screen: settings}}}}\n{START}", "README.md")
    assert all(getattr(task.start, field.name) for field in fields(Start))
    setting = Setting(task, PHONE)
    start = setting.instance().start
    document = setting.exporter.document(start)
    assert document["variables"]["dark"] is True and [row["title"] for row in document["tables"]["notes"]] == ["Milk", "Rent", "Bread"]
    assert start.clock_ms == 1787175000000
