"""Half-open rectangles of whole pixels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phoneworld.ui.geometry import Bounds, Point, Size
from tests.ui.strategies import SMALL, on_small, small_points

BOX = Bounds(10, 20, 30, 40)


def test_left_and_top_edges_belong_to_a_rectangle_and_right_and_bottom_to_the_neighbour() -> None:
    assert BOX.contains(Point(10, 20))
    assert BOX.contains(Point(29, 39))
    assert not BOX.contains(Point(30, 20))
    assert not BOX.contains(Point(10, 40))
    assert not BOX.contains(Point(9, 20))


def test_a_screen_holds_its_first_and_last_pixel_only() -> None:
    screen = Size(1080, 2400)
    assert screen.contains(Point(0, 0))
    assert screen.contains(Point(1079, 2399))
    assert not screen.contains(Point(1080, 0))
    assert not screen.contains(Point(0, -1))
    assert screen.bounds == Bounds(0, 0, 1080, 2400)


def test_rectangles_that_only_touch_share_nothing() -> None:
    assert BOX.intersect(Bounds(30, 20, 50, 40)).is_empty
    assert not BOX.overlaps(Bounds(10, 40, 30, 60))


def test_empty_and_inverted_rectangles_hold_nothing_and_measure_nothing() -> None:
    for box in (Bounds(5, 5, 5, 9), Bounds(9, 9, 2, 2), Bounds(0, 9, 9, 2)):
        assert box.is_empty
        assert box.area == 0
        assert not box.contains(Point(5, 5))
        assert not box.overlaps(box)


@given(on_small, on_small, small_points)
def test_a_point_is_in_the_common_part_exactly_when_it_is_in_both(a: Bounds, b: Bounds, point: Point) -> None:
    assert a.intersect(b).contains(point) == (a.contains(point) and b.contains(point))


@given(on_small, on_small)
def test_two_rectangles_overlap_exactly_when_their_common_part_has_area(a: Bounds, b: Bounds) -> None:
    assert a.overlaps(b) == (not a.intersect(b).is_empty) == b.overlaps(a)


@given(on_small)
def test_the_centre_of_a_rectangle_with_area_lies_in_it(box: Bounds) -> None:
    assert box.is_empty or box.contains(box.center)


@given(on_small, st.integers(-50, 50), st.integers(-50, 50))
def test_shifting_there_and_back_changes_nothing(box: Bounds, dx: int, dy: int) -> None:
    moved = box.shift(dx, dy)
    assert moved.shift(-dx, -dy) == box
    assert moved.area == box.area
    assert box.largest_edge_distance(moved) == max(abs(dx), abs(dy))


@given(on_small)
def test_area_counts_the_pixels(box: Bounds) -> None:
    on_screen = box.intersect(SMALL.bounds)
    assert on_screen.area == sum(box.contains(Point(x, y)) for x in range(SMALL.width) for y in range(SMALL.height))


def test_bounds_read_as_in_a_dump() -> None:
    assert str(Bounds(-1, 2, 3, 4)) == "[-1,2][3,4]"
