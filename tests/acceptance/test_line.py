"""The whole line with an app that nobody here wrote: recorded over the real adb program, built, replayed, exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adbd.fixtures import needs_adb
from tests.webapps import served, todomvc

PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]


def run(*words: str) -> dict[str, object]:
    """A verb with `--json`, to its end."""
    done = subprocess.run([*PHONEWORLD, *words, "--json"], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, object] = json.loads(done.stdout)
    return told


@needs_adb
@pytest.mark.parametrize("steps", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_todomvc_recorded_over_adb_replays_with_an_equal_tree_after_each_step(
    steps: int,
    tmp_path: Path,
    adb_server: object,
) -> None:
    """Unmodified TodoMVC (vanillajs) behind the adb face; class, id, text, state and bounds within 8 px of every visible node."""
    graph = tmp_path / "todo.graph.json"
    with served(todomvc("vanillajs")) as url:
        phone = subprocess.Popen([*PHONEWORLD, "phone", f"web:{url}", "--adb", "0", "--json"], stdout=subprocess.PIPE, text=True)
        try:
            assert phone.stdout is not None
            serial = json.loads(phone.stdout.readline())["serial"]
            recorded = run("record", "--device", serial, "--steps", str(steps), "--seed", "1", "--allow", "all", "-o", str(graph))
        finally:
            phone.terminate()
            phone.wait(30)
    assert (recorded["transitions"], recorded["uncaptured"]) == (steps, 0)
    built = run("build", str(graph), "-o", str(tmp_path / "todo.bundle"))
    replay = built["replay"]
    assert isinstance(replay, dict)
    assert replay["exact"] == replay["steps"] == steps + replay["traces"]
    again = run("build", str(graph), "-o", str(tmp_path / "again.bundle"))
    assert again["replay"] == replay
    assert _files(tmp_path / "todo.bundle") == _files(tmp_path / "again.bundle")


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
