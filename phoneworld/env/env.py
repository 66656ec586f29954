"""The environment contract, once for all faces: episodes, budget, endings, faults. Knows no particular phone.

    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(Tap(540, 1200))

An episode ends *terminated* by the agent's own Finish or Answer, or *truncated* by the budget or a fault. A bad action never
raises: it changes nothing, costs one step of the budget, and `info["invalid_action"]` says why. A fault of the phone or the
line is no score: the step is truncated, its reward is NaN, `info["error_kind"]` is "infra".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.errors import ActionError, BrowserError, DeviceError, SessionError
from phoneworld.ui.action import KINDS, Action, Answer, Finish, Tap, action_from_json, action_to_json
from phoneworld.ui.geometry import Size

Termination = Literal["finish", "answer", "max_steps", "error"]
Info: TypeAlias = dict[str, Any]
"""See `Env.step` for its keys; they are always all there."""

_ACTIONS = frozenset(KINDS.values())
_OVER = "the episode is over; call reset"

MomentT = TypeVar("MomentT")
Parse: TypeAlias = Callable[[object, Callable[[], Size]], Action]
"""Reads an action for a screen whose size it may ask. Raises ActionError."""


class Outcome(Protocol):
    """What an action did to a phone."""

    @property
    def changed(self) -> bool | None: ...
    @property
    def valid(self) -> bool: ...
    @property
    def evidence(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    @property
    def rules(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Done:
    """An Outcome of a phone that says nothing of itself."""

    changed: bool | None = None
    valid: bool = True
    evidence: str | None = None
    message: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An episode as it stands: where the phone is, and how far the episode is. Give it back to the env that made it."""

    phone: Any
    seed: int
    steps: int
    termination: Termination | None


class Env(ABC, Generic[MomentT]):
    """One phone to act on.

    `reward(before, action, after)` is called after each valid step; without one, rewards are 0. `parse` reads what `step` is
    handed, where that is neither an Action nor its JSON.
    """

    supports_snapshots = True

    def __init__(
        self,
        *,
        observe: ObservationSpec | None = None,
        max_steps: int | None = None,
        instruction: str = "",
        reward: Callable[[MomentT, Action, MomentT], float] | None = None,
        parse: Parse | None = None,
    ) -> None:
        if max_steps is not None and max_steps < 1:
            raise SessionError(f"max_steps is at least 1, found {max_steps}", hint="or None for no budget")
        self.observe = observe or ObservationSpec()
        self.max_steps = max_steps
        self.instruction = instruction
        self.reward = reward
        self._parse: Parse = parse or parse_action
        self.seed = 0
        self.steps = 0
        self.termination: Termination | None = None
        self._started = False

    # What a face gives

    @abstractmethod
    def _start(self, seed: int, start: str | None, phone: Any) -> None:
        """Puts the phone at its start, or where `phone` (of a Snapshot) says."""

    @abstractmethod
    def _act(self, action: Action) -> Outcome:
        """Does one action. Raises ActionError, or returns an Outcome that is not valid, for one that cannot be done."""

    @abstractmethod
    def observation(self) -> Observation:
        """What the phone shows now."""

    @abstractmethod
    def _moment(self) -> MomentT:
        """What the reward is computed from."""

    @abstractmethod
    def _state_id(self) -> str:
        """Names where the phone is."""

    @abstractmethod
    def screen_size(self) -> Size:
        """The screen in pixels as it is rotated now."""

    def _save(self) -> Any:
        raise SessionError(
            "this phone cannot be put back", hint="a simulated phone can: PhoneEnv, or DeviceEnv over mock:BUNDLE"
        )

    def close(self) -> None:
        """Lets the phone go; may be called twice."""

    # What every face does

    def reset(
        self, seed: int | None = None, *, start: str | None = None, snapshot: Snapshot | None = None
    ) -> tuple[Observation, Info]:
        """Begins an episode. The same seed gives the same episode; None means the seed of the last reset, at first 0.

        `start` names one of the app's starts; `snapshot` begins where a snapshot was taken, with a fresh budget. Raises
        SessionError for an unknown start, DeviceError where the phone cannot be put there.
        """
        if seed is not None:
            self.seed = int(seed)
        self._start(self.seed, start, snapshot.phone if snapshot is not None else None)
        self.steps, self.termination, self._started = 0, None, True
        return self.observation(), self._info(Done())

    def step(self, action: Action | Mapping[str, Any]) -> tuple[Observation, float, bool, bool, Info]:
        """Does one action, given as a value or as its JSON object: observation, reward, terminated, truncated, info.

        `info`: `step` (steps made), `seed`, `state_id` (equal ids, equal phones, whatever the clock says), `changed`,
        `evidence` and `rules` of what happened (None where the phone does not say), `message`, `invalid_action` (why the
        action was refused, else None), `termination` (finish, answer, max_steps, error, else None), `status` and `answer` of
        the agent, `error_kind` ("infra" after a fault, else None). Raises SessionError before the first reset.
        """
        if not self._started:
            raise SessionError("there is no episode yet", hint="call reset() first")
        if self.termination is not None:
            info = self._info(Done(False), invalid=_OVER)
            return self.observation(), 0.0, self.terminated, self.truncated, info
        self.steps += 1
        reward, status, answer = 0.0, None, None
        try:
            parsed = self._parse(action, self.screen_size)
            before = self._moment() if self.reward is not None else None
            outcome = self._act(parsed)
            invalid = None if outcome.valid else outcome.message
        except ActionError as e:
            outcome, invalid = Done(False), f"{e.message}; {e.hint}" if e.hint else e.message
        except (DeviceError, BrowserError, SessionError) as e:
            return self._fault(e)
        if invalid is None:
            if isinstance(parsed, Finish):
                self.termination, status = "finish", parsed.status
            elif isinstance(parsed, Answer):
                self.termination, answer = "answer", parsed.text
            if self.reward is not None:
                reward = float(self.reward(before, parsed, self._moment()))  # type: ignore[arg-type]
        if self.termination is None and self.max_steps is not None and self.steps >= self.max_steps:
            self.termination = "max_steps"
        info = self._info(outcome, invalid=invalid, status=status, answer=answer)
        return self.observation(), reward, self.terminated, self.truncated, info

    @property
    def terminated(self) -> bool:
        """True where the agent ended the episode."""
        return self.termination == "finish" or self.termination == "answer"

    @property
    def truncated(self) -> bool:
        """True where the budget or a fault ended it."""
        return self.termination == "max_steps" or self.termination == "error"

    def snapshot(self) -> Snapshot:
        """The episode as it stands. Raises SessionError where the phone cannot be put back."""
        return Snapshot(self._save(), self.seed, self.steps, self.termination)

    def restore(self, snapshot: Snapshot) -> tuple[Observation, Info]:
        """Goes on from a snapshot as if nothing had happened since. Raises SessionError for one that is not of this phone."""
        self._start(snapshot.seed, None, snapshot.phone)
        self.seed, self.steps, self.termination, self._started = (
            snapshot.seed,
            snapshot.steps,
            snapshot.termination,
            True,
        )
        return self.observation(), self._info(Done())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _info(
        self, outcome: Outcome, *, invalid: str | None = None, status: str | None = None, answer: str | None = None
    ) -> Info:
        return {
            "step": self.steps,
            "seed": self.seed,
            "state_id": self._state_id(),
            "changed": outcome.changed,
            "evidence": outcome.evidence if invalid is None else None,
            "rules": outcome.rules,
            "message": outcome.message,
            "invalid_action": invalid,
            "termination": self.termination,
            "status": status,
            "answer": answer,
            "error_kind": None,
        }

    def _fault(self, error: DeviceError | BrowserError | SessionError) -> tuple[Observation, float, bool, bool, Info]:
        """The step that a fault ended: the last observation, no score."""
        self.termination = "error"
        info = self._info(Done(), invalid=None)
        info["error_kind"], info["message"] = "infra", error.message
        return self.observation(), float("nan"), False, True, info


def parse_action(action: object, size: Callable[[], Size]) -> Action:
    """An Action of what a caller handed in: a value, or its JSON object in any coordinate space. Raises ActionError.

    Numbers of numpy are taken as numbers. A point outside the screen is left to the phone to refuse.
    """
    kind = type(action)
    if kind is Tap and type(action.x) is int and type(action.y) is int:  # type: ignore[attr-defined]
        return action  # type: ignore[return-value]
    try:
        if kind in _ACTIONS:
            return action_from_json(_plain(action_to_json(action)))  # type: ignore[arg-type]
        if isinstance(action, Mapping):
            return action_from_json(_plain(action), size=size())
    except (TypeError, ValueError, OverflowError) as e:
        raise ActionError(
            f"the action holds what cannot be read: {e}", hint='for example {"kind": "tap", "x": 1, "y": 2}'
        ) from None
    raise ActionError(
        f"an action is an Action or its JSON object, found {kind.__name__}",
        hint='for example {"kind": "tap", "x": 1, "y": 2}',
    )


def _plain(obj: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in obj.items()}
