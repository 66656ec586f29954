"""Pages of one title and heading are one page, in an app that gives its pages titles."""

from __future__ import annotations

from collections.abc import Mapping

from phoneworld.graph.titles import put_together


def together(titles: Mapping[str, tuple[str, str]]) -> list[list[str]]:
    """Each capture is a screen of its own at first."""
    return put_together([[name] for name in titles], titles)


def test_pages_of_one_title_come_together_however_many_came_apart() -> None:
    """A shop: the more products there are that look unlike, the fewer of all pages have a title of their own."""
    titles = {name: (name, name) for name in ("Catalogue", "Cart", "Orders", "Account")} | {f"product {n}": ("Product", "Product") for n in range(3)}
    sheets = {"Catalogue, sort": ("Catalogue", "Sort by"), "Catalogue, filter": ("Catalogue", "Filter")}
    assert [sorted(s) for s in together(titles | sheets) if len(s) > 1] == [["product 0", "product 1", "product 2"]]
    many = {f"product {n}": ("Product", "Product") for n in range(5)}
    assert [len(s) for s in together(titles | sheets | many) if len(s) > 1] == [5]


def test_a_site_that_is_called_the_same_everywhere_has_not_named_its_pages() -> None:
    one = {f"page {n}": ("The site", "The site") for n in range(6)}
    assert len(together(one)) == 6
    languages = {f"{language} {n}": (f"The site in {language}", "The site") for language in ("de", "en", "fr") for n in range(6)}
    assert len(together(languages)) == 18


def test_a_dialog_of_no_page_stays_alone() -> None:
    titles = {"a": ("Notes", "Notes"), "b": ("Note", "Note"), "c": ("Note", "Note"), "d": ("Settings", "Settings")}
    assert put_together([["a"], ["b", "dialog"], ["c"], ["d"]], titles) == [["a"], ["b", "dialog"], ["c"], ["d"]]
