"""Touch mode: fingers on a phone of ours, over the real adb and its getevent, against the mirror of the same script."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from phoneworld.adbd.fingers import Touch as FingerTouch
from phoneworld.adbd.fingers import frames_of
from phoneworld.adbd.server import AdbPhone
from phoneworld.device.adb import AdbDevice
from phoneworld.device.open import open_device
from phoneworld.graph.file import load_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.ui import system
from phoneworld.ui.action import Action, DoubleTap, Drag, LongPress, Pinch, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.strokes import Touch
from recorder.adb_events import AdbEvents, glass_of
from recorder.driven import Driven
from recorder.looks import Ring, Watched
from recorder.mirror import Act, Finish, Mirror, Strokes
from recorder.touch import TouchRecorder
from tests.adbd.fixtures import needs_adb
from tests.adbd.pocket import PACKAGE, PLUS, Memory, PocketPhone
from tests.webapps import served

pytestmark = needs_adb

MIDDLE = PLUS.center


@dataclass
class Bench:
    """A pocket phone behind the real adb, and its glass."""

    served: AdbPhone
    device: PocketPhone

    def touch(self, touch: FingerTouch) -> None:
        """A hand in its own time: the kernel tells of it while it moves, and the app reacts when it is lifted."""
        start, glass = time.monotonic(), self.served.phone.fingers
        *moves, lifted = frames_of(touch)
        for frame in moves:
            self._until(start + frame.after_ms / 1000)
            glass.fingers(frame.fingers, rotation=self.device.rotation)
        self._until(start + lifted.after_ms / 1000)
        self.served.phone.owner.call_now(lambda device: device.perform(touch))
        glass.fingers(lifted.fingers, rotation=self.device.rotation)

    @staticmethod
    def _until(moment_s: float) -> None:
        threading.Event().wait(max(0.0, moment_s - time.monotonic()))


class Turned(PocketPhone):
    """A pocket phone whose window is as wide as its screen when it is turned."""

    def hierarchy(self) -> Hierarchy:
        tree = super().hierarchy()
        if self.rotation % 2 == 0:
            return tree
        return replace(tree, windows=tuple(replace(w, bounds=Bounds(0, 0, 1280, 720)) for w in tree.windows))


@contextmanager
def bench(port: int, *, rotation: int = 0) -> Iterator[Bench]:
    device = Turned(rotation=rotation, memory=Memory(front=PACKAGE))
    base = ["adb", "-P", str(port)]
    with AdbPhone(device, port=0) as served:
        subprocess.run([*base, "connect", served.serial], capture_output=True, timeout=20, check=True)
        yield Bench(served, device)
        subprocess.run([*base, "disconnect", served.serial], capture_output=True, timeout=20, check=True)


@dataclass
class Script:
    """Does one touch after the other, each when the step before it is recorded."""

    bench: Bench
    touches: list[FingerTouch]
    done: int = 0
    finished: bool = False

    def next(self, _steps: int = 0) -> None:
        if self.done < len(self.touches):
            self.done += 1
            self.bench.touch(self.touches[self.done - 1])
        else:
            self.finished = True


def by_touch(desk: Bench, touches: list[FingerTouch], out: Path, *, package: str = PACKAGE) -> tuple[StateGraph, TouchRecorder]:
    phone = AdbDevice.find(desk.served.serial)
    ring = Ring()
    screens = glass_of(phone)
    driven = Driven.open(Watched(phone, ring), package, out, mode="touch")
    events = AdbEvents(phone.serial, screens)
    script = Script(desk, touches)

    def ready() -> None:
        while not desk.served.phone.fingers.readers:
            threading.Event().wait(0.01)
        script.next()

    recorder = TouchRecorder(driven, ring, events, screens, phone.info.size, instruction="count", on_step=script.next)
    try:
        recorder.run(lambda: script.finished, ready=ready)
    finally:
        events.close()
    return driven.finish().graph, recorder


def by_mirror(desk: Bench, touches: list[FingerTouch], out: Path) -> StateGraph:
    phone = AdbDevice.find(desk.served.serial)
    driven = Driven.open(phone, PACKAGE, out, mode="mirror")
    mirror = Mirror(driven, instruction="count")

    def person() -> None:
        for number, touch in enumerate(touches):
            view = mirror.wait_for(lambda v, n=number: not v.busy and v.steps == n)  # type: ignore[misc]
            mirror.submit(Act(view.version, Strokes(strokes_of(touch))))
        mirror.wait_for(lambda v: not v.busy and v.steps == len(touches))
        mirror.submit(Finish())

    hand = threading.Thread(target=person)
    hand.start()
    mirror.run()
    hand.join()
    return driven.finish().graph


def strokes_of(touch: FingerTouch) -> tuple[Touch, ...]:
    """The same movement of the hand as the page would report it."""
    open_: dict[int, list[tuple[float, float, float]]] = {}
    strokes: list[Touch] = []
    lifted: list[tuple[tuple[float, float, float], ...]] = []
    for frame in frames_of(touch):
        for slot, point in frame.fingers.items():
            if point is not None:
                open_.setdefault(slot, []).append((point.x, point.y, frame.after_ms))
            elif slot in open_:
                points = open_.pop(slot)
                lifted.append((*points, (*points[-1][:2], frame.after_ms)))
        if not open_ and lifted:
            strokes.append(Touch(tuple(lifted)))
            lifted = []
    return tuple(strokes)


def steps(graph: StateGraph) -> list[tuple[Action, object, object, object]]:
    """What was done, where it hit, and what was shown before and after: all of a trace but its times."""
    (trace,) = graph.traces
    captures = graph.captures
    return [
        (untimed(t.action), t.hit, captures[t.source].hierarchy, captures[t.target].hierarchy) for t in trace.transitions
    ]


def untimed(action: Action) -> Action:
    match action:
        case Swipe(x, y, x2, y2):
            return Swipe(x, y, x2, y2, 0)
        case Drag(x, y, x2, y2):
            return Drag(x, y, x2, y2, 0)
        case LongPress(x, y):
            return LongPress(x, y, 0)
        case Pinch(x, y, scale):
            return Pinch(x, y, scale, 0)
        case _:
            return action


SCRIPT: list[FingerTouch] = [
    Tap(MIDDLE.x, MIDDLE.y),
    DoubleTap(MIDDLE.x, MIDDLE.y),
    LongPress(MIDDLE.x, MIDDLE.y, 700),
    Swipe(300, 600, 300, 450, 250),
    Drag(300, 600, 500, 450, 1400),
    Tap(MIDDLE.x + 3, MIDDLE.y),
    Pinch(360, 500, 2.0, 400),
]


@pytest.mark.parametrize(
    ("rotation", "touches"),
    [
        pytest.param(0, SCRIPT[:4], id="portrait"),
        pytest.param(1, SCRIPT[:3], id="landscape"),
        pytest.param(0, SCRIPT, id="every-gesture", marks=pytest.mark.slow),
        pytest.param(3, SCRIPT[:3], id="landscape-other-way", marks=pytest.mark.slow),
    ],
)
def test_fingers_on_the_phone_give_the_same_trace_as_in_the_mirror(
    adb_server: int, tmp_path: Path, rotation: int, touches: list[FingerTouch]
) -> None:
    with bench(adb_server, rotation=rotation) as desk:
        touched, recorder = by_touch(desk, touches, tmp_path / "touch.graph.json")
    with bench(adb_server, rotation=rotation) as desk:
        mirrored = by_mirror(desk, touches, tmp_path / "mirror.graph.json")
    assert steps(touched) == steps(mirrored)
    assert [untimed(a) for a, *_ in steps(touched)] == [untimed(a) for a in touches]
    assert all(hit is not None for _, hit, *_ in steps(touched)[:3])
    for graph, out in ((touched, "touch"), (mirrored, "mirror")):
        assert load_graph(tmp_path / f"{out}.graph.json") == graph
        assert graph.traces[0].instruction == "count" and graph.traces[0].unfinished is None
        assert all(graph.captures[c].settled for c in graph.traces[0].captures)
    assert not recorder.tally.undecoded and not recorder.tally.stale


PAGE = """<!doctype html><meta name=viewport content="width=device-width"><title>List</title>
<form><input id=thing placeholder="What?" style="font-size:24px;width:90%"></form><ul id=list></ul>
<script>document.forms[0].onsubmit = e => { e.preventDefault(); const li = document.createElement('li');
li.textContent = thing.value; list.append(li); thing.value = ''; };</script>"""


@pytest.mark.slow
def test_taps_on_the_keyboard_are_folded_into_what_the_field_holds(adb_server: int, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(PAGE)
    base = ["adb", "-P", str(adb_server)]
    with served(tmp_path / "site") as url, AdbPhone(partial(open_device, f"web:{url}"), port=0) as phone_served:
        subprocess.run([*base, "connect", phone_served.serial], capture_output=True, timeout=20, check=True)
        phone = AdbDevice.find(phone_served.serial)
        info = phone.info
        package = phone_served.phone.owner.call_now(lambda device: device.apps()[0].package)
        tree = phone.hierarchy()
        field = next(n for n in tree.nodes() if n.is_editable).bounds.center
        keys = {n.text or n.content_desc: n.bounds.center for n in Hierarchy((system.keyboard(info.size, info.density),)).nodes() if n.clickable}
        script: list[FingerTouch] = [Tap(at.x, at.y) for at in (field, keys["o"], keys["k"], keys["Enter"])]
        touched, recorder = by_touch(Bench(phone_served, PocketPhone()), script, tmp_path / "touch.graph.json", package=package)
        subprocess.run([*base, "disconnect", phone_served.serial], capture_output=True, timeout=20, check=True)
    (trace,) = touched.traces
    assert [t.action for t in trace.transitions] == [Tap(field.x, field.y), TypeText("ok"), PressKey("enter")]
    typed, entered = trace.transitions[1:]
    values = [[n.value for n in touched.captures[c].hierarchy.nodes() if n.is_editable] for c in trace.captures]
    assert values == [[""], [""], ["ok"], [""]]
    assert "ok" in [n.text for n in touched.captures[entered.target].hierarchy.nodes()]
    assert "keyboard" in typed.notes and recorder.tally.keyboard_taps == 3
