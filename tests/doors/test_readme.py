"""The snippets of the doors' README run as they stand; that of SkyRL under the real library."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import phoneworld.serve.doors
from phoneworld.env.rollout import Phones
from tests.doors.trainers import run_in, trainer

README = Path(phoneworld.serve.doors.__file__).with_name("README.md")


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)


def test_every_snippet_runs(phones: Phones, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"BUNDLE": phones.bundles, "TASKS": phones.tasks, "TASK": "shop/cheap-v1"}
    assert len(snippets("python")) == 2
    with ThreadPoolExecutor(1) as own:  # as in a program of its own: no loop of another test runs there
        for snippet in snippets("python"):
            own.submit(exec, compile(snippet, str(README), "exec"), names).result()
    assert 'switch "Cheap" on' in capsys.readouterr().out


_SCRIPT = """
import sys, types
from phoneworld.env.rollout import Phones
PHONES = Phones(sys.argv[1], tasks=sys.argv[2])
%s
module = types.ModuleType("my_module")
module.PhoneTextEnv = PhoneTextEnv
sys.modules["my_module"] = module
import skyrl_gym
from skyrl_gym.envs.registration import register
register(id="phoneworld", entry_point="my_module:PhoneTextEnv")
env = skyrl_gym.make("phoneworld", env_config={}, extras={"task": "shop/cheap-v1", "seed": 0})
messages, _ = env.init([])
assert "Show what is cheap only." in messages[1]["content"], messages
def call(**arguments):
    import json
    return "<tool_call>" + json.dumps({"name": "mobile_use", "arguments": arguments}) + "</tool_call>"
told = env.step(call(action="click", coordinate=[833, 25]))
assert 'switch "Cheap" on' in told["observations"][0]["content"] and not told["done"], told
assert "no tool call" in env.step("What now?")["observations"][0]["content"]
env.step(call(action="click", coordinate=[833, 75]))
told = env.step(call(action="terminate", status="success"))
assert told["done"] and told["reward"] == 1.0 and told["metadata"]["termination"] == "success", told
env.close()
print("SKYRL")
"""


@pytest.mark.slow
def test_the_recipe_for_skyrl_runs_under_the_real_library(phones: Phones) -> None:
    (recipe,) = snippets("python skyrl")
    python = trainer("skyrl", "skyrl-gym==0.4.0")
    done = run_in(python, _SCRIPT % recipe, str(phones.bundles), str(phones.tasks))
    assert done.returncode == 0 and "SKYRL" in done.stdout, done.stdout[-1500:] + done.stderr[-3000:]
