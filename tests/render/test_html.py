"""Pages drawn from trees: nothing recorded can break out of its place, and each widget shows what it is."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.render.html import tree_page, view_page
from phoneworld.render.templates import templates_folder
from phoneworld.render.widgets import icon_of, kind_of_look
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy
from tests.render import scenes
from tests.shared import CASES, needs_shared

SCREEN = Size(400, 800)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(1)</script>",
    "' style='background:url(https://evil.example/x)",
    "url(javascript:alert(1))",
    "{{7*7}}",
    "{% include 'secret' %}",
    "</title></main></body>",
    "<!-- --><![CDATA[",
    "\x00\x08\ud83d half",
)


class Strict(html.parser.HTMLParser):
    """Collects tags, attributes and text as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def lone(node: Node) -> Hierarchy:
    return Hierarchy((Node("android.widget.FrameLayout", bounds=SCREEN.bounds, children=(node,)),))


def everywhere(text: str, class_name: str) -> Hierarchy:
    node = Node(
        class_name, text, text, text, text, hint=text, checkable=True, clickable=True, focused=True,
        bounds=Bounds(10, 40, 390, 120), extra=(("drawing", text),),
    )  # fmt: skip
    return lone(node)


def assert_harmless(page: str, plain: str) -> None:
    """The page has the very tags and attribute names of the same page with a harmless text in the place of the hostile one."""
    found, expected = Strict(page), Strict(plain)
    assert [(tag, sorted(attrs)) for tag, attrs in found.tags] == [(tag, sorted(attrs)) for tag, attrs in expected.tags]
    assert "script" not in {tag for tag, _ in found.tags}
    for tag, attrs in found.tags:
        style = attrs.get("style") or ""
        assert "url(" not in style and "evil" not in style
        assert not any(name.startswith("on") for name in attrs)
        for name in ("src", "href"):
            assert (attrs.get(name) or "data:").startswith("data:"), (tag, attrs)
    assert "49" not in "".join(found.words)


@pytest.mark.parametrize("class_name", [
    "android.widget.TextView", "android.widget.EditText", "android.widget.Button", "android.widget.CheckBox",
    "android.widget.ImageView", "android.widget.Switch", "android.webkit.WebView", "android.widget.Spinner",
    "android.inputmethodservice.Keyboard$Key", "android.view.View",
])  # fmt: skip
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(class_name: str, text: str) -> None:
    harmless = "a" * len(text)
    assert_harmless(tree_page(everywhere(text, class_name), SCREEN, 160), tree_page(everywhere(harmless, class_name), SCREEN, 160))


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60), st.sampled_from(["android.widget.TextView", "android.widget.EditText", "android.widget.Button"]))
def test_any_words_stay_words(text: str, class_name: str) -> None:
    page = tree_page(everywhere(text, class_name), SCREEN, 160)
    page.encode()
    assert {tag for tag, _ in Strict(page).tags} <= {"html", "head", "meta", "title", "style", "body", "main", "div", "span", "i", "svg", "path"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words_on_a_picture(text: str) -> None:
    now = scenes.change((0, 0), text=text).replace_at(scenes.FIELD, replace(scenes.tree().at(scenes.FIELD), text=text, focused=True))
    plain = scenes.change((0, 0), text="a" * len(text)).replace_at(scenes.FIELD, replace(scenes.tree().at(scenes.FIELD), text="a" * len(text), focused=True))
    pixels = {scenes.SHA: scenes.png()}
    assert_harmless(view_page(scenes.view(now), pixels), view_page(scenes.view(plain), pixels))


def test_a_page_refers_to_nothing_outside_itself() -> None:
    page = view_page(scenes.view(scenes.without_row(1)), {scenes.SHA: scenes.png()})
    assert "Content-Security-Policy" in page and "default-src &#39;none&#39;" not in page
    without_inline = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]*", "", page)
    assert not re.search(r"(?:https?:)?//[a-z]", without_inline)


def test_every_look_has_a_template() -> None:
    for name in (
        "TextView", "EditText", "Button", "ImageButton", "ImageView", "CheckBox", "Switch", "RadioButton", "CheckedTextView", "SeekBar",
        "ProgressBar", "RatingBar", "Spinner", "ToggleButton", "VideoView", "Toolbar",
    ):  # fmt: skip
        node = Node(f"android.widget.{name}", "words", bounds=Bounds(0, 0, 100, 40))
        kind = kind_of_look(node, leaf=True)
        assert kind in ("group", "card", "bar") or (templates_folder() / "widgets" / f"{kind}.html").is_file(), (name, kind)


def test_toggles_show_their_state_to_people_and_to_programs() -> None:
    for class_name, role in (("CheckBox", "checkbox"), ("Switch", "switch"), ("RadioButton", "radio")):
        for checked in (True, False):
            node = Node(f"android.widget.{class_name}", "Wi-Fi", checkable=True, checked=checked, bounds=Bounds(0, 0, 300, 60))
            (drawn,) = (a for _, a in Strict(tree_page(lone(node), SCREEN, 160)).tags if a.get("role") == role)
            assert drawn["aria-checked"] == str(checked).lower()
            assert ("on" in (drawn["class"] or "").split()) == checked
            assert drawn["aria-label"] == "Wi-Fi"


def test_a_password_is_bullets() -> None:
    node = Node("android.widget.EditText", "hunter2", password=True, bounds=Bounds(0, 0, 300, 60))
    page = tree_page(lone(node), SCREEN, 160)
    assert "•••••••" in "".join(Strict(page).words) and "hunter2" not in page


def test_a_hint_that_old_phones_give_as_text_is_a_hint() -> None:
    node = Node("android.widget.EditText", "Search notes", hint="Search notes", bounds=Bounds(0, 0, 300, 60))
    page = tree_page(lone(node), SCREEN, 160)
    assert 'class="label hint"' in page and page.count("Search notes</span>") == 1


def test_words_of_a_container_are_not_said_twice() -> None:
    inner = Node("android.widget.TextView", "Milk", bounds=Bounds(10, 10, 200, 50))
    row = Node("android.view.ViewGroup", "", content_desc="Milk", clickable=True, bounds=Bounds(0, 0, 400, 60), children=(inner,))
    assert "".join(Strict(tree_page(lone(row), SCREEN, 160)).words).count("Milk") == 1


def test_invisible_and_offscreen_nodes_are_not_drawn() -> None:
    for node in (
        Node("android.widget.TextView", "Ghost", visible=False, bounds=Bounds(0, 0, 100, 50)),
        Node("android.widget.TextView", "Ghost", bounds=Bounds(0, 900, 100, 950)),
        Node("android.widget.TextView", "Ghost", bounds=Bounds(0, 0, 0, 0)),
    ):
        assert "Ghost" not in tree_page(lone(node), SCREEN, 160)


def test_icons_are_chosen_by_words() -> None:
    for words, icon in (("Navigate up", "back"), ("More options", "more"), ("Search", "search"), ("", ""), ("Camembert", "")):
        assert icon_of(Node("android.widget.ImageButton", content_desc=words)) == icon


def test_a_tree_without_a_picture_gets_a_status_bar_only_where_its_place_is_free() -> None:
    free = scenes.view(lone(Node("android.widget.TextView", "Low", bounds=Bounds(0, 100, 300, 140))), recorded=False)
    taken = scenes.view(lone(Node("android.widget.TextView", "High", bounds=Bounds(0, 0, 300, 20))), recorded=False)
    assert "Battery" in view_page(free, {}) and "Battery" not in view_page(taken, {})


def test_no_pixels_draws_from_the_tree() -> None:
    page = view_page(scenes.view(scenes.tree()), {scenes.SHA: scenes.png()}, with_pixels=False)
    assert "data:image" not in page and "Charlie" in page


@needs_shared
@pytest.mark.parametrize("case", ["13-hint-as-text.xml", "14-offscreen.xml", "60-cjk-emoji.xml", "62-password.xml", "35-fab-open.xml"])
def test_cases_are_drawn(case: str) -> None:
    tree = parse_hierarchy((CASES / case).read_bytes())
    drawn = Strict(tree_page(tree, tree.extent, 420))
    said = "".join(drawn.words)
    for node in tree.nodes():
        if node.text and node.visible and not node.bounds.intersect(tree.extent.bounds).is_empty:
            assert node.text in said or node.children
