"""`adb shell` without a command: a small line editor where there is a terminal, else a script that comes on stdin."""

from __future__ import annotations

from dataclasses import replace

from phoneworld.adbd.pipes import Nothing, Sent
from phoneworld.adbd.shell import Shell, Streams

PROMPT = b"phone:/ $ "
_MAX_LINE = 64 * 1024


async def interact(shell: Shell, streams: Streams, *, terminal: bool) -> int:
    """Runs line after line until the end of the input or `exit`; returns the last status."""
    ended = False
    if not terminal:
        own = replace(streams, stdin=Nothing())
        pending = b""
        while not ended and (chunk := await streams.stdin.read()):
            *lines, pending = (pending + chunk).split(b"\n")
            for command in lines:
                if not ended:
                    ended = await _run(shell, command, own)
        if pending and not ended:
            await _run(shell, pending, own)
        return shell.status

    async def with_returns(chunk: bytes) -> None:
        await streams.stdout.write(chunk.replace(b"\n", b"\r\n"))

    screen = Sent(with_returns)
    own = Streams(Nothing(), screen, screen)
    line = bytearray()
    await streams.stdout.write(PROMPT)
    while chunk := await streams.stdin.read():
        for byte in chunk:
            match byte:
                case 0x0D | 0x0A:
                    await streams.stdout.write(b"\r\n")
                    ended = await _run(shell, bytes(line), own)
                    line.clear()
                    if ended:
                        return shell.status
                    await streams.stdout.write(PROMPT)
                case 0x7F | 0x08:
                    if line:
                        del line[-1:]
                        await streams.stdout.write(b"\b \b")
                case 0x03:
                    line.clear()
                    await streams.stdout.write(b"^C\r\n" + PROMPT)
                case 0x04:
                    if not line:
                        await streams.stdout.write(b"\r\n")
                        return shell.status
                case _ if byte >= 0x20 and len(line) < _MAX_LINE:
                    line.append(byte)
                    await streams.stdout.write(bytes([byte]))
    return shell.status


async def _run(shell: Shell, line: bytes, streams: Streams) -> bool:
    """Runs a line; True where it ended the shell."""
    text = line.decode(errors="surrogateescape").rstrip("\r")
    await shell.run(text, streams)
    return text.split()[:1] == ["exit"]
