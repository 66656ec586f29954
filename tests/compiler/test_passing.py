"""Messages that go by themselves, learned from the times of a recording of a little app."""

from __future__ import annotations

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.passing import find_passings, rises
from phoneworld.program.expr import Blank, Case, Const, Expr, Not, Var, names_in
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Tap, Wait
from tests.compiler.chores import App, Kind, add, lesson_of, play, record, shown_texts

SAYING = App(Kind(says=True))
SCRIPTS = [
    [*add("Rugs"), "tap done 0", "tap done 1", "tap done 0", "tap remove 0", "tap done 0", "tap done 1", "tap row 0", "tap up", "tap row 1", "tap up"],
    [*add("Bins"), "tap row 0", "tap starred", "tap up", "tap done 0", *add("Lawn"), "tap done 1", *add("Car"), "tap done 0", "tap done 0"],
    ["tap remove 1", "tap done 0", "tap row 0", "tap starred", "tap starred", "tap up", "tap done 1", "tap remove 0", "tap row 0", "tap up", "tap add", "tap up"],
    ["tap remove 0", "tap add", "tap draft", "type Roof", "tap save", "tap done 1", "tap done 1", "tap heading", "tap remove 0", "tap done 0"],
]
PROGRAM = compile_graph(record(SCRIPTS, SAYING, step_ms=1100)).program


def test_how_long_a_message_stays_depends_on_what_it_says() -> None:
    passings = lesson_of(record(SCRIPTS, SAYING, step_ms=1100)).passings
    (passing,) = passings.of.values()
    match passing.after_ms:
        case Case(_, Const(int(one)), Const(int(other))):
            short, long = sorted((one, other))
        case _:
            pytest.fail(f"{passing.after_ms}: expected two times")
    assert 2200 < short <= 3300 and 5500 < long <= 6600


def test_what_follows_from_other_things_does_not_go_by_itself() -> None:
    lesson = lesson_of(record(SCRIPTS, SAYING, step_ms=1100))
    (message,) = lesson.passings.of
    assert message in find_passings(lesson.history).of and message not in find_passings(lesson.history, {message}).of


def test_a_recording_without_times_knows_of_nothing_that_passes() -> None:
    assert not lesson_of(record(SCRIPTS, SAYING)).passings.of


@pytest.mark.parametrize(
    "script",
    [
        [*add("Gate"), "tap done 2", "tap heading", "tap done 3", "tap done 0"],
        ["tap remove 2", "tap done 1", "tap remove 0", "tap done 0", "tap row 0", "tap up", "tap done 0", "tap done 0"],
        ["tap done 0", *add("Gate"), "wait 900", "tap done 0", "tap done 0"],
        ["tap remove 0", "wait 2000", *add("Gate"), "wait 5000", "tap done 0"],
        ["tap remove 1", "wait 7000"],
    ],
)
def test_a_message_goes_after_its_time_whatever_is_done_meanwhile(script: list[str]) -> None:
    for played in play(PROGRAM, script, SAYING):
        assert played.same, f"{played.words}\n{played.difference}"


def test_given_time_passes_instead_of_the_usual() -> None:
    phone = Phone([PROGRAM])
    state = phone.step(phone.reset(), Tap(970, 370)).state
    gone = phone.step(state, Wait(0), took_ms=60_000)
    assert shown_texts(phone.view(state).hierarchy, "said") == ["Removed"]
    assert shown_texts(phone.view(gone.state).hierarchy, "said") == [] and gone.changed


def test_what_passes_is_no_reason_for_anything() -> None:
    lesson = lesson_of(record(SCRIPTS, SAYING, step_ms=1100))
    passing = lesson.passings.names
    for what in lesson.learned.values():
        read = {n for name, e in what.sets.items() if name not in passing for n in _reads(e)} | set(_reads(what.leads))
        assert not read & passing


def _reads(expr: Expr) -> list[str]:
    return sorted(names_in(expr))


def test_a_part_comes_where_it_is_set_whatever_it_was() -> None:
    empty = Blank(Var("field"))
    assert rises(Const(True), "said") == Const(True)
    assert rises(Case(empty, Var("said"), Const(True)), "said") == Not(empty)
    assert rises(Case(empty, Const(False), Case(Var("mode"), Const(True), Var("said"))), "said") == Case(
        empty, Const(False), Var("mode")
    )
