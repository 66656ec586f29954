"""Screens drawn from templates: what they show, what a touch lands on, where what changes is kept, and what rules do to rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.program.effect import DeleteRows, GoBack, InsertRow, SetRows, SetVar, Show, UpdateRows
from phoneworld.program.expr import TRUE, Acted, Column, Const, Equal, Not, OneOf, Value, Var
from phoneworld.program.program import Evidence, Layout, Program, Rule, Screen, Start, Table, Trigger, Variable
from phoneworld.program.template import Template
from phoneworld.sim.app import AppModel
from phoneworld.sim.drawing import Drawing
from phoneworld.sim.phone import Phone, Step
from phoneworld.sim.state import PhoneState, state_from_json, state_to_json
from phoneworld.testing.strategies import actions
from phoneworld.ui import system
from phoneworld.ui.action import Action, Clear, CloseApp, DoubleTap, LongPress, OpenApp, PressKey, Tap, TypeText
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Point
from phoneworld.ui.node import Hierarchy, Node
from tests.program.strategies import KEYS, few_names, patient, rules_over, templates, values
from tests.program.strategies import SIZE as TINY
from tests.sim.shop import INFERRED, MOMENT, PACKAGE, PRODUCTS, SIZE, shop

BACK, ENTER = PressKey("back"), PressKey("enter")


@pytest.fixture
def phone() -> Phone:
    return Phone([shop()])


def browsing(phone: Phone) -> PhoneState:
    return phone.reset(start="browsing")


def run(phone: Phone, state: PhoneState, *actions: Action) -> Step:
    """The last step of several."""
    for action in actions:
        step = phone.step(state, action)
        state = step.state
    return step


def drawing(phone: Phone, state: PhoneState) -> Drawing:
    found = phone.models[PACKAGE].surface(state.apps[PACKAGE])
    assert isinstance(found, Drawing)
    return found


def at(phone: Phone, state: PhoneState, name: str) -> Tap:
    """A tap on the widget of this name, at a point where it is what a tap lands on."""
    d = drawing(phone, state)
    b = d.hierarchy.at(d.paths[name]).bounds
    for x, y in ((b.center.x, b.center.y), (b.right - 2, b.bottom - 2), (b.left + 1, b.top + 1)):
        touched = d.touch("tap", x, y)
        if touched is not None and touched[1] == name:
            return Tap(x, y)
    raise AssertionError(f"no tap lands on {name}")


def tap(phone: Phone, state: PhoneState, name: str) -> Step:
    return phone.step(state, at(phone, state, name))


def texts(phone: Phone, state: PhoneState) -> list[str]:
    return [n.text for n in phone.view(state).hierarchy.nodes() if n.text]


def listed(phone: Phone, state: PhoneState) -> list[str]:
    """The titles in the list."""
    d = drawing(phone, state)
    return [d.hierarchy.at(path).text for path, name in sorted(d.keys.items()) if name.startswith("title#")]


def shown(phone: Phone, state: PhoneState, name: str) -> Node:
    found = drawing(phone, state).node(name)
    assert found is not None
    return found


def rows(state: PhoneState, table: str) -> tuple[dict[str, Value], ...]:
    return tuple(dict(row) for row in state.apps[PACKAGE].tables[table])


# What is drawn


def test_a_template_shows_rows_counts_and_sums(phone: Phone) -> None:
    words = texts(phone, browsing(phone))
    assert listed(phone, browsing(phone)) == list(PRODUCTS) and "12 shown" in words and "Cart 0" in words and "12 €" in words


def test_what_has_a_condition_is_drawn_where_it_holds(phone: Phone) -> None:
    state = run(phone, browsing(phone), Tap(100, 20), TypeText("an")).state
    assert "Nothing found" in texts(phone, state) and "0 shown" in texts(phone, state)
    state = run(phone, state, PressKey("backspace"), PressKey("backspace"), TypeText("GS")).state
    assert listed(phone, state) == ["Eggs", "Figs"] and "Nothing found" not in texts(phone, state)


def test_what_android_does_by_itself_leaves_the_recorded_path(phone: Phone) -> None:
    state = phone.reset()
    assert state.apps[PACKAGE].variables[MOMENT] == 1
    typed = phone.step(state, TypeText("Jam", 100, 20))
    assert typed.evidence == "assumed" and typed.state.apps[PACKAGE].variables[MOMENT] is None
    assert listed(phone, typed.state) == ["Jam"]
    nothing = phone.step(state, Tap(300, 790))
    assert nothing.state.apps == state.apps


def test_where_a_drawing_shows_what_was_recorded_it_lies_where_that_lay() -> None:
    made = shop()
    phone = Phone([made])
    plain = phone.view(browsing(phone)).hierarchy
    moved = replace(plain, windows=(replace(plain.windows[0], children=tuple(_lower(n) for n in plain.windows[0].children)),))
    layout = Layout("seen", moved, SIZE, DeviceState(PACKAGE, ".Shop"), "0" * 64, OneOf(MOMENT, (7,)))
    phone = Phone([replace(made, screens={**made.screens, "list": replace(made.screens["list"], layouts=(layout,))})])
    seen = phone.view(browsing(phone))
    assert seen.hierarchy == seen.recorded == moved and seen.screenshot == "0" * 64
    other = phone.step(browsing(phone), Tap(300, 21)).state
    assert "5 shown" in texts(phone, other) and phone.view(other).hierarchy.windows[0].children[0].bounds.top == 0


def _lower(node: Node) -> Node:
    b = node.bounds
    return replace(node, bounds=Bounds(b.left, b.top + 1, b.right, b.bottom + 1), children=tuple(map(_lower, node.children)))


def test_a_screen_without_template_falls_back_on_its_first_layout() -> None:
    made = shop()
    bare = replace(made, screens={k: replace(s, template=None) for k, s in made.screens.items()}, rules=())
    assert texts(Phone([bare]), Phone([bare]).reset(start="browsing")) == ["Cart 0"]


def test_a_start_may_have_rows_of_its_own(phone: Phone) -> None:
    state = phone.reset(start="short")
    assert rows(state, "products") == ({"title": "Milk", "price": 2, "liked": False, "#": 0},)
    assert "1 shown" in texts(phone, state) and "Cart 1" in texts(phone, state)


def test_equal_states_look_equal_however_they_came_and_on_any_phone(phone: Phone) -> None:
    liked = tap(phone, browsing(phone), "like#3").state
    again = run(phone, liked, at(phone, liked, "like#3"), at(phone, liked, "like#3")).state
    assert phone.look(again).key == phone.look(liked).key == Phone([shop()]).look(liked).key != phone.look(browsing(phone)).key
    assert phone.look(again).hierarchy == Phone([shop()]).look(liked).hierarchy


def test_true_and_one_do_not_look_alike() -> None:
    made = shop()
    phone = Phone([made])
    state = browsing(phone)
    app = state.apps[PACKAGE]
    by_one = state._replace(apps=state.apps.set(PACKAGE, app._replace(variables=app.variables.set("query", 1))))
    by_true = state._replace(apps=state.apps.set(PACKAGE, app._replace(variables=app.variables.set("query", True))))
    assert shown(phone, by_one, "query").text == "1" and shown(phone, by_true, "query").text == "true"


def test_a_hint_stands_for_an_empty_field_where_the_phone_reports_it_so() -> None:
    made = shop()
    template = made.screens["list"].template
    assert template is not None
    window = template.windows[0]
    old = replace(window.children[0], node=replace(window.children[0].node, text="Search"))  # type: ignore[union-attr]
    template = replace(template, windows=(replace(window, children=(old, *window.children[1:])),))
    phone = Phone([replace(made, screens={**made.screens, "list": replace(made.screens["list"], template=template)})])
    state = browsing(phone)
    assert shown(phone, state, "query").text == "Search"
    state = run(phone, state, TypeText("Ja", 100, 20)).state
    assert shown(phone, state, "query").text == "Ja" and run(phone, state, Clear()).state.apps[PACKAGE].variables["query"] == ""


# What a touch lands on


def test_a_touch_gives_slot_target_and_row(phone: Phone) -> None:
    d = drawing(phone, phone.reset(start="short"))
    for name in ("like#0", "row#0", "title#0", "query"):
        path = d.paths[name]
        b = d.hierarchy.at(path).bounds
        hit = d.hierarchy.hit_test(Point(b.right - 1, b.bottom - 1), "tap", SIZE)
        assert hit is not None and hit.target is not None
        expected = d.drawn(d.keys[hit.target])
        assert expected is not None
        touched = d.hit("tap", b.right - 1, b.bottom - 1)
        assert touched is not None and touched[1:] == (expected.key, expected.row)
    assert d.hit("tap", SIZE.width + 1, 0) is None


def test_the_row_touched_is_the_row_acted_on(phone: Phone) -> None:
    state = browsing(phone)
    opened = tap(phone, state, "row#4")
    assert opened.rules == ("open",) and shown(phone, opened.state, "name").text == "Eggs"


# What Android does by itself, kept in variables and cells


def test_focus_and_keyboard_are_variables(phone: Phone) -> None:
    step = run(phone, browsing(phone), Tap(100, 20))
    assert step.evidence == "assumed"
    assert step.state.apps[PACKAGE].variables["focus"] == "query" and phone.view(step.state).state.keyboard and phone.view(step.state).keyboard
    focused = [n for n in phone.view(step.state).hierarchy.nodes() if n.focused]
    assert len(focused) == 1 and focused[0].is_editable
    hidden = phone.step(step.state, BACK)
    assert hidden.evidence == "assumed" and not phone.view(hidden.state).state.keyboard
    assert hidden.state.apps[PACKAGE].variables["focus"] == "query" and phone.screen_name(hidden.state).endswith("/list")


def test_a_field_in_a_row_keeps_its_words_in_that_row(phone: Phone) -> None:
    state = run(phone, phone.reset(start="short"), Tap(300, 60)).state
    state = run(phone, state, at(phone, state, "memo#0"), TypeText(" tea")).state
    assert state.apps[PACKAGE].variables["focus"] == "memo#0" and rows(state, "cart")[0]["memo"] == "cold tea"
    done = phone.step(state, ENTER)
    assert done.rules == ("done",) and rows(done.state, "cart")[0]["title"] == "cold tea"


def test_keys_of_the_soft_keyboard_type(phone: Phone) -> None:
    state = run(phone, browsing(phone), Tap(100, 20)).state
    keys = {n.text or n.content_desc: n.bounds.center for n in system.keyboard(SIZE, 160).children}
    for key, expected in (("j", "j"), ("a", "ja"), ("Delete", "j")):
        state = phone.step(state, Tap(keys[key].x, keys[key].y)).state
        assert shown(phone, state, "query").text == expected
    hide = keys["Hide keyboard"]
    assert not phone.view(phone.step(state, Tap(hide.x, hide.y)).state).state.keyboard


def test_a_toggle_is_kept_by_its_variable_or_its_cell(phone: Phone) -> None:
    cheap = tap(phone, browsing(phone), "cheap")
    assert cheap.state.apps[PACKAGE].variables["cheap"] is True and "5 shown" in texts(phone, cheap.state)
    liked = tap(phone, cheap.state, "like#2")
    assert [r["liked"] for r in rows(liked.state, "products")] == [i == 2 for i in range(12)] and shown(phone, liked.state, "like#2").checked
    assert not any(r["liked"] for r in rows(tap(phone, liked.state, "like#2").state, "products"))


def test_a_radio_button_sets_what_chooses_among_them(phone: Phone) -> None:
    state = tap(phone, browsing(phone), "row#0").state
    large = tap(phone, state, "large")
    assert large.state.apps[PACKAGE].variables["size"] == "L"
    assert shown(phone, large.state, "large").checked and not shown(phone, large.state, "small").checked


def test_what_is_kept_nowhere_does_not_change_and_says_so(phone: Phone) -> None:
    state = tap(phone, browsing(phone), "row#0").state
    for step in (tap(phone, state, "fixed"), run(phone, state, at(phone, state, "pin"), TypeText("x"))):
        assert step.evidence == "unrecorded" and "not recorded" in step.message
        assert step.state.apps[PACKAGE].variables["note"] == ""


def test_back_goes_through_keyboard_screen_and_app(phone: Phone) -> None:
    state = tap(phone, browsing(phone), "row#0").state
    state = run(phone, state, at(phone, state, "note"), BACK).state
    assert phone.screen_name(state).endswith("/product")
    listed = phone.step(state, BACK)
    assert phone.screen_name(listed.state).endswith("/list") and listed.evidence == "assumed"
    gone = phone.step(listed.state, BACK)
    assert gone.state.foreground == ""


def test_home_hides_the_keyboard_and_the_app_comes_back_as_it_was(phone: Phone) -> None:
    state = run(phone, browsing(phone), TypeText("Jam", 100, 20), PressKey("home"), OpenApp(PACKAGE)).state
    assert not phone.view(state).state.keyboard and listed(phone, state) == ["Jam"]


def test_rows_survive_closing_the_app_and_variables_do_not(phone: Phone) -> None:
    state = phone.step(browsing(phone), TypeText("Jam", 100, 20)).state
    state = run(phone, state, BACK, LongPress(300, 140)).state
    assert len(rows(state, "products")) == 11
    opened = run(phone, state, CloseApp(PACKAGE), OpenApp(PACKAGE))
    assert "11 shown" in texts(phone, opened.state) and "Jam" not in texts(phone, opened.state) and opened.evidence == "assumed"
    assert opened.state.apps[PACKAGE].variables[MOMENT] is None
    untouched = run(phone, phone.reset(), CloseApp(PACKAGE), OpenApp(PACKAGE)).state
    assert untouched.apps[PACKAGE].variables[MOMENT] == 1


# Rules on rows


def in_cart(phone: Phone, *products: int) -> PhoneState:
    """The cart with these products added, one after the other."""
    state = browsing(phone)
    for product in products:
        state = tap(phone, state, f"row#{product}").state
        state = tap(phone, state, "add").state
    return tap(phone, state, "cart").state


def test_a_row_is_inserted_where_its_condition_holds_and_counted_up_where_it_does_not(phone: Phone) -> None:
    state = in_cart(phone, 0, 1, 0)
    assert [(r["title"], r["quantity"]) for r in rows(state, "cart")] == [("Bread", 1), ("Apples", 2)]
    assert shown(phone, state, "total").text == "3 things"


def test_a_guard_reads_the_row_acted_on(phone: Phone) -> None:
    state = in_cart(phone, 0, 1)
    plus = at(phone, state, "more#1")
    steps = [phone.step(state, plus)]
    for _ in range(2):
        steps.append(phone.step(steps[-1].state, plus))
    assert [s.rules for s in steps] == [("more",), ("more",), ()] and steps[2].evidence == "unrecorded"
    assert [(r["title"], r["quantity"]) for r in rows(steps[2].state, "cart")] == [("Bread", 1), ("Apples", 3)]


def test_a_row_comes_after_the_row_acted_on(phone: Phone) -> None:
    state = in_cart(phone, 0, 1, 2)
    more = at(phone, state, "more#2")
    hold = Rule("copy", "cart", Trigger("double_tap", "more"), TRUE, (InsertRow("cart", (("title", Acted("title")),), "after_acted"),), INFERRED)
    phone = Phone([replace(shop(), rules=(*shop().rules, hold))])
    copied = phone.step(state, DoubleTap(more.x, more.y)).state
    assert [r["title"] for r in rows(state, "cart")] == ["Cheese", "Bread", "Apples"]
    assert [r["title"] for r in rows(copied, "cart")] == ["Cheese", "Bread", "Bread", "Apples"]


def test_ids_are_never_given_twice(phone: Phone) -> None:
    state = in_cart(phone, 0, 1)
    given = {r["#"] for r in rows(state, "cart")}
    cleared = tap(phone, state, "clear").state
    assert rows(cleared, "cart") == () and len(given) == 2
    fresh = tap(phone, tap(phone, phone.step(cleared, BACK).state, "row#5").state, "add").state
    assert len(rows(fresh, "cart")) == 1 and not given & {r["#"] for r in rows(fresh, "cart")}
    restored = state_from_json(state_to_json(cleared))
    assert restored == cleared


def test_no_old_moment_comes_back_from_the_stack(phone: Phone) -> None:
    cart = phone.step(phone.reset(), Tap(300, 60))
    assert cart.rules == ("cart",) and phone.screen_name(cart.state).endswith("/cart")
    back = phone.step(cart.state, BACK).state
    assert phone.screen_name(back).endswith("/list") and back.apps[PACKAGE].variables[MOMENT] is None


def test_on_the_recorded_path_the_recorded_rule_comes_first_and_says_which_moment_is_next() -> None:
    made = shop()
    there = Rule("r", "list", Trigger("tap", "cart"), OneOf(MOMENT, (1,)), (SetVar(MOMENT, Const(2)), Show("cart")), Evidence("recorded", ("t:0",), 1))
    back = Rule("b", "cart", Trigger("key", "", "back"), OneOf(MOMENT, (2,)), (GoBack(), SetVar(MOMENT, Const(3))), Evidence("recorded", ("t:1",), 1))
    phone = Phone([replace(made, rules=(there, back, *made.rules))])
    gone = phone.step(phone.reset(), Tap(300, 60))
    assert gone.rules == ("r",) and gone.evidence == "recorded"
    again = phone.step(gone.state, BACK)
    assert again.rules == ("b",) and again.evidence == "recorded" and again.state.apps[PACKAGE].variables[MOMENT] == 3
    third = phone.step(again.state, Tap(300, 60))
    assert third.rules == ("cart",) and third.evidence == "inferred"


def test_rows_that_were_seen_are_all_there_is_and_their_ids_are_kept() -> None:
    made = shop()
    seen = SetRows("cart", (("tea", 1, ""), ("jam", 2, "")))
    new = InsertRow("cart", (("title", Const("new")),))
    rules = (Rule("seen", "cart", Trigger("tap", "clear"), TRUE, (seen, new), INFERRED), Rule("new", "cart", Trigger("tap", "drop"), TRUE, (new,), INFERRED))
    current = Variable("cart.current", None)
    phone = Phone([replace(made, rules=rules, starts={"s": Start("cart", (), (("cart", (("a", 1, ""),)),))}, variables={**made.variables, current.name: current})])
    state = tap(phone, phone.reset(), "clear").state
    assert [(r["title"], r["#"]) for r in rows(state, "cart")] == [("tea", 1), ("jam", 2)]
    after = tap(phone, state, "drop#2").state
    assert [(r["title"], r["#"]) for r in rows(after, "cart")][2:] == [("new", 3)] and after.apps[PACKAGE].variables["cart.current"] == 3


def test_all_changes_of_a_rule_look_at_the_rows_as_they_were() -> None:
    """Three updates of one row, a row that comes and one that goes: in any order the same."""
    swap = (
        UpdateRows("cart", (("title", Const("two")),), Equal(Column("title"), Const("one"))),
        UpdateRows("cart", (("title", Const("one")),), Equal(Column("title"), Const("two"))),
        InsertRow("cart", (("title", Const("one")),)),
        DeleteRows("cart", Equal(Column("title"), Const("three"))),
    )
    start = Start("cart", (), (("cart", (("one", 1, ""), ("two", 1, ""), ("three", 1, ""))),))
    outcomes = []
    for then in (swap, swap[::-1]):
        made = shop()
        rule = Rule("swap", "cart", Trigger("tap", "clear"), Not(Const(False)), then, INFERRED)
        phone = Phone([replace(made, starts={"s": start}, rules=(rule,))])
        outcomes.append([r["title"] for r in rows(tap(phone, phone.reset(), "clear").state, "cart")])
    assert outcomes == [["two", "one", "one"]] * 2


def test_a_rule_that_knows_of_the_keyboard_is_asked_before_back_hides_it() -> None:
    made = shop()
    leave = Rule("leave", "product", Trigger("key", "", "back"), Var("keyboard"), (SetVar("keyboard", Const(False)), SetVar("focus", Const(None)), Show("list")), INFERRED)
    blind = replace(leave, id="blind", when=Not(Const(False)))
    for rule, screen in ((leave, "list"), (blind, "product")):
        phone = Phone([replace(made, rules=(*made.rules, rule))])
        state = tap(phone, browsing(phone), "row#0").state
        step = run(phone, state, at(phone, state, "note"), BACK)
        assert phone.screen_name(step.state).endswith("/" + screen)


# What holds for every template


@settings(patient, max_examples=40)
@given(st.lists(actions(SIZE), max_size=25), st.integers(0, 24), st.sampled_from(["first", "browsing", "short"]))
def test_shops_are_total_and_a_snapshot_has_the_same_future(steps: list[Action], kept_at: int, start: str) -> None:
    phone = Phone([shop()])
    state, kept, later = phone.reset(3, start), None, []
    for i, action in enumerate(steps):
        if i == kept_at:
            kept = state_from_json(state_to_json(state))
            assert kept == state
        step = phone.step(state, action)
        if not step.changed:
            assert phone.look(step.state).key == phone.look(state).key
        state = step.state
        phone.check(state)
        if kept is not None:
            later.append((action, state, phone.view(state)))
    fresh = Phone([shop()])
    for action, expected, view in later:
        assert kept is not None
        kept = fresh.step(kept, action).state
        assert kept == expected and fresh.view(kept) == view


def random_program(template: Template, rules: list[Rule], cells: list[tuple[Value, ...]], variables: dict[str, Value]) -> Program:
    layout = Layout("l", Hierarchy(()), TINY, when=OneOf("moment", (1,)))
    return Program(
        "p", "P", "", DeviceInfo(TINY, 160), {n: Screen(n, n, "p", "", (layout,), template) for n in ("s", "t")}, {"x": Start("s")},
        {"moment": Variable("moment", None), **{n: Variable(n, variables.get(n)) for n in "abc"}},
        {n: Table(n, ("a", "b", "c"), tuple(cells)) for n in "abc"}, tuple(rules),
    )  # fmt: skip


@settings(patient, max_examples=25)
@given(
    templates(),
    st.lists(rules_over(few_names, st.sampled_from(["s", "t"]), st.sampled_from(["", *KEYS]), ("tap", "long_press", "type", "key")), max_size=6),
    st.lists(st.tuples(values, values, values), max_size=3),
    st.dictionaries(few_names, values),
    st.lists(actions(TINY), max_size=12),
)
def test_every_template_and_every_rule_is_total(
    template: Template, rules: list[Rule], cells: list[tuple[Value, ...]], variables: dict[str, Value], steps: list[Action]
) -> None:
    program = random_program(template, rules, cells, variables)
    phone, other = Phone([program]), Phone([program])
    state = phone.reset()
    for action in steps:
        before = state
        state = phone.step(state, action).state
        assert other.step(before, action).state == state and other.view(state) == phone.view(state)
    assert state_from_json(state_to_json(state)) == state


@settings(patient, max_examples=20)
@given(templates(), st.lists(st.tuples(values, values, values), max_size=3), st.dictionaries(few_names, values), values)
def test_a_drawing_from_memory_is_the_drawing(template: Template, cells: list[tuple[Value, ...]], variables: dict[str, Value], other: Value) -> None:
    """Rows and screens that were drawn before for other values do not show through."""
    model = AppModel(random_program(template, [], cells, variables))
    app = model.start()
    for value in (other, variables.get("a"), True, 1, other):
        app = app._replace(variables=app.variables.set("a", value))
        fresh = AppModel(random_program(template, [], cells, variables))
        assert model.surface(app).hierarchy == fresh.surface(fresh.start()._replace(variables=app.variables)).hierarchy
