"""Logs and scripts of other tools: all of the corpus in place, small ones of our own, and damaged ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from phoneworld.errors import FileFormatError, PhoneWorldError
from phoneworld.graph.file import dumps, loads
from phoneworld.graph.importers import import_recording
from phoneworld.ui.action import (
    DoubleTap,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    kind_of,
)
from phoneworld.ui.geometry import Size
from phoneworld.ui.xml import write_hierarchy
from tests.graph.sample import png, screen, text
from tests.shared import CORPUS, needs_shared

FOLDERS = ("maestro-demo-app", "maestro-ui-test-demo", "maestro-hierarchy-json", "appium-log", "monkey", "getevent", "misc-recordings")

FLOW = """appId: org.example.notes
name: Add a note
---
- launchApp:
    clearState: true
- tapOn: "Add"
- inputText: "milk"
- assertVisible: "Save"
- tapOn:
    id: save
- swipe: {start: "50%, 80%", end: "50%, 20%", duration: 250}
- eraseText: 2
- eraseText
- repeat: {times: 2, commands: [back, {longPressOn: {point: "10,20"}}]}
- runFlow: inner.yaml
- runFlow: {when: {platform: iOS}, commands: [back]}
- pressKey: Volume Up
- evalScript: x
"""
APPIUM = "\n".join(
    [
        "\x1b[35m[Appium]\x1b[39m Welcome to Appium v1.22.0",
        '[HTTP] --> POST /wd/hub/session {"desiredCapabilities":{"appium:appPackage":"org.example.notes","platformName":"Android"}}',
        "[HTTP] <-- POST /wd/hub/session 200 5 ms - 1",
        "[HTTP] --> GET /session/s1/source {}",
        "[HTTP] <-- GET /session/s1/source 200 5 ms - 1",
        '[HTTP] --> POST /session/s1/element {"using":"id","value":"org.example.notes:id/add"}',
        "[HTTP] <-- POST /session/s1/element 200 5 ms - 1",
        "[HTTP] --> POST /session/s1/element/e1/click {}",
        "[HTTP] <-- POST /session/s1/element/e1/click 200 5 ms - 1",
        "[HTTP] --> GET /session/s1/source {}",
        "[HTTP] <-- GET /session/s1/source 200 5 ms - 1",
        "[HTTP] --> POST /session/s1/element",
        '[HTTP] {"using":"xpath","value":"//*[@class=\'android.widget.EditText\']"}',
        "[HTTP] <-- POST /session/s1/element 200 5 ms - 1",
        '[HTTP] --> POST /session/s1/element/e2/value {"text":"milk"}',
        "[HTTP] <-- POST /session/s1/element/e2/value 200 5 ms - 1",
        "[HTTP] --> POST /session/s1/element/e2/click {}",
        "[HTTP] <-- POST /session/s1/element/e2/click 500 5 ms - 1",
        '[HTTP] --> POST /session/s1/appium/device/press_keycode {"keycode":4}',
        "[HTTP] <-- POST /session/s1/appium/device/press_keycode 200 5 ms - 1",
        '[HTTP] --> POST /session/s1/execute/sync {"script":"mobile: longClickGesture","args":[{"x":5,"y":6}]}',
        "[HTTP] <-- POST /session/s1/execute/sync 200 5 ms - 1",
        '[HTTP] --> POST /session/s1/actions {"actions":[{"type":"pointer","actions":[{"type":"pointerMove","x":9,"y":500},'
        '{"type":"pointerDown"},{"type":"pointerMove","x":9,"y":90,"duration":200},{"type":"pointerUp"}]}]}',
        "[HTTP] <-- POST /session/s1/actions 200 5 ms - 1",
        "[HTTP] --> POST /session/s1/back {}",
    ]
)
MONKEY = """:Monkey: seed=42 count=500
:AllowPackage: org.example.notes
:Switch: #Intent;action=x;component=org.example.notes/.Main;end
:Sending Touch (ACTION_DOWN): 0:(500.0,150.0)
:Sending Touch (ACTION_UP): 0:(503.2,151.0)
// CRASH: org.example.notes (pid 7)
:Sending Touch (ACTION_DOWN): 0:(500.0,1500.0)
:Sending Touch (ACTION_MOVE): 0:(500.0,900.0)
:Sending Touch (ACTION_UP): 0:(500.0,300.0)
:Sending Touch (ACTION_DOWN): 0:(400.0,400.0)
:Sending Touch (ACTION_POINTER_DOWN 1): 0:(400.0,400.0) 1:(600.0,400.0)
:Sending Touch (ACTION_MOVE): 0:(300.0,400.0) 1:(700.0,400.0)
:Sending Touch (ACTION_POINTER_UP 1): 0:(300.0,400.0) 1:(700.0,400.0)
:Sending Touch (ACTION_UP): 0:(300.0,400.0)
:Sending Key (ACTION_DOWN): 4    // KEYCODE_BACK
:Sending Key (ACTION_UP): 4    // KEYCODE_BACK
:Sending Trackball (ACTION_MOVE): 0:(-5.0,3.0)
"""
GETEVENT = """add device 1: /dev/input/event2
    ABS (0003): ABS_MT_POSITION_X     : value 0, min 0, max 2159, fuzz 0, flat 0, resolution 0
                ABS_MT_POSITION_Y     : value 0, min 0, max 4799, fuzz 0, flat 0, resolution 0
[   10.000000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000001
[   10.000000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    000003e8
[   10.000000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    0000012c
[   10.000000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
[   10.050000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
[   10.050000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
[   11.000000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000002
[   11.000000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
[   11.900000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
[   11.900000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
[   12.000000] /dev/input/event1: EV_KEY       KEY_BACK             DOWN
[   12.100000] /dev/input/event1: EV_KEY       KEY_BACK             UP
[   13.000000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000003
[   13.000000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    00000fa0
[   13.000000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
[   13.300000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    000003e8
[   13.300000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
[   13.300000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
[   13.300000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
"""
HOME = write_hierarchy(screen(text("Notes", "title"), text("Add", "add", top=100, clickable=True)))
EDIT = write_hierarchy(screen(text("Save", "save", top=500, clickable=True)))


def hierarchy_json(label: str = "Add") -> str:
    def item(text_: str, name: str, top: int, **more: str) -> dict[str, object]:
        given = {"text": text_, "resource-id": f"org.example.notes:id/{name}", "class": "android.widget.TextView"}
        given |= {"package": "org.example.notes", "bounds": f"[0,{top}][1080,{top + 100}]", "clickable": "true", **more}
        return {"attributes": given, "children": []}

    root = {"attributes": {"class": "android.widget.FrameLayout", "bounds": "[0,0][1080,2400]", "package": "org.example.notes"}}
    return json.dumps(root | {"children": [item("Notes", "title", 0), item("", "add", 100, accessibilityText=label)]}, indent=1)


@needs_shared
def test_every_script_and_log_of_the_corpus_imports_or_is_refused_with_a_reason() -> None:
    counts: Counter[str] = Counter()
    refused = {}
    for name in FOLDERS:
        for file in sorted((CORPUS / "traces" / name).iterdir()):
            try:
                recording = import_recording(file)
            except FileFormatError as e:
                refused[f"{name}/{file.name}"] = e.message
                continue
            graph = recording.graph
            assert loads(dumps(graph)) == graph, file
            counts[recording.format] += 1
            counts[recording.format + " steps"] += sum(1 for _ in graph.transitions())
    assert counts == {
        "maestro": 33, "maestro steps": 146, "appium": 2, "appium steps": 10, "monkey": 2, "monkey steps": 1509, "getevent": 1, "getevent steps": 0,
    }  # fmt: skip
    reasons = {
        "maestro-ui-test-demo/config.yaml": "no list of commands",
        "maestro-hierarchy-json/hierarchy.json": "an iOS screen",
        "misc-recordings/recording.json": "no hierarchy",
    }
    assert refused.keys() == reasons.keys()
    assert all(reasons[where] in reason for where, reason in refused.items())


@needs_shared
def test_the_getevent_log_of_the_corpus_is_one_contact_that_was_never_lifted() -> None:
    recording = import_recording(CORPUS / "traces" / "getevent" / "getevent.txt")
    (trace,) = recording.graph.traces
    assert trace.transitions == () and trace.unfinished is not None
    assert trace.unfinished.action == Swipe(593, 811, 602, 756) and "never lifted" in trace.unfinished.reason
    assert any("never lifted" in warning for warning in recording.warnings)


def test_a_flow_becomes_a_trace_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(FLOW)
    (tmp_path / "inner.yaml").write_text("appId: x\n---\n- doubleTapOn: Nowhere\n- extendedWaitUntil: {timeout: 10, visible: a}\n")
    recording = import_recording(tmp_path / "flow.yaml")
    (trace,) = recording.graph.traces
    kinds = [kind_of(t.action) for t in trace.transitions]
    assert kinds == ["open_app", "tap", "type", "tap", "swipe", "press_key", "press_key", "clear", "press_key", "long_press",
                     "press_key", "long_press", "double_tap", "wait", "press_key"]  # fmt: skip
    assert (trace.start_kind, trace.instruction, recording.graph.app.package) == ("fresh", "Add a note", "org.example.notes")
    tap, typed, save = trace.transitions[1:4]
    assert tap.hit is None and tap.notes == ("selector: Add", "place-unknown")
    assert typed.action == TypeText("milk") and "assertVisible: Save" in typed.notes and "selector: id=save" in save.notes
    assert trace.transitions[4].action == Swipe(540, 1920, 540, 480, 250)
    assert [reason for _, reason in recording.refused] == ["only on iOS", "does nothing to the screen that is an action of ours"]
    assert all("no-tree" in c.notes for c in recording.graph.captures.values())
    assert isinstance(trace.transitions[12].action, DoubleTap) and isinstance(trace.transitions[13].action, Wait)


def test_a_flow_finds_its_widgets_in_hierarchies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text("appId: org.example.notes\n---\n- tapOn: '(?i)add'\n- tapOn: {id: add}\n- tapOn: Gone\n")
    for i, label in enumerate(("Add", "Add", "More")):
        (tmp_path / f"screen-{i}.json").write_text(hierarchy_json(label))
    (trace,) = import_recording(tmp_path).graph.traces
    first, second, third = trace.transitions
    assert first.action == second.action == Tap(540, 150) and first.hit == second.hit == (0, 1)
    assert third.hit is None and "place-unknown" in third.notes


def test_a_hierarchy_of_maestro_is_a_capture(tmp_path: Path) -> None:
    (tmp_path / "home.json").write_text("Running on emulator-5554\n\n" + hierarchy_json())
    (capture,) = import_recording(tmp_path / "home.json").graph.captures.values()
    add = capture.hierarchy.at((0, 1))
    assert (add.content_desc, add.clickable, add.resource_id) == ("Add", True, "org.example.notes:id/add")
    assert capture.size == Size(1080, 2400)


def test_an_appium_log_is_the_steps_that_succeeded_in_order(tmp_path: Path) -> None:
    (tmp_path / "appium.log").write_text(APPIUM)
    recording = import_recording(tmp_path / "appium.log")
    (trace,) = recording.graph.traces
    middle = (540, 1200)
    assert [t.action for t in trace.transitions] == [
        Tap(*middle), TypeText("milk", *middle), PressKey("back"), LongPress(5, 6), Swipe(9, 500, 9, 90, 200),
    ]  # fmt: skip
    assert [reason for _, reason in recording.refused] == ["click was answered with 500: it did nothing", "back: the log stops before its answer"]
    assert recording.graph.app.package == "org.example.notes"


def test_page_sources_beside_an_appium_log_stand_where_it_read_them(tmp_path: Path) -> None:
    (tmp_path / "appium.log").write_text(APPIUM)
    (tmp_path / "source-a.xml").write_bytes(HOME)
    (tmp_path / "source-b.xml").write_bytes(EDIT)
    (tmp_path / "source-a.png").write_bytes(png("white", Size(1080, 2400)))
    graph = import_recording(tmp_path).graph
    (trace,) = graph.traces
    first, second, *_ = trace.transitions
    assert first.action == Tap(540, 150) and first.hit == (0, 1)
    assert graph.captures[first.source].screenshot and graph.captures[first.target].hierarchy.at((0, 0)).text == "Save"
    assert second.hit is None and "place-unknown" in second.notes


def test_a_monkey_log_is_its_gestures_with_seed_and_crashes(tmp_path: Path) -> None:
    (tmp_path / "monkey.txt").write_text(MONKEY)
    recording = import_recording(tmp_path / "monkey.txt")
    (trace,) = recording.graph.traces
    assert [t.action for t in trace.transitions] == [
        OpenApp("org.example.notes", "org.example.notes.Main"), Tap(500, 150), Swipe(500, 1500, 500, 300), Pinch(500, 400, 2.0), PressKey("back"),
    ]  # fmt: skip
    assert trace.seed == 42 and trace.transitions[1].notes == ("crash: org.example.notes",)
    assert recording.refused == (("monkey.txt", "1 events of kind Trackball have no action of ours"),)


def test_dumps_beside_a_log_are_the_screens_after_as_many_steps(tmp_path: Path) -> None:
    (tmp_path / "monkey.txt").write_text(MONKEY)
    (tmp_path / "dump-1.xml").write_bytes(HOME)
    (tmp_path / "dump-2.xml").write_bytes(EDIT)
    (tmp_path / "dump-99.xml").write_bytes(EDIT)
    recording = import_recording(tmp_path)
    (trace,) = recording.graph.traces
    tap = trace.transitions[1]
    assert tap.hit == (0, 1) and recording.graph.captures[tap.target].hierarchy.at((0, 0)).text == "Save"
    assert any("dump-99.xml: it belongs to no moment" in w for w in recording.warnings)
    assert set(recording.origins.values()) == {"monkey.txt", "dump-1.xml", "dump-2.xml", "dump-99.xml"}


def test_getevent_is_decoded_with_omitted_axes_times_and_the_range_of_the_panel(tmp_path: Path) -> None:
    (tmp_path / "finger.txt").write_text(GETEVENT.replace("\n", "\r\n"))
    recording = import_recording(tmp_path / "finger.txt")
    (trace,) = recording.graph.traces
    size = recording.graph.device.size
    assert size == Size(1080, 2400), "a panel of 2160x4800 steps is finer than pixels"
    tap, long, back, swipe = (t.action for t in trace.transitions)
    assert isinstance(tap, Tap) and long == LongPress(tap.x, tap.y, 900) and back == PressKey("back")
    assert isinstance(swipe, Swipe) and swipe.y > swipe.y2 and (swipe.x, swipe.duration_ms) == (tap.x, 300)
    assert (tap.x, tap.y) == (1000 * size.width // 2160, 300 * size.height // 4800)


def test_protocol_a_and_an_overrun_of_the_queue(tmp_path: Path) -> None:
    """Protocol A lifts by an empty report; after SYN_DROPPED the fingers are unknown, and said so."""

    def at(x: int, y: int) -> str:
        return f"/dev/input/event3: 0003 0035 {x:08x}\n/dev/input/event3: 0003 0036 {y:08x}\n/dev/input/event3: 0000 0002 00000000\n"

    done = "/dev/input/event3: 0000 0000 00000000\n"
    up = "/dev/input/event3: 0000 0002 00000000\n" + done
    log = at(10, 20) + done + at(10, 300) + done + up + at(5, 5) + done + "/dev/input/event3: 0000 0003 00000000\n" + up
    (tmp_path / "a.txt").write_text(log)
    recording = import_recording(tmp_path / "a.txt")
    (trace,) = recording.graph.traces
    assert [t.action for t in trace.transitions] == [Swipe(10, 20, 10, 300)]
    assert [reason for _, reason in recording.refused] == ["1 fingers that are unknown: the kernel's queue ran over (SYN_DROPPED)"]


def test_two_quick_taps_are_a_double_tap_only_where_the_log_has_times(tmp_path: Path) -> None:
    """The decoder is the one of the recorder's touch mode, down to what two taps mean."""
    named = ("EV_ABS ABS_MT_TRACKING_ID 00000001", "EV_ABS ABS_MT_POSITION_X 00000064", "EV_ABS ABS_MT_POSITION_Y 00000064", "EV_SYN SYN_REPORT 00000000")
    lifted = ("EV_ABS ABS_MT_TRACKING_ID ffffffff", "EV_SYN SYN_REPORT 00000000")
    lines = [(after, words) for tap in (0.0, 0.2) for after, report in ((tap, named), (tap + 0.05, lifted)) for words in report]
    (tmp_path / "timed.txt").write_text("".join(f"[ {10 + after:12.6f}] /dev/input/event1: {words}\n" for after, words in lines))
    (tmp_path / "plain.txt").write_text("".join(f"/dev/input/event1: {words}\n" for _, words in lines))
    done = {n: [t.action for t in import_recording(tmp_path / n).graph.traces[0].transitions] for n in ("timed.txt", "plain.txt")}
    assert done == {"timed.txt": [DoubleTap(100, 100)], "plain.txt": [Tap(100, 100), Tap(100, 100)]}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.yaml", "a: &a [*a]\n", "recursive node"),
        ("a.yaml", "appId: x\n", "no list of commands"),
        ("a.yaml", "appId: x\n---\n- [[[\n", "not YAML"),
        ("a.yaml", "appId: x\n---\n" + "[" * 1500, "not YAML"),
        ("a.yaml", "appId: x\n---\n- runFlow: ../../etc/passwd\n", "does anything"),
        ("a.yaml", "appId: x\n---\n- runFlow: a.yaml\n", "deeper than"),
        ("a.yaml", "appId: x\n---\n- repeat: {times: 100, commands: [{repeat: {times: 100, commands: [{repeat: {times: 100, commands: [back]}}]}}]}\n", "more than"),
        ("a.log", "[Appium] Welcome to Appium v2\n", "no session on Android"),
        ("a.txt", ":Monkey: seed=1 count=5\n", "not one event"),
        ("a.txt", "add device 1: /dev/input/event2\n", "not one gesture"),
        ("a.json", '{"attributes": {', "not JSON"),
        ("a.json", '{"attributes": {"class": "a"}, "children": ' + '[{"attributes": {"class": "a"}, "children": ' * 300 + "[]" + "}]" * 300 + "}", "deeper"),
    ],
)  # fmt: skip
def test_what_holds_no_step_is_refused_by_name(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FileFormatError, match=words) as caught:
        import_recording(tmp_path / name)
    assert "a." in caught.value.message


def test_aliases_cannot_make_a_small_flow_large(tmp_path: Path) -> None:
    lines = ["a0: &a0 [back, back, back, back, back, back, back, back]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 9)]
    (tmp_path / "a.yaml").write_text("\n".join(lines) + "\n---\n- tapOn: &t {text: x, below: *t}\n- back\n")
    recording = import_recording(tmp_path / "a.yaml") if _parses(tmp_path / "a.yaml") else None
    assert recording is None or len(recording.graph.captures) < 10


def _parses(path: Path) -> bool:
    try:
        import_recording(path)
    except FileFormatError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.yaml", FLOW), ("a.log", APPIUM), ("a.txt", MONKEY), ("b.txt", GETEVENT), ("a.json", hierarchy_json())],
)
def test_a_valid_prefix_followed_by_anything_is_read_or_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    """Cuts at every 37th byte, with random bytes, repeated pieces and doubled lines after them."""
    random_ = random.Random(7)
    valid = content.encode()
    file = tmp_path / name
    outcomes: Counter[bool] = Counter()
    for cut in range(0, len(valid) + 1, max(1, len(valid) // 60)):
        at = random_.randrange(len(valid))
        for tail in (b"", random_.randbytes(40), valid[at : at + 200], b"\n" + valid[at : at + 90].replace(b"1", b"999999999")):
            file.write_bytes(valid[:cut] + tail)
            try:
                recording = import_recording(file)
            except PhoneWorldError as e:
                outcomes[False] += 1
                assert e.message
            else:
                outcomes[True] += 1
                assert loads(dumps(recording.graph)).traces == recording.graph.traces
    assert outcomes[True] and outcomes[False]


