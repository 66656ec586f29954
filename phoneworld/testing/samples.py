"""Sample recordings and mocks to test with: small, whole, with pictures, the same bytes on every run."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.program.bundle import Bundle, save_bundle
from phoneworld.program.program import Program
from phoneworld.testing.groceries import DENSITY, PACKAGE, SIZE, Groceries
from phoneworld.ui import system
from phoneworld.ui.action import Action, PressKey, Tap, TypeText
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.geometry import Point
from phoneworld.ui.node import Gesture, Node

START_MS = 1_700_000_000_000
SETTLE_MS = 400

# One word a step: "tap ID" or "tap ID N" (the Nth of that id), "type WORDS", "key NAME".
TRACES: tuple[tuple[str, ...], ...] = (
    ("tap bought 0", "tap bought 0", "tap row 1", "tap urgent", "tap up", "tap row 0", "key back"),
    (
        "tap add",
        "tap name",
        "type Oat milk",
        "key back",
        "tap form_urgent",
        "tap save",
        "tap row 3",
        "tap up",
        "tap bought 3",
    ),
    ("tap add", "tap form_urgent", "tap form_urgent", "tap up", "tap row 2", "tap urgent", "tap urgent", "key back"),
)


@cache
def sample_graph() -> tuple[StateGraph, dict[str, bytes]]:
    """A recording of the groceries app, three traces of it, and its pictures by hash."""
    captures: dict[str, Capture] = {}
    pictures: dict[str, bytes] = {}

    def capture(app: Groceries, clock_ms: int) -> str:
        png = draw(app)
        name = hashlib.sha256(png).hexdigest()
        pictures[name] = png
        key = f"c{len(captures)}"
        captures[key] = Capture(key, app.tree(), SIZE, name, app.state(clock_ms), clock_ms)
        return key

    traces = []
    for number, script in enumerate(TRACES, 1):
        app, clock_ms = Groceries(), START_MS
        start = at = capture(app, clock_ms)
        transitions = []
        for words in script:
            action = _action(app, words)
            app, clock_ms = app.act(action), clock_ms + SETTLE_MS
            after = capture(app, clock_ms)
            transitions.append(Transition(at, action, after, _hit(captures[at], action), SETTLE_MS))
            at = after
        traces.append(Trace(f"t{number}", start, tuple(transitions), "fresh"))
    device = DeviceInfo(SIZE, DENSITY, "Sample", "PhoneWorld", "14", 34, "en-US", "UTC")
    recorded = RecordedApp(PACKAGE, "Groceries", f"{PACKAGE}.ListActivity", "1.0")
    return StateGraph(recorded, device, captures, tuple(traces), "phoneworld.testing.samples", ""), pictures


@cache
def sample_program() -> Program:
    """The compiled sample."""
    graph, pictures = sample_graph()
    return compile_graph(graph, pictures).program


def sample_bundle(folder: Path) -> Bundle:
    """The compiled sample as a bundle in this folder (made, or replaced where it is a bundle)."""
    return save_bundle(sample_program(), folder, sample_graph()[1])


@cache
def draw(app: Groceries) -> bytes:
    """A PNG of the app as the phone would show it, keyboard included."""
    picture = Image.new("RGB", (SIZE.width, SIZE.height), "#fafafa")
    pen = ImageDraw.Draw(picture)
    nodes: Sequence[Node] = list(app.tree().nodes())
    if app.typing:
        nodes = [*nodes, *_walk(system.keyboard(SIZE, DENSITY))]
    for node in nodes:
        _paint(pen, node)
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _walk(node: Node) -> list[Node]:
    return [node, *(n for child in node.children for n in _walk(child))]


def _paint(pen: ImageDraw.ImageDraw, node: Node) -> None:
    b = node.bounds
    box = (b.left, b.top, b.right - 1, b.bottom - 1)
    if node.checkable:
        side = min(b.height, 72)
        mark = (
            (b.right - side, b.top, b.right - 1, b.top + side - 1)
            if node.text
            else (b.left, b.top, b.left + side - 1, b.top + side - 1)
        )
        pen.rectangle(mark, fill="#1a73e8" if node.checked else "#ffffff", outline="#5f6368", width=4)
    elif node.clickable:
        pen.rectangle(box, fill="#e8f0fe" if node.label else None, outline="#dadce0", width=2)
    if node.text and not b.is_empty:
        colour = "#80868b" if node.text == node.hint else "#202124"
        pen.text((b.left + 16, b.top + 12), node.text, fill=colour, font=_font(44))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _action(app: Groceries, words: str) -> Action:
    verb, _, rest = words.partition(" ")
    match verb:
        case "type":
            return TypeText(rest)
        case "key":
            return PressKey("back")
    name, _, number = rest.partition(" ")
    tree = app.tree()
    paths = [path for path, node in tree.walk() if node.resource_id == f"{PACKAGE}:id/{name}"]
    point = tree.tap_point(paths[int(number or 0)], SIZE)
    assert point is not None, f"{words}: not on the screen"
    if name == "row":
        point = Point(SIZE.width - 20, point.y)
    return Tap(point.x, point.y)


def _hit(capture: Capture, action: Action) -> tuple[int, ...] | None:
    gesture: Gesture = "tap"
    if not isinstance(action, Tap):
        return None
    hit = capture.hierarchy.hit_test(Point(action.x, action.y), gesture, capture.size)
    return hit.target if hit else None
