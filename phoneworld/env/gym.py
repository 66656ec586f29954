"""The environment for Gymnasium: `gymnasium.make("PhoneWorld/Phone-v0", bundle="apps/notes/bundle")`, and `PhoneWorld/Tasks-v0` with tasks.

Importing this module registers the ids. Observations are arrays of fixed size; the whole Observation is in
`info["observation"]`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import NDArray

from phoneworld.env.assignment import Tasks
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.outcome import Deadlines, OnUnrecorded
from phoneworld.env.parsing import parse_action
from phoneworld.env.phone_env import PhoneEnv, Source
from phoneworld.env.rewards import Rewards
from phoneworld.env.seeds import episode_seed
from phoneworld.env.spaces import (
    PLACES,
    action_of,
    discrete_action_space,
    free_action_space,
    kind_mask,
    observation_arrays,
    observation_space,
    picture_array,
    thousandths,
)  # fmt: skip
from phoneworld.errors import BrowserError, SessionError
from phoneworld.ui.action import KINDS, Action
from phoneworld.ui.geometry import Size

ENV_ID = "PhoneWorld/Phone-v0"
TASKS_ID = "PhoneWorld/Tasks-v0"
TEXTS = ("", "hello", "test", "Alice", "12", "2025-01-31", "a@example.org", "😀")
_OWN = frozenset(KINDS.values())


class GymPhoneEnv(gymnasium.Env[dict[str, Any], Any]):
    """A simulated phone with Gymnasium's interface.

    `bundle` is a bundle, its path, or several. `actions` is "discrete" (kind, x, y, number of one of `texts`) or "text" (the
    last is free text). `screenshot` adds a picture of that height and width to the observation, such as (200, 90). Actions
    may also be given as PhoneWorld's own, as values or JSON objects.

    `tasks` are tasks or where their files are. Each episode is about one of them: `task`, where it is named, else the seed chooses.
    Episodes that are not seeded follow from the last seed and their number.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        bundle: Source,
        *,
        render_mode: str | None = None,
        screenshot: tuple[int, int] | None = None,
        actions: str = "discrete",
        texts: Sequence[str] = TEXTS,
        max_nodes: int = 64,
        text_limit: int = 4096,
        max_steps: int | None = None,
        instruction: str = "",
        tasks: Tasks = (),
        task: str | None = None,
        rewards: Rewards = Rewards(),
        reward: Any = None,
        on_unrecorded: OnUnrecorded = "noop",
        deadlines: Deadlines = Deadlines(),
        drawing: Any = None,
    ) -> None:
        if actions not in ("discrete", "text"):
            raise SessionError(f"actions is discrete or text, found {actions!r}", hint='actions="discrete"')
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SessionError(
                f"no render mode {render_mode!r}", hint="one of " + ", ".join(self.metadata["render_modes"])
            )
        self.render_mode = render_mode
        self.texts = tuple(texts)
        self._picture = Size(screenshot[1], screenshot[0]) if screenshot else None
        self._max_nodes, self._text_limit = max_nodes, text_limit
        self.phone_env = PhoneEnv(
            bundle, observe=ObservationSpec(screenshot="array", text_limit=text_limit), max_steps=max_steps,
            instruction=instruction, tasks=tasks, rewards=rewards, reward=reward, on_unrecorded=on_unrecorded,
            deadlines=deadlines, parse=self._read, drawing=drawing,
        )  # fmt: skip
        self._ids = tuple(self.phone_env.book.tasks)
        if task is not None:
            self.phone_env.book.find(task)
        self._task = task
        self._seed = self._number = 0
        self._shown: dict[str, Any] = {}
        self.parts = observation_space(max_nodes=max_nodes, text_limit=text_limit, picture=self._picture)
        self.observation_space = self.parts
        self.action_space = (
            discrete_action_space(self.texts) if actions == "discrete" else free_action_space(text_limit)
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode. `options` takes `task` (an id), `start` (the name of one of the app's starts) and `snapshot`."""
        super().reset(seed=seed)
        options = options or {}
        if surplus := sorted(set(options) - {"start", "snapshot", "task"}):
            raise SessionError(f"reset has no option {', '.join(surplus)}", hint="task, start or snapshot")
        start, snapshot = options.get("start"), options.get("snapshot")
        self._number = 0 if seed is not None else self._number + 1
        self._seed = self._seed if seed is None else seed
        own = episode_seed(self._seed, self._number) if self._ids else seed
        task = options.get("task", self._task)
        if task is None and self._ids and own is not None and start is None and snapshot is None:
            task = self._ids[own % len(self._ids)]
        observation, info = self.phone_env.reset(own, start=start, snapshot=snapshot, task=task)
        return self._arrays(), {**info, "observation": observation}

    def step(self, action: Any) -> tuple[dict[str, Any], SupportsFloat, bool, bool, dict[str, Any]]:
        """Does one action; one that is not in the action space changes nothing, and `info["invalid_action"]` says why."""
        observation, reward, terminated, truncated, info = self.phone_env.step(action)
        try:
            arrays = self._arrays()
        except BrowserError as e:
            # No picture can be had: the episode is lost, and shows what it last showed.
            arrays = self._shown
            observation, reward, terminated, truncated, info = self.phone_env.lost(e)
        return arrays, reward, terminated, truncated, {**info, "observation": observation}

    def twins(self, n: int) -> list[GymPhoneEnv]:
        """This one and n - 1 more, which share program and drawing with it."""
        twins = [self]
        for fork in self.phone_env.fork(n - 1):
            twin = copy.copy(self)
            twin.phone_env = fork
            twins.append(twin)
        return twins

    def action_masks(self) -> NDArray[np.bool_]:
        """Which values of each part of a discrete action make sense now, one after the other, as sb3-contrib takes them.

        Parts are masked by themselves: kinds that have a widget to act on; x and y where a widget has its middle, in any row
        or column; every text.
        """
        observation = self.phone_env.observation()
        xs, ys = np.zeros(PLACES, dtype=np.bool_), np.zeros(PLACES, dtype=np.bool_)
        xs[0] = ys[0] = True
        for element in observation.elements:
            x, y = thousandths(element.point, observation.size)
            xs[x] = ys[y] = True
        if observation.device.keyboard:
            xs[:] = ys[:] = True
        return np.concatenate((kind_mask(observation), xs, ys, np.ones(max(1, len(self.texts)), dtype=np.bool_)))

    def render(self) -> Any:
        """The picture (height, width, 3) uint8 at the phone's own size, or the elements as text."""
        observation = self.phone_env.observation()
        if self.render_mode == "ansi":
            return observation.text
        return picture_array(observation, observation.size) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Stops the drawing."""
        self.phone_env.close()

    def _read(self, action: object, size: Callable[[], Size]) -> Action:
        """PhoneWorld's own actions as they are, any other as a member of the action space."""
        if type(action) in _OWN or (isinstance(action, dict) and isinstance(action.get("kind"), str)):
            return parse_action(action, size)
        return action_of(action, size(), self.texts)

    def _arrays(self) -> dict[str, Any]:
        observation = self.phone_env.observation().told(self.phone_env.instruction, ())
        self._shown = observation_arrays(
            observation, max_nodes=self._max_nodes, text_limit=self._text_limit, picture=self._picture
        )
        return self._shown


def make(bundle: str | Path, **options: Any) -> gymnasium.Env[dict[str, Any], Any]:
    """`gymnasium.make` of the registered id, for one bundle."""
    env: gymnasium.Env[dict[str, Any], Any] = gymnasium.make(ENV_ID, bundle=bundle, **options)
    return env


for _id in (ENV_ID, TASKS_ID):
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id, entry_point="phoneworld.env.gym:GymPhoneEnv", vector_entry_point="phoneworld.env.vector:PhoneVectorEnv"
        )
