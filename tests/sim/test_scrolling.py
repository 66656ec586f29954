"""Scrolling: content follows the finger as far as it goes, screens keep their place, and a touch lands on what is there then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.program.bundle import dumps, loads
from phoneworld.program.check import check_program
from phoneworld.program.effect import SetVar, Show
from phoneworld.program.expr import TRUE, Const, OneOf, Value
from phoneworld.program.placement import Axis, Exactly, Fill, Near, Placement
from phoneworld.program.program import Layout, Program, Rule, Start, Trigger, all_variables
from phoneworld.program.template import Scrolling, scroll
from phoneworld.sim.drawing import Drawing
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState, state_from_json, state_to_json
from phoneworld.testing.strategies import actions
from phoneworld.ui.action import Action, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.node import Node
from tests.program.strategies import patient, values
from tests.sim.shop import INFERRED, MOMENT, PACKAGE, SIZE, shop

SLOP = 10
ROW, TOP = 40, 120
MOST = 30 * ROW - (SIZE.height - TOP)
SCROLL = scroll("list")


def scrolling_shop(*rules: Rule, products: int = 30, cases: int = 0, layouts: tuple[Layout, ...] = ()) -> Program:
    """The shop whose lists scroll, with so many products."""
    made = shop()
    screens = dict(made.screens)
    for name, slot, top in (("list", "list", TOP), ("cart", "lines", 60)):
        screen = screens[name]
        assert screen.template is not None
        rule = Placement(Axis(Near(0), Exactly(360)), Axis(Near(top), Fill(0)), clips=True, scrolls=True)
        template = replace(screen.template, placement={slot: rule}, scrolling=Scrolling(slot, slop=SLOP, cases=cases))
        screens[name] = replace(screen, template=template, layouts=(*screen.layouts, *(layouts if name == "list" else ())))
    rows = tuple((f"Product {i}", i, False) for i in range(products))
    lines = tuple((f"Line {i}", 1, "") for i in range(products))
    starts = {"browsing": Start("list", (), (("products", rows), ("cart", lines)))}
    return replace(made, screens=screens, starts=starts, rules=(*rules, *made.rules))


@pytest.fixture
def phone() -> Phone:
    return Phone([scrolling_shop()])


def up(by: int, x: int = 300, y: int = 700) -> Swipe:
    return Swipe(x, y, x, y - by)


def run(phone: Phone, *actions: Action) -> PhoneState:
    state = phone.reset()
    for action in actions:
        state = phone.step(state, action).state
    return state


def drawing(phone: Phone, state: PhoneState) -> Drawing:
    found = phone.models[PACKAGE].surface(state.apps[PACKAGE])
    assert isinstance(found, Drawing)
    return found


def position(state: PhoneState, screen: str = "list") -> object:
    return state.apps[PACKAGE].variables[scroll(screen)]


def widget(phone: Phone, state: PhoneState, name: str) -> Node:
    found = drawing(phone, state).node(name)
    assert found is not None
    return found


def test_content_follows_the_finger_and_a_tap_lands_on_what_is_there_then(phone: Phone) -> None:
    step = phone.step(phone.reset(), up(ROW + SLOP))
    assert step.evidence == "assumed" and step.changed and position(step.state) == ROW
    assert widget(phone, step.state, "row#0").bounds.is_empty and widget(phone, step.state, "row#1").bounds.top == TOP
    opened = phone.step(step.state, Tap(150, TOP + 5))
    assert opened.rules == ("open",) and widget(phone, opened.state, "name").text == "Product 1"


def test_swipes_that_were_recorded_make_it_inferred() -> None:
    recorded = Phone([scrolling_shop(cases=3)])
    assert recorded.step(recorded.reset(), up(100)).evidence == "inferred"
    assert all_variables(scrolling_shop(cases=3))[SCROLL].evidence.kind == "inferred"


def test_it_stops_where_the_content_ends_on_either_side(phone: Phone) -> None:
    ends = run(phone, *[up(600)] * 3)
    assert position(ends) == MOST and widget(phone, ends, "row#29").bounds.bottom == SIZE.height
    again = phone.step(ends, up(100))
    assert not again.changed and again.evidence == "assumed"
    top = phone.step(ends, up(-300, y=150))
    assert position(top.state) == MOST - (300 - SLOP)
    assert position(run(phone, up(200), up(-500, y=150))) == 0


def test_a_finger_that_hardly_moves_or_moves_sideways_scrolls_nothing(phone: Phone) -> None:
    start = phone.reset()
    assert phone.step(start, up(SLOP)).state.apps == start.apps
    assert phone.step(start, Swipe(300, 700, 50, 600)).state.apps == start.apps
    assert phone.step(start, Swipe(300, 20, 300, 0)).state.apps == start.apps, "nothing scrolls there"


def test_what_fits_does_not_scroll_and_says_so() -> None:
    short = Phone([scrolling_shop(products=3)])
    start = short.reset()
    assert not widget(short, start, "list").scrollable
    assert short.step(start, up(300)).state.apps == start.apps
    long = Phone([scrolling_shop()])
    assert widget(long, long.reset(), "list").scrollable


def test_a_new_screen_is_at_its_top_and_going_back_shows_a_screen_as_it_was_left(phone: Phone) -> None:
    cart = Tap(300, 60)
    inside = run(phone, up(200), cart, up(110))
    assert position(inside, "cart") == 100 and position(inside) == 190
    back = phone.step(inside, PressKey("back")).state
    assert position(back) == 190 and widget(phone, back, "row#5").bounds.top == TOP + 10
    assert position(phone.step(back, cart).state, "cart") == 0


def test_content_that_became_shorter_is_at_its_end_and_stays_there_when_it_grows(phone: Phone) -> None:
    searching = run(phone, up(300), TypeText("Product 2", 100, 20))
    assert widget(phone, searching, "row#2").bounds.top == TOP, "eleven rows fit"
    grown = run(phone, up(300), TypeText("Product 2", 100, 20), PressKey("backspace"))
    assert position(grown) == 0 and widget(phone, grown, "row#0").bounds.top == TOP


def test_a_rule_that_knows_the_place_decides_it_and_one_that_does_not_leaves_it_to_the_finger() -> None:
    on = Trigger("swipe_up", "list")
    knows = Rule("knows", "list", on, TRUE, (SetVar(SCROLL, Const(77)),), INFERRED)
    assert position(run(Phone([scrolling_shop(knows)]), up(300))) == 77
    counts = Rule("counts", "list", on, TRUE, (SetVar("note", Const("seen")),), INFERRED)
    phone = Phone([scrolling_shop(counts)])
    step = phone.step(phone.reset(), up(300))
    assert position(step.state) == 300 - SLOP and step.state.apps[PACKAGE].variables["note"] == "seen" and step.evidence == "assumed"
    leaves = Rule("leaves", "list", on, TRUE, (Show("cart"),), INFERRED)
    assert position(run(Phone([scrolling_shop(leaves)]), up(300))) == 0


def test_a_recorded_look_is_taken_at_its_own_position_only() -> None:
    plain = Phone([scrolling_shop()])
    lower = run(plain, up(200 + SLOP))
    seen = plain.view(lower).hierarchy
    moved = replace(seen, windows=(replace(seen.windows[0], drawing_order=7),))
    layout = Layout("lower", moved, SIZE, DeviceState(PACKAGE, ".Shop"), "0" * 64, OneOf(MOMENT, (9,)), scroll=200)
    phone = Phone([scrolling_shop(layouts=(layout,))])
    assert phone.view(phone.reset()).hierarchy != moved and phone.view(phone.reset()).hierarchy == plain.view(plain.reset()).hierarchy
    there = run(phone, up(200 + SLOP))
    assert phone.view(there).hierarchy == moved and phone.view(there).screenshot == "0" * 64
    further = phone.step(there, up(100 + SLOP)).state
    assert position(further) == 300 and phone.view(further).hierarchy == plain.view(run(plain, up(300 + SLOP))).hierarchy


def test_a_program_that_scrolls_is_written_and_read_back() -> None:
    made = scrolling_shop(cases=2)
    check_program(made)
    assert loads(dumps(made)) == made


@patient
@given(st.lists(actions(SIZE) | st.integers(-700, 700).map(lambda by: up(by, y=400 + by // 2)), max_size=12), values)
def test_scrolling_is_total_and_a_state_put_back_has_the_same_future(steps: list[Action], odd: Value) -> None:
    phone, other = Phone([scrolling_shop()]), Phone([scrolling_shop()])
    state = phone.reset()
    app = state.apps[PACKAGE]
    state = state._replace(apps=state.apps.set(PACKAGE, app._replace(variables=app.variables.set(SCROLL, odd))))
    for action in steps:
        again = state_from_json(state_to_json(state))
        assert other.view(again) == phone.view(state)
        found = phone.models[PACKAGE].surface(state.apps[PACKAGE])
        assert isinstance(found, Drawing) and 0 <= found.scroll <= found.most
        state = phone.step(state, action).state
        assert other.step(again, action).state == state
