"""Many phones with Gymnasium's vector interface: here, or in processes that write into shared memory.

    envs = PhoneVectorEnv(64, bundle=BUNDLE, tasks=TASKS, screenshot=(800, 360), workers=2)

What has a fixed size (pictures, nodes, flags) is written by each phone into its row of one array, and copied once, to be handed
out. A worker that dies truncates the episodes it had, with `error_class` "infra" and the reward NaN; it is started again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from phoneworld.env.gym import GymPhoneEnv
from phoneworld.errors import PhoneWorldError, SessionError

Autoreset = Literal["next_step", "same_step", "disabled"]
Told = tuple[dict[str, str], float, bool, bool, dict[str, Any]]
"""The texts of an observation, reward, terminated, truncated, info."""
_SPAWN = get_context("spawn")
_END_S = 5.0


class PhoneVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` phones. The other arguments are those of `GymPhoneEnv`.

    `workers` 0 runs all in this process; else they are shared out among so many processes, whose arguments must be picklable.
    `autoreset` is Gymnasium's. With `copy=False` observations are views, good until the next step.
    """

    def __init__(
        self, num_envs: int = 1, bundle: Any = None, *, workers: int = 0, autoreset: Autoreset = "next_step", copy: bool = True, **options: Any
    ) -> None:
        if num_envs < 1 or workers < 0:
            raise SessionError(f"{num_envs} phones in {workers} processes cannot be", hint="at least 1, and at least 0")
        self.num_envs = num_envs
        self.metadata = {**GymPhoneEnv.metadata, "autoreset_mode": AutoresetMode[autoreset.upper()]}
        self._autoreset, self._copy = autoreset, copy
        first = GymPhoneEnv(bundle, **options)
        parts = first.parts.spaces
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        fixed = {n: s for n, s in parts.items() if s.shape is not None and s.dtype is not None and n not in ("text", "instruction")}
        shapes = {name: ((num_envs, *(space.shape or ())), np.dtype(space.dtype)) for name, space in fixed.items()}
        self._names = tuple(parts)
        self._texts: list[dict[str, str]] = [{} for _ in range(num_envs)]
        self._over = np.zeros(num_envs, np.bool_)
        self._store = _Store(shapes, shared=workers > 0)
        shares = [list(share) for share in np.array_split(np.arange(num_envs), max(1, min(workers, num_envs)))]
        self._groups: list[_Here | _There]
        if workers:
            first.close()
            self._groups = [_There([int(i) for i in share], bundle, options, self._store) for share in shares]
        else:
            self._groups = [_Here(list(range(num_envs)), first, self._store)]

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins all episodes, or those that `options["reset_mask"]` names. A seed is that of the first phone, the next have the next ones."""
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else np.asarray(mask, np.bool_)
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = [None if s is None else int(s) for s in seed]
        if len(seeds) != self.num_envs or chosen.shape != (self.num_envs,):
            raise SessionError(f"{self.num_envs} seeds and mask entries are needed, found {len(seeds)} and {chosen.size}", hint="or one seed for all")
        told = self._all({i: ("reset", (seeds[i], options)) for i in range(self.num_envs) if chosen[i]})
        self._over[chosen] = False
        return self._observations(), self._infos({i: t[4] for i, t in told.items()})

    def step(self, actions: Any) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action each. With "next_step", a phone whose episode is over begins the next one instead."""
        rewards, terminated, truncated = np.zeros(self.num_envs), np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.bool_)
        again = self._over & (self._autoreset == "next_step")
        each = list(iterate(self.action_space, actions)) if not isinstance(actions, list) else actions
        told = self._all({i: ("reset", (None, {})) if again[i] else ("step", each[i]) for i in range(self.num_envs)})
        infos = {}
        for i, (_, reward, ended, cut, info) in told.items():
            rewards[i], terminated[i], truncated[i] = reward, ended, cut
            infos[i] = info
        self._over = terminated | truncated
        if self._autoreset == "same_step" and self._over.any():
            final = self._observations()
            for i in map(int, np.flatnonzero(self._over)):
                infos[i] = {"final_info": infos[i], "final_obs": {name: values[i] for name, values in final.items()}}
            for i, t in self._all({int(i): ("reset", (None, {})) for i in np.flatnonzero(self._over)}).items():
                infos[i] |= t[4]
            self._over[:] = False
        return self._observations(), rewards, terminated, truncated, self._infos(infos)

    def action_masks(self) -> NDArray[np.bool_]:
        """Each phone's `GymPhoneEnv.action_masks`, (num_envs, n)."""
        masks: dict[int, NDArray[np.bool_]] = {}
        for group in self._groups:
            masks |= group.masks()
        return np.stack([masks[i] for i in range(self.num_envs)])

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the processes and frees the shared memory."""
        for group in self._groups:
            group.close()
        self._store.close(owner=True)

    def _all(self, deeds: Mapping[int, tuple[str, Any]]) -> dict[int, Told]:
        """Has every phone do its deed, all processes at once."""
        for group in self._groups:
            group.send({i: deeds[i] for i in group.places if i in deeds})
        told: dict[int, Told] = {}
        for group in self._groups:
            told |= group.receive()
        for i, t in told.items():
            self._texts[i] = t[0] or self._texts[i]
        return told

    def _observations(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name in self._names:
            if name in self._store.arrays:
                out[name] = self._store.arrays[name].copy() if self._copy else self._store.arrays[name]
            else:
                out[name] = tuple(texts.get(name, "") for texts in self._texts)
        return out

    def _infos(self, infos: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for i, info in infos.items():
            for name, value in info.items():
                column = out.get(name)
                if column is None:
                    column = out[name] = np.full(self.num_envs, None, dtype=object)
                    out[f"_{name}"] = np.zeros(self.num_envs, np.bool_)
                column[i] = value
                out[f"_{name}"][i] = True
        return out


class _Store:
    """One array a part of the observation, a row a phone; in shared memory where it is shared."""

    def __init__(self, shapes: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], *, shared: bool, names: Mapping[str, str] | None = None) -> None:
        self.shapes = dict(shapes)
        self.arrays: dict[str, NDArray[Any]] = {}
        self._blocks: dict[str, SharedMemory] = {}
        for name, (shape, dtype) in shapes.items():
            size = max(1, int(np.prod(shape)) * dtype.itemsize)
            if not shared:
                self.arrays[name] = np.zeros(shape, dtype)
                continue
            block = SharedMemory(create=True, size=size) if names is None else SharedMemory(names[name])
            self._blocks[name] = block
            self.arrays[name] = np.ndarray(shape, dtype, block.buf)

    @property
    def names(self) -> dict[str, str]:
        """The blocks of shared memory, by part."""
        return {name: block.name for name, block in self._blocks.items()}

    def close(self, *, owner: bool) -> None:
        """Lets the memory go; the owner frees it."""
        self.arrays = {}
        for block in self._blocks.values():
            block.close()
            if owner:
                block.unlink()
        self._blocks = {}


class _Here:
    """Phones of this process."""

    def __init__(self, places: list[int], first: GymPhoneEnv, store: _Store) -> None:
        self.places = places
        self._envs = dict(zip(places, first.twins(len(places)), strict=True))
        self._store = store
        self._told: dict[int, Told] = {}

    def send(self, deeds: Mapping[int, tuple[str, Any]]) -> None:
        for i, (kind, given) in deeds.items():
            env = self._envs[i]
            if kind == "reset":
                seed, options = given
                arrays, info = env.reset(seed=seed, options=options)
                self._told[i] = (self._put(i, arrays), 0.0, False, False, info)
            else:
                arrays, reward, terminated, truncated, info = env.step(given)
                self._told[i] = (self._put(i, arrays), float(reward), terminated, truncated, info)

    def receive(self) -> dict[int, Told]:
        told, self._told = self._told, {}
        return told

    def masks(self) -> dict[int, NDArray[np.bool_]]:
        return {i: env.action_masks() for i, env in self._envs.items()}

    def close(self) -> None:
        for env in reversed(self._envs.values()):
            env.close()

    def _put(self, i: int, arrays: Mapping[str, Any]) -> dict[str, str]:
        for name, array in self._store.arrays.items():
            array[i] = arrays[name]
        return {name: value for name, value in arrays.items() if isinstance(value, str)}


class _There:
    """Phones of another process, and the line to it."""

    def __init__(self, places: list[int], bundle: Any, options: Mapping[str, Any], store: _Store) -> None:
        self.places = places
        self._setup = (places, bundle, dict(options), store.shapes, store.names)
        self._asked: list[int] = []
        self._begin()

    def _begin(self) -> None:
        self._line, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, self._setup), daemon=True)
        self._process.start()
        theirs.close()

    def send(self, deeds: Mapping[int, tuple[str, Any]]) -> None:
        self._asked = list(deeds)
        if deeds:
            with suppress(OSError):  # gone: `receive` hears of it
                self._line.send(("do", deeds))

    def receive(self) -> dict[int, Told]:
        if not self._asked:
            return {}
        try:
            told = self._line.recv()
        except (EOFError, OSError):
            return self._lost()
        if isinstance(told, PhoneWorldError):
            raise told
        result: dict[int, Told] = told
        return result

    def _lost(self) -> dict[int, Told]:
        self._process.join(_END_S)
        info = {"error_class": "infra", "termination": "error", "trainable": False, "message": f"the worker died (exit {self._process.exitcode})"}
        self.close()
        self._begin()
        return {i: ({}, float("nan"), False, True, deepcopy(info)) for i in self._asked}

    def masks(self) -> dict[int, NDArray[np.bool_]]:
        self._line.send(("masks", None))
        masks: dict[int, NDArray[np.bool_]] = self._line.recv()
        return masks

    def close(self) -> None:
        self._line.close()
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _serve(line: Connection, setup: tuple[list[int], Any, dict[str, Any], Any, dict[str, str]]) -> None:
    """What a worker does: the deeds it is sent, until the line is closed."""
    places, bundle, options, shapes, names = setup
    store = _Store(shapes, shared=True, names=names)
    group: _Here | None = None
    try:
        while True:
            kind, given = line.recv()
            try:
                group = group or _Here(places, GymPhoneEnv(bundle, **options), store)
                if kind == "masks":
                    line.send(group.masks())
                    continue
                group.send(given)
                line.send({i: (*told[:4], {k: v for k, v in told[4].items() if k != "observation"}) for i, told in group.receive().items()})
            except PhoneWorldError as e:
                line.send(e)
    except (EOFError, OSError, KeyboardInterrupt):
        return
    finally:
        if group is not None:
            group.close()
        store.close(owner=False)
