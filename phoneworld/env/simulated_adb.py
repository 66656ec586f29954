"""A simulated phone behind adb, with the controls that no real phone has: it can be put back."""

from __future__ import annotations

import shlex

from phoneworld.device.adb import AdbDevice
from phoneworld.errors import DeviceUnusable, SessionError


class SimulatedAdbDevice(AdbDevice):
    """An AdbDevice over `phoneworld phone mock:BUNDLE --adb PORT`: a ResettableDevice, through `cmd phoneworld`."""

    def reset(self, seed: int | None = None) -> None:
        """The start state."""
        self._control("reset" if seed is None else f"reset --seed {seed}")

    def snapshot(self) -> str:
        """Names the state now."""
        return self._control("snapshot").strip()

    def restore(self, snapshot: str) -> None:
        """Goes back to a named state. Raises SessionError for an unknown name."""
        try:
            self._control(f"restore {shlex.quote(snapshot)}")
        except DeviceUnusable as e:
            raise SessionError(e.message, hint="names are good as long as the phone runs") from None

    def _control(self, words: str) -> str:
        output = self.run(f"cmd phoneworld {words}")
        if output.status != 0:
            told = (output.everything.strip().splitlines() or ["it said nothing"])[0]
            raise DeviceUnusable(
                f"{self.serial} did not do `cmd phoneworld {words}`: {told}",
                hint="a phone that can be put back: `phoneworld phone mock:BUNDLE --adb 7555`",
            )
        return output.text
