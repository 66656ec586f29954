"""What a DOM node is beside its accessibility: tag, attributes, place, whether it takes clicks and scrolls. Pure.

There are two sources. `measure.py` takes the structure from CDP's DOM domain and the places from one pass of a script in the
page; it is the one that is used. `snapshot.py` reads CDP's DOM snapshot, which copies every text of the page (some keep
megabytes in a `script`); it knows closed shadow roots and plug-ins, so pages with those are read that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Box = tuple[float, float, float, float]
MAIN_FRAME = ""


@dataclass(frozen=True, slots=True)
class Element:
    """One DOM node. `box` is x, y, width, height in CSS pixels of the viewport of the whole page; None where it has no layout.

    `frame` is the id of the frame in it where it is an iframe that was read, else None.
    """

    tag: str
    attributes: Mapping[str, str]
    box: Box | None
    clickable: bool
    scrollable: bool
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class PageCapture:
    """What was read from a page in one go: the AX nodes of each frame by its id, and the elements by backend node id."""

    frames: Mapping[str, Sequence[Mapping[str, Any]]]
    elements: Mapping[int, Element]
