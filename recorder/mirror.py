"""The mirror: a person acts on a picture of the phone, and each act is recorded with the screen it was meant for.

The picture is the latest settled one. An act names the version of the picture it was made on; while the phone is busy, or
where the screen has changed by itself meanwhile, it is not done. So no act is ever attributed to a screen that the person
did not see. Two threads meet here: the phone's own runs `run`, a server calls `view` and `submit`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from phoneworld.device.settle import Reading, package_of, sight_digest
from phoneworld.errors import ActionError, CaptureFailed, DeviceError, DeviceLost, SessionError
from phoneworld.ui.action import Action, OpenApp, Pinch, kind_of
from phoneworld.ui.gestures import KeyDown, NavigationButton, Pasted, Wheel, decode
from phoneworld.ui.strokes import Touch, acts_of
from recorder.driven import Driven
from recorder.session import Reason

IDLE_S = 1.0
LOG_STEPS = 100


class MirrorBusy(SessionError):
    """The phone is still busy with the act before, or the act was meant for an older picture."""


@dataclass(frozen=True, slots=True)
class Strokes:
    """What fingers did, one after the other."""

    touches: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class PinchAt:
    """Two fingers around a point, as a wheel with Ctrl stands for."""

    x: float
    y: float
    scale: float


Input = Strokes | Wheel | KeyDown | Pasted | NavigationButton | PinchAt


@dataclass(frozen=True, slots=True)
class Act:
    """An input on the picture of this version."""

    version: int
    input: Input


@dataclass(frozen=True, slots=True)
class StartTrace:
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class StopTrace:
    pass


@dataclass(frozen=True, slots=True)
class Finish:
    pass


Request = Act | StartTrace | StopTrace | Finish


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows. `png` is the phone's own picture: it is for the person and goes to no disk.

    `serial` grows with every change, `version` with every picture; `log` holds the last `LOG_STEPS` steps, oldest first.
    """

    serial: int = 0
    version: int = 0
    png: bytes = b""
    width: int = 0
    height: int = 0
    busy: bool = True
    in_trace: bool = False
    instruction: str = ""
    steps: int = 0
    log: tuple[tuple[int, str], ...] = ()
    message: str = ""
    settled: bool = True
    finished: bool = False


class Mirror:
    """One mirror over one recording. `run` belongs to the thread of the phone; the rest may be called from any thread."""

    def __init__(self, driven: Driven, *, instruction: str = "", limit: int | None = None) -> None:
        self._driven = driven
        self._limit = limit
        self._instruction = instruction
        self._view = View()
        self._request: Request | None = None
        self._reading: Reading | None = None
        self._changed = threading.Condition()

    # ---- from any thread

    def view(self) -> View:
        """What is to be shown now."""
        with self._changed:
            return self._view

    def submit(self, request: Request) -> None:
        """Asks for one thing to be done; `view` tells when it is. Raises MirrorBusy where that cannot be now."""
        with self._changed:
            if isinstance(request, Finish):
                self._request = request
                self._changed.notify_all()
                return
            if self._view.finished:
                raise SessionError("this recording is finished", hint="start another with phoneworld record --mode mirror")
            if self._request is not None or self._view.busy:
                raise MirrorBusy("the phone is still busy with the act before", hint="wait until the picture is bright again")
            if isinstance(request, Act) and request.version != self._view.version:
                raise MirrorBusy("the screen has changed since that picture", hint="look at the new one and act again")
            self._request = request
            self._tell(busy=True, message="")

    # ---- from the phone's thread

    def run(self, stopped: Callable[[], bool] = lambda: False) -> Reason:
        """Serves the person until they finish, the limit is reached, or `stopped`. Raises DeviceLost."""
        try:
            self._begin()
            while not stopped():
                if self._limit is not None and self._driven.steps >= self._limit:
                    return "finished"
                request = self._next()
                if isinstance(request, Finish):
                    return "finished"
                try:
                    self._serve(request)
                except CaptureFailed as e:
                    self._driven.unfinished(e.code, e.message)
                    self._tell(message=f"the screen could not be read: {e.message}; the trace has ended", in_trace=False, instruction="")
                finally:
                    if request is not None:
                        with self._changed:
                            self._request = None
                        self._tell(busy=False)
            return "interrupted"
        finally:
            self._tell(finished=True, busy=False)

    def _begin(self) -> None:
        reading = self._driven.look()
        if in_front_of(reading) != self._driven.app:
            self._driven.device.perform(OpenApp(self._driven.app))
            reading = self._driven.look(reading.hierarchy)
        self._show(reading)
        self._start(reading, self._instruction)
        self._tell(busy=False)

    def _next(self) -> Request | None:
        with self._changed:
            if self._request is None:
                self._changed.wait(IDLE_S)
            return self._request

    def _serve(self, request: Request | None) -> None:
        match request:
            case None:
                self._glance()
            case StartTrace(instruction):
                reading = self._driven.look()
                self._show(reading)
                self._start(reading, instruction)
            case StopTrace():
                self._driven.stop_trace()
                self._tell(in_trace=False, instruction="")
            case Act(_, raw):
                self._act(raw)
            case _:
                raise AssertionError(request)

    def _start(self, reading: Reading, instruction: str) -> None:
        self._driven.start_trace(reading, instruction=instruction)
        self._tell(in_trace=True, instruction=instruction.strip(), message="")

    def _glance(self) -> bool:
        """Shows and records what the screen did by itself; True where it did something."""
        try:
            tree = self._driven.device.hierarchy()
        except CaptureFailed:
            return False
        if self._reading is not None and sight_digest(tree) == sight_digest(self._reading.hierarchy):
            return False
        with self._changed:
            if self._request is None:
                self._tell(busy=True)
        reading = self._driven.look()
        if self._driven.in_trace:
            self._driven.moved(reading)
        self._show(reading)
        with self._changed:
            if self._request is None:
                self._tell(busy=False)
        return True

    def _act(self, raw: Input) -> None:
        assert self._reading is not None
        actions = actions_of(raw, self._reading, self._driven.device.info.density)
        if not actions:
            self._tell(message="that is nothing that a phone knows")
        for number, action in enumerate(actions):
            if number == 0 and self._glance():
                self._tell(message="not done: the screen had changed by itself; look and act again")
                return
            self._do(action)

    def _do(self, action: Action) -> None:
        driven, before = self._driven, self._reading
        assert before is not None
        recorded = driven.in_trace
        if recorded:
            driven.begin(action)
        try:
            driven.device.perform(action)
        except ActionError as e:
            if recorded:
                driven.refused(e.message)
            self._tell(message=e.message)
            return
        except DeviceError as e:
            driven.unfinished("device-lost" if isinstance(e, DeviceLost) else type(e).__name__, e.message)
            if isinstance(e, DeviceLost):
                raise
            self._tell(message=e.message, in_trace=False)
            return
        reading = driven.look(before.hierarchy)
        if recorded:
            driven.done(reading)
        self._show(reading)
        log = (*self._view.log, (driven.steps, kind_of(action).replace("_", " ")))[-LOG_STEPS:] if recorded else self._view.log
        self._tell(log=log, steps=driven.steps)

    def _show(self, reading: Reading) -> None:
        self._reading = reading
        size = reading.size
        self._tell(
            version=self._view.version + 1, png=reading.screenshot, width=size.width, height=size.height, settled=reading.settled
        )

    def _tell(self, **what: object) -> None:
        with self._changed:
            self._view = replace(self._view, serial=self._view.serial + 1, **what)  # type: ignore[arg-type]
            self._changed.notify_all()

    def wait_for(self, ready: Callable[[View], bool], timeout_s: float = 30.0) -> View:
        """The first view that is `ready`, or the one at the end of the time."""
        with self._changed:
            self._changed.wait_for(lambda: ready(self._view), timeout_s)
            return self._view


def actions_of(raw: Input, reading: Reading, density: int) -> tuple[Action, ...]:
    """The actions that an input on this picture is."""
    size = reading.size
    match raw:
        case Strokes(touches):
            return tuple(act.action for act in acts_of(touches, size, density) if act.action is not None)
        case PinchAt(x, y, scale):
            inside = 0 <= x < size.width and 0 <= y < size.height
            return (Pinch(int(x), int(y), round(min(100.0, max(0.01, scale)), 2)),) if inside else ()
        case _:
            action = decode(raw, size, density)
            return () if action is None else (action,)


def in_front_of(reading: Reading) -> str:
    """The package in front."""
    return package_of(reading.hierarchy) or reading.state.package
