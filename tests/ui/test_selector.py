"""Names of widgets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from phoneworld.errors import PhoneWorldError
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.selector import Selector, find, node_keys, selector_for
from tests.ui.strategies import hierarchies


def node(kind: str, *children: Node, id: str = "", text: str = "") -> Node:
    return Node(f"android.widget.{kind}", text=text, resource_id=id, children=children)


TREE = Hierarchy(
    (
        node(
            "FrameLayout",
            node("TextView", id="app:id/title", text="Notes"),
            node("ListView", node("Row", node("Text", id="app:id/name", text="a")), node("Row", node("Text", id="app:id/name", text="b")), id="app:id/list"),
            node("Button"),
            node("Button", text="ok"),
        ),
    )
)  # fmt: skip


def test_a_node_is_named_by_its_unique_id_and_else_by_its_place_below_the_node_above() -> None:
    assert node_keys(TREE) == {
        (0,): "/FrameLayout[0]",
        (0, 0): "app:id/title",
        (0, 1): "app:id/list",
        (0, 1, 0): "app:id/list/Row[0]",
        (0, 1, 0, 0): "app:id/list/Row[0]/Text[0]",
        (0, 1, 1): "app:id/list/Row[1]",
        (0, 1, 1, 0): "app:id/list/Row[1]/Text[0]",
        (0, 2): "/FrameLayout[0]/Button[0]",
        (0, 3): "/FrameLayout[0]/Button[1]",
    }


@given(hierarchies)
def test_no_two_nodes_of_a_tree_have_one_name_and_every_node_has_one(tree: Hierarchy) -> None:
    keys = node_keys(tree)
    assert list(keys) == [path for path, _ in tree.walk()]
    assert len(set(keys.values())) == len(keys)


@given(hierarchies)
def test_names_do_not_depend_on_words_or_state(tree: Hierarchy) -> None:
    def reworded(old: Node) -> Node:
        return replace(old, text="x", checked=not old.checked, children=tuple(map(reworded, old.children)))

    assert node_keys(replace(tree, windows=tuple(map(reworded, tree.windows)))) == node_keys(tree)


@given(hierarchies)
def test_a_selector_finds_exactly_the_node_it_was_made_for(tree: Hierarchy) -> None:
    for path, _ in tree.walk():
        assert find(tree, selector_for(tree, path)) == (path,)


def test_a_unique_id_is_enough_and_a_shared_one_needs_text() -> None:
    assert selector_for(TREE, (0, 0)) == Selector(resource_id="app:id/title")
    assert selector_for(TREE, (0, 1, 1, 0)) == Selector(resource_id="app:id/name", text="b")


def test_a_node_without_an_id_is_selected_by_its_place_and_class() -> None:
    selector = selector_for(TREE, (0, 3))
    assert selector == Selector(class_name="android.widget.Button", path=(0, 3))
    other = TREE.replace_at((0, 3), node("CheckBox"))
    assert find(other, selector) == ()


def test_an_id_may_leave_out_its_package_and_the_plain_id_comes_first() -> None:
    assert find(TREE, Selector(resource_id="title")) == ((0, 0),)
    plain = TREE.replace_at((0, 3), node("Button", id="title"))
    assert find(plain, Selector(resource_id="title")) == ((0, 3),)
    assert find(TREE, Selector(resource_id="other:id/title")) == ()


def test_all_conditions_must_hold() -> None:
    assert find(TREE, Selector(resource_id="name")) == ((0, 1, 0, 0), (0, 1, 1, 0))
    assert find(TREE, Selector(resource_id="name", text="a")) == ((0, 1, 0, 0),)
    assert find(TREE, Selector(text="ok", class_name="android.widget.TextView")) == ()
    assert len(find(TREE, Selector())) == 9


def test_a_path_of_another_tree_is_refused() -> None:
    with pytest.raises(PhoneWorldError, match="no node at"):
        selector_for(TREE, (0, 9))


def test_a_selector_reads_as_its_conditions() -> None:
    assert str(Selector(resource_id="a", text="b\nc")) == "resource_id='a' text='b\\nc'"
    assert str(Selector()) == "anything"
