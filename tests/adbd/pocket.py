"""A small whole phone in memory for the tests of the adb face: a launcher and one app with a counter and two fields.

It is a real Device: its tree, its picture and its state are all drawn from the same values, and it can be put back.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace

from PIL import Image, ImageDraw

from phoneworld.device.device import InstalledApp
from phoneworld.errors import ActionError, CaptureFailed, DeviceError, DeviceLost, SessionError
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    check_on_screen,
    kind_of,
)
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

PACKAGE = "org.example.pocket"
ACTIVITY = f"{PACKAGE}.MainActivity"
OTHER = "org.example.other"
LAUNCHER = "com.android.launcher3"
PLUS, NAME, NOTE, LABEL = (
    Bounds(100, 400, 500, 520),
    Bounds(100, 600, 620, 700),
    Bounds(100, 800, 620, 1000),
    Bounds(100, 200, 620, 300),
)


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything the phone remembers."""

    front: str = LAUNCHER
    count: int = 0
    fields: tuple[str, str] = ("", "")
    focus: int | None = None
    keyboard: bool = False
    url: str = ""
    seed: int = 0


@dataclass(slots=True)
class PocketPhone:
    """The phone. `events` are the actions it was asked for; `faults` are raised by the next looks at the screen."""

    serial: str = "pocket:1"
    memory: Memory = field(default_factory=Memory)
    events: list[Action] = field(default_factory=list)
    faults: list[CaptureFailed] = field(default_factory=list)
    before_picture: bytes = b""
    lost: bool = False
    closed: bool = False
    rotation: int = 0
    kept: dict[str, Memory] = field(default_factory=dict)

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo(
            Size(720, 1280),
            density=320,
            model="Pocket One",
            manufacturer="Example",
            android="14",
            sdk=34,
            locale="en-GB",
            timezone="Europe/Berlin",
        )

    def _look(self) -> None:
        if self.lost:
            raise DeviceLost("the pocket phone is gone")
        if self.faults:
            raise self.faults.pop(0)

    def state(self) -> DeviceState:
        if self.lost:
            raise DeviceLost("the pocket phone is gone")
        m = self.memory
        activity = ACTIVITY if m.front == PACKAGE else f"{m.front}.Launcher"
        return DeviceState(m.front, activity, m.keyboard, self.rotation, 1_767_225_600_123)

    def hierarchy(self) -> Hierarchy:
        self._look()
        m = self.memory
        if m.front != PACKAGE:
            icon = Node(
                "android.widget.TextView",
                text="Pocket",
                package=LAUNCHER,
                clickable=True,
                bounds=Bounds(40, 100, 200, 300),
            )
            return Hierarchy(
                (
                    Node(
                        "android.widget.FrameLayout", package=m.front, bounds=Bounds(0, 0, 720, 1280), children=(icon,)
                    ),
                ),
                rotation=self.rotation,
            )

        def edit(i: int, name: str, bounds: Bounds) -> Node:
            return Node(
                "android.widget.EditText", text=m.fields[i], resource_id=f"{PACKAGE}:id/{name}", package=PACKAGE, clickable=True,
                focusable=True, focused=m.focus == i, bounds=bounds, index=i + 2,
            )  # fmt: skip

        children = (
            Node(
                "android.widget.TextView",
                text=f"Count {m.count}" + (f" {m.url}" if m.url else ""),
                resource_id=f"{PACKAGE}:id/count",
                package=PACKAGE,
                bounds=LABEL,
            ),
            Node(
                "android.widget.Button",
                text="Plus",
                resource_id=f"{PACKAGE}:id/plus",
                package=PACKAGE,
                clickable=True,
                bounds=PLUS,
                index=1,
            ),
            edit(0, "name", NAME),
            edit(1, "note", NOTE),
        )
        column = Node("android.widget.LinearLayout", package=PACKAGE, bounds=Bounds(0, 0, 720, 1280), children=children)
        return Hierarchy(
            (Node("android.widget.FrameLayout", package=PACKAGE, bounds=Bounds(0, 0, 720, 1280), children=(column,)),),
            rotation=self.rotation,
        )

    def screenshot(self) -> bytes:
        self._look()
        size = (1280, 720) if self.rotation % 2 else (720, 1280)
        image = Image.new("RGB", size, "white")
        draw = ImageDraw.Draw(image)
        for node in self.hierarchy().nodes():
            b = node.bounds
            draw.rectangle((b.left, b.top, b.right - 1, b.bottom - 1), outline="black")
            draw.text((b.left + 4, b.top + 4), node.text.encode("ascii", "replace"), fill="black")
        out = io.BytesIO()
        image.save(out, "PNG", compress_level=1)
        return self.before_picture + out.getvalue()

    def _set_field(self, text: str, *, keep: bool) -> None:
        m = self.memory
        if m.focus is None or m.front != PACKAGE:
            raise ActionError("nothing has the focus", hint="tap a field first")
        fields = list(m.fields)
        fields[m.focus] = (fields[m.focus] if keep else "") + text
        self.memory = replace(m, fields=(fields[0], fields[1]))

    def perform(self, action: Action) -> None:
        if self.lost:
            raise DeviceLost("the pocket phone is gone")
        self.events.append(action)
        size = self.info.size
        check_on_screen(action, Size(size.height, size.width) if self.rotation % 2 else size)
        m = self.memory
        match action:
            case Tap() | DoubleTap() | LongPress() | Swipe() | Drag() | Pinch():
                self._touch(action)
            case TypeText(text, x, y, mode):
                if x is not None and y is not None:
                    self._touch(Tap(x, y))
                self._set_field(text, keep=mode == "append")
            case Clear(x, y):
                if x is not None and y is not None:
                    self._touch(Tap(x, y))
                self._set_field("", keep=False)
            case PressKey("back"):
                self.memory = replace(m, keyboard=False) if m.keyboard else replace(m, front=LAUNCHER, focus=None)
            case PressKey("home"):
                self.memory = replace(m, front=LAUNCHER, keyboard=False, focus=None)
            case PressKey("enter"):
                if m.focus == 1:
                    self._set_field("\n", keep=True)
                elif m.focus == 0:
                    self.memory = replace(m, keyboard=False)
            case PressKey("space"):
                self._set_field(" ", keep=True)
            case PressKey("backspace"):
                if m.focus is not None:
                    self._set_field(m.fields[m.focus][:-1], keep=False)
            case OpenApp(package, activity, url):
                if (
                    package != PACKAGE
                    or (activity and activity != ACTIVITY)
                    or (url and not url.startswith(("app://", "https://")))
                ):
                    raise ActionError(f"nothing opens {package} {activity} {url}".strip())
                self.memory = replace(m, front=PACKAGE, url=url)
            case CloseApp(package):
                if package == m.front:
                    self.memory = replace(m, front=LAUNCHER, focus=None, keyboard=False, url="")
            case PressKey() | Wait() | Answer() | Ask() | Finish():
                return
            case _:
                raise DeviceError(f"a pocket phone cannot {kind_of(action)}")

    def _touch(self, action: Tap | DoubleTap | LongPress | Swipe | Drag | Pinch) -> None:
        m, tree = self.memory, self.hierarchy()
        if isinstance(action, Swipe | Drag | Pinch):
            return
        hit = tree.hit_test(Bounds(action.x, action.y, action.x, action.y).center, "tap")
        node = tree.at(hit.target) if hit and hit.target else None
        if node is None:
            return
        if node.text == "Pocket":
            self.memory = replace(m, front=PACKAGE)
        elif node.bounds == PLUS:
            self.memory = replace(
                m, count=m.count + (10 if isinstance(action, LongPress) else 2 if isinstance(action, DoubleTap) else 1)
            )
        else:
            self.memory = replace(m, focus=0 if node.bounds == NAME else 1, keyboard=True)

    def apps(self) -> tuple[InstalledApp, ...]:
        return (InstalledApp(PACKAGE, "Pocket", ACTIVITY),)

    def clear_app(self, package: str) -> None:
        self.memory = Memory(seed=self.memory.seed)

    def close(self) -> None:
        self.closed = True

    def reset(self, seed: int | None = None) -> None:
        self.memory = Memory(seed=seed or 0, count=seed or 0)

    def snapshot(self) -> str:
        name = f"s{len(self.kept)}"
        self.kept[name] = self.memory
        return name

    def restore(self, snapshot: str) -> None:
        if snapshot not in self.kept:
            raise SessionError(f"no state is kept under the name {snapshot!r}")
        self.memory = self.kept[snapshot]
