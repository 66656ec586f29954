"""What the system draws: everything within the screen, every key found where it is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy

PHONES = [(Size(1080, 2400), 480), (Size(720, 1280), 320), (Size(1440, 3120), 560), (Size(1080, 1920), 420), (Size(2400, 1080), 480)]
LAYERS: list[system.Layer] = ["lower", "upper", "symbols"]
phones = pytest.mark.parametrize(("size", "density"), PHONES)


def inside(node: Node, box: Bounds) -> bool:
    return not node.bounds.is_empty and node.bounds.intersect(box) == node.bounds


@phones
def test_the_keyboard_takes_270_dp_and_never_more_than_two_fifths(size: Size, density: int) -> None:
    bounds = system.keyboard_bounds(size, density)
    assert bounds.bottom == size.height and (bounds.left, bounds.right) == (0, size.width)
    assert bounds.height == min(round(270 * density / 160), size.height * 2 // 5)


@phones
@pytest.mark.parametrize("layer", LAYERS)
def test_every_key_is_found_at_its_middle_and_no_two_overlap(size: Size, density: int, layer: system.Layer) -> None:
    board = system.keyboard(size, density, layer)
    assert board.bounds == system.keyboard_bounds(size, density)
    for key in board.children:
        assert inside(key, board.bounds)
        does = system.key_at(size, density, key.bounds.center, layer)
        assert does is not None and (does == key.text if key.text else len(does) > 1 or does == " ")
        assert all(key is other or key.bounds.intersect(other.bounds).is_empty for other in board.children)


def test_the_layers_hold_letters_figures_and_signs() -> None:
    size, density = PHONES[0]
    texts = {layer: {key.text for key in system.keyboard(size, density, layer).children} for layer in LAYERS}
    assert set("abcdefghijklmnopqrstuvwxyz,.") <= texts["lower"]
    assert set("ABCDEFGHIJKLMNOPQRSTUVWXYZ,.") <= texts["upper"]
    assert set("0123456789@#-!?") <= texts["symbols"]


@given(st.integers(0, 1079), st.integers(0, 1589))
def test_there_is_no_key_above_the_keyboard(x: int, y: int) -> None:
    assert system.key_at(Size(1080, 2400), 480, Point(x, y)) is None


@phones
def test_a_dialog_lies_within_the_screen_with_its_first_button_rightmost(size: Size, density: int) -> None:
    root = system.dialog(size, density, "Delete note?", "It cannot be brought back. " * 3, ("Delete", "Cancel"), "org.example", field="x")
    nodes = {n.resource_id: n for n in Hierarchy((root,)).nodes()}
    assert all(inside(n, size.bounds) for n in nodes.values())
    assert nodes["android:id/alertTitle"].text == "Delete note?"
    assert nodes["android:id/button1"].text == "Delete" and nodes["android:id/button2"].text == "Cancel"
    assert nodes["android:id/button1"].bounds.left >= nodes["android:id/button2"].bounds.right
    assert nodes["android:id/message"].bounds.bottom <= nodes["org.example:id/js_modal_dialog_prompt"].bounds.top


def test_a_long_list_of_choices_shows_as_many_rows_as_fit_and_scrolls() -> None:
    size, density = PHONES[0]
    options = tuple(f"Option {i}" for i in range(20))
    root = system.choice_dialog(size, density, "", options, 9, "org.example", first=8)
    rows = [n for n in Hierarchy((root,)).nodes() if n.class_name.endswith("CheckedTextView")]
    assert [n.text for n in rows] == [f"Option {i}" for i in range(8, 8 + system.choice_rows(size, density, 20))]
    assert [n.text for n in rows if n.checked] == ["Option 9"]
    assert next(n for n in Hierarchy((root,)).nodes() if n.resource_id == "android:id/select_dialog_listview").scrollable


def test_the_launcher_opens_the_icon_that_is_touched() -> None:
    size, density = PHONES[0]
    apps = tuple((f"org.example.app{i}", f"App {i}") for i in range(9))
    icons = [n for n in system.launcher(size, density, apps).nodes() if n.clickable]
    assert [n.text for n in icons] == [label for _, label in apps]
    assert [system.launcher_app_at(size, density, apps, n.bounds.center) for n in icons] == [package for package, _ in apps]
    assert system.launcher_app_at(size, density, apps, Point(500, 2300)) is None


def test_what_the_system_draws_survives_xml() -> None:
    size, density = PHONES[0]
    trees = [
        system.launcher(size, density, (("org.example", "Example"),)),
        Hierarchy((system.dialog(size, density, "A", "b < c", ("OK",), "org.example"),)),
        Hierarchy((system.picker_dialog(size, density, (("Dec", "Jan", "Feb"), ("30", "31", "1")), ("Set",), "org.example", focused=1),)),
        Hierarchy((system.keyboard(size, density),)),
        Hierarchy((system.status_bar(size, density, "12:00"),)),
    ]
    for tree in trees:
        again = parse_hierarchy(write_hierarchy(tree))
        assert [(n.class_name, n.text, n.bounds, n.resource_id) for n in again.nodes()] == [
            (n.class_name, n.text, n.bounds, n.resource_id) for n in tree.nodes()
        ]
