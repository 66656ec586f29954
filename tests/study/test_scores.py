"""Scores are kept as they come and played once; figures are made from them alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network, Shape
from phoneworld.device.mock import MockDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.record import EpisodeRecord
from phoneworld.env.rollout import Job, jobs
from phoneworld.errors import FileFormatError, WriteError
from phoneworld.program.bundle import Bundle
from phoneworld.sim.phone import Phone
from phoneworld.study.figures import difference, share, transfer
from phoneworld.study.scores import Score, ScoreFile, score
from phoneworld.train.places import RealPhone
from phoneworld.train.sources import MOCK, REAL
from tests.sim.shop import PACKAGE, shop
from tests.tasks.shop_tasks import tasks
from tests.train.test_rl import Shops
from tests.transfer.shops import TASKS, _no_drawing, starting_at_the_list

NETWORK = Network(Shape(width=16, heads=2, layers=1), seed=3)


def line(policy: str, source: str, task: int, seed: int, success: bool | None, ended: str = "failed") -> Score:
    return Score(policy, source, f"shop/t{task}-v1", seed, success, 0.0, 4, 1, ended)


def test_episodes_stand_in_the_file_and_are_played_once_also_after_a_cut(tmp_path: Path) -> None:
    todo, place = jobs(("shop/buy-v1", "shop/cheap-v1"), range(2)), Shops(4)
    file = ScoreFile(tmp_path / "scores.jsonl")
    assert score(file, "a", NETWORK, MOCK, place, todo).steps > 0
    whole = file.path.read_bytes()
    assert whole.count(b"\n") == 4 and score(file, "a", NETWORK, MOCK, place, todo).steps == 0
    file.path.write_bytes(whole[:-20])
    again = ScoreFile(file.path)
    assert len(again.scores) == 3
    score(again, "a", NETWORK, MOCK, place, todo)
    assert again.path.read_bytes() == whole


def test_a_real_phone_is_scored_one_by_one(tmp_path: Path) -> None:
    listed = tasks(TASKS)
    mock = Phone([starting_at_the_list(shop())])

    def phone() -> DeviceEnv:
        device = MockDevice([Bundle(starting_at_the_list(shop()), Path("nowhere"))], draw=_no_drawing)
        return DeviceEnv(device, PACKAGE, tasks=listed, mock=mock, max_steps=3)

    file, told = ScoreFile(tmp_path / "scores.jsonl"), list[int]()
    place = RealPhone(phone, {t.id: 3 for t in listed})
    score(file, "a", NETWORK, REAL, place, jobs(listed, (0,)), told.append)
    place.close()
    assert told == [0, *[1] * len(listed)] and {s.task for s in file.scores.values()} == {t.id for t in listed}
    assert all(s.source == REAL and 0 < s.steps <= 3 for s in file.scores.values())


def test_what_cannot_be_told_or_was_lost_is_no_failure() -> None:
    def of(success: bool | None, termination: Any, fault: Any) -> Score:
        record = EpisodeRecord("a/b-v1", 0, "", "", (), termination, fault, "", success, 0.5, None, (), (), 0)
        return Score.of("a", REAL, Job("a/b-v1", 0), record)

    assert [of(*one).success for one in ((True, "success", "none"), (False, "failed", "none"), (None, "unknown", "none"), (None, "error", "infra"))] == [True, False, None, None]
    assert (of(None, "error", "checker").ended, of(None, "unknown", "none").ended, of(None, "error", "infra").progress) == ("checker", "unknown", None)


def test_what_is_no_score_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"policy": "a"}\n')
    with pytest.raises(FileFormatError, match=r"a\.jsonl:1"):
        ScoreFile(tmp_path / "a.jsonl")
    with pytest.raises(WriteError):
        ScoreFile(tmp_path / "nowhere" / "a.jsonl").add(line("a", MOCK, 0, 0, True))


def test_differences_are_paired_and_their_intervals_count_tasks_not_episodes() -> None:
    many = [line(p, MOCK, t, s, (t % 2 == 0) if p == "b" else False) for p in ("a", "b") for t in range(20) for s in range(5)]
    told = difference(many, "b", "a", MOCK)
    assert told["difference"] == 0.5 and (told["episodes"], told["tasks"]) == (100, 20)
    low, high = told["difference_interval"]
    assert low <= 0.3 and high >= 0.7, "20 tasks, not 100 episodes: half of that width would be too sure"
    assert difference(many, "a", "a", MOCK)["difference_interval"] == [0.0, 0.0]
    unpaired = [line("a", MOCK, 0, 0, True), line("b", MOCK, 0, 1, True), line("b", MOCK, 0, 0, None)]
    assert difference(unpaired, "b", "a", MOCK)["episodes"] == 0


def test_mock_and_real_app_are_held_against_each_other() -> None:
    pairs = [(True, True), (True, False), (True, None), (False, False), (False, True), (True, True)]
    scores = [line("a", source, i, 0, pair[n]) for i, pair in enumerate(pairs) for n, source in enumerate((MOCK, REAL))]
    told = transfer(scores, "a")
    assert (told["both"], told["only_mock"], told["only_real"], told["neither"]) == (2, 1, 1, 1)
    assert told["difference"] == 0.0 and told["episodes"] == 5
    figures = share(s for s in scores if s.source == REAL)
    assert figures["success"] == 3 / 5 and figures["episodes"] == 6 and figures["ended"] == {"failed": 6} and figures["unrecorded"] == 0.25
