"""Transcripts of getevent: lines go in, strokes must come out. And garbage, after a valid beginning, in large amounts."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.adbd.fingers import to_panel
from phoneworld.errors import RecordingError
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.getevent import MAX_POINTS, Decoder, KeyPress, Stroke, TouchBegan, TouchEvent, Undecoded
from phoneworld.ui.glass import Axis, InputDevice, Panel, parse_input_devices
from recorder.adb_events import touchscreens
from tests.shared import CORPUS, needs_shared

GLASS = "/dev/input/event2"
LISTED = """add device 1: /dev/input/event5
  name:     "gpio-keys"
  events:
    KEY (0001): KEY_VOLUMEUP
  input props:
    <none>
add device 2: /dev/input/event2
  name:     "synaptics,s3320"
  events:
    KEY (0001): BTN_TOUCH
    ABS (0003): ABS_MT_SLOT           : value 0, min 0, max 9, fuzz 0, flat 0, resolution 0
                ABS_MT_POSITION_X     : value 0, min 0, max 1079, fuzz 0, flat 0, resolution 0
                ABS_MT_POSITION_Y     : value 0, min 0, max 1919, fuzz 0, flat 0, resolution 0
                ABS_MT_TRACKING_ID    : value 0, min 0, max 65535, fuzz 0, flat 0, resolution 0
  input props:
    INPUT_PROP_DIRECT
add device 3: /dev/input/event7
  name:     "sec_e-pen"
  events:
    ABS (0003): ABS_X : value 0, min 0, max 4095, fuzz 0, flat 0, resolution 0
                ABS_Y : value 0, min 0, max 4095, fuzz 0, flat 0, resolution 0
  input props:
    INPUT_PROP_DIRECT
"""
NUMERIC = """add device 1: /dev/input/event1
  name:     "ft5x06"
  events:
    ABS (0003): 0035  : value 0, min 0, max 719, fuzz 0, flat 0, resolution 0
                0036  : value 0, min 0, max 1279, fuzz 0, flat 0, resolution 0
"""


def packet(at_s: float, *events: str, device: str = GLASS) -> bytes:
    """One packet as `getevent -lt` prints it: `X 100`, `Y 200`, `ID 5`, `SLOT 1`, `BTN DOWN`, `MT`, `DROPPED`."""
    names = {"X": "ABS_MT_POSITION_X", "Y": "ABS_MT_POSITION_Y", "ID": "ABS_MT_TRACKING_ID", "SLOT": "ABS_MT_SLOT", "BTN": "BTN_TOUCH"}
    lines = []
    for event in (*events, "REPORT"):
        name, _, value = event.partition(" ")
        if name in ("MT", "DROPPED", "REPORT"):
            kind, code, shown = "EV_SYN", {"MT": "SYN_MT_REPORT", "DROPPED": "SYN_DROPPED", "REPORT": "SYN_REPORT"}[name], "00000000"
        else:
            kind, code = "EV_KEY" if name == "BTN" else "EV_ABS", names.get(name, name)
            shown = value if value in ("DOWN", "UP", "ffffffff", "7fffffff") else f"{int(value):08x}"
        lines.append(f"[{at_s:15.6f}] {device}: {kind:<12} {code:<20} {shown}\r\n")
    return "".join(lines).encode()


def strokes(events: tuple[TouchEvent, ...]) -> list[list[list[tuple[int, int]]]]:
    """The places of each finger of each stroke."""
    return [[[p[:2] for p in f.points] for f in e.fingers] for e in events if isinstance(e, Stroke)]


TAP = packet(1.0, "ID 7", "X 100", "Y 200", "BTN DOWN") + packet(1.06, "ID ffffffff", "BTN UP")


def test_a_tap_is_one_stroke_with_its_times() -> None:
    began, stroke = Decoder().feed(TAP)
    assert began == TouchBegan(GLASS, 1000.0)
    assert isinstance(stroke, Stroke) and strokes((stroke,)) == [[[(100, 200)]]]
    assert (stroke.start_ms, stroke.end_ms, stroke.timed) == (1000.0, 1060.0, True)


def test_axes_and_slots_are_remembered_where_they_did_not_change() -> None:
    data = TAP + packet(2.0, "ID 8", "Y 300") + packet(2.1, "ID ffffffff") + packet(3.0, "ID 9") + packet(3.1, "ID 7fffffff")
    assert strokes(Decoder().feed(data)) == [[[(100, 200)]], [[(100, 300)]], [[(100, 300)]]]
    two = (
        packet(1, "ID 1", "X 10", "Y 20", "SLOT 1", "ID 2", "X 30", "Y 40")
        + packet(2, "X 35")  # slot 1 persists
        + packet(3, "SLOT 0", "X 15")
        + packet(4, "ID ffffffff")
        + packet(5, "SLOT 1", "ID ffffffff")
    )
    assert strokes(Decoder().feed(two)) == [[[(10, 20), (15, 20)], [(30, 40), (35, 40)]]]


def test_protocol_a_names_all_fingers_in_each_packet() -> None:
    data = (
        packet(1, "X 10", "Y 20", "MT", "X 50", "Y 60", "MT")
        + packet(2, "X 12", "Y 20", "MT", "X 58", "Y 60", "MT")
        + packet(3, "X 58", "Y 60", "MT")
        + packet(4, "MT")
    )
    assert strokes(Decoder().feed(data)) == [[[(10, 20), (12, 20)], [(50, 60), (58, 60)]]], "the one that stays goes on as itself"
    ids = packet(1, "ID 4", "X 10", "Y 20", "MT", "ID 5", "X 50", "Y 60", "MT") + packet(2, "ID 5", "X 51", "Y 60", "MT") + packet(3, "MT")
    assert strokes(Decoder().feed(ids)) == [[[(10, 20)], [(50, 60), (51, 60)]]]


def test_a_dropped_queue_ends_what_was_open_and_is_void_to_the_next_report() -> None:
    data = packet(1, "ID 1", "X 10", "Y 20") + packet(2, "DROPPED", "X 99") + packet(3, "X 11") + packet(4, "ID ffffffff") + TAP
    events = Decoder().feed(data)
    assert [e.reason for e in events if isinstance(e, Undecoded)] == ["dropped"]
    assert strokes(events) == [[[(100, 200)]]], "what moved on without a beginning is nothing; the next touch is whole again"


def test_after_a_drop_an_omitted_axis_is_not_guessed() -> None:
    events = Decoder().feed(TAP + packet(2, "DROPPED") + packet(3, "ID 2", "Y 5") + packet(4, "ID ffffffff"))
    assert [e.reason for e in events if isinstance(e, Undecoded)] == ["no-place"]


def test_a_finger_without_an_end_of_its_own() -> None:
    lost_up = packet(1, "ID 1", "X 10", "Y 20") + packet(2, "ID 2", "X 30", "Y 40") + packet(3, "ID ffffffff")
    assert strokes(Decoder().feed(lost_up)) == [[[(10, 20)], [(30, 40)]]]
    by_button = packet(1, "ID 1", "X 10", "Y 20", "BTN DOWN") + packet(2, "BTN UP")
    assert strokes(Decoder().feed(by_button)) == [[[(10, 20)]]]
    decoder = Decoder()
    decoder.feed(packet(1, "ID 1", "X 10", "Y 20"))
    (open_,) = decoder.end()
    assert isinstance(open_, Undecoded) and open_.reason == "never-lifted" and open_.seen[0].points[0][:2] == (10, 20)
    assert decoder.end() == ()


def test_a_glass_without_multitouch_is_followed_by_its_button() -> None:
    pen = InputDevice("/dev/input/event7", "pen", Axis(0, 4095, 5), Axis(0, 4095, 6), multi=False)
    data = packet(1, "BTN DOWN", "ABS_X 50", device=pen.path) + packet(2, "BTN UP", device=pen.path)
    assert strokes(Decoder((pen,)).feed(data)) == [[[(50, 6)]]]


def test_several_devices_do_not_mix() -> None:
    other = "/dev/input/event9"
    data = (
        packet(1, "ID 1", "X 10", "Y 20") + packet(1.1, "ID 9", "X 70", "Y 80", device=other)
        + packet(1.2, "X 11") + packet(1.3, "ID ffffffff", device=other) + packet(1.4, "ID ffffffff")
    )  # fmt: skip
    events = [e for e in Decoder().feed(data) if isinstance(e, Stroke)]
    assert [(e.device, e.fingers[0].points[-1][:2]) for e in events] == [(other, (70, 80)), (GLASS, (11, 20))]


def test_hardware_keys_are_told_when_they_go_down() -> None:
    line = b"[   5.000000] /dev/input/event5: EV_KEY       KEY_BACK             %s\n"
    assert Decoder().feed(line % b"DOWN" + line % b"UP") == (KeyPress("/dev/input/event5", "KEY_BACK", 5000.0),)
    assert Decoder().feed(b"/dev/input/event5: 0001 009e 00000001\n") == (KeyPress("/dev/input/event5", "KEY_BACK", 0.0),)


@given(st.lists(st.integers(1, 40), max_size=60))
def test_it_does_not_matter_how_the_bytes_arrive(cuts: list[int]) -> None:
    data = TAP + packet(2, "DROPPED") + TAP + packet(3, "ID 1", "X 1", "Y 2", "SLOT 1", "ID 2", "X 3", "Y 4") + packet(4, "ID ffffffff")
    whole = Decoder()
    expected = whole.feed(data) + whole.end()
    pieces, at = Decoder(), 0
    found: tuple[TouchEvent, ...] = ()
    for cut in cuts:
        found += pieces.feed(data[at : at + cut])
        at += cut
    found += pieces.feed(data[at:])
    assert found + pieces.end() == expected


def test_the_touchscreen_is_found_among_the_devices() -> None:
    (glass,) = touchscreens(parse_input_devices(LISTED))
    assert (glass.path, glass.name, glass.x, glass.y, glass.direct) == (GLASS, "synaptics,s3320", Axis(0, 1079, 0), Axis(0, 1919, 0), True)
    (numeric,) = touchscreens(parse_input_devices(NUMERIC))
    assert (numeric.path, numeric.multi, numeric.y) == ("/dev/input/event1", True, Axis(0, 1279, 0))
    with pytest.raises(RecordingError, match="gpio-keys") as e:
        touchscreens(parse_input_devices(LISTED)[:1])
    assert "mirror" in e.value.hint
    with pytest.raises(RecordingError):
        touchscreens(())


@given(st.integers(0, 3), st.integers(0, 1079), st.integers(0, 2399))
def test_a_pixel_goes_through_the_glass_and_back_however_the_phone_is_turned(rotation: int, x: int, y: int) -> None:
    natural = Size(1080, 2400)
    point = Point(y, x) if rotation % 2 else Point(x, y)
    raw = to_panel(point, rotation, natural)
    assert Panel(natural, Axis(0, 1079), Axis(0, 2399)).pixel(raw.x, raw.y, rotation) == (point.x, point.y)


def test_a_finer_glass_than_the_screen_stays_on_it() -> None:
    panel = Panel(Size(1080, 2400), Axis(0, 4095), Axis(0, 4095))
    assert panel.pixel(0, 0, 0) == (0, 0) and panel.pixel(4095, 4095, 0) == (1079, 2399)
    assert panel.pixel(9999, -5, 0) == (1079, 0), "what lies outside its own range is drawn in"


@needs_shared
def test_a_real_log_of_one_finger_that_is_never_lifted_is_told_as_that() -> None:
    decoder = Decoder()
    events = decoder.feed((CORPUS / "traces" / "getevent" / "getevent.txt").read_bytes()) + decoder.end()
    began, left = events
    assert isinstance(began, TouchBegan) and isinstance(left, Undecoded)
    assert (left.device, left.reason) == ("/dev/input/event5", "never-lifted")
    (finger,) = left.seen
    places = [p[:2] for p in finger.points]
    assert (places[0] == (0x251, 0x32B) and places[-1] == (0x25C, 0x2EA)) or places[-1][0] >= 0x25A
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True), "it moves upwards"
    assert decoder.ignored >= 20, "prompts and the list of devices are no events"


# ---- garbage


def garbage(rng: random.Random) -> bytes:
    """Bytes, lines that look like events, and events that make no sense."""
    match rng.randrange(4):
        case 0:
            return rng.randbytes(rng.randrange(1, 120))
        case 1:
            words = rng.choices(["EV_ABS", "EV_SYN", "EV_KEY", "0003", "ABS_MT_SLOT", "SYN_DROPPED", "zz", "[", "]", "-1", "ffffffff", "é"], k=4)
            return f"[{rng.random() * 1e9:.6f}] /dev/input/event{rng.randrange(300)}: {' '.join(words)}\n".encode()
        case 2:
            codes = rng.choices(["ID", "X", "Y", "SLOT"], k=rng.randrange(1, 6))
            return packet(rng.random() * 1e6, *(f"{c} {rng.randrange(0, 1 << rng.randrange(1, 33))}" for c in codes))
        case _:
            return TAP[: rng.randrange(len(TAP))]


def fuzzed(inputs: int, seed: int) -> int:
    """Feeds that much garbage after a valid beginning; returns the most memory that was held, in bytes."""
    rng = random.Random(seed)
    decoder = Decoder()
    assert strokes(decoder.feed(TAP)) == [[[(100, 200)]]]
    tracemalloc.start()
    try:
        for _ in range(inputs):
            for event in decoder.feed(garbage(rng)):
                assert isinstance(event, TouchBegan | Stroke | KeyPress | Undecoded)
        decoder.end()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_garbage_after_a_valid_beginning_raises_nothing() -> None:
    assert fuzzed(2_000, seed=1) < 16_000_000


@pytest.mark.slow
def test_a_hundred_thousand_pieces_of_garbage_raise_nothing_and_are_not_kept() -> None:
    assert fuzzed(100_000, seed=2) < 16_000_000


def test_a_finger_that_moves_for_hours_and_a_line_without_end_stay_small() -> None:
    decoder = Decoder()
    decoder.feed(packet(0, "ID 1", "X 1", "Y 1"))
    for i in range(20_000):
        decoder.feed(packet(i, f"X {i % 1000}"))
    (stroke,) = [e for e in decoder.feed(packet(9e4, "ID ffffffff")) if isinstance(e, Stroke)]
    assert len(stroke.fingers[0].points) <= MAX_POINTS and stroke.fingers[0].points[0][:2] == (1, 1)
    for _ in range(100):
        decoder.feed(b"x" * 100_000)
    assert len(decoder._rest) <= 512
    assert strokes(decoder.feed(b"\n" + TAP)) == [[[(100, 200)]]]
