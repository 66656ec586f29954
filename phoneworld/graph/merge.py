"""Several recordings of one app put together. Knows no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from phoneworld.errors import RecordingError
from phoneworld.graph.graph import Capture, StateGraph, Trace
from phoneworld.ui.device_state import DeviceInfo


@dataclass(frozen=True, slots=True)
class Merged:
    """The one graph, and in words what does not go together well."""

    graph: StateGraph
    warnings: tuple[str, ...] = ()


# What a recording should have in common with the others, and what suffers where it has not.
_COMMON: tuple[tuple[str, Callable[[DeviceInfo], object], str], ...] = (
    ("languages", lambda d: d.locale, "texts will not match across them"),
    ("screen sizes", lambda d: f"{d.size.width}x{d.size.height}", "screens will not match across them"),
    ("densities", lambda d: d.density, "screens will not match across them"),
    ("font scales", lambda d: d.font_scale, "bounds will not match across them"),
    ("themes", lambda d: "dark" if d.night_mode else "light", "pictures will not match across them"),
)


def merge(graphs: Sequence[StateGraph]) -> Merged:
    """All captures and traces of recordings of one app; the app and the device are those of the first.

    Ids are kept where they are free and get the number of their recording in front where not. Raises RecordingError for
    no graph, or for graphs of different apps.
    """
    if not graphs:
        raise RecordingError("expected recordings to put together, found none", hint="name two or more app.graph.json")
    packages = list(dict.fromkeys(g.app.package for g in graphs))
    if len(packages) > 1:
        raise RecordingError(
            f"expected recordings of one app, found {', '.join(packages)}", hint="compile each app by itself"
        )
    captures: dict[str, Capture] = {}
    traces: list[Trace] = []
    trace_ids: set[str] = set()
    for number, graph in enumerate(graphs, 1):
        clash = any(name in captures for name in graph.captures)
        names = {name: f"r{number}.{name}" if clash else name for name in graph.captures}
        captures |= {names[name]: replace(capture, id=names[name]) for name, capture in graph.captures.items()}
        for trace in graph.traces:
            renamed = _renamed(trace, names)
            if renamed.id in trace_ids:
                renamed = replace(renamed, id=f"r{number}.{trace.id}")
            trace_ids.add(renamed.id)
            traces.append(renamed)
    first = graphs[0]
    merged = replace(first, captures=captures, traces=tuple(traces))
    return Merged(merged, tuple(_differences([g.device for g in graphs])))


def _renamed(trace: Trace, names: dict[str, str]) -> Trace:
    transitions = tuple(
        replace(t, source=names[t.source], target=names[t.target], transients=tuple(names[n] for n in t.transients))
        for t in trace.transitions
    )
    return replace(trace, start=names[trace.start], transitions=transitions)


def _differences(devices: list[DeviceInfo]) -> list[str]:
    warnings = []
    for what, value_of, harm in _COMMON:
        values = list(dict.fromkeys(str(value_of(d)) for d in devices if value_of(d) != ""))
        if len(values) > 1:
            warnings.append(f"these were recorded with different {what} ({', '.join(values)}): {harm}")
    return warnings
