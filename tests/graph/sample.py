"""Small trees and graphs of our own for the tests of this room."""

from __future__ import annotations

import hashlib
import io

from PIL import Image

from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.ui.action import PressKey, Tap, TypeText
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

SIZE = Size(1080, 2400)
SMALL = Size(27, 60)
PACKAGE = "org.example.notes"


def png(colour: str, size: Size = SMALL) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (size.width, size.height), colour).save(out, "PNG")
    return out.getvalue()


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def text(words: str, name: str = "", *, top: int = 0, **more: object) -> Node:
    resource_id = f"{PACKAGE}:id/{name}" if name else ""
    return Node(  # type: ignore[arg-type]
        "android.widget.TextView",
        text=words,
        resource_id=resource_id,
        package=PACKAGE,
        bounds=Bounds(0, top, 1080, top + 100),
        **more,
    )


def screen(*children: Node, rotation: int = 0, package: str = PACKAGE, size: Size = SIZE) -> Hierarchy:
    numbered = tuple(Node(**{f: getattr(c, f) for f in c.__slots__} | {"index": i}) for i, c in enumerate(children))
    root = Node("android.widget.FrameLayout", package=package, bounds=size.bounds, children=numbered)
    return Hierarchy((root,), rotation=rotation)


def notes_graph() -> tuple[StateGraph, dict[str, bytes]]:
    """Three captures (two of them of one tree), two traces, words that are hard on file formats."""
    pictures = {sha(p): p for p in (png("white"), png("gray"))}
    first, second = pictures
    home = screen(text("Notes\n\t<&>\"'", "title"), text("Añadir 😀 \u202eמרחב", "add", top=100, clickable=True))
    edit = screen(text("", "field", top=0), text("Save", "save", top=100, clickable=True))
    captures = {
        "c10": Capture(
            "c10",
            home,
            SIZE,
            screenshot=first,
            state=DeviceState(PACKAGE, ".Main", clock_ms=5),
            time_ms=1_700_000_000_000,
        ),
        "c2": Capture(
            "c2",
            edit,
            SIZE,
            screenshot=second,
            state=DeviceState(PACKAGE, ".Edit", keyboard=True),
            settled=False,
            notes=("unsettled",),
        ),
        "c3": Capture("c3", home, SIZE, tree_mode="compressed"),
    }
    traces = (
        Trace(
            "t1",
            "c10",
            (
                Transition("c10", Tap(5, 150), "c2", hit=(0, 1), settle_ms=420, transients=("c3",)),
                Transition("c2", TypeText("naïve 😀\x01", 5, 50, "replace"), "c2", hit=(0, 0), notes=("odd",)),
                Transition("c2", PressKey("back"), "c3"),
            ),
            start_kind="fresh",
            instruction="write a note",
            seed=-7,
        ),
        Trace("t2", "c3"),
    )
    device = DeviceInfo(
        SIZE, density=420, model="M", locale="fr-FR", timezone="Europe/Paris", font_scale=1.15, night_mode=True
    )
    app = RecordedApp(PACKAGE, "Notes", ".Main", "1.2")
    return StateGraph(app, device, captures, traces, source="test", created="2026-01-02T03:04:05Z"), pictures
