"""Reinforcement learning: group-relative clipped policy gradient on mock, real phone, or both.

An update plays groups of episodes, each group from one task and seed, so that within it only the policy's choices differ; an episode's advantage is
its pay against its group's mean. Real groups are played in a thread of their own while the mock's are played here; each is begun with the weights of
its update and drawn by its own dice, so that no number depends on which was quicker.

From the published algorithms (GRPO, Shao et al. 2024; Dr. GRPO, Liu et al. 2025; DAPO, Yu et al. 2025; PPO, Schulman et al. 2017): the group as baseline, clipping that
is wider above, groups without variance dropped. Left out: a critic (the group is the baseline), the KL term to the first policy (one more network, and
the policy is meant to leave it), division by the group's deviation by default (it makes groups count most that hardly differ), length penalties,
advantages by step (one number pays an episode, whose steps all share it), refilling dropped groups (the number of real steps is to be known before).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from math import isnan
from random import Random
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch

from phoneworld.agent.network import Network, batch_of
from phoneworld.agent.play import Decision, Done, Played, Spent
from phoneworld.agent.policy import one_thread
from phoneworld.env.rollout import Job
from phoneworld.errors import OptionError
from phoneworld.train.journal import Journal
from phoneworld.train.sources import MOCK, REAL, Curriculum, Mixing


@dataclass(frozen=True, slots=True)
class RlOptions:
    """How it is trained. `groups` an update, `members` a group; `passes` over what was played.

    `real_steps` and `steps` (those on mocks too) are what a run may take: it ends before the update that, were it as long as the longest so
    far, would go beyond. Every `validate_every` updates the policy is validated, where there is something to do that by.
    """

    updates: int = 40
    groups: int = 8
    members: int = 8
    passes: int = 2
    batch: int = 64
    rate: float = 1e-4
    clip_low: float = 0.2
    clip_high: float = 0.28
    entropy: float = 0.002
    most: float = 1.0
    by_deviation: bool = False
    mixing: Mixing = Mixing()
    real_steps: int | None = None
    steps: int | None = None
    validate_every: int = 4


class Place(Protocol):
    """Where the episodes of one source are played."""

    tasks: Curriculum
    seeds: int

    def play(self, network: Network, todo: Sequence[tuple[Job, Random | None]], spent: Spent, done: Done | None = None) -> list[Played]:
        """The episodes of these jobs, in their order. `done` hears of each as it ends, from one thread at a time."""
        ...

    def close(self) -> None:
        """Lets go what it plays on."""
        ...


@dataclass(frozen=True, slots=True)
class Update:
    """How an update went. Shares are of the episodes that have a score; `kept` groups differed within themselves."""

    number: int
    success: dict[str, float]
    episodes: dict[str, int]
    steps: dict[str, int]
    groups: int
    kept: int
    untrainable: int
    unrecorded: int
    loss: float
    entropy: float
    clipped: float
    validated: float | None = None
    """The share of the validation's episodes that succeeded after it, where it was validated."""

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


@dataclass(slots=True)
class Run:
    """One run of training: the network, where it plays, and how far it is. Everything in it but `spent` follows from the seed.

    `validate` gives a share of success: `best` are the weights with which it was highest, the later of equal ones; empty before the first.
    """

    network: Network
    places: dict[str, Place]
    options: RlOptions
    seed: int = 0
    journal: Journal | None = None
    validate: Callable[[Network], float] | None = None
    updates: list[Update] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=lambda: {MOCK: Spent(), REAL: Spent()})
    _optimizer: Any = None
    _aside: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def __post_init__(self) -> None:
        for source, unneeded in ((REAL, Mixing()), (MOCK, Mixing(1.0, 1.0))):
            if source not in self.places and self.options.mixing != unneeded:
                raise OptionError(f"groups are to be played on the {source}, and there is none", hint="another share of real groups, or name one")
        one_thread()
        self._optimizer = torch.optim.AdamW(self.network.parameters(), lr=self.options.rate, weight_decay=0.0)
        if self.journal is not None and (kept := self.journal.last()) is not None:
            self.network.load_state_dict(kept["weights"])
            self._optimizer.load_state_dict(kept["optimizer"])
            self.updates = [Update(**update) for update in kept["updates"]]
            self.best = kept["best"]
            for name, solved in kept["curricula"].items():
                self.places[name].tasks.solved = solved

    def train(self, tell: Callable[[Update], None] | None = None) -> list[Update]:
        """Goes on to the end."""
        while not self.is_done:
            update = self.train_once()
            if tell is not None:
                tell(update)
        return self.updates

    def train_once(self) -> Update:
        """One update, validated where that is due, and kept."""
        self.updates.append(self._validated(self.update()))
        if self.journal is not None:
            curricula = {name: place.tasks.solved for name, place in self.places.items()}
            told = [u.to_json() for u in self.updates]
            self.journal.keep(len(told), self.network.state_dict(), self._optimizer.state_dict(), told, curricula, self.best)
        return self.updates[-1]

    @property
    def is_done(self) -> bool:
        """True at its last update, and where one more would go beyond the steps that it may take."""
        ends = [len(self.updates) >= self.options.updates]
        for limit, each in ((self.options.real_steps, [u.steps.get(REAL, 0) for u in self.updates]), (self.options.steps, [sum(u.steps.values()) for u in self.updates])):
            ends.append(limit is not None and sum(each) + max(each, default=0) > limit)
        return any(ends)

    def _validated(self, update: Update) -> Update:
        if self.validate is None or (update.number + 1) % self.options.validate_every:
            return update
        update = replace(update, validated=self.validate(self.network))
        if (update.validated or 0.0) >= max((u.validated or 0.0 for u in self.updates), default=0.0):
            self.best = {name: weights.clone() for name, weights in self.network.state_dict().items()}
        return update

    def close(self) -> None:
        """Lets phones and environments go."""
        if REAL in self.places:
            self._aside.submit(self.places[REAL].close).result()
        if MOCK in self.places:
            self.places[MOCK].close()
        self._aside.shutdown()

    @property
    def real_steps(self) -> int:
        """Steps that were made on the real phone."""
        return sum(u.steps.get(REAL, 0) for u in self.updates)

    def update(self) -> Update:
        """Plays the groups of one update and learns from them."""
        number, options = len(self.updates), self.options
        real = options.mixing.real_groups(number, options.updates, options.groups)
        todo = {source: self._jobs(source, n) for source, n in ((REAL, real), (MOCK, options.groups - real)) if n}
        # A phone belongs to the thread that opened it: one for all updates.
        waiting = self._aside.submit(self._play, REAL, todo[REAL]) if REAL in todo else None
        played = {MOCK: self._play(MOCK, todo[MOCK])} if MOCK in todo else {}
        if waiting is not None:
            played[REAL] = waiting.result()
        began = perf_counter()
        groups = [
            group for source in (REAL, MOCK) if source in played
            for group in (played[source][i : i + options.members] for i in range(0, len(played[source]), options.members))
        ]  # fmt: skip
        learned, kept = lessons(groups, by_deviation=options.by_deviation)
        loss, entropy, clipped = self._learn(learned, number)
        for source, episodes in played.items():
            for i in range(0, len(episodes), options.members):
                scored = [p.record.success is True for p in episodes[i : i + options.members] if p.record.trainable]
                self.places[source].tasks.learn(todo[source][i][0].name or "", scored)
        self.spent[MOCK if MOCK in played else REAL].update_s += perf_counter() - began
        everything = [p for group in groups for p in group]
        return Update(
            number,
            {s: _share([p.record.success is True for p in of if p.record.trainable]) for s, of in played.items()},
            {s: len(of) for s, of in played.items()},
            {s: sum(len(p.decisions) for p in of) for s, of in played.items()},
            len(groups), kept, sum(not p.record.trainable for p in everything), sum(p.record.unrecorded for p in everything), loss, entropy, clipped,
        )  # fmt: skip

    def _jobs(self, source: str, groups: int) -> list[tuple[Job, Random | None]]:
        """Each group is one task and seed; each member has dice of its own."""
        number = len(self.updates)
        dice = Random(f"{self.seed}\0{number}\0{source}")
        place = self.places[source]
        drawn = [(task, dice.randrange(place.seeds)) for task in place.tasks.draw(groups, dice)]
        return [
            (Job(task, seed), Random(f"{self.seed}\0{number}\0{source}\0{group}\0{member}"))
            for group, (task, seed) in enumerate(drawn) for member in range(self.options.members)
        ]  # fmt: skip

    def _play(self, source: str, todo: list[tuple[Job, Random | None]]) -> list[Played]:
        place, spent, number = self.places[source], self.spent[source], len(self.updates)
        if source == MOCK or self.journal is None:
            return place.play(self.network, todo, spent)
        # A real episode is dear: once it has ended it is on the disk, and is not played again.
        journal, known = self.journal, {i: episode for i in range(len(todo)) if (episode := self.journal.episode(number, i)) is not None}
        left = [i for i in range(len(todo)) if i not in known]
        played = place.play(self.network, [todo[i] for i in left], spent, lambda i, one: journal.keep_episode(number, left[i], one))
        known |= zip(left, played, strict=True)
        return [known[i] for i in range(len(todo))]

    def _learn(self, learned: list[tuple[Decision, float]], number: int) -> tuple[float, float, float]:
        options, losses, entropies, clipped = self.options, [0.0], [0.0], [0.0]
        for turn in range(options.passes):
            order = list(range(len(learned)))
            Random(f"{self.seed}\0{number}\0{turn}\0order").shuffle(order)
            for start in range(0, len(order), options.batch):
                part = sorted((learned[i] for i in order[start : start + options.batch]), key=lambda one: len(one[0].sight.kinds))
                decisions, pays = [d for d, _ in part], torch.tensor([pay for _, pay in part])
                logs, entropy = self.network.judged(batch_of([d.sight for d in decisions]), [d.choice for d in decisions])
                ratio = (logs - torch.tensor([d.log for d in decisions])).exp()
                held = ratio.clamp(1 - options.clip_low, 1 + options.clip_high)
                loss = -torch.minimum(ratio * pays, held * pays).mean() - options.entropy * entropy.mean()
                self._optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), options.most)
                self._optimizer.step()
                losses.append(float(loss.detach()))
                entropies.append(float(entropy.detach().mean()))
                clipped.append(float((ratio != held).float().mean()))
        return tuple(float(np.mean(of[1:] or of)) for of in (losses, entropies, clipped))  # type: ignore[return-value]


def lessons(groups: Sequence[Sequence[Played]], *, by_deviation: bool = False) -> tuple[list[tuple[Decision, float]], int]:
    """The decisions to learn from with what each is paid, and of how many groups they are.

    Episodes that say nothing of the policy are left out of their group, and steps that do not; groups whose episodes are all paid alike teach nothing.
    """
    learned: list[tuple[Decision, float]] = []
    kept = 0
    for group in groups:
        paid = [(p, p.record.total) for p in group if p.record.trainable and not isnan(p.record.total)]
        pays = np.array([pay for _, pay in paid])
        if len(paid) < 2 or np.ptp(pays) < 1e-9:
            continue
        kept += 1
        advantages = (pays - pays.mean()) / (pays.std() + 1e-4 if by_deviation else 1.0)
        for (played, _), advantage in zip(paid, advantages, strict=True):
            learned += [(d, float(advantage)) for d, step in zip(played.decisions, played.record.steps, strict=True) if step.trainable]
    return learned, kept


def _share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes) if outcomes else 0.0
