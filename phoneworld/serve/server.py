"""The app on a port: bound before anything is loaded into it, told about when it answers, freed when it ends."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn
from fastapi import FastAPI

from phoneworld.errors import ServeError
from phoneworld.program.bundle import Bundle, load_bundle
from phoneworld.serve.app import create_app

DEFAULT_PORT = 7600


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. Raises ServeError that names the host or the port where it cannot."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(256)
    except (OSError, OverflowError) as e:
        listener.close()
        reason = getattr(e, "strerror", None) or str(e)
        if isinstance(e, socket.gaierror) or getattr(e, "errno", None) == errno.EADDRNOTAVAIL:
            raise ServeError(f"{host!r} is no address of this machine: {reason}", hint="--host 127.0.0.1 for this machine only, --host 0.0.0.0 for all that can reach it") from None
        raise ServeError(f"port {port} on {host} cannot be used: {reason}", hint="choose another with --port, or --port 0 for any free one") from None
    return listener


def url_of(listener: socket.socket, host: str) -> str:
    """Where a browser on this machine finds it."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def named_bundles(paths: list[Path]) -> dict[str, Bundle]:
    """The bundles at these paths by short names of their own. Raises FileFormatError for one that cannot be read."""
    bundles: dict[str, Bundle] = {}
    for path in paths:
        resolved = path.resolve()
        stem = resolved.name.removesuffix(".bundle")
        name = resolved.parent.name if stem in ("bundle", "mock", "build") else stem
        unique, number = name, 2
        while unique in bundles:
            unique, number = f"{name}-{number}", number + 1
        bundles[unique] = load_bundle(path)
    return bundles


def bundles_in(folder: Path) -> list[Path]:
    """The bundles that lie in a folder of apps: each app's folder is one, or holds one."""
    if not folder.is_dir():
        return []
    return [p.parent for p in sorted([*folder.glob("*/program.json"), *folder.glob("*/*/program.json")])]


def run(app: FastAPI, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serves until Ctrl-C or SIGTERM; calls `on_ready` once it answers."""
    _Server(app, on_ready).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, app: FastAPI, on_ready: Callable[[], None]) -> None:
        super().__init__(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3, lifespan="on"))
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()


class ServedSite:
    """A server in a thread of this process, for demos and tests. Use it as a context manager; `url` is where it answers."""

    def __init__(self, bundles: Mapping[str, Bundle], *, port: int = 0, host: str = "127.0.0.1", **options: Any) -> None:
        self._listener = listen(host, port)
        self.url = url_of(self._listener, host)
        self.app = create_app(bundles, host=host, **options)
        self._ready = threading.Event()
        self._server = _Server(self.app, self._ready.set)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, name="phoneworld-serve", daemon=True)

    def __enter__(self) -> ServedSite:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends it and frees the port. May be called twice."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        self._listener.close()
