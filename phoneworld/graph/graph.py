"""Captures, transitions, traces, and the graph that holds them. Knows no file and no compiler.

A `StateGraph` keeps what happened, in order: it is a list of traces over captures. The graph in the mathematical sense is a
view of it (`networkx_view`), under an identity that says which captures are the same screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Path

TreeMode = Literal["full", "compressed"]
StartKind = Literal["fresh", "kept", "unknown"]


@dataclass(frozen=True, slots=True)
class Capture:
    """One moment of the phone: tree, picture, device state, time.

    `id` is unique in its graph. `screenshot` is the SHA-256 of a PNG, None where there is no picture. `size` is the screen
    in pixels as it was rotated then. `time_ms` is Unix time of the recording host, or 0 where unknown. `notes` says what is
    wrong with it: `unsettled`, `stale-picture`, `secure`, `opaque`, ...
    """

    id: str
    hierarchy: Hierarchy
    size: Size
    screenshot: str | None = None
    state: DeviceState = DeviceState()
    time_ms: int = 0
    settled: bool = True
    tree_mode: TreeMode = "full"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """`source`, an action, `target` (capture ids), and how long the screen took to settle.

    `hit` is the path, in the source's tree, of the node that the action was attributed to; None where it hit nothing or
    has no place. `transients` are captures seen on the way (spinners, splashes), oldest first.
    """

    source: str
    action: Action
    target: str
    hit: Path | None = None
    settle_ms: int = 0
    transients: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An action whose outcome was never captured: it may have happened or not. `reason` says why (`interrupted`, `DUMP_NOT_IDLE`, ...)."""

    action: Action
    hit: Path | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """An ordered run of transitions: each starts at the capture at which the one before it ended.

    `start` is the first capture. `start_kind` says whether the app's data had just been cleared (`fresh`) or not (`kept`).
    `unfinished` is what was done after the last transition, where the recording broke off in mid-step.
    """

    id: str
    start: str
    transitions: tuple[Transition, ...] = ()
    start_kind: StartKind = "unknown"
    instruction: str = ""
    seed: int | None = None
    unfinished: Unfinished | None = None

    @property
    def captures(self) -> tuple[str, ...]:
        """The ids from the start on; one more than there are transitions."""
        return (self.start, *(t.target for t in self.transitions))


@dataclass(frozen=True, slots=True)
class RecordedApp:
    """The app that was recorded."""

    package: str
    label: str = ""
    activity: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class StateGraph:
    """The recorded whole of one app. `source` says who recorded it (`phoneworld record`, `droidbot`, ...)."""

    app: RecordedApp
    device: DeviceInfo
    captures: Mapping[str, Capture] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()
    source: str = ""
    created: str = ""

    def transitions(self) -> Iterator[Transition]:
        """All transitions of all traces, in order."""
        return (transition for trace in self.traces for transition in trace.transitions)

    def took_ms(self, transition: Transition) -> int | None:
        """The time from one capture to the next; None where the recording does not tell."""
        before, after = self.captures[transition.source].time_ms, self.captures[transition.target].time_ms
        return after - before if 0 < before < after else None

    def unsettled(self) -> frozenset[str]:
        """The captures that never came to rest, of those that a trace starts or a step ends at. What was seen in passing (`transients`) is none."""
        return frozenset(name for trace in self.traces for name in trace.captures if not self.captures[name].settled)

    def screenshots(self) -> frozenset[str]:
        """The hashes of all pictures that the captures refer to."""
        return frozenset(c.screenshot for c in self.captures.values() if c.screenshot)
