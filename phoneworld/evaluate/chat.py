"""A model behind an OpenAI-compatible endpoint as a policy: it is shown the screen, and speaks in a dialect.

    ChatPolicy(Line("http://127.0.0.1:8000/v1/chat/completions"), "qwen3-vl", dialect_named("qwen3"), see="both", pictures=1)
"""

from __future__ import annotations

import base64
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from phoneworld.dialects.dialect import Dialect, Screen
from phoneworld.dialects.speaking import how_to_speak
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.policy import Actor
from phoneworld.errors import ActionError, PolicyLost
from phoneworld.evaluate.asking import Line
from phoneworld.ui.action import Action

See = Literal["text", "picture", "both"]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatPolicy:
    """Asks a model for each action.

    `see` is what it is shown: the elements in words, the picture, both. The last `pictures` looks are shown whole; of those before, it
    is told what it said and what came of that. The key is read from the environment variable `key_in`, where there is one.
    """

    line: Line
    model: str
    dialect: Dialect
    see: See = "both"
    pictures: int = 1
    max_tokens: int = 1024
    temperature: float = 0.0
    key_in: str = "OPENAI_API_KEY"
    apps: Mapping[str, str] = field(default_factory=dict, hash=False)

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor whose model is told this seed."""
        return _Speaks(self, seed)


@dataclass(slots=True)
class _Turn:
    """One look: the words beside it, how it is shown whole, and what the model said to it."""

    words: str
    parts: list[dict[str, Any]]
    said: str = ""


class _Speaks:
    def __init__(self, policy: ChatPolicy, seed: int) -> None:
        self._policy, self._seed = policy, seed
        self._turns: list[_Turn] = []
        self._more: deque[Action] = deque()
        self._wrong = ""
        self.said: str | None = None

    def act(self, observation: Observation, info: Info) -> Action | Mapping[str, Any]:
        # What is left of a text that said several actions is done first; after a refusal it is not meant any more.
        if self._more and info["invalid_action"] is None:
            self.said = None
            return self._more.popleft()
        self._more.clear()
        policy = self._policy
        screen = Screen(observation.size, policy.apps)
        self._turns.append(_Turn(self._told(info), self._shown(observation)))
        text = self._ask(observation.instruction, screen)
        self._turns[-1].said = self.said = text
        try:
            first, *rest = policy.dialect.parse(text, screen).actions
        except (ActionError, ValueError) as e:
            self._wrong = f"{e.message} ({e.hint})" if isinstance(e, ActionError) else "it says no action"
            return {"kind": "none"}
        self._more.extend(rest)
        return first

    def _told(self, info: Info) -> str:
        """What came of what was said last."""
        wrong, self._wrong = self._wrong, ""
        if not self._turns:
            return ""
        refused = wrong or info["invalid_action"]
        return f"Not done: {refused}" if refused else "Nothing changed." if info["changed"] is False else "Done."

    def _shown(self, observation: Observation) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        if self._policy.see != "text":
            data = base64.b64encode(observation.png).decode()
            parts.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}})
        if self._policy.see != "picture":
            where = self._policy.dialect.where(observation.size)
            parts.append({"type": "text", "text": observation.text if parts else observation.text_with(where)})
        return parts

    def _messages(self, instruction: str, screen: Screen) -> list[Message]:
        messages: list[Message] = [{"role": "system", "content": how_to_speak(self._policy.dialect, screen)}]
        whole = len(self._turns) - max(1, self._policy.pictures)
        for number, turn in enumerate(self._turns):
            words = "\n\n".join(part for part in (instruction if number == 0 else "", turn.words) if part)
            parts = turn.parts if number >= whole else []
            content: list[dict[str, Any]] = [*([{"type": "text", "text": words}] if words or not parts else []), *parts]
            messages.append({"role": "user", "content": content})
            if turn.said:
                messages.append({"role": "assistant", "content": turn.said})
        return messages

    def _ask(self, instruction: str, screen: Screen) -> str:
        policy = self._policy
        body = {
            "model": policy.model, "messages": self._messages(instruction, screen), "temperature": policy.temperature,
            "max_tokens": policy.max_tokens, "seed": self._seed,
        }  # fmt: skip
        key = os.environ.get(policy.key_in, "")
        told = policy.line.ask(body, {"authorization": f"Bearer {key}"} if key else None)
        try:
            content = told["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise PolicyLost(f"{policy.line.url} answered without choices[0].message.content: {str(told)[:200]}", hint="is it an OpenAI-compatible endpoint?") from None
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
        return content if isinstance(content, str) else ""
