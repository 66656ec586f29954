"""Reinforcement learning: what is learned from, where episodes come from, and that a run ends with the same numbers however often it was killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network, Shape
from phoneworld.agent.play import Decision, Done, Played, Spent, play
from phoneworld.agent.sight import Choice
from phoneworld.env.record import EpisodeRecord, StepRecord
from phoneworld.env.rewards import Rewards
from phoneworld.env.rollout import Job, jobs
from phoneworld.errors import FileFormatError, OptionError
from phoneworld.train.demonstrations import demonstrations
from phoneworld.train.journal import Journal
from phoneworld.train.places import RealPhone
from phoneworld.train.rl import RlOptions, Run, lessons
from phoneworld.train.sft import SftOptions, train
from phoneworld.train.sources import MOCK, REAL, Curriculum, Mixing
from tests.agent.looks import first_look
from tests.env.shop_phone import shop_env

SMALL = Shape(width=16, heads=2, layers=1)
LENGTHS = {"shop/buy-v1": 3, "shop/cheap-v1": 3}


def played(pays: Sequence[float | None], *, trainable: Sequence[bool] | None = None, error: str = "none") -> Played:
    """An episode with these rewards."""
    sight = first_look()[1].sight
    flags = trainable or [True] * len(pays)
    steps = tuple(StepRecord(None, pay, "s", None, None, None, flag, 0.0) for pay, flag in zip(pays, flags, strict=True))
    record = EpisodeRecord("a/b-v1", 0, "", "s", steps, "failed", error, "", False, 0.0, None, (), (), 0)  # type: ignore[arg-type]
    return Played(record, tuple(Decision(sight, Choice(i, 0), -1.0) for i in range(len(pays))))


def test_an_episode_is_paid_against_its_group() -> None:
    learned, kept = lessons([[played([0, 1]), played([0, 0, 0]), played([0.5])]])
    assert kept == 1 and [(d.choice.token, pay) for d, pay in learned] == [(0, 0.5), (1, 0.5), (0, -0.5), (1, -0.5), (2, -0.5), (0, 0.0)]


def test_groups_that_do_not_differ_teach_nothing() -> None:
    assert lessons([[played([0, 1]), played([1])], [played([0]), played([0])], []]) == ([], 0)


def test_what_says_nothing_of_the_policy_is_left_out() -> None:
    lost, unpaid = played([1], error="infra"), played([None])
    assert lessons([[lost, played([0])], [unpaid, played([1])]]) == ([], 0)
    learned, _ = lessons([[played([0, 1], trainable=[True, False]), played([0]), lost]])
    assert [(d.choice.token, pay) for d, pay in learned] == [(0, 0.5), (0, -0.5)]


def test_the_share_of_real_groups_is_kept_over_all_updates() -> None:
    for words, expected in (("0.1", 8), ("0.5", 40), ("0", 0), ("1", 80), ("0.8:0.2", 40)):
        mixing = Mixing.of(words)
        groups = [mixing.real_groups(u, 10, 8) for u in range(10)]
        assert sum(groups) == expected and all(0 <= n <= 8 for n in groups)
    assert Mixing.of("1:0").real_groups(0, 10, 8) == 8 and Mixing.of("1:0").real_groups(9, 10, 8) == 0
    for wrong in ("", "half", "1.5", "0:1:0", "-0.1"):
        with pytest.raises(OptionError):
            Mixing.of(wrong)


def test_tasks_that_are_now_solved_and_now_not_come_most() -> None:
    tasks = Curriculum({"short": 2, "long": 12, "easy": 4, "hard": 4, "learnt": 4})
    assert tasks.chances()["short"] < tasks.chances()["easy"] > tasks.chances()["long"], "at first what the oracle's length says"
    for _ in range(6):
        tasks.learn("easy", [True] * 8)
        tasks.learn("hard", [False] * 8)
        tasks.learn("learnt", [True, False] * 4)
    chances = tasks.chances()
    assert chances["learnt"] > 2 * max(chances["easy"], chances["hard"]) and min(chances.values()) >= tasks.floor
    assert len(set(tasks.draw(5, Random(0)))) == 5 and len(tasks.draw(8, Random(0))) == 8
    assert tasks.draw(3, Random(1)) == tasks.draw(3, Random(1))


class Shops:
    """The shop side by side."""

    seeds = 1000

    def __init__(self, n: int) -> None:
        self.tasks = Curriculum(LENGTHS)
        self.envs = shop_env(rewards=Rewards("delta"), max_steps=6).fork(n)

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        return play(network, self.envs, todo, spent, done)

    def close(self) -> None:
        pass


def places(n: int = 8) -> dict[str, Any]:
    """The shop twice: as the mock, and in the place of the real phone."""
    return {MOCK: Shops(n), REAL: RealPhone(lambda: shop_env(rewards=Rewards("delta"), max_steps=6), LENGTHS, seeds=1000)}


OPTIONS = RlOptions(updates=3, groups=3, members=3, batch=16, mixing=Mixing(0.5, 0.5))


class Killed(Exception):
    pass


class Dies:
    """A phone whose run is killed at an episode."""

    def __init__(self, envs: RealPhone, at: int) -> None:
        self.envs, self.tasks, self.seeds, self.left, self.played = envs, envs.tasks, envs.seeds, at, 0

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        def counted(number: int, played: Played) -> None:
            if self.left == 0:
                raise Killed
            self.left, self.played = self.left - 1, self.played + 1
            assert done is not None
            done(number, played)

        return self.envs.play(network, todo, spent, counted)

    def close(self) -> None:
        self.envs.close()


def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_numbers(tmp_path: Path) -> None:
    whole = Run(Network(SMALL), places(), OPTIONS, seed=4)
    told = [u.to_json() for u in whole.train()]
    whole.close()
    assert any(u["episodes"].get(REAL) for u in told) and any(u["kept"] for u in told)
    counted = 0
    for at in (4, 2, 100):
        spots = places()
        phone = spots[REAL] = Dies(spots[REAL], at)
        run = Run(Network(SMALL), spots, OPTIONS, seed=4, journal=Journal(tmp_path / "run", {"seed": 4}))
        if at < 100:
            with pytest.raises(Killed):
                run.train()
        else:
            assert [u.to_json() for u in run.train()] == told
        run.close()
        counted += phone.played
    assert counted == sum(u["episodes"].get(REAL, 0) for u in told), "no real episode is played twice"
    assert all(torch.equal(a, b) for a, b in zip(whole.network.parameters(), run.network.parameters(), strict=True))


def test_another_run_s_folder_is_not_gone_on_with_and_what_is_no_episode_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run", {"seed": 4})
    with pytest.raises(OptionError):
        Journal(tmp_path / "run", {"seed": 5})
    assert journal.episode(0, 0) is None and journal.last() is None
    journal.keep_episode(0, 0, one := played([0, 1]))
    back = journal.episode(0, 0)
    assert back is not None and back.record == one.record and [(d.choice, d.log) for d in back.decisions] == [(d.choice, d.log) for d in one.decisions]
    assert all((getattr(a.sight, n) == getattr(b.sight, n)).all() for a, b in zip(one.decisions, back.decisions, strict=True) for n in a.sight.__slots__)
    (tmp_path / "run" / "real" / "00000-001.pt").write_bytes(b"cut")
    with pytest.raises(FileFormatError):
        journal.episode(0, 1)


def test_real_groups_need_a_phone() -> None:
    with pytest.raises(OptionError):
        Run(Network(SMALL), {MOCK: places()[MOCK]}, RlOptions(mixing=Mixing(0.5, 0.5)))


def test_a_run_ends_before_it_takes_more_steps_than_it_may() -> None:
    for options, source in ((RlOptions(mixing=Mixing(1.0, 1.0), real_steps=80), REAL), (RlOptions(mixing=Mixing(), steps=80), MOCK)):
        run = Run(Network(SMALL), places(), replace(options, updates=50, groups=2, members=2))
        updates = run.train()
        run.close()
        made = [u.steps[source] for u in updates]
        assert 1 < len(updates) < 10 and sum(made) <= 80 < sum(made) + max(made) and not any(set(u.steps) - {source} for u in updates)


def test_the_weights_that_validate_best_are_kept_also_by_a_run_that_was_killed(tmp_path: Path) -> None:
    marks = (0.6, 0.6)
    options = RlOptions(updates=5, groups=3, members=6, rate=1e-2, validate_every=2)

    def run_of(updates: int, kept: dict[int, Any]) -> Run:
        def validate(network: Network) -> float:
            number = (len(run.updates) + 1) // 2 - 1
            kept[number] = network.words.weight.detach().clone()
            return marks[number]

        run = Run(Network(SMALL), {MOCK: places()[MOCK]}, options, journal=Journal(tmp_path / "run", {}), validate=validate)
        while len(run.updates) < updates and not run.is_done:
            run.train_once()
        run.close()
        return run

    kept: dict[int, Any] = {}
    run_of(3, kept)
    run = run_of(5, kept)
    assert [u.validated for u in run.updates] == [None, 0.6, None, 0.6, None]
    assert torch.equal(run.best["words.weight"], kept[1]) and not torch.equal(kept[0], kept[1])
    marks = (0.7, 0.6)
    assert torch.equal(run_of(0, kept).best["words.weight"], kept[1]), "kept with the run"
    again = Run(Network(SMALL), {MOCK: places()[MOCK]}, options, validate=lambda network: marks[len(again.updates) // 2])
    again.train()
    again.close()
    assert torch.equal(again.best["words.weight"], kept[0]), "of two the better, not the later"


def test_training_makes_a_policy_better_at_what_it_was_barely_shown() -> None:
    env = shop_env(rewards=Rewards("delta"))
    shown, _ = demonstrations(env, jobs("shop/buy-v1", range(8)))
    network = Network(Shape(width=32, heads=2), seed=1)
    train(network, shown, SftOptions(epochs=8, batch=4, rate=3e-3))
    todo = [(Job(task, seed), None) for task, seeds in (("shop/buy-v1", 12), ("shop/cheap-v1", 1)) for seed in range(500, 500 + seeds)]
    before = [p.record.success is True for p in play(network, [env], todo)]
    run = Run(network, {MOCK: places(32)[MOCK]}, RlOptions(updates=20, groups=4, members=8, batch=32, rate=1e-3))
    run.train()
    run.close()
    after = [p.record.success is True for p in play(network, [env], todo)]
    assert sum(before) <= 6 and sum(after) >= sum(before) + 5 and sum(after) >= 8, (before, after, [u.success for u in run.updates])
