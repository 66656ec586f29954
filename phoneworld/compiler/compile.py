"""StateGraph to Program: the passes in their order, and a report of what was recovered and what was not."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from phoneworld.compiler.arrangement import find_placements, sample_of
from phoneworld.compiler.assemble import (
    free_columns,
    general_rules,
    kept_rows,
    recorded_steps,
    tables_of,
    template_of,
    timers_of,
    variables_of,
)
from phoneworld.compiler.history import Deed, Sight, lone_captures
from phoneworld.compiler.learning import Lesson, infer
from phoneworld.compiler.moments import MOMENT, Walk, find_moments
from phoneworld.compiler.screens import Screens, find_screens
from phoneworld.compiler.scrolling import Swiped, find_scrolling, find_swipes, with_position, with_positions
from phoneworld.compiler.template import plain, restored
from phoneworld.compiler.verify import Replay, replay
from phoneworld.errors import ProgramError
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.program.check import check_program
from phoneworld.program.expr import OneOf, same_value
from phoneworld.program.program import Layout, Program, Screen, Start, Table, Trigger, Variable
from phoneworld.program.template import ROW_ID, Slot
from phoneworld.ui.action import Action, Swipe
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
    exceptions: frozenset[str]
    """The recorded steps (`trace:index`) that the general rules alone do not tell right."""
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
    screen_of_layout = {lay.id: s.id for s in found.screens.values() for lay in s.layouts}
    lesson = infer(graph, {s.id: [c for lay in s.layouts for c in lay.captures] for s in found.screens.values()})
    history, derived = lesson.history, lesson.derived

    walks = _walks(graph, found, lesson)
    moments = find_moments(walks)
    when: dict[str, list[int]] = {}
    for moment, look in moments.layout.items():
        when.setdefault(_layout_of(look), []).append(moment)
    swipes = find_swipes(graph, history.deeds)
    screens = {
        s.id: _drawn(replace(s, layouts=_guarded(s.layouts, when)), graph, lesson, swipes)
        for s in found.screens.values()
    }
    recorded = recorded_steps(history, derived, lesson.learned, lesson.stacks, moments.of, lesson.passings)
    variables = {
        MOMENT: Variable(MOMENT, moments.of[walks[0].trace][0]),
        **variables_of(history, derived, lesson.beliefs.initial),
    }
    tables = tables_of(history, derived)
    program = Program(
        package=graph.app.package or NAMELESS,
        label=graph.app.label or graph.app.package or NAMELESS,
        activity=graph.app.activity,
        device=_device(graph, walks[0].trace),
        screens=screens,
        starts={
            w.trace: _start(
                w, moments.of[w.trace][0], screen_of_layout[_layout_of(w.layouts[0])], lesson, variables, tables
            )
            for w in walks
        },
        variables=variables,
        tables=tables,
        rules=(
            *with_positions(recorded.rules, screens, moments.layout, swipes),
            *general_rules(history, lesson.learned, lesson.passings),
        ),
        timers=timers_of(lesson.passings),
        step_ms=_pace(graph),
        clock_ms=next((c.state.clock_ms or c.time_ms for c in graph.captures.values()), 0),
    )
    starts = {w.trace: with_position(program.starts[w.trace], screens, w.layouts[0]) for w in walks}
    program = replace(program, starts=starts)
    check_program(program)
    replayed = replay(program, graph)
    wrong = _not_shown(graph, replayed, found, lesson)
    if wrong:
        program = _held(program, wrong, lesson, when, recorded.states)
        replayed = replay(program, graph)
    return Compilation(
        program=program,
        replay=replayed,
        captures=len(graph.captures),
        moments=len(moments.layout),
        open_questions=_untried(screens, lesson, graph.app.package),
        ambiguities=_ambiguities(walks),
        exceptions=recorded.exceptions,
        unsettled=len(graph.unsettled()),
    )


def _pace(graph: StateGraph) -> int:
    """How long a step of the recording lasted; a second where it does not tell."""
    times = [ms for t in graph.transitions() if (ms := graph.took_ms(t)) is not None]
    return median_low(times) if times else _STEP_MS


_STEP_MS = 1000


def _not_shown(graph: StateGraph, replayed: Replay, found: Screens, lesson: Lesson) -> frozenset[str]:
    """The layouts that the templates do not show as they were recorded."""
    traces = {t.id: t.captures for t in graph.traces}
    wrong = {found.sightings[traces[s.trace][s.index + 1]].layout for s in replayed.faults}
    for capture in lone_captures(graph).values():
        screen, content = lesson.history.content[capture]
        if restored(lesson.history.patterns[screen], content) != plain(graph.captures[capture].hierarchy):
            wrong.add(found.sightings[capture].layout)
    return frozenset(wrong)


def _held(
    program: Program, wrong: frozenset[str], lesson: Lesson, when: Mapping[str, list[int]], states: Mapping[int, Sight]
) -> Program:
    """The Program with some of its layouts held as they are, once for each set of rows that they were seen with."""

    def held(layout: Layout) -> Iterator[Layout]:
        if layout.id not in wrong:
            yield layout
            return
        screen, content = lesson.history.content[layout.captures[0]]
        tables = {p.key: t for t, row in lesson.history.patterns[screen].tables.items() for p in row.walk()}
        kinds: dict[tuple[tuple[str, int | None], ...], list[int]] = {}
        for moment in when.get(layout.id, ()):
            shown = states[moment].shown
            slots: list[tuple[str, int | None]] = []
            for path, _ in layout.hierarchy.walk():
                key, at = content.places[path]
                slots.append((key, None if at is None else shown[tables[key]][at]))
            kinds.setdefault(tuple(slots), []).append(moment)
        for number, (names, moments) in enumerate(kinds.items()):
            own = layout.id if number == 0 else f"{layout.id}.{number}"
            yield replace(layout, id=own, when=OneOf(MOMENT, tuple(moments)), slots=names)

    return replace(
        program,
        screens={
            s.id: replace(s, layouts=tuple(h for lay in s.layouts for h in held(lay))) for s in program.screens.values()
        },
    )


def _drawn(screen: Screen, graph: StateGraph, lesson: Lesson, swipes: Sequence[Swiped]) -> Screen:
    """The screen with its template, and where each of its layouts is scrolled to."""
    first, history = screen.layouts[0], lesson.history
    captures = [graph.captures[c] for lay in screen.layouts for c in lay.captures if lay.size == first.size]
    samples = {c.id: sample_of(c, history.content[c.id][1].places, graph.device.density) for c in captures}
    found = find_scrolling(find_placements(list(samples.values())), samples, swipes, graph.device.density)
    template = template_of(
        screen.id, history, lesson.derived, first.size, first.state, found.placement, first.hierarchy.rotation
    )
    layouts = tuple(replace(lay, scroll=found.positions.get(lay.captures[0], 0)) for lay in screen.layouts)
    return replace(screen, layouts=layouts, template=replace(template, scrolling=found.scrolling))


def _walks(graph: StateGraph, found: Screens, lesson: Lesson) -> list[Walk]:
    """The traces as layouts and triggers; captures outside any trace are walks of one."""
    deeds = {(d.trace, d.index): d for d in lesson.history.deeds}
    walks: list[Walk] = []
    for trace in sorted(graph.traces, key=lambda t: t.start_kind != "fresh"):
        layouts, triggers = [_look(found, lesson, trace.start, lesson.history.starts[trace.id])], []
        for index, transition in enumerate(trace.transitions):
            deed = deeds.get((trace.id, index))
            triggers.append(_trigger(deed, transition.action) if deed is not None else Trigger("wait", "", "0"))
            layouts.append(_look(found, lesson, transition.target, deed.after if deed is not None else None))
        walks.append(Walk(trace.id, tuple(layouts), tuple(triggers)))
    walks += (
        Walk(name, (_look(found, lesson, c, lesson.history.starts[name]),), ())
        for name, c in lone_captures(graph).items()
    )
    return walks


def _look(found: Screens, lesson: Lesson, capture: str, sight: Sight | None) -> str:
    """What must agree for two states to be one: the layout, and all that is known of what it does not show."""
    layout = found.sightings[capture].layout
    if sight is None:
        return layout
    kept = sorted((n, v) for n, v in sight.variables.items() if n not in lesson.derived.variables)
    columns = {t: free_columns(lesson.history, lesson.derived, t) for t in sight.tables}
    rows = sorted((t, kept_rows(rs, (ROW_ID, *columns[t]))) for t, rs in sight.tables.items())
    return f"{layout} {hashlib.sha256(repr((kept, rows)).encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"


def _layout_of(look: str) -> str:
    """The layout of a look: see `_look`."""
    return look.partition(" ")[0]


def _trigger(deed: Deed, action: Action) -> Trigger:
    """What tells a step from others at the same moment: the slot with its row, the words typed, the way of the finger."""
    if isinstance(action, Swipe):
        return Trigger(deed.aim.kind, deed.aim.slot, str(action.y2 - action.y))
    row = deed.acted.get(ROW_ID)
    typed = deed.aim.typed if deed.aim.kind == "type" else None
    return Trigger(
        deed.aim.kind, deed.aim.slot if row is None else f"{deed.aim.slot}#{row}", typed or deed.aim.argument
    )


def _start(
    walk: Walk, moment: int, screen: str, lesson: Lesson, variables: Mapping[str, Variable], tables: Mapping[str, Table]
) -> Start:
    """A start: the state in which a trace begins, as far as it differs from the Program's own."""
    sight = lesson.history.starts.get(walk.trace)
    if sight is None:
        return Start(screen, ((MOMENT, moment),))
    values = [
        (n, v) for n, v in sorted(sight.variables.items()) if n in variables and not same_value(variables[n].initial, v)
    ]
    rows = [
        (name, kept_rows(sight.tables[name], table.columns))
        for name, table in tables.items()
        if name in sight.tables and kept_rows(sight.tables[name], table.columns) != table.rows
    ]
    return Start(screen, ((MOMENT, moment), *values), tuple(rows))


def _guarded(layouts: tuple[Layout, ...], when: Mapping[str, list[int]]) -> tuple[Layout, ...]:
    return tuple(replace(lay, when=OneOf(MOMENT, tuple(when.get(lay.id, ())))) for lay in layouts)


def _device(graph: StateGraph, trace: str) -> DeviceInfo:
    """The phone that was recorded; its size from the first capture where the recording does not say."""
    device = graph.device
    if device.size.width > 0 and device.size.height > 0:
        return device
    starts = {t.id: t.start for t in graph.traces}
    first: Capture = graph.captures[starts[trace]] if trace in starts else next(iter(graph.captures.values()))
    return replace(device, size=Size(first.size.width, first.size.height))


def _untried(screens: Mapping[str, Screen], lesson: Lesson, package: str) -> tuple[OpenQuestion, ...]:
    """What takes a tap on the app's own screens and never got one."""
    tried = {(deed.before.screen, deed.aim.slot) for deed in lesson.history.deeds}
    questions: list[OpenQuestion] = []
    for screen in screens.values():
        if screen.package != package or screen.template is None:
            continue
        for slot, _ in screen.template.slots():
            if slot.node.takes("tap") and not slot.node.is_editable and (screen.id, slot.key) not in tried:
                label = slot.node.label or next(
                    (c.node.label for c in slot.children if isinstance(c, Slot) and c.node.label), ""
                )
                questions.append(OpenQuestion(screen.id, slot.key, label))
    return tuple(questions)


def _ambiguities(walks: list[Walk]) -> tuple[Ambiguity, ...]:
    outcomes: dict[tuple[str, Trigger], Counter[str]] = {}
    for walk in walks:
        for i, trigger in enumerate(walk.triggers):
            outcomes.setdefault((walk.layouts[i], trigger), Counter())[_layout_of(walk.layouts[i + 1])] += 1
    return tuple(
        Ambiguity(_layout_of(look), trigger, tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))
        for (look, trigger), counts in outcomes.items()
        if len(counts) > 1
    )
