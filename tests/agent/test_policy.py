"""The policy in executors, and its files."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network, Shape, batch_of, choose
from phoneworld.agent.policy import NetworkPolicy, load, save, write_whole
from phoneworld.agent.sight import Choice
from phoneworld.env.processes import Processes
from phoneworld.env.rollout import InProcess, Phones, jobs, rollout
from phoneworld.errors import FileFormatError, NewerFormat, WriteError
from tests.agent.looks import first_look
from tests.env.shop_phone import write_shop

SMALL = Shape(width=16, heads=2, layers=1)


@pytest.mark.parametrize("sample", [False, True])
def test_episodes_are_the_same_here_and_in_processes(tmp_path: Path, sample: bool) -> None:
    bundle, tasks = write_shop(tmp_path)
    phones, todo = Phones(bundle, tasks=tasks, max_steps=4), jobs(("shop/buy-v1", "shop/cheap-v1"), seeds=range(3))
    policy = NetworkPolicy(Network(SMALL, seed=3), sample=sample)
    here = [e.to_bytes() for e in rollout(policy, todo, phones)]
    assert len(set(here)) == 6
    assert [e.to_bytes() for e in rollout(policy, todo, phones, InProcess(interleave=6))] == here
    assert [e.to_bytes() for e in rollout(policy, todo, phones, Processes(workers=1, interleave=2))] == here


def test_the_same_seed_gives_the_same_network_and_leaves_torch_s_dice_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    one, other = Network(SMALL, seed=1), Network(SMALL, seed=1)
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not torch.equal(one.words.weight, Network(SMALL, seed=2).words.weight)


def test_a_checkpoint_comes_back_as_it_was_and_has_the_same_bytes(tmp_path: Path) -> None:
    network = Network(SMALL, seed=5)
    save(network, tmp_path / "a.pt", about={"steps": 12})
    save(network, tmp_path / "other name.pt", about={"steps": 12})
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other name.pt").read_bytes()
    back = load(tmp_path / "a.pt")
    assert back.shape == SMALL and all(torch.equal(a, b) for a, b in zip(network.parameters(), back.parameters(), strict=True))


class Runs:
    """Makes a folder when it is unpickled."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.place,)


def test_nothing_in_a_checkpoint_is_run(tmp_path: Path) -> None:
    for name, write in (("a.pt", lambda o, f: torch.save(o, f)), ("b.pt", lambda o, f: f.write_bytes(pickle.dumps(o)))):
        file, trap = tmp_path / name, tmp_path / f"made by {name}"
        write({"format": 1, "weights": Runs(str(trap))}, file)
        with pytest.raises(FileFormatError):
            load(file)
        assert not trap.exists()


def test_what_is_no_checkpoint_is_said_to_be_none(tmp_path: Path) -> None:
    save(Network(SMALL), whole := tmp_path / "whole.pt")
    cut, text, newer, other = (tmp_path / f"{name}.pt" for name in ("cut", "text", "newer", "other"))
    cut.write_bytes(whole.read_bytes()[:-900])
    text.write_text("hello")
    write_whole(newer, {"format": 99})
    write_whole(other, {"format": 1, "shape": {"width": 32}, "weights": Network(SMALL).state_dict()})
    for file in (cut, text, other, tmp_path / "none.pt", tmp_path):
        with pytest.raises(FileFormatError):
            load(file)
    with pytest.raises(NewerFormat):
        load(newer)
    with pytest.raises(WriteError):
        save(Network(SMALL), tmp_path / "nowhere" / "a.pt")
    with pytest.raises(WriteError):
        save(Network(SMALL), text / "a.pt")


def test_a_choice_is_as_likely_in_a_batch_as_alone_and_probabilities_add_up() -> None:
    network = Network(SMALL, seed=2)
    _, short = first_look("shop/cheap-v1")
    _, longer = first_look("shop/buy-v1")
    assert len(short.sight.kinds) != len(longer.sight.kinds)
    total = 0.0
    for token in range(len(short.sight.kinds)):
        for verb in torch.from_numpy(short.sight.verbs[token]).nonzero().flatten().tolist():
            worded = verb in (2, 9)
            choices = [Choice(token, verb, s) for s in range(len(short.texts))] if worded else [Choice(token, verb)]
            logs, _ = network.judged(batch_of([short.sight] * len(choices)), choices)
            total += float(logs.detach().exp().sum())
    assert total == pytest.approx(1.0, abs=1e-4)
    ((choice, log),) = choose(network, [short.sight], [None])
    both = choose(network, [short.sight, longer.sight], [None, None])
    assert both[0][0] == choice and both[0][1] == pytest.approx(log, abs=1e-5)
    logs, entropy = network.judged(batch_of([longer.sight, short.sight]), [both[1][0], choice])
    assert logs.tolist() == pytest.approx([both[1][1], log], abs=1e-5) and (entropy > 0).all()
