"""Lists that show some of their rows: what tabs let through, what a search finds, and what is no filter at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.history import find_history, shows_all
from phoneworld.compiler.learning import Lesson
from phoneworld.compiler.modes import Filter
from phoneworld.compiler.screens import find_screens
from phoneworld.program.expr import TRUE
from phoneworld.sim.evaluate import Scope, evaluate
from tests.compiler.chores import App, Kind, add, lesson_of, play, record, screen_named, shown_texts

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


def found_in(scripts: Sequence[Sequence[str]], kind: Kind) -> tuple[Lesson, Filter]:
    lesson = lesson_of(record(scripts, App(kind)))
    (table,) = lesson.history.columns
    return lesson, lesson.history.filters[table]


DONE, OPEN = {"name.text": "Never seen", "done.checked": True}, {"name.text": "Nor this", "done.checked": False}


@pytest.mark.parametrize(("tab", "done", "open_"), [("tab_all", True, True), ("tab_open", False, True), ("tab_done", True, False), (None, True, True)])
def test_tabs_are_conditions_on_rows(tab: str | None, done: bool, open_: bool) -> None:
    _, found = found_in(TABS, Kind(tabs=True))
    assert set(found.switches) == {"tab_all", "tab_open", "tab_done"}
    scope = Scope({found.mode: tab})
    assert (evaluate(found.where, scope.at(DONE)), evaluate(found.where, scope.at(OPEN))) == (done, open_)


def test_the_tab_touched_last_is_remembered_on_other_screens() -> None:
    lesson, found = found_in(TABS, Kind(tabs=True))
    second = [d for d in lesson.history.deeds if d.trace == "t2"]
    assert [d.after.variables[found.mode] for d in second[:5]] == ["tab_open"] * 5


def test_a_row_that_a_tab_hides_is_still_there() -> None:
    lesson, found = found_in(TABS, Kind(tabs=True))
    hidden = next(d for d in lesson.history.deeds if d.trace == "t2")
    assert len(hidden.after.tables[found.table]) == 3 and len(hidden.after.shown[found.table]) == 2
    assert not shows_all(hidden.after, found) and shows_all(hidden.before, found)


def test_a_row_that_a_tick_hides_is_not_deleted() -> None:
    """Under "open" a row that is ticked goes: it is found again, ticked, under "done"."""
    lesson, found = found_in(TABS, Kind(tabs=True))
    ticked = next(d for d in lesson.history.deeds if d.trace == "t2" and d.aim.slot == "done")
    before, after = ticked.before.tables[found.table], ticked.after.tables[found.table]
    assert len(after) == len(before) == 4
    assert next(r for r in after if r["#"] == ticked.acted["#"])["done.checked"] is True


def test_a_row_goes_out_of_sight_where_all_rows_were_in_sight() -> None:
    all_done = ["tap done 0", "tap done 2", "tap tab_done", "tap done 1"]
    lesson, found = found_in([*TABS, all_done], Kind(tabs=True))
    unticked = [d for d in lesson.history.deeds if d.trace == "t4"][-1]
    assert len(unticked.before.shown[found.table]) == 3 and len(unticked.after.shown[found.table]) == 2
    assert [r["done.checked"] for r in unticked.after.tables[found.table]] == [True, False, True]


def test_a_row_that_is_deleted_under_a_tab_does_not_come_back() -> None:
    lesson, found = found_in(TABS, Kind(tabs=True))
    last = [d for d in lesson.history.deeds if d.trace == "t3"][-1]
    assert [r["name.text"] for r in last.after.tables[found.table]] == ["Laundry", "Windows", "Lawn"]


BACK = [
    *TABS,
    ["tap tab_open", "tap tab_done", "back", "tap done 0", "back"],
    ["tap gap", "back", "tap done 0", "tap gap", "back", "tap gap", "tap tab_open", "back", "back"],
    ["tap tab_done", "back", "tap tab_open", "tap gap", "tap tab_all"],
]


def test_back_returns_to_the_tab_before() -> None:
    lesson, found = found_in(BACK, Kind(tabs=True, back_tabs=True))
    modes = [d.after.variables[found.mode] for d in lesson.history.deeds if d.trace == "t4"]
    assert modes == ["tab_open", "tab_done", "tab_open", "tab_open", None]
    program = compile_graph(record(BACK, App(Kind(tabs=True, back_tabs=True)))).program
    script = [*add("Stairs"), "tap tab_done", "tap tab_open", "back", "tap done 0", "back", "tap done 0"]
    for played in play(program, script, App(Kind(tabs=True, back_tabs=True))):
        assert shown_texts(played.mock, "name") == shown_texts(played.app.tree(), "name"), played.words


def test_a_finger_between_two_tabs_touches_one_of_them() -> None:
    _, found = found_in(BACK, Kind(tabs=True, back_tabs=True))
    assert found.also == {"gap": "tab_done"}
    assert found.switched_by("gap") == "tab_done" and found.switched_by("heading") is None


def test_rows_tell_the_tab_only_where_its_condition_is_sure() -> None:
    graph = record(BACK, App(Kind(tabs=True, back_tabs=True)))
    lesson = lesson_of(graph)
    ((table, found),) = lesson.history.filters.items()
    assert found.firm
    screens = {s.id: [c for lay in s.layouts for c in lay.captures] for s in find_screens(graph, {}).screens.values()}
    beliefs = replace(lesson.beliefs, filters={table: replace(found, firm=False)})
    told = find_history(graph, screens, lesson.history.patterns, beliefs)
    assert [d.after.variables[found.mode] for d in told.deeds if d.trace == "t4"] == ["tab_open", *["tab_done"] * 4]


def test_what_takes_touches_is_a_switch_however_often_a_finger_came_beside_it() -> None:
    _, found = found_in([*BACK, *(["tap gap", "back"] * 4,) * 2], Kind(tabs=True, back_tabs=True))
    assert set(found.switches) == {"tab_all", "tab_open", "tab_done"}


def test_what_ticks_rows_under_a_tab_is_no_tab() -> None:
    """Under "open" it hides all rows, as "done" would if none is done."""
    scripts = [*TABS, ["tap tab_open", "tap mark_all", "tap tab_all", "tap mark_all", "tap mark_all"], ["tap mark_all", "tap tab_open", "tap mark_all"]]
    _, found = found_in(scripts, Kind(tabs=True, mark_all=True))
    assert not found.also


def test_a_field_that_searches_finds_words_that_were_never_typed() -> None:
    lesson, found = found_in(SEARCHES, Kind(search=True))
    field = f"{screen_named(lesson, 'search')}.search.text"
    assert found.mode == "" and found.search != TRUE

    def finds(part: str, name: str) -> bool:
        return bool(evaluate(found.where, Scope({field: part}, row={"name.text": name, "done.checked": False})))

    assert finds("", "Anything") and finds("ny", "Anything") and finds("ANY", "anything")
    assert not finds("other", "Anything")


def test_what_a_search_hides_is_still_there() -> None:
    lesson, found = found_in(SEARCHES, Kind(search=True))
    typed = next(d for d in lesson.history.deeds if d.aim.kind == "type" and d.aim.slot == "search")
    assert [r["name.text"] for r in typed.after.tables[found.table] if r["#"] not in typed.after.shown[found.table]] == ["Rugs"]
    assert len(typed.after.tables[found.table]) == 4


def test_deleting_and_adding_are_no_filter() -> None:
    scripts = [[*add("Rugs"), "tap remove 0", *add("Dishes"), "tap remove 1"], [*add("Bins"), "tap done 0", "tap clear_done", *add("Laundry")]]
    assert not lesson_of(record(scripts)).history.filters


def test_tabs_that_hid_nothing_are_no_filter() -> None:
    scripts = [["tap tab_open", "tap tab_all", "tap tab_open", *add("Rugs"), "tap tab_all"], [*add("Bins"), *add("Lawn")]]
    start = App(Kind(tabs=True), tuple(c for c in App().chores if not c.done))
    assert not lesson_of(record(scripts, start)).history.filters
