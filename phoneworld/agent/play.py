"""Plays episodes with a network, many at once: one pass of the network for a step of all. Knows no rewards and no updates.

Left out of what trainers do: rollouts by a server of its own, weights that lag behind. The network that plays is the one that is trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import Any

from phoneworld.agent.network import Network, choose
from phoneworld.agent.policy import drawn, one_thread
from phoneworld.agent.screen import screen_of
from phoneworld.agent.sight import Choice, Memory, Seen, Sight
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.record import EpisodeRecord, StepRecord
from phoneworld.env.rollout import Job, Player, Took
from phoneworld.ui.action import Action


@dataclass(frozen=True, slots=True)
class Decision:
    """What was seen, what was chosen, and its log-probability then."""

    sight: Sight
    choice: Choice
    log: float


@dataclass(frozen=True, slots=True)
class Played:
    """An episode with its decisions, one a step."""

    record: EpisodeRecord
    decisions: tuple[Decision, ...]


Done = Callable[[int, Played], None]
"""Hears of an episode as soon as it has ended: the number of its job, and how it went."""


@dataclass(slots=True)
class Spent:
    """Seconds by what they went into, and steps."""

    env_s: float = 0.0
    looking_s: float = 0.0
    network_s: float = 0.0
    update_s: float = 0.0
    wall_s: float = 0.0
    """Seconds by the clock of playing, which are fewer than their sum where several phones are played on at once."""
    steps: int = 0

    def shares(self) -> dict[str, float]:
        """The share of each in their sum."""
        parts = {"environment": self.env_s, "looking": self.looking_s, "network": self.network_s, "update": self.update_s}
        total = sum(parts.values()) or 1.0
        return {name: part / total for name, part in parts.items()}

    def add(self, other: Spent) -> None:
        """Adds what another spent."""
        self.env_s, self.looking_s, self.network_s = self.env_s + other.env_s, self.looking_s + other.looking_s, self.network_s + other.network_s
        self.update_s, self.wall_s, self.steps = self.update_s + other.update_s, self.wall_s + other.wall_s, self.steps + other.steps


@dataclass(slots=True)
class _Seat:
    """One episode being played: a Policy that does what it is told, and a Pen that keeps what is shown."""

    dice: Random | None
    spent: Spent
    memory: Memory = field(default_factory=Memory)
    decisions: list[Decision] = field(default_factory=list)
    seen: Seen | None = None
    told: Action | None = None

    def decide(self, choice: Choice, log: float) -> None:
        assert self.seen is not None
        self.told = self.seen.action(choice)
        self.decisions.append(Decision(self.seen.sight, choice, log))
        self.memory.did(self.seen, choice)

    def look(self, observation: Observation) -> None:
        began = perf_counter()
        self.seen = self.memory.look(screen_of(observation), observation.instruction)
        self.spent.looking_s += perf_counter() - began

    # What a Player asks of policy, actor, keep and pen

    def act(self, observation: Observation, info: Info) -> Action:
        assert self.told is not None
        return self.told

    def step(self, step: StepRecord, said: str | None, info: Info, before: Observation, after: Observation, took: Took) -> None:
        if info["termination"] is None:
            self.look(after)

    def end(self, record: EpisodeRecord, explanation: Sequence[str]) -> None:
        self.seen = None


@dataclass(frozen=True, slots=True)
class _Sits:
    """Begins an episode at a seat."""

    seat: _Seat

    def begin(self, *about: Any) -> Any:
        """As a Policy (task, seed), and as a Keep (job, env, observation, info), which comes first."""
        if isinstance(about[0], Job):
            self.seat.look(about[2])
        return self.seat

    def lost(self, job: Job, record: EpisodeRecord) -> None:
        """Nothing is kept of it."""


def play(
    network: Network, envs: Sequence[Env[Any]], todo: Sequence[tuple[Job, Random | None]], spent: Spent | None = None, done: Done | None = None
) -> list[Played]:
    """The episodes of all jobs, in their order: drawn by each job's dice, or the likeliest choices where those are None. `done` hears of each as it ends."""
    spent = spent if spent is not None else Spent()
    started = perf_counter()
    results: dict[int, Played] = {}
    waiting = list(reversed(list(enumerate(todo))))
    playing: list[tuple[int, Player, _Seat] | None] = [None] * len(envs)

    def ended(number: int, played: Played) -> None:
        results[number] = played
        if done is not None:
            done(number, played)

    one_thread()
    while waiting or any(playing):
        for place, env in enumerate(envs):
            while playing[place] is None and waiting:
                number, (job, dice) = waiting.pop()
                seat = _Seat(dice, spent)
                began, looked = perf_counter(), spent.looking_s
                sits = _Sits(seat)
                player = Player(env, job, sits, sits)
                spent.env_s += perf_counter() - began - (spent.looking_s - looked)
                if player.record is not None:
                    ended(number, Played(player.record, ()))
                else:
                    playing[place] = (number, player, seat)
        busy = [held for held in playing if held is not None]
        began = perf_counter()
        if busy:
            chosen = choose(network, [seat.seen.sight for _, _, seat in busy if seat.seen is not None], [drawn(seat.dice) for _, _, seat in busy])
            for (_, _, seat), (choice, log) in zip(busy, chosen, strict=True):
                seat.decide(choice, log)
        spent.network_s += perf_counter() - began
        for place, held in enumerate(playing):
            if held is None:
                continue
            number, player, seat = held
            began, looked = perf_counter(), spent.looking_s
            player.step()
            spent.env_s += perf_counter() - began - (spent.looking_s - looked)
            spent.steps += 1
            if player.record is not None:
                # A step that raised is none: its decision came to nothing.
                ended(number, Played(player.record, tuple(seat.decisions[: len(player.record.steps)])))
                playing[place] = None
    spent.wall_s += perf_counter() - started
    return [results[number] for number in range(len(todo))]
