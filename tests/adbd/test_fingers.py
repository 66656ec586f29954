"""What getevent prints of fingers: protocol B with slots, axes only when they change, the panel's own coordinates."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from phoneworld.adbd.commands.events import line
from phoneworld.adbd.fingers import (
    POSITION_X,
    POSITION_Y,
    RELEASED,
    SLOT,
    TRACKING_ID,
    FingerEvents,
    KernelEvent,
    to_panel,
)
from phoneworld.ui.action import DoubleTap, Pinch, Swipe, Tap
from phoneworld.ui.geometry import Point, Size
from tests.adbd.fixtures import Attached, Desk, needs_adb, streaming, until
from tests.adbd.pocket import PLUS

PANEL = Size(720, 1280)


def contacts(events: list[KernelEvent]) -> list[list[Point]]:
    """The paths of all fingers, read by the rules of the protocol: what a reader of getevent must be able to do."""
    slot, at, open_now, paths = 0, {}, {}, []
    for e in events:
        if e.type == 3 and e.code == SLOT:
            slot = e.value
        elif e.type == 3 and e.code == TRACKING_ID:
            if e.value == RELEASED:
                del open_now[slot]
            else:
                open_now[slot] = path = []
                paths.append(path)
        elif e.type == 3 and e.code in (POSITION_X, POSITION_Y):
            x, y = at.get(slot, (0, 0))
            at[slot] = (e.value, y) if e.code == POSITION_X else (x, e.value)
        elif e.type == 0:
            for number, path in open_now.items():
                if not path or path[-1] != Point(*at[number]):
                    path.append(Point(*at[number]))
    return paths


def test_a_second_tap_in_the_same_place_says_no_axes() -> None:
    source = FingerEvents(PANEL)
    first, second = source.touch(Tap(10, 20)), source.touch(Tap(10, 20))
    assert [e.code for e in first if e.type == 3] == [TRACKING_ID, POSITION_X, POSITION_Y, TRACKING_ID]
    assert [e.code for e in second if e.type == 3] == [TRACKING_ID, TRACKING_ID]
    assert contacts(first + second) == [[Point(10, 20)], [Point(10, 20)]]


def test_two_fingers_have_slots_and_are_told_apart() -> None:
    paths = contacts(FingerEvents(PANEL).touch(Pinch(300, 400, 2.0)))
    assert len(paths) == 2
    (a, b), (c, d) = (paths[0][0], paths[0][-1]), (paths[1][0], paths[1][-1])
    assert (d.x - b.x) / (c.x - a.x) == 2.0


def test_stamps_are_those_of_the_hand() -> None:
    before = time.monotonic()
    events = FingerEvents(PANEL).touch(Swipe(1, 2, 300, 400, 500))
    assert abs((events[-1].time_s - events[0].time_s) - 0.5) < 0.001 and events[-1].time_s >= before
    assert [e.time_s for e in events] == sorted(e.time_s for e in events)


@given(st.integers(0, 3), st.integers(0, 719), st.integers(0, 1279))
def test_turning_back_gives_the_point_again(rotation: int, x: int, y: int) -> None:
    screen = Point(y, 719 - x) if rotation == 1 else Point(719 - x, 1279 - y) if rotation == 2 else Point(1279 - y, x)
    assert to_panel(screen if rotation else Point(x, y), rotation, PANEL) == Point(x, y)


@given(st.lists(st.sampled_from([Tap(1, 1), Tap(1, 5), DoubleTap(9, 9), Swipe(0, 0, 50, 50), Pinch(300, 300, 0.5)]), max_size=6))
def test_every_finger_is_lifted_and_found_again(touches: list[Tap | DoubleTap | Swipe | Pinch]) -> None:
    source = FingerEvents(PANEL)
    events = [event for touch in touches for event in source.touch(touch)]
    expected = sum(2 if isinstance(touch, DoubleTap | Pinch) else 1 for touch in touches)
    assert len(contacts(events)) == expected
    assert sum(e.code == TRACKING_ID and e.value == RELEASED for e in events if e.type == 3) == expected


def test_lines_are_those_of_getevent() -> None:
    event = KernelEvent(1059536.835861, 3, POSITION_X, 0x213)
    path = "/dev/input/event2: "
    assert line(event, labels=True, timed=True, path=path).rstrip() == (
        "[ 1059536.835861] /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    00000213"
    )
    assert line(event, labels=False, timed=False, path=path) == "/dev/input/event2: 0003 0035 00000213\n"


def test_the_devices_are_described_with_names_and_with_numbers(desk: Desk) -> None:
    named, numbered = desk.out("getevent -lp"), desk.out("getevent -p")
    assert re.search(r"ABS_MT_POSITION_X +: value 0, min 0, max 719, fuzz 0, flat 0, resolution 0", named)
    assert "INPUT_PROP_DIRECT" in named and 'name:     "phoneworld_touch"' in named
    assert re.search(r"0036 +: value 0, min 0, max 1279", numbered)
    assert desk.sh("getevent -p /dev/input/event9")[2] == 1


@needs_adb
def test_fingers_come_out_of_getevent_and_input_does_not(attached: Attached) -> None:
    phone = attached.served.phone
    with streaming(attached, "getevent -lt /dev/input/event2") as process:
        until(lambda: phone.fingers.readers == 1)
        attached.shell(f"input tap {PLUS.center.x} {PLUS.center.y}")
        for x, y in ((-5, 99_999), (720, 5)):
            assert attached.shell(f"cmd phoneworld finger '{{\"kind\": \"tap\", \"x\": {x}, \"y\": {y}}}'")[2] == 1, "not on the glass: no event"
        assert attached.shell("cmd phoneworld finger '{\"kind\": \"tap\", \"x\": 100, \"y\": 200}'")[2] == 0
        assert process.stdout is not None
        lines = [process.stdout.readline().decode() for _ in range(5)]
    assert "ABS_MT_TRACKING_ID" in lines[0] and lines[1].split()[-1] == "00000064" and lines[2].split()[-1] == "000000c8"
    assert "BTN_TOUCH" in lines[3] and "DOWN" in lines[3] and "SYN_REPORT" in lines[4]
    assert attached.device.events[-1] == Tap(100, 200)
    until(lambda: phone.fingers.readers == 0)
