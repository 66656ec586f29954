"""The drawing of a recorded graph: screens as boxes with thumbnails, what was done as lines between them. One file, no network.

Whatever was recorded enters the drawing only through Jinja's escaping, as text or an attribute; pictures are data URIs.
"""

from __future__ import annotations

import base64
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from PIL import Image

from phoneworld.graph.features import shown_package
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.identity import screens_of
from phoneworld.graph.views import Outcomes, outcomes, title_of
from phoneworld.render.graph_layout import Layout, Line, layered
from phoneworld.render.templates import environment
from phoneworld.ui.node import Node

_THUMB_WIDTH, _THUMB_HEIGHT = 128, 224
_LANDSCAPE_WIDTH = 208
_PADDING, _HEADER, _STAY_LINE, _FOOTER = 8, 38, 15, 22
_COLUMN_GAP, _ROW_GAP, _MARGIN = 300, 34, 28
_LABEL, _TITLE, _ABOUT, _STAYS = 40, 17, 27, 3
_JPEG_QUALITY = 62
_ICON_FONT = re.compile("[\ue000-\uf8ff]")
_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Wire:
    """One rectangle of a screen that has no picture, with its words, in pixels of the thumbnail."""

    x: float
    y: float
    width: float
    height: float
    words: str
    takes_tap: bool


@dataclass(frozen=True, slots=True)
class ScreenBox:
    """A screen as drawn. `stays` are the actions after which it was still there."""

    id: str
    name: str
    title: str
    about: str
    captures: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    thumb_x: float
    thumb_width: float
    thumb_height: float
    picture: str
    wires: tuple[Wire, ...]
    stays: tuple[str, ...]
    more_stays: int
    is_start: bool
    is_foreign: bool
    marks: tuple[str, ...]
    leads: tuple[Outcomes, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line as drawn: an SVG path, its label and where that stands."""

    path: str
    label: str
    tooltip: str
    label_x: float
    label_y: float
    anchor: str
    kind: str
    uncertain: bool
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that the templates need of the picture."""

    width: float
    height: float
    boxes: tuple[ScreenBox, ...]
    arrows: tuple[Arrow, ...]


def graph_svg(graph: StateGraph, pixels: Mapping[str, bytes]) -> str:
    """A standalone SVG document. `pixels` maps screenshot hashes to PNG bytes; where one lacks, the tree is drawn."""
    template = environment().get_template("graph/graph.svg.j2")
    return drawable(template.render(drawing=draw(graph, pixels), standalone=True, title=_title(graph)))


def graph_page(graph: StateGraph, pixels: Mapping[str, bytes], *, warnings: tuple[str, ...] = ()) -> str:
    """A standalone HTML page: the summary, the drawing, and below it each screen with all that was done on it."""
    drawing = draw(graph, pixels)
    transitions = list(graph.transitions())
    uncertain = [o for box in drawing.boxes for o in box.leads if not o.is_certain]
    template = environment().get_template("graph/graph.html.j2")
    page = template.render(
        title=_title(graph),
        graph=graph,
        drawing=drawing,
        standalone=False,
        names={box.id: f"{box.name} {box.title}" for box in drawing.boxes},
        transition_count=len(transitions),
        uncertain=uncertain,
        unsettled=len(graph.unsettled()),
        warnings=warnings,
    )
    return drawable(page)


def draw(graph: StateGraph, pixels: Mapping[str, bytes]) -> Drawing:
    """Places screens and arrows. Screens with no line to another stand in rows below the others."""
    screens = screens_of(graph)
    home = {capture: name for name, members in screens.items() for capture in members}
    seen = outcomes(graph, screens=screens)
    of_screen: dict[str, list[Outcomes]] = {name: [] for name in screens}
    for outcome in seen:
        of_screen[outcome.screen].append(outcome)
    between: dict[tuple[str, str], list[tuple[Outcomes, int]]] = {}
    for outcome in seen:
        for to, count in outcome.counts.items():
            if to != outcome.screen:
                between.setdefault((outcome.screen, to), []).append((outcome, count))
    starts = list(dict.fromkeys(home[t.start] for t in graph.traces))
    joined = {name for edge in between for name in edge}
    boxes = {
        name: _box(graph, name, f"S{i}", members, of_screen[name], pixels, is_start=name in starts[:1])
        for i, (name, members) in enumerate(screens.items(), 1)
    }
    sizes = {name: (box.width, box.height) for name, box in boxes.items() if name in joined}
    layout = layered(sizes, list(between), [s for s in starts if s in joined], column_gap=_COLUMN_GAP, row_gap=_ROW_GAP)
    placed = [_moved(boxes[name], box.x + _MARGIN, box.y + _MARGIN, box.height) for name, box in layout.boxes.items()]
    alone, width, height = _rows([boxes[name] for name in screens if name not in joined], layout)
    return Drawing(
        width=width + 2 * _MARGIN,
        height=height + 2 * _MARGIN,
        boxes=tuple(sorted((*placed, *alone), key=lambda b: int(b.name[1:]))),
        arrows=tuple(_arrow(line, between[line.source, line.target], boxes) for line in layout.lines),
    )


def _rows(boxes: list[ScreenBox], layout: Layout) -> tuple[list[ScreenBox], float, float]:
    """Boxes in rows under the layout; the width and height of all."""
    limit = max(layout.width, 1500.0)
    x, y = 0.0, layout.height + (2 * _ROW_GAP if layout.boxes else 0)
    placed: list[ScreenBox] = []
    tallest, widest = 0.0, layout.width
    for box in boxes:
        if x and x + box.width > limit:
            x, y, tallest = 0.0, y + tallest + _ROW_GAP, 0.0
        placed.append(_moved(box, x + _MARGIN, y + _MARGIN, box.height))
        x += box.width + _ROW_GAP
        widest = max(widest, x - _ROW_GAP)
        tallest = max(tallest, box.height)
    return placed, widest, (y + tallest if boxes else layout.height)


def _moved(box: ScreenBox, x: float, y: float, height: float) -> ScreenBox:
    values = {name: getattr(box, name) for name in box.__slots__}
    return ScreenBox(**{**values, "x": round(x, 1), "y": round(y, 1), "height": round(height, 1)})


def _box(
    graph: StateGraph,
    name: str,
    number: str,
    members: tuple[str, ...],
    leads: list[Outcomes],
    pixels: Mapping[str, bytes],
    *,
    is_start: bool,
) -> ScreenBox:
    captures = [graph.captures[m] for m in members]
    shown = next((c for c in captures if c.screenshot in pixels and c.settled), None)
    shown = shown or next((c for c in captures if c.screenshot in pixels), captures[0])
    landscape = shown.size.width > shown.size.height
    scale = min(
        (_LANDSCAPE_WIDTH if landscape else _THUMB_WIDTH) / max(1, shown.size.width),
        _THUMB_HEIGHT / max(1, shown.size.height),
    )
    thumb = (shown.size.width * scale, shown.size.height * scale)
    width = max(thumb[0], _THUMB_WIDTH) + 2 * _PADDING
    stays = [f"{o.words}{_times(o.counts[name])}" for o in leads if name in o.counts]
    lines = min(len(stays), _STAYS) + (len(stays) > _STAYS)
    title = title_of(shown)
    package = shown_package(shown)
    activity = shown.state.activity.rpartition(".")[2]
    marks = Counter(note for c in captures for note in c.notes)
    return ScreenBox(
        id=name,
        name=number,
        title=_cut(title, _TITLE + (10 if landscape else 0)),
        about=f"{_cut(activity or package, _ABOUT - 13)} · {len(members)} capture{'s' * (len(members) != 1)}",
        captures=members,
        x=0,
        y=0,
        width=width,
        height=_HEADER + thumb[1] + _PADDING + lines * _STAY_LINE + (4 if lines else 0),
        thumb_x=(width - thumb[0]) / 2,
        thumb_width=round(thumb[0], 1),
        thumb_height=round(thumb[1], 1),
        picture=small_picture(pixels[shown.screenshot]) if shown.screenshot and shown.screenshot in pixels else "",
        wires=() if shown.screenshot in pixels else wireframe(shown, scale),
        stays=tuple(_cut(s, 22 + (12 if landscape else 0)) for s in stays[:_STAYS]),
        more_stays=max(0, len(stays) - _STAYS),
        is_start=is_start,
        is_foreign=bool(graph.app.package and package and package != graph.app.package),
        marks=tuple(f"{note}{_times(count)}" for note, count in marks.items()),
        leads=tuple(leads),
    )


def small_picture(png: bytes) -> str:
    """A small JPEG as a data URI, "" where the picture cannot be read; at twice the size it is shown in."""
    try:
        with Image.open(io.BytesIO(png)) as image:
            small = image.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return ""
    small.thumbnail((2 * _LANDSCAPE_WIDTH, 2 * _THUMB_HEIGHT), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=_JPEG_QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode("ascii")


def wireframe(capture: Capture, scale: float) -> tuple[Wire, ...]:
    """What of a tree is drawn, for a screen without a picture; `scale` is from its pixels to those of the drawing."""
    wires = []
    for path, node in capture.hierarchy.drawing(capture.size):
        box = node.bounds.intersect(capture.size.bounds)
        if (node.is_drawn or not path[1:]) and box.area:
            wires.append(
                Wire(
                    round(box.left * scale, 1),
                    round(box.top * scale, 1),
                    round(box.width * scale, 1),
                    round(box.height * scale, 1),
                    _wire_words(node, box.width * scale),
                    node.takes("tap"),
                )
            )
    return tuple(wires)


def _wire_words(node: Node, width: float) -> str:
    words = "•" * len(node.text) if node.password else node.text or node.hint or ""
    return _cut(" ".join(_ICON_FONT.sub("", words).split()), max(1, int(width / 3.6)))


def _arrow(line: Line, actions: list[tuple[Outcomes, int]], boxes: Mapping[str, ScreenBox]) -> Arrow:
    points = [(x + _MARGIN, y + _MARGIN) for x, y in line.points]
    (x, y), (x2, y2) = points[0], points[-1]
    leaves_left = line.backwards and x2 < x
    path = f"M{x:.1f} {y:.1f}"
    if x == x2:  # within one column: a bow to the right
        bow = x + 46 + abs(y2 - y) * 0.12
        path += f"C{bow:.1f} {y:.1f} {bow:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    else:
        for (ax, ay), (bx, by) in pairwise(points):
            reach = (bx - ax) / 2
            path += f"C{ax + reach:.1f} {ay:.1f} {bx - reach:.1f} {by:.1f} {bx:.1f} {by:.1f}"
    actions = sorted(actions, key=lambda a: -a[1])
    first, count = actions[0]
    more = f"  +{len(actions) - 1}" if len(actions) > 1 else ""
    label = _cut(first.words, _LABEL - len(more)) + _times(count) + more
    everything = "\n".join(f"{o.words}{_times(n)}" + ("" if o.is_certain else "  (not always)") for o, n in actions)
    about = f"{boxes[line.source].name} → {boxes[line.target].name}"
    return Arrow(
        path=path,
        label=label,
        tooltip=f"{about}\n{everything}",
        label_x=round(x + (-8 if leaves_left else 8), 1),
        label_y=round(y - 4, 1),
        anchor="end" if leaves_left else "start",
        kind="back" if line.backwards else "forward",
        uncertain=any(not o.is_certain for o, _ in actions),
        source=line.source,
        target=line.target,
    )


def _times(count: int) -> str:
    return f" ×{count}" if count > 1 else ""


def _title(graph: StateGraph) -> str:
    return graph.app.label or graph.app.package or "a recording"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(1, length - 1)] + "…"


def drawable(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return _UNDRAWABLE.sub("\ufffd", text)
