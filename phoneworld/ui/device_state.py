"""What a phone says of itself beside its picture and its tree. Knows no device."""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.ui.geometry import Size


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What stays the same for a whole recording. `density` is in dots an inch (160 = one pixel a dp)."""

    size: Size
    density: int = 420
    model: str = ""
    manufacturer: str = ""
    android: str = ""
    sdk: int = 0
    locale: str = ""
    timezone: str = ""
    font_scale: float = 1.0
    night_mode: bool = False


@dataclass(frozen=True, slots=True)
class DeviceState:
    """What changes from step to step. `clock_ms` is Unix time on the phone's own clock, None where it was not read."""

    package: str = ""
    activity: str = ""
    keyboard: bool = False
    rotation: int = 0
    clock_ms: int | None = None
