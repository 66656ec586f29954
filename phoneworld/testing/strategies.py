"""Hypothesis strategies: trees, actions, recordings of small apps that never were, and Programs compiled from those.

@given(programs())
def test_my_property(program): ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import strategies as st

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.program.program import Program
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    Key,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Status,
    Swipe,
    Tap,
    TypeMode,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

SMALL = Size(360, 640)
PACKAGE = "org.example.drawn"
_ROW = 48
_MAX_WIDGETS = 6

words = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
"""Text that an app may show: any script, no control characters."""

_CLASSES = (
    "android.widget.FrameLayout", "android.widget.TextView", "android.widget.Button", "android.widget.EditText",
    "android.widget.CheckBox", "android.widget.ScrollView", "android.view.View",
)  # fmt: skip


def hierarchies(size: Size = SMALL) -> st.SearchStrategy[Hierarchy]:
    """Whole trees on a screen of this size: any widget anywhere, also off the screen, empty or inverted."""
    x, y = st.integers(-size.width // 4, size.width * 5 // 4), st.integers(-size.height // 4, size.height * 5 // 4)
    bounds = st.builds(Bounds, x, y, x, y)
    flags = st.integers(0, 2**7 - 1)

    def node(children: st.SearchStrategy[tuple[Node, ...]]) -> st.SearchStrategy[Node]:
        return st.builds(_node, st.sampled_from(_CLASSES), words, bounds, flags, children)

    nodes = st.recursive(node(st.just(())), lambda inner: node(st.lists(inner, max_size=4).map(tuple)), max_leaves=10)
    inside = st.lists(nodes, max_size=4).map(tuple)
    return inside.map(lambda children: Hierarchy((_window(size, children),)))


def actions(size: Size = SMALL) -> st.SearchStrategy[Action]:
    """Every kind of action, with its points on a screen of this size."""
    x, y, ms = st.integers(0, size.width - 1), st.integers(0, size.height - 1), st.integers(0, 5000)
    point = st.tuples(x, y) | st.just((None, None))
    return st.one_of(
        st.builds(Tap, x, y),
        st.builds(DoubleTap, x, y),
        st.builds(LongPress, x, y, ms),
        st.builds(Swipe, x, y, x, y, ms),
        st.builds(Drag, x, y, x, y, ms),
        st.builds(Pinch, x, y, st.floats(0.1, 10), ms),
        st.builds(
            lambda text, at, mode: TypeText(text, at[0], at[1], mode), words, point, st.sampled_from(get_args(TypeMode))
        ),
        st.builds(lambda at: Clear(at[0], at[1]), point),
        st.builds(PressKey, st.sampled_from(get_args(Key))),
        st.builds(OpenApp, st.sampled_from((PACKAGE, "no.such.app"))),
        st.builds(CloseApp, st.sampled_from((PACKAGE, "no.such.app"))),
        st.builds(Wait, ms),
        st.builds(Answer, words),
        st.builds(Ask, words),
        st.builds(Finish, st.sampled_from(get_args(Status))),
    )


@st.composite
def graphs(draw: st.DrawFn) -> StateGraph:
    """A recording of a small app: screens of buttons that lead to screens, and checkboxes that are toggled. No pictures.

    The app is deterministic, so whatever is compiled from it must replay.
    """
    count = draw(st.integers(1, 4))
    screens = [
        draw(st.lists(st.sampled_from(("button", "checkbox", "label")), min_size=1, max_size=_MAX_WIDGETS))
        for _ in range(count)
    ]
    labels = [[draw(words) for _ in widgets] for widgets in screens]
    leads = [[draw(st.integers(0, count - 1)) for _ in widgets] for widgets in screens]
    captures: dict[str, Capture] = {}
    traces: list[Trace] = []

    def capture(at: int, checked: frozenset[tuple[int, int]]) -> str:
        key = f"c{len(captures)}"
        rows = tuple(
            _widget(at, i, kind, labels[at][i], checked=(at, i) in checked) for i, kind in enumerate(screens[at])
        )
        tree = Hierarchy((_window(SMALL, rows),))
        captures[key] = Capture(key, tree, SMALL, state=DeviceState(PACKAGE, f"{PACKAGE}.Screen{at}"))
        return key

    for number in range(draw(st.integers(1, 3))):
        at, checked = 0, frozenset[tuple[int, int]]()
        start = source = capture(at, checked)
        transitions = []
        for widget in draw(st.lists(st.integers(0, _MAX_WIDGETS - 1), max_size=8)):
            row = widget % len(screens[at])
            action = Tap(SMALL.width // 2, row * _ROW + _ROW // 2)
            if screens[at][row] == "button":
                at = leads[at][row]
            elif screens[at][row] == "checkbox":
                checked = checked ^ {(at, row)}
            target = capture(at, checked)
            transitions.append(Transition(source, action, target, settle_ms=100))
            source = target
        traces.append(Trace(f"t{number}", start, tuple(transitions), "fresh"))
    app = RecordedApp(PACKAGE, "Drawn", f"{PACKAGE}.Screen0")
    return StateGraph(app, DeviceInfo(SMALL, density=160), captures, tuple(traces), source="hypothesis")


def programs() -> st.SearchStrategy[Program]:
    """Programs compiled from `graphs`."""
    return graphs().map(lambda graph: compile_graph(graph).program)


def _node(class_name: str, text: str, bounds: Bounds, flags: int, children: tuple[Node, ...]) -> Node:
    checkable, clickable, enabled, scrollable, long_clickable, focused, visible = (
        bool(flags >> i & 1) for i in range(7)
    )
    return Node(
        class_name, text, package=PACKAGE, bounds=bounds, checkable=checkable, clickable=clickable, enabled=enabled,
        scrollable=scrollable, long_clickable=long_clickable, focused=focused, visible=visible, children=_numbered(children),
    )  # fmt: skip


def _widget(screen: int, row: int, kind: str, text: str, *, checked: bool) -> Node:
    bounds = Bounds(0, row * _ROW, SMALL.width, (row + 1) * _ROW)
    name = f"{PACKAGE}:id/{kind}_{screen}_{row}"
    match kind:
        case "button":
            return Node("android.widget.Button", text, name, PACKAGE, clickable=True, bounds=bounds)
        case "checkbox":
            return Node(
                "android.widget.CheckBox",
                text,
                name,
                PACKAGE,
                clickable=True,
                checkable=True,
                checked=checked,
                bounds=bounds,
            )
        case _:
            return Node("android.widget.TextView", text, name, PACKAGE, bounds=bounds)


def _window(size: Size, children: tuple[Node, ...]) -> Node:
    return Node("android.widget.FrameLayout", package=PACKAGE, bounds=size.bounds, children=_numbered(children))


def _numbered(children: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(child, index=i) for i, child in enumerate(children))
