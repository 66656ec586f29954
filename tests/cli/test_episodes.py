"""`phoneworld episodes`: what it says of a folder, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phoneworld.env.policy import RandomPolicy
from phoneworld.env.rollout import Phones, jobs, rollout
from phoneworld.episodes.folder import EpisodeFolder
from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop
from tests.episodes.test_traces import begun


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    bundle, tasks = write_shop(tmp_path)
    phones = Phones(bundle, tasks=tasks)
    rollout(RandomPolicy(finish=0.2), jobs(("shop/cheap-v1", "shop/told-v1"), seeds=range(2)), phones, keep=begun(tmp_path / "runs", phones))
    return tmp_path / "runs"


def test_list_tells_how_each_ended(runs: Path) -> None:
    told = json.loads(phoneworld("episodes", "list", runs, "--json").stdout)
    assert [(one["task"], one["seed"]) for one in told] == [("shop/cheap-v1", 0), ("shop/cheap-v1", 1), ("shop/told-v1", 0), ("shop/told-v1", 1)]
    shown = phoneworld("episodes", "list", runs, "--only", "told")
    assert shown.returncode == 0 and "shop/told-v1/seed-1" in shown.stdout and "2 episodes" in shown.stdout and "cheap" not in shown.stdout


def test_replay_says_yes_and_where_it_says_no(runs: Path) -> None:
    ran = phoneworld("episodes", "replay", runs)
    assert ran.returncode == 0 and "4 of 4 episodes came out the same to the byte" in ran.stdout
    file = EpisodeFolder(runs).trace_file("shop/cheap-v1/seed-0")
    file.write_bytes(file.read_bytes().replace(b'"progress": 0.0', b'"progress": 0.75', 1))
    ran = phoneworld("episodes", "replay", runs)
    assert ran.returncode == 1 and "shop/cheap-v1/seed-0, line 2" in ran.stdout and '"progress": 0.75' in ran.stdout
    told = json.loads(phoneworld("episodes", "replay", runs, "--json").stdout)
    assert (told["same"], told["differs"], told["episodes"][0]["line"]) == (3, 1, 2)


def test_what_is_no_folder_of_episodes_is_told_in_words(tmp_path: Path, runs: Path) -> None:
    for verb in ("list", "replay"):
        ran = phoneworld("episodes", verb, tmp_path / "nowhere")
        assert ran.returncode == 3 and "holds no episodes" in ran.stderr and "Traceback" not in ran.stderr
        assert phoneworld("episodes", verb, runs, "--only", "elsewhere").returncode == 2
    file = EpisodeFolder(runs).trace_file("shop/cheap-v1/seed-0")
    file.write_bytes(b"\xff\xfe not json\n")
    ran = phoneworld("episodes", "replay", runs)
    assert ran.returncode == 3 and "seed-0.jsonl, line 1" in ran.stderr
