"""The real phone of training: the notes app as itself in Chromium, with the tasks that hold there, judged by what it has stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from tests.cli.running import ROOT, phoneworld
from tests.webapps import NOTES, served

pytestmark = pytest.mark.slow  # its short sibling, over a simulated phone: test_rl.py


def test_a_policy_is_trained_and_compared_on_the_real_notes_app(tmp_path: Path) -> None:
    app = ROOT / "apps" / "notes"
    policy, transfer, storage = tmp_path / "policy.pt", tmp_path / "notes.json", tmp_path / "notes.storage.json"
    with served(NOTES) as url:
        words = ("--device", f"web:{url}")
        tried = phoneworld("tasks", "transfer", app, *words, "--only", "dark-v1", "--only", "write-v1", "--storage", storage, "--json")
        transfer.write_text(tried.stdout)
        assert json.loads(tried.stdout)["holds"] == 2
        words = (*words, "--transfer", transfer, "--storage", storage, "--hold-out", "0")
        done = phoneworld("train", "sft", app, "-o", policy, "--seeds", "1", "--epochs", "3", "--scored", "0", "--json", *words)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["demonstrations"]["real"] == 2, json.loads(done.stdout)["not_shown"]
        run = ("train", "rl", app, "--from", policy, "-o", tmp_path / "run", "--updates", "1", "--groups", "2", "--members", "2", "--real-fraction", "0.5", "--scored", "0", "--json")
        done = phoneworld(*run, *words)
        assert done.returncode == 0, done.stderr
        (update,) = json.loads(done.stdout)["updates"]
        assert update["episodes"] == {"mock": 2, "real": 2} and update["untrainable"] == 0 and update["steps"]["real"] >= 2
        again = phoneworld(*run, *words)
        assert json.loads(again.stdout) == json.loads(done.stdout), "gone on with: nothing is played again"
        done = phoneworld("train", "compare", app, "--policy", policy, "-o", tmp_path / "scores.jsonl", "--seeds", "1", "--json", *words)
    figures = json.loads(done.stdout)
    assert {s["source"]: s["scored"] for s in figures["shares"]} == {"mock": 2, "real": 2}
    assert figures["mock_and_real"][0]["episodes"] == 2
