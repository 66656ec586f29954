"""What acts: a Policy begins an episode and gives an Actor for it. Knows no particular policy but those that need none."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.ui.action import Action, Finish, PressKey, Swipe, Tap, TypeText, action_from_json


class Actor(Protocol):
    """Acts in one episode, and may remember it.

    Where it has a text `said`, the words of its last action, traces keep them; where it has a `close`, it is called at the end.
    """

    def act(self, observation: Observation, info: Info) -> Action | Mapping[str, Any]:
        """The next action, as a value or as its JSON object."""
        ...


class Policy(Protocol):
    """What acts. It is sent to other processes by pickle; what an episode needs to remember belongs into its Actor."""

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor for an episode of a task. The same task and seed must give the same actor: then results are the same in any executor."""
        ...


@dataclass(frozen=True, slots=True)
class Script:
    """Does the same actions in every episode, then finishes."""

    actions: tuple[Action, ...]

    @classmethod
    def of(cls, actions: Sequence[Action | Mapping[str, Any]]) -> Script:
        """Of actions as values or as their JSON objects. Raises ActionError."""
        return cls(tuple(action_from_json(dict(a)) if isinstance(a, Mapping) else a for a in actions))

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor at the first action."""
        return _Reader(self.actions)


class _Reader:
    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._left = list(reversed(actions))

    def act(self, observation: Observation, info: Info) -> Action:
        return self._left.pop() if self._left else Finish()


@dataclass(frozen=True, slots=True)
class RandomPolicy:
    """Touches what can be touched, types `words`, goes back, scrolls; by the seed. `finish` is the chance that a step ends the episode."""

    words: tuple[str, ...] = ("", "hello", "12")
    finish: float = 0.0

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor whose dice fall by task and seed."""
        return _Dice(self, random.Random(f"{task}\0{seed}"))


class _Dice:
    def __init__(self, policy: RandomPolicy, dice: random.Random) -> None:
        self._policy, self._dice = policy, dice

    def act(self, observation: Observation, info: Info) -> Action:
        dice, size = self._dice, observation.size
        if dice.random() < self._policy.finish:
            return Finish()
        elements = observation.elements
        chance = dice.random()
        if not elements or chance < 0.1:
            return PressKey("back")
        element = dice.choice(elements)
        if "type" in element.gestures and chance < 0.5:
            return TypeText(dice.choice(self._policy.words), element.point.x, element.point.y)
        if chance < 0.2:
            x, y = size.width // 2, size.height // 2
            return Swipe(x, y, x, max(0, y - size.height // 3) if dice.random() < 0.7 else min(size.height - 1, y + size.height // 3))
        return Tap(element.point.x, element.point.y)
