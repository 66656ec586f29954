"""The pages, used in a real Chromium as a person would use them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect

from phoneworld.program.bundle import Bundle
from phoneworld.render.browser import Browser
from phoneworld.serve.app import create_app
from phoneworld.serve.server import ServedSite
from phoneworld.ui.geometry import Size


@pytest.fixture(scope="module")
def site(bundle: Bundle) -> Iterator[ServedSite]:
    with ServedSite({"groceries": bundle}) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser.launch() as launched:
        yield launched


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    made = browser.page(Size(1500, 950))
    faults: list[str] = []
    made.on("pageerror", lambda e: faults.append(str(e)))
    # A refused patch is an answer with status 422, which Chromium logs by itself.
    made.on("console", lambda m: faults.append(m.text) if m.type == "error" and "422" not in m.text else None)
    made.on("requestfailed", lambda r: faults.append(f"{r.url}: {r.failure}") if "ERR_ABORTED" not in str(r.failure) else None)
    yield made
    made.context.close()
    assert faults == []


def open_phone(page: Page, site: ServedSite) -> str:
    """Opens a phone from the gallery; returns its session."""
    page.goto(site.url)
    page.get_by_role("button", name="Open phone").click()
    page.wait_for_url("**/sessions/*")
    expect(page.frame_locator("#phone").locator("#paper .screen")).to_be_visible()
    return page.url.rsplit("/", 1)[1]


def tap(page: Page, x: int, y: int) -> None:
    glass = page.frame_locator("#phone").locator("#glass").bounding_box()
    assert glass is not None
    scale = glass["width"] / 1080
    page.mouse.click(glass["x"] + x * scale, glass["y"] + y * scale)


def state_of(site: ServedSite, session: str) -> dict[str, object]:
    found: dict[str, object] = httpx.get(f"{site.url}/api/sessions/{session}/state").json()
    return found


def test_a_person_taps_goes_back_and_resets(page: Page, site: ServedSite) -> None:
    session = open_phone(page, site)
    start = state_of(site, session)
    steps = page.locator("#steps li")
    tap(page, 600, 300)
    expect(steps).to_have_count(1)
    expect(steps.first).to_contain_text("tap")
    expect(page.locator("#tree")).to_contain_text("Details")
    page.keyboard.press("Escape")
    expect(steps).to_have_count(2)
    expect(steps.first).to_contain_text("press key back")
    expect(page.locator("#tree")).to_contain_text("Groceries")
    page.get_by_role("button", name="Reset").click()
    expect(steps).to_have_count(0)
    assert state_of(site, session) == start


def test_a_person_types_into_a_form(page: Page, site: ServedSite) -> None:
    session = open_phone(page, site)
    tap(page, 950, 2270)
    expect(page.locator("#steps li")).to_have_count(1)
    tree = httpx.get(f"{site.url}/api/sessions/{session}/tree").json()
    field = next(n for n in nodes(tree) if n["class"].endswith("EditText"))
    left, top, right, bottom = field["bounds"]
    tap(page, (left + right) // 2, (top + bottom) // 2)
    expect(page.locator("#steps li")).to_have_count(2)
    # What has no key comes as from an input method.
    page.keyboard.type("Tea 茶")
    expect(page.locator("#steps li")).to_have_count(7)
    expect(page.frame_locator("#phone").get_by_role("textbox").first).to_contain_text("Tea 茶")
    now = next(n for n in nodes(httpx.get(f"{site.url}/api/sessions/{session}/tree").json()) if n["class"].endswith("EditText"))
    assert now["text"] == "Tea 茶"


def nodes(tree: dict[str, object]) -> Iterator[dict[str, object]]:
    pending = list(tree["windows"])  # type: ignore[call-overload]
    while pending:
        node = pending.pop()
        yield node
        pending += node.get("children", [])


def test_snapshot_restore_and_patch_from_the_studio(page: Page, site: ServedSite) -> None:
    session = open_phone(page, site)
    page.get_by_role("button", name="Snapshot").click()
    expect(page.locator("#restore option")).to_have_count(2)
    start = state_of(site, session)
    tap(page, 600, 300)
    expect(page.locator("#tree")).to_contain_text("Details")
    page.locator("#restore").select_option("snapshot-1")
    expect(page.locator("#tree")).to_contain_text("Apples")
    expect(page.frame_locator("#phone").locator(".n[aria-label='Groceries']")).to_have_count(1)
    assert state_of(site, session) == start
    page.get_by_role("tab", name="State").click()
    page.locator("#patch").fill('{"clock_ms": 86400000}')
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#verdict")).to_have_text("applied")
    expect(page.locator("#now")).to_contain_text("1970-01-02")
    page.locator("#patch").fill('{"clock_ms": "late"}')
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#trouble")).to_contain_text("clock_ms")


def test_hovering_a_line_of_the_tree_marks_its_bounds(page: Page, site: ServedSite) -> None:
    open_phone(page, site)
    mark = page.frame_locator("#phone").locator("#mark")
    expect(mark).to_be_hidden()
    page.locator(".twig", has_text="Bread").last.hover()
    expect(mark).to_be_visible()
    shown, glass = mark.bounding_box(), page.frame_locator("#phone").locator("#glass").bounding_box()
    assert shown is not None and glass is not None
    scale = glass["width"] / 1080
    assert abs((shown["x"] - glass["x"]) / scale - 180) < 6
    assert abs((shown["y"] - glass["y"]) / scale - 623) < 6


def test_what_a_program_does_is_seen_by_the_person(page: Page, site: ServedSite) -> None:
    session = open_phone(page, site)
    httpx.post(f"{site.url}/api/sessions/{session}/step", json={"action": {"kind": "tap", "x": 600, "y": 300}})
    expect(page.frame_locator("#phone").locator(".n[aria-label='Details']")).to_have_count(1, timeout=15_000)
    expect(page.locator("#steps li")).to_have_count(1, timeout=15_000)


def test_a_swipe_and_a_wheel_reach_the_phone(page: Page, site: ServedSite) -> None:
    session = open_phone(page, site)
    glass = page.frame_locator("#phone").locator("#glass").bounding_box()
    assert glass is not None
    x, y = glass["x"] + glass["width"] / 2, glass["y"] + glass["height"] * 0.7
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 200, steps=5)
    page.mouse.up()
    expect(page.locator("#steps li")).to_have_count(1)
    page.mouse.wheel(0, 240)
    expect(page.locator("#steps li")).to_have_count(2)
    kinds = [s["action"]["kind"] for s in httpx.get(f"{site.url}/api/sessions/{session}/steps").json()]
    assert kinds == ["swipe", "swipe"]


def test_recorded_names_stay_words_in_the_gallery_and_the_studio(bundle: Bundle) -> None:
    hostile = "<script>alert(1)</script>{{7*7}}"
    named = replace(bundle, program=replace(bundle.program, label=hostile))
    with TestClient(create_app({'"><u>': named}), base_url="http://127.0.0.1") as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        for url in ("/", f"/sessions/{session}"):
            text = client.get(url).text.replace(session, "")  # drawn by chance: any two digits may be in it
            assert "<script>alert" not in text and "&lt;script&gt;" in text and "49" not in text
            assert '"><u>' not in text


def test_pages_forbid_what_they_do_not_need(bundle: Bundle) -> None:
    with TestClient(create_app({"groceries": bundle}), base_url="http://127.0.0.1") as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        for url in ("/", f"/sessions/{session}", f"/sessions/{session}/page"):
            policy = client.get(url).headers["content-security-policy"]
            assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'self'" in policy
        gone = client.get("/sessions/<b>nothing", headers={"accept": "text/html"})
        assert gone.status_code == 404 and "&lt;b&gt;nothing" in gone.text and "<b>nothing" not in gone.text
        assert client.get("/sessions/nothing").json()["error"] == "UnknownSession"
        assert client.get("/static/..%2fscreen%2fscreen.css").status_code == 404
        assert client.get("/static/studio.css").headers["content-type"].startswith("text/css")


def test_an_empty_gallery_says_how_to_fill_it() -> None:
    with TestClient(create_app({}), base_url="http://127.0.0.1") as client:
        assert "phoneworld build" in client.get("/").text
        answer = client.post("/api/sessions", json={})
        assert answer.status_code == 404 and answer.json()["hint"]
