"""Scrolling found in a recording: how far a finger moves content, where that ends, and a mock that scrolls where nothing was recorded."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from phoneworld.compiler.compile import Compilation, compile_graph
from phoneworld.compiler.edges import Sample
from phoneworld.compiler.scrolling import Swiped, find_scrolling
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.program.placement import After, Axis, Exactly, Fill, Near, Placement
from phoneworld.program.template import Drawn, Scrolling, scroll
from phoneworld.sim.arrange import arrange
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node
from tests.sim.shop import PACKAGE, SIZE
from tests.sim.test_scrolling import SLOP, position, scrolling_shop, up

BACK = PressKey("back")


def recording(phone: Phone, *scripts: Sequence[Action]) -> StateGraph:
    """What a phone showed while scripts were done, each from a fresh start."""
    captures: dict[str, Capture] = {}

    def capture(key: str) -> str:
        view = phone.view(state)
        captures[key] = Capture(key, view.hierarchy, view.size, None, view.state)
        return key

    traces = []
    for number, script in enumerate(scripts):
        state = phone.reset()
        at = first = capture(f"{number}.0")
        transitions = []
        for i, action in enumerate(script, 1):
            state = phone.step(state, action).state
            after = capture(f"{number}.{i}")
            transitions.append(Transition(at, action, after, None, 300))
            at = after
        traces.append(Trace(f"t{number}", first, tuple(transitions), "fresh"))
    return StateGraph(RecordedApp(PACKAGE, "Shop", ".Shop", "1"), DeviceInfo(SIZE, 160), captures, tuple(traces))


@pytest.fixture(scope="module")
def real() -> Phone:
    return Phone([scrolling_shop()])


@pytest.fixture(scope="module")
def compiled(real: Phone) -> Compilation:
    product = Tap(150, 300)
    return compile_graph(
        recording(real, (up(210), up(110), up(-150, y=200)), (product, BACK, up(310), product, BACK), (up(400), up(400), up(100)))
    )


def test_recorded_swipes_tell_the_slop_and_replay(compiled: Compilation) -> None:
    assert not compiled.replay.faults and compiled.replay.exact == compiled.captures
    found = [s.template.scrolling for s in compiled.program.screens.values() if s.template and s.template.scrolling]
    assert len(found) == 1 and found[0].cases == 7
    assert (found[0].ratio, found[0].slop, found[0].rest) == (1.0, SLOP, 0.0)
    positions = {lay.scroll for s in compiled.program.screens.values() for lay in s.layouts}
    assert positions == {0, 200, 300, 160, 390, 520}


def test_swipes_that_were_never_recorded_show_what_the_app_shows(real: Phone, compiled: Compilation) -> None:
    mock = Phone([compiled.program])
    theirs, ours = real.reset(), mock.reset()
    for action in (up(170), up(93), up(-60, y=300), up(600), up(600), up(-333, y=150), up(250)):
        theirs, step = real.step(theirs, action).state, mock.step(ours, action)
        ours = step.state
        assert step.evidence == "inferred", "the finger went no recorded way"
        assert mock.view(ours).hierarchy == real.view(theirs).hierarchy
    tapped, opened = real.step(theirs, Tap(150, 400)).state, mock.step(ours, Tap(150, 400)).state
    assert real.screen_name(tapped) == f"{PACKAGE}/product" and mock.screen_name(opened) != mock.screen_name(ours)
    returned = mock.step(opened, BACK).state
    assert mock.view(returned).hierarchy == mock.view(ours).hierarchy == real.view(real.step(tapped, BACK).state).hierarchy
    assert position(theirs) == returned.apps[PACKAGE].variables[scroll(returned.apps[PACKAGE].screen)]


# --- one screen ------------------------------------------------------------------------------------------------------------

SCREEN = Size(100, 200)
X = Axis(Near(0), Fill(0))
RULES = {
    "page": Placement(X, Axis(Near(0), Fill(0)), clips=True, scrolls=True),
    "row": Placement(X, Axis(After(0, 0), Exactly(50))),
}


def page(rows: int, at: int, *, class_name: str = "ListView", scrollable: bool = True) -> Sample:
    """A page of rows scrolled to a place, as it would be captured."""
    drawn = Drawn("page", Node(class_name, scrollable=scrollable), None, tuple(Drawn("row", Node("View", f"{i}"), i) for i in range(rows)))
    node = arrange((drawn,), RULES, SCREEN, keyboard=False, density=160, scroll=at)[0]
    kids = tuple(Drawn(d.key, n, d.row) for d, n in zip(drawn.children, node.children, strict=True))
    return Sample((Drawn("page", Node(class_name, scrollable=scrollable, bounds=node.bounds), None, kids),), SCREEN, 160)


def found_in(samples: dict[str, Sample], *swipes: tuple[str, str, int]) -> Scrolling | None:
    return find_scrolling(RULES, samples, [Swiped("page", *s) for s in swipes], 160).scrolling


def test_what_no_swipe_tells_is_as_on_android() -> None:
    assert found_in({"a": page(8, 0)}) == Scrolling("page", slop=8.0)
    assert found_in({"a": page(8, 0, class_name="android.webkit.WebView")}) == Scrolling("page", slop=15.0)


def test_content_that_goes_on_after_the_finger_is_flung() -> None:
    samples = {"a": page(40, 0), "b": page(40, 200), "c": page(40, 500)}
    assert found_in(samples, ("a", "b", -100), ("b", "c", -150)) == Scrolling("page", ratio=2.0, cases=2)


def test_content_may_end_below_its_last_widget() -> None:
    samples = {"a": page(8, 0), "b": page(8, 220)}
    assert found_in(samples, ("a", "b", -290)) == Scrolling("page", slop=8.0, rest=20.0, cases=1)


def test_a_page_that_was_never_seen_to_scroll_does_once_it_is_long() -> None:
    plain = {**RULES, "page": Placement(X, Axis(Near(0), Fill(0)))}
    samples = {"a": page(2, 0, class_name="android.webkit.WebView", scrollable=False)}
    found = find_scrolling(plain, samples, [], 160)
    assert found.placement["page"].scrolls and found.placement["page"].clips and found.positions == {"a": 0}
    assert find_scrolling(plain, {"a": page(2, 0, scrollable=False)}, [], 160).scrolling is None, "a native view would say so"


def test_a_field_that_scrolls_its_own_words_is_no_page() -> None:
    field = Drawn("page", Node("android.widget.EditText", "words", scrollable=True, bounds=Bounds(0, 0, 100, 200)))
    assert find_scrolling({"page": RULES["page"]}, {"a": Sample((field,), SCREEN, 160)}, [], 160).scrolling is None
