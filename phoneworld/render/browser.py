"""The only place that starts Chromium. Knows pages and processes, nothing of phones.

Playwright starts Chromium over a pipe, in a process group of its own. So it dies in each of the ways in which we can end:
`close()` and `atexit` kill the group; when we are killed, Playwright's driver sees its input end and kills the group; and
when the driver is killed as well, Chromium sees the pipe end. The group is found by a mark on its command line.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

import psutil  # type: ignore[import-untyped]
from playwright.sync_api import Browser as PlaywrightBrowser
from playwright.sync_api import BrowserContext, CDPSession, Page, Playwright, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from phoneworld.errors import BrowserError
from phoneworld.ui.geometry import Size

_BINARIES = (
    # The real binaries first: /usr/bin/chromium-headless-shell is a shell script that does not exec.
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium-browser/headless_shell",
)
_ON_PATH = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

# One frozen configuration: the same tree gives the same bytes on one machine.
_FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--no-first-run",
)


def find_chromium() -> Path:
    """The Chromium to start: `$PHONEWORLD_CHROMIUM`, the headless shell, one on the PATH, or Playwright's own.

    Raises BrowserError, with the one command that installs it, where there is none.
    """
    if chosen := os.environ.get("PHONEWORLD_CHROMIUM"):
        if os.access(chosen, os.X_OK) and Path(chosen).is_file():
            return Path(chosen)
        raise BrowserError(
            f"PHONEWORLD_CHROMIUM is {chosen!r}, which is no program that can be run",
            hint="unset PHONEWORLD_CHROMIUM, or set it to the path of a Chromium binary",
        )
    for binary in _BINARIES:
        if os.access(binary, os.X_OK):
            return Path(binary)
    for name in _ON_PATH:
        if found := shutil.which(name):
            return Path(found)
    if own := _playwrights_own():
        return own[0]
    raise BrowserError("no Chromium is installed: screenshots and web phones need one", hint=_install_command())


def _playwrights_own() -> list[Path]:
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    patterns = ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome")
    return [p for pattern in patterns for p in sorted(root.glob(pattern), reverse=True) if os.access(p, os.X_OK)]


def _install_command() -> str:
    release = Path("/etc/os-release")
    if release.is_file() and "ID=debian" in release.read_text(encoding="utf-8", errors="replace").split():
        return ("" if os.geteuid() == 0 else "sudo ") + "apt-get install -y chromium"
    return f"{sys.executable} -m playwright install --with-deps chromium-headless-shell"


class _ThreadPlaywright(threading.local):
    """Playwright's sync API allows one driver a thread; the browsers of a thread share it. One that died is replaced."""

    def __init__(self) -> None:
        self.driver: Playwright | None = None
        self.process: psutil.Process | None = None
        self.users = 0

    def take(self) -> Playwright:
        if self.driver is not None and self.process is not None and not _runs(self.process):
            self._stop(self.driver)
            self.driver, self.users = None, 0
        if self.driver is None:
            with _starting:
                others = set(psutil.Process().children())
                self.driver = sync_playwright().start()
                self.process = next((p for p in psutil.Process().children() if p not in others and _is_driver(p)), None)
        self.users += 1
        return self.driver

    def give_back(self) -> None:
        self.users -= 1
        if self.users == 0 and self.driver is not None:
            driver, self.driver = self.driver, None
            self._stop(driver)

    def _stop(self, driver: Playwright) -> None:
        with suppress(PlaywrightError), _ended_after(LIMIT_S, (), self.process):
            driver.stop()


_starting = threading.Lock()
_thread = _ThreadPlaywright()


def _is_driver(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "run-driver" in process.cmdline()
    return False


LIMIT_S = 30.0
"""How long Chromium may take for what Playwright waits for without a limit: milliseconds on a quiet machine, seconds on a crowded one."""
DRIVER_S = 5.0
"""How long Playwright's driver may take to tell of a Chromium that was killed."""
_processes_of: WeakKeyDictionary[PlaywrightBrowser, tuple[psutil.Process, ...]] = WeakKeyDictionary()
_driver_of: WeakKeyDictionary[PlaywrightBrowser, psutil.Process] = WeakKeyDictionary()


@contextmanager
def _ended_after(limit_s: float, chromium: Sequence[psutil.Process], driver: psutil.Process | None) -> Iterator[threading.Event]:
    """Kills Chromium where the block takes longer, and Playwright's driver where even that does not end it. The event tells."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        _kill(chromium)
        if chromium and not done.wait(DRIVER_S):
            end_driver()

    def end_driver() -> None:
        if driver is not None:
            with suppress(psutil.Error):
                driver.kill()

    done = threading.Event()
    timer = threading.Timer(limit_s, end if chromium else end_driver)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        done.set()
        timer.cancel()


@contextmanager
def limited(of: Page | BrowserContext | PlaywrightBrowser, limit_s: float | None = None) -> Iterator[None]:
    """Gives calls that have no limit of their own one (opening and closing pages, answering dialogs, evaluating), `LIMIT_S` where none is named.

    A Chromium that has not answered by then is killed: that ends the call; where it does not, Playwright's driver is too.
    Raises BrowserError then; what else Playwright raises passes through.
    """
    browser = of if isinstance(of, PlaywrightBrowser) else (of if isinstance(of, BrowserContext) else of.context).browser
    limit = LIMIT_S if limit_s is None else limit_s
    chromium, driver = (_processes_of.get(browser, ()), _driver_of.get(browser)) if browser is not None else ((), None)
    with _ended_after(limit, chromium, driver) as is_late:
        try:
            yield
        except Exception:  # a driver that was killed says so with an exception of no class of its own
            if not is_late.is_set():
                raise
    if is_late.is_set():  # a page is closed, says Playwright, where its browser has died
        raise BrowserError(f"Chromium did not answer within {limit:g} s and was ended", hint="start again; is the machine short of memory?")


def cdp(session: CDPSession, method: str, params: dict[str, Any] | None, timeout_ms: float) -> dict[str, Any]:
    """One CDP call. Raises what Playwright raises.

    `CDPSession.send` looks at each number and text of an answer for objects of Playwright's own, of which CDP has none: for the snapshot of a page that is
    a third of all the time it takes. So its two halves are called apart; where a Playwright has no such halves, it is called whole.
    """
    sync, inner = getattr(session, "_sync", None), getattr(session, "_impl_obj", None)
    if sync is None or inner is None:
        return dict(session.send(method, params, timeout=timeout_ms))
    return dict(sync(inner.send(method=method, params=params or {}, timeout=timeout_ms)))


class Browser:
    """One headless Chromium. It belongs to the thread that launched it; only `close` may be called from another."""

    def __init__(self, playwright: PlaywrightBrowser, processes: tuple[psutil.Process, ...]) -> None:
        self._playwright = playwright
        self._processes = processes
        self._owner = threading.get_ident()
        self._closed = False
        _processes_of[playwright] = processes
        if _thread.process is not None:
            _driver_of[playwright] = _thread.process
        atexit.register(self.close)

    @classmethod
    def launch(cls) -> Browser:
        """Starts Chromium (about 0.1 s). Raises BrowserError where it is missing or does not come up.

        The thread must not be running an asyncio loop. As root, and with PHONEWORLD_NO_SANDBOX=1, it runs without its
        sandbox, which Chromium refuses to root.
        """
        binary = find_chromium()
        mark = f"--phoneworld-mark={uuid.uuid4().hex}"
        sandbox = os.geteuid() != 0 and os.environ.get("PHONEWORLD_NO_SANDBOX") != "1"
        try:
            driver = _thread.take()
        except PlaywrightError as e:
            raise BrowserError(f"Playwright does not start here: {_first_line(e)}", hint="call it from a plain thread") from None
        try:
            # Signals are ours to handle: without this Ctrl-C would tear Chromium down under a page in use.
            started = driver.chromium.launch(
                executable_path=binary, args=[*_FLAGS, mark], chromium_sandbox=sandbox, headless=True,
                handle_sigint=False, handle_sigterm=False, handle_sighup=False,
            )  # fmt: skip
        except PlaywrightError as e:
            _kill(_marked(mark))
            _thread.give_back()
            hint = f"run `{binary} --headless --version`; reinstall it with: {_install_command()}"
            if sandbox and "sandbox" in str(e).lower():
                hint = "set PHONEWORLD_NO_SANDBOX=1 (this machine allows no user namespaces)"
            raise BrowserError(f"Chromium at {binary} does not start: {_first_line(e)}", hint=hint) from None
        return cls(started, _marked(mark))

    @property
    def alive(self) -> bool:
        """False once it was closed or died."""
        return not self._closed and any(_runs(p) for p in self._processes)

    @property
    def version(self) -> str:
        """Chromium's version, such as `156.0.8078.108`."""
        return self._playwright.version

    def page(
        self, size: Size | None, *, scale: float = 1, mobile: bool = False, touch: bool = False, **context_options: Any
    ) -> Page:
        """A page in a new context of its own; `size` in CSS pixels. Close it with `page.context.close()`.

        With `size` None no screen is emulated (`scale` and `mobile` are not used): the caller does it in a CDP session of
        its own, in which alone screenshots then come at full scale. Raises BrowserError where the browser is closed or dead, or where another thread asks.
        """
        if threading.get_ident() != self._owner:
            raise BrowserError("this browser belongs to another thread", hint="launch one in this thread")
        if self._closed:
            raise BrowserError("this browser is closed", hint="launch another")
        options: dict[str, Any] = {
            "locale": "en-US", "timezone_id": "UTC", "reduced_motion": "reduce", "color_scheme": "light", **context_options,
        }  # fmt: skip
        if size is None:
            options["no_viewport"] = True
        else:
            options |= {
                "viewport": {"width": size.width, "height": size.height}, "device_scale_factor": scale, "is_mobile": mobile,
            }  # fmt: skip
        try:
            with limited(self._playwright):
                context = self._playwright.new_context(has_touch=touch, **options)
                return context.new_page()
        except PlaywrightError as e:
            raise BrowserError(f"Chromium opens no page: {_first_line(e)}", hint="it died or was killed; start again") from None

    def close(self) -> None:
        """Ends Chromium and everything it started. May be called twice, and from any thread."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if threading.get_ident() == self._owner:
            with suppress(PlaywrightError, BrowserError), limited(self._playwright):
                self._playwright.close()
            _kill(self._processes)
            with suppress(PlaywrightError):
                _thread.give_back()
        else:
            _kill(self._processes)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "[err]" in line), lines[0] if lines else type(error).__name__)


def _marked(mark: str) -> tuple[psutil.Process, ...]:
    """Our descendants that carry the mark: Chromium's main process, and the shell script around it where there is one."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if mark in process.cmdline():
                found.append(process)
    return tuple(found)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _kill(processes: Sequence[psutil.Process]) -> None:
    """Kills the process groups of these processes, never our own, and waits until they are gone."""
    for process in processes:
        with suppress(ProcessLookupError, psutil.Error):
            group = os.getpgid(process.pid)
            if process.is_running() and group != os.getpgid(0):
                os.killpg(group, signal.SIGKILL)
    psutil.wait_procs(list(processes), timeout=5)
