"""Reads what Androids of many versions print: focus, keyboard, apps, and why a dump or a touch failed. Pure."""

from __future__ import annotations

import re

from phoneworld.device.adb_server import ShellOutput
from phoneworld.device.device import InstalledApp
from phoneworld.errors import ActionError, CaptureFailed, DeviceUnusable
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size


def check_injected(output: ShellOutput, line: str) -> None:
    """Raises where `input` says that it could not: old ones do so with status 0."""
    told = output.everything
    if "INJECT_EVENTS" in told:
        raise DeviceUnusable(
            "the phone does not let adb touch it",
            hint="on MIUI and the like switch on 'USB debugging (Security settings)' in the developer options",
        )
    if output.status != 0 or "Exception" in told or told.startswith("Error"):
        raise ActionError(
            f"the phone refused {line[:80]!r}: {(told.strip().splitlines() or [f'status {output.status}'])[0]}"
        )


def dump_failure(told: str) -> CaptureFailed:
    """The error for a dump that gave no tree, from what the dumper printed."""
    line = next((one for one in told.splitlines() if "ERROR" in one), (told.splitlines() or [""])[-1]).strip()
    if "idle state" in told:
        return CaptureFailed(
            f"the screen does not come to rest: {line}",
            code="DUMP_NOT_IDLE",
            hint="stop what moves on it (video, spinner, map), or wait",
        )
    if "null root" in told:
        return CaptureFailed(
            f"the phone had no window to dump: {line}", code="NULL_ROOT", hint="try again when the window is there"
        )
    return CaptureFailed(
        f"uiautomator dump gave no tree: {line or 'it printed nothing'}",
        code="DUMP_FAILED",
        hint="is another UI Automator client (uiautomator2, Appium) connected? stop it",
    )


def parse_focus(text: str) -> DeviceState:
    """Package, activity and rotation from lines of `dumpsys window`; several displays print several lines, some null."""
    focus = next(iter(re.findall(r"mCurrentFocus=Window\{\S+ u\d+ ([^}]+)\}", text)), "")
    record = next(iter(re.findall(r"mFocusedApp=.*?ActivityRecord\{\S+ u\d+ ([^\s}]+)", text)), "")
    name = focus if "/" in focus else record
    package, _, activity = name.strip().partition("/")
    if focus in ("NotificationShade", "StatusBar"):
        package, activity = "com.android.systemui", focus
    turned = re.search(r"mCurrentRotation=(?:ROTATION_)?(\d+)|mRotation=(?:ROTATION_)?(\d+)", text)
    rotation = int(turned.group(1) or turned.group(2)) if turned else 0
    return DeviceState(
        package,
        package + activity if activity.startswith(".") else activity,
        rotation=(rotation // 90 if rotation >= 4 else rotation) % 4,
    )


def parse_screen(text: str) -> tuple[Size | None, int]:
    """Size, in the natural orientation, and density, from `wm size` and `wm density`: what was overridden is what apps see."""
    sizes = {kind: Size(int(w), int(h)) for kind, w, h in re.findall(r"(Physical|Override) size: (\d+)x(\d+)", text)}
    densities = {kind: int(n) for kind, n in re.findall(r"(Physical|Override) density: (\d+)", text)}
    return sizes.get("Override") or sizes.get("Physical"), densities.get("Override") or densities.get("Physical") or 420


def parse_keyboard(text: str) -> bool:
    """True where `dumpsys input_method` says that a soft keyboard is shown."""
    shown = re.findall(r"mInputShown=(true|false)", text) or re.findall(r"mIsInputViewShown=(true|false)", text)
    return "true" in shown


def parse_activities(text: str) -> tuple[InstalledApp, ...]:
    """The apps in the output of `cmd package query-activities`, in its order, one entry a package."""
    found: dict[str, InstalledApp] = {}
    for block in re.split(r"^\s*Activity #\d+:\s*$", text, flags=re.M)[1:]:
        package = re.search(r"^\s*packageName=(\S+)", block, re.M)
        name = re.search(r"^\s*name=(\S+)", block, re.M)
        label = re.search(r"nonLocalizedLabel=(.+?) icon=", block)
        if package:
            found.setdefault(
                package.group(1),
                InstalledApp(
                    package.group(1),
                    "" if not label or label.group(1) == "null" else label.group(1),
                    name.group(1) if name else "",
                ),
            )
    return tuple(found.values())
