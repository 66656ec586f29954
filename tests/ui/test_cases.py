"""Cases from the field, as far as they are about trees, geometry and coordinates. Each test reads its input in place.

Held elsewhere: retries and the marking of uncaptured steps (01), the stored capture mode (03) and the dump of a mock (07, 09)
by the tests of recorder, graph and adb face; the drawn page (07, 09) by those of render; one target in an action list (18) by
those of the recorder; screenshot sizes and re-capture (25) by those of device and recorder.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from phoneworld.errors import ActionError, DumpFailed, EmptyDump
from phoneworld.ui.action import Tap, action_from_json
from phoneworld.ui.compare import compare_trees
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Path
from phoneworld.ui.selector import Selector, find, node_keys, selector_for
from phoneworld.ui.xml import parse_hierarchy, parse_hierarchy_with_warnings, write_hierarchy
from tests.shared import CASES, needs_shared

pytestmark = needs_shared
SCREEN = Size(1080, 2400)


def read(name: str) -> Hierarchy:
    return parse_hierarchy((CASES / name).read_bytes())


def texts(tree: Hierarchy) -> list[str]:
    return [node.text for node in tree.nodes() if node.text]


def the_one(tree: Hierarchy, **conditions: Any) -> Path:
    (path,) = find(tree, Selector(**conditions))
    return path


def tapped(tree: Hierarchy, x: int, y: int, size: Size = SCREEN) -> str:
    """The id of what a tap at a point lands on."""
    hit = tree.hit_test(Point(x, y), "tap", size)
    assert hit is not None
    assert hit.target is not None
    return tree.at(hit.target).resource_id


def test_01_an_idle_error_is_a_failed_dump_that_quotes_the_device() -> None:
    with pytest.raises(DumpFailed) as caught:
        read("01-idle-error.txt")
    assert caught.value.line == "ERROR: could not get idle state."
    assert "animat" in caught.value.hint


def test_03_a_compressed_and_a_full_dump_of_one_screen_answer_a_tap_alike() -> None:
    full, compressed = read("03-compressed-full.xml"), read("03-compressed-short.xml")
    assert (len(list(full.nodes())), len(list(compressed.nodes()))) == (4, 3)
    assert texts(full) == texts(compressed)
    for tree in (full, compressed):
        hit = tree.hit_test(Point(100, 250), "tap", SCREEN)
        assert hit is not None
        assert tree.at(hit.node).text == "Wi-Fi"
        assert hit.target == (0, 0)


def test_03_what_has_an_id_has_one_name_in_both_dumps() -> None:
    full, compressed = read("03-compressed-full.xml"), read("03-compressed-short.xml")
    for tree in (full, compressed):
        assert node_keys(tree)[the_one(tree, text="Wi-Fi")] == "android:id/title"
        assert find(tree, selector_for(full, the_one(full, text="Wi-Fi"))) == (the_one(tree, text="Wi-Fi"),)
    missing = [difference for difference in compare_trees(full, compressed, SCREEN).differences if difference.attribute == "node"]
    assert len(missing) == 1


def test_05_the_document_is_taken_out_of_the_banners_around_it() -> None:
    tree = read("05-banner-glued.txt")
    assert texts(tree) == ["Inbox"]
    assert len(list(tree.nodes())) == 2


def test_05_an_empty_stream_is_a_dump_failure_and_not_an_empty_screen() -> None:
    banner = (CASES / "05-banner-glued.txt").read_bytes().splitlines()[0]
    for nothing in (b"", b"\r\n", banner):
        with pytest.raises(EmptyDump):
            parse_hierarchy(nothing)


def test_07_a_pair_of_surrogate_references_is_one_emoji_and_a_lone_half_is_replaced_with_a_warning() -> None:
    tree, warnings = parse_hierarchy_with_warnings((CASES / "07-surrogate-entities.xml").read_bytes())
    assert texts(tree) == ["ok \U0001f600 end", "half \ufffd only"]
    assert len(warnings) == 1
    written = write_hierarchy(tree)
    assert parse_hierarchy(written) == tree
    assert "\U0001f600".encode() in written
    assert b"&#55357" not in written


def test_09_newlines_and_tabs_are_kept_and_written_as_references() -> None:
    tree = read("09-newline.xml")
    assert texts(tree) == ["line one\nline two\n", "tab\there"]
    assert tree.at(the_one(tree, text="line one\nline two\n")).text.count("\n") == 2
    assert the_one(tree, content_desc="Profile\nTab 2 of 3") == (0, 0)
    written = write_hierarchy(tree)
    assert b"line one&#10;line two&#10;" in written
    assert b"tab&#9;here" in written
    assert parse_hierarchy(written) == tree


def test_10_single_quotes_and_missing_attributes_are_plain_xml() -> None:
    node = read("10-single-quotes.xml").at((0, 0))
    assert (node.text, node.content_desc, str(node.bounds)) == ('say "hi" & go', "it's", "[0,200][1080,300]")
    assert node.clickable
    assert node.enabled


def test_13_a_hint_reported_as_text_is_no_value() -> None:
    tree = read("13-hint-as-text.xml")
    empty, typed = tree.at((0, 0)), tree.at((0, 1))
    assert (empty.value, empty.hint) == ("", "Search notes")
    assert (typed.value, typed.hint) == ("milk", "Search notes")


def test_13_two_fields_without_a_name_stay_two_fields_that_take_text() -> None:
    tree = read("13-hint-missing.xml")
    fields = [path for path, node in tree.walk() if node.takes("type")]
    assert len(fields) == 2
    assert len({node_keys(tree)[path] for path in fields}) == 2
    assert [find(tree, selector_for(tree, path)) for path in fields] == [(path,) for path in fields]


def test_14_only_what_shares_area_with_the_screen_can_be_tapped_at_its_visible_middle() -> None:
    tree = read("14-offscreen.xml")
    points = {node.text: tree.tap_point(path, SCREEN) for path, node in tree.walk() if node.text}
    assert points == {"left page": None, "partly": Point(990, 2375), "below": None, "zero": None, "inverted": None}
    hit = tree.hit_test(Point(990, 2375), "tap", SCREEN)
    assert hit is not None
    assert hit.target == the_one(tree, text="partly")
    assert parse_hierarchy(write_hierarchy(tree)) == tree


def test_16_a_tap_goes_to_what_is_drawn_on_top_and_says_what_it_hides() -> None:
    case = json.loads((CASES / "16-occluded-tap.json").read_text())
    tree = read(case["tree"])
    hit = tree.hit_test(Point(*case["tap"]), "tap", SCREEN)
    assert hit is not None
    assert hit.target is not None
    assert tree.at(hit.target).resource_id == case["expect_target"]
    assert [tree.at(path).resource_id for path in hit.occluded] == [case["wrong_answers"][0]]


def test_18_tap_and_long_press_on_a_label_go_to_its_row() -> None:
    tree = read("18-clickable-parent.xml")
    label = tree.at(the_one(tree, text="Markup"))
    gestures: tuple[Gesture, ...] = ("tap", "long_press")
    for gesture in gestures:
        hit = tree.hit_test(label.bounds.center, gesture, SCREEN)
        assert hit is not None
        assert tree.at(hit.node) == label
        assert hit.target == (0, 0)


def test_19_widgets_that_share_an_id_are_told_apart() -> None:
    tree = read("19-duplicate-ids.xml")
    sounds, buttons = find(tree, Selector(text="Sound")), find(tree, Selector(resource_id="row_more"))
    assert (len(sounds), len(buttons)) == (2, 4)
    for paths in (sounds, buttons):
        selectors = {selector_for(tree, path) for path in paths}
        assert len(selectors) == len({node_keys(tree)[path] for path in paths}) == len(paths)
        assert {find(tree, selector) for selector in selectors} == {(path,) for path in paths}
    assert selector_for(tree, the_one(tree, text="Network")) == Selector(resource_id="android:id/title", text="Network")


def test_25_a_rotated_tree_is_in_the_axes_of_the_rotated_screen() -> None:
    tree = read("25-rotated.xml")
    landscape = Size(2400, 1080)
    assert tree.rotation == 1
    assert tree.extent == landscape
    assert tapped(tree, 2280, 100, landscape) == "com.example.app:id/done"
    assert tree.hit_test(Point(100, 2280), "tap", landscape) is None


def test_27_the_same_place_in_three_spaces_is_the_same_pixel() -> None:
    case = json.loads((CASES / "27-coordinate-space.json").read_text())
    display, image = Size(*case["display"]), Size(*case["model_image"])
    device, on_image, on_grid = case["cases"]
    x, y = device["tap"]
    assert action_from_json({"kind": "tap", "x": x, "y": y}, size=display) == Tap(*device["expect_device"])
    x, y = on_image["tap"]
    unit = {"kind": "tap", "space": "unit", "x": x / image.width, "y": y / image.height}
    x, y = on_grid["tap"]
    grid = {"kind": "tap", "space": "thousand", "x": x, "y": y}
    for obj, expected in ((unit, on_image), (grid, on_grid)):
        tap = action_from_json(obj, size=display)
        assert isinstance(tap, Tap)
        assert abs(tap.x - expected["expect_device"][0]) <= expected["tolerance_px"]
        assert abs(tap.y - expected["expect_device"][1]) <= expected["tolerance_px"]


@pytest.mark.parametrize("obj", [{"x": 2560, "y": 0}, {"x": 0, "y": 1536}, {"x": 1.5, "y": 0, "space": "unit"}, {"x": 0, "y": 1001, "space": "thousand"}])
def test_27_a_coordinate_outside_its_space_is_an_error(obj: dict[str, Any]) -> None:
    case = json.loads((CASES / "27-coordinate-space.json").read_text())
    with pytest.raises(ActionError):
        action_from_json({"kind": "tap", **obj}, size=Size(*case["display"]))
