"""When two trees show the same, and what is said where they do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from phoneworld.ui.compare import Difference, compare_trees
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from tests.ui.strategies import SMALL, small_hierarchies

SCREEN = Size(100, 200)


def row(text: str, top: int) -> Node:
    return Node("android.widget.TextView", text=text, resource_id="app:id/row", bounds=Bounds(0, top, 100, top + 20))


def screen(*rows: Node) -> Hierarchy:
    return Hierarchy((Node("android.widget.ListView", bounds=Bounds(0, 0, 100, 200), children=rows),))


THREE = screen(row("a", 0), row("b", 20), row("c", 40))


@given(small_hierarchies)
def test_a_tree_equals_itself_over_all_its_visible_nodes(tree: Hierarchy) -> None:
    compared = compare_trees(tree, tree, SMALL)
    assert compared.equal
    assert compared.compared == sum(tree.is_visible(path, SMALL) for path, _ in tree.walk())


@given(small_hierarchies, small_hierarchies)
def test_comparing_the_other_way_round_is_equal_exactly_when_this_way_is(a: Hierarchy, b: Hierarchy) -> None:
    assert compare_trees(a, b, SMALL).equal == compare_trees(b, a, SMALL).equal


@given(small_hierarchies)
def test_what_cannot_be_seen_does_not_count(tree: Hierarchy) -> None:
    hidden = Node("android.widget.Button", text="x", visible=False, bounds=SMALL.bounds)
    outside = Node("android.widget.Button", text="x", bounds=Bounds(0, 60, 40, 90))
    windows = tuple(replace(window, children=(hidden, *window.children, outside)) for window in tree.windows)
    assert compare_trees(tree, replace(tree, windows=windows), SMALL).equal


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("class_name", "android.widget.Button"), ("resource_id", "app:id/other"), ("text", "z"), ("content_desc", "z"),
        ("hint", "z"), ("checkable", True), ("checked", True), ("clickable", True), ("enabled", False), ("focused", True),
        ("scrollable", True), ("password", True), ("selected", True),
    ],
)  # fmt: skip
def test_one_changed_attribute_is_one_difference_with_its_place(attribute: str, value: Any) -> None:
    before = THREE.at((0, 1))
    found = THREE.replace_at((0, 1), replace(before, **{attribute: value}))
    (difference,) = compare_trees(THREE, found, SCREEN).differences
    expected = getattr(before, attribute)
    assert difference == Difference((0, 1), attribute, "" if expected is None else str(expected), str(value))
    assert f"0.1: {attribute} is {str(value)!r}" in str(difference)


@pytest.mark.parametrize(("moved_px", "equal"), [(8, True), (9, False), (-8, True), (-9, False)])
def test_bounds_may_differ_by_eight_pixels_on_each_edge(moved_px: int, equal: bool) -> None:
    found = THREE.replace_at((0, 1), replace(row("b", 20), bounds=Bounds(0, 20, 100, 40 + moved_px)))
    compared = compare_trees(THREE, found, SCREEN)
    assert compared.equal == equal
    assert [d.attribute for d in compared.differences] == ([] if equal else ["bounds"])
    assert compare_trees(THREE, found, SCREEN, 9).equal


def test_attributes_that_are_no_look_and_no_state_do_not_count() -> None:
    found = THREE.replace_at((0, 1), replace(row("b", 20), extra=(("NAF", "true"),), index=7, drawing_order=3, package="p"))
    assert compare_trees(THREE, found, SCREEN).equal


def test_a_missing_hint_is_an_empty_hint() -> None:
    assert compare_trees(THREE, THREE.replace_at((0, 1), replace(row("b", 20), hint="")), SCREEN).equal


def test_a_missing_and_a_surplus_node_are_one_difference_each() -> None:
    extra = Node("android.widget.TextView", text="new", resource_id="app:id/row", bounds=Bounds(0, 60, 100, 80))
    found = screen(row("a", 0), extra, row("b", 20), row("c", 40))
    (surplus,) = compare_trees(THREE, found, SCREEN).differences
    assert (surplus.path, surplus.attribute, surplus.expected) == ((0, 1), "node", "")
    assert "surplus TextView" in str(surplus)
    (missing,) = compare_trees(found, THREE, SCREEN).differences
    assert (missing.path, missing.found) == ((0, 1), "")
    assert "missing TextView" in str(missing)


def test_every_visible_node_of_a_missing_subtree_is_named() -> None:
    whole = Hierarchy((*THREE.windows, *THREE.windows))
    assert len(compare_trees(whole, THREE, SCREEN).differences) == 4


def test_a_node_that_became_hidden_is_missing() -> None:
    found = THREE.replace_at((0, 2), replace(row("c", 40), visible=False))
    assert [str(d) for d in compare_trees(THREE, found, SCREEN).differences] == ["0.2: missing TextView app:id/row at [0,40][100,60]"]


def test_another_rotation_is_a_difference() -> None:
    assert [d.attribute for d in compare_trees(THREE, replace(THREE, rotation=1), SCREEN).differences] == ["rotation"]


def test_the_summary_counts_all_and_shows_the_first() -> None:
    found = screen(*(row(text, top) for text, top in (("x", 0), ("y", 20), ("z", 40))))
    compared = compare_trees(THREE, found, SCREEN)
    assert compared.summary(2).splitlines() == [
        "3 differences over 4 visible nodes",
        "0.0: text is 'x', expected 'a'",
        "0.1: text is 'y', expected 'b'",
        "and 1 more",
    ]
    assert str(compare_trees(THREE, THREE, SCREEN)) == "equal: 4 visible nodes"
