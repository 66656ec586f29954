"""What can be seen on a screen: the one checker that needs nothing but a widget tree, and so works on any phone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from phoneworld.tasks.checker import Visible, in_words, shown
from phoneworld.tasks.reading_values import says
from phoneworld.tasks.verdict import Finding
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node


def sight(asked: Visible, tree: Hierarchy, size: Size) -> Finding:
    """Whether a widget that is meant is on the screen and shows what is asked. Linear in the nodes."""
    named = any(v is not None for v in (asked.text, asked.description, asked.id, asked.class_name))
    found: list[Node] = []
    for path, node in tree.walk():
        if not node.visible or not (_is_meant(node, asked) if named else _shows(node, asked, deep=False)):
            continue
        if tree.is_visible(path, size):
            found.append(node)
    holds = any(_shows(node, asked, deep=named) for node in found)
    return Finding.plain(partial(in_words, asked), holds, partial(_told, tuple(found)))


def _told(found: tuple[Node, ...]) -> str:
    return "not on the screen" if not found else "; ".join(sorted({shown(n.value or n.label) for n in found})[:3])


def _is_meant(node: Node, asked: Visible) -> bool:
    # What a policy has typed itself is no sight of anything, unless just this field is meant.
    if node.is_editable and asked.id is None and asked.class_name is None and asked.description is None:
        return False
    if asked.id is not None and asked.id not in (node.resource_id, node.resource_id.rpartition(":id/")[2]):
        return False
    if asked.class_name is not None and asked.class_name not in (node.class_name, node.class_name.rpartition(".")[2]):
        return False
    return (asked.text is None or asked.text == node.text) and (asked.description is None or asked.description == node.content_desc)


def _shows(node: Node, asked: Visible, *, deep: bool) -> bool:
    """True where a widget shows what is asked; `deep` looks inside it too."""
    if asked.checked is not None and (not node.checkable or node.checked != asked.checked):
        return False
    if not deep and node.is_editable:
        return False
    return (asked.shows is None or _within(node, lambda words: words == asked.shows, deep)) and (
        asked.says is None or _within(node, lambda words: says(words, asked.says or ""), deep)
    )


def _within(node: Node, holds: Callable[[str], bool], deep: bool, *, inside: bool = False) -> bool:
    """True for the words of a widget, or of something inside it."""
    if not (node.is_editable and inside) and any(words and holds(words) for words in (node.value, node.content_desc)):
        return True
    return deep and any(child.visible and _within(child, holds, deep, inside=True) for child in node.children)
