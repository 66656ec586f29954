"""The coarse identity of screens: which captures show the same screen. The compiler refines it; it never sees actions.

Three steps: `features` boils a capture down to what stays when the content of a screen changes (see that module for what
counts and why), `screens_of` puts captures together whose features agree, and of those that are whole web pages `pages` tells
apart what looks alike only for the frame that all pages of a site share.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from phoneworld.graph.features import Features, features, named_paths, plain_words, visible_nodes
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.pages import Skeleton, skeleton, told_apart
from phoneworld.graph.titles import joined_by_heading, joined_sheets, put_together, title_of
from phoneworld.ui.selector import Selector, node_keys

__all__ = ["Features", "VolatileSlot", "features", "same_screen", "screen_key", "screens_of", "volatile_slots"]

# Passive and control features in common, of all of either; found on the labelled runs, see the tests.
_ALIKE = 0.6
_DIALOG, _DIALOG_WORDS = 0.5, 1 / 3
# Of a scrolling form, each scroll position shows another part: what two of them must have in common, of the smaller.
_FORM_OVERLAP = 0.25
# Of a web page that is longer than the screen, each scroll position shows other controls.
_PAGE_OVERLAP = 0.6
# The whole of a page is in its tree, wherever it is scrolled to: what two looks at it have in common, of all in either.
_ONE_DOCUMENT = 0.7
# Or of the smaller: a part of it was unfolded.
_UNFOLDED = 0.95
# A page without its list offers at most so many controls more or less: "clear the search", "check all".
_IN_PLACE = 2
# ... and has that much in common with it, under the same heading: what is said instead of a list takes some room.
_EMPTIED = 0.5
# Fewer features than this say little.
_FEW = 3


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
    at_rest: set[Features] = set()
    looks: dict[str, Features] = {}
    for name, capture in graph.captures.items():
        f = looks[name] = features(capture, mask=mask, keep=keep)
        seen.setdefault(f, []).append(name)
        if capture.settled:
            at_rest.add(f)
    distinct = list(seen)
    if any(f.unpruned for f in distinct):
        # One look says how this phone's trees are made.
        told: dict[Features, list[str]] = {}
        for f, names in seen.items():
            told.setdefault(_unpruned(f), []).extend(names)
        seen, at_rest, distinct = told, {_unpruned(f) for f in at_rest}, list(told)
    leader = list(range(len(distinct)))

    def find_leader(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    buckets: dict[tuple[object, ...], list[int]] = defaultdict(list)
    pages: dict[tuple[object, ...], list[int]] = defaultdict(list)

    def alike(i: int) -> Iterator[int]:
        """Those seen before that may be of the screen of this one, and are."""
        f, apart = distinct[i], _apart(distinct[i])
        others = (j for j in pages[apart] if distinct[j].collections != f.collections) if f.page else ()
        return (j for j in (*buckets[apart, f.collections], *others) if same_screen(distinct[j], f))

    def remember(i: int) -> None:
        buckets[_apart(distinct[i]), distinct[i].collections].append(i)
        if distinct[i].page:
            pages[_apart(distinct[i])].append(i)

    moving = [i for i, f in enumerate(distinct) if f not in at_rest]
    for i in (i for i, f in enumerate(distinct) if f in at_rest):
        for j in alike(i):
            a, b = find_leader(i), find_leader(j)
            leader[max(a, b)] = min(a, b)
        remember(i)
    # A screen on its way to another shows something of both: it belongs to one, and never makes one of the two.
    for i in moving:
        leader[i] = next((find_leader(j) for j in alike(i)), i)
        remember(i)
    groups: dict[int, list[int]] = defaultdict(list)
    for i in range(len(distinct)):
        groups[find_leader(i)].append(i)
    screens: list[list[str]] = []
    for group in groups.values():
        names = [name for i in group for name in seen[distinct[i]]]
        whole = all(distinct[i].unpruned and not distinct[i].popup for i in group)
        screens += _pages([graph.captures[n] for n in names], mask) if whole else [names]
    screens = _by_headings(screens, looks, graph)
    order = {name: i for i, name in enumerate(graph.captures)}
    named: dict[str, tuple[str, ...]] = {}
    for members in sorted((sorted(m, key=order.__getitem__) for m in screens), key=lambda m: order[m[0]]):
        key = screen_key(graph.captures[members[0]], mask=mask, keep=keep)
        while key in named:  # two screens that differ in the content of a form only
            key = hashlib.sha256(key.encode()).hexdigest()[:16]
        named[key] = tuple(members)
    return named


def _by_headings(screens: list[list[str]], looks: Mapping[str, Features], graph: StateGraph) -> list[list[str]]:
    """The screens put together that titles and headings show to be one."""
    looks = {name: f for name, f in looks.items() if f.page and f.heading and not f.popup}
    titles = {name: title for name in looks if (title := title_of(graph.captures[name]))}
    if not titles:
        return screens
    screens = put_together(screens, {name: (title, looks[name].heading) for name, title in titles.items()})
    content = {plain_words(n.label) for c in graph.captures.values() for _, n, in_rows in visible_nodes(c) if in_rows and n.label}
    return joined_sheets(joined_by_heading(screens, looks, titles), looks, titles, content)


def _pages(captures: Sequence[Capture], mask: tuple[Selector, ...]) -> list[list[str]]:
    """The pages among captures of whole documents. One that was caught on its way to another goes where it looks most like."""
    looks: dict[Skeleton, list[Capture]] = {}
    for capture in captures:
        looks.setdefault(skeleton(capture, mask), []).append(capture)
    at_rest = [look for look, seen in looks.items() if any(c.settled for c in seen)] or list(looks)
    pages = [[at_rest[i] for i in page] for page in told_apart(at_rest)]
    home = {look: i for i, page in enumerate(pages) for look in page}
    found: list[list[str]] = [[] for _ in pages]
    for look, seen in looks.items():
        if look not in home:
            nearest = max(at_rest, key=lambda other: _share(look, other))
            home[look] = home[nearest]
        found[home[look]] += [c.id for c in seen]
    return found


def same_screen(a: Features, b: Features) -> bool:
    """True where two captures with these features are taken for one screen."""
    if _apart(a) != _apart(b):
        return False
    if a.activity and b.activity and a.activity != b.activity:
        return False
    if a.around and b.around:
        # What an app draws around a page is the same around each page, and says nothing of which one it is.
        if max(len(a.around - b.around), len(b.around - a.around)) > 1:
            return False
        a, b = _within(a), _within(b)
    more, less = len(a.controls - b.controls), len(b.controls - a.controls)
    all_of_a, all_of_b = a.controls | a.passive, b.controls | b.passive
    common = all_of_a & all_of_b
    alike = _EMPTIED if a.heading and a.heading == b.heading else _ALIKE
    is_emptied = _one_is_empty(a, b, more, less) and _share(all_of_a, all_of_b) >= alike
    is_whole = (a.long_page or b.long_page) and (a.unpruned or b.unpruned)
    if is_whole and not is_emptied and not _one_document(a.document, b.document):
        return False
    if is_whole and len(a.document) >= _FEW and a.document == b.document:
        return True  # wherever the two are scrolled to
    if a.collections != b.collections and not (a.page and b.page):
        return False
    if a.long_page or b.long_page:
        # Scrolled: some went and some came; a menu only comes. Under the keyboard the end of a page is out of sight.
        hidden = (a.typing or b.typing) and len(common) >= _FEW
        if (more and less) or (hidden and (more or less or a.collections != b.collections)):
            shown_a, shown_b = all_of_a | a.collections, all_of_b | b.collections
            # A page that is not longer than the screen shows all it has: where the documents do not tell, the longer look must be in it.
            sizes = [len(shown) for f, shown in ((a, shown_a), (b, shown_b)) if f.long_page or is_whole]
            return len(shown_a & shown_b) >= _PAGE_OVERLAP * min(sizes)
    if a.collections != b.collections:
        return is_emptied
    if max(more, less) > 1:
        return False
    if a.popup:  # one build serves many dialogs: the words decide, a title weighs as much as a message
        return _share(a.passive, b.passive) >= _DIALOG_WORDS and _share(all_of_a, all_of_b) >= _DIALOG
    if _share(all_of_a, all_of_b) < _ALIKE:
        return False
    return all(_one_form(shown_a, shown_b, len(common)) for shown_a, shown_b in _forms(a, b))


def _apart(f: Features) -> tuple[object, ...]:
    """What must be equal for two captures to be of one screen, whatever else they have in common.

    So must their lists be, but not on web pages: a list without rows is not drawn there, and one may be scrolled out of sight.
    """
    return f.package, f.landscape, f.popup, f.selected, f.kept


def _within(f: Features) -> Features:
    """What the page holds, without what is drawn around it."""
    return replace(f, controls=f.controls - f.around, passive=f.passive - f.around)


def _unpruned(f: Features) -> Features:
    return replace(f, unpruned=f.page)


def _one_is_empty(a: Features, b: Features, more: int, less: int) -> bool:
    """True where one page has lists and the other none of them but a word or a button in their place: nothing here yet."""
    if a.popup or not (a.collections < b.collections or b.collections < a.collections):
        return False
    return min(more, less) == 0 and max(more, less) <= _IN_PLACE


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    """What two sets have in common, of all in either; 1 where both are empty."""
    return len(a & b) / len(a | b) if a or b else 1.0


def _one_document(a: frozenset[str], b: frozenset[str]) -> bool:
    """True where two whole pages may be one: much of both is in common, or one is the other with a part unfolded."""
    return _share(a, b) >= _ONE_DOCUMENT or len(a & b) >= _UNFOLDED * min(len(a), len(b))


def _forms(a: Features, b: Features) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What either shows of each scrolling area."""
    areas = sorted({area for area, _ in a.form | b.form})
    return [
        (frozenset(w for at, w in a.form if at == area), frozenset(w for at, w in b.form if at == area))
        for area in areas
    ]


def _one_form(a: frozenset[str], b: frozenset[str], common_around: int) -> bool:
    """True where two glimpses may be of one form: enough of the smaller is in the larger, or too little is shown to tell."""
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
        kept = named_paths(capture, keep)
        masked = named_paths(capture, mask)
        for path, node, in_rows in visible_nodes(capture):
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
