"""Tasks made from a mock: proved, different, in the app's own words, in both languages; the same arguments, the same tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.checker import Rows as RowsCheck
from phoneworld.tasks.file import load_tasks
from phoneworld.tasks.generate import Generated, Generator, leaks
from phoneworld.tasks.labels import Labels, kind_of_values
from phoneworld.tasks.prove import Prover
from phoneworld.tasks.task_yaml import dumps, loads
from phoneworld.ui.action import Answer
from tests.cli.running import ROOT, phoneworld
from tests.sim.shop import shop

NOTES = ROOT / "apps" / "notes"


@pytest.fixture(scope="module")
def made() -> tuple[Generator, Generated]:
    generator = Generator(Phone([load_bundle(NOTES / "bundle").program]), "notes")
    return generator, generator.make(7)


def test_what_is_made_is_proved_and_read_back(made: tuple[Generator, Generated]) -> None:
    _, out = made
    assert len(out.tasks) == len(out.proofs) == 7
    assert all(p.proved and p.kill_rate == 1.0 for p in out.proofs)
    assert loads(dumps(out.tasks)) == tuple(out.tasks)


def test_each_takes_three_actions_and_many_have_to_read_on_a_second_screen(made: tuple[Generator, Generated]) -> None:
    generator, out = made
    for task in out.tasks:
        one = generator.prover.solved(task, 0)
        assert not isinstance(one, str)
        assert sum(isinstance(a, Answer) or a is not one.solution.actions[-1] for a in one.solution.actions) >= 3
    assert out.reading >= 0.4 * len(out.tasks)


def test_instructions_differ_and_show_nothing_of_the_inside(made: tuple[Generator, Generated]) -> None:
    generator, out = made
    said = set()
    for task in out.tasks:
        setting = generator.prover.setting(task)
        for language in ("en", "zh"):
            instance = setting.instance(0, language)
            assert not leaks(instance) and "{" not in instance.instruction
            said.add(instance.instruction)
    assert len(said) == 2 * len(out.tasks)


def test_nothing_is_made_that_solves_a_task_before_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    phone = Phone([load_bundle(NOTES / "bundle").program])
    generator = Generator(phone, "notes", effort=60)
    dark, about, ticked = (next(a for a in generator.atoms.all() if a.skill == skill) for skill in ("settings", "reach", "count"))
    groups = [(dark, about), (dark, about, ticked), (about, ticked)]
    monkeypatch.setattr(generator, "_compositions", lambda atoms, wanted: iter(groups))
    out = generator.make(3)
    # With the answer beside it the second is done; so is the first, which asks for no answer.
    assert [t.tags.skills for t in out.tasks] == [("settings", "reach"), ("reach", "count")]
    prover = Prover(phone, out.tasks)
    assert all(prover.prove(task, random=0).proved for task in out.tasks)


def test_the_same_arguments_make_the_same_tasks_and_another_seed_others() -> None:
    def text(seed: int) -> str:
        return dumps(Generator(Phone([shop()]), "shop", seed=seed, effort=60).make(3).tasks)

    assert text(1) == text(1)


def test_rows_are_known_by_their_names_and_cells_by_what_they_are() -> None:
    phone = Phone([shop()])
    labels = Labels(shop(), phone.reset().apps[phone.main])
    assert labels.titles == {"products": "title"}
    add = next(p for p in labels.places if p.slot.key == "add")
    assert labels.of(add) == "Add"
    assert kind_of_values(["$3.50", "from $4"]) == "price" and kind_of_values(["1 Mar 2026", "2 Mar 2026"]) == "day"
    assert kind_of_values([True, False]) == "flag" and kind_of_values(["★ 4.7"]) == "rating"
    assert kind_of_values(["+44 7700 900114"]) == "phone"
    assert kind_of_values(["a", None]) == "" and kind_of_values(["x" * 99]) == ""


def test_the_verb_writes_a_file_that_proves_and_replaces_only_its_own(tmp_path: Path) -> None:
    out = tmp_path / "tasks.yaml"
    done = phoneworld("tasks", "generate", NOTES, "--n", "1", "-o", out)
    assert done.returncode == 0 and "1 of 1 task proved" in done.stdout, done.stdout + done.stderr
    assert len(load_tasks(out)) == 1
    assert phoneworld("tasks", "prove", NOTES / "bundle", "--tasks", out, "--seeds", "2", "--random", "10").returncode == 0
    assert phoneworld("tasks", "generate", NOTES, "--n", "1", "-o", out).returncode == 0
    out.write_text("mine: 1\n")
    assert phoneworld("tasks", "generate", NOTES, "--n", "1", "-o", out).returncode == 10


def test_an_entry_to_be_added_is_to_have_no_switch_on_that_was_not_asked_for() -> None:
    added = [t for t in load_tasks(NOTES / "tasks" / "generated.yaml") if t.tags.skills == ("create",) and isinstance(t.check, RowsCheck)]
    assert added
    for task in added:
        assert isinstance(task.check, RowsCheck)
        is_on = any(short.endswith("shown") and c.value is True for cells in task.check.added for short, c in cells)
        assert is_on == ("switched on" in task.wordings["en"][0]), task.id
        assert all(any(short.endswith("shown") for short, _ in cells) for cells in task.check.added), task.id
