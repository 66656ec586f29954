"""Field cases that run through several rooms: dump, graph, program, mock, its own dump; and a machine without a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.device.mock import MockDevice
from phoneworld.graph.file import dumps as dump_graph
from phoneworld.graph.file import loads as load_graph_bytes
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.identity import screens_of
from phoneworld.graph.importers import import_recording
from phoneworld.program.bundle import load_bundle, save_bundle
from phoneworld.render.html import tree_page
from phoneworld.testing.samples import sample_bundle
from phoneworld.ui.action import PressKey, Tap
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy
from tests.adbd.fixtures import Desk
from tests.graph.sample import PACKAGE, SIZE, screen, text
from tests.shared import CASES, needs_shared

PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]


def through_the_line(name: str, folder: Path) -> tuple[Hierarchy, MockDevice]:
    """A dump, imported, written and read as a graph, compiled, written and read as a bundle, run as a phone."""
    imported = import_recording(CASES / name)
    graph = load_graph_bytes(dump_graph(imported.graph))
    program = compile_graph(graph, imported.screenshots).program
    bundle = save_bundle(program, folder / "b", imported.screenshots)
    (capture,) = imported.graph.captures.values()
    return capture.hierarchy, MockDevice.open(bundle.path)


@needs_shared
@pytest.mark.parametrize(
    "name",
    [
        "05-banner-glued.txt",
        "07-surrogate-entities.xml",
        "09-newline.xml",
        "10-single-quotes.xml",
        "13-hint-as-text.xml",
        "14-offscreen.xml",
        "19-duplicate-ids.xml",
        "25-rotated.xml",
        "60-cjk-emoji.xml",
        "62-password.xml",
    ],
)
def test_a_dump_comes_out_of_the_mock_as_it_went_in(name: str, tmp_path: Path) -> None:
    """Cases 05, 07, 09, 10, 13, 14, 19, 25, 60 and 62, end to end: the mock's own dump is well-formed and reads as the recorded tree."""
    if name.endswith(".txt"):
        (tmp_path / "dump.xml").write_bytes((CASES / name).read_bytes())
        imported = import_recording(tmp_path / "dump.xml")
        (capture,) = imported.graph.captures.values()
        recorded, phone = capture.hierarchy, None
        program = compile_graph(imported.graph).program
        phone = MockDevice.open(save_bundle(program, tmp_path / "b", {}).path)
    else:
        recorded, phone = through_the_line(name, tmp_path)
    shown = phone.hierarchy()
    assert shown == recorded
    assert parse_hierarchy(write_hierarchy(shown)) == recorded
    phone.close()


@needs_shared
def test_newlines_and_tabs_are_written_as_references_and_shown_as_lines(tmp_path: Path) -> None:
    """Case 09 over the shell of the phone: the dump writes `&#10;` and `&#9;`, and the page keeps the lines apart."""
    recorded, phone = through_the_line("09-newline.xml", tmp_path)
    texts = [n.text or n.content_desc for n in recorded.nodes() if "\n" in n.text + n.content_desc]
    assert texts
    from phoneworld.adbd.phone import PhoneSide

    side = PhoneSide(phone)
    side.open()
    out, _, status = Desk(side, phone).raw("uiautomator dump /dev/tty")  # type: ignore[arg-type]
    assert status == 0 and b"&#10;" in out
    assert parse_hierarchy(out) == recorded
    page = tree_page(recorded, recorded.extent, 420)
    assert any(text in page for text in texts) and "white-space: pre-wrap" in page
    side.close()


@needs_shared
def test_damaged_emoji_are_shown_as_characters(tmp_path: Path) -> None:
    """Case 07: pairs of halves become the character, a lone half the replacement; graph and page hold both."""
    recorded, phone = through_the_line("07-surrogate-entities.xml", tmp_path)
    words = "".join(n.text + n.content_desc for n in recorded.nodes())
    assert "\U0001f600" in words and not any(0xD800 <= ord(c) < 0xE000 for c in words)
    assert "\U0001f600" in tree_page(recorded, recorded.extent, 420)
    phone.close()


def field(name: str) -> Node:
    """An empty field that has the focus."""
    return Node(
        "android.widget.EditText", resource_id=f"{PACKAGE}:id/{name}", package=PACKAGE, hint="Term", clickable=True, focusable=True, focused=True,
        bounds=Bounds(0, 200, 1080, 320),
    )  # fmt: skip


@needs_shared
def test_back_closes_the_keyboard_before_it_leaves_the_screen(tmp_path: Path) -> None:
    """Case 30: the recorded presses replay, and so do those of a way that was never recorded; at the root the launcher is next."""
    case = json.loads((CASES / "30-back-ime.json").read_text())
    shown = [(s["state"], s.get("ime", False)) for s in case["trace"] if "state" in s]
    home = screen(text("Home", "title"), text("Search", "q", top=200, clickable=True))
    find = screen(text("Find", "title"), field("term"))
    trees = {"home": home, "search": find, "launcher": screen(text("Apps", "apps"), package="com.android.launcher3")}
    captures = {"c0": Capture("c0", home, SIZE, state=DeviceState(PACKAGE, "Main"))}
    for i, (name, keyboard) in enumerate(shown, 1):
        package, activity = ("com.android.launcher3", "Launcher") if name == "launcher" else (PACKAGE, "Main" if name == "home" else "Find")
        captures[f"c{i}"] = Capture(f"c{i}", trees[name], SIZE, state=DeviceState(package, activity, keyboard=keyboard), time_ms=i * 1000)
    actions = [Tap(10, 250), *(PressKey("back") for _ in shown[1:])]
    steps = tuple(Transition(f"c{i}", a, f"c{i + 1}", hit=(0, 1) if i == 0 else None) for i, a in enumerate(actions))
    graph = StateGraph(RecordedApp(PACKAGE, activity="Main"), DeviceInfo(SIZE), captures, (Trace("t1", "c0", steps, start_kind="fresh"),))
    names = {home_of: name for name, members in screens_of(graph).items() for home_of in members}
    moved = [(names[t.source], names[t.target]) for t in steps[1:] if names[t.source] != names[t.target]]
    closed = [t for t in steps if captures[t.source].state.keyboard and not captures[t.target].state.keyboard]
    assert len(moved) == len(case["expect"]["nav_edges"]) and len(closed) == case["expect"]["ime_dismiss"]
    compiled = compile_graph(graph, {})
    assert compiled.replay.exact == len(compiled.replay.steps)
    phone = MockDevice.open(save_bundle(compiled.program, tmp_path / "b", {}).path)
    seen = []
    for action in [Tap(10, 250), PressKey("back"), PressKey("back"), Tap(10, 250), PressKey("back"), PressKey("back"), PressKey("back")]:
        phone.perform(action)
        state = phone.state()
        seen.append(("launcher" if state.package != PACKAGE else "home" if phone.hierarchy() == home else "search", state.keyboard))
    assert seen == [*shown[:3], *shown]
    phone.close()


@pytest.fixture
def no_browser() -> dict[str, str]:
    return {**os.environ, "PHONEWORLD_CHROMIUM": "/nonexistent/chromium"}


def test_without_a_browser_building_and_stepping_work(no_browser: dict[str, str], tmp_path: Path) -> None:
    """Case 70: build, graph and state need no browser."""
    bundle = sample_bundle(tmp_path / "groceries.bundle").path
    actions = tmp_path / "actions.jsonl"
    actions.write_text('{"kind": "wait"}\n{"kind": "press_key", "key": "back"}\n')
    done = subprocess.run(
        [*PHONEWORLD, "play", str(bundle), "--actions", str(actions), "--json"], env=no_browser, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 3 and [t["evidence"] for t in told[1:]] == ["assumed", "assumed"]
    assert load_bundle(bundle).program


def test_without_a_browser_a_web_phone_says_so_in_one_line(no_browser: dict[str, str]) -> None:
    """Case 70: one line that names what is wrong, one that mends it, no trace."""
    done = subprocess.run(
        [*PHONEWORLD, "phone", "web:http://127.0.0.1:9", "--adb", "0", "--no-connect"], env=no_browser, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 7
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) <= 4 and "PHONEWORLD_CHROMIUM" in done.stderr
