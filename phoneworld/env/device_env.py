"""`DeviceEnv`: the environment over any Device: a real phone over adb, a web page, the simulator behind either."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from phoneworld.device.device import Device, ResettableDevice, StoringDevice
from phoneworld.device.mock import MockDevice
from phoneworld.device.settle import settle
from phoneworld.device.trees_only import TreesOnly
from phoneworld.env.assignment import Assignment, TaskBook, Tasks
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation, ObservationSpec, Picture, Reading, array_of, scaled_png
from phoneworld.env.outcome import Deadlines, Done, OnUnrecorded, Outcome
from phoneworld.env.parsing import Parse
from phoneworld.env.rewards import Rewards
from phoneworld.errors import ActionError, CaptureFailed, DeviceUnusable, ObservationError, SessionError
from phoneworld.sim.phone import Phone
from phoneworld.tasks.judge import Trail
from phoneworld.tasks.stored import Document, StorageMap, stored_document
from phoneworld.tasks.task import Task
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Action, OpenApp, Status
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

Reward = Callable[[Observation, Action, Observation], float]


class DeviceEnv(Env[Observation]):
    """One phone. What the spec names is read when a step ends, for a phone does not wait.

    A simulated phone (a ResettableDevice) is put back by `reset` and is at rest when an action returns. Any other is put
    back by clearing and opening `app`, and watched until its screen has settled, for at most `settle_s` seconds.

    Tasks are drawn from `mock`, the same app as it was compiled: the phone is brought to their start by their actions
    `on_phone`, and judged by what can be seen and what was answered; with `storage`, which says how the app stores what the mock has
    in tables and variables, by that too (`phoneworld tasks transfer --storage FILE` finds it out). What all this does not decide is
    "unknown", never 0.
    """

    def __init__(
        self,
        device: Device,
        app: str = "",
        *,
        observe: ObservationSpec | None = None,
        max_steps: int | None = None,
        instruction: str = "",
        tasks: Tasks = (),
        mock: Phone | None = None,
        rewards: Rewards = Rewards(),
        reward: Reward | None = None,
        on_unrecorded: OnUnrecorded = "noop",
        deadlines: Deadlines = Deadlines(),
        parse: Parse | None = None,
        settle_s: float = 5.0,
        storage: StorageMap | None = None,
    ) -> None:
        super().__init__(
            observe=observe, max_steps=max_steps, instruction=instruction, rewards=rewards, reward=reward,
            on_unrecorded=on_unrecorded, deadlines=deadlines, parse=parse,
        )  # fmt: skip
        self.device = device
        self.app = app
        self.settle_s = settle_s
        if storage is not None and not isinstance(device, StoringDevice):
            raise SessionError(f"{device.serial} does not tell what its apps have stored", hint="web phones do; leave storage out")
        self.storage = storage
        self.stored_at_first: Document = None
        """What the app of the task had stored when the episode began."""
        self._simulated = isinstance(device, ResettableDevice)
        if not self._simulated and not app:
            raise SessionError(
                f"{device.serial} is no simulated phone: its app is put back by clearing it",
                hint='name the app: DeviceEnv(device, "org.example.app")',
            )
        self.supports_snapshots = self._simulated
        if mock is None and isinstance(device, MockDevice):
            mock = device.phone
        self.book = None if mock is None else TaskBook(mock, tasks, on_phone=True)
        self._last: Observation | None = None
        self._tree: Hierarchy | None = None

    def close(self) -> None:
        """Closes the device."""
        self.device.close()

    def _start(self, seed: int, start: str | None, phone: Any) -> None:
        if start is not None:
            raise SessionError("a device has one start only", hint="leave start out, or use PhoneEnv")
        self._tree = None
        if isinstance(self.device, ResettableDevice):
            if phone is None:
                self.device.reset(seed)
            else:
                self.device.restore(phone)
        elif phone is not None:
            raise SessionError(
                f"{self.device.serial} cannot be put back to a snapshot", hint="a simulated phone can: mock:BUNDLE"
            )
        else:
            self.device.clear_app(self.app)
            self.device.perform(OpenApp(self.app))
        self.look()

    def _assign(self, task: Task | str, seed: int, language: str) -> Assignment:
        if self.book is None:
            raise SessionError(
                "the parameters of a task are drawn from the mock of the app, and there is none here",
                hint="DeviceEnv(device, app, mock=Phone([load_bundle(PATH).program]), tasks=...)",
            )
        return self.book.assign(task, seed, language)

    def _begin(self, assignment: Assignment) -> None:
        start = assignment.instance.task.start
        if not start.on_phone and (start.at or start.variables or start.tables or start.add):
            raise SessionError(
                f"{assignment.instance.task.id} starts where a phone cannot be put",
                hint="say in the task how a phone gets there: start: on_phone: [actions]",
            )
        self._start(assignment.instance.seed, None, None)
        for number, action in enumerate(start.on_phone, 1):
            try:
                self.device.perform(action)
            except ActionError as e:
                raise DeviceUnusable(
                    f"action {number} on the way to the start of {assignment.instance.task.id} cannot be done: {e.message}",
                    hint="record the way again",
                ) from None
            self.look()
        self.stored_at_first = None
        if isinstance(self.device, StoringDevice):
            with suppress(CaptureFailed):
                self.stored_at_first = self.stored(assignment.judge.setting.package)

    def _judge(self, assignment: Assignment, trail: Trail, answer: str | None, status: Status) -> Verdict:
        _, size, reading = self.observation().look
        stored = None
        if self.storage is not None:
            # Under a dialog of the page nothing can be read: then the screen alone tells.
            with suppress(CaptureFailed):
                stored = (self.storage, self.stored(assignment.judge.setting.package), self.stored_at_first)
        return assignment.verdict_on_phone(trail, reading.hierarchy, size, answer, status, stored)

    def stored(self, package: str) -> Document:
        """What an app has stored now, as JSON has it. Raises SessionError where the phone does not tell."""
        if not isinstance(self.device, StoringDevice):
            raise SessionError(f"{self.device.serial} does not tell what its apps have stored", hint="web phones do")
        return stored_document(self.device.stored(package))

    def _act(self, action: Action) -> Outcome:
        before = self._last
        try:
            self.device.perform(action)
        finally:
            # Also where it was refused: a phone may have done half of it (the tap before a text it cannot type).
            self.look()
        if isinstance(self.device, MockDevice) and self.device.last is not None:
            return self.device.last
        return Done(before is not None and not _same(before, self.observation()))

    def look(self) -> None:
        """Reads the phone now, or once it has settled."""
        if self._simulated:
            png = self.device.screenshot() if self.observe.screenshot != "none" else b""
            self._keep(self.device.hierarchy(), self.device.state(), png)
        else:
            phone = self.device if self.observe.screenshot != "none" else TreesOnly(self.device)
            reading = settle(phone, timeout_s=self.settle_s, before=self._tree)
            self._keep(reading.hierarchy, reading.state, reading.screenshot)

    def _keep(self, tree: Hierarchy, state: DeviceState, png: bytes) -> None:
        size = self.device.info.size
        if state.rotation % 2:
            size = Size(size.height, size.width)
        reading = Reading(lambda: tree, lambda kind, wanted: _picture(png, kind, wanted))
        self._tree = tree
        self._last = Observation(self.observe, self.instruction, lambda: (state, size, reading))

    def observation(self) -> Observation:
        assert self._last is not None
        return self._last

    def _moment(self) -> Observation:
        return self.observation()

    def _state_id(self) -> str:
        state, _, reading = self.observation().look
        h = blake2b(reading.xml, digest_size=8)
        h.update(repr((state.package, state.activity, state.keyboard, state.rotation)).encode())
        return h.hexdigest()

    def screen_size(self) -> Size:
        return self.observation().size

    def _save(self) -> str:
        if not isinstance(self.device, ResettableDevice):
            return str(super()._save())
        return self.device.snapshot()


def _same(a: Observation, b: Observation) -> bool:
    """True where nothing but the clock differs."""
    (one, _, mine), (other, _, theirs) = a.look, b.look
    return (one.package, one.activity, one.keyboard, one.rotation) == (
        other.package, other.activity, other.keyboard, other.rotation,
    ) and mine.xml == theirs.xml  # fmt: skip


def _picture(png: bytes, kind: Picture, size: Size) -> Any:
    if not png:
        raise ObservationError(
            "no picture was taken at this step",
            hint='say observe=ObservationSpec(screenshot="png") when making the env',
        )
    return array_of(png, size) if kind == "array" else scaled_png(png, size)
