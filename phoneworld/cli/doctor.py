"""`phoneworld doctor`: is everything here that PhoneWorld needs, and if not, the one command that mends it."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from adbutils import AdbError, adb_path  # type: ignore[import-untyped]
from rich.markup import escape
from rich.table import Table

from phoneworld.cli.terminal import Terminal
from phoneworld.device.adb_server import AdbServer
from phoneworld.errors import BrowserError, PhoneWorldError
from phoneworld.render.browser import Browser, find_chromium
from phoneworld.render.fonts import css_stack
from phoneworld.render.templates import templates_folder
from phoneworld.ui.geometry import Size

Verdict = Literal["ok", "missing", "advice"]
"""`missing`: something that is needed is not there, the exit code is 1. `advice`: it works without, but not as well."""

MIN_PYTHON = (3, 11)
MIN_FREE_MB = 500
GLYPHS: tuple[tuple[str, str, str], ...] = (
    ("Chinese", "汉", "fonts-noto-cjk"),
    ("Japanese", "あ", "fonts-noto-cjk"),
    ("Korean", "한", "fonts-noto-cjk"),
    ("emoji", "😀", "fonts-noto-color-emoji"),
    ("Arabic", "ع", "fonts-noto-core"),
    ("Hebrew", "ש", "fonts-noto-core"),
)
NO_CHARACTER = "\U0010ffff"
"""Unicode promises never to assign it: every font shows its box for it."""

_REQUIREMENT = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:>=\s*([0-9.]+))?")
_DRAW = """(words) => words.map((word) => {
  const canvas = document.createElement('canvas');
  canvas.width = 96; canvas.height = 96;
  const pen = canvas.getContext('2d');
  pen.font = '48px ' + getComputedStyle(document.body).fontFamily;
  pen.fillText(word, 16, 64);
  return canvas.toDataURL();
})"""

console = Terminal()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and the command that mends it (empty where nothing is to be mended)."""

    name: str
    verdict: Verdict
    found: str
    mend: str = ""


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("doctor")(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False) -> None:
    """Check that everything is here that PhoneWorld needs, and say how to mend what is not.

    Looks at Python, the packages, Chromium (which is really started), adb, fonts for Chinese, Japanese, Korean, emoji, Arabic
    and Hebrew (each drawn and compared with the box of a missing glyph), free disk, attached phones. The exit code is 1 where
    something that is needed is missing.
    """
    checks = run_checks()
    missing = [c for c in checks if c.verdict == "missing"]
    if as_json:
        typer.echo(json.dumps({"ok": not missing, "checks": [asdict(c) for c in checks]}, ensure_ascii=False, indent=1))
    else:
        _print(checks)
    if missing:
        raise typer.Exit(1)


def run_checks() -> tuple[Check, ...]:
    """All checks, in the order in which one would mend them."""
    checks = [check_python(sys.version_info[:3]), check_packages(_requirements()), *check_ourselves()]
    checks += check_chromium()
    checks += [check_adb(), check_disk(Path.cwd(), shutil.disk_usage)]
    checks += check_devices()
    return tuple(checks)


def check_python(version: tuple[int, ...]) -> Check:
    """Python's version."""
    words = ".".join(map(str, version))
    if version < MIN_PYTHON:
        return Check(
            "Python", "missing", f"{words}; needed is 3.11 or later", "apt-get install -y python3 python3-venv"
        )
    return Check("Python", "ok", f"{words} ({sys.executable})")


def check_packages(requirements: Sequence[str]) -> Check:
    """The packages that PhoneWorld declares, each in a version that is new enough."""
    wrong: list[str] = []
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is None:
            continue
        name, least = match[1], match[2]
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{name}>={least}" if least else name)
            continue
        if least and _numbers(version) < _numbers(least):
            wrong.append(f"{name}>={least}")
    if wrong:
        mend = f"{sys.executable} -m pip install " + " ".join(f"'{w}'" for w in wrong)
        return Check("packages", "missing", "missing or too old: " + ", ".join(wrong), mend)
    return Check("packages", "ok", f"all {len(requirements)} are here")


def check_ourselves() -> list[Check]:
    """Our own parts: the templates, and that `recorder` is ours and not the unrelated package of that name."""
    checks = []
    reinstall = f"{sys.executable} -m pip install --force-reinstall phoneworld"
    try:
        checks.append(Check("templates", "ok", str(templates_folder())))
    except PhoneWorldError as e:
        checks.append(Check("templates", "missing", e.message, reinstall))
    try:
        recorder = importlib.import_module("recorder")
    except ImportError:
        checks.append(Check("recorder", "missing", "the package `recorder` is not installed", reinstall))
    else:
        if getattr(recorder, "MARKER", "") == "phoneworld-recorder":
            checks.append(Check("recorder", "ok", "it is PhoneWorld's own"))
        else:
            where = getattr(recorder, "__file__", "?")
            checks.append(
                Check(
                    "recorder",
                    "missing",
                    f"another package named recorder is in the way: {where}",
                    f"{sys.executable} -m pip uninstall -y recorder && {reinstall}",
                )
            )
    return checks


def check_chromium() -> list[Check]:
    """That Chromium is here and starts, and that it has glyphs."""
    try:
        binary = find_chromium()
        with Browser.launch() as browser:
            started = Check("Chromium", "ok", f"{browser.version} ({binary})")
            return [started, *check_glyphs(browser)]
    except BrowserError as e:
        return [
            Check("Chromium", "missing", e.message, e.hint),
            Check("fonts", "advice", "not looked at, for want of Chromium", e.hint),
        ]


def check_glyphs(browser: Browser) -> list[Check]:
    """Which scripts Chromium can draw: each sample differs from the box of a missing glyph."""
    without = set(missing_glyphs(browser, [ch for _, ch, _ in GLYPHS]))
    lacking = [(script, package) for script, ch, package in GLYPHS if ch in without]
    if not lacking:
        return [Check("fonts", "ok", "glyphs for " + ", ".join(script for script, _, _ in GLYPHS))]
    packages = " ".join(dict.fromkeys(package for _, package in lacking))
    return [
        Check(
            "fonts",
            "advice",
            "shown as boxes: " + ", ".join(script for script, _ in lacking),
            f"{_sudo()}apt-get install -y {packages}",
        )
    ]


def missing_glyphs(browser: Browser, characters: Sequence[str]) -> list[str]:
    """The characters that Chromium draws as it draws a character that does not exist."""
    page = browser.page(Size(200, 200))
    try:
        page.set_content(f"<!doctype html><body style='font-family: {css_stack('sans')}'></body>")
        box, *drawn = page.evaluate(_DRAW, [NO_CHARACTER, *characters])
    finally:
        page.context.close()
    return [ch for ch, picture in zip(characters, drawn, strict=True) if picture == box]


def adb_binary() -> str | None:
    """The adb program that starts the server when a verb needs one: `$ADBUTILS_ADB_PATH`, that on the PATH, or the one in adbutils."""
    try:
        return str(adb_path())
    except AdbError:
        return None


def check_adb() -> Check:
    """That the adb program that the verbs use is here and runs."""
    install = f"{_sudo()}apt-get install -y adb"
    binary = adb_binary()
    if binary is None:
        return Check("adb", "missing", "the program adb is not on the PATH", install)
    try:
        told = subprocess.run([binary, "version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        return Check("adb", "missing", f"{binary} does not run: {e}", install)
    version = re.search(r"version ([0-9.]+)", told.stdout)
    if told.returncode != 0 or version is None:
        return Check("adb", "missing", f"{binary} does not run: {(told.stderr or told.stdout).strip()[:100]}", install)
    on_path = shutil.which("adb")
    if on_path != binary:
        what = f"the adb on the PATH ({on_path}) is not that one" if on_path else "there is none on the PATH"
        return Check("adb", "advice", f"{version[1]} ({binary}) is what phoneworld uses; {what}, so that what you type and other tools differ", install)
    return Check("adb", "ok", f"{version[1]} ({binary})")


def check_disk(folder: Path, usage: Callable[[Path], tuple[int, int, int]]) -> Check:
    """Room for a recording where we stand."""
    free = usage(folder)[2]
    words = f"{free / 1e9:.1f} GB free in {folder}"
    if free < MIN_FREE_MB * 1_000_000:
        return Check(
            "disk",
            "missing",
            f"{words}; a recording and its mock take up to {MIN_FREE_MB} MB",
            f"du -xh --max-depth=2 {Path.home()} | sort -h | tail",
        )
    return Check("disk", "ok", words)


def check_devices() -> list[Check]:
    """The phones that adb knows; none is no fault, for `phoneworld phone` runs one."""
    if adb_binary() is None:
        return []
    try:
        attached = AdbServer().devices()
    except PhoneWorldError as e:
        return [Check("devices", "advice", e.message, e.hint)]
    if not attached:
        return [Check("devices", "advice", "no phone is attached", "phoneworld phone web:http://127.0.0.1:8000")]
    return [
        Check("devices", "ok", f"{d.serial} {d.model}".strip())
        if d.usable
        else Check("devices", "advice", f"{d.serial}: {d.reason}", d.mend)
        for d in attached
    ]


def _requirements() -> list[str]:
    """What the installed package declares, without the extras."""
    try:
        declared = importlib.metadata.requires("phoneworld") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [r for r in declared if "extra ==" not in r]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version.split("+")[0])[:3])


def _sudo() -> str:
    return "" if os.geteuid() == 0 else "sudo "


def _print(checks: Sequence[Check]) -> None:
    marks = {"ok": "[green]ok[/]", "missing": "[bold red]missing[/]", "advice": "[yellow]advice[/]"}
    table = Table(box=None, show_header=False, pad_edge=False)
    for check in checks:
        table.add_row(marks[check.verdict], f"[bold]{check.name}[/]", escape(check.found))
        if check.mend and check.verdict != "ok":
            table.add_row("", "", f"[dim]mend:[/] {escape(check.mend)}")
    console.print(table)
    missing = sum(c.verdict == "missing" for c in checks)
    console.print(
        "[green]everything that is needed is here[/]"
        if not missing
        else f"[bold red]{missing} needed {'thing is' if missing == 1 else 'things are'} missing[/]"
    )
