"""Policies that are asked over HTTP: an action an observation; a model behind an OpenAI-compatible endpoint. Over real sockets."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from phoneworld.episodes.folder import EpisodeFolder
from phoneworld.errors import PolicyLost
from phoneworld.evaluate.asking import Line
from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop
from tests.evaluate.served import Reply, served, silent
from tests.loops import in_a_loop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    return tmp_path


def figures(shop: Path) -> Any:
    return json.loads((shop / "runs" / "report.json").read_bytes())


def run(shop: Path, *words: str) -> Any:
    ran = phoneworld("eval", "shop", "--only", "cheap", "--seeds", "1", "--out", "runs", *words, cwd=shop)
    assert ran.returncode == 0, ran.stderr
    return figures(shop)


def cheap(body: dict[str, Any]) -> Reply:
    """Does the task, from what it is sent: the switch, the cart, then done."""
    steps = [{"kind": "tap", "x": 300, "y": 20}, {"kind": "tap", "x": 300, "y": 60}, {"kind": "finish"}]
    return 200, {"action": steps[body["step"] - 1], "said": f"step {body['step']}"}


def test_a_server_is_asked_for_each_action(shop: Path) -> None:
    with served(cheap) as there:
        told = run(shop, "--policy", there.url + "/act")
    assert told["succeeded"] == 1 and [body["step"] for _, _, body in there.asked] == [1, 2, 3]
    path, _, first = there.asked[0]
    assert path == "/act" and (first["task"], first["seed"], first["width"], first["height"]) == ("shop/cheap-v1", 0, 360, 800)
    assert first["instruction"] == "Show what is cheap only." and first["elements"][0]["point"] and "switch" in first["text"] and "screenshot" not in first
    assert there.asked[1][2]["last"] == {"changed": True, "invalid_action": None}
    trace = EpisodeFolder(shop / "runs").read("shop/cheap-v1/seed-0")
    assert [step.said for step in trace.steps] == ["step 1", "step 2", "step 3"]


def test_what_is_no_action_costs_a_step_and_is_told_back(shop: Path) -> None:
    with served(lambda body: (200, {"action": "tap it"} if body["step"] == 1 else {"action": {"kind": "finish"}})) as there:
        told = run(shop, "--policy", there.url)
    assert (told["scored"], told["succeeded"], told["invalid_actions"]) == (1, 0, 0.5)
    assert "unknown action kind" in there.asked[1][2]["last"]["invalid_action"]


@pytest.mark.parametrize(
    ("times", "reply", "lost"),
    [(2, (503, {}), False), (2, (429, b"slow down"), False), (99, (500, b"oh"), True), (99, (401, b"no key"), True), (99, (200, b"<html>"), True)],
)  # fmt: skip
def test_a_server_that_does_not_answer_is_asked_again_and_is_no_failure_of_the_policy(shop: Path, times: int, reply: Reply, lost: bool) -> None:
    left = [times]

    def answer(body: dict[str, Any]) -> Reply:
        left[0] -= 1
        return reply if left[0] >= 0 else cheap(body)

    with served(answer) as there:
        told = run(shop, "--policy", there.url, "--retries", "3")
    assert told["without_score"] == ({"infra": 1} if lost else {}) and told["succeeded"] == int(not lost)
    assert len(there.asked) == (5 if not lost else 4 if reply[0] == 500 else 1)


def test_where_nothing_listens_the_episode_is_lost(shop: Path) -> None:
    with served(cheap) as there:
        pass
    told = run(shop, "--policy", there.url, "--retries", "0")
    assert told["without_score"] == {"infra": 1} and "does not answer" in told["each"][0]["message"]


@pytest.mark.parametrize("drips", [b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"H"], ids=["nothing", "continue", "one letter"])
def test_who_takes_a_question_and_never_answers_holds_nobody_up_and_gives_no_score(shop: Path, drips: bytes) -> None:
    with silent(drips) as url:
        told = run(shop, "--policy", url, "--timeout", "0.3", "--retries", "0")
    assert told["without_score"] == {"infra": 1} and told["scored"] == 0 and told["success"] is None
    assert all(step.reward is None for step in EpisodeFolder(shop / "runs").read("shop/cheap-v1/seed-0").steps), "what nobody answered is no reward of 0"
    assert "does not answer" in told["each"][0]["message"]


def test_a_body_that_never_ends_is_no_answer_and_is_asked_for_once_more() -> None:
    asked = 0

    class Counted(Line):
        __slots__ = ()

        def _answer(self, content: bytes, headers: Mapping[str, str]) -> httpx.Response:
            nonlocal asked
            asked += 1
            return super()._answer(content, headers)

    with silent(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n") as url, pytest.raises(PolicyLost, match=r"no answer in 0\.3 s"):
        Counted(url, timeout_s=0.3, retries=4, pause_s=0.0).ask({})
    assert asked == 2


def test_it_is_asked_where_a_loop_is_running_too() -> None:
    async def inside() -> dict[str, Any]:
        return Line(there.url).ask({"step": 1})

    with served(cheap) as there:
        assert in_a_loop(inside())["said"] == "step 1"


def speaking(texts: list[str]) -> Callable[[dict[str, Any]], Reply]:
    """A model that says these one after the other."""
    left = list(reversed(texts))
    return lambda body: (200, {"choices": [{"message": {"role": "assistant", "content": left.pop()}}]})


def said(**arguments: Any) -> str:
    return f'<tool_call>\n{json.dumps({"name": "mobile_use", "arguments": arguments})}\n</tool_call>'


DOES = ["I am not sure.", said(action="click", coordinate=[833, 25]), said(action="click", coordinate=[833, 75]), said(action="terminate", status="success")]


def test_a_model_is_spoken_to_in_its_dialect(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    with served(speaking(DOES)) as there:
        told = run(shop, "--policy", "openai:tiny", "--base-url", there.url + "/v1", "--dialect", "qwen3", "--key-in", "MY_KEY", "--history", "2")
    assert told["succeeded"] == 1 and told["invalid_actions"] == 0.25 and told["policy"]["name"] == "openai:tiny"
    path, headers, first = there.asked[0]
    assert path == "/v1/chat/completions" and {k.lower(): v for k, v in headers.items()}["authorization"] == "Bearer secret-1"
    assert (first["model"], first["temperature"], first["max_tokens"]) == ("tiny", 0.0, 1024)
    system, user = first["messages"]
    assert system["role"] == "system" and "mobile_use" in system["content"]
    assert user["content"][0]["text"] == "Show what is cheap only." and 'switch "Cheap" off at [' in user["content"][1]["text"]
    last = there.asked[3][2]["messages"]
    assert [m["role"] for m in last] == ["system", *["user", "assistant"] * 3, "user"] and last[2]["content"] == DOES[0]
    assert "Not done" in last[3]["content"][0]["text"] and [len(m["content"]) for m in last if m["role"] == "user"] == [1, 1, 2, 2], "the last two looks are whole"
    assert "secret-1" not in "".join(p.read_text() for p in (shop / "runs").rglob("*.json*")), "a key is nobody else's"
    assert EpisodeFolder(shop / "runs").read("shop/cheap-v1/seed-0").steps[1].said == DOES[1]
    assert phoneworld("episodes", "replay", "runs", cwd=shop).returncode == 0


def test_a_text_that_says_several_actions_is_done_before_it_is_asked_again(shop: Path) -> None:
    ui_tars = "Thought: type\nAction: type(content='hello\\n')", "Thought: done\nAction: finished(content='')"
    with served(speaking(list(ui_tars))) as there:
        told = run(shop, "--policy", "openai:tiny", "--base-url", there.url, "--dialect", "doubao")
    assert len(there.asked) == 2 and told["each"][0]["steps"] == 3


def test_an_endpoint_that_speaks_otherwise_is_lost(shop: Path) -> None:
    with served(lambda body: (200, {"answer": "click"})) as there:
        told = run(shop, "--policy", "openai:tiny", "--base-url", there.url)
    assert told["without_score"] == {"infra": 1} and "choices[0]" in told["each"][0]["message"]


def test_a_model_is_shown_pictures(shop: Path) -> None:
    with served(speaking(DOES)) as there:
        run(shop, "--policy", "openai:tiny", "--base-url", there.url, "--see", "picture")
    parts = [m["content"] for m in there.asked[3][2]["messages"] if m["role"] == "user"]
    pictures = [part["image_url"]["url"] for content in parts for part in content if part["type"] == "image_url"]
    assert len(pictures) == 1 and Image.open(io.BytesIO(base64.b64decode(pictures[0].partition(",")[2]))).size == (360, 800)
