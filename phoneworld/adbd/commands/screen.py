"""The picture and the tree: `screencap`, `uiautomator`, `wm`."""

from __future__ import annotations

import asyncio
import io
import struct
from dataclasses import replace

from PIL import Image

from phoneworld.adbd.commands.registry import cmd, command
from phoneworld.adbd.shell import Call
from phoneworld.errors import CaptureFailed, DumpFailed
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import write_hierarchy

DEFAULT_DUMP = "/sdcard/window_dump.xml"
_RGBA_8888, _SRGB = 1, 142671872
_BARE = ("Layout", "ViewGroup", "android.view.View", "ViewPager", "ComposeView")


def raw_pixels(png: bytes) -> bytes:
    """A picture as `screencap` without -p writes it: width, height, format, colour space, then RGBA."""
    with Image.open(io.BytesIO(png)) as image:
        return struct.pack("<4I", image.width, image.height, _RGBA_8888, _SRGB) + image.convert("RGBA").tobytes()


@command("screencap")
async def screencap(call: Call) -> int:
    """`screencap [-p] [-d DISPLAY] [FILE]`"""
    args, as_png, target = list(call.args), False, ""
    while args:
        word = args.pop(0)
        if word in ("-d", "--display-id"):
            if not args:
                return await call.fail("screencap: option requires an argument -- d")
            args.pop(0)
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


@command("uiautomator")
async def uiautomator(call: Call) -> int:
    """`uiautomator dump [--compressed] [FILE]`. Errors come on stdout with status 0 and no file, as on a phone."""
    if call.args[:1] != ["dump"]:
        call.phone.refuse("uiautomator " + " ".join(call.args))
        return await call.fail(
            "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\ndump: creates an XML dump of current UI hierarchy",
            1,
        )
    options = [word for word in call.args[1:] if word.startswith("--")]
    target = next((word for word in call.args[1:] if not word.startswith("--")), DEFAULT_DUMP)
    if unknown := [word for word in options if word not in ("--compressed", "--windows", "--verbose")]:
        return await call.fail(f"Unknown option: {unknown[0]}", 1)
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
    if target == "/dev/tty":
        await call.out(xml)
    else:
        now = await call.phone.now_s() if clock_ms is None else clock_ms // 1000
        call.phone.files.write(call.path(target), xml, mtime=now, parents=True)
    await call.out(f"UI hierchary dumped to: {target}\n")  # the misspelling is Android's, and clients look for it
    return 0


@command("wm")
@cmd("window")
async def wm(call: Call) -> int:
    """`wm size`, `wm density`. The screen of this phone cannot be given another size."""
    info = call.phone.info
    match call.args:
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
