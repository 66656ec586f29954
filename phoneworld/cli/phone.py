"""`phoneworld phone` runs one phone behind adb; `phoneworld devices` lists what adb knows and whether it can be used."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from phoneworld.adbd import DEFAULT_PORT
from phoneworld.cli.files import may_log, need_phone, need_place, pictures_note
from phoneworld.cli.terminal import Terminal
from phoneworld.errors import DeviceUnusable, OptionError, PhoneWorldError
from phoneworld.ui.geometry import Size

if TYPE_CHECKING:
    from phoneworld.adbd.server import AdbPhone
    from phoneworld.device.device import Device
    from phoneworld.device.faults import Faults

console = Terminal()
_GRACE_S = 1.0
"""How long the phone has for its end: a page that is being waited for may take ten."""


def register(app: typer.Typer) -> None:
    """Adds the verbs to the command line."""
    app.command("phone")(phone)
    app.command("devices")(devices)


def phone(
    specs: Annotated[
        list[str],
        typer.Argument(
            help="web:URL for a mobile web page on this machine, mini:URL?host=PACKAGE for one as a mini-app in another app; "
            "several are several apps. Or one mock:BUNDLE for a compiled app.",
            metavar="web:URL...|mock:BUNDLE",
        ),
    ],
    port: Annotated[
        int, typer.Option("--adb", "--port", help="TCP port for adb; 0 takes any free one.", min=0, max=65535)
    ] = DEFAULT_PORT,
    connect: Annotated[
        bool,
        typer.Option("--connect/--no-connect", help="Run `adb connect` once it is ready, and disconnect at the end."),
    ] = True,
    size: Annotated[
        str, typer.Option(help="Web pages: the screen in pixels.", metavar="WIDTHxHEIGHT")
    ] = "1080x2400",
    density: Annotated[
        int, typer.Option(help="Web pages: dots an inch; 160 is one pixel for one CSS pixel.", min=80, max=960)
    ] = 480,
    package: Annotated[
        str, typer.Option(help="Web pages: what the first app's package is called. Default: made from the URL.")
    ] = "",
    webview: Annotated[
        str, typer.Option(help="Web pages: trees as WebViews give them now, or as those of about 2021 did.", metavar="current|old")
    ] = "current",
    clock: Annotated[
        str, typer.Option(help="Web pages: freeze the date and time at this moment.", metavar="2026-08-24T09:30Z")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="Web pages: make Math.random repeat, in each document anew.")
    ] = None,
    locale: Annotated[str, typer.Option(help="Web pages: their language, for example de-DE.")] = "en-US",
    timezone: Annotated[str, typer.Option(help="Web pages: their time zone, for example Europe/Berlin.")] = "UTC",
    night: Annotated[bool, typer.Option("--night", help="Web pages: ask for a dark look.")] = False,
    location: Annotated[
        str, typer.Option(help="Web pages: where the phone is; none where not given.", metavar="LATITUDE,LONGITUDE")
    ] = "",
    offline: Annotated[
        bool, typer.Option("--offline", help="Web pages: no network once an app's start page is there.")
    ] = False,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="Make the phone as unreliable as real ones are: NAME[=CHANCE[:SECONDS]] (a chance of 0.05 unless told), all=CHANCE, secure@WORDS, "
            "offline@SECONDS[:SECONDS], with commas between. Names: idle, nullroot, staledump, oldtree, killed, banner, truncated, warning, crlf, secure, "
            "slow-screencap, late-settle, popup-missing. `phone web: --fault help` says what each does.",
        ),
    ] = None,
    fault_seed: Annotated[int, typer.Option(help="The same seed makes each fault strike on the same occasions.")] = 0,
    truth: Annotated[
        Path | None, typer.Option(help="Write what the phone truly showed at each dump and screenshot, as JSON lines.")
    ] = None,
    log_unknown: Annotated[
        Path | None,
        typer.Option(help="Append what clients asked for in vain to this file, a line of JSON each.", dir_okay=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON once it is ready, nothing else.")
    ] = False,
) -> None:
    """Run one phone behind adb until Ctrl-C.

    Every adb client can then use it by its serial, as if it were a real phone:

        phoneworld phone web:http://127.0.0.1:8000

        adb -s 127.0.0.1:7555 shell input tap 540 1200

        phoneworld record --device 127.0.0.1:7555 --app PACKAGE -o app.graph.json

        phoneworld phone "mini:http://127.0.0.1:8000/?host=org.example.chat"

    `adb shell cmd phoneworld` says how to reset it, keep its state and go back to it.
    """
    from phoneworld.adbd.server import AdbPhone  # here, so that other verbs start without it
    from phoneworld.device.adb_server import AdbServer
    from phoneworld.device.mock import MockDevice
    from phoneworld.device.open import WebPhone, open_device

    for log, begins in ((truth, b'{"n": 1, '), (log_unknown, b'{"time": ')):
        if log is not None:
            need_place(log)
            may_log(log, begins)
    faults = _faults(fault or [], fault_seed, truth)
    spec, further = " ".join(specs), specs[1:]
    for word in specs:
        need_phone(word)
    if strange := [word for word in specs if not word.startswith(("web:", "mini:") if further else ("web:", "mini:", "mock:"))]:
        is_page = strange[0].startswith(("http://", "https://"))
        raise OptionError(
            f"{strange[0]!r} is no phone that can be run here" + (" beside others" if further else ""),
            hint=f"a page is put in a phone: web:{strange[0]}" if is_page else "web:URL, several of them, or one mock:BUNDLE; a real phone needs no `phoneworld phone`",
        )
    web = WebPhone(
        parse_size(size), density, parse_package(package), apps=tuple(further), profile=parse_webview(webview), clock_ms=parse_clock(clock),
        seed=seed, locale=parse_locale(locale), timezone=timezone, night_mode=night, geolocation=parse_location(location), offline=offline,
    )  # fmt: skip
    notes: list[str] = []

    def opened() -> Device:
        device = open_device(specs[0], web)
        if isinstance(device, MockDevice):
            notes.extend(note for bundle in device.bundles if (note := pictures_note(bundle)))
        return device

    served_phone = AdbPhone(opened, port=port, faults=faults, unknown_log=log_unknown)
    with _until_told() as told, served_phone as served:
        serial, how = _attach(served, connect=connect)
        told.is_running = True
        if as_json:
            typer.echo(
                json.dumps(
                    {
                        "serial": serial,
                        "host": served.host,
                        "port": served.port,
                        "phone": spec,
                        "connected": how == "connected",
                        "warnings": notes,
                    }
                )
            )
        else:
            info = served.phone.info
            console.print(
                f"[bold]{escape(spec)}[/] is a phone of {info.size.width}x{info.size.height}, density {info.density}",
                highlight=False,
            )
            console.print(f"  serial   [bold green]{serial}[/]", highlight=False)
            console.print("  adb      " + ("connected" if how == "connected" else how), highlight=False)
            console.print(
                f"  try      adb -s {serial} shell input tap {info.size.width // 2} {info.size.height // 2}",
                highlight=False,
            )
            for note in notes:
                console.print(f"  [yellow]note:[/]    {escape(note)}", highlight=False)
            console.print("  Ctrl-C ends it", style="dim", highlight=False)
        told.wait()
        if how == "connected":
            AdbServer().disconnect(serial)


def _faults(texts: list[str], seed: int, truth: Path | None) -> Faults | None:
    """The faults that were asked for, None where nothing was. Raises OptionError for words that name none."""
    from phoneworld.device.faults import KNOBS, Faults, parse_faults

    if "help" in texts:
        for name, knob in KNOBS.items():
            takes = f" [dim]({knob.seconds:g} s)[/]" if knob.seconds is not None else ""
            console.print(f"[bold]{name}[/]=CHANCE{takes}  {escape(knob.words)}", highlight=False, soft_wrap=True)
        console.print("[bold]all[/]=CHANCE  every one of them that is not named", highlight=False)
        console.print("[bold]secure@[/]WORDS  screens that show the words give black pictures", highlight=False)
        console.print("[bold]offline@[/]T:S  T seconds after the start the phone is gone for S seconds (5; inf)", highlight=False)
        raise typer.Exit
    try:
        plan = parse_faults(",".join(texts))
    except PhoneWorldError as e:
        raise OptionError(e.message, hint=e.hint) from None
    return Faults(plan, seed=seed, truth=truth) if texts or truth is not None else None


def parse_size(text: str) -> Size:
    """A screen from WIDTHxHEIGHT. Raises OptionError where it is none, or none that a phone has."""
    found = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text)
    if not found or not all(100 <= int(n) <= 8000 for n in found.groups()):
        raise OptionError(f"{text!r} is no size of a screen", hint="for example --size 1080x2400, each side 100..8000")
    return Size(int(found[1]), int(found[2]))


def parse_package(text: str) -> str:
    """A package name as given. Raises OptionError where Android would not take it."""
    if text and not re.fullmatch(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", text, re.ASCII):
        raise OptionError(f"{text!r} is no package name", hint="for example --package org.example.notes")
    return text


def parse_webview(text: str) -> Literal["current", "old"]:
    """The profile of the WebView. Raises OptionError for another word."""
    match text:
        case "current" | "old":
            return text
        case _:
            raise OptionError(f"{text!r} is no WebView that is known", hint="--webview current or --webview old")


def parse_locale(text: str) -> str:
    """A language as given. Raises OptionError where it has not the form of one: Chromium would not say why."""
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", text, re.ASCII):
        raise OptionError(f"{text!r} is no language", hint="for example --locale de-DE")
    return text


def parse_clock(text: str) -> int | None:
    """Unix milliseconds of a moment in ISO 8601, UTC where it names no zone; None for "". Raises OptionError."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"{text!r} is no date and time", hint="for example --clock 2026-08-24T09:30Z") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def parse_location(text: str) -> tuple[float, float] | None:
    """Latitude and longitude in degrees; None for "". Raises OptionError where they are nowhere on Earth."""
    if not text:
        return None
    found = re.fullmatch(r"(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)", text)
    if not found or abs(float(found[1])) > 90 or abs(float(found[2])) > 180:
        raise OptionError(f"{text!r} is no place", hint="for example --location 52.52,13.40 (latitude, longitude)")
    return float(found[1]), float(found[2])


def _attach(served: AdbPhone, *, connect: bool) -> tuple[str, str]:
    """The serial to use, and `connected` or what is left to do."""
    from phoneworld.device.adb_server import AdbServer

    if 5555 <= served.port <= 5585 and served.port % 2:
        # An adb server looks there by itself; connecting too would list the phone twice.
        return f"emulator-{served.port - 1}", "finds it by itself when its server starts"
    if not connect:
        return served.serial, f"adb connect {served.serial}"
    try:
        connected = AdbServer().connect(served.serial)
    except PhoneWorldError as e:
        return served.serial, f"not connected: {e.message} ({e.hint})"
    if not connected:
        raise DeviceUnusable(
            f"the adb server did not connect to {served.serial}",
            hint=f"adb disconnect {served.serial}, then start it again",
        )
    return served.serial, "connected"


class _Told:
    """Whether Ctrl-C or SIGTERM came. Nobody waits long for the end: what is in the middle of something is broken off."""

    def __init__(self) -> None:
        self.is_running = False
        self._event = threading.Event()

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if not self.is_running or self._event.is_set():
            # It is still starting, or this is the second time. Chromium goes when its pipe does, and no phone is connected yet.
            os._exit(128 + number)
        self._event.set()

    def wait(self) -> None:
        """Returns when it was told; from then on the process ends within a second, in order or not."""
        self._event.wait()
        late = threading.Timer(_GRACE_S, os._exit, (0,))
        late.daemon = True
        late.start()


@contextmanager
def _until_told() -> Iterator[_Told]:
    """Ctrl-C and SIGTERM set it while this lasts, so that the phone is let go in order."""
    told = _Told()
    before = {number: signal.signal(number, told) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def devices(as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False) -> None:
    """List the phones that adb knows, and for each that cannot be used, why and what to do."""
    from phoneworld.device.adb_server import AdbServer

    attached = AdbServer().devices()
    if as_json:
        typer.echo(json.dumps([{**asdict(d), "usable": d.usable} for d in attached], ensure_ascii=False))
        return
    if not attached:
        console.print("no device is attached", highlight=False)
        console.print(
            "  mend: plug in a phone with USB debugging on, or start one here: phoneworld phone web:URL",
            style="dim",
            highlight=False,
        )
        return
    table = Table("serial", "model", "usable", box=None, pad_edge=False)
    for d in attached:
        table.add_row(
            escape(d.serial),
            escape(d.model),
            "[green]yes[/]" if d.usable else f"[red]no[/], {escape(d.reason)}: [dim]{escape(d.mend)}[/]",
        )
    console.print(table)
