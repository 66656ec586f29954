"""A web page as a phone, live: every test here runs the real page in the real browser."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from phoneworld.device.device import Device, InstalledApp
from phoneworld.device.settle import settle
from phoneworld.device.web import WebDevice, package_of
from phoneworld.device.web.frame import Screen
from phoneworld.device.web.picture import SystemPictures, compose
from phoneworld.errors import ActionError, DeviceError, DeviceLost, DeviceUnusable
from phoneworld.render.browser import Browser
from phoneworld.ui import system
from phoneworld.ui.action import (
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Node
from tests.webapps import NOTES, free_port, served, todomvc

PAGES = Path(__file__).parent / "pages"
SIZE, DENSITY = Size(1080, 2400), 480
APP = "org.example.act"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser.launch() as running:
        yield running


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(PAGES) as url:
        yield url


@pytest.fixture
def phone(browser: Browser, site: str) -> Iterator[WebDevice]:
    with WebDevice(site + "act.html", package=APP, browser=browser) as device:
        yield device


def node(device: WebDevice, name: str) -> Node:
    """The node with this id (with or without its `...:id/`), text or description."""
    found = [n for n in device.hierarchy().nodes() if name in (n.resource_id, n.resource_id.rpartition("/")[2], n.text, n.content_desc)]
    assert found, f"no {name!r} on the screen"
    return found[0]


def tap(device: WebDevice, name: str) -> None:
    at = node(device, name).bounds.center
    device.perform(Tap(at.x, at.y))


def key(device: WebDevice, name: str, layer: system.Layer = "lower") -> None:
    board = system.keyboard(SIZE, DENSITY, layer)
    at = next(k for k in board.children if name in (k.text, k.content_desc)).bounds.center
    device.perform(Tap(at.x, at.y))


def log(device: WebDevice) -> str:
    return node(device, "log").text


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


# The phone


def test_a_web_page_is_a_device_with_one_app(phone: WebDevice, site: str) -> None:
    assert isinstance(phone, Device)
    assert phone.serial == f"web:{site}act.html"
    assert phone.apps() == (InstalledApp(APP, "Act", ".MainActivity", (".MainActivity",)),)
    assert (phone.info.size, phone.info.density) == (SIZE, DENSITY)
    state = phone.state()
    assert (state.package, state.activity, state.keyboard) == (APP, ".MainActivity", False)


def test_the_web_content_lies_in_an_activity_under_the_status_bar(phone: WebDevice) -> None:
    tree = phone.hierarchy()
    chain = [n.class_name for n in tree.chain((0, 0, 0, 0, 0))]
    assert chain == [
        "android.widget.FrameLayout", "android.widget.LinearLayout", "android.widget.FrameLayout",
        "android.webkit.WebView", "android.webkit.WebView",
    ]  # fmt: skip
    assert tree.at((0, 0, 0, 0)).bounds == tree.at((0, 0, 0, 0, 0)).bounds == Bounds(0, 72, 1080, 2400)
    assert tree.windows[0].bounds == SIZE.bounds
    assert {n.package for n in tree.nodes()} == {APP}


def test_a_picture_is_the_whole_screen_and_an_idle_page_gives_it_again(phone: WebDevice) -> None:
    tap(phone, "field")
    assert settle(phone).settled
    first, second = phone.screenshot(), phone.screenshot()
    assert pixels(first).shape == (2400, 1080, 3)
    changed = np.argwhere((pixels(first) != pixels(second)).any(axis=2))
    assert first == second, f"they differ between rows and columns {changed.min(axis=0)} and {changed.max(axis=0)}"


def test_the_picture_is_the_pages_own_pixels_between_the_systems(phone: WebDevice, browser: Browser) -> None:
    """Rows put together without decoding against the same pictures pasted by Pillow."""
    tap(phone, "field")
    fast = pixels(phone.screenshot())
    pictures = SystemPictures(browser, SIZE, DENSITY)
    own = Image.fromarray(fast).crop((0, 72, 1080, system.keyboard_bounds(SIZE, DENSITY).top))
    encoded = io.BytesIO()
    own.convert("RGBA").save(encoded, "PNG")
    slow = pixels(compose(encoded.getvalue(), Screen(SIZE, DENSITY), pictures, clock_text="12:00", keyboard="lower"))
    pictures.close()
    assert np.array_equal(fast, slow)
    assert len(np.unique(own)) > 10


@pytest.mark.parametrize(("size", "density"), [(Size(720, 1280), 320), (Size(1080, 1920), 420)])
def test_other_screens_have_their_own_size(browser: Browser, site: str, size: Size, density: int) -> None:
    with WebDevice(site + "act.html", size=size, density=density, browser=browser) as phone:
        assert pixels(phone.screenshot()).shape == (size.height, size.width, 3)
        box = Bounds(0, system.status_bar_height(density), size.width, size.height)
        assert all(n.bounds.intersect(box) == n.bounds for n in phone.hierarchy().at((0, 0, 0, 0, 0)).children)
        tap(phone, "press")
        assert log(phone) == "click"


# Fingers


def test_a_tap_lands_where_it_was_meant_however_often_pictures_are_taken(phone: WebDevice) -> None:
    for name in ("press", "store", "press", "store"):
        phone.screenshot()
        tap(phone, name)
        assert log(phone).startswith("click" if name == "press" else "stored")


def test_a_page_without_a_viewport_meta_is_laid_out_as_wide_as_the_screen(browser: Browser, site: str) -> None:
    with WebDevice(site + "plain.html", browser=browser) as phone:
        tap(phone, "here")
        assert log(phone) == "here, of 360"


def test_two_quick_taps_are_a_double_click_and_a_long_press_is_a_context_menu(phone: WebDevice) -> None:
    at = node(phone, "press").bounds.center
    phone.perform(DoubleTap(at.x, at.y))
    assert log(phone) == "dblclick"
    phone.perform(LongPress(at.x, at.y))
    assert log(phone) == "contextmenu"
    phone.perform(LongPress(at.x, at.y, 100))
    assert log(phone) == "click"


def test_a_swipe_scrolls_by_the_same_way_to_the_pixel(phone: WebDevice) -> None:
    ways = []
    for _ in range(3):
        start = node(phone, "low").bounds.top
        phone.perform(Swipe(900, 2100, 900, 1200))
        ways.append(start - node(phone, "low").bounds.top)
        phone.perform(Swipe(900, 1200, 900, 2300))
        assert node(phone, "low").bounds.top == start
    assert len(set(ways)) == 1 and 800 < ways[0] <= 900


def test_a_drag_moves_one_finger_and_a_pinch_two(phone: WebDevice) -> None:
    at = node(phone, "Pad").bounds.center
    phone.perform(Drag(at.x, at.y, at.x + 60, at.y + 60, 400))
    assert log(phone) == "fingers 1 apart 0"
    phone.perform(Pinch(at.x, at.y, 2))
    assert log(phone) == "fingers 2 apart 240"


def test_an_element_in_an_iframe_is_tapped_where_it_is_seen(phone: WebDevice) -> None:
    tap(phone, "In a frame")
    assert log(phone) == "framed"


def test_a_point_off_the_screen_is_refused(phone: WebDevice) -> None:
    with pytest.raises(ActionError):
        phone.perform(Tap(1080, 10))


# Typing and the keyboard


def test_the_keyboard_comes_with_a_tap_into_a_field_and_goes_with_back(phone: WebDevice) -> None:
    tap(phone, "field")
    assert phone.state().keyboard
    shrunk = phone.hierarchy()
    top = system.keyboard_bounds(SIZE, DENSITY).top
    assert shrunk.at((0, 0, 0, 0)).bounds.bottom == top
    assert not any(n.package == system.KEYBOARD_PACKAGE for n in shrunk.nodes())
    phone.perform(PressKey("back"))
    assert not phone.state().keyboard
    assert phone.hierarchy().at((0, 0, 0, 0)).bounds.bottom == 2400
    assert node(phone, "field").focused
    tap(phone, "field")
    assert phone.state().keyboard
    tap(phone, "press")
    assert not phone.state().keyboard


def test_a_field_under_the_keyboard_is_brought_into_view(phone: WebDevice) -> None:
    tap(phone, "low")
    assert phone.state().keyboard
    box = node(phone, "low").bounds
    assert box.height == 120 and box.bottom <= system.keyboard_bounds(SIZE, DENSITY).top


def test_a_page_that_focuses_a_field_by_itself_brings_no_keyboard(browser: Browser, site: str) -> None:
    with WebDevice(site + "plain.html", browser=browser) as phone:
        assert node(phone, "first").focused
        assert not phone.state().keyboard
        tap(phone, "first")
        assert phone.state().keyboard


def test_the_keys_type_what_they_show(phone: WebDevice) -> None:
    tap(phone, "field")
    for name in ("h", "i", "Space"):
        key(phone, name)
    key(phone, "Shift")
    key(phone, "M", "upper")
    key(phone, "e")
    key(phone, "Symbols")
    key(phone, "7", "symbols")
    key(phone, "!", "symbols")
    key(phone, "Delete", "symbols")
    assert node(phone, "field").text == "hi Me7"
    key(phone, "Hide keyboard", "symbols")
    assert not phone.state().keyboard


def test_the_keyboard_is_in_the_picture(phone: WebDevice) -> None:
    top = system.keyboard_bounds(SIZE, DENSITY).top
    without = pixels(phone.screenshot())[top:]
    tap(phone, "field")
    lower = pixels(phone.screenshot())[top:]
    key(phone, "Shift")
    upper = pixels(phone.screenshot())[top:]
    assert (without != lower).any(axis=2).mean() > 0.5
    assert not np.array_equal(lower, upper)


def test_text_of_any_script_is_typed_appended_replaced_and_cleared(phone: WebDevice) -> None:
    at = node(phone, "field").bounds.center
    phone.perform(TypeText("Grüße 你好 🙂", at.x, at.y))
    assert node(phone, "field").text == "Grüße 你好 🙂"
    phone.perform(PressKey("move_home"))
    phone.perform(TypeText(" مرحبا"))
    assert node(phone, "field").text == "Grüße 你好 🙂 مرحبا"
    phone.perform(TypeText("new", mode="replace"))
    assert node(phone, "field").text == "new"
    phone.perform(PressKey("backspace"))
    assert node(phone, "field").text == "ne"
    phone.perform(Clear(at.x, at.y))
    assert node(phone, "field").text == ""


def test_what_is_typed_into_a_password_field_is_bullets(phone: WebDevice) -> None:
    at = node(phone, "secret").bounds.center
    phone.perform(TypeText("hunter2", at.x, at.y))
    assert node(phone, "secret").text == "•" * 7 and node(phone, "secret").password


def test_an_editable_element_takes_text(phone: WebDevice) -> None:
    at = node(phone, "rich").bounds.center
    phone.perform(TypeText("one\ntwo", at.x, at.y))
    assert phone.state().keyboard
    assert node(phone, "rich").text.split() == ["one", "two"]


def test_enter_reaches_the_page_as_a_key(phone: WebDevice) -> None:
    at = node(phone, "todo").bounds.center
    phone.perform(TypeText("milk\n", at.x, at.y))
    assert log(phone) == "todo milk"
    phone.perform(TypeText("eggs"))
    phone.perform(PressKey("enter"))
    assert log(phone) == "todo eggs"
    key(phone, "a")
    key(phone, "Enter")
    assert log(phone) == "todo a"


# Native windows


def test_an_alert_is_a_dialog_that_holds_the_page(phone: WebDevice) -> None:
    before = pixels(phone.screenshot())
    tap(phone, "alert")
    tree = phone.hierarchy()
    assert node(phone, "message").text == "Look out"
    assert len(tree.windows) == 1 and not any("WebView" in n.class_name for n in tree.nodes())
    shown = pixels(phone.screenshot())
    corner = before[2300, 20].astype(int)
    assert abs(shown[2300, 20].astype(int) - corner * 0.4).max() <= 1
    box = tree.windows[0].bounds
    assert not np.array_equal(shown[box.top : box.bottom, box.left : box.right], before[box.top : box.bottom, box.left : box.right])
    tap(phone, "OK")
    assert log(phone) == "alert over"


@pytest.mark.parametrize(("button", "answer"), [("OK", "confirm true"), ("Cancel", "confirm false"), ("", "confirm false")])
def test_a_confirmation_gets_the_answer_that_was_tapped(phone: WebDevice, button: str, answer: str) -> None:
    tap(phone, "confirm")
    assert node(phone, "message").text == "Sure?"
    if button:
        tap(phone, button)
    else:
        phone.perform(PressKey("back"))
    assert log(phone) == answer


def test_a_prompt_gets_what_was_typed(phone: WebDevice) -> None:
    tap(phone, "prompt")
    tap(phone, "js_modal_dialog_prompt")
    assert phone.state().keyboard
    key(phone, "a")
    phone.perform(TypeText("bel"))
    assert node(phone, "js_modal_dialog_prompt").text == "Annabel"
    tap(phone, "OK")
    assert log(phone) == "prompt Annabel"
    assert not phone.state().keyboard


def test_a_dialog_that_opens_by_itself_is_seen_while_the_page_is_read(phone: WebDevice) -> None:
    tap(phone, "later")
    for _ in range(50):
        phone.screenshot()
        if any(n.text == "By itself" for n in phone.hierarchy().nodes()):
            break
    tap(phone, "OK")
    assert log(phone) == "late alert over"


def test_a_dialog_under_the_finger_leaves_no_finger_down(phone: WebDevice) -> None:
    tap(phone, "touchy")
    assert node(phone, "message").text == "At once"
    tap(phone, "OK")
    assert log(phone) == "touched"
    tap(phone, "press")
    assert log(phone) == "click"


def test_a_dialog_at_the_start_does_not_hold_up_the_phone(browser: Browser, site: str) -> None:
    with WebDevice(site + "act.html?greet", browser=browser) as phone:
        assert node(phone, "message").text == "Hello"
        assert pixels(phone.screenshot()).shape == (2400, 1080, 3)
        tap(phone, "OK")
        assert log(phone) == "ready"


def test_an_app_under_a_dialog_can_be_left_closed_and_opened_again(phone: WebDevice) -> None:
    tap(phone, "alert")
    phone.perform(PressKey("home"))
    assert phone.state().package == system.LAUNCHER_PACKAGE
    phone.perform(OpenApp(APP))
    assert node(phone, "message").text == "Look out"
    phone.perform(CloseApp(APP))
    phone.perform(OpenApp(APP))
    assert log(phone) == "ready"


def test_a_select_is_chosen_by_tapping_its_row(phone: WebDevice) -> None:
    tap(phone, "colour")
    rows = [n for n in phone.hierarchy().nodes() if n.resource_id == "android:id/text1"]
    assert [n.text for n in rows] == ["Red", "Green", "Grey", "Blue"] and rows[0].checked
    pixels(phone.screenshot())
    tap(phone, "Blue")
    assert log(phone) == "colour Blue input change"
    assert node(phone, "colour").text == "Blue"
    tap(phone, "colour")
    phone.perform(Tap(20, 2300))
    assert node(phone, "colour").text == "Blue"


def test_a_long_select_scrolls_under_the_finger(phone: WebDevice) -> None:
    tap(phone, "many")
    middle = phone.hierarchy().windows[0].bounds.center
    phone.perform(Swipe(middle.x, middle.y + 500, middle.x, middle.y - 364))
    tap(phone, "Number 10")
    assert log(phone) == "many Number 10 input change"


def test_a_date_is_picked_and_set(phone: WebDevice) -> None:
    tap(phone, "day")
    pickers = [n for n in phone.hierarchy().nodes() if n.class_name.endswith("NumberPicker")]
    assert [p.children[1].text for p in pickers] == ["Jan", "31", "2024"]
    after = pickers[0].children[2].bounds.center
    phone.perform(Tap(after.x, after.y))
    tap(phone, "Set")
    assert log(phone) == "day 2024-02-29 input change"


def test_a_date_stays_within_the_bounds_of_its_field(phone: WebDevice) -> None:
    tap(phone, "bounded")

    def month() -> Node:
        return next(n for n in phone.hierarchy().nodes() if n.class_name.endswith("NumberPicker"))

    shown = []
    for part in (2, 2, 0):
        at = month().children[part].bounds.center
        phone.perform(Tap(at.x, at.y))
        shown.append([p.children[1].text for p in phone.hierarchy().nodes() if p.class_name.endswith("NumberPicker")])
    assert shown == [["Feb", "10", "2024"], ["Feb", "10", "2024"], ["Jan", "20", "2024"]]
    tap(phone, "Set")
    assert log(phone) == "bounded 2024-01-20"


def test_a_list_that_the_page_opens_itself_is_the_same_window(phone: WebDevice) -> None:
    tap(phone, "show")
    tap(phone, "Blue")
    assert log(phone) == "colour Blue input change"


def test_a_file_is_taken_in_the_systems_own_app_or_not(phone: WebDevice) -> None:
    tap(phone, "file")
    assert phone.state().package == system.DOCUMENTS_PACKAGE
    assert {n.package for n in phone.hierarchy().nodes()} == {system.DOCUMENTS_PACKAGE}
    assert pixels(phone.screenshot()).shape == (2400, 1080, 3)
    phone.perform(PressKey("back"))
    assert phone.state().package == APP and log(phone) == "ready"
    tap(phone, "file")
    tap(phone, "Note.txt")
    assert log(phone) == "file Note.txt A note."
    tap(phone, "press")
    assert log(phone) == "click"


# The app's life


def test_back_goes_through_the_history_and_then_leaves_the_app(phone: WebDevice) -> None:
    tap(phone, "page-two")
    assert log(phone) == "hash #two"
    phone.perform(PressKey("back"))
    assert log(phone) == "hash"
    phone.perform(PressKey("back"))
    assert phone.state().package == system.LAUNCHER_PACKAGE
    tap(phone, "Act")
    assert phone.state().package == APP and log(phone) == "hash"


def test_a_link_to_a_new_window_stays_in_the_page(phone: WebDevice) -> None:
    tap(phone, "elsewhere")
    assert log(phone) == "plain"
    phone.perform(PressKey("back"))
    assert log(phone) == "ready"


def test_home_keeps_the_app_close_stops_it_and_clear_forgets_its_data(phone: WebDevice) -> None:
    tap(phone, "store")
    phone.perform(PressKey("home"))
    assert {n.package for n in phone.hierarchy().nodes()} == {system.LAUNCHER_PACKAGE}
    assert pixels(phone.screenshot()).shape == (2400, 1080, 3)
    phone.perform(OpenApp(APP))
    assert log(phone) == "stored 1"
    phone.perform(CloseApp(APP))
    phone.perform(OpenApp(APP))
    assert log(phone) == "ready"
    tap(phone, "store")
    assert log(phone) == "stored 2"
    phone.clear_app(APP)
    assert phone.state().package == system.LAUNCHER_PACKAGE
    phone.perform(OpenApp(APP, url="?stored"))
    assert log(phone) == "stored nothing"
    with pytest.raises(ActionError, match="no app"):
        phone.perform(OpenApp("org.example.other"))


def test_the_clock_is_frozen_and_chance_repeats_where_asked(browser: Browser, site: str) -> None:
    words = []
    for seed in (7, 7, 8):
        with WebDevice(site + "act.html?chance", clock_ms=1_700_000_000_000, seed=seed, browser=browser) as phone:
            words.append(log(phone).split())
            assert phone.state().clock_ms == 1_700_000_000_000
    assert words[0][0] == "1700000000000"
    assert words[0] == words[1] != words[2]


def test_nothing_but_this_machine_is_reached(phone: WebDevice) -> None:
    tap(phone, "reach")
    for _ in range(50):
        phone.perform(Wait(20))
        if log(phone) != "ready":
            break
    assert log(phone) == "not reached"


def test_a_url_that_nobody_serves_says_what_to_do(browser: Browser) -> None:
    with pytest.raises(DeviceUnusable, match="cannot be loaded") as error:
        WebDevice(f"http://127.0.0.1:{free_port()}/", browser=browser)
    assert "server" in error.value.hint


def test_a_device_answers_its_own_thread_only(phone: WebDevice) -> None:
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            phone.hierarchy()
        except DeviceError as e:
            caught.append(e)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert len(caught) == 1 and "thread" in str(caught[0])


def test_a_device_may_be_closed_twice_and_is_then_lost(browser: Browser, site: str) -> None:
    phone = WebDevice(site + "act.html", browser=browser)
    phone.close()
    phone.close()
    with pytest.raises(DeviceLost):
        phone.hierarchy()


def test_a_browser_that_dies_is_a_device_lost(site: str) -> None:
    with WebDevice(site + "act.html") as phone:
        mine = [p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE and any("--type=renderer" in a for a in p.cmdline())]
        for process in mine:
            process.kill()
        psutil.wait_procs(mine, timeout=10)
        for ask in (phone.hierarchy, phone.screenshot, phone.state, lambda: phone.perform(Tap(100, 1000))):
            with pytest.raises(DeviceLost) as error:
                ask()
            assert error.value.hint


@pytest.mark.parametrize(
    ("url", "package"),
    [
        ("http://127.0.0.1:8000/", "org.phoneworld.web.port8000"),
        ("http://localhost/index.html", "org.phoneworld.web.port80"),
        ("http://127.0.0.1:8000/examples/vanillajs/", "org.phoneworld.web.vanillajs"),
        ("http://127.0.0.1:8000/2048/index.html", "org.phoneworld.web.app2048"),
        ("http://127.0.0.1:8000/My%20App!/", "org.phoneworld.web.my_20app"),
    ],
)
def test_a_url_makes_a_valid_package_name(url: str, package: str) -> None:
    assert package_of(url) == package


# Real apps


def test_the_notes_app_is_used_from_its_list_to_a_new_note(browser: Browser) -> None:
    with served(NOTES) as url, WebDevice(url, package="org.example.notes", browser=browser) as phone:
        before = [n.text for n in phone.hierarchy().nodes()]
        assert "5 notes, 1 done" in before
        tap(phone, "New note")
        fields = [n for n in phone.hierarchy().nodes() if n.is_editable]
        at = fields[0].bounds.center
        phone.perform(TypeText("Bake bread", at.x, at.y))
        assert any(n.text == "Bake bread" for n in phone.hierarchy().nodes() if n.is_editable)
        assert phone.state().keyboard


def test_todomvc_takes_a_todo(browser: Browser) -> None:
    with served(todomvc().parent.parent) as url, WebDevice(url + "examples/vanillajs/", browser=browser) as phone:
        at = next(n for n in phone.hierarchy().nodes() if n.is_editable).bounds.center
        phone.perform(Tap(at.x, at.y))
        phone.perform(TypeText("buy milk"))
        phone.perform(PressKey("enter"))
        words = [n.text for n in phone.hierarchy().nodes()]
        assert "buy milk" in words
        box = next(n for n in phone.hierarchy().nodes() if n.class_name.endswith("CheckBox") and not n.checked and n.bounds.top > at.y)
        phone.perform(Tap(box.bounds.center.x, box.bounds.center.y))
        assert any(n.checked for n in phone.hierarchy().nodes())


def test_points_are_pixels_of_the_picture() -> None:
    screen = Screen(SIZE, DENSITY)
    assert screen.on_page(Point(0, 72)) == (0.5 / 3, 0.5 / 3)
