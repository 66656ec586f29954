"""Which recorded pixels still hold: pairing of trees, covers, pieces, live widgets. No browser here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from phoneworld.render.composition import Composition, Live, Patch, Piece
from phoneworld.render.live import compose, pair
from phoneworld.render.style import Picture
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.render import scenes


def composed(now: Hierarchy) -> Composition:
    return compose(now, scenes.tree(), Picture(scenes.picture()), scenes.DENSITY)


def test_an_equal_tree_needs_nothing_over_the_picture() -> None:
    assert composed(scenes.tree()).is_recorded


def test_a_changed_text_is_covered_and_drawn_live() -> None:
    made = composed(scenes.change((0, 0), text="Things 9"))
    assert [type(i) for i in made.items] == [Live]
    assert made.items[0].path == (0, 0)
    assert len(made.covers) == 1
    assert made.covers[0].ground.start == scenes.PAPER


def test_rows_below_a_deleted_one_take_their_pixels_along() -> None:
    made = composed(scenes.without_row(1))
    pieces = {item.path: item for item in made.items if isinstance(item, Piece)}
    assert pieces[(0, 3, 1)] == Piece((0, 3, 1), Bounds(0, 320, 360, 380), Bounds(0, 260, 360, 320))
    assert pieces[(0, 3, 2)].source.top - pieces[(0, 3, 2)].target.top == scenes.ROW


def test_a_widget_above_a_cover_is_put_back() -> None:
    made = composed(scenes.without_row(3))
    again = [i for i in made.items if isinstance(i, Piece) and i.path == scenes.FAB]
    assert again == [Piece(scenes.FAB, Bounds(280, 390, 336, 446), Bounds(280, 390, 336, 446))]


def test_a_toggle_takes_the_pixels_of_one_that_stands_as_it_does_now() -> None:
    made = composed(scenes.change((0, 3, 2, 0), checked=True))
    (piece,) = made.items
    assert isinstance(piece, Piece)
    assert piece.source == scenes.tree().at((0, 3, 1, 0)).bounds


def test_a_field_that_only_got_the_focus_keeps_its_pixels_and_gets_a_caret() -> None:
    made = composed(scenes.change(scenes.FIELD, focused=True))
    assert not made.covers
    assert [i.why for i in made.items if isinstance(i, Live)] == ["caret"]


def test_the_frame_of_a_field_is_not_covered() -> None:
    made = composed(scenes.change(scenes.FIELD, text="tea"))
    (cover,) = made.covers
    assert cover.bounds.bottom <= 114
    words = Bounds(20, 88, 76, 104)
    assert cover.bounds.intersect(words) == words


def test_a_toggle_named_by_its_label_is_shown_by_another_with_its_own_words() -> None:
    def segment(name: str, left: int, checked: bool) -> tuple[Node, Node]:
        radio = Node("android.widget.RadioButton", name, checkable=True, checked=checked, clickable=True, bounds=Bounds(left, 500, left + 100, 540))
        return radio, Node("android.widget.TextView", name, bounds=Bounds(left + 30, 508, left + 80, 532))

    def page(chosen: str) -> Hierarchy:
        parts = [*segment("Small", 20, chosen == "Small"), *segment("Large", 140, chosen == "Large")]
        return Hierarchy((Node("android.widget.FrameLayout", bounds=scenes.SIZE.bounds, children=tuple(parts)),))

    made = compose(page("Small"), page("Large"), Picture(scenes.picture()), scenes.DENSITY)
    pieces = [i for i in made.items if isinstance(i, Piece)]
    assert [(p.source.left, p.target.left) for p in pieces] == [(140, 20), (20, 140)]
    assert [i.path for i in made.items if isinstance(i, Live)] == [(0, 1), (0, 3)]
    assert sum(isinstance(i, Patch) for i in made.items) == 2


def test_a_hidden_widget_is_covered() -> None:
    made = composed(scenes.change(scenes.FAB, visible=False))
    assert made.covers[0].bounds.intersect(scenes.tree().at(scenes.FAB).bounds) == scenes.tree().at(scenes.FAB).bounds


def test_a_new_row_is_drawn_like_those_beside_it() -> None:
    before = scenes.tree()
    rows = before.at(scenes.LIST).children
    fresh = scenes.shifted(rows[3], scenes.ROW)
    fresh = replace(fresh, children=(fresh.children[0], replace(fresh.children[1], text="Echo")))
    made = composed(before.replace_at(scenes.LIST, replace(before.at(scenes.LIST), children=(*rows, fresh))))
    live = [i for i in made.items if isinstance(i, Live)]
    assert [i.path for i in live] == [(0, 3, 4, 1)]
    assert live[0].model is not None and live[0].model.resource_id == "x:id/title"
    assert any(isinstance(i, Piece) and i.path == (0, 3, 4, 0) for i in made.items)


def test_pairs_follow_rows_not_indexes() -> None:
    pairs = pair(scenes.without_row(0), scenes.tree())
    assert pairs[(0, 3, 0)] == (0, 3, 1)
    assert pairs[(0, 3, 2, 1)] == (0, 3, 3, 1)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), unique=True), st.text(max_size=12))
def test_whatever_is_deleted_or_renamed_each_new_node_is_paired_once_and_with_its_kind(gone: list[int], text: str) -> None:
    before = scenes.tree()
    rows = [row for i, row in enumerate(before.at(scenes.LIST).children) if i not in gone]
    if rows:
        rows[0] = replace(rows[0], children=(rows[0].children[0], replace(rows[0].children[1], text=text)))
    now = before.replace_at(scenes.LIST, replace(before.at(scenes.LIST), children=tuple(rows)))
    pairs = pair(now, before)
    assert len(set(pairs.values())) == len(pairs)
    for ours, theirs in pairs.items():
        assert now.at(ours).class_name == before.at(theirs).class_name
    composed(now)


def test_the_title_of_a_web_page_stands_nowhere_on_it() -> None:
    """Its WebView reports the title as text: another title must not cover the whole page."""
    page = replace(scenes.tree().windows[0], class_name="android.webkit.WebView", text="Things")
    made = compose(Hierarchy((replace(page, text="Call the plumber"),)), Hierarchy((page,)), Picture(scenes.picture()), scenes.DENSITY)
    assert made.is_recorded


def test_a_container_named_by_what_is_in_it_is_not_covered_when_that_changes() -> None:
    whole = scenes.tree()
    made = compose(
        Hierarchy((replace(scenes.change((0, 0), text="Things 9").windows[0], text="Things 9 and more"),)),
        Hierarchy((replace(whole.windows[0], text="Things and more"),)),
        Picture(scenes.picture()),
        scenes.DENSITY,
    )
    assert [i.path for i in made.items] == [(0, 0)]


CARD = Bounds(20, 100, 340, 180)


def card(bottom: int, *, moved: int = 0) -> Hierarchy:
    """A card on a page, and what it holds: a title that is as high as the card lets it be."""
    box = Bounds(CARD.left, CARD.top + moved, CARD.right, bottom)
    title = Node("android.widget.TextView", "Title", "x:id/title", bounds=Bounds(60, 120 + moved, 300, bottom - 20))
    row = Node("android.widget.LinearLayout", "", "x:id/card", bounds=box, children=(title,))
    return Hierarchy((Node("android.widget.FrameLayout", bounds=scenes.SIZE.bounds, children=(row,)),))


def card_picture() -> np.ndarray:
    image = Image.new("RGB", (scenes.SIZE.width, scenes.SIZE.height), (200, 204, 200))
    ImageDraw.Draw(image).rounded_rectangle((CARD.left, CARD.top, CARD.right - 1, CARD.bottom - 1), 14, (255, 255, 255))
    return np.asarray(image)


def test_a_card_of_another_height_takes_its_corners_along_and_its_ground_is_laid_between_them() -> None:
    made = compose(card(260), card(180), Picture(card_picture()), scenes.DENSITY)
    corners = [i for i in made.items if isinstance(i, Piece) and i.source.width == i.source.height]
    assert {(i.source.left, i.source.top) for i in corners} == {(20, 100), (324, 100), (20, 164), (324, 164)}
    assert {(i.target.left, i.target.top) for i in corners} == {(20, 100), (324, 100), (20, 244), (324, 244)}
    (ground,) = [i.cover for i in made.items if isinstance(i, Patch)]
    assert ground.ground.start == (255, 255, 255) and ground.bounds.bottom > 240
    assert len(made.covers) == 1, "the title is covered with the card that it stood on"


def test_what_moved_and_is_a_pixel_higher_takes_its_pixels_along() -> None:
    made = compose(card(241, moved=60), card(180), Picture(card_picture()), scenes.DENSITY)
    assert [i for i in made.items if isinstance(i, Piece)] == [Piece((0, 0), CARD, CARD.shift(0, 60))]
