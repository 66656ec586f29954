"""What follows from the rest: held against states that no recording showed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from phoneworld.compiler.derive import Derived, cell_of, current_row
from phoneworld.compiler.history import CURRENT
from phoneworld.compiler.learning import Lesson
from phoneworld.program.expr import Expr, Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row, Scope, evaluate
from tests.compiler.chores import App, Chore, Kind, add, lesson_of, record, screen_named

TICKS = [
    ["tap done 0", "tap done 1", "tap done 0", "tap done 0", *add("Rugs"), *add("Bins"), "tap done 3", "tap remove 1", "tap done 2"],
    [*add("Lawn"), "tap remove 0", "tap remove 0", "tap done 1", "tap clear_done", *add("Roof"), "tap remove 0"],
    ["tap clear_done", "tap done 1", "tap clear_done", "tap done 0", "tap done 0"],
]


def lesson(scripts: Sequence[Sequence[str]] = TICKS, app: App | None = None) -> Lesson:
    return lesson_of(record(scripts, app))


def table_of(found: Lesson) -> str:
    (table,) = found.history.columns
    return table


def follows(found: Lesson, slot: str, attribute: str) -> Expr:
    screen = screen_named(found, slot)
    return found.derived.variables[f"{screen}.{slot}.{attribute}"]


def rows(*ticks: bool) -> tuple[Row, ...]:
    return tuple({ROW_ID: i, "name.text": f"Row {i}", "done.checked": t} for i, t in enumerate(ticks, 1))


def said(found: Lesson, expr: Expr, *ticks: bool, **variables: Value) -> Value:
    return evaluate(expr, Scope(variables, {table_of(found): rows(*ticks)}))


@pytest.mark.parametrize(
    ("ticks", "words"),
    [
        ((), "0 chores left"), ((False,), "1 chore left"), ((True,), "0 chores left"), ((False, True), "1 chore left"),
        ((False,) * 7, "7 chores left"), ((False,) * 12 + (True,) * 3, "12 chores left"),
    ],
)  # fmt: skip
def test_a_count_with_its_plural_holds_for_numbers_never_seen(ticks: tuple[bool, ...], words: str) -> None:
    found = lesson()
    assert said(found, follows(found, "count", "text"), *ticks) == words


@pytest.mark.parametrize("ticks", [(), (True,), (False,), (False, True), (False,) * 9, (True,) * 9])
def test_a_button_is_there_while_some_row_is_ticked(ticks: tuple[bool, ...]) -> None:
    found = lesson()
    assert said(found, follows(found, "clear_done", "shown"), *ticks) is any(ticks)


def test_what_follows_was_seen_to_follow() -> None:
    found = lesson()
    screen = screen_named(found, "count")
    changes = sum(
        a.variables[f"{screen}.count.text"] != b.variables[f"{screen}.count.text"]
        for a, b in ((d.before, d.after) for d in found.history.deeds)
        if f"{screen}.count.text" in a.seen & b.seen
    )
    assert 2 <= found.derived.cases[f"{screen}.count.text"] <= changes + 2 * len(found.history.starts)


def test_every_derived_value_was_right_at_every_sight() -> None:
    found = lesson()
    for sight in found.history.sights():
        for name, expr in found.derived.variables.items():
            if name in sight.seen:
                assert evaluate(expr, Scope(sight.variables, sight.tables)) == sight.variables[name], name


def test_words_that_are_typed_follow_from_nothing() -> None:
    found = lesson()
    assert f"{screen_named(found, 'draft')}.draft.text" not in found.derived.variables


def test_a_text_that_never_changed_follows_from_nothing() -> None:
    found = lesson([["tap done 0", "tap done 0"], [*add("Rugs"), *add("Bins")]])
    assert not any(".heading." in name for name in found.derived.variables)


def test_a_count_is_not_taken_from_one_change() -> None:
    """One change may be chance; nothing is claimed of it."""
    start = App(Kind(), tuple(Chore(i, w) for i, w in enumerate(("Dishes", "Laundry", "Windows"), 1)))
    found = lesson([["tap row 0", "tap rename", "tap draft", "type !", "tap save", "tap up", "tap done 0"]], start)
    assert not any(name.endswith(".count.text") for name in found.derived.variables)


def test_a_count_stays_a_count_while_tabs_hide_rows() -> None:
    tabs = ["tap tab_open", "tap done 0", "tap tab_done", "tap done 0", "tap tab_all"]
    scripts = [
        [*add("Rugs"), *tabs, "tap done 2", *tabs],
        [*tabs, *add("Bins"), "tap done 0", "tap done 1", "tap tab_open", "tap tab_all", "tap done 2"],
        ["tap done 0", "tap done 0", "tap done 2"],
    ]
    found = lesson(scripts, App(Kind(tabs=True)))
    expr = follows(found, "count", "text")
    (filter_,) = found.history.filters.values()
    for mode in ("tab_open", "tab_done", "tab_all"):
        scope = Scope({filter_.mode: mode}, {table_of(found): rows(False, False, False, False, True)})
        assert evaluate(expr, scope) == "4 chores left"


def test_details_are_read_from_the_current_row() -> None:
    opened = [["tap row 0", "tap starred", "tap up", "tap row 1", "tap up"], ["tap row 2", "tap up", *add("Rugs"), "tap row 3", "tap starred"]]
    found = lesson(opened)
    table = table_of(found)
    expr = follows(found, "details_name", "text")
    scope = Scope({table + CURRENT: 2}, {table: rows(False, False, True)})
    assert evaluate(expr, scope) == "Row 2"
    assert evaluate(expr, Scope({table + CURRENT: None}, {table: rows(False)})) is None


def test_an_id_of_a_row_follows_from_its_number() -> None:
    found = lesson(app=App(Kind(numbered=True)))
    columns = found.derived.columns[table_of(found)]
    ids = {name: expr for name, expr in columns.items() if name.endswith(".resource_id")}
    assert len(ids) == 4
    for name, expr in ids.items():
        value = evaluate(expr, Scope({}, row={ROW_ID: 41}))
        assert isinstance(value, str) and value.endswith("_41"), name


def test_a_cell_that_follows_is_read_from_what_it_follows_from() -> None:
    found = lesson(app=App(Kind(numbered=True)))
    table = table_of(found)
    name = next(c for c in found.derived.columns[table] if c.endswith(".resource_id"))
    free = next(c for c in found.history.columns[table] if c not in found.derived.columns[table] and c.endswith(".text"))
    scope = Scope({table + CURRENT: 9}, {table: ({ROW_ID: 8, free: "other"}, {ROW_ID: 9, free: "mine"})})
    value = evaluate(cell_of(found.derived, table, name), scope)
    assert isinstance(value, str) and value.endswith("_9")
    assert evaluate(cell_of(found.derived, table, free), scope) == "mine"


def test_the_current_row_is_the_one_of_that_id() -> None:
    scope = Scope({"t" + CURRENT: 3})
    assert evaluate(current_row("t"), scope.at({ROW_ID: 3})) is True
    assert evaluate(current_row("t"), scope.at({ROW_ID: 4})) is False


def test_nothing_follows_in_a_recording_of_one_screen() -> None:
    found = lesson([["tap heading"]])
    assert found.derived == Derived(columns=found.derived.columns) and not any(found.derived.columns.values())
