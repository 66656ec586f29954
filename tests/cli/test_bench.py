"""`phoneworld bench`: its walk is what it says, its figures have stable names. No figure is asserted: machines differ."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from phoneworld.cli.bench.growth import grown
from phoneworld.cli.bench.measure import best_time
from phoneworld.cli.bench.walk import find_walk
from phoneworld.cli.root import command_line
from phoneworld.env.state_id import StateNamer
from phoneworld.errors import OptionError, ProgramError
from phoneworld.graph.identity import screens_of
from phoneworld.program.bundle import load_bundle
from phoneworld.program.expr import TRUE
from phoneworld.program.program import Program, Start
from phoneworld.sim.phone import Phone
from phoneworld.testing.samples import sample_bundle, sample_program
from phoneworld.ui.action import Tap
from phoneworld.ui.node import Hierarchy
from tests.cli.running import ROOT

app = command_line()

run = CliRunner()

KEYS = {
    "app", "screen", "layouts", "rules", "walk", "changing_share", "steps_per_s", "steps_per_s_tree", "steps_per_s_text",
    "reset_us", "fork_us", "restore_us", "pixels", "no_pixels_because", "memory", "seconds", "machine",
    "tasks", "vector_64", "notes",
}  # fmt: skip


def test_at_least_half_of_the_walk_changes_the_state_as_counted_again() -> None:
    phone = Phone([sample_program()])
    walk = find_walk(phone)
    namer, state, changing = StateNamer(), phone.reset(), 0
    for action in walk.actions:
        assert type(action) is Tap
        step = phone.step(state, action)
        assert step.valid and step.state.foreground
        changing += namer.name(step.state) != namer.name(state)
        state = step.state
    assert changing / len(walk.actions) == walk.changing_share >= 0.5
    assert walk.states > 5 and walk.looks > 5


def test_a_walk_is_the_same_each_time() -> None:
    assert find_walk(Phone([sample_program()])) == find_walk(Phone([sample_program()]))


def test_an_app_that_no_tap_changes_is_refused() -> None:
    whole = sample_program()
    screen = whole.screens[whole.starts["t1"].screen]
    layout = screen.layouts[0]
    empty = Hierarchy((replace(layout.hierarchy.windows[0], children=()),))
    still = replace(screen, layouts=(replace(layout, hierarchy=empty, bindings=(), when=TRUE),))
    program = Program(
        whole.package, whole.label, whole.activity, whole.device, {still.id: still}, {"t1": Start(still.id)}
    )
    with pytest.raises(ProgramError, match="no tap changes"):
        find_walk(Phone([program]), steps=20)


def test_the_best_window_counts() -> None:
    """Each window takes at least a second of a clock on which the calls of every second window take twice as long."""
    now, calls = [0.0], [0]

    def work() -> None:
        calls[0] += 1
        now[0] += 0.5 if (calls[0] // 4) % 2 else 1.0

    assert best_time(work, 5.0, lambda: now[0]) == 0.5


def test_json_has_the_same_keys_with_and_without_pictures(tmp_path: Path) -> None:
    path = str(sample_bundle(tmp_path / "sample.bundle").path)
    plain = json.loads(run.invoke(app, ["bench", path, "--seconds", "0.05", "--no-pixels", "--json"]).stdout)
    assert set(plain) == KEYS and plain["pixels"] is None and plain["no_pixels_because"]
    full = json.loads(run.invoke(app, ["bench", path, "--seconds", "0.05", "--json"]).stdout)
    assert set(full) == KEYS and [p["size"] for p in full["pixels"]] == ["1080x2400", "360x800"]
    assert all(p["steps_per_s"] > 0 and p["first_ms"] > 0 for p in full["pixels"])
    assert full["steps_per_s"] > 0 and 0.5 <= full["changing_share"] <= 1
    assert full["tasks"] is None and full["vector_64"]["steps_per_s"] > 0 and full["vector_64"]["steps_per_s_frames"] > 0
    assert set(full["memory"]) == {"envs_1_mb", "envs_100_mb", "per_env_kb"}


def test_without_a_bundle_it_measures_an_app_of_ours() -> None:
    done = run.invoke(app, ["bench", "--seconds", "0.02", "--no-pixels"])
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    assert "64 phones as one" in words
    assert "steps/s, no pixels" in words and "restore" in words and "no pictures: --no-pixels" in words


def test_tasks_beside_a_bundle_are_measured() -> None:
    done = run.invoke(app, ["bench", str(ROOT / "apps" / "notes" / "bundle"), "--seconds", "0.02", "--no-pixels", "--json"])
    told = json.loads(done.stdout)["tasks"]
    assert told["tasks"] >= 10 and 0 < told["reset_us"] <= told["slowest_reset_us"] and 0 < told["check_us"] <= told["slowest_check_us"]
    assert 0 < told["again_us"] < told["reset_us"] and told["steps_per_s"] > 0


def test_adb_adds_the_latencies_of_a_tap_and_of_a_picture(tmp_path: Path) -> None:
    path = str(sample_bundle(tmp_path / "sample.bundle").path)
    told = json.loads(run.invoke(app, ["bench", path, "--seconds", "0.05", "--no-pixels", "--adb", "--json"]).stdout)
    assert set(told) == KEYS | {"adb"}
    assert told["adb"]["tap_ms"] > 0 and told["adb"]["calls"] >= 20
    assert told["adb"]["screencap_ms"] is None or told["adb"]["screencap_kb"] > 1


def test_build_adds_how_long_recordings_of_several_sizes_take(tmp_path: Path) -> None:
    path = str(sample_bundle(tmp_path / "sample.bundle").path)
    told = json.loads(run.invoke(app, ["bench", path, "--seconds", "0.02", "--no-pixels", "--build", "20, 45", "--json"]).stdout)
    assert set(told) == KEYS | {"build"}
    assert [b["captures"] for b in told["build"]] == [20, 45] and all(b["seconds"] > 0 for b in told["build"])
    refused = run.invoke(app, ["bench", path, "--build", "100,many"])
    assert isinstance(refused.exception, OptionError) and "100,many" in refused.exception.message


def test_a_recording_grows_by_acting_on_the_app(tmp_path: Path) -> None:
    program = load_bundle(sample_bundle(tmp_path / "sample.bundle").path).program
    graph = grown(program, 60)
    assert len(graph.captures) == 60 and graph == grown(program, 60)
    assert len({type(t.action) for t in graph.transitions()}) > 2
    assert len(screens_of(graph)) > 1
