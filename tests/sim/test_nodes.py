"""Nodes made quickly are nodes."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given

from phoneworld.sim.nodes import NAMES, node_of, values_of
from phoneworld.testing.strategies import hierarchies
from phoneworld.ui.node import Hierarchy, Node


@given(hierarchies())
def test_a_node_of_the_values_of_a_node_is_that_node(tree: Hierarchy) -> None:
    for node in tree.nodes():
        made = node_of(values_of(node))
        assert type(made) is Node and made == node and hash(made) == hash(node) and repr(made) == repr(node)
        assert pickle.loads(pickle.dumps(made)) == node and replace(made, text="other") == replace(node, text="other")


def test_it_cannot_be_changed_and_takes_as_many_values_as_a_node_has() -> None:
    made = node_of(values_of(Node("View", "words")))
    with pytest.raises(FrozenInstanceError):
        made.text = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match=str(len(NAMES))):
        node_of(("View",))
