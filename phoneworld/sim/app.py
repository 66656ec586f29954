"""One app: a Program made ready to run. Rules by trigger, layouts and templates by screen; a step that is pure and total.

The order of belief: a rule whose guard holds; then the platform's own behaviour (focus, typing, toggling, hiding the
keyboard, Back), which is `assumed`; then nothing, which is `unrecorded`. A screen with a template is drawn from it; of any other
the layout is shown that was recorded for the state.
"""

from __future__ import annotations

from collections.abc import Mapping

from immutables import Map

from phoneworld.program.effect import GoBack, SetNode, SetVar
from phoneworld.program.expr import OneOf, Value, same_value
from phoneworld.program.program import Program, Rule, Start, Table, TriggerKind, all_variables
from phoneworld.program.template import KEYBOARD
from phoneworld.sim.acting import BULLET as BULLET
from phoneworld.sim.acting import Acting, Reaction, departed
from phoneworld.sim.acting import key_node as key_node
from phoneworld.sim.acting import swipe_kind as swipe_kind
from phoneworld.sim.compiled import compiled
from phoneworld.sim.drawing import Drawing, TemplateModel
from phoneworld.sim.effects import ReadyRule, SameRows, changed_rows, next_id, ready_rules, with_ids
from phoneworld.sim.evaluate import NO_ROW, Row, Scope, evaluate
from phoneworld.sim.on_layout import OnLayout
from phoneworld.sim.on_template import OnTemplate
from phoneworld.sim.screenful import Screenful
from phoneworld.sim.state import AppState, Place
from phoneworld.sim.values import Values


class AppModel:
    """A Program made ready to run. Immutable but for caches of what is immutable; shared by all its phones."""

    def __init__(self, program: Program) -> None:
        self.program = program
        triggered: dict[tuple[str, TriggerKind, str, str | None], list[Rule]] = {}
        for rule in program.rules:
            triggered.setdefault((rule.screen, rule.on.kind, rule.on.node, rule.on.argument), []).append(rule)
        self._rules = {trigger: ready_rules(rules) for trigger, rules in triggered.items()}
        self._screenfuls = {s.id: tuple(Screenful(s, lay) for lay in s.layouts) for s in program.screens.values()}
        self._templates = {
            s.id: TemplateModel(s, program.device.density, program.package) for s in program.screens.values() if s.template is not None
        }
        self._scrolls = {name: model.scroll for name, model in self._templates.items() if model.scroll}
        """The variable of where each screen is scrolled to."""
        positions = frozenset(self._scrolls.values())
        self._scrolling = frozenset(r.id for r in program.rules if any(isinstance(e, SetVar) and e.name in positions for e in r.then))
        self._by_value: dict[str, tuple[str, dict[Value, Screenful]]] = {}
        for screen in program.screens.values():
            self._index(screen.id)
        self._initial = Values({v.name: v.initial for v in all_variables(program).values()})
        self._starts: dict[str, AppState] = {}
        self.variable_names = frozenset(self._initial)
        self._last: tuple[AppState | None, Drawing | None] = (None, None)
        self._delays = {t.name: compiled(t.after_ms) for t in program.timers.values()}
        self._same = SameRows()
        self._tables: Map[str, tuple[Row, ...]] = Map({t.name: self.same_rows(_rows(t, t.rows)) for t in program.tables.values()})

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

    def start(self, name: str | None = None) -> AppState:
        """A fresh app at a start of the Program (the first where none is named). Raises KeyError for an unknown one."""
        if name is None:
            name = next(iter(self.program.starts))
        if name not in self._starts:
            self._starts[name] = self._started(self.program.starts[name])
        return self._starts[name]

    def _started(self, start: Start) -> AppState:
        tables = self._tables.update({t: self.same_rows(_rows(self.program.tables[t], rows)) for t, rows in start.tables})
        next_row = Map({name: next_id(rows) for name, rows in tables.items()})
        return AppState(start.screen, self._initial.update(dict(start.variables)), tables, next_row=next_row)

    def restarted(self, app: AppState) -> AppState:
        """The app opened after it was closed: what it keeps in tables is there still, its variables and screens are not."""
        fresh = self.start()
        if not self._templates or app.tables == fresh.tables:
            return fresh
        return self.off_path(fresh._replace(tables=app.tables, next_row=app.next_row))

    # What is shown

    def surface(self, app: AppState) -> Screenful | Drawing:
        """What the app shows: its screen's template drawn; where it has none, the first layout whose guard holds, else the first."""
        template = self._templates.get(app.screen)
        if template is not None:
            return self._drawing(template, app)
        indexed = self._by_value.get(app.screen)
        if indexed is not None:
            return indexed[1].get(app.variables.get(indexed[0])) or self._screenfuls[app.screen][0]
        screenful = self._chosen(app.screen, app.variables, app.tables)
        return self._screenfuls[app.screen][0] if screenful is None else screenful

    def _chosen(self, screen: str, variables: Mapping[str, Value], tables: Mapping[str, tuple[Row, ...]]) -> Screenful | None:
        indexed = self._by_value.get(screen)
        if indexed is not None:
            return indexed[1].get(variables.get(indexed[0]))
        scope = Scope(variables, tables)
        return next((s for s in self._screenfuls[screen] if evaluate(s.layout.when, scope)), None)

    def _drawing(self, template: TemplateModel, app: AppState) -> Drawing:
        last, drawing = self._last
        if last is not app or drawing is None:
            drawing = template.drawing(app.variables, app.tables)
            self._last = (app, drawing)
        return drawing

    # Acting

    def acting(self, app: AppState) -> Acting:
        """The app ready to be acted on."""
        surface = self.surface(app)
        if not isinstance(surface, Drawing):
            return OnLayout(self, app, surface)
        name = surface.model.scroll
        if name and app.variables.get(name) != surface.scroll:
            # Content has become shorter than it was scrolled: the phone is at its end now, also should it grow again.
            app = app._replace(variables=app.variables.set(name, surface.scroll))
        return OnTemplate(self, app, surface)

    def off_path(self, app: AppState) -> AppState:
        """The app off the recorded path: at no moment of it, so that what was recorded at one is not taken to hold."""
        indexed = self._by_value.get(app.screen)
        if indexed is None or app.screen not in self._templates or app.variables.get(indexed[0]) is None:
            return app
        return app._replace(variables=app.variables.set(indexed[0], None))

    def fire(
        self,
        app: AppState,
        kind: TriggerKind,
        node: str = "",
        argument: str | None = None,
        typed: str = "",
        acted: Row = NO_ROW,
        about: str | None = None,
    ) -> Reaction | None:
        """The reaction of the first rule that matches, or None. With `about`, of those whose guard reads that variable."""
        for said in (argument, None) if argument is not None else (None,):
            for rules in self._rules.get((app.screen, kind, node, said), ()):
                if about is None or about in rules.reads:
                    ready = rules.find(app.variables, app.tables, typed, acted)
                    if ready is not None:
                        return self._apply(app, ready, typed, acted)
        return None

    def _apply(self, app: AppState, ready: ReadyRule, typed: str, acted: Row) -> Reaction:
        rule, before = ready.rule, app.variables
        off = app.departed or rule.evidence.kind != "recorded"
        # The later wins: a new screen starts at its top, unless the rule says where, unless it is found as it was left.
        changes: dict[str, Value] = {}
        left: dict[str, Value] = {}
        screen, stack = app.screen, app.stack
        for way in ready.ways:
            if isinstance(way, GoBack):
                below = next((i for i in range(len(stack) - 1, -1, -1) if not way.to or stack[i].screen in way.to), None)
                if below is not None:
                    left = dict(stack[below].variables)
                    screen, stack = stack[below].screen, stack[:below]
            elif way.screen != screen:
                screen = way.screen
                below = next((i for i, place in enumerate(stack) if place.screen == screen), None)
                if below is None:
                    stack = (*stack, self._place(app))
                    if at_top := self._scrolls.get(screen):
                        changes[at_top] = 0
                else:
                    if way.as_left and off:
                        left = dict(stack[below].variables)
                    stack = stack[:below]
        changes |= ready.constants
        for name, function in ready.computed:
            changes[name] = function(before, app.tables, typed, acted, acted)
        changes |= left
        tables, next_row = app.tables, app.next_row
        for name, newest in ready.tables:
            free = next_row.get(name, 1)
            rows, following = changed_rows(ready.changes, name, self.program.tables[name].columns, before, app.tables, typed, acted, free)
            if newest and following != free and newest in self.program.variables:
                changes[newest] = following - 1
            tables, next_row = tables.set(name, self.same_rows(rows)), next_row.set(name, following)
        variables = before.update(changes)
        edits = app.edits
        for edit, function in ready.edits:
            over = self._layout_value(edit, variables)
            edits = edits.set((edit.screen, edit.node, edit.attribute), (over, function(before, app.tables, typed, acted, acted)))
        timers = app.timers
        for name, starts in ready.starts:
            if starts(before, app.tables, typed, acted, acted):
                timers = timers.set(name, int(self._delays[name](variables, tables, typed, acted, acted) or 0))
        after = AppState(screen, variables, tables, edits, stack, None, True, off, next_row, timers)
        return Reaction(after, departed(app, rule.evidence.kind), "", rule.id, rule.settle_ms)

    def later(self, app: AppState, passed_ms: int, *, recorded: bool) -> AppState:
        """The app after some time, with what happens by itself. A `recorded` step has all that happened in it among its effects."""
        if not app.timers:
            return app
        running = {name: left - passed_ms for name, left in app.timers.items()}
        variables, due = app.variables, False
        for name, left in tuple(running.items()):
            timer = self.program.timers[name]
            if same_value(variables.get(timer.variable), timer.value):
                del running[name]
            elif left <= 0 and not recorded:
                del running[name]
                variables, due = variables.set(timer.variable, timer.value), True
        after = app._replace(variables=variables, timers=Map(running))
        return self.off_path(after._replace(departed=True)) if due else after

    def same_rows(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """These rows, or equal ones seen before: drawings are found by the identity of the rows that they show."""
        return self._same.table(rows)

    def scrolls(self, rule: str) -> bool:
        """True for a rule that itself says where a page is scrolled to."""
        return rule in self._scrolling

    def _layout_value(self, edit: SetNode, variables: Values) -> Value:
        chosen = self._chosen(edit.screen, variables, Map())
        node = (chosen or self._screenfuls[edit.screen][0]).node(edit.node)
        return None if node is None else getattr(node, edit.attribute)

    # The back stack

    def _place(self, app: AppState) -> Place:
        """The screen as it is left. What a template shows follows from the variables as they will be, so it needs none."""
        indexed = self._by_value.get(app.screen)
        if indexed is None or app.screen in self._templates:
            return Place(app.screen)
        return Place(app.screen, ((indexed[0], app.variables.get(indexed[0])),))

    def back(self, app: AppState) -> AppState | None:
        """The app at the screen below; None at the root."""
        if not app.stack:
            return None
        place = app.stack[-1]
        variables = app.variables.update(dict(place.variables))
        below = app._replace(screen=place.screen, variables=variables, stack=app.stack[:-1], focus=None, departed=True)
        return self.off_path(below)

    def back_inside(self, app: AppState) -> AppState | None:
        """The app at its own screen nearest below, where a foreign one is shown; None where it has none."""
        while app.stack:
            below = self.back(app)
            assert below is not None
            app = below
            if self.program.screens[app.screen].package == self.program.package:
                return app
        return None

    def hidden(self, app: AppState) -> AppState:
        """The app behind another: without the keyboard, off the recorded path."""
        variables = app.variables
        if self._templates and variables.get(KEYBOARD):
            variables = variables.set(KEYBOARD, False)
        return app._replace(variables=variables, focus=None, departed=True)


def _rows(table: Table, rows: tuple[tuple[Value, ...], ...]) -> tuple[Row, ...]:
    """Rows as the simulator keeps them, each with its id."""
    return with_ids([dict(zip(table.columns, row, strict=True)) for row in rows], 0)
