"""Serves the folders of web apps on loopback, each on a port of its own, while a study lasts: an app per origin, so that their storage is apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """No line for each request."""

    def handle(self) -> None:
        # A page that is left while it loads hangs up.
        with suppress(ConnectionError):
            super().handle()


@contextmanager
def serving(folders: Mapping[str, Path]) -> Iterator[dict[str, str]]:
    """The URL of each folder, while this lasts."""
    with ExitStack() as stack:
        urls: dict[str, str] = {}
        for name, folder in folders.items():
            server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
            thread = Thread(target=server.serve_forever, daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            urls[name] = f"http://127.0.0.1:{server.server_address[1]}/"
        yield urls
