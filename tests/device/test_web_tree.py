"""Blink's tree to Android's: by rule, on what a probe page gave. The conversion itself is pure and sees JSON only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneworld.device.web import android
from phoneworld.device.web.android import Placement, Profile, android_tree
from phoneworld.device.web.axtree import read_page
from phoneworld.device.web.elements import PageCapture
from phoneworld.device.web.page import WebPage
from phoneworld.errors import PhoneWorldError
from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy
from tests.shared import CORPUS, needs_shared
from tests.webapps import served

PAGES = Path(__file__).parent / "pages"
PLACE = Placement(Bounds(0, 72, 1080, 2400), 3.0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser.launch() as running:
        yield running


def _captured(browser: Browser, script: str = "0") -> PageCapture:
    """What CDP says of the roles page, once it has been through JSON, as a saved capture would be."""
    with served(PAGES) as url:
        page = WebPage(browser.page(None, touch=True))
        page.set_viewport(Size(360, 776), Size(360, 800), 3)
        page.goto(url + "roles.html")
        page.evaluate(script)
        found = page.capture()
        page.close()
    return found


@pytest.fixture(scope="module")
def capture(browser: Browser) -> PageCapture:
    return _captured(browser)


def tree_of(capture: PageCapture, profile: Profile = "current") -> Hierarchy:
    root = read_page(capture)
    assert root is not None
    return Hierarchy((android_tree(root, PLACE, package="org.example", profile=profile),))


def by_id(tree: Hierarchy) -> dict[str, Node]:
    return {n.resource_id: n for n in tree.nodes() if n.resource_id}


@pytest.fixture(scope="module")
def nodes(capture: PageCapture) -> dict[str, Node]:
    return by_id(tree_of(capture))


CLASSES = {
    "heading": "widget.TextView", "link-heading": "view.View", "words": "widget.TextView", "mixed": "view.View",
    "link": "view.View", "button": "widget.Button", "disabled": "widget.Button", "popup": "widget.Button",
    "toggle": "widget.ToggleButton", "named": "widget.EditText", "search": "widget.EditText", "password": "widget.EditText",
    "area": "widget.EditText", "number": "widget.EditText", "checkbox": "widget.CheckBox", "radio": "widget.RadioButton",
    "switch": "widget.ToggleButton", "select": "view.View", "date": "widget.Spinner", "range": "widget.SeekBar",
    "progress": "widget.ProgressBar", "image": "widget.Image", "image-button": "widget.ImageButton", "list": "widget.ListView",
    "item": "view.View", "table": "widget.GridView", "tabs": "widget.TabWidget", "tab": "view.View", "menu-item": "view.MenuItem",
    "dialog": "app.Dialog", "nav": "view.View", "rich": "widget.EditText", "listener": "widget.TextView", "frame": "view.View",
}  # fmt: skip
OLD_CLASSES = {
    "heading": "view.View", "words": "view.View", "popup": "widget.Spinner", "switch": "widget.CheckBox", "select": "widget.Spinner",
    "image-button": "widget.Image", "listener": "view.View", "button": "widget.Button", "named": "widget.EditText",
}  # fmt: skip

# text, content-desc, hint
WORDS = {
    "heading": ("Heading", "", None), "words": ("Plain bold words", "", None), "link": ("", "a link", None),
    "bare-link": ("", "cart", None), "named-link": ("", "Labelled link", None), "button": ("Plain", "", None),
    "icon-button": ("", "Close", None), "named": ("Ann", "", "Name First name"), "search": ("", "", "Search"),
    "password": ("••••••", "", "Pass"), "area": ("two\nlines", "", "Notes"), "checkbox": ("", "Check", None),
    "switch": ("Wifi", "", None), "select": ("Green", "", "Colour"), "date": ("2024-05-06", "", "Day"),
    "range": ("Volume", "", None), "number": ("3", "", "Count"), "image": ("", "A dot", None), "nameless-image": ("photo", "", None),
    "image-button": ("", "Press me", None), "nav": ("there", "", None), "rich": ("edit me", "", None), "toggle": ("Toggle", "", None),
    "tip": ("Tip", "", None), "described": ("Told", "", "more of it"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_each_role_has_its_android_class(nodes: dict[str, Node], name: str) -> None:
    assert nodes[name].class_name == "android." + CLASSES[name]


@pytest.mark.parametrize("name", OLD_CLASSES)
def test_each_role_has_its_class_of_the_old_webview(capture: PageCapture, name: str) -> None:
    assert by_id(tree_of(capture, "old"))[name].class_name == "android." + OLD_CLASSES[name]


@pytest.mark.parametrize("name", WORDS)
def test_text_description_and_hint_follow_where_the_name_came_from(nodes: dict[str, Node], name: str) -> None:
    node = nodes[name]
    assert (node.text, node.content_desc, node.hint) == WORDS[name]


def test_the_old_webview_puts_all_but_what_is_typed_into_the_description(capture: PageCapture) -> None:
    tree = tree_of(capture, "old")
    for node in tree.nodes():
        assert not node.text or node.is_editable, node
    assert tree.windows[0].content_desc == "Roles"
    assert by_id(tree)["words"].content_desc == "Plain bold words"


def test_the_web_root_is_a_webview_with_the_title_that_fills_the_viewport(capture: PageCapture) -> None:
    root = tree_of(capture).windows[0]
    assert (root.class_name, root.text, root.bounds) == ("android.webkit.WebView", "Roles", PLACE.viewport)
    assert root.focusable and root.focused and root.scrollable and not root.clickable


def test_an_element_that_is_focused_takes_the_focus_from_the_root(browser: Browser) -> None:
    tree = tree_of(_captured(browser, "document.getElementById('search').focus()"))
    assert [n.resource_id for n in tree.nodes() if n.focused] == ["search"]


def test_states_are_as_the_page_has_them(nodes: dict[str, Node]) -> None:
    assert nodes["checkbox"].checkable and nodes["checkbox"].checked
    assert nodes["radio"].checkable and not nodes["radio"].checked
    assert nodes["toggle"].checked and nodes["switch"].checked
    assert nodes["mixed-box"].checkable and not nodes["mixed-box"].checked
    assert not nodes["disabled"].enabled and nodes["disabled"].clickable
    assert nodes["readonly"].enabled
    assert nodes["password"].password and not nodes["named"].password
    assert nodes["tab"].selected
    assert nodes["listener"].clickable and nodes["label"].clickable and nodes["link"].clickable and nodes["link-heading"].clickable
    assert not nodes["words"].clickable and not nodes["dialog"].clickable and not nodes["frame"].clickable
    assert nodes["scroller"].scrollable and not nodes["cut"].scrollable


def test_the_old_webview_calls_what_is_read_only_disabled(capture: PageCapture) -> None:
    assert not by_id(tree_of(capture, "old"))["readonly"].enabled


def test_leaves_lose_what_is_below_them_and_links_never_do(nodes: dict[str, Node]) -> None:
    for name in ("button", "named", "password", "image", "range", "progress", "select", "date", "words", "rich", "heading", "tab"):
        assert nodes[name].children == (), name
    assert [c.text for c in nodes["link"].children] == ["a link"]
    assert [c.text for c in nodes["named-link"].children] == ["inner"]
    assert [c.text for c in nodes["item"].children] == ["• ", "One"]
    assert [c.content_desc for c in nodes["link-heading"].children] == ["Sole link"]


def test_what_is_hidden_is_absent_and_what_is_transparent_is_not(nodes: dict[str, Node]) -> None:
    assert "aria-hidden" not in nodes and "not-visible" not in nodes
    assert nodes["see-through"].text == "clear"


def test_bounds_are_whole_css_pixels_around_the_box_times_the_scale(nodes: dict[str, Node]) -> None:
    assert nodes["placed"].bounds == Bounds(10 * 3, 420 * 3 + 72, 61 * 3, 441 * 3 + 72)


def test_what_reaches_over_the_edge_is_cut_and_what_lies_outside_is_nowhere(nodes: dict[str, Node]) -> None:
    assert nodes["over-edge"].bounds == Bounds(340 * 3, 600 * 3 + 72, 1080, 630 * 3 + 72)
    assert nodes["last"].text == "Last" and nodes["last"].bounds == Bounds(0, 0, 0, 0)


def test_what_is_in_an_iframe_lies_where_it_is_seen(nodes: dict[str, Node]) -> None:
    frame = nodes["frame"]
    assert frame.children[0].text == "Within"
    x, y = 20 + 3 + 2 + 10, 500 + 3 + 2 + 5
    assert nodes["framed"].bounds == Bounds(x * 3, y * 3 + 72, (x + 80) * 3, (y + 30) * 3 + 72)


def test_a_scrolled_page_is_where_it_was_scrolled_to(browser: Browser, nodes: dict[str, Node]) -> None:
    moved = by_id(tree_of(_captured(browser, "scrollTo(0, 100)")))
    assert moved["placed"].bounds == nodes["placed"].bounds.shift(0, -300)
    assert moved["framed"].bounds == nodes["framed"].bounds.shift(0, -300)


@pytest.mark.parametrize("profile", ["current", "old"])
def test_no_coordinate_is_odd_at_three_pixels_a_css_pixel_and_nothing_is_long_clickable(capture: PageCapture, profile: Profile) -> None:
    for node in tree_of(capture, profile).nodes():
        box = node.bounds
        assert all(edge % 3 == 0 for edge in (box.left, box.top, box.right, box.bottom)), node
        assert not node.long_clickable


def test_one_capture_gives_one_tree(capture: PageCapture) -> None:
    assert tree_of(capture) == tree_of(capture)


def _web_nodes(tree: Hierarchy) -> Iterator[tuple[Node, Node]]:
    """Every node of web content in a recorded dump, with its parent."""

    def below(node: Node) -> Iterator[tuple[Node, Node]]:
        for child in node.children:
            yield child, node
            yield from below(child)

    for node in tree.nodes():
        inner = next((c for c in node.children if c.class_name == android.WEB_VIEW), None)
        if node.class_name == android.WEB_VIEW and inner is not None:
            yield from below(inner)


@needs_shared
def test_recorded_webviews_hold_the_same_rules() -> None:
    """Our trees are checked against Android's by what both must satisfy: classes, links, no long clicks, where text may be."""
    known = {*android.CLASSES.values(), *android.OLD_CLASSES.values(), android.VIEW, "android.widget.ImageButton"}
    seen = dumps = 0
    for path in sorted(CORPUS.rglob("*.xml")):
        if b"android.webkit.WebView" not in (content := path.read_bytes()):
            continue
        try:
            web = list(_web_nodes(parse_hierarchy(content)))
        except PhoneWorldError:
            continue
        dumps += bool(web)
        for node, _ in web:
            seen += 1
            assert node.class_name in known, (path.name, node.class_name)
            assert not node.long_clickable, path.name
    assert dumps >= 3 and seen >= 200
