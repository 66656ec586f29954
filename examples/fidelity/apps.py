"""The apps that fidelity is measured on: how each is started, on what phone, and how its server is put back before a trace."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import pbkdf2_hmac
from pathlib import Path
from urllib.request import urlopen

from phoneworld.fidelity.heldout import Pace
from phoneworld.ui.geometry import Size
from tests.webapps import NOTES, actual, free_port, ihatemoney, npm_package, running, served, todomvc, weui

WEBAPPS = NOTES.parent
_IHATEMONEY_PORT = 46_201
_MONDAY = 1_772_443_800_000  # 2026-03-02T09:30Z
CURVE = (75, 150, 300, 600)
SLOW = Pace(0.12, 0.45, 3)
# The reference apps have answers that come after 1.5 s and toasts of 2 to 6 s: none of these ends near a multiple of 2.5 s.
STEADY = Pace(0.12, 0.35, 3, step_s=2.5)


@dataclass(frozen=True, slots=True)
class Started:
    """An app that runs: the URL of its start page, and what puts its server back; as a command too, where one does it."""

    url: str
    ready: Callable[[], None] = lambda: None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class App:
    """An app of the lab. `start` is given an empty folder for what its server keeps.

    `actions` are the numbers of recorded actions after which it is measured, `clock_ms` freezes the pages' `Date`, `seed` makes
    their `Math.random` repeat. `frozen` apps are ours and were written before the compiler saw a recording of them.
    """

    name: str
    start: Callable[[Path], AbstractContextManager[Started]]
    size: Size = Size(1080, 2400)
    density: int = 480
    pace: Pace = Pace(0.06, 0.18, 3)
    actions: tuple[int, ...] = (300,)
    clock_ms: int | None = None
    seed: int | None = None
    frozen: bool = False

    @property
    def package(self) -> str:
        return f"org.example.{self.name}"


def _static(folder: Callable[[], Path], page: str = "") -> Callable[[Path], AbstractContextManager[Started]]:
    @contextmanager
    def start(_: Path) -> Iterator[Started]:
        with served(folder()) as url:
            yield Started(url + page)

    return start


def _todomvc(name: str, actions: tuple[int, ...] = (300, 600)) -> App:
    # Without a viewport meta these pages are as wide as the screen, and never narrower than 550 css px: 600 dp are a large phone,
    # on which the delete button of a row, which shows while the row is touched, is in sight.
    return App(name, _static(lambda: todomvc(name)), Size(1200, 2400), 320, actions=actions)


@contextmanager
def _weui(_: Path) -> Iterator[Started]:
    with weui() as url:
        yield Started(url)


@contextmanager
def _ihatemoney(folder: Path) -> Iterator[Started]:
    # Its pages show its own address, and in it a token made of the salt of the project's code, which is drawn at random when the
    # demonstration is first opened.
    with ihatemoney(folder, _IHATEMONEY_PORT) as url:
        urlopen(f"{url}demo", timeout=30).close()
        database = folder / "ihatemoney.sqlite"
        with closing(sqlite3.connect(database)) as live:
            code = pbkdf2_hmac("sha256", b"demo", b"lab", 1000).hex()
            live.execute("UPDATE project SET password = ?", (f"pbkdf2:sha256:1000$lab${code}",))
            live.commit()
        with closing(sqlite3.connect(database)) as live, closing(sqlite3.connect(":memory:")) as pristine:
            live.backup(pristine)
            yield Started(f"{url}demo", lambda: pristine.backup(live))


@contextmanager
def _bank(folder: Path) -> Iterator[Started]:
    port = free_port()
    data = folder / "bank"
    command = [sys.executable, str(WEBAPPS / "bank" / "server.py"), "--port", str(port), "--data", str(data), "--now", "2026-03-02T09:30"]
    with running(command, port, folder / "bank.log") as url:
        # Without its file the bank begins again with its first content.
        kept = data / "bank.sqlite3"
        yield Started(url, lambda: kept.unlink(missing_ok=True), ("rm", "-f", str(kept)))


@contextmanager
def _tiddlywiki(folder: Path) -> Iterator[Started]:
    port = free_port()
    program = ["node", str(npm_package("tiddlywiki", "5.4.1") / "tiddlywiki.js")]
    pristine, wiki = folder / "pristine", folder / "wiki"
    subprocess.run([*program, str(pristine), "--init", "server"], check=True, capture_output=True, timeout=60)
    with ExitStack() as server:

        def again() -> None:
            """The server keeps the wiki in memory: a new one, on the same port, for each trace."""
            server.close()
            shutil.rmtree(wiki, ignore_errors=True)
            shutil.copytree(pristine, wiki)
            server.enter_context(running([*program, str(wiki), "--listen", "host=127.0.0.1", f"port={port}"], port, folder / "log"))

        again()
        yield Started(f"http://127.0.0.1:{port}/", again)


@contextmanager
def _actual(_: Path) -> Iterator[Started]:
    with actual() as url:
        yield Started(url)


def _ours(name: str, actions: tuple[int, ...] = (300,)) -> App:
    return App(name, _static(lambda: WEBAPPS / name), pace=STEADY, actions=actions, clock_ms=_MONDAY, frozen=True)


APPS: dict[str, App] = {
    app.name: app
    for app in (
        _todomvc("vanillajs", CURVE),
        *(_todomvc(name) for name in ("react", "vue", "backbone", "knockoutjs")),
        App("notes", _static(lambda: NOTES), clock_ms=_MONDAY),
        App("weui", _weui, pace=Pace(0.12, 0.35, 3)),
        App("ihatemoney", _ihatemoney, pace=SLOW, actions=CURVE, seed=1),  # ids of its tooltips are drawn by chance
        App("tiddlywiki", _tiddlywiki, pace=SLOW),
        App("actual", _actual, pace=Pace(0.12, 0.45, 12), seed=1),  # its widgets have ids drawn by chance
        _ours("shop", CURVE),
        *(_ours(name) for name in ("messages", "agenda", "settings", "food")),
        App("bank", _bank, pace=SLOW, frozen=True),
    )
}
