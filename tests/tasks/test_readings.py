"""What can be read off an app and what is done with it: said by what it is or by the words beside it, written down, gone on by."""

from __future__ import annotations

import pytest

from phoneworld.program.effect import GoBack, SetVar, Show
from phoneworld.program.expr import Acted, All, Cell, Column, Equal, Not, OneOf, Var
from phoneworld.program.program import Evidence, Layout, Program, Rule, Screen, Table, Trigger, Variable
from phoneworld.program.program import Start as ProgramStart
from phoneworld.program.template import Rows, Slot, Template
from phoneworld.sim.phone import Phone
from phoneworld.tasks.generate import Generated, Generator
from phoneworld.tasks.ground import Atom, Ground
from phoneworld.tasks.influence import Influence
from phoneworld.tasks.paths import Path
from phoneworld.tasks.reading_pieces import Piece, marks_of, pieces_of, said_in_one_breath
from phoneworld.tasks.reading_values import called, phone_in
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy
from tests.sim.shop import PACKAGE, SIZE, slot

PEOPLE = ("Ada Byron +44 7700 900101 Friend", "Bo Lind +44 7700 900102", "Cem Oz +44 7700 900103 Friend", "Dora Kiss +44 7700 900104")
CAFES = (("Corner", "★ 4.8", "from 20 · fee 3"), ("Harbour", "★ 4.6", "from 25 · fee 4"), ("Mill", "★ 4.2", "from 18 · fee 2"))
DISHES = (("Soup", "¥12", 0), ("Rice", "¥15", 0), ("Tea", "¥6", 0), ("Noodles", "¥22", 1), ("Cake", "¥9", 1), ("Juice", "¥11", 1))
SEEN = Evidence("inferred", ("t:1",), 2)


def _screen(name: str, heading: str | None, *children: Slot | Rows) -> Screen:
    title = (slot(f"{name}-title", "TextView", (0, 0, 360, 40), text=heading),) if heading else ()
    window = slot(f"{name}-window", "FrameLayout", (0, 0, 360, 800), *title, *children)
    never = Layout(f"{name}-0", Hierarchy((window.node,)), SIZE, DeviceState(PACKAGE, ".Main"), None, OneOf("moment", ("never",)))
    return Screen(name, heading or name, PACKAGE, ".Main", (never,), Template((window,), SIZE, DeviceState(PACKAGE, ".Main")))


def _button(key: str, words: str, top: int) -> Slot:
    return slot(key, "Button", (0, top, 360, top + 40), text=words, clickable=True)


def _switch(key: str, words: str, top: int) -> Slot:
    return slot(key, "Switch", (0, top, 360, top + 40), text=words, checkable=True, clickable=True, attributes=(("checked", Var(key)),))


def guide() -> Program:
    """A city guide: cafés with what they serve, people with their numbers, a page to search on, two switches."""
    cafe = slot(
        "cafe", "LinearLayout", (0, 40, 360, 100),
        slot("cafe-name", "TextView", (0, 40, 200, 60), attributes=(("text", Column("name")),)),
        slot("cafe-stars", "TextView", (200, 40, 360, 60), attributes=(("text", Column("stars")),)),
        slot("cafe-terms", "TextView", (0, 60, 360, 100), attributes=(("text", Column("terms")),)),
        clickable=True,
    )  # fmt: skip
    dish = slot(
        "dish", "LinearLayout", (0, 80, 360, 120),
        slot("dish-name", "TextView", (0, 80, 200, 120), attributes=(("text", Column("name")),)),
        slot("dish-price", "TextView", (200, 80, 360, 120), attributes=(("text", Column("price")),)),
    )  # fmt: skip
    person = slot("person", "TextView", (0, 40, 360, 80), attributes=(("text", Column("line")),))
    here = Equal(Column("#"), Var("cafes.current"))

    def rule(screen: str, node: str, *then: object) -> Rule:
        return Rule(f"{screen} {node}", screen, Trigger("tap", node), All(), then, SEEN)  # type: ignore[arg-type]

    screens = (
        _screen("cafes", "Cafés", slot("list", "ListView", (0, 40, 360, 300), Rows("cafes", cafe)), _button("to-people", "Address book", 600), _button("to-find", "Look up", 640), _button("to-options", "Set up", 680)),
        _screen("cafe-page", None, slot("page-name", "TextView", (0, 0, 360, 40), attributes=(("text", Cell("cafes", "name", here)),)), slot("menu", "ListView", (0, 80, 360, 400), Rows("dishes", dish, Equal(Column("@owner"), Var("cafes.current"))))),
        _screen("people", "People", slot("persons", "ListView", (0, 40, 360, 300), Rows("people", person))),
        _screen("find", "Find", slot("words", "EditText", (0, 100, 360, 140), attributes=(("text", Var("words")),), clickable=True, focusable=True, hint="Name or number")),
        _screen("options", "Options", _switch("large", "Large print", 100), _switch("quiet", "Quiet", 140)),
    )  # fmt: skip
    return Program(
        package=PACKAGE,
        label="Guide",
        activity=".Main",
        device=DeviceInfo(SIZE, 160),
        screens={s.id: s for s in screens},
        starts={"first": ProgramStart("cafes")},
        variables={
            "words": Variable("words", ""), "large": Variable("large", False, (False, True)), "quiet": Variable("quiet", False, (False, True)),
            "cafes.current": Variable("cafes.current", None, ()), "moment": Variable("moment", None), "focus": Variable("focus", None), "keyboard": Variable("keyboard", False),
        },
        tables={
            "cafes": Table("cafes", ("#", "name", "stars", "terms"), tuple((i, *row) for i, row in enumerate(CAFES))),
            "dishes": Table("dishes", ("#", "name", "price", "@owner"), tuple((i, *row) for i, row in enumerate(DISHES))),
            "people": Table("people", ("#", "line"), tuple(enumerate(PEOPLE))),
        },
        rules=(
            rule("cafes", "cafe", SetVar("cafes.current", Acted("#")), Show("cafe-page")), rule("cafes", "to-people", Show("people")),
            rule("cafes", "to-find", Show("find")), rule("cafes", "to-options", Show("options")),
            *(Rule(f"{s} back", s, Trigger("back"), All(), (GoBack(),), SEEN) for s in ("cafe-page", "people", "find", "options")),
            rule("options", "large", SetVar("large", Not(Var("large")))), rule("options", "quiet", SetVar("quiet", Not(Var("quiet")))),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def generator() -> Generator:
    return Generator(Phone([guide()]), "guide")


@pytest.fixture(scope="module")
def atoms(generator: Generator) -> dict[str, Atom]:
    return {atom.en: atom for atom in generator.atoms.all()}


def test_a_cell_is_taken_apart_by_what_its_parts_are_and_by_the_words_beside_them() -> None:
    assert list(pieces_of(PEOPLE)) == [Piece("phone", "phone(@)")]
    assert list(pieces_of([terms for _, _, terms in CAFES])) == [Piece("number", "numbers(@)[0]", "from"), Piece("number", "numbers(@)[1]", "fee")]
    assert list(pieces_of(["Minimum €30", "Minimum €25"])) == [Piece("price", "numbers(@)[0]", "Minimum")]
    assert list(pieces_of(["Yoga, 3 March 2026", "Tea, 4 May 2026"])) == [Piece("day", "date(@)")]
    assert list(pieces_of(["12 left", "12 of 30 left"])) == []  # not all of one make
    assert list(pieces_of(["NB21 4400 1870 0312", "NB21 4400 1870 0426"])) == []  # a code, no number
    assert marks_of(PEOPLE) == ("Friend",) and marks_of(["Paid", "Paid"]) == ()
    assert said_in_one_breath(PEOPLE) and not said_in_one_breath(["Milk", "Eggs and bread"])


def test_a_text_tells_its_phone_number_and_the_name_before_it() -> None:
    assert phone_in(PEOPLE[0]) == "+44 7700 900101" and called(PEOPLE[0]) == "Ada Byron"
    assert phone_in("NB21 4400 1870 0312") is None and phone_in("2026-02-27 09:30") is None and phone_in("+44 7700 900101, +44 7700 900102") is None
    assert called("no number here") is None and called("+44 7700 900101") is None
    row = {"line": PEOPLE[1], "terms": CAFES[0][2]}
    assert Path("phone(line)").find(row) == "+44 7700 900102" and Path("called(line)").find(row) == "Bo Lind"
    assert Path("numbers(terms)[1]").find(row) == 3 and Path("numbers(nothing)").find(row) == []


def test_rows_that_say_all_in_one_breath_are_called_by_their_names() -> None:
    phone = Phone([guide()])
    ground = Ground(guide(), phone.reset().apps[PACKAGE], Influence(guide()))
    assert [r.key for r in ground.references("people")] == ["name"]
    assert ground.owners == {"dishes": "cafes"} and ground.owning("dishes") == [0, 1]


@pytest.mark.parametrize(
    "words",
    [
        "tell me the phone number that the list on the page “People” shows for “{t}”",
        "tell me the number beside “fee” that the list on the page “Cafés” shows for “{x.title}”",
        "tell me the name of the one with the most beside “from” in the list on the page “Cafés”",
        "tell me the amount that the page of “{o.title}” shows for “{x.title}”",
        "tell me the name of the one with the highest amount in the list on the page of “{o.title}”",
        "tell me which of “{x.title}” and “{y.title}” is rated higher in the list on the page “Cafés”",
        "tell me how many entries in the list on the page “People” say “Friend”",
        "tell me how many entries in the list on the page “Cafés” are rated 4.6 or higher",
        "put the phone number that the list on the page “People” shows for “{t}” into the field “Name or number” on the page “Find”, as it stands there, and leave it at that",
        "open the page of the best rated one in the list on the page “Cafés” and leave it open",
    ],
)
def test_a_value_is_read_and_used_and_the_oracle_can_do_it(words: str, generator: Generator, atoms: dict[str, Atom]) -> None:
    assert words in atoms
    assert generator._usable(atoms[words], Generated())


def test_nobody_is_asked_for_the_cheapest_where_several_amounts_stand(atoms: dict[str, Atom]) -> None:
    assert not [en for en in atoms if "amount" in en and "lowest" in en and "“Cafés”" in en]


def test_a_condition_decides_between_two_things_and_is_read_before_either(generator: Generator) -> None:
    usable = [atom for atom in generator.atoms.all() if generator._usable(atom, Generated())]
    found = {atom.en: atom for atom in generator.atoms.decided(usable)}
    words = "if the list on the page “People” shows “Friend” for “{t}”, switch on “Large print” on the page “Options”; otherwise switch on “Quiet” on the page “Options”"
    assert words in found
    task = generator._composed((found[words],), 1)
    solved = [generator.prover.solved(task, seed) for seed in range(6)]
    ends = []
    for one in solved:
        assert not isinstance(one, str), one
        ends.append((one.judge.instance.instruction.split("“")[3].split("”")[0], one.episode.state.apps[PACKAGE].variables["large"]))
    assert {large for _, large in ends} == {True, False}
    assert all(large is any(p.startswith(name) and "Friend" in p for p in PEOPLE) for name, large in ends)


def test_what_is_made_of_it_is_proved_and_most_of_it_is_read_on_one_screen_and_used_on_another(generator: Generator) -> None:
    out = generator.make(6)
    assert len(out.tasks) == 6 and all(p.proved for p in out.proofs)
    assert out.reading >= 3
