"""What is laid over a recorded picture, as data: covers, pieces of the picture, widgets that are drawn. `live.py` decides, `painter.py` paints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from phoneworld.render.style import Ground
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Node, Path

Why = Literal["changed", "new", "caret"]


@dataclass(frozen=True, slots=True)
class Cover:
    """A rectangle of ground laid over pixels that no longer hold."""

    bounds: Bounds
    ground: Ground


@dataclass(frozen=True, slots=True)
class Patch:
    """A cover that is laid in drawing order: over a piece that shows something that is not its own."""

    path: Path
    cover: Cover


@dataclass(frozen=True, slots=True)
class Piece:
    """Recorded pixels from `source`, drawn at `target`; both have one size and lie on the screen."""

    path: Path
    source: Bounds
    target: Bounds


@dataclass(frozen=True, slots=True)
class Live:
    """A widget to be drawn. `model` is the recorded node whose pixels tell how it looks: itself, or one of its kind.

    `room` is its bounds and the free space to its right; `backing` is laid under it, above pieces.
    """

    path: Path
    why: Why
    model: Node | None
    room: Bounds
    backing: Cover | None = None


Item: TypeAlias = Piece | Patch | Live


@dataclass(slots=True)
class Composition:
    """What lies on the picture: covers below, then pieces and live widgets in drawing order."""

    covers: list[Cover] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)

    @property
    def is_recorded(self) -> bool:
        """True where the picture alone is right."""
        return not self.covers and not self.items
