"""What a step and an episode say of themselves: the words of `info`, outcomes of phones, snapshots. Knows no particular phone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from phoneworld.errors import BrowserError, CheckerError, DeviceError, PhoneWorldError, PolicyLost, SessionError

Termination = Literal[
    "success", "failed", "gave_up", "unknown", "finish", "answer", "step_limit", "time_limit", "unrecorded", "error"
]
"""Why an episode ended.

    success      the task is done, as its checker says            step_limit   the budget of steps is used up
    failed       the agent ended it, and the task is not done     time_limit   the budget of time is
    gave_up      the agent said that it cannot be done            unrecorded   the recording does not know what comes
    unknown      ended, and this phone cannot tell                error        a fault of the phone, the line or the checker
    finish, answer   the agent ended an episode without a task
"""
ErrorClass = Literal["none", "agent", "env", "infra", "checker"]
"""Whose fault a step was: nobody's, the policy's (an action that cannot be), the mock's, the phone's or line's, the checker's."""
OnUnrecorded = Literal["noop", "truncate", "mask"]
"""What a step into what the recording does not know is: nothing happens; the episode ends; nothing happens, and it is not to be trained on."""

TERMINATED: frozenset[Termination | None] = frozenset(("success", "failed", "gave_up", "unknown", "finish", "answer"))
TRUNCATED: frozenset[Termination | None] = frozenset(("step_limit", "time_limit", "unrecorded", "error"))

Info: TypeAlias = dict[str, Any]
"""See `Env.step` for its keys; they are always all there."""
INFO_KEYS = frozenset((
    "step", "seed", "task", "state_id", "changed", "evidence", "rules", "message", "invalid_action", "termination", "status",
    "answer", "error_class", "trainable", "success", "progress", "side_effects", "violations", "unrecorded",
))  # fmt: skip


def fault_of(error: PhoneWorldError) -> ErrorClass:
    """Whose fault an error is that ends an episode."""
    match error:
        case CheckerError():
            return "checker"
        case DeviceError() | BrowserError() | SessionError() | PolicyLost():
            return "infra"
        case _:
            return "env"


class Outcome(Protocol):
    """What an action did to a phone."""

    @property
    def changed(self) -> bool | None:
        """True where the phone is in another state than before, be it on the screen or out of sight; None where it does not say."""
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
class Deadlines:
    """Seconds of real time that a reset, a step and a look of the checker may take, and a whole episode; None for as long as they take.

    What runs in this process cannot be interrupted: that it took too long is told when it returns. An executor with processes
    of its own ends a worker that does not return at all.
    """

    reset_s: float | None = None
    step_s: float | None = None
    check_s: float | None = None
    episode_s: float | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An episode as it stands: where the phone is, and how far the episode is. Give it back to the env that made it."""

    phone: Any
    seed: int
    steps: int
    termination: Termination | None
    standing: Any = None
