"""Captures of one screen to what they have in common: a tree of slots, rows of tables among them, and what each capture put in.

A slot is one widget, found again in every capture by class, id and place. Sibling lists are aligned by dynamic programming
over all captures at once; siblings of one kind whose number or words vary freely are rows of a table, those with fixed words
or a fixed number (tabs, a menu, title and subtitle) are slots of their own. Nothing is lost: template and values give each
capture back (`restored`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from phoneworld.compiler.siblings import (
    NUMBER,
    Kind,
    all_below,
    are_alike,
    are_apart,
    are_numbered,
    in_one_order,
    is_named,
    kind_of,
    words_on,
)
from phoneworld.program.expr import Value
from phoneworld.program.template import SlotAttribute
from phoneworld.ui.node import Hierarchy, Node, Path

SHOWN = "shown"
"""The pseudo attribute that says whether an optional slot is there."""

ATTRIBUTES: tuple[SlotAttribute, ...] = (
    "text", "content_desc", "hint", "checked", "selected", "enabled", "checkable", "clickable", "long_clickable", "scrollable",
    "focusable", "password", "resource_id", "visible",
)  # fmt: skip

_LISTS = ("ListView", "RecyclerView", "GridView")
_KEPT = frozenset(f.name for f in fields(Node)) - {"children", "bounds", "index", "extra", "drawing_order", "focused"}


@dataclass(slots=True)
class Part:
    """One widget of a screen. Where `table` is set it stands for all rows of that table.

    `varying` are the attributes that are not the same in all captures; `optional` says that it is not in all of them.
    """

    key: str
    node: Node
    table: str | None = None
    optional: bool = False
    varying: tuple[SlotAttribute, ...] = ()
    children: list[Part] = field(default_factory=list)

    def walk(self) -> Iterator[Part]:
        """This part and all below it, in document order, rows' parts included."""
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            stack.extend(reversed(part.children))


Found = tuple[str, int | None]
"""A slot's key, and which row (counted from 0) of its table it is in."""


@dataclass(frozen=True, slots=True)
class Content:
    """What one capture put into the template: values of slots outside tables, rows of tables, and which slot each node is.

    Keys of `values` are (slot key, attribute); a row's cells are named `slot key.attribute` in the same way. A part that is
    absent has False under `SHOWN` and no other value.
    """

    values: Mapping[tuple[str, str], Value]
    rows: Mapping[str, tuple[Mapping[str, Value], ...]]
    places: Mapping[Path, Found]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the captures of a screen have in common."""

    windows: tuple[Part, ...]
    tables: Mapping[str, Part]
    contents: tuple[Content, ...]

    def walk(self) -> Iterator[Part]:
        return (part for window in self.windows for part in window.walk())

    def around(self) -> dict[str, str]:
        """The part that each table is shown in, with more in it than the table: a list without rows is not drawn, a form is."""
        found: dict[str, str] = {}

        def visit(part: Part, above: Sequence[Part]) -> None:
            if part.table is not None:
                found[part.table] = next((p.key for p in reversed(above) if _holds_more(p)), "")
                return
            for child in part.children:
                visit(child, [*above, part])

        for window in self.windows:
            visit(window, [])
        return found


def _holds_more(part: Part) -> bool:
    """True where something is drawn in a part, beside lists and what is in rows of tables."""
    return any(
        child.table is None
        and ((child.node.is_drawn and not child.node.class_name.endswith(_LISTS)) or _holds_more(child))
        for child in part.children
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """One node of one capture, on its way to a slot. `owner` is the capture and the rows around it."""

    node: Node
    path: Path
    owner: tuple[int, ...]


Led = tuple[int, Path, str]
"""A tap that led away: the capture it was done in, by its place among those of the screen, the widget touched, the screen it led to."""


def find_pattern(name: str, trees: Sequence[Hierarchy], typed: frozenset[str] = frozenset(), led: Sequence[Led] = ()) -> Pattern:
    """The pattern of a screen from all its captures. `typed` are the words that were typed while recording: content, wherever they show.

    `led` are the taps that led to other screens: what leads to one and the same is of one kind.
    About linear in the nodes of all captures, but for sibling lists that differ, which cost the product of their lengths.
    """
    builder = _Builder(name, typed, led)
    root = Part("", Node(""))
    builder.grow(
        root, [[_Seen(w, (i,), (c,)) for i, w in enumerate(tree.windows)] for c, tree in enumerate(trees)], None
    )
    _name(root, name)
    contents = tuple(builder.content(c, root) for c in range(len(trees)))
    _trim(root, contents, typed)
    return Pattern(tuple(root.children), {p.table: p for w in root.children for p in w.walk() if p.table}, contents)


class _Builder:
    def __init__(self, name: str, typed: frozenset[str], led: Sequence[Led]) -> None:
        self._name = name
        self._typed = typed
        self._led: dict[int, list[tuple[Path, str]]] = {}
        for capture, path, screen in led:
            self._led.setdefault(capture, []).append((path, screen))
        self._seen: dict[int, dict[int, list[_Seen]]] = {}
        """By the identity of a part, and by capture: where it was seen."""
        self._parts: list[Part] = []

    def grow(self, parent: Part, lists: Sequence[Sequence[_Seen]], within: str | None) -> None:
        """Makes the parts below a part from all its child lists, and those below them."""
        rows = self._row_kinds(parent, lists) if within is None else frozenset()
        tokens = [[_Token.of(group) for group in _grouped(children, rows)] for children in lists]
        for column in _aligned(tokens):
            found = [seen for token in column.tokens.values() for seen in token.seen]
            part = Part("", replace(found[0].node, children=(), focused=False))
            if column.first.kind in rows:
                part.table = f"{self._name}.{len(self._parts)}"
                found = [replace(s, owner=(*s.owner, i)) for t in column.tokens.values() for i, s in enumerate(t.seen)]
            part.optional = part.table is None and len(column.tokens) < len(lists)
            self._parts.append(part)
            by_capture = self._seen[id(part)] = {}
            for seen in found:
                by_capture.setdefault(seen.owner[0], []).append(seen)
            parent.children.append(part)
            below = [[_Seen(child, (*s.path, i), s.owner) for i, child in enumerate(s.node.children)] for s in found]
            if any(below):
                self.grow(part, below, within or part.table)

    def _row_kinds(self, parent: Part, lists: Sequence[Sequence[_Seen]]) -> frozenset[Kind]:
        """The kinds among the children that are rows."""
        by_kind: dict[Kind, list[list[Node]]] = {}
        for children in lists:
            mine: dict[Kind, list[Node]] = {}
            for seen in children:
                mine.setdefault(kind_of(seen.node), []).append(seen.node)
            for kind, nodes in mine.items():
                by_kind.setdefault(kind, []).append(nodes)
        is_list = parent.node.class_name.endswith(_LISTS)
        return frozenset(
            kind
            for kind, seen in by_kind.items()
            if _in_one_run(kind, lists)
            and not is_named(kind, by_kind)
            and (self._are_rows(seen, is_list) or self._lead_to_one(kind, lists))
        )

    def _lead_to_one(self, kind: Kind, lists: Sequence[Sequence[_Seen]]) -> bool:
        """True where siblings with words of their own lead to one other screen, all of them that were touched: it shows which."""
        if max(sum(kind_of(s.node) == kind for s in children) for children in lists) < 2:
            return False
        to: dict[str, set[str]] = {}
        for children in lists:
            for seen in children:
                if kind_of(seen.node) == kind and (words := words_on(seen.node)):
                    for path, screen in self._led.get(seen.owner[0], ()):
                        if path[: len(seen.path)] == seen.path:
                            to.setdefault(words[0], set()).add(screen)
        return len(to) > 1 and len(set.union(*to.values())) == 1

    def _are_rows(self, lists: list[list[Node]], is_list: bool) -> bool:
        most = max(len(nodes) for nodes in lists)
        compound = any(node.children for nodes in lists for node in nodes)
        if not is_list and (most < 2 or not compound or not are_alike(lists)):
            return False
        if most >= 2 and compound and are_alike(lists) and all(map(are_numbered, lists)):
            return True
        words = [[words_on(node) for node in nodes] for nodes in lists]
        if is_list and any(w in text for ws in words for texts in ws for text in texts for w in self._typed):
            return True
        if (
            is_list
            and most >= 2
            and are_alike(lists)
            and all(any(n.checkable for n in all_below(node)) for nodes in lists for node in nodes)
        ):
            return True
        names = [[texts[0] if texts else "" for texts in ws] for ws in words]
        distinct = {n for ns in names for n in ns}
        fixed = all(len(set(ns)) == len(ns) for ns in names) and in_one_order(names)
        if fixed and (len(distinct) <= most or are_apart(lists)):
            return False
        return is_list or most >= 2

    def content(self, capture: int, root: Part) -> Content:
        values: dict[tuple[str, str], Value] = {}
        rows: dict[str, dict[int, dict[str, Value]]] = {}
        places: dict[Path, Found] = {}

        def visit(part: Part, table: str | None) -> None:
            mine = self._seen[id(part)].get(capture, [])
            for seen in mine:
                places[seen.path] = (part.key, seen.owner[1] if len(seen.owner) > 1 else None)
            if part.table is not None:
                table = part.table
                rows[table] = {s.owner[1]: {} for s in mine}
            if table is None:
                _fill(values, part, mine[0].node if mine else None)
            else:
                at = {s.owner[1]: s.node for s in mine}
                for i, row in rows[table].items():
                    cells: dict[tuple[str, str], Value] = {}
                    _fill(cells, part, at.get(i))
                    row.update({f"{k}.{a}": v for (k, a), v in cells.items()})
            for child in part.children:
                visit(child, table)

        for child in root.children:
            visit(child, None)
        return Content(values, {t: tuple(found[i] for i in sorted(found)) for t, found in rows.items()}, places)


def _fill(values: dict[tuple[str, str], Value], part: Part, node: Node | None) -> None:
    values[part.key, SHOWN] = node is not None
    if node is not None:
        for attribute in ATTRIBUTES:
            values[part.key, attribute] = getattr(node, attribute)


def _in_one_run(kind: Kind, lists: Sequence[Sequence[_Seen]]) -> bool:
    """True where the children of a kind stand side by side in every list, nothing between them."""
    for children in lists:
        at = [i for i, seen in enumerate(children) if kind_of(seen.node) == kind]
        if at and at[-1] - at[0] + 1 != len(at):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Token:
    """One child, or all rows of one kind, of one sibling list. `look` is what it is recognised by beside its kind."""

    kind: Kind
    label: str
    shape: int
    left: int
    seen: tuple[_Seen, ...]

    @classmethod
    def of(cls, group: Sequence[_Seen]) -> _Token:
        node = group[0].node
        words = words_on(node)
        shape = hash(tuple(kind_of(c) for c in node.children))
        return cls(kind_of(node), words[0] if words else "", shape, node.bounds.left, tuple(group))

    def likeness(self, other: _Token) -> float:
        """How much two tokens look like one slot; 0 where they cannot be."""
        if self.kind != other.kind:
            return 0.0
        score = 2.0 + (self.label == other.label) * (3.0 if self.label else 0.5)
        return score + (self.shape == other.shape) * 0.6 + (self.left == other.left) * 0.4 + bool(self.kind[1]) * 2.0


def _grouped(children: Sequence[_Seen], rows: frozenset[Kind]) -> list[list[_Seen]]:
    """The children one by one, but the rows of one kind together, where the first of them stands."""
    groups: list[list[_Seen]] = []
    of_kind: dict[Kind, list[_Seen]] = {}
    for seen in children:
        kind = kind_of(seen.node)
        if kind in of_kind:
            of_kind[kind].append(seen)
            continue
        group = [seen]
        if kind in rows:
            of_kind[kind] = group
        groups.append(group)
    return groups


@dataclass(slots=True)
class _Column:
    """One slot while lists are aligned: the token that each list has there. Looks are those of the tokens seen so far."""

    first: _Token
    tokens: dict[int, _Token]
    looks: Counter[tuple[str, int, int]] = field(default_factory=Counter)

    def likeness(self, token: _Token) -> float:
        return (
            self.first.likeness(token)
            if token.kind != self.first.kind
            else max(
                token.likeness(replace(self.first, label=label, shape=shape, left=left))
                for label, shape, left in self.looks
            )
        )


def _aligned(lists: Sequence[Sequence[_Token]]) -> list[_Column]:
    """Columns such that each list is a run through them in order. Lists of one look are aligned once."""
    columns: list[_Column] = []
    known: dict[tuple[object, ...], list[_Column]] = {}
    order = sorted(range(len(lists)), key=lambda i: (-len(lists[i]), i))
    for i in order:
        tokens = lists[i]
        look = tuple((t.kind, t.label, t.shape, t.left) for t in tokens)
        if look not in known:
            known[look] = _put(columns, tokens, i)
        for column, token in zip(known[look], tokens, strict=True):
            column.tokens[i] = token
    return columns


def _put(columns: list[_Column], tokens: Sequence[_Token], owner: int) -> list[_Column]:
    """Finds the column of each token by the best alignment; makes new ones where there is none."""
    n, m = len(columns), len(tokens)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            like = columns[i].likeness(tokens[j])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + like if like else 0.0)
    chosen: list[_Column] = []
    made: list[_Column] = []
    i = j = 0
    while j < m:
        if i < n:
            like = columns[i].likeness(tokens[j])
            if like and best[i][j] == best[i + 1][j + 1] + like:
                made.append(columns[i])
                chosen.append(columns[i])
                i, j = i + 1, j + 1
                continue
            if best[i][j] == best[i + 1][j]:
                made.append(columns[i])
                i += 1
                continue
        new = _Column(tokens[j], {})
        made.append(new)
        chosen.append(new)
        j += 1
    columns[:] = [*made, *columns[i:]]
    for column, token in zip(chosen, tokens, strict=True):
        column.looks[token.label, token.shape, token.left] += 1
    return chosen


def _name(root: Part, screen: str) -> None:
    """Keys: the id where it is the only one of the template, else the place below the part above; tables after their container."""
    counts = Counter(NUMBER.sub("#", p.node.resource_id) for p in root.walk())
    names: Counter[str] = Counter()

    def visit(parent: Part) -> None:
        seen: Counter[str] = Counter()
        for part in parent.children:
            short = part.node.class_name.rpartition(".")[2]
            own = NUMBER.sub("#", part.node.resource_id).rpartition(":id/")[2]
            if not own or counts[NUMBER.sub("#", part.node.resource_id)] != 1:
                above = parent.key if len(parent.key) < 60 or "/" not in parent.key else parent.key[:40] + "…"
                own = f"{above}/{own or short}[{seen[own or short]}]"
                seen[
                    (part.node.resource_id and NUMBER.sub("#", part.node.resource_id).rpartition(":id/")[2]) or short
                ] += 1
            names[own] += 1
            part.key = own if names[own] == 1 else f"{own}~{names[own]}"
            if part.table is not None:
                part.table = f"{screen}.{parent.key.rpartition('/')[2] or 'rows'}" if parent.key else f"{screen}.rows"
            visit(part)

    visit(root)
    tables: Counter[str] = Counter()
    for part in root.walk():
        if part.table is not None:
            tables[part.table] += 1
            if tables[part.table] > 1:
                part.table = f"{part.table}~{tables[part.table]}"


def _trim(root: Part, contents: Sequence[Content], typed: frozenset[str]) -> None:
    """Says of each part which attributes vary: those seen to, what a person can change, and words that somebody typed."""
    seen: dict[tuple[str, str], set[tuple[str, Value]]] = {}
    for content in contents:
        for at, value in content.values.items():
            seen.setdefault(at, set()).add((type(value).__name__, value))
        for rows in content.rows.values():
            for row in rows:
                for name, value in row.items():
                    key, _, attribute = name.rpartition(".")
                    seen.setdefault((key, attribute), set()).add((type(value).__name__, value))
    for part in root.walk():
        part.varying = tuple(a for a in ATTRIBUTES if len(seen.get((part.key, a), ())) > 1 or _may_vary(part, a, typed))
        part.optional = part.table is None and len(seen.get((part.key, SHOWN), ())) > 1


def _may_vary(part: Part, attribute: SlotAttribute, typed: frozenset[str]) -> bool:
    node = part.node
    if attribute == "checked":
        return node.checkable
    if attribute == "text":
        return node.is_editable or any(word in node.text for word in typed)
    return False


def restored(pattern: Pattern, content: Content) -> tuple[Node, ...]:
    """The windows that template and content stand for, without bounds and order: what `plain` makes of the capture itself."""

    def one(part: Part, values: Mapping[tuple[str, str], Value]) -> Node | None:
        if not values.get((part.key, SHOWN), False):
            return None
        own: dict[str, Any] = {a: values[part.key, a] for a in part.varying}
        own |= {"bounds": _NOWHERE, "index": 0, "drawing_order": None, "extra": (), "children": tuple(below(part, values))}
        return replace(part.node, **own)

    def below(part: Part, values: Mapping[tuple[str, str], Value]) -> Iterator[Node]:
        for child in part.children:
            if child.table is None:
                made = one(child, values)
                if made is not None:
                    yield made
                continue
            for row in content.rows.get(child.table, ()):
                cells = {(n.rpartition(".")[0], n.rpartition(".")[2]): v for n, v in row.items()}
                made = one(child, cells)
                if made is not None:
                    yield made

    return tuple(below(Part("", Node(""), children=list(pattern.windows)), content.values))


_NOWHERE = Node("").bounds


def plain(tree: Hierarchy) -> tuple[Node, ...]:
    """The windows of a tree with what a template does not keep left out: bounds, focus, order, further attributes."""

    def cut(node: Node) -> Node:
        return replace(
            node,
            bounds=_NOWHERE,
            index=0,
            drawing_order=None,
            extra=(),
            focused=False,
            children=tuple(map(cut, node.children)),
        )

    return tuple(map(cut, tree.windows))
