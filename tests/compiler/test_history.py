"""A recording told in slots, rows and variables: rows stay the same rows, and what goes out of sight is remembered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.compiler.aims import find_aim
from phoneworld.compiler.history import CURRENT, History
from phoneworld.compiler.row_matching import match_rows
from phoneworld.program.expr import Value
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Row
from phoneworld.ui.action import (
    Action,
    Answer,
    Clear,
    DoubleTap,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from tests.compiler.chores import PACKAGE, App, Chore, Kind, action_of, add, lesson_of, record, walk

COLUMNS = ("name.text", "done.checked")


def rows(*found: str) -> list[Row]:
    """Rows from words: "+" behind a name is a tick. Ids count from 1."""
    return [{ROW_ID: i, "name.text": w.rstrip("+"), "done.checked": w.endswith("+")} for i, w in enumerate(found, 1)]


def matched(old: list[str], new: list[str], acted: int | None = None) -> list[int | None]:
    return match_rows(rows(*old), rows(*new), COLUMNS, acted)


# Rows from one sight to the next


def test_rows_that_stay_are_the_same_rows() -> None:
    assert matched(["a", "b+", "c"], ["a", "b+", "c"]) == [0, 1, 2]


def test_a_row_is_the_same_when_a_field_shows_the_words_of_its_label() -> None:
    """The row is edited in place, and another one has come at the end: the words tell which is which."""
    old: list[Row] = [{ROW_ID: 1, "name.text": "a", "edit.text": None}, {ROW_ID: 2, "name.text": "b", "edit.text": None}]
    new: list[Row] = [{"name.text": None, "edit.text": "a"}, {"name.text": "b", "edit.text": None}, {"name.text": "c", "edit.text": None}]
    assert match_rows(old, new, ["name.text", "edit.text"], 1) == [0, 1, None]


def test_a_row_that_is_gone_takes_none_of_the_others_along() -> None:
    assert matched(["a", "b", "c"], ["a", "c"]) == [0, 2]


def test_a_row_that_came_is_new_wherever_it_stands() -> None:
    assert matched(["a", "b"], ["x", "a", "b"]) == [None, 0, 1]
    assert matched(["a", "b"], ["a", "x", "b"]) == [0, None, 1]
    assert matched(["a", "b"], ["a", "b", "x"]) == [0, 1, None]


def test_a_row_that_moved_is_the_same_row() -> None:
    assert matched(["a", "b", "c"], ["c", "a", "b"]) == [2, 0, 1]


def test_a_row_that_was_ticked_is_the_same_row() -> None:
    assert matched(["a", "b", "c"], ["a", "b+", "c"]) == [0, 1, 2]


def test_a_row_whose_words_were_changed_where_it_stands_is_the_same_row() -> None:
    assert matched(["a", "b", "c"], ["a", "x", "c"], acted=2) == [0, 1, 2]


def test_of_rows_that_look_the_same_the_one_acted_on_is_gone() -> None:
    assert matched(["a", "a", "a"], ["a", "a"], acted=2) == [0, 2]
    assert matched(["a", "a", "b"], ["a", "b"], acted=1) == [1, 2]
    assert matched(["a", "a", "b"], ["a", "b"], acted=2) == [0, 2]


def test_of_rows_that_look_the_same_the_one_acted_on_is_ticked() -> None:
    assert matched(["a", "a"], ["a", "a+"], acted=2) == [0, 1]


def test_all_gone_and_all_new() -> None:
    assert matched([], ["a"]) == [None]
    assert matched(["a"], []) == []
    assert matched([], []) == []


names = st.lists(st.sampled_from(["a", "b", "c", "a+", "b+", ""]), max_size=6)


@settings(deadline=None)
@given(names, names, st.one_of(st.none(), st.integers(1, 6)))
def test_no_row_is_matched_twice(old: list[str], new: list[str], acted: int | None) -> None:
    found = matched(old, new, acted)
    used = [i for i in found if i is not None]
    assert len(found) == len(new) and len(set(used)) == len(used)
    assert all(0 <= i < len(old) for i in used)


@settings(deadline=None)
@given(st.permutations(["a", "b+", "c", "d", "e"]))
def test_rows_that_only_moved_are_all_found_again(order: list[str]) -> None:
    old = ["a", "b+", "c", "d", "e"]
    assert matched(old, order) == [old.index(w) for w in order]


# Through a whole recording


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 200), min_size=1, max_size=15))
def test_a_row_keeps_its_id_through_ticks_deletes_and_additions(choices: list[int]) -> None:
    """Held against the app's own numbers of its rows, which the recording does not show."""
    start = App(chores=(Chore(1, "Dishes"), Chore(2, "Laundry", done=True), Chore(3, "Windows"), Chore(4, "Mirrors")), fresh=5)
    script = distinct(walk(start, choices))
    # A second trace with typed rows, so that the list is a table whatever the first one shows.
    history = lesson_of(record([script, [*add("Typed one"), *add("Typed two")]], start)).history
    mine: dict[Value, int] = {}
    app = start
    for words, deed in zip(script, (d for d in history.deeds if d.trace == "t1"), strict=True):
        app = app.act(action_of(app.tree(), words))
        for table, ids in deed.after.shown.items():
            shown = app.listed()
            assert table.endswith(".list") and len(ids) == len(shown)
            for row_id, chore in zip(ids, shown, strict=True):
                assert mine.setdefault(row_id, chore.number) == chore.number, f"after {words}"


def distinct(script: list[str]) -> list[str]:
    """The same script with no word typed twice: rows that cannot be told apart are another matter."""
    return [f"{w} {i}" if w.startswith("type") else w for i, w in enumerate(script)]


def told(*scripts: list[str], app: App | None = None) -> History:
    return lesson_of(record(scripts, app)).history


TYPED = [*add("Typed one"), *add("Typed two")]


def table_of(history: History) -> str:
    (table,) = history.columns
    return table


def test_rows_stay_known_while_another_screen_is_shown() -> None:
    history = told(["tap row 1", "tap starred", "tap up"], TYPED)
    table = table_of(history)
    details = history.deeds[0].after
    assert table not in details.shown
    assert [r["name.text"] for r in details.tables[table]] == ["Dishes", "Laundry", "Windows"]


def test_the_row_acted_on_is_current_and_that_ends_with_a_touch_beside_it() -> None:
    history = told(["tap row 1", "tap up", "tap heading"], TYPED)
    current = table_of(history) + CURRENT
    assert [d.after.variables[current] for d in history.deeds[:3]] == [2, 2, None]


def test_a_row_that_comes_is_current() -> None:
    history = told(TYPED)
    came = [d for d in history.deeds if d.aim.slot == "save"]
    assert [d.after.variables[table_of(history) + CURRENT] for d in came] == [4, 5]


def test_a_number_in_the_ids_of_a_row_is_its_id() -> None:
    start = App(Kind(numbered=True), (Chore(7, "Dishes"), Chore(9, "Laundry"), Chore(12, "Windows")), fresh=30)
    history = told(["tap remove 1", *add("Rugs")], TYPED, app=start)
    table = table_of(history)
    assert history.numbered.keys() == {table}
    assert [r[ROW_ID] for r in history.starts["t1"].tables[table]] == [7, 9, 12]
    assert [r[ROW_ID] for r in history.deeds[4].after.tables[table]] == [7, 12, 30]


def test_rows_that_are_out_of_sight_are_remembered_with_their_ids() -> None:
    kind = Kind(tabs=True)
    tabs = ["tap tab_open", "tap tab_done", "tap tab_all", "tap tab_done", "tap tab_all"]
    history = told([*tabs, *add("Rugs"), "tap done 3", *tabs], TYPED, app=App(kind))
    table = table_of(history)
    for deed in history.deeds[:5]:
        assert [r["name.text"] for r in deed.after.tables[table]] == ["Dishes", "Laundry", "Windows"]
    assert [len(d.after.shown[table]) for d in history.deeds[:5]] == [2, 1, 3, 1, 3]
    assert [d.after.shown[table] for d in history.deeds[1:3]] == [(2,), (1, 2, 3)]


def test_focus_and_keyboard_are_variables() -> None:
    history = told(["tap add", "tap draft", "type Rugs", "back"], TYPED)
    assert [(d.after.variables[FOCUS], d.after.variables[KEYBOARD]) for d in history.deeds[:4]] == [
        (None, False), ("draft", True), ("draft", True), (None, False),
    ]  # fmt: skip


def test_a_capture_outside_of_all_traces_is_a_start_of_its_own() -> None:
    graph = record([["tap done 0"], TYPED])
    lone = next(c for c in graph.captures if c not in {x for t in graph.traces[:1] for x in t.captures})
    history = lesson_of(type(graph)(graph.app, graph.device, graph.captures, graph.traces[:1])).history
    assert lone in history.starts


# What was done


def aim_of(action: Action, app: App | None = None) -> object:
    graph = record([TYPED], app)
    history = lesson_of(graph).history
    start = graph.traces[0].start
    return find_aim(graph.captures[start], history.content[start][1], action)


def spot(words: str, app: App | None = None) -> Tap:
    action = action_of((app or App()).tree(), words)
    assert isinstance(action, Tap)
    return action


@pytest.mark.parametrize(
    ("words", "slot", "row"), [("tap done 2", "done", 2), ("tap row 1", "row", 1), ("tap name 0", "row", 0), ("tap add", "add", None), ("tap heading", "heading", None)]
)
def test_a_tap_is_for_what_takes_it(words: str, slot: str, row: int | None) -> None:
    aim = aim_of(spot(words))
    assert aim is not None
    assert (aim.kind, aim.slot, aim.row) == ("tap", slot, row)  # type: ignore[attr-defined]


def test_other_gestures_are_kinds_of_their_own() -> None:
    at = spot("tap done 0")
    kinds = [
        (DoubleTap(at.x, at.y), "double_tap"), (LongPress(at.x, at.y), "long_press"), (Swipe(at.x, at.y, at.x, at.y), "long_press"),
        (Swipe(500, 900, 500, 400), "swipe_up"), (Swipe(500, 400, 500, 900), "swipe_down"), (Pinch(500, 500, 2.0), "pinch_out"),
        (Pinch(500, 500, 0.5), "pinch_in"), (OpenApp(PACKAGE), "open_app"), (Wait(), "wait"), (PressKey("home"), "key"),
    ]  # fmt: skip
    for action, kind in kinds:
        aim = aim_of(action)
        assert aim is not None and aim.kind == kind, action  # type: ignore[attr-defined]


def test_what_does_nothing_to_the_phone_is_no_aim() -> None:
    assert aim_of(Answer("yes")) is None
    assert aim_of(Finish()) is None


def test_typing_says_what_the_field_holds_afterwards() -> None:
    app = App(Kind(search=True), focus="search", fields=(("search", "du"),))
    for action, typed in ((TypeText("st"), "dust"), (TypeText("st", mode="replace"), "st"), (Clear(), "")):
        aim = aim_of(action, app)
        assert aim is not None
        assert (aim.kind, aim.slot, aim.typed) == ("type", "search", typed)  # type: ignore[attr-defined]


def test_typing_where_no_field_is_goes_nowhere() -> None:
    aim = aim_of(TypeText("x"))
    assert aim is not None
    assert (aim.kind, aim.slot, aim.typed) == ("type", "", "x")  # type: ignore[attr-defined]
