"""The system around the apps: launcher, foreground, clock; and the one step function. Pure, total, deterministic."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from immutables import Map

from phoneworld.errors import ActionError, ProgramError, SessionError
from phoneworld.program.expr import Value
from phoneworld.program.program import EvidenceKind, Program
from phoneworld.sim.acting import Reaction
from phoneworld.sim.app import AppModel
from phoneworld.sim.drawing import Drawing
from phoneworld.sim.on_layout import keyboard_shown, shown_edits
from phoneworld.sim.screenful import Screenful
from phoneworld.sim.state import AppState, PhoneState
from phoneworld.sim.view import View, above
from phoneworld.ui import system
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    Finish,
    LongPress,
    OpenApp,
    PressKey,
    Tap,
    TypeText,
    Wait,
    check_on_screen,
)  # fmt: skip
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy

_VIEWS_KEPT = 1024


class Step(NamedTuple):
    """What one action did. An invalid action changes nothing and `message` says why."""

    state: PhoneState
    changed: bool
    valid: bool
    evidence: EvidenceKind
    message: str = ""
    rules: tuple[str, ...] = ()


class Phone:
    """One or several Programs on one phone. Holds no state of its own but caches of what is immutable."""

    def __init__(self, programs: Sequence[Program]) -> None:
        if not programs:
            raise ProgramError("a phone needs at least one app", hint="name a bundle that `phoneworld build` wrote")
        self.models = {p.package: AppModel(p) for p in programs}
        if len(self.models) != len(programs):
            raise ProgramError("two of the apps have the same package", hint="put one bundle of each app on a phone")
        first = programs[0]
        self.size: Size = first.device.size
        self.density: int = first.device.density
        for program in programs:
            if program.device.size != self.size:
                raise ProgramError(
                    f"{program.package} was recorded on a {program.device.size.width}x{program.device.size.height} screen, "
                    f"{first.package} on {self.size.width}x{self.size.height}",
                    hint="put apps recorded at one size on one phone",
                )
        self.main: str = first.package
        self._step_ms = first.step_ms
        self._views: OrderedDict[tuple[object, ...], View] = OrderedDict()
        self._apps = tuple((p.package, p.label or p.package) for p in programs)
        self._launcher: Hierarchy | None = None

    # Starting

    def reset(self, seed: int = 0, start: str | None = None) -> PhoneState:
        """The start state: the first app in front, at the named start of it. The same arguments, the same state.

        Raises SessionError for a start that the app does not have.
        """
        apps = {package: model.start() for package, model in self.models.items()}
        for package in apps:
            if package != self.main:
                apps[package] = apps[package]._replace(running=False)
        if start is not None:
            starts = self.models[self.main].program.starts
            if start not in starts:
                raise SessionError(f"{self.main} has no start {start!r}", hint="one of " + ", ".join(starts))
            apps[self.main] = self.models[self.main].start(start)
        return PhoneState(Map(apps), self.main, self.models[self.main].program.clock_ms, seed, 0, (self.main,))

    def clear(self, state: PhoneState, package: str) -> PhoneState:
        """The app stopped and at its first start, as after `pm clear`. Raises SessionError for an app that is not installed."""
        if package not in self.models:
            raise SessionError(f"no app {package!r} is installed", hint="there are " + ", ".join(self.models))
        app = self.models[package].start()._replace(running=False)
        foreground = "" if state.foreground == package else state.foreground
        return state._replace(apps=state.apps.set(package, app), foreground=foreground)

    def check(self, state: PhoneState) -> None:
        """Raises ProgramError where a state (from a file, a patch) does not belong to this phone."""
        if set(state.apps) != set(self.models):
            raise ProgramError("the state is of a phone with other apps", hint="its apps are " + ", ".join(self.models))
        if state.foreground and state.foreground not in self.models:
            raise ProgramError(f"no app {state.foreground!r} to be in front", hint='name an app of the phone, or "" for the launcher')
        for package, app in state.apps.items():
            model = self.models[package]
            program = model.program
            for screen in (app.screen, *(p.screen for p in app.stack)):
                if screen not in program.screens:
                    raise ProgramError(f"{package} has no screen {screen!r}", hint="one of " + ", ".join(list(program.screens)[:20]))
            kinds = (
                ("variable", app.variables, model.variable_names),
                ("table", app.tables, frozenset(program.tables)),
                ("timer", app.timers, frozenset(program.timers)),
            )
            for kind, names, known in kinds:
                if not known.issuperset(names):
                    odd = min(set(names) - known)
                    raise ProgramError(f"{package} has no {kind} {odd!r}", hint="one of " + ", ".join(sorted(known)[:20]))

    # Seeing

    def view(self, state: PhoneState) -> View:
        """What the phone shows. Cached: asking again costs little more than a dictionary look-up."""
        look = self.look(state)
        return replace(look, state=replace(look.state, clock_ms=state.clock_ms))

    def look(self, state: PhoneState) -> View:
        """The view but for the clock, which is None in it: one and the same value for all states that look alike."""
        if not state.foreground:
            return self._launcher_view()
        model, app = self.models[state.foreground], state.apps[state.foreground]
        screenful = model.surface(app)
        if isinstance(screenful, Drawing):
            return screenful.view
        shown = shown_edits(app, screenful) if app.edits or screenful.layout.bindings else {}
        key = (screenful.looks, tuple(sorted(shown.items())), app.focus)
        found = self._views.get(key)
        if found is None:
            found = self._views[key] = _draw(app, screenful, shown, self.density)
            if len(self._views) > _VIEWS_KEPT:
                self._views.popitem(last=False)
        return found

    def _launcher_tree(self) -> Hierarchy:
        if self._launcher is None:
            self._launcher = system.launcher(self.size, self.density, self._apps)
        return self._launcher

    def _launcher_view(self) -> View:
        at = DeviceState(system.LAUNCHER_PACKAGE, system.LAUNCHER_ACTIVITY)
        name = hashlib.sha256(repr(self._apps).encode()).hexdigest()[:24]
        return View(self._launcher_tree(), self.size, self.density, at, f"launcher-{name}")

    def screen_name(self, state: PhoneState) -> str:
        """Names the screen in front: the same screen, the same name, whatever its rows and fields hold."""
        return f"{state.foreground}/{state.apps[state.foreground].screen}" if state.foreground else system.LAUNCHER_PACKAGE

    # Acting

    def step(self, state: PhoneState, action: Action, took_ms: int | None = None) -> Step:
        """Does one action. Total: an action outside the screen or for an unknown app changes nothing and says so.

        The clock moves on by `took_ms`, by as long as the recording says where that is None; what is due by then has happened.
        """
        step = self._act(state, action)
        after = step.state
        if took_ms is not None:
            after = after._replace(clock_ms=state.clock_ms + took_ms)
        if any([app.timers for app in after.apps.values()]):
            passed = after.clock_ms - state.clock_ms
            recorded = step.evidence == "recorded"
            later = {package: self.models[package].later(app, passed, recorded=recorded) for package, app in after.apps.items()}
            changed = step.changed or any(app.variables != after.apps[package].variables for package, app in later.items())
            return step._replace(state=after._replace(apps=Map(later)), changed=changed)
        return step if took_ms is None else step._replace(state=after)

    def _act(self, state: PhoneState, action: Action) -> Step:
        acting = self.models[state.foreground].acting(state.apps[state.foreground]) if state.foreground else None
        size = self.size if acting is None else acting.surface.size
        if not (isinstance(action, Tap) and 0 <= action.x < size.width and 0 <= action.y < size.height):
            try:
                check_on_screen(action, size)
            except ActionError as e:
                return Step(self._tick(state, 0), False, False, "unrecorded", f"{e.message}; {e.hint}")
        match action:
            case Answer() | Ask() | Finish():
                return Step(self._tick(state, 0), False, True, "assumed", "")
            case OpenApp(package):
                return self._open(state, package)
            case CloseApp(package):
                return self._close(state, package)
            case PressKey("home") if len(self.models) > 1:
                return self._to_launcher(state, "assumed", "Home shows the launcher")
            case PressKey("recents" | "power" | "wake" | "sleep" | "volume_up" | "volume_down") if not state.foreground:
                return Step(self._tick(state, self._step_ms), False, True, "assumed", "the launcher stays")
            case _ if acting is None:
                return self._on_launcher(state, action)
        reaction = acting.react(action)
        duration = action.duration_ms if isinstance(action, Wait) else (reaction.settle_ms or self._step_ms)
        if reaction.left:
            return self._to_launcher(state, reaction.evidence, reaction.message)
        return self._reacted(state, state.foreground, reaction, duration)

    def _tick(self, state: PhoneState, duration_ms: int) -> PhoneState:
        return PhoneState(state.apps, state.foreground, state.clock_ms + duration_ms, state.seed, state.steps + 1, state.recents)

    def _reacted(self, state: PhoneState, package: str, reaction: Reaction, duration_ms: int) -> Step:
        app = state.apps[package]
        changed = reaction.app is not app and reaction.app != app
        apps = state.apps.set(package, reaction.app) if changed else state.apps
        after = PhoneState(apps, package, state.clock_ms + duration_ms, state.seed, state.steps + 1, state.recents)
        rules = (reaction.rule,) if reaction.rule else ()
        return Step(after, changed or state.foreground != package, True, reaction.evidence, reaction.message, rules)

    def _to_launcher(self, state: PhoneState, evidence: EvidenceKind, message: str) -> Step:
        after = self._tick(state, self._step_ms)._replace(foreground="")
        if state.foreground:
            app = self.models[state.foreground].hidden(state.apps[state.foreground])
            after = after._replace(apps=after.apps.set(state.foreground, app))
        return Step(after, bool(state.foreground), True, evidence, message)

    def _open(self, state: PhoneState, package: str) -> Step:
        if package not in self.models:
            return Step(self._tick(state, 0), False, False, "unrecorded", f"no app {package!r} is installed; there are {', '.join(self.models)}")
        model, app = self.models[package], state.apps[package]
        if state.foreground == package:
            fired = model.fire(app, "open_app", "", package)
            if fired:
                return self._reacted(state, package, fired, fired.settle_ms or self._step_ms)
        recents = (package, *(p for p in state.recents if p != package))
        if not app.running:
            started = Reaction(model.restarted(app)._replace(departed=app.departed or app.stack != ()), "assumed", "the app starts")
            return self._reacted(state._replace(recents=recents), package, started, self._step_ms)
        inside = app
        if model.program.screens[app.screen].package != package:
            inside = model.back_inside(app) or model.start()._replace(departed=True)
        return self._reacted(state._replace(recents=recents), package, Reaction(inside, "assumed", "the app comes to the front"), self._step_ms)

    def _close(self, state: PhoneState, package: str) -> Step:
        if package not in self.models:
            return Step(self._tick(state, 0), False, False, "unrecorded", f"no app {package!r} is installed; there are {', '.join(self.models)}")
        model, app = self.models[package], state.apps[package]
        if state.foreground == package:
            fired = model.fire(app, "close_app", "", package)
            if fired:
                return self._reacted(state, package, fired, fired.settle_ms or self._step_ms)
        stopped = model.hidden(app)._replace(running=False, stack=())
        after = self._tick(state, self._step_ms)._replace(apps=state.apps.set(package, stopped))
        if state.foreground == package:
            after = after._replace(foreground="")
        return Step(after, True, True, "assumed", "the app is stopped")

    def _on_launcher(self, state: PhoneState, action: Action) -> Step:
        match action:
            case TypeText(_, int(x), int(y)) | Clear(int(x), int(y)):
                return self._on_launcher(state, Tap(x, y))  # typing at a place begins with a tap on it
            case Tap(x, y) | LongPress(x, y):
                tree = self._launcher_tree()
                hit = tree.hit_test(Point(x, y), "tap", self.size)
                if hit is not None and hit.target is not None:
                    label = tree.at(hit.target).label
                    package = next((p for p, shown in self._apps if shown == label), None)
                    if package is not None and isinstance(action, Tap):
                        return self._open(state, package)
        return Step(self._tick(state, self._step_ms), False, True, "assumed", "the launcher stays")


def _draw(app: AppState, screenful: Screenful, shown: dict[tuple[str, str], Value], density: int) -> View:
    """The view of an app: its layout with what its widgets show now put in."""
    layout = screenful.layout
    tree = layout.hierarchy
    changes: dict[str, dict[str, Value]] = {}
    for (key, attribute), value in shown.items():
        changes.setdefault(key, {})[attribute] = value
    if app.focus is not None and app.focus != screenful.focus:
        for field in filter(None, (app.focus, screenful.focus)):
            changes.setdefault(field, {})["focused"] = field == app.focus
    for key, attributes in changes.items():
        path = screenful.paths.get(key)
        if path is not None:
            node = tree.at(path)
            if "text" in attributes and node.hint and not attributes["text"] and node.text == node.hint:
                attributes["text"] = node.hint
            tree = tree.replace_at(path, replace(node, **attributes))  # type: ignore[arg-type]
    keyboard = keyboard_shown(app, screenful)
    state = replace(layout.state, keyboard=keyboard, clock_ms=None)
    recorded = layout.hierarchy
    if keyboard and not layout.state.keyboard:
        top = system.keyboard_bounds(layout.size, density).top
        tree, recorded = above(tree, top), above(recorded, top)
    digest = hashlib.sha256(repr((screenful.looks, sorted(shown.items()), app.focus)).encode()).hexdigest()[:24]
    return View(
        hierarchy=tree,
        size=layout.size,
        density=density,
        state=state,
        key=digest,
        recorded=recorded if layout.screenshot else None,
        screenshot=layout.screenshot,
        keyboard=keyboard and not (layout.state.keyboard and layout.screenshot),
    )
