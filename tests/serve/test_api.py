"""The HTTP API: what it does, what it refuses and how it says so."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from phoneworld.program.bundle import Bundle
from phoneworld.serve.app import create_app
from phoneworld.serve.models import tree_json
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import state_to_json
from phoneworld.ui.action import Tap
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy
from tests.serve.conftest import Clock

TAP_APPLES = {"kind": "tap", "x": 540, "y": 300}


def opened(client: TestClient, **body: Any) -> str:
    answer = client.post("/api/sessions", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def assert_error(answer: Any, status: int, *words: str) -> None:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert set(body) == {"error", "message", "hint"}
    assert "Traceback" not in answer.text
    for word in words:
        assert word in body["message"] + body["hint"]


def test_openapi_describes_every_endpoint(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    paths = described["paths"]
    for path in (
        "/api/bundles", "/api/sessions", "/api/sessions/{id}", "/api/sessions/{id}/reset", "/api/sessions/{id}/step",
        "/api/sessions/{id}/screenshot", "/api/sessions/{id}/tree", "/api/sessions/{id}/state", "/api/sessions/{id}/snapshot",
        "/api/sessions/{id}/restore", "/api/sessions/{id}/fork",
    ):  # fmt: skip
        assert path in paths
    for methods in paths.values():
        for operation in methods.values():
            assert operation["summary"] and operation["tags"]


def test_bundles_say_how_much_of_them_was_recorded(client: TestClient, bundle: Bundle) -> None:
    (first, _) = client.get("/api/bundles").json()
    assert first["name"] == "groceries"
    assert first["package"] == bundle.program.package
    assert first["screens"] == len(bundle.program.screens)
    assert sum(first["rules"].values()) == len(bundle.program.rules)


def test_a_step_is_the_step_of_the_simulator(client: TestClient, bundle: Bundle) -> None:
    phone = Phone([bundle.program])
    expected = phone.step(phone.reset(3), Tap(540, 300))
    session = opened(client, seed=3)
    step = client.post(f"/api/sessions/{session}/step", json={"action": TAP_APPLES}).json()
    assert step["changed"] and step["valid"]
    assert step["evidence"] == expected.evidence
    assert step["rules"] == list(expected.rules)
    assert client.get(f"/api/sessions/{session}/state").json() == state_to_json(expected.state)
    assert client.get(f"/api/sessions/{session}").json()["screen"] == phone.screen_name(expected.state)
    assert [s["action"] for s in client.get(f"/api/sessions/{session}/steps").json()] == [TAP_APPLES]


def test_coordinates_may_be_in_any_space(client: TestClient) -> None:
    pixels, unit, thousand = opened(client), opened(client), opened(client)
    client.post(f"/api/sessions/{pixels}/step", json={"action": TAP_APPLES})
    client.post(f"/api/sessions/{unit}/step", json={"action": {"kind": "tap", "x": 540.5 / 1080, "y": 300.5 / 2400}, "space": "unit"})
    client.post(f"/api/sessions/{thousand}/step", json={"action": {"kind": "tap", "x": 500.4, "y": 125.2, "space": "thousand"}})
    states = [client.get(f"/api/sessions/{s}/state").json() for s in (pixels, unit, thousand)]
    assert states[0] == states[1] == states[2]


def test_an_action_outside_the_screen_changes_nothing_and_says_so(client: TestClient) -> None:
    session = opened(client)
    before = client.get(f"/api/sessions/{session}/state").json()
    step = client.post(f"/api/sessions/{session}/step", json={"action": {"kind": "tap", "x": 5000, "y": 1}}).json()
    assert (step["valid"], step["changed"], step["evidence"]) == (False, False, "unrecorded")
    assert "outside" in step["message"]
    assert client.get(f"/api/sessions/{session}/state").json()["apps"] == before["apps"]


@pytest.mark.parametrize("action", [
    {}, {"kind": "fly"}, {"kind": "tap", "x": 1}, {"kind": "tap", "x": "1", "y": 2}, {"kind": "tap", "x": 1, "y": 2, "z": 3},
    {"kind": "press_key", "key": "any"}, {"kind": "tap", "x": 1.5, "y": 2},
])  # fmt: skip
def test_a_malformed_action_is_an_error(client: TestClient, action: dict[str, Any]) -> None:
    assert_error(client.post(f"/api/sessions/{opened(client)}/step", json={"action": action}), 422)


def test_screenshots_have_the_size_of_the_device_or_the_width_asked_for(client: TestClient) -> None:
    session = opened(client)
    whole = client.get(f"/api/sessions/{session}/screenshot")
    assert whole.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(whole.content)).size == (1080, 2400)
    small = client.get(f"/api/sessions/{session}/screenshot?width=360&format=jpeg")
    assert small.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(small.content)).size == (360, 800)
    assert_error(client.get(f"/api/sessions/{session}/screenshot?width=0"), 422, "width")
    assert_error(client.get(f"/api/sessions/{session}/screenshot?format=gif"), 422, "format")


def test_trees_in_xml_and_json_are_one_tree(client: TestClient) -> None:
    session = opened(client)
    xml = client.get(f"/api/sessions/{session}/tree?format=xml")
    assert xml.headers["content-type"].startswith("application/xml")
    tree = parse_hierarchy(xml.content)
    assert write_hierarchy(tree) == xml.content
    assert client.get(f"/api/sessions/{session}/tree").json() == tree_json(tree)


def test_reset_snapshot_restore(client: TestClient) -> None:
    session = opened(client)
    url = f"/api/sessions/{session}"
    start = client.get(f"{url}/state").json()
    client.post(f"{url}/step", json={"action": TAP_APPLES})
    away = client.get(f"{url}/state").json()
    name = client.post(f"{url}/snapshot", json={}).json()["snapshot"]
    assert client.post(f"{url}/snapshot", json={"name": "here"}).json() == {"snapshot": "here"}
    client.post(f"{url}/reset", json={})
    assert client.get(f"{url}/state").json() == start
    assert client.get(f"{url}/steps").json() == []
    client.post(f"{url}/restore", json={"snapshot": name})
    assert client.get(f"{url}/state").json() == away
    assert client.get(url).json()["snapshots"] == [name, "here"]
    assert_error(client.post(f"{url}/restore", json={"snapshot": "nowhere"}), 404, "nowhere", name)


def test_reset_to_a_named_start_with_a_seed(client: TestClient, bundle: Bundle) -> None:
    url = f"/api/sessions/{opened(client)}"
    start = list(bundle.program.starts)[-1]
    body = client.post(f"{url}/reset", json={"seed": 9, "start": start}).json()
    assert (body["seed"], body["start"]) == (9, start)
    assert client.get(f"{url}/state").json() == state_to_json(Phone([bundle.program]).reset(9, start))
    assert_error(client.post(f"{url}/reset", json={"start": "nowhere"}), 422, "nowhere")
    assert client.get(url).json()["start"] == start


def test_sessions_are_isolated_and_forks_go_their_own_way(client: TestClient) -> None:
    first = opened(client)
    client.post(f"/api/sessions/{first}/step", json={"action": TAP_APPLES})
    client.post(f"/api/sessions/{first}/snapshot", json={"name": "s"})
    fork = client.post(f"/api/sessions/{first}/fork", json={}).json()
    other = opened(client)
    assert fork["id"] != first and fork["snapshots"] == ["s"] and fork["steps"] == 1
    at = {s: client.get(f"/api/sessions/{s}/state").json() for s in (first, fork["id"], other)}
    assert at[first] == at[fork["id"]] != at[other]
    client.post(f"/api/sessions/{fork['id']}/step", json={"action": {"kind": "press_key", "key": "back"}})
    assert client.get(f"/api/sessions/{first}/state").json() == at[first]
    assert client.get(f"/api/sessions/{fork['id']}/state").json() != at[first]


def test_a_state_patch_merges_and_is_checked(client: TestClient, bundle: Bundle) -> None:
    url = f"/api/sessions/{opened(client)}"
    before = client.get(f"{url}/state").json()
    package = bundle.program.package
    after = client.patch(f"{url}/state", json={"clock_ms": 5}).json()
    assert after == {**before, "clock_ms": 5}
    for bad in (
        {"clock_ms": "late"}, {"surplus": 1}, {"apps": {package: {"screen": "nowhere"}}}, {"apps": {"other.app": {}}},
        {"foreground": "other.app"}, {"apps": None}, {"apps": {package: {"edits": [1]}}},
    ):  # fmt: skip
        assert_error(client.patch(f"{url}/state", json=bad), 422)
        assert client.get(f"{url}/state").json() == after
    screens = list(bundle.program.screens)
    moved = client.patch(f"{url}/state", json={"apps": {package: {"screen": screens[-1]}}}).json()
    assert moved["apps"][package]["screen"] == screens[-1]
    merge = {"content-type": "application/merge-patch+json"}
    assert client.patch(f"{url}/state", content=b'{"seed": 4}', headers=merge).json()["seed"] == 4
    assert_error(client.patch(f"{url}/state", json=[1]), 422)


def test_null_is_a_value_of_a_variable_and_removes_none(client: TestClient, bundle: Bundle) -> None:
    url = f"/api/sessions/{opened(client)}"
    package, state = bundle.program.package, client.get(f"/api/sessions/{opened(client)}/state").json()
    variables = state["apps"][bundle.program.package]["variables"]
    name = next(name for name, value in variables.items() if isinstance(value, str))
    patched = client.patch(f"{url}/state", json={"apps": {package: {"variables": {name: None}}}}).json()["apps"][package]["variables"]
    assert patched == {**variables, name: None}


def test_the_limit_is_an_error_that_says_what_to_do_and_closing_makes_room(client: TestClient) -> None:
    ids = [opened(client) for _ in range(4)]
    assert_error(client.post("/api/sessions", json={}), 429, "4", "close")
    assert_error(client.post(f"/api/sessions/{ids[0]}/fork", json={}), 429)
    assert client.delete(f"/api/sessions/{ids[0]}").status_code == 204
    assert_error(client.get(f"/api/sessions/{ids[0]}"), 404, ids[0])
    opened(client)
    assert len(client.get("/api/sessions").json()) == 4


def test_idle_sessions_end_and_used_ones_do_not(client: TestClient, clock: Clock) -> None:
    idle, used = opened(client), opened(client)
    clock.now += 40
    client.get(f"/api/sessions/{used}")
    assert {s["id"]: s["idle_s"] for s in client.get("/api/sessions").json()} == {idle: 40, used: 0}
    clock.now += 40
    assert [s["id"] for s in client.get("/api/sessions").json()] == [used]
    assert_error(client.get(f"/api/sessions/{idle}/tree"), 404, "60 s")


def test_unknown_things_are_named(client: TestClient) -> None:
    assert_error(client.post("/api/sessions", json={"bundles": ["nothing"]}), 404, "nothing", "groceries")
    assert_error(client.post("/api/sessions", json={"start": "nowhere"}), 422, "nowhere")
    assert_error(client.post("/api/sessions", json={"seeds": 1}), 422, "seeds")
    assert_error(client.get("/api/nothing"), 404, "/api/nothing")
    assert_error(client.put("/api/sessions", json={}), 405)
    assert_error(client.get("/api/bundles/nothing/picture"), 404, "nothing")
    assert_error(client.get("/api/bundles/groceries/report"), 404, "build")


def test_bodies_must_be_json(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert_error(client.post("/api/sessions", content=b"{}", headers={"content-type": kind}), 415, "application/json")
    assert_error(client.post("/api/sessions", content=b"{", headers={"content-type": "application/json"}), 422)
    assert client.get("/api/sessions").json() == []


def test_foreign_names_and_origins_are_refused(client: TestClient) -> None:
    for host in ("evil.example", "evil.example:7600", "127.0.0.1.evil.example", "192.168.1.5", "", "[::2]:7600"):
        assert_error(client.get("/api/bundles", headers={"host": host}), 403)
    for host in ("localhost:7600", "127.0.0.1", "[::1]:7600", "LOCALHOST", "127.9.9.9:1"):
        assert client.get("/api/bundles", headers={"host": host}).status_code == 200
    assert_error(client.post("/api/sessions", json={}, headers={"origin": "https://evil.example"}), 403, "evil.example")
    assert_error(client.post("/api/sessions", json={}, headers={"origin": "null"}), 403)
    assert client.post("/api/sessions", json={}, headers={"origin": "http://127.0.0.1:7600"}).status_code == 201


def test_huge_bodies_are_refused(client: TestClient) -> None:
    assert_error(client.post("/api/sessions", content=b" " * 8_000_001, headers={"content-type": "application/json"}), 413)
    assert_error(client.post("/api/sessions", content=iter([b"{}"]), headers={"content-type": "application/json"}), 411)


def test_raw_input_is_decoded_into_actions(client: TestClient) -> None:
    url = f"/api/sessions/{opened(client)}"
    first = client.get(f"{url}/screen").json()
    assert "Apples" in first["html"] and first["step"] is None
    tapped = client.post(f"{url}/input", json={"input": {"kind": "pointer", "points": [[540, 300, 0], [541, 301, 80]]}}).json()
    assert tapped["step"]["action"] == TAP_APPLES
    assert tapped["version"] == first["version"] + 1 and "Details" in tapped["html"]
    back = client.post(f"{url}/input", json={"input": {"kind": "key", "key": "Escape"}}).json()
    assert back["step"]["action"] == {"kind": "press_key", "key": "back"}
    nothing = client.post(f"{url}/input", json={"input": {"kind": "key", "key": "CapsLock"}}).json()
    assert nothing["step"] is None and nothing["version"] == back["version"]
    assert_error(client.post(f"{url}/input", json={"input": {"kind": "laser"}}), 422)


def test_recorded_pictures_are_given_to_their_session_only_in_parts_that_exist(client: TestClient, bundle: Bundle) -> None:
    url = f"/api/sessions/{opened(client)}/pictures"
    sha = sorted(bundle.program.screenshots())[0]
    whole = client.get(f"{url}/{sha}?width=1080&height=2400")
    assert Image.open(io.BytesIO(whole.content)).size == (1080, 2400)
    part = client.get(f"{url}/{sha}?width=1080&height=2400&part=10,20,110,70")
    assert Image.open(io.BytesIO(part.content)).size == (100, 50)
    for query in ("part=10,20,5000,70", "part=1,2,3", "part=../../etc", "part=5,5,5,5", "part=-1,0,5,5"):
        assert_error(client.get(f"{url}/{sha}?width=1080&height=2400&{query}"), 404)
    assert_error(client.get(f"{url}/{sha}?width=9999&height=9999"), 404)
    assert_error(client.get(f"{url}/{'0' * 64}?width=1080&height=2400"), 404)
    assert_error(client.get(f"{url}/..%2f..%2fetc%2fpasswd?width=1&height=1"), 404)


def test_half_a_surrogate_pair_breaks_no_answer(client: TestClient) -> None:
    url = f"/api/sessions/{opened(client)}"
    body = b'{"action": {"kind": "type", "text": "\\ud83d"}}'
    assert client.post(f"{url}/step", content=body, headers={"content-type": "application/json"}).status_code == 200
    for path in ("/steps", "/state", "/tree", "/tree?format=xml", "/screen"):
        assert client.get(url + path).status_code == 200, path


def test_two_apps_on_one_phone(bundle: Bundle) -> None:
    second = replace(bundle, program=replace(bundle.program, package="org.example.second"))
    app = create_app({"a": bundle, "b": second, "again": bundle})
    with TestClient(app, base_url="http://localhost") as client:
        made = client.post("/api/sessions", json={"bundles": ["b", "a"]}).json()
        assert made["bundles"] == ["b", "a"]
        client.post(f"/api/sessions/{made['id']}/step", json={"action": {"kind": "press_key", "key": "home"}})
        assert client.get(f"/api/sessions/{made['id']}").json()["package"] == "com.android.launcher3"
        assert_error(client.post("/api/sessions", json={"bundles": ["a", "again"]}), 422, "package")
