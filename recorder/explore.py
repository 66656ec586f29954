"""The exploring policy: (capture, memory) → what to do next. Pure: no phone, no clock, no global randomness.

It prefers what was never tried on this kind of screen, types into what has the focus, walks towards screens where something
is left to try, and gets out of dead ends: back, then a restart of the app. What it leaves alone is in `safety.py`.
`remember` folds one recorded step into the memory, so a resumed recording rebuilds it from its journal.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import sqrt
from random import Random

from immutables import Map

from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.identity import Features, features, same_screen
from phoneworld.ui.action import Action, CloseApp, LongPress, OpenApp, PressKey, Tap, TypeText
from phoneworld.ui.node import Path
from recorder.candidates import Candidate, candidates, in_front, instance_of, is_inside, located, visible, widget_class
from recorder.safety import KINDS, Guard
from recorder.words import text_for

UNTRIED, UNTRIED_HERE, UNTRIED_INSTANCE = 12.0, 6.0, 3.0
STALE_STEPS = 8  # steps in a row that found nothing new, until we walk to where something is left
DEAD_END_STEPS = 16  # ... until the app is restarted, and again after as many
RESTART_AFTER, RESTART_SHARE = 20, 0.12  # what survives a restart is worth two steps now and then
MAX_SEEN_WORDS = 120
_NEVER_LEFT_TO_TRY = ("home", "restart", "back", "back keyboard")
_LAUNCHERS = ("launcher", "home", "quickstep")
_OUTSIDE = "outside"
_SAVING = (
    "save", "add", "done", "create", "ok", "submit", "confirm", "apply", "保存", "添加", "完成", "确定", "guardar", "speichern",
    "enregistrer", "salvar", "salva", "сохранить", "готово", "追加", "저장",
)  # fmt: skip
_CREATING = (
    "add", "new", "create", "compose", "+", "添加", "新建", "新增", "创建", "añadir", "nuevo", "nueva", "neu", "hinzufügen", "nouveau",
    "nouvelle", "ajouter", "novo", "nova", "nuovo", "nuova", "новый", "добавить", "新規", "추가",
)  # fmt: skip
_TYPES: dict[str, type] = {"tap": Tap, "focus": Tap, "long_press": LongPress, "type": TypeText, "type_first": TypeText}


@dataclass(frozen=True, slots=True)
class Choice:
    """What to do, on which node, and why (`untried`, `weighted`, `towards`, `left the app`, ...)."""

    action: Action
    action_class: str
    instance: str = ""
    path: Path | None = None
    why: str = ""
    text_number: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """What exploring remembers: the screens by their features, counts by screen and action class, where each class led, and how
    things go lately. `options` are the classes that a screen was seen to offer, `covered` those that no touch reached lately.
    """

    known: Map[Features, str] = field(default_factory=Map)
    tried: Map[tuple[str, str], int] = field(default_factory=Map)
    anywhere: Map[str, int] = field(default_factory=Map)
    instances: Map[tuple[str, str, str], int] = field(default_factory=Map)
    idle: Map[tuple[str, str], int] = field(default_factory=Map)
    leads: Map[str, Map[str, str]] = field(default_factory=Map)
    options: Map[str, frozenset[str]] = field(default_factory=Map)
    covered: Map[str, frozenset[str]] = field(default_factory=Map)
    skipped: frozenset[tuple[str, str, str]] = frozenset()
    seen_words: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    texts: int = 0
    stale: int = 0
    unchanged: int = 0
    outside: int = 0
    since_restart: int = 0
    since_typing: int = 99
    last: Action | None = None
    last_class: str = ""
    refused: frozenset[tuple[str, str, str]] = frozenset()

    @property
    def screens(self) -> int:
        """How many screens of the app were seen."""
        return len(self.options)

    @property
    def tried_of_offered(self) -> tuple[int, int]:
        """How many of the kinds of action that the screens were seen to offer were tried there, and how many there are."""
        offered = [(screen, action_class) for screen, classes in self.options.items() for action_class in classes]
        return sum(one in self.tried for one in offered), len(offered)

    def screen_of(self, capture: Capture, app: str) -> str:
        """Which of the known screens this is; the name that a new one would get. All of other apps is one screen."""
        if not is_inside(capture, app):
            return _OUTSIDE
        mine = features(capture)
        if (exact := self.known.get(mine)) is not None:
            return exact
        # In a fixed order, so that the same recording always gives the same names.
        alike = sorted((name for other, name in self.known.items() if same_screen(other, mine)), key=lambda n: int(n[1:]))
        return alike[0] if alike else f"s{len(set(self.known.values())) + 1}"


def arrive(memory: Memory, capture: Capture, *, app: str, guard: Guard) -> Memory:
    """The memory after the first capture of a trace: what the screen offers is known, nothing was done."""
    return replace(_look(memory, capture, app, guard), last=None, last_class="", outside=0 if is_inside(capture, app) else 1)


def remember(memory: Memory, source: Capture, choice: Choice, target: Capture, *, app: str, guard: Guard) -> Memory:
    """The memory after one more step."""
    here, there = memory.screen_of(source, app), memory.screen_of(target, app)
    key, member = (here, choice.action_class), (here, choice.action_class, choice.instance)
    changed = source.hierarchy != target.hierarchy
    is_news = (there != _OUTSIDE and there not in memory.options) or (here != _OUTSIDE and key not in memory.tried)
    action = choice.action
    text = action.text if isinstance(action, TypeText) else None
    leads = memory.leads.get(here, Map())
    after = replace(
        memory,
        tried=memory.tried.set(key, memory.tried.get(key, 0) + 1),
        anywhere=memory.anywhere.set(choice.action_class, memory.anywhere.get(choice.action_class, 0) + 1),
        instances=memory.instances.set(member, memory.instances.get(member, 0) + 1),
        idle=memory.idle.set(key, 0 if changed else memory.idle.get(key, 0) + 1),
        leads=memory.leads.set(here, leads.set(choice.action_class, there)),
        typed=(*memory.typed, text)[-40:] if text and text.strip() and not _is_password(source, choice) else memory.typed,
        texts=memory.texts + (text is not None),
        stale=0 if is_news else memory.stale + 1,
        unchanged=0 if changed else memory.unchanged + 1,
        outside=0 if is_inside(target, app) else memory.outside + 1,
        since_restart=0 if isinstance(action, CloseApp) else memory.since_restart + 1,
        since_typing=0 if text is not None else memory.since_typing + 1,
        last=action,
        last_class=choice.action_class,
    )
    return _look(after, target, app, guard)


def refuse(memory: Memory, source: Capture, choice: Choice, *, app: str) -> Memory:
    """The memory after the phone refused an action: it is not tried again on such a screen."""
    texts = memory.texts + isinstance(choice.action, TypeText)
    member = (memory.screen_of(source, app), choice.action_class, choice.instance)
    return replace(memory, texts=texts, refused=memory.refused | {member})


def recall(graph: StateGraph, *, app: str, guard: Guard) -> Memory:
    """The memory of a recording that lies behind: its traces, step by step."""
    memory = Memory()
    for trace in graph.traces:
        memory = arrive(memory, graph.captures[trace.start], app=app, guard=guard)
        for t in trace.transitions:
            source = graph.captures[t.source]
            choice = classify(source, t.action, t.hit)
            memory = remember(memory, source, choice, graph.captures[t.target], app=app, guard=guard)
        if trace.unfinished is not None and isinstance(trace.unfinished.action, TypeText):
            memory = replace(memory, texts=memory.texts + 1)
    return memory


def classify(source: Capture, action: Action, hit: Path | None) -> Choice:
    """An action that was recorded, as the choice it came from."""
    for candidate in candidates(source, guard=Guard(frozenset(KINDS)))[0]:
        if candidate.path is not None and candidate.path != hit:
            continue
        if candidate.action == action or (candidate.action is None and type(action) is _TYPES.get(candidate.kind)):
            return Choice(action, candidate.action_class, candidate.instance, hit)
    match action:
        case CloseApp():
            return Choice(action, "restart")
        case OpenApp():
            return Choice(action, "open")
        case PressKey(key):
            return Choice(action, key)
    name = type(action).__name__.casefold()
    if hit is None:
        return Choice(action, name)
    return Choice(action, f"{name} {widget_class(source.hierarchy, hit)}", instance_of(source.hierarchy.at(hit)), hit)


def choose(capture: Capture, memory: Memory, *, app: str, seed: int, step: int, guard: Guard) -> Choice:
    """What to do next on this screen. Total: there is always something. The same arguments give the same choice."""
    dice = Random(f"explore:{seed}:{step}")
    is_time_to_restart = dice.random() < RESTART_SHARE and memory.since_restart >= RESTART_AFTER
    if isinstance(memory.last, CloseApp):
        return Choice(OpenApp(app), "open", why="restart")
    if not is_inside(capture, app):
        return _return_to(capture, memory, app)
    here = memory.screen_of(capture, app)
    if is_time_to_restart:
        return Choice(CloseApp(app), "restart", why="what survives")
    if min(memory.stale, memory.since_restart) >= DEAD_END_STEPS:
        return Choice(CloseApp(app), "restart", why="dead end")
    if memory.unchanged >= 5 and memory.last_class != "back":
        return Choice(PressKey("back"), "back", why="nothing changes")
    offered, _ = candidates(capture, guard=guard)
    found = [c for c in offered if (here, c.action_class, c.instance) not in memory.refused]
    if typing := _typing_after_focus(found, memory, dice):
        return _chosen(typing, capture, memory, seed, "typing")
    if memory.stale >= STALE_STEPS and _left_to_try(here, memory):
        # Enough of what is known: only what was never done here is worth a step.
        found = [c for c in found if (here, c.action_class) not in memory.tried and c.action_class not in _NEVER_LEFT_TO_TRY] or found
    elif towards := _towards(here, found, capture, memory, dice):
        return towards
    many = Counter(c.action_class for c in found)
    weights = [
        c.weight * _novelty(c, here, memory) * _promise(c, capture, memory) / sqrt(many[c.action_class]) for c in found
    ]
    while found:
        i = dice.choices(range(len(found)), weights)[0]
        candidate = located(found[i], capture)
        if candidate is not None:
            untried = (here, candidate.action_class) not in memory.tried
            return _chosen(candidate, capture, memory, seed, "untried" if untried else "weighted")
        del found[i], weights[i]
    return Choice(PressKey("back"), "back", why="nothing to touch")


def _return_to(capture: Capture, memory: Memory, app: str) -> Choice:
    """Back once, where another app came to the front; then open ours again; then restart it."""
    at_launcher = any(word in in_front(capture) for word in _LAUNCHERS)
    left_by_back = memory.last in (PressKey("back"), PressKey("home"))
    if memory.outside <= 1 and not at_launcher and not left_by_back:
        return Choice(PressKey("back"), "back", why="left the app")
    if memory.outside % 3 == 0:
        return Choice(CloseApp(app), "restart", why="left the app")
    return Choice(OpenApp(app), "open", why="left the app")


def _typing_after_focus(found: Iterable[Candidate], memory: Memory, dice: Random) -> Candidate | None:
    """Mostly type right after a field got the focus, and often submit right after typing: this is how fields are used."""
    kinds = {c.kind: c for c in found if c.kind in ("type", "type_first", "submit")}
    if memory.last_class.startswith("tap ") and dice.random() < 0.85:
        return kinds.get("type_first") or (kinds.get("type") if dice.random() < 0.5 else None)
    if isinstance(memory.last, TypeText) and dice.random() < 0.35:
        return kinds.get("submit")
    return None


def _towards(here: str, found: list[Candidate], capture: Capture, memory: Memory, dice: Random) -> Choice | None:
    """A step on the shortest known way to a screen where something is untried, once this one has nothing left."""
    if _left_to_try(here, memory) or (memory.stale < STALE_STEPS and dice.random() < 0.4):
        return None
    first: dict[str, str] = {here: ""}
    queue = deque([here])
    while queue:
        screen = queue.popleft()
        if screen != here and _left_to_try(screen, memory):
            for candidate in found:
                if candidate.action_class == first[screen] and (there := located(candidate, capture)) and there.action:
                    return Choice(there.action, there.action_class, there.instance, there.path, "towards")
        for action_class, target in sorted(memory.leads.get(screen, Map()).items()):
            if target not in first:
                first[target] = first[screen] or action_class
                queue.append(target)
    return None


def _left_to_try(screen: str, memory: Memory) -> bool:
    offered = memory.options.get(screen, frozenset()) - memory.covered.get(screen, frozenset())
    return any((screen, action_class) not in memory.tried for action_class in offered)


def _novelty(candidate: Candidate, here: str, memory: Memory) -> float:
    key = (here, candidate.action_class)
    if candidate.kind == "home":
        return 1.0 if "home" not in memory.anywhere else 0.3
    if candidate.kind == "back":
        # From the first screen Back leaves the app: known after one try, and then rarely worth it.
        leaves = memory.leads.get(here, Map()).get(candidate.action_class) == _OUTSIDE
        return 0.1 if leaves else 2.0 if key not in memory.tried else 1.0
    led = memory.leads.get(here, Map()).get(candidate.action_class, here)
    if led == _OUTSIDE or not memory.options.get(led, frozenset()):
        return 0.1  # a link out of the app, or to a page with nothing on it
    if key not in memory.tried:
        return UNTRIED_HERE if memory.anywhere.get(candidate.action_class, 0) >= 3 else UNTRIED
    often = memory.instances.get((here, candidate.action_class, candidate.instance), 0)
    if often == 0:
        return max(0.8, UNTRIED_INSTANCE / (1 + memory.tried[key] / 2))
    factor = 1 / (1 + often / 4)
    return factor * 0.3 if memory.idle.get(key, 0) >= 2 else factor


def _promise(candidate: Candidate, capture: Capture, memory: Memory) -> float:
    """What tells an app's rules soonest: new rows, filled fields, and the button that saves them."""
    match candidate.kind:
        case "tap":
            words = candidate.instance.casefold()
            if memory.since_typing <= 3 and _starts_with(words, _SAVING):
                return 5.0
            return 2.5 if _starts_with(words, _CREATING) else 1.0
        case "focus" if candidate.path is not None:
            return 1.0 if capture.hierarchy.at(candidate.path).value else 2.0
    return 1.0


def _starts_with(words: str, table: tuple[str, ...]) -> bool:
    return any(words == w or words.startswith(w + " ") or (not w.isascii() and words.startswith(w)) for w in table)


def _chosen(candidate: Candidate, capture: Capture, memory: Memory, seed: int, why: str) -> Choice:
    if candidate.kind not in ("type", "type_first"):
        assert candidate.action is not None
        return Choice(candidate.action, candidate.action_class, candidate.instance, candidate.path, why)
    assert candidate.path is not None
    node = capture.hierarchy.at(candidate.path)
    number = memory.texts
    text = text_for(node, seed=seed, number=number, seen=memory.seen_words, earlier=memory.typed)
    replaces = bool(node.value) and Random(f"replace:{seed}:{number}").random() < 0.5
    action = TypeText(text, mode="replace" if replaces else "append")
    return Choice(action, candidate.action_class, candidate.instance, candidate.path, why, number)


def _look(memory: Memory, capture: Capture, app: str, guard: Guard) -> Memory:
    """What a screen offers, and its words."""
    if not is_inside(capture, app):
        return memory
    here = memory.screen_of(capture, app)
    found, skipped = candidates(capture, guard=guard)
    options = frozenset(c.action_class for c in found if c.action_class not in _NEVER_LEFT_TO_TRY)
    untried = [c for c in found if c.action_class in options and (here, c.action_class) not in memory.tried]
    reached = {c.action_class for c in untried if located(c, capture) is not None}
    words = list(memory.seen_words)
    for _, node in visible(capture.hierarchy):
        word = next((w for w in node.text.split() if len(w) > 3 and w.isalpha()), "")
        if word and not node.is_editable and word not in words:
            words.append(word)
    return replace(
        memory,
        known=memory.known.set(features(capture), here),
        options=memory.options.set(here, memory.options.get(here, frozenset()) | options),
        covered=memory.covered.set(here, frozenset(c.action_class for c in untried) - reached),
        skipped=memory.skipped | {(s.action_class, s.instance, s.kind) for s in skipped},
        seen_words=tuple(words[-MAX_SEEN_WORDS:]),
    )


def _is_password(source: Capture, choice: Choice) -> bool:
    return choice.path is not None and source.hierarchy.at(choice.path).password
