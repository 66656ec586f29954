"""The methods of `/jsonrpc/0`, one function each. What this phone cannot do is an error in words, never a silent True."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from PIL import Image

from phoneworld.adbd.commands.inputs import gesture, motion, perform, press, type_text
from phoneworld.adbd.commands.screen import compress
from phoneworld.adbd.uia2.screen import Look, Named, Screen
from phoneworld.errors import ActionError, CaptureFailed, DeviceError
from phoneworld.ui.action import Action, Clear, Drag, Pinch, PressKey, Swipe, TypeText
from phoneworld.ui.geometry import Bounds, Point
from phoneworld.ui.keys import code_named
from phoneworld.ui.node import Node, Path
from phoneworld.ui.xml import write_hierarchy

Method = Callable[..., Awaitable[Any]]
METHODS: dict[str, Method] = {}
STEP_MS = 5
"""UiDevice injects a move every 5 ms."""
_LONG_CLICK_MS = 500
_FLING_MS, _SCROLL_MARGIN = 60, 0.1
_MOST_SWIPES = 500
_KEYS = {
    "home": "HOME", "back": "BACK", "left": "DPAD_LEFT", "right": "DPAD_RIGHT", "up": "DPAD_UP", "down": "DPAD_DOWN",
    "center": "DPAD_CENTER", "menu": "MENU", "search": "SEARCH", "enter": "ENTER", "delete": "DEL", "del": "DEL",
    "recent": "APP_SWITCH", "volume_up": "VOLUME_UP", "volume_down": "VOLUME_DOWN", "volume_mute": "VOLUME_MUTE",
    "camera": "CAMERA", "power": "POWER", "space": "SPACE",
}  # fmt: skip


def method(*names: str) -> Callable[[Method], Method]:
    """Registers `async def run(screen, *params)` under these names."""

    def register(function: Method) -> Method:
        for name in names:
            METHODS[name] = function
        return function

    return register


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ActionError(f"expected a number, found {str(value)[:40]!r}")
    return int(value)


def _point(x: Any, y: Any) -> Point:
    return Point(_number(x), _number(y))


def _rectangle(bounds: Bounds) -> dict[str, int]:
    return {"bottom": bounds.bottom, "left": bounds.left, "right": bounds.right, "top": bounds.top}


def _told(look: Look, path: Path) -> dict[str, Any]:
    node: Node = look.tree.at(path)
    return {
        "bounds": _rectangle(node.bounds), "visibleBounds": _rectangle(look.shown(path)), "childCount": len(node.children),
        "className": node.class_name, "contentDescription": node.content_desc, "packageName": node.package,
        "resourceName": node.resource_id or None, "text": node.text, "checkable": node.checkable, "checked": node.checked,
        "clickable": node.clickable, "enabled": node.enabled, "focusable": node.focusable, "focused": node.focused,
        "longClickable": node.long_clickable, "scrollable": node.scrollable, "selected": node.selected,
    }  # fmt: skip


async def _touch(screen: Screen, start: Point, end: Point, ms: int) -> bool:
    await perform(screen.phone, gesture(screen.phone.info.density, start, end, ms))
    return True


async def _did(screen: Screen, action: Action) -> bool:
    await perform(screen.phone, action)
    return True


# --- looking ----------------------------------------------------------------------------------------------------------


@method("deviceInfo")
async def device_info(screen: Screen) -> dict[str, Any]:
    phone = screen.phone
    look_state = await phone.owner.call(lambda device: device.state())
    info = phone.info
    size = (info.size.height, info.size.width) if look_state.rotation % 2 else (info.size.width, info.size.height)
    scale = 160 / info.density
    return {
        "currentPackageName": look_state.package, "displayWidth": size[0], "displayHeight": size[1],
        "displayRotation": look_state.rotation, "displaySizeDpX": round(size[0] * scale), "displaySizeDpY": round(size[1] * scale),
        "productName": phone.properties["ro.product.name"], "screenOn": True, "sdkInt": int(phone.properties["ro.build.version.sdk"]),
        "naturalOrientation": look_state.rotation == 0,
    }  # fmt: skip


@method("dumpWindowHierarchy")
async def dump(screen: Screen, compressed: Any = False, deepest: Any = None, root_in_active: Any = None) -> str:
    tree = (await screen.look()).tree
    if compressed:
        tree = compress(tree)
    if root_in_active and tree.windows:
        tree = replace(tree, windows=(min(tree.windows, key=lambda w: w.bounds.area),))
    if isinstance(deepest, int) and not isinstance(deepest, bool):
        tree = replace(tree, windows=tuple(_cut(window, deepest) for window in tree.windows))
    return write_hierarchy(tree).decode()


def _cut(node: Node, levels: int) -> Node:
    return replace(node, children=tuple(_cut(child, levels - 1) for child in node.children) if levels > 1 else ())


@method("takeScreenshot")
async def screenshot(screen: Screen, scale: Any = 1, quality: Any = 80) -> str | None:
    """A JPEG in base64, or None where the screen cannot be photographed: the client then asks screencap."""
    try:
        png = await screen.phone.owner.call(lambda device: device.screenshot())
    except CaptureFailed:
        return None
    with Image.open(io.BytesIO(png)) as image:
        smaller = scale if isinstance(scale, float) and 0 < scale < 1 else 1
        size = (max(1, int(image.width * smaller)), max(1, int(image.height * smaller)))
        out = io.BytesIO()
        image.convert("RGB").resize(size).save(out, "JPEG", quality=min(95, max(1, _number(quality))))
    return base64.b64encode(out.getvalue()).decode()


@method("objInfo")
async def obj_info(screen: Screen, selector: Any) -> dict[str, Any]:
    look, path, _ = await screen.find_one(selector)
    return _told(look, path)


@method("objInfoOfAllInstances")
async def obj_info_all(screen: Screen, selector: Any) -> list[dict[str, Any]]:
    look, paths = await screen.find_all(selector)
    return [_told(look, path) for path in paths]


@method("exist", "exists")
async def exist(screen: Screen, selector: Any) -> bool:
    return bool((await screen.find_all(selector))[1])


@method("count")
async def count(screen: Screen, selector: Any) -> int:
    return len((await screen.find_all(selector))[1])


@method("getText")
async def get_text(screen: Screen, selector: Any) -> str:
    return (await screen.find_one(selector))[2].text


@method("waitForExists")
async def wait_for(screen: Screen, selector: Any, timeout_ms: Any = 0) -> bool:
    return await screen.wait(selector, _number(timeout_ms))


@method("waitUntilGone")
async def wait_gone(screen: Screen, selector: Any, timeout_ms: Any = 0) -> bool:
    return await screen.wait(selector, _number(timeout_ms), gone=True)


@method("waitForIdle")
async def wait_idle(screen: Screen, timeout_ms: Any = 0) -> None:
    await screen.look()


def _child(name: str, field: str) -> None:
    @method(name)
    async def child(screen: Screen, parent: Any, selector: Any, what: Any, scroll: Any = False) -> str:
        if not isinstance(selector, dict):
            raise ActionError("the child of a widget is named by a selector")
        wanted = {"instance": _number(what)} if field == "instance" else {field: str(what)}
        return await screen.keep(Named(parent, selector, **wanted))


_child("childByText", "text")
_child("childByDescription", "description")
_child("childByInstance", "instance")


# --- touching ---------------------------------------------------------------------------------------------------------


@method("click")
async def click(screen: Screen, first: Any, second: Any = None, ms: Any = 0) -> bool:
    """`click(x, y[, ms])` and `click(selector[, corner])`."""
    if isinstance(first, dict | str):
        at = await screen.middle(first)
        return await _touch(screen, at, at, 0)
    at = _point(first, second)
    return await _touch(screen, at, at, _number(ms))


@method("longClick")
async def long_click(screen: Screen, selector: Any, corner: Any = None) -> bool:
    at = await screen.middle(selector)
    return await _touch(screen, at, at, _LONG_CLICK_MS)


@method("clickAndWaitForNewWindow")
async def click_and_wait(screen: Screen, selector: Any, timeout_ms: Any = 0) -> bool:
    """True where the click brought another window: another activity, or another number of windows."""
    before = await screen.look()
    await click(screen, selector)
    after = await screen.look()
    return (before.state.activity, len(before.tree.windows)) != (after.state.activity, len(after.tree.windows))


@method("swipe")
async def swipe(screen: Screen, first: Any, *rest: Any) -> bool:
    """`swipe(x, y, x2, y2, steps)` and `swipe(selector, direction[, percent], steps)`."""
    if not isinstance(first, dict | str):
        if len(rest) != 4:
            raise ActionError("swipe takes x, y, x2, y2, steps")
        start, end = _point(first, rest[0]), _point(rest[1], rest[2])
        return await _touch(screen, start, end, _number(rest[3]) * STEP_MS)
    look, path, _ = await screen.find_one(first)
    area, start = look.shown(path), look.shown(path).center
    ends = {
        "up": Point(start.x, area.top), "down": Point(start.x, area.bottom - 1),
        "left": Point(area.left, start.y), "right": Point(area.right - 1, start.y),
    }  # fmt: skip
    if not rest or str(rest[0]).lower() not in ends:
        raise ActionError("a widget is swiped up, down, left or right")
    return await _touch(screen, start, ends[str(rest[0]).lower()], _number(rest[-1]) * STEP_MS if len(rest) > 1 else 300)


@method("swipePoints")
async def swipe_points(screen: Screen, flat: Any, steps: Any) -> bool:
    """A straight path. One with corners (an unlock pattern) is refused: no gesture of this phone has corners."""
    if not isinstance(flat, list) or len(flat) < 4 or len(flat) % 2:
        raise ActionError("swipePoints takes a list of x, y, x, y, ...")
    points = [_point(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    start, end = points[0], points[-1]
    length = math.dist((start.x, start.y), (end.x, end.y)) or 1.0
    for p in points[1:-1]:
        off = abs((end.x - start.x) * (start.y - p.y) - (start.x - p.x) * (end.y - start.y)) / length
        if off > 8 * screen.phone.info.density / 160:
            raise DeviceError("this phone takes straight paths of a finger only", hint="one swipe for each line")
    return await _touch(screen, start, end, _number(steps) * STEP_MS * (len(points) - 1))


@method("drag")
async def drag(screen: Screen, x: Any, y: Any, x2: Any, y2: Any, steps: Any) -> bool:
    return await _did(screen, Drag(_number(x), _number(y), _number(x2), _number(y2), max(1, _number(steps) * STEP_MS)))


@method("dragTo")
async def drag_to(screen: Screen, selector: Any, *rest: Any) -> bool:
    """`dragTo(selector, x, y, steps)` and `dragTo(selector, selector, steps)`."""
    start = await screen.middle(selector)
    if rest and isinstance(rest[0], dict | str):
        end, steps = await screen.middle(rest[0]), rest[1] if len(rest) > 1 else 100
    elif len(rest) >= 2:
        end, steps = _point(rest[0], rest[1]), rest[2] if len(rest) > 2 else 100
    else:
        raise ActionError("dragTo takes a place or a selector")
    return await _did(screen, Drag(start.x, start.y, end.x, end.y, max(1, _number(steps) * STEP_MS)))


@method("injectInputEvent")
async def inject(screen: Screen, action: Any, x: Any, y: Any, meta: Any = 0) -> bool:
    verb = {0: "DOWN", 1: "UP", 2: "MOVE"}.get(_number(action))
    if verb is None:
        raise ActionError(f"a motion event is 0 (down), 1 (up) or 2 (move), found {str(action)[:20]}")
    await motion(screen.phone, verb, _point(x, y))
    return True


async def _pinch(screen: Screen, selector: Any, scale: float, steps: Any) -> bool:
    at = await screen.middle(selector)
    return await _did(screen, Pinch(at.x, at.y, scale, max(1, _number(steps) * STEP_MS)))


@method("pinchIn")
async def pinch_in(screen: Screen, selector: Any, percent: Any = 100, steps: Any = 50) -> bool:
    return await _pinch(screen, selector, 1 - 0.9 * min(100, max(1, _number(percent))) / 100, steps)


@method("pinchOut")
async def pinch_out(screen: Screen, selector: Any, percent: Any = 100, steps: Any = 50) -> bool:
    return await _pinch(screen, selector, 1 / (1 - 0.9 * min(100, max(1, _number(percent))) / 100), steps)


@method("gesture")
async def two_fingers(screen: Screen, selector: Any, s1: Any, s2: Any, e1: Any, e2: Any, steps: Any = 100) -> bool:
    """Two fingers: a pinch by how far apart they begin and end."""
    try:
        (a, b, c, d) = [(_number(p["x"]), _number(p["y"])) for p in (s1, s2, e1, e2)]
    except (TypeError, KeyError):
        raise ActionError("gesture takes four points with x and y") from None
    await screen.find_one(selector)
    before, after = math.dist(a, b), math.dist(c, d)
    if before < 1 or after < 1 or abs(before - after) < 1:
        raise DeviceError("two fingers of this phone can only spread or close")
    return await _did(
        screen, Pinch((a[0] + b[0]) // 2, (a[1] + b[1]) // 2, after / before, max(1, _number(steps) * STEP_MS))
    )


# --- scrolling --------------------------------------------------------------------------------------------------------


async def _scroll(screen: Screen, selector: Any, vertical: Any, ms: int, *, forward: bool) -> bool:
    """One swipe inside the widget; True where it moved something."""
    look, path, _ = await screen.find_one(selector)
    area = look.shown(path)
    across = area.height if vertical else area.width
    near, far = int(across * _SCROLL_MARGIN), int(across * (1 - _SCROLL_MARGIN))
    start, end = (far, near) if forward else (near, far)
    middle = area.center
    if vertical:
        action = Swipe(middle.x, area.top + start, middle.x, area.top + end, ms)
    else:
        action = Swipe(area.left + start, middle.y, area.left + end, middle.y, ms)
    await perform(screen.phone, action)
    return (await screen.look()).tree != look.tree


async def _to_the_end(screen: Screen, selector: Any, vertical: Any, most: Any, ms: int, *, forward: bool) -> bool:
    for _ in range(min(_MOST_SWIPES, _number(most))):
        if not await _scroll(screen, selector, vertical, ms, forward=forward):
            return True
    return False


def _scrolling(name: str, *, forward: bool, fling: bool) -> None:
    @method(name)
    async def once(screen: Screen, selector: Any, vertical: Any = True, steps: Any = 55) -> bool:
        ms = _FLING_MS if fling else max(1, _number(steps)) * STEP_MS
        return await _scroll(screen, selector, vertical, ms, forward=forward)


def _scrolling_far(name: str, *, forward: bool, fling: bool) -> None:
    @method(name)
    async def far(screen: Screen, selector: Any, vertical: Any = True, most: Any = 500, steps: Any = 55) -> bool:
        ms = _FLING_MS if fling else max(1, _number(steps)) * STEP_MS
        return await _to_the_end(screen, selector, vertical, most, ms, forward=forward)


for _name, _fling in (("scroll", False), ("fling", True)):
    _scrolling(f"{_name}Forward", forward=True, fling=_fling)
    _scrolling(f"{_name}Backward", forward=False, fling=_fling)
    _scrolling_far(f"{_name}ToEnd", forward=True, fling=_fling)
    _scrolling_far(f"{_name}ToBeginning", forward=False, fling=_fling)


@method("scrollTo")
async def scroll_to(screen: Screen, selector: Any, target: Any, vertical: Any = True) -> bool:
    """First back to the beginning, then forward until the target is there, as UiScrollable.scrollIntoView does."""
    if await screen.wait(target, 0):
        return True
    await _to_the_end(screen, selector, vertical, 30, 275, forward=False)
    for _ in range(30):
        if await screen.wait(target, 0):
            return True
        if not await _scroll(screen, selector, vertical, 275, forward=True):
            break
    return await screen.wait(target, 0)


# --- typing -----------------------------------------------------------------------------------------------------------


async def _field(screen: Screen, selector: Any) -> Point | None:
    """Where to touch a field so that it has the focus; None where it has it."""
    look, path, node = await screen.find_one(selector)
    if not node.is_editable:
        raise ActionError("only a field can be given a text", hint="className android.widget.EditText")
    shown = look.shown(path)
    return None if node.focused or shown.is_empty else shown.center


@method("setText")
async def set_text(screen: Screen, selector: Any, text: Any) -> bool:
    at = await _field(screen, selector)
    return await _did(screen, TypeText(str(text), at.x if at else None, at.y if at else None, "replace"))


@method("clearTextField")
async def clear_field(screen: Screen, selector: Any) -> None:
    at = await _field(screen, selector)
    await perform(screen.phone, Clear(at.x if at else None, at.y if at else None))


@method("clearInputText")
async def clear_input(screen: Screen) -> None:
    await perform(screen.phone, Clear())


@method("setClipboard")
async def set_clipboard(screen: Screen, label: Any, text: Any) -> None:
    screen.phone.set_clipboard(str(text))


@method("getClipboard")
async def get_clipboard(screen: Screen) -> str:
    return screen.phone.memory.clipboard


@method("pasteClipboard")
async def paste(screen: Screen) -> bool:
    await type_text(screen.phone, screen.phone.memory.clipboard)
    return True


@method("pressKey")
async def press_key(screen: Screen, name: Any) -> bool:
    code = code_named(_KEYS.get(str(name).lower(), str(name)))
    if code is None:
        return False
    await press(screen.phone, code)
    return True


@method("pressKeyCode")
async def press_key_code(screen: Screen, code: Any, meta: Any = None) -> bool:
    await press(screen.phone, _number(code))
    return True


@method("wakeUp")
async def wake_up(screen: Screen) -> None:
    await perform(screen.phone, PressKey("wake"))


@method("sleep")
async def sleep(screen: Screen) -> None:
    await perform(screen.phone, PressKey("sleep"))


# --- the system -------------------------------------------------------------------------------------------------------


@method("freezeRotation")
async def freeze_rotation(screen: Screen, freeze: Any = True) -> None:
    screen.phone.put_setting("system", "accelerometer_rotation", "0" if freeze else "1")


@method("setOrientation")
async def set_orientation(screen: Screen, direction: Any) -> None:
    turns = {"natural": 0, "n": 0, "left": 1, "l": 1, "upsidedown": 2, "u": 2, "right": 3, "r": 3}
    wanted = turns.get(str(direction).lower())
    state = await screen.phone.owner.call(lambda device: device.state())
    if wanted != state.rotation:
        raise DeviceError(f"this phone cannot be turned: it is at rotation {state.rotation}")


@method("getLastToast", "clearLastToast", "getLastTraversedText", "clearLastTraversedText")
async def nothing(screen: Screen) -> None:
    """No toast and no traversed text is ever heard here: what this phone shows, it shows in its tree."""


@method("openNotification", "openQuickSettings", "makeToast")
async def not_here(screen: Screen, *params: Any) -> None:
    raise DeviceError("this phone has no notification shade and shows no toasts of others")
