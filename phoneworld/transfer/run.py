"""A task solved on the mock, done again on the real app: does it hold there too, and where does the real app do something else?

The oracle's path is walked twice. Once each touch is aimed anew, at the widget on the real screen that is the one touched on the mock;
once, where that makes a difference, the same pixels are touched. The mock runs beside, and every screen is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Literal

from phoneworld.device.device import StoringDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.errors import CaptureFailed, DeviceError, PhoneWorldError
from phoneworld.fidelity.explain import face_words, widget_words
from phoneworld.fidelity.match import faces, match
from phoneworld.fidelity.score import FAITHFUL_F1, ScoredStep, SideBySide
from phoneworld.graph.graph import Capture
from phoneworld.program.program import EvidenceKind
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.checker import Answer, Visible, walk
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.oracle import spoken
from phoneworld.tasks.prove import Prover
from phoneworld.tasks.sights import sight
from phoneworld.tasks.stored import Document, Sample, StorageMap, learn
from phoneworld.tasks.task import Instance, Task
from phoneworld.transfer.counterpart import aimed
from phoneworld.ui.action import Action, CloseApp, Finish, OpenApp, Wait, action_to_json, points_of
from phoneworld.ui.action import Answer as Say
from phoneworld.ui.node import Hierarchy

By = Literal["checker", "storage", "screens", "nothing"]
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Walked:
    """One walk on the real app. `success` is None where it cannot be told; `by` says what told it. `kind` and `why`: what went wrong first."""

    success: bool | None
    by: By
    kind: str = ""
    why: str = ""
    steps: int = 0
    faithful_steps: int = 0

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"success": self.success, "by": self.by, "kind": self.kind, "why": self.why, "steps": self.steps, "faithful_steps": self.faithful_steps}


@dataclass(frozen=True, slots=True)
class Transferred:
    """What came of one task at one seed: touches aimed anew, and the same pixels. Both are the same walk where aiming made no difference."""

    task: str
    seed: int
    instruction: str
    actions: tuple[Action, ...]
    aimed: Walked
    blind: Walked

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "task": self.task, "seed": self.seed, "instruction": self.instruction, "actions": [action_to_json(a) for a in self.actions],
            "aimed": self.aimed.to_json(), "blind": self.blind.to_json(),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _End:
    """Where a walk ended, to be judged once more when it is known how the app stores things."""

    judge: Judge
    real: Capture
    answer: str | None
    stored: Document
    at_first: Document


class Transfer:
    """Tasks of a mock, tried on the phone of `env`, whose book has them. `before` is called before each walk: it puts back what the phone does not keep.

    `least_s` is how long a step lasts at least: what comes by itself later than at once is waited for. Where app and mock went alike, what the
    app had stored beside what the mock held is kept: `storage` learns from it how the app stores things, and `again` judges by that.
    """

    def __init__(self, env: DeviceEnv, mock: Phone, tasks: Sequence[Task], *, least_s: float = 0.0, before: Callable[[], None] = lambda: None) -> None:
        self.env = env
        self.mock = mock
        self.prover = Prover(mock, tasks)
        self.least_s = least_s
        self.before = before
        self._samples: list[Sample] = []
        self._ends: dict[tuple[str, int, bool], _End] = {}
        self._tells = isinstance(env.device, StoringDevice)

    def storage(self) -> StorageMap:
        """How the app stores what the mock has, as far as the walks so far show it."""
        return learn(self.mock.reset().apps[self.mock.main], self._samples) if self._samples else StorageMap()

    def again(self, told: Transferred, storage: StorageMap) -> Transferred:
        """What came of a task, judged once more by what the app had stored at the end, where that tells it."""
        walks = []
        for walked, aim in ((told.aimed, True), (told.blind, False)):
            end = self._ends.get((told.task, told.seed, aim)) or self._ends.get((told.task, told.seed, True))
            if end is None or walked.by != "screens":
                walks.append(walked)
                continue
            known = storage.read(end.judge.setting.exporter.app(end.judge.instance.start), end.stored, end.at_first)
            verdict = end.judge.verdict_on_phone(end.judge.begin(), end.real.hierarchy, end.real.size, answer=end.answer, known=known)
            if verdict.success is None:
                walks.append(walked)
            elif verdict.success:
                walks.append(replace(walked, success=True, by="storage", kind="", why=""))
            else:
                why = "; ".join([line.strip() for line in verdict.explain().splitlines() if not line.strip().startswith("yes")][:_SHOWN])
                walks.append(replace(walked, success=False, by="storage", kind=walked.kind or "kept otherwise", why=f"{walked.why}; {why}" if walked.why else why))
        return replace(told, aimed=walks[0], blind=walks[1])

    def one(self, task: Task, seed: int = 0) -> Transferred:
        """Tries one task. Raises DeviceLost and BrowserError where the phone is gone."""
        solved = self.prover.solved(task, seed)
        if isinstance(solved, str):
            nothing = Walked(None, "nothing", "not solved on the mock", solved)
            return Transferred(task.id, seed, "", (), nothing, nothing)
        judge, actions = solved.judge, solved.solution.actions
        first, same = self._walked(judge, actions, seed, aim=True)
        second = first if same else self._walked(judge, actions, seed, aim=False)[0]
        return Transferred(task.id, seed, judge.instance.instruction, actions, first, second)

    def _walked(self, judge: Judge, actions: Sequence[Action], seed: int, *, aim: bool) -> tuple[Walked, bool]:
        """One walk; where the phone did not answer in mid-walk, which says nothing of the task, once more."""
        walked, same = self._walk(judge, actions, seed, aim=aim)
        return self._walk(judge, actions, seed, aim=aim) if walked.kind == "fault" else (walked, same)

    def _walk(self, judge: Judge, actions: Sequence[Action], seed: int, *, aim: bool) -> tuple[Walked, bool]:
        """One walk, and whether the same pixels would have touched the same widgets all along."""
        instance, env = judge.instance, self.env
        self.before()
        try:
            env.reset(seed, task=instance.task)
        except DeviceError:
            raise
        except PhoneWorldError as e:
            return Walked(None, "nothing", "cannot be begun there", e.message), True
        now = self._capture().state.clock_ms
        state = instance.start._replace(clock_ms=now or instance.start.clock_ms)
        if self._tells:
            self._samples.append((state.apps[judge.setting.package], self._stored(judge)))
        course = _Course(instance.task.id, self._capture(), self.mock.look(state).hierarchy)
        looks = _looks(instance)
        seen = [False] * len(looks)
        same = True
        info: dict[str, Any] = {}
        for action in actions:
            self._see(looks, seen)
            capture = self._capture()
            turned = aimed(action, self.mock.look(state).hierarchy, capture.hierarchy, capture.size)
            same = same and turned is not None and turned.blind
            if turned is None and aim:
                return course.failed("no such widget", f"{_words(action, self.mock, state)} is not in sight"), same
            began = monotonic()
            *_, info = env.step(turned.action if aim and turned is not None else action)
            if info["error_class"] in ("infra", "env", "checker"):
                return Walked(None, "nothing", "fault", str(info["message"])), same
            if info["invalid_action"]:
                return course.failed("refused", str(info["invalid_action"])), same
            if isinstance(action, Say | Finish):
                break
            self._linger(began)
            step = self.mock.step(state, action, max(1, round((monotonic() - began) * 1000)))
            state = step.state
            real = self._capture()
            # A phone has its own clock: the mock goes by it.
            state = state._replace(clock_ms=real.state.clock_ms or state.clock_ms)
            course.step(real, self.mock.look(state).hierarchy, step.evidence)
            if self._tells and not course.apart:
                self._samples.append((state.apps[judge.setting.package], self._stored(judge)))
        self._see(looks, seen)
        if self._tells:
            said = next((a.text for a in actions if isinstance(a, Say)), None)
            self._ends[instance.task.id, seed, aim] = _End(judge, self._capture(), said, self._stored(judge), env.stored_at_first)
        unseen = next((look for look, was in zip(looks, seen, strict=True) if not was), None)
        if unseen is not None:
            return course.failed("not seen", f"“{unseen.says or unseen.shows or unseen.text}” was never on the screen"), same
        if info.get("success") is not None:
            return (course.ended(True, "checker") if info["success"] else course.failed("checker", "the checker says no")), same
        course.restarted = self._restarted(instance, state)
        return course.by_screens(), same

    def _stored(self, judge: Judge) -> Document:
        try:
            return self.env.stored(judge.setting.package)
        except CaptureFailed:
            return {}

    def _restarted(self, instance: Instance, state: PhoneState) -> bool:
        """True where app and mock show the same after the app was stopped and opened again: what was to be kept was kept."""
        package = instance.task.package or self.mock.main
        course = _Course("", self._capture(), self.mock.look(state).hierarchy)
        for action in (CloseApp(package), OpenApp(package)):
            self.env.device.perform(action)
            state = self.mock.step(state, action).state
        self.env.look()
        return course.step(self._capture(), self.mock.look(state).hierarchy, "assumed").faithful

    def _linger(self, began: float) -> None:
        left = self.least_s - (monotonic() - began)
        if left > 0:
            self.env.device.perform(Wait(round(left * 1000)))
            self.env.look()

    def _see(self, looks: Sequence[Visible], seen: list[bool]) -> None:
        capture = self._capture()
        for i, look in enumerate(looks):
            seen[i] = seen[i] or sight(look, capture.hierarchy, capture.size).holds is True

    def _capture(self) -> Capture:
        device, size, reading = self.env.observation().look
        return Capture("real", reading.hierarchy, size, state=device)


class _Course:
    """How app and mock went side by side. `apart` tells where they first showed something else, `kind` in what way."""

    def __init__(self, task: str, real: Capture, mock: Hierarchy) -> None:
        self._beside = SideBySide(task, real, mock)
        self._scored: list[ScoredStep] = []
        self.kind = self.apart = ""
        self.restarted = True
        if match(faces(real.hierarchy, real.size), faces(mock, real.size)).f1 < FAITHFUL_F1:
            self.kind, self.apart = "other start", f"at the start {_other(real, mock)}"

    def step(self, real: Capture, mock: Hierarchy, evidence: EvidenceKind) -> ScoredStep:
        """Takes in what both show after an action."""
        scored = self._beside.step(real, mock, evidence)
        self._scored.append(scored)
        if not scored.faithful and not self.apart:
            self.kind, self.apart = scored.cause or "", f"step {scored.depth}: {scored.cause}: {_other(real, mock)}"
        return scored

    def ended(self, success: bool | None, by: By, kind: str = "", why: str = "") -> Walked:
        """The walk as it came out."""
        return Walked(success, by, kind, why, len(self._scored), sum(s.faithful for s in self._scored))

    def failed(self, kind: str, why: str) -> Walked:
        """A walk that failed: by what app and mock first differed in, where they did before."""
        why = f"step {len(self._scored) + 1}: {why}"
        return self.ended(False, "checker", self.kind or kind, f"{self.apart}; then {why}" if self.apart else why)

    def by_screens(self) -> Walked:
        """What the screens tell where the checker cannot: success where both end alike and still are alike after a new start."""
        if all(s.faithful for s in self._scored[-1:]) and self.restarted:
            return self.ended(True, "screens")
        return self.ended(None, "screens", self.kind or "after a new start", self.apart or "started anew it shows something else")


def _other(real: Capture, mock: Hierarchy) -> str:
    """The first things that only one of them shows."""
    mine, its = faces(real.hierarchy, real.size).counted, faces(mock, real.size).counted
    missing, surplus = [face_words(f) for f in mine - its][:_SHOWN], [face_words(f) for f in its - mine][:_SHOWN]
    return f"the app shows {', '.join(missing) or 'nothing else'}; the mock {', '.join(surplus) or 'nothing else'}"


def _words(action: Action, mock: Phone, state: PhoneState) -> str:
    view = mock.look(state)
    hit = next((h for p in points_of(action) if (h := view.hierarchy.hit_test(p, "tap", view.size)) is not None), None)
    return widget_words(view.hierarchy, hit.target or hit.node) if hit is not None else "what is touched"


def _looks(instance: Instance) -> tuple[Visible, ...]:
    """What has to be seen on the way: what `look` names, else the words of each answer."""
    if instance.look is not None:
        return tuple(node for node in walk(instance.look) if isinstance(node, Visible))
    return tuple(Visible(says=spoken(node)) for node in walk(instance.checker) if isinstance(node, Answer))
