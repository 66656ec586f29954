"""When a screen is at rest: transcripts of what a phone shows over time, on a clock that only moves when somebody waits."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pytest
from PIL import Image

from phoneworld.device.device import InstalledApp
from phoneworld.device.settle import Reading, is_black, png_size, same_picture, settle, sight_digest
from phoneworld.errors import CaptureFailed, DeviceLost
from phoneworld.ui.action import Action
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy
from tests.shared import CASES, needs_shared

SIZE = Size(200, 400)
T = TypeVar("T")


def tree(*children: Node, size: Size = SIZE) -> Hierarchy:
    root = Node("android.widget.FrameLayout", package="com.example", bounds=size.bounds, children=children)
    return Hierarchy((root,))


def word(text: str, top: int = 100) -> Node:
    return Node("android.widget.TextView", text=text, package="com.example", bounds=Bounds(10, top, 190, top + 30))


def png(shade: int, spot: Bounds | None = None, size: Size = SIZE) -> bytes:
    picture = Image.new("RGB", (size.width, size.height), (shade, shade, shade))
    if spot is not None:
        picture.paste((255, 0, 0), (spot.left, spot.top, spot.right, spot.bottom))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


SPINNER = Node("android.widget.ProgressBar", resource_id="com.example:id/progress", bounds=Bounds(80, 180, 120, 220))
Shown = Hierarchy | CaptureFailed | DeviceLost


@dataclass
class Playback:
    """A phone that shows what a transcript says: from each time on, a tree (or a failure) and a picture."""

    trees: Sequence[tuple[int, Shown]]
    pictures: Sequence[tuple[int, bytes | CaptureFailed]] = field(default_factory=lambda: [(0, png(200))])
    tree_ms: int = 0
    picture_ms: int = 0
    now_s: float = 0.0
    asked: int = 0

    serial = "playback"
    info = DeviceInfo(SIZE, density=160)

    def _at(self, script: Sequence[tuple[int, T]]) -> T:
        return [shown for since, shown in script if since <= round(self.now_s * 1000)][-1]

    def hierarchy(self) -> Hierarchy:
        self.asked += 1
        shown = self._at(self.trees)
        self.now_s += self.tree_ms / 1000
        if isinstance(shown, Exception):
            raise shown
        return shown

    def screenshot(self) -> bytes:
        shown = self._at(self.pictures)
        self.now_s += self.picture_ms / 1000
        if isinstance(shown, Exception):
            raise shown
        return shown

    def state(self) -> DeviceState:
        return DeviceState("com.example", ".Main")

    def clock(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        # A wait of nothing would never end in a transcript whose clock only moves by waiting.
        self.now_s += max(seconds, 0.001)

    def perform(self, action: Action) -> None: ...

    def apps(self) -> tuple[InstalledApp, ...]:
        return ()

    def clear_app(self, package: str) -> None: ...

    def close(self) -> None: ...

    def settled(self, **options: object) -> Reading:
        return settle(self, clock=self.clock, sleep=self.sleep, **options)  # type: ignore[arg-type]


@needs_shared
def test_a_spinner_is_never_the_result() -> None:
    case = json.loads((CASES / "40-spinner-trace.json").read_text())
    script = [(d["t"], parse_hierarchy(d["xml"].encode())) for d in case["dumps"]]
    before, spinner, results = script[0][1], script[1][1], script[-1][1]
    reading = Playback(script, [(0, png(200, size=before.extent))]).settled(before=before)
    assert reading.settled
    assert reading.hierarchy == results
    assert reading.waited_ms == case["expect"]["settle_ms"]
    assert [t.hierarchy for t in reading.transients] == [spinner]


def test_a_spinner_that_never_ends_is_kept_and_marked() -> None:
    phone = Playback([(0, tree(word("query"))), (100, tree(SPINNER))])
    reading = phone.settled(before=tree(word("query")), timeout_s=2.0, busy_timeout_s=6.0)
    assert not reading.settled
    assert "unsettled" in reading.notes
    assert reading.hierarchy == tree(SPINNER)
    assert 5.9 <= phone.now_s < 6.5, "a progress widget prolongs the wait to its own limit"


def test_a_progress_widget_that_is_part_of_the_screen_does_not_prolong_the_wait() -> None:
    known = Playback([(0, tree(SPINNER, word("40 %")))]).settled(timeout_s=1, busy_timeout_s=2)
    again = Playback([(0, tree(SPINNER, word("40 %", 300)))])
    assert again.settled(calm=known.busy).settled
    assert again.now_s < 1


def test_after_a_spinner_the_result_gets_its_own_time_to_rest() -> None:
    reading = Playback([(0, tree(SPINNER)), (7000, tree(word("done")))]).settled(timeout_s=5.0, busy_timeout_s=12.0)
    assert reading.settled
    assert reading.waited_ms == 7000


def test_a_still_screen_needs_two_looks() -> None:
    phone = Playback([(0, tree(word("here")))])
    reading = phone.settled()
    assert reading.settled
    assert (reading.waited_ms, reading.transients, phone.asked) == (0, (), 2)


def test_a_screen_that_has_not_reacted_yet_is_waited_for() -> None:
    before = tree(word("list"))
    reading = Playback([(0, before), (250, tree(word("detail")))]).settled(before=before)
    assert reading.hierarchy == tree(word("detail"))
    assert reading.transients == (), "the screen before the action is no transient"


def test_an_action_without_effect_settles_on_the_same_screen() -> None:
    before = tree(word("list"))
    phone = Playback([(0, before)])
    reading = phone.settled(before=before)
    assert reading.settled and reading.hierarchy == before
    assert 0.35 <= phone.now_s < 0.6


def test_a_blank_page_is_not_taken_for_a_screen_at_once() -> None:
    reading = Playback([(0, tree()), (700, tree(word("loaded")))]).settled()
    assert reading.hierarchy == tree(word("loaded"))


def test_a_pane_that_catches_touches_while_the_page_changes_is_waited_out() -> None:
    pane = Node("android.view.View", package="com.example", clickable=True, bounds=SIZE.bounds)
    before, caught, after = tree(word("list")), tree(word("detail"), pane), tree(word("detail"))
    assert Playback([(0, before), (100, caught), (800, after)]).settled(before=before).hierarchy == after
    for stays in (caught, tree(pane, word("list")), tree(word("list"), replace(pane, resource_id="com.example:id/scrim"))):
        phone = Playback([(0, stays)])
        assert phone.settled(before=before).hierarchy == stays, "one that stays is kept"
        assert (phone.now_s > 0.9) == (stays is caught), "one that lies below, or has a name, is no such pane"
    known = Playback([(0, caught), (100, replaced := tree(word("edit"), pane))])
    assert known.settled(before=caught).hierarchy == replaced and known.now_s < 0.9, "it was there before"


def test_words_that_say_what_is_going_on_are_waited_for_where_nothing_can_be_touched() -> None:
    for words in ("Creating budget...", "Opening the database…"):
        ready = tree(word("Budget"))
        assert Playback([(0, tree(word(words))), (7000, ready)]).settled().hierarchy == ready
    menu = tree(word("Search…"), replace(word("Go", 200), clickable=True))
    phone = Playback([(0, menu)])
    assert phone.settled().hierarchy == menu and phone.now_s < 1.0, "a hint, a menu entry"


def test_a_page_that_draws_itself_is_kept_as_opaque() -> None:
    reading = Playback([(0, tree())]).settled()
    assert reading.settled
    assert "opaque" in reading.notes


def test_tree_and_picture_must_agree() -> None:
    """The tree stands still while the picture still slides in: the picture kept is the one at rest."""
    phone = Playback([(0, tree(word("menu")))], [(0, png(10)), (50, png(60)), (150, png(120))])
    reading = phone.settled()
    assert reading.settled
    assert reading.screenshot == png(120)


def test_a_picture_that_never_rests_is_kept_at_the_limit() -> None:
    phone = Playback([(0, tree(word("video")))], [(t, png(t // 100 + 1)) for t in range(0, 10_000, 100)])
    reading = phone.settled(timeout_s=1.0)
    assert not reading.settled
    assert reading.hierarchy == tree(word("video"))


def test_the_clock_and_the_caret_do_not_keep_a_screen_from_resting() -> None:
    field_ = Node("android.widget.EditText", text="milk", focused=True, clickable=True, bounds=Bounds(0, 200, 200, 240))
    caret, clock = Bounds(50, 205, 52, 235), Bounds(5, 2, 30, 20)
    pictures = [(t, png(200, caret if t % 200 else clock)) for t in range(0, 5000, 100)]
    assert Playback([(0, tree(field_))], pictures).settled().settled


def test_pixels_elsewhere_do() -> None:
    pictures = [(t, png(200, Bounds(50, 300, 52, 302) if t % 200 else None)) for t in range(0, 5000, 100)]
    assert not Playback([(0, tree(word("x")))], pictures).settled(timeout_s=1).settled


def test_a_tree_of_another_rotation_than_the_picture_is_captured_again() -> None:
    turned = Size(400, 200)
    upright, lying = tree(word("a")), tree(word("b", 50), size=turned)
    phone = Playback([(0, upright), (350, lying)], [(0, png(9, size=turned))])
    reading = phone.settled()
    assert reading.settled
    assert reading.hierarchy == lying and reading.size == turned


def test_a_dump_that_fails_once_is_tried_again() -> None:
    failure = CaptureFailed("no tree", code="NULL_ROOT")
    reading = Playback([(0, failure), (90, tree(word("here")))]).settled()
    assert reading.settled
    assert reading.retries == 1


def test_a_dump_that_always_fails_is_an_error_and_never_an_empty_screen() -> None:
    failure = CaptureFailed("ERROR: could not get idle state.", code="DUMP_NOT_IDLE")
    phone = Playback([(0, failure)], tree_ms=10_000)
    with pytest.raises(CaptureFailed) as e:
        phone.settled(timeout_s=5.0)
    assert e.value.code == "DUMP_NOT_IDLE"
    assert phone.asked == 2, "one retry, however slow the dumper is"


def test_a_slow_phone_gets_its_second_look() -> None:
    phone = Playback([(0, tree(word("slow")))], tree_ms=2200, picture_ms=1500)
    reading = phone.settled(timeout_s=3.0)
    assert reading.settled
    assert phone.asked == 2


def test_a_screen_that_forbids_pictures_keeps_its_tree() -> None:
    failure = CaptureFailed("no PNG", code="NO_PNG")
    reading = Playback([(0, tree(word("secret")))], [(0, failure)]).settled()
    assert reading.settled
    assert (reading.screenshot, reading.notes) == (b"", ("no-picture",))
    assert reading.size == SIZE


def test_a_black_picture_over_words_is_marked_secure() -> None:
    reading = Playback([(0, tree(word("pin")))], [(0, png(0))]).settled()
    assert reading.notes == ("secure",)


def test_a_lost_phone_is_lost() -> None:
    with pytest.raises(DeviceLost):
        Playback([(0, tree(word("a"))), (50, DeviceLost("gone"))]).settled()


def test_transients_are_kept_once_each_oldest_first() -> None:
    script: list[tuple[int, Shown]] = [(i * 100, tree(word(f"frame {i % 3}"))) for i in range(6)]
    reading = Playback([*script, (600, tree(word("end")))]).settled()
    assert [t.hierarchy for t in reading.transients] == [tree(word(f"frame {i}")) for i in range(3)]


@pytest.mark.parametrize("cut", [0, 10, 23, 60])
def test_a_cut_picture_is_no_picture(cut: int) -> None:
    whole = png(5)
    assert not same_picture(whole, whole[:cut])
    assert not is_black(whole[:cut])
    assert (png_size(whole[:cut]) is None) == (cut < 24)


def test_equal_pixels_in_other_bytes_are_the_same_picture() -> None:
    again = io.BytesIO()
    Image.open(io.BytesIO(png(77))).save(again, "PNG", compress_level=0)
    assert again.getvalue() != png(77)
    assert same_picture(png(77), again.getvalue())
    assert not same_picture(png(77), png(78))


def test_hidden_nodes_are_not_busy() -> None:
    hidden = replace(SPINNER, visible=False)
    assert Playback([(0, tree(hidden, word("x")))]).settled().busy == frozenset()


def test_a_pop_up_that_is_in_no_tree_is_marked() -> None:
    before, spot = tree(word("list")), Bounds(20, 200, 120, 260)
    reading = Playback([(0, before)], [(0, png(200, spot))]).settled(before=before, before_picture=png(200))
    assert reading.settled and reading.notes == ("picture-only",)
    assert reading.screenshot == png(200, spot)


def test_a_screen_that_truly_stays_is_not_marked() -> None:
    before = tree(word("list"))
    clock = Bounds(0, 0, 60, 20)
    reading = Playback([(0, before)], [(0, png(200, clock))]).settled(before=before, before_picture=png(200))
    assert reading.settled and reading.notes == (), "the clock in the status bar is no pop-up"


def test_an_old_tree_under_a_new_picture_is_not_believed_twice_in_a_row() -> None:
    """The dump gives the tree from before twice, under a picture that has changed: the third look finds the new one."""
    before, after = tree(word("list")), tree(word("detail"))
    phone = Playback([(0, before), (700, after)], [(0, png(90))], tree_ms=300)
    reading = phone.settled(before=before, before_picture=png(200))
    assert reading.settled and reading.hierarchy == after and reading.notes == ()


def test_an_old_tree_in_mid_way_wants_a_third_look() -> None:
    first, last = tree(word("opening")), tree(word("open"))
    phone = Playback([(0, first), (700, last)], [(0, png(90)), (300, png(120))], tree_ms=200, picture_ms=50)
    reading = phone.settled(before=tree(word("list")), before_picture=png(200))
    assert reading.settled and reading.hierarchy == last


def test_what_could_not_be_had_at_first_is_told_by_its_code() -> None:
    shown = tree(word("here"))
    phone = Playback([(0, CaptureFailed("no root", code="NULL_ROOT")), (150, shown)])
    reading = phone.settled()
    assert (reading.retries, set(reading.retried)) == (len(reading.retried), {"NULL_ROOT"})


def test_a_slow_phone_is_not_called_restless_for_a_doubt() -> None:
    """Two equal looks fit into the time, four do not: it is settled, and marked for what the tree does not tell."""
    before, spot = tree(word("list")), Bounds(20, 200, 120, 260)
    phone = Playback([(0, before)], [(0, png(200, spot))], tree_ms=2000, picture_ms=1000)
    reading = phone.settled(before=before, before_picture=png(200))
    assert reading.settled and reading.notes == ("picture-only",) and phone.asked == 2


def test_what_is_announced_without_being_in_sight_is_no_other_screen() -> None:
    def announced(text: str) -> Node:
        return Node("android.view.View", text=text, bounds=Bounds(0, 0, 0, 0))

    def within(child: Node, bounds: Bounds) -> Node:
        return Node("android.view.View", bounds=bounds, children=(child,))

    said = sight_digest(tree(announced("Nothing was found."), word("Milk")))
    assert said == sight_digest(tree(word("Milk"))) == sight_digest(tree(word("Milk"), announced("Two were found.")))
    assert said != sight_digest(tree(word("Milch")))
    none = Bounds(0, 0, 0, 0)
    assert sight_digest(tree(within(word("Milk"), none))) != sight_digest(tree(within(word("Milch"), none)))
    assert sight_digest(tree(within(word("Milk"), SIZE.bounds))) != sight_digest(tree(within(announced(""), SIZE.bounds), word("Milk")))
