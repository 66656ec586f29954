"""The drawing of a graph: whole, well-formed, without network, and harmless whatever was recorded."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from lxml import etree, html

from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.identity import screens_of
from phoneworld.render.browser import Browser, BrowserError, find_chromium
from phoneworld.render.graph_page import draw, graph_page, graph_svg
from phoneworld.ui.geometry import Size
from tests.graph.recordings import imported
from tests.graph.sample import PACKAGE, SIZE, notes_graph, screen, text
from tests.shared import needs_shared

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload=\x00\ud83d"


def hostile_graph() -> tuple[StateGraph, dict[str, bytes]]:
    graph, pictures = notes_graph()
    captures = {
        n: replace(
            c,
            hierarchy=screen(text(HOSTILE, "alertTitle", clickable=True), text(HOSTILE, "b", top=100)),
            notes=(HOSTILE,),
        )
        for n, c in graph.captures.items()
    }
    app, device = (
        replace(graph.app, label=HOSTILE, version=HOSTILE),
        replace(graph.device, model=HOSTILE, locale=HOSTILE),
    )
    return replace(graph, captures=captures, app=app, device=device, source=HOSTILE, created=HOSTILE), pictures


@pytest.mark.parametrize("make", [notes_graph, hostile_graph])
def test_recorded_words_are_text_and_never_markup(make: object) -> None:
    graph, pictures = make()  # type: ignore[operator]
    svg = etree.fromstring(graph_svg(graph, pictures).encode())
    assert not [e for e in svg.iter() if etree.QName(e).localname in ("script", "foreignObject", "a", "iframe")]
    page = html.fromstring(graph_page(graph, pictures, warnings=(HOSTILE,)))
    assert page.xpath("//script | //iframe | //link | //object | //@onload | //@onerror") == []
    for root in (svg, page):
        addresses = [v for e in root.iter() for k, v in e.attrib.items() if k.rpartition("}")[2] in ("src", "href")]
        assert all(a.startswith(("data:image/jpeg;base64,", "#")) for a in addresses)


def test_the_page_forbids_itself_any_network() -> None:
    graph, pictures = notes_graph()
    page = graph_page(graph, pictures)
    assert "default-src 'none'" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_the_summary_counts_what_is_there() -> None:
    graph, pictures = notes_graph()
    page = html.fromstring(graph_page(graph, pictures))
    figures = {d.findtext("dt"): d.findtext("dd") for d in page.xpath("//dl[@class='figures']/div")}
    assert figures == {
        "captures": "3", "screens": "2", "traces": "2", "transitions": "3", "actions with several outcomes": "0", "unsettled captures": "1"
    }  # fmt: skip


def test_every_screen_is_drawn_and_every_step_between_screens_has_its_arrow() -> None:
    graph, pictures = notes_graph()
    drawing = draw(graph, pictures)
    assert {b.id for b in drawing.boxes} == set(screens_of(graph))
    assert sorted(a.label for a in drawing.arrows) == ["back", "tap “Añadir 😀 \u202eמרחב”"]
    stays = [s for b in drawing.boxes for s in b.stays]
    assert stays == ["type “naïve 😀\x01” into …"]


def test_a_screen_without_a_picture_is_drawn_from_its_tree_and_passwords_are_not() -> None:
    graph, _ = notes_graph()
    secret = Capture("p", screen(text("hunter2", "secret", password=True), text("plain", "x", top=100)), SIZE)
    drawing = draw(replace(graph, captures={"p": secret}, traces=()), {})
    (box,) = drawing.boxes
    assert box.picture == "" and [w.words for w in box.wires if w.words] == ["•••••••", "plain"]


def test_an_unreadable_picture_leaves_the_frame_empty() -> None:
    graph, pictures = notes_graph()
    drawing = draw(graph, dict.fromkeys(pictures, b"\x89PNG\r\n\x1a\nbroken"))
    assert all(box.picture == "" for box in drawing.boxes)


@needs_shared
def test_a_run_is_drawn_with_small_thumbnails() -> None:
    recording = imported("droidbot-album-sample")
    page = graph_page(recording.graph, recording.screenshots)
    assert len(page) < 400_000
    svg = etree.fromstring(graph_svg(recording.graph, recording.screenshots).encode())
    assert len(svg.findall(f".//{SVG}image")) == 9
    words = " ".join(svg.itertext())
    assert "Access to failure" in words and "tap “Select Image” ×4" in words


@needs_shared
def test_a_folder_of_unlike_dumps_is_drawn_in_rows() -> None:
    recording = imported("seq-korneo-smoke")
    drawing = draw(recording.graph, recording.screenshots)
    assert drawing.arrows == () and len({b.y for b in drawing.boxes}) > 1 and drawing.width < 2000


def test_chromium_shows_it_and_asks_the_network_for_nothing() -> None:
    try:
        find_chromium()
    except BrowserError as e:
        pytest.skip(f"no Chromium: {e.message}")
    graph, pictures = hostile_graph()
    with Browser.launch() as browser:
        page = browser.page(Size(1200, 800))
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda r: asked.append(r.url) if not r.url.startswith("data:") else None)
        page.on("console", lambda m: said.append(m.text))
        page.on("dialog", lambda d: said.append(d.message))
        page.set_content(graph_page(graph, pictures))
        boxes = page.locator("svg.graph g.box")
        assert boxes.count() == len(draw(graph, pictures).boxes)
        assert boxes.first.bounding_box() is not None
        assert asked == [] and said == []
    assert PACKAGE in graph.app.package
