"""Siblings in a tree: what is of one kind, and what tells rows of a list from parts with a place of their own. Knows no template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from phoneworld.ui.node import Node

NUMBER = re.compile(r"\d+|[0-9a-f]{8}-[0-9a-f-]{20,}")
Kind = tuple[str, str]


def kind_of(node: Node) -> Kind:
    """What two nodes must share to be one slot: class, and id but for its numbers."""
    return node.class_name, NUMBER.sub("#", node.resource_id)


def words_on(node: Node) -> list[str]:
    """The words on a node and below it, in document order."""
    found: list[str] = []
    stack = [node]
    while stack:
        n = stack.pop()
        if n.label:
            found.append(n.label)
        stack.extend(reversed(n.children))
    return found


def all_below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from all_below(child)


def is_named(kind: Kind, by_kind: Mapping[Kind, list[list[Node]]]) -> bool:
    """True where an id without a number names one child among others of a list: the value of a pair of name and value, say."""
    _, name = kind
    alone = all(len(nodes) == 1 for nodes in by_kind[kind])
    return bool(name) and "#" not in name and alone and len(by_kind) > 1


def are_numbered(nodes: list[Node]) -> bool:
    """True where ids on or in siblings tell them apart by a number: things of one kind, each with its own."""
    names = [next((n.resource_id for n in all_below(node) if NUMBER.search(n.resource_id)), "") for node in nodes]
    return all(names) and len(set(names)) == len(names) and len({NUMBER.sub("#", name) for name in names}) == 1


def are_alike(lists: list[list[Node]]) -> bool:
    """True where siblings are made of the same kinds of parts, by and large."""
    shares: list[float] = []
    for nodes in lists:
        kinds = [frozenset(kind_of(c) for c in node.children) for node in nodes]
        shares += [len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairwise(kinds)]
    return not shares or sum(shares) / len(shares) >= 0.5


def are_apart(lists: list[list[Node]]) -> bool:
    """True where siblings are made of parts of which none is shared by all: the heads of a menu and what unfolds below them, say."""
    groups: list[set[Kind]] = []
    for kinds in {frozenset(kind_of(c) for c in node.children) for nodes in lists for node in nodes if node.children}:
        touched = [g for g in groups if g & kinds]
        groups = [*(g for g in groups if not g & kinds), set(kinds).union(*touched)]
    return len(groups) > 1


def in_one_order(names: list[list[str]]) -> bool:
    """True where all lists show their names in one and the same order."""
    after: dict[str, set[str]] = {}
    for ns in names:
        for i, a in enumerate(ns):
            after.setdefault(a, set()).update(ns[i + 1 :])
    return not any(a in after.get(b, ()) for a, bs in after.items() for b in bs)
