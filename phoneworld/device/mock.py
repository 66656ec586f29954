"""The simulator as a Device: a compiled app that behaves like a phone, and can be put back. Knows no recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from phoneworld.device.device import InstalledApp
from phoneworld.errors import ActionError, DeviceLost, SessionError
from phoneworld.program.bundle import Bundle, load_bundle
from phoneworld.program.program import Program
from phoneworld.sim.phone import Phone, Step
from phoneworld.sim.state import PhoneState
from phoneworld.sim.view import View
from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy


class Drawing(Protocol):
    """Draws views: `render.frames.Renderer`, or anything with its `png`."""

    def png(self, view: View) -> bytes: ...

    def close(self) -> None: ...


class MockDevice:
    """One simulated phone. The drawing is started when the first screenshot is asked for."""

    def __init__(self, bundles: Sequence[Bundle], *, draw: Callable[[Sequence[Bundle]], Drawing], seed: int = 0) -> None:
        self.bundles = tuple(bundles)
        self.phone = Phone([b.program for b in bundles])
        self._draw = draw
        self._drawing: Drawing | None = None
        self._seed = seed
        self._snapshots: dict[str, PhoneState] = {}
        self._closed = False
        self.now: PhoneState = self.phone.reset(seed)
        self.last: Step | None = None

    @classmethod
    def open(cls, *paths: str | Path, seed: int = 0) -> MockDevice:
        """A phone with the bundles at these paths."""
        from phoneworld.render.frames import Renderer

        return cls([load_bundle(p) for p in paths], draw=Renderer.of, seed=seed)

    @property
    def serial(self) -> str:
        return "mock:" + ",".join(str(b.path) for b in self.bundles)

    @property
    def info(self) -> DeviceInfo:
        return self.bundles[0].program.device

    def state(self) -> DeviceState:
        return self._view().state

    def hierarchy(self) -> Hierarchy:
        return self._view().hierarchy

    def screenshot(self) -> bytes:
        if self._drawing is None:
            self._drawing = self._draw(self.bundles)
        return self._drawing.png(self._view())

    def perform(self, action: Action) -> None:
        self._alive()
        step = self.phone.step(self.now, action)
        self.now, self.last = step.state, step
        if not step.valid:
            raise ActionError(step.message, hint="the phone is unchanged")

    def apps(self) -> tuple[InstalledApp, ...]:
        return tuple(installed_as(b.program) for b in self.bundles)

    def clear_app(self, package: str) -> None:
        """Puts the app at its first start, stopped, with the launcher in front where the app was."""
        self._alive()
        self.now = self.phone.clear(self.now, package)

    def reset(self, seed: int | None = None) -> None:
        self._alive()
        self._seed = self._seed if seed is None else seed
        self.now, self.last = self.phone.reset(self._seed), None

    def snapshot(self) -> str:
        self._alive()
        name = f"snapshot-{len(self._snapshots) + 1}"
        self._snapshots[name] = self.now
        return name

    def restore(self, snapshot: str) -> None:
        self._alive()
        if snapshot not in self._snapshots:
            raise SessionError(f"no snapshot {snapshot!r}", hint="there are " + (", ".join(self._snapshots) or "none yet"))
        self.now = self._snapshots[snapshot]

    def close(self) -> None:
        self._closed = True
        if self._drawing is not None:
            self._drawing.close()
            self._drawing = None

    def _alive(self) -> None:
        if self._closed:
            raise DeviceLost(f"{self.serial} was closed", hint="open it again")

    def _view(self) -> View:
        self._alive()
        return self.phone.view(self.now)


def installed_as(program: Program) -> InstalledApp:
    """How a mock app is listed: its activities are those of the screens that were recorded."""
    seen = {screen.activity for screen in program.screens.values() if screen.package == program.package and screen.activity}
    return InstalledApp(program.package, program.label, program.activity, tuple(sorted({program.activity, *seen} - {""})))
