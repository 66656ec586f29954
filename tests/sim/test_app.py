"""One app's step: rules first, then Android's own behaviour, then nothing; and each says what it rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phoneworld.program.program import Rule
from phoneworld.sim.phone import Phone, Step
from phoneworld.sim.state import PhoneState
from phoneworld.ui import system
from phoneworld.ui.action import Action, Clear, DoubleTap, LongPress, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.node import Node
from tests.sim.programs import PACKAGE, SIZE, program


@pytest.fixture
def phone() -> Phone:
    return Phone([program()])


def run(phone: Phone, state: PhoneState, *actions: Action) -> Step:
    """The last step of several."""
    for action in actions:
        step = phone.step(state, action)
        state = step.state
    return step


def shown(phone: Phone, state: PhoneState, name: str) -> Node:
    """The widget with an id, as the phone shows it."""
    return next(n for n in phone.view(state).hierarchy.nodes() if n.resource_id == f"{PACKAGE}:id/{name}")


ADD, FIELD, DONE, SAVE, HIGH, SECRET = Tap(300, 720), Tap(50, 120), Tap(50, 220), Tap(300, 60), Tap(50, 360), Tap(50, 460)


def test_a_rule_fires_and_reports_its_evidence(phone: Phone) -> None:
    step = phone.step(phone.reset(), ADD)
    assert (step.changed, step.evidence, step.rules) == (True, "recorded", ("open",))
    assert phone.screen_name(step.state) == f"{PACKAGE}/form"


def test_typed_text_goes_through_a_rule_into_a_row_and_a_count(phone: Phone) -> None:
    step = run(phone, phone.reset(), ADD, FIELD, TypeText("Milk"), SAVE)
    assert step.state.apps[PACKAGE].tables["notes"] == ({"title": "Milk", "#": 1},)
    assert shown(phone, step.state, "count").text == "1 notes"


def test_a_guard_that_fails_leaves_the_widget_unrecorded(phone: Phone) -> None:
    step = run(phone, phone.reset(), ADD, SAVE)
    assert (step.changed, step.evidence) == (False, "unrecorded")


def test_off_the_recorded_path_a_recorded_rule_is_only_inferred(phone: Phone) -> None:
    step = run(phone, phone.reset(), ADD, DONE, FIELD, TypeText("Milk"), SAVE)
    assert (step.rules, step.evidence) == (("save",), "inferred")


def test_a_tap_on_a_field_focuses_it_and_shows_the_keyboard(phone: Phone) -> None:
    step = run(phone, phone.reset(), ADD, FIELD)
    view = phone.view(step.state)
    assert step.evidence == "assumed" and view.state.keyboard and view.keyboard
    assert shown(phone, step.state, "title").focused


def test_back_hides_the_keyboard_first_then_leaves_the_screen_then_the_app(phone: Phone) -> None:
    state = run(phone, phone.reset(), ADD, FIELD).state
    back = PressKey("back")
    hidden = phone.step(state, back)
    assert not phone.view(hidden.state).state.keyboard and phone.screen_name(hidden.state).endswith("/form")
    listed = phone.step(hidden.state, back)
    assert phone.screen_name(listed.state).endswith("/list")
    gone = phone.step(listed.state, back)
    assert gone.state.foreground == "" and gone.evidence == "assumed"


def test_typing_replaces_or_appends_and_clear_empties(phone: Phone) -> None:
    field = (50, 460)
    state = phone.step(phone.reset(start="form"), TypeText("12", *field)).state
    assert shown(phone, state, "pin").text == "••"
    assert shown(phone, phone.step(state, TypeText("345")).state, "pin").text == "•••••"
    assert shown(phone, phone.step(state, TypeText("3", mode="replace")).state, "pin").text == "•"
    assert shown(phone, phone.step(state, Clear()).state, "pin").text == ""


def test_keys_of_the_soft_keyboard_type_and_delete(phone: Phone) -> None:
    state = run(phone, phone.reset(start="form"), SECRET).state
    keys = {n.text or n.content_desc: n.bounds.center for n in _walk(system.keyboard(SIZE, 160))}
    for key, expected in (("a", "•"), ("b", "••"), ("Delete", "•")):
        state = phone.step(state, Tap(keys[key].x, keys[key].y)).state
        assert shown(phone, state, "pin").text == expected


def _walk(node: Node) -> list[Node]:
    return [node, *(n for child in node.children for n in _walk(child))]


def test_typing_without_focus_does_nothing(phone: Phone) -> None:
    step = phone.step(phone.reset(), TypeText("x"))
    assert (step.changed, step.evidence, step.message) == (False, "assumed", "no field has the focus")


def test_a_check_box_toggles_and_toggles_back(phone: Phone) -> None:
    once = run(phone, phone.reset(start="form"), DONE)
    assert shown(phone, once.state, "done").checked and once.evidence == "assumed"
    assert not shown(phone, phone.step(once.state, DONE).state, "done").checked


def test_a_radio_button_unchecks_its_siblings(phone: Phone) -> None:
    state = run(phone, phone.reset(start="form"), HIGH).state
    assert shown(phone, state, "high").checked and not shown(phone, state, "low").checked


def test_an_edit_ends_where_the_layout_itself_changes_the_widget() -> None:
    made = program()
    form = made.screens["form"]
    checked = replace(form.layouts[0].hierarchy.at((0, 2)), checked=True)
    other = replace(form.layouts[1], hierarchy=form.layouts[0].hierarchy.replace_at((0, 2), checked))
    rule = next(r for r in made.rules if r.id == "save")
    flip: Rule = replace(rule, id="flip", when=rule.when.of, then=(_set_mode("short"),))  # type: ignore[union-attr]
    phone = Phone([replace(made, screens={**made.screens, "form": replace(form, layouts=(form.layouts[0], other))}, rules=(flip,))])
    edited = run(phone, phone.reset(start="form"), DONE, DONE).state
    assert not shown(phone, edited, "done").checked
    assert shown(phone, phone.step(edited, SAVE).state, "done").checked


def _set_mode(value: str) -> object:
    from phoneworld.program.effect import SetVar
    from phoneworld.program.expr import Const

    return SetVar("mode", Const(value))


@pytest.mark.parametrize("action", [DoubleTap(300, 720), LongPress(300, 720), Swipe(180, 600, 180, 200), Tap(100, 400)])
def test_what_nothing_answers_changes_nothing(phone: Phone, action: Action) -> None:
    before = phone.reset()
    step = phone.step(before, action)
    assert not step.changed and step.state.apps == before.apps and step.message


def test_looking_does_not_depend_on_how_one_came(phone: Phone) -> None:
    straight = run(phone, phone.reset(), ADD).state
    around = run(phone, phone.reset(), ADD, PressKey("back"), ADD).state
    assert phone.view(straight).key == phone.view(around).key


def test_the_keyboard_covers_what_lies_below_it(phone: Phone) -> None:
    """A field was focused that the recording never focused: the app is made smaller, as adjustResize does."""
    state = run(phone, phone.reset(start="form"), FIELD).state
    top = system.keyboard_bounds(SIZE, 160).top
    assert all(n.bounds.bottom <= top for n in phone.view(state).hierarchy.windows[0].children)
    assert shown(phone, state, "title").bounds == shown(phone, phone.reset(start="form"), "title").bounds
    hidden = phone.step(state, PressKey("back")).state
    assert phone.view(hidden).hierarchy == phone.view(phone.reset(start="form")).hierarchy
