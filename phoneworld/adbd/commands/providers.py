"""`content query|insert`: the settings, and the provider of droidrun's Portal, whose app the phone plays itself.

Portal's address and shapes: droidrun's portal_client.py. Only what goes over adb is here, not its HTTP server.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from typing import Any

from phoneworld.adbd.commands.inputs import perform, press
from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.phone import PhoneSide, screen_size
from phoneworld.adbd.shell import Call
from phoneworld.errors import CaptureFailed, DumpFailed
from phoneworld.ui.action import Clear, TypeText
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node

PORTALS = ("com.mobilerun.portal", "com.droidrun.portal")
PORTAL_VERSION = "0.7.11"
_NAMESPACES = ("system", "secure", "global")
_USAGE = "usage: adb shell content [insert|query] --uri URI [--bind NAME:TYPE:VALUE] [--where CONDITION]"


@dataclass(slots=True)
class _Request:
    """One request to a provider: `content://AUTHORITY/PATH`."""

    verb: str
    authority: str = ""
    path: str = ""
    where: str = ""
    bound: dict[str, str] = field(default_factory=dict)


@command("content")
async def content(call: Call) -> int:
    """`content query|insert|update|delete --uri URI …`"""
    request = _read(call.args)
    if request is None:
        return await call.fail(_USAGE, 1)
    if request.authority == "settings" and request.path in _NAMESPACES:
        return await _settings(call, request)
    if request.authority in PORTALS:
        return await _portal(call, request)
    call.phone.refuse("content " + " ".join(call.args))
    if request.authority == "settings":
        return await call.fail(f"Error while accessing provider:settings\nInvalid URI: content://settings/{request.path}, not one of " + ", ".join(f"content://settings/{name}" for name in _NAMESPACES), 1)
    return await call.fail(f"Error while accessing provider:{request.authority}\nCould not find provider: {request.authority}", 1)


def _read(args: list[str]) -> _Request | None:
    if not args:
        return None
    request, words = _Request(args[0]), args[1:]
    while words:
        option = words.pop(0)
        value = words.pop(0) if words else ""
        match option:
            case "--uri":
                found = re.fullmatch(r"content://([^/?]+)/?([^?]*)(?:\?.*)?", value)
                if found is None:
                    return None
                request.authority, request.path = found[1], found[2].strip("/")
            case "--bind":
                name, _, typed = value.partition(":")
                request.bound[name] = typed.partition(":")[2]
            case "--where":
                request.where = value
            case _:
                continue
    return request if request.authority else None


async def _settings(call: Call, request: _Request) -> int:
    phone, namespace = call.phone, request.path
    if request.verb == "insert":
        if "name" not in request.bound:
            return await call.fail("[ERROR] a setting has a name: --bind name:s:NAME --bind value:s:VALUE", 1)
        phone.put_setting(namespace, request.bound["name"], request.bound.get("value", ""))
        return 0
    if request.verb != "query":
        call.phone.refuse("content " + " ".join(call.args))
        return await call.fail(_USAGE, 1)
    found = re.search(r"name\s*=\s*['\"]?([^'\"]+)", request.where)
    stored = sorted((name, value) for (space, name), value in phone.memory.settings.items() if space == namespace)
    rows = [(name, value) for name, value in stored if found is None or name == found[1].strip()]
    if not rows:
        await call.out("No result found.\n")
    await call.out("".join(f"Row: {i} _id={i + 1}, name={name}, value={value}\n" for i, (name, value) in enumerate(rows)))
    return 0


async def _portal(call: Call, request: _Request) -> int:
    phone = call.phone
    match request.verb, request.path:
        case "query", "version":
            return await _row(call, PORTAL_VERSION)
        case "query", "ping":
            return await _row(call, "pong")
        case "query", "packages":
            apps = await call.device(lambda device: device.apps())
            listed = [
                {"packageName": app.package, "label": app.label, "versionName": "1.0", "versionCode": 1, "isSystemApp": False}
                for app in apps
            ]
            return await _row(call, {"status": "success", "count": len(listed), "packages": listed})
        case "query", "phone_state":
            tree, state = await _look(call)
            return await _row(call, _phone_state(tree, state))
        case "query", "a11y_tree" | "state" | "a11y_tree_full" | "state_full":
            tree, state = await _look(call)
            full = request.path.endswith("_full")
            nodes: Any = _full(tree) if full else [_short(window, _Counter()) for window in tree.windows]
            if request.path.startswith("a11y_tree"):
                return await _row(call, nodes)
            told = {
                "a11y_tree": nodes,
                "phone_state": _phone_state(tree, state),
                "device_context": _context(phone, state),
            }
            return await _row(call, told)
        case "insert", "keyboard/input":
            try:
                text = base64.b64decode(request.bound.get("base64_text", ""), validate=False).decode(errors="replace")
            except binascii.Error:
                return await call.fail("Error: base64_text is not base64", 1)
            await _type(phone, text, clear=request.bound.get("clear", "true") != "false")
            return 0
        case "query", "clipboard/get":
            return await _row(call, phone.memory.clipboard)
        case "insert", "clipboard/set":
            text = request.bound.get("text", "")
            if "text_base64" in request.bound:
                try:
                    text = base64.b64decode(request.bound["text_base64"], validate=False).decode(errors="replace")
                except binascii.Error:
                    return await call.fail("Error: text_base64 is not base64", 1)
            phone.set_clipboard(text)
            return 0
        case "insert", "keyboard/clear":
            await perform(phone, Clear())
            return 0
        case "insert", "keyboard/key" if request.bound.get("key_code", "").isdigit():
            await press(phone, int(request.bound["key_code"]))
            return 0
        case "insert", "overlay_offset" | "overlay_visible" | "toggle_overlay":
            return 0  # its overlay is never drawn here
    phone.refuse("content " + " ".join(call.args))
    return await call.fail(f"Error while accessing provider:{request.authority}\nUnsupported: {request.path}", 1)


async def _type(phone: PhoneSide, text: str, *, clear: bool) -> None:
    if clear:
        await perform(phone, TypeText(text, mode="replace") if text else Clear())
    elif text:
        await perform(phone, TypeText(text))


async def _row(call: Call, result: Any) -> int:
    inner = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    await call.out(f"Row: 0 result={json.dumps({'status': 'success', 'result': inner}, ensure_ascii=False)}\n")
    return 0


async def _look(call: Call) -> tuple[Hierarchy, DeviceState]:
    def ask(device: Any) -> tuple[Hierarchy, DeviceState]:
        try:
            return device.hierarchy(), device.state()
        except (CaptureFailed, DumpFailed):
            return Hierarchy(()), device.state()

    return await call.device(ask)


def _context(phone: PhoneSide, state: DeviceState) -> dict[str, Any]:
    size: Size = screen_size(phone.info, state)
    return {
        "screen_bounds": {"width": size.width, "height": size.height},
        "filtering_params": {"min_element_size": 5, "overlay_offset": 0},
        "display_metrics": {
            "density": phone.info.density / 160,
            "densityDpi": phone.info.density,
            "widthPixels": size.width,
            "heightPixels": size.height,
        },
    }


def _phone_state(tree: Hierarchy, state: DeviceState) -> dict[str, Any]:
    focused = next((node for node in tree.nodes() if node.focused), None)
    return {
        "currentApp": state.package.rsplit(".", 1)[-1],
        "packageName": state.package,
        "activityName": state.activity,
        "keyboardVisible": state.keyboard,
        "isEditable": focused is not None and focused.is_editable,
        "focusedElement": None
        if focused is None
        else {"text": focused.text, "className": focused.class_name, "resourceId": focused.resource_id},
    }


class _Counter:
    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last


def _short(node: Node, counter: _Counter) -> dict[str, Any]:
    """A node as Portal's `state` has it: numbered, bounds in one word."""
    b = node.bounds
    return {
        "index": counter.next(),
        "resourceId": node.resource_id,
        "className": node.class_name.rsplit(".", 1)[-1],
        "text": node.label,
        "bounds": f"{b.left}, {b.top}, {b.right}, {b.bottom}",
        "children": [_short(child, counter) for child in node.children if child.visible],
    }


def _full(tree: Hierarchy) -> dict[str, Any]:
    """The tree as Portal's `state_full` has it: one root; further windows are its last children."""
    if not tree.windows:
        return {}
    root = _whole(tree.windows[0])
    root["children"] += [_whole(window) for window in tree.windows[1:]]
    return root


def _whole(node: Node) -> dict[str, Any]:
    b = node.bounds
    return {
        "resourceId": node.resource_id, "className": node.class_name, "packageName": node.package, "text": node.text,
        "contentDescription": node.content_desc, "hint": node.hint or "", "isVisibleToUser": node.visible,
        "boundsInScreen": {"left": b.left, "top": b.top, "right": b.right, "bottom": b.bottom},
        "isCheckable": node.checkable, "isChecked": node.checked, "isClickable": node.clickable, "isEnabled": node.enabled,
        "isFocusable": node.focusable, "isFocused": node.focused, "isScrollable": node.scrollable, "isEditable": node.is_editable,
        "isLongClickable": node.long_clickable, "isPassword": node.password, "isSelected": node.selected,
        "children": [_whole(child) for child in node.children],
    }  # fmt: skip
