"""The one hit test, drawing order, and walking a tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from phoneworld.errors import DumpError
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path
from phoneworld.ui.xml import parse_hierarchy
from tests.shared import CORPUS, needs_shared
from tests.ui.strategies import SMALL, small_hierarchies, small_points

SCREEN = Size(100, 200)
WHOLE = Bounds(0, 0, 100, 200)


def box(*children: Node, at: Bounds = WHOLE, **fields: Any) -> Node:
    """A bare container."""
    return replace(Node("android.widget.FrameLayout", bounds=at, children=children), **fields)


def button(at: Bounds = WHOLE, **fields: Any) -> Node:
    return replace(Node("android.widget.Button", text="b", clickable=True, bounds=at), **fields)


def label(at: Bounds = WHOLE, **fields: Any) -> Node:
    return replace(Node("android.widget.TextView", text="l", bounds=at), **fields)


def target(tree: Hierarchy, x: int, y: int, gesture: Gesture = "tap") -> Path | None:
    hit = tree.hit_test(Point(x, y), gesture, SCREEN)
    assert hit is not None
    return hit.target


# --- hit test --------------------------------------------------------------------------------------------------------


def test_a_point_off_the_screen_hits_nothing() -> None:
    tree = Hierarchy((button(),))
    assert tree.hit_test(Point(100, 10), "tap", SCREEN) is None
    assert tree.hit_test(Point(-1, 10), "tap", SCREEN) is None


def test_a_point_that_no_node_covers_hits_nothing() -> None:
    assert Hierarchy((button(Bounds(0, 0, 10, 10)),)).hit_test(Point(50, 50), "tap", SCREEN) is None


def test_a_later_sibling_lies_above_an_earlier_one() -> None:
    tree = Hierarchy((box(button(), button()),))
    hit = tree.hit_test(Point(5, 5), "tap", SCREEN)
    assert hit is not None
    assert hit.target == (0, 1)
    assert hit.occluded == ((0, 0),)


def test_the_reported_drawing_order_wins_over_the_order_in_the_document() -> None:
    tree = Hierarchy((box(button(drawing_order=2), button(drawing_order=1)),))
    assert target(tree, 5, 5) == (0, 0)


def test_a_tap_on_a_label_goes_to_the_nearest_clickable_ancestor() -> None:
    tree = Hierarchy((box(box(box(label()), clickable=True, long_clickable=True), clickable=True),))
    hit = tree.hit_test(Point(5, 5), "tap", SCREEN)
    assert hit is not None
    assert hit.node == (0, 0, 0, 0)
    assert hit.target == (0, 0)
    assert target(tree, 5, 5, "long_press") == (0, 0)


def test_a_label_drawn_over_a_button_lets_the_tap_through_as_on_android() -> None:
    tree = Hierarchy((box(button(), label()),))
    hit = tree.hit_test(Point(5, 5), "tap", SCREEN)
    assert hit is not None
    assert (hit.node, hit.target) == ((0, 1), (0, 0))


def test_in_a_web_page_what_is_drawn_above_takes_the_tap_as_in_the_dom() -> None:
    page = box(button(), label(), class_name="android.webkit.WebView")
    assert target(Hierarchy((box(page),)), 5, 5) is None


def test_an_empty_box_of_a_web_page_lets_the_tap_through_for_the_tree_does_not_say_that_it_lies_behind() -> None:
    page = box(button(), label(text=""), class_name="android.webkit.WebView")
    assert target(Hierarchy((box(page),)), 5, 5) == (0, 0, 0)


def test_a_native_label_over_a_web_page_lets_the_tap_through_to_the_page() -> None:
    page = box(button(), class_name="android.webkit.WebView")
    assert target(Hierarchy((box(page, label()),)), 5, 5) == (0, 0, 0)


def test_a_disabled_button_swallows_the_tap() -> None:
    tree = Hierarchy((box(button(), button(enabled=False), clickable=True),))
    assert target(tree, 5, 5) is None


def test_a_disabled_label_does_not_swallow_the_tap() -> None:
    assert target(Hierarchy((box(label(enabled=False), clickable=True),)), 5, 5) == (0,)


def test_a_switch_that_is_not_clickable_leaves_the_tap_to_its_row() -> None:
    switch = Node("android.widget.Switch", checkable=True, bounds=WHOLE)
    assert target(Hierarchy((box(box(switch, clickable=True)),)), 5, 5) == (0, 0)
    assert target(Hierarchy((box(box(switch)),)), 5, 5) == (0, 0, 0)


def test_a_swipe_goes_to_the_nearest_scroller_even_over_a_disabled_button() -> None:
    tree = Hierarchy((box(box(button(enabled=False), scrollable=True)),))
    assert target(tree, 5, 5, "scroll") == (0, 0)


def test_a_swipe_that_starts_on_a_button_above_a_list_does_not_scroll_the_list() -> None:
    tree = Hierarchy((box(box(scrollable=True), button()),))
    assert target(tree, 5, 5, "scroll") is None


def test_what_is_scrolled_out_of_its_list_cannot_be_tapped() -> None:
    row = button(Bounds(0, 90, 100, 120))
    header = button(Bounds(0, 0, 100, 100))
    tree = Hierarchy((box(header, box(row, at=Bounds(0, 100, 100, 200), scrollable=True)),))
    assert target(tree, 5, 95) == (0, 0)
    assert target(tree, 5, 105) == (0, 1, 0)
    assert tree.tap_point((0, 1, 0), SCREEN) == Point(50, 110)


def test_a_row_wholly_outside_its_list_has_no_tap_point() -> None:
    tree = Hierarchy((box(box(button(Bounds(0, 0, 100, 50)), at=Bounds(0, 100, 100, 200), scrollable=True)),))
    assert tree.tap_point((0, 0, 0), SCREEN) is None


def test_a_bare_container_counts_only_where_nothing_drawn_is_hit() -> None:
    tree = Hierarchy((box(label(Bounds(0, 0, 50, 50)), box()),))
    hit = tree.hit_test(Point(5, 5), "tap", SCREEN)
    assert hit is not None
    assert hit.node == (0, 0)
    hit = tree.hit_test(Point(60, 60), "tap", SCREEN)
    assert hit is not None
    assert (hit.node, hit.target) == ((0, 1), None)


def test_a_hidden_subtree_is_not_hit() -> None:
    assert target(Hierarchy((box(button(), box(button(), visible=False)),)), 5, 5) == (0, 0)


def test_a_dialog_window_is_above_the_app_wherever_it_is_listed() -> None:
    app, dialog = box(button()), box(label(Bounds(20, 20, 80, 80)), at=Bounds(20, 20, 80, 80))
    for windows in ((app, dialog), (dialog, app)):
        tree = Hierarchy(windows)
        assert target(tree, 30, 30) is None
        assert target(tree, 5, 5) == (windows.index(app), 0)


def test_of_two_windows_of_one_size_the_later_lies_above() -> None:
    assert target(Hierarchy((button(), button())), 5, 5) == (1,)


def test_typing_goes_to_an_enabled_field_only() -> None:
    field = Node("android.widget.EditText", bounds=WHOLE)
    assert target(Hierarchy((box(field),)), 5, 5, "type") == (0, 0)
    assert target(Hierarchy((box(replace(field, enabled=False)),)), 5, 5, "type") is None


@given(small_hierarchies, small_points)
def test_a_target_takes_the_gesture_and_every_hit_holds_the_point(tree: Hierarchy, point: Point) -> None:
    gestures: tuple[Gesture, ...] = ("tap", "long_press", "scroll", "type")
    for gesture in gestures:
        hit = tree.hit_test(point, gesture, SMALL)
        if hit is None:
            assert not any(node.bounds.contains(point) for _, node in tree.touch_order(SMALL))
            continue
        assert tree.at(hit.node).bounds.contains(point)
        assert tree.is_visible(hit.node, SMALL)
        for path in (*hit.occluded, *([hit.target] if hit.target else [])):
            assert tree.at(path).takes(gesture)
        assert hit.target not in hit.occluded


@given(small_hierarchies, small_points)
def test_the_first_node_of_the_touch_order_at_a_point_decides_the_target(tree: Hierarchy, point: Point) -> None:
    first = next((path for path, node in tree.touch_order(SMALL) if node.bounds.contains(point)), None)
    hit = tree.hit_test(point, "tap", SMALL)
    assert (hit is None) == (first is None)
    if hit is not None and first is not None:
        assert hit.target == tree.nearest(first, "tap")


@given(small_hierarchies)
def test_the_touch_order_holds_each_visible_node_at_most_once(tree: Hierarchy) -> None:
    order = [path for path, _ in tree.touch_order(SMALL)]
    assert len(order) == len(set(order))
    assert set(order) <= {path for path, _ in tree.drawing(SMALL)}


@needs_shared
def test_nearly_every_target_of_the_recorded_dumps_is_hit_at_its_tap_point() -> None:
    """Counts over all recorded dumps. What is not hit lies under something: a popup, an open drawer, a nested button."""
    targets = hit_itself = hit_nothing = 0
    for path in sorted(CORPUS.rglob("*.xml")):
        try:
            tree = parse_hierarchy(path.read_bytes())
        except DumpError:
            continue
        order = tree.touch_order(tree.extent)
        for place, node in order:
            point = tree.tap_point(place, tree.extent) if node.takes("tap") else None
            if point is None:
                continue
            targets += 1
            first = next(path for path, touched in order if touched.bounds.contains(point))
            target = tree.nearest(first, "tap")
            hit_itself += target == place
            hit_nothing += target is None
    assert targets > 4000
    # With a label blocking what lies under it, 0.89 and 0.05.
    assert hit_itself / targets > 0.92
    assert hit_nothing / targets < 0.035


# --- drawing, paths --------------------------------------------------------------------------------------------------


@given(small_hierarchies)
def test_drawing_holds_exactly_the_visible_nodes_with_parents_below_children(tree: Hierarchy) -> None:
    drawn = [path for path, _ in tree.drawing(SMALL)]
    assert sorted(drawn) == sorted(path for path, _ in tree.walk() if tree.is_visible(path, SMALL))
    place = {path: i for i, path in enumerate(drawn)}
    assert all(place[path[:-1]] < place[path] for path in drawn if path[:-1] in place)


@given(small_hierarchies)
def test_walking_goes_in_document_order_and_paths_lead_to_their_nodes(tree: Hierarchy) -> None:
    walked = list(tree.walk())
    assert [path for path, _ in walked] == sorted(path for path, _ in walked)
    for path, node in walked:
        assert tree.at(path) is node
        assert tree.chain(path)[-1] is node
        assert len(tree.chain(path)) == len(path)


@given(small_hierarchies)
def test_replacing_a_node_changes_it_and_nothing_beside_it(tree: Hierarchy) -> None:
    path = max(path for path, _ in tree.walk())
    changed = tree.replace_at(path, replace(tree.at(path), text="changed"))
    assert changed.at(path).text == "changed"
    assert changed.replace_at(path, tree.at(path)) == tree


def test_a_path_to_no_node_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Hierarchy((button(),)).at((0, 3))


def test_the_hint_reported_as_text_is_no_value() -> None:
    field = Node("android.widget.EditText", text="Name", hint="Name")
    assert (field.value, field.label) == ("", "Name")
    assert replace(field, text="Ann").value == "Ann"
    assert replace(field, class_name="android.widget.TextView").value == "Name"
