"""Apps that nobody here wrote, each recorded over the real adb program, built, and served.

Slow: a hundred steps each, one app at a time. Each prints one line: screens found, coverage, unsettled captures, time; the lines
of the last run are in `tests/README.md`. A short sibling goes the same way in twelve steps.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from phoneworld.graph.file import load_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.ui.action import DoubleTap, LongPress, Tap, TypeText, Wait
from phoneworld.ui.node import Node
from tests.adbd.fixtures import needs_adb
from tests.webapps import actual, free_port, ihatemoney, mopidy_mobile, running, served, tiddlywiki, todomvc, weui

PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]
HOST = "org.example.chat"
Starter = Callable[[Path], AbstractContextManager[str]]


def _todomvc(name: str) -> Starter:
    return lambda _folder: served(todomvc(name))


@contextmanager
def _weui(_folder: Path) -> Iterator[str]:
    with weui() as url:
        yield f"mini:{url}?host={HOST}"


APPS: dict[str, Starter] = {
    **{f"todomvc-{name}": _todomvc(name) for name in ("react", "vue", "backbone", "knockoutjs")},
    "weui": _weui,
    "tiddlywiki": tiddlywiki,
    "ihatemoney": ihatemoney,
    "actual": lambda _folder: actual(),
    "mopidy-mobile": mopidy_mobile,
}
QUICK = ("weui",)
RUNS = [pytest.param(name, 12, id=f"{name}-12") for name in QUICK] + [
    pytest.param(name, 100, id=f"{name}-100", marks=pytest.mark.slow) for name in APPS
]


def run(*words: str) -> dict[str, object]:
    """A verb with `--json`, to its end."""
    done = subprocess.run([*PHONEWORLD, *words, "--json"], capture_output=True, text=True, timeout=2400)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, object] = json.loads(done.stdout)
    return told


@needs_adb
@pytest.mark.parametrize(("name", "steps"), RUNS)
def test_an_app_of_others_is_recorded_over_adb_built_and_served(
    name: str,
    steps: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    adb_server: object,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    graph = tmp_path / f"{name}.graph.json"
    with APPS[name](data) as started:
        spec = started if started.startswith("mini:") else f"web:{started}"
        words = ["phone", spec, "--adb", "0", "--size", "540x1200", "--density", "240", "--clock", "2026-08-24T09:30Z", "--seed", "1", "--json"]
        phone = subprocess.Popen([*PHONEWORLD, *words], stdout=subprocess.PIPE, text=True)
        try:
            assert phone.stdout is not None
            serial = json.loads(phone.stdout.readline())["serial"]
            began = time.monotonic()
            recorded = run("record", "--device", serial, "--steps", str(steps), "--seed", "1", "--allow", "all", "-o", str(graph))
            took_s = time.monotonic() - began
        finally:
            phone.terminate()
            phone.wait(30)
    built = run("build", str(graph), "-o", str(tmp_path / "bundle"))
    replay = built["replay"]
    assert isinstance(replay, dict)
    kept = load_graph(graph)
    touched, touchable = _coverage(kept)
    with capsys.disabled():
        print(
            f"\n| {name} | {steps} | {recorded['screens']} | {touched} of {touchable} | {recorded['unsettled']} | {recorded['uncaptured']} "
            f"| {replay['exact']} of {replay['steps']} | {took_s:.0f} s |"
        )
    done = sum(1 for _ in kept.transitions())
    # A step is not done where the screen changed by itself before it, and a wait is done instead. A message whose time is over
    # goes by itself in any app that has some; a page that still loads was thought at rest too early.
    assert recorded["uncaptured"] == 0 and done == steps and recorded["refused"] - _messages_gone(kept) <= steps // 100
    assert replay["steps"] == done + replay["traces"]
    # A small app has less to touch than there are steps.
    assert touched >= min(steps // 8, touchable // 2)
    port = free_port()
    with running([*PHONEWORLD, "serve", str(tmp_path / "bundle"), "--port", str(port)], port, tmp_path / "serve.log") as url:
        asked = urllib.request.Request(f"{url}api/sessions", b"{}", {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert json.load(answer)


def _named(node: Node) -> tuple[str, str, str, str]:
    return node.class_name, node.resource_id, node.text, node.content_desc


def _messages_gone(graph: StateGraph) -> int:
    """How many waits in which something went and nothing came: all that is shown was shown before."""

    def shown(capture: str) -> Counter[tuple[str, str, str, str]]:
        return Counter(_named(n) for n in graph.captures[capture].hierarchy.nodes())

    return sum(isinstance(t.action, Wait) and shown(t.target) < shown(t.source) for t in graph.transitions())


def _coverage(graph: StateGraph) -> tuple[int, int]:
    """How many of the widgets that can be clicked, on any screen, were touched; a widget is its class, id and words."""

    seen = {_named(n) for c in graph.captures.values() for n in c.hierarchy.nodes() if n.clickable and n.bounds.area}
    touched = {
        _named(graph.captures[t.source].hierarchy.at(t.hit))
        for t in graph.transitions()
        if t.hit is not None and isinstance(t.action, Tap | DoubleTap | LongPress | TypeText)
    }
    return len(touched & seen), len(seen)
