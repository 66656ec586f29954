"""The groceries app as a phone in memory: a real Device whose tree, picture and state are drawn from one value."""

from __future__ import annotations

from dataclasses import dataclass, field

from phoneworld.device.device import Device, InstalledApp
from phoneworld.device.settle import Reading
from phoneworld.errors import DeviceError
from phoneworld.testing.groceries import DENSITY, PACKAGE, SIZE, Groceries
from phoneworld.testing.samples import START_MS, draw
from phoneworld.ui.action import Action, CloseApp, OpenApp, PressKey, check_on_screen
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node

LAUNCHER = "com.android.launcher3"
_HOME = Hierarchy((Node("android.widget.FrameLayout", package=LAUNCHER, bounds=Bounds(0, 0, SIZE.width, SIZE.height)),))


@dataclass(slots=True)
class GroceriesPhone:
    """What was bought outlives the app; where it stood does not. `done` are the actions in order, `cleared` counts."""

    serial: str = "groceries"
    app: Groceries = field(default_factory=Groceries)
    is_open: bool = False
    done: list[Action] = field(default_factory=list)
    cleared: int = 0

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo(SIZE, DENSITY)

    def state(self) -> DeviceState:
        return self.app.state(START_MS) if self.is_open else DeviceState(LAUNCHER, f"{LAUNCHER}.Launcher", clock_ms=START_MS)

    def hierarchy(self) -> Hierarchy:
        return self.app.tree() if self.is_open else _HOME

    def screenshot(self) -> bytes:
        return draw(self.app)

    def perform(self, action: Action) -> None:
        check_on_screen(action, SIZE)
        self.done.append(action)
        match action:
            case OpenApp():
                self.is_open = True
            case CloseApp():
                self.app, self.is_open = Groceries(self.app.items), False
            case PressKey("home"):
                self.is_open = False
            case PressKey("back") if self.app.screen == "list" and not self.app.typing:
                self.is_open = False
            case _ if self.is_open:
                self.app = self.app.act(action)

    def apps(self) -> tuple[InstalledApp, ...]:
        return (InstalledApp(PACKAGE, "Groceries", f"{PACKAGE}.ListActivity"),)

    def clear_app(self, package: str) -> None:
        if package != PACKAGE:
            raise DeviceError(f"no app {package}")
        self.app, self.is_open, self.cleared = Groceries(), False, self.cleared + 1

    def close(self) -> None:
        """Nothing to let go."""


def glance(device: Device, before: Hierarchy | None, calm: frozenset[str]) -> Reading:
    """This phone is always at rest: one look is enough, and no picture is needed."""
    return Reading(device.hierarchy(), b"", device.state(), True, 0)


