"""`adb reverse`: a port of the phone whose connections go to a port of the peer. Real adb keeps the list on the phone's side."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Protocol

from phoneworld.adbd.phone import Duplex, PhoneSide

_SPEC = re.compile(r"(?:tcp:\d{1,5}|(?:localabstract|localreserved|localfilesystem):[^;]{1,200})")
_FIRST_FREE_PORT, _LAST_PORT = 40000, 65535


class BackStream(Duplex, Protocol):
    """A stream that this side has opened."""

    def close(self) -> None: ...


class Reversal:
    """What listens on the phone for one reversed port. `owner` is the connection that asked; it ends with it."""

    def __init__(self, owner: object, target: str, open_back: Callable[[str], BackStream]) -> None:
        self.owner = owner
        self.target = target
        self._open_back = open_back

    async def serve(self, stream: Duplex) -> None:
        """Joins a connection to one of the peer's until either ends."""
        back = self._open_back(self.target)
        try:
            await _join(stream, back)
        finally:
            back.close()


async def _join(a: Duplex, b: Duplex) -> None:
    async def pump(source: Duplex, sink: Duplex) -> None:
        try:
            while chunk := await source.read():
                await sink.write(chunk)
        except BrokenPipeError:
            return

    tasks = [asyncio.ensure_future(pump(a, b)), asyncio.ensure_future(pump(b, a))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def answer(phone: PhoneSide, request: str, owner: object, open_back: Callable[[str], BackStream]) -> bytes:
    """Does what `reverse:REQUEST` asks, and answers as adbd does."""
    verb, _, rest = request.partition(":")
    kept = {at: one for at, one in phone.listeners.items() if isinstance(one, Reversal)}
    match verb:
        case "list-forward":
            return _text("".join(f"(reverse) {at} {one.target}\n" for at, one in kept.items()))
        case "forward":
            fresh_only = rest.startswith("norebind:")
            local, _, target = rest.removeprefix("norebind:").partition(";")
            if not _SPEC.fullmatch(local) or not _SPEC.fullmatch(target):
                return _fail(f"bad forward: {rest[:200]}")
            chosen = ""
            if local == "tcp:0":
                free = (n for n in range(_FIRST_FREE_PORT, _LAST_PORT) if f"tcp:{n}" not in phone.listeners)
                chosen = str(next(free))
                local = f"tcp:{chosen}"
            if local in phone.listeners and (fresh_only or local not in kept):
                return _fail(f"cannot bind listener: {local} is in use")
            phone.listeners[local] = Reversal(owner, target, open_back)
            return b"OKAY" + (_text(chosen) if chosen else b"")
        case "killforward":
            if rest not in kept:
                return _fail(f"listener '{rest}' not found")
            del phone.listeners[rest]
            return b"OKAY"
        case "killforward-all":
            for at in kept:
                del phone.listeners[at]
            return b"OKAY"
        case _:
            return _fail(f"unknown reverse request {verb[:40]}")


def end_those_of(phone: PhoneSide, owner: object) -> None:
    """Ends what a connection has reversed, when it goes."""
    for at, one in list(phone.listeners.items()):
        if isinstance(one, Reversal) and one.owner is owner:
            del phone.listeners[at]


def _text(text: str) -> bytes:
    raw = text.encode()
    return f"{len(raw):04x}".encode() + raw


def _fail(text: str) -> bytes:
    return b"FAIL" + _text(text)
