"""A recorder on a phone with faults: what was asked for again is told by its reason, a broken-off step is listed, and it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from phoneworld.adbd.server import AdbPhone
from phoneworld.device.adb import AdbDevice
from phoneworld.device.adb_server import AdbServer
from phoneworld.device.faults import Faults, parse_faults, tree_name
from phoneworld.graph.file import load_graph
from recorder.folder import journal_folder
from recorder.journal import read_records
from recorder.run import run_recording
from recorder.session import Progress
from tests.adbd.fixtures import needs_adb
from tests.adbd.pocket import PACKAGE, PocketPhone


class Switch:
    """A clock that a test turns: the phone goes offline when it says so."""

    now_s = 0.0

    def clock(self) -> float:
        return self.now_s


@contextmanager
def recorded_phone(port: int, faults: str, *, seed: int = 0, switch: Switch | None = None) -> Iterator[tuple[AdbDevice, PocketPhone, Faults]]:
    """A pocket phone with faults behind the real adb. Nothing that a fault takes its time for takes any here."""
    switch = switch or Switch()
    pocket = PocketPhone()
    at_work = Faults(parse_faults(faults), seed=seed, clock=switch.clock, sleep=lambda _: None)
    server = AdbServer(port=port)
    with AdbPhone(pocket, port=0, faults=at_work) as served:
        assert server.connect(served.serial)
        device = AdbDevice(served.serial, server=server)
        try:
            yield device, pocket, at_work
        finally:
            device.close()
            server.disconnect(served.serial)


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@needs_adb
def test_the_summary_tells_what_was_asked_for_again_and_why(adb_server: int, tmp_path: Path) -> None:
    with recorded_phone(adb_server, "nullroot=0.2,killed=0.1,truncated=0.1,idle=0.1:0", seed=4) as (device, _, faults):
        done = run_recording(device, PACKAGE, steps=10, out=tmp_path / "pocket.graph.json")
    assert (done.reason, done.summary.steps, done.summary.uncaptured) == ("finished", 10, 0)
    assert done.summary.retried == sum(done.summary.retried_for.values()) > 0
    assert faults.struck["nullroot"] >= done.summary.retried_for["NULL_ROOT"] > 0
    assert set(done.summary.retried_for) <= {"NULL_ROOT", "DUMP_FAILED", "BAD_DUMP", "NO_PNG", "DUMP_NOT_IDLE"}
    assert load_graph(done.path) == done.graph


@needs_adb
def test_a_phone_that_goes_away_in_mid_step_costs_that_step_and_no_more(adb_server: int, tmp_path: Path) -> None:
    """It goes offline just before the fourth step is done: the step is listed, a new trace begins, and the steps go on."""
    switch = Switch()

    def turn(progress: Progress) -> None:
        if progress.step == 4 and switch.now_s == 0:
            switch.now_s = 100.0

    with recorded_phone(adb_server, "offline@100:0", switch=switch) as (device, _, _):
        done = run_recording(device, PACKAGE, steps=8, out=tmp_path / "pocket.graph.json", on_progress=turn)
    assert done.reason == "finished" and switch.now_s == 100.0
    records, _ = read_records((journal_folder(done.path) / "journal.jsonl").read_bytes())
    ends = [r.record for r in records if r.record in ("done", "refused", "unfinished")]
    assert len(ends) == 8 + done.summary.refused, "every step that was begun has an end"
    assert done.summary.transitions + done.summary.uncaptured == 8
    assert done.summary.retried_for["RECONNECTED"] >= 1
    assert len(done.graph.traces) == 1 + done.summary.uncaptured <= 2


@needs_adb
def test_a_phone_that_stays_away_ends_the_recording_with_all_that_was_recorded(adb_server: int, tmp_path: Path) -> None:
    pocket = PocketPhone()
    server = AdbServer(port=adb_server)
    with AdbPhone(pocket, port=0) as served:
        assert server.connect(served.serial)
        device = AdbDevice(served.serial, server=server, reconnect_s=0.5)

        def unplug(progress: Progress) -> None:
            if progress.step == 3:
                served.close()

        done = run_recording(device, PACKAGE, steps=8, out=tmp_path / "pocket.graph.json", on_progress=unplug)
        device.close()
    assert done.reason == "device-lost" and served.serial in done.message
    assert done.summary.transitions == 2 and load_graph(done.path) == done.graph


@needs_adb
def test_animations_are_off_while_it_records_and_on_again_after_it(adb_server: int, tmp_path: Path) -> None:
    asked = "settings get global transition_animation_scale"
    seen: set[str] = set()
    with recorded_phone(adb_server, "") as (device, _, _):

        def ask(progress: Progress) -> None:
            if progress.step == 2:
                seen.add(device.run(asked).text)

        run_recording(device, PACKAGE, steps=3, out=tmp_path / "pocket.graph.json", on_progress=ask)
        device.close()
        assert seen == {"0\n"} and device.run(asked).text == "1.0\n"


@needs_adb
def test_no_capture_is_a_tree_that_the_phone_did_not_show(adb_server: int, tmp_path: Path) -> None:
    """Old trees and late screens at 20 %: what is kept was shown, or is marked."""
    truth = tmp_path / "truth.jsonl"
    pocket = PocketPhone()
    faults = Faults(parse_faults("oldtree=0.2,late-settle=0.2:0.3,secure=0.1"), seed=5, truth=truth)
    server = AdbServer(port=adb_server)
    with AdbPhone(pocket, port=0, faults=faults) as served:
        assert server.connect(served.serial)
        device = AdbDevice(served.serial, server=server)
        done = run_recording(device, PACKAGE, steps=15, out=tmp_path / "pocket.graph.json")
        device.close()
        server.disconnect(served.serial)
    rows = [json.loads(line) for line in truth.read_text().splitlines()]
    assert faults.struck["oldtree"] and faults.struck["late-settle"]
    since_ms = 0
    for name in (c for trace in done.graph.traces for c in trace.captures):
        capture = done.graph.captures[name]
        shown = {row["tree"] for row in rows if since_ms - 50 <= row["time_ms"] <= capture.time_ms + 50 and "tree" in row}
        assert tree_name(capture.hierarchy) in shown or {"picture-only", "unsettled"} & set(capture.notes), name
        since_ms = capture.time_ms
