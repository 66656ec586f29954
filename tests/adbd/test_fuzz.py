"""A valid prefix, then random bytes, at every decoder that faces the network: no traceback, no hang, bounded memory."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Callable

import pytest

from phoneworld.adbd.codec import VERSION, Command, Packet
from phoneworld.adbd.commands import COMMANDS
from phoneworld.adbd.connection import Connection
from phoneworld.adbd.files import FileTree
from phoneworld.adbd.frames import MAX_FRAME, Frame, FrameReader, Kind
from phoneworld.adbd.phone import PhoneSide
from phoneworld.adbd.pipes import Collected, Given
from phoneworld.adbd.shell import Shell, Streams
from phoneworld.adbd.shell_parser import ShellSyntaxError, parse
from phoneworld.adbd.sync import MAX_CHUNK, SyncSession
from phoneworld.adbd.uia2.http import MAX_BODY, MAX_HEAD, RequestReader
from phoneworld.adbd.uia2.server import Uia2Server
from phoneworld.errors import WireError
from tests.adbd.fixtures import run_apart
from tests.adbd.pocket import PocketPhone

FAST, SLOW = 2_000, 100_000
_CONNECT = Packet(Command.CNXN, VERSION, 1 << 20, b"host::features=shell_v2\0").encode()
_OPEN = Packet(Command.OPEN, 7, 0, b"shell:id\0").encode(check=False)
_LINES = ("input tap 1 1", "ls /sdcard | grep a", 'echo "$(id)" > /sdcard/x', "a=1 b && c || d; e &", "cat < /sdcard/x")


def noise(rng: random.Random, valid: bytes) -> bytes:
    """The prefix of something valid, then random bytes; now and then only a few bits of it are turned."""
    kept = valid[: rng.randrange(len(valid) + 1)]
    if rng.random() < 0.5:
        return kept + rng.randbytes(rng.randrange(64))
    changed = bytearray(valid)
    for _ in range(rng.randrange(1, 4)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed) + rng.randbytes(rng.randrange(16))


def transport(rng: random.Random) -> None:
    connection = Connection("device::")
    try:
        connection.receive(_CONNECT)
        for _ in range(3):
            for event in connection.receive(noise(rng, _OPEN)):
                if hasattr(event, "service"):
                    connection.accept(event.stream)
    except WireError:
        return
    assert connection._reader.held <= (1 << 20) + 24
    connection.output()


def sync(rng: random.Random) -> None:
    path = b"/sdcard/x,33206"
    requests = (
        b"SEND" + struct.pack("<I", len(path)) + path + b"DATA" + struct.pack("<I", 4) + b"abcd" + b"DONE" + struct.pack("<I", 1),
        b"STAT" + struct.pack("<I", 7) + b"/sdcard",
        b"RCV2" + struct.pack("<I", 7) + b"/sdcard" + b"RCV2" + struct.pack("<I", 0),
        b"LIS2" + struct.pack("<I", 7) + b"/sdcard",
    )
    session = SyncSession(_FILES)
    before = _FILES.entries
    try:
        for answer in session.feed(noise(rng, rng.choice(requests))):
            assert len(answer) <= MAX_CHUNK + 8
    except WireError:
        return
    finally:
        _FILES.entries = before
    assert len(session._buffer) <= MAX_CHUNK + 1024 + 32


_FILES = FileTree()


def frames(rng: random.Random) -> None:
    valid = Frame(Kind.STDIN, b"some words").encode() + Frame(Kind.CLOSE_STDIN).encode()
    reader = FrameReader()
    try:
        for _ in range(3):
            reader.feed(noise(rng, valid))
    except WireError:
        return
    assert len(reader._buffer) <= MAX_FRAME + 5


def shell(rng: random.Random) -> None:
    line = noise(rng, rng.choice(_LINES).encode()).decode(errors="surrogateescape")
    try:
        parse(line)
    except ShellSyntaxError as e:
        assert e.message


def http(rng: random.Random) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"click","params":[1,2]}'
    valid = b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    reader = RequestReader()
    try:
        reader.feed(noise(rng, valid))
    except WireError:
        return
    assert len(reader._buffer) <= MAX_HEAD + MAX_BODY


DECODERS: dict[str, Callable[[random.Random], None]] = {
    "transport": transport, "sync": sync, "frames": frames, "shell": shell, "http": http,
}  # fmt: skip


@pytest.mark.parametrize("decoder", DECODERS)
def test_random_bytes_after_a_valid_prefix_are_survived(decoder: str) -> None:
    rng = random.Random(1)
    for _ in range(FAST):
        DECODERS[decoder](rng)


@pytest.mark.slow
@pytest.mark.parametrize("decoder", DECODERS)
def test_a_hundred_thousand_of_them_are(decoder: str) -> None:
    rng = random.Random(2)
    for _ in range(SLOW):
        DECODERS[decoder](rng)


def test_random_lines_are_run_to_an_end() -> None:
    """Not only parsed: what the shell does with them ends in a status, and never in a traceback."""
    rng = random.Random(3)
    phone = PhoneSide(PocketPhone())
    phone.open()
    words = sorted(set(COMMANDS) - {"sleep", "timeout", "getevent", "logcat", "app_process", "app_process32", "app_process64"})
    extras = ["-p", "-l", "-c", "/sdcard", "1", "-1", "99999999999999999999", "é", "''", "$?", "|", "&&", ";", ">", "*", "%s", "org.example.pocket"]

    async def run() -> None:
        for _ in range(FAST):
            line = " ".join([rng.choice(words), *(rng.choice(extras) for _ in range(rng.randrange(5)))])
            stdout, stderr = Collected(), Collected()
            status = await asyncio.wait_for(Shell(phone, COMMANDS).run(line, Streams(Given(b"x\ny\n"), stdout, stderr)), 10)
            assert 0 <= status & 0xFF <= 255, line
            assert b"Traceback" not in stderr.content, line

    run_apart(run())
    phone.close()


def test_random_calls_of_uiautomator2_are_answered() -> None:
    from phoneworld.adbd.uia2.methods import METHODS

    rng = random.Random(4)
    phone = PhoneSide(PocketPhone())
    phone.open()
    server = Uia2Server(phone)
    values = [None, True, 0, -1, 1.5, 10**30, "x", "", [], {}, {"text": "Plus", "mask": 1}, {"mask": "x"}, [1, 2, 3, 4], {"x": 1, "y": 2}, {"textMatches": "("}]
    values.append({"childOrSibling": ["child"], "childOrSiblingSelector": [3]})
    names = sorted(METHODS)

    async def run() -> None:
        import json

        for _ in range(FAST):
            asked = {"id": 1, "method": rng.choice(names), "params": [rng.choice(values) for _ in range(rng.randrange(6))]}
            if asked["method"].startswith("wait") and len(asked["params"]) > 1:
                asked["params"][1] = 0
            answer = await asyncio.wait_for(server.call(json.dumps(asked).encode()), 20)
            assert ("result" in answer) != ("error" in answer), asked

    run_apart(run())
    phone.close()
