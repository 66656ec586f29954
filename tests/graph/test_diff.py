"""What changed between two recordings of an app: the sample app changed in known ways, and runs of others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phoneworld.graph.diff import GraphDiff, diff
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.importers import import_recording
from phoneworld.graph.merge import renamed_app
from phoneworld.render.diff_page import diff_page
from phoneworld.testing.groceries import DENSITY, PACKAGE, SIZE, Groceries
from phoneworld.testing.samples import TRACES, sample_graph
from phoneworld.ui.action import Action, PressKey, Tap, TypeText
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.shared import CORPUS, needs_shared


def record(app: Groceries, scripts: tuple[tuple[str, ...], ...] = TRACES) -> StateGraph:
    """A recording of a version of the app; what a script names and the version lacks is left out."""
    captures: dict[str, Capture] = {}

    def capture(now: Groceries) -> str:
        name = f"c{len(captures)}"
        captures[name] = Capture(name, now.tree(), SIZE, state=now.state(0))
        return name

    traces = []
    for number, script in enumerate(scripts, 1):
        now = app
        at = start = capture(now)
        transitions = []
        for words in script:
            action, hit = _action(now, words)
            if action is None:
                continue
            now = now.act(action)
            to = capture(now)
            transitions.append(Transition(at, action, to, hit=hit))
            at = to
        traces.append(Trace(f"t{number}", start, tuple(transitions)))
    return StateGraph(RecordedApp(PACKAGE), DeviceInfo(SIZE, DENSITY), captures, tuple(traces), source="test")


def _action(app: Groceries, words: str) -> tuple[Action | None, tuple[int, ...] | None]:
    verb, _, rest = words.partition(" ")
    if verb == "type":
        return TypeText(rest), None
    if verb == "key":
        return PressKey("back"), None
    name, _, number = rest.partition(" ")
    found = [p for p, n in app.tree().walk() if n.resource_id == f"{PACKAGE}:id/{name}"]
    if int(number or 0) >= len(found):
        return None, None
    path = found[int(number or 0)]
    point = app.tree().tap_point(path, SIZE)
    return (Tap(point.x, point.y), path) if point else (None, None)


def _without(tree: Hierarchy, name: str) -> Hierarchy:
    path = next(p for p, n in tree.walk() if n.resource_id.endswith(f"/{name}"))
    parent = tree.at(path[:-1])
    return tree.replace_at(path[:-1], replace(parent, children=tuple(c for i, c in enumerate(parent.children) if i != path[-1])))


@dataclass(frozen=True, slots=True)
class SecondVersion(Groceries):
    """The details lost their switch and gained a button; Save is called Keep; Up on the form says so; Add opens a page of its own."""

    about: bool = False

    def tree(self) -> Hierarchy:
        tree = Groceries.tree(self)
        if self.about:
            plain = (_label("What is new", 200), _label("Nothing is sent anywhere.", 400), _label("Version two", 600))
            return Hierarchy((replace(tree.windows[0], children=plain),))
        if self.screen == "details":
            tree = _without(tree, "urgent")
            content = tree.at((0, 0))
            share = Node("android.widget.Button", "Share", f"{PACKAGE}:id/share", PACKAGE, clickable=True, bounds=Bounds(60, 900, 1020, 1040))
            return tree.replace_at((0, 0), replace(content, children=(*content.children, share)))
        if self.screen == "form":
            path = next(p for p, n in tree.walk() if n.text == "Save")
            return tree.replace_at(path, replace(tree.at(path), text="Keep"))
        return tree

    def act(self, action: Action) -> Groceries:
        if self.about:
            return replace(self, about=False) if isinstance(action, PressKey) else self
        then = Groceries.act(self, action)
        return replace(self, about=True) if self.screen == "list" and then.screen == "form" else then


def _label(words: str, top: int) -> Node:
    return Node("android.widget.TextView", words, f"{PACKAGE}:id/{words.split()[0].lower()}", PACKAGE, bounds=Bounds(40, top, 1040, top + 90))


def test_the_same_recording_and_another_recording_of_the_same_app_do_not_differ() -> None:
    graph, _ = sample_graph()
    assert diff(graph, graph).is_empty
    again = record(Groceries(), (*TRACES[1:], ("tap bought 2", "tap row 0", "tap urgent", "key back")))
    found = diff(record(Groceries()), again)
    assert found.is_empty and len(found.matched) == 3 and found.not_seen_again


def test_what_was_only_reached_once_is_neither_gone_nor_new() -> None:
    short = record(Groceries(), (("tap bought 0",),))
    found = diff(record(Groceries()), short)
    assert (found.is_empty and [s.title for s in found.not_reached] == [".DetailsActivity"[1:], "FormActivity"]) or found.is_empty
    back = diff(short, record(Groceries()))
    assert back.is_empty and len(back.first_reached) == len(found.not_reached) == 2


def test_gone_and_new_widgets_words_and_a_way_that_leads_elsewhere_are_found() -> None:
    found = diff(record(Groceries()), record(SecondVersion()))
    (details,) = found.changed
    assert details.gone == ("Switch “Urgent” (urgent)",) and details.new == ("Button “Share” (share)",)
    assert [(b.words, b.after) for b in found.broken] == [("tap “Add”", (found.new[0].title,))]
    assert [s.captures for s in found.gone] and not found.is_empty
    assert all(b.at.before.title == b.at.after.title for b in found.broken)


def test_words_that_changed_are_named_with_their_widget() -> None:
    @dataclass(frozen=True, slots=True)
    class Renamed(Groceries):
        def tree(self) -> Hierarchy:
            tree = Groceries.tree(self)
            path = next((p for p, n in tree.walk() if n.text == "Save"), None)
            return tree if path is None else tree.replace_at(path, replace(tree.at(path), text="Keep"))

    (form,) = diff(record(Groceries()), record(Renamed())).changed
    ((words),) = form.words
    assert (words.widget, words.before, words.after) == ("Button (save)", ("Save",), ("Keep",))
    assert form.gone == form.new == ()


def test_content_is_no_change() -> None:
    other = Groceries(items=tuple(replace(i, name=f"{i.name} and more") for i in Groceries().items))
    assert diff(record(Groceries()), record(other)).is_empty


def test_an_action_with_several_outcomes_breaks_nothing() -> None:
    graph = record(Groceries())
    (first, *rest) = graph.traces
    t = first.transitions[0]
    elsewhere = next(c for c in graph.captures.values() if c.state.activity == ".FormActivity")
    unsure = replace(graph, traces=(first, Trace("x", t.source, (Transition(t.source, t.action, elsewhere.id, hit=t.hit),)), *rest))
    found = diff(unsure, graph)
    assert found.is_empty and found.broken == ()


def test_recordings_of_a_web_app_on_two_ports_compare_as_one_app() -> None:
    graph = record(Groceries())
    moved = renamed_app(graph, "org.example.other")
    assert diff(graph, renamed_app(moved, PACKAGE)).is_empty
    found = diff(graph, moved)
    assert found.is_empty and len(found.matched) == 3 and "different apps" in found.warnings[0]


@needs_shared
def test_runs_of_an_app_and_its_mutant_share_their_screens() -> None:
    runs = [import_recording(CORPUS / "traces" / f"genie-activitydiary-{n}").graph for n in ("main", "mutant")]
    for found in (diff(*runs), diff(*reversed(runs))):
        assert len(found.matched) == 2 and all(pair.likeness >= 0.9 for pair in found.matched)
        assert found.is_empty, "the mutant draws the same; it was explored elsewhere"
        assert len(found.not_reached) + len(found.first_reached) == 3


def test_the_page_shows_both_sides_and_escapes_what_was_recorded() -> None:
    @dataclass(frozen=True, slots=True)
    class Hostile(Groceries):
        def tree(self) -> Hierarchy:
            tree = Groceries.tree(self)
            path = next((p for p, n in tree.walk() if n.text == "Save"), None)
            return tree if path is None else tree.replace_at(path, replace(tree.at(path), text="<script>alert(1)</script>\x00\ud800"))

    graph, pictures = sample_graph()
    found: GraphDiff = diff(graph, record(Hostile()))
    page = diff_page(found, pictures, names=("a.json", "b<.json"))
    assert page.startswith("<!doctype html>") and "<script>alert" not in page and "b&lt;.json" in page
    assert "data:image/jpeg;base64," in page and 'class="mark"' in page and "before" in page
    page.encode()
