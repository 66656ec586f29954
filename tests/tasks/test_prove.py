"""A good task is proved; a checker that is too weak, a task that is done already, too easy or impossible is not, and it is said why."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from phoneworld.cli import tasks as cli
from phoneworld.program.bundle import save_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.prove import Proof, Prover
from phoneworld.tasks.task import Task
from tests.cli.running import phoneworld
from tests.sim.shop import shop
from tests.tasks.shop_tasks import BUY, NAMES, tasks

PHONE = Phone([shop()])
LIKE = """
- id: shop/like-v1
  say: {en: "Like {product.name} and show me the cart."}
  start: {at: browsing}
  parameters: {product: {row: goods}}
  check: [{rows: {table: goods, changed: [{where: {name: "{product.name}"}, to: {liked: true}}]}}, {state: {screen: basket}}]
"""
PRICE = """
- id: shop/dearest-v1
  say: {en: "What is the name of the dearest thing?"}
  start: {at: browsing, tables: {goods: [{name: Nuts, cost: 4, liked: false}, {name: Oil, cost: 9, liked: false}, {name: Peas, cost: 2, liked: false}]}}
  parameters: {dearest: {find: "max_by(tables.goods, &cost).name"}}
  look: {visited: [basket, home]}
  check: {answer: {text: "{dearest}"}}
"""


def proved(text: str, beside: str = BUY + LIKE) -> Proof:
    one = tasks(text)
    return Prover(PHONE, (*one, *(t for t in tasks(beside) if t.id != one[0].id)), effort=150).prove(one[0], seeds=3, random=60)


def task(check: str, more: str = "") -> str:
    return f"- {{id: shop/it-v1, say: {{en: do it}}, start: {{at: browsing}}, check: {check}{more}}}\n"


NOTED = BUY.replace("buy-v1", "noted-v1").replace("into the cart.", "into the cart, with the note “two of it”.").replace("many: 1", "many: 1, note: two of it")


@pytest.mark.parametrize("text", [NOTED, LIKE, PRICE])
def test_a_good_task_is_proved(text: str) -> None:
    proof = proved(text)
    assert proof.proved, proof.faults
    assert proof.kill_rate == 1.0 and sum(proof.mutants.values()) >= 20
    assert {"nothing", "dropped", "entity", "extra"} <= set(proof.mutants)


@pytest.mark.parametrize(
    "never",
    [
        "state: {variables.bargains: true}",
        "state: {'length(tables.goods)': {less: 3}}",
        "rows: {table: goods, deleted: [{name: Figs}]}",
        "state: {screen: basket}",
        "visited: [basket]",
        "any: [{visible: {text: Nowhere}}, {not: {state: {variables.bargains: false}}}]",
    ],
)
def test_what_must_never_be_is_forbidden_and_not_asked_for(never: str) -> None:
    """To prove it, a wrong ending is one that was shown: what it forbids has happened then."""
    proof = proved(NOTED.replace("check:\n    rows", f"check:\n  - never: {{{never}}}\n  - rows"))
    assert proof.proved and not proof.survivors, proof.faults


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # Any product would do, though one was asked for.
        (BUY.replace('what: "{product.name}", ', ""), "entity"),
        (BUY.replace('rows: {table: basket, added: [{what: "{product.name}", many: 1}]}', "state: {'length(tables.basket)': 1}").replace("budget", "unchanged: {allow: [basket]}\n  budget"), "entity"),
        # Whatever else happened, nobody looks.
        (LIKE + "  unchanged: false\n", "extra"),
        (LIKE + "  unchanged: {allow: [basket, goods]}\n", "extra"),
        # One of two things is not asked for.
        (LIKE.replace('to: {liked: true}', 'to: {liked: {one_of: [true, null]}}'), "value"),
    ],
)  # fmt: skip
def test_a_weak_checker_is_found_out(text: str, kind: str) -> None:
    proof = proved(text)
    assert not proof.proved and kind in {s.kind for s in proof.survivors}, proof.faults
    assert proof.kill_rate < 1 and any("wrong ending" in fault for fault in proof.faults)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (task("{state: {variables.bargains: false}}"), "(nothing)"),
        (task("{visited: [page]}"), "random episodes"),
        (task("{rows: {table: goods, added: [{name: Bread}]}}"), "gave up"),
        (task("{rows: {table: nowhere, added: [{name: Bread}]}}"), "no table"),
        (BUY.replace("budget: 12", "budget: 2"), "the budget is 2"),
        (task("{state: {variables.bargains: true}}, package: org.example.other"), "not on this phone"),
    ],
)  # fmt: skip
def test_what_is_no_good_question_is_said(text: str, says: str) -> None:
    proof = proved(text)
    assert not proof.proved and any(says in fault for fault in proof.faults), proof.faults


def test_the_same_task_is_proved_the_same() -> None:
    assert proved(NOTED).to_json() == proved(NOTED).to_json()


def test_what_solves_another_task_in_the_same_way_is_told_as_equivalent() -> None:
    figs = LIKE.replace("{product.name}", "Figs").replace("  parameters: {product: {row: goods}}\n", "")
    proof = proved(figs, beside=figs.replace("like-v1", "again-v1"))
    assert proof.proved, proof.faults
    assert [s.kind for s in proof.equivalent] == ["neighbour"] * 3 and "as the right run does" in proof.equivalent[0].words


@pytest.fixture
def app(tmp_path: Path) -> Path:
    save_bundle(shop(), tmp_path / "shop" / "bundle", {})
    (tmp_path / "shop" / "tasks").mkdir()
    (tmp_path / "shop" / "tasks" / "a.yaml").write_text(NAMES + "tasks:\n" + NOTED + LIKE, encoding="utf-8")
    return tmp_path / "shop"


def test_how_far_it_is_is_shown_and_after_ctrl_c_it_says_how_far_it_came(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proves = Prover.prove

    def once(self: Prover, task: Task, *, seeds: int, random: int) -> Proof:
        if task.id == "shop/like-v1":
            raise KeyboardInterrupt
        return proves(self, task, seeds=seeds, random=random)

    monkeypatch.setattr(Prover, "prove", once)
    shown = io.StringIO()
    monkeypatch.setattr(cli, "progress_console", Console(file=shown, force_terminal=True, width=120, color_system=None))
    for verb in ("tasks prove", "check"):
        ran = phoneworld(*verb.split(), app, "--json")
        assert ran.returncode == 130 and "interrupted: 1 of 2 tasks tried, 1 of them proved" in shown.getvalue() and ran.stdout == ""
    assert "proving" in shown.getvalue() and "1/2" in shown.getvalue()


def test_the_verbs_list_prove_and_check(app: Path) -> None:
    listed = phoneworld("tasks", "list", app, "--seed", "1")
    assert listed.returncode == 0 and "shop/like-v1" in listed.stdout and "show me the cart" in listed.stdout
    assert phoneworld("tasks", "list", app / "bundle").returncode == 3
    done = phoneworld("tasks", "prove", app, "--seeds", "2", "--random", "20")
    assert done.returncode == 0 and "2 of 2 tasks proved" in done.stdout, done.stdout + done.stderr
    assert phoneworld("tasks", "prove", app, "--only", "nothing").returncode == 2
    weak = BUY.replace('what: "{product.name}", ', "")
    (app / "tasks" / "a.yaml").write_text(NAMES + "tasks:\n" + weak, encoding="utf-8")
    refused = phoneworld("check", app)
    assert refused.returncode == 1 and "takes a wrong ending" in refused.stdout
    (app / "tasks" / "a.yaml").write_text("tasks:\n- {id: 3}\n", encoding="utf-8")
    told = phoneworld("check", app)
    assert told.returncode == 3 and "a.yaml:2" in told.stderr


def test_two_tasks_of_one_id_are_not_taken_for_one_another() -> None:
    impossible = tasks(task("{rows: {table: goods, added: [{name: Bread}]}}"))[0]
    possible = tasks(task("{state: {variables.bargains: true}}"))[0]
    prover = Prover(PHONE, (), effort=60)
    assert isinstance(prover.solved(impossible, 0), str) and not isinstance(prover.solved(possible, 0), str)


def test_a_remark_beside_the_right_number_is_no_second_answer() -> None:
    # The dearest of three costs 9, and the names of others say no number.
    proof = proved(PRICE.replace("What is the name of the dearest thing?", "What does the dearest thing cost?").replace("max_by(tables.goods, &cost).name", "max(tables.goods[].cost)").replace("{text:", "{number:"))
    assert not proof.survivors, proof.survivors
