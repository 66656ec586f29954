"""The layered layout: nothing overlaps, lines end at the sides of their boxes, the same input gives the same drawing."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.render.graph_layout import Box, Layout, layered

NAMES = [f"n{i}" for i in range(12)]
edges_between_names = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=40, unique=True).map(
    lambda edges: [(a, b) for a, b in edges if a != b]
)


def laid_out(edges: list[tuple[str, str]], roots: tuple[str, ...] = ("n0",)) -> Layout:
    return layered({n: (100, 50 + 10 * i) for i, n in enumerate(NAMES)}, edges, roots, column_gap=200, row_gap=30)


@settings(deadline=None)
@given(edges_between_names)
def test_boxes_never_overlap_and_lie_within_the_drawing(edges: list[tuple[str, str]]) -> None:
    layout = laid_out(edges)
    assert set(layout.boxes) == set(NAMES)
    for a, b in combinations(layout.boxes.values(), 2):
        apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
        assert apart, (a, b)
    for box in layout.boxes.values():
        assert box.x >= 0 and box.y >= -0.01
        assert box.x + box.width <= layout.width + 0.01 and box.y + box.height <= layout.height + 0.01


@settings(deadline=None)
@given(edges_between_names)
def test_each_edge_is_one_line_from_a_side_of_its_source_to_a_side_of_its_target(edges: list[tuple[str, str]]) -> None:
    layout = laid_out(edges)
    assert [(line.source, line.target) for line in layout.lines] == edges

    def at_a_side(point: tuple[float, float], box: Box) -> bool:
        return point[0] in (box.x, box.x + box.width) and box.y < point[1] < box.y + box.height

    for line in layout.lines:
        source, target = layout.boxes[line.source], layout.boxes[line.target]
        assert at_a_side(line.points[0], source) and at_a_side(line.points[-1], target)
        assert line.backwards == (target.column <= source.column)
    ends = [(line.points[i], name) for line in layout.lines for i, name in ((0, line.source), (-1, line.target))]
    assert len(set(ends)) == len(ends), "no two lines meet a box at one point"


@settings(deadline=None)
@given(edges_between_names)
def test_lines_that_span_columns_pass_between_the_boxes(edges: list[tuple[str, str]]) -> None:
    layout = laid_out(edges)
    for line in layout.lines:
        for x, y in line.points[1:-1]:
            for box in layout.boxes.values():
                assert not (box.x <= x <= box.x + box.width and box.y < y < box.y + box.height)


def test_columns_count_the_steps_from_the_start() -> None:
    layout = laid_out([("n0", "n1"), ("n1", "n2"), ("n0", "n2"), ("n2", "n3"), ("n3", "n0")])
    assert [layout.boxes[n].column for n in ("n0", "n1", "n2", "n3")] == [0, 1, 1, 2]
    assert layout == laid_out([("n0", "n1"), ("n1", "n2"), ("n0", "n2"), ("n2", "n3"), ("n3", "n0")])


def test_no_box_is_an_empty_drawing() -> None:
    empty = layered({}, [], [], column_gap=1, row_gap=1)
    assert (empty.width, empty.height, empty.boxes, empty.lines) == (0, 0, {}, ())


@settings(deadline=None)
@given(edges_between_names)
def test_the_first_root_is_seen_first(edges: list[tuple[str, str]]) -> None:
    layout = laid_out(edges, ("n3", "n0"))
    start = layout.boxes["n3"]
    assert start.x == 0 and start.y <= 120
    assert all(start.y <= box.y for box in layout.boxes.values() if box.column == start.column)
