"""Runs a parsed line on the phone: expansion, pipes, redirection to the phone's own files, and the shell's own commands."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from phoneworld.adbd.arithmetic import ArithmeticFault, evaluate
from phoneworld.adbd.files import resolve
from phoneworld.adbd.pipes import Collected, Given, Nothing, Pipe, Sink, Source
from phoneworld.adbd.shell_parser import (
    Arithmetic,
    Group,
    Pipeline,
    Redirect,
    Script,
    ShellSyntaxError,
    Simple,
    Step,
    Substitution,
    Text,
    Variable,
    Word,
    parse,
)
from phoneworld.device.device import Device
from phoneworld.errors import PhoneWorldError

if TYPE_CHECKING:
    from phoneworld.adbd.phone import PhoneSide

T = TypeVar("T")
log = logging.getLogger("phoneworld.adbd")
_BIN = re.compile(r"^/(?:system|vendor|product|apex/[\w.]+)/(?:x?bin)/([^/]+)$")
_MAX_FIELDS = 20_000


class ShellExit(Exception):
    """`exit` was called."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class Streams:
    """The three streams of a command."""

    stdin: Source
    stdout: Sink
    stderr: Sink


@dataclass(slots=True)
class Call:
    """One run of one command: its words, its streams, its phone."""

    name: str
    args: list[str]
    streams: Streams
    phone: PhoneSide
    shell: Shell

    async def out(self, content: str | bytes) -> None:
        await self.streams.stdout.write(
            content if isinstance(content, bytes) else content.encode(errors="surrogateescape")
        )

    async def err(self, text: str) -> None:
        await self.streams.stderr.write(text.encode(errors="surrogateescape"))

    async def fail(self, text: str, status: int = 1) -> int:
        """Says on stderr what is wrong; gives the exit status."""
        await self.err(text.rstrip("\n") + "\n")
        return status

    async def device(self, ask: Callable[[Device], T]) -> T:
        """Calls the device on the one thread that owns it, and waits."""
        return await self.phone.owner.call(ask)

    def path(self, path: str) -> str:
        """An absolute name for a path as it was given to the command."""
        return resolve(path, self.shell.cwd)


CommandFunction = Callable[[Call], Awaitable[int]]


@dataclass(slots=True)
class Shell:
    """One shell: its folder, its variables, the status of its last command."""

    phone: PhoneSide
    commands: dict[str, CommandFunction]
    cwd: str = "/"
    variables: dict[str, str] = field(default_factory=dict)
    status: int = 0
    background: list[asyncio.Task[int]] = field(default_factory=list)

    async def run(self, source: str, streams: Streams) -> int:
        """Runs a text to its end, background commands included; returns the exit status."""
        try:
            script = parse(source)
        except ShellSyntaxError as e:
            await streams.stderr.write(f"/system/bin/sh: {e.message}\n".encode())
            self.status = 1
            return 1
        try:
            await self.run_script(script, streams)
        except ShellExit as e:
            self.status = e.status
        await self.wait()
        return self.status

    async def wait(self) -> None:
        """Waits for what runs in the background."""
        tasks, self.background = self.background, []
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def run_script(self, script: Script, streams: Streams) -> int:
        for step in script.steps:
            if (step.after == "&&" and self.status != 0) or (step.after == "||" and self.status == 0):
                continue
            if step.background:
                child = self.fork()
                task = asyncio.create_task(
                    child.run_child(Script((replace(step, background=False),)), replace(streams, stdin=Nothing()))
                )
                self.background.append(task)
                self.status = 0
            else:
                self.status = await self.run_pipeline(step.pipeline, streams)
        return self.status

    def fork(self) -> Shell:
        """A copy whose changes do not come back."""
        return Shell(self.phone, self.commands, self.cwd, dict(self.variables), self.status)

    async def run_child(self, script: Script, streams: Streams) -> int:
        try:
            await self.run_script(script, streams)
        except ShellExit as e:
            self.status = e.status
        await self.wait()
        return self.status

    async def run_pipeline(self, pipeline: Pipeline, streams: Streams) -> int:
        if len(pipeline.stages) == 1:
            status = await self.run_stage(pipeline.stages[0], streams)
        else:
            pipes = [Pipe() for _ in pipeline.stages[1:]]

            async def stage(i: int) -> int:
                own = replace(streams)
                if i > 0:
                    own.stdin = pipes[i - 1]
                if i < len(pipes):
                    own.stdout = pipes[i]
                try:
                    return await self.fork().run_child(Script((Step(Pipeline((pipeline.stages[i],))),)), own)
                finally:
                    if i > 0:
                        pipes[i - 1].abandon()
                    if i < len(pipes):
                        pipes[i].end()

            status = (await _together([stage(i) for i in range(len(pipeline.stages))]))[-1]
        return int(status == 0) if pipeline.negated else status

    async def run_stage(self, stage: Simple | Group, streams: Streams) -> int:
        own = replace(streams)
        try:
            writes = [await self.redirect(r, own) for r in stage.redirects]
        except OSError as e:
            verb = "create" if any(r.mode != "<" for r in stage.redirects) else "open"
            await streams.stderr.write(
                f"/system/bin/sh: can't {verb} {e.filename}: {e.strerror}\n".encode(errors="surrogateescape")
            )
            return 1
        if isinstance(stage, Group):
            shell = self.fork() if stage.subshell else self
            status = await (shell.run_child if stage.subshell else shell.run_script)(stage.script, own)
        else:
            status = await self.run_simple(stage, own)
        for finish in writes:
            if finish is not None:
                try:
                    await finish()
                except OSError as e:
                    await streams.stderr.write(
                        f"/system/bin/sh: {e.filename}: {e.strerror}\n".encode(errors="surrogateescape")
                    )
                    status = 1
        return status

    async def redirect(self, redirect: Redirect, streams: Streams) -> Callable[[], Awaitable[None]] | None:
        """Joins one stream to a file of the phone; returns what has to be done when the command has ended."""
        target = " ".join(await self.expand(redirect.target, streams))
        if redirect.mode == "dup":
            sink = {"1": streams.stdout, "2": streams.stderr}.get(target, Nothing() if target == "-" else None)
            if sink is None:
                raise OSError(9, "Bad file descriptor", f">&{target}")
            self._attach(streams, redirect.fd, sink)
            return None
        if target in ("/dev/null", "/dev/zero"):
            if redirect.fd == 0:
                streams.stdin = Nothing()
            else:
                self._attach(streams, redirect.fd, Nothing())
            return None
        if target in ("/dev/tty", "/dev/stdout", "/dev/stderr"):
            self._attach(streams, redirect.fd, streams.stderr if target.endswith("err") else streams.stdout)
            return None
        files, path = self.phone.files, resolve(target, self.cwd)
        if redirect.mode == "<":
            streams.stdin = Given(files.read(path))
            return None
        before = files.read(path) if redirect.mode == ">>" and files.exists(path) else b""
        now = await self.phone.now_s()
        files.write(path, before, mtime=now)  # made, or emptied, before the command runs, as on a phone
        written = Collected(limit=256 << 20)
        self._attach(streams, redirect.fd, written)

        async def finish() -> None:
            files.write(path, before + bytes(written.content), mtime=now)

        return finish

    @staticmethod
    def _attach(streams: Streams, fd: int, sink: Sink) -> None:
        if fd == 2:
            streams.stderr = sink
        else:
            streams.stdout = sink

    async def run_simple(self, command: Simple, streams: Streams) -> int:
        given = {name: "".join(await self.expand(word, streams, split=False)) for name, word in command.assignments}
        words: list[str] = []
        for word in command.words:
            words += await self.expand(word, streams)
            if len(words) > _MAX_FIELDS:
                await streams.stderr.write(b"/system/bin/sh: argument list too long\n")
                return 126
        if not words:
            self.variables |= given
            return (
                self.status if any(isinstance(p, Substitution) for _, w in command.assignments for p in w.parts) else 0
            )
        kept = dict(self.variables)
        self.variables |= given
        try:
            return await self.invoke(words, streams)
        finally:
            if given:
                self.variables = kept

    async def invoke(self, words: list[str], streams: Streams) -> int:
        """Runs one command by its words. Our errors become text on stderr and a status, as a phone's would."""
        name = _BIN.sub(r"\1", words[0])
        function = self.commands.get(name)
        if function is None:
            self.phone.refuse(" ".join(words))
            what, status = (
                ("can't execute: Permission denied", 126)
                if self._is_file(words[0])
                else ("inaccessible or not found", 127)
            )
            await streams.stderr.write(f"/system/bin/sh: {words[0]}: {what}\n".encode(errors="surrogateescape"))
            return status
        call = Call(name, words[1:], streams, self.phone, self)
        try:
            return await function(call)
        except BrokenPipeError:
            return 141
        except OSError as e:
            return await call.fail(f"{name}: {e.filename}: {e.strerror}" if e.filename else f"{name}: {e}")
        except PhoneWorldError as e:
            self.phone.refuse(f"{' '.join(words)}: {e.message}")
            return await call.fail(f"Error: {e.message}" + (f"\n{e.hint}" if e.hint else ""))

    def _is_file(self, path: str) -> bool:
        return "/" in path and self.phone.files.exists(resolve(path, self.cwd))

    async def expand(self, word: Word, streams: Streams, *, split: bool = True) -> list[str]:
        """The words that a word stands for: variables and commands put in, cut at blanks, patterns matched to files."""
        fields: list[str] = []
        pattern: list[str] = []  # the word under way, with quoted pattern characters put in brackets
        plain, started, wild = "", False, False

        def end_field() -> None:
            nonlocal plain, started, wild
            if started:
                matched = sorted(self.phone.files.glob("".join(pattern), self.cwd)) if wild and split else []
                fields.extend(matched or [plain])
            plain, started, wild = "", False, False
            pattern.clear()

        for part in word.parts:
            text = await self._text_of(part, streams)
            if part.quoted:
                plain, started = plain + text, True
                pattern.append(re.sub(r"([*?\[])", r"[\1]", text))
                continue
            pieces = re.split(r"[ \t\n]+", text) if split and not isinstance(part, Text) else [text]
            for i, piece in enumerate(pieces):
                if i > 0:
                    end_field()
                if piece:
                    plain, started = plain + piece, True
                    wild = wild or any(c in piece for c in "*?[")
                    pattern.append(piece)
        end_field()
        return fields

    async def _text_of(self, part: Text | Variable | Substitution | Arithmetic, streams: Streams) -> str:
        match part:
            case Text(text):
                return text
            case Variable(name, _, default):
                value = self.variable(name)
                return default if default is not None and not value else value
            case Arithmetic(expression):
                try:
                    return str(evaluate(expression, self.variable))
                except ArithmeticFault as e:
                    await streams.stderr.write(f"/system/bin/sh: {e.message}\n".encode(errors="surrogateescape"))
                    raise ShellExit(1) from None
            case Substitution(script):
                collected = Collected()
                child = self.fork()
                self.status = await child.run_child(script, replace(streams, stdout=collected))
                return collected.content.decode(errors="surrogateescape").rstrip("\n")

    def variable(self, name: str) -> str:
        match name:
            case "?":
                return str(self.status)
            case "$":
                return "2901"
            case "0":
                return "/system/bin/sh"
            case "#":
                return "0"
            case _:
                return self.variables.get(name, self.phone.environment.get(name, ""))


async def _together(stages: list[Awaitable[int]]) -> list[int]:
    """Runs all at once; when one breaks, the others are ended too."""
    tasks = [asyncio.ensure_future(stage) for stage in stages]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
