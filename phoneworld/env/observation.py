"""What an agent sees: instruction, picture, tree, list of elements, device state; each read only when asked for.

`ObservationSpec` says what an environment is to observe. Of a simulated phone everything can be computed from its state, so
an attribute costs nothing until it is read; of any other phone the parts in the spec are read when the step ends.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from phoneworld.env.elements import Element, Listing, list_screen
from phoneworld.env.marks import marked
from phoneworld.env.trees import interactive_part, visible_part
from phoneworld.errors import ObservationError
from phoneworld.graph.file import write_atomically
from phoneworld.ui.action import Action, action_to_json
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import write_hierarchy

T = TypeVar("T")
Picture = Literal["none", "array", "png"]
"""What a phone can be asked for."""
Screenshot = Literal["none", "array", "png", "jpeg", "path"]
Tree = Literal["all", "visible", "interactive"]
Part = Literal["tree", "text", "screenshot"]
_SCREENSHOTS = ("none", "array", "png", "jpeg", "path")
_READ_AS = {"array": "screenshot", "png": "png", "jpeg": "jpeg", "path": "path"}
_TREES = (True, False, "all", "visible", "interactive")


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """What to observe beside instruction and device state, which always are.

    `tree`: "all" (or True), "visible" (what is on the screen), "interactive" (what a finger can use, with its words), False.
    `screenshot`: "array" for (height, width, 3) uint8 sRGB, "png" or "jpeg" for bytes, "path" for a PNG file in the folder `frames`,
    named by its content; "none". `scale` resizes the picture: 0.5 halves both sides. `marks` boxes and numbers the elements on it.
    `history` is how many earlier steps come with each look. `text_limit` is the longest list of elements in characters; what is
    longer ends with "…".
    """

    tree: bool | Tree = True
    text: bool = True
    screenshot: Screenshot = "none"
    scale: float = 1.0
    marks: bool = False
    history: int = 0
    frames: str = ""
    text_limit: int = 16_384

    def __post_init__(self) -> None:
        if self.screenshot not in _SCREENSHOTS:
            raise ObservationError(
                f"screenshot is {', '.join(_SCREENSHOTS)}; found {self.screenshot!r}",
                hint='ObservationSpec(screenshot="array")',
            )
        if self.tree not in _TREES:
            raise ObservationError(
                f"tree is all, visible, interactive or False; found {self.tree!r}", hint='ObservationSpec(tree="visible")'
            )
        if self.screenshot == "path" and not self.frames:
            raise ObservationError(
                "there is no folder for the pictures", hint='ObservationSpec(screenshot="path", frames="frames")'
            )
        if not 0 < self.scale <= 4:
            raise ObservationError(
                f"scale is above 0 and at most 4, found {self.scale}", hint="ObservationSpec(scale=1/3) for a third"
            )
        if self.history < 0:
            raise ObservationError(f"history is at least 0, found {self.history}", hint="ObservationSpec(history=4)")

    def picture_size(self, size: Size) -> Size:
        """Width and height of the pictures of a screen of this size."""
        return Size(max(1, round(size.width * self.scale)), max(1, round(size.height * self.scale)))


class Reading:
    """The tree of one look and where its picture comes from; what was read is kept. Shared by observations of one look."""

    __slots__ = ("_hierarchy", "_listings", "_memo", "_parts", "_picture", "_tree", "_xml")

    def __init__(self, tree: Callable[[], Hierarchy], picture: Callable[[Picture, Size], Any]) -> None:
        self._tree = tree
        self._picture = picture
        self._hierarchy: Hierarchy | None = None
        self._xml: bytes | None = None
        self._listings: dict[Size, Listing] = {}
        self._parts: dict[tuple[Tree, Size], tuple[Hierarchy, bytes]] = {}
        self._memo: dict[object, Any] = {}

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

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """What was made of this look under a key, made once."""
        if key not in self._memo:
            self._memo[key] = make()
        made: T = self._memo[key]
        return made

    def part(self, kind: Tree, size: Size) -> tuple[Hierarchy, bytes]:
        """What of the tree is asked for, and its XML."""
        if kind == "all":
            return self.hierarchy, self.xml
        if (kind, size) not in self._parts:
            tree = (visible_part if kind == "visible" else interactive_part)(self.hierarchy, size)
            self._parts[kind, size] = (tree, write_hierarchy(tree))
        return self._parts[kind, size]

    def picture(self, kind: Picture, size: Size) -> Any:
        """The picture at this size: an array (read-only) or PNG bytes."""
        return self._picture(kind, size)


Look = tuple[DeviceState, Size, Reading]


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier step: what was seen before it, what was done (None where it could not be read), why it was refused, if it was."""

    observation: Observation
    action: Action | None
    refused: str | None


class Observation:
    """One look at the phone. Immutable; its parts stay what they were when the step ended.

    A part that is not in the spec raises ObservationError. `history` are the last steps before it, oldest first.
    """

    __slots__ = ("_look", "_source", "history", "instruction", "spec")

    def __init__(
        self, spec: ObservationSpec, instruction: str, source: Callable[[], Look], history: tuple[Past, ...] = ()
    ) -> None:
        self.spec = spec
        self.instruction = instruction
        self.history = history
        self._source = source
        self._look: Look | None = None

    @property
    def look(self) -> Look:
        """Device state, size and reading, whatever the spec: for code that names or compares looks."""
        if self._look is None:
            self._look = self._source()
        return self._look

    def _need(self, observed: bool | str, part: Part) -> Reading:
        if not observed:
            example = 'screenshot="array"' if part == "screenshot" else f"{part}=True"
            raise ObservationError(
                f"the {part} is not in what this environment observes", hint=f"observe=ObservationSpec({example})"
            )
        return self.look[2]

    def _need_form(self, form: Literal["array", "path"]) -> None:
        """Raises ObservationError where pictures are not observed in this form, saying how they are read in the one that they are."""
        self._need(self.spec.screenshot != "none", "screenshot")
        if self.spec.screenshot != form:
            wanted = 'screenshot="array"' if form == "array" else 'screenshot="path", frames="frames"'
            raise ObservationError(
                f"pictures are observed as {self.spec.screenshot}, found a reading as {form}",
                hint=f"observation.{_READ_AS[self.spec.screenshot]}, or observe=ObservationSpec({wanted})",
            )

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
        """The widget tree, or the part of it that the spec names."""
        return self._part[0]

    @property
    def xml(self) -> bytes:
        """The same as UI Automator XML: equal trees, equal bytes."""
        return self._part[1]

    @property
    def _part(self) -> tuple[Hierarchy, bytes]:
        kind = self.spec.tree
        return self._need(kind, "tree").part("all" if kind is True or kind is False else kind, self.size)

    @property
    def elements(self) -> tuple[Element, ...]:
        """What can be acted on, in document order, with a point each that a touch finds it at."""
        return self._need(self.spec.tree or self.spec.text, "text").listing(self.size).elements

    @property
    def text(self) -> str:
        """The elements, one a line: number, role, words, state (`2 checkbox "Bought" off`); other words as `- "Details"`."""
        return self._need(self.spec.text, "text").listing(self.size).text(self.spec.text_limit)

    def text_with(self, where: Callable[[Point], str]) -> str:
        """The same, each element with the words for its place: for those who see no picture and must name places."""
        return self._need(self.spec.text, "text").listing(self.size).text(self.spec.text_limit, where)

    @property
    def screenshot(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 3) uint8, read-only, scaled and marked as the spec says."""
        self._need_form("array")
        return self._pixels()

    @property
    def png(self) -> bytes:
        """The picture as PNG bytes, scaled and marked as the spec says."""
        reading = self._need(self.spec.screenshot != "none", "screenshot")
        if self.spec.marks:
            return _encoded(self._pixels(), "PNG")
        png: bytes = reading.picture("png", self.spec.picture_size(self.size))
        return png

    @property
    def jpeg(self) -> bytes:
        """The picture as JPEG bytes, scaled and marked as the spec says."""
        self._need(self.spec.screenshot != "none", "screenshot")
        return _encoded(self._pixels(), "JPEG")

    @property
    def path(self) -> Path:
        """A PNG file with the picture, named by its content; it is written when it is first asked for. Raises WriteError."""
        self._need_form("path")
        png = self.png
        file = Path(self.spec.frames) / f"{hashlib.sha256(png).hexdigest()}.png"
        if not file.exists():
            write_atomically(file, png, durable=False)  # whole: other processes may look for the same picture
        return file

    def _pixels(self) -> NDArray[np.uint8]:
        array: NDArray[np.uint8] = self.look[2].picture("array", self.spec.picture_size(self.size))
        return marked(array, self.look[2].listing(self.size).elements, self.size) if self.spec.marks else array

    def told(self, instruction: str, history: tuple[Past, ...]) -> Observation:
        """The same look in an episode with this instruction and what came before."""
        if instruction == self.instruction and history == self.history:
            return self
        return Observation(self.spec, instruction, lambda: self.look, history)

    def with_spec(self, spec: ObservationSpec) -> Observation:
        """The same look with other parts of it. Of a phone that does not run here, parts that were not read are lost."""
        look = self.look
        return Observation(spec, self.instruction, lambda: look, self.history)

    def as_dict(self) -> dict[str, Any]:
        """The parts in the spec by name; the tree as XML text."""
        parts: dict[str, Any] = {"instruction": self.instruction, "device": self.device, "size": self.size}
        if self.spec.tree:
            parts["tree"] = self.xml.decode()
        if self.spec.text:
            parts["text"] = self.text
        match self.spec.screenshot:
            case "array":
                parts["screenshot"] = self.screenshot
            case "png" | "jpeg":
                parts["screenshot"] = self.png if self.spec.screenshot == "png" else self.jpeg
            case "path":
                parts["screenshot"] = str(self.path)
            case "none":
                pass
        if self.spec.history:
            parts["history"] = [
                {"action": None if p.action is None else action_to_json(p.action), "refused": p.refused} for p in self.history
            ]
        return parts

    def __eq__(self, other: object) -> bool:
        """Equal where instruction, device state, size and tree are; pictures follow from them."""
        if not isinstance(other, Observation):
            return NotImplemented
        mine, theirs = self.look, other.look
        return (
            self.spec == other.spec
            and self.instruction == other.instruction
            and self.history == other.history
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


def _encoded(array: NDArray[np.uint8], form: Literal["PNG", "JPEG"]) -> bytes:
    out = io.BytesIO()
    Image.fromarray(array).save(out, form, **({"quality": 90} if form == "JPEG" else {}))
    return out.getvalue()


def _resized(image: Image.Image, size: Size) -> Image.Image:
    if image.size == (size.width, size.height):
        return image
    return image.resize((size.width, size.height), Image.Resampling.BOX)


def _frozen(image: Image.Image) -> NDArray[np.uint8]:
    array: NDArray[np.uint8] = np.array(image, dtype=np.uint8)
    array.flags.writeable = False
    return array
