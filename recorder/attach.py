"""A phone that records what is done on it: put it behind the adb face, and whatever agent drives it is recorded."""

from __future__ import annotations

from collections.abc import Callable

from phoneworld.device.through import Through
from phoneworld.errors import ActionError, CaptureFailed, DeviceError, DeviceLost
from phoneworld.graph.graph import StartKind
from phoneworld.ui.action import Action
from recorder.driven import Driven


class RecordingDevice(Through):
    """Passes everything on to a phone and records each action with the screen before and after it.

    `perform` returns when the screen has settled, so whoever drives it sees what was recorded. What the phone does between
    two actions is a wait of its own. `on_step` is told how many steps were begun. `limit` ends the recording, not the driving.
    """

    def __init__(self, driven: Driven, *, instruction: str = "", limit: int | None = None, on_step: Callable[[int], None] | None = None) -> None:
        super().__init__(driven.device)
        self.driven = driven
        self._instruction = instruction
        self._limit = limit
        self._on_step = on_step
        self._start_kind: StartKind = "kept"

    def clear_app(self, package: str) -> None:
        """Clears the app; the trace ends, the next one begins with fresh data where it was the recorded app's."""
        self.driven.stop_trace()
        self._device.clear_app(package)
        if package == self.driven.app:
            self._start_kind = "fresh"

    def perform(self, action: Action) -> None:
        """Does and records one action. Raises what the phone raises; a screen that cannot be read afterwards ends the trace."""
        if self._limit is not None and self.driven.steps >= self._limit:
            self._device.perform(action)
            return
        try:
            self._stand()
        except CaptureFailed:
            # Without the screen before it the action belongs nowhere: it is done, and the next one begins a new trace.
            self.driven.stop_trace()
            self._device.perform(action)
            return
        self.driven.begin(action)
        before = self.driven.reading
        assert before is not None
        try:
            self._device.perform(action)
        except ActionError as e:
            self.driven.refused(e.message)
            raise
        except DeviceError as e:
            self.driven.unfinished("device-lost" if isinstance(e, DeviceLost) else type(e).__name__, e.message)
            raise
        try:
            self.driven.done(self.driven.look(before.hierarchy))
        except CaptureFailed as e:
            self.driven.unfinished(e.code, e.message)
        if self._on_step is not None:
            self._on_step(self.driven.steps)

    def _stand(self) -> None:
        """The trace stands at what is shown now."""
        if not self.driven.in_trace:
            self.driven.start_trace(self.driven.look(), instruction=self._instruction, kind=self._start_kind)
            self._start_kind = "kept"
        elif not self.driven.stands(self._device.hierarchy()):
            self.driven.moved(self.driven.look())
