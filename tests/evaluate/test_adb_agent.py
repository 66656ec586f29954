"""Agents that drive a phone over adb, here through the real adb program: their commands are steps, and the mock's state is judged."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from phoneworld.episodes.folder import EpisodeFolder
from tests.adbd.fixtures import needs_adb
from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop

pytestmark = needs_adb
AGENT = """#!/bin/sh
# What is asked comes as an argument and in the environment, the phone in ANDROID_SERIAL.
[ "$1" = "$PHONEWORLD_INSTRUCTION" ] || exit 9
case "$1" in
  Show*)  adb shell input tap 300 20; adb shell uiautomator dump /sdcard/w.xml >/dev/null; adb shell cat /sdcard/w.xml | grep -q 'checked="true"' || exit 8
          adb shell input tap 300 60 ;;
  How*)   printf 12 > "$PHONEWORLD_ANSWER" ;;
  Nobody*) while adb shell input tap 5 5; do :; done ;;
  *)      echo "I give up"; exit 3 ;;
esac
"""


@pytest.fixture
def shop(tmp_path: Path, adb_server: int) -> Path:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def run(shop: Path, only: str, *words: str) -> Any:
    ran = phoneworld("eval", "shop", "--policy", "adb:./agent.sh {instruction}", "--only", only, "--seeds", "1", "--out", only, *words, cwd=shop)
    assert ran.returncode == 0, ran.stderr
    return json.loads((shop / only / "report.json").read_bytes()), EpisodeFolder(shop / only)


def test_its_taps_are_the_steps_and_the_state_is_judged(shop: Path) -> None:
    told, folder = run(shop, "cheap")
    assert told["succeeded"] == 1, told["each"]
    actions = [step.action for step in folder.read("shop/cheap-v1/seed-0").steps]
    assert actions == [{"kind": "tap", "x": 300, "y": 20}, {"kind": "tap", "x": 300, "y": 60}, {"kind": "finish"}]
    assert phoneworld("episodes", "replay", "cheap", cwd=shop).returncode == 0


def test_its_answer_is_a_file_and_its_exit_code_what_it_thinks_of_itself(shop: Path) -> None:
    told, _ = run(shop, "told")
    assert told["succeeded"] == 1, told["each"]
    told, folder = run(shop, "buy")
    assert told["ended"] == {"gave_up": 1} and folder.read("shop/buy-v1/seed-0").steps[-1].said == "exit 3: I give up"


def test_one_that_goes_on_for_ever_is_ended_with_the_budget(shop: Path) -> None:
    (shop / "shop" / "tasks" / "shop.yaml").write_text((shop / "shop" / "tasks" / "shop.yaml").read_text().replace('"sum(tables.goods[*].name)": 1', "screen: cart"))
    told, folder = run(shop, "broken", "--max-steps", "4")
    assert told["ended"] == {"step_limit": 1} and len(folder.read("shop/broken-v1/seed-0").steps) == 4


def test_a_command_that_is_not_there_is_no_failure_of_an_agent(shop: Path) -> None:
    ran = phoneworld("eval", "shop", "--policy", "adb:./nothing", "--only", "told", "--seeds", "1", "--out", "runs", cwd=shop)
    assert ran.returncode == 0 and json.loads((shop / "runs" / "report.json").read_bytes())["without_score"] == {"infra": 1}


def test_uiautomator2_is_such_an_agent(shop: Path) -> None:
    """A script as people write them: it finds widgets by their words, through the real library."""
    (shop / "agent.py").write_text("""
import os, sys
import uiautomator2
phone = uiautomator2.connect(os.environ["ANDROID_SERIAL"])
assert sys.argv[1] == "Show what is cheap only."
phone(text="Cheap").click()
assert phone(text="Cheap").info["checked"]
phone.click(300, 60)
""")
    command = f"adb:{sys.executable} agent.py {{instruction}}"
    ran = phoneworld("eval", "shop", "--policy", command, "--only", "cheap", "--seeds", "2", "--out", "runs", cwd=shop)
    told = json.loads((shop / "runs" / "report.json").read_bytes())
    assert ran.returncode == 0 and told["succeeded"] == 2, (ran.stderr, EpisodeFolder(shop / "runs").read("shop/cheap-v1/seed-0").steps[-1].said)
