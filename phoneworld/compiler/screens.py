"""Captures to screens and layouts. A screen is a class of the coarse identity; a layout is one exact tree with one look."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image, UnidentifiedImageError

from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.identity import screens_of
from phoneworld.program.program import Layout, Screen
from phoneworld.ui.xml import write_hierarchy

LOOK_SIZE = (16, 32)
LOOK_TOLERANCE = 24.0
"""Mean difference (0..255) of two 16x32 thumbnails from which equal trees are held for different looks (a dark theme, say)."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a capture went: its screen and its layout."""

    screen: str
    layout: str


@dataclass(frozen=True, slots=True)
class Screens:
    """All screens, their guards not yet set, and where each capture went."""

    screens: Mapping[str, Screen]
    sightings: Mapping[str, Sighting]


def find_screens(graph: StateGraph, pixels: Mapping[str, bytes]) -> Screens:
    """Groups captures. Ids are given in the order of recording, so that equal input gives equal ids."""
    home = {capture: key for key, captures in screens_of(graph).items() for capture in captures}
    looks = _Looks(pixels)
    names: dict[str, str] = {}
    groups: dict[tuple[object, ...], list[list[Capture]]] = {}
    order: list[tuple[str, list[Capture]]] = []
    for capture in graph.captures.values():
        screen = names.setdefault(home[capture.id], f"s{len(names) + 1}")
        same_tree = groups.setdefault(_tree_key(screen, capture), [])
        for group in same_tree:
            if looks.alike(group[0].screenshot, capture.screenshot):
                group.append(capture)
                break
        else:
            group = [capture]
            same_tree.append(group)
            order.append((screen, group))
    layouts: dict[str, list[Layout]] = {}
    sightings: dict[str, Sighting] = {}
    first: dict[str, Capture] = {}
    for number, (screen, group) in enumerate(order, 1):
        shown = next((c for c in group if c.screenshot and c.settled), None) or next((c for c in group if c.screenshot), group[0])
        layout = Layout(
            id=f"l{number}",
            hierarchy=group[0].hierarchy,
            size=shown.size,
            state=shown.state,
            screenshot=shown.screenshot,
            captures=tuple(c.id for c in group),
        )
        layouts.setdefault(screen, []).append(layout)
        first.setdefault(screen, group[0])
        for capture in group:
            sightings[capture.id] = Sighting(screen, layout.id)
    screens = {
        screen: Screen(screen, screen_title(first[screen]), _package(first[screen]), first[screen].state.activity, tuple(ls))
        for screen, ls in layouts.items()
    }
    return Screens(screens, sightings)


def _tree_key(screen: str, capture: Capture) -> tuple[object, ...]:
    state = capture.state
    return (screen, write_hierarchy(capture.hierarchy), capture.size, state.keyboard, state.package, state.activity)


def _package(capture: Capture) -> str:
    return capture.state.package or next((n.package for n in capture.hierarchy.nodes() if n.package), "")


def screen_title(capture: Capture) -> str:
    """A person's name for a screen: the topmost short text on it, else its activity, else its package."""
    texts = []
    for path, node in capture.hierarchy.walk():
        words = " ".join(node.label.split())
        if 1 < len(words) <= 40 and not node.is_editable and capture.hierarchy.is_visible(path, capture.size):
            texts.append((node.bounds.top // 8, node.bounds.left, words))
    return min(texts)[2] if texts else capture.state.activity.rsplit(".", 1)[-1] or _package(capture)


class _Looks:
    """Small pictures of screenshots, compared by mean difference; made only where two trees are equal and two files are not."""

    def __init__(self, pixels: Mapping[str, bytes]) -> None:
        self._pixels = pixels
        self._small: dict[str, np.ndarray | None] = {}

    def alike(self, one: str | None, other: str | None) -> bool:
        if one is None or other is None or one == other:
            return True
        a, b = self._thumbnail(one), self._thumbnail(other)
        return a is None or b is None or float(np.abs(a - b).mean()) < LOOK_TOLERANCE

    def _thumbnail(self, sha: str) -> np.ndarray | None:
        if sha not in self._small:
            self._small[sha] = None
            if sha in self._pixels:
                try:
                    with Image.open(io.BytesIO(self._pixels[sha])) as image:
                        self._small[sha] = np.asarray(image.convert("L").resize(LOOK_SIZE), dtype=np.float32)
                except (UnidentifiedImageError, OSError, ValueError):
                    pass
        return self._small[sha]
