"""Following fingers without adb: a hand on an in-memory phone, whose events are handed over as getevent would print them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from phoneworld.adbd.commands.events import line
from phoneworld.adbd.fingers import DEVICE, EV_SYN, FingerEvents, KernelEvent
from phoneworld.adbd.fingers import Touch as FingerTouch
from phoneworld.cli.record_modes import Budget, parse_budget
from phoneworld.device.settle import Reading
from phoneworld.errors import CaptureFailed, DeviceLost, OptionError
from phoneworld.graph.graph import StateGraph
from phoneworld.ui.action import Action, LongPress, PressKey, Swipe, Tap, TypeText, Wait
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.glass import Axis, InputDevice
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy
from recorder.driven import Driven
from recorder.looks import Ring, Watched
from recorder.session import Reason
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
        self.recorder: TouchRecorder | None = None
        self.urgent = b""

    def read(self, timeout_s: float) -> tuple[bytes, float]:
        """What comes at once, else the next of the script."""
        if self.urgent:
            told, self.urgent = self.urgent, b""
            return told, self.last_s * 1000
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


def follow(
    tmp_path: Path, *script: Callable[[Hand], bytes], memory: Memory | None = None, told: list[int] | None = None
) -> tuple[StateGraph, Tally]:
    phone = PocketPhone(memory=memory or Memory(front=PACKAGE))
    ring = Ring()
    driven = Driven.open(Watched(phone, ring), PACKAGE, tmp_path / "a.graph.json", mode="touch")
    hand = Hand(phone, script)
    idle = iter(range(12))
    recorder = TouchRecorder(driven, ring, hand, (GLASS,), PANEL, on_step=None if told is None else told.append)
    hand.recorder = recorder
    reason: Reason = "finished"
    try:
        recorder.run(lambda: hand.rests and recorder._grouper.due_ms is None and not recorder._queue and next(idle, None) is None)
    except DeviceLost:
        reason = "device-lost"
    return driven.finish(reason).graph, recorder.tally


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


def test_a_tap_right_before_a_hardware_key_comes_before_it(tmp_path: Path) -> None:
    def both(hand: Hand) -> bytes:
        tap = touch(PLUS_TAP)(hand)
        hand.last_s += 0.1
        return tap + b"[%.6f] /dev/input/event0: EV_KEY KEY_VOLUMEUP DOWN\n" % hand.last_s

    graph, _ = follow(tmp_path, both)
    done = [a for trace in graph.traces for a in (*(t.action for t in trace.transitions), trace.unfinished and trace.unfinished.action) if a]
    assert done == [PLUS_TAP, PressKey("volume_up")]


def test_hardware_keys_are_steps(tmp_path: Path) -> None:
    def back(hand: Hand) -> bytes:
        hand.phone.perform(PressKey("back"))
        return b"[%.6f] /dev/input/event0: EV_KEY KEY_BACK DOWN\n" % (time.monotonic() + 0.01)

    graph, _ = follow(tmp_path, back)
    (step,) = graph.transitions()
    assert step.action == PressKey("back") and "hardware-key" in step.notes


# ---- touches of which it is not known what they were

OTHER_MEMORY = Memory(front=PACKAGE, count=7)


def then(do: Callable[[Hand], bytes]) -> Callable[[Hand], bytes]:
    """Does it once all before it is recorded."""

    def later(hand: Hand) -> bytes:
        assert hand.recorder is not None
        if hand.recorder._grouper.due_ms is not None or hand.recorder._queue:
            hand.script.insert(0, later)
            return b""
        return do(hand)

    return later


def shows(memory: Memory) -> Callable[[Hand], bytes]:
    """The phone shows something else by itself, and the recorder has time to see it."""

    def do(hand: Hand) -> bytes:
        assert hand.recorder is not None
        hand.phone.memory = memory
        hand.recorder._glance()
        return b""

    return then(do)


def told_without_a_place(*touches: FingerTouch, then: Memory) -> Callable[[Hand], bytes]:
    """Touches at the places of the ones before: their axes are not told again to who began to listen in between."""

    def do(hand: Hand) -> bytes:
        end_s = time.monotonic() + 0.07
        for one in touches:
            hand.glass.touch(one, end_s=end_s - 1)
        hand.phone.memory = then
        hand.last_s = end_s
        return b"".join(printed(hand.glass.touch(one, end_s=end_s)) for one in touches)

    return do


def actions(graph: StateGraph) -> list[list[Action]]:
    return [[t.action for t in trace.transitions] for trace in graph.traces]


def words(graph: StateGraph, capture: str) -> str:
    """The first words that it shows: how far the phone has counted."""
    return next(n.text for n in graph.captures[capture].hierarchy.nodes() if n.text)


def test_what_a_touch_without_a_place_did_is_credited_to_no_other(tmp_path: Path) -> None:
    graph, tally = follow(tmp_path, told_without_a_place(Tap(320, 1200), then=OTHER_MEMORY), touch(PLUS_TAP))
    assert tally.undecoded == {"no-place": 1}
    before, after = graph.traces
    assert not before.transitions and "after-a-gap" in graph.captures[after.start].notes
    (step,) = after.transitions
    assert step.action == PLUS_TAP and "stale-prestate" not in step.notes
    assert words(graph, after.start) == "Count 7" and words(graph, step.target) == "Count 8"


def test_what_three_fingers_did_is_credited_to_no_other_and_what_came_before_them_stays(tmp_path: Path) -> None:
    def three(hand: Hand) -> bytes:
        first = touch(PLUS_TAP)(hand)
        middle = Bounds(300, 300, 302, 302).center
        down, up = ({slot: at for slot in range(3)} for at in (middle, None))
        hand.phone.memory = OTHER_MEMORY
        hand.last_s += 0.005
        events = [*hand.glass.fingers(down), *hand.glass.fingers(up)]
        return first + printed([replace(e, time_s=hand.last_s) for e in events])

    graph, tally = follow(tmp_path, three, touch(LongPress(X, Y, 700)))
    assert tally.undecoded == {"3-fingers": 1}
    first, *_, last = graph.traces
    assert first.unfinished is not None and first.unfinished.action == PLUS_TAP, "nothing was seen between it and the three"
    (step,) = last.transitions
    assert isinstance(step.action, LongPress) and words(graph, last.start) == "Count 7"


def test_a_change_that_was_seen_before_the_finger_came_down_is_not_credited_to_it(tmp_path: Path) -> None:
    def changes(hand: Hand) -> bytes:
        assert hand.recorder is not None
        driven = hand.recorder._driven
        look = driven._look

        def finger_comes_down(before: Hierarchy | None) -> Reading:
            driven._look = look
            hand.last_s = time.monotonic() + 0.06
            hand.urgent = printed(hand.glass.touch(PLUS_TAP, end_s=hand.last_s))
            hand.phone.perform(PLUS_TAP)
            return look(before)

        driven._look = finger_comes_down
        hand.phone.memory = OTHER_MEMORY
        hand.recorder._glance()
        return b""

    graph, _ = follow(tmp_path, changes)
    (trace,) = graph.traces
    waited, tapped = trace.transitions
    assert waited.notes == ("by-itself",) and tapped.action == PLUS_TAP
    assert [words(graph, c) for c in trace.captures] == ["Count 0", "Count 7", "Count 8"]


# ---- typing

FOCUSED = Memory(front=PACKAGE, focus=0, keyboard=True)
KEY = Tap(360, 1000)
TYPED = Memory(front=PACKAGE, focus=0, keyboard=True, fields=("a", ""))


def test_what_the_screen_does_while_somebody_types_is_a_wait(tmp_path: Path) -> None:
    graph, tally = follow(tmp_path, touch(KEY, then=TYPED), shows(OTHER_MEMORY), touch(PLUS_TAP), memory=FOCUSED)
    (trace,) = graph.traces
    typed, waited, tapped = trace.transitions
    assert (typed.action, tapped.action) == (TypeText("a"), PLUS_TAP)
    assert isinstance(waited.action, Wait) and waited.notes == ("by-itself",)
    assert words(graph, waited.target) == "Count 7" and words(graph, tapped.target) == "Count 8" and tally.keyboard_taps == 1


def test_a_change_beside_the_field_is_a_wait_and_the_typing_goes_on_after_it(tmp_path: Path) -> None:
    beside = Memory(front=PACKAGE, count=3, focus=0, keyboard=True, fields=("a", ""))
    more = Memory(front=PACKAGE, count=3, focus=0, keyboard=True, fields=("ab", ""))
    graph, _ = follow(tmp_path, touch(KEY, then=TYPED), shows(beside), touch(KEY, then=more), memory=FOCUSED)
    first, waited, second = graph.traces[0].transitions
    assert (first.action, second.action) == (TypeText("a"), TypeText("b")) and waited.notes == ("by-itself",)


def test_words_that_show_late_belong_to_the_typing(tmp_path: Path) -> None:
    graph, _ = follow(tmp_path, touch(KEY), shows(TYPED), touch(PLUS_TAP), memory=FOCUSED)
    assert actions(graph) == [[TypeText("a"), PLUS_TAP]]


def blind(do: Callable[[Hand], bytes]) -> Callable[[Hand], bytes]:
    """Does it, and the next look fails."""

    def unread(hand: Hand) -> bytes:
        data = do(hand)
        assert hand.recorder is not None
        driven = hand.recorder._driven
        look = driven._look

        def fails_once(before: Hierarchy | None) -> Reading:
            driven._look = look
            raise CaptureFailed("no tree", code="NULL_ROOT")

        driven._look = fails_once
        return data

    return then(unread)


def test_what_a_key_did_is_read_later_where_it_could_not_be_read_at_once(tmp_path: Path) -> None:
    graph, _ = follow(tmp_path, blind(touch(KEY)), shows(TYPED), touch(PLUS_TAP), memory=FOCUSED)
    assert actions(graph) == [[TypeText("a"), PLUS_TAP]]
    left = Memory(front=PACKAGE, count=7)
    (tmp_path / "enter").mkdir()
    graph, _ = follow(tmp_path / "enter", touch(KEY, then=TYPED), blind(touch(Tap(715, 1275))), shows(left), memory=FOCUSED)
    assert actions(graph) == [[TypeText("a"), PressKey("enter")]]


def test_a_key_that_typed_did_not_end_the_typing_though_both_were_seen_in_one_look(tmp_path: Path) -> None:
    def key(hand: Hand) -> bytes:
        data = touch(KEY, then=TYPED)(hand)
        assert hand.recorder is not None
        driven = hand.recorder._driven
        look = driven._look

        def changes_twice(before: Hierarchy | None) -> Reading:
            driven._look = look
            on_the_way = look(before)
            hand.phone.memory = OTHER_MEMORY
            return replace(look(before), transients=(on_the_way,))

        driven._look = changes_twice
        return data

    graph, _ = follow(tmp_path, key, memory=FOCUSED)
    typed, waited = graph.traces[0].transitions
    assert typed.action == TypeText("a") and waited.notes == ("by-itself",) and words(graph, waited.target) == "Count 7"


def test_where_it_is_not_known_which_tap_was_still_on_the_keyboard_the_trace_ends(tmp_path: Path) -> None:
    script = [touch(KEY, then=TYPED), blind(touch(Tap(715, 1275), then=OTHER_MEMORY)), touch(KEY)]
    graph, _ = follow(tmp_path, *script, memory=FOCUSED)
    assert actions(graph) == [[TypeText("a")], []]


def test_a_key_after_which_nothing_could_be_read_ends_the_trace(tmp_path: Path) -> None:
    graph, _ = follow(tmp_path, touch(KEY, then=TYPED), blind(touch(KEY, then=OTHER_MEMORY)), touch(PLUS_TAP), memory=FOCUSED)
    first, second = graph.traces
    assert [t.action for t in first.transitions] == [TypeText("a")] and [t.action for t in second.transitions] == [PLUS_TAP]
    assert "after-a-gap" in graph.captures[second.start].notes


def test_what_was_typed_is_kept_where_the_phone_is_lost(tmp_path: Path) -> None:
    def lost(hand: Hand) -> bytes:
        raise DeviceLost("getevent has ended")

    graph, _ = follow(tmp_path, touch(KEY, then=TYPED), then(lost), memory=FOCUSED)
    assert actions(graph) == [[TypeText("a")]]


def test_the_last_number_of_steps_that_is_told_is_that_of_the_summary(tmp_path: Path) -> None:
    told: list[int] = []
    typed = Memory(front=PACKAGE, count=1, focus=1, keyboard=True, fields=("", "a"))
    graph, _ = follow(tmp_path, touch(Tap(NOTE.center.x, NOTE.center.y), PLUS_TAP), then(touch(KEY, then=typed)), told=told)
    assert graph.traces[-1].transitions[-1].action == TypeText("a"), "it is over when the recording is"
    assert any(t.unfinished for t in graph.traces) and told[-1] == sum(len(t.transitions) for t in graph.traces)


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
