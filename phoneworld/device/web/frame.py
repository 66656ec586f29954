"""Where things lie on the phone's screen, and the native views of an Android app around its WebView, as dumps have them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen in pixels, its density, and what both are in CSS pixels."""

    size: Size
    density: int
    bar: int = 0
    """The height of a native title bar between the status bar and the content, in pixels."""

    @property
    def dpr(self) -> float:
        """Pixels a CSS pixel."""
        return self.density / 160

    @property
    def css_size(self) -> Size:
        return Size(math.ceil(self.size.width / self.dpr), math.ceil(self.size.height / self.dpr))

    @property
    def top(self) -> int:
        """Where the content begins, in pixels: under the status bar and the title bar."""
        return system.status_bar_height(self.density) + self.bar

    @property
    def keyboard(self) -> Bounds:
        """Where the soft keyboard lies when it is up."""
        return system.keyboard_bounds(self.size, self.density)

    def content(self, *, keyboard: bool) -> Bounds:
        """Where the app's content lies: under the bars, above the keyboard (adjustResize)."""
        return Bounds(0, self.top, self.size.width, self.keyboard.top if keyboard else self.size.height)

    def css_viewport(self, *, keyboard: bool) -> Size:
        """The viewport of the page in CSS pixels; at a broken density it reaches a fraction of a pixel past the content."""
        box = self.content(keyboard=keyboard)
        return Size(math.ceil(box.width / self.dpr), math.ceil(box.height / self.dpr))

    def on_page(self, point: Point) -> tuple[float, float]:
        """The middle of a pixel of the screen, in CSS pixels of the page's viewport."""
        return ((point.x + 0.5) / self.dpr, (point.y + 0.5 - self.top) / self.dpr)


def app_window(web: Node, screen: Screen, package: str, *, keyboard: bool, bar: Node | None = None) -> Hierarchy:
    """The window of an activity whose content is one WebView showing `web`, under a title bar where it has one."""
    content = screen.content(keyboard=keyboard)
    top = system.status_bar_height(screen.density)
    whole = Bounds(0, top, content.right, content.bottom)
    view = Node(
        "android.webkit.WebView", resource_id=f"{package}:id/webview", package=package, bounds=content, children=(replace(web, index=0),)
    )
    inside = (view,) if bar is None else (bar, replace(view, index=1))
    frame = Node("android.widget.FrameLayout", resource_id="android:id/content", package=package, bounds=whole, children=inside)
    column = Node("android.widget.LinearLayout", package=package, bounds=Bounds(0, 0, content.right, content.bottom), children=(frame,))
    behind = Node(
        "android.view.View", resource_id="android:id/statusBarBackground", package=package, index=1,
        bounds=Bounds(0, 0, content.right, top),
    )  # fmt: skip
    return Hierarchy((Node("android.widget.FrameLayout", package=package, bounds=screen.size.bounds, children=(column, behind)),))
