"""What a phone shows in a state: the tree a dump would give now, and which recorded picture lies under it. Knows no pixels."""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy


@dataclass(frozen=True, slots=True)
class View:
    """One screenful.

    `hierarchy` is what UI Automator would dump. `recorded` is the tree that was captured together with `screenshot` (a
    hash); where both trees agree the recorded pixels are right, where they differ the drawing must be live. `recorded` and
    `screenshot` are None where no picture belongs to this state. `keyboard` is True where the soft keyboard is to be
    drawn by us (a recorded picture taken with the keyboard up already shows it). `key` names the looks: equal keys, equal
    pictures.
    """

    hierarchy: Hierarchy
    size: Size
    density: int
    state: DeviceState
    key: str
    recorded: Hierarchy | None = None
    screenshot: str | None = None
    keyboard: bool = False
