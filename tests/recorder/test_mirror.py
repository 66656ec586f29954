"""The mirror: by its own questions over HTTP, and as a person uses its page in Chromium."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from phoneworld.graph.file import load_graph, missing_screenshots
from phoneworld.render.browser import Browser
from phoneworld.serve.mirror import MirrorSite
from phoneworld.ui.action import DoubleTap, LongPress, Pinch, PressKey, Swipe, Tap, TypeText, Wait
from phoneworld.ui.geometry import Size
from recorder.driven import Driven
from recorder.mirror import Mirror
from recorder.run import Recorded
from tests.adbd.pocket import NAME, PACKAGE, PLUS, Memory, PocketPhone

X, Y = PLUS.center.x, PLUS.center.y


@dataclass
class Room:
    """A mirror with its phone's thread."""

    phone: PocketPhone
    mirror: Mirror
    driven: Driven
    url: str
    thread: threading.Thread
    out: Path

    def ask(self, path: str, body: dict[str, object] | None = None) -> httpx.Response:
        url = self.url + "/api/mirror" + path
        return httpx.get(url) if body is None else httpx.post(url, json=body)

    def idle(self) -> int:
        """The version of the picture once the phone is at rest."""
        view = self.mirror.wait_for(lambda v: not v.busy)
        assert not view.busy
        return view.version

    def act(self, **given: object) -> httpx.Response:
        answer = self.ask("/input", {"version": self.idle(), "input": given})
        self.idle()
        return answer

    def finished(self) -> Recorded:
        self.thread.join(30)
        assert not self.thread.is_alive()
        return self.driven.finish()


@contextmanager
def room(tmp_path: Path, **options: object) -> Iterator[Room]:
    phone = PocketPhone(memory=Memory(front=PACKAGE))
    out = tmp_path / "app.graph.json"
    driven = Driven.open(phone, PACKAGE, out, mode="mirror")
    mirror = Mirror(driven, **options)  # type: ignore[arg-type]
    ends = threading.Event()
    thread = threading.Thread(target=mirror.run, args=(ends.is_set,))
    with MirrorSite(mirror, title="Pocket") as site:
        thread.start()
        yield Room(phone, mirror, driven, site.url, thread, out)
        ends.set()
        thread.join(30)


def point(x: float, y: float, at: float = 0.0) -> list[float]:
    return [x, y, at]


def test_acts_over_http_become_traces_with_their_tasks(tmp_path: Path) -> None:
    with room(tmp_path, instruction="count") as r:
        assert r.act(kind="strokes", strokes=[[[point(X, Y), point(X, Y, 60)]]]).status_code == 200
        r.act(kind="strokes", strokes=[[[point(X, Y), point(X, Y, 60)]], [[point(X, Y, 180), point(X, Y, 240)]]])
        r.act(kind="strokes", strokes=[[[point(200, 700), point(100, 700, 300)], [point(400, 700), point(500, 700, 300)]]])
        r.act(kind="strokes", strokes=[[[point(X, Y), point(X, Y, 800)]]])
        r.idle()
        assert r.ask("/trace/stop", {}).status_code == 200
        r.act(kind="button", name="back")
        assert r.phone.memory.front != PACKAGE, "it is done, and not recorded"
        r.act(kind="strokes", strokes=[[[point(100, 200), point(100, 200, 60)]]])
        r.idle()
        r.ask("/trace", {"instruction": "  write a name "})
        r.act(kind="strokes", strokes=[[[point(NAME.center.x, NAME.center.y), point(NAME.center.x, NAME.center.y, 60)]]])
        r.act(kind="text", text="Jürgen 李")
        r.act(kind="wheel", x=300, y=600, dx=0, dy=100)
        r.act(kind="key", key="Escape")
        assert r.ask("/finish", {}).status_code == 200
        done = r.finished()
    first, second = done.graph.traces
    assert (first.instruction, second.instruction) == ("count", "write a name")
    assert [type(t.action) for t in first.transitions] == [Tap, DoubleTap, Pinch, LongPress]
    assert [type(t.action) for t in second.transitions] == [Tap, TypeText, Swipe, PressKey]
    assert second.transitions[1].action == TypeText("Jürgen 李") and second.transitions[1].notes == ()
    assert r.phone.memory.count == 13 and done.graph == load_graph(r.out) and not missing_screenshots(done.graph, r.out)


def test_an_act_on_an_old_picture_is_refused_and_a_screen_that_moved_is_shown_first(tmp_path: Path) -> None:
    with room(tmp_path) as r:
        old = r.idle()
        r.act(kind="strokes", strokes=[[[point(X, Y), point(X, Y, 60)]]])
        refused = r.ask("/input", {"version": old, "input": {"kind": "key", "key": "Escape"}})
        assert refused.status_code == 409 and refused.json()["error"] == "MirrorBusy" and refused.json()["hint"]
        seen = r.idle()
        r.phone.memory = Memory(front=PACKAGE, count=70)
        r.ask("/input", {"version": seen, "input": {"kind": "strokes", "strokes": [[[point(X, Y), point(X, Y, 60)]]]}})
        view = r.mirror.wait_for(lambda v: not v.busy and v.version > seen)
        assert r.phone.memory.count == 70, "it was meant for what is no longer there"
        assert view.version > seen
        r.ask("/finish", {})
        (trace,) = r.finished().graph.traces
    assert [type(t.action) for t in trace.transitions] == [Tap, Wait]


@pytest.mark.parametrize(
    "body",
    [{}, {"version": 1, "input": {"kind": "no"}}, {"version": 1, "input": {"kind": "strokes", "strokes": [[]]}}, {"version": "x", "input": {}},
     {"version": 1, "input": {"kind": "pinch", "x": 1, "y": 1, "scale": 0}}],
)  # fmt: skip
def test_what_is_no_input_is_told_in_one_line(tmp_path: Path, body: dict[str, object]) -> None:
    with room(tmp_path) as r:
        r.idle()
        answer = r.ask("/input", body)
        assert answer.status_code == 422 and answer.json()["message"]
        foreign = httpx.post(r.url + "/api/mirror/finish", json={}, headers={"origin": "http://evil.example"})
        assert foreign.status_code == 403


def test_the_limit_ends_it(tmp_path: Path) -> None:
    with room(tmp_path, limit=1) as r:
        r.act(kind="strokes", strokes=[[[point(X, Y), point(X, Y, 60)]]])
        assert r.finished().summary.steps == 1


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser.launch() as launched:
        yield launched


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    made = browser.page(Size(1400, 950))
    faults: list[str] = []
    made.on("pageerror", lambda e: faults.append(str(e)))
    made.on("console", lambda m: faults.append(m.text) if m.type == "error" and "409" not in m.text else None)
    yield made
    made.context.close()
    assert faults == []


def test_a_person_acts_on_the_page(tmp_path: Path, page: Page) -> None:
    with room(tmp_path) as r:
        page.goto(r.url)
        glass = page.locator("#glass")
        expect(glass).to_have_attribute("aria-busy", "false")
        expect(page.locator("#badge")).to_have_text("recording")

        def at(x: int, y: int) -> tuple[float, float]:
            box = page.locator("#picture").bounding_box()
            assert box is not None
            return box["x"] + x * box["width"] / 720, box["y"] + y * box["height"] / 1280

        page.mouse.click(*at(X, Y))
        expect(page.locator("#steps")).to_have_text("1")
        page.mouse.dblclick(*at(X, Y))
        expect(page.locator("#steps")).to_have_text("2")
        expect(glass).to_have_attribute("aria-busy", "false")
        page.locator("#instruction").fill("Write a name")
        page.get_by_role("button", name="Start a new trace").click()
        expect(page.locator("#doing")).to_have_text("Write a name")
        expect(glass).to_have_attribute("aria-busy", "false")
        page.mouse.click(*at(NAME.center.x, NAME.center.y))
        expect(page.locator("#steps")).to_have_text("3")
        page.keyboard.type("milk and eggs")
        expect(page.locator("#steps")).to_have_text("4")
        page.get_by_role("button", name="Back").click()
        expect(page.locator("#steps")).to_have_text("5")
        expect(page.locator("#log li")).to_have_count(5)
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#badge")).to_have_text("finished")
        done = r.finished()
    first, second = done.graph.traces
    assert [type(t.action) for t in first.transitions] == [Tap, DoubleTap]
    assert second.instruction == "Write a name"
    assert [t.action for t in second.transitions][1:] == [TypeText("milk and eggs"), PressKey("back")]


def test_what_was_done_just_before_the_end_is_done_and_recorded(tmp_path: Path, page: Page) -> None:
    """Text goes after a pause, a tap once it can be no double tap: nobody waits for that before a click on a button."""
    with room(tmp_path) as r:
        page.goto(r.url)
        expect(page.locator("#glass")).to_have_attribute("aria-busy", "false")
        box = page.locator("#picture").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + NAME.center.x * box["width"] / 720, box["y"] + NAME.center.y * box["height"] / 1280)
        page.get_by_role("button", name="Start a new trace").click()
        expect(page.locator("#steps")).to_have_text("1")
        expect(page.locator("#glass")).to_have_attribute("aria-busy", "false")
        page.keyboard.type("oats")
        page.keyboard.insert_text("mälk 😀")  # as an input method does: no key is pressed
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#badge")).to_have_text("finished")
        done = r.finished()
    assert [[type(t.action) for t in trace.transitions] for trace in done.graph.traces] == [[Tap], [TypeText]]
    assert done.graph.traces[1].transitions[0].action == TypeText("oatsmälk 😀")


def test_an_answer_that_comes_late_takes_nothing_back(tmp_path: Path, page: Page) -> None:
    """Two answers may be on their way at once: an older view would show a phone that is busy, with nothing to come after it."""
    with room(tmp_path) as r:
        late: list[tuple[Route, APIResponse]] = []
        page.route("**/api/mirror/input", lambda route: late.append((route, route.fetch())))
        page.goto(r.url)
        expect(page.locator("#glass")).to_have_attribute("aria-busy", "false")
        box = page.locator("#picture").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + X * box["width"] / 720, box["y"] + Y * box["height"] / 1280)
        expect(page.locator("#steps")).to_have_text("1")
        ((route, answer),) = late
        assert answer.json()["busy"] and answer.json()["steps"] == 0
        route.fulfill(response=answer)
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#badge")).to_have_text("finished")
        assert page.locator("#steps").text_content() == "1"
        r.finished()


def test_what_was_refused_is_told_until_the_next_act_and_what_was_asked_after_it_holds(tmp_path: Path, page: Page) -> None:
    with room(tmp_path) as r:
        refused = {"error": "MirrorBusy", "message": "the screen has changed since that picture", "hint": "look again"}
        page.route("**/api/mirror/input", lambda route: route.fulfill(status=409, json=refused))
        page.goto(r.url)
        expect(page.locator("#glass")).to_have_attribute("aria-busy", "false")
        page.get_by_role("button", name="Back").click()
        expect(page.locator("#trouble")).to_contain_text("the screen has changed")
        page.get_by_role("button", name="Stop the trace").click()
        expect(page.locator("#badge")).to_have_text("not recording")
        expect(page.locator("#trouble")).to_be_hidden()
        page.get_by_role("button", name="Back").click()
        page.get_by_role("button", name="Finish").click()
        expect(page.locator("#badge")).to_have_text("finished")
        r.finished()


def test_a_page_that_is_opened_again_shows_the_task_and_the_steps(tmp_path: Path, page: Page) -> None:
    with room(tmp_path, instruction="Count to one") as r:
        r.act(kind="strokes", strokes=[[[point(X, Y), point(X, Y, 60)]]])
        page.goto(r.url)
        expect(page.locator("#log li")).to_have_text(["tap"])
        expect(page.locator("#instruction")).to_have_value("Count to one")
        page.reload()
        expect(page.locator("#log li")).to_have_text(["tap"])
