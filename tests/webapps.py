"""Real web apps to test with: ours from `examples/`, and others' from npm, fetched by the test and never committed."""

from __future__ import annotations

import functools
import math
import os
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import threading
import urllib.error
import urllib.request
import venv
import wave
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / "examples" / "webapps" / "notes"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phoneworld-tests"


class _Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, with headers for each, and one page for every path that is no file (where `fallback` names it)."""

    def __init__(self, *args: object, headers: Mapping[str, str], fallback: str, **kwargs: object) -> None:
        self._headers, self._fallback = headers, fallback
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def log_message(self, format: str, *args: object) -> None:
        """No line for each request."""

    def handle(self) -> None:
        # A page that is left while it loads hangs up.
        with suppress(ConnectionError):
            super().handle()

    def end_headers(self) -> None:
        for name, value in self._headers.items():
            self.send_header(name, value)
        super().end_headers()

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        return found if os.path.exists(found) or not self._fallback else super().translate_path(f"/{self._fallback}")


@contextmanager
def served(folder: Path, *, headers: Mapping[str, str] | None = None, fallback: str = "") -> Iterator[str]:
    """The URL of a static server over a folder, on loopback and a free port."""
    handler = functools.partial(_Quiet, directory=str(folder), headers=headers or {}, fallback=fallback)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
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


@contextmanager
def weui() -> Iterator[str]:
    """The example app of WeChat's own widget kit, as published in npm's `weui` 2.6.26 (MIT)."""
    with served(npm_package("weui", "2.6.26") / "dist") as url:
        yield url + "example/"


@contextmanager
def actual() -> Iterator[str]:
    """Actual, a personal finance app in the browser (npm `@actual-app/web` 26.9.0, MIT), with the headers that its database needs."""
    isolated = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
    with served(npm_package("@actual-app/web", "26.9.0") / "build", headers=isolated, fallback="index.html") as url:
        yield url


@contextmanager
def tiddlywiki(folder: Path) -> Iterator[str]:
    """A new wiki of TiddlyWiki (npm `tiddlywiki` 5.4.1, BSD) in a folder, served by its own server."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so TiddlyWiki's server cannot run")
    program = ["node", str(npm_package("tiddlywiki", "5.4.1") / "tiddlywiki.js"), str(folder / "wiki")]
    subprocess.run([*program, "--init", "server"], check=True, capture_output=True, timeout=60)
    port = free_port()
    with running([*program, "--listen", "host=127.0.0.1", f"port={port}"], port, folder / "tiddlywiki.log") as url:
        yield url


@contextmanager
def ihatemoney(folder: Path, port: int | None = None) -> Iterator[str]:
    """ihatemoney, shared bills (PyPI 7.2.1, BSD), in a venv of its own, with a new database in a folder."""
    programs = python_package("ihatemoney", "7.2.1")
    settings = folder / "ihatemoney.cfg"
    settings.write_text(
        f"SQLALCHEMY_DATABASE_URI = 'sqlite:///{folder / 'ihatemoney.sqlite'}'\n"
        "SQLALCHEMY_TRACK_MODIFICATIONS = False\nSECRET_KEY = 'a test'\nSESSION_COOKIE_SECURE = False\n"
        "MAIL_DEFAULT_SENDER = 'Test <test@example.org>'\nACTIVATE_DEMO_PROJECT = True\nADMIN_PASSWORD = ''\n"
        "ALLOW_PUBLIC_PROJECT_CREATION = True\nBABEL_DEFAULT_TIMEZONE = 'UTC'\nRATELIMIT_ENABLED = False\n",
        encoding="utf-8",
    )
    port = port or free_port()
    command = [str(programs / "ihatemoney"), "run", "--host", "127.0.0.1", "--port", str(port)]
    with running(command, port, folder / "ihatemoney.log", {"IHATEMONEY_SETTINGS_FILE_PATH": str(settings)}) as url:
        yield url


@contextmanager
def mopidy_mobile(folder: Path) -> Iterator[str]:
    """Mopidy-Mobile (PyPI 1.11.0, Apache-2.0) on Debian's mopidy, with three short songs of ours, played to nowhere."""
    if shutil.which("mopidy") is None:
        pytest.skip("mopidy is not installed (apt install mopidy mopidy-local gstreamer1.0-plugins-good)")
    # Mopidy runs on Debian's own Python: its extension is put beside that, not into an environment.
    beside = CACHE / "mopidy-mobile-1.11.0"
    if not beside.is_dir():
        fresh = CACHE / f".{beside.name}.{os.getpid()}"
        _pip([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(fresh), "mopidy-mobile==1.11.0"])
        fresh.rename(beside)
    media = folder / "media"
    media.mkdir()
    for i, name in enumerate(("Dawn", "Noon", "Dusk")):
        _song(media / f"{name}.wav", 220 * (i + 2))
    port = free_port()
    settings = folder / "mopidy.conf"
    settings.write_text(
        f"[core]\ncache_dir = {folder}/cache\nconfig_dir = {folder}/config\ndata_dir = {folder}/data\nrestore_state = false\n"
        f"[audio]\noutput = fakesink sync=true\nmixer = software\n[local]\nmedia_dir = {media}\n[file]\nenabled = false\n"
        f"[m3u]\nplaylists_dir = {folder}\n[http]\nhostname = 127.0.0.1\nport = {port}\nzeroconf =\n[mobile]\ntitle = Songs\n",
        encoding="utf-8",
    )
    (folder / "config").mkdir()
    program, beside_it = ["mopidy", "--config", str(settings)], {"PYTHONPATH": str(beside)}
    subprocess.run([*program, "local", "scan"], env=os.environ | beside_it, check=True, capture_output=True, timeout=120)
    with running(program, port, folder / "mopidy.log", beside_it) as url:
        yield url + "mobile/"


def python_package(name: str, version: str) -> Path:
    """The folder of programs of a virtual environment that holds one package of PyPI. Skips where it cannot be had."""
    target = CACHE / f"{name}-{version}"
    done = target / "installed"
    if not done.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        venv.create(target, with_pip=True, clear=True)
        _pip([str(target / "bin" / "python"), "-m", "pip", "install", "--quiet", f"{name}=={version}", "setuptools<81"])
        done.touch()
    return target / "bin"


def _pip(command: Sequence[str]) -> None:
    found = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if found.returncode:
        pytest.skip(f"pip could not install {command[-1]}: {found.stderr.strip()[-300:]}")


@contextmanager
def running(command: Sequence[str], port: int, log: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The URL of a server program, once it answers; ended afterwards."""
    url = f"http://127.0.0.1:{port}/"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | (environment or {}))
        try:
            for _ in range(600):
                if _answers(url):
                    break
                try:
                    process.wait(0.1)
                except subprocess.TimeoutExpired:
                    continue
                raise AssertionError(f"{command[0]} ended: {log.read_text(errors='replace')[-500:]}")
            yield url
        finally:
            process.terminate()
            process.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return int(answer.status) < 500
    except urllib.error.HTTPError as e:
        return e.code < 500
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _song(path: Path, pitch_hz: int) -> None:
    """Twenty seconds of one note."""
    with wave.open(str(path), "wb") as song:
        song.setnchannels(1)
        song.setsampwidth(2)
        song.setframerate(8000)
        song.writeframes(b"".join(struct.pack("<h", int(8000 * math.sin(i * pitch_hz * math.tau / 8000))) for i in range(160_000)))
