"""StateGraph to Program: the passes in their order, and a report of what was recovered and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from phoneworld.compiler.counts import find_counts
from phoneworld.compiler.inputs import find_inputs
from phoneworld.compiler.moments import Walk, find_moments
from phoneworld.compiler.platform import keyboard_rules, scroll_rules
from phoneworld.compiler.rules import MOMENT, Edge, find_edges, navigation_rules, recorded_rules
from phoneworld.compiler.screens import Screens, find_screens
from phoneworld.compiler.triggers import trigger_of
from phoneworld.compiler.verify import Replay, replay
from phoneworld.errors import ProgramError
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.program.check import check_program
from phoneworld.program.expr import OneOf
from phoneworld.program.program import Layout, Program, Rule, Screen, Start, Trigger, Variable
from phoneworld.sim.screenful import Screenful
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.geometry import Size

NAMELESS = "unknown.app"
"""The package of an app whose dumps name none; "" would be the launcher."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A widget that takes an action which the recording never tried, on a screen; `label` is the widget's words."""

    screen: str
    node: str
    label: str


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """An action that on one layout led to different layouts, with how often each: something no tree shows decides."""

    layout: str
    on: Trigger
    outcomes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Compilation:
    """The Program and what is to be said about it."""

    program: Program
    replay: Replay
    captures: int
    moments: int
    open_questions: tuple[OpenQuestion, ...]
    ambiguities: tuple[Ambiguity, ...]
    unsettled: int

    def rules_by_evidence(self) -> dict[str, int]:
        return dict(Counter(r.evidence.kind for r in self.program.rules))


def compile_graph(graph: StateGraph, pixels: Mapping[str, bytes] | None = None) -> Compilation:
    """Compiles a recording. Pure; the same graph and pixels give the same Program.

    `pixels` maps screenshot hashes to PNG bytes; where it lacks one, screens are told apart by their trees alone. Raises
    ProgramError where there is nothing to compile.
    """
    if not graph.captures:
        raise ProgramError("the recording holds no capture", hint="record or import at least one screen")
    found = find_screens(graph, pixels or {})
    layouts = {lay.id: lay for screen in found.screens.values() for lay in screen.layouts}
    screen_of_layout = {lay.id: s.id for s in found.screens.values() for lay in s.layouts}
    screenfuls = {lay.id: Screenful(found.screens[screen_of_layout[lay.id]], lay) for lay in layouts.values()}

    walks, settle_ms = _walks(graph, found, screenfuls)
    moments = find_moments(walks)
    edges = find_edges(walks, moments, settle_ms)
    screen_of = {m: screen_of_layout[lay] for m, lay in moments.layout.items()}
    layout_of = {m: layouts[lay] for m, lay in moments.layout.items()}
    own = frozenset(s.id for s in found.screens.values() if s.package == graph.app.package)

    returned, back = _returned(walks, layouts, screen_of_layout)
    inputs = find_inputs(edges, screen_of, layout_of)
    rules: tuple[Rule, ...] = (
        *recorded_rules(edges, screen_of, returned),
        *inputs.rules,
        *navigation_rules(edges, screen_of, own, returned, back),
        *keyboard_rules(edges, screen_of, layout_of),
        *scroll_rules(edges, screen_of),
    )
    when: dict[str, list[int]] = {}
    for moment, layout in moments.layout.items():
        when.setdefault(layout, []).append(moment)
    screens = find_counts({s.id: replace(s, layouts=_guarded(s.layouts, inputs.layouts, when)) for s in found.screens.values()})
    starts = {
        walk.trace: Start(screen_of[moments.of[walk.trace][0]], ((MOMENT, moments.of[walk.trace][0]),)) for walk in walks
    }
    first = next(iter(starts.values()))
    program = Program(
        package=graph.app.package or NAMELESS,
        label=graph.app.label or graph.app.package or NAMELESS,
        activity=graph.app.activity,
        device=_device(graph, walks[0].trace),
        screens=screens,
        starts=starts,
        variables={
            MOMENT: Variable(MOMENT, first.variables[0][1], ()),
            **{v.name: v for v in inputs.variables},
        },
        rules=rules,
        clock_ms=next((c.state.clock_ms or c.time_ms for c in graph.captures.values()), 0),
    )
    check_program(program)
    return Compilation(
        program=program,
        replay=replay(program, graph),
        captures=len(graph.captures),
        moments=len(moments.layout),
        open_questions=_untried(screens, screenfuls, edges, screen_of, own),
        ambiguities=_ambiguities(walks),
        unsettled=sum(1 for c in graph.captures.values() if not c.settled),
    )


def _walks(graph: StateGraph, found: Screens, screenfuls: Mapping[str, Screenful]) -> tuple[list[Walk], dict[str, int]]:
    """The traces as layouts and triggers; captures outside any trace are walks of one."""
    walks: list[Walk] = []
    settle_ms: dict[str, int] = {}
    seen: set[str] = set()
    for trace in sorted(graph.traces, key=lambda t: t.start_kind != "fresh"):
        layouts, triggers = [found.sightings[trace.start].layout], []
        for transition in trace.transitions:
            trigger = trigger_of(screenfuls[layouts[-1]], transition.action)
            target = found.sightings[transition.target].layout
            triggers.append(trigger or Trigger("wait", "", "0"))
            settle_ms[f"{trace.id}:{len(triggers) - 1}"] = transition.settle_ms
            layouts.append(target)
        seen.update(trace.captures)
        walks.append(Walk(trace.id, tuple(layouts), tuple(triggers)))
    names = {walk.trace for walk in walks}
    for capture in graph.captures.values():
        if capture.id not in seen and not any(capture.id in t.transients for t in graph.transitions()):
            name = capture.id if capture.id not in names else f"capture {capture.id}"
            walks.append(Walk(name, (found.sightings[capture.id].layout,), ()))
    return walks, settle_ms


def _returned(
    walks: list[Walk], layouts: Mapping[str, Layout], screen_of: Mapping[str, str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The steps (`trace:index`) that came back to a screen of the trace without bringing words that were typed meanwhile.

    And those that went to a screen below on the back stack, with such words or without.
    """
    words = {name: frozenset(n.label for n in lay.hierarchy.nodes() if n.label) for name, lay in layouts.items()}
    steps: list[str] = []
    back: list[str] = []
    for walk in walks:
        left: dict[str, int] = {}
        stack = [screen_of[walk.layouts[0]]]
        for i, (source, target) in enumerate(zip(walk.layouts[:-1], walk.layouts[1:], strict=True)):
            left[screen_of[source]] = i
            arrived = screen_of[target]
            if arrived in stack[:-1]:
                back.append(f"{walk.trace}:{i}")
            stack = stack[: stack.index(arrived) + 1] if arrived in stack else [*stack, arrived]
            since = left.get(screen_of[target])
            if since is None or screen_of[target] == screen_of[source]:
                continue
            typed = [t.argument for t in walk.triggers[since : i + 1] if t.kind == "type" and t.argument]
            fresh = words[target] - words[walk.layouts[since]]
            if not any(word in label for label in fresh for word in typed):
                steps.append(f"{walk.trace}:{i}")
    return frozenset(steps), frozenset(back)


def _guarded(layouts: tuple[Layout, ...], bound: Mapping[str, Layout], when: Mapping[str, list[int]]) -> tuple[Layout, ...]:
    return tuple(
        replace(lay, when=OneOf(MOMENT, tuple(when.get(lay.id, ()))), bindings=bound[lay.id].bindings if lay.id in bound else ())
        for lay in layouts
    )


def _device(graph: StateGraph, trace: str) -> DeviceInfo:
    """The phone that was recorded; its size from the first capture where the recording does not say."""
    device = graph.device
    if device.size.width > 0 and device.size.height > 0:
        return device
    starts = {t.id: t.start for t in graph.traces}
    first: Capture = graph.captures[starts[trace]] if trace in starts else next(iter(graph.captures.values()))
    return replace(device, size=Size(first.size.width, first.size.height))


def _untried(
    screens: Mapping[str, Screen], screenfuls: Mapping[str, Screenful], edges: tuple[Edge, ...], screen_of: Mapping[int, str], own: frozenset[str]
) -> tuple[OpenQuestion, ...]:
    tried = {(screen_of[e.source], e.on.node) for e in edges}
    questions: dict[tuple[str, str], OpenQuestion] = {}
    for screen in screens.values():
        if screen.id not in own:
            continue
        for layout in screen.layouts:
            screenful = screenfuls[layout.id]
            for path, node in layout.hierarchy.walk():
                key = screenful.keys[path]
                if node.takes("tap") and not node.is_editable and (screen.id, key) not in tried and layout.hierarchy.is_visible(path, layout.size):
                    label = node.label or next((n.label for n in node.children if n.label), "")
                    questions.setdefault((screen.id, key), OpenQuestion(screen.id, key, label))
    return tuple(questions.values())


def _ambiguities(walks: list[Walk]) -> tuple[Ambiguity, ...]:
    outcomes: dict[tuple[str, Trigger], Counter[str]] = {}
    for walk in walks:
        for i, trigger in enumerate(walk.triggers):
            outcomes.setdefault((walk.layouts[i], trigger), Counter())[walk.layouts[i + 1]] += 1
    return tuple(
        Ambiguity(layout, trigger, tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))
        for (layout, trigger), counts in outcomes.items()
        if len(counts) > 1
    )
