"""What actions do, learned from a little app and held against it in scripts that were never recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.effects import learn
from phoneworld.compiler.learned import BELOW, ActionClass, Learned, back_stacks, class_of
from phoneworld.compiler.learning import Lesson
from phoneworld.program.expr import Const, Var
from phoneworld.program.template import FOCUS
from tests.compiler.chores import (
    WORDS,
    App,
    Chore,
    Kind,
    action_of,
    add,
    lesson_of,
    options,
    play,
    record,
    screen_named,
)

TICKS = [
    ["tap done 0", "tap done 1", "tap done 0", "tap done 0", *add("Rugs"), *add("Bins"), "tap done 3", "tap remove 1", "tap done 2"],
    [*add("Lawn"), "tap remove 0", "tap remove 0", "tap done 1", "tap clear_done", *add("Roof"), "tap remove 0"],
    ["tap clear_done", "tap done 1", "tap clear_done", "tap done 0", "tap done 0"],
]
DETAILS = [
    ["tap row 0", "tap starred", "tap up", "tap row 1", "tap up", "tap row 0", "back"],
    ["tap row 2", "tap starred", "tap starred", "tap up", "tap row 1", "tap starred", "back", "tap row 1", "tap up"],
    ["tap row 1", "tap rename", "tap draft", "clear", "type Ironing", "tap save", "tap up"],
    ["tap row 0", "tap rename", "tap draft", "type  all", "tap up", "tap up", "tap row 2", "tap rename", "tap draft", "clear", "type Doors", "back", "tap save", "tap up"],
]
FORMS = [
    [*add("Rugs"), "tap done 3", "tap add", "tap draft", "type Gone", "tap up", *add("Car")],
    ["tap add", "tap draft", "type Bins", "back", "tap save", *add("Lawn"), "tap done 4", "tap add", "tap save", "tap up"],
    ["tap add", "tap save", "tap draft", "type Roof", "tap save", "tap add", "tap up"],
]
MARKS = [
    [*add("Rugs"), "tap mark_all", "tap mark_all", "tap mark_all", "tap done 0", "tap mark_all"],
    [*add("Bins"), "tap done 0", "tap mark_all", "tap done 1", "tap mark_all", "tap mark_all", "tap remove 0", "tap done 0"],
    ["tap done 0", "tap done 2", "tap mark_all", "tap done 0", "tap mark_all"],
]
QUICK = [
    ["tap quick", "type Rugs", "enter", "type Bins", "tap done 0", "tap quick", "type Lawn", "tap heading", "tap done 3"],
    ["tap quick", "type Car", "tap done 1", "tap quick", "tap done 0", "tap done 0", "tap quick", "tap heading", "tap quick", "tap done 1"],
    ["tap quick", "type Roof", "tap heading", "tap clear_done", "tap quick", "enter", "tap done 0"],
]
TABS = [
    [*add("Rugs"), "tap done 0", "tap tab_open", "tap tab_done", "tap tab_all", "tap tab_done", "tap done 0", "tap tab_all", "tap done 2", "tap done 2"],
    ["tap tab_open", *add("Bins"), "tap done 0", "tap tab_done", "tap tab_open", "tap done 0", "tap tab_all", "tap done 1"],
    ["tap tab_done", "tap tab_all", *add("Lawn"), "tap tab_open", "tap remove 0", "tap tab_all"],
]
SEARCHES = [
    [*add("Rugs"), "tap search", "type d", "clear", "type win", "clear", "back"],
    ["tap search", "type l", "tap done 0", "clear", "back", *add("Dials"), "tap search", "type dis", "clear"],
    ["tap search", "type ug", "clear", "type in", "clear"],
]
LIVE = [
    ["tap row 0", "tap name", "clear", "type Mugs", "back", "tap up", "tap row 1", "tap up"],
    ["tap row 1", "tap name", "type  and more", "tap up"],
    ["tap row 2", "tap starred", "tap name", "type  all", "back", "back", "tap row 0", "back"],
]

# name: the app, what was recorded of it, scripts that were not, all of which the mock must do as the app does.
Case = tuple[Kind, Sequence[Sequence[str]], Sequence[Sequence[str]]]
CASES: Mapping[str, Case] = {
    "a tick is of the row that was ticked, whichever it is": (Kind(), TICKS, [["tap done 1", "tap done 0", "tap done 1", "tap done 2", "tap done 1"]]),
    "a row that is deleted is the one acted on": (Kind(), TICKS, [["tap remove 2", "tap done 0", "tap remove 1"], ["tap remove 0", "tap remove 0"]]),
    "rows that look the same are rows of their own": (
        Kind(), TICKS, [[*add("Dishes"), "tap done 3", "tap remove 0", "tap done 2"], [*add("Mop"), *add("Mop"), "tap done 4", "tap remove 3", "tap done 3"]],
    ),
    "ticked rows are cleared at once": (Kind(), TICKS, [["tap done 0", "tap clear_done"], ["tap done 2", *add("Car"), "tap done 3", "tap clear_done", *add("Cat")]]),
    "rows with a number in their ids get the next one": (Kind(numbered=True), TICKS, [["tap remove 1", *add("Car"), *add("Cat"), "tap done 3", "tap remove 2"]]),
    "words that are typed come into the list": (Kind(), FORMS, [[*add("Attic stairs"), *add("Gate"), "tap done 4"], ["tap add", "tap draft", "type A", "type B", "tap save"]]),
    "a draft stays out of the list until it is saved": (Kind(), FORMS, [["tap add", "tap draft", "type Attic", "tap up", *add("Gate"), "tap done 3"]]),
    "an empty form is not saved": (Kind(), FORMS, [["tap add", "tap save", "tap save", "tap draft", "type Gate", "tap save", "tap add", "tap save"]]),
    "the newest comes first where it came first": (Kind(newest_first=True), FORMS, [[*add("Attic"), "tap done 0", *add("Gate"), "tap done 0"]]),
    "a switch of details is seen in the list": (Kind(), DETAILS, [["tap row 2", "tap starred", "tap up", "tap row 2", "tap up", "tap row 1", "tap up"]]),
    "a row that was opened is the one that is shown": (Kind(), DETAILS, [["tap row 2", "back", "tap row 1", "back", "tap row 0", "back"]]),
    "an edit that is saved is seen in details": (Kind(), DETAILS, [["tap row 2", "tap rename", "tap draft", "clear", "type Gate", "tap save"]]),
    "an edit that is not saved changes nothing": (Kind(), DETAILS, [["tap row 2", "tap rename", "tap draft", "clear", "type Gate", "tap up", "tap up"]]),
    "a field of details is the row itself": (Kind(live=True), LIVE, [["tap row 2", "tap name", "clear", "type Gate", "back", "tap up", "tap row 0", "tap up"]]),
    "mark all ticks all, or none if all are": (Kind(mark_all=True), MARKS, [["tap done 0", "tap done 2", "tap mark_all", "tap mark_all", *add("Gate"), "tap mark_all"]]),
    "a field that is left sends its words": (Kind(quick=True), QUICK, [["tap quick", "type Sofa", "tap done 2", "tap quick", "type Sink", "tap heading"]]),
    "a field that is left empty sends nothing": (Kind(quick=True), QUICK, [["tap done 1", "tap quick", "tap done 2", "tap quick", "tap heading"]]),
    "Enter sends the words and keeps the field": (Kind(quick=True), QUICK, [["tap quick", "type Sofa", "enter", "type Sink", "enter", "tap done 4"]]),
    "tabs show their rows": (Kind(tabs=True), TABS, [["tap done 2", "tap tab_open", "tap tab_done", "tap tab_all"], ["tap tab_done", "tap tab_open", "tap tab_all"]]),
    "a row that a tab hides is ticked all the same": (
        Kind(tabs=True), TABS, [["tap tab_open", "tap done 1", "tap tab_done", "tap done 1", "tap tab_all"], ["tap tab_open", *add("Car"), "tap done 2", "tap tab_done"]],
    ),
    "a list that is only ticked and deleted from is a table too": (
        Kind(), [["tap remove 1", "tap done 0"], ["tap remove 0", "tap remove 1"], ["tap done 0", "tap remove 2", "tap remove 1"]],
        [["tap remove 2", "tap remove 0"], ["tap remove 0", "tap remove 0"], ["tap done 2", "tap remove 1", "tap done 0"]],
    ),
    "rows out of sight stay as they are": (Kind(), DETAILS, [["tap row 0", "tap rename", "tap draft", "clear", "type Gate", "tap save", "tap up", "tap row 1", "back"]]),
    "Back with the keyboard down leaves the form": (Kind(), FORMS, [["tap add", "tap draft", "type Gate", "back", "back"]]),
    "a tick seen once is a toggle": (Kind(count=False), [["tap done 0"], [*add("Rugs"), *add("Bins")]], [["tap done 0", "tap done 0"]]),
    "a search finds what was never searched for": (Kind(search=True), SEARCHES, [["tap search", "type a", "clear", "type ish", "clear", "back", "tap done 1"]]),
    "a search finds rows that came later": (Kind(search=True), SEARCHES, [[*add("Gate"), "tap search", "type at", "clear"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_mock_does_what_the_app_does(name: str) -> None:
    kind, recorded, scripts = CASES[name]
    start = App(kind)
    program = compile_graph(record(recorded, start)).program
    for script in scripts:
        for i, played in enumerate(play(program, script, start)):
            assert played.same, f"{name}: differs after {script[: i + 1]}\n{played.difference}"
            assert played.step.evidence in ("recorded", "inferred", "assumed"), f"{name}: {played.words} is {played.step.evidence}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Kind(), Kind(tabs=True), Kind(search=True)], ids=["plain", "tabs", "search"])
def test_random_walks_are_told_right_where_nothing_was_recorded(kind: Kind) -> None:
    """Up to the first wrong step of each walk. 98 % and more when this was written."""
    start = App(kind, (*App().chores, Chore(4, "Mirrors")), fresh=5)
    right = steps = 0
    for seed in range(3):
        chance = Random(seed)
        program = compile_graph(record([wander(start, 40, chance) for _ in range(4)], start)).program
        for held_out in range(6):
            for played in play(program, wander(start, 20, Random(1000 + held_out)), start):
                steps += 1
                right += played.same
                if not played.same:
                    break
    assert right >= 0.95 * steps


def wander(app: App, length: int, chance: Random) -> list[str]:
    """A random script: types often where it can, and adds rows where few are left."""
    script: list[str] = []
    for _ in range(length):
        can = options(app)
        if app.focus and chance.random() < 0.5:
            can = [c for c in can if c.startswith("type")]
        elif len(app.chores) < 2 and chance.random() < 0.8:
            can = [c for c in can if c.startswith("tap add")] or can
        script.append(chance.choice(can))
        app = app.act(action_of(app.tree(), script[-1]))
    return script


def learned(scripts: Sequence[Sequence[str]], kind: Kind | None = None) -> Lesson:
    return lesson_of(record(scripts, App(kind or Kind())))


def of(lesson: Lesson, slot: str, kind: str = "tap", argument: str | None = None) -> Learned:
    return next(v for k, v in lesson.learned.items() if (k.slot, k.kind, k.argument) == (slot, kind, argument))


# What is learned, and what is not


def test_a_lesson_explains_all_steps_of_a_plain_app() -> None:
    lesson = learned(TICKS)
    assert not [step for what in lesson.learned.values() for step in what.wrong]
    assert sum(class_of(deed) == of for of, what in lesson.learned.items() for deed in what.cases) == sum(map(len, TICKS))


def test_actions_on_rows_are_one_class_whatever_the_row() -> None:
    lesson = learned(TICKS)
    ticks = [d for what in lesson.learned.values() for d in what.cases if d.aim.slot == "done"]
    assert {d.aim.row for d in ticks} >= {0, 1, 2, 3}
    assert len({k for k in lesson.learned if k.slot == "done"}) == 1


def test_up_leads_to_the_screen_below_where_it_led_to_two() -> None:
    """The form is opened from the list and from details, and Up goes back to where it came from."""
    lesson = learned([*DETAILS, *FORMS])
    form = screen_named(lesson, "draft")
    assert lesson.learned[ActionClass(form, "tap", "up")].leads == Var(BELOW)


def test_what_always_led_to_one_screen_leads_there() -> None:
    lesson = learned(DETAILS)
    assert of(lesson, "row").leads == Const(screen_named(lesson, "starred"))


def test_a_tap_on_a_field_moves_the_focus_there() -> None:
    lesson = learned(FORMS)
    assert of(lesson, "draft").sets[FOCUS] == Const("draft")


def test_what_does_nothing_has_no_effects() -> None:
    lesson = learned([["tap heading", "tap done 0", "tap heading"], *TICKS])
    what = of(lesson, "heading")
    assert not what.sets and not what.rows


def test_an_action_that_the_state_cannot_tell_leaves_what_it_does_not_explain() -> None:
    """The third tap on a widget opens another screen, and nothing on the screen counts: it is named as wrong."""
    from dataclasses import replace

    graph = record([["tap heading", "tap heading", "tap heading", "tap heading", "tap heading"], TICKS[0]])
    trace = graph.traces[0]
    odd = next(t for t in graph.traces[1].transitions if graph.captures[t.target].state.activity == ".FormActivity").target
    changed = (*trace.transitions[:2], replace(trace.transitions[2], target=odd))
    lesson = lesson_of(replace(graph, traces=(replace(trace, transitions=changed), *graph.traces[1:])))
    assert of(lesson, "heading").wrong == {"t1:2"}


def test_what_one_step_did_to_one_row_is_no_rule_for_rows_like_it() -> None:
    lesson = lesson_of(record([["tap heading", *add("Rugs")], *TICKS]))
    deeds = list(lesson.history.deeds)
    deed = deeds[0]
    ((table, rows),) = deed.after.tables.items()
    changed = tuple({**r, "name.text": "X"} if r["done.checked"] else r for r in rows)
    deeds[0] = replace(deed, after=replace(deed.after, tables={table: changed}))
    learned = learn(replace(lesson.history, deeds=tuple(deeds)), lesson.derived, lesson.stacks)
    heading = learned[ActionClass(deed.before.screen, "tap", "heading")]
    assert not heading.rows and deed.name in heading.wrong


def test_the_stack_below_each_step_is_what_was_opened_and_not_left() -> None:
    lesson = learned(DETAILS)
    stacks = back_stacks(lesson.history)
    for deed in lesson.history.deeds:
        stack = stacks[deed.name]
        assert deed.before.screen not in stack and len(set(stack)) == len(stack)
    listed, details = screen_named(lesson, "row"), screen_named(lesson, "starred")
    opened = next(d for d in lesson.history.deeds if d.aim.slot == "draft")
    assert stacks[opened.name] == (listed, details)


def test_learning_is_deterministic() -> None:
    one, other = learned(QUICK, Kind(quick=True)), learned(QUICK, Kind(quick=True))
    assert [(k, v.leads, v.sets, v.rows, v.wrong) for k, v in one.learned.items()] == [
        (k, v.leads, v.sets, v.rows, v.wrong) for k, v in other.learned.items()
    ]


def test_words_of_no_script_are_in_no_rule() -> None:
    """What is learned is no memory of the words that were typed."""
    lesson = learned(FORMS)
    said = repr([(v.leads, v.sets, v.rows) for v in lesson.learned.values()])
    assert not [w for w in WORDS if w in said]
    assert isinstance(next(iter(lesson.learned)), ActionClass)
