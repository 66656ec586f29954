"""What an agent sees: instruction, picture, tree, list of elements, device state; each read only when asked for.

`ObservationSpec` says what an environment is to observe. Of a simulated phone everything can be computed from its state, so
an attribute costs nothing until it is read; of any other phone the parts in the spec are read when the step ends.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from phoneworld.env.elements import Element, Listing, list_screen
from phoneworld.errors import ObservationError
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import write_hierarchy

Picture = Literal["none", "array", "png"]
Part = Literal["tree", "text", "screenshot"]


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """What to observe beside instruction and device state, which always are.

    `screenshot`: "array" for (height, width, 3) uint8 sRGB, "png" for bytes, "none". `scale` resizes the picture: 0.5 halves
    both sides. `text_limit` is the longest list of elements in characters; what is longer ends with "…".
    """

    tree: bool = True
    text: bool = True
    screenshot: Picture = "none"
    scale: float = 1.0
    text_limit: int = 16_384

    def __post_init__(self) -> None:
        if self.screenshot not in ("none", "array", "png"):
            raise ObservationError(
                f"screenshot is none, array or png, found {self.screenshot!r}",
                hint='ObservationSpec(screenshot="array")',
            )
        if not 0 < self.scale <= 4:
            raise ObservationError(
                f"scale is above 0 and at most 4, found {self.scale}", hint="ObservationSpec(scale=1/3) for a third"
            )

    def picture_size(self, size: Size) -> Size:
        """Width and height of the pictures of a screen of this size."""
        return Size(max(1, round(size.width * self.scale)), max(1, round(size.height * self.scale)))


class Reading:
    """The tree of one look and where its picture comes from; what was read is kept. Shared by observations of one look."""

    __slots__ = ("_hierarchy", "_listings", "_picture", "_tree", "_xml")

    def __init__(self, tree: Callable[[], Hierarchy], picture: Callable[[Picture, Size], Any]) -> None:
        self._tree = tree
        self._picture = picture
        self._hierarchy: Hierarchy | None = None
        self._xml: bytes | None = None
        self._listings: dict[Size, Listing] = {}

    @property
    def hierarchy(self) -> Hierarchy:
        if self._hierarchy is None:
            self._hierarchy = self._tree()
        return self._hierarchy

    @property
    def xml(self) -> bytes:
        if self._xml is None:
            self._xml = write_hierarchy(self.hierarchy)
        return self._xml

    def listing(self, size: Size) -> Listing:
        if size not in self._listings:
            self._listings[size] = list_screen(self.hierarchy, size)
        return self._listings[size]

    def picture(self, kind: Picture, size: Size) -> Any:
        """The picture at this size: an array (read-only) or PNG bytes."""
        return self._picture(kind, size)


Look = tuple[DeviceState, Size, Reading]


class Observation:
    """One look at the phone. Immutable; its parts stay what they were when the step ended.

    A part that is not in the spec raises ObservationError.
    """

    __slots__ = ("_look", "_source", "instruction", "spec")

    def __init__(self, spec: ObservationSpec, instruction: str, source: Callable[[], Look]) -> None:
        self.spec = spec
        self.instruction = instruction
        self._source = source
        self._look: Look | None = None

    @property
    def look(self) -> Look:
        """Device state, size and reading, whatever the spec: for code that names or compares looks."""
        if self._look is None:
            self._look = self._source()
        return self._look

    def _need(self, observed: bool, part: Part) -> Reading:
        if not observed:
            example = 'screenshot="array"' if part == "screenshot" else f"{part}=True"
            raise ObservationError(
                f"the {part} is not in what this environment observes", hint=f"observe=ObservationSpec({example})"
            )
        return self.look[2]

    @property
    def device(self) -> DeviceState:
        """What the phone says of itself: app in front, activity, keyboard, rotation, clock."""
        return self.look[0]

    @property
    def size(self) -> Size:
        """The screen in pixels as it is rotated now."""
        return self.look[1]

    @property
    def tree(self) -> Hierarchy:
        """The widget tree."""
        return self._need(self.spec.tree, "tree").hierarchy

    @property
    def xml(self) -> bytes:
        """The widget tree as UI Automator XML: equal trees, equal bytes."""
        return self._need(self.spec.tree, "tree").xml

    @property
    def elements(self) -> tuple[Element, ...]:
        """What can be acted on, in document order, with a point each that a touch finds it at."""
        return self._need(self.spec.tree or self.spec.text, "text").listing(self.size).elements

    @property
    def text(self) -> str:
        """The elements, one a line: number, role, words, state (`2 checkbox "Bought" off`); other words as `- "Details"`."""
        return self._need(self.spec.text, "text").listing(self.size).text(self.spec.text_limit)

    @property
    def screenshot(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 3) uint8, read-only, scaled as the spec says."""
        reading = self._need(self.spec.screenshot == "array", "screenshot")
        array: NDArray[np.uint8] = reading.picture("array", self.spec.picture_size(self.size))
        return array

    @property
    def png(self) -> bytes:
        """The picture as PNG bytes, scaled as the spec says."""
        reading = self._need(self.spec.screenshot != "none", "screenshot")
        png: bytes = reading.picture("png", self.spec.picture_size(self.size))
        return png

    def with_spec(self, spec: ObservationSpec) -> Observation:
        """The same look with other parts of it. Of a phone that does not run here, parts that were not read are lost."""
        look = self.look
        return Observation(spec, self.instruction, lambda: look)

    def as_dict(self) -> dict[str, Any]:
        """The parts in the spec by name; the tree as XML text."""
        parts: dict[str, Any] = {"instruction": self.instruction, "device": self.device, "size": self.size}
        if self.spec.tree:
            parts["tree"] = self.xml.decode()
        if self.spec.text:
            parts["text"] = self.text
        if self.spec.screenshot != "none":
            parts["screenshot"] = self.screenshot if self.spec.screenshot == "array" else self.png
        return parts

    def __eq__(self, other: object) -> bool:
        """Equal where instruction, device state, size and tree are; pictures follow from them."""
        if not isinstance(other, Observation):
            return NotImplemented
        mine, theirs = self.look, other.look
        return (
            self.spec == other.spec
            and self.instruction == other.instruction
            and mine[:2] == theirs[:2]
            and (not (self.spec.tree or self.spec.text) or mine[2] is theirs[2] or mine[2].xml == theirs[2].xml)
        )

    def __hash__(self) -> int:
        return hash((self.instruction, self.device, self.size))

    def __repr__(self) -> str:
        return f"Observation({self.device.package} {self.device.activity}, {self.size.width}x{self.size.height})"


def array_of(png: bytes, size: Size) -> NDArray[np.uint8]:
    """The pixels of a PNG at a size: (height, width, 3) uint8, read-only."""
    return _frozen(_resized(Image.open(io.BytesIO(png)).convert("RGB"), size))


def scaled_array(array: NDArray[np.uint8], size: Size) -> NDArray[np.uint8]:
    """The same picture at another size, read-only."""
    if array.shape[:2] == (size.height, size.width):
        array.flags.writeable = False
        return array
    return _frozen(_resized(Image.fromarray(array), size))


def scaled_png(png: bytes, size: Size) -> bytes:
    """The same picture at another size."""
    image = Image.open(io.BytesIO(png))
    if image.size == (size.width, size.height):
        return png
    out = io.BytesIO()
    _resized(image.convert("RGB"), size).save(out, "PNG")
    return out.getvalue()


def _resized(image: Image.Image, size: Size) -> Image.Image:
    if image.size == (size.width, size.height):
        return image
    return image.resize((size.width, size.height), Image.Resampling.BOX)


def _frozen(image: Image.Image) -> NDArray[np.uint8]:
    array: NDArray[np.uint8] = np.array(image, dtype=np.uint8)
    array.flags.writeable = False
    return array
