"""The picture and the tree: `screencap`, `uiautomator`, `wm`."""

from __future__ import annotations

import asyncio
import datetime
import io
import struct
import time
from dataclasses import replace

from PIL import Image

from phoneworld.adbd.accessibility import line
from phoneworld.adbd.commands.dumps import DISPLAY_ID
from phoneworld.adbd.commands.registry import cmd, command
from phoneworld.adbd.shell import Call
from phoneworld.adbd.watching import Watch
from phoneworld.device.faults import WARNING
from phoneworld.errors import CaptureFailed, DumpFailed
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import write_hierarchy

DEFAULT_DUMP = "/sdcard/window_dump.xml"
_LOOK_EVERY_S = 0.25
_RGBA_8888, _SRGB = 1, 142671872
_BARE = ("Layout", "ViewGroup", "android.view.View", "ViewPager", "ComposeView")


def raw_pixels(png: bytes) -> bytes:
    """A picture as `screencap` without -p writes it: width, height, format, colour space, then RGBA."""
    with Image.open(io.BytesIO(png)) as image:
        return struct.pack("<4I", image.width, image.height, _RGBA_8888, _SRGB) + image.convert("RGBA").tobytes()


def spoiled_picture(call: Call, content: bytes, *, named: bool, to_file: bool) -> bytes:
    """The picture as the faults of this phone's wire leave it. `named`: a display was asked for by its number."""
    faults, struck = call.phone.faults, []
    if faults.strikes("truncated"):
        content, struck = content[: len(content) * 2 // 3], ["truncated"]
    if not to_file and not named and faults.strikes("warning"):
        content, struck = WARNING + content, [*struck, "warning"]
    if not to_file and faults.strikes("crlf"):
        content, struck = content.replace(b"\n", b"\r\n"), [*struck, "crlf"]
    if struck:
        faults.tell("wire", of="picture", fault="+".join(struck))
    return content


@command("screencap")
async def screencap(call: Call) -> int:
    """`screencap [-p] [-d DISPLAY] [FILE]`"""
    args, as_png, target, named = list(call.args), False, "", False
    while args:
        word = args.pop(0)
        if word in ("-d", "--display-id"):
            if not args:
                return await call.fail("screencap: option requires an argument -- d")
            if (display := args.pop(0)) not in ("0", DISPLAY_ID):
                return await call.fail(f"Display Id '{display}' is not valid.")
            named = True
        elif word == "-p":
            as_png = True
        elif word.startswith("-"):
            return await call.fail("usage: screencap [-hp] [-d display-id] [FILENAME]")
        else:
            target = word
    try:
        png, clock_ms = await call.device(
            lambda device: (device.screenshot(), device.state().clock_ms if target else 0)
        )
    except CaptureFailed as e:
        return await call.fail(f"Capturing failed: {e.message}")
    content = png if as_png or target.endswith(".png") else await asyncio.to_thread(raw_pixels, png)
    content = spoiled_picture(call, content, named=named, to_file=bool(target))
    if not target:
        await call.out(content)
        return 0
    try:
        now = await call.phone.now_s() if clock_ms is None else clock_ms // 1000
        call.phone.files.write(call.path(target), content, mtime=now)
    except OSError as e:
        return await call.fail(f"Error opening file: {target} ({e.strerror})")
    return 0


def compress(hierarchy: Hierarchy) -> Hierarchy:
    """The tree without the containers that mean nothing to a reader: their children take their place.

    As `uiautomator dump --compressed` does, which leaves out what is not important for accessibility.
    """

    def means_something(node: Node) -> bool:
        acts = node.clickable or node.long_clickable or node.checkable or node.scrollable or node.focusable
        return acts or bool(node.text or node.content_desc) or not node.class_name.endswith(_BARE)

    def squeeze(children: tuple[Node, ...]) -> tuple[Node, ...]:
        out: list[Node] = []
        for child in children:
            below = squeeze(child.children)
            out += [replace(child, children=below)] if means_something(child) else below
        return tuple(replace(node, index=i) for i, node in enumerate(out))

    return replace(hierarchy, windows=tuple(replace(w, children=squeeze(w.children)) for w in hierarchy.windows))


async def _failed_dump(call: Call) -> int | None:
    """The status of a dump that a fault of the wire ends before it has written anything, None for one that goes on."""
    faults = call.phone.faults
    if faults.strikes("killed"):
        faults.tell("wire", of="tree", fault="killed")
        return await call.fail("Killed", 137)
    if faults.strikes("staledump"):
        faults.tell("wire", of="tree", fault="staledump")
        return 0
    return None


async def _events(call: Call) -> int:
    """Prints what an accessibility service is told, until the peer goes."""
    with Watch(call.phone.watches) as watch:
        while True:
            await call.device(watch.look)
            event = await watch.next(_LOOK_EVERY_S)
            while event is not None:
                when = datetime.datetime.fromtimestamp(await call.phone.now_s(), datetime.UTC).strftime("%m-%d %H:%M:%S.000")
                uptime_ms = int((time.monotonic() - call.phone.started_s) * 1000)
                await call.out(line(event, when=when, uptime_ms=uptime_ms))
                event = await watch.next(_LOOK_EVERY_S)


@command("uiautomator")
async def uiautomator(call: Call) -> int:
    """`uiautomator dump [--compressed] [FILE]`, `uiautomator events`. Errors come on stdout with status 0 and no file, as on a phone."""
    if call.args == ["events"]:
        return await _events(call)
    if call.args[:1] != ["dump"]:
        call.phone.refuse("uiautomator " + " ".join(call.args))
        return await call.fail(
            "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\ndump: creates an XML dump of current UI hierarchy\n\nevents: prints out accessibility events until terminated",
            1,
        )
    options = [word for word in call.args[1:] if word.startswith("--")]
    target = next((word for word in call.args[1:] if not word.startswith("--")), DEFAULT_DUMP)
    if unknown := [word for word in options if word not in ("--compressed", "--windows", "--verbose")]:
        return await call.fail(f"Unknown option: {unknown[0]}", 1)
    faults = call.phone.faults
    if (failed := await _failed_dump(call)) is not None:
        return failed
    try:
        hierarchy, clock_ms = await call.device(
            lambda device: (device.hierarchy(), device.state().clock_ms if target != "/dev/tty" else 0)
        )
    except (CaptureFailed, DumpFailed) as e:
        code = getattr(e, "code", "")
        lines = {
            "DUMP_NOT_IDLE": "could not get idle state.",
            "NULL_ROOT": "null root node returned by UiTestAutomationBridge.",
        }
        await call.out(f"ERROR: {lines.get(code, e.message)}\n")
        return 0
    xml = write_hierarchy(compress(hierarchy) if "--compressed" in options else hierarchy)
    told = f"UI hierchary dumped to: {target}"  # the misspelling is Android's, and clients look for it
    if faults.strikes("truncated"):
        faults.tell("wire", of="tree", fault="truncated")
        xml = xml[: len(xml) * 2 // 3]
    if faults.strikes("banner"):
        faults.tell("wire", of="tree", fault="banner")
        await call.out(told)
    else:
        told += "\n"
    if target == "/dev/tty":
        await call.out(xml)
    else:
        now = await call.phone.now_s() if clock_ms is None else clock_ms // 1000
        call.phone.files.write(call.path(target), xml, mtime=now, parents=True)
    if told.endswith("\n"):
        await call.out(told)
    return 0


@command("wm")
@cmd("window")
async def wm(call: Call) -> int:
    """`wm size`, `wm density`. The screen of this phone cannot be given another size."""
    info = call.phone.info
    match call.args:
        case []:
            await call.out("Window manager (window) commands:\n  size [reset]\n  density [reset]\n")
            return 255
        case ["size"]:
            await call.out(f"Physical size: {info.size.width}x{info.size.height}\n")
        case ["density"]:
            await call.out(f"Physical density: {info.density}\n")
        case ["size" | "density", "reset"]:
            return 0
        case ["size" | "density", *_]:
            call.phone.refuse("wm " + " ".join(call.args))
            return await call.fail("Error: the screen of this phone has a fixed size and density", 255)
        case _:
            call.phone.refuse("wm " + " ".join(call.args))
            return await call.fail("Unknown command: " + (call.args[0] if call.args else ""), 255)
    return 0
