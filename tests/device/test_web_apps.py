"""A web phone with several apps and mini-apps, under conditions of choice; and what the list of findings about WebViews asks for."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from PIL import Image

from phoneworld.cli.phone import parse_clock, parse_location, parse_webview
from phoneworld.device.device import InstalledApp
from phoneworld.device.open import WebPhone, open_device
from phoneworld.device.settle import settle
from phoneworld.device.web import AppSpec, WebDevice, parse_spec
from phoneworld.device.web.apps import MINI_ACTIVITY
from phoneworld.errors import DeviceNotFound, PhoneWorldError
from phoneworld.render.browser import Browser
from phoneworld.ui import mini, system
from phoneworld.ui.action import CloseApp, DoubleTap, OpenApp, PressKey, Swipe, Tap, TypeText, Wait
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node
from tests.shared import CASES, needs_shared
from tests.webapps import NOTES, served, todomvc

PAGES = Path(__file__).parent / "pages"
SIZE, DENSITY = Size(540, 1200), 240
CHAT, PLAY = "org.example.chat", "org.example.play"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser.launch() as running:
        yield running


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(PAGES) as url:
        yield url


def nodes(device: WebDevice, name: str) -> list[Node]:
    return [n for n in device.hierarchy().nodes() if name in (n.resource_id, n.resource_id.rpartition("/")[2], n.text, n.content_desc)]


def node(device: WebDevice, name: str) -> Node:
    found = nodes(device, name)
    assert found, f"no {name!r} on the screen"
    return found[0]


def tap(device: WebDevice, name: str) -> None:
    at = node(device, name).bounds.center
    device.perform(Tap(at.x, at.y))


def log(device: WebDevice) -> str:
    return node(device, "log").text


def front(device: WebDevice) -> tuple[str, str]:
    state = device.state()
    return state.package, state.activity


# Several apps


@pytest.fixture
def two(browser: Browser, site: str) -> Iterator[WebDevice]:
    apps = (AppSpec(site + "host.html", CHAT), AppSpec(site + "act.html", PLAY))
    with WebDevice(apps=apps, size=SIZE, density=DENSITY, browser=browser) as device:
        yield device


def test_several_pages_are_several_apps_on_the_launcher(two: WebDevice, site: str) -> None:
    main = ".MainActivity"
    assert two.apps() == (InstalledApp(CHAT, "Chat", main, (main,)), InstalledApp(PLAY, "Act", main, (main,)))
    assert two.serial == f"web:{site}host.html web:{site}act.html"
    assert front(two)[0] == CHAT
    two.perform(PressKey("home"))
    tap(two, "Act")
    assert front(two)[0] == PLAY and log(two) == "ready"


def test_each_app_keeps_its_own_state_and_is_as_it_was_left(two: WebDevice) -> None:
    tap(two, "say")
    two.perform(OpenApp(PLAY))
    tap(two, "store")
    assert log(two) == "stored 1"
    two.perform(OpenApp(CHAT))
    assert log(two) == "said"
    two.perform(CloseApp(PLAY))
    assert front(two)[0] == CHAT
    two.clear_app(PLAY)
    assert log(two) == "said"
    two.perform(OpenApp(PLAY, url="?stored"))
    assert log(two) == "stored nothing"


def test_recents_brings_the_app_that_was_in_front_before(two: WebDevice) -> None:
    two.perform(OpenApp(PLAY))
    two.perform(PressKey("recents"))
    assert front(two)[0] == CHAT
    two.perform(PressKey("recents"))
    assert front(two)[0] == PLAY
    two.perform(PressKey("home"))
    two.perform(PressKey("recents"))
    assert front(two)[0] == PLAY


def test_two_apps_on_one_origin_share_nothing(browser: Browser, site: str) -> None:
    apps = (AppSpec(site + "act.html"), AppSpec(site + "act.html?stored"))
    with WebDevice(apps=apps, browser=browser) as device:
        first, second = (app.package for app in device.apps())
        tap(device, "store")
        device.perform(OpenApp(second))
        assert log(device) == "stored nothing" and first != second


def test_two_apps_of_one_name_are_refused(browser: Browser, site: str) -> None:
    with pytest.raises(DeviceNotFound, match="two apps"):
        WebDevice(apps=(AppSpec(site, CHAT), AppSpec(site + "act.html", CHAT)), browser=browser)


# Mini-apps


@pytest.fixture
def hosted(browser: Browser, site: str) -> Iterator[WebDevice]:
    """A mini-app in a plain host, which is open."""
    spec = parse_spec(f"mini:{site}act.html?host={CHAT}")
    with WebDevice(apps=(spec,), size=SIZE, density=DENSITY, browser=browser) as device:
        yield device


def test_a_mini_app_lies_in_its_hosts_package_under_a_title_bar_with_a_capsule(hosted: WebDevice) -> None:
    assert front(hosted) == (CHAT, MINI_ACTIVITY)
    tree = hosted.hierarchy()
    bar, view = tree.windows[0].children[0].children[0].children
    assert bar.bounds.bottom == view.bounds.top == system.status_bar_height(DENSITY) + mini.bar_height(DENSITY)
    assert node(hosted, "actionbar_title").text == "Act" and not nodes(hosted, "Back")
    capsule = node(hosted, "capsule")
    assert [c.content_desc for c in capsule.children] == ["More", "Close"] and capsule.bounds.right > SIZE.width * 0.9
    assert view.class_name == "android.webkit.WebView" and {n.package for n in tree.nodes()} == {CHAT}
    tap(hosted, "press")
    assert log(hosted) == "click"


def test_closing_a_mini_app_shows_the_host_and_it_is_kept_warm(hosted: WebDevice) -> None:
    tap(hosted, "press")
    tap(hosted, "Close")
    assert front(hosted) == (CHAT, ".MainActivity") and not nodes(hosted, "press")
    assert len(hosted.screenshot()) > 1000
    tap(hosted, "Act")
    assert front(hosted) == (CHAT, MINI_ACTIVITY) and log(hosted) == "click"
    hosted.perform(CloseApp(CHAT))
    hosted.perform(OpenApp(CHAT))
    assert front(hosted) == (CHAT, ".MainActivity")
    hosted.perform(OpenApp(CHAT, activity=CHAT + MINI_ACTIVITY))
    assert log(hosted) == "ready"


def test_back_goes_through_the_mini_apps_own_pages_then_to_its_host_then_home(hosted: WebDevice) -> None:
    tap(hosted, "page-two")
    assert log(hosted) == "hash #two"
    tap(hosted, "Back")
    assert log(hosted) == "hash" and not nodes(hosted, "Back")
    tap(hosted, "push")
    assert log(hosted) == "pushed"
    hosted.perform(PressKey("back"))
    assert log(hosted) == "popped"
    seen = []
    for _ in range(2):
        hosted.perform(PressKey("back"))
        seen.append(front(hosted))
    assert seen == [(CHAT, ".MainActivity"), (system.LAUNCHER_PACKAGE, system.LAUNCHER_ACTIVITY)]


def test_the_capsules_menu_starts_the_mini_app_anew_or_closes_it(hosted: WebDevice) -> None:
    tap(hosted, "press")
    tap(hosted, "More")
    assert [n.text for n in hosted.hierarchy().nodes() if n.text] == list(mini.MENU)
    tap(hosted, "Cancel")
    assert log(hosted) == "click"
    tap(hosted, "More")
    tap(hosted, mini.MENU[0])
    assert log(hosted) == "ready"
    tap(hosted, "More")
    hosted.perform(PressKey("back"))
    assert log(hosted) == "ready"
    tap(hosted, "More")
    tap(hosted, mini.MENU[1])
    assert front(hosted) == (CHAT, ".MainActivity")


def test_the_bars_are_in_the_picture_and_the_page_below_them(hosted: WebDevice) -> None:
    top = system.status_bar_height(DENSITY) + mini.bar_height(DENSITY)
    with_bar = np.asarray(Image.open(io.BytesIO(hosted.screenshot())))
    assert with_bar.shape == (SIZE.height, SIZE.width, 3)
    tap(hosted, "page-two")
    with_arrow = np.asarray(Image.open(io.BytesIO(hosted.screenshot())))
    assert not np.array_equal(with_bar[:top, :100], with_arrow[:top, :100])
    assert np.array_equal(with_bar[top + 60 : top + 400], with_arrow[top + 60 : top + 400])


@pytest.mark.parametrize("link", ["same", "new"])
def test_a_link_in_the_hosts_page_opens_the_mini_app_beside_it(browser: Browser, site: str, link: str) -> None:
    apps = (AppSpec(site + "host.html", CHAT), AppSpec(site + "act.html", host=CHAT))
    with WebDevice(apps=apps, size=SIZE, density=DENSITY, browser=browser) as device:
        assert [app.package for app in device.apps()] == [CHAT]
        tap(device, "say")
        tap(device, link)
        assert front(device) == (CHAT, MINI_ACTIVITY) and log(device) == "ready"
        device.perform(PressKey("back"))
        assert front(device) == (CHAT, ".MainActivity") and log(device) == "said"


@pytest.mark.parametrize("spec", ["mini:http://127.0.0.1:1/", "mini:http://127.0.0.1:1/?host=chat", "web:", "web:page", "web:127.0.0.1:8000", "web:file:///etc/hosts", "web:http://", "web:http://[::1", "page"])
def test_what_names_no_page_says_how_to(spec: str) -> None:
    with pytest.raises(DeviceNotFound) as error:
        parse_spec(spec)
    assert error.value.hint


def test_a_mini_apps_url_may_have_questions_of_its_own() -> None:
    assert parse_spec("mini:http://127.0.0.1:1/?host=a&x=1&host=org.example.chat") == AppSpec("http://127.0.0.1:1/?host=a&x=1", host=CHAT)


# Conditions


def test_pages_find_the_language_zone_look_place_and_time_that_were_chosen(site: str) -> None:
    web = WebPhone(
        SIZE, DENSITY, locale="de-DE", timezone="Asia/Tokyo", night_mode=True, geolocation=(52.5, 13.4), clock_ms=1_787_563_800_000,
    )  # fmt: skip
    device = open_device(f"web:{site}host.html", web)
    try:
        assert isinstance(device, WebDevice)
        for _ in range(50):
            if (told := node(device, "told").text).endswith("13.4"):
                break
            device.perform(Wait(20))
        assert told == "de-DE Asia/Tokyo dark 18 52.5 13.4"
        info = device.info
        assert (info.locale, info.timezone, info.night_mode) == ("de-DE", "Asia/Tokyo", True)
        assert device.state().clock_ms == 1_787_563_800_000
    finally:
        device.close()


@needs_shared
@pytest.mark.parametrize("timezone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_phones_clock_is_the_one_that_was_asked_for_whatever_the_hosts_zone(
    monkeypatch: pytest.MonkeyPatch, browser: Browser, site: str, timezone: str
) -> None:
    """Case 50: page, status bar and device state tell one time, in the phone's own zone."""
    case = json.loads((CASES / "50-virtual-clock.json").read_text())
    monkeypatch.setenv("TZ", timezone)
    now = datetime.fromisoformat(case["reference_now"]).replace(tzinfo=ZoneInfo(case["tz"]))
    assert parse_clock(now.isoformat()) == int(now.timestamp() * 1000)
    with WebDevice(site + "host.html", clock_ms=parse_clock(now.isoformat()), timezone=case["tz"], browser=browser) as device:
        assert node(device, "told").text.split()[3] == str(now.hour)
        assert device.state().clock_ms == int(now.timestamp() * 1000)


@pytest.mark.parametrize(
    ("parse", "good", "value", "bad"),
    [
        (parse_clock, "2026-08-24T09:30Z", 1_787_563_800_000, "noon"),
        (parse_location, "52.5,-13.4", (52.5, -13.4), "91,0"),
        (parse_webview, "old", "old", "ancient"),
    ],
)
def test_options_of_the_phone_are_read_or_refused_with_an_example(
    parse: Callable[[str], object], good: str, value: object, bad: str
) -> None:
    assert parse(good) == value
    with pytest.raises(PhoneWorldError) as error:
        parse(bad)
    assert error.value.hint


def test_without_a_place_a_page_that_asks_for_it_is_refused(browser: Browser, site: str) -> None:
    with WebDevice(site + "host.html", browser=browser) as device:
        for _ in range(50):
            if (told := node(device, "told").text).endswith("nowhere"):
                break
            device.perform(Wait(20))
        assert told.endswith("nowhere")


def test_offline_an_app_starts_and_reaches_nothing_more_until_it_is_back(browser: Browser, site: str) -> None:
    with WebDevice(site + "act.html", offline=True, browser=browser) as device:
        assert log(device) == "ready"
        tap(device, "elsewhere")
        assert "plain" not in [n.text for n in device.hierarchy().nodes()]
        device.perform(CloseApp(device.apps()[0].package))
        device.set_offline(False)
        device.perform(OpenApp(device.apps()[0].package))
        tap(device, "elsewhere")
        assert log(device) == "plain"


# Touch, as in a WebView


def test_what_was_touched_last_stays_hovered_until_the_next_touch(browser: Browser, site: str) -> None:
    with WebDevice(site + "rows.html", browser=browser) as device:
        assert not nodes(device, "Delete one")
        tap(device, "one")
        device.screenshot()
        assert nodes(device, "Delete one") and not nodes(device, "Delete two")
        tap(device, "Delete one")
        assert log(device) == "one gone"
        tap(device, "two")
        assert not nodes(device, "Delete one") and nodes(device, "Delete two")


def test_todomvc_is_edited_by_a_double_tap_and_a_row_that_was_tapped_shows_its_delete_button(browser: Browser) -> None:
    with served(todomvc("vanillajs")) as url, WebDevice(url, browser=browser) as device:
        field = next(n for n in device.hierarchy().nodes() if n.is_editable).bounds.center
        device.perform(TypeText("milk\n", field.x, field.y))
        device.perform(PressKey("back"))
        row = node(device, "milk").bounds
        device.perform(DoubleTap(row.center.x, row.center.y))
        assert any(n.is_editable and n.text == "milk" and n.focused for n in device.hierarchy().nodes())
        assert device.state().keyboard
        device.perform(TypeText(" and tea\n"))
        # The page has no viewport meta and is wider than the screen: as in a WebView its right end is a swipe away.
        row = node(device, "milk and tea").bounds
        device.perform(Swipe(1000, row.center.y, 100, row.center.y))
        device.perform(Tap(300, node(device, "milk and tea").bounds.center.y))
        tap(device, "✖")
        assert not nodes(device, "milk and tea")


# Rest and reset


def test_a_page_that_is_never_quiet_is_read_within_the_limit_and_marked(browser: Browser, site: str) -> None:
    with WebDevice(site + "rows.html?restless", size=SIZE, density=DENSITY, browser=browser) as device:
        reading = settle(device, timeout_s=1.5)
        assert not reading.settled
        assert any(n.text == "ready" for n in reading.hierarchy.nodes())


def test_reset_gives_the_start_of_every_app_again(browser: Browser, site: str) -> None:
    with served(NOTES) as notes, served(todomvc("vanillajs")) as todo:
        apps = (AppSpec(notes, "org.example.notes"), AppSpec(todo, "org.example.todo"), AppSpec(site + "act.html", host=CHAT))
        with WebDevice(apps=apps, size=SIZE, density=DENSITY, clock_ms=1_787_563_800_000, seed=1, browser=browser) as device:

            def starts() -> list[Hierarchy]:
                found = []
                for package in (app.package for app in device.apps()):
                    device.perform(OpenApp(package, activity=package + MINI_ACTIVITY if package == CHAT else ""))
                    found.append(settle(device, timeout_s=4).hierarchy)
                return found

            before = starts()
            for app in device.apps():
                device.perform(OpenApp(app.package))
                for n in [n for n in device.hierarchy().nodes() if n.clickable and n.bounds.area][:4]:
                    device.perform(Tap(n.bounds.center.x, n.bounds.center.y))
                device.perform(TypeText("changed\n"))
            device.reset()
            assert front(device)[0] == "org.example.notes"
            assert starts() == before


def test_a_reset_with_a_seed_makes_chance_repeat(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>x</title><p>chance</p><script>document.title = String(Math.random())</script>")
    with served(tmp_path) as url, WebDevice(url, size=SIZE, density=DENSITY, browser=browser) as device:

        def drawn() -> str:
            return next(n.text for n in device.hierarchy().nodes() if n.text.startswith("0."))

        seen = []
        for seed in (7, 8, 7, None):
            device.reset(seed)
            seen.append(drawn())
        assert seen[0] == seen[2] == seen[3] != seen[1]


def test_a_window_that_a_page_opens_is_shown_in_its_place_and_other_apps_stay(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        "<title>First</title><button onclick=\"window.open('/two.html', '_system')\">New window</button>"
    )
    for name in ("two", "other"):
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title><button>{name}</button>")
    with served(tmp_path) as url:
        apps = (AppSpec(url, "org.example.first"), AppSpec(url + "other.html", "org.example.other"))
        with WebDevice(apps=apps, size=SIZE, density=DENSITY, browser=browser) as device:
            device.perform(OpenApp("org.example.other"))
            device.perform(OpenApp("org.example.first"))
            for _ in range(3):
                tap(device, "New window")
                shown = settle(device, timeout_s=4).hierarchy
                assert any(n.text == "two" for n in shown.nodes() if n.clickable)
                device.perform(PressKey("back"))
                settle(device, timeout_s=4)
            device.perform(OpenApp("org.example.other"))
            assert any(n.clickable for n in nodes(device, "other")), "it was not closed with the window"
