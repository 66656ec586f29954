"""Placements found in captures: what was seen is given back, and what was not lies where the real app put it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from examples.fidelity import lab
from examples.fidelity.apps import APPS
from phoneworld.compiler.arrangement import Sample, find_placements, sample_of, scroll_of
from phoneworld.fidelity.heldout import joined
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.program.placement import Afloat, After, Far, Lines, Middle, Pinned, Placement, Words, Wrap
from phoneworld.program.template import Drawn
from phoneworld.sim.arrange import arrange
from phoneworld.testing.samples import sample_graph
from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.node import Path as NodePath

SCREEN = Size(400, 800)
NEAR_PX = 8


def box(key: str, left: int, top: int, right: int, bottom: int, *kids: Drawn, text: str = "", row: int | None = None, **extra: bool) -> Drawn:
    return Drawn(key, Node("View", text, bounds=Bounds(left, top, right, bottom), **extra), row, kids)  # type: ignore[arg-type]


def sample(*kids: Drawn, keyboard: bool = False, bottom: int = 800) -> Sample:
    return Sample((box("window", 0, 0, 400, bottom, *kids),), SCREEN, 160, keyboard)


def every(windows: Sequence[Drawn]) -> Iterator[Drawn]:
    for drawn in windows:
        yield drawn
        yield from every(drawn.children)


def shown(windows: Sequence[Node]) -> list[Bounds]:
    return [node.bounds for node in Hierarchy(tuple(windows)).nodes()]


def laid(drawn: Sample, placement: Mapping[str, Placement]) -> list[Bounds]:
    return shown(
        arrange(
            drawn.windows, placement, drawn.size, keyboard=drawn.keyboard, density=drawn.density, scroll=scroll_of(drawn, placement)
        )
    )


def misplaced(samples: Sequence[Sample], placement: Mapping[str, Placement], within: int = NEAR_PX) -> tuple[int, int]:
    """How many widgets that are or should be in sight lie elsewhere, and of how many."""
    wrong = of = 0
    for one in samples:
        for drawn, found in zip(every(one.windows), laid(one, placement), strict=True):
            if drawn.node.bounds.is_empty and found.is_empty:
                continue
            of += 1
            wrong += drawn.node.bounds.largest_edge_distance(found) > within
    return wrong, of


# --- one kind at a time ----------------------------------------------------------------------------------------------------


def listed(*heights: int, note: bool = False) -> Sample:
    """A heading, maybe a note, and a list of rows of some heights under it, in a box that wraps them."""
    kids = [box("heading", 0, 20, 400, 60)]
    at = 60
    if note:
        kids.append(box("note", 20, 64, 380, 94))
        at = 94
    top = at = at + 10
    rows = []
    for i, height in enumerate(heights):
        rows.append(box("row", 20, at, 380, at + height, box("title", 30, at + 5, 200, at + height - 5, text="x"), row=i))
        at += height + 4
    return sample(*kids, box("list", 0, top, 400, at + 6, *rows))


def test_rows_follow_each_other_and_their_list_wraps_them() -> None:
    found = find_placements([listed(40, 40), listed(40), listed(40, 40, 40)])
    assert found["row"].y.position == After(4, 0)
    assert isinstance(found["list"].y.extent, Wrap) and found["list"].y.extent.pad == 10
    assert misplaced([listed(*[40] * 9)], found, 0) == (0, 21)


def test_what_is_not_there_leaves_no_gap() -> None:
    found = find_placements([listed(40, 40), listed(40, note=True), listed(40, 40, 40)])
    assert misplaced([listed(40, 40, 40, 40, note=True), listed(40)], found, 0)[0] == 0


def test_the_floor_carries_a_button_and_the_keyboard_lifts_it() -> None:
    def page(*, keyboard: bool) -> Sample:
        bottom = 530 if keyboard else 800  # 270 dp of keyboard, as our phones have it
        inside = box("inside", 0, 0, 400, bottom, box("text", 0, 0, 400, bottom), box("add", 340, bottom - 60, 390, bottom - 10))
        return sample(inside, keyboard=keyboard)

    found = find_placements([page(keyboard=False), page(keyboard=True)])
    assert misplaced([page(keyboard=False), page(keyboard=True)], found, 0)[0] == 0
    unseen = find_placements([page(keyboard=False)])
    assert isinstance(unseen["add"].y.position, Afloat)
    assert misplaced([page(keyboard=True)], unseen, 0)[0] == 0


def test_a_bar_that_ends_with_the_screen_stays_above_the_keyboard_as_high_as_it_is() -> None:
    """It touches the rim each time, as what is cut by it does; but its height is the same at both rims."""
    floor = system.keyboard_bounds(SCREEN, 160).top

    def page(form: int, *, keyboard: bool) -> Sample:
        end = floor if keyboard else 800
        parts = (box("form", 0, 0, 400, min(form, end)), box("bar", 0, end - 60, 400, end))
        return sample(box("web", 0, 0, 400, end, *parts, scrollable=True), keyboard=keyboard, bottom=end)

    placement = find_placements([page(500, keyboard=False), page(650, keyboard=False), page(650, keyboard=True), page(690, keyboard=True)])
    unseen = page(300, keyboard=True)
    bars = [b for d, b in zip(every(unseen.windows), laid(unseen, placement), strict=True) if d.key == "bar"]
    assert bars == [Bounds(0, floor - 60, 400, floor)]


def test_a_button_that_makes_way_for_a_bar_lies_by_whether_the_bar_is_there() -> None:
    def page(words: str, *, bar: bool) -> Sample:
        add = box("add", 340, 640 if bar else 740, 390, 690 if bar else 790)
        return sample(box("text", 0, 20, 400, 400, text=words), add, *([box("bar", 0, 700, 400, 800)] if bar else []))

    found = find_placements([page(f"{bar}{i}", bar=bar) for i in range(3) for bar in (True, False)])
    assert [case.key for case in found["add"].cases] == ["bar"]
    assert misplaced([page("new", bar=True), page("newer", bar=False)], found, 0)[0] == 0


def test_a_dialog_is_in_the_middle_however_high_it_is() -> None:
    def page(height: int) -> Sample:
        top = 400 - height // 2
        return sample(box("dialog", 40, top, 360, top + height, box("words", 60, top + 20, 340, top + height - 20, text="x" * height)))

    found = find_placements([page(200), page(100), page(160)])
    assert isinstance(found["dialog"].y.position, Middle)


def test_an_icon_at_the_far_end_stays_there() -> None:
    def page(width: int, words: str) -> Sample:
        return sample(box("chip", 10, 10, 10 + width, 50, box("close", width - 20, 20, width, 40), text=words))

    found = find_placements([page(100, "abcdefgh"), page(180, "abcdefghabcdefgh"), page(140, "abcdefghabcd")])
    assert found["close"].x.position == Far(10)


def test_widths_follow_words_and_known_words_are_exact() -> None:
    def page(words: str, width: int) -> Sample:
        return sample(box("label", 10, 10, 10 + width, 40, text=words))

    found = find_placements([page("aaaa", 54), page("aaaaaaaa", 98), page("aaaaaa", 76), page("Zu", 60)])
    extent = found["label"].x.extent
    assert isinstance(extent, Words) and extent.known["Zu"] == 60
    assert laid(page("Zu", 60), found)[1].width == 60
    assert abs(laid(page("aaaaaaaaaa", 0), found)[1].width - 120) <= NEAR_PX


def test_long_texts_take_more_lines_until_they_are_cut() -> None:
    words = "one two three four five six seven eight nine ten eleven twelve"

    def page(count: int, lines: int) -> Sample:
        text = " ".join(words.split()[:count])
        return sample(box("body", 10, 10, 110, 10 + 20 * lines + 4, text=text), box("below", 10, 20 + 20 * lines, 110, 50 + 20 * lines))

    # At about 7 pixels a letter, "one two" fills half a line of 100 pixels.
    found = find_placements([page(1, 1), page(2, 1), page(4, 2), page(8, 3), page(12, 3), page(11, 3), page(5, 2)])
    extent = found["body"].y.extent
    assert isinstance(extent, Lines) and extent.most == 3 and round(extent.line) == 20
    assert misplaced([page(3, 1), page(10, 3)], found, 1)[0] == 0


def scrolled(by: int, rows: int = 30) -> Sample:
    """A page whose head stays while its list moves under it; what is out of sight has no bounds."""

    def cut(left: int, top: int, right: int, bottom: int) -> tuple[int, int, int, int]:
        top, bottom = max(50, top), min(800, bottom)
        return (left, top, right, bottom) if top < bottom else (0, 0, 0, 0)

    lines = [box("row", *cut(0, 100 + 50 * i - by, 400, 140 + 50 * i - by), text=f"Row {i}", row=i) for i in range(rows)]
    content = box("content", *cut(0, 100 - by, 400, 100 + 50 * rows - by), *lines)
    head = box("head", 0, 50, 400, 100, box("name", 20, 60, 200, 90, text="Name"))
    return sample(box("page", 0, 50, 400, 800, head, content, scrollable=True))


def test_scrolled_captures_are_found_out_and_given_back() -> None:
    seen = [scrolled(0), scrolled(0, rows=28), scrolled(120), scrolled(325), scrolled(0, rows=3)]
    found = find_placements(seen)
    assert found["page"].scrolls and found["page"].clips
    assert isinstance(found["head"].y.position, Pinned)
    assert [scroll_of(s, found) for s in seen] == [0, 0, 120, 325, 0]
    assert misplaced([*seen, scrolled(230)], found, 0)[0] == 0


def folded(*items: int, opened: int) -> Sample:
    """A page of headings, one with items under it, so many each; what lies below the screen has no bounds."""

    def cut(left: int, top: int, right: int, bottom: int) -> tuple[int, int, int, int]:
        return (left, top, right, min(800, bottom)) if top < 800 else (0, 0, 0, 0)

    kids, at = [], 0
    for n, count in enumerate(items):
        kids.append(box(f"head{n}", *cut(0, at, 400, at + 60)))
        at += 60
        if n == opened:
            lines = [box(f"item{n}.{i}", *cut(0, at + 50 * i, 400, at + 50 * i + 50), text=f"{n}.{i}") for i in range(count)]
            kids.append(box(f"fold{n}", *cut(0, at, 400, at + 50 * count), *lines))
            at += 50 * count
    return sample(box("page", 0, 0, 400, 800, *kids, scrollable=at > 800))


def test_what_was_never_in_sight_is_placed_as_its_like_was() -> None:
    """The last item of the second fold was below the screen, and its end too, whenever that was unfolded."""
    counts = (3, 14)
    found = find_placements([folded(*counts, opened=-1), folded(*counts, opened=0), folded(*counts, opened=1)])
    assert not found["item1.13"].hidden
    everything = folded(*counts, opened=1)
    bounds = arrange(everything.windows, found, SCREEN, keyboard=False, density=160, scroll=20)
    placed = {b for b in shown(bounds)}
    assert Bounds(0, 100, 400, 800) in placed and Bounds(0, 750, 400, 800) in placed


def test_what_never_had_a_place_has_none() -> None:
    seen = [sample(box("ghost", 0, 0, 0, 0, box("inside", 0, 0, 0, 0)), box("seen", 0, 0, 10, 10))]
    found = find_placements(seen)
    assert found["ghost"].hidden and misplaced(seen, found) == (0, 2)


def test_no_samples_no_placements() -> None:
    assert find_placements([]) == {}


# --- laws ------------------------------------------------------------------------------------------------------------------

heights = st.integers(12, 60)


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(heights, max_size=6), st.booleans()), min_size=1, max_size=6))
@example([([12], True), ([30, 30], False), ([34], True)])  # a row that fills a list that wraps it
def test_finding_is_total_and_deterministic_and_what_is_explained_is_given_back(shapes: list[tuple[list[int], bool]]) -> None:
    samples = [listed(*hs, note=note) for hs, note in shapes]
    found = find_placements(samples)
    assert found == find_placements(samples)
    assert set(found) == {drawn.key for one in samples for drawn in every(one.windows)}
    if all(rule.explained == 1 for rule in found.values()):
        slack = round(samples[0].tolerance) * 8  # what each of eight below each other may be off
        assert misplaced(samples, found, slack)[0] == 0


@st.composite
def heaps(draw: st.DrawFn) -> Sample:
    """Any tree with any bounds."""
    keys = iter("abcdefgh")

    def one(depth: int) -> Drawn:
        left, top, right, bottom = (draw(st.integers(-50, 900)) for _ in range(4))
        kids = [one(depth + 1) for key in keys if draw(st.booleans())][:3] if depth < 3 else []
        return box(next(keys, "z"), left, top, right, bottom, *kids, text=draw(st.text(max_size=4)), row=draw(st.none() | st.just(1)))

    return Sample((one(0),), SCREEN, draw(st.sampled_from([160, 480])), draw(st.booleans()))


@settings(deadline=None)
@given(st.lists(heaps(), min_size=1, max_size=4))
def test_senseless_captures_do_no_harm(samples: list[Sample]) -> None:
    found = find_placements(samples)
    for one in samples:
        assert all(b.left <= b.right and b.top <= b.bottom for b in laid(one, found))


# --- recordings ------------------------------------------------------------------------------------------------------------


def matched(capture: Capture, density: int) -> Sample:
    """The capture as a sample: slots by class, id without numbers and place; what is in a list is rows of one slot."""
    places: dict[NodePath, tuple[str, int | None]] = {}

    def visit(node: Node, path: NodePath, key: str, row: int | None) -> None:
        places[path] = key, row
        count: Counter[str] = Counter()
        for i, child in enumerate(node.children):
            name = child.resource_id.rstrip("0123456789") or child.class_name
            if row is None and node.class_name.endswith(("ListView", "RecyclerView")):
                visit(child, (*path, i), f"{key}/{child.class_name}", i)
            else:
                visit(child, (*path, i), f"{key}/{name}.{count[name]}", row)
            count[name] += 1

    for i, window in enumerate(capture.hierarchy.windows):
        visit(window, (i,), f"window{i}", None)
    return sample_of(capture, places, density)


def by_screen(graph: StateGraph) -> dict[object, list[Sample]]:
    """Samples grouped by the ids that are not those of rows: a coarse screen."""
    found: dict[object, list[Sample]] = {}
    for capture in graph.captures.values():
        ids = {n.resource_id for n in capture.hierarchy.nodes() if n.resource_id.startswith(("screen", "dialog"))}
        key = frozenset(ids) or (capture.state.package, capture.state.activity)
        found.setdefault(key, []).append(matched(capture, graph.device.density))
    return found


def test_the_groceries_lie_where_they_lay() -> None:
    graph, _ = sample_graph()
    wrong = of = 0
    for samples in by_screen(graph).values():
        off, seen = misplaced(samples, find_placements(samples))
        wrong, of = wrong + off, of + seen
    assert of > 250 and wrong <= 0.02 * of


def halves(samples: list[Sample]) -> Iterator[tuple[list[Sample], list[Sample]]]:
    mixed = Random(1).sample(samples, len(samples))
    yield mixed[::2], mixed[1::2]
    yield mixed[1::2], mixed[::2]


def test_captures_that_were_held_out_are_foretold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real web app, recorded here: rules from half of the captures of a screen place the widgets of the other half."""
    monkeypatch.setattr(lab, "CACHE", tmp_path)
    monkeypatch.setattr(lab, "LENGTHS", (16,))
    graph = joined(lab.recorded(APPS["notes"], "train", 32))
    wrong = of = 0
    for samples in by_screen(graph).values():
        if len(samples) < 4:
            continue
        for learnt, held in halves(samples):
            off, seen = misplaced(held, find_placements(learnt))
            wrong, of = wrong + off, of + seen
    assert of > 300, "too little was recorded to tell"
    assert wrong <= 0.08 * of, f"{wrong} of {of} lie elsewhere"


def test_matching_a_capture_keeps_its_nodes() -> None:
    graph, _ = sample_graph()
    capture = next(iter(graph.captures.values()))
    windows = matched(capture, 160).windows
    assert [d.node for d in every(windows)] == [replace(n, children=()) for n in capture.hierarchy.nodes()]
