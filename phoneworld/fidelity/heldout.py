"""Traces of random acting on the real app, written as an ordinary graph. Knows no mock.

Each trace starts fresh. Equal arguments choose equally on equal screens; a trace depends on its seed and number alone, so that a
collection can go on where it broke off.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import hypot
from random import Random
from typing import Protocol

from phoneworld.device.device import Device
from phoneworld.device.settle import Reading, settle
from phoneworld.errors import ActionError, DeviceNotFound
from phoneworld.fidelity.acting import HELD_OUT, POLICY, Memory, Vocabulary, choose
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.ui.action import Action, DoubleTap, OpenApp, PressKey, Tap, TypeText, points_of
from phoneworld.ui.node import Hierarchy

_APART_S = 0.7  # two taps nearer than this in time and place are a double tap to the phone
_NEAR_DP = 100


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a screen must be still to be taken for settled, and one that shows what it showed before the action; and how long
    something that looks like a progress widget is waited for.

    `step_s` is the least time from one action to the next. Where an app does things by itself after a while (an answer comes, a
    toast goes), steps of one length are what makes two runs alike.
    """

    quiet_s: float = 0.1
    unchanged_quiet_s: float = 0.35
    busy_timeout_s: float = 12.0
    step_s: float = 0.0


@dataclass(slots=True)
class HeldOut:
    """What was collected: the graph, and its pictures by hash."""

    graph: StateGraph
    pictures: dict[str, bytes] = field(default_factory=dict)


class Lead(Protocol):
    """Somebody who says what to do before chance does: who asks questions, say."""

    def choose(self, capture: Capture) -> Action | None:
        """What to do on this screen; None leaves it to chance."""
        ...

    def learn(self, source: Capture, action: Action, target: Capture) -> None:
        """Is told of every step, whoever chose it."""
        ...


class Spacing:
    """Keeps two taps at one place far enough apart in time, that the phone does not take them for a double tap."""

    def __init__(self, density: int) -> None:
        self._reach_px = _NEAR_DP * density / 160
        self._last: Action | None = None
        self._at = 0.0

    def before(self, action: Action) -> None:
        """Waits where the action might be taken for the second half of a double tap."""
        a, b = self._last, action
        if isinstance(a, Tap | DoubleTap) and isinstance(b, Tap | DoubleTap) and hypot(a.x - b.x, a.y - b.y) <= self._reach_px:
            time.sleep(max(0.0, _APART_S - (time.monotonic() - self._at)))

    def after(self, action: Action) -> None:
        """Takes note of what was done."""
        self._last, self._at = action, time.monotonic()


def collect(
    device: Device,
    app: str,
    *,
    traces: int,
    steps: int,
    seed: int,
    on_trace: Callable[[int], None] | None = None,
    ready: Callable[[], None] | None = None,
) -> HeldOut:
    """Acts at random on the real app; returns what it did. `ready` is called before each trace (a server to be reset, say).

    Raises DeviceNotFound for an app that is not installed, and what the device raises.
    """
    captures: dict[str, Capture] = {}
    pictures: dict[str, bytes] = {}
    done: list[Trace] = []
    memory = Memory()
    found = HeldOut(StateGraph(RecordedApp(app), device.info))
    for number in range(1, traces + 1):
        if ready is not None:
            ready()
        found = act(device, app, number=number, steps=steps, seed=seed, memory=memory)
        captures |= found.graph.captures
        pictures |= found.pictures
        done += found.graph.traces
        if on_trace is not None:
            on_trace(number)
    graph = StateGraph(found.graph.app, device.info, captures, tuple(done), f"phoneworld fidelity, acting {POLICY}")
    return HeldOut(graph, pictures)


def act(
    device: Device,
    app: str,
    *,
    number: int,
    steps: int,
    seed: int,
    words: Vocabulary = HELD_OUT,
    memory: Memory | None = None,
    pace: Pace = Pace(),
    kind: str = "held",
    lead: Lead | None = None,
) -> HeldOut:
    """One trace from a fresh start: a graph of it alone, with capture ids that no other number has. `lead` is asked before chance."""
    installed = next((a for a in device.apps() if a.package == app), None)
    if installed is None:
        raise DeviceNotFound(f"no app {app!r} on {device.serial}", hint="`phoneworld devices` and `--app PACKAGE`")
    memory = Memory() if memory is None else memory
    captures: dict[str, Capture] = {}
    pictures: dict[str, bytes] = {}

    def keep(reading: Reading) -> str:
        name = f"{kind[0]}{number}.{len(captures)}"
        sha = hashlib.sha256(reading.screenshot).hexdigest() if reading.screenshot else None
        if sha:
            pictures[sha] = reading.screenshot
        size = reading.size if sha else device.info.size
        now_ms = time.time_ns() // 1_000_000
        captures[name] = Capture(name, reading.hierarchy, size, sha, reading.state, now_ms, reading.settled, notes=_notes(reading))
        return name

    calm: frozenset[str] = frozenset()

    def look(before: Hierarchy | None = None) -> Reading:
        nonlocal calm
        seen = rest(device, pace, before, calm)
        calm |= seen.busy
        return seen

    dice = Random(f"{kind}:{seed}:{number}")
    device.clear_app(app)
    device.perform(OpenApp(app))
    reading = look()
    start = at = keep(reading)
    transitions: list[Transition] = []
    last: Action | None = None
    is_stuck = False
    spacing = Spacing(device.info.density)
    for _ in range(steps):
        size = captures[at].size
        led = None if lead is None else lead.choose(captures[at])
        action = led or choose(
            reading.hierarchy, size, keyboard=reading.state.keyboard, package=app, dice=dice, words=words, memory=memory, last=last,
            is_stuck=is_stuck,
        )  # fmt: skip
        spacing.before(action)
        try:
            device.perform(action)
        except ActionError:
            continue
        spacing.after(action)
        last = action
        before, reading = reading, look(reading.hierarchy)
        points = points_of(action)
        touched = before.hierarchy.hit_test(points[0], "tap", size) if points else None
        hit = (touched.target or touched.node) if touched else _focused(before.hierarchy, action)
        after = keep(reading)
        is_stuck = before.hierarchy == reading.hierarchy
        memory.learn(before.hierarchy, hit, reading.hierarchy, size, app)
        transitions.append(Transition(at, action, after, hit, reading.waited_ms))
        if lead is not None:
            lead.learn(captures[at], action, captures[after])
        at = after
    trace = Trace(f"{kind}-{number}", start, tuple(transitions), "fresh", seed=seed)
    recorded = RecordedApp(app, installed.label, installed.activity)
    return HeldOut(StateGraph(recorded, device.info, captures, (trace,), f"phoneworld fidelity, acting {POLICY}"), pictures)


def rest(device: Device, pace: Pace, before: Hierarchy | None = None, calm: frozenset[str] = frozenset()) -> Reading:
    """The screen at rest after an action that was done just now, and not before the step is over."""

    def settled(before: Hierarchy | None) -> Reading:
        return settle(
            device, timeout_s=min(5.0, pace.busy_timeout_s), quiet_s=pace.quiet_s, unchanged_quiet_s=pace.unchanged_quiet_s,
            busy_timeout_s=pace.busy_timeout_s, before=before, calm=calm,
        )  # fmt: skip

    began = time.monotonic()
    seen = settled(before)
    left = pace.step_s - (time.monotonic() - began)
    if left > 0:
        time.sleep(left)
        seen = settled(None)
    return seen


def joined(graphs: Sequence[StateGraph]) -> StateGraph:
    """The traces of several graphs of `act` in one."""
    captures = {name: capture for graph in graphs for name, capture in graph.captures.items()}
    first = graphs[0]
    return StateGraph(first.app, first.device, captures, tuple(t for g in graphs for t in g.traces), first.source)


def remembered(graphs: Sequence[StateGraph]) -> Memory:
    """What acting remembers of traces that lie behind."""
    memory = Memory()
    for graph in graphs:
        for t in graph.transitions():
            source = graph.captures[t.source]
            memory.learn(source.hierarchy, t.hit, graph.captures[t.target].hierarchy, source.size, graph.app.package)
    return memory


def _notes(reading: Reading) -> tuple[str, ...]:
    return tuple(note for note in reading.notes if note != "no-picture")


def _focused(tree: Hierarchy, action: Action) -> tuple[int, ...] | None:
    """What words typed without a place, and Enter, go to."""
    if not (isinstance(action, TypeText) or action == PressKey("enter")):
        return None
    return next((path for path, node in tree.walk() if node.focused and node.is_editable), None)
