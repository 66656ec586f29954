"""How the real app is had for an evaluation: a web page in Chromium, or a phone that adb knows, judged by what can be seen, was answered, and is stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from phoneworld.device.open import WebPhone, open_device
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.rewards import Rewards
from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.file import load_storage
from phoneworld.tasks.stored import StorageMap
from phoneworld.tasks.task import Task

if TYPE_CHECKING:
    from phoneworld.render.browser import Browser


@dataclass(frozen=True, slots=True)
class RealPhone:
    """The arguments of a `DeviceEnv`. Tasks are drawn from the mock in `bundle`; `storage` is what `phoneworld tasks transfer --storage` found out, or its file."""

    device: str
    bundle: str
    tasks: tuple[Task, ...]
    storage: str | StorageMap = ""
    observe: ObservationSpec = ObservationSpec(screenshot="png")
    max_steps: int | None = None
    rewards: Rewards = Rewards()

    def __call__(self, browser: Browser | None = None) -> DeviceEnv:
        """Opens the phone, a page in `browser` where one is given. It belongs to the thread that called this. Raises DeviceNotFound and its kin."""
        program = load_bundle(self.bundle).program
        info = program.device
        # The same screen and the same moment as when the app was recorded: otherwise it is another app.
        web = WebPhone(
            info.size, info.density, program.package, program.label, clock_ms=program.clock_ms or None, locale=info.locale,
            timezone=info.timezone, night_mode=info.night_mode,
        )  # fmt: skip
        storage = load_storage(Path(self.storage)) if isinstance(self.storage, str) and self.storage else self.storage or None
        device = open_device(self.device, web, browser)
        try:
            return DeviceEnv(
                device, program.package, observe=self.observe, tasks=self.tasks, mock=Phone([program]), storage=storage, max_steps=self.max_steps,
                rewards=self.rewards,
            )  # fmt: skip
        except BaseException:
            device.close()
            raise
