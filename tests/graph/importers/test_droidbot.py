"""DroidBot runs: those of the corpus in place, and small ones of our own with each thing that may be wrong with them."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from phoneworld.errors import FileFormatError
from phoneworld.graph.file import dumps, loads
from phoneworld.graph.importers import import_recording
from phoneworld.graph.importers.recording import ImportedRecording
from phoneworld.ui.action import CloseApp, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, kind_of
from phoneworld.ui.geometry import Bounds, Size
from tests.graph.recordings import imported
from tests.graph.sample import png
from tests.shared import CORPUS, needs_shared

# name: captures, pictures, transitions of each trace, files that are left out
RUNS = {
    "droidbot-album-sample": (21, 21, [27, 6, 32, 3], 4),
    "droidbot-droidxp": (15, 15, [12, 2, 14, 8], 4),
    "droidbot-exp-small": (12, 12, [2, 2, 3, 5, 4, 6], 1),
    "droidbot-kea-myexpenses": (15, 13, [1, 4, 5, 2], 3),
    "genie-activitydiary-main": (24, 15, [12], 1),
    "genie-activitydiary-mutant": (30, 18, [7, 7], 1),
}


def _events(root: Path) -> list[dict[str, Any]]:
    return [json.loads(f.read_text()) for f in sorted(root.rglob("events/event_*.json"))]


@needs_shared
@pytest.mark.parametrize("name", RUNS)
def test_a_run_of_the_corpus_imports_whole_with_a_reason_for_what_is_left_out(name: str) -> None:
    recording = imported(name)
    captures, pictures, transitions, left_out = RUNS[name]
    graph = recording.graph
    assert recording.format == "droidbot"
    assert len(graph.captures) == captures
    assert sum(c.screenshot is not None for c in graph.captures.values()) == pictures
    assert graph.screenshots() == set(recording.screenshots)
    assert [len(t.transitions) for t in graph.traces] == transitions
    assert len(recording.refused) == left_out and all(reason for _, reason in recording.refused)
    assert len(_events(CORPUS / "traces" / name)) == sum(transitions) + left_out, (
        "every event is a transition or has its reason"
    )
    assert graph.app.package and set(recording.origins) == set(graph.captures)
    assert loads(dumps(graph)) == graph


@needs_shared
@pytest.mark.parametrize("name", RUNS)
def test_transitions_join_the_states_that_their_events_name(name: str) -> None:
    """An independent reading: the (start, stop) pairs of the events that have both files, in the order of their names."""
    root = CORPUS / "traces" / name
    folder = next(p for p in (root / "states", root / "output" / "all_states") if p.is_dir())
    strs = {p.name: json.loads(p.read_text())["state_str"] for p in folder.glob("state_*.json")}
    recording = imported(name)
    known = set(strs.values())
    expected = [
        (e["start_state"], e["stop_state"])
        for e in _events(root)
        if e["start_state"] in known and e["stop_state"] in known and e["event"]["event_type"]
    ]
    found = [
        (strs[recording.origins[t.source]], strs[recording.origins[t.target]]) for t in recording.graph.transitions()
    ]
    assert found == expected


@needs_shared
def test_a_touch_is_the_middle_of_the_view_and_a_scroll_a_swipe_over_it() -> None:
    root = CORPUS / "traces" / "droidbot-album-sample"
    graph = imported(root.name).graph
    kinds = Counter(kind_of(t.action) for t in graph.transitions())
    assert kinds == {"tap": 48, "swipe": 8, "press_key": 7, "long_press": 3, "open_app": 2}
    touches = [e["event"]["view"]["bounds"] for e in _events(root) if e["event"]["event_type"] == "touch"]
    middles = {
        (min(1439, (left + right) // 2), min(2559, (top + bottom) // 2)) for (left, top), (right, bottom) in touches
    }
    assert {(t.action.x, t.action.y) for t in graph.transitions() if isinstance(t.action, Tap)} <= middles
    assert sum(t.hit is not None for t in graph.transitions()) == 59, "every action with a place has its node"


@needs_shared
def test_all_views_of_a_state_are_in_its_tree() -> None:
    root = CORPUS / "traces" / "droidbot-album-sample"
    recording = imported(root.name)
    for name, capture in recording.graph.captures.items():
        views = json.loads((root / "states" / recording.origins[name]).read_text())["views"]
        nodes = list(capture.hierarchy.nodes())
        assert [n.class_name for n in nodes] == [v["class"] for v in views]
        assert [n.text for n in nodes] == [v["text"] or "" for v in views]
        assert [n.visible for n in nodes] == [v["visible"] for v in views]
        assert [(n.bounds.left, n.bounds.bottom) for n in nodes] == [
            (v["bounds"][0][0], v["bounds"][1][1]) for v in views
        ]


@needs_shared
def test_a_landscape_state_has_the_size_of_its_picture_and_its_rotation() -> None:
    graph = imported("droidbot-kea-myexpenses").graph
    turned = [c for c in graph.captures.values() if c.size == Size(1920, 1080)]
    assert turned and all(c.state.rotation == 1 and c.hierarchy.rotation == 1 for c in turned)
    assert graph.device.size == Size(1080, 1920)


# ---- runs of our own


def view(number: int, parent: int, children: list[int], **more: Any) -> dict[str, Any]:
    return {
        "temp_id": number, "parent": parent, "children": children, "class": "android.widget.Button", "package": "org.app",
        "text": f"v{number}", "resource_id": None, "content_description": None, "bounds": [[0, number * 10], [100, number * 10 + 10]],
        "clickable": True, "visible": True, "enabled": True, **more,
    }  # fmt: skip


def state(name: str, views: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    root = view(0, -1, [1], **{"class": "android.widget.FrameLayout", "bounds": [[0, 0], [100, 200]], "text": None})
    return {"state_str": name, "foreground_activity": "org.app/.Main", "views": views or [root, view(1, 0, [])], **more}


def run(
    root: Path, states: dict[str, Any], events: list[Any], pictures: dict[str, bytes] | None = None
) -> ImportedRecording:
    (root / "states").mkdir()
    (root / "events").mkdir()
    for tag, content in states.items():
        (root / "states" / f"state_{tag}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    for name, picture in (pictures or {}).items():
        (root / "states" / f"screen_{name}").write_bytes(picture)
    for i, event in enumerate(events):
        content = (
            {"event": event[1], "start_state": event[0], "stop_state": event[2]} if isinstance(event, tuple) else event
        )
        (root / "events" / f"event_{i}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return import_recording(root)


def test_each_kind_of_event_becomes_its_action(tmp_path: Path) -> None:
    seen = view(1, 0, [])
    events = [
        {"event_type": "touch", "x": None, "y": None, "view": seen},
        {"event_type": "touch", "x": 3.7, "y": 4},
        {"event_type": "long_touch", "view": seen, "duration": 2000},
        {"event_type": "scroll", "view": seen, "direction": "DOWN"},
        {"event_type": "swipe", "start_x": 1, "start_y": 2, "end_x": 3, "end_y": 900},
        {"event_type": "set_text", "view": seen, "text": "hé"},
        {"event_type": "key", "name": "BACK"},
        {"event_type": "key", "name": "KEYCODE_DEL"},
        {"event_type": "intent", "intent": "am start -a android.intent.action.VIEW -d 'x://y?a=1&b=2' org.app/.Main"},
        {"event_type": "intent", "intent": "am force-stop org.app"},
        {"event_type": "kill_app", "stop_intent": "am force-stop org.app"},
    ]
    recording = run(tmp_path, {"1": state("a")}, [("a", e, "a") for e in events])
    assert recording.refused == ()
    assert [t.action for t in recording.graph.transitions()] == [
        Tap(50, 15),
        Tap(3, 4),
        LongPress(50, 15, 2000),
        Swipe(50, 19, 50, 11, 500),
        Swipe(1, 2, 3, 199, 1000),
        TypeText("hé", 50, 15, "replace"),
        PressKey("back"),
        PressKey("backspace"),
        OpenApp("org.app", "org.app.Main", "x://y?a=1&b=2"),
        CloseApp("org.app"),
        CloseApp("org.app"),
    ]
    assert next(recording.graph.transitions()).hit == (0, 0)


def test_what_is_broken_is_left_out_with_its_reason_and_cuts_the_trace(tmp_path: Path) -> None:
    touch = {"event_type": "touch", "view": view(1, 0, [])}
    cycle = [view(0, -1, []), view(1, 2, [2]), view(2, 1, [1])]
    recording = run(
        tmp_path,
        {
            "1": state("a"),
            "2": state("b"),
            "3": "{cut",
            "4": state("none", []) | {"views": []},
            "5": state("cycle", cycle),
            "6": state("bad-bounds", [view(0, -1, [], bounds="[0,0][1,1]")]),
            "7": {"views": []},
        },
        [
            ("a", touch, "b"),
            ("b", {"event_type": "shake"}, "a"),
            ("a", touch, "b"),
            "[]",
            ("b", {"event_type": "key", "name": "NO_SUCH"}, "a"),
            ("a", touch, "gone"),
            ("b", {"event_type": "touch"}, "a"),
            ("b", touch, "a"),
        ],
        {"1.png": b"\x89PNG\r\n\x1a\nbroken", "2.jpg": b""},
    )
    assert [len(t.transitions) for t in recording.graph.traces] == [1, 1, 1]
    reasons = dict(recording.refused)
    assert set(reasons) == {
        "states/state_3.json", "states/state_4.json", "states/state_5.json", "states/state_6.json", "states/state_7.json",
        "states/screen_1.png", "states/screen_2.jpg",
        "events/event_1.json", "events/event_3.json", "events/event_4.json", "events/event_5.json", "events/event_6.json",
    }  # fmt: skip
    assert "stop state" in reasons["events/event_5.json"] and "shake" in reasons["events/event_1.json"]


def test_a_jpeg_becomes_a_png_and_a_scaled_picture_is_brought_to_the_pixels_of_the_tree(tmp_path: Path) -> None:
    jpeg = io.BytesIO()
    Image.new("RGB", (100, 200), "red").save(jpeg, "JPEG")
    recording = run(
        tmp_path,
        {"1": state("a"), "2": state("b"), "3": state("c"), "4": state("d")},
        [],
        {"1.jpg": jpeg.getvalue(), "2.png": png("blue", Size(50, 100)), "3.png": png("blue", Size(200, 100))},
    )
    captures = list(recording.graph.captures.values())
    sizes = {sha: Image.open(io.BytesIO(content)).size for sha, content in recording.screenshots.items()}
    assert all(content.startswith(b"\x89PNG") for content in recording.screenshots.values())
    assert [sizes.get(c.screenshot or "") for c in captures] == [(100, 200), (100, 200), None, None]
    assert captures[1].notes == ("scaled-picture",)
    assert "not of one moment" in dict(recording.refused)["states/screen_3.png"]
    assert all(c.size == Size(100, 200) for c in captures)


def test_of_many_files_of_one_state_each_moment_takes_its_own(tmp_path: Path) -> None:
    touch = {"event_type": "touch", "view": view(1, 0, [])}
    names = {"1": "a", "2": "b", "10": "a", "11": "b"}
    recording = run(
        tmp_path,
        {tag: state(name) for tag, name in names.items()},
        [("a", touch, "b"), ("b", touch, "a"), ("a", touch, "b"), ("b", touch, "b")],
    )
    (trace,) = recording.graph.traces
    assert [recording.origins[c] for c in trace.captures] == [f"state_{n}.json" for n in (1, 2, 10, 11, 11)]


def test_the_word_none_is_a_description_only_where_others_are_null(tmp_path: Path) -> None:
    fork = [view(0, -1, [1], content_description="None"), view(1, 0, [], content_description="None")]
    plain = [view(0, -1, [1]), view(1, 0, [], content_description="None")]
    graph = run(tmp_path, {"1": state("a", fork), "2": state("b", plain)}, []).graph
    assert [[n.content_desc for n in c.hierarchy.nodes()] for c in graph.captures.values()] == [["", ""], ["", "None"]]


def test_odd_bounds_and_depth_are_kept_or_refused_but_never_a_traceback(tmp_path: Path) -> None:
    odd = [view(0, -1, [1]), view(1, 0, [], bounds=[[50, 50], [10, -5]])]
    deep = [view(i, i - 1, [i + 1]) for i in range(5000)]
    recording = run(tmp_path, {"1": state("a", odd), "2": state("b", deep)}, [])
    assert next(iter(recording.graph.captures.values())).hierarchy.at((0, 0)).bounds == Bounds(50, 50, 10, -5)
    assert "deeper" in recording.refused[0][1]


def test_nothing_usable_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="not one state"):
        run(tmp_path, {"1": "{}"}, [])
    with pytest.raises(FileFormatError, match="no DroidBot output"):
        import_recording(tmp_path / "events", "droidbot")


ODD: tuple[Any, ...] = (
    None, True, -1, 1.5, float("nan"), float("inf"), 10**30, "", "\ud800", [], {}, [None], [[0, 0], ["a", 1]], {"a": 1}, "am start -n a/b -d",
)  # fmt: skip


def with_anything_anywhere(value: Any) -> list[Any]:
    """The value with each of its parts, however deep, once replaced by each of the odd ones."""
    if isinstance(value, dict):
        return [{**value, k: other} for k, v in value.items() for other in (*ODD, *with_anything_anywhere(v))]
    if isinstance(value, list):
        return [[*value[:i], other, *value[i + 1 :]] for i, v in enumerate(value) for other in (*ODD, *with_anything_anywhere(v))]
    return []


def test_anything_in_the_place_of_any_value_is_read_or_left_out_with_its_reason(tmp_path: Path) -> None:
    seen = view(1, 0, [])
    events = [
        {"event_type": "touch", "x": None, "y": None, "view": {"temp_id": 1, "bounds": seen["bounds"]}},
        {"event_type": "long_touch", "x": 3.5, "y": 4, "duration": 2000},
        {"event_type": "scroll", "view": {"bounds": [[0, 0], [9, 9]]}, "direction": "UP"},
        {"event_type": "swipe", "start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4},
        {"event_type": "set_text", "x": 1, "y": 2, "text": "hi"},
        {"event_type": "key", "name": "BACK"},
        {"event_type": "intent", "intent": "am start a.b/.M"},
        {"event_type": "kill_app", "stop_intent": "am force-stop a.b"},
    ]
    whole = [{"event": e, "start_state": "a", "stop_state": "a"} for e in events]
    odd_events = [odd for e in whole for odd in with_anything_anywhere(e)]
    odd_states = with_anything_anywhere(state("a", width=100, height=200))
    recording = run(tmp_path, {"0": state("a"), **{str(i): s for i, s in enumerate(odd_states, 1)}}, odd_events)
    taken = sum(1 for _ in recording.graph.transitions())
    left_out = Counter(name.partition("/")[0] for name, _ in recording.refused)
    assert taken + left_out["events"] == len(odd_events) and len(recording.graph.captures) + left_out["states"] == 1 + len(odd_states)
    assert taken > len(events) and left_out["events"] > 100 and left_out["states"] > 100
    kept = loads(dumps(recording.graph))  # with U+FFFD for half a character
    assert loads(dumps(kept)) == kept and len(kept.captures) == len(recording.graph.captures)
