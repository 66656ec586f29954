"""Many trees read at once. Knows only the XML form that our own writer gives them.

The trees of a recording repeat themselves: most start tags occur again and again. Each distinct tag is read once, and the
trees are put together from copies of what it gave. A plain start tag, as the writer puts its attributes in order, is read by
one pattern; any other one (references, further attributes) by the one reader of dumps (`phoneworld.ui.xml`). A text that is
not in the writer's form goes through that reader as a whole, so that the result, or the error, is always that of the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from sys import intern

from phoneworld.errors import DumpError
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import MAX_BYTES, MAX_DEPTH, parse_hierarchy

_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
_END = "</hierarchy>"
_TAG = re.compile("<[^<>]*>")
# The index stands in the tag itself, so that a node does not depend on where its tag stands.
_OPENS = re.compile('<node (?:NAF="[^"]*" )?index="-?[0-9]{1,10}" ')
# What needs no unescaping and is legal in XML as it stands.
_VALUE = r'([^"&<>\x00-\x1f\ud800-\udfff\ufffe\uffff]*)'
_FLAG = "(true|false)"
_NUMBER = "(-?[0-9]{1,10})"
_PLAIN = re.compile(
    f'<node index="{_NUMBER}" text="{_VALUE}" resource-id="{_VALUE}" class="{_VALUE}" package="{_VALUE}" content-desc="{_VALUE}"'
    f' checkable="{_FLAG}" checked="{_FLAG}" clickable="{_FLAG}" enabled="{_FLAG}" focusable="{_FLAG}" focused="{_FLAG}"'
    f' scrollable="{_FLAG}" long-clickable="{_FLAG}" password="{_FLAG}" selected="{_FLAG}"( visible-to-user="false")?'
    rf' bounds="\[{_NUMBER},{_NUMBER}\]\[{_NUMBER},{_NUMBER}\]"(?: drawing-order="{_NUMBER}")?(?: hint="{_VALUE}")?( /)?>'
)
_LARGE = MAX_BYTES // 4  # a character is at most four bytes: what is larger the reader may refuse
_BATCH = 4_000_000
"""Characters of start tags that are read as one document."""


def read_trees(texts: Mapping[str, str]) -> dict[str, Hierarchy]:
    """The tree of each text, under the same names. Raises DumpError as `parse_hierarchy` does, with the name in front."""
    tags = {name: _tags_of(text) for name, text in texts.items()}
    distinct: set[str] = set()
    for found in tags.values():
        distinct.update(found[1:-1])
    distinct.discard("</node>")
    leaves, openings, others = _read_plain(distinct)
    if 2 * len(others) <= sum(map(len, tags.values())):  # else too little repeats itself for this to be worth its while
        more_leaves, more_openings = _read_tags(sorted(others))
        leaves |= more_leaves
        openings |= more_openings
    roots = {root: _read_root(root) for root in {found[0] for found in tags.values() if found}}
    trees: dict[str, Hierarchy] = {}
    for name, text in texts.items():
        found = tags[name]
        tree = _assemble(roots[found[0]], found, leaves, openings) if found else None
        trees[name] = tree if tree is not None else _read_whole(name, text)
    return trees


def _read_plain(tags: Iterable[str]) -> tuple[dict[str, Node], dict[str, Node], list[str]]:
    """The childless nodes of plain start tags, of those that end at once and of those that have children; and the other tags."""
    leaves: dict[str, Node] = {}
    openings: dict[str, Node] = {}
    others: list[str] = []
    bounds: dict[tuple[str, ...], Bounds] = {}
    match, yes = _PLAIN.fullmatch, "true"
    for tag in tags:
        found = match(tag)
        if found is None:
            others.append(tag)
            continue
        (
            index, text, own, kind, package, described, checkable, checked, clickable, enabled, focusable, focused, scrollable, long,
            password, selected, hidden, *sides, order, hint, ends,
        ) = found.groups()  # fmt: skip
        place = tuple(sides)
        box = bounds.get(place)
        if box is None:
            box = bounds[place] = Bounds(*map(int, sides))
        node = Node(
            intern(kind), text, intern(own), intern(package), described, hint, checkable == yes, checked == yes, clickable == yes,
            enabled == yes, focusable == yes, focused == yes, scrollable == yes, long == yes, password == yes, selected == yes,
            hidden is None, box, int(index), None if order is None else int(order),
        )  # fmt: skip
        (openings if ends is None else leaves)[tag] = node
    return leaves, openings, others


def _tags_of(text: str) -> list[str]:
    """The tags of a text in the writer's form; none for any other text."""
    if not text.startswith(_HEAD + "<hierarchy ") or not text.endswith(_END) or len(text) > _LARGE:
        return []
    tags = _TAG.findall(text, len(_HEAD))
    between = len(text) - len(_HEAD) - sum(map(len, tags))
    return [] if between else tags


def _read_tags(tags: Iterable[str]) -> tuple[dict[str, Node], dict[str, Node]]:
    """The childless node of each start tag: of those that end at once, and of those that have children.

    Tags that are not in the writer's form are left out; all are where one of them is not well-formed.
    """
    leaves: dict[str, Node] = {}
    openings: dict[str, Node] = {}
    for batch in _batches(tag for tag in tags if _OPENS.match(tag)):
        whole = [tag if tag.endswith(" />") else tag[:-1] + " />" for tag in batch]
        try:
            tree = parse_hierarchy(f'{_HEAD}<hierarchy rotation="0">{"".join(whole)}{_END}'.encode())
        except DumpError:
            return {}, {}
        if len(tree.windows) != len(batch):
            return {}, {}
        for tag, node in zip(batch, tree.windows, strict=True):
            (leaves if tag.endswith("/>") else openings)[tag] = node
    return leaves, openings


def _batches(tags: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    length = 0
    for tag in tags:
        batch.append(tag)
        length += len(tag)
        if length > _BATCH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _read_root(root: str) -> Hierarchy | None:
    try:
        return parse_hierarchy(f'{_HEAD}{root}<node index="0" />{_END}'.encode())
    except DumpError:
        return None


def _assemble(
    root: Hierarchy | None, tags: list[str], leaves: Mapping[str, Node], openings: Mapping[str, Node]
) -> Hierarchy | None:
    """The tree of these tags, None where they do not nest or one is unknown."""
    if root is None:
        return None
    level: list[Node] = []
    stack: list[tuple[list[Node], Node]] = []
    for tag in tags[1:-1]:
        leaf = leaves.get(tag)
        if leaf is not None:
            level.append(leaf)
        elif tag == "</node>":
            if not stack:
                return None
            above, node = stack.pop()
            above.append(_with_children(node, tuple(level)))
            level = above
        else:
            opened = openings.get(tag)
            if opened is None or len(stack) >= MAX_DEPTH - 3:  # the reader has the last word on what is too deep
                return None
            stack.append((level, opened))
            level = []
    return None if stack or not level else Hierarchy(tuple(level), root.rotation, root.attributes)


def _with_children(node: Node, children: tuple[Node, ...]) -> Node:
    """Spelt out: it is four times as fast as `dataclasses.replace`, and runs for every node of a file."""
    return Node(
        node.class_name, node.text, node.resource_id, node.package, node.content_desc, node.hint, node.checkable, node.checked,
        node.clickable, node.enabled, node.focusable, node.focused, node.scrollable, node.long_clickable, node.password,
        node.selected, node.visible, node.bounds, node.index, node.drawing_order, node.extra, children,
    )  # fmt: skip


def _read_whole(name: str, text: str) -> Hierarchy:
    try:
        return parse_hierarchy(text.encode("utf-8"))
    except DumpError as e:
        raise DumpError(f"{name}: {e.message}", hint=e.hint) from None
