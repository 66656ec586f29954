"""One app's step: an action on an AppState gives an AppState, by the Program's rules and, where they are silent, by Android's.

Pure and total. The order of belief: a rule whose guard holds; then the platform's own behaviour (focus, typing, toggling,
hiding the keyboard, Back), which is `assumed`; then nothing, which is `unrecorded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from immutables import Map

from phoneworld.program.effect import DeleteRows, GoBack, InsertRow, NodeAttribute, SetNode, SetVar, Show, UpdateRows
from phoneworld.program.expr import OneOf, Value
from phoneworld.program.program import EvidenceKind, Program, Rule, Start, TriggerKind, weakest
from phoneworld.sim.evaluate import Row, Scope, WidgetCount, as_text, evaluate
from phoneworld.sim.screenful import Screenful
from phoneworld.sim.state import AppState, NodeEdit, Place
from phoneworld.ui import system
from phoneworld.ui.action import (
    Clear,
    DoubleTap,
    Drag,
    LongPress,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.geometry import Point
from phoneworld.ui.node import Gesture, Node

AppAction = Tap | DoubleTap | LongPress | Swipe | Drag | Pinch | TypeText | Clear | PressKey | Wait
BULLET = "•"


@dataclass(frozen=True, slots=True)
class Reaction:
    """What an action did to one app. `left` is True where the app gave way to the launcher."""

    app: AppState
    evidence: EvidenceKind
    message: str = ""
    rule: str = ""
    settle_ms: int = 0
    left: bool = False


class AppModel:
    """A Program made ready to run: rules by trigger, layouts by screen. Immutable once made; shared by all its phones."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._rules: dict[tuple[str, TriggerKind, str, str | None], list[_Guarded]] = {}
        for rule in program.rules:
            self._rules.setdefault((rule.screen, rule.on.kind, rule.on.node, rule.on.argument), []).append(_guarded(rule))
        self._screenfuls = {s.id: tuple(Screenful(s, lay) for lay in s.layouts) for s in program.screens.values()}
        self._by_value: dict[str, tuple[str, dict[Value, Screenful]]] = {}
        for screen in program.screens.values():
            self._index(screen.id)
        self._initial = Map({v.name: v.initial for v in program.variables.values()})
        self._tables: Map[str, tuple[Row, ...]] = Map(
            {t.name: tuple(dict(zip(t.columns, row, strict=True)) for row in t.rows) for t in program.tables.values()}
        )
        self._layout_variables = {s.id: self._variables_of(s.id) for s in program.screens.values()}

    def _index(self, screen: str) -> None:
        """Where all layouts of a screen are chosen by the value of one variable, a dictionary chooses."""
        guards = [s.layout.when for s in self._screenfuls[screen]]
        names = {g.name for g in guards if isinstance(g, OneOf)}
        if len(names) != 1 or not all(isinstance(g, OneOf) for g in guards):
            return
        table: dict[Value, Screenful] = {}
        for screenful, guard in zip(self._screenfuls[screen], guards, strict=True):
            assert isinstance(guard, OneOf)
            for value in guard.values:
                table.setdefault(value, screenful)
        self._by_value[screen] = (names.pop(), table)

    def _variables_of(self, screen: str) -> tuple[str, ...]:
        if screen in self._by_value:
            return (self._by_value[screen][0],)
        return ()

    def start(self, name: str | None = None) -> AppState:
        """A fresh app at a start of the Program (the first where none is named). Raises KeyError for an unknown one."""
        starts = self.program.starts
        start: Start = starts[name] if name is not None else next(iter(starts.values()))
        return AppState(start.screen, self._initial.update(dict(start.variables)), self._tables)

    def screenful(self, app: AppState) -> Screenful:
        """What the app shows: the first layout of its screen whose guard holds, else the screen's first."""
        indexed = self._by_value.get(app.screen)
        if indexed is not None:
            name, table = indexed
            found = table.get(app.variables.get(name))
            if found is not None:
                return found
        for screenful in self._screenfuls[app.screen]:
            if evaluate(screenful.layout.when, Scope(app.variables, app.tables)):
                return screenful
        return self._screenfuls[app.screen][0]

    # What widgets show

    def edits(self, app: AppState, screenful: Screenful) -> dict[tuple[str, str], Value]:
        """What widgets of this layout show instead of what the layout says, by node key and attribute."""
        shown: dict[tuple[str, str], Value] = {}
        if app.edits:
            for (screen, key, attribute), (over, value) in app.edits.items():
                if screen == app.screen:
                    changed = screenful.node(key)
                    if changed is not None and getattr(changed, attribute) == over and value != over:
                        shown[(key, attribute)] = value
        for (key, attribute), expr in screenful.bound.items():
            if (key, attribute) not in shown:
                value = evaluate(expr, Scope(app.variables, app.tables, widgets=_counting(screenful, shown)))
                if value != getattr(screenful.node(key), attribute):
                    shown[(key, attribute)] = value
        return shown

    def value(self, app: AppState, screenful: Screenful, key: str, node: Node, attribute: NodeAttribute) -> Value:
        """What one attribute of one widget shows."""
        said: Value = getattr(node, attribute)
        over, edited = app.edits.get((app.screen, key, attribute), (None, None))
        if over == said and edited is not None:
            return edited
        if (key, attribute) not in screenful.bound:
            return said
        return self.edits(app, screenful).get((key, attribute), said)

    def focus(self, app: AppState, screenful: Screenful) -> str | None:
        """The key of the field that has the focus."""
        return app.focus if app.focus is not None else screenful.focus

    def keyboard_shown(self, app: AppState, screenful: Screenful) -> bool:
        """True where the soft keyboard is up: as recorded with the layout, or because a field was focused since."""
        return screenful.layout.state.keyboard or app.focus is not None

    # Acting

    def react(self, app: AppState, action: AppAction) -> Reaction:
        """Does one action. Every action has a reaction; none raises for a point on the screen."""
        screenful = self.screenful(app)
        match action:
            case Tap(x, y) | DoubleTap(x, y) | LongPress(x, y):
                if self.keyboard_shown(app, screenful):
                    size, density = screenful.layout.size, self.program.device.density
                    if system.keyboard_bounds(size, density).contains(Point(x, y)):
                        return self._soft_key(app, screenful, system.key_at(size, density, Point(x, y)))
                if isinstance(action, Tap):
                    return self._tap(app, screenful, x, y)
                kind: TriggerKind = "double_tap" if isinstance(action, DoubleTap) else "long_press"
                return self._touch(app, screenful, kind, x, y)
            case Swipe(x, y, x2, y2):
                return self._swipe(app, screenful, x, y, x2 - x, y2 - y)
            case Drag(x, y):
                return self._touch(app, screenful, "drag", x, y)
            case Pinch(x, y, scale):
                return self._touch(app, screenful, "pinch_out" if scale > 1 else "pinch_in", x, y)
            case TypeText(text, x, y, mode):
                return self._type(app, screenful, text, x, y, append=mode == "append")
            case Clear(x, y):
                return self._type(app, screenful, "", x, y, append=False)
            case PressKey(key):
                return self._key(app, screenful, key)
            case Wait():
                fired = self.fire(app, "wait")
                return fired or Reaction(app, self._departed(app, "assumed"), "nothing happened meanwhile")

    def fire(self, app: AppState, kind: TriggerKind, node: str = "", argument: str | None = None, typed: str = "") -> Reaction | None:
        """The reaction of the first rule that matches, or None."""
        for key in ((app.screen, kind, node, argument), (app.screen, kind, node, None)):
            for name, values, rule in self._rules.get(key, ()):
                if app.variables.get(name) in values if name else evaluate(rule.when, Scope(app.variables, app.tables, typed)):
                    return self._apply(app, rule, typed)
            if argument is None:
                break
        return None

    def _apply(self, app: AppState, rule: Rule, typed: str) -> Reaction:
        variables, tables, edits, screen, stack = app.variables, app.tables, app.edits, app.screen, app.stack
        old_variables, old_tables = variables, tables
        left: dict[str, Value] = {}

        def value_of(expr: object, row: Row | None = None) -> Value:
            return evaluate(expr, Scope(old_variables, old_tables, typed, row or {}))  # type: ignore[arg-type]

        for effect in rule.then:
            match effect:
                case SetVar(name, value):
                    variables = variables.set(name, value_of(value))
                case SetNode(where, key, attribute, value):
                    edits = edits.set((where, key, attribute), (self._layout_value(where, key, attribute, variables), value_of(value)))
                case Show(target, as_left):
                    if target != screen:
                        below = next((i for i, place in enumerate(stack) if place.screen == target), None)
                        if below is not None and as_left and (app.departed or rule.evidence.kind != "recorded"):
                            left = dict(stack[below].variables)
                        stack = stack[:below] if below is not None else (*stack, self._place(app))
                        screen = target
                case GoBack(to):
                    place = next((i for i in range(len(stack) - 1, -1, -1) if not to or stack[i].screen in to), None)
                    if place is not None:
                        left = dict(stack[place].variables)
                        screen, stack = stack[place].screen, stack[:place]
                case InsertRow(table, cells):
                    tables = tables.set(table, (*tables.get(table, ()), {name: value_of(e) for name, e in cells}))
                case UpdateRows(table, cells, where_rows):
                    rows = tables.get(table, ())
                    changed = tuple(
                        {**row, **{n: value_of(e, row) for n, e in cells}} if value_of(where_rows, row) else row for row in rows
                    )
                    tables = tables.set(table, changed)
                case DeleteRows(table, where_rows):
                    tables = tables.set(table, tuple(r for r in tables.get(table, ()) if not value_of(where_rows, r)))
        variables = variables.update(left)
        after = AppState(screen, variables, tables, edits, stack, None, True, app.departed or rule.evidence.kind != "recorded")
        return Reaction(after, self._departed(app, rule.evidence.kind), "", rule.id, rule.settle_ms)

    def _layout_value(self, screen: str, key: str, attribute: str, variables: Mapping[str, Value]) -> Value:
        probe = self.screenful(AppState(screen, Map(variables)))
        node = probe.node(key)
        return None if node is None else getattr(node, attribute)

    def _place(self, app: AppState) -> Place:
        return Place(app.screen, tuple((n, app.variables.get(n)) for n in self._layout_variables[app.screen]))

    def _departed(self, app: AppState, kind: EvidenceKind) -> EvidenceKind:
        """A rule seen on the recorded path is no longer `recorded` once the phone has left that path."""
        return weakest(kind, "inferred") if app.departed else kind

    def _assume(self, app: AppState, message: str) -> Reaction:
        return Reaction(app if app.departed else replace(app, departed=True), "assumed", message)

    def _tap(self, app: AppState, screenful: Screenful, x: int, y: int) -> Reaction:
        touched = screenful.touch("tap", x, y)
        key, target = touched if touched else ("", None)
        fired = self.fire(app, "tap", target or key)
        if fired:
            return fired
        node = screenful.node(target) if target else None
        if target is None or node is None:
            return Reaction(app, self._departed(app, "assumed"), "nothing there takes a tap")
        if node.is_editable:
            if self.focus(app, screenful) == target and self.keyboard_shown(app, screenful):
                return Reaction(app, "assumed", "the field has the focus already")
            return self._assume(replace(app, focus=target), "the field takes the focus")
        if node.checkable:
            return self._assume(self._toggle(app, screenful, target, node), "the widget is toggled")
        return Reaction(app, "unrecorded", "what a tap does here was not recorded")

    def _toggle(self, app: AppState, screenful: Screenful, key: str, node: Node) -> AppState:
        now = bool(self.value(app, screenful, key, node, "checked"))
        edits: Map[NodeEdit, tuple[Value, Value]] = app.edits
        if "RadioButton" in node.class_name:
            path = screenful.paths[key]
            for i, sibling in enumerate(screenful.layout.hierarchy.at(path[:-1]).children if len(path) > 1 else ()):
                if sibling.checkable and "RadioButton" in sibling.class_name:
                    edits = edits.set((app.screen, screenful.keys[(*path[:-1], i)], "checked"), (sibling.checked, False))
            return replace(app, edits=edits.set((app.screen, key, "checked"), (node.checked, True)))
        return replace(app, edits=edits.set((app.screen, key, "checked"), (node.checked, not now)))

    def _touch(self, app: AppState, screenful: Screenful, kind: TriggerKind, x: int, y: int) -> Reaction:
        gesture: Gesture = "long_press" if kind == "long_press" else "tap"
        touched = screenful.touch(gesture, x, y)
        key, target = touched if touched else ("", None)
        fired = self.fire(app, kind, target or key)
        if fired:
            return fired
        if target is None:
            return Reaction(app, self._departed(app, "assumed"), f"nothing there takes a {kind.replace('_', ' ')}")
        return Reaction(app, "unrecorded", f"what a {kind.replace('_', ' ')} does here was not recorded")

    def _swipe(self, app: AppState, screenful: Screenful, x: int, y: int, dx: int, dy: int) -> Reaction:
        if dx == 0 and dy == 0:
            return self._touch(app, screenful, "long_press", x, y)
        touched = screenful.touch("scroll", x, y)
        key, target = touched if touched else ("", None)
        fired = self.fire(app, swipe_kind(dx, dy), target or key)
        if fired:
            return fired
        if target is None:
            return Reaction(app, self._departed(app, "assumed"), "nothing there scrolls")
        return Reaction(app, "unrecorded", "what lies in that direction was not recorded")

    # Typing

    def _type(self, app: AppState, screenful: Screenful, text: str, x: int | None, y: int | None, *, append: bool) -> Reaction:
        if x is not None and y is not None:
            touched = screenful.touch("type", x, y)
            field = touched[1] if touched else None
            node = screenful.node(field) if field else None
            if field and node is not None:
                value = self._value_of(app, screenful, field, node)
                shown = self._shown(node, value + text if append else text)
                fired = self.fire(app, "type", field, shown, typed=shown)
                if fired:
                    return fired
            tapped = self._tap(app, screenful, x, y)
            app, screenful = tapped.app, self.screenful(tapped.app)
            typed = self._type(app, screenful, text, None, None, append=append)
            return replace(typed, evidence=weakest(tapped.evidence, typed.evidence), settle_ms=tapped.settle_ms + typed.settle_ms)
        focused = self.focus(app, screenful)
        held = self.field_value(app, screenful)
        if focused is None or held is None:
            return Reaction(app, self._departed(app, "assumed"), "no field has the focus")
        return self._fill(app, screenful, focused, held + text if append else text)

    def field_value(self, app: AppState, screenful: Screenful) -> str | None:
        """What the focused field holds, or None where no field has the focus."""
        key = self.focus(app, screenful)
        node = screenful.node(key) if key else None
        if key is None or node is None:
            return None
        return self._value_of(app, screenful, key, node)

    def _value_of(self, app: AppState, screenful: Screenful, key: str, node: Node) -> str:
        shown = self.value(app, screenful, key, node, "text")
        return node.value if shown == node.text else as_text(shown)

    def _shown(self, node: Node, value: str) -> str:
        return BULLET * len(value) if node.password else value

    def _fill(self, app: AppState, screenful: Screenful, key: str, value: str) -> Reaction:
        node = screenful.node(key)
        if node is None:
            return Reaction(app, "unrecorded", "the field is gone")
        shown = self._shown(node, value)
        fired = self.fire(app, "type", key, shown, typed=shown)
        if fired:
            return fired
        edits = app.edits.set((app.screen, key, "text"), (node.text, shown))
        return self._assume(replace(app, edits=edits), "the field holds what was typed")

    def _soft_key(self, app: AppState, screenful: Screenful, key: str | None) -> Reaction:
        match key:
            case None:
                return Reaction(app, self._departed(app, "assumed"), "between two keys")
            case "hide":
                return self._key(app, screenful, "back")
            case "backspace" | "enter":
                return self._key(app, screenful, key)
            case _ if len(key) == 1:
                return self._type(app, screenful, key, None, None, append=True)
            case _:
                return Reaction(app, self._departed(app, "assumed"), f"the {key} key changes the keyboard only")

    def _key(self, app: AppState, screenful: Screenful, key: str) -> Reaction:
        if key in ("backspace", "delete"):
            fired = self.fire(app, "key", key_node(key, screenful.focus), key)
            if fired:
                return fired
            value, field = self.field_value(app, screenful), self.focus(app, screenful)
            if value is None or field is None or not value:
                return Reaction(app, self._departed(app, "assumed"), "no text to delete")
            return self._fill(app, screenful, field, value[:-1] if key == "backspace" else value)
        if key == "back" and app.focus is not None and app.focus != screenful.focus:
            return self._assume(replace(app, focus=None), "Back hides the keyboard")
        moved = app.focus is not None and app.focus != screenful.focus
        fired = None if moved and key != "home" else self.fire(app, "key", key_node(key, screenful.focus), key)
        if fired:
            return fired
        if key == "back":
            return self._back(app)
        if key == "home":
            return Reaction(app, self._departed(app, "assumed"), "Home shows the launcher", left=True)
        if key == "enter" and self.focus(app, screenful) is None:
            return Reaction(app, self._departed(app, "assumed"), "no field has the focus")
        return Reaction(app, "unrecorded", f"what the {key} key does here was not recorded")

    def _back(self, app: AppState) -> Reaction:
        if not app.stack:
            return Reaction(app, self._departed(app, "assumed"), "Back at the root leaves the app", left=True)
        place = app.stack[-1]
        after = replace(
            app, screen=place.screen, variables=app.variables.update(dict(place.variables)), stack=app.stack[:-1], focus=None, departed=True
        )
        return Reaction(after, "assumed", "Back goes to the screen before")

    def back_inside(self, app: AppState) -> AppState | None:
        """The app at its own screen nearest below, where a foreign one is shown; None where it has none."""
        stack = app.stack
        while stack:
            place, stack = stack[-1], stack[:-1]
            if self.program.screens[place.screen].package == self.program.package:
                variables = app.variables.update(dict(place.variables))
                return replace(app, screen=place.screen, variables=variables, stack=stack, focus=None, departed=True)
        return None


def _counting(screenful: Screenful, shown: Mapping[tuple[str, str], Value]) -> WidgetCount:
    def count(below: str, checked: bool | None) -> int:
        states = (bool(shown.get((key, "checked"), said)) for key, said in screenful.checkables(below))
        return sum(1 for state in states if checked is None or state == checked)

    return count


_Guarded = tuple[str, frozenset[Value], Rule]
"""A rule with its guard made ready: a variable and the values at which it holds, or "" where the guard is to be evaluated."""


def _guarded(rule: Rule) -> _Guarded:
    if isinstance(rule.when, OneOf):
        return rule.when.name, frozenset(rule.when.values), rule
    return "", frozenset(), rule


def swipe_kind(dx: int, dy: int) -> TriggerKind:
    """The direction a finger moved in, by its longer axis."""
    if abs(dx) > abs(dy):
        return "swipe_right" if dx > 0 else "swipe_left"
    return "swipe_down" if dy > 0 else "swipe_up"


def key_node(key: str, focus: str | None) -> str:
    """The widget a key press is for: the focused field where the key acts on it, else none."""
    return focus or "" if key in ("enter", "search", "tab") else ""
