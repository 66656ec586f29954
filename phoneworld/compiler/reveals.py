"""What is done after a question so that its outcome shows: words are sent, the app is opened again, rows out of sight are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phoneworld.compiler.compile import Compilation
from phoneworld.graph.graph import StateGraph, Transition
from phoneworld.graph.plan import Step, target_of
from phoneworld.graph.situation import Scene, deed_of
from phoneworld.program.expr import Column, Var, walk
from phoneworld.program.template import Rows, Slot, Template
from phoneworld.sim.evaluate import Scope, evaluate
from phoneworld.ui.action import Action, CloseApp, OpenApp, PressKey, Tap, TypeText
from phoneworld.ui.node import Node


@dataclass(frozen=True, slots=True)
class _Switch:
    """A tab that says which rows a screen shows: its mark, whether all of them, and the tap on it."""

    mark: str
    shows_all: bool
    tap: Step


@dataclass(frozen=True, slots=True)
class Reveals:
    """What is done after a question: words are sent, the app is opened again, rows out of sight are shown."""

    submit: Mapping[str, Step]
    switches: Mapping[str, tuple[_Switch, ...]]

    def follow(self, hiding: dict[str, Step], scenes: Mapping[str, Scene], t: Transition) -> None:
        """Keeps account of the screens that hide rows, with the tap that shows all."""
        scene = scenes.get(t.source)
        if scene is None or t.hit is None or not isinstance(t.action, Tap):
            return
        switches = self.switches.get(scene.sketch.id, ())
        touched = next((s for s in switches if s.mark == scene.mark(t.hit)), None)
        if touched is not None:
            hiding.pop(scene.sketch.id, None)
            if not touched.shows_all and (whole := next((s for s in switches if s.shows_all), None)):
                hiding[scene.sketch.id] = whole.tap

    def after(self, scene: Scene, action: Action, deed: str, whole: Step | None, package: str) -> tuple[Step, ...]:
        """What shows the outcome of an action; `whole` is the tap that shows all rows, where some are hidden."""
        match action:
            case CloseApp():
                return (Step(OpenApp(package)),)
            case TypeText(text) if not text.strip() and scene.sketch.id in self.submit:
                return (self.submit[scene.sketch.id],)
            case TypeText() | PressKey("back"):
                return ()
        is_switch = any(deed == f"tap {s.mark}" for s in self.switches.get(scene.sketch.id, ()))
        return () if whole is None or is_switch else (whole,)


def find_switches(compiled: Compilation, scenes: Mapping[str, Scene]) -> dict[str, tuple[_Switch, ...]]:
    """By screen, the tabs that choose among rows, as the templates say; those that were seen."""
    program = compiled.program
    found: dict[str, tuple[_Switch, ...]] = {}
    for screen in program.screens.values():
        if screen.template is None:
            continue
        shows: dict[str, bool] = {}
        for rows in _tables(screen.template):
            columns = sorted({e.name for e, _ in walk(rows.where) if isinstance(e, Column)})
            for mode in sorted({e.name for e, _ in walk(rows.where) if isinstance(e, Var)}):
                for slot in program.variables[mode].domain if mode in program.variables else ():
                    if isinstance(slot, str):
                        scope = Scope({mode: slot})
                        probes = [dict.fromkeys(columns, value) for value in (True, False, None)]
                        shows[slot] = all(evaluate(rows.where, scope.at(row)) for row in probes)
        names = {slot.key: slot.node for slot, _ in screen.template.slots()}
        made = [_switch(names[key], shows_all, scenes, screen.id) for key, shows_all in shows.items() if key in names]
        if len(made) > 1:
            found[screen.id] = tuple(s for s in made if s is not None)
    return found


def _switch(node: Node, shows_all: bool, scenes: Mapping[str, Scene], screen: str) -> _Switch | None:
    """The tab where it was in reach."""
    for scene in scenes.values():
        if scene.sketch.id == screen:
            for path, other, name in scene.nodes:
                if (other.class_name, other.resource_id, other.label) == (node.class_name, node.resource_id, node.label):
                    point = scene.capture.hierarchy.tap_point(path, scene.capture.size)
                    if point is not None:
                        return _Switch(name, shows_all, Step(Tap(point.x, point.y), target_of(scene, path), screen))
    return None


def _tables(template: Template) -> Iterator[Rows]:
    stack: list[Slot | Rows] = list(template.windows)
    while stack:
        part = stack.pop()
        if isinstance(part, Rows):
            yield part
            part = part.row
        stack.extend(part.children)


def usual_submit(graph: StateGraph, scenes: Mapping[str, Scene]) -> dict[str, Step]:
    """By screen, what most often sent the words typed there: the first step after typing that left the screen or emptied the field."""
    counts: dict[str, Counter[str]] = {}
    steps: dict[tuple[str, str], Step] = {}
    for trace in graph.traces:
        words = ""
        for t in trace.transitions:
            source, target = scenes.get(t.source), scenes.get(t.target)
            if isinstance(t.action, TypeText):
                words = t.action.text.strip()
            elif words and source is not None and (target is None or target.sketch is not source.sketch or not _holds(target, words)):
                words = ""
                if t.action in (PressKey("back"), PressKey("home")) or isinstance(t.action, CloseApp):
                    continue
                deed = deed_of(source, t.action, t.hit)
                counts.setdefault(source.sketch.id, Counter())[deed] += 1
                steps.setdefault((source.sketch.id, deed), recorded_step(scenes, t))
    return {screen: steps[screen, min(found, key=lambda d: (-found[d], d))] for screen, found in counts.items()}


def _holds(scene: Scene, words: str) -> bool:
    return any(node.is_editable and words in node.value for _, node, _ in scene.nodes)


def recorded_step(scenes: Mapping[str, Scene], transition: Transition) -> Step:
    """A recorded step as one that can be done again."""
    scene = scenes.get(transition.source)
    target = None
    if scene is not None and transition.hit is not None and not isinstance(transition.action, PressKey):
        target = target_of(scene, transition.hit)
    return Step(transition.action, target, "" if scene is None else scene.sketch.id)
