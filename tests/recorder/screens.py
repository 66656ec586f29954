"""Small screens for the recorder's tests, and Hypothesis strategies of any screens."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from phoneworld.graph.graph import Capture
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

APP = "com.example.shop"
SIZE = Size(1080, 2400)


def screen(*children: Node, package: str = APP, bounds: Bounds | None = None, name: str = "FrameLayout") -> Hierarchy:
    root = Node(f"android.widget.{name}", package=package, bounds=bounds or SIZE.bounds, children=children)
    return Hierarchy((root,))


def at(place: int, node: Node, *, height: int = 120) -> Node:
    """The node as the `place`-th line of the screen."""
    top = 200 + place * (height + 20)
    return replace(node, bounds=Bounds(40, top, 1040, top + height))


def text(words: str, **attributes: object) -> Node:
    return Node("android.widget.TextView", text=words, package=APP, **attributes)  # type: ignore[arg-type]


def button(words: str, **attributes: object) -> Node:
    return Node("android.widget.Button", text=words, clickable=True, package=APP, **attributes)  # type: ignore[arg-type]


def entry(value: str = "", **attributes: object) -> Node:
    return Node("android.widget.EditText", text=value, clickable=True, focusable=True, package=APP, **attributes)  # type: ignore[arg-type]


def lines(*nodes: Node) -> Hierarchy:
    return screen(*(at(i, node) for i, node in enumerate(nodes)))


def capture(hierarchy: Hierarchy, *, name: str = "c1", keyboard: bool = False, package: str = APP) -> Capture:
    return Capture(name, hierarchy, SIZE, state=DeviceState(package=package, keyboard=keyboard))


_WORDS = st.sampled_from(["", "Save", "OK", "Cancel", "Pay now", "Log out", "发送", "Open list", "Call", "milk", "Delete account", "确定"])
_CLASSES = st.sampled_from(["TextView", "Button", "EditText", "FrameLayout", "ListView", "CheckBox", "Dialog", "ScrollView", "ImageView"])


@st.composite
def nodes(draw: st.DrawFn, depth: int = 2) -> Node:
    """Any widget, with bounds that may lie off the screen, be empty or inverted."""
    edge = st.integers(-300, 2700)
    flag = st.booleans()
    children = tuple(draw(st.lists(nodes(depth - 1), max_size=3))) if depth else ()
    return Node(
        "android.widget." + draw(_CLASSES),
        text=draw(_WORDS),
        resource_id=draw(st.sampled_from(["", f"{APP}:id/btn_pay", f"{APP}:id/row", "note-7", "android:id/alertTitle"])),
        package=APP,
        content_desc=draw(_WORDS),
        hint=draw(st.sampled_from([None, "Email", "Message", "Search"])),
        checkable=draw(flag),
        clickable=draw(flag),
        long_clickable=draw(flag),
        scrollable=draw(flag),
        enabled=draw(st.sampled_from([True, True, True, False])),
        focused=draw(flag),
        password=draw(flag),
        visible=draw(st.sampled_from([True, True, True, False])),
        bounds=Bounds(draw(edge), draw(edge), draw(edge), draw(edge)),
        children=children,
    )


def captures() -> st.SearchStrategy[Capture]:
    """Any capture: one or two windows of any nodes, with or without the keyboard."""
    windows = st.lists(nodes(), min_size=1, max_size=2).map(lambda w: Hierarchy(tuple(w)))
    packages = st.sampled_from([APP, "com.android.launcher3", "com.android.permissioncontroller"])
    return st.builds(lambda h, k, p: capture(h, keyboard=k, package=p), windows, st.booleans(), packages)
