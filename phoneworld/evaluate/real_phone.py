"""How the real app is had for an evaluation: a web page in Chromium, or a phone that adb knows, judged by what can be seen, was answered, and is stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from phoneworld.device.open import WebPhone, open_device
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.observation import ObservationSpec
from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.file import load_storage
from phoneworld.tasks.task import Task


@dataclass(frozen=True, slots=True)
class RealPhone:
    """The arguments of a `DeviceEnv`. Tasks are drawn from the mock in `bundle`; `storage` is a file of `phoneworld tasks transfer --storage`."""

    device: str
    bundle: str
    tasks: tuple[Task, ...]
    storage: str = ""
    observe: ObservationSpec = ObservationSpec(screenshot="png")
    max_steps: int | None = None

    def __call__(self) -> DeviceEnv:
        """Opens the phone. It belongs to the thread that called this. Raises DeviceNotFound and its kin."""
        program = load_bundle(self.bundle).program
        info = program.device
        # The same screen and the same moment as when the app was recorded: otherwise it is another app.
        web = WebPhone(
            info.size, info.density, program.package, program.label, clock_ms=program.clock_ms or None, locale=info.locale,
            timezone=info.timezone, night_mode=info.night_mode,
        )  # fmt: skip
        storage = load_storage(Path(self.storage)) if self.storage else None
        device = open_device(self.device, web)
        try:
            return DeviceEnv(
                device, program.package, observe=self.observe, tasks=self.tasks, mock=Phone([program]), storage=storage, max_steps=self.max_steps
            )
        except BaseException:
            device.close()
            raise
