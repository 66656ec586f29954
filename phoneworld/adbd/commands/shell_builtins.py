"""What belongs to the shell itself: folders, variables, tests, waiting."""

from __future__ import annotations

import asyncio
import re

from phoneworld.adbd.commands.registry import COMMANDS, command
from phoneworld.adbd.shell import Call, ShellExit, Streams

_ESCAPE = re.compile(r"\\(n|t|r|\\|a|b|e|0\d{0,3}|x[0-9a-fA-F]{1,2})")
_LONGEST_SLEEP_S = 3600.0


def unescape(text: str) -> str:
    """Backslash escapes as `echo -e` and `printf` read them."""

    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] == "0":
            return chr(int(code[1:] or "0", 8) & 0xFF)
        if code[0] == "x":
            return chr(int(code[1:], 16))
        return {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "e": "\x1b"}[code]

    return _ESCAPE.sub(one, text)


@command("true", ":")
async def true(call: Call) -> int:
    return 0


@command("false")
async def false(call: Call) -> int:
    return 1


@command("exit")
async def leave(call: Call) -> int:
    raise ShellExit(int(call.args[0]) & 0xFF if call.args and call.args[0].isdigit() else call.shell.status)


@command("cd")
async def cd(call: Call) -> int:
    target = call.path(call.args[0] if call.args else "/")
    if not call.phone.files.is_folder(target):
        return await call.fail(f"/system/bin/sh: cd: {call.args[0]}: No such file or directory", 2)
    call.shell.cwd = target
    return 0


@command("pwd")
async def pwd(call: Call) -> int:
    await call.out(call.shell.cwd + "\n")
    return 0


@command("export", "set", "umask", "trap", "unset")
async def export(call: Call) -> int:
    """`export NAME=value` sets a variable, `unset NAME` removes one; the options of set, umask and trap change nothing here."""
    for word in call.args:
        name, equals, value = word.partition("=")
        if call.name == "export" and equals:
            call.shell.variables[name] = value
        elif call.name == "unset":
            call.shell.variables.pop(name, None)
    return 0


@command("echo")
async def echo(call: Call) -> int:
    args, end, escapes = list(call.args), "\n", False
    while args and re.fullmatch(r"-[neE]+", args[0]):
        flags = args.pop(0)
        end = "" if "n" in flags else end
        escapes = escapes or "e" in flags
    text = " ".join(args)
    await call.out((unescape(text) if escapes else text) + end)
    return 0


@command("printf")
async def printf(call: Call) -> int:
    """`printf FORMAT WORDS…` with %s %d %x %c %b and %%."""
    if not call.args:
        return await call.fail("printf: Needs 1 argument")
    form, words = unescape(call.args[0]), list(call.args[1:])
    out = ""
    while True:
        before = len(words)

        def one(match: re.Match[str]) -> str:
            flags, kind = match.groups()
            if kind == "%":
                return "%"
            word = words.pop(0) if words else ""
            if kind in "dxXu":
                return f"%{flags}{'d' if kind == 'u' else kind}" % (
                    int(word, 0) if re.fullmatch(r"-?(0x)?[0-9a-fA-F]+", word) else 0
                )
            return f"%{flags}s" % (unescape(word) if kind == "b" else word[:1] if kind == "c" else word)

        out += re.sub(r"%(-?0?\d{0,3})([sdxXucb%])", one, form)
        if not words or len(words) == before:
            break
    await call.out(out)
    return 0


@command("test", "[")
async def test(call: Call) -> int:
    """`[ -e F ]`, -f -d -r -w -x -s -n -z, = != -eq -ne -gt -ge -lt -le, `!`, -a and -o."""
    args = list(call.args)
    if call.name == "[":
        if args[-1:] != ["]"]:
            return await call.fail("/system/bin/sh: [: missing ]", 2)
        args.pop()
    for joint, every in (("-o", any), ("-a", all)):
        if joint in args[1:-1]:
            at = args.index(joint, 1)
            return 0 if every([await _holds(call, args[:at]), await _holds(call, args[at + 1 :])]) else 1
    return 0 if await _holds(call, args) else 1


async def _holds(call: Call, args: list[str]) -> bool:
    files = call.phone.files
    if args[:1] == ["!"]:
        return not await _holds(call, args[1:])
    match args:
        case []:
            return False
        case ["-n", word]:
            return bool(word)
        case ["-z", word]:
            return not word
        case ["-e" | "-r" | "-w" | "-x", path]:
            return files.exists(call.path(path))
        case ["-f", path]:
            return files.exists(call.path(path)) and not files.is_folder(call.path(path))
        case ["-d", path]:
            return files.is_folder(call.path(path))
        case ["-s", path]:
            return files.exists(call.path(path)) and files.stat(call.path(path)).size > 0
        case [left, "=" | "==", right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case [left, ("-eq" | "-ne" | "-gt" | "-ge" | "-lt" | "-le") as how, right] if _whole(left) and _whole(right):
            a, b = int(left), int(right)
            return {"-eq": a == b, "-ne": a != b, "-gt": a > b, "-ge": a >= b, "-lt": a < b, "-le": a <= b}[how]
        case [word]:
            return bool(word)
        case _:
            return False


def _whole(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None


@command("sleep")
async def sleep(call: Call) -> int:
    total = 0.0
    for word in call.args:
        found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)", word)
        if found is None:
            return await call.fail(f"sleep: bad number '{word}'")
        total += float(found.group(1)) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found.group(2)]
    await asyncio.sleep(min(total, _LONGEST_SLEEP_S))
    return 0


@command("wait")
async def wait(call: Call) -> int:
    await call.shell.wait()
    return 0


@command("sh", "eval")
async def sh(call: Call) -> int:
    """`sh -c LINE`, `sh FILE`, and eval."""
    if call.name == "eval":
        return await call.shell.run(" ".join(call.args), call.streams)
    if call.args[:1] == ["-c"] and len(call.args) > 1:
        line = call.args[1]
    elif call.args:
        line = call.phone.files.read(call.path(call.args[0])).decode(errors="surrogateescape")
    else:
        return await call.fail("/system/bin/sh: no command was given", 2)
    return await call.shell.fork().run(line, call.streams)


async def _run_words(call: Call, words: list[str]) -> int:
    return await call.shell.invoke(words, Streams(call.streams.stdin, call.streams.stdout, call.streams.stderr))


@command("toybox", "toolbox", "exec", "command", "nohup", "env")
async def applet(call: Call) -> int:
    """`toybox md5sum F`, `exec X`, `command -v X`: the command that follows, run or looked up."""
    if call.args[:1] == ["-v"]:
        found = len(call.args) > 1 and call.args[1] in COMMANDS
        if found:
            await call.out(f"/system/bin/{call.args[1]}\n")
        return 0 if found else 1
    return await _run_words(call, call.args) if call.args else 0


@command("which", "type")
async def which(call: Call) -> int:
    missing = [word for word in call.args if word not in COMMANDS]
    for word in call.args:
        if word in COMMANDS:
            await call.out(f"/system/bin/{word}\n")
    return 1 if missing or not call.args else 0


@command("timeout")
async def timeout(call: Call) -> int:
    """`timeout SECONDS COMMAND…`"""
    args = (
        [word for word in call.args if not word.startswith("-")]
        if call.args[:1] and call.args[0].startswith("-")
        else call.args
    )
    if len(args) < 2 or not re.fullmatch(r"\d+(\.\d+)?s?", args[0]):
        return await call.fail("timeout: Needs 2 arguments")
    try:
        return await asyncio.wait_for(_run_words(call, args[1:]), float(args[0].rstrip("s")))
    except TimeoutError:
        return 124
