"""Each family's own words, read; every action that a family can say comes back; hostile text is a named error."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phoneworld.dialects.coordinates import CONVENTIONS, QWEN25_RESIZED, THOUSAND, Coordinates, smart_resize
from phoneworld.dialects.dialect import Dialect, Screen
from phoneworld.dialects.families import DIALECTS, dialect_named
from phoneworld.errors import ActionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    points_of,
)  # fmt: skip
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

SIZE = Size(1080, 2400)
SCREEN = Screen(SIZE, {"org.example.notes": "Notes", "com.example.mail": "Mail"})
MIDDLE = Tap(540, 1200)


@pytest.mark.parametrize(
    ("name", "text", "actions"),
    [
        ("qwen2.5", '<tool_call>\n{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [546, 1204]}}\n</tool_call>', (MIDDLE,)),
        ("qwen3", 'I see it.\n<tool_call>{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 500]}}', (MIDDLE,)),
        ("qwen3", '{"action": "system_button", "button": "Menu"}', (PressKey("recents"),)),
        ("qwen3", '<tool_call>{"name":"mobile_use","arguments":{"action":"terminate","status":"failure"}}</tool_call>', (Finish("failure"),)),
        ("gui-owl-1.5", 'Action: Open it.\n<tool_call>\n{"name":"mobile_use","arguments":{"action":"open","text":"notes"}}\n</tool_call>', (OpenApp("org.example.notes"),)),
        ("gui-owl-1.5", '<thinking>x</thinking><tool_call>{"name":"mobile_use","arguments":{"action":"swipe","coordinate":[500,800],"coordinate2":[500,200]}}</tool_call>', (Swipe(540, 1920, 540, 480),)),
        ("ui-tars", "Thought: It is there.\nAction: click(start_box='<|box_start|>(500,500)<|box_end|>')", (MIDDLE,)),
        ("ui-tars", "Thought: x Action: click(start_box='(490,490,510,510)')", (MIDDLE,)),
        ("ui-tars", "Action: type(content='it's \\'quoted\\'\\n')", (TypeText("it's 'quoted'"), PressKey("enter"))),
        ("doubao", "Thought: x\nAction: click(point='<point>500 500</point>')", (MIDDLE,)),
        ("doubao", "Action: scroll(point='<point>500 500</point>', direction='down')", (Swipe(540, 1200, 540, 240),)),
        ("doubao", "Action: press_back()\n\nfinished(content='42')", (PressKey("back"), Answer("42"))),
        ("autoglm", '<think>It is there.</think><answer>do(action="Tap", element=[500,500])</answer>', (MIDDLE,)),
        ("autoglm", 'It is there.\ndo(action="Type", text="say "hi" (now)")', (TypeText('say "hi" (now)', mode="replace"),)),
        ("autoglm", '<answer>do(action="Wait", duration="2 seconds")</answer>', (Wait(2000),)),
        ("autoglm", '<answer>finish(message="Done.")</answer>', (Answer("Done."),)),
        ("os-atlas", "Thoughts:\nIt is there.\nActions:\nCLICK <point>[[500, 500]]</point>", (MIDDLE,)),
        ("os-atlas", "actions:\nTYPE [two ]words]", (TypeText("two ]words"),)),
        ("os-atlas", "Actions:\nSCROLL [DOWN]", (Swipe(540, 1200, 540, 240),)),
        ("os-atlas", "Actions:\nPRESS_RECENT", (PressKey("recents"),)),
        ("android-world", 'Reason: x\nAction: {"action_type": "click", "x": 540, "y": 1200}', (MIDDLE,)),
        ("android-world", '{"action_type": "input_text", "text": "a", "x": 540, "y": 1200, "clear_text": true}', (MIDDLE, Clear(), TypeText("a"), PressKey("enter"))),
        ("android-world", '{"action_type": "scroll", "direction": "down"}', (Swipe(540, 1200, 540, 240),)),
        ("android-world", '{"action_type": "swipe", "direction": "down"}', (Swipe(540, 1200, 540, 2160),)),
        ("android-control", '{"action_type": "input_text", "text": "a"}', (TypeText("a"),)),
    ],
)  # fmt: skip
def test_what_a_family_says_is_understood(name: str, text: str, actions: tuple[Action, ...]) -> None:
    assert DIALECTS[name].parse(text, SCREEN).actions == actions


def test_the_resized_picture_is_that_of_the_models_own_processor() -> None:
    # Worked out by hand from the rule that Qwen2-VL's image processor states.
    assert smart_resize(SIZE, patch=28, min_pixels=3136, max_pixels=12_845_056) == Size(1092, 2408)
    assert smart_resize(SIZE, patch=28, min_pixels=3136, max_pixels=1_003_520) == Size(672, 1484)
    assert smart_resize(Size(40, 40), patch=28, min_pixels=3136, max_pixels=12_845_056) == Size(56, 56)
    with pytest.raises(ActionError, match="cannot be resized"):
        smart_resize(Size(1, 900), patch=28, min_pixels=3136, max_pixels=12_845_056)


def test_the_thought_comes_back_too() -> None:
    for dialect in DIALECTS.values():
        assert dialect.parse(dialect.emit(MIDDLE, SCREEN, thought="It is there."), SCREEN).thought == "It is there.", dialect.name


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("text", ["", "   \n", "{", "[]", "null", "Action:", "<tool_call>", "do(", "CLICK", "finished", "click()", "\x00", "{}" * 100])
def test_what_says_nothing_is_a_named_error_or_an_end(name: str, text: str) -> None:
    try:
        said = DIALECTS[name].parse(text, SCREEN)
    except ActionError as e:
        assert e.hint
    else:
        assert said.actions == (Finish(),), "a bare `finished` is an end"


def test_deep_nesting_and_endless_text_are_named_errors() -> None:
    for dialect in DIALECTS.values():
        for text in ('{"a":' * 100_000, "[" * 100_000, "\n" * 150_000, "Action: " * 20_000, "a" * 200_001, "do(" + " " * 100_000):
            with pytest.raises(ActionError):
                dialect.parse(text, SCREEN)


def test_a_place_outside_the_convention_is_refused() -> None:
    for text in ("[1001, 500]", "[-1, 500]", "[5]", '["5", 5]', "[NaN, 1]", "[true, 1]", "[1e400, 1]", "{}"):
        with pytest.raises(ActionError):
            DIALECTS["qwen3"].parse('{"action": "click", "coordinate": ' + text + "}", SCREEN)


def test_what_a_family_has_no_word_for_is_refused_when_it_is_said() -> None:
    for dialect in DIALECTS.values():
        with pytest.raises(ActionError, match="has no word for pinch"):
            dialect.emit(Pinch(1, 1, 2.0), SCREEN)


def test_a_wrong_name_offers_the_nearest() -> None:
    with pytest.raises(ActionError) as e:
        dialect_named("ui-tar")
    assert "ui-tars" in e.value.hint


# --- laws --------------------------------------------------------------------------------------------------------------

dialects = st.builds(Dialect.in_coordinates, st.sampled_from(list(DIALECTS.values())), st.sampled_from(CONVENTIONS))
sizes = st.sampled_from([SIZE, Size(720, 1280), Size(2400, 1080), Size(360, 640), Size(1440, 3200), Size(320, 240)])
texts = st.text(min_size=1, max_size=30)


@st.composite
def tiles(draw: st.DrawFn) -> tuple[Size, Hierarchy, list[Bounds]]:
    """A screen cut into buttons, each at least three steps of any convention wide and high."""
    size = draw(sizes)
    rows, columns = (draw(st.lists(st.integers(12, extent), max_size=12, unique=True)) for extent in (size.height - 12, size.width - 12))
    ys, xs = _cuts(rows, size.height), _cuts(columns, size.width)
    boxes = [Bounds(x, y, x2, y2) for y, y2 in pairwise(ys) for x, x2 in pairwise(xs)]
    children = tuple(Node("android.widget.Button", clickable=True, long_clickable=True, scrollable=True, bounds=box) for box in boxes)
    return size, Hierarchy((Node("android.widget.FrameLayout", bounds=size.bounds, children=children),)), boxes


def _cuts(at: list[int], extent: int) -> list[int]:
    cuts = [0]
    for cut in sorted(at):
        if cut - cuts[-1] >= 12 and extent - cut >= 12:
            cuts.append(cut)
    return [*cuts, extent]


def gesture(kind: int, a: Point, b: Point) -> Action:
    return (Tap(a.x, a.y), DoubleTap(a.x, a.y), LongPress(a.x, a.y), Swipe(a.x, a.y, b.x, b.y), Drag(a.x, a.y, b.x, b.y))[kind]


@settings(max_examples=400, deadline=None)
@given(dialects, tiles(), st.integers(0, 4), st.data())
def test_what_is_said_lands_in_the_node_it_was_said_of(dialect: Dialect, drawn: tuple[Size, Hierarchy, list[Bounds]], kind: int, data: st.DataObject) -> None:
    size, tree, boxes = drawn
    screen = Screen(size)
    places = [data.draw(st.builds(Point, st.integers(b.left, b.right - 1), st.integers(b.top, b.bottom - 1))) for b in data.draw(st.lists(st.sampled_from(boxes), min_size=2, max_size=2))]
    action = gesture(kind, *places)
    try:
        text = dialect.emit(action, screen, tree=tree)
    except ActionError:
        assert kind != 0, "every family can tap"
        return
    (said,) = dialect.parse(text, screen).actions
    assert type(said) is type(action), text
    if (kind == 3 and "direction" in text) or "SCROLL" in text:
        return  # said by its direction alone; see the test below
    for meant, came in zip(points_of(action), points_of(said), strict=True):
        assert tree.hit_test(meant, "tap", size) == tree.hit_test(came, "tap", size), text


@settings(max_examples=200, deadline=None)
@given(dialects, tiles(), st.data())
def test_the_middle_of_a_node_needs_no_tree(dialect: Dialect, drawn: tuple[Size, Hierarchy, list[Bounds]], data: st.DataObject) -> None:
    size, _, boxes = drawn
    box = data.draw(st.sampled_from(boxes))
    (said,) = dialect.parse(dialect.emit(Tap(box.center.x, box.center.y), Screen(size)), Screen(size)).actions
    assert isinstance(said, Tap) and box.contains(Point(said.x, said.y))


@given(dialects, sizes, st.sampled_from([(0, -1), (0, 1), (-1, 0), (1, 0)]))
def test_a_swipe_keeps_its_direction(dialect: Dialect, size: Size, way: tuple[int, int]) -> None:
    x, y = size.width // 2, size.height // 2
    swipe = Swipe(x, y, x + way[0] * size.width // 3, y + way[1] * size.height // 3)
    (said,) = dialect.parse(dialect.emit(swipe, Screen(size)), Screen(size)).actions
    assert isinstance(said, Swipe)
    moved = (said.x2 - said.x, said.y2 - said.y)
    assert moved[0] * way[0] + moved[1] * way[1] > abs(moved[0] * way[1]) + abs(moved[1] * way[0])


@settings(max_examples=300)
@given(st.sampled_from(list(DIALECTS.values())), texts, st.integers(0, 4), texts)
@example(DIALECTS["ui-tars"], "Action: type(content='x')", 0, "Action: y")
@example(DIALECTS["os-atlas"], "a]\nActions:\nCOMPLETE [b", 0, "x")
@example(DIALECTS["qwen3"], '</tool_call>{"a"', 0, "<tool_call>{")
def test_words_come_back_as_they_were(dialect: Dialect, text: str, kind: int, thought: str) -> None:
    action: Action = (TypeText(text), Answer(text), Ask(text), Clear(), PressKey("enter"))[kind]
    try:
        said = dialect.emit(action, SCREEN, thought=thought)
    except ActionError:
        return
    wanted = TypeText(text, mode="replace") if isinstance(action, TypeText) and dialect.name == "autoglm" else action
    assert dialect.parse(said, SCREEN).actions == (wanted,), said


@pytest.mark.parametrize("action", [PressKey("back"), PressKey("home"), OpenApp("com.example.mail"), Finish()])
def test_every_family_but_one_can_say(action: Action) -> None:
    for dialect in DIALECTS.values():
        assert dialect.parse(dialect.emit(action, SCREEN), SCREEN).actions == (action,), dialect.name


@settings(max_examples=300)
@given(dialects, st.one_of(st.text(max_size=300), st.binary(max_size=200).map(lambda b: b.decode("utf-8", "surrogateescape"))), st.integers(0, 400), texts)
def test_a_valid_beginning_followed_by_anything_is_read_or_refused(dialect: Dialect, rest: str, keep: int, word: str) -> None:
    for action in (MIDDLE, TypeText(word)):
        try:
            text = dialect.emit(action, SCREEN, thought=word)[:keep] + rest
        except ActionError:
            text = rest
        try:
            said = dialect.parse(text, SCREEN)
        except ActionError:
            continue
        assert said.actions and all(SIZE.contains(p) for a in said.actions for p in points_of(a))


@given(sizes, st.sampled_from(CONVENTIONS), st.data())
def test_a_pixel_comes_back_within_half_a_step(size: Size, coordinates: Coordinates, data: st.DataObject) -> None:
    point = data.draw(st.builds(Point, st.integers(0, size.width - 1), st.integers(0, size.height - 1)))
    back = coordinates.read(*coordinates.write(point, size), size)
    grid = coordinates.grid(size)
    # One more for the last number that a convention without 1000 can say.
    assert abs(back.x - point.x) <= size.width / grid.width / 2 + 1 + (size.width / grid.width if coordinates.kind == "thousandth" else 0)
    assert abs(back.y - point.y) <= size.height / grid.height / 2 + 1 + (size.height / grid.height if coordinates.kind == "thousandth" else 0)


def test_in_other_coordinates_the_words_stay() -> None:
    assert DIALECTS["qwen3"].emit(MIDDLE, SCREEN) == DIALECTS["qwen2.5"].in_coordinates(THOUSAND).emit(MIDDLE, SCREEN)
    assert "546" in DIALECTS["qwen3"].in_coordinates(QWEN25_RESIZED).emit(MIDDLE, SCREEN)
