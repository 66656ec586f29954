"""`phoneworld train`: a policy out of an app's folder, and what is said where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop

BROKEN = "shop/broken-v1"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apps") / "shop"
    folder.mkdir()
    write_shop(folder)
    file = folder / "tasks" / "shop.yaml"
    kept, _, _ = file.read_text().partition(f"- id: {BROKEN}")
    file.write_text(kept)
    return folder


@pytest.fixture(scope="module")
def trained(app: Path) -> Path:
    file = app.parent / "policy.pt"
    ran = phoneworld("train", "sft", app, "-o", file, "--seeds", "6", "--epochs", "2", "--hold-out", "0", "--json")
    assert ran.returncode == 0, ran.stderr
    figures = json.loads(ran.stdout)
    assert figures["demonstrations"]["mock"] >= 4 and figures["demonstrations"]["real"] == 0 and figures["tasks_never_shown"] == [] and figures["loss"] > 0
    (score,) = figures["scores"]
    assert score["app"] == "shop" and score["tasks"] == 2 and score["episodes"] == 4 and 0 <= score["interval"][0] <= score["success"] <= score["interval"][1]
    return file


def test_the_same_words_make_the_same_checkpoint_and_eval_takes_it(app: Path, trained: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.pt"
    ran = phoneworld("train", "sft", app, "-o", again, "--seeds", "6", "--epochs", "2", "--hold-out", "0", "--scored", "0")
    assert ran.returncode == 0 and "demonstrations" in ran.stdout
    assert again.read_bytes() == trained.read_bytes()
    ran = phoneworld("eval", app, "--policy", trained, "--seeds", "1", "--out", tmp_path / "run", "--json")
    assert ran.returncode == 0 and json.loads(ran.stdout)["scored"] == 2


def test_a_run_of_rl_goes_on_and_ends_the_same(app: Path, trained: Path, tmp_path: Path) -> None:
    words = ("--groups", "2", "--members", "2", "--hold-out", "0", "--scored", "0", "--updates", "3", "--json")
    whole = phoneworld("train", "rl", app, "--from", trained, "-o", tmp_path / "whole", *words)
    assert whole.returncode == 0, whole.stderr
    figures = json.loads(whole.stdout)
    assert len(figures["updates"]) == 3 and figures["steps"]["mock"] > 0 and figures["steps"]["real"] == 0
    again = phoneworld("train", "rl", app, "--from", trained, "-o", tmp_path / "whole", *words)
    assert json.loads(again.stdout) == figures
    other = phoneworld("train", "rl", app, "--from", trained, "-o", tmp_path / "whole", *words, "--seed", "1")
    assert other.returncode == 2 and "another folder" in other.stderr


def test_what_cannot_be_trained_is_said(app: Path, trained: Path, tmp_path: Path) -> None:
    def says(*words: str | Path) -> tuple[int, str]:
        ran = phoneworld("train", *words)
        assert "Traceback" not in ran.stderr
        return ran.returncode, ran.stderr

    run = ("-o", tmp_path / "run")
    code, told = says("sft", app / "bundle", "-o", tmp_path / "a.pt")
    assert code == 3 and "bundle" in told
    code, told = says("sft", app, "-o", tmp_path / "nowhere" / "a.pt")
    assert code == 10
    code, told = says("rl", app, "--from", app / "tasks" / "shop.yaml", *run)
    assert code == 3 and "checkpoint" in told
    code, told = says("rl", app, "--from", trained, *run, "--real-fraction", "2")
    assert code == 2 and "share" in told
    code, told = says("rl", app, "--from", trained, *run, "--real-fraction", "0.5")
    assert code == 2 and "there is none" in told
    code, told = says("rl", app, "--from", trained, *run, "--real-fraction", "0.5", "--device", "web:http://127.0.0.1:9")
    assert code == 2 and "tasks transfer" in told


def test_policies_are_compared_on_the_same_episodes_and_a_second_time_from_the_file(app: Path, trained: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.pt"
    assert phoneworld("train", "sft", app, "-o", other, "--seeds", "6", "--epochs", "1", "--hold-out", "0", "--scored", "0", "--seed", "1").returncode == 0
    words = ("train", "compare", app, "--policy", trained, "--policy", other, "-o", tmp_path / "scores.jsonl", "--hold-out", "0")
    first = phoneworld(*words, "--json")
    assert first.returncode == 0, first.stderr
    figures = json.loads(first.stdout)
    assert [(s["policy"], s["scored"]) for s in figures["shares"]] == [(str(trained), 4), (str(other), 4)] and figures["steps_a_second"]["mock"] > 0
    (against,) = figures["against_the_first"]
    assert against["episodes"] == 4 and against["difference"] == figures["shares"][1]["success"] - figures["shares"][0]["success"]
    again = json.loads(phoneworld(*words, "--json").stdout)
    assert again == figures | {"steps_a_second": {}}
    assert "against the first" in phoneworld(*words).stdout
    assert phoneworld(*words, "--only", "nothing").returncode == 2
