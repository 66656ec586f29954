"""Ctrl-C, as a terminal sends it: to the command and to everything it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from phoneworld.errors import BrowserError
from phoneworld.render.browser import find_chromium
from phoneworld.testing.samples import sample_bundle

PHONEWORLD = [sys.executable, "-m", "phoneworld.cli.main"]


class Silent:
    """A web server that takes a request and never answers it."""

    def __init__(self) -> None:
        self.asked, self._end = threading.Event(), threading.Event()
        silent = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                silent.asked.set()
                silent._end.wait()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: the test's output is its own."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[Silent]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._end.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def started(*words: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PHONEWORLD, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=_as_at_a_terminal,
    )  # fmt: skip


def _as_at_a_terminal() -> None:
    """Ctrl-C is heard, also where the tests were started in the background of a shell, which has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(command: subprocess.Popen[str]) -> tuple[int, str]:
    """Its exit code and what it said to stderr, after Ctrl-C."""
    os.killpg(command.pid, signal.SIGINT)
    _, err = command.communicate(timeout=120)
    return command.returncode, err


@pytest.mark.parametrize(
    "words",
    [("phone", "--port", "0", "--no-connect"), ("record", "-o", "a.graph.json", "--device"), ("fidelity", "BUNDLE", "--against")],
    ids=lambda words: words[0],
)
def test_while_it_waits_for_a_page_it_ends_without_a_traceback(words: tuple[str, ...], tmp_path: Path) -> None:
    try:
        find_chromium()
    except BrowserError as e:
        pytest.skip(f"no Chromium: {e.message}")
    bundle = str(sample_bundle(tmp_path / "groceries").path)
    with Silent().running() as page:
        command = started(*(bundle if w == "BUNDLE" else str(tmp_path / w) if w == "a.graph.json" else w for w in words), f"web:{page.url}")
        assert page.asked.wait(timeout=120)
        assert interrupted(command) == (130, "")


def test_at_the_prompt_of_play_it_ends_without_a_traceback(tmp_path: Path) -> None:
    command = started("play", sample_bundle(tmp_path / "groceries").path)
    assert command.stderr is not None
    for line in command.stderr:
        if "quit" in line:  # the last line of the help, before the first prompt
            break
    status, err = interrupted(command)
    assert status == 130 and "Traceback" not in err
