"""Corrections by hand: renamed, a Program does the same; what is given is done, or refused with its line."""

from __future__ import annotations

from random import Random

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError
from phoneworld.program.check import check_program
from phoneworld.program.overrides import overridden
from phoneworld.program.program import Program
from phoneworld.program.renaming import NewNames, renamed
from phoneworld.program.words import program_in_words
from phoneworld.sim.phone import Phone
from phoneworld.testing.samples import sample_program
from phoneworld.ui.action import Action, LongPress, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.node import Hierarchy
from tests.sim.shop import shop


def everything(program: Program) -> NewNames:
    """Other names for all that can have one."""
    fixed = {"focus", "keyboard"}
    return NewNames(
        {name: f"v {name}" for name in program.variables if name not in fixed and not name.endswith((".current", ".scroll"))},
        {name: f"t {name}" for name in program.tables},
        {name: {column: f"c {column}" for column in table.columns if column != "#"} for name, table in program.tables.items()},
        {name: f"S {name}" for name in program.screens},
    )


def some_action(tree: Hierarchy, dice: Random) -> Action:
    spots = [n.bounds.center for n in tree.nodes() if not n.bounds.is_empty]
    at, kind = dice.choice(spots), dice.random()
    if kind < 0.1:
        return PressKey(dice.choice(("back", "enter")))
    if kind < 0.2:
        return Swipe(at.x, at.y, at.x, max(0, at.y - 200))
    if kind < 0.35:
        return TypeText(dice.choice(("milk", "!", "a b")), at.x, at.y)
    return LongPress(at.x, at.y) if kind < 0.4 else Tap(at.x, at.y)


@pytest.mark.parametrize("made", [shop, sample_program])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_a_renamed_program_does_the_same(made: object, seed: int) -> None:
    program: Program = made()  # type: ignore[operator]
    other = renamed(program, everything(program))
    check_program(other)
    assert not set(program.tables) & set(other.tables) and [r.id for r in other.rules] == [r.id for r in program.rules]
    phone, twin, dice = Phone((program,)), Phone((other,)), Random(seed)
    state, mirror = phone.reset(1), twin.reset(1)
    for _ in range(30):
        action = some_action(phone.look(state).hierarchy, dice)
        one, two = phone.step(state, action), twin.step(mirror, action)
        state, mirror = one.state, two.state
        assert phone.look(state).hierarchy == twin.look(mirror).hierarchy, action
        assert (one.changed, one.valid, one.evidence, one.rules) == (two.changed, two.valid, two.evidence, two.rules)


GIVEN = """
package: org.example.shop
label: Corner shop
names:
  tables: {goods: {is: products, columns: {name: title}}}
  variables: {search: query}
  screens: {Basket: cart}
start: {search: "Ja", cheap: true}
forbid:
- {screen: List, long_press: row}
- {screen: Basket, tap: ""}
rules:
- {screen: Basket, tap: total, when: {op: Less, left: 0, right: {op: Count, table: cart}}, do: [{op: DeleteRows, table: cart}, {op: Show, screen: list}]}
- screen: list
  tap: count
  do:
  - {op: SetVar, name: search, value: ""}
  - {op: UpdateRows, table: goods, cells: [[name, {op: Join, of: [{op: Column, name: name}, "!"]}]]}
"""


def test_what_is_given_is_done() -> None:
    done = overridden(shop(), GIVEN)
    program = done.program
    assert (program.label, done.renamed, done.forbidden, done.added) == ("Corner shop", 4, (1, 3), 2)
    assert program.tables["goods"].columns[0] == "name" and program.screens["cart"].name == "Basket"
    assert {r.id for r in program.rules} == {"open", "cart", "submit", "add", "done", "shout", "o1", "o2"}
    added = next(r for r in program.rules if r.id == "o2")
    assert added.evidence.kind == "assumed" and added.evidence.support == ("overrides.yaml:14",)
    phone = Phone((program,))
    state = phone.reset(1, "browsing")
    shown = [n.text for n in phone.look(state).hierarchy.nodes() if n.text]
    assert "0 shown" in shown, "Jam is not cheap"
    state = phone.step(state, Tap(100, 60)).state
    app = state.apps[program.package]
    assert app.variables["search"] == "" and [row["name"] for row in app.tables["goods"]][:2] == ["Apples!", "Bread!"]
    said = yaml.safe_load(program_in_words(program))
    assert said["app"] == "Corner shop" and "goods" in said["tables"]


def test_nothing_given_changes_nothing() -> None:
    assert overridden(shop(), "{}").program == shop()


@pytest.mark.parametrize(
    ("text", "line", "said", "mend"),
    [
        ("", 1, "empty", ""),
        ("label: [", 1, "not YAML", ""),
        ("package: org.other", 1, "expected org.example.shop", ""),
        ("naems: {}", 1, "has no field 'naems'", "names"),
        ("names:\n  variables:\n    x: qeury", 3, "a variable of the mock", "query"),
        ("names:\n  variables:\n    cheap: query", 3, "'cheap' is the name of something else", ""),
        ("names:\n  variables: {a: query,\n    b: query}", 3, "no other name yet", ""),
        ("names:\n  tables:\n    goods: {is: product}", 3, "a table of the mock", "products"),
        ("names:\n  tables:\n    goods: {is: products, columns: {name: titel}}", 3, "a column of products", "title"),
        ("names:\n  screens:\n    A: nowhere", 3, "a screen of the mock", ""),
        ("start:\n  chepa: true", 2, "a variable of the mock", "cheap"),
        ("start:\n  cheap: [1]", 2, "a single value", ""),
        ("forbid:\n- {screen: list, tap: nothing}", 2, "of which something was inferred", "program.yaml"),
        ("forbid:\n- {screen: list}", 2, "one action", "tap"),
        ("forbid:\n- {screen: list, tap: a, key: b}", 2, "one action", ""),
        ("rules:\n- {screen: list, tap: count}", 2, "lacks do", ""),
        ("rules:\n- screen: list\n  tap: count\n  do:\n  - {op: SetVra, name: query, value: 1}", 5, "op among SetVar", "program.json"),
        ("rules:\n- screen: list\n  tap: count\n  do:\n  - {op: SetVar, name: query, value: {op: Vra}}", 5, "op among Const", ""),
        ("rules:\n- {screen: list, tap: cuont, do: [{op: Show, screen: cart}]}", 2, "widget 'cuont'", ""),
        ("rules:\n- {screen: list, tap: count, do: [{op: Show, screen: nowhere}]}", 2, "screen 'nowhere'", ""),
        ("rules:\n- {screen: list, tap: count, do: [{op: SetVar, name: x, value: 1}]}", 2, "variable 'x'", ""),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(text: str, line: int, said: str, mend: str) -> None:
    with pytest.raises(FileFormatError) as e:
        overridden(shop(), text, "overrides.yaml")
    assert said in e.value.message and mend in e.value.hint and e.value.hint
    assert text.startswith("label") or e.value.message.startswith(f"overrides.yaml:{line}:"), e.value.message
