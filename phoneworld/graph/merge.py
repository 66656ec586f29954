"""Several recordings of one app put together. Knows no file."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace

from phoneworld.errors import FileFormatError
from phoneworld.graph.graph import Capture, StateGraph, Trace
from phoneworld.ui.action import Action, CloseApp, OpenApp
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.node import Hierarchy, Node


@dataclass(frozen=True, slots=True)
class Merged:
    """The one graph, and in words what does not go together well."""

    graph: StateGraph
    warnings: tuple[str, ...] = ()


_LONGEST_ID = 128

# What a recording should have in common with the others, and what suffers where it has not.
_COMMON: tuple[tuple[str, Callable[[DeviceInfo], object], str], ...] = (
    ("languages", lambda d: d.locale, "texts will not match across them"),
    ("screen sizes", lambda d: f"{d.size.width}x{d.size.height}", "screens will not match across them"),
    ("densities", lambda d: d.density, "screens will not match across them"),
    ("font scales", lambda d: d.font_scale, "bounds will not match across them"),
    ("themes", lambda d: "dark" if d.night_mode else "light", "pictures will not match across them"),
)


def merge(graphs: Sequence[StateGraph], *, package: str | None = None) -> Merged:
    """All captures and traces of recordings of one app; the app and the device are those of the first.

    With `package` all are taken for recordings of that package, whatever theirs is called (see `renamed_app`). Ids are kept where they are free and get the number of their recording in front where not. Raises FileFormatError for
    no graph, or for graphs of different apps.
    """
    if not graphs:
        raise FileFormatError("expected recordings to put together, found none", hint="name two or more app.graph.json")
    if package:
        graphs = [renamed_app(g, package) for g in graphs]
    packages = list(dict.fromkeys(g.app.package for g in graphs))
    if len(packages) > 1:
        raise FileFormatError(
            f"expected recordings of one app, found {', '.join(packages)}",
            hint="one app under several names (a web app on two ports)? then --as PACKAGE; else one at a time",
        )
    captures: dict[str, Capture] = {}
    traces: list[Trace] = []
    trace_ids: set[str] = set()
    for number, graph in enumerate(graphs, 1):
        names = _free_names(graph.captures, captures, number)
        captures |= {names[name]: replace(capture, id=names[name]) for name, capture in graph.captures.items()}
        for trace in graph.traces:
            renamed = _renamed(trace, names)
            attempt = number
            while renamed.id in trace_ids:
                renamed = replace(renamed, id=f"r{attempt}.{trace.id}"[:_LONGEST_ID])
                attempt += 1
            trace_ids.add(renamed.id)
            traces.append(renamed)
    first = graphs[0]
    merged = replace(first, captures=captures, traces=tuple(traces))
    return Merged(merged, tuple(_differences([g.device for g in graphs])))


def _free_names(wanted: Iterable[str], taken: Container[str], number: int) -> dict[str, str]:
    """A name for each capture that no earlier recording has; a merged recording may hold `r2.c1` already."""
    wanted = list(wanted)
    prefix, attempt = "", number
    while True:
        names = {name: prefix + (name if len(prefix + name) <= _LONGEST_ID else str(i)) for i, name in enumerate(wanted)}
        if len(set(names.values())) == len(wanted) and not any(name in taken for name in names.values()):
            return names
        prefix, attempt = f"r{attempt}.", attempt + 1


def renamed_app(graph: StateGraph, package: str) -> StateGraph:
    """The same recording with its app's package changed everywhere: in widgets, ids, activities and actions.

    Web pages on this machine get a package from their address, so one app on two ports is two packages.
    """
    old = graph.app.package
    if old == package or not package:
        return graph
    if not old:
        return replace(graph, app=replace(graph.app, package=package))
    trees: dict[int, Hierarchy] = {}  # by identity: captures share trees

    def name(text: str, *parts: str) -> str:
        return package + text[len(old) :] if text == old or any(text.startswith(old + part) for part in parts) else text

    def node(n: Node) -> Node:
        return replace(n, package=name(n.package), resource_id=name(n.resource_id, ":"), children=tuple(node(c) for c in n.children))

    def action(a: Action) -> Action:
        match a:
            case OpenApp(app, activity):
                return replace(a, package=name(app), activity=name(activity, "/", "."))
            case CloseApp(app):
                return replace(a, package=name(app))
        return a

    captures = {}
    for key, capture in graph.captures.items():
        tree = trees.get(id(capture.hierarchy))
        if tree is None:
            windows = tuple(node(w) for w in capture.hierarchy.windows)
            tree = trees[id(capture.hierarchy)] = replace(capture.hierarchy, windows=windows)
        state = replace(capture.state, package=name(capture.state.package), activity=name(capture.state.activity, "/", "."))
        captures[key] = replace(capture, hierarchy=tree, state=state)
    traces = tuple(
        replace(
            trace,
            transitions=tuple(replace(t, action=action(t.action)) for t in trace.transitions),
            unfinished=trace.unfinished and replace(trace.unfinished, action=action(trace.unfinished.action)),
        )
        for trace in graph.traces
    )
    app = replace(graph.app, package=package, activity=name(graph.app.activity, "/", "."))
    return replace(graph, app=app, captures=captures, traces=traces)


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
