"""Recordings of small apps written by hand: what an app shows, and what it becomes by an action, is all that is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy
from recorder.attribute import attribute

SIZE = Size(400, 800)


class App(Protocol):
    def tree(self) -> Hierarchy: ...

    def act(self, action: Action) -> Self: ...


def record(first: App, *scripts: Sequence[Action], package: str) -> StateGraph:
    """One trace a script, each from `first`; what is seen after each action is a capture."""
    captures: dict[str, Capture] = {}
    traces: list[Trace] = []

    def keep(app: App) -> str:
        name = f"c{len(captures)}"
        captures[name] = Capture(name, app.tree(), SIZE, None, DeviceState(package=package, activity=".Main"))
        return name

    for number, script in enumerate(scripts, 1):
        app, steps = first, []
        here = start = keep(app)
        for action in script:
            hit = attribute(app.tree(), action, SIZE)
            app = app.act(action)
            steps.append(Transition(here, action, there := keep(app), hit, 300))
            here = there
        traces.append(Trace(f"t{number}", start, tuple(steps), "fresh"))
    label = package.rpartition(".")[2].title()
    return StateGraph(RecordedApp(package, label, ".Main"), DeviceInfo(SIZE, 160), captures, tuple(traces))
