"""What the tests of the adb face share: a shell on a pocket phone without adb, and the real adb program on a port of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import pytest

from phoneworld.adbd.commands import COMMANDS
from phoneworld.adbd.phone import PhoneSide
from phoneworld.adbd.pipes import Collected, Given
from phoneworld.adbd.server import AdbPhone
from phoneworld.adbd.shell import Shell, Streams
from tests.adbd.pocket import PocketPhone

needs_adb = pytest.mark.skipif(shutil.which("adb") is None, reason="the adb program is not installed (apt install adb)")


T = TypeVar("T")


def run_apart(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine, run on a thread of its own: on this one a browser that is driven may have a loop running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@dataclass(slots=True)
class Desk:
    """A pocket phone and its shell, without any adb between."""

    phone: PhoneSide
    device: PocketPhone

    def sh(self, line: str, stdin: bytes = b"") -> tuple[str, str, int]:
        """stdout, stderr and the status of a line."""
        out, err, status = self.raw(line, stdin)
        return out.decode(errors="surrogateescape"), err.decode(errors="surrogateescape"), status

    def raw(self, line: str, stdin: bytes = b"") -> tuple[bytes, bytes, int]:
        stdout, stderr = Collected(), Collected()
        status = run_apart(Shell(self.phone, COMMANDS).run(line, Streams(Given(stdin), stdout, stderr)))
        return bytes(stdout.content), bytes(stderr.content), status

    def out(self, line: str) -> str:
        """stdout of a line that must succeed and say nothing on stderr."""
        out, err, status = self.sh(line)
        assert (err, status) == ("", 0), (line, err, status)
        return out


@pytest.fixture
def desk() -> Iterator[Desk]:
    device = PocketPhone()
    phone = PhoneSide(device)
    phone.open()
    yield Desk(phone, device)
    phone.close()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture(scope="session")
def adb_server() -> Iterator[int]:
    """An adb server of the test's own, by its port; ended with the session. Nobody else's is touched."""
    port = free_port()
    before = os.environ.get("ANDROID_ADB_SERVER_PORT")
    os.environ["ANDROID_ADB_SERVER_PORT"] = str(port)
    subprocess.run(["adb", "-P", str(port), "start-server"], check=True, capture_output=True, timeout=20)
    yield port
    subprocess.run(["adb", "-P", str(port), "kill-server"], check=False, capture_output=True, timeout=20)
    if before is None:
        del os.environ["ANDROID_ADB_SERVER_PORT"]
    else:
        os.environ["ANDROID_ADB_SERVER_PORT"] = before


@dataclass(slots=True)
class Attached:
    """A pocket phone that the real adb is connected to."""

    served: AdbPhone
    device: PocketPhone
    server_port: int

    @property
    def serial(self) -> str:
        return self.served.serial

    def adb(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        command = ["adb", "-P", str(self.server_port), "-s", self.serial, *words]
        return subprocess.run(command, capture_output=True, timeout=20, input=stdin, check=False)

    def shell(self, line: str) -> tuple[str, str, int]:
        done = self.adb("shell", line)
        return done.stdout.decode(), done.stderr.decode(), done.returncode


@pytest.fixture
def attached(adb_server: int) -> Iterator[Attached]:
    device = PocketPhone()
    with AdbPhone(device, port=0) as served:
        base = ["adb", "-P", str(adb_server)]
        told = subprocess.run([*base, "connect", served.serial], capture_output=True, timeout=20, check=True).stdout
        assert told.startswith(b"connected to"), told
        yield Attached(served, device, adb_server)
        # One that was taken away in the test is no longer attached.
        subprocess.run([*base, "disconnect", served.serial], capture_output=True, timeout=20, check=False)


@contextmanager
def streaming(phone: Attached, line: str) -> Iterator[subprocess.Popen[bytes]]:
    """A shell command that does not end by itself, under the real adb; ended with the block."""
    command = ["adb", "-P", str(phone.server_port), "-s", phone.serial, "shell", line]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    watchdog = threading.Timer(30, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.wait(timeout=10)


def until(holds: Callable[[], bool]) -> None:
    """Waits for what another thread does; fails after 20 s."""
    done = threading.Event()
    for _ in range(2000):
        if holds():
            return
        done.wait(0.01)
    raise AssertionError("it did not come about within 20 s")
