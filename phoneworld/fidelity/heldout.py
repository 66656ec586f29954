"""Held-out traces: random acting on the real app, written as an ordinary graph. Knows no mock.

Each trace starts fresh. What is done is drawn at random over what can be acted on, typing included, with words and a seed that
no recording uses. Equal arguments choose equally on equal screens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from phoneworld.device.device import Device
from phoneworld.device.settle import Reading, settle
from phoneworld.errors import ActionError, DeviceNotFound
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.ui.action import Action, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, points_of
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

_FIRST = ("quiet", "purple", "seven", "wooden", "early", "round", "Nordic", "plain", "urgent", "salty", "tall", "blue")
_SECOND = ("harbour", "teapots", "ladder", "Monday", "receipt", "violin", "compass", "parcel", "garden", "signal", "cabin", "mirror")
_BLANK_SHARE = 0.06


@dataclass(slots=True)
class HeldOut:
    """What was collected: the graph, and its pictures by hash."""

    graph: StateGraph
    pictures: dict[str, bytes] = field(default_factory=dict)


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
    installed = next((a for a in device.apps() if a.package == app), None)
    if installed is None:
        raise DeviceNotFound(f"no app {app!r} on {device.serial}", hint="`phoneworld devices` and `--app PACKAGE`")
    captures: dict[str, Capture] = {}
    pictures: dict[str, bytes] = {}

    def keep(reading: Reading) -> str:
        name = f"h{len(captures) + 1}"
        sha = hashlib.sha256(reading.screenshot).hexdigest() if reading.screenshot else None
        if sha:
            pictures[sha] = reading.screenshot
        captures[name] = Capture(name, reading.hierarchy, reading.size, sha, reading.state, 0, reading.settled)
        return name

    done = []
    for number in range(traces):
        if ready is not None:
            ready()
        dice = Random(f"held out:{seed}:{number}")
        device.clear_app(app)
        device.perform(OpenApp(app))
        reading = settle(device)
        start = at = keep(reading)
        transitions: list[Transition] = []
        for _ in range(steps):
            action = choose(reading.hierarchy, reading.size, keyboard=reading.state.keyboard, package=app, dice=dice)
            try:
                device.perform(action)
            except ActionError:
                continue
            before, reading = reading, settle(device, before=reading.hierarchy)
            points = points_of(action)
            hit = before.hierarchy.hit_test(points[0], "tap", before.size) if points else None
            after = keep(reading)
            transitions.append(Transition(at, action, after, (hit.target or hit.node) if hit else None, reading.waited_ms))
            at = after
        done.append(Trace(f"held-{number + 1}", start, tuple(transitions), "fresh", seed=seed))
        if on_trace is not None:
            on_trace(number + 1)
    recorded = RecordedApp(app, installed.label, installed.activity)
    return HeldOut(StateGraph(recorded, device.info, captures, tuple(done), "phoneworld fidelity"), pictures)


def choose(tree: Hierarchy, size: Size, *, keyboard: bool, package: str, dice: Random) -> Action:
    """What to do next: mostly a tap on something that takes one, words where a field has the focus, now and then Back."""
    nodes = [(path, node) for path, node in tree.walk() if tree.is_visible(path, size)]
    if not any(node.package == package for _, node in nodes):
        return OpenApp(package)
    focused = next((node for _, node in nodes if node.focused and node.is_editable), None)
    if focused is not None and keyboard and dice.random() < 0.5:
        return _typing(focused, dice)
    chance = dice.random()
    if chance < 0.07:
        return PressKey("back")
    scrollers = [node for _, node in nodes if node.scrollable]
    if chance < 0.13 and scrollers:
        return _swipe(dice.choice(scrollers).bounds.intersect(size.bounds), dice)
    taps = [(node, point) for path, node in nodes if (point := _touchable(tree, path, size)) is not None]
    if not taps:
        return PressKey("back")
    # Each kind of widget has the same chance, so that a long list does not drown the rest.
    kinds: dict[tuple[str, str], list[int]] = {}
    for i, (node, _) in enumerate(taps):
        kinds.setdefault((node.class_name, node.resource_id or node.class_name), []).append(i)
    node, point = taps[dice.choice(kinds[dice.choice(sorted(kinds))])]
    if node.long_clickable and dice.random() < 0.15:
        return LongPress(*point)
    return Tap(*point)


def _touchable(tree: Hierarchy, path: tuple[int, ...], size: Size) -> tuple[int, int] | None:
    """A pixel at which a tap really lands on the node, or None."""
    if not tree.at(path).takes("tap"):
        return None
    point = tree.tap_point(path, size)
    if point is None:
        return None
    hit = tree.hit_test(point, "tap", size)
    return (point.x, point.y) if hit is not None and hit.target == path else None


def _typing(field_: Node, dice: Random) -> Action:
    chance = dice.random()
    if chance < 0.35 and field_.value:
        return PressKey("enter")
    if chance < 0.35 + _BLANK_SHARE:
        return TypeText(" ")
    words = f"{dice.choice(_FIRST)} {dice.choice(_SECOND)}" if dice.random() < 0.8 else dice.choice(_SECOND)
    hint = (field_.hint or field_.label).casefold()
    if any(word in hint for word in ("amount", "number", "price", "quantity", "phone", "zip")):
        words = str(dice.randrange(1, 400))
    return TypeText(words, mode="replace" if field_.value and dice.random() < 0.4 else "append")


def _swipe(area: Bounds, dice: Random) -> Action:
    x, y = area.center.x, area.center.y
    reach = max(1, area.height // 4)
    up = dice.random() < 0.65
    start, end = (y + reach, y - reach) if up else (y - reach, y + reach)
    return Swipe(x, start, x, end, 400)


def renamed(graph: StateGraph, package: str) -> StateGraph:
    """The graph of an app that had another package when it was recorded (a web page on another port)."""
    return replace(graph, app=replace(graph.app, package=package))
