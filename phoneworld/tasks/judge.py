"""What checkers mean: an episode watched step by step, and the verdict when the policy has finished.

    judge = Judge(setting, instance)
    trail = judge.begin()
    trail = judge.watch(trail, state)                            # after every step
    verdict = judge.verdict(trail, state, answer="three")        # at the end

A trail is an immutable value, so that an episode can be forked and put back. Success is judged at the end, never for passing through; only
what was visited, came in order or must never be is watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, assert_never

from phoneworld.errors import CheckerError, TaskError, TaskFault
from phoneworld.sim.state import AppState, PhoneState
from phoneworld.tasks.answers import answers
from phoneworld.tasks.checker import (
    AllOf,
    Answer,
    AnyOf,
    Checker,
    Custom,
    CustomCheck,
    Data,
    InApp,
    InOrder,
    Never,
    NotSo,
    Rows,
    Sql,
    State,
    Visible,
    Visited,
    as_data,
    every,
    in_words,
    shown,
    sought,
    walk,
)
from phoneworld.tasks.differences import Difference, differences
from phoneworld.tasks.names import nearest
from phoneworld.tasks.queries import query_tables
from phoneworld.tasks.recognising import is_on
from phoneworld.tasks.rows import RowsAim
from phoneworld.tasks.sights import sight
from phoneworld.tasks.stored import Known
from phoneworld.tasks.task import Instance, Setting, Task, path_of
from phoneworld.tasks.verdict import Finding, Verdict
from phoneworld.ui.action import Status
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

_SIGHTS_KEPT = 256
NO_CHECKS: Mapping[str, CustomCheck] = {}


class Trail(NamedTuple):
    """What an episode has shown so far: how far each sequence is, which of the `never` have happened, in the order of the checkers."""

    reached: tuple[int, ...] = ()
    broken: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class _Now:
    """What a checker may look at. `state` is None on a real phone; `known` is then what could be read of what the app has stored."""

    state: PhoneState | None
    tree: Hierarchy | None
    size: Size
    answer: str | None
    trail: Trail
    known: Known | None = None


class Judge:
    """The checker of one instance, made ready. Raises TaskError where it names what the app does not have, or a row that is not there."""

    def __init__(self, setting: Setting, instance: Instance, *, custom: Mapping[str, CustomCheck] = NO_CHECKS, on_phone: bool = False) -> None:
        self.setting = setting
        self.instance = instance
        self.custom = custom
        self.checker = (instance.on_phone or instance.checker) if on_phone else instance.checker
        self._start = setting.exporter.app(instance.start)
        self._sequences: list[Visited | InOrder] = []
        self._nevers: list[Never] = []
        self._place: dict[int, int] = {}
        self._aims: dict[int, RowsAim] = {}
        self._kept = setting.kept_in_order
        self._sights: dict[tuple[int, int], tuple[Hierarchy, Finding]] = {}
        self._worded: dict[tuple[object, ...], tuple[object, str]] = {}
        self._last: tuple[PhoneState, Trail, Verdict] | None = None
        self.inner: dict[int, Judge] = {}
        """The judge of each part that is about another app, by the id of the part."""
        self._timeless = True
        """True where nothing that is asked could read the clock."""
        free = set(setting.free_variables)
        asking = frozenset(map(id, sought(self.checker)))
        for node in walk(self.checker):
            match node:
                case Rows():
                    with self._placed(node):
                        self._aims[id(node)] = RowsAim(node, setting, self._start)
                case State(path, _):
                    parsed = path_of(path)
                    if id(node) in asking:  # what must never be is not asked for
                        free.update(map(setting.task.names.variable, parsed.variables))
                    self._timeless = self._timeless and (parsed.alone is not None or path == "screen")
                case Visited(screens):
                    with self._placed(node):
                        self._check_screens(screens)
                    self._place[id(node)] = len(self._sequences)
                    self._sequences.append(node)
                case InOrder():
                    self._place[id(node)] = len(self._sequences)
                    self._sequences.append(node)
                case Never():
                    self._place[id(node)] = len(self._nevers)
                    self._nevers.append(node)
                case InApp(app, what):
                    with self._placed(node):
                        self.inner[id(node)] = self.beside(app, what)
                case Custom():
                    check_plugged_in(node, custom, setting.task)
                    self._timeless = False
                case _:
                    pass
        self._free_variables, self._free_columns = free, setting.free_columns
        self._asking = tuple(aim for i, aim in self._aims.items() if i in asking)
        self._others = {name: self.beside(name, AllOf(tuple(n.what for n in walk(self.checker) if isinstance(n, InApp) and n.app == name))) for name in setting.others}

    @contextmanager
    def _placed(self, node: Checker) -> Iterator[None]:
        """What is wrong with a part of the checker is told with its file and line."""
        try:
            yield
        except TaskFault as e:
            raise e.at(node.place or self.setting.task.place("check")) from None

    def _check_screens(self, screens: tuple[str, ...]) -> None:
        known = self.setting.program.screens
        for screen in screens:
            if self.setting.task.names.screen(screen) not in known:
                raise TaskError(f"the app has no screen {screen!r}", hint=nearest(screen, (*self.setting.task.names.screens, *known)))

    def on(self, instance: Instance) -> Judge:
        """A judge of another instance of the same task."""
        return Judge(self.setting, instance, custom=self.custom)

    def beside(self, app: str, what: Checker) -> Judge:
        """A judge of what is to hold in another app of the task. Raises TaskError for one that it does not name."""
        if app not in self.setting.others:
            raise TaskError(f"{self.setting.task.id} asks for something in {app!r}, which is none of its apps", hint=nearest(app, self.setting.others))
        return Judge(self.setting.others[app], replace(self.instance, checker=what, look=None, on_phone=None), custom=self.custom)

    def targets(self, checker: Rows) -> RowsAim:
        """Which rows of the start one of its checkers of rows means."""
        return self._aims[id(checker)]

    # Watching

    @property
    def watches(self) -> bool:
        """True where the way matters, not only where it ends."""
        return bool(self._sequences or self._nevers)

    def begin(self) -> Trail:
        """The trail at the start, the start itself seen."""
        trail = Trail((0,) * len(self._sequences), (False,) * len(self._nevers))
        return self.watch(trail, self.instance.start)

    def watch(self, trail: Trail, state: PhoneState) -> Trail:
        """The trail with one more state seen. Costs nothing where only the end matters."""
        if not self.watches:
            return trail
        now = self._now(state, None, trail, None)
        reached = list(trail.reached)
        for i, node in enumerate(self._sequences):
            reached[i] = self._further(node, reached[i], now)
        broken = tuple(was or self._look(node.what, now).holds is True for was, node in zip(trail.broken, self._nevers, strict=True))
        return Trail(tuple(reached), broken)

    def _further(self, node: Checker, reached: int, now: _Now) -> int:
        if isinstance(node, Visited):
            assert now.state is not None
            screen = self.setting.exporter.app(now.state).screen if now.state.foreground == self.setting.package else ""
            return reached + (reached < len(node.screens) and self.setting.task.names.screen(node.screens[reached]) == screen)
        assert isinstance(node, InOrder)
        # The last part is asked at the end: to have passed through it is not enough.
        while reached < len(node.parts) - 1 and self._look(node.parts[reached], now).holds is True:
            reached += 1
        return reached

    # Judging

    def verdict(self, trail: Trail, state: PhoneState, *, answer: str | None = None, status: Status = "success") -> Verdict:
        """What to say of an episode that ends here. A policy that says it failed has not succeeded, whatever the state.

        Raises CheckerError where the checker itself fails.
        """
        plain = answer is None and status == "success" and self._timeless
        last = self._last
        if plain and last is not None and last[0].apps is state.apps and last[0].foreground == state.foreground and last[1] == trail:
            return last[2]  # many a step changes nothing
        finding = self._look(self.checker, self._now(state, None, trail, answer))
        surplus = self._surplus(state)
        violations = tuple([in_words(node.what) for node, broken in zip(self._nevers, trail.broken, strict=True) if broken]) if self._nevers else ()
        side_effects = tuple(map(self._told, surplus)) if surplus else ()
        for name, other in self._others.items():
            side_effects += tuple([f"{name}: {other._told(d)}" for d in other._surplus(state)])
        clean = not violations and (not side_effects or not self.setting.task.unchanged.on)
        success = finding.holds is True and clean and status == "success"
        verdict = Verdict(success, finding.holds is True, finding.progress, side_effects, violations, finding, surplus)
        if plain:
            self._last = (state, trail, verdict)
        return verdict

    def _surplus(self, state: PhoneState) -> tuple[Difference, ...]:
        """What changed and was not asked for, in the app that the judge is about."""
        app = self.setting.exporter.app(state)
        found = differences(self._start, app, self._kept)
        return tuple([d for d in found if not self._is_asked(d, app)]) if found else ()

    def _told(self, d: Difference) -> str:
        """A side effect in words, made once: what went wrong early is there in every later verdict."""
        key = (*d[:6], type(d.before), type(d.after), id(d.cells))
        known = self._worded.get(key)
        if known is None:
            if len(self._worded) >= _SIGHTS_KEPT:
                self._worded.clear()
            # The cells are kept too, so that no others can come by their id.
            known = self._worded[key] = (d.cells, d.words(self.setting.task.names))
        return known[1]

    def verdict_on_phone(
        self, trail: Trail, tree: Hierarchy, size: Size, *, answer: str | None = None, status: Status = "success", known: Known | None = None
    ) -> Verdict:
        """The same for a phone of which only the screen can be seen, and `known`. What that does not decide is None, in `success` too."""
        finding = self._look(self.checker, _Now(None, tree, size, answer, trail, known))
        surplus: tuple[Difference, ...] = ()
        if known is not None:
            found = differences(self._start, known.app, [name for name in self._kept if name in known.variables])
            surplus = tuple([d for d in found if not self._is_asked(d, known.app)])
        clean = not surplus or not self.setting.task.unchanged.on
        success = False if status != "success" else finding.holds if clean else False
        return Verdict(success, finding.holds is True, finding.progress, tuple(map(self._told, surplus)), (), finding, surplus)

    def _can_tell(self, node: State | Rows, known: Known) -> bool:
        """True where what the app has stored tells all that a checker asks."""
        if isinstance(node, State):
            alone = path_of(node.path).alone
            return alone is not None and self.setting.task.names.variable(alone) in known.variables
        aim = self._aims[id(node)]
        return aim.table in known.tables and all((aim.table, column) in known.columns for column in aim.asked)

    def progress(self, trail: Trail, state: PhoneState, *, answer: str | None = None) -> float:
        """How much of the goal holds now, from 0 to 1."""
        return self._look(self.checker, self._now(state, None, trail, answer)).progress

    def _is_asked(self, difference: Difference, app: AppState) -> bool:
        if difference.kind == "variable":
            return difference.column in self._free_variables
        if (difference.table, "") in self._free_columns or (difference.table, difference.column) in self._free_columns:
            return True
        return any(aim.asks(difference, app) for aim in self._asking)

    def _now(self, state: PhoneState, tree: Hierarchy | None, trail: Trail, answer: str | None) -> _Now:
        return _Now(state, tree, self.setting.phone.size, answer, trail)

    def _look(self, checker: Checker, now: _Now) -> Finding:
        match checker:
            case State(path, comparison):
                if now.state is not None:
                    found = as_data(self._find(checker, now.state))
                    if path == "screen":
                        comparison = replace(comparison, value=self._screens_called(comparison.value))
                elif now.known is not None and self._can_tell(checker, now.known):
                    found = now.known.app.variables.get(self.setting.task.names.variable(path_of(path).alone or ""))
                elif path == "screen" and comparison.op == "is" and now.tree is not None:
                    return self._recognised(checker, now.tree, now.size)
                else:
                    return self._unknown(checker)
                return Finding.plain(partial(in_words, checker), comparison.holds(found), partial(shown, found))
            case Sql(query, comparison, arguments):
                if now.state is None:
                    return self._unknown(checker)
                with self._placed(checker):
                    answer = query_tables(self.setting.exporter, now.state, query, dict(arguments))
                return Finding.plain(partial(in_words, checker), comparison.holds(answer), partial(shown, answer))
            case Rows():
                if now.state is not None:
                    return self._aims[id(checker)].look(self.setting.exporter.app(now.state))
                if now.known is not None and self._can_tell(checker, now.known):
                    return self._aims[id(checker)].look(now.known.app)
                return self._unknown(checker)
            case Answer():
                holds = now.answer is not None and answers(checker, now.answer)
                return Finding.plain(partial(in_words, checker), holds, "no answer" if now.answer is None else partial(shown, now.answer))
            case Visible():
                return self._visible(checker, now)
            case Visited(screens):
                if now.state is None:
                    return self._unknown(checker)
                reached = now.trail.reached[self._place[id(checker)]]
                seen = ", ".join(screens[:reached]) or "none of them"
                return Finding(partial(in_words, checker), reached == len(screens), seen, reached / len(screens) if screens else 1.0)
            case Never():
                if now.state is None:
                    return self._unknown(checker)
                broken = now.trail.broken[self._place[id(checker)]]
                return Finding.plain(partial(in_words, checker), not broken, "it happened" if broken else "it did not happen")
            case AllOf(parts):
                return Finding.every([self._look(part, now) for part in parts], counted=[not isinstance(part, Never) for part in parts])
            case AnyOf(parts):
                return Finding.some([self._look(part, now) for part in parts])
            case NotSo(what):
                inner = self._look(what, now)
                turned = None if inner.holds is None else not inner.holds
                return Finding(partial(in_words, checker), turned, inner.shows, float(turned is True), (inner,))
            case InOrder(parts):
                return self._in_order(checker, parts, now)
            case InApp():
                return self._elsewhere(checker, now)
            case Custom():
                return self._customs(checker, now)
            case _:
                assert_never(checker)

    def _elsewhere(self, checker: InApp, now: _Now) -> Finding:
        """What is asked of another app: what is seen there is seen while it is in front."""
        if now.state is None:
            return self._unknown(checker)
        inner = self.inner[id(checker)]
        if now.state.foreground != inner.setting.package and any(isinstance(n, Visible) or (isinstance(n, State) and n.path == "screen") for n in walk(checker.what)):
            return Finding.plain(partial(in_words, checker), False, "another app is in front")
        return inner._look(inner.checker, replace(now, trail=inner.begin() if inner.watches else Trail()))

    def _in_order(self, checker: InOrder, parts: tuple[Checker, ...], now: _Now) -> Finding:
        if now.state is None:
            return self._unknown(checker)
        reached = now.trail.reached[self._place[id(checker)]]
        found = [self._look(part, now) for part in parts]
        found = [replace(f, holds=True, progress=1.0) if i < reached else f for i, f in enumerate(found)]
        holds = reached >= len(parts) - 1 and found[-1].holds is True
        progress = (reached + (found[reached].progress if reached < len(parts) else 0.0)) / len(parts)
        return Finding("in this order", holds, f"{reached + holds} of {len(parts)}", progress, tuple(found))

    def _customs(self, checker: Custom, now: _Now) -> Finding:
        if now.state is None:
            return self._unknown(checker)
        export = self.setting.exporter.document
        try:
            holds = bool(self.custom[checker.name](export(self.instance.start), export(now.state), dict(checker.arguments)))
        except Exception as e:  # a plug-in may raise anything: it is its fault, and no score
            told = CheckerError(f"the checker {checker.name} raised {type(e).__name__}: {e}", hint="mend the plug-in")
            raise told.at(checker.place) from e
        return Finding.plain(partial(in_words, checker), holds, "so" if holds else "not so")

    def _screens_called(self, value: Data) -> Data:
        """Screens as documents call them: a task may say the Program's own name too."""
        if isinstance(value, tuple):
            return tuple(map(self._screens_called, value))
        return self.setting.exporter.screen_called(self.setting.task.names.screen(value)) if isinstance(value, str) else value

    def _find(self, checker: State, state: PhoneState) -> object:
        path, parsed = checker.path, path_of(checker.path)
        if parsed.alone is not None:
            return self.setting.exporter.app(state).variables.get(self.setting.task.names.variable(parsed.alone))
        if path == "screen":
            return self.setting.exporter.screen(state)
        try:
            return parsed.find(self.setting.exporter.document(state))
        except TaskError as e:
            raise CheckerError(e.message, hint=e.hint, place=checker.place) from None

    def _visible(self, checker: Visible, now: _Now) -> Finding:
        tree, size = now.tree, now.size
        if tree is None:
            assert now.state is not None
            view = self.setting.phone.look(now.state)
            tree, size = view.hierarchy, view.size
        key = (id(checker), id(tree))
        known = self._sights.get(key)
        if known is None:
            if len(self._sights) >= _SIGHTS_KEPT:
                self._sights.clear()
            # The tree is kept too, so that no other can come by its id.
            known = self._sights[key] = (tree, sight(checker, tree, size))
        return known[1]

    def _recognised(self, checker: State, tree: Hierarchy, size: Size) -> Finding:
        """A screen, told by what a phone shows."""
        name = self.setting.task.names.screen(str(checker.comparison.value))
        holds = is_on(name, self.setting.program, tree, size)
        found = {True: "it is", False: "another one is", None: "it cannot be told which one is"}[holds]
        return Finding(partial(in_words, checker), holds, found, float(holds is True))

    def _unknown(self, checker: Checker) -> Finding:
        return Finding(partial(in_words, checker), None, "cannot be seen on this phone", 0.0)


def check_plugged_in(checker: Checker, custom: Mapping[str, CustomCheck], task: Task) -> None:
    """Raises TaskError for a checker of a plug-in that is not installed, in a checker or anywhere inside it."""
    for node in every(checker):
        if isinstance(node, Custom) and node.name not in custom:
            raise TaskError(f"no plug-in has a checker {node.name!r}", hint=nearest(node.name, custom), place=node.place or task.place("check"))
