"""Actions to JSON and back, and what is refused."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from phoneworld.errors import ActionError
from phoneworld.ui import action as act
from phoneworld.ui.action import action_from_json, action_to_json, check_on_screen, kind_of, points_of
from phoneworld.ui.geometry import Point, Size
from tests.ui.strategies import actions, sizes

SCREEN = Size(1080, 2400)
SPACES = st.sampled_from(["pixel", "unit", "thousand"])


@given(st.data(), sizes, SPACES)
def test_every_action_comes_back_from_json_in_every_space(data: st.DataObject, size: Size, space: act.Space) -> None:
    action = data.draw(actions(size))
    written = json.dumps(action_to_json(action, space=space, size=size))
    assert action_from_json(json.loads(written), size=size) == action


def test_json_knows_every_member_of_the_union() -> None:
    assert set(act.KINDS.values()) == set(get_args(act.Action))


_ANY = settings(phases=[Phase.generate], max_examples=2000, database=None)


@pytest.mark.parametrize("kind", act.KINDS)
def test_the_strategy_draws_every_kind(kind: str) -> None:
    assert kind_of(find(actions(SCREEN), lambda action: kind_of(action) == kind, settings=_ANY)) == kind


_SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@given(_JSON)
def test_json_that_names_no_kind_is_an_action_error(obj: object) -> None:
    with pytest.raises(ActionError):
        action_from_json(obj, size=SCREEN)


_NAMES = ["x", "y", "x2", "y2", "text", "key", "mode", "status", "scale", "duration_ms", "package", "space"]


@given(st.sampled_from(sorted(act.KINDS)), st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=4))
def test_ill_typed_fields_never_give_a_traceback(kind: str, fields: dict[str, object]) -> None:
    try:
        action = action_from_json({"kind": kind, **fields}, size=SCREEN)
    except ActionError as e:
        assert e.message
    else:
        check_on_screen(action, SCREEN)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({"kind": "fly"}, "unknown action kind"),
        ({"kind": "tap", "x": 1}, "lacks y"),
        ({"kind": "tap", "x": 1, "y": None}, "must be a number"),
        ({"kind": "tap", "x": 1, "y": 2, "z": 3}, "no field z"),
        ({"kind": "tap", "x": 1.5, "y": 2}, "whole numbers"),
        ({"kind": "tap", "x": True, "y": 2}, "must be a number"),
        ({"kind": "tap", "x": float("nan"), "y": 2}, "must be a number"),
        ({"kind": "tap", "x": 1080, "y": 2}, "outside the screen"),
        ({"kind": "tap", "x": 10**400, "y": 2}, "outside the screen"),
        ({"kind": "tap", "x": -1, "y": 2}, "outside the screen"),
        ({"kind": "tap", "x": 1.01, "y": 0, "space": "unit"}, "outside 0..1"),
        ({"kind": "tap", "x": 1001, "y": 0, "space": "thousand"}, "outside 0..1000"),
        ({"kind": "tap", "x": 1, "y": 0, "space": "inch"}, "unknown coordinate space"),
        ({"kind": "type", "text": "a", "x": 1}, "only one of x and y"),
        ({"kind": "press_key", "key": "any"}, "one of"),
        ({"kind": "finish", "status": "done"}, "one of"),
        ({"kind": "wait", "duration_ms": -1}, "0..600000"),
        ({"kind": "pinch", "x": 1, "y": 1, "scale": 0}, "above 0"),
        ([], "JSON object"),
    ],
)
def test_a_malformed_action_is_refused_with_its_reason(obj: object, message: str) -> None:
    with pytest.raises(ActionError, match=message):
        action_from_json(obj, size=SCREEN)


def test_a_relative_coordinate_without_a_screen_size_is_refused() -> None:
    with pytest.raises(ActionError, match="need the size"):
        action_from_json({"kind": "tap", "x": 0.5, "y": 0.5, "space": "unit"})
    with pytest.raises(ActionError, match="need the size"):
        action_to_json(act.Tap(1, 2), space="unit")


def test_the_far_edge_of_a_relative_space_is_the_last_pixel() -> None:
    assert action_from_json({"kind": "tap", "x": 1, "y": 1.0, "space": "unit"}, size=SCREEN) == act.Tap(1079, 2399)
    assert action_from_json({"kind": "tap", "x": 1000, "y": 0, "space": "thousand"}, size=SCREEN) == act.Tap(1079, 0)


def test_a_space_in_the_object_wins_over_the_argument() -> None:
    obj = {"kind": "tap", "x": 500, "y": 500, "space": "thousand"}
    assert action_from_json(obj, size=SCREEN, space="pixel") == act.Tap(540, 1200)


def test_json_leaves_out_what_is_default() -> None:
    assert action_to_json(act.LongPress(1, 2)) == {"kind": "long_press", "x": 1, "y": 2}
    assert action_to_json(act.TypeText("a")) == {"kind": "type", "text": "a"}


@given(st.data(), sizes)
def test_an_action_drawn_on_the_screen_passes_and_one_past_it_does_not(data: st.DataObject, size: Size) -> None:
    action = data.draw(actions(size))
    check_on_screen(action, size)
    points = points_of(action)
    smaller = Size(max((p.x for p in points), default=0), size.height)
    if points:
        with pytest.raises(ActionError, match="outside the screen"):
            check_on_screen(action, smaller)
    else:
        check_on_screen(action, smaller)


def test_points_are_given_in_the_order_of_the_finger() -> None:
    assert points_of(act.Swipe(1, 2, 3, 4)) == (Point(1, 2), Point(3, 4))
    assert points_of(act.TypeText("a")) == () == points_of(act.PressKey("back"))


def test_fields_that_lack_are_named_in_words() -> None:
    with pytest.raises(ActionError, match=r"^swipe lacks y, x2, y2$"):
        action_from_json({"kind": "swipe", "x": 1})
