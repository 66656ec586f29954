"""Looks at the phone with the time at which each was had, so that it is known what was shown before a finger came down."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from phoneworld.device.device import Device
from phoneworld.device.settle import Reading, package_of
from phoneworld.device.through import Through
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.node import Hierarchy

KEPT = 24


@dataclass(frozen=True, slots=True)
class Look:
    """A tree and the picture taken after it; both lie between the two times (host monotonic clock, ms)."""

    hierarchy: Hierarchy
    screenshot: bytes
    at_ms: float
    until_ms: float


def monotonic_ms() -> float:
    return time.monotonic() * 1000


@dataclass(slots=True)
class Ring:
    """The last looks, oldest first."""

    looks: deque[Look] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, look: Look) -> None:
        self.looks.append(look)

    def between(self, after_ms: float, before_ms: float) -> Look | None:
        """The newest look that lies wholly between the two times."""
        return next((k for k in reversed(self.looks) if k.at_ms >= after_ms and k.until_ms <= before_ms), None)

    @property
    def until_ms(self) -> float:
        """When the newest look was whole; 0 where there is none."""
        return self.looks[-1].until_ms if self.looks else 0.0


class Watched(Through):
    """A phone whose looks go into a ring; everything is passed on."""

    def __init__(self, device: Device, ring: Ring, clock_ms: Callable[[], float] = monotonic_ms) -> None:
        super().__init__(device)
        self._ring = ring
        self._clock_ms = clock_ms
        self._tree: tuple[Hierarchy, float] | None = None

    def hierarchy(self) -> Hierarchy:
        at_ms = self._clock_ms()
        tree = super().hierarchy()
        self._tree = tree, at_ms
        return tree

    def screenshot(self) -> bytes:
        png = super().screenshot()
        if self._tree is not None:
            tree, at_ms = self._tree
            self._ring.add(Look(tree, png, at_ms, self._clock_ms()))
        return png


def reading_of(look: Look, since_ms: float, *, state: DeviceState | None = None) -> Reading:
    """A look as an unsettled reading: what was seen between two touches. `state` is what is known of the phone, if anything is."""
    state = state or DeviceState(package=package_of(look.hierarchy), rotation=look.hierarchy.rotation)
    waited = max(0, round(look.at_ms - since_ms))
    return Reading(look.hierarchy, look.screenshot, state, settled=False, waited_ms=waited, notes=("unsettled", "touched-on"))
