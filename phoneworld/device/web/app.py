"""One page while it runs, as an app or a mini-app: with its keyboard, native windows and bars. Knows no launcher.

What the page does by itself (a dialog from a timer, a move of the focus) is taken in by `look`, which every question and
every input begins with. A JavaScript dialog blocks the page until it is answered: see `page.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias, assert_never
from urllib.parse import urlsplit

from phoneworld.device.web import native, touch
from phoneworld.device.web.android import Placement, Profile, android_tree
from phoneworld.device.web.axtree import read_page
from phoneworld.device.web.frame import Screen, app_window
from phoneworld.device.web.page import DialogOpen, WebPage
from phoneworld.errors import CaptureFailed, DeviceError
from phoneworld.ui import mini, system
from phoneworld.ui.action import DoubleTap, Drag, Key, LongPress, Pinch, Swipe, Tap, points_of
from phoneworld.ui.geometry import Point
from phoneworld.ui.node import Hierarchy, Node

PointGesture: TypeAlias = Tap | DoubleTap | LongPress | Swipe | Drag | Pinch

CLOSE, RESTART = "close", "restart"
"""What a mini-app's capsule asks for; any other wish is the URL of a mini-app to open."""
_DRAG_HOLD_MS = 550


class WebApp:
    """One running app. `now` tells the time that an empty date picker starts at.

    Where the screen has a title bar it is a mini-app: `wish` then says that it asks to be closed, and where any page asks for
    the mini-app at a URL, that URL.
    """

    def __init__(self, page: WebPage, screen: Screen, package: str, profile: Profile, now: Callable[[], datetime]) -> None:
        self.page = page
        self.keyboard = False
        self.layer: system.Layer = "lower"
        self.window: native.Window | None = None
        self.wish = ""
        self._title = ""
        self._can_go_back = False
        self._screen = screen
        self._package = package
        self._profile: Profile = profile
        self._now = now
        self._window_context = 0
        self._field = 0
        self._document = 0.0
        self._touched = False
        self._picture: bytes | None = None
        self._fit()

    # What it shows

    @property
    def screen(self) -> Screen:
        """Where its content lies."""
        return self._screen

    def stored(self) -> dict[str, str]:
        """What its page keeps in `localStorage`. Raises CaptureFailed under a dialog of the page, which holds it."""
        try:
            return dict(json.loads(self.page.evaluate("JSON.stringify({...localStorage})") or "{}"))
        except DialogOpen:
            self.adopt_dialog()
            raise CaptureFailed("a dialog holds the page, which tells nothing", code="DIALOG", hint="answer the dialog first") from None

    def tree(self) -> Hierarchy:
        """The active window: the app with its web content, or the native window over it."""
        self.look()
        if self.window is None:
            try:
                root = read_page(self.page.capture())
            except DialogOpen:
                self.adopt_dialog()
            else:
                if root is None:
                    raise CaptureFailed("the page has no document yet", code="NULL_ROOT", hint="wait for it to load")
                place = Placement(self._screen.content(keyboard=self.keyboard), self._screen.dpr)
                web = android_tree(root, place, package=self._package, profile=self._profile)
                return app_window(web, self._screen, self._package, keyboard=self.keyboard, bar=self.bar())
        if (window := self.window_tree()) is None:
            raise CaptureFailed("the native window closed while it was read", code="NULL_ROOT", hint="try again")
        return window

    def window_tree(self) -> Hierarchy | None:
        """The native window, None where there is none."""
        if self.window is None:
            return None
        return native.tree_of(self.window, self._screen.size, self._screen.density, self._package)

    def bar(self) -> Node | None:
        """The title bar of a mini-app, as it was at the last look."""
        if not self._screen.bar:
            return None
        return mini.title_bar(self._screen.size, self._screen.density, self._title, self._package, can_go_back=self._can_go_back)

    def picture(self) -> bytes | None:
        """A PNG of the page; under a JavaScript dialog the last one asked for before it, if any, since the page is blocked."""
        self.look()
        if not isinstance(self.window, native.Message):
            try:
                self._picture = self.page.picture()
            except DialogOpen:
                self.adopt_dialog()
        return self._picture

    def look(self) -> None:
        """Takes in what the page did by itself: dialogs, new windows, popups, moves of the focus."""
        try:
            if self.page.dialog is None and not isinstance(self.window, native.Message):
                self.page.follow_popups()
                self._take_reports(tapped=False)
                if self._screen.bar:
                    self._title, self._can_go_back = self.page.title(), self.page.can_go_back()
        except DialogOpen:
            pass
        if self.page.dialog is not None:
            self.adopt_dialog()

    def adopt_dialog(self) -> None:
        """Shows the JavaScript dialog that is open as a native window."""
        dialog = self.page.dialog
        if dialog is None or isinstance(self.window, native.Message):
            return
        kind: native.MessageKind
        match dialog.type:
            case "alert" | "confirm" | "prompt" | "beforeunload" as kind:
                pass
            case other:
                raise DeviceError(f"Chromium opened a dialog of the unknown type {other!r}", hint="update phoneworld")
        self.keyboard = False
        if kind == "beforeunload":
            self.window = native.Message(kind, "Confirm Navigation", dialog.message or "Changes that you made may not be saved.")
            return
        parts = urlsplit(self.page.url)
        title = f'The page at "{parts.scheme}://{parts.netloc}" says:'
        self.window = native.Message(kind, title, dialog.message, dialog.default_value if kind == "prompt" else None)

    # What is done to it

    def gesture(self, action: PointGesture) -> None:
        """Fingers on the keyboard, on the native window, or on the page. The status bar takes none."""
        self.look()
        start = points_of(action)[0]
        if self.keyboard and self._screen.keyboard.contains(start):
            for _ in range(2 if isinstance(action, DoubleTap) else 1 if isinstance(action, Tap | LongPress) else 0):
                self._tap_key(start)
        elif self.window is not None:
            self._touch_window(self.window, action)
        elif start.y < self._screen.top:
            if isinstance(action, Tap | DoubleTap | LongPress):
                self._tap_bar(start)
        else:
            self._touched = True
            at = self._screen.on_page(start)
            match action:
                case Tap():
                    touch.tap(self.page, at)
                case DoubleTap():
                    touch.double_tap(self.page, at)
                case LongPress(_, _, duration_ms):
                    touch.long_press(self.page, at, duration_ms)
                case Swipe(_, _, x2, y2, duration_ms):
                    touch.swipe(self.page, at, self._screen.on_page(Point(x2, y2)), duration_ms)
                case Drag(_, _, x2, y2, duration_ms):
                    touch.swipe(self.page, at, self._screen.on_page(Point(x2, y2)), duration_ms, hold_ms=_DRAG_HOLD_MS)
                case Pinch(_, _, scale, duration_ms):
                    touch.pinch(self.page, at, scale, duration_ms)
                case _:
                    assert_never(action)
            self.page.follow_popups()
            self._take_reports(tapped=True)

    def press(self, key: Key) -> None:
        """A key that goes to the app; the system's own keys do nothing here."""
        self.look()
        if self.window is not None:
            if key == "escape":
                self._answer(native.Answer(False))
            elif key == "enter" and isinstance(self.window, native.Message):
                self._answer(native.Answer(True, self.window.field or ""))
            elif key == "backspace":
                self.window = native.erase(self.window)
            return
        self._touched = True
        touch.press_key(self.page, key)
        self._take_reports(tapped=True)

    def back(self) -> bool:
        """Hides the keyboard, else closes the native window, else goes back in the history; False where the app is left."""
        self.look()
        if self.keyboard:
            self._show_keyboard(False)
        elif self.window is not None:
            self._answer(native.Answer(False))
        else:
            return self.page.go_back()
        return True

    def type(self, text: str, *, replacing: bool, at_end: bool = True) -> None:
        """Types into what has the focus: in place of all, at its end, or where the caret is."""
        self.look()
        if self.window is not None:
            self.window = native.type_into(self.window, text, replacing=replacing)
            return
        self._touched = True
        if replacing:
            if self.page.evaluate("phoneworld.selectAll()") and not text:
                touch.press_key(self.page, "backspace")
        elif at_end:
            self.page.evaluate("phoneworld.caretToEnd()")
        touch.type_text(self.page, text)
        self._take_reports(tapped=False)

    def leave(self) -> None:
        """Another app comes to the front: the keyboard goes."""
        self._show_keyboard(False)

    # Inside

    def _take_reports(self, *, tapped: bool) -> None:
        """Reads what the isolated world reported; then shows or hides the keyboard as Android would."""
        field_tapped = False
        for context_id, report in self.page.take_reports():
            if report.get("kind") == "field":
                field_tapped = True
            elif report.get("kind") == "mini":
                self.wish = str(report.get("url", ""))
            elif (window := native.window_of(report, self._now())) is not None:
                self.window, self._window_context = window, context_id
        field, document = self.page.focused_field()
        if document != self._document:
            # A new document may focus a field by itself: a WebView shows no keyboard until it has been touched.
            self._document, self._touched = document, tapped and field_tapped
            self._field = field if not self._touched else 0
        if not field:
            self._show_keyboard(False)
        elif (tapped and field_tapped) or (field != self._field and self._touched):
            self._show_keyboard(True)
        self._field = field

    def _show_keyboard(self, shown: bool) -> None:
        """Shows or hides the keyboard; the page is resized to what is left, and the field brought into view."""
        if shown == self.keyboard:
            return
        self.keyboard, self.layer = shown, "lower"
        if self.page.dialog is None:
            self._fit()
            if shown:
                self.page.evaluate("phoneworld.reveal()")

    def _fit(self) -> None:
        self.page.set_viewport(self._screen.css_viewport(keyboard=self.keyboard), self._screen.css_size, self._screen.dpr)

    def _touch_window(self, window: native.Window, action: PointGesture) -> None:
        size, density, start = self._screen.size, self._screen.density, points_of(action)[0]
        match action:
            case Swipe() | Drag():
                self.window = native.drag(window, size, density, start, Point(action.x2, action.y2)) or window
            case Tap() | DoubleTap() | LongPress():
                outcome = native.tap(window, size, density, start)
                if isinstance(outcome, native.Answer):
                    self._answer(outcome)
                elif outcome is not None:
                    self.window = outcome
                elif isinstance(window, native.Message) and native.is_field(window, size, density, start):
                    self.keyboard, self.layer = True, "lower"
            case Pinch():
                return
            case _:
                assert_never(action)

    def _tap_bar(self, point: Point) -> None:
        match mini.bar_part_at(self._screen.size, self._screen.density, point, can_go_back=self._can_go_back) if self._screen.bar else None:
            case "back":
                self.page.go_back()
            case "menu":
                self._show_keyboard(False)
                self.window = native.MiniMenu()
            case "close":
                self.wish = CLOSE
            case None:
                return

    def _answer(self, answer: native.Answer) -> None:
        """Closes the native window and tells the page what was chosen."""
        window, self.window = self.window, None
        if isinstance(window, native.MiniMenu):
            if answer.accepted:
                self.wish = (RESTART, CLOSE, "")[int(answer.value)]
            return
        if isinstance(window, native.Files):
            if answer.accepted:
                self.page.choose_file(*native.FILES[int(answer.value)])
            return
        if isinstance(window, native.Message):
            self.keyboard = False
            self.page.answer_dialog(answer.accepted, str(answer.value))
            # The page's script runs on from here. Once it answers a call its next dialog, if any, is known too.
            self.page.evaluate("0")
        elif answer.accepted:
            call = f"choose({answer.value})" if isinstance(answer.value, int) else f"fill({json.dumps(answer.value)})"
            self.page.run(f"phoneworld.{call}", self._window_context)
        self._take_reports(tapped=True)

    def _tap_key(self, point: Point) -> None:
        match system.key_at(self._screen.size, self._screen.density, point, self.layer):
            case None:
                return
            case "hide":
                self._show_keyboard(False)
            case "shift":
                self.layer = "lower" if self.layer == "upper" else "upper"
            case "symbols":
                self.layer = "symbols"
            case "letters":
                self.layer = "lower"
            case "backspace":
                self.press("backspace")
            case "enter":
                self.press("enter")
            case character:
                if self.layer == "upper":
                    self.layer = "lower"
                self.type(character, replacing=False, at_end=False)
