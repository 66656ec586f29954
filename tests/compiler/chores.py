"""A little app to infer from: a pure model of a list with ticks, a count, tabs, a search, details and a form.

`Kind` switches its ways on and off, so that a test holds one way against one inference. `record` makes a recording of
scripts, `play` runs a script in app and mock side by side. A script is words: "tap ID", "tap ID 2" (the third of that id),
"type WORDS", "clear", "back", "enter", "wait MS".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Literal

from phoneworld.compiler.learning import Lesson, infer
from phoneworld.compiler.screens import find_screens
from phoneworld.compiler.template import plain
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.program.program import Program
from phoneworld.sim.phone import Phone, Step
from phoneworld.ui.action import Action, Clear, PressKey, Tap, TypeText, Wait
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

PACKAGE = "org.example.chores"
SIZE = Size(1080, 2400)
_ROW = 100
# All of it lies above the keyboard.


@dataclass(frozen=True, slots=True)
class Kind:
    """The ways of an app. `numbered`: ids of rows carry a number; `live`: details are a field that is kept as it is typed."""

    count: bool = True
    tabs: bool = False
    search: bool = False
    numbered: bool = False
    live: bool = False
    quick: bool = False
    """A field under the list whose words become a row by Enter or when it is left."""
    mark_all: bool = False
    newest_first: bool = False
    says_empty: bool = False
    """Without rows there are words in the place of the list."""
    back_tabs: bool = False
    """Back returns to the tab before, and between the last two tabs is a gap; a finger there touches the last one."""
    prefixed: bool = False
    """Details say "Chore: NAME" where others say "NAME"."""
    says: bool = False
    """Messages say what was done, for some time: that a row was added for 3 s, that one was removed for 6 s."""


@dataclass(frozen=True, slots=True)
class Chore:
    """One row."""

    number: int
    name: str
    done: bool = False
    starred: bool = False


Screen = Literal["list", "details", "form"]


@dataclass(frozen=True, slots=True)
class App:
    """Where the app is. `focus` is the field that is typed into; the keyboard is up while there is one."""

    kind: Kind = Kind()
    chores: tuple[Chore, ...] = (Chore(1, "Dishes"), Chore(2, "Laundry", done=True), Chore(3, "Windows"))
    screen: Screen = "list"
    shown: int = 0
    fields: tuple[tuple[str, str], ...] = ()
    focus: str = ""
    tab: str = "tab_all"
    renaming: bool = False
    fresh: int = 4
    message: str = ""
    message_ms: int = 0
    """How long the message will stay."""
    past_tabs: tuple[str, ...] = ()

    def field(self, name: str) -> str:
        return dict(self.fields).get(name, "")

    def with_field(self, name: str, text: str) -> App:
        return replace(self, fields=tuple(sorted({**dict(self.fields), name: text}.items())))

    @property
    def chore(self) -> Chore:
        return next(c for c in self.chores if c.number == self.shown)

    def listed(self) -> tuple[Chore, ...]:
        """The rows that tabs and search let through."""
        wanted = {"tab_open": (False,), "tab_done": (True,)}.get(self.tab, (False, True))
        part = self.field("search").casefold()
        return tuple(c for c in self.chores if c.done in wanted and part in c.name.casefold())

    # What it does

    def act(self, action: Action) -> App:
        after = self._done(action)
        if not self.kind.says or len(after.chores) == len(self.chores):
            return after
        added = len(after.chores) > len(self.chores)
        return replace(after, message="Added" if added else "Removed", message_ms=3000 if added else 6000)

    def later(self, passed_ms: int) -> App:
        """The app after some time."""
        left = max(0, self.message_ms - passed_ms)
        return replace(self, message_ms=left, message=self.message if left else "")

    def _done(self, action: Action) -> App:
        match action:
            case Tap(x, y):
                path = next((p for p, n in self.tree().touch_order(SIZE) if _holds(n.bounds, x, y)), None)
                target = self.tree().nearest(path, "tap") if path is not None else None
                if path is not None and _plain_id(self.tree().at(path)) == "gap":
                    return self._left("")._on_tab("tab_done")
                return self._tapped(self.tree().at(target), target[-1]) if target is not None else self._left("")
            case TypeText(text) if self.focus:
                return self._typed(self._value() + text)
            case Clear() if self.focus:
                return self._typed("")
            case PressKey("enter") if self.focus == "quick":
                return self._sent()
            case PressKey("back") if self.focus:
                return replace(self, focus="")
            case PressKey("back"):
                return self._up()
        return self

    def _value(self) -> str:
        return self.chore.name if self.focus == "name" else self.field(self.focus)

    def _typed(self, text: str) -> App:
        if self.focus == "name":
            return self._with(self.shown, name=text)
        return self.with_field(self.focus, text)

    def _left(self, target: str) -> App:
        """The app after its field was left for something else."""
        app = self._sent() if self.focus == "quick" and target != "quick" else self
        return replace(app, focus=target if target in ("search", "quick", "draft", "name") else "")

    def _sent(self) -> App:
        words = self.field("quick").strip()
        return self._added(words).with_field("quick", "") if words else self

    def _added(self, name: str) -> App:
        new = Chore(self.fresh, name)
        chores = (new, *self.chores) if self.kind.newest_first else (*self.chores, new)
        return replace(self, chores=chores, fresh=self.fresh + 1)

    def _tapped(self, node: Node, index: int) -> App:
        name = node.resource_id.partition(":id/")[2].rstrip("0123456789").rstrip("_")
        row = self._row(node) if name in ("row", "done", "remove") else 0
        app = self._left(name)
        match name:
            case "row":
                return replace(app, screen="details", shown=row)
            case "done":
                return app._with(row, done=not next(c for c in app.chores if c.number == row).done)
            case "remove":
                return replace(app, chores=tuple(c for c in app.chores if c.number != row))
            case "clear_done":
                return replace(app, chores=tuple(c for c in app.chores if not c.done))
            case "mark_all":
                done = not all(c.done for c in app.chores)
                return replace(app, chores=tuple(replace(c, done=done) for c in app.chores))
            case "tab_all" | "tab_open" | "tab_done":
                return app._on_tab(name)
            case "starred":
                return app._with(app.shown, starred=not app.chore.starred)
            case "add":
                return replace(app, screen="form", renaming=False).with_field("draft", "")
            case "rename":
                return replace(app, screen="form", renaming=True).with_field("draft", app.chore.name)
            case "save" if app.field("draft").strip():
                words = app.field("draft").strip()
                if app.renaming:
                    return replace(app._with(app.shown, name=words), screen="details")
                return replace(app._added(words), screen="list")
            case "up":
                return app._up()
        return app

    def _on_tab(self, name: str) -> App:
        return replace(self, tab=name, past_tabs=(*self.past_tabs, self.tab) if name != self.tab else self.past_tabs)

    def _up(self) -> App:
        if self.screen == "list" and self.kind.back_tabs and self.past_tabs:
            return replace(self, tab=self.past_tabs[-1], past_tabs=self.past_tabs[:-1])
        return replace(self, screen="details" if self.screen == "form" and self.renaming else "list", focus="")

    def _row(self, node: Node) -> int:
        return next(c.number for i, c in enumerate(self.listed()) if _holds(node.bounds, node.bounds.left, _top(i) + 50))

    def _with(self, number: int, **changed: str | bool) -> App:
        chores = tuple(replace(c, **changed) if c.number == number else c for c in self.chores)  # type: ignore[arg-type]
        return replace(self, chores=chores)

    # What it shows

    def state(self) -> DeviceState:
        return DeviceState(PACKAGE, f".{self.screen.title()}Activity", bool(self.focus))

    def tree(self) -> Hierarchy:
        body = {"list": self._list, "details": self._details, "form": self._form}[self.screen]()
        if self.message:
            said = (_text("said", 1450, self.message, left=100),)
            body.append(_node("android.widget.FrameLayout", "message", Bounds(0, 1440, SIZE.width, 1540), children=said))
        children = tuple(replace(child, index=i) for i, child in enumerate(body))
        return Hierarchy((Node("android.widget.FrameLayout", package=PACKAGE, bounds=SIZE.bounds, children=children),))

    def _list(self) -> list[Node]:
        body = [_text("heading", 100, "Chores"), _button("add", 100, "New", left=800)]
        if self.kind.search:
            body.append(self._field("search", 220, "Search"))
        if self.chores or not self.kind.says_empty:
            rows = tuple(self._shown_row(i, c) for i, c in enumerate(self.listed()))
            frame = Bounds(0, _top(0), SIZE.width, _top(8))
            body.append(_node("androidx.recyclerview.widget.RecyclerView", "list", frame, children=rows))
        else:
            body.append(_text("empty", 600, "Nothing to do"))
        if self.kind.quick:
            body.append(self._field("quick", 1130, "Quick"))
        if self.kind.tabs:
            tabs = tuple(_button(f"tab_{t}", 1230, t.title(), left=40 + 300 * i) for i, t in enumerate(("all", "open", "done")))
            gap = (_text("gap", 1230, " ", left=610, width=20),) if self.kind.back_tabs else ()
            body.append(_node("android.widget.LinearLayout", "tabs", Bounds(0, 1230, SIZE.width, 1310), children=(*tabs, *gap)))
        if self.kind.count:
            left = sum(not c.done for c in self.chores)
            body.append(_text("count", 1320, f"{left} chore{'' if left == 1 else 's'} left"))
        if any(c.done for c in self.chores):
            body.append(_button("clear_done", 1410, "Clear done"))
        if self.kind.mark_all and self.chores:
            body.append(_button("mark_all", 1410, "Mark all", left=600))
        return body

    def _shown_row(self, index: int, chore: Chore) -> Node:
        top = _top(index)
        suffix = f"_{chore.number}" if self.kind.numbered else ""
        box = Bounds(40, top + 10, 160, top + 90)
        parts = [_node("android.widget.CheckBox", "done" + suffix, box, clickable=True, checkable=True, checked=chore.done)]
        parts.append(_text("name" + suffix, top + 10, chore.name, left=200))
        if chore.starred:
            parts.append(_text("star" + suffix, top + 10, "*", left=700))
        parts.append(_button("remove" + suffix, top + 10, "x", left=900, width=140))
        row = Bounds(0, top, SIZE.width, top + _ROW)
        return _node("android.widget.LinearLayout", "row" + suffix, row, index=index, clickable=True, children=tuple(parts))

    def _details(self) -> list[Node]:
        chore = self.chore
        body = [_button("up", 100, "Up"), _text("details_heading", 220, "Details")]
        if self.kind.live:
            body.append(self._field("name", 400, "Name"))
        else:
            body += [_text("details_name", 400, f"Chore: {chore.name}" if self.kind.prefixed else chore.name), _button("rename", 520, "Rename")]
        star = _node(
            "android.widget.Switch", "starred", Bounds(40, 700, 1040, 800), "Star", clickable=True, checkable=True,
            checked=chore.starred,
        )  # fmt: skip
        return [*body, star]

    def _form(self) -> list[Node]:
        field, save = self._field("draft", 400, "What is to be done"), _button("save", 600, "Save")
        return [_button("up", 100, "Up"), _text("form_heading", 220, "Chore"), field, save]

    def _field(self, name: str, top: int, hint: str) -> Node:
        text = self.chore.name if name == "name" else self.field(name)
        return _node(
            "android.widget.EditText", name, Bounds(40, top, 1040, top + 80), text, hint=hint, clickable=True, focusable=True,
            focused=self.focus == name,
        )  # fmt: skip


def _top(index: int) -> int:
    return 320 + index * _ROW


def _holds(bounds: Bounds, x: int, y: int) -> bool:
    return bounds.left <= x < bounds.right and bounds.top <= y < bounds.bottom


def _node(class_name: str, name: str, bounds: Bounds, text: str = "", *, children: tuple[Node, ...] = (), **more: object) -> Node:
    numbered = tuple(replace(child, index=i) for i, child in enumerate(children))
    return Node(class_name, text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=bounds, children=numbered, **more)  # type: ignore[arg-type]


def _text(name: str, top: int, words: str, left: int = 40, width: int = 400) -> Node:
    return _node("android.widget.TextView", name, Bounds(left, top, left + width, top + 80), words)


def _button(name: str, top: int, words: str, left: int = 40, width: int = 260) -> Node:
    return _node("android.widget.Button", name, Bounds(left, top, left + width, top + 80), words, clickable=True)


# Recording and playing


def action_of(tree: Hierarchy, words: str) -> Action:
    """The action that words of a script stand for, on a tree. Raises AssertionError where the widget is not there."""
    verb, _, rest = words.partition(" ")
    match verb:
        case "type":
            return TypeText(rest)
        case "clear":
            return Clear()
        case "wait":
            return Wait(int(rest))
        case "back":
            return PressKey("back")
        case "enter":
            return PressKey("enter")
    name, _, number = rest.partition(" ")
    nodes = [n for n in tree.nodes() if _plain_id(n) == name]
    assert len(nodes) > int(number or 0), f"{words}: not on the screen"
    bounds = nodes[int(number or 0)].bounds
    # A row is touched where none of its parts is.
    return Tap(bounds.left + 5, bounds.top + 5) if name == "row" else Tap(bounds.center.x, bounds.center.y)


def _plain_id(node: Node) -> str:
    name = node.resource_id.partition(":id/")[2]
    return name.rstrip("0123456789").rstrip("_") if name[-1:].isdigit() else name


WORDS = ("Rugs", "Bins", "Lawn", "Roof", "Car", "Attic", "Stairs", "Gate")


def options(app: App) -> list[str]:
    """All that a script could say next."""
    counts: dict[str, int] = {}
    found: list[str] = []
    for node in app.tree().nodes():
        if node.takes("tap"):
            name = _plain_id(node)
            found.append(f"tap {name} {counts.setdefault(name, 0)}")
            counts[name] += 1
    if app.focus:
        found += [f"type {w}" for w in WORDS] + ["clear", "back"]
    return [*found, "enter"] if app.focus == "quick" else found


def walk(app: App, choices: Sequence[int]) -> list[str]:
    """A script made of numbers: each picks one of what can be done."""
    script: list[str] = []
    for choice in choices:
        can = options(app)
        script.append(can[choice % len(can)])
        app = app.act(action_of(app.tree(), script[-1]))
    return script


def add(words: str) -> list[str]:
    """A script that adds a row by the form."""
    return ["tap add", "tap draft", f"type {words}", "tap save"]


def record(scripts: Sequence[Sequence[str]], app: App | None = None, step_ms: int = 0) -> StateGraph:
    """A recording of scripts, one trace each, from one and the same start. It tells no times unless a step lasts some."""
    start = app or App()
    captures: dict[str, Capture] = {}
    clock_ms = 1 if step_ms else 0

    def capture(now: App) -> str:
        key = f"c{len(captures)}"
        captures[key] = Capture(key, now.tree(), SIZE, None, now.state(), time_ms=clock_ms)
        return key

    traces = []
    for number, script in enumerate(scripts, 1):
        now, at = start, capture(start)
        first, transitions = at, []
        for words in script:
            action = action_of(now.tree(), words)
            took_ms = action.duration_ms if isinstance(action, Wait) else step_ms
            now = now.act(action).later(took_ms)
            clock_ms += took_ms if step_ms else 0
            after = capture(now)
            transitions.append(Transition(at, action, after, None, 300))
            at = after
        traces.append(Trace(f"t{number}", first, tuple(transitions), "fresh"))
    device = DeviceInfo(SIZE, 420, "Little", "PhoneWorld", "14", 34, "en-US", "UTC")
    return StateGraph(RecordedApp(PACKAGE, "Chores", f"{PACKAGE}.ListActivity", "1.0"), device, captures, tuple(traces))


def lesson_of(graph: StateGraph) -> Lesson:
    """What is inferred from a recording."""
    found = find_screens(graph, {})
    return infer(graph, {s.id: [c for lay in s.layouts for c in lay.captures] for s in found.screens.values()})


def screen_named(lesson: Lesson, slot: str) -> str:
    """The screen that has a slot of this key."""
    return next(s for s, p in lesson.history.patterns.items() if any(part.key == slot for part in p.walk()))


@dataclass(frozen=True, slots=True)
class Played:
    """One step of a script in app and mock."""

    words: str
    step: Step
    app: App
    mock: Hierarchy

    @property
    def same(self) -> bool:
        return plain(self.mock) == plain(self.app.tree())

    @property
    def difference(self) -> str:
        """What the mock shows, and what the app shows, line by line."""
        lines = (_told(self.mock), _told(self.app.tree()))
        return "\n".join(line for line in unified_diff(*lines, "mock", "app", lineterm="", n=0) if not line.startswith("@@"))


def play(program: Program, script: Sequence[str], app: App | None = None) -> Iterator[Played]:
    """Runs a script in app and mock side by side; widgets are looked for in each by their ids."""
    phone, now = Phone([program]), app or App()
    state = phone.reset()
    for words in script:
        step = phone.step(state, action_of(phone.view(state).hierarchy, words))
        action = action_of(now.tree(), words)
        state, now = step.state, now.act(action).later(step.state.clock_ms - state.clock_ms)
        yield Played(words, step, now, phone.view(state).hierarchy)


def _told(tree: Hierarchy) -> list[str]:
    """A line a node: its id, its text, its tick."""
    return [f"{'  ' * len(p)}{n.resource_id.partition(':id/')[2]} {n.text!r} {'x' if n.checked else ''}" for p, n in tree.walk()]


def shown_texts(tree: Hierarchy, name: str) -> list[str]:
    """The texts of all widgets of an id, in document order."""
    return [n.text for n in tree.nodes() if _plain_id(n) == name]
