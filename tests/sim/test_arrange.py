"""Arranging: every kind of rule, and what holds for all trees and all rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.program.codec import decode, encode
from phoneworld.program.placement import (
    Afloat,
    After,
    Axis,
    Before,
    Exactly,
    Extent,
    Far,
    Fill,
    Line,
    Lines,
    Middle,
    Near,
    Pinned,
    Placement,
    Portion,
    Position,
    Reach,
    Until,
    While,
    Words,
    Wrap,
)
from phoneworld.program.template import Drawn
from phoneworld.sim.arrange import arrange
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

SCREEN = Size(100, 200)
WINDOW = Placement(Axis(Near(0), Fill(0)), Axis(Near(0), Fill(0)))


def part(key: str, *kids: Drawn, text: str = "", row: int | None = None, checked: bool = False) -> Drawn:
    return Drawn(key, Node("View", text, checked=checked), row, kids)


def bounds(
    *kids: Drawn, scroll: int = 0, keyboard: bool = False, window: Placement = WINDOW, **rules: Placement | tuple[Axis, Axis]
) -> dict[str, str]:
    """Where the parts of a window lie, by key (and row)."""
    placement = {"window": window, **{k: r if isinstance(r, Placement) else Placement(*r) for k, r in rules.items()}}
    windows = (part("window", *kids),)
    nodes = arrange(windows, placement, SCREEN, keyboard=keyboard, density=40, scroll=scroll)
    found = [str(n.bounds) for n in Hierarchy(nodes).nodes()]
    return dict(zip((d.name for d in every(windows)), found, strict=True))


def every(windows: tuple[Drawn, ...]) -> Iterator[Drawn]:
    for drawn in windows:
        yield drawn
        yield from every(drawn.children)


def axis(position: Position, extent: Extent) -> Axis:
    return Axis(position, extent)


TOP = axis(Near(0), Exactly(10))


@pytest.mark.parametrize(
    ("rule", "start", "end"),
    [
        (axis(Near(5), Exactly(20)), 5, 25),
        (axis(Near(5), Fill(10)), 5, 90),
        (axis(Far(5), Exactly(20)), 75, 95),
        (axis(Middle(-10), Exactly(20)), 30, 50),
        (axis(Near(10), Portion(0.5, 5)), 10, 65),
        (axis(After(5, 7), Exactly(20)), 7, 27),
        (axis(Before(5, 7), Exactly(20)), 73, 93),
        (axis(Near(5), Until(5, 7)), 5, 93),
        (axis(Near(5), Words(10, 4)), 5, 19),
        (axis(Near(5), Words(10, 4, most=9)), 5, 14),
        (axis(Near(5), Words(10, 4, known={"kk": 50})), 5, 55),
        (axis(Near(5), Wrap(3, 6)), 5, 11),
        (axis(Near(5), Exactly(-20)), None, None),
    ],
)
def test_each_kind_along_x(rule: Axis, start: int | None, end: int | None) -> None:
    # "k" is half an em wide.
    found = bounds(part("a", text="kk"), a=(rule, TOP))["a"]
    assert found == ("[0,0][0,0]" if start is None else f"[{start},0][{end},10]")


def test_siblings_flow_and_what_is_not_there_leaves_no_gap() -> None:
    rules = {
        "a": (axis(Near(0), Fill(0)), axis(Near(5), Exactly(10))),
        "b": (axis(Near(0), Fill(0)), axis(After(2, 5), Exactly(10))),
        "c": (axis(Near(0), Fill(0)), axis(After(3, 5, gaps=(("b", 7.0),)), Exactly(10))),
    }
    assert bounds(part("a"), part("b"), part("c"), **rules)["c"] == "[0,34][100,44]"
    assert bounds(part("a"), part("c"), **rules)["c"] == "[0,18][100,28]"
    assert bounds(part("c"), **rules)["c"] == "[0,5][100,15]"


def test_a_field_makes_room_for_the_button_after_it() -> None:
    rules = {"field": (axis(Near(5), Until(2, 5)), TOP), "clear": (axis(Far(5), Exactly(20)), TOP)}
    assert bounds(part("field"), part("clear"), **rules) == {"window": "[0,0][100,200]", "field": "[5,0][73,10]", "clear": "[75,0][95,10]"}
    assert bounds(part("field"), **rules)["field"] == "[5,0][95,10]"


def test_parents_wrap_rows_and_columns_fill_them() -> None:
    rules = {
        "row": (axis(Near(0), Fill(0)), axis(After(1, 0), Wrap(2))),
        "tick": (axis(Near(0), Exactly(10)), axis(Near(0), Fill(0))),
        "words": (axis(Near(10), Fill(0)), axis(Near(2), Lines(10, 12, 0))),
    }
    rows = [part("row", part("tick", row=i), part("words", text=t, row=i), row=i) for i, t in enumerate(["one", "some words " * 3])]
    found = bounds(*rows, **rules)
    assert found["row#0"] == "[0,0][100,16]" and found["tick#0"] == "[0,0][10,16]"
    assert found["row#1"] == "[0,17][100,45]" and found["tick#1"] == "[0,17][10,45]"


def test_cells_wrap_into_lines() -> None:
    rules = {"cell": (axis(After(2, 1, wraps=True), Exactly(40)), axis(Line(3, 1), Exactly(20)))}
    found = bounds(*[part("cell", row=i) for i in range(3)], **rules)
    assert [found[f"cell#{i}"] for i in range(3)] == ["[1,1][41,21]", "[43,1][83,21]", "[1,24][41,44]"]


def test_the_floor_is_the_screens_bottom_or_the_keyboards_top() -> None:
    rules = {"a": (axis(Near(0), Fill(0)), axis(Afloat(10), Exactly(10))), "b": (axis(Near(0), Fill(0)), axis(Near(0), Reach(0, raised=90)))}
    assert bounds(part("a"), part("b"), **rules) == {"window": "[0,0][100,200]", "a": "[0,180][100,190]", "b": "[0,0][100,200]"}
    up = bounds(part("a"), part("b"), keyboard=True, **rules)
    assert up["b"] == "[0,0][100,110]"
    assert up["a"] == "[0,112][100,122]", "270 dp of keyboard at 40 dpi are 68 pixels"


def test_what_scrolls_is_moved_and_cut_and_what_is_pinned_is_not() -> None:
    page = Placement(Axis(Near(0), Fill(0)), Axis(Near(20), Fill(0)), clips=True, scrolls=True)
    rules = {
        "head": (axis(Near(0), Fill(0)), axis(Pinned(20), Exactly(10))),
        "row": (axis(Near(0), Fill(0)), axis(After(0, 10), Exactly(60))),
    }
    kids = [part("page", part("head"), *[part("row", row=i) for i in range(4)])]
    found = bounds(*kids, scroll=80, page=page, **rules)
    assert found["head"] == "[0,20][100,30]" and found["page"] == "[0,20][100,200]"
    assert [found[f"row#{i}"] for i in range(4)] == ["[0,0][0,0]", "[0,20][100,70]", "[0,70][100,130]", "[0,130][100,190]"]


def test_a_slot_may_lie_elsewhere_while_another_is_there_or_checked() -> None:
    x = axis(Near(0), Fill(0))
    low, high = axis(Near(100), Exactly(10)), axis(Near(50), Exactly(10))
    placement = Placement(x, low, cases=(While("bar", x, high), While("box", x, TOP, checked=True)))
    rules = {"a": placement, "bar": Placement(x, TOP), "box": Placement(x, TOP)}
    assert bounds(part("a"), **rules)["a"] == "[0,100][100,110]"
    assert bounds(part("a"), part("bar"), **rules)["a"] == "[0,50][100,60]"
    assert bounds(part("a"), part("box"), **rules)["a"] == "[0,100][100,110]"
    assert bounds(part("a"), part("box", checked=True), **rules)["a"] == "[0,0][100,10]"


def test_a_slot_without_a_rule_lies_as_it_was_seen_and_rows_of_it_below_each_other() -> None:
    def seen(key: str, box: Bounds, *kids: Drawn, row: int | None = None) -> Drawn:
        return Drawn(key, Node("View", bounds=box), row, kids)

    rows = [seen("row", Bounds(5, 30, 95, 50), row=i) for i in range(3)]
    nodes = arrange((seen("w", Bounds(0, 10, 100, 200), *rows),), {}, SCREEN, keyboard=False, density=160)
    assert [str(n.bounds) for n in Hierarchy(nodes).nodes()] == [
        "[0,10][100,200]", "[5,30][95,50]", "[5,50][95,70]", "[5,70][95,90]",
    ]  # fmt: skip


# --- laws ------------------------------------------------------------------------------------------------------------------

KEYS = ("window", "a", "b", "c", "d")
lengths = st.integers(-50, 250).map(float) | st.floats(-50, 250)
floors = st.none() | lengths
keys = st.sampled_from(KEYS)
positions: st.SearchStrategy[Position] = st.one_of(
    st.builds(Near, lengths),
    st.builds(After, lengths, lengths, st.lists(st.tuples(keys, lengths), max_size=2).map(tuple), st.booleans(), st.booleans()),
    st.builds(Line, lengths, lengths), st.builds(Before, lengths, lengths), st.builds(Far, lengths), st.builds(Middle, lengths),
    st.builds(Pinned, lengths), st.builds(Afloat, lengths, floors),
)  # fmt: skip
extents: st.SearchStrategy[Extent] = st.one_of(
    st.builds(Exactly, lengths), st.builds(Fill, lengths), st.builds(Until, lengths, lengths), st.builds(Reach, lengths, floors),
    st.builds(Wrap, lengths, lengths), st.builds(Portion, st.floats(-2, 2), lengths),
    st.builds(Words, st.floats(1, 40), lengths, floors, st.dictionaries(st.text(max_size=3), lengths, max_size=2)),
    st.builds(Lines, st.floats(1, 40), lengths, lengths, st.none() | st.integers(1, 4), lengths),
)  # fmt: skip
axes = st.builds(Axis, positions, extents)
cases = st.lists(st.builds(While, keys, axes, axes, st.none() | st.booleans()), max_size=1).map(tuple)
placements = st.builds(Placement, axes, axes, cases, st.booleans(), st.booleans(), st.booleans())


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> Drawn:
    node = Node("View", draw(st.text("ab \n", max_size=12)), bounds=Bounds(draw(st.integers(-9, 99)), 0, 50, draw(st.integers(-9, 99))))
    kids = [draw(trees(depth + 1)) for _ in range(draw(st.integers(0, 3 - depth)))]
    return Drawn("window" if not depth else draw(keys), node, draw(st.none() | st.integers(0, 2)), tuple(kids))


@settings(deadline=None)
@given(trees(), st.dictionaries(keys, placements), st.booleans(), st.integers(0, 300), trees())
def test_arranging_is_total_and_depends_on_nothing_that_was_arranged_before(
    tree: Drawn, placement: Mapping[str, Placement], keyboard: bool, scroll: int, other: Drawn
) -> None:
    def arranged(drawn: Drawn, rules: Mapping[str, Placement], *, keyboard: bool = keyboard) -> tuple[Node, ...]:
        return arrange((drawn,), rules, SCREEN, keyboard=keyboard, density=40, scroll=scroll)

    first = arranged(tree, placement)
    for node in Hierarchy(first).nodes():
        b = node.bounds
        assert 0 <= b.left <= b.right <= SCREEN.width and 0 <= b.top <= b.bottom <= SCREEN.height
    # Parts of the tree among others, at other places, and the keyboard the other way.
    shared = replace(other, children=(*other.children, *tree.children))
    for drawn in (other, shared, tree):
        assert arranged(drawn, placement, keyboard=not keyboard) == arranged(drawn, dict(placement), keyboard=not keyboard)
    assert arranged(tree, placement) == first
    assert arranged(tree, dict(placement)) == first, "with nothing kept of before"
    plain = [(d.key, d.node.text) for d in every((tree,))]
    assert [n.text for n in Hierarchy(first).nodes()] == [text for _, text in plain]


@settings(deadline=None)
@given(placements)
def test_placements_are_written_and_read_back(placement: Placement) -> None:
    def no_tree(_: object) -> str:
        raise AssertionError("placements hold no trees")

    assert decode(Placement, encode(placement, no_tree), no_tree) == placement  # type: ignore[arg-type]
