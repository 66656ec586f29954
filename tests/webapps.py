"""Real web apps to test with: ours from `examples/`, and others' from npm, fetched by the test and never committed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / "examples" / "webapps" / "notes"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phoneworld-tests"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """No line for each request."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The URL of a static server over a folder, on loopback and a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def npm_package(name: str, version: str) -> Path:
    """The unpacked files of a package as published on npm. Skips where npm or the registry is not to be had."""
    target = CACHE / f"{name.strip('@').replace('/', '-')}-{version}"
    if (target / "package.json").is_file():
        return target
    if shutil.which("npm") is None:
        pytest.skip(f"npm is not installed, so {name} cannot be fetched")
    CACHE.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{name}@{version}", "--pack-destination", str(CACHE)], capture_output=True, text=True, timeout=300
    )
    if packed.returncode:
        pytest.skip(f"npm could not fetch {name}@{version}: {packed.stderr.strip()[-200:]}")
    archive = CACHE / packed.stdout.strip().splitlines()[-1]
    fresh = CACHE / f".{target.name}.{os.getpid()}"
    with tarfile.open(archive) as tar:
        tar.extractall(fresh, filter="data")
    try:
        (fresh / "package").rename(target)
    except OSError:
        if not target.is_dir():
            raise
    shutil.rmtree(fresh, ignore_errors=True)
    archive.unlink(missing_ok=True)
    return target


def todomvc(example: str = "vanillajs") -> Path:
    """One implementation of TodoMVC, as published in npm's `todomvc` 0.1.1 (MIT)."""
    return npm_package("todomvc", "0.1.1") / "examples" / example
