"""The door OpenEnv: a server that verifiers, NeMo Gym, SkyRL, ms-swift, Unsloth and others take. Needs `phoneworld[openenv]`.

    uvicorn.run(open_env_app(Phones(BUNDLE, tasks=TASKS)))

A session is a phone. Each observation's metadata names a `snapshot`; `reset(snapshot=NAME)` begins where it was taken, in any
session, and `reset(fork=EPISODE)` where an episode stands now.
"""

from __future__ import annotations

import base64
import math
from collections import OrderedDict
from threading import Lock
from typing import Any
from uuid import uuid4

from phoneworld.env.env import Env
from phoneworld.env.extras import need
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Info, Snapshot
from phoneworld.env.rollout import Phones
from phoneworld.errors import BrowserError, SessionError

_SNAPSHOTS_KEPT = 20_000
_PICTURE = ObservationSpec(screenshot="png")


class _Snapshots:
    """What can be gone back to, by name; the newest are kept. A name says where it was taken: EPISODE:STEP."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Snapshot] = OrderedDict()
        self._newest: dict[str, str] = {}
        self._lock = Lock()

    def keep(self, episode: str, snapshot: Snapshot) -> str:
        name = f"{episode}:{snapshot.steps}"
        with self._lock:
            self._kept[name] = snapshot
            self._newest[episode] = name
            if len(self._kept) > _SNAPSHOTS_KEPT:
                gone = self._kept.popitem(last=False)[0]
                episode_gone = gone.rpartition(":")[0]
                if self._newest.get(episode_gone) == gone:
                    del self._newest[episode_gone]
        return name

    def find(self, snapshot: str | None, fork: str | None) -> Snapshot | None:
        with self._lock:
            name = snapshot if snapshot is not None else self._newest.get(fork, "") if fork is not None else None
            if name is None:
                return None
            if name not in self._kept:
                raise SessionError(f"no snapshot {snapshot or fork!r}", hint="they are named in the metadata of observations, and old ones go")
            return self._kept[name]


def open_env_app(phones: Phones, *, max_sessions: int = 64, session_timeout_s: float = 1800.0, name: str = "phoneworld") -> Any:
    """The FastAPI app. A picture is sent only to a reset with `screenshot=True`, as base64 of a PNG. Raises MissingDependency."""
    server, types = need("openenv.core.env_server.http_server", "openenv"), need("openenv.core.env_server.types", "openenv")
    interfaces = need("openenv.core.env_server.interfaces", "openenv")
    snapshots = _Snapshots()
    action_base: Any = types.Action
    observation_base: Any = types.Observation
    environment_base: Any = interfaces.Environment

    class PhoneAction(action_base):  # type: ignore[misc]
        """One action, in PhoneWorld's JSON: `{"kind": "tap", "x": 540, "y": 1200}`."""

        action: dict[str, Any]

    class PhoneObservation(observation_base):  # type: ignore[misc]
        """What the phone shows."""

        instruction: str = ""
        text: str = ""
        package: str = ""
        width: int = 0
        height: int = 0
        screenshot: str | None = None
        message: str = ""

    class PhoneEnvironment(environment_base):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._env = phones()
            self._episode = ""
            self._picture = False

        def reset(
            self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, language: str = "en",
            snapshot: str | None = None, fork: str | None = None, screenshot: bool = False, **_: Any,
        ) -> PhoneObservation:  # fmt: skip
            observation, info = self._env.reset(seed, task=task, language=language, snapshot=snapshots.find(snapshot, fork))
            self._episode = episode_id or uuid4().hex
            self._picture = screenshot
            return self._told(observation, None, False, info)

        def step(self, action: PhoneAction, timeout_s: float | None = None, **_: Any) -> PhoneObservation:
            observation, reward, terminated, truncated, info = self._env.step(action.action)
            return self._told(observation, None if math.isnan(reward) else reward, terminated or truncated, info)

        @property
        def state(self) -> Any:
            return types.State(episode_id=self._episode, step_count=self._env.steps, task=_task_of(self._env), seed=self._env.seed)

        def close(self) -> None:
            self._env.close()

        def _told(self, observation: Observation, reward: float | None, done: bool, info: Info) -> PhoneObservation:
            picture: str | None = None
            if self._picture:
                try:
                    picture = base64.b64encode(observation.with_spec(_PICTURE).png).decode()
                except BrowserError as e:
                    observation, _, _, done, info = self._env.lost(e)
                    reward = None
            metadata = {k: list(v) if isinstance(v, tuple) else v for k, v in info.items()}
            metadata["snapshot"] = snapshots.keep(self._episode, self._env.snapshot())
            return PhoneObservation(
                done=done, reward=reward, metadata=metadata, instruction=observation.instruction, text=observation.text,
                package=observation.device.package, width=observation.size.width, height=observation.size.height,
                screenshot=picture, message=info["invalid_action"] or info["message"],
            )  # fmt: skip

    # Names in annotations are looked up in the module, and these are made here.
    for cls in (PhoneAction, PhoneObservation):
        cls.model_rebuild()
    concurrency = types.ConcurrencyConfig(max_concurrent_envs=max_sessions, session_timeout=session_timeout_s)
    return server.create_fastapi_app(PhoneEnvironment, PhoneAction, PhoneObservation, concurrency_config=concurrency)


def _task_of(env: Env[Any]) -> str | None:
    assignment = env.standing.assignment
    return None if assignment is None else assignment.instance.task.id
