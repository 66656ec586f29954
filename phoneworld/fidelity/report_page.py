"""The figures as a page, with the first divergence of each trace: both phones side by side, what differs marked. No network.

The real phone is its picture where one was recorded, else it is drawn from its tree, as the mock is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phoneworld.fidelity.explain import Divergence, divergences, face_words
from phoneworld.fidelity.match import Face, faces
from phoneworld.fidelity.score import Score
from phoneworld.graph.graph import StateGraph
from phoneworld.render.html import tree_page
from phoneworld.render.report_page import thumbnail
from phoneworld.render.templates import environment
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

SHOWN_WIDTH = 204
FACES_SHOWN = 8
PAIRS_SHOWN = 30
"""Traces shown with both phones; of more, each further one is a line."""


@dataclass(frozen=True, slots=True)
class PhonePicture:
    """One phone as shown: a picture as a URI, or a page drawn from the tree; `marks` are inline styles of boxes around what differs."""

    title: str
    picture: str
    page: str
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    divergence: Divergence
    phones: tuple[PhonePicture, ...]
    width: int
    height: int
    scale: float
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    other: tuple[tuple[str, str], ...]


def report_page(
    label: str,
    figures: Mapping[str, Mapping[str, Any]],
    mock: Score,
    heldout: StateGraph,
    pixels: Mapping[str, bytes] | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """The page. `pixels` maps screenshot hashes to PNG bytes; `warnings` are what a reader must know of the figures."""
    found = divergences(mock, heldout)
    shown = [_shown(d, heldout.device.density, pixels or {}) for d in found[:PAIRS_SHOWN]]
    return environment().get_template("report/fidelity.html").render(
        label=label, figures=figures, shown=shown, more=found[PAIRS_SHOWN:], traces=len(heldout.traces), shown_width=SHOWN_WIDTH, warnings=warnings
    )


def _shown(divergence: Divergence, density: int, pixels: Mapping[str, bytes]) -> _Shown:
    real, size = divergence.real, divergence.real.size
    scale = SHOWN_WIDTH / size.width
    missing = [*divergence.missing, *(a for a, _ in divergence.other)]
    surplus = [*divergence.surplus, *(b for _, b in divergence.other)]
    picture = thumbnail(pixels.get(real.screenshot or ""), SHOWN_WIDTH)
    phones = (
        PhonePicture("the app", picture, "" if picture else _drawn(real.hierarchy, size, density), _marks(real.hierarchy, size, scale, missing)),
        PhonePicture("the mock", "", _drawn(divergence.step.shown, size, density), _marks(divergence.step.shown, size, scale, surplus)),
    )
    return _Shown(
        divergence,
        phones,
        size.width,
        round(size.height * scale),
        scale,
        tuple(face_words(f) for f in divergence.missing[:FACES_SHOWN]),
        tuple(face_words(f) for f in divergence.surplus[:FACES_SHOWN]),
        tuple((face_words(a), face_words(b)) for a, b in divergence.other[:FACES_SHOWN]),
    )


def _drawn(tree: Hierarchy, size: Size, density: int) -> str:
    return tree_page(tree, size, density)


def _marks(tree: Hierarchy, size: Size, scale: float, wanted: list[Face]) -> tuple[str, ...]:
    """Boxes around the faces, as many of each as are wanted; those that stand last, as what is added mostly does."""
    left = Counter(wanted)
    styles = []
    for face, bounds in reversed(faces(tree, size).order):
        if left[face] > 0:
            left[face] -= 1
            box = bounds.intersect(size.bounds)
            places = (("left", box.left), ("top", box.top), ("width", box.width), ("height", box.height))
            styles.append(";".join(f"{name}:{value * scale:.0f}px" for name, value in places))
    return tuple(styles)
