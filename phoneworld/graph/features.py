"""What identity looks at: a capture boiled down to what stays when the content of its screen changes. Never sees actions.

What counts as a feature, and why:

- the app's package, portrait or landscape, whether the window fills the screen, the activity: never put together across these
  (the activity only where it belongs to the package that is shown, and not for a dialog: some recorders report it late);
- *controls*: what can be tapped, checked or typed into, by class and id; without an id, by its words with numbers
  set aside. An opened menu has more of them than a closed one. Checked, focused, enabled, texts of fields: not looked at;
- *collections*: lists and grids; their rows are content, only the list itself counts, however many rows it has.
  Siblings that look alike are taken for rows too;
- the *selected* one of several tabs;
- *passive* nodes: texts and pictures by id; without an id by their words (a title); in a dialog or popup always with words;
  the title of a web page is not looked at, it often names the content;
- what lies in a scrolling form, or on a web page longer than the screen, is compared by overlap, for each scroll position
  shows another part of it, and the keyboard hides some; on a web page ids of bare containers count too, for its screens are
  often such containers.

Not looked at: invisible nodes, bare containers (a compressed dump leaves them out), snackbars, system bars.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from phoneworld.graph.graph import Capture
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node, Path
from phoneworld.ui.selector import Selector, find

_LISTS = ("RecyclerView", "ListView", "GridView", "AbsListView", "Gallery")
_SCROLLERS = ("ScrollView",)
_BARS = ("android:id/statusBarBackground", "android:id/navigationBarBackground")
_TRANSIENT_IDS = re.compile(r"(?:^|[/_-])(?:snackbar|toast)(?:$|[_-])", re.I)
_TRANSIENT_CLASSES = ("SnackbarLayout", "Snackbar$SnackbarLayout", "android.widget.Toast")
_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r"[\"“”„«»‘’']([^\"“”„«»‘’']{1,80})[\"“”„«»‘’']")
_WORDS_KEPT = 48

# A window nearer than this to an edge of the screen, in shares of it, reaches that edge.
_EDGE = 0.02
# A dialog drawn by the app itself has at least this much of the screen's height above and below it.
_AIR = 0.15
# A node that fills this share of a page hides what lies under the page.
_COVERS = 0.8
# A web page that takes this share of the screen is the screen, and what the app draws around it (a title bar) is its frame.
_IS_ALL = 0.4
# Fewer like siblings than this are no rows of a list.
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
    long_page: bool
    kept: frozenset[str] = frozenset()
    page: bool = False
    typing: bool = False
    around: frozenset[str] = frozenset()
    document: frozenset[str] = frozenset()
    unpruned: bool = False
    heading: str = field(default="", compare=False)


def features(capture: Capture, *, mask: tuple[Selector, ...] = (), keep: tuple[Selector, ...] = ()) -> Features:
    """What identity looks at in one capture. Linear in the nodes."""
    tree = capture.hierarchy
    package = shown_package(capture)
    popup = _is_popup(capture)
    masked, kept = frozenset(named_paths(capture, mask)), frozenset(named_paths(capture, keep))
    selected, collections, controls, passive, words_kept = (set[str]() for _ in range(5))
    form: set[tuple[str, str]] = set()
    around: set[str] = set()
    document: set[str] = set()
    for path in kept:
        words_kept.add(f"{_name(tree.at(path))}={tree.at(path).text}")

    pages = [n for n in tree.nodes() if n.visible and _short(n.class_name) == "WebView"]
    long_page = any(n.scrollable for n in pages)

    def visit(path: Path, node: Node, area: str, in_page: bool) -> None:
        nonlocal long_page
        if not node.visible or path in masked or is_transient(node):
            return
        shown = _is_shown(node.bounds, capture.size)
        short = _short(node.class_name)
        # What is scrolled out of sight has no place on the screen, and is in the tree of a page all the same. A box without a size
        # is not away where something in it is shown.
        away = in_page and node.bounds.is_empty and not any(_is_shown(n.bounds, capture.size) for n in _below(node))
        if in_page and not popup:
            document.update(_in_document(node))
        if _is_list(node) and away:
            return
        if _is_list(node) and shown:
            if area:
                form.add((area, f"list {node.resource_id}"))
            else:
                collections.add(f"list {node.resource_id or short}")
            if popup:
                passive.update(_all_words(node))
            return
        rows = _alike(node.children) if (shown or away) and len(node.children) >= _FEW else frozenset()
        if rows and shown and not area:
            passive.add(f"rows of {_name(node)}")
        if shown and not (path and _is_bare(node)):
            takes = node.takes("tap") or node.takes("long_press") or node.checkable or node.is_editable
            named = bool(node.resource_id) or node.is_editable
            if not in_page and short != "WebView":
                around.add(_name(node) if named else f"{short} {plain_words(_label(node) if takes else node.label)}")
            if area:
                form.add((area, _name(node) if named else plain_words(_label(node)) or short))
            elif takes:
                controls.add(_name(node) if named else f"{short} {plain_words(_label(node))}")
            elif short == "WebView":
                pass  # its text is the page's title
            elif popup:
                passive.add(plain_words(node.label) or _name(node))
            else:
                passive.add(_name(node) if named else f"{short} {plain_words(node.label)}")
        elif shown and in_page and node.resource_id and not area and not popup:
            passive.add(_name(node))
        tab = _selected_tab(node.children)
        if tab is not None and shown:
            selected.add(f"{_name(node)} {plain_words(_label(node.children[tab])) or tab}")
        if in_page and node.scrollable and not _is_list(node) and _fills(node.bounds, capture.size):
            long_page = True  # the page scrolls in a box of its own, and only where it is longer than that
        elif not area and not popup and _scrolls(node):
            area = _place(node.bounds, capture.size)
        in_page = in_page or short == "WebView"
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
        long_page=long_page,
        kept=frozenset(words_kept),
        page=bool(pages),
        typing=capture.state.keyboard,
        document=frozenset(document),
        heading=next((plain_words(n.text) for page in pages for n in _below(page) if n.text and _is_heading(n)), ""),
        unpruned=any(n.bounds.is_empty and n.visible and n.is_drawn for page in pages for n in _below(page)),
        around=frozenset(around) if any(_covers(n.bounds, capture.size) for n in pages) else frozenset(),
    )


def _is_heading(node: Node) -> bool:
    """True for words of a page that stand alone: the first of them is its heading, as far as a tree tells."""
    return _short(node.class_name) != "WebView" and not node.children and not node.clickable and not node.is_editable


def _in_document(node: Node) -> Iterator[str]:
    """What a node of a page says of the page, wherever it is scrolled to."""
    short = _short(node.class_name)
    if short == "WebView":
        return
    if _is_list(node):
        yield f"list {node.resource_id or short}"
    elif node.takes("tap") or node.takes("long_press") or node.checkable or node.is_editable:
        named = bool(node.resource_id) or node.is_editable
        yield f"control {_name(node) if named else f'{short} {plain_words(_label(node))}'}"
    elif node.resource_id:
        yield _name(node)
    elif not _is_bare(node):
        yield f"{short} {plain_words(node.label)}"


def visible_nodes(capture: Capture) -> Iterator[tuple[Path, Node, bool]]:
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
    """True for a dialog or menu: no window fills the screen (only their own window is dumped), or its content floats in it.

    A window fills it that takes more than half of it and reaches two of its edges (apps share the screens of cars and tablets).
    """
    size = capture.size
    filling = [w for w in capture.hierarchy.windows if _fills(w.bounds, size)]
    return not filling or all(_floats(w, size) for w in filling)


def _floats(window: Node, size: Size) -> bool:
    """True where all that is written in a window stands well inside it, as in a web page's own dialog over a scrim."""
    written: list[Bounds] = []
    stack = [window]
    while stack:
        node = stack.pop()
        if not node.visible or is_transient(node):
            continue
        stack.extend(node.children)
        if not node.children and _is_shown(node.bounds, size) and node.is_drawn:
            written.append(node.bounds)
    if len(written) < 2:
        return False
    left, right = min(b.left for b in written), max(b.right for b in written)
    top, bottom = min(b.top for b in written), max(b.bottom for b in written)
    inside = left > size.width * _EDGE and right < size.width * (1 - _EDGE)
    return inside and top > size.height * _AIR and bottom < size.height * (1 - _AIR) and bottom - top < size.height / 2


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


def _covers(bounds: Bounds, size: Size) -> bool:
    return bounds.intersect(size.bounds).area >= _IS_ALL * size.bounds.area


def _fills(bounds: Bounds, size: Size) -> bool:
    near_x, near_y = size.width * _EDGE, size.height * _EDGE
    edges = (
        (bounds.left <= near_x)
        + (bounds.top <= near_y)
        + (bounds.right >= size.width - near_x)
        + (bounds.bottom >= size.height - near_y)
    )
    return edges >= 2 and bounds.intersect(size.bounds).area > size.bounds.area / 2


def named_paths(capture: Capture, selectors: tuple[Selector, ...]) -> set[Path]:
    return {path for selector in selectors for path in find(capture.hierarchy, selector)}


def _short(class_name: str) -> str:
    return class_name.rpartition(".")[2]


def _is_list(node: Node) -> bool:
    return _short(node.class_name).endswith(_LISTS)


def is_transient(node: Node) -> bool:
    """True for a system bar, a snackbar or a toast: gone in a moment, and no part of the screen below it."""
    if (
        node.resource_id in _BARS
        or node.class_name.endswith(_TRANSIENT_CLASSES)
        or _TRANSIENT_IDS.search(node.resource_id)
    ):
        return True
    parts = node.children[0].children if len(node.children) == 1 else node.children  # Android's has no id of its own
    return bool(parts) and all(_TRANSIENT_IDS.search(part.resource_id) for part in parts)


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
    return (plain_words(n.label) for n in parts if not n.resource_id or n.resource_id.startswith("android:id/"))


def _is_bare(node: Node) -> bool:
    return not node.is_drawn


def _name(node: Node) -> str:
    return f"{_short(node.class_name)} {node.resource_id}"


def plain_words(label: str) -> str:
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
