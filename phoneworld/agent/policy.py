"""The policy as environments know it: begins episodes in any executor; kept in files that hold numbers and nothing that runs."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from random import Random
from typing import Any

import numpy as np
import torch

from phoneworld.agent.network import Network, Shape, choose
from phoneworld.agent.screen import screen_of
from phoneworld.agent.sight import Memory, Sight
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.policy import Actor
from phoneworld.errors import FileFormatError, NewerFormat, WriteError
from phoneworld.graph.file import write_atomically
from phoneworld.ui.action import Action

FORMAT = 1


def one_thread() -> None:
    """Lets torch work on one thread in this process: sums come out the same, and small networks lose nothing by it."""
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Acts as a network says: the likeliest choice, or one drawn by task and seed where `sample` is True."""

    network: Network
    sample: bool = False

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor with an empty memory."""
        one_thread()
        return _Actor(self.network, Random(f"{task}\0{seed}") if self.sample else None)


class _Actor:
    def __init__(self, network: Network, dice: Random | None) -> None:
        self._network, self._dice, self._memory = network, dice, Memory()

    def act(self, observation: Observation, info: Info) -> Action:
        seen = self._memory.look(screen_of(observation), observation.instruction)
        ((choice, _),) = choose(self._network, [seen.sight], [drawn(self._dice)])
        self._memory.did(seen, choice)
        return seen.action(choice)


def drawn(dice: Random | None) -> Any:
    """The two numbers that draw a choice, or None for the likeliest."""
    return None if dice is None else np.array([dice.random(), dice.random()])


def save(network: Network, file: str | Path, *, about: dict[str, Any] | None = None) -> None:
    """Writes a checkpoint; `about` is what else to say of it, as JSON has it. The same network, the same bytes. Raises WriteError."""
    packed = {"format": FORMAT, "shape": network.shape.to_json(), "about": about or {}, "weights": network.state_dict()}
    write_whole(Path(file), packed)


def load(file: str | Path) -> Network:
    """The network of a checkpoint. Nothing of the file is run. Raises FileFormatError for one that is not ours or not whole."""
    packed = read_whole(Path(file))
    try:
        if packed["format"] > FORMAT:
            raise NewerFormat(f"{file} is of format {packed['format']}, this PhoneWorld reads up to {FORMAT}", hint="update phoneworld")
        network = Network(Shape(**packed["shape"]))
        network.load_state_dict(packed["weights"])
    except (KeyError, TypeError, ValueError, RuntimeError, AssertionError) as e:
        raise FileFormatError(f"{file} does not hold the weights of a policy: {str(e).splitlines()[0]}", hint=_HINT) from None
    return network


_HINT = "name a file that `phoneworld train` wrote"


def write_whole(path: Path, packed: dict[str, Any]) -> None:
    """Writes numbers, texts and tensors; whole or not at all. Raises WriteError."""
    held = io.BytesIO()  # in memory first: the archive would be called after the file, and differ by it
    torch.save(packed, held)
    if not path.parent.is_dir():
        raise WriteError(f"cannot write {path}: there is no folder {path.parent}", hint="name a file in a folder that is there")
    write_atomically(path, held.getvalue())


def read_whole(path: Path) -> dict[str, Any]:
    """What `write_whole` wrote; nothing in the file is run. Raises FileFormatError."""
    try:
        packed = torch.load(io.BytesIO(path.read_bytes()), weights_only=True)
    except OSError as e:
        raise FileFormatError(f"cannot read {path}: {e.strerror or e}", hint=_HINT) from None
    except (UnpicklingError, RuntimeError, EOFError, KeyError, ValueError, TypeError, AttributeError, IndexError) as e:
        raise FileFormatError(f"{path} is no checkpoint: {str(e).splitlines()[0] if str(e) else type(e).__name__}", hint=_HINT) from None
    if not isinstance(packed, dict):
        raise FileFormatError(f"{path} is no checkpoint: it holds a {type(packed).__name__}", hint=_HINT)
    return packed


def packed_sight(sight: Sight) -> dict[str, Any]:
    """A sight as tensors, for files."""
    return {name: torch.from_numpy(getattr(sight, name)) for name in Sight.__slots__}


def unpacked_sight(packed: dict[str, Any]) -> Sight:
    """A sight from a file."""
    return Sight(**{name: packed[name].numpy() for name in Sight.__slots__})
