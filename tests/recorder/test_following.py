"""Following fingers without adb: a hand on an in-memory phone, whose events are handed over as getevent would print them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from phoneworld.adbd.commands.events import line
from phoneworld.adbd.fingers import DEVICE, EV_SYN, FingerEvents, KernelEvent
from phoneworld.adbd.fingers import Touch as FingerTouch
from phoneworld.cli.record_modes import Budget, parse_budget
from phoneworld.errors import OptionError
from phoneworld.graph.graph import StateGraph
from phoneworld.ui.action import LongPress, PressKey, Swipe, Tap, Wait
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.glass import Axis, InputDevice
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy
from recorder.driven import Driven
from recorder.looks import Ring, Watched
from recorder.touch import Tally, TouchRecorder
from recorder.windows import keyboard_region, window_notes
from tests.adbd.pocket import LAUNCHER, NOTE, PACKAGE, PLUS, Memory, PocketPhone
from tests.recorder.screens import APP, SIZE, button, lines, screen, text
from tests.shared import CASES, needs_shared

GLASS = InputDevice(DEVICE, "glass", Axis(0, 719), Axis(0, 1279), multi=True, direct=True)
PANEL = Size(720, 1280)
X, Y = PLUS.center.x, PLUS.center.y
PLUS_TAP = Tap(X, Y)


class Hand:
    """Does the next thing of its script whenever the recorder waits for something to happen."""

    def __init__(self, phone: PocketPhone, script: Sequence[Callable[[Hand], bytes]]) -> None:
        self.phone = phone
        self.script = list(script)
        self.glass = FingerEvents(PANEL)
        self.last_s = 0.0

    def read(self, timeout_s: float) -> tuple[bytes, float]:
        if timeout_s <= 0 or not self.script:
            return b"", 0.0
        told = self.script.pop(0)(self)
        # Nothing arrives before it happened.
        return told, max(time.monotonic(), self.last_s) * 1000

    @property
    def rests(self) -> bool:
        return not self.script


def printed(events: Sequence[KernelEvent]) -> bytes:
    return "".join(line(e, labels=True, timed=True, path="") for e in events).encode()


def touch(*touches: FingerTouch, then: Memory | None = None, ago_s: float = 0.0) -> Callable[[Hand], bytes]:
    """Touches one right after the other, as they come over the wire; `then` is what the phone is after them."""

    def do(hand: Hand) -> bytes:
        events: list[KernelEvent] = []
        # A tap takes 60 ms: it begins when it should, not before the recorder has looked.
        at = time.monotonic() + 0.07 - ago_s
        for number, one in enumerate(touches):
            hand.phone.perform(one)
            hand.last_s = at + number * 0.1
            events += hand.glass.touch(one, end_s=hand.last_s)
        if then is not None:
            hand.phone.memory = then
        return printed(events)

    return do


def follow(tmp_path: Path, *script: Callable[[Hand], bytes], memory: Memory | None = None) -> tuple[StateGraph, Tally]:
    phone = PocketPhone(memory=memory or Memory(front=PACKAGE))
    ring = Ring()
    driven = Driven.open(Watched(phone, ring), PACKAGE, tmp_path / "a.graph.json", mode="touch")
    hand = Hand(phone, script)
    idle = iter(range(12))
    recorder = TouchRecorder(driven, ring, hand, (GLASS,), PANEL)
    recorder.run(lambda: hand.rests and recorder._grouper.due_ms is None and not recorder._queue and next(idle, None) is None)
    return driven.finish().graph, recorder.tally


def test_an_edge_swipe_that_left_the_screen_is_back_and_one_that_did_nothing_is_a_swipe(tmp_path: Path) -> None:
    swipe = Swipe(2, 600, 300, 610, 200)
    graph, _ = follow(tmp_path, touch(swipe), touch(swipe, then=Memory(front=LAUNCHER)))
    (trace,) = graph.traces
    first, second = trace.transitions
    assert isinstance(first.action, Swipe) and "edge-swipe" not in first.notes
    assert second.action == PressKey("back") and "edge-swipe" in second.notes


def test_an_edge_swipe_that_closed_the_keyboard_is_back(tmp_path: Path) -> None:
    focused = Memory(front=PACKAGE, focus=0, keyboard=True)
    graph, _ = follow(tmp_path, touch(Swipe(717, 300, 400, 310, 200), then=Memory(front=PACKAGE, focus=0)), memory=focused)
    assert [t.action for t in graph.transitions()] == [PressKey("back")]


def test_a_swipe_from_the_bottom_to_the_launcher_is_home(tmp_path: Path) -> None:
    graph, _ = follow(tmp_path, touch(Swipe(360, 1275, 360, 700, 200), then=Memory(front=LAUNCHER)))
    (step,) = graph.transitions()
    assert step.action == PressKey("home") and "launcher" in graph.captures[step.target].notes


def test_a_touch_that_came_before_the_screen_was_read_is_marked_stale(tmp_path: Path) -> None:
    graph, tally = follow(tmp_path, touch(PLUS_TAP), touch(LongPress(X, Y, 700), ago_s=1.5))
    first, second = [t for t in graph.transitions() if not isinstance(t.action, Wait)]
    assert isinstance(first.action, Tap) and isinstance(second.action, LongPress)
    assert "stale-prestate" not in first.notes and "stale-prestate" in second.notes and tally.stale == 1


def test_where_nothing_was_seen_between_two_touches_the_trace_ends(tmp_path: Path) -> None:
    graph, _ = follow(tmp_path, touch(Tap(NOTE.center.x, NOTE.center.y), PLUS_TAP))
    first, second = graph.traces
    assert first.unfinished is not None and first.unfinished.reason == "touched-before-settled"
    assert "after-a-gap" in graph.captures[second.start].notes
    assert [t.action for t in second.transitions] == [PLUS_TAP] and "stale-prestate" in second.transitions[0].notes


def test_what_cannot_be_decoded_is_counted_and_recorded_as_nothing(tmp_path: Path) -> None:
    def dropped(hand: Hand) -> bytes:
        down = hand.glass.fingers({0: Bounds(10, 10, 12, 12).center})
        return printed(down) + printed([KernelEvent(time.monotonic(), EV_SYN, 3, 0), KernelEvent(time.monotonic(), EV_SYN, 0, 0)]).replace(
            b" 0003  ", b" SYN_DROPPED "
        )

    def three(hand: Hand) -> bytes:
        hand.glass = FingerEvents(PANEL)
        middle = Bounds(300, 300, 302, 302).center
        return printed([*hand.glass.fingers({0: middle, 1: middle, 2: middle}), *hand.glass.fingers({0: None, 1: None, 2: None})])

    def stays(hand: Hand) -> bytes:
        return printed(hand.glass.fingers({0: Bounds(10, 10, 12, 12).center}))

    graph, tally = follow(tmp_path, dropped, three, stays)
    assert tally.undecoded == {"dropped": 1, "3-fingers": 1, "never-lifted": 1}
    assert not [t for t in graph.transitions() if not isinstance(t.action, Wait)]


def test_hardware_keys_are_steps(tmp_path: Path) -> None:
    def back(hand: Hand) -> bytes:
        hand.phone.perform(PressKey("back"))
        return b"[%.6f] /dev/input/event0: EV_KEY KEY_BACK DOWN\n" % (time.monotonic() + 0.01)

    graph, _ = follow(tmp_path, back)
    (step,) = graph.transitions()
    assert step.action == PressKey("back") and "hardware-key" in step.notes


# ---- windows, and budgets


def dialog(*children: Node, package: str = "android") -> Hierarchy:
    return screen(*children, package=package, bounds=Bounds(100, 900, 980, 1500))


def system_text(words: str, resource_id: str = "android:id/alertTitle") -> Node:
    return Node("android.widget.TextView", text=words, resource_id=resource_id, package="android", bounds=Bounds(120, 920, 900, 1000))


@pytest.mark.parametrize(
    ("shown", "notes"),
    [
        (lines(button("Save")), ()),
        (screen(text("Allow Shop to take pictures?"), package="com.google.android.permissioncontroller"), ("permission-dialog",)),
        (screen(text("Allow?"), package="com.android.packageinstaller"), ("permission-dialog",)),
        (dialog(system_text("Shop keeps stopping"), Node("android.widget.Button", text="Close app", resource_id="android:id/aerr_close", package="android")), ("crash-dialog",)),
        (dialog(system_text("很抱歉，“商店”已停止运行。")), ("crash-dialog",)),
        (dialog(system_text("Shop isn’t responding"), Node("android.widget.Button", text="Wait", resource_id="android:id/aerr_wait", package="android")), ("anr-dialog",)),
        (dialog(system_text("Shop is not responding.")), ("anr-dialog",)),
        (screen(text("Inbox"), package="com.example.mail"), ("other-app",)),
        (screen(text("Icons"), package="com.sec.android.app.launcher"), ("launcher",)),
        (Hierarchy((*lines(button("Save")).windows, Node("android.widget.Toast", text="Saved", package=APP, bounds=Bounds(300, 2000, 700, 2100)))), ("toast",)),
        (lines(text("The engine has stopped"), text("Not responding to mail")), ()),
    ],
)  # fmt: skip
def test_what_stands_before_the_app_is_known_for_what_it_is(shown: Hierarchy, notes: tuple[str, ...]) -> None:
    assert window_notes(shown, APP) == notes


@needs_shared
def test_a_permission_dialog_from_the_field_is_one() -> None:
    assert window_notes(parse_hierarchy((CASES / "32-permission.xml").read_bytes()), "com.example.app") == ("permission-dialog",)


def test_the_keyboard_lies_where_its_window_is_or_in_the_lower_part() -> None:
    keys = Node("android.widget.FrameLayout", package="com.google.android.inputmethod.latin", bounds=Bounds(0, 1600, 1080, 2400))
    tree = lines(button("Save"))
    assert keyboard_region(Hierarchy((*tree.windows, keys)), SIZE, is_shown=True) == keys.bounds
    assert keyboard_region(tree, SIZE, is_shown=True) == Bounds(0, 1440, 1080, 2400)
    assert keyboard_region(tree, SIZE, is_shown=False) is None


def test_a_budget_is_steps_or_a_time() -> None:
    assert [parse_budget(t) for t in ("", "200", "30m", "90s", "2h")] == [
        Budget(), Budget(steps=200), Budget(seconds=1800), Budget(seconds=90), Budget(seconds=7200),
    ]  # fmt: skip
    for wrong in ("0", "-3", "soon", "3d", "1.5h"):
        with pytest.raises(OptionError, match="budget"):
            parse_budget(wrong)
