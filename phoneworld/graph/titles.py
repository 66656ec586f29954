"""Pages put together again by their titles: in an app that gives its pages titles, two pages of one title are one page.

What a page shows may differ with its content until nothing but the frame is alike: an empty cart and a full one, a product with
sizes and one with colours. Its title (a web page's own, with the heading over it) says that it is the same. Not in an app whose
pages are all called the same.

Two more ways in which a heading tells: a page that was seen under one heading only is the one that shows this heading among others
and is most like it (the conversation with somebody who is blocked); sheets that are the same but for a heading that is content
(whose message it is, which dish) are one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace

from phoneworld.graph.features import Features, plain_words
from phoneworld.graph.graph import Capture

_TELLING = 3
"""So many different titles are given on purpose."""
_SHARE = 0.5
"""And with the headings so many for each page: a site of one title and heading that is seen in three languages has not named its pages. Titles alone would
not do: the more pages of one title came apart, the fewer of all would have one of their own."""
_TABS = 2
"""So many controls that are of another class here than there: one tab was left, another one is shown."""


def title_of(capture: Capture) -> str:
    """The title of the web page that a capture shows; "" without one."""
    return next((n.text for n in capture.hierarchy.nodes() if n.class_name.endswith("WebView") and n.text), "")


def put_together(screens: Sequence[Sequence[str]], titles: Mapping[str, tuple[str, str]]) -> list[list[str]]:
    """The screens, those of one title and heading put together.

    `titles` are title and heading of pages, by capture; a capture of no page (of a dialog) has none.
    """
    given, told = len({title for title, _ in titles.values()}), len(set(titles.values()))
    pages = sum(any(name in titles for name in names) for names in screens)
    if given < _TELLING or told < _SHARE * pages:
        return [list(names) for names in screens]
    together: dict[object, list[str]] = defaultdict(list)
    for i, names in enumerate(screens):
        own = {titles.get(name) for name in names}
        only = own.pop() if len(own) == 1 else None
        together[i if only is None else only].extend(names)
    return list(together.values())


def joined_by_heading(screens: Sequence[Sequence[str]], looks: Mapping[str, Features], titles: Mapping[str, str]) -> list[list[str]]:
    """The screens, one of a single heading put to the one that shows this heading among others, and controls that no third one has.

    `looks` are the features of pages and `titles` their titles, by capture; a capture of no page has none. Only a heading that the
    title says too names what the page shows.
    """
    named = {name: f for name, f in looks.items() if f.heading in plain_words(titles.get(name, ""))}
    seen = [{named[name] for name in names if name in named} for names in screens]
    headings = [{named[name].heading for name in names if name in named} for names in screens]
    having = Counter(control for own in seen for control in {c for f in own for c in f.controls})
    into: dict[int, int] = {}
    for i, own in enumerate(headings):
        if len(own) == 1:
            near = [j for j, of in enumerate(headings) if own < of and any(_are_near(a, b, having) for a in seen[i] for b in seen[j])]
            if len(near) == 1:
                into[i] = near[0]
    joined = {i: list(names) for i, names in enumerate(screens) if i not in into}
    for i, j in into.items():
        joined[j].extend(screens[i])
    return list(joined.values())


def _are_near(a: Features, b: Features, having: Mapping[str, int]) -> bool:
    """True where two looks have a control in common that only their two screens have, and are no two tabs of one page."""
    apart = a.controls ^ b.controls
    tabs = len(apart) - len({control.partition(" ")[2] for control in apart})
    return tabs < _TABS and any(having[control] == 2 for control in a.controls & b.controls)


def joined_sheets(
    screens: Sequence[Sequence[str]], looks: Mapping[str, Features], titles: Mapping[str, str], content: Collection[str]
) -> list[list[str]]:
    """The screens, those put together that differ in a heading that is content and in nothing else.

    It is content where it stands in a row of a list (`content`: what does), or where words of the page's title are in it.
    """
    together: dict[object, list[str]] = defaultdict(list)
    for i, names in enumerate(screens):
        key: object = i
        own = {looks[name] for name in names if name in looks}
        if own and all(name in looks and _says_whose(looks[name], titles.get(name, ""), content) for name in names):
            key = min((_without_heading(f) for f in own), key=_in_order)
        together[key].extend(names)
    return list(together.values())


def _says_whose(f: Features, title: str, content: Collection[str]) -> bool:
    """True for a sheet whose heading is content."""
    if not any(part.endswith("Dialog " + f.heading) for part in f.controls | f.passive):
        return False
    return f.heading in content or not set(f.heading.split()).isdisjoint(plain_words(title).split())


def _without_heading(f: Features) -> Features:
    def rest(of: frozenset[str]) -> frozenset[str]:
        return frozenset(name for name in of if not name.endswith(" " + f.heading))

    return replace(f, controls=rest(f.controls), passive=rest(f.passive), document=frozenset(), typing=False, heading="")


def _in_order(f: Features) -> tuple[object, ...]:
    """The same order in every process: the order of a set is not."""
    return tuple(sorted(map(repr, v)) if isinstance(v, frozenset) else repr(v) for v in (getattr(f, part.name) for part in fields(f)))
