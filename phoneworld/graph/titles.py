"""Pages put together again by their titles: in an app that gives its pages titles, two pages of one title are one page.

What a page shows may differ with its content until nothing but the frame is alike: an empty cart and a full one, a product with
sizes and one with colours. Its title (a web page's own, with the heading over it) says that it is the same. Not in an app whose
pages are all called the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from phoneworld.graph.graph import Capture

_TELLING = 3
"""So many different titles are given on purpose."""
_SHARE = 0.5
"""And with the headings so many for each page: a site of one title and heading that is seen in three languages has not named its pages. Titles alone would
not do: the more pages of one title came apart, the fewer of all would have one of their own."""


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
