"""What `uiautomator events` tells: by rule on pairs of trees, and under the real adb while a phone is used."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings

from phoneworld.adbd.accessibility import AccessibilityEvent, Moment, events_between, line
from phoneworld.ui.action import Action, LongPress, Swipe, Tap
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from tests.adbd.fixtures import Attached, needs_adb, streaming, until
from tests.adbd.pocket import ACTIVITY, NAME, PACKAGE, PLUS
from tests.ui.strategies import hierarchies

SIZE = Size(720, 1280)
LINE = re.compile(
    r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} EventType: (TYPE_\w+); EventTime: \d+; PackageName: (\S*); MovementGranularity: 0; Action: 0; "
    r"ContentChangeTypes: \[(.*?)\]; WindowChangeTypes: \[\] \[ ClassName: (\S*); Text: \[(.*?)\]; ContentDescription: (.*?); ItemCount: -1; .*recordCount: 0\n"
)


def tree(*children: Node, scrollable: bool = False) -> Hierarchy:
    return Hierarchy((Node("android.widget.FrameLayout", package=PACKAGE, bounds=SIZE.bounds, scrollable=scrollable, children=children),))


def told(before: Hierarchy, after: Hierarchy, action: Action | None = None, **state: object) -> list[tuple[str, str]]:
    here = DeviceState(PACKAGE, ACTIVITY)
    there = replace(here, **state)  # type: ignore[arg-type]
    return [(e.type, e.class_name) for e in events_between(Moment(before, here), Moment(after, there), action, SIZE)]


LABEL = Node("android.widget.TextView", text="Count 1", package=PACKAGE, bounds=Bounds(0, 0, 720, 100))
BUTTON = Node("android.widget.Button", text="Plus", package=PACKAGE, clickable=True, bounds=Bounds(0, 200, 720, 300))
FIELD = Node("android.widget.EditText", text="mlk", package=PACKAGE, clickable=True, bounds=Bounds(0, 400, 720, 500))


def test_a_tap_is_a_click_of_what_takes_it_and_its_effect_a_change_of_the_text() -> None:
    events = told(tree(LABEL, BUTTON), tree(replace(LABEL, text="Count 2"), BUTTON), Tap(10, 250))
    assert events == [("TYPE_VIEW_CLICKED", "android.widget.Button"), ("TYPE_WINDOW_CONTENT_CHANGED", "android.widget.TextView")]
    assert told(tree(LABEL, BUTTON), tree(LABEL, BUTTON), Tap(10, 50)) == [], "a text takes no tap"
    assert told(tree(LABEL, BUTTON), tree(LABEL, BUTTON), LongPress(10, 250, 900)) == []


def test_a_text_that_changed_says_where_and_what_it_was() -> None:
    before, after = Moment(tree(FIELD), DeviceState(PACKAGE)), Moment(tree(replace(FIELD, text="milk")), DeviceState(PACKAGE))
    (event,) = events_between(before, after, None, SIZE)
    assert (event.type, event.text, event.before) == ("TYPE_VIEW_TEXT_CHANGED", ("milk",), "mlk")
    assert (event.from_index, event.added, event.removed) == (1, 1, 0)


def test_another_window_is_a_change_of_state_and_its_content_is_not_told_apart() -> None:
    dialog = Node("android.widget.FrameLayout", package=PACKAGE, bounds=Bounds(100, 400, 600, 800), children=(replace(LABEL, text="Sure?"),))
    opened = Hierarchy((*tree(LABEL).windows, dialog))
    assert told(tree(LABEL), opened) == [("TYPE_WINDOW_STATE_CHANGED", "android.widget.FrameLayout")]
    assert told(tree(LABEL), tree(BUTTON), activity=f"{PACKAGE}.Other")[0] == ("TYPE_WINDOW_STATE_CHANGED", f"{PACKAGE}.Other")


def test_a_swipe_that_moves_nothing_is_not_told() -> None:
    at, swipe = tree(LABEL, scrollable=True), Swipe(300, 900, 300, 300)
    assert told(at, at, swipe) == []
    assert ("TYPE_VIEW_SCROLLED", "android.widget.FrameLayout") in told(at, tree(BUTTON, scrollable=True), swipe)


@given(hierarchies, hierarchies)
@settings(max_examples=60, deadline=None)
def test_any_two_trees_can_be_told_apart_and_one_from_itself_never(first: Hierarchy, second: Hierarchy) -> None:
    assert told(first, first) == []
    here, there = Moment(first, DeviceState(PACKAGE)), Moment(second, DeviceState(PACKAGE))
    for event in events_between(here, there, Tap(5, 5), SIZE):
        assert line(event, when="01-02 03:04:05.000", uptime_ms=1).count("\n") == 1


def test_the_line_is_androids() -> None:
    event = AccessibilityEvent("TYPE_VIEW_CLICKED", "org.example", "android.widget.Button", ("Save",))
    found = LINE.fullmatch(line(event, when="11-29 18:40:12.000", uptime_ms=12))
    assert found and found.groups() == ("TYPE_VIEW_CLICKED", "org.example", "", "android.widget.Button", "Save", "null")


@needs_adb
def test_events_come_out_of_uiautomator_while_the_phone_is_used(attached: Attached) -> None:
    phone = attached.served.phone
    attached.shell(f"am start -n {PACKAGE}/{ACTIVITY}")
    with streaming(attached, "uiautomator events") as process:
        until(lambda: any(watch.is_ready for watch in phone.watches))
        attached.shell(f"input tap {PLUS.center.x} {PLUS.center.y}; input tap {NAME.center.x} {NAME.center.y}; input text milk")
        assert process.stdout is not None
        seen: list[tuple[str, str]] = []
        while not any(kind == "TYPE_VIEW_TEXT_CHANGED" for kind, _ in seen):
            found = LINE.fullmatch(process.stdout.readline().decode())
            assert found is not None
            seen.append((found[1], found[5]))
    assert seen[0][0] == "TYPE_VIEW_CLICKED" and "TYPE_WINDOW_CONTENT_CHANGED" in [kind for kind, _ in seen]
    assert ("TYPE_VIEW_TEXT_CHANGED", "milk") in seen and "TYPE_VIEW_FOCUSED" in [kind for kind, _ in seen]
    until(lambda: not phone.watches)
