"""The environment contract, once for all faces: episodes, tasks, budgets, endings, faults. Knows no particular phone.

    observation, info = env.reset(seed=0, task="notes/add-a-note-v1")
    observation, reward, terminated, truncated, info = env.step(Tap(540, 1200))

An episode ends *terminated* by the agent's own Finish or Answer, or *truncated* by a budget or a fault. A bad action never
raises: it changes nothing, costs one step of the budget, and `info["invalid_action"]` says why. A fault of the phone, the line
or the checker is no score: the step is truncated, its reward is NaN, `info["error_class"]` says whose it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from phoneworld.env.assignment import Assignment, Tasks
from phoneworld.env.observation import Observation, ObservationSpec, Past
from phoneworld.env.outcome import (
    TERMINATED,
    TRUNCATED,
    Deadlines,
    Done,
    Info,
    OnUnrecorded,
    Outcome,
    Snapshot,
    Termination,
    fault_of,
)  # fmt: skip
from phoneworld.env.parsing import Parse, parse_action
from phoneworld.env.rewards import Rewards
from phoneworld.errors import (
    ActionError,
    BrowserError,
    CheckerError,
    DeviceError,
    Overdue,
    PhoneWorldError,
    ProgramError,
    SessionError,
)  # fmt: skip
from phoneworld.tasks.judge import Trail
from phoneworld.tasks.task import Task
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Action, Answer, Finish, Status
from phoneworld.ui.geometry import Size

_OVER = "the episode is over; call reset"
MomentT = TypeVar("MomentT")


@dataclass(frozen=True, slots=True)
class Standing:
    """How an episode stands but for the phone: an immutable value, so that it goes into snapshots and forks as it is."""

    assignment: Assignment | None = None
    trail: Trail = Trail()
    verdict: Verdict | None = None
    unrecorded: int = 0
    past: tuple[Past, ...] = ()


class Env(ABC, Generic[MomentT]):
    """One phone to act on.

    `tasks` are those that `reset(task=ID)` takes, or where their files are; a task brings its instruction and its budget of steps,
    which `max_steps` replaces. `rewards` says how tasks are paid. `reward(before, action, after)`, where given, is called after
    each valid step instead; without task and `reward`, rewards are 0. `parse` reads what `step` is handed, where that is neither
    an Action nor its JSON. `clock` gives the seconds that deadlines are counted in.
    """

    supports_snapshots = True

    def __init__(
        self,
        *,
        observe: ObservationSpec | None = None,
        max_steps: int | None = None,
        instruction: str = "",
        tasks: Tasks = (),
        rewards: Rewards = Rewards(),
        reward: Callable[[MomentT, Action, MomentT], float] | None = None,
        on_unrecorded: OnUnrecorded = "noop",
        deadlines: Deadlines = Deadlines(),
        parse: Parse | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if max_steps is not None and max_steps < 1:
            raise SessionError(f"max_steps is at least 1, found {max_steps}", hint="or None for no budget")
        if on_unrecorded not in ("noop", "truncate", "mask"):
            raise SessionError(f"on_unrecorded is noop, truncate or mask, found {on_unrecorded!r}", hint='on_unrecorded="noop"')
        self.observe = observe or ObservationSpec()
        self.max_steps = max_steps
        self.instruction = instruction
        self.tasks = tasks
        self.rewards = rewards
        self.reward = reward
        self.on_unrecorded = on_unrecorded
        self.deadlines = deadlines
        self._parse: Parse = parse or parse_action
        self._clock = clock
        self._timed = deadlines != Deadlines()
        self._own_instruction = instruction
        self._began = 0.0
        self.seed = 0
        self.steps = 0
        self.termination: Termination | None = None
        self.standing = Standing()
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
        """What the phone shows now, without history."""

    @abstractmethod
    def _moment(self) -> MomentT:
        """What the reward is computed from."""

    @abstractmethod
    def _state_id(self) -> str:
        """Names where the phone is."""

    @abstractmethod
    def screen_size(self) -> Size:
        """The screen in pixels as it is rotated now."""

    def _assign(self, task: Task | str, seed: int, language: str) -> Assignment:
        """What a seed draws of a task. Raises SessionError, TaskError."""
        raise SessionError("this phone takes no tasks", hint="PhoneEnv does, DeviceEnv and HttpEnv with mock=BUNDLE")

    def _begin(self, assignment: Assignment) -> None:
        """Puts the phone where a task begins."""
        raise NotImplementedError

    def _watch(self, assignment: Assignment, trail: Trail) -> Trail:
        """The trail with what the phone shows now."""
        return trail

    def _judge(self, assignment: Assignment, trail: Trail, answer: str | None, status: Status) -> Verdict:
        """What the checker says now."""
        raise NotImplementedError

    def _save(self) -> Any:
        raise SessionError(
            "this phone cannot be put back", hint="a simulated phone can: PhoneEnv, or DeviceEnv over mock:BUNDLE"
        )

    def close(self) -> None:
        """Lets the phone go; may be called twice."""

    # What every face does

    def reset(
        self,
        seed: int | None = None,
        *,
        start: str | None = None,
        snapshot: Snapshot | None = None,
        task: Task | str | None = None,
        language: str = "en",
    ) -> tuple[Observation, Info]:
        """Begins an episode. The same arguments give the same episode; `seed` None means that of the last reset, at first 0.

        `task` is one of `tasks` by its id, or any Task: the seed draws its parameters and its start. `start` names one of the
        app's starts; `snapshot` begins where a snapshot was taken, with its task and a fresh budget. Raises SessionError for an
        unknown start or task, TaskError for a task that does not fit the app, CheckerError for a checker that cannot be worked out,
        DeviceError where the phone cannot be put there.
        """
        if task is not None and start is not None:
            raise SessionError("a task says itself where it starts", hint="leave start out")
        before = self._clock()
        chosen = self.seed if seed is None else int(seed)
        # What cannot be begun leaves the episode that is on as it is.
        assignment = None if task is None else self._assign(task, chosen, language)
        self.seed = chosen
        if snapshot is None and assignment is not None:
            self._begin(assignment)
        else:
            self._start(chosen, start, None if snapshot is None else snapshot.phone)
        if assignment is not None:
            self._give(assignment)
        else:
            self._take(Standing() if snapshot is None else snapshot.standing, fresh=True)
        self.steps, self.termination, self._started, self._began = 0, None, True, before
        self._check_deadline("the reset", before, self.deadlines.reset_s)
        return self._seen(), self._info(Done())

    def step(self, action: Action | Mapping[str, Any]) -> tuple[Observation, float, bool, bool, Info]:
        """Does one action, given as a value or as its JSON object: observation, reward, terminated, truncated, info.

        `info`: `step` (steps made), `seed`, `task` (its id, or None), `state_id` (equal ids, equal phones, whatever the clock says),
        `changed` (True where the phone is in another state than before, and so `state_id` another one, be it on the screen or not),
        `evidence` and `rules` of what happened (each None where the phone does not say), `message`, `invalid_action` (why the
        action was refused, else None), `termination` (see `outcome.Termination`, else None), `status` and `answer` of the agent,
        `error_class` (see `outcome.ErrorClass`), `trainable` (False where the step says nothing of the policy), `success` (None
        before the end, and where it cannot be told), `progress` (0 to 1, None without a task), `side_effects` and `violations`
        (what changed unasked, what must never have been), `unrecorded` (how many steps so far went where the recording does not
        know). Raises SessionError before the first reset.
        """
        if not self._started:
            raise SessionError("there is no episode yet", hint="call reset() first")
        if self.termination is not None:
            return self._seen(), 0.0, self.terminated, self.truncated, self._info(Done(False), invalid=_OVER)
        self.steps += 1
        began = self._clock() if self._timed else 0.0
        status: Status | None = None
        answer: str | None = None
        shown = self.observation() if self.observe.history else None
        parsed: Action | None = None
        before: MomentT | None = None
        try:
            parsed = self._parse(action, self.screen_size)
            before = self._moment() if self.reward is not None else None
            outcome = self._act(parsed)
            invalid = None if outcome.valid else outcome.message
        except ActionError as e:
            outcome, invalid = Done(False), f"{e.message}; {e.hint}" if e.hint else e.message
        except (DeviceError, BrowserError, SessionError, ProgramError) as e:
            return self.lost(e)
        if shown is not None:
            self._remember(shown, parsed, invalid)
        if invalid is None:
            if isinstance(parsed, Finish):
                self.termination, status = "finish", parsed.status
            elif isinstance(parsed, Answer):
                self.termination, answer = "answer", parsed.text
        try:
            if self._timed:
                self._check_deadline("the step", began, self.deadlines.step_s)
            masked = invalid is None and outcome.evidence == "unrecorded" and self._is_masked()
            if self.termination is None:
                self._limit()
            paid = 0.0 if self.standing.assignment is None else self._settle(self.standing.assignment, answer, status)
            if self.reward is not None and invalid is None and parsed is not None:
                paid = float(self.reward(before, parsed, self._moment()))  # type: ignore[arg-type]
        except (CheckerError, DeviceError) as e:
            return self.lost(e)
        info = self._info(outcome, invalid=invalid, status=status, answer=answer, masked=masked)
        return self._seen(), paid, self.terminated, self.truncated, info

    def lost(self, error: PhoneWorldError) -> tuple[Observation, float, bool, bool, Info]:
        """Ends the episode by a fault, and returns the step that it ended: the last observation, no score.

        For those who found the fault when they looked at an observation: a browser that died shows nothing.
        """
        self.termination = "error"
        info = self._info(Done(), invalid=None)
        info["error_class"], info["message"], info["trainable"] = fault_of(error), error.message, False
        return self._seen(), float("nan"), False, True, info

    @property
    def terminated(self) -> bool:
        """True where the agent ended the episode."""
        return self.termination in TERMINATED

    @property
    def truncated(self) -> bool:
        """True where a budget, a fault or the end of what is known ended it."""
        return self.termination in TRUNCATED

    @property
    def budget(self) -> int | None:
        """How many steps an episode may have."""
        assignment = self.standing.assignment
        return self.max_steps if self.max_steps is not None or assignment is None else assignment.instance.task.budget

    def snapshot(self) -> Snapshot:
        """The episode as it stands. Raises SessionError where the phone cannot be put back."""
        return Snapshot(self._save(), self.seed, self.steps, self.termination, self.standing)

    def restore(self, snapshot: Snapshot) -> tuple[Observation, Info]:
        """Goes on from a snapshot as if nothing had happened since. Raises SessionError for one that is not of this phone."""
        self._start(snapshot.seed, None, snapshot.phone)
        self.seed, self.steps, self.termination = snapshot.seed, snapshot.steps, snapshot.termination
        self._take(snapshot.standing, fresh=False)
        self._started = True
        return self._seen(), self._info(Done())

    def verdict_with(self, answer: str) -> Verdict:
        """What the checker would say if the episode ended now with this answer. Raises SessionError without a task."""
        if self.standing.assignment is None:
            raise SessionError("there is no task to judge", hint="reset(seed, task=ID) gives one")
        return self._judge(self.standing.assignment, self.standing.trail, answer, "success")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Inside an episode

    def _give(self, assignment: Assignment) -> None:
        self.instruction = assignment.instance.instruction
        trail = assignment.begin()
        self.standing = Standing(assignment, trail, self._judge(assignment, trail, None, "success"))

    def _take(self, standing: Any, *, fresh: bool) -> None:
        self.standing = standing if isinstance(standing, Standing) else Standing()
        if fresh:
            self.standing = replace(self.standing, unrecorded=0, past=())
        assignment = self.standing.assignment
        self.instruction = self._own_instruction if assignment is None else assignment.instance.instruction

    def _remember(self, shown: Observation, action: Action | None, invalid: str | None) -> None:
        past = (*self.standing.past, Past(shown, action, invalid))
        self.standing = replace(self.standing, past=past[-self.observe.history :])

    def _is_masked(self) -> bool:
        """Counts a step that the recording does not know; True where it is not to be trained on."""
        self.standing = replace(self.standing, unrecorded=self.standing.unrecorded + 1)
        if self.on_unrecorded == "truncate" and self.termination is None:
            self.termination = "unrecorded"
        return self.on_unrecorded != "noop"

    def _limit(self) -> None:
        """Ends an episode whose budget is used up."""
        if self.budget is not None and self.steps >= self.budget:
            self.termination = "step_limit"
        elif self.deadlines.episode_s is not None and self._clock() - self._began > self.deadlines.episode_s:
            self.termination = "time_limit"

    def _settle(self, assignment: Assignment, answer: str | None, status: Status | None) -> float:
        """Judges what the phone shows now: keeps the verdict, names the ending, and returns what the step is paid."""
        began = self._clock() if self._timed else 0.0
        trail = self._watch(assignment, self.standing.trail)
        verdict = self._judge(assignment, trail, answer, status or "success")
        standing = self.standing
        before = standing.verdict
        if verdict is not before or trail is not standing.trail:
            self.standing = Standing(assignment, trail, verdict, standing.unrecorded, standing.past)
        if self._timed:
            self._check_deadline("the checker", began, self.deadlines.check_s)
        ended = self.termination in ("finish", "answer")
        if ended:
            gave_up = status is not None and status != "success"
            self.termination = (
                "success" if verdict.success else "gave_up" if gave_up else "unknown" if verdict.success is None else "failed"
            )
        judged = ended or self.termination in ("step_limit", "time_limit")
        if judged and verdict.success is None:
            return float("nan")
        return self.rewards.step(
            before.progress if before is not None else 0.0, verdict.progress, success=judged and verdict.success is True, terminated=ended
        )

    def _check_deadline(self, what: str, began: float, limit_s: float | None) -> None:
        if limit_s is not None and (took := self._clock() - began) > limit_s:
            message = f"{what} took {took:.1f} s, {limit_s:g} s were given"
            if what == "the checker":
                raise CheckerError(message, hint="mend the checker, or give it longer: Deadlines(check_s=...)")
            raise Overdue(message, hint="give it longer: Deadlines(...)")

    def _seen(self) -> Observation:
        return self.observation().told(self.instruction, self.standing.past)

    def _info(
        self,
        outcome: Outcome,
        *,
        invalid: str | None = None,
        status: str | None = None,
        answer: str | None = None,
        masked: bool = False,
    ) -> Info:
        standing = self.standing
        verdict, over = standing.verdict, self.termination
        judged = verdict is not None and over is not None and over not in ("error", "unrecorded")
        success = verdict.success if verdict is not None and judged else None
        return {
            "step": self.steps,
            "seed": self.seed,
            "task": None if standing.assignment is None else standing.assignment.instance.task.id,
            "state_id": self._state_id(),
            "changed": outcome.changed,
            "evidence": outcome.evidence if invalid is None else None,
            "rules": outcome.rules,
            "message": outcome.message,
            "invalid_action": invalid,
            "termination": over,
            "status": status,
            "answer": answer,
            "error_class": "none" if invalid is None else "agent",
            "trainable": not masked and not (judged and success is None) and over not in ("error", "unrecorded"),
            "success": success,
            "progress": None if verdict is None else verdict.progress,
            "side_effects": () if verdict is None else verdict.side_effects,
            "violations": () if verdict is None else verdict.violations,
            "unrecorded": standing.unrecorded,
        }
