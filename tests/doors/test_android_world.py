"""AndroidWorld's server API, called as its clients call it, over a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from phoneworld.env.rollout import Phones
from phoneworld.serve.doors.android_world import android_world_app
from phoneworld.serve.server import listen

BUY, CHEAP, TOLD, BROKEN = "shop/buy-v1", "shop/cheap-v1", "shop/told-v1", "shop/broken-v1"


@pytest.fixture(scope="module")
def client(phones: Phones) -> Iterator[httpx.Client]:
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(android_world_app(phones), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
        assert client.get("/health").json() == {"status": "success"}
        yield client
    server.should_exit = True
    thread.join(20)


def act(client: httpx.Client, **action: object) -> httpx.Response:
    return client.post("/execute_action", json=action)


def task(client: httpx.Client, verb: str, name: str, number: int = 0) -> httpx.Response:
    params = {"task_type": name, "task_idx": number}
    return client.post(f"/task/{verb}", params=params) if verb in ("initialize", "tear_down") else client.get(f"/task/{verb}", params=params)


def test_an_evaluation_runs_as_with_androidworlds_own_server(client: httpx.Client) -> None:
    client.get("/suite/reinitialize", params={"n_task_combinations": 2, "seed": 7}).raise_for_status()
    assert client.get("/suite/task_list", params={"max_index": 2}).json()["task_list"] == [BUY, CHEAP]
    assert client.get("/suite/task_list", params={"max_index": -1}).json()["task_list"] == [BUY, CHEAP, BROKEN, TOLD]
    assert client.get("/suite/task_length", params={"task_type": BUY}).json() == {"length": 2}
    assert client.post("/reset", params={"go_home": False}).json()["status"] == "success"
    task(client, "initialize", CHEAP).raise_for_status()
    assert task(client, "goal", CHEAP).json() == {"goal": "Show what is cheap only."}
    assert task(client, "score", CHEAP).json() == {"score": 0.0}
    act(client, action_type="click", x=300, y=20).raise_for_status()
    act(client, action_type="click", x=300, y=60).raise_for_status()
    act(client, action_type="status", goal_status="complete").raise_for_status()
    assert task(client, "score", CHEAP).json() == {"score": 1.0}
    task(client, "tear_down", CHEAP).raise_for_status()


def test_an_answer_is_kept_until_the_task_is_judged(client: httpx.Client) -> None:
    for words, score in (("There are 12.", 1.0), ("13", 0.0)):
        task(client, "initialize", TOLD).raise_for_status()
        act(client, action_type="answer", text=words).raise_for_status()
        act(client, action_type="status", goal_status="complete").raise_for_status()
        assert task(client, "score", TOLD).json() == {"score": score}


def test_instances_are_decided_by_the_suites_seed(client: httpx.Client) -> None:
    def goals(seed: int) -> list[str]:
        client.get("/suite/reinitialize", params={"n_task_combinations": 6, "seed": seed}).raise_for_status()
        return [task(client, "goal", BUY, i).json()["goal"] for i in range(6)]

    assert goals(7) == goals(7) != goals(8) and len(set(goals(7))) > 2
    assert "{product.name}" in task(client, "template", BUY).json()["template"]
    assert task(client, "goal", BUY, 6).status_code == 422


def test_what_has_no_score_is_an_error_and_never_0(client: httpx.Client) -> None:
    broken = task(client, "initialize", BROKEN)
    assert broken.status_code == 500 and broken.json()["detail"]
    assert task(client, "score", BUY).status_code == 422, "another task is not what the phone is at"
    for wrong in ({"action_type": "fly"}, {"action_type": "click"}, {"action_type": "click", "x": 9999, "y": 1}, {"x": 1}, {"action_type": "click", "index": 3}):
        told = act(client, **wrong)  # type: ignore[arg-type]
        assert told.status_code == 422 and told.json()["detail"], str(wrong)


def test_pixels_come_as_nested_lists(client: httpx.Client) -> None:
    task(client, "initialize", CHEAP).raise_for_status()
    pixels = client.get("/screenshot", params={"wait_to_stabilize": False}).json()["pixels"]
    assert (len(pixels), len(pixels[0]), len(pixels[0][0])) == (800, 360, 3)
