"""The real app once more: how well it agrees with itself is the most that a mock can reach."""

from __future__ import annotations

from collections.abc import Callable

from phoneworld.device.device import Device
from phoneworld.fidelity.heldout import Pace, Spacing, rest
from phoneworld.program.program import EvidenceKind
from phoneworld.ui.action import Action, OpenApp
from phoneworld.ui.node import Hierarchy


class RealAgain:
    """A phone that does the held-out traces a second time, from a fresh start each; `ready` is called before (a server to be reset, say)."""

    def __init__(self, device: Device, app: str, pace: Pace = Pace(), ready: Callable[[], None] = lambda: None) -> None:
        self._device = device
        self._app = app
        self._pace = pace
        self._ready = ready
        self._spacing = Spacing(device.info.density)
        self._shown: Hierarchy | None = None
        self._calm: frozenset[str] = frozenset()

    def start(self) -> Hierarchy:
        self._ready()
        self._device.clear_app(self._app)
        self._device.perform(OpenApp(self._app))
        self._shown = None
        return self._look()

    def act(self, action: Action, took_ms: int | None = None) -> tuple[Hierarchy, EvidenceKind]:
        self._spacing.before(action)
        self._device.perform(action)
        self._spacing.after(action)
        return self._look(), "recorded"

    def _look(self) -> Hierarchy:
        seen = rest(self._device, self._pace, self._shown, self._calm)
        self._calm |= seen.busy
        self._shown = seen.hierarchy
        return seen.hierarchy
