"""OpenEnv's own server and client over the phone, in an environment of their own."""

from __future__ import annotations

import sys

import pytest

from phoneworld.env.rollout import Phones
from phoneworld.errors import MissingDependency
from phoneworld.serve.doors.open_env import open_env_app
from tests.doors.trainers import OPENENV, run_in, trainer

_SCRIPT = '''
import sys, threading
import uvicorn
from openenv.core.generic_client import GenericEnvClient
from phoneworld.env.rollout import Phones
from phoneworld.serve.doors.open_env import open_env_app
from phoneworld.serve.server import listen

app = open_env_app(Phones(sys.argv[1], tasks=sys.argv[2]), max_sessions=4)
listener = listen("127.0.0.1", 0)
server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
thread.start()
url = f"http://127.0.0.1:{listener.getsockname()[1]}"

def tap(x, y):
    return {"action": {"kind": "tap", "x": x, "y": y}}

FINISH = {"action": {"kind": "finish"}}
with GenericEnvClient(base_url=url).sync() as one, GenericEnvClient(base_url=url).sync() as other:
    first = one.reset(seed=0, task="shop/cheap-v1", episode_id="first")
    assert first.observation["instruction"] == "Show what is cheap only." and "switch" in first.observation["text"], first
    there = other.reset(seed=0, task="shop/cheap-v1")
    assert there.observation["text"] == first.observation["text"], "two sessions, one start"
    wrong = one.step({"action": {"kind": "fly"}})
    assert not wrong.done and "unknown action kind" in wrong.observation["message"], wrong
    one.step(tap(300, 20))
    kept = one.step(tap(300, 60))
    assert "Empty" in kept.observation["text"] and kept.reward == 0.0 and not kept.done
    state = one.state()
    assert (state["step_count"], state["task"], state["episode_id"]) == (3, "shop/cheap-v1", "first"), state
    done = one.step(FINISH)
    assert done.done and done.reward == 1.0, done
    assert other.step(FINISH).reward == 0.0, "the other session went its own way"
    name = kept.observation["metadata"]["snapshot"]
    assert name == "first:3", name
    again = other.reset(snapshot=name)
    assert again.observation["text"] == kept.observation["text"] and other.step(FINISH).reward == 1.0
    one.reset(seed=0, task="shop/cheap-v1", episode_id="second")
    one.step(tap(300, 20))
    forked = other.reset(fork="second")
    assert "on" in forked.observation["text"].split("\\n")[1], forked.observation["text"]
    picture = one.reset(seed=0, screenshot=True) if len(sys.argv) > 3 else None
    assert picture is None or picture.observation["screenshot"].startswith("iVBOR")
server.should_exit = True
thread.join(20)
print("SPOKE")
'''


def test_without_openenv_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, phones: Phones) -> None:
    monkeypatch.setitem(sys.modules, "openenv", None)
    with pytest.raises(MissingDependency) as e:
        open_env_app(phones)
    assert e.value.hint == 'pip install "phoneworld[openenv]"'


@pytest.mark.slow
def test_two_sessions_tasks_snapshots_and_forks_through_openenvs_client(phones: Phones) -> None:
    done = run_in(trainer(*OPENENV), _SCRIPT, str(phones.bundles), str(phones.tasks))
    assert done.returncode == 0 and "SPOKE" in done.stdout, done.stdout[-1500:] + done.stderr[-4000:]
