"""`PhoneEnv`: the environment over the simulator, in this process. Its step draws nothing and copies nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phoneworld.env.assignment import Assignment, TaskBook, Tasks
from phoneworld.env.env import Env
from phoneworld.env.observation import Look, Observation, ObservationSpec, Picture, Reading, scaled_array, scaled_png
from phoneworld.env.outcome import Deadlines, OnUnrecorded
from phoneworld.env.parsing import Parse
from phoneworld.env.rewards import Rewards
from phoneworld.env.state_id import StateNamer
from phoneworld.errors import ObservationError, SessionError
from phoneworld.program.bundle import Bundle, load_bundle
from phoneworld.sim.phone import Phone, Step
from phoneworld.sim.state import PhoneState
from phoneworld.sim.view import View
from phoneworld.tasks.judge import Trail
from phoneworld.tasks.task import Task
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Action, Status
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size

Source = Bundle | str | Path | Phone | Sequence[Bundle | str | Path]
Reward = Callable[[PhoneState, Action, PhoneState], float]

_LOOKS_KEPT = 1024
_PICTURE_BYTES_KEPT = 64 * 1024 * 1024


class Drawing(Protocol):
    """Draws views: `render.frames.Renderer`, or anything with its methods."""

    def png(self, view: View) -> bytes: ...

    def array(self, view: View) -> NDArray[np.uint8]: ...

    def close(self) -> None: ...


class PhoneEnv(Env[PhoneState]):
    """One simulated phone with the app of a bundle, or of several. It belongs to the thread that made it.

    `source` is a bundle or the path of one, several of them, or a Phone (then `drawing` is needed for pictures). Chromium is
    started when the first picture is asked for, and shared with forks. `state` is where the phone is; it may be set.
    """

    def __init__(
        self,
        source: Source,
        *,
        observe: ObservationSpec | None = None,
        max_steps: int | None = None,
        instruction: str = "",
        tasks: Tasks = (),
        rewards: Rewards = Rewards(),
        reward: Reward | None = None,
        on_unrecorded: OnUnrecorded = "noop",
        deadlines: Deadlines = Deadlines(),
        parse: Parse | None = None,
        drawing: Drawing | None = None,
    ) -> None:
        super().__init__(
            observe=observe, max_steps=max_steps, instruction=instruction, rewards=rewards, reward=reward,
            on_unrecorded=on_unrecorded, deadlines=deadlines, parse=parse,
        )  # fmt: skip
        if isinstance(source, Phone):
            bundles: tuple[Bundle, ...] = ()
            self.phone = source
        else:
            one = (source,) if isinstance(source, Bundle | str | Path) else tuple(source)
            bundles = tuple(b if isinstance(b, Bundle) else load_bundle(b) for b in one)
            self.phone = Phone([b.program for b in bundles])
        self._looks = _Looks(self.phone, bundles, drawing)
        self.book = TaskBook(self.phone, tasks)
        self.state: PhoneState = self.phone.reset()
        self._shares = False

    def fork(self, n: int) -> tuple[PhoneEnv, ...]:
        """`n` environments that stand where this one stands and go on by themselves. They share program and drawing."""
        return tuple(self._forked() for _ in range(n))

    def starts(self) -> tuple[str, ...]:
        """The names that `reset(start=...)` takes."""
        return tuple(self.phone.models[self.phone.main].program.starts)

    def close(self) -> None:
        """Stops the drawing, unless this is a fork."""
        if not self._shares:
            self._looks.close()

    def _forked(self) -> PhoneEnv:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._shares = True
        return twin

    def _start(self, seed: int, start: str | None, phone: Any) -> None:
        if phone is None:
            self.state = self.phone.reset(seed, start)
            return
        if not isinstance(phone, PhoneState):
            raise SessionError(
                f"a snapshot of this phone holds a PhoneState, found {type(phone).__name__}",
                hint="give a snapshot back to the kind of env that made it",
            )
        self.phone.check(phone)
        self.state = phone

    def _assign(self, task: Task | str, seed: int, language: str) -> Assignment:
        return self.book.assign(task, seed, language)

    def _begin(self, assignment: Assignment) -> None:
        self.state = assignment.instance.start

    def _watch(self, assignment: Assignment, trail: Trail) -> Trail:
        return assignment.watch(trail, self.state)

    def _judge(self, assignment: Assignment, trail: Trail, answer: str | None, status: Status) -> Verdict:
        return assignment.verdict(trail, self.state, answer, status)

    def _act(self, action: Action) -> Step:
        step = self.phone.step(self.state, action)
        if step.valid:
            self.state = step.state
        return step

    def observation(self) -> Observation:
        return Observation(self.observe, self.instruction, partial(self._looks.at, self.state))

    def _moment(self) -> PhoneState:
        return self.state

    def _state_id(self) -> str:
        return self._looks.namer.name(self.state)

    def screen_size(self) -> Size:
        return self.phone.look(self.state).size

    def _save(self) -> PhoneState:
        return self.state


class _Looks:
    """What the phone looks like in a state; computed once for all states that look the same."""

    def __init__(self, phone: Phone, bundles: tuple[Bundle, ...], drawing: Drawing | None) -> None:
        self.phone = phone
        self.namer = StateNamer()
        self._bundles = bundles
        self._drawing = drawing
        self._owned = drawing is None
        self._readings: OrderedDict[str, Reading] = OrderedDict()
        self._pictures: OrderedDict[tuple[str, Picture, Size], Any] = OrderedDict()
        self._picture_bytes = 0

    def at(self, state: PhoneState) -> Look:
        view = self.phone.look(state)
        reading = self._readings.get(view.key)
        if reading is None:
            reading = self._readings[view.key] = Reading(partial(_tree, view), partial(self._picture, view))
            if len(self._readings) > _LOOKS_KEPT:
                self._readings.popitem(last=False)
        at = view.state
        # Not dataclasses.replace: this runs once a step.
        return DeviceState(at.package, at.activity, at.keyboard, at.rotation, state.clock_ms), view.size, reading

    def _picture(self, view: View, kind: Picture, size: Size) -> Any:
        key = (view.key, kind, size)
        if key in self._pictures:
            self._pictures.move_to_end(key)
            return self._pictures[key]
        drawing = self._draws()
        picture = scaled_array(drawing.array(view), size) if kind == "array" else scaled_png(drawing.png(view), size)
        self._pictures[key] = picture
        self._picture_bytes += _weight(picture)
        while self._picture_bytes > _PICTURE_BYTES_KEPT and len(self._pictures) > 1:
            self._picture_bytes -= _weight(self._pictures.popitem(last=False)[1])
        return picture

    def _draws(self) -> Drawing:
        if self._drawing is None:
            if not self._bundles:
                raise ObservationError(
                    "a bare Phone has no pictures",
                    hint="make the PhoneEnv from bundles, or pass drawing=Renderer.of(bundles)",
                )
            # Here, not above: an environment without pictures does not load Playwright.
            from phoneworld.render.frames import Renderer

            self._drawing = Renderer.of(self._bundles)
        return self._drawing

    def close(self) -> None:
        self._pictures.clear()
        self._picture_bytes = 0
        if self._drawing is not None and self._owned:
            self._drawing.close()
            self._drawing = None


def _tree(view: View) -> Any:
    return view.hierarchy


def _weight(picture: Any) -> int:
    return int(picture.nbytes) if isinstance(picture, np.ndarray) else len(picture)
