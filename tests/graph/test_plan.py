"""Plans on the disk and back, screens recognised from one tree, widgets found again, circumstances in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError, NewerFormat
from phoneworld.graph.graph import Capture
from phoneworld.graph.plan import Plan, Question, Start, Step, Target, aimed, dumps, find_target, loads, target_of
from phoneworld.graph.situation import ON_THE_ROW, Sketch, circumstances, deed_of, marks, recognise, scene_of
from phoneworld.testing.groceries import PACKAGE, SIZE, Groceries, Item
from phoneworld.testing.strategies import actions
from phoneworld.ui.action import CloseApp, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.node import Hierarchy, Path

ROWS, CELLS = frozenset({"LinearLayout#row"}), frozenset({"LinearLayout#row", "CheckBox#bought", "TextView#title"})
LIST, DETAILS, FORM = Groceries(), Groceries(screen="details"), Groceries(screen="form")


def look(app: Groceries) -> Capture:
    return Capture("c", app.tree(), SIZE, state=app.state(0))


def sketch(name: str, *apps: Groceries) -> Sketch:
    always = frozenset.intersection(*(marks(a.tree(), SIZE) for a in apps))
    return Sketch(name, name, PACKAGE, always, ROWS if name == "list" else frozenset(), CELLS if name == "list" else frozenset())


SKETCHES = (sketch("list", LIST, Groceries(items=())), sketch("details", DETAILS), sketch("form", FORM, replace(FORM, typing=True, draft="x")))
NAMES = st.text(max_size=12)
TARGETS = st.none() | st.builds(Target, NAMES, st.integers(0, 9), NAMES)
STEPS = st.lists(st.builds(Step, actions(), TARGETS, st.sampled_from(["", "list", "form"]), st.booleans()), max_size=3).map(tuple)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    kinds = st.sampled_from(["untried", "seldom", "circumstance", "exception", "ambiguous", "back", "text", "return"])
    return Question(
        draw(NAMES), draw(kinds), draw(NAMES), draw(st.sampled_from(["list", "form"])), draw(NAMES), draw(TARGETS), draw(st.frozensets(NAMES, max_size=3)),
        Start(draw(NAMES), draw(STEPS)), draw(STEPS), draw(STEPS), draw(st.integers(0, 10_000)) / 10_000,
    )  # fmt: skip


@given(st.lists(questions(), max_size=3))
def test_a_plan_comes_back_from_its_bytes(found: list[Question]) -> None:
    plan = Plan(PACKAGE, SKETCHES, tuple(found))
    assert loads(dumps(plan)) == plan
    assert dumps(loads(dumps(plan))) == dumps(plan)


def written(**changes: Any) -> bytes:
    question = Question("q1", "untried", "why", "list", "key back", None, frozenset(), Start("t1"), (Step(PressKey("back")),))
    return json.dumps({**json.loads(dumps(Plan(PACKAGE, SKETCHES, (question,)))), **changes}).encode()


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", FileFormatError, "is not JSON"),
        (b"[1]", FileFormatError, "found 'list'"),
        (b'{"format": "phoneworld.app-graph"}', FileFormatError, "phoneworld.app-graph"),
        (written(version=2), NewerFormat, "version 2"),
        (written(version=True), FileFormatError, "version"),
        (written(version=0), FileFormatError, "version"),
        (written(package=5), FileFormatError, "package"),
        (written(surplus=5), FileFormatError, "surplus"),
        (written(screens=[]), FileFormatError, "q1 is on screen 'list'"),
        (written().replace(b'"press_key"', b'"fly"'), FileFormatError, "unknown action kind 'fly'"),
        (written().replace(b'"untried"', b'"idle"'), FileFormatError, "kind"),
    ],
)
def test_what_is_no_plan_is_refused_in_words(content: bytes, error: type[FileFormatError], words: str) -> None:
    with pytest.raises(error) as raised:
        loads(content, where="app.questions.json")
    assert words in raised.value.message and raised.value.message.startswith("app.questions.json") and raised.value.hint


@given(st.binary(max_size=60))
def test_a_plan_followed_by_anything_is_a_plan_or_refused(tail: bytes) -> None:
    try:
        loads(written() + tail)
    except FileFormatError as e:
        assert e.hint


def test_screens_are_recognised_whatever_they_hold() -> None:
    longer = Groceries(items=tuple(Item(f"Thing {i}", bought=i % 2 == 0) for i in range(6)))
    typing = replace(FORM, typing=True, draft="Rye bread")
    for app, name in ((LIST, "list"), (longer, "list"), (Groceries(items=()), "list"), (DETAILS, "details"), (typing, "form")):
        found = recognise(SKETCHES, look(app))
        assert found is not None and found.id == name
    other = Capture("c", Hierarchy((replace(LIST.tree().windows[0], package="org.other"),)), SIZE)
    assert recognise(SKETCHES, other) is None, "another app's screen"
    assert recognise(SKETCHES[:1], look(FORM)) is None


def path_of(app: Groceries, name: str, number: int = 0) -> Path:
    return [p for p, n in app.tree().walk() if n.resource_id == f"{PACKAGE}:id/{name}"][number]


def test_a_widget_in_a_row_is_found_by_words_then_by_number() -> None:
    target = target_of(scene_of(look(LIST), SKETCHES[0]), path_of(LIST, "bought", 2))
    assert target == Target("CheckBox#bought", 2, "Bought Bread")
    moved = Groceries(items=(Item("Bread"), *LIST.items[:2], Item("Milk")))
    assert find_target(scene_of(look(moved), SKETCHES[0]), target) == path_of(moved, "bought", 0)
    renamed = Groceries(items=(Item("A"), Item("B"), Item("C")))
    assert find_target(scene_of(look(renamed), SKETCHES[0]), target) == path_of(renamed, "bought", 2)
    assert find_target(scene_of(look(Groceries(items=(Item("A"),))), SKETCHES[0]), target) is None
    alone = target_of(scene_of(look(FORM), SKETCHES[2]), path_of(FORM, "save"))
    assert alone == Target("Button#save")


def test_circumstances_tell_rows_ticks_keyboard_and_words() -> None:
    def told(app: Groceries, name: str = "", number: int = 0) -> set[str]:
        scene = scene_of(look(app), next(s for s in SKETCHES if s.id == app.screen))
        return set(circumstances(scene, path_of(app, name, number) if name else None))

    assert told(LIST) == {"keyboard down", "several rows", "some ticked"}
    def at(name: str, number: int) -> set[str]:
        return {t.partition(" · ")[2] if t.startswith(ON_THE_ROW) else t for t in told(LIST, name, number) - told(LIST)}

    words = [f"{item.name}'" for item in LIST.items]
    assert at("bought", 0) == {"on an unticked row", "on the first row", words[0]}
    assert at("title", 2) == {"on a ticked row", "on the last row", words[2]}
    assert at("row", 1) == {"on an unticked row", "on a row between", words[1]}
    assert told(Groceries(items=())) == {"keyboard down", "no row"}
    assert told(Groceries(items=(Item("A", bought=True),)), "bought") == {"keyboard down", "one row", "all ticked", "on a ticked row", "on the row 'Bought A · A'"}
    assert told(FORM) == {"keyboard down"}
    assert told(replace(FORM, typing=True, draft="Milk")) == {"keyboard up", "with pending text"}
    assert told(replace(FORM, typing=True, draft="  ")) == {"keyboard up", "with blank text"}


def test_deeds_are_the_same_for_all_rows_and_tell_what_sort_of_text() -> None:
    scene = scene_of(look(LIST), SKETCHES[0])
    assert {deed_of(scene, Tap(1, 1), path_of(LIST, "bought", i)) for i in range(3)} == {"tap CheckBox#bought"}
    typing = replace(FORM, typing=True)
    form = scene_of(look(typing), SKETCHES[2])
    field = path_of(typing, "name")
    assert [deed_of(form, TypeText(t), field) for t in ("Rye", " ", "New item")] == [
        "type new EditText#name", "type blank EditText#name", "type known EditText#name"
    ]  # fmt: skip
    assert deed_of(form, PressKey("enter"), None) == "key enter EditText#name"
    assert deed_of(form, CloseApp(PACKAGE), None) == "close_app"
    assert deed_of(form, Swipe(5, 900, 5, 100), None) == "swipe up"


def test_an_action_is_moved_with_what_it_is_done_to() -> None:
    assert aimed(Tap(1, 2), 5, 6) == Tap(5, 6)
    assert aimed(Swipe(10, 100, 10, 40), 50, 200) == Swipe(50, 200, 50, 140)
    assert aimed(TypeText("a"), 5, 6) == TypeText("a")
    assert aimed(TypeText("a", 1, 2), 5, 6) == TypeText("a", 5, 6)
    assert aimed(PressKey("back"), 5, 6) == PressKey("back")
