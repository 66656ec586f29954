"""The environment as a conversation, for loops in which a model speaks: async `reset` gives messages, `step(text)` the next ones.

    env = MessageEnv(Phones(BUNDLE, tasks=TASKS), dialect="qwen3", images="data")
    messages = await env.reset(task="notes/add-a-note-v1", seed=0)
    turn = await env.step(text)        # turn.messages, turn.reward, turn.done, turn.info

The agent loops of verl, SkyRL-gym, ms-swift, VAGEN, Tinker and AReaL reduce to this; recipes are in the README beside this file.
The phone belongs to a thread of its own, so that no loop waits for it.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from phoneworld.dialects.dialect import Dialect, Screen
from phoneworld.dialects.families import dialect_named
from phoneworld.dialects.speaking import how_to_speak
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import MakeEnv
from phoneworld.errors import ActionError, BrowserError, SessionError
from phoneworld.ui.action import Action

Images = Literal["none", "data", "png"]
"""No pictures; as data addresses, as OpenAI's messages have them; as bytes in blocks of type "image"."""
Message = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of a text: the messages to go on with, the reward of all its actions, whether the episode is over, and `info` of the last.

    `reward` is NaN where there is no score.
    """

    messages: list[Message]
    reward: float
    done: bool
    info: Info


class MessageEnv:
    """One phone to speak to in a dialect. `system` replaces the words about how to speak."""

    def __init__(self, make_env: MakeEnv, *, dialect: str | Dialect = "qwen3", images: Images = "none", system: str | None = None) -> None:
        if images not in ("none", "data", "png"):
            raise SessionError(f"images are none, data or png, found {images!r}", hint='images="data"')
        self.dialect = dialect if isinstance(dialect, Dialect) else dialect_named(dialect)
        self._images, self._system = images, system
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="phone")
        self._make_env = make_env
        self._env: Env[Any] | None = None

    async def reset(self, task: str | None = None, seed: int = 0, language: str = "en") -> list[Message]:
        """Begins an episode: how to speak, what is asked, what is on the screen. Raises as `Env.reset` does."""
        return await self._on_phone(lambda: self._reset(task, seed, language))

    async def step(self, text: str) -> Turn:
        """Does what a text says. Text that says nothing sensible changes nothing, costs a step, and is answered with what is wrong."""
        return await self._on_phone(lambda: self._step(text))

    async def close(self) -> None:
        """Lets the phone go; may be called twice."""
        env, self._env = self._env, None
        if env is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, env.close)
        self._thread.shutdown(wait=False)

    async def _on_phone(self, deed: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, deed)

    def _reset(self, task: str | None, seed: int, language: str) -> list[Message]:
        if self._env is None:
            self._env = self._make_env()
        observation, _ = self._env.reset(seed, task=task, language=language)
        screen = self._screen(observation)
        system = self._system if self._system is not None else how_to_speak(self.dialect, screen)
        return [{"role": "system", "content": system}, self._shown(observation, observation.instruction)]

    def _step(self, text: str) -> Turn:
        env = self._env
        if env is None:
            raise SessionError("there is no episode yet", hint="await reset() first")
        actions: tuple[Action | dict[str, Any], ...]
        wrong = ""
        try:
            actions = self.dialect.parse(text, self._screen(env.observation())).actions
        except ActionError as e:
            actions, wrong = ({"kind": "none"},), f"{e.message} ({e.hint})"
        paid, over = 0.0, False
        for action in actions:
            observation, reward, terminated, truncated, info = env.step(action)
            paid += reward
            over = terminated or truncated
            if over:
                break
        if over:
            return Turn([], paid, True, info)
        refused = wrong or info["invalid_action"]
        words = f"Not done: {refused}" if refused else "Nothing changed." if info["changed"] is False else ""
        try:
            return Turn([self._shown(observation, words)], paid, False, info)
        except BrowserError as e:
            return Turn([], float("nan"), True, env.lost(e)[4])

    def _screen(self, observation: Observation) -> Screen:
        env = self._env
        apps = {package: model.program.label for package, model in env.phone.models.items()} if isinstance(env, PhoneEnv) else {}
        return Screen(observation.size, apps)

    def _shown(self, observation: Observation, words: str) -> Message:
        parts: list[dict[str, Any]] = []
        if self._images == "data":
            data = base64.b64encode(observation.png).decode()
            parts.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}})
        elif self._images == "png":
            parts.append({"type": "image", "image": observation.png})
        # Without a picture the words are all that says where things are.
        seen = "" if not observation.spec.text else observation.text if parts else observation.text_with(self.dialect.where(observation.size))
        text = "\n\n".join(part for part in (words, seen) if part)
        if not parts:
            return {"role": "user", "content": text}
        return {"role": "user", "content": [*parts, {"type": "text", "text": text}]}
