"""`phoneworld eval` from where it is entered: figures, faults apart from the score, going on after a kill, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop
from tests.episodes.test_traces import contents

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = '''
import os, pathlib, random, signal
from phoneworld.ui.action import Finish, Tap

class Policy:
    """Taps about; in episodes of seed 1 it does to its process what a file says, once."""

    def begin(self, task, seed):
        return Taps(seed, random.Random(f"{task} {seed}"))

class Taps:
    def __init__(self, seed, dice):
        self.seed, self.dice, self.steps = seed, dice, 0

    def act(self, observation, info):
        self.steps += 1
        spell = pathlib.Path(__file__).with_name("spell")
        if self.seed == 1 and self.steps == 2 and spell.exists():
            spell.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return Finish() if self.steps > 3 else Tap(self.dice.randrange(360), self.dice.randrange(800))
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write_shop(tmp_path / "shop")
    (tmp_path / "agent.py").write_text(SCRIPT)
    return tmp_path


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()


GOOD = ("--only", "buy", "--only", "cheap", "--only", "told")


def test_the_oracle_does_every_task_and_random_does_not(shop: Path) -> None:
    ran = phoneworld("eval", "shop", "--policy", "oracle", *GOOD, "--seeds", "2", "--out", "o", "--min-success", "1", "--junit", "o.xml", cwd=shop)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    figures = json.loads((shop / "o" / "report.json").read_bytes())
    assert (figures["episodes"], figures["succeeded"], figures["without_score"]) == (6, 6, {})
    assert figures["against_oracle"] == {"episodes": 6, "steps_per_oracle_step": 1.0} and figures["interval"][1] == 1.0
    assert set(figures["by_task"]) == {"shop/buy-v1", "shop/cheap-v1", "shop/told-v1"} and figures["by_tag"]["app:shop"]["scored"] == 6
    assert len(ElementTree.fromstring((shop / "o.xml").read_bytes()).findall(".//testcase")) == 6
    assert phoneworld("episodes", "replay", "o", cwd=shop).returncode == 0
    ran = phoneworld("eval", "shop", "--policy", "random", *GOOD, "--out", "r", "--min-success", "0.9", "--junit", "r.xml", cwd=shop)
    assert ran.returncode == 1 and "not enough" in ran.stdout and "9 episodes played" in ran.stdout
    told = json.loads(phoneworld("eval", "shop", "--policy", "random", *GOOD, "--out", "r", "--json", cwd=shop).stdout)
    assert told["scored"] == 9 and told["success"] < 0.9 and told == json.loads((shop / "r" / "report.json").read_bytes())


def test_executors_give_the_same_folder(shop: Path) -> None:
    for out, *how in (("a",), ("b", "--interleave", "3"), ("c", "--executor", "processes", "--interleave", "2")):
        assert phoneworld("eval", "shop", "--policy", "agent.py", *GOOD, "--out", out, *how, cwd=shop).returncode == 0
    assert contents(shop / "a") == contents(shop / "b") == contents(shop / "c")


def test_a_run_that_is_killed_goes_on_and_ends_as_if_nothing_had_been(shop: Path) -> None:
    words = ("eval", "shop", "--policy", "agent.py", *GOOD, "--no-oracle")
    assert phoneworld(*words, "--out", "whole", cwd=shop).returncode == 0
    (shop / "spell").touch()
    process = subprocess.run(
        [sys.executable, "-m", "phoneworld", *words, "--out", "killed"], cwd=shop, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=120, check=False
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    listed = {one["name"]: one["whole"] for one in json.loads(phoneworld("episodes", "list", "killed", "--json", cwd=shop).stdout)}
    assert listed == {"shop/buy-v1/seed-0": True, "shop/buy-v1/seed-1": False}
    ran = phoneworld(*words, "--out", "killed", cwd=shop)
    assert ran.returncode == 0 and "8 episodes played, 1 were there" in ran.stdout
    assert contents(shop / "killed") == contents(shop / "whole")


def test_faults_are_told_apart_and_what_the_machine_lost_is_played_again(shop: Path) -> None:
    (shop / "spell").touch()
    words = ("eval", "shop", "--policy", "agent.py", "--only", "cheap", "--only", "broken", "--seeds", "2", "--out", "runs")
    ran = phoneworld(*words, "--executor", "processes", "--junit", "runs.xml", "--min-success", "0", cwd=shop)
    figures = json.loads((shop / "runs" / "report.json").read_bytes())
    assert figures["without_score"] == {"infra": 1, "checker": 2} and (figures["episodes"], figures["scored"]) == (4, 1)
    assert ran.returncode == 1 and "lost to the machine" in ran.stdout and "their checker failed" in ran.stdout, "nothing counts as a failure, and not as a pass"
    assert {e.get("type") for e in ElementTree.fromstring((shop / "runs.xml").read_bytes()).iter("error")} == {"infra", "checker"}
    ran = phoneworld(*words, cwd=shop)
    figures = json.loads((shop / "runs" / "report.json").read_bytes())
    assert figures["without_score"] == {"checker": 2} and figures["scored"] == 2 and "1 episode played, 3 were there" in ran.stdout


def test_what_no_policy_can_do_anything_about_ends_it_with_one(shop: Path) -> None:
    words = ("eval", "shop", "--policy", "oracle", "--seeds", "1", "--no-oracle", "--only")
    assert phoneworld(*words, "cheap", "--out", "fine", cwd=shop).returncode == 0
    ran = phoneworld(*words, "cheap", "--only", "broken", "--policy", "agent.py", "--out", "checker", "--json", cwd=shop)
    assert ran.returncode == 1 and json.loads(ran.stdout)["without_score"] == {"checker": 1}
    text = (shop / "shop" / "tasks" / "shop.yaml").read_text(encoding="utf-8")
    (shop / "none.yaml").write_text(text.replace("cost > `2`", "cost > `200`"), encoding="utf-8")
    ran = phoneworld(*words, "buy", "--tasks", "none.yaml", "--policy", "agent.py", "--out", "env", cwd=shop)
    (line,) = (i for i, row in enumerate(text.splitlines(), 1) if "cost > `2`" in row)
    assert ran.returncode == 1 and f"none.yaml:{line}: " in ran.stdout and "no row of goods is left" in ran.stdout, ran.stdout
    ran = phoneworld("eval", "--help", cwd=shop)
    assert "The exit code is 0 where" in ran.stdout


LOUD = """
import os, sys
from sys import stdout
from phoneworld.ui.action import Finish
print("loaded", file=stdout)

class Policy:
    def __init__(self):
        print("made")
    def begin(self, task, seed):
        print("begins", file=stdout)
        return self
    def act(self, observation, info):
        print("thinks")
        os.system("echo asks another program")
        return Finish()
"""


@pytest.mark.parametrize("how", [(), ("--executor", "processes", "--workers", "1")], ids=["here", "processes"])
def test_what_a_policy_prints_goes_to_stderr(shop: Path, how: tuple[str, ...]) -> None:
    (shop / "loud.py").write_text(LOUD)
    words = ["eval", "shop", "--policy", "loud.py", "--only", "cheap", "--seeds", "1", "--no-oracle", "--out", "runs", "--json", *how]
    # In a process of its own: what other programs print goes to a file descriptor, not to a name of Python's.
    ran = subprocess.run([sys.executable, "-m", "phoneworld", *words], cwd=shop, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(ran.stdout)["scored"] == 1
    assert all(said in ran.stderr for said in ("loaded", "made", "begins", "thinks", "asks another program")), ran.stderr
    if not how:
        told = phoneworld(*words, "--out", "again", cwd=shop)
        assert json.loads(told.stdout)["scored"] == 1, "where stdout is no file, what is printed is caught all the same"


def test_a_browser_that_is_missing_is_the_machines_fault(shop: Path, monkeypatch: pytest.MonkeyPatch, own_chromium: None) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", str(shop / "nothing"))
    phoneworld("eval", "shop", "--policy", "agent.py", "--only", "cheap", "--seeds", "2", "--frames", "--out", "runs", cwd=shop)
    figures = json.loads((shop / "runs" / "report.json").read_bytes())
    assert figures["without_score"] == {"infra": 2} and figures["success"] is None
    assert all(one["message"] for one in figures["each"]), figures["each"]


MURDER = """
import os, psutil
from phoneworld.ui.action import Finish, Tap

class Policy:
    \"\"\"Kills the browser in its second step of seed 1, and sees to it that none is found again.\"\"\"
    def begin(self, task, seed):
        self.seed, self.steps = seed, 0
        return self
    def act(self, observation, info):
        self.steps += 1
        if self.seed == 1 and self.steps == 2:
            os.environ["PHONEWORLD_CHROMIUM"] = "/nothing/there"
            for process in psutil.Process().children(recursive=True):
                if "chrom" in process.name():
                    process.kill()
        return Finish() if self.steps > 3 else Tap(150, 220) if self.seed else Tap(5, 5)
"""


def test_a_browser_that_dies_in_an_episode_is_the_machines_fault(shop: Path) -> None:
    (shop / "murder.py").write_text(MURDER)
    command = [sys.executable, "-m", "phoneworld", "eval", "shop", "--policy", "murder.py", "--only", "cheap", "--seeds", "2", "--frames", "--out", "runs"]
    subprocess.run(command, cwd=shop, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=120, check=True)
    figures = json.loads((shop / "runs" / "report.json").read_bytes())
    assert [one["ended"] for one in figures["each"]] == ["failed", "infra"], figures["each"]
    frames = {p.stem for p in (shop / "runs" / "frames").glob("*.png")}
    assert frames and all(sha in frames for sha in _frames(shop / "runs" / "traces" / "shop" / "cheap-v1" / "seed-0.jsonl"))
    assert phoneworld("episodes", "replay", "runs", "--only", "seed-0", cwd=shop).returncode == 0, "the same pictures too"


def _frames(file: Path) -> list[str]:
    return [line["frame"] for line in map(json.loads, file.read_text().splitlines()) if line.get("frame")]


def test_a_checkpoint_acts(shop: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed (phoneworld[train])")
    from phoneworld.agent.network import Network
    from phoneworld.agent.policy import save

    save(Network(seed=0), shop / "net.pt")
    words = ("eval", "shop", "--policy", "net.pt", "--only", "cheap", "--seeds", "1")
    for out in ("a", "b"):
        assert phoneworld(*words, "--out", out, cwd=shop).returncode == 0
    assert contents(shop / "a") == contents(shop / "b")
    (shop / "bad.pt").write_bytes(b"PK not weights")
    ran = phoneworld("eval", "shop", "--policy", "bad.pt", "--out", "c", cwd=shop)
    assert ran.returncode == 3 and "bad.pt" in ran.stderr and "Traceback" not in ran.stderr


def test_attempts_have_other_dice_and_the_same_start(shop: Path) -> None:
    told = json.loads(phoneworld("eval", "shop", "--policy", "random", "--only", "buy", "--seeds", "2", "--attempts", "4", "--out", "runs", "--json", cwd=shop).stdout)
    assert told["episodes"] == 8 and set(told["pass_at"]) == {"1", "2", "4"} and told["pass_at_of"] == "attempts at one seed"
    traces = [(shop / "runs" / "traces" / "shop" / "buy-v1" / f"seed-0{end}.jsonl").read_bytes().splitlines() for end in ("", ".try-1", ".try-2", ".try-3")]
    heads = [json.loads(lines[0]) for lines in traces]
    assert len({head["start"] for head in heads}) == 1 and len({head["instruction"] for head in heads}) == 1
    assert len({b"".join(lines[1:]) for lines in traces}) > 1
    assert phoneworld("episodes", "replay", "runs", cwd=shop).returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--policy", "orakel"), 2, "no policy that is known"),
        (("--policy", "nothing.py"), 3, "nothing.py"),
        (("--policy", "broken.py"), 2, "cannot be run: ZeroDivisionError"),
        (("--policy", "empty.py"), 2, "no class Policy"),
        (("--policy", "agent.py:Other"), 2, "it has Policy"),
        (("--policy", "openai:"), 2, "no model"),
        (("--policy", "openai:m"), 2, "--base-url"),
        (("--policy", "openai:m", "--base-url", "http://x/v1", "--dialect", "qwen33"), 2, "did you mean"),
        (("--policy", "http://"), 2, "no address"),
        (("--policy", "adb:"), 2, "no command"),
        (("--policy", "adb:'"), 2, "split into words"),
        (("--policy", "random", "--only", "nothing"), 2, "no task has that"),
        (("--policy", "random", "--tasks", "nowhere"), 3, "nowhere"),
        (("--policy", "random", "--junit", "no/where.xml"), 10, "no folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_words(shop: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, told: str) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    (shop / "broken.py").write_text("1 / 0")
    (shop / "empty.py").write_text("")
    ran = phoneworld("eval", "shop", *words, "--out", "runs", cwd=shop)
    assert ran.returncode == code and told in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    assert not (shop / "runs" / "episodes.json").exists()


def test_a_folder_of_another_policy_mock_or_tasks_is_not_gone_on_with(shop: Path) -> None:
    words = ("eval", "shop", "--only", "told", "--seeds", "1", "--out", "runs")
    assert phoneworld(*words, "--policy", "random", cwd=shop).returncode == 0
    ran = phoneworld(*words, "--policy", "oracle", cwd=shop)
    assert ran.returncode == 10 and "policy differ" in ran.stderr
    ran = phoneworld("eval", "shop", "--only", "cheap", "--seeds", "1", "--out", "runs", "--policy", "random", cwd=shop)
    assert ran.returncode == 10 and "tasks differ" in ran.stderr
    ran = phoneworld("eval", "shop", "--only", "told", "--seeds", "1", "--out", "shop", "--policy", "random", cwd=shop)
    assert ran.returncode == 10 and "holds no episodes" in ran.stderr


SEEN = """
names: {tables: {goods: {is: products}}}
tasks:
- id: shop/seen-v1
  say: {en: "Show what is cheap only."}
  start: {on_phone: [{kind: wait}]}
  check: {visible: {text: Cheap, checked: true}}
- id: shop/hidden-v1
  say: {en: "Show what is cheap only."}
  start: {on_phone: [{kind: wait}]}
  check: {state: {variables.cheap: true}}
"""


def test_on_a_device_it_is_judged_by_what_can_be_seen_and_kept_whole(shop: Path) -> None:
    """The device is a mock here; on a web page it takes a minute, and goes the same way."""
    (shop / "seen.yaml").write_text(SEEN)
    (shop / "does.py").write_text("""
class Policy:
    def begin(self, task, seed):
        self.left = [{"kind": "finish"}, {"kind": "tap", "x": 300, "y": 20}]
        return self
    def act(self, observation, info):
        return self.left.pop()
""")
    words = ("eval", "shop", "--tasks", "seen.yaml", "--policy", "does.py", "--seeds", "1", "--out", "runs")
    ran = phoneworld(*words, "--device", "mock:shop/bundle", cwd=shop)
    figures = json.loads((shop / "runs" / "report.json").read_bytes())
    assert ran.returncode == 0 and (figures["succeeded"], figures["without_score"]) == (1, {"unknown": 1}), ran.stderr
    trace = [json.loads(line) for line in (shop / "runs" / "traces" / "shop" / "seen-v1" / "seed-0.jsonl").read_text().splitlines()]
    assert all((shop / "runs" / "frames" / f"{line['frame']}.png").is_file() and (shop / "runs" / "trees" / f"{line['tree']}.xml").is_file() for line in trace[:-1])
    assert phoneworld(*words, cwd=shop).returncode == 10, "the mock is another phone"
    assert phoneworld(*words[:-1], "r2", "--device", "mock:shop/bundle", "--executor", "processes", cwd=shop).returncode == 2
