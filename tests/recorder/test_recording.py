"""Real recordings of the notes app: behind Chromium, behind the real adb, through kills, Ctrl-C and a phone that goes away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from phoneworld.adbd.server import AdbPhone
from phoneworld.device.adb import AdbDevice
from phoneworld.device.device import Device
from phoneworld.device.open import open_device
from phoneworld.device.settle import Reading, settle
from phoneworld.device.web import WebDevice
from phoneworld.errors import CaptureFailed, DeviceLost, RecordingError
from phoneworld.graph.file import load_graph, missing_screenshots, screenshot_bytes
from phoneworld.graph.graph import StateGraph
from phoneworld.ui.action import CloseApp, OpenApp, action_to_json
from phoneworld.ui.geometry import Point
from phoneworld.ui.node import Hierarchy
from recorder import record, run_recording
from recorder.driven import Driven
from recorder.folder import journal_folder
from recorder.journal import read_records, tell_all
from recorder.session import Progress
from tests.adbd.fixtures import needs_adb
from tests.webapps import NOTES, served


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(NOTES) as address:
        yield address


@pytest.fixture
def served_phone(url: str, adb_server: int) -> Iterator[AdbPhone]:
    """The notes app as a phone that the real adb is connected to; it outlives whoever records it."""
    adb = ["adb", "-P", str(adb_server)]
    with AdbPhone(partial(open_device, f"web:{url}"), port=0) as phone:
        subprocess.run([*adb, "connect", phone.serial], capture_output=True, timeout=20, check=True)
        yield phone
        subprocess.run([*adb, "disconnect", phone.serial], capture_output=True, timeout=20, check=False)


def check(graph: StateGraph, out: Path) -> None:
    """What holds for every recording: it is on disk as it is in hand, with its pictures, and its steps are where they hit."""
    assert load_graph(out) == graph
    assert not missing_screenshots(graph, out)
    for sha in graph.screenshots():
        screenshot_bytes(out, sha)
    for trace in graph.traces:
        for step in trace.transitions:
            source = graph.captures[step.source]
            action = action_to_json(step.action)
            if action["kind"] == "tap":
                hit = source.hierarchy.hit_test(Point(action["x"], action["y"]), "tap", source.size)
                assert hit is not None and hit.target == step.hit


def test_a_web_app_explores_itself(url: str, tmp_path: Path) -> None:
    out = tmp_path / "notes.graph.json"
    seen: list[Progress] = []
    # This seed restarts the app as soon as that is due, at step 21; or a little later where the screen moved by itself.
    steps, seed = 24, 510
    with WebDevice(url) as phone:
        done = run_recording(phone, phone.apps()[0].package, steps=steps, seed=seed, out=out, on_progress=seen.append)
    check(done.graph, out)
    assert done.reason == "finished"
    (trace,) = done.graph.traces
    assert (trace.start_kind, trace.seed, done.summary.steps) == ("fresh", seed, len(trace.transitions))
    assert done.summary.steps == steps
    assert done.summary.screens >= 3 and done.summary.unsettled == len(done.graph.unsettled()) == 0
    assert all(done.graph.captures[c].screenshot and done.graph.captures[c].state.package for c in trace.captures)
    assert sorted(p.name for p in journal_folder(out).iterdir()) == ["journal.jsonl", "salt"]
    assert seen[-1].step == steps and seen[-1].summary.steps == done.summary.steps
    at = next(i for i, t in enumerate(trace.transitions) if isinstance(t.action, CloseApp))
    close, open_ = trace.transitions[at : at + 2]
    assert (close.action, open_.action) == (CloseApp(done.graph.app.package), OpenApp(done.graph.app.package))
    assert done.graph.captures[close.target].state.package != done.graph.app.package


def test_the_same_seed_does_the_same_and_sees_the_same(url: str, tmp_path: Path) -> None:
    graphs = []
    for name in ("a", "b"):
        with WebDevice(url, clock_ms=1_790_000_000_000) as phone:
            graphs.append(record(phone, phone.apps()[0].package, steps=6, seed=11, out=tmp_path / f"{name}.graph.json"))
    a, b = graphs
    assert [t.action for t in a.transitions()] == [t.action for t in b.transitions()]
    assert [a.captures[c].hierarchy for c in a.traces[0].captures] == [b.captures[c].hierarchy for c in b.traces[0].captures]


@needs_adb
def test_the_same_over_the_real_adb(served_phone: AdbPhone, tmp_path: Path) -> None:
    out = tmp_path / "notes.graph.json"
    phone = AdbDevice.find(served_phone.serial)
    app = next(a.package for a in phone.apps() if "web" in a.package)
    done = run_recording(phone, app, steps=15, seed=4, out=out)
    check(done.graph, out)
    assert (done.reason, done.summary.uncaptured) == ("finished", 0)
    assert done.summary.steps == 15
    assert done.graph.device.size == phone.info.size


def at_step(number: int, then: Callable[[], None]) -> Callable[[Progress], None]:
    """Does something in the middle of a step: it has begun, and the phone is about to be touched."""

    def progress(now: Progress) -> None:
        if now.step == number:
            then()

    return progress


@needs_adb
def test_a_phone_that_goes_away_loses_nothing_and_is_gone_on_with(
    url: str, adb_server: int, tmp_path: Path
) -> None:
    out = tmp_path / "notes.graph.json"
    with WebDevice(url) as phone:
        app = phone.apps()[0].package
        with pytest.raises(DeviceLost) as e:
            record(phone, app, steps=9, out=out, on_progress=at_step(5, phone.close))
    assert "--resume" in e.value.hint
    graph = load_graph(out)
    (trace,) = graph.traces
    assert trace.unfinished is not None and trace.unfinished.reason == "device-lost"
    steps = len(trace.transitions)
    with WebDevice(url) as phone:
        done = run_recording(phone, app, out=out, resume=True)
    check(done.graph, out)
    assert [t.start_kind for t in done.graph.traces] == ["fresh", "kept"]
    assert done.graph.traces[0] == trace
    assert done.summary.steps + done.summary.unfinished == 9
    assert done.summary.steps > steps


def test_a_step_that_cannot_be_captured_is_listed_and_the_recording_goes_on(url: str, tmp_path: Path) -> None:
    out = tmp_path / "notes.graph.json"
    looks: list[int] = []

    def look(device: Device, before: Hierarchy | None, calm: frozenset[str]) -> Reading:
        looks.append(len(looks))
        if len(looks) == 4:
            raise CaptureFailed("the dumper said: ERROR: could not get idle state.", code="DUMP_NOT_IDLE")
        return settle(device, before=before, calm=calm)

    with WebDevice(url) as phone:
        done = run_recording(phone, phone.apps()[0].package, steps=5, out=out, look=look)
    check(done.graph, out)
    first, second = done.graph.traces
    assert first.unfinished is not None and first.unfinished.reason == "DUMP_NOT_IDLE"
    assert (len(first.transitions), second.start_kind, done.summary.uncaptured) == (2, "kept", 1)
    assert len(looks) == 1 + 5 + 1, "one look more: the fresh capture from which it goes on"


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "phoneworld.cli.main", "record", *words]


def started(*words: str) -> subprocess.Popen[str]:
    """A recorder of its own, and in it the first ten steps: its eleventh line of progress is printed in mid-step."""
    process = subprocess.Popen(command(*words), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("10/"):
            return process
    raise AssertionError(f"the recorder ended early with {process.wait()}")


def journalled(out: Path) -> tuple[int, int, int]:
    """Steps begun, done and refused in the journal on disk."""
    records, _ = read_records((journal_folder(out) / "journal.jsonl").read_bytes())
    counted = Counter(r.record for r in records)
    return counted["begun"], counted["done"], counted["refused"]


@needs_adb
def test_a_kill_in_mid_step_loses_nothing(served_phone: AdbPhone, tmp_path: Path) -> None:
    out = tmp_path / "notes.graph.json"
    process = started("-d", served_phone.serial, "--app", _app(served_phone), "-o", str(out), "--steps", "40")
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=30) == -signal.SIGKILL
    process.communicate()
    begun, done, refused = journalled(out)
    assert begun >= 10
    killed = tell_all(read_records((journal_folder(out) / "journal.jsonl").read_bytes())[0]).graph()
    again = subprocess.run(
        command("-d", served_phone.serial, "-o", str(out), "--resume", "--steps", str(begun + 3), "--json"),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    report = json.loads(again.stdout)
    graph = load_graph(out)
    check(graph, out)
    assert graph.traces[: len(killed.traces)] == killed.traces, "every journalled step is in the graph"
    assert len(killed.traces[0].transitions) == done
    assert (killed.traces[0].unfinished is not None) == (begun > done + refused)
    assert graph.traces[-1].start_kind == "kept"
    assert report["unfinished"] == begun - done - refused
    assert report["steps"] + report["unfinished"] == begun + 3


def test_ctrl_c_finishes_the_step_and_writes_the_graph(url: str, tmp_path: Path) -> None:
    out = tmp_path / "notes.graph.json"
    process = started("-d", f"web:{url}", "-o", str(out), "--steps", "500")
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted" in told and "Traceback" not in errors
    begun, done, _ = journalled(out)
    assert 10 <= done <= begun < 500
    graph = load_graph(out)
    check(graph, out)
    assert sum(1 for _ in graph.transitions()) == done
    assert graph.traces[-1].unfinished is None


def test_what_cannot_be_recorded_is_said_in_one_line(url: str, tmp_path: Path) -> None:
    with WebDevice(url) as phone:
        app = phone.apps()[0].package
        with pytest.raises(RecordingError, match="not installed") as e:
            record(phone, app + "x", out=tmp_path / "a.graph.json")
        assert app in e.value.hint
        with pytest.raises(RecordingError, match="nothing to resume"):
            record(phone, app, out=tmp_path / "a.graph.json", resume=True)
        record(phone, app, out=tmp_path / "a.graph.json", steps=1)
        with pytest.raises(RecordingError, match="already there"):
            record(phone, app, out=tmp_path / "a.graph.json")
        with pytest.raises(RecordingError, match="not of other"):
            record(phone, "other", out=tmp_path / "a.graph.json", resume=True)


def test_a_recording_is_not_gone_on_with_on_a_phone_without_its_app(url: str, tmp_path: Path) -> None:
    out = tmp_path / "a.graph.json"
    with WebDevice(url) as phone:
        app = phone.apps()[0].package
        record(phone, app, out=out, steps=1)
        serial, journal = phone.serial, (journal_folder(out) / "journal.jsonl").read_bytes()
    with served(NOTES) as other, WebDevice(other) as phone:
        for go_on in (partial(record, phone, "", resume=True, steps=5), partial(Driven.open, phone, "", resume=True, mode="mirror")):
            with pytest.raises(RecordingError, match=f"{app} is not installed") as e:
                go_on(out=out)
            assert serial in e.value.hint and phone.apps()[0].package in e.value.hint
    assert (journal_folder(out) / "journal.jsonl").read_bytes() == journal, "nothing was written"


def test_resuming_what_is_complete_only_writes_the_graph_again(url: str, tmp_path: Path) -> None:
    out = tmp_path / "a.graph.json"
    with WebDevice(url) as phone:
        graph = record(phone, phone.apps()[0].package, steps=2, out=out)
        journal = (journal_folder(out) / "journal.jsonl").read_bytes()
        out.unlink()
        assert record(phone, "", out=out, resume=True) == graph
        check(graph, out)
        assert (journal_folder(out) / "journal.jsonl").read_bytes() == journal
        told = run_recording(phone, "", out=out, resume=True).message
        assert told == "all 2 steps were done before; --resume --steps 4 goes on", "not silently nothing"
        more = record(phone, "", out=out, resume=True, steps=3)
        assert [len(t.transitions) for t in more.traces] == [2, 1]
        check(more, out)


def test_a_journal_of_another_screen_is_not_gone_on_with(url: str, tmp_path: Path) -> None:
    with WebDevice(url) as phone:
        app = phone.apps()[0].package
        record(phone, app, out=tmp_path / "a.graph.json", steps=1)
    with WebDevice(url, density=420) as other, pytest.raises(RecordingError, match="dpi"):
        record(other, app, out=tmp_path / "a.graph.json", resume=True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("-d", "web:http://127.0.0.1:9/", "-o", "x.graph.json", "--allow", "pya"), 2, "--allow does not know"),
        (("-d", "web:http://127.0.0.1:9/", "-o", "x.graph.json"), 4, "127.0.0.1:9"),
        (("-d", "web:", "-o", "x.graph.json"), 4, "names no page"),
    ],
)
def test_bad_input_is_no_traceback(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in " ".join(done.stderr.split())


def test_another_package_called_recorder_is_named_with_its_mend(tmp_path: Path) -> None:
    (tmp_path / "recorder").mkdir()
    (tmp_path / "recorder" / "__init__.py").write_text("__version__ = '1.0'\n")
    done = subprocess.run(
        command("-d", "web:http://127.0.0.1:9/", "-o", "x.graph.json"),
        capture_output=True, text=True, timeout=60, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 9, done.stderr
    assert "pip uninstall recorder" in " ".join(done.stderr.split())


def _app(served_phone: AdbPhone) -> str:
    phone = AdbDevice.find(served_phone.serial)
    try:
        return next(a.package for a in phone.apps() if "web" in a.package)
    finally:
        phone.close()
