"""The exploring policy: safe and total on any screen, and it looks for the untried on ordinary ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.graph.graph import Capture
from phoneworld.ui.action import (
    Action,
    CloseApp,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    check_on_screen,
)
from phoneworld.ui.geometry import Bounds, Point
from phoneworld.ui.node import Gesture, Hierarchy, Node
from recorder.attribute import attribute
from recorder.candidates import candidates, reachable
from recorder.explore import DEAD_END_STEPS, Choice, Memory, arrive, choose, classify, remember
from recorder.safety import Guard
from tests.recorder.screens import APP, SIZE, at, button, capture, captures, entry, lines, screen, text

GUARD = Guard()


def next_choice(here: Capture, memory: Memory | None = None, *, seed: int = 0, step: int = 1) -> Choice:
    known = arrive(Memory(), here, app=APP, guard=GUARD) if memory is None else memory
    return choose(here, known, app=APP, seed=seed, step=step, guard=GUARD)


def walk(screens: dict[str, Capture], leads: dict[tuple[str, str], str], start: str, steps: int, seed: int = 0) -> list[tuple[str, Choice]]:
    """Explores a small app that is given as a map: (screen, words of what is tapped) → screen."""
    memory, here, done = Memory(), start, []
    memory = arrive(memory, screens[here], app=APP, guard=GUARD)
    for step in range(1, steps + 1):
        choice = choose(screens[here], memory, app=APP, seed=seed, step=step, guard=GUARD)
        done.append((here, choice))
        there = leads.get((here, choice.instance if isinstance(choice.action, Tap) else choice.action_class), here)
        memory = remember(memory, screens[here], choice, screens[there], app=APP, guard=GUARD)
        here = there
    return done


@given(captures(), captures(), st.integers(0, 10_000), st.integers(1, 500))
@settings(max_examples=120, deadline=None)
def test_it_is_total_on_screen_and_safe(first: Capture, second: Capture, seed: int, step: int) -> None:
    memory = arrive(Memory(), first, app=APP, guard=GUARD)
    choice = choose(first, memory, app=APP, seed=seed, step=step, guard=GUARD)
    assert choice == choose(first, memory, app=APP, seed=seed, step=step, guard=GUARD), "the same twice"
    memory = remember(memory, first, replace(choice, path=attribute(first.hierarchy, choice.action, SIZE)), second, app=APP, guard=GUARD)
    choice = choose(second, memory, app=APP, seed=seed, step=step + 1, guard=GUARD)
    check_on_screen(choice.action, second.size)
    match choice.action:
        case Tap(x, y) | LongPress(x, y):
            gesture: Gesture = "tap" if isinstance(choice.action, Tap) else "long_press"
            hit = second.hierarchy.hit_test(Point(x, y), gesture, SIZE)
            assert hit is not None and hit.target is not None and hit.target == choice.path, "it hits the node it was meant for"
            assert GUARD.forbids(second.hierarchy, hit.target, SIZE) is None
            assert reachable(second).contains(Point(x, y))
        case PressKey("enter") if choice.path is not None:
            assert GUARD.forbids_enter(second.hierarchy, choice.path, SIZE) is None


@given(captures())
@settings(max_examples=50, deadline=None)
def test_what_was_recorded_is_recognised_as_the_choice_it_came_from(here: Capture) -> None:
    choice = next_choice(here)
    hit = attribute(here.hierarchy, choice.action, SIZE)
    again = classify(here, choice.action, hit)
    if hit == choice.path and choice.why in ("untried", "weighted"):
        assert again.action_class == choice.action_class


SHOP = {
    "list": capture(lines(text("Shop"), button("Open settings"), button("About"), button("Log out"))),
    "settings": capture(lines(text("Settings"), button("Dark"), button("Large"), entry(hint="Name"), text("Back to shop"))),
    "about": capture(lines(text("About this app"), text("Version"))),
}
LEADS = {
    ("list", "Open settings"): "settings",
    ("list", "About"): "about",
    ("settings", "back"): "list",
    ("about", "back"): "list",
}


def test_everything_that_may_be_touched_is_touched() -> None:
    done = walk(SHOP, LEADS, "list", 60)
    tapped = {c.instance for _, c in done if isinstance(c.action, Tap)}
    assert tapped == {"Open settings", "About", "Dark", "Large", "Name"}
    assert "Log out" not in tapped
    assert any(isinstance(c.action, CloseApp) for _, c in done), "what survives a restart is worth knowing"


def test_the_untried_comes_before_the_known() -> None:
    memory = arrive(Memory(), SHOP["list"], app=APP, guard=GUARD)
    for step in range(1, 4):
        known = Choice(Tap(1, 1), "tap FrameLayout/Button", "About")
        memory = remember(memory, SHOP["list"], known, SHOP["list"], app=APP, guard=GUARD)
        assert step == memory.tried[memory.screen_of(SHOP["list"], APP), "tap FrameLayout/Button"]
    picks = [next_choice(SHOP["list"], memory, seed=s).instance for s in range(60)]
    assert picks.count("Open settings") > 2 * picks.count("About")


def test_what_was_tried_is_counted_by_what_the_screens_offer() -> None:
    """Two buttons on each of two screens: each kind counts where it is offered, not where another screen has it too."""
    first = capture(lines(text("One"), *(button(w, resource_id=w) for w in ("Open", "About"))))
    second = capture(lines(text("Two"), *(button(w, resource_id=w) for w in ("Open", "Send", "Keep"))))
    memory = arrive(Memory(), first, app=APP, guard=GUARD)
    tried, offered = memory.tried_of_offered
    assert tried == 0 and offered >= 2
    opened = next(c for c in candidates(first, guard=GUARD)[0] if c.instance == "Open")
    memory = remember(memory, first, Choice(Tap(540, 300), opened.action_class, "Open", opened.path), second, app=APP, guard=GUARD)
    assert memory.tried_of_offered[0] == 1 and memory.tried_of_offered[1] > offered and memory.stale == 0
    memory = remember(memory, second, Choice(PressKey("home"), "home"), second, app=APP, guard=GUARD)
    again = remember(memory, second, Choice(PressKey("home"), "home"), second, app=APP, guard=GUARD)
    assert again.tried_of_offered == memory.tried_of_offered and again.stale == memory.stale + 1, "nothing new"


def test_a_field_is_tapped_then_typed_into() -> None:
    form = lines(entry(hint="Title"), button("Save"))
    focused = capture(lines(entry(hint="Title", focused=True), button("Save")), keyboard=True)
    memory = arrive(Memory(), capture(form), app=APP, guard=GUARD)
    tap = Choice(Tap(540, 260), "tap EditText", "Title", (0, 0))
    memory = remember(memory, capture(form), tap, focused, app=APP, guard=GUARD)
    actions = [next_choice(focused, memory, seed=s).action for s in range(40)]
    typed = [a for a in actions if isinstance(a, TypeText)]
    assert len(typed) > 25
    assert all((a.x, a.y) == (None, None) for a in typed), "into what has the focus"
    assert len({a.text for a in typed}) > 15


def test_nothing_is_touched_under_the_keyboard() -> None:
    low = at(14, button("Save"))
    assert low.bounds.top > 2000
    up = capture(screen(at(0, entry(focused=True)), low), keyboard=True)
    assert all(next_choice(up, seed=s).instance != "Save" for s in range(50))
    down = capture(screen(at(0, entry()), low))
    assert any(next_choice(down, seed=s).instance == "Save" for s in range(50))


def test_another_app_in_front_is_left_by_back_then_by_opening_ours() -> None:
    other = capture(screen(button("Buy"), button("Ok"), package="com.other"), package="com.other")
    memory = arrive(Memory(), SHOP["list"], app=APP, guard=GUARD)
    seen: list[Action] = []
    source = SHOP["list"]
    choice = Choice(Tap(1, 1), "tap FrameLayout/Button", "About")
    for step in range(1, 7):
        memory = remember(memory, source, choice, other, app=APP, guard=GUARD)
        source, choice = other, next_choice(other, memory, step=step)
        seen.append(choice.action)
    assert seen[:4] == [PressKey("back"), OpenApp(APP), CloseApp(APP), OpenApp(APP)]
    assert not any(isinstance(a, Tap) for a in seen)


def test_from_the_launcher_the_app_is_opened_at_once() -> None:
    home = capture(screen(button("Maps"), package="com.android.launcher3"), package="com.android.launcher3")
    memory = remember(
        arrive(Memory(), SHOP["list"], app=APP, guard=GUARD), SHOP["list"], Choice(PressKey("back"), "back"), home, app=APP, guard=GUARD
    )
    assert next_choice(home, memory).action == OpenApp(APP)


def test_back_that_leaves_the_app_becomes_rare() -> None:
    home = capture(screen(button("Maps"), package="com.android.launcher3"), package="com.android.launcher3")
    root = capture(lines(*(button(w) for w in ("One", "Two", "Three"))))
    memory = arrive(Memory(), root, app=APP, guard=GUARD)
    memory = remember(memory, root, Choice(PressKey("back"), "back"), home, app=APP, guard=GUARD)
    memory = remember(memory, home, Choice(OpenApp(APP), "open"), root, app=APP, guard=GUARD)
    backs = [next_choice(root, memory, seed=s).action for s in range(200)].count(PressKey("back"))
    assert backs < 10


def test_a_permission_dialog_is_answered() -> None:
    package = "com.android.permissioncontroller"
    asked = capture(
        screen(text("Allow Shop to take pictures?"), button("While using the app"), button("Don’t allow"), package=package), package=package
    )
    buttons = screen(at(0, text("Allow?")), at(1, button("While using the app")), at(2, button("Don’t allow")), package=package)
    asked = replace(asked, hierarchy=buttons)
    picks = {next_choice(asked, seed=s).instance for s in range(40)}
    assert {"While using the app", "Don’t allow"} <= picks


def test_a_screen_where_nothing_works_is_left() -> None:
    dead = capture(lines(text("Loading failed")))
    done = walk({"dead": dead}, {}, "dead", 25)
    kinds = [c.action for _, c in done]
    assert PressKey("back") in kinds
    assert CloseApp(APP) in kinds


def test_an_app_that_has_nothing_new_is_not_restarted_all_the_time() -> None:
    done = walk(SHOP, LEADS, "list", 200)
    assert sum(isinstance(c.action, CloseApp) for _, c in done) <= 200 // DEAD_END_STEPS


def test_after_closing_the_app_it_is_opened() -> None:
    home = capture(screen(button("Maps"), package="com.android.launcher3"), package="com.android.launcher3")
    memory = arrive(Memory(), SHOP["list"], app=APP, guard=GUARD)
    memory = remember(memory, SHOP["list"], Choice(CloseApp(APP), "restart"), home, app=APP, guard=GUARD)
    assert next_choice(home, memory).action == OpenApp(APP)


def test_rows_of_a_list_are_one_class() -> None:
    rows = tuple(
        Node("android.view.ViewGroup", clickable=True, package=APP, bounds=Bounds(0, 200 + i * 150, 1080, 340 + i * 150),
             children=(text(f"Note {i}", resource_id=f"title-{i}"),))
        for i in range(8)
    )  # fmt: skip
    list_view = Node("android.widget.ListView", scrollable=True, package=APP, bounds=Bounds(0, 200, 1080, 1600), children=rows)
    found, _ = candidates(capture(screen(list_view)), guard=GUARD)
    assert len({c.action_class for c in found if c.kind == "tap"}) == 1
    assert len({c.instance for c in found if c.kind == "tap"}) == 8
    assert {type(c.action) for c in found if c.kind.startswith("scroll")} == {Swipe}


def test_long_presses_only_where_they_are_taken() -> None:
    row = replace(at(0, button("Row")), long_clickable=True)
    found, _ = candidates(capture(screen(row, at(1, button("Plain")))), guard=GUARD)
    assert [c.instance for c in found if c.kind == "long_press"] == ["Row"]


def test_a_covered_button_is_not_walked_to_for_ever() -> None:
    """The untried button lies wholly under another one: that is no reason to stay or to come back."""
    under, over = at(0, button("Under", resource_id="under")), at(0, button("Over", resource_id="over"))
    covered = capture(screen(under, over))
    memory = arrive(Memory(), covered, app=APP, guard=GUARD)
    assert "tap under" in memory.covered[memory.screen_of(covered, APP)]
    assert all(next_choice(covered, memory, seed=s).instance != "Under" for s in range(30))


def test_screens_are_counted_once_however_long_their_lists() -> None:
    def notes(count: int) -> Hierarchy:
        rows = tuple(
            Node("android.view.ViewGroup", clickable=True, package=APP, bounds=Bounds(0, 300 + i * 150, 1080, 440 + i * 150),
                 children=(text(f"note {i}"),))
            for i in range(count)
        )  # fmt: skip
        return screen(
            at(0, text("Notes", resource_id=f"{APP}:id/title")),
            Node("android.widget.ListView", scrollable=True, resource_id=f"{APP}:id/list", package=APP,
                 bounds=Bounds(0, 300, 1080, 2400), children=rows),
        )  # fmt: skip

    memory = arrive(Memory(), capture(notes(3)), app=APP, guard=GUARD)
    memory = remember(memory, capture(notes(3)), Choice(Tap(1, 400), "tap x"), capture(notes(5)), app=APP, guard=GUARD)
    assert memory.screens == 1
