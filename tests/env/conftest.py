"""The sample app as a bundle, behind a real HTTP server and behind the real adb program; each once a session."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from phoneworld.adbd.server import AdbPhone
from phoneworld.device.mock import MockDevice
from phoneworld.program.bundle import Bundle
from phoneworld.render.frames import Renderer
from phoneworld.serve.app import create_app
from phoneworld.testing.samples import sample_bundle


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return sample_bundle(tmp_path_factory.mktemp("sample") / "groceries.bundle")


@pytest.fixture(scope="session")
def server_url(bundle: Bundle) -> Iterator[str]:
    """The address of a real uvicorn that serves the bundle."""
    server = uvicorn.Server(uvicorn.Config(create_app({"groceries": bundle}), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        thread.join(0.02)
    assert server.started
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    assert httpx.get(f"{url}/api/bundles").is_success
    yield url
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="session")
def adb_serial(bundle: Bundle, adb_server: int) -> Iterator[str]:
    """The serial of the sample phone behind the real adb."""
    with AdbPhone(lambda: MockDevice([bundle], draw=Renderer.of), port=0) as phone:
        base = ["adb", "-P", str(adb_server)]
        told = subprocess.run([*base, "connect", phone.serial], capture_output=True, timeout=20, check=True).stdout
        assert told.startswith(b"connected to"), told
        yield phone.serial
        subprocess.run([*base, "disconnect", phone.serial], capture_output=True, timeout=20, check=True)
