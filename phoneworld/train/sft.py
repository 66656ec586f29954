"""Supervised training on demonstrations: cross-entropy of the demonstrated choices.

Left out of what is published: packing, warm-up and decay of the learning rate, label smoothing, early stopping. With some thousand steps of
demonstrations and a network this small none of them paid for its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch

from phoneworld.agent.network import Network, batch_of
from phoneworld.agent.policy import one_thread
from phoneworld.agent.sight import Choice, Sight
from phoneworld.errors import OptionError
from phoneworld.train.demonstrations import Demonstration


@dataclass(frozen=True, slots=True)
class SftOptions:
    """How it is trained. `rate` is AdamW's learning rate; `entropy` is what a nat of entropy is paid, so that RL has something left to try."""

    epochs: int = 20
    batch: int = 32
    rate: float = 1e-3
    decay: float = 1e-2
    entropy: float = 0.0
    most: float = 1.0
    """The largest norm of a gradient."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """How one epoch went: the mean loss of a step, in nats, and the number of steps."""

    number: int
    loss: float
    steps: int


def train(
    network: Network, shown: Sequence[Demonstration], options: SftOptions = SftOptions(), *, seed: int = 0, tell: Callable[[Epoch], None] | None = None
) -> list[Epoch]:
    """Trains a network in place. The same network, demonstrations and seed give the same weights. Raises OptionError where there is nothing to learn from."""
    steps = [step for one in shown for step in one.steps]
    if not steps:
        raise OptionError("there is no demonstration to learn from", hint="`phoneworld tasks list APP` shows the tasks of an app")
    one_thread()
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=options.decay)
    epochs: list[Epoch] = []
    for number in range(options.epochs):
        total = 0.0
        for batch in batches(steps, options.batch, Random(f"{seed}\0{number}")):
            logs, entropy = network.judged(batch_of([sight for sight, _ in batch]), [choice for _, choice in batch])
            loss = -logs.mean() - options.entropy * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), options.most)
            optimizer.step()
            total -= float(logs.detach().sum())
        epochs.append(Epoch(number, total / len(steps), len(steps)))
        if tell is not None:
            tell(epochs[-1])
    return epochs


def batches(steps: Sequence[tuple[Sight, Choice]], size: int, dice: Random) -> list[list[tuple[Sight, Choice]]]:
    """All steps in batches, in an order that the dice decide; in a batch those of like length, for it is padded to the longest."""
    order = list(range(len(steps)))
    dice.shuffle(order)
    # Sorted within some batches only, so that what comes together changes from epoch to epoch.
    pools = [sorted(order[i : i + 8 * size], key=lambda k: len(steps[k][0].kinds)) for i in range(0, len(order), 8 * size)]
    made = [[steps[k] for k in pool[i : i + size]] for pool in pools for i in range(0, len(pool), size)]
    dice.shuffle(made)
    return made
