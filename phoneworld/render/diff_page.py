"""The page of a comparison: what changed from one recording of an app to another, side by side. One file, no network.

Whatever was recorded enters the page only through Jinja's escaping; pictures are data URIs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phoneworld.graph.diff import Broken, GraphDiff, ScreenChange, Side
from phoneworld.graph.graph import Capture
from phoneworld.render.graph_page import Wire, drawable, small_picture, wireframe
from phoneworld.render.templates import environment

_WIDTH, _HEIGHT = 208, 420
_SMALL_WIDTH, _SMALL_HEIGHT = 96, 190


@dataclass(frozen=True, slots=True)
class Thumb:
    """One capture as drawn: a picture, or the wires of its tree; `marks` are boxes (x, y, width, height) around what differs."""

    title: str
    about: str
    width: float
    height: float
    picture: str
    wires: tuple[Wire, ...]
    marks: tuple[tuple[float, float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A changed screen as drawn."""

    change: ScreenChange
    before: Thumb
    after: Thumb


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A transition that leads elsewhere, with the screen it starts on."""

    broken: Broken
    at: Thumb


def diff_page(found: GraphDiff, pixels: Mapping[str, bytes], *, names: tuple[str, str], warnings: tuple[str, ...] = ()) -> str:
    """A standalone HTML page. `pixels` maps screenshot hashes to PNG bytes; `names` say which recording is which."""

    def large(side: Side, key: str, change: ScreenChange) -> Thumb:
        return _thumb(side.shown, side, pixels, _WIDTH, _HEIGHT, (change.marks or {}).get(key, ()))

    def small(side: Side) -> Thumb:
        return _thumb(side.shown, side, pixels, _SMALL_WIDTH, _SMALL_HEIGHT)

    page = environment().get_template("graph/diff.html.j2").render(
        title=found.package or "a recording",
        diff=found,
        names=names,
        warnings=(*found.warnings, *warnings),
        pairs=[Pair(c, large(c.before, "before", c), large(c.after, "after", c)) for c in found.changed],
        same=[small(c.after) for c in found.matched if not c.is_changed],
        gone=[small(s) for s in found.gone],
        new=[small(s) for s in found.new],
        not_reached=[small(s) for s in found.not_reached],
        first_reached=[small(s) for s in found.first_reached],
        broken=[BrokenRow(b, small(b.at.before)) for b in found.broken],
        uncertain=[BrokenRow(b, small(b.at.before)) for b in found.uncertain],
    )
    return drawable(page.lstrip())


def _thumb(
    capture: Capture,
    side: Side,
    pixels: Mapping[str, bytes],
    width: int,
    height: int,
    marks: tuple[tuple[int, int, int, int], ...] = (),
) -> Thumb:
    scale = min(width / max(1, capture.size.width), height / max(1, capture.size.height))
    png = pixels.get(capture.screenshot or "")
    count = len(side.captures)
    return Thumb(
        side.title,
        f"{count} capture{'s' * (count != 1)}",
        round(capture.size.width * scale, 1),
        round(capture.size.height * scale, 1),
        small_picture(png) if png else "",
        () if png else wireframe(capture, scale),
        tuple((round(x * scale, 1), round(y * scale, 1), round(w * scale, 1), round(h * scale, 1)) for x, y, w, h in marks),
    )
