"""Acting at random: what is likely, what is rare, and that equal dice choose equally."""

from __future__ import annotations

from collections import Counter
from random import Random

from phoneworld.fidelity.acting import HELD_OUT, TRAINING, Memory, choose, kind_of
from phoneworld.ui.action import Action, DoubleTap, OpenApp, PressKey, Tap, TypeText, check_on_screen
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

APP = "org.example.app"
SIZE = Size(300, 600)


def node(class_name: str, text: str = "", *, at: int = 0, height: int = 40, children: tuple[Node, ...] = (), **more: object) -> Node:
    return Node(class_name, text, package=APP, bounds=Bounds(0, at, 300, at + height), children=children, **more)  # type: ignore[arg-type]


def screen(*children: Node) -> Hierarchy:
    return Hierarchy((node("FrameLayout", height=600, children=children),))


def chosen(tree: Hierarchy, n: int = 400, **more: object) -> list[Action]:
    return [choose(tree, SIZE, keyboard=False, package=APP, dice=Random(i), **more) for i in range(n)]  # type: ignore[arg-type]


def at_y(actions: list[Action], top: int, bottom: int) -> int:
    return sum(isinstance(a, Tap | DoubleTap) and top <= a.y < bottom for a in actions)


def test_equal_dice_choose_equally_and_what_is_chosen_lies_on_the_screen() -> None:
    tree = screen(node("Button", "Go", clickable=True), node("TextView", "words", at=100))
    assert chosen(tree) == chosen(tree)
    for action in chosen(tree):
        check_on_screen(action, SIZE)


def test_a_long_list_does_not_drown_the_rest() -> None:
    rows = tuple(node("CheckBox", at=100 + 20 * i, height=20, checkable=True, clickable=True) for i in range(20))
    actions = chosen(screen(node("Button", "Save", clickable=True), *rows))
    assert at_y(actions, 0, 40) > len(actions) / 4


def test_a_row_is_touched_and_double_tapped_though_it_takes_no_touch_and_other_words_hardly_ever() -> None:
    row = node("ListView", at=100, height=200, children=(node("View", "milk", at=100),))
    actions = chosen(screen(node("Button", "Go", clickable=True), row, node("TextView", "a heading", at=400)))
    assert at_y(actions, 100, 140) > 5 * at_y(actions, 400, 440)
    assert Counter(type(a) for a in actions if at_y([a], 100, 140))[DoubleTap] > 5


def test_what_a_dialogs_veil_covers_is_touched_all_the_same() -> None:
    page = node("WebView", height=600, children=(node("Button", "OK", clickable=True), node("TextView", "", height=600)))
    assert at_y(chosen(screen(page)), 0, 40) > 300


def test_what_led_to_a_dead_end_is_rarely_touched_again() -> None:
    before = screen(node("Button", "Go", clickable=True), node("View", "Help", at=100, clickable=True))
    memory = Memory()
    memory.learn(before, (0, 1), screen(node("TextView", "not found")), SIZE, APP)
    assert memory.is_dead_end(kind_of(before, (0, 1)), "Help")
    assert at_y(chosen(before, memory=memory), 100, 140) < at_y(chosen(before), 100, 140) / 4


def test_what_changed_nothing_is_touched_less_until_it_does_something() -> None:
    before = screen(node("Button", "Go", clickable=True), node("View", "Idle", at=100, clickable=True))
    memory = Memory()
    for _ in range(3):
        memory.learn(before, (0, 1), before, SIZE, APP)
    less = at_y(chosen(before, memory=memory), 100, 140)
    memory.learn(before, (0, 1), screen(*before.windows[0].children, node("TextView", "on", at=200)), SIZE, APP)
    assert less < at_y(chosen(before, memory=memory), 100, 140)


def test_where_nothing_changes_back_is_likely() -> None:
    tree = screen(node("Button", "Go", clickable=True))
    backs = [sum(a == PressKey("back") for a in chosen(tree, is_stuck=stuck)) for stuck in (False, True)]
    assert backs[1] > 3 * backs[0]


def test_a_field_with_the_focus_is_typed_into_and_what_was_typed_is_sent() -> None:
    def field(text: str) -> Hierarchy:
        return screen(node("android.widget.EditText", text, focused=True, clickable=True))

    dice = [Random(i) for i in range(300)]
    empty = [choose(field(""), SIZE, keyboard=True, package=APP, dice=d) for d in dice]
    assert sum(isinstance(a, TypeText) for a in empty) > 220
    last = TypeText("milk")
    filled = [choose(field("milk"), SIZE, keyboard=True, package=APP, dice=d, last=last) for d in dice]
    assert sum(a == PressKey("enter") for a in filled) > 120
    assert {a.mode for a in filled if isinstance(a, TypeText)} == {"append", "replace"}


def test_after_one_field_of_a_form_the_next_is_likely() -> None:
    first = node("android.widget.EditText", "milk", focused=True, clickable=True)
    form = screen(first, node("android.widget.EditText", at=100, clickable=True), node("Button", "Save", at=200, clickable=True))
    actions = [choose(form, SIZE, keyboard=True, package=APP, dice=Random(i), last=TypeText("milk")) for i in range(300)]
    assert at_y(actions, 100, 140) > 120


def test_one_text_in_eight_is_blank_or_one_word() -> None:
    tree = screen(node("android.widget.EditText", focused=True, clickable=True))
    actions = [choose(tree, SIZE, keyboard=True, package=APP, dice=Random(i)) for i in range(1500)]
    texts = [a.text for a in actions if isinstance(a, TypeText)]
    short = sum(" " not in t.strip() for t in texts) / len(texts)
    assert 0.08 < short < 0.16 and " " in texts


def test_a_field_for_a_number_gets_one() -> None:
    tree = screen(node("android.widget.EditText", focused=True, clickable=True, hint="Amount in euro"))
    actions = [choose(tree, SIZE, keyboard=True, package=APP, dice=Random(i)) for i in range(50)]
    assert all(a.text.isdigit() for a in actions if isinstance(a, TypeText))


def test_training_and_held_out_traces_share_no_word() -> None:
    assert not {*TRAINING.first, *TRAINING.second} & {*HELD_OUT.first, *HELD_OUT.second}


def test_outside_the_app_it_is_opened_again() -> None:
    away = Hierarchy((Node("FrameLayout", package="org.example.launcher", bounds=SIZE.bounds),))
    assert set(chosen(away)) == {OpenApp(APP)}
