"""A policy that `phoneworld.train` made, by its file. Read where it acts; nothing of the file is run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from phoneworld.env.extras import need
from phoneworld.env.policy import Actor
from phoneworld.errors import FileFormatError

if TYPE_CHECKING:  # torch is not everybody's
    from phoneworld.agent.policy import NetworkPolicy


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """The network of a file: its likeliest action, or one drawn by task and seed where `sample` is True."""

    path: str
    sample: bool = False

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor of the network. Raises FileFormatError, MissingDependency."""
        return network_in(self.path, self.sample).begin(task, seed)

    @property
    def digest(self) -> str:
        """SHA-256 of the file. Raises FileFormatError where it cannot be read."""
        try:
            return sha256(Path(self.path).read_bytes()).hexdigest()
        except OSError as e:
            raise FileFormatError(f"cannot read {self.path}: {e.strerror or e}", hint="--policy FILE.pt, as phoneworld.train wrote it") from None


@lru_cache(maxsize=2)
def network_in(path: str, sample: bool) -> NetworkPolicy:
    """The policy of a checkpoint, read once."""
    need("torch", "train")
    from phoneworld.agent.policy import NetworkPolicy, load

    return NetworkPolicy(load(path), sample)
