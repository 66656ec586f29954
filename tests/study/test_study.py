"""A study goes from its plan to its report, and ends with the same numbers however often it was killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.errors import FileFormatError, OptionError, PhoneWorldError, WriteError
from phoneworld.study.conduct import RAW, _described, _gather, _held, conduct, read_study
from phoneworld.study.conduct import _begun as begun
from phoneworld.study.crew import Crew
from phoneworld.study.figures import carried, correlation, difference
from phoneworld.study.plan import read_plan
from phoneworld.study.report import read_lines, report
from phoneworld.study.scores import Score
from phoneworld.study.works import Begin, FindOut, RunArm, ScoreBegin, Setup
from phoneworld.train.sources import MOCK, REAL
from tests.cli.running import ROOT
from tests.study.tiny import write_study

NUMBERS = ("scores.jsonl", "updates.jsonl", "study.json")


class Killed(Exception):
    pass


def done_here(plan: Path, folder: Path, at: int = 1_000_000) -> None:
    """The whole study in this process, killed when it has told of progress so many times."""
    read = read_plan(plan)
    setup = Setup(read, "tiny", folder, {app.name: app.device for app in read.apps})
    folder.mkdir(exist_ok=True)
    begun(setup)
    left = [at]

    def tell(n: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    for app in read.apps:
        if not setup.holding_file(app).exists():
            FindOut(setup, app).run(tell)
    _described(setup)
    for work in (Begin(setup), *(ScoreBegin(setup, seed) for seed in range(2)), *(RunArm(setup, arm, seed) for arm in setup.size.arms for seed in range(2))):
        work.run(tell)
    _gather(setup)


def numbers(folder: Path) -> dict[str, Any]:
    """All that a study found, but for what it took."""
    told = {name: (folder / name).read_text() for name in NUMBERS}
    return told | {"study.json": re.sub(r'"seconds": [0-9.e-]+', "", told["study.json"])}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def whole(plan: Path) -> Path:
    done_here(plan, plan.parent / "whole")
    return plan.parent / "whole"


def test_a_study_that_was_killed_ends_with_the_same_numbers(plan: Path, whole: Path, tmp_path: Path) -> None:
    kills = 0
    # As it tries the tasks, trains at first, scores, in the runs: each time it gets a little further.
    for at in (5, 30, 20, 9, 17, 31, 1_000_000):
        try:
            done_here(plan, tmp_path / "killed", at)
        except Killed:
            kills += 1
    assert kills >= 5 and numbers(tmp_path / "killed") == numbers(whole)


def test_what_a_study_says_is_what_its_lines_say(whole: Path) -> None:
    told = report(read_lines(whole))
    assert told == report(read_lines(whole)) and json.loads(json.dumps(told)) == told
    assert list(told["steps"]) == ["real", "mock", "mixed"]
    assert 0 < told["steps"]["real"]["real"] <= 40 and told["steps"]["real"]["mock"] == 0
    assert told["steps"]["mock"]["real"] == 0 and 0 < told["steps"]["mixed"]["real"] <= 20 and told["steps"]["mixed"]["mock"] > 0
    rows = {(s["policy"], s["source"], s["part"]): s["episodes"] for s in told["success"]}
    assert rows["sft", REAL, "held_out"] == rows["mixed", MOCK, "held_out"] == 6 and rows["real", REAL, "new"] == 12
    assert set(told["apps"]["each"]) == {"shop", "store"} and told["apps"]["each"]["store"]["trained"] is False
    assert told["speed"][REAL]["steps"] == sum(u["steps"].get(REAL, 0) for u in read_lines(whole).updates)
    assert {kind["kind"] for kind in told["kinds"]} == {"answer", "single app"}
    assert told["study"]["holding"]["shop"] == {"tried": 12, "hold": 12, "why_not": {}}


def test_the_report_is_a_page_that_needs_no_network(whole: Path) -> None:
    pytest.importorskip("matplotlib", reason='matplotlib is not installed: pip install "phoneworld[train]"')
    from phoneworld.study.drawings import drawings
    from phoneworld.study.page import page

    figures = report(read_lines(whole))
    html = page(figures, drawings(figures))
    assert html == page(figures, drawings(figures)) and html.count("<svg") == 5
    assert "://" not in re.sub(r'xmlns[:a-z]*="[^"]+"|<metadata>.*?</metadata>', "", html, flags=re.S)
    for words in ("mixed", "apps never trained on", "held-out tasks", "Made with"):
        assert words in html


def test_another_study_s_folder_is_left_alone(plan: Path, whole: Path, tmp_path: Path) -> None:
    other = tmp_path / "plan.yaml"
    other.write_text(plan.read_text().replace("app: s", f"app: {plan.parent}/s").replace("epochs: 2", "epochs: 3"))
    with pytest.raises(OptionError, match="another study"):
        conduct(read_plan(other), "tiny", whole)
    with pytest.raises(OptionError, match="no size"):
        conduct(read_plan(plan), "huge", tmp_path / "a")
    with _held(tmp_path / "a"), pytest.raises(WriteError, match="being conducted"):
        conduct(read_plan(plan), "tiny", tmp_path / "a")
    with pytest.raises(FileFormatError):
        read_study(tmp_path)
    half = tmp_path / "half"
    half.mkdir()
    shutil.copyfile(whole / "study.json", half / "study.json")
    with pytest.raises(FileFormatError, match="not ended"):
        read_lines(half)


def test_a_mistake_in_a_plan_is_told_with_its_place(plan: Path) -> None:
    text = plan.read_text()

    def told(change: Callable[[str], str]) -> str:
        file = plan.parent / "wrong.yaml"
        file.write_text(change(text))
        with pytest.raises(FileFormatError) as raised:
            read_plan(file)
        return raised.value.message

    assert "sizes.tiny.arms.mock" in told(lambda t: t.replace("mock: {steps: 40}", "mock: {real_fraction: 0}"))
    assert "phoneworld-study/9" in told(lambda t: t.replace("study/1", "study/9"))
    assert "no folder" in told(lambda t: t.replace("app: store", "app: nowhere"))
    assert "no YAML" in told(lambda t: t + "\n]")
    assert "hold_out" in told(lambda t: t.replace("hold_out: 0.3", "hold_out: 3"))


class Breaks:
    """Work that fails in words, or takes its process along."""

    amount = 1

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, tell: Callable[[int], None]) -> None:
        tell(1)
        if self.name == "in words":
            raise OptionError("it cannot be")
        if self.name == "dies":
            os.kill(os.getpid(), signal.SIGKILL)


def test_work_in_a_crew_is_told_of_and_what_breaks_is_an_error() -> None:
    told: list[tuple[str, int | None]] = []
    with Crew(2) as crew:
        crew.do([Breaks("a"), Breaks("b"), Breaks("c")], lambda name, n: told.append((name, n)))
        assert sorted(told, key=str) == [(name, n) for name in "abc" for n in (1, None)]
        with pytest.raises(OptionError, match="it cannot be"):
            crew.do([Breaks("in words")], lambda name, n: None)
    with Crew(1) as crew, pytest.raises(PhoneWorldError, match="dies died"):
        crew.do([Breaks("dies")], lambda name, n: None)


def test_the_share_of_a_gain_that_is_kept_and_its_interval() -> None:
    def line(policy: str, source: str, task: int, seed: int, success: bool) -> Score:
        return Score(policy, source, f"a/t{task}-v1", seed, success, 0.0, 3, 0, "failed")

    scores = [
        line(policy, source, task, seed, policy == "rl" and (source == MOCK or task % 2 == 0))
        for policy in ("sft", "rl") for source in (MOCK, REAL) for task in range(20) for seed in range(4)
    ]  # fmt: skip
    told = carried(scores, "rl", "sft")
    assert (told["mock_gain"], told["real_gain"], told["kept"]) == (1.0, 0.5, 0.5)
    low, high = told["kept_interval"]
    assert 0.2 < low < 0.4 and 0.6 < high < 0.8
    assert carried(scores, "sft", "sft")["kept"] is None
    # One lucky run of four: drawing tasks alone would be sure of it.
    lucky = [line("sft", REAL, t, s, False) for t in range(20) for s in range(4)] + [line("rl", REAL, t, s, s == 0) for t in range(20) for s in range(4)]
    assert difference(lucky, "rl", "sft", REAL)["difference_interval"][0] > 0
    assert difference(lucky, "rl", "sft", REAL, by_seed=True)["difference_interval"][0] == 0
    assert correlation([(0, 0), (1, 2), (2, 4)]) == pytest.approx(1) and correlation([(0, 1), (1, 0)]) is None and correlation([(0, 1), (1, 1), (2, 1)]) is None


@pytest.mark.slow  # its short sibling, in this process: above
def test_killed_by_a_signal_with_its_processes_it_goes_on_by_the_same_command(plan: Path, whole: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='matplotlib is not installed: pip install "phoneworld[train]"')
    command = [sys.executable, "-m", "phoneworld", "train", "study", str(plan), "--size", "tiny", "-o", str(tmp_path / "study")]
    for until in ("supervised training: 40 %", "runs: 20 %", "runs: 60 %"):
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        assert running.stderr is not None
        told = []
        for line in running.stderr:
            told.append(line)
            if line.strip() == until:
                break
        else:
            raise AssertionError("".join(told))
        workers = psutil.Process(running.pid).children(recursive=True)
        running.kill()
        running.wait()
        assert workers and not psutil.wait_procs(workers, timeout=60)[1], "what it started ends with it"
        running.stderr.close()
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert numbers(tmp_path / "study") == numbers(whole) and (tmp_path / "study" / "report.html").exists()
    for name in RAW:
        assert (tmp_path / "study" / name).exists()


def test_what_is_said_of_our_study_is_what_its_lines_say() -> None:
    folder = ROOT / "examples" / "study"
    told = report(read_lines(folder / "small"))
    shares = {(s["policy"], s["part"]): s for s in told["success"] if s["source"] == REAL}
    assert all(shares[policy, "new"]["scored"] >= 200 for policy in ("sft", *told["steps"])), "enough episodes an arm"
    rows = {row.split("`")[1]: row for row in (folder / "README.md").read_text(encoding="utf-8").splitlines() if re.match(r"\| `[a-z-]+` \|.*%", row)}
    assert set(rows) == {"sft", *told["steps"]}
    for policy, row in rows.items():
        for part in ("trained", "held_out", "unseen"):
            share = shares[policy, part]
            low, high = (round(100 * x) for x in share["interval"])
            assert f"{share['success']:.0%} [{low}, {high}] of {share['scored']}" in row
        if policy != "sft":
            assert f"{round(told['gain']['new'][policy]['difference'] * 100):+d} [" in row.replace("-0 [", "+0 [")
