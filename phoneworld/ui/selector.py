"""How to name a widget so that it is found again. Knows no state graph.

A resource id names a widget only where it is unique on its screen: list rows share ids. `node_keys` gives every node of a
tree one name, from ids and places and never from text, so that a name survives a change of words. A `Selector` is a
question with conditions, which may be about text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from phoneworld.errors import PhoneWorldError
from phoneworld.ui.node import Hierarchy, Node, Path

# What a key made from a place ends in. An id of this form (a web page may have any id) is not used as a key.
_LIKE_A_PLACE = re.compile(r"/[^/]*\[[0-9]+\]$")


def node_keys(hierarchy: Hierarchy) -> dict[Path, str]:
    """The name of every node: its resource id where that is unique in the tree, else its place below the node above it.

    A place is the short class name and its count among siblings of that class: `app:id/list/LinearLayout[2]/TextView[0]`;
    below nothing with an id it starts with a slash. The names of one tree differ from each other. Linear in the nodes, in
    document order.
    """
    counts = Counter(node.resource_id for node in hierarchy.nodes())
    counts[""] = 0
    keys: dict[Path, str] = {}

    def name(above: str, nodes: tuple[Node, ...], path: Path) -> None:
        seen: Counter[str] = Counter()
        for i, node in enumerate(nodes):
            short = node.class_name.rpartition(".")[2].replace("/", "_")
            place = seen[short]
            seen[short] += 1
            own = node.resource_id
            if counts[own] != 1 or _LIKE_A_PLACE.search(own):
                own = f"{above}/{short}[{place}]"
            stack.append(((*path, i), node, own))

    stack: list[tuple[Path, Node, str]] = []
    name("", hierarchy.windows, ())
    stack.reverse()
    while stack:
        path, node, key = stack.pop()
        keys[path] = key
        if node.children:
            start = len(stack)
            name(key, node.children, path)
            stack[start:] = reversed(stack[start:])
    return keys


@dataclass(frozen=True, slots=True)
class Selector:
    """Conditions on a node; all that are given must hold. Texts are compared exactly, with their newlines and tabs.

    `resource_id` may leave out the package: `title` finds `app:id/title`, unless a node has the plain id `title`, as
    Compose and web pages write them. `path` is the node's place in the tree.
    """

    resource_id: str | None = None
    text: str | None = None
    content_desc: str | None = None
    class_name: str | None = None
    path: Path | None = None

    def __str__(self) -> str:
        given = ((name, getattr(self, name)) for name in ("resource_id", "text", "content_desc", "class_name", "path"))
        return " ".join(f"{name}={value!r}" for name, value in given if value is not None) or "anything"


def selector_for(hierarchy: Hierarchy, path: Path) -> Selector:
    """The shortest lasting question to which this node is the only answer: its id; else id and text; else its place.

    Ids come before text, for text changes with the language.
    """
    try:
        node = hierarchy.at(path)
    except IndexError:
        raise PhoneWorldError(f"the tree has no node at {path}", hint="take the path from walk() of the same tree") from None
    if node.resource_id:
        by_id = Selector(resource_id=node.resource_id)
        if find(hierarchy, by_id) == (path,):
            return by_id
        by_text = Selector(resource_id=node.resource_id, text=node.text)
        if node.text and find(hierarchy, by_text) == (path,):
            return by_text
    return Selector(resource_id=node.resource_id or None, class_name=node.class_name, path=path)


def find(hierarchy: Hierarchy, selector: Selector) -> tuple[Path, ...]:
    """The paths of all nodes that meet the conditions, in document order. Linear in the nodes."""
    matches = [(path, node) for path, node in hierarchy.walk() if _meets(path, node, selector)]
    wanted = selector.resource_id
    if wanted is None:
        return tuple(path for path, _ in matches)
    exact = [path for path, node in matches if node.resource_id == wanted]
    if exact or ":id/" in wanted:
        return tuple(exact)
    return tuple(path for path, node in matches if node.resource_id.rpartition(":id/")[2] == wanted)


def _meets(path: Path, node: Node, selector: Selector) -> bool:
    return (
        (selector.path is None or selector.path == path)
        and (selector.text is None or selector.text == node.text)
        and (selector.content_desc is None or selector.content_desc == node.content_desc)
        and (selector.class_name is None or selector.class_name == node.class_name)
    )
