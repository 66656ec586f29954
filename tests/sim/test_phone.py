"""The system around the apps, and what holds for every phone: total, deterministic, a state is a value."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError, PhoneWorldError, ProgramError, SessionError
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import state_from_json, state_to_json
from phoneworld.ui.action import (
    Action,
    Answer,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.system import LAUNCHER_PACKAGE
from tests.sim.programs import PACKAGE, SIZE, program

OTHER = "org.example.other"
xs, ys = st.integers(-5, SIZE.width + 5), st.integers(-5, SIZE.height + 5)
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Tap, xs, ys), st.builds(DoubleTap, xs, ys), st.builds(LongPress, xs, ys), st.builds(Swipe, xs, ys, xs, ys),
    st.builds(Drag, xs, ys, xs, ys), st.builds(Pinch, xs, ys, st.sampled_from([0.5, 2.0])), st.builds(TypeText, st.text(max_size=6)),
    st.builds(TypeText, st.text(max_size=6), st.just(50), st.just(120), st.sampled_from(["append", "replace"])),
    st.builds(PressKey, st.sampled_from(["back", "home", "enter", "recents", "backspace", "tab", "power"])),
    st.builds(OpenApp, st.sampled_from([PACKAGE, OTHER, "org.example.absent"])),
    st.builds(CloseApp, st.sampled_from([PACKAGE, OTHER, "org.example.absent"])),
    st.builds(Wait, st.integers(0, 5000)), st.builds(Answer, st.text(max_size=4)), st.just(Finish()),
)  # fmt: skip


def two_apps() -> Phone:
    return Phone([program(), replace(program(), package=OTHER, label="Other")])


@settings(max_examples=150, deadline=None)
@given(st.lists(actions, max_size=25), st.integers(0, 24))
def test_every_action_has_a_step_and_a_snapshot_has_the_same_future(steps: list[Action], at: int) -> None:
    phone = two_apps()
    state, kept, later = phone.reset(3), None, []
    for i, action in enumerate(steps):
        if i == at:
            kept = state
        step = phone.step(state, action)
        if not step.changed:
            assert phone.view(step.state).key == phone.view(state).key
        if not step.valid:
            assert step.state.apps == state.apps and step.message
        state = step.state
        if kept is not None:
            later.append((action, state, phone.view(state).key))
    assert state_from_json(state_to_json(state)) == state
    fresh = two_apps()
    again = kept
    for action, expected, looks in later:
        assert again is not None
        again = fresh.step(again, action).state
        assert again == expected and fresh.view(again).key == looks


def test_reset_is_decided_by_its_arguments() -> None:
    phone = two_apps()
    first = phone.reset(7)
    phone.step(first, Tap(300, 720))
    assert phone.reset(7) == first == two_apps().reset(7)


def test_home_shows_a_launcher_from_which_apps_open() -> None:
    phone = two_apps()
    home = phone.step(phone.reset(), PressKey("home")).state
    view = phone.view(home)
    assert view.state.package == LAUNCHER_PACKAGE
    icon = next(n for n in view.hierarchy.nodes() if n.label == "Other" and n.bounds.area)
    opened = phone.step(home, Tap(icon.bounds.center.x, icon.bounds.center.y)).state
    assert opened.foreground == OTHER


def test_an_app_comes_back_where_it_was_left_and_starts_anew_when_closed() -> None:
    phone = two_apps()
    form = phone.step(phone.reset(), Tap(300, 720)).state
    back = phone.step(phone.step(form, OpenApp(OTHER)).state, OpenApp(PACKAGE)).state
    assert phone.screen_name(back) == f"{PACKAGE}/form"
    closed = phone.step(back, CloseApp(PACKAGE)).state
    assert closed.foreground == ""
    assert phone.screen_name(phone.step(closed, OpenApp(PACKAGE)).state) == f"{PACKAGE}/list"


def test_an_unknown_app_and_a_point_off_the_screen_are_invalid_and_say_why() -> None:
    phone = two_apps()
    for action in (OpenApp("org.example.absent"), Tap(SIZE.width, 0), Swipe(0, 0, 0, SIZE.height)):
        step = phone.step(phone.reset(), action)
        assert not step.valid and not step.changed and step.message


def test_the_clock_is_virtual() -> None:
    phone = two_apps()
    start = phone.reset()
    assert phone.step(start, Wait(2500)).state.clock_ms == start.clock_ms + 2500
    assert phone.step(start, Tap(300, 720)).state.clock_ms == start.clock_ms + 400


def test_a_phone_refuses_what_does_not_fit_together() -> None:
    with pytest.raises(ProgramError):
        Phone([program(), program()])
    small = replace(program(), package=OTHER, device=replace(program().device, size=replace(SIZE, width=100)))
    with pytest.raises(ProgramError, match="360x800"):
        Phone([program(), small])
    with pytest.raises(SessionError, match="no start"):
        two_apps().reset(start="nowhere")


@pytest.mark.parametrize(
    ("patch", "place"),
    [
        ({"clock_ms": "now"}, "clock_ms"),
        ({"apps": []}, "apps"),
        ({"surplus": 1}, "surplus"),
        ({"apps": {PACKAGE: {"screen": 1}}}, PACKAGE),
    ],
)
def test_a_state_that_is_none_is_refused_with_its_place(patch: dict[str, object], place: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        state_from_json({**state_to_json(two_apps().reset()), **patch})
    assert place in caught.value.message


def test_a_state_of_another_phone_is_refused() -> None:
    state = state_to_json(two_apps().reset())
    state["apps"][PACKAGE]["screen"] = "nowhere"
    with pytest.raises(PhoneWorldError, match="nowhere"):
        two_apps().check(state_from_json(state))
