"""The graph of screens, what each action led to, and both in a person's words."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest

from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.identity import screens_of
from phoneworld.graph.views import action_words, networkx_view, outcomes, title_of, widget_words
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Node
from tests.graph.recordings import imported
from tests.graph.sample import PACKAGE, SIZE, notes_graph, screen, text
from tests.shared import needs_shared

FIELD = Node("android.widget.EditText", text="typed", hint="Title", package=PACKAGE, bounds=Bounds(0, 200, 1080, 300))
ICON = Node(
    "android.widget.ImageButton",
    resource_id=f"{PACKAGE}:id/more",
    package=PACKAGE,
    clickable=True,
    bounds=Bounds(0, 300, 100, 400),
)
CAPTURE = Capture("c", screen(text("Save", "save", clickable=True), FIELD, ICON), SIZE)


@pytest.mark.parametrize(
    ("action", "hit", "words"),
    [
        (Tap(5, 5), (0, 0), "tap “Save”"),
        (Tap(5, 5), None, "tap (5, 5)"),
        (Tap(5, 350), (0, 2), "tap more"),
        (DoubleTap(5, 5), (0, 0), "double tap “Save”"),
        (LongPress(5, 5), (0, 0), "long press “Save”"),
        (Swipe(500, 900, 520, 100), (0,), "swipe up on “Save”"),
        (Swipe(900, 500, 100, 520), None, "swipe left"),
        (Drag(5, 5, 5, 900), (0, 0), "drag “Save” down"),
        (Pinch(5, 5, 2.0), None, "spread"),
        (TypeText("a\nb", 5, 250), (0, 1), "type “a b” into “Title”"),
        (Clear(), None, "clear the field"),
        (PressKey("move_home"), None, "move home"),
        (OpenApp("a.b"), None, "open a.b"),
        (OpenApp("a.b", url="x://y"), None, "open x://y"),
        (CloseApp("a.b"), None, "close a.b"),
        (Wait(1500), None, "wait 1.5 s"),
        (Answer("42"), None, "answer “42”"),
        (Ask("which?"), None, "ask “which?”"),
        (Finish("infeasible"), None, "finish: infeasible"),
    ],
)
def test_actions_in_a_persons_words(action: Action, hit: tuple[int, ...] | None, words: str) -> None:
    assert action_words(Transition("c", action, "c", hit=hit), CAPTURE) == words


def test_what_was_typed_is_no_name_of_a_field() -> None:
    assert widget_words(CAPTURE.hierarchy, (0, 1)) == "“Title”"
    secret = replace(FIELD, hint=None, password=True, text="hunter2")
    assert "hunter2" not in widget_words(screen(secret), (0, 0))


def test_titles_come_from_the_dialog_the_bar_the_activity_or_the_heading() -> None:
    assert title_of(Capture("c", screen(text("Delete?", "alertTitle"), text("x")), SIZE)) == "Delete?"
    bar = Node(
        "android.view.ViewGroup",
        resource_id=f"{PACKAGE}:id/toolbar",
        package=PACKAGE,
        bounds=Bounds(0, 0, 1080, 100),
        children=(text("Inbox"),),
    )
    assert title_of(Capture("c", screen(bar), SIZE, state=DeviceState(PACKAGE, "a.Main"))) == "Inbox"
    assert (
        title_of(Capture("c", screen(text("x")), SIZE, state=DeviceState(PACKAGE, "a.b.MainActivity")))
        == "MainActivity"
    )
    assert title_of(Capture("c", screen(text("low", top=900), text("high", top=10)), SIZE)) == "high"
    assert title_of(Capture("c", screen(), SIZE)) == "a screen"


def test_one_action_is_one_whatever_the_pixel_and_two_where_it_carries_something_else() -> None:
    taps = (Tap(5, 5), Tap(900, 90))
    typed = (TypeText("a"), TypeText("b"), PressKey("back"), PressKey("home"))
    transitions = (*(Transition("c", t, "c", hit=(0, 0)) for t in taps), *(Transition("c", t, "c") for t in typed))
    graph = StateGraph(RecordedApp(PACKAGE), DeviceInfo(SIZE), {"c": CAPTURE}, (Trace("t", "c", transitions),))
    assert [(o.kind, list(o.counts.values())) for o in outcomes(graph)] == [
        ("tap", [2]), ("type", [1]), ("type", [1]), ("press_key", [1]), ("press_key", [1])
    ]  # fmt: skip


def test_the_networkx_view_has_a_node_a_screen_and_an_edge_an_outcome() -> None:
    graph, _ = notes_graph()
    view = networkx_view(graph)
    assert isinstance(view, nx.MultiDiGraph)
    assert {n: d["captures"] for n, d in view.nodes(data=True)} == dict(screens_of(graph))
    assert sum(d["count"] for *_, d in view.edges(data=True)) == 3
    assert {d["words"] for *_, d in view.edges(data=True)} >= {"back"}


@needs_shared
def test_every_transition_of_a_run_is_counted() -> None:
    graph = imported("droidbot-album-sample").graph
    assert sum(sum(o.counts.values()) for o in outcomes(graph)) == 68
    view = networkx_view(graph)
    assert sum(count for *_, count in view.edges(data="count")) == 68
    assert len(nx.descendants(view, next(iter(view)))) == 8, "every screen is reached from the first"
