"""What is out of sight: details are cells of the row they were opened from, and values hold before they are first seen."""

from __future__ import annotations

from collections.abc import Sequence

from phoneworld.compiler.beliefs import agreed_rows
from phoneworld.compiler.believed import Alias, Worded
from phoneworld.compiler.learning import Lesson
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row
from tests.compiler.chores import App, Kind, add, lesson_of, record, screen_named

OPENED = [
    ["tap row 0", "tap starred", "tap up", "tap row 1", "tap up", "tap row 0", "back"],
    ["tap row 2", "tap starred", "tap starred", "tap up", "tap row 1", "tap starred", "back", "tap row 1", "tap up"],
    [*add("Rugs"), "tap row 3", "tap starred", "tap up", *add("Bins"), "tap row 4", "back"],
]


def lesson(scripts: Sequence[Sequence[str]] = OPENED, app: App | None = None) -> Lesson:
    return lesson_of(record(scripts, app))


def test_details_are_cells_of_the_row_that_opened_them() -> None:
    found = lesson()
    details = screen_named(found, "details_name")
    (table,) = found.history.columns
    assert found.beliefs.aliases[f"{details}.details_name.text"] == (Alias(table, "name.text"),)
    assert found.beliefs.details == {details: (table,)}


def test_a_switch_on_details_is_the_part_of_the_row_that_it_shows() -> None:
    found = lesson()
    details = screen_named(found, "starred")
    (table,) = found.history.columns
    assert found.beliefs.aliases[f"{details}.starred.checked"] == (Alias(table, "star.shown"),)


def test_what_details_show_is_put_into_the_row_at_once() -> None:
    history = lesson().history
    (table,) = history.columns
    opened, starred, back = history.deeds[:3]
    assert opened.after.tables[table][0]["star.shown"] is False
    assert starred.after.tables[table][0]["star.shown"] is True
    assert back.after.tables[table] == starred.after.tables[table]


def test_one_opened_row_is_no_alias() -> None:
    """Its words may be equal by chance; it takes two rows to tell."""
    found = lesson([["tap row 1", "tap up", "tap row 1", "tap up"], [*add("Rugs"), *add("Bins")]])
    assert not found.beliefs.aliases


def test_a_field_of_a_form_is_no_alias_for_what_is_in_it_is_a_draft() -> None:
    scripts = [["tap row 0", "tap rename", "tap draft", "type !", "tap save", "tap up"], ["tap row 2", "tap rename", "tap draft", "type ?", "tap up", "tap up"], OPENED[2]]
    found = lesson(scripts)
    form = screen_named(found, "draft")
    assert not [name for name in found.beliefs.aliases if name.startswith(f"{form}.")]
    (table,) = found.history.columns
    typed = [d for d in found.history.deeds if d.aim.kind == "type" and d.trace == "t2"]
    assert [r["name.text"] for r in typed[0].after.tables[table]] == ["Dishes", "Laundry", "Windows"]


def test_a_screen_that_shows_no_row_is_no_details_of_one() -> None:
    found = lesson()
    assert screen_named(found, "draft") not in found.beliefs.details


def test_a_value_holds_before_it_is_first_seen_where_most_traces_agree() -> None:
    scripts = [["tap add", "tap up"], ["tap done 0", "tap add", "tap draft", "type x", "tap up"], [*add("Rugs"), *add("Bins")]]
    found = lesson(scripts)
    form = screen_named(found, "draft")
    assert found.beliefs.initial[f"{form}.draft.text"] == ""
    assert found.history.starts["t1"].variables[f"{form}.draft.text"] == ""


def test_a_second_telling_of_what_was_believed_changes_nothing() -> None:
    from phoneworld.compiler.beliefs import find_beliefs

    found = lesson()
    again = find_beliefs(found.history, found.beliefs)
    assert again.aliases == found.beliefs.aliases and again.details == found.beliefs.details


def test_without_a_table_there_is_nothing_to_believe_of_rows() -> None:
    found = lesson([["tap add", "tap up", "tap add"]], App(Kind(), ()))
    assert not found.beliefs.aliases and not found.beliefs.details


PREFIXED = App(Kind(prefixed=True))
RENAMED = [
    ["tap row 0", "tap rename", "tap draft", "clear", "type Ironing", "tap save", "tap up", "tap row 1", "tap up", "tap row 0", "tap up"],
    ["tap row 2", "tap up", "tap row 1", "tap up", "tap row 2", "tap rename", "tap draft", "clear", "type Doors", "tap save", "tap up"],
    ["tap row 0", "tap up", "tap row 1", "tap starred", "tap up", "tap row 2", "tap starred", "tap up", "tap row 0", "tap starred", "tap up"],
    ["tap row 1", "tap up", "tap row 2", "tap starred", "tap starred", "tap starred", "tap up", "tap row 0", "tap up"],
]


def test_details_that_say_it_with_more_words_show_the_cell_all_the_same() -> None:
    found = lesson(RENAMED, PREFIXED)
    (table,) = found.history.columns
    (worded,) = found.beliefs.worded.values()
    assert (worded.before, worded.column, worded.after) == ("Chore: ", "name.text", "")
    saved = next(d for d in found.history.deeds if d.aim.slot == "save")
    assert [r["name.text"] for r in saved.after.tables[table]] == ["Ironing", "Laundry", "Windows"]


def test_words_that_do_not_fit_say_nothing_of_the_cell() -> None:
    worded = Worded("Chore: ", "name.text", " (due)")
    assert worded.cell("Chore: Dishes (due)") == "Dishes"
    assert worded.cell("Dishes") is None and worded.cell("Chore:  (due)") is None and worded.cell(None) is None


def test_a_table_held_at_first_what_most_traces_agree_on_else_what_was_seen_soonest() -> None:
    def rows(*names: str) -> tuple[Row, ...]:
        return tuple({ROW_ID: i, "name.text": name} for i, name in enumerate(names, 1))

    plain, more = rows("Milk"), rows("Milk", "Tea")
    assert agreed_rows([(9, more), (2, plain), (8, plain)]) == plain, "the first trace had added something before it looked"
    assert agreed_rows([(9, more), (2, plain)]) == plain
    assert agreed_rows([(1, more), (2, plain)]) == more
