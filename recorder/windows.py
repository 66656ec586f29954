"""What stands in front of the app: permission, crash and "not responding" dialogs, toasts, other apps, the keyboard. Pure.

Recognised by what Android itself puts there (packages, ids, classes), and for the dialogs of a crash by the words of the
system as well, for their ids differ by version and maker.
"""

from __future__ import annotations

import re
from dataclasses import replace

from phoneworld.device.settle import package_of, shown
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

PERMISSION = re.compile(r"(^|\.)(permissioncontroller|packageinstaller|lbe\.security|permission)(\.|$)", re.I)
_PERMISSION_IDS = re.compile(r"permission_(allow|deny|message)|^grant_(dialog|singleton)")
_CRASH_IDS = {"aerr_close", "aerr_restart", "aerr_app_info", "aerr_report", "aerr_mute"}
_ANR_IDS = {"aerr_wait"}
_ANR = re.compile(r"isn.?t responding|not responding|无响应|沒有回應|no responde|antwortet nicht|ne répond pas|não está respondendo|не отвечает|応答していません", re.I)
_CRASH = re.compile(r"(has|keeps) stopp(ed|ing)|已停止(运行)?|屡次停止|se ha detenido|wurde beendet|s.est arrêté|parou|произошла ошибка|停止しました|繰り返し停止", re.I)
_SYSTEM = ("android", "com.android.systemui")
_KEYBOARD = re.compile(r"inputmethod|keyboard|(^|\.)ime(\.|$)", re.I)
_LAUNCHER = re.compile(r"launcher|quickstep|(^|\.)home(\.|$)|trebuchet", re.I)


def window_notes(hierarchy: Hierarchy, app: str) -> tuple[str, ...]:
    """What a capture shows beside or instead of the app, as notes: at most one of each."""
    notes: list[str] = []
    front = package_of(hierarchy)
    nodes = [n for window in hierarchy.windows for n in _shown(window)]
    if any(n.class_name.endswith("Toast") or (_name(n) == "android:id/message" and _is_toast(n, hierarchy)) for n in nodes):
        notes.append("toast")
    if _is_permission(front, nodes):
        return (*notes, "permission-dialog")
    if (trouble := _trouble(nodes)) is not None:
        return (*notes, trouble)
    if front and app and front != app and not _KEYBOARD.search(front):
        notes.append("launcher" if _LAUNCHER.search(front) else "other-app")
    return tuple(notes)


def keyboard_region(hierarchy: Hierarchy, size: Size, *, is_shown: bool) -> Bounds | None:
    """Where the soft keyboard lies: its window where the tree has it, else the lower two fifths; None where it is hidden.

    Stock dumps leave the keyboard out, and no phone tells its place; none that we know takes more than two fifths.
    """
    for window in hierarchy.windows:
        if _KEYBOARD.search(window.package) and not window.bounds.is_empty:
            return window.bounds
    return Bounds(0, size.height * 3 // 5, size.width, size.height) if is_shown else None


def without_keyboard(hierarchy: Hierarchy) -> Hierarchy:
    """The tree without the keyboard's window, where the dump has one: its keys change while one types."""
    return replace(hierarchy, windows=tuple(w for w in hierarchy.windows if not _KEYBOARD.search(w.package)))


def is_launcher(package: str) -> bool:
    """True for a home screen."""
    return _LAUNCHER.search(package) is not None


def _shown(window: Node) -> tuple[Node, ...]:
    return tuple(shown(Hierarchy((window,))))


def _name(node: Node) -> str:
    return node.resource_id


def _is_toast(node: Node, hierarchy: Hierarchy) -> bool:
    """A toast is a small window of its own with nothing to touch."""
    window = next((w for w in hierarchy.windows if node in _shown(w)), None)
    return window is not None and len(hierarchy.windows) > 1 and not any(n.handles_touch for n in _shown(window))


def _is_permission(front: str, nodes: list[Node]) -> bool:
    if PERMISSION.search(front):
        return True
    return any(PERMISSION.search(n.package) and _PERMISSION_IDS.search(n.resource_id.rpartition("/")[2]) for n in nodes)


def _trouble(nodes: list[Node]) -> str | None:
    ids = {n.resource_id.rpartition("/")[2] for n in nodes if n.resource_id.startswith("android:id/")}
    if ids & _ANR_IDS:
        return "anr-dialog"
    said = " ".join(n.text for n in nodes if n.text and n.package in _SYSTEM and not n.is_editable)
    if _ANR.search(said):
        return "anr-dialog"
    return "crash-dialog" if ids & _CRASH_IDS or _CRASH.search(said) else None
