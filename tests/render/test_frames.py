"""Pictures of views, with a real Chromium: what is recorded stays to the pixel, what is gone leaves no pixel behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray
from PIL import Image

from phoneworld.errors import BrowserError
from phoneworld.render import painter
from phoneworld.render.browser import Browser
from phoneworld.render.frames import Renderer, picture_at
from phoneworld.render.html import screen_fragment, screen_shell, tree_page, view_page
from phoneworld.render.painter import Painter
from phoneworld.render.style import Picture
from phoneworld.sim.view import View
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.system import keyboard_bounds
from phoneworld.ui.xml import parse_hierarchy
from tests.render import scenes
from tests.shared import CASES, needs_shared

pytestmark = pytest.mark.usefixtures("kept_chromium")


def decoded(png: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def box(rgb: NDArray[np.uint8], bounds: Bounds) -> NDArray[np.uint8]:
    return rgb[bounds.top : bounds.bottom, bounds.left : bounds.right]


def test_a_recorded_state_is_the_recorded_picture_without_a_browser(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", "/nowhere")
    view = scenes.view(scenes.tree())
    assert np.array_equal(renderer.array(view), scenes.picture())
    assert renderer.png(view) == scenes.png()


def test_chromium_shows_a_recorded_picture_to_the_pixel() -> None:
    """Why the recorded pixels may be taken as they are: the page around them changes none of them."""
    picture = Picture(np.random.default_rng(1).integers(0, 256, (640, 360, 3), dtype=np.uint8))
    drawn = Painter()
    try:
        shell, fragment = screen_shell(scenes.SIZE), screen_fragment([], scenes.SIZE, 160, picture="/shot")
        png = drawn.paint(shell, fragment, scenes.SIZE, lambda path: picture_at(picture, path.removeprefix("/shot")))
    finally:
        drawn.close()
    assert np.array_equal(decoded(png), picture.rgb)


def test_the_self_contained_page_shows_what_the_renderer_gives(renderer: Renderer, browser: Browser) -> None:
    view = scenes.view(scenes.without_row(1))
    page = browser.page(scenes.SIZE)
    page.set_content(view_page(view, {scenes.SHA: scenes.png()}))
    assert np.array_equal(decoded(page.screenshot()), renderer.array(view))
    page.context.close()


@pytest.mark.parametrize("index", range(4))
def test_no_pixel_of_a_deleted_row_remains(renderer: Renderer, index: int) -> None:
    before = scenes.picture()
    after = renderer.array(scenes.view(scenes.without_row(index)))
    assert scenes.hued_like(before, scenes.ROW_COLOURS[index]).sum() > 100
    words = Bounds(50, 200, 279, 640)
    assert scenes.hued_like(box(after, words), scenes.ROW_COLOURS[index]).sum() == 0
    fab = scenes.tree().at(scenes.FAB).bounds
    for other in range(index + 1, 4):
        row = scenes.tree().at((*scenes.LIST, other, 1)).bounds
        there = box(after, row.shift(0, -scenes.ROW))
        if row.intersect(fab).is_empty:
            assert np.array_equal(there, box(before, row)), "the rows below it keep their pixels"
        else:
            assert scenes.hued_like(there[:, :200], scenes.ROW_COLOURS[other]).any(), "one that a widget lay over is drawn anew"
    outside = after.copy()
    outside[fab.top : fab.bottom, fab.left : fab.right] = scenes.PAPER
    assert not scenes.near(outside, scenes.FAB_COLOUR).any(), "what lay over a row does not move with it"
    for other in range(index):
        row = scenes.tree().at((*scenes.LIST, other)).bounds
        if row.intersect(fab).is_empty:
            assert np.array_equal(box(after, row), box(before, row))
    assert np.array_equal(box(after, fab), box(before, fab))


def test_no_pixel_of_a_changed_text_remains(renderer: Renderer) -> None:
    path = (*scenes.LIST, 2, 1)
    after = renderer.array(scenes.view(scenes.change(path, text="iii")))
    bounds = scenes.tree().at(path).bounds
    changed = np.abs(box(after, bounds).astype(int) - box(scenes.picture(), bounds).astype(int)).sum(axis=2)
    ink = scenes.hued_like(box(after, bounds), scenes.ROW_COLOURS[2])
    assert changed.any() and ink.any(), "the new words have the old colour"
    right = box(after, Bounds(bounds.left + 40, bounds.top, bounds.right, bounds.bottom))
    assert (right == scenes.PAPER).all(), "where only the longer old word was there is paper"
    outside = after.copy()
    outside[bounds.top : bounds.bottom, bounds.left : bounds.right] = box(scenes.picture(), bounds)
    assert np.array_equal(outside, scenes.picture()), "and nothing else has changed"


def test_a_longer_text_goes_on_into_free_space(renderer: Renderer) -> None:
    before = scenes.tree()
    narrow = replace(before.at((0, 0)), text="12", bounds=Bounds(16, 10, 60, 50))
    picture = scenes.picture()
    picture[10:50, 60:344] = scenes.PAPER
    recorded = before.replace_at((0, 0), narrow)
    now = before.replace_at((0, 0), replace(narrow, text="12345678"))
    drawing = Renderer({scenes.SHA: scenes.png(picture)})
    view = View(now, scenes.SIZE, scenes.DENSITY, DeviceState(), "k", recorded, scenes.SHA)
    try:
        after = drawing.array(view)
    finally:
        drawing.close()
    assert scenes.near(box(after, Bounds(70, 10, 344, 50)), scenes.INK).any()


def test_a_toggle_without_a_model_is_drawn_live_in_its_new_state(renderer: Renderer) -> None:
    before = scenes.tree()
    rows = before.at(scenes.LIST).children
    unticked = tuple(replace(row, children=(replace(row.children[0], checked=False), row.children[1])) for row in rows)
    recorded = before.replace_at(scenes.LIST, replace(before.at(scenes.LIST), children=unticked))
    picture = scenes.picture()
    mark = Bounds(18, 280, 38, 300)
    picture[mark.top + 2 : mark.bottom - 2, mark.left + 2 : mark.right - 2] = scenes.PAPER
    now = recorded.replace_at((*scenes.LIST, 1, 0), replace(recorded.at((*scenes.LIST, 1, 0)), checked=True))
    drawing = Renderer({scenes.SHA: scenes.png(picture)})
    view = View(now, scenes.SIZE, scenes.DENSITY, DeviceState(), "k", recorded, scenes.SHA)
    try:
        after = drawing.array(view)
    finally:
        drawing.close()
    assert scenes.near(box(after, mark), (20, 90, 200)).mean() > 0.4, "ticked in the accent colour of the picture, where the box was"
    assert scenes.near(box(picture, mark), (20, 90, 200)).mean() == 0


def test_typed_text_stands_where_the_hint_was_and_the_line_below_stays(renderer: Renderer) -> None:
    now = scenes.change(scenes.FIELD, text="milk", focused=True)
    after = renderer.array(scenes.view(now))
    assert (after[114:116, 20:340] == (90, 90, 96)).all()
    words = box(after, Bounds(18, 72, 100, 113))
    assert not scenes.hued_like(words, (130, 130, 136)).any() or scenes.near(words, scenes.INK, 90).any()
    assert scenes.near(words, scenes.INK, 90).any(), "typed words are as dark as the other words, not as the hint"


@needs_shared
def test_twenty_pictures_of_a_focused_field_are_equal_to_the_byte() -> None:
    tree = parse_hierarchy((CASES / "13-hint-as-text.xml").read_bytes())
    path = next(p for p, n in tree.walk() if n.is_editable)
    tree = tree.replace_at(path, replace(tree.at(path), focused=True, text=""))
    drawing = Renderer({})
    try:
        shots = {drawing.png(View(tree, Size(1080, 2400), 420, DeviceState(), f"k{i}")) for i in range(20)}
    finally:
        drawing.close()
    assert len(shots) == 1


def test_pictures_are_equal_across_browsers_too(own_chromium: None) -> None:
    view = scenes.view(scenes.change(scenes.FIELD, focused=True, text="caret"))
    shots = set()
    for _ in range(3):
        drawing = Renderer({scenes.SHA: scenes.png()})
        shots.add(drawing.png(view))
        drawing.close()
    assert len(shots) == 1


def test_the_keyboard_is_drawn_over_the_bottom(renderer: Renderer) -> None:
    plain = renderer.array(scenes.view(scenes.tree()))
    up = renderer.array(scenes.view(scenes.tree(), "up", keyboard=True))
    top = keyboard_bounds(scenes.SIZE, scenes.DENSITY).top
    assert np.array_equal(up[: top - 1], plain[: top - 1])
    assert (up[top:] != plain[top:]).any(axis=2).mean() > 0.6


def test_equal_keys_are_drawn_once(renderer: Renderer) -> None:
    first = renderer.array(scenes.view(scenes.without_row(0), "same"))
    assert renderer.array(scenes.view(scenes.tree(), "same")) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1


def test_sizes(renderer: Renderer) -> None:
    view = scenes.view(scenes.tree())
    assert renderer.array(view, Size(180, 320)).shape == (320, 180, 3)
    assert np.array_equal(renderer.array(view, Size(180, 320))[0, 0], scenes.PAPER)
    assert Image.open(io.BytesIO(renderer.png(view, Size(90, 160)))).size == (90, 160)
    jpeg = Image.open(io.BytesIO(renderer.jpeg(view, 90, Size(120, 213))))
    assert (jpeg.format, jpeg.size) == ("JPEG", (120, 213))


def test_a_device_size_is_the_picture_size() -> None:
    drawing = Renderer({})
    node = Node("android.widget.TextView", "x", bounds=Bounds(0, 0, 50, 50))
    try:
        for size in (Size(1080, 2400), Size(1, 1), Size(2400, 1080)):
            assert drawing.array(View(Hierarchy((node,)), size, 420, DeviceState(), str(size))).shape == (size.height, size.width, 3)
    finally:
        drawing.close()


def test_many_threads_get_their_own_pictures(renderer: Renderer) -> None:
    views = [scenes.view(scenes.change((0, 0), text=f"Things {i}"), f"t{i}") for i in range(6)]
    found: dict[str, bytes] = {}

    def ask(view: View) -> None:
        found[view.key] = renderer.png(view)

    threads = [threading.Thread(target=ask, args=(v,)) for v in views for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found.values())) == 6
    alone = Renderer({scenes.SHA: scenes.png()})
    assert {v.key: alone.png(v) for v in views} == found
    alone.close()


def test_a_killed_chromium_is_started_again(own_chromium: None, renderer: Renderer) -> None:
    expected = renderer.png(scenes.view(scenes.without_row(0), "a"))
    shared = painter._shared.painter
    assert shared is not None and shared._browser is not None
    for process in shared._browser._processes:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=20)
    assert renderer.png(scenes.view(scenes.without_row(0), "b")) == expected


def test_the_last_renderer_to_close_ends_chromium(own_chromium: None) -> None:
    first, second = Renderer({}), Renderer({})
    view = scenes.view(scenes.tree(), recorded=False)
    first.png(view)
    second.png(view)
    running = painter._shared.painter
    assert running is not None and running._browser is not None
    processes = running._browser._processes
    first.close()
    first.close()
    assert all(p.is_running() for p in processes)
    second.close()
    for process in processes:
        process.wait(timeout=20)


def test_without_chromium_the_error_names_the_mend(own_chromium: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", "/nowhere")
    drawing = Renderer({})
    try:
        with pytest.raises(BrowserError, match="/nowhere"):
            drawing.png(scenes.view(scenes.tree(), recorded=False))
    finally:
        drawing.close()


def test_a_missing_or_broken_picture_is_drawn_from_the_tree() -> None:
    for pixels in ({}, {scenes.SHA: b"broken"}):
        drawing = Renderer(pixels)
        try:
            assert not np.array_equal(drawing.array(scenes.view(scenes.tree())), scenes.picture())
        finally:
            drawing.close()


def test_a_process_that_forgets_to_close_leaves_nothing_behind() -> None:
    script = (
        "from phoneworld.render.frames import Renderer\n"
        "from phoneworld.render import painter\n"
        "from tests.render import scenes\n"
        "r = Renderer({})\n"
        "r.png(scenes.view(scenes.tree(), recorded=False))\n"
        "print(*[p.pid for p in painter._shared.painter._browser._processes])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    for pid in done.stdout.split():
        assert not psutil.pid_exists(int(pid)) or psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE


@needs_shared
def test_other_scripts_have_glyphs_and_arabic_runs_from_the_right(browser: Browser) -> None:
    """Case 60: with the fonts installed no line is drawn as boxes."""
    tree = parse_hierarchy((CASES / "60-cjk-emoji.xml").read_bytes())
    page = browser.page(tree.extent)
    page.set_content(tree_page(tree, tree.extent, 420))
    lines = decoded(page.screenshot())
    for node in tree.nodes():
        if not node.text:
            continue
        boxes = Hierarchy((replace(tree.windows[0], children=(replace(node, text="\U0010ffff" * max(1, len(node.text))),)),))
        page.set_content(tree_page(boxes, tree.extent, 420))
        tofu = box(decoded(page.screenshot()), node.bounds)
        line = box(lines, node.bounds)
        ink = np.flatnonzero((line != line[0, 0]).any(axis=(0, 2)))
        assert len(ink), node.text
        assert not np.array_equal(line, tofu), node.text
        if any(0x590 <= ord(c) <= 0x6FF for c in node.text):
            assert line.shape[1] - ink[-1] < ink[0], f"{node.text} stands at the right"
    page.context.close()
