"""The native views of an Android app around its WebView, as dumps have them."""

from __future__ import annotations

from dataclasses import replace

from phoneworld.ui import system
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node


def content_bounds(size: Size, density: int, *, keyboard: bool) -> Bounds:
    """Where the app's content lies: under the status bar, above the keyboard (adjustResize)."""
    bottom = system.keyboard_bounds(size, density).top if keyboard else size.height
    return Bounds(0, system.status_bar_height(density), size.width, bottom)


def app_window(web: Node, size: Size, density: int, package: str, *, keyboard: bool) -> Hierarchy:
    """The window of an activity whose content is one WebView showing `web`."""
    content = content_bounds(size, density, keyboard=keyboard)
    view = Node(
        "android.webkit.WebView", resource_id=f"{package}:id/webview", package=package, bounds=content, children=(replace(web, index=0),)
    )
    frame = Node("android.widget.FrameLayout", resource_id="android:id/content", package=package, bounds=content, children=(view,))
    column = Node("android.widget.LinearLayout", package=package, bounds=Bounds(0, 0, size.width, content.bottom), children=(frame,))
    bar = Node(
        "android.view.View", resource_id="android:id/statusBarBackground", package=package, index=1,
        bounds=Bounds(0, 0, size.width, content.top),
    )  # fmt: skip
    return Hierarchy((Node("android.widget.FrameLayout", package=package, bounds=size.bounds, children=(column, bar)),))
