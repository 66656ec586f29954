"""The coarse identity of screens: which captures show the same screen. The compiler refines it; it never sees actions.

Two steps. `features` boils a capture down to what stays when the content of a screen changes, and `screens_of` puts
captures together whose features agree.

What counts as a feature, and why:

- the app's package, portrait or landscape, whether the window fills the screen, the activity: never put together across these
  (the activity only where it belongs to the package that is shown, and not for a dialog: some recorders report it late);
- *controls*: what can be tapped, checked or typed into, by class and id; without an id, by its words with numbers
  set aside. An opened menu has more of them than a closed one. Checked, focused, enabled, texts of fields: not looked at;
- *collections*: lists and grids; their rows are content, only the list itself counts, however many rows it has.
  Siblings that look alike are taken for rows too;
- the *selected* one of several tabs;
- *passive* nodes: texts and pictures by id; without an id by their words (a title); in a dialog or popup always with words;
- what lies in a scrolling form is compared by overlap, for each scroll position shows another part of it; on a web page the
  ids decide where there are some, those of bare containers too, for its screens are often such containers.

Not looked at: invisible nodes, bare containers (a compressed dump leaves them out), snackbars, system bars.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node, Path
from phoneworld.ui.selector import Selector, find, node_keys

_LISTS = ("RecyclerView", "ListView", "GridView", "AbsListView", "Gallery")
_SCROLLERS = ("ScrollView", "NestedScrollView", "WebView")
_BARS = ("android:id/statusBarBackground", "android:id/navigationBarBackground")
_TRANSIENT_IDS = ("/snackbar_text", "/snackbar_action")
_TRANSIENT_CLASSES = ("SnackbarLayout", "Snackbar$SnackbarLayout", "android.widget.Toast")
_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r"[\"“”„«»‘’']([^\"“”„«»‘’']{1,80})[\"“”„«»‘’']")
_WORDS_KEPT = 48

# A window nearer than this to an edge of the screen, in shares of it, reaches that edge.
_EDGE = 0.02
# Passive and control features in common, of all of either; found on the labelled runs, see the tests.
_ALIKE = 0.6
# Marks the features of a web page that are ids, and among them those of bare containers.
_ID = "#"
_BARE_ID = "##"
# A node that fills this share of a page hides what lies under the page.
_COVERS = 0.8
_FORM_OVERLAP = 0.25
_ID_OVERLAP = 0.5
_FEW = 3


@dataclass(frozen=True, slots=True)
class Features:
    """What identity looks at. Equal features, same screen; see `same_screen` for when unequal ones are."""

    package: str
    landscape: bool
    popup: bool
    activity: str
    selected: frozenset[str]
    collections: frozenset[str]
    controls: frozenset[str]
    passive: frozenset[str]
    form: frozenset[tuple[str, str]]
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class VolatileSlot:
    """A text of a screen that differs between its captures without being content of a list or a field: a clock, a badge, an ad.

    `key` names the node (see `node_keys`); `values` are the texts in the order of the captures given, each with its capture.
    """

    key: str
    attribute: str
    values: tuple[tuple[str, str], ...]


def screen_key(capture: Capture, *, mask: tuple[Selector, ...] = (), keep: tuple[Selector, ...] = ()) -> str:
    """The identity of one capture alone: 16 hex digits, equal for equal features but for the content of scrolling forms.

    `mask` names nodes to leave out with all below them; `keep` names nodes whose text is part of the identity.
    """
    f = features(capture, mask=mask, keep=keep)
    parts = (
        f.package,
        f.landscape,
        f.popup,
        f.activity,
        *(sorted(s) for s in (f.selected, f.collections, f.controls, f.passive, f.kept)),
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def screens_of(
    graph: StateGraph, *, mask: tuple[Selector, ...] = (), keep: tuple[Selector, ...] = ()
) -> dict[str, tuple[str, ...]]:
    """The screens of a graph: screen id → the ids of its captures, both in the graph's order.

    A screen is named after the key of its first capture. Quadratic in the number of *different* features only.
    """
    seen: dict[Features, list[str]] = {}
    for name, capture in graph.captures.items():
        seen.setdefault(features(capture, mask=mask, keep=keep), []).append(name)
    distinct = list(seen)
    leader = list(range(len(distinct)))

    def find_leader(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    buckets: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, f in enumerate(distinct):
        bucket = buckets[f.package, f.landscape, f.popup, f.selected, f.collections, f.kept]
        for j in bucket:
            a, b = find_leader(i), find_leader(j)
            if a != b and same_screen(distinct[j], f):
                leader[max(a, b)] = min(a, b)
        bucket.append(i)
    screens: dict[int, list[str]] = defaultdict(list)
    for i, f in enumerate(distinct):
        screens[find_leader(i)].extend(seen[f])
    order = {name: i for i, name in enumerate(graph.captures)}
    named: dict[str, tuple[str, ...]] = {}
    for members in sorted((sorted(m, key=order.__getitem__) for m in screens.values()), key=lambda m: order[m[0]]):
        key = screen_key(graph.captures[members[0]], mask=mask, keep=keep)
        while key in named:  # two screens that differ in the content of a form only
            key = hashlib.sha256(key.encode()).hexdigest()[:16]
        named[key] = tuple(members)
    return named


def same_screen(a: Features, b: Features) -> bool:
    """True where two captures with these features are taken for one screen."""
    if (a.package, a.landscape, a.popup, a.selected, a.collections, a.kept) != (
        b.package,
        b.landscape,
        b.popup,
        b.selected,
        b.collections,
        b.kept,
    ):
        return False
    if a.activity and b.activity and a.activity != b.activity:
        return False
    more, less = len(a.controls - b.controls), len(b.controls - a.controls)
    if max(more, less) > 1:
        return False
    all_of_a, all_of_b = a.controls | a.passive, b.controls | b.passive
    both, common = all_of_a | all_of_b, all_of_a & all_of_b
    if both and len(common) / len(both) < _ALIKE:
        return False
    return all(_one_form(shown_a, shown_b, len(common)) for shown_a, shown_b in _forms(a, b))


def _forms(a: Features, b: Features) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What either shows of each scrolling area."""
    areas = sorted({area for area, _ in a.form | b.form})
    return [
        (frozenset(w for at, w in a.form if at == area), frozenset(w for at, w in b.form if at == area))
        for area in areas
    ]


def _one_form(a: frozenset[str], b: frozenset[str], common_around: int) -> bool:
    """True where two glimpses may be of one form: enough of the smaller is in the larger, or too little is shown to tell."""
    ids_a, ids_b = (frozenset(w for w in part if w.startswith(_ID)) for part in (a, b))
    if min(len(ids_a), len(ids_b)) >= _FEW:
        return len(ids_a & ids_b) > _ID_OVERLAP * min(len(ids_a), len(ids_b))
    a, b = (frozenset(w for w in part if not w.startswith(_BARE_ID)) for part in (a, b))
    if min(len(a), len(b)) < _FEW:
        return bool(a & b) or common_around >= _FEW
    return len(a & b) >= _FORM_OVERLAP * min(len(a), len(b))


def volatile_slots(
    captures: Iterable[Capture], *, mask: tuple[Selector, ...] = (), keep: tuple[Selector, ...] = ()
) -> tuple[VolatileSlot, ...]:
    """The texts that differ between captures of one screen, with all values seen, in document order of the first capture.

    Texts of list rows and of fields are content and not among them, nor is what `keep` names; a node that `mask` names is
    among them even where its text never changed.
    """
    of_one = tuple(captures)
    texts: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    forced: set[str] = set()
    for capture in of_one:
        keys = node_keys(capture.hierarchy)
        kept = _named(capture, keep)
        masked = _named(capture, mask)
        for path, node, in_rows in _visible(capture):
            if in_rows or node.is_editable or path in kept:
                continue
            if any(path[: len(m)] == m for m in masked):
                forced.add(keys[path])
            texts[keys[path], "text"].append((capture.id, node.text))
            texts[keys[path], "content-desc"].append((capture.id, node.content_desc))
    return tuple(
        VolatileSlot(key, attribute, tuple(values))
        for (key, attribute), values in texts.items()
        if len({v for _, v in values}) > 1 or (key in forced and any(v for _, v in values))
    )


# ---- from a tree to its features


def features(capture: Capture, *, mask: tuple[Selector, ...] = (), keep: tuple[Selector, ...] = ()) -> Features:
    """What identity looks at in one capture. Linear in the nodes."""
    tree = capture.hierarchy
    package = shown_package(capture)
    popup = _is_popup(capture)
    masked, kept = frozenset(_named(capture, mask)), frozenset(_named(capture, keep))
    selected, collections, controls, passive, words_kept = (set[str]() for _ in range(5))
    form: set[tuple[str, str]] = set()
    for path in kept:
        words_kept.add(f"{_name(tree.at(path))}={tree.at(path).text}")

    def visit(path: Path, node: Node, area: str, in_page: bool) -> None:
        if not node.visible or path in masked or _is_transient(node):
            return
        shown = _is_shown(node.bounds, capture.size)
        short = _short(node.class_name)
        if _is_list(node) and shown:
            if area:
                form.add((area, f"{_ID if in_page and node.resource_id else ''}list {node.resource_id}"))
            else:
                collections.add(f"list {node.resource_id or short}")
            if popup:
                passive.update(_all_words(node))
            return
        rows = _alike(node.children) if shown and len(node.children) >= _FEW else frozenset()
        if rows and not area:
            passive.add(f"rows of {_name(node)}")
        if shown and not (path and _is_bare(node)):
            takes = node.takes("tap") or node.takes("long_press") or node.checkable or node.is_editable
            named = bool(node.resource_id) or node.is_editable
            if area:
                form.add((area, f"{_ID if in_page else ''}{_name(node)}" if named else _words(_label(node)) or short))
            elif takes:
                controls.add(_name(node) if named else f"{short} {_words(_label(node))}")
            elif popup:
                passive.add(_words(node.label) or _name(node))
            else:
                passive.add(_name(node) if named else f"{short} {_words(node.label)}")
        elif shown and area and node.resource_id and in_page:
            form.add((area, f"{_BARE_ID}{_name(node)}"))
        tab = _selected_tab(node.children)
        if tab is not None and shown:
            selected.add(f"{_name(node)} {_words(_label(node.children[tab])) or tab}")
        if not area and not popup and _scrolls(node):
            area = _place(node.bounds, capture.size)
        in_page = in_page or _short(node.class_name) == "WebView"
        covered = _covered(node.children) if len(node.children) > 1 else frozenset()
        for i, child in enumerate(node.children):
            if i in covered:
                continue
            if i not in rows:
                visit((*path, i), child, area, in_page)
            elif popup:
                passive.update(_all_words(child))
            elif area:
                form.update((area, words) for words in _all_words(child))

    for i, window in enumerate(tree.windows):
        if window.package != "com.android.systemui" or len(tree.windows) == 1:
            visit((i,), window, "", False)
    trusted = not popup and capture.state.package == package
    return Features(
        package=package,
        landscape=capture.size.width > capture.size.height,
        popup=popup,
        activity=capture.state.activity if trusted else "",
        selected=frozenset(selected),
        collections=frozenset(collections),
        controls=frozenset(controls),
        passive=frozenset(passive),
        form=frozenset(form),
        kept=frozenset(words_kept),
    )


def _visible(capture: Capture) -> Iterator[tuple[Path, Node, bool]]:
    """The visible nodes with their paths, in document order, and whether each lies in a row of a list."""
    stack: list[tuple[Path, Node, bool]] = [
        ((i,), window, False) for i, window in reversed(list(enumerate(capture.hierarchy.windows)))
    ]
    while stack:
        path, node, in_rows = stack.pop()
        if not node.visible:
            continue
        yield path, node, in_rows
        rows = frozenset(range(len(node.children))) if in_rows or _is_list(node) else _alike(node.children)
        stack.extend(((*path, i), node.children[i], i in rows) for i in range(len(node.children) - 1, -1, -1))


def shown_package(capture: Capture) -> str:
    """The package of the topmost window that belongs to an app; what the device said only where no node names one."""
    for window in reversed(capture.hierarchy.windows):
        for node in _below(window):
            if node.package and node.package != "com.android.systemui":
                return node.package
    return capture.state.package


def _is_popup(capture: Capture) -> bool:
    """True where no window fills the screen, as dialogs and menus do not when only their window is dumped.

    A window fills it that takes more than half of it and reaches two of its edges (apps share the screens of cars and tablets).
    """
    return not any(_fills(window.bounds, capture.size) for window in capture.hierarchy.windows)


def _is_shown(bounds: Bounds, size: Size) -> bool:
    """True where some of it lies on the screen; spelt out, for it is asked of every node."""
    return (
        bounds.left < bounds.right
        and bounds.top < bounds.bottom
        and bounds.left < size.width
        and bounds.top < size.height
        and bounds.right > 0
        and bounds.bottom > 0
    )


def _fills(bounds: Bounds, size: Size) -> bool:
    near_x, near_y = size.width * _EDGE, size.height * _EDGE
    edges = (
        (bounds.left <= near_x)
        + (bounds.top <= near_y)
        + (bounds.right >= size.width - near_x)
        + (bounds.bottom >= size.height - near_y)
    )
    return edges >= 2 and bounds.intersect(size.bounds).area > size.bounds.area / 2


def _named(capture: Capture, selectors: tuple[Selector, ...]) -> set[Path]:
    return {path for selector in selectors for path in find(capture.hierarchy, selector)}


def _short(class_name: str) -> str:
    return class_name.rpartition(".")[2]


def _is_list(node: Node) -> bool:
    return _short(node.class_name).endswith(_LISTS)


def _is_transient(node: Node) -> bool:
    """True for a system bar, a snackbar or a toast: gone in a moment, and no part of the screen below it."""
    if node.resource_id in _BARS or node.class_name.endswith(_TRANSIENT_CLASSES):
        return True
    only = node.children[0].children if len(node.children) == 1 else ()
    return any(c.resource_id.endswith(_TRANSIENT_IDS) for c in (*node.children, *only))


def _scrolls(node: Node) -> bool:
    """True for an area whose content is a form or a page that scrolls down, and not a list."""
    short = _short(node.class_name)
    if short.startswith("Horizontal") or short.endswith("Pager"):
        return False
    return short.endswith(_SCROLLERS) or (node.scrollable and _is_bare(node))


def _place(bounds: Bounds, size: Size) -> str:
    """A name for a scrolling area that has none: where it lies from left to right, in eighths of the screen."""
    return f"{round(bounds.left * 8 / size.width)}-{round(bounds.right * 8 / size.width)}"


def _all_words(node: Node) -> Iterator[str]:
    """What is written in a row; nothing where its parts have ids, for then the words are content."""
    parts = [n for n in _below(node) if n.visible and n.label]
    return (_words(n.label) for n in parts if not n.resource_id or n.resource_id.startswith("android:id/"))


def _is_bare(node: Node) -> bool:
    return not node.is_drawn


def _name(node: Node) -> str:
    return f"{_short(node.class_name)} {node.resource_id}"


def _words(label: str) -> str:
    """Words with numbers and what stands in quotation marks set aside, for those are content."""
    return _NUMBER.sub("#", _QUOTED.sub("“…”", " ".join(label.split())))[:_WORDS_KEPT]


def _label(node: Node) -> str:
    """The words of a control: its own, else those of the first node below that has some."""
    return next((n.label for n in _below(node) if n.label and not n.is_editable), "")


def _below(node: Node) -> Iterator[Node]:
    """The node and all below it, in document order."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(found.children))


def _shape(node: Node) -> tuple[object, ...]:
    """What rows of one kind have in common: classes and ids of a few levels."""
    return (node.class_name, node.resource_id, tuple((c.class_name, c.resource_id) for c in node.children))


def _alike(children: tuple[Node, ...]) -> frozenset[int]:
    """The indexes of three or more siblings that are rows of one kind, each made of several parts.

    Single controls side by side (a menu, a button bar) are no rows: their words are what tells screens apart.
    """
    by_shape: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, child in enumerate(children):
        if child.visible and child.children:
            by_shape[_shape(child)].append(i)
    rows: set[int] = set()
    for members in by_shape.values():
        if len(members) >= _FEW and any(sum(n.is_drawn for n in _below(children[i])) > 1 for i in members):
            rows.update(members)
    return frozenset(rows)


def _covered(children: tuple[Node, ...]) -> frozenset[int]:
    """The siblings that lie wholly under a later one: a page put over another one, as fragments are.

    The later one covers where one drawn node of it fills it and it holds more than that; a mere scrim does not.
    """
    covered: set[int] = set()
    for top in range(len(children) - 1, 0, -1):
        over = children[top]
        below = [i for i in range(top) if i not in covered and _holds(over.bounds, children[i].bounds)]
        if not below or not over.visible or over.bounds.is_empty:
            continue
        drawn = [n for n in _below(over) if n.visible and n.is_drawn]
        content = (n for n in drawn if not n.children or _is_list(n) or _scrolls(n))
        if len(drawn) >= _FEW and any(
            n.bounds.intersect(over.bounds).area >= _COVERS * over.bounds.area for n in content
        ):
            covered.update(below)
    return frozenset(covered)


def _holds(outer: Bounds, inner: Bounds) -> bool:
    return (
        outer.left <= inner.left
        and outer.top <= inner.top
        and inner.right <= outer.right
        and inner.bottom <= outer.bottom
        and not inner.is_empty
    )


def _selected_tab(children: tuple[Node, ...]) -> int | None:
    """The one selected of several siblings that can be chosen, or None."""
    chosen = [i for i, child in enumerate(children) if child.selected and child.visible]
    if len(chosen) != 1:
        return None
    others = [c for i, c in enumerate(children) if i != chosen[0] and c.class_name == children[chosen[0]].class_name]
    return chosen[0] if others else None
