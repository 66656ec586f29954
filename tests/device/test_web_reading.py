"""A page is read in two ways, by a DOM snapshot and by a script: they must not differ in what the tree says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phoneworld.device.web.android import Placement, android_tree
from phoneworld.device.web.axtree import AxNode, read_page
from phoneworld.device.web.elements import PageCapture
from phoneworld.device.web.page import WebPage
from phoneworld.device.web.reading import PageReader
from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy
from tests.webapps import ROOT, served

PAGES = Path(__file__).parent / "pages"
WEBAPPS = ROOT / "examples" / "webapps"
SAMPLES = [
    *(pytest.param(PAGES, page.name, id=page.stem) for page in sorted(PAGES.glob("*.html"))),
    *(pytest.param(WEBAPPS, f"{page.parent.name}/", id=page.parent.name) for page in sorted(WEBAPPS.glob("*/index.html"))),
]
PLACE = Placement(Bounds(0, 48, 540, 1200), 1.5)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser.launch() as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[WebPage]:
    opened = WebPage(browser.page(None, touch=True))
    opened.set_viewport(Size(360, 768), Size(360, 800), 1.5)
    yield opened
    opened.close()


def tree_of(capture: PageCapture | None) -> Hierarchy:
    assert capture is not None
    root = read_page(capture)
    assert root is not None
    return Hierarchy((android_tree(root, PLACE, package="org.example"),))


def _boxless(node: AxNode) -> AxNode:
    return replace(node, box=None, children=tuple(_boxless(child) for child in node.children))


@pytest.mark.parametrize(("folder", "path"), SAMPLES)
def test_both_ways_give_the_same_tree(page: WebPage, folder: Path, path: str) -> None:
    with served(folder) as url:
        page.goto(url + path)
        page.pause(150)
        for scroll in (0, 90):
            page.evaluate(f"scrollTo(0, {scroll})")
            by_snapshot, by_script = tree_of(page.reader.by_snapshot()), tree_of(page.reader.by_script())
            assert list(by_script.walk()) == list(by_snapshot.walk())


def test_the_places_page_has_what_is_hard_to_measure(page: WebPage) -> None:
    """Else the test above would hold for the lack of it."""
    with served(PAGES) as url:
        page.goto(url + "places.html")
        page.pause(150)
        tree = tree_of(page.reader.by_script())
    words = {n.label: n for n in tree.nodes()}
    for seen in ("Mark", "1. ", "Inmost", "In a frame", "Inside", "Slotted", "Turned", "Drawn", "No box around"):
        assert any(seen.casefold() in word.casefold() for word in words), seen
    assert words["hears"].clickable and words["Listens"].clickable and not words["Does not"].clickable
    assert not words["1. "].bounds.is_empty and not words["Inmost"].bounds.is_empty


class _Asking:
    """Passes calls on, and keeps their names."""

    def __init__(self, page: WebPage) -> None:
        self._page = page
        self.asked: list[str] = []

    def __call__(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.asked.append(method)
        return self._page.send(method, params)


def test_a_page_that_holds_much_text_is_read_by_script_from_the_second_time_on(page: WebPage) -> None:
    with served(PAGES) as url:
        page.goto(url + "roles.html")
        page.evaluate("document.head.append(Object.assign(document.createElement('script'), {type: 'text/plain', text: 'word '.repeat(2e5)}))")
        asking = _Asking(page)
        reader = PageReader(asking)
        first = tree_of(reader.capture())
        assert "DOMSnapshot.captureSnapshot" in asking.asked
        asking.asked.clear()
        assert tree_of(reader.capture()) == first
        assert "DOMSnapshot.captureSnapshot" not in asking.asked


def test_a_page_with_a_closed_shadow_root_is_read_by_snapshot(page: WebPage) -> None:
    with served(PAGES) as url:
        page.goto(url + "plain.html")
        assert page.reader.by_script() is not None
        page.evaluate("document.body.firstElementChild.attachShadow({mode: 'closed'}).innerHTML = '<button>Hidden from scripts</button>'")
        assert page.reader.by_script() is None
        assert "Hidden from scripts" in {n.label for n in tree_of(page.reader.capture()).nodes()}


def test_a_document_that_was_replaced_is_asked_for_its_listeners_anew(page: WebPage) -> None:
    with served(PAGES) as url:
        page.goto(url + "places.html")
        page.pause(150)
        assert page.reader.by_script() is not None
        page.goto(url + "act.html")
        page.pause(150)
        assert list(tree_of(page.reader.by_script()).walk()) == list(tree_of(page.reader.by_snapshot()).walk())
