"""What a recording leaves open, as questions with the way there: which actions to record to settle most with fewest steps. Pure.

A kind of action on a screen is known as far as it was done, and in the circumstances in which it was done. How much a question
would settle is how often a user at random does such a thing, times how likely its outcome is not known yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from phoneworld.compiler.compile import Compilation
from phoneworld.compiler.history import OWNER, is_hidden, screen_of
from phoneworld.compiler.reveals import Reveals, find_switches, recorded_step, usual_submit
from phoneworld.graph.graph import StateGraph, Trace
from phoneworld.graph.plan import Kind, Plan, Question, Start, Step, target_of
from phoneworld.graph.situation import (
    ON_THE_ROW,
    Scene,
    Sketch,
    bare_name,
    circumstances,
    deed_of,
    marks,
    scene_of,
    words_of,
)
from phoneworld.program.template import Rows, Slot, Template
from phoneworld.ui.action import Action, CloseApp, LongPress, PressKey, Tap, TypeText
from phoneworld.ui.node import Gesture, Path

MOST = 40
_LONGEST_START = 25
_MOST_OF_A_KIND = 2
"""Questions about one kind of action on one screen in one plan: what the first ones tell is not known yet."""
# How often a user at random does a thing that can be done, next to a tap on one kind of widget.
_TYPE, _ENTER, _BACK, _CLOSE, _LONG_PRESS, _BLANK, _HAS_FOCUS = 4.0, 3.0, 1.0, 0.3, 0.15, 0.1, 0.15
# How likely the outcome is not known: of a kind of action never done, and of one in circumstances it was never done in.
_NEW, _ELSEWHERE = 1.0, 0.2
# What leads out of the app is rarely done, and costs steps to come back from.
_WAY_OUT, _WAY_BACK = 0.05, 2
_WORTH = 0.5
"""What was done already is asked where a step settles this part of what one at random does."""
_SAMPLE = "new words"
_LONGEST_WORDS = 40


@dataclass(frozen=True, slots=True)
class _Option:
    """One thing that can be done at a capture: how, to what, and how often a user does so."""

    deed: str
    action: Action
    path: Path | None
    weight: float
    given: frozenset[str]
    is_fresh: bool = False


@dataclass(slots=True)
class _Known:
    """How often each kind of action was done, in all and in each circumstance, and how often it was not explained."""

    deeds: Counter[tuple[str, str]] = field(default_factory=Counter)
    given: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: Counter[tuple[str, str]] = field(default_factory=Counter)
    open_ends: set[tuple[str, str]] = field(default_factory=set)
    use: dict[tuple[str, str], float] = field(default_factory=dict)
    use_given: dict[tuple[str, str, str], float] = field(default_factory=dict)
    opening: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The kinds of action that open a row's own screen: that screen."""
    opened: dict[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    """How often each row's own screen was opened, from whatever list and by whatever of it was touched, and how often a user does so."""

    def was_seen(self, deed: tuple[str, str], given: str) -> bool:
        if given.startswith(ON_THE_ROW):
            return self.opened[self.opening[deed], given][0] > 0
        return self.given[(*deed, given)] > 0


def find_questions(graph: StateGraph, compiled: Compilation, *, most: int = MOST) -> Plan:
    """The questions that a recording leaves open, those first that settle most per action. Deterministic.

    Linear in captures and in what can be done on each.
    """
    sketches = _sketches(graph, compiled)
    screen_at = {c: s.id for s in compiled.program.screens.values() for lay in s.layouts for c in lay.captures}
    package = graph.app.package
    scenes = {name: scene_of(capture, sketches[screen_at[name]]) for name, capture in graph.captures.items() if name in screen_at}
    ways_out = _ways_out(graph, scenes, package)
    opening = _opening(graph, compiled, scenes)
    options = {
        name: tuple(_options(scene, package, ways_out, opening)) for name, scene in scenes.items() if scene.sketch.package == package
    }
    known = _known(graph, compiled, scenes, options, opening)
    by_chance = _gain_by_chance(known)
    reveals = Reveals(usual_submit(graph, scenes), find_switches(compiled, scenes))
    best: dict[tuple[str, str, frozenset[str]], Question] = {}
    for trace in graph.traces:
        if trace.start_kind == "kept":
            continue  # what was there before it began is not known
        hiding: dict[str, Step] = {}
        for index, name in enumerate(trace.captures[: _LONGEST_START + 1]):
            if index:
                reveals.follow(hiding, scenes, trace.transitions[index - 1])
            if name not in options:
                continue
            scene = scenes[name]
            for option in options[name]:
                reveal = reveals.after(scene, option.action, option.deed, hiding.get(scene.sketch.id), package)
                key, question = _question(scene, option, known, trace, index, reveal)
                is_way_out = (scene.sketch.id, option.deed) in ways_out
                worth = question.gain / (len(question.act) + len(reveal) + is_way_out * _WAY_BACK)
                is_new = not known.deeds[scene.sketch.id, option.deed]
                if question.gain > 0 and (is_new or worth > by_chance * _WORTH) and (key not in best or _rate(question) > _rate(best[key])):
                    best[key] = question
    chosen = _ranked(best, most)
    with_starts = [_started(n, q, graph, scenes) for n, q in enumerate(chosen, 1)]
    return Plan(package, tuple(sketches.values()), tuple(with_starts))


def _rate(question: Question) -> float:
    return question.gain / (question.cost + int(question.id))


def _gain_by_chance(known: _Known) -> float:
    """What a step at random settles."""
    return sum(use * use * (_NEW / (1 + known.deeds[d]) + known.wrong[d] / max(1, known.deeds[d])) for d, use in known.use.items())


def _ranked(best: Mapping[tuple[str, str, frozenset[str]], Question], most: int) -> list[Question]:
    taken: Counter[tuple[str, str]] = Counter()
    chosen: list[Question] = []
    for (screen, deed, given), question in sorted(best.items(), key=lambda item: (-_rate(item[1]), item[0][0], item[0][1], sorted(item[0][2]))):
        row = next((a for a in given if a.startswith(ON_THE_ROW)), "")
        if taken[screen, row or deed] < (1 if row else _MOST_OF_A_KIND) and len(chosen) < most:
            taken[screen, row or deed] += 1
            chosen.append(question)
    return chosen


def _started(number: int, question: Question, graph: StateGraph, scenes: Mapping[str, Scene]) -> Question:
    """The question with the steps that lead to it. Until then its id is their number."""
    trace = next(t for t in graph.traces if t.id == question.start.trace)
    steps = tuple(recorded_step(scenes, t) for t in trace.transitions[: int(question.id)])
    return replace(question, id=f"q{number}", start=Start(trace.id, steps))


# ---- what a question is


def _question(
    scene: Scene, option: _Option, known: _Known, trace: Trace, index: int, reveal: tuple[Step, ...]
) -> tuple[tuple[str, str, frozenset[str]], Question]:
    sketch = scene.sketch
    deed = (sketch.id, option.deed)
    done = known.deeds[deed]
    missing = frozenset(a for a in option.given if not known.was_seen(deed, a)) if done else frozenset[str]()
    gain = known.use[deed] * _NEW / (1 + done)
    for a in missing:
        gain += known.opened[known.opening[deed], a][1] * _NEW if a.startswith(ON_THE_ROW) else known.use_given[(*deed, a)] * _ELSEWHERE
    if done:
        gain += known.use[deed] * known.wrong[deed] / done
    kind, why = _reason(option, done, known.wrong[deed], deed in known.open_ends, missing, sketch)
    target = None if option.path is None else target_of(scene, option.path)
    act = (Step(option.action, target, sketch.id, option.is_fresh),)
    question = Question(str(index), kind, why, sketch.id, option.deed, target, missing, Start(trace.id), act, reveal, gain)
    return (sketch.id, option.deed, missing), question


def _reason(option: _Option, done: int, wrong: int, is_open: bool, missing: frozenset[str], sketch: Sketch) -> tuple[Kind, str]:
    what = f"{option.deed} on {sketch.name!r}"
    if not done:
        match option.action:
            case PressKey("back"):
                return "back", f"where Back leads from {sketch.name!r} is not known"
            case TypeText():
                return "text", f"never done: {what}"
            case CloseApp():
                return "return", f"what is left of {sketch.name!r} after the app was closed is not known"
        return "untried", f"never done: {what}"
    times = "once" if done == 1 else f"{done} times"
    if row := next((a for a in missing if a.startswith(ON_THE_ROW)), ""):
        return "row", f"what is shown of it is not known: {what}, {row}"
    if missing:
        return "circumstance", f"done {times}, never so: {what}, {words_of(missing)}"
    if wrong:
        return "exception", f"done {times}, of which the rules explain {wrong} by exceptions only: {what}"
    if is_open:
        return "ambiguous", f"done {times} with different outcomes from one screen: {what}"
    return "seldom", f"done {times} only: {what}"


# ---- what is known


def _known(
    graph: StateGraph,
    compiled: Compilation,
    scenes: Mapping[str, Scene],
    options: Mapping[str, tuple[_Option, ...]],
    opening: Mapping[tuple[str, str], str],
) -> _Known:
    known = _Known(opening=opening)
    open_ends = {(a.layout, a.on.kind) for a in compiled.ambiguities}
    layout_of = {c: lay.id for s in compiled.program.screens.values() for lay in s.layouts for c in lay.captures}
    for trace in graph.traces:
        for index, t in enumerate(trace.transitions):
            if (scene := scenes.get(t.source)) is None:
                continue
            deed = (scene.sketch.id, deed_of(scene, t.action, t.hit))
            known.deeds[deed] += 1
            known.wrong[deed] += f"{trace.id}:{index}" in compiled.exceptions
            if (layout_of[t.source], deed[1].partition(" ")[0]) in open_ends:
                known.open_ends.add(deed)
            for atom in circumstances(scene, t.hit):
                known.given[(*deed, atom)] += 1
    shown = [name for trace in graph.traces for name in trace.captures if name in options]
    for name in shown:
        screen = scenes[name].sketch.id
        whole = sum({o.deed: o.weight for o in options[name]}.values()) * len(shown)
        alike = Counter(o.deed for o in options[name])
        for option in options[name]:
            share = option.weight / alike[option.deed] / whole
            known.use[screen, option.deed] = known.use.get((screen, option.deed), 0.0) + share
            for atom in option.given:
                often = share * _BLANK if "blank" in atom else share
                known.use_given[screen, option.deed, atom] = known.use_given.get((screen, option.deed, atom), 0.0) + often
    for (screen, what, atom), use in known.use_given.items():
        if atom.startswith(ON_THE_ROW):
            row = (opening[screen, what], atom)
            times, often = known.opened.get(row, (0, 0.0))
            known.opened[row] = times + known.given[screen, what, atom], often + use
    return known


def _options(
    scene: Scene, package: str, ways_out: frozenset[tuple[str, str]], opening: Collection[tuple[str, str]]
) -> Iterator[_Option]:
    """What can be done at a capture. What is known to lead to a dead end nobody does often.

    On which row it is done matters where the row's own screen shows what no rule tells.
    """
    for option in _all_options(scene, package):
        deed = (scene.sketch.id, option.deed)
        given = option.given if deed in opening else frozenset(a for a in option.given if not a.startswith(ON_THE_ROW))
        yield replace(option, given=given, weight=option.weight * (_WAY_OUT if deed in ways_out else 1.0))


def _opening(graph: StateGraph, compiled: Compilation, scenes: Mapping[str, Scene]) -> dict[tuple[str, str], str]:
    """What opens a row's own screen that shows what is kept of the row and follows from nothing in the list."""
    kept = {screen_of(c[1:]) for table in compiled.program.tables.values() for c in table.columns if is_hidden(c) and c != OWNER}
    return {
        (source.sketch.id, deed_of(source, t.action, t.hit)): target.sketch.id
        for t in graph.transitions()
        if (source := scenes.get(t.source)) and (target := scenes.get(t.target)) and source.sketch != target.sketch and target.sketch.id in kept
    }


def _all_options(scene: Scene, package: str) -> Iterator[_Option]:
    capture = scene.capture
    tree, size = capture.hierarchy, capture.size
    focus: tuple[Path, str] | None = None
    order = tree.touch_order(size)
    gestures: tuple[tuple[Gesture, float], ...] = (("tap", 1.0), ("long_press", _LONG_PRESS))
    for path, node, name in scene.nodes:
        if node.focused and node.is_editable:
            focus = (path, name)
        for gesture, weight in gestures:
            if not node.takes(gesture) or (node.is_editable and gesture == "long_press"):
                continue
            has_focus = node.is_editable and node.focused and capture.state.keyboard
            point = tree.tap_point(path, size)
            under = None if point is None else next((p for p, n in order if n.bounds.contains(point)), None)
            if point is None or under is None or tree.nearest(under, gesture) != path:
                continue
            action: Action = Tap(point.x, point.y) if gesture == "tap" else LongPress(point.x, point.y)
            often = weight * _HAS_FOCUS if has_focus else weight
            yield _Option(f"{gesture} {name}", action, path, often, circumstances(scene, path))
    anyhow = circumstances(scene)
    if focus is not None and capture.state.keyboard:
        path, name = focus
        given = circumstances(scene, path)
        yield _Option(f"type new {name}", TypeText(_SAMPLE), path, _TYPE, given, is_fresh=True)
        yield _Option(f"type blank {name}", TypeText(" "), path, _TYPE * _BLANK, given)
        if (words := _words_shown(scene)) and not tree.at(path).value:
            yield _Option(f"type known {name}", TypeText(words), path, _TYPE * _BLANK, given)
        yield _Option(f"key enter {name}", PressKey("enter"), path, _ENTER, given)
    yield _Option("key back", PressKey("back"), None, _BACK, anyhow)
    yield _Option("close_app", CloseApp(package), None, _CLOSE, anyhow)


def _ways_out(graph: StateGraph, scenes: Mapping[str, Scene], package: str) -> frozenset[tuple[str, str]]:
    """What was seen to lead out of the app, or to where hardly anything can be done."""
    found: set[tuple[str, str]] = set()
    for t in graph.transitions():
        source, target = scenes.get(t.source), scenes.get(t.target)
        if source is None or target is None or source.sketch.id == target.sketch.id:
            continue
        if target.sketch.package != package or sum(node.takes("tap") for _, node, _ in target.nodes) <= 1:
            found.add((source.sketch.id, deed_of(source, t.action, t.hit)))
    return frozenset(found)


def _words_shown(scene: Scene) -> str:
    """Words that a row or a label shows, to be typed once more."""
    found = [n.text for _, n, _ in scene.nodes if " " in n.text.strip() and len(n.text) <= _LONGEST_WORDS and not n.is_editable]
    return found[-1] if found else ""


# ---- what a screen is known by


def _sketches(graph: StateGraph, compiled: Compilation) -> dict[str, Sketch]:
    found: dict[str, Sketch] = {}
    for screen in compiled.program.screens.values():
        captures = [graph.captures[c] for lay in screen.layouts for c in lay.captures if c in graph.captures]
        rows, cells = _rows(screen.template) if screen.template is not None else (frozenset[str](), frozenset[str]())
        seen = [marks(c.hierarchy, c.size) for c in captures]
        always = frozenset.intersection(*seen) if seen else frozenset[str]()
        found[screen.id] = Sketch(screen.id, screen.name, screen.package, always, rows, cells)
    return found


def _rows(template: Template) -> tuple[frozenset[str], frozenset[str]]:
    """The bare marks of rows, and of all that is in them."""
    rows: set[str] = set()
    cells: set[str] = set()

    def visit(part: Slot | Rows, owner: str, in_row: bool) -> None:
        slot = part.row if isinstance(part, Rows) else part
        name = bare_name(slot.node, owner)
        if isinstance(part, Rows) and not in_row:
            rows.add(name)
        in_row = in_row or isinstance(part, Rows)
        if in_row:
            cells.add(name)
        for child in slot.children:
            visit(child, slot.node.resource_id or owner, in_row)

    for window in template.windows:
        visit(window, "", False)
    return frozenset(rows), frozenset(cells)


