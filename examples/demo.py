"""`make demo`: the whole line with one small app, as a user would go it, with the commands a user would type.

A real web app is put behind adb as a phone; `phoneworld record` records it through the adb program; `phoneworld build` makes the
mock; `phoneworld serve` serves it; a browser drives it as a person would; the same is done on the real app; and what was
measured is printed. Exit code 0 only if every check held. On a terminal it goes on serving until Ctrl-C.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import httpx
from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageStat
from plan import Part, plan
from rich.console import Console
from rich.markup import escape

from phoneworld.device.adb import AdbDevice
from phoneworld.device.settle import settle
from phoneworld.errors import PhoneWorldError
from phoneworld.program.bundle import load_bundle
from phoneworld.render.browser import Browser
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, OpenApp, PressKey, Tap, TypeText
from phoneworld.ui.compare import compare_trees
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import parse_hierarchy

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "demo-out"
APP = ROOT / "examples" / "webapps" / "notes"
STEPS, SEED = 60, 3
WORDS = "Call the plumber"
PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]
console = Console()


@dataclass(slots=True)
class Checks:
    """What was checked, in words, and whether it held."""

    failed: int = 0

    def check(self, held: bool, words: str) -> None:
        self.failed += not held
        console.print(f"  [{'green' if held else 'red'}]{'✓' if held else '✗'}[/] {escape(words)}", highlight=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a phone shows: a tree and a picture."""

    tree: Hierarchy
    png: bytes


def main() -> int:
    began = time.monotonic()
    checks = Checks()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    graph, bundle = OUT / "notes.graph.json", OUT / "notes.bundle"
    with ExitStack() as stack:
        say("1  A phone: the notes app in Chromium, behind adb")
        url = stack.enter_context(served(APP))
        phone = stack.enter_context(command("phone", f"web:{url}", "--adb", "0", "--json"))
        serial = phone["serial"]
        checks.check(bool(phone["connected"]), f"adb is connected to {serial}")

        say("2  Recording it through the adb program")
        run("record", "--device", serial, "--steps", str(STEPS), "--seed", str(SEED), "-o", str(graph))

        say("3  Building the mock")
        run("build", str(graph), "-o", str(bundle))
        built = json.loads(run("build", str(graph), "-o", str(bundle), "--json", quiet=True))
        replay = built["replay"]
        checks.check(replay["exact"] == replay["steps"], f"{replay['exact']} of {replay['steps']} recorded steps replay in the mock with an equal tree")
        run("graph", "show", str(graph), "--html", str(OUT / "graph.html"))

        say("4  Serving it, and using it in a browser as a person would")
        server = stack.enter_context(command("serve", str(bundle), "--port", "0", "--json"))
        parts = plan(Phone([load_bundle(bundle).program]), WORDS)
        found = [part.name for part in parts]
        checks.check(found == ["open", "go back", "type and save", "go back again", "toggle"], "a person can " + ", ".join(found))
        mock = stack.enter_context(MockInBrowser(server["url"]))
        start = mock.shown()
        on_mock = [mock.do(part, checks) for part in parts]
        mock.reset()
        checks.check(mock.shown().tree == start.tree, "reset gives the start screen again")

        say("5  The same on the real app")
        on_real = act_on(serial, parts)
        width, height = start.tree.extent.width, start.tree.extent.height
        equal = 0
        for part, real, mocked in zip(parts, on_real, on_mock, strict=True):
            compared = compare_trees(real.tree, mocked.tree, Size(width, height))
            equal += compared.equal
            console.print(f"    {part.name}: {compared.compared} nodes compared, {len(compared.differences)} differ; mean pixel difference {pixel_difference(real.png, mocked.png):.1%}", highlight=False)
        picture = OUT / "real-and-mock.png"
        side_by_side(parts, on_real, on_mock).save(picture)

        say("6  Measured")
        run("bench", str(bundle), "--seconds", "1")
        console.print(f"\n  recording    {graph}\n  mock         {bundle}\n  report       {bundle / 'report.html'}\n  graph        {OUT / 'graph.html'}")
        console.print(f"  screenshots  {OUT}/*.png\n  side by side {picture}\n  served at    {server['url']}", highlight=False)
        console.print(f"  {equal} of {len(parts)} parts end with the same tree on the real app and the mock; {time.monotonic() - began:.0f} s in all\n", highlight=False)
        if checks.failed:
            console.print(f"[red]{checks.failed} checks did not hold[/]")
        elif sys.stdout.isatty():
            console.print(f"[bold green]{server['url']}[/] is being served; Ctrl-C ends it", highlight=False)
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                console.print()
    return 1 if checks.failed else 0


class MockInBrowser:
    """A person at the mock: a real browser on the phone's page, with mouse and keyboard."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=30)
        self._browser = Browser.launch()
        self._id = self._post("/api/sessions", {})["id"]
        self._page = self._browser.page(Size(360, 800))
        self._page.goto(f"{url}/sessions/{self._id}/page")
        self._page.wait_for_selector("#paper .screen")
        self._scale = 360 / self.shown().tree.extent.width

    def __enter__(self) -> MockInBrowser:
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._http.close()

    def _post(self, path: str, body: dict[str, object]) -> dict[str, object]:
        answer = self._http.post(path, json=body)
        answer.raise_for_status()
        told: dict[str, object] = answer.json()
        return told

    def shown(self) -> Shown:
        at = f"/api/sessions/{self._id}"
        tree = self._http.get(f"{at}/tree", params={"format": "xml"}).content
        return Shown(parse_hierarchy(tree), self._http.get(f"{at}/screenshot").content)

    def do(self, part: Part, checks: Checks) -> Shown:
        """Does a part by hand, and checks that the browser's phone is where the plan said it would be."""
        for action in part.actions:
            steps = self._count()
            presses = self._act(action)
            deadline = time.monotonic() + 20
            while self._count() < steps + presses and time.monotonic() < deadline:
                self._page.wait_for_timeout(30)
        log = self._http.get(f"/api/sessions/{self._id}/steps").json()
        evidence = sorted({step["evidence"] for step in log[-len(part.actions) :]})
        shown = self.shown()
        self._page.wait_for_timeout(200)
        (OUT / f"mock-{part.name.replace(' ', '-')}.png").write_bytes(self._page.screenshot())
        expected = Phone([load_bundle(OUT / "notes.bundle").program]).view(part.after).hierarchy
        checks.check(shown.tree == expected, f"{part.name}: done in the browser, {', '.join(evidence)}")
        return shown

    def _count(self) -> int:
        return int(self._http.get(f"/api/sessions/{self._id}").json()["steps"])

    def _act(self, action: Action) -> int:
        """Does an action with mouse or keyboard; returns how many steps the phone should have made."""
        match action:
            case Tap(x, y):
                self._page.mouse.click(x * self._scale, y * self._scale)
            case TypeText(text):
                self._page.keyboard.type(text)
                return len(text)
            case PressKey("back"):
                self._page.keyboard.press("Escape")
            case PressKey("enter"):
                self._page.keyboard.press("Enter")
            case _:
                raise PhoneWorldError(f"no hand for {action}")
        return 1

    def reset(self) -> None:
        self._post(f"/api/sessions/{self._id}/reset", {})


def act_on(serial: str, parts: list[Part]) -> list[Shown]:
    """What the real app shows after each part, through adb."""
    device = AdbDevice.find(serial)
    app = device.apps()[0].package
    device.clear_app(app)
    device.perform(OpenApp(app))
    settle(device)
    shown = []
    for part in parts:
        for action in part.actions:
            device.perform(action)
            reading = settle(device)
        (OUT / f"real-{part.name.replace(' ', '-')}.png").write_bytes(reading.screenshot)
        shown.append(Shown(reading.hierarchy, reading.screenshot))
    device.close()
    return shown


def pixel_difference(one: bytes, other: bytes) -> float:
    """The mean difference of two pictures of one size, 0 to 1."""
    a, b = (Image.open(BytesIO(png)).convert("RGB") for png in (one, other))
    if a.size != b.size:
        return 1.0
    return sum(ImageStat.Stat(ImageChops.difference(a, b)).mean) / 3 / 255


def side_by_side(parts: list[Part], real: list[Shown], mock: list[Shown]) -> Image.Image:
    """Pairs of pictures, real app left and mock right, one pair a part."""
    width, height, gap, top = 216, 480, 24, 56
    canvas = Image.new("RGB", (gap + len(parts) * (2 * width + 8 + gap), top + height + gap), "#f4f5f7")
    draw = ImageDraw.Draw(canvas)
    for i, part in enumerate(parts):
        left = gap + i * (2 * width + 8 + gap)
        draw.text((left, 10), part.name, fill="#1b1d21", font=ImageFont.load_default(18))
        for shown, x, name in ((real[i], left, "real app"), (mock[i], left + width + 8, "mock")):
            draw.text((x, 34), name, fill="#646973", font=ImageFont.load_default(13))
            canvas.paste(Image.open(BytesIO(shown.png)).convert("RGB").resize((width, height), Image.Resampling.LANCZOS), (x, top))
    return canvas


def say(words: str) -> None:
    console.print(f"\n[bold]{words}[/]", highlight=False)


def run(*words: str, quiet: bool = False) -> str:
    """Runs a verb to its end; its output goes to the terminal, or is returned."""
    if not quiet:
        console.print(f"[dim]$ phoneworld {' '.join(shorten(w) for w in words)}[/]", highlight=False)
    # In a session of its own, so that Ctrl-C reaches the demo, which then ends what it started in the right order.
    process = subprocess.Popen([*PHONEWORLD, *words], stdout=subprocess.PIPE if quiet else None, text=True, start_new_session=True)
    try:
        told, _ = process.communicate()
    except KeyboardInterrupt:
        process.terminate()
        process.wait(30)
        raise
    if process.returncode:
        raise SystemExit(f"phoneworld {words[0]} ended with {process.returncode}")
    return told or ""


def shorten(word: str) -> str:
    return word.removeprefix(f"{ROOT}/")


@contextmanager
def command(*words: str) -> Iterator[dict[str, object]]:
    """A verb that goes on running; yields the line of JSON it prints once it is ready."""
    console.print(f"[dim]$ phoneworld {' '.join(shorten(w) for w in words)}[/]", highlight=False)
    process = subprocess.Popen([*PHONEWORLD, *words], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"phoneworld {words[0]} ended with {process.wait()}")
        yield json.loads(line)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The URL of a static server over a folder, on loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """No line for each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PhoneWorldError as e:
        console.print(f"[red]error:[/] {escape(e.message)}\n  mend: {escape(e.hint)}")
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        console.print("interrupted")
        sys.exit(130)
