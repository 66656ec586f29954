"""A shortest solution of a task, found by search over the simulator: its length is the task's difficulty, its path a demonstration.

The search acts as an agent does, by touching pixels of what is shown. It tries first what can matter (screens that lead on, what sets what
the goal reads, rows that the goal is about), then more, then everything; and what nobody recorded never.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, permutations
from typing import Any, NamedTuple

from phoneworld.program.program import EvidenceKind, weakest
from phoneworld.program.template import KEYBOARD
from phoneworld.sim.drawing import Drawing
from phoneworld.sim.phone import Phone
from phoneworld.sim.screenful import Screenful
from phoneworld.sim.state import AppState, PhoneState
from phoneworld.tasks.aims import Aims, typed_words
from phoneworld.tasks.checker import AllOf, Answer, AnyOf, Checker, InApp, InOrder, Visible, walk
from phoneworld.tasks.episode import Episode, run
from phoneworld.tasks.influence import FAR, Influence
from phoneworld.tasks.judge import Judge, Trail
from phoneworld.tasks.reading_values import WITHOUT_YEAR, day_in
from phoneworld.tasks.task import written
from phoneworld.tasks.touchables import Touchable, scroller, touchables
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui import system
from phoneworld.ui.action import Action, Finish, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.action import Answer as Say

EFFORT = 600
"""How many states are looked at before the search gives up, in each of its widths."""
_FURTHER = 40
"""How many more are looked at for a shorter way once there is one."""
_ORDERS = 6
"""In how many orders the parts of a goal are tried."""
_WIDTHS = (0, 1, 2)
_SURFACES_KEPT = 512


@dataclass(frozen=True, slots=True)
class Solution:
    """How the oracle does it. `evidence` is the weakest of its steps; `screens` those it shows, in order; `looked_at` how many states it tried."""

    actions: tuple[Action, ...]
    evidence: EvidenceKind
    screens: tuple[str, ...]
    looked_at: int

    @property
    def length(self) -> int:
        """How many actions change or move anything: all but the last word of the policy."""
        return len(self.actions)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Why there is no solution."""

    reason: str
    looked_at: int


class _Node(NamedTuple):
    state: PhoneState
    trail: Trail
    actions: tuple[Action, ...]
    evidence: EvidenceKind


class Oracle:
    """Solves tasks on one phone. What it learns of the Program serves all of them."""

    def __init__(self, phone: Phone, package: str | None = None) -> None:
        self.phone = phone
        self.package = package or phone.main
        self.influence = Influence(phone.models[self.package].program)
        self._beside: dict[str, Oracle] = {}
        self._density = phone.models[self.package].program.device.density
        self._touchables: OrderedDict[tuple[int, bool], tuple[Drawing | Screenful, tuple[Touchable, ...]]] = OrderedDict()

    def touchables(self, surface: Drawing | Screenful, *, keyboard: bool) -> tuple[Touchable, ...]:
        """What can be touched on a screen; worked out once for each."""
        key = (id(surface), keyboard)
        known = self._touchables.get(key)
        if known is None:
            # The surface is kept too, so that no other can come by its id.
            known = self._touchables[key] = (surface, tuple(touchables(surface, density=self._density, keyboard=keyboard)))
            if len(self._touchables) > _SURFACES_KEPT:
                self._touchables.popitem(last=False)
        return known[1]

    def of(self, package: str) -> Oracle:
        """The oracle of another app on the phone."""
        if package == self.package:
            return self
        if package not in self._beside:
            self._beside[package] = Oracle(self.phone, package)
        return self._beside[package]

    def solve(self, judge: Judge, *, effort: int = EFFORT) -> Solution | GivenUp:
        """The shortest solution that the search finds, checked by the judge; or why there is none."""
        goal, said = search_goal(judge)
        search = _Search(self, goal, effort)
        if any(aim.hopeless for aim in search.aims.all):
            return GivenUp("nothing that is known ever does this: " + "; ".join(line.strip() for line in _missing(goal)[:2]), 0)
        known = self._one_by_one(goal, effort, search)
        # A search of all at once knows of one app only.
        found = known if goal.setting.others else search.run(known)
        if found is None:
            return GivenUp(search.reason() if not goal.setting.others else "the parts cannot be done one after the other", search.looked_at)
        actions = (*search.shortened(found.actions), Say(said) if said is not None else Finish())
        episode = run(judge, actions)
        if episode.verdict.success is not True:
            return GivenUp(f"what it found is not taken: {'; '.join(episode.verdict.explain().splitlines()[:4])}", search.looked_at)
        return Solution(episode.actions, episode.evidence, screens_of(judge, episode), search.looked_at)


    def _one_by_one(self, goal: Judge, effort: int, search: _Search) -> _Node | None:
        """A way to a goal of several parts that does one after the other, in the best order: much sooner found than all at once."""
        several = tuple(_flat(goal.checker))
        if len(several) < 2:
            return None
        known: dict[tuple[int, ...], _Node | None] = {(): _Node(goal.instance.start, goal.begin(), (), "recorded")}
        best: _Node | None = None
        orders = (order for order in permutations(range(len(several))) if self._reads_before(goal, several, order))
        for order in islice(orders, _ORDERS):
            for n in range(1, len(order) + 1):
                if order[:n] not in known:
                    before = known[order[: n - 1]]
                    longer = before is not None and best is not None and len(before.actions) + 1 >= len(best.actions)
                    # Most goals have a best order, and the others often none at all: they get a short look.
                    as_told = order == tuple(range(len(order)))
                    known[order[:n]] = None if before is None or longer else self._next(goal, several, order[:n], before, effort, as_told)
            found = known[order]
            if found is not None and goal.setting.others and not search.passes(found.actions):
                continue  # each part was done, and something was to be before something else
            if found is not None and (best is None or len(found.actions) < len(best.actions)):
                best = found
        return best

    def _reads_before(self, goal: Judge, several: tuple[Checker, ...], order: tuple[int, ...]) -> bool:
        """True where words that have to be read somewhere are read before they are needed."""
        unread = [to_read(several[i], goal.instance.instruction) for i in order]
        if not any(unread):
            return True
        later: frozenset[str] = frozenset()
        for i, here in zip(reversed(order), reversed(unread), strict=True):
            if not here and later and later & _needed(Aims(goal.on(replace(goal.instance, checker=several[i])), self.influence)):
                return False
            later |= here
        return True

    def _next(self, goal: Judge, several: tuple[Checker, ...], order: tuple[int, ...], before: _Node, effort: int, first_order: bool) -> _Node | None:
        app = _app_of(several[order[-1]])
        done = [several[i] for i in order[:-1] if not _was_seen(several[i]) and _app_of(several[i]) == app]
        checker = AllOf((*done, several[order[-1]]))
        part = goal.on(replace(goal.instance, checker=checker)) if not app else goal.beside(app, _inside(checker))
        first = _Node(before.state, part.watch(part.begin(), before.state), (), "recorded")
        search = _Search(self.of(part.setting.package), part, effort if first_order else _FURTHER, further=0, widths=_WIDTHS if first_order else _WIDTHS[:1])
        found = search.run(first=first)
        return None if found is None else _Node(found.state, before.trail, (*before.actions, *found.actions), weakest(before.evidence, found.evidence))


def _app_of(checker: Checker) -> str:
    """The other app that a part of a goal is about; "" for the task's own, or where it is about several."""
    apps = {node.app for node in walk(checker) if isinstance(node, InApp)}
    return apps.pop() if len(apps) == 1 else ""


def _inside(checker: Checker) -> Checker:
    """What is asked of another app, as it is asked there. What is asked of the task's own at the same time cannot be brought about there."""
    match checker:
        case InApp(_, what):
            return what
        case AllOf(parts):
            return AllOf(tuple(_inside(part) for part in parts if _app_of(part)))
        case InOrder(parts):
            return InOrder(tuple(map(_inside, parts)))
        case _:
            return checker


def _flat(checker: Checker) -> Iterator[Checker]:
    if isinstance(checker, AllOf):
        for part in checker.parts:
            yield from _flat(part)
    else:
        yield checker


def _was_seen(checker: Checker) -> bool:
    """True for what had to be seen at some time, and need not be again."""
    return isinstance(checker, InOrder) and checker.parts[-1:] == (AllOf(()),)


def _needed(aims: Aims) -> frozenset[str]:
    """The words that some way to a goal needs."""
    needs = (value for aim in aims.all for way in aim.ways for _, value in way.needs if isinstance(value, str))
    return frozenset((*needs, *(word for aim in aims.all for word in aim.words)))


def to_read(checker: Checker, instruction: str) -> frozenset[str]:
    """The words that a part of a goal asks to be seen, but for those that the instruction tells."""
    match checker:
        case AllOf(parts):
            return frozenset[str]().union(*(to_read(part, instruction) for part in parts))
        case Visible(says=says, shows=shows):
            return frozenset(w for w in (says, shows) if w and w not in instruction)
        case InOrder((first, *_)) if _was_seen(checker):
            return to_read(first, instruction)
        case InApp(_, what):
            return to_read(what, instruction)
        case _:
            return frozenset()


def _missing(goal: Judge) -> list[str]:
    finding = goal.verdict(goal.begin(), goal.instance.start).finding
    return [line for line in finding.lines() if line.lstrip().startswith("no ")]


def screens_of(judge: Judge, episode: Episode) -> tuple[str, ...]:
    """The screens that an episode shows, one after the other."""
    states = [judge.instance.start, *(step.state for step in episode.steps)]
    about = {judge.setting.package: "", **{other.package: f"{name} " for name, other in judge.setting.others.items()}}
    shown = [about[s.foreground] + s.apps[s.foreground].screen for s in states if s.foreground in about]
    return tuple(s for i, s in enumerate(shown) if i == 0 or shown[i - 1] != s)


def search_goal(judge: Judge) -> tuple[Judge, str | None]:
    """What there is to reach by acting, and what is to be said then: an answer can be given once it has been seen.

    Raises TaskError for several answers, as a policy gives one.
    """
    instance = judge.instance
    said: list[Answer] = []

    def without_answer(checker: Checker) -> Checker | None:
        match checker:
            case Answer():
                said.append(checker)
                return None
            case AllOf(parts) | AnyOf(parts) | InOrder(parts):
                kept = tuple(part for part in map(without_answer, parts) if part is not None)
                return replace(checker, parts=kept) if kept else None
            case _:
                return checker

    rest = without_answer(instance.checker)
    words = " ".join(dict.fromkeys(spoken(answer) for answer in said))
    look = instance.look or (Visible(says=words) if said else None)
    parts = tuple(part for part in (look, rest) if part is not None)
    goal = parts[0] if len(parts) == 1 else AllOf(parts)
    if instance.look is not None and (rest is not None or isinstance(instance.look, AllOf)):
        # What was seen need not be on the screen still when the rest is done.
        seen = instance.look.parts if isinstance(instance.look, AllOf) else (instance.look,)
        goal = AllOf((*(InOrder((part, AllOf(()))) for part in seen), *((rest,) if rest is not None else ())))
    return judge.on(replace(instance, checker=goal)), words if said else None


def spoken(answer: Answer) -> str:
    """What a policy that knows the answer says."""
    value = answer.value
    if isinstance(value, tuple):
        return ", ".join(str(item) for item in value)
    if answer.kind == "date" and (day := day_in(str(value))) is not None:
        return written(day, "D Month YYYY" if day.year > WITHOUT_YEAR else "D Month")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


class _Search:
    """One search: best first, by the actions done and a guess of those to come, in ever wider choices."""

    def __init__(self, oracle: Oracle, goal: Judge, effort: int, *, further: int = _FURTHER, widths: tuple[int, ...] = _WIDTHS) -> None:
        self.oracle = oracle
        self.goal = goal
        self.effort = effort
        self.further = further
        self.widths = widths
        self.phone = oracle.phone
        self.influence = oracle.influence
        self.aims = Aims(goal, oracle.influence)
        variables = frozenset[str]().union(*(a.variables for a in self.aims.all))
        tables = frozenset[str]().union(*(a.tables for a in self.aims.all))
        self.variables, self.tables = oracle.influence.matters(variables, tables)
        self.rows = frozenset[tuple[str, int]]().union(*(a.rows for a in self.aims.all))
        self.deeds = frozenset[tuple[str, str]]().union(*(a.deeds for a in self.aims.all))
        self.row_tables = {table for table, _ in self.rows}
        self.words = tuple(dict.fromkeys(w for a in self.aims.all for w in a.words))
        # Nobody can type what he has yet to read; and an app that says back what was typed has not told it.
        self.unread = to_read(goal.checker, goal.instance.instruction)
        self.looked_at = 0
        self._closest = FAR * 9
        self._open: list[str] = []
        self._unknown = 0

    def run(self, known: _Node | None = None, *, first: _Node | None = None) -> _Node | None:
        """The shortest way found from `first`, or from the start; where one is `known`, it is looked for a shorter one for a while."""
        first = first or _Node(self.goal.instance.start, self.goal.begin(), (), "recorded")
        if known is not None:
            known = known._replace(actions=self.shortened(known.actions))
            if self.passes(known.actions):
                return self._widened(first, 0, known)
        for width in self.widths:
            found = self._widened(first, width)
            if found is not None:
                return found
        return None

    def reason(self) -> str:
        """Why nothing was found, as far as it got."""
        still = "; ".join(self._open[:2]) or "the goal"
        beyond = f"; {self._unknown} ways led to what was not recorded" if self._unknown else ""
        return f"{self.looked_at} states were looked at and none had: {still}{beyond}"

    def _widened(self, first: _Node, width: int, best: _Node | None = None) -> _Node | None:
        counter = 0
        heap: list[tuple[int, int, int, _Node, Verdict]] = []
        seen: dict[Any, int] = {}
        verdict = self.goal.verdict(first.trail, first.state)
        heapq.heappush(heap, (0, 0, 0, first, verdict))
        left = self.effort if best is None else self.further
        while heap and left > 0:
            _, _, _, node, verdict = heapq.heappop(heap)
            if verdict.success is True:
                # The guess of what is to come may have been too high: a shorter way might be left.
                if best is None or len(node.actions) < len(best.actions):
                    best, left = node, min(left, self.further)
                continue
            left -= 1
            if best is not None and len(node.actions) + 1 >= len(best.actions):
                continue
            self.looked_at += 1
            for action in self._actions(node.state, width, verdict):
                step = self.phone.step(node.state, action)
                if step.evidence == "unrecorded" or not step.valid:
                    self._unknown += step.evidence == "unrecorded"
                    continue
                if not step.changed:
                    continue
                trail = self.goal.watch(node.trail, step.state)
                known = (mark(step.state), trail)
                cost = len(node.actions) + 1
                if seen.get(known, cost + 1) <= cost:
                    continue
                seen[known] = cost
                after = self.goal.verdict(trail, step.state)
                if after.violations or self._spoilt(after):
                    continue
                far = self._far(after, step.state)
                counter += 1
                child = _Node(step.state, trail, (*node.actions, action), weakest(node.evidence, step.evidence))
                heapq.heappush(heap, (cost + far, far, counter, child, after))
        return best

    def _spoilt(self, verdict: Verdict) -> bool:
        """True where a row is gone, or has come, that has nothing to do with the goal: that seldom can be undone."""
        return self.goal.setting.task.unchanged.on and any(d.kind in ("added", "deleted") and (d.table, d.kind) not in self.deeds for d in verdict.surplus)

    def _far(self, verdict: Verdict, state: PhoneState) -> int:
        aims = self.aims.open(verdict.finding)
        app = self.goal.setting.exporter.app(state)
        far = self.aims.distance(aims, app) if state.foreground == self.goal.setting.package else FAR
        if self.goal.setting.task.unchanged.on:
            far += len(verdict.side_effects)
        if far < self._closest:
            self._closest = far
            self._open = [line.strip() for line in verdict.explain().splitlines() if line.strip().startswith("no")] or list(verdict.side_effects)
        return far

    # Choices

    def _actions(self, state: PhoneState, width: int, verdict: Verdict) -> Iterator[Action]:
        package = self.goal.setting.package
        if state.foreground != package:
            yield OpenApp(package)
            return
        app = state.apps[package]
        model = self.phone.models[package]
        surface = model.surface(app)
        density = model.program.device.density
        keyboard = bool(app.variables.get(KEYBOARD)) if isinstance(surface, Drawing) else self.phone.look(state).state.keyboard
        floor = system.keyboard_bounds(surface.size, density).top if keyboard else surface.size.height
        beyond: set[int] = set()
        tried: set[tuple[str, str]] = set()
        for touch in self.oracle.touchables(surface, keyboard=keyboard):
            if not self._matters(app, touch, width, tried):
                continue
            if touch.point is None:
                beyond |= {touch.beyond} if touch.beyond else {1, -1}
                continue
            yield from self._on(app, touch, width)
        yield PressKey("back")
        focus = app.variables.get("focus") if isinstance(surface, Drawing) else app.focus
        if focus is not None and self._key_matters(app, "enter", width):
            yield PressKey("enter")
        if self._looks_for_words(surface, verdict) or (width and isinstance(surface, Drawing) and surface.model.scroll):
            beyond |= {1, -1}
        bounds = scroller(surface, floor) if beyond else None
        if bounds is not None:
            x, reach = bounds.center.x, bounds.height * 3 // 10
            for way in sorted(beyond, reverse=True):
                yield Swipe(x, bounds.center.y + way * reach, x, bounds.center.y - way * reach)

    def _looks_for_words(self, surface: Drawing | Screenful, verdict: Verdict) -> bool:
        """True where words of the goal stand on the screen, out of sight."""
        wanted = [word for aim in self.aims.open(verdict.finding) if not aim.variables and not aim.tables for word in aim.words]
        if not wanted:
            return False
        for path, node in surface.hierarchy.walk():
            if node.visible and any(w in node.text or w in node.content_desc for w in wanted) and not surface.hierarchy.is_visible(path, surface.size):
                return True
        return False

    def _matters(self, app: AppState, touch: Touchable, width: int, tried: set[tuple[str, str]]) -> bool:
        if touch.gesture == "long_press" and not self.influence.at(app.screen, "long_press", touch.key) and width < 2:
            return False
        if touch.row is not None and not self._row_matters(app, touch, width, tried):
            return False
        if width == 2:
            return True
        kind = {"tap": "tap", "type": "type", "long_press": "long_press", "scroll": "swipe_up"}[touch.gesture]
        deeds = self.influence.at(app.screen, kind, touch.key)  # type: ignore[arg-type]
        variables = self.variables | (self.influence.hiders if width else frozenset())
        for deed in deeds:
            if deed.leads or deed.goes_back or deed.variables & variables or any(table in self.tables for table, _ in deed.rows):
                return True
        return False

    def _row_matters(self, app: AppState, touch: Touchable, width: int, tried: set[tuple[str, str]]) -> bool:
        """Rows that the goal is about; where it is about none of this table, the first that can be touched will do."""
        assert touch.row is not None
        if width == 2 or touch.table is None or (touch.table, touch.row) in self.rows:
            return True
        if touch.table in self.row_tables and width == 0:
            return False
        if self.words and any(w in self._words(app, touch) for w in self.words):
            return True
        if width == 1:
            return True
        if touch.point is None or (touch.table, touch.key + touch.gesture) in tried:
            return False
        tried.add((touch.table, touch.key + touch.gesture))
        return True

    def _words(self, app: AppState, touch: Touchable) -> str:
        row = next((r for r in app.tables.get(touch.table or "", ()) if r.get("#") == touch.row), None)
        return "\n".join(c for c in row.values() if isinstance(c, str)) if row else ""

    def _on(self, app: AppState, touch: Touchable, width: int) -> Iterator[Action]:
        assert touch.point is not None
        x, y = touch.point.x, touch.point.y
        match touch.gesture:
            case "type":
                deeds = self.influence.at(app.screen, "type", touch.key)
                names = [name for deed in deeds for name in sorted(deed.variables) if name not in self.influence.bookkeeping]
                texts = list(dict.fromkeys(text for name in names for text in typed_words(self.aims.all, name)))
                for text in texts or (self.words if width else ()):
                    if touch.node.value != text and text not in self.unread:
                        yield TypeText(text, x, y, "replace")
                if touch.node.value and width:
                    yield TypeText("", x, y, "replace")
            case "long_press":
                yield LongPress(x, y)
            case _:
                if not touch.node.is_editable or width == 2 or any(d.leads for d in self.influence.at(app.screen, "tap", touch.key)):
                    yield Tap(x, y)

    def _key_matters(self, app: AppState, key: str, width: int) -> bool:
        return width > 0 or any(d.leads or d.goes_back or d.rows or d.variables & self.variables for d in self.influence.keys(app.screen, "key") if key)

    # Afterwards

    def shortened(self, actions: tuple[Action, ...]) -> tuple[Action, ...]:
        """The actions without those that it does without."""
        i = len(actions) - 1
        while i >= 0:
            fewer = actions[:i] + actions[i + 1 :]
            if self.passes(fewer):
                actions = fewer
            i -= 1
        return actions

    def passes(self, actions: tuple[Action, ...]) -> bool:
        """True where these actions, from the start, reach the goal."""
        state, trail = self.goal.instance.start, self.goal.begin()
        for action in actions:
            step = self.phone.step(state, action)
            if step.evidence == "unrecorded" or not step.valid:
                return False
            state = step.state
            trail = self.goal.watch(trail, state)
        return self.goal.verdict(trail, state).success is True


def mark(state: PhoneState) -> Any:
    """What tells one state from another for a search: not the clock, nor the messages that go by themselves."""
    apps = tuple((package, a.screen, a.variables.mark, *map(id, a.tables.values()), a.stack, a.edits, a.running) for package, a in state.apps.items())
    return state.foreground, apps
