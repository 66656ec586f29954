"""A policy somewhere else, asked over HTTP: one POST an observation, answered with an action.

    → {"task": "notes/add-v1", "seed": 3, "step": 1, "instruction": "…", "width": 540, "height": 1200,
       "device": {"package": …, "activity": …, "keyboard": false, "rotation": 0, "clock_ms": …},
       "text": "0 button \\"Add\\"\\n…", "elements": [{"index": 0, "role": "button", "label": "Add", "bounds": [l, t, r, b], "point": [x, y], "gestures": ["tap"]}, …],
       "tree": "<hierarchy …>", "screenshot": "<PNG in base64>", "last": {"changed": true, "invalid_action": null}}
    ← {"action": {"kind": "tap", "x": 12, "y": 34}, "said": "the words it was said in"}

`tree` and `screenshot` come where they are asked for. A conversation is what has the same task and seed; step 1 begins it. Another attempt at
the same episode comes with another seed.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.policy import Actor
from phoneworld.evaluate.asking import Line
from phoneworld.ui.action import Action


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    """Asks a server for each action. `pictures` and `trees` are sent along where they are wanted."""

    line: Line
    pictures: bool = False
    trees: bool = False

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor of an episode."""
        return _Asks(self, task, seed)


class _Asks:
    def __init__(self, policy: HttpPolicy, task: str | None, seed: int) -> None:
        self._policy, self._task, self._seed = policy, task, seed
        self._step = 0
        self.said: str | None = None

    def act(self, observation: Observation, info: Info) -> Action | Mapping[str, Any]:
        self._step += 1
        told = self._policy.line.ask(
            {"task": self._task, "seed": self._seed, "step": self._step, **seen(observation, pictures=self._policy.pictures, trees=self._policy.trees)}
            | {"last": {"changed": info["changed"], "invalid_action": info["invalid_action"]}}
        )
        said, action = told.get("said"), told.get("action")
        self.said = said if isinstance(said, str) else None
        # What is no action is for the environment to refuse: it costs the policy a step.
        return action if isinstance(action, Mapping) else {"kind": "none"}


def seen(observation: Observation, *, pictures: bool, trees: bool) -> dict[str, Any]:
    """An observation as JSON."""
    out: dict[str, Any] = {
        "instruction": observation.instruction, "width": observation.size.width, "height": observation.size.height,
        "device": asdict(observation.device), "text": observation.text,
        "elements": [
            {
                "index": e.index, "role": e.role, "label": e.label, "bounds": [e.bounds.left, e.bounds.top, e.bounds.right, e.bounds.bottom],
                "point": [e.point.x, e.point.y], "gestures": list(e.gestures),
            }
            for e in observation.elements
        ],
    }  # fmt: skip
    if trees:
        out["tree"] = observation.xml.decode()
    if pictures:
        out["screenshot"] = base64.b64encode(observation.png).decode()
    return out
