"""Filters: what clients put behind a pipe."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from phoneworld.adbd.commands.files import read_path
from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.commands.shell_builtins import unescape
from phoneworld.adbd.pipes import read_all
from phoneworld.adbd.shell import Call

_LONGEST_LINE = 64 << 20


async def _input(call: Call, paths: list[str]) -> str:
    if not paths:
        return (await read_all(call.streams.stdin)).decode(errors="surrogateescape")
    return "".join([(await read_path(call, path)).decode(errors="surrogateescape") for path in paths])


async def _lines(call: Call, paths: list[str]) -> AsyncIterator[str]:
    """Line after line as they come, so that a filter behind a stream that does not end prints what it finds."""
    if paths:
        for line in (await _input(call, paths)).splitlines():
            yield line
        return
    pending = b""
    while chunk := await call.streams.stdin.read():
        *whole, pending = (pending + chunk).split(b"\n")
        if len(pending) > _LONGEST_LINE:
            raise BrokenPipeError
        for raw in whole:
            yield raw.decode(errors="surrogateescape").removesuffix("\r")
    if pending:
        yield pending.decode(errors="surrogateescape")


def _basic(pattern: str) -> str:
    """A basic regular expression as an extended one: there the signs ( ) { } + ? | are special only behind a backslash."""

    def turn(match: re.Match[str]) -> str:
        sign = match.group()
        if len(sign) == 1:
            return "\\" + sign
        return sign[1] if sign[1] in "(){}+?|" else sign

    return re.sub(r"\\?[(){}+?|]|\\.", turn, pattern)


@command("grep", "egrep", "fgrep")
async def grep(call: Call) -> int:
    """`grep [-E -F -i -v -c -q -o -n -w -m N -e P] PATTERN [FILE…]`; status 1 where nothing matches."""
    flags: set[str] = set("E" if call.name == "egrep" else "F" if call.name == "fgrep" else "")
    patterns: list[str] = []
    rest: list[str] = []
    most = -1
    args = iter(call.args)
    for word in args:
        if word in ("-e", "-m"):
            value = next(args, "")
            if word == "-e":
                patterns.append(value)
            elif value.isdigit():
                most = int(value)
        elif word.startswith("-") and len(word) > 1:
            flags.update(
                word.lstrip("-") if not word.startswith("--") else {"--line-buffered": "", "--color": ""}.get(word, "")
            )
        else:
            rest.append(word)
    if not patterns:
        if not rest:
            return await call.fail("grep: no REGEX", 2)
        patterns.append(rest.pop(0))
    texts = [re.escape(p) if "F" in flags else p if "E" in flags else _basic(p) for p in patterns]
    edge = r"\b" if "w" in flags else ""
    try:
        found = re.compile("|".join(f"{edge}(?:{text}){edge}" for text in texts), re.IGNORECASE if "i" in flags else 0)
    except re.error as e:
        return await call.fail(f"grep: bad REGEX '{patterns[0]}': {e}", 2)
    hits = number = 0
    quiet, counting = "q" in flags, "c" in flags
    async for line in _lines(call, rest):
        number += 1
        if (found.search(line) is None) == ("v" not in flags):
            continue
        hits += 1
        if quiet:
            return 0
        if not counting:
            only = "o" in flags and "v" not in flags
            shown = [m.group() for m in found.finditer(line) if m.group()] if only else [line]
            await call.out("".join(f"{number}:{text}\n" if "n" in flags else f"{text}\n" for text in shown))
        if hits == most:
            break
    if counting:
        await call.out(f"{hits}\n")
    return 0 if hits else 1


def _count(args: list[str], default: int) -> tuple[str, int, list[str]]:
    """What `head` and `tail` are to show: lines (`n`) or bytes (`c`), how many, of what. Raises ValueError for no number."""
    unit, count, rest = "n", default, []
    words = iter(args)
    for word in words:
        if match := re.fullmatch(r"-([nc])?(\d+)", word):
            unit, count = match.group(1) or "n", int(match.group(2))
        elif word in ("-n", "-c"):
            unit, count = word[1], _number(next(words, ""))
        else:
            rest.append(word)
    return unit, count, rest


def _number(text: str) -> int:
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"not integer: {text}" if text else "Needs an argument after -n or -c")
    return int(digits)


@command("head", "tail")
async def head(call: Call) -> int:
    try:
        unit, count, paths = _count(call.args, 10)
    except ValueError as e:
        return await call.fail(f"{call.name}: {e}")
    text = await _input(call, paths)
    pieces = text.encode(errors="surrogateescape") if unit == "c" else text.splitlines(keepends=True)
    kept = pieces[:count] if call.name == "head" else pieces[max(0, len(pieces) - count) :]
    await call.out(kept if isinstance(kept, bytes) else "".join(kept))
    return 0


@command("wc")
async def wc(call: Call) -> int:
    flags = {c for word in call.args if word.startswith("-") for c in word[1:]}
    if unknown := flags - set("lwcm"):
        return await call.fail(f"wc: Unknown option '{min(unknown)}'")
    paths = [word for word in call.args if not word.startswith("-")]
    rows = []
    for path in paths or [""]:
        text = await _input(call, [path] if path else [])
        size = len(text.encode(errors="surrogateescape"))
        counts = {"l": text.count("\n"), "w": len(text.split()), "c": size, "m": len(text)}
        rows.append(([n for k, n in counts.items() if k in (flags or "lwc")], path))
    if len(rows) > 1:
        rows.append(([sum(of) for of in zip(*(counts for counts, _ in rows), strict=True)], "total"))
    await call.out("".join(" ".join([*map(str, counts), *([name] if name else [])]) + "\n" for counts, name in rows))
    return 0


@command("sort")
async def sort(call: Call) -> int:
    flags = {c for word in call.args if word.startswith("-") for c in word[1:]}
    lines = (await _input(call, [word for word in call.args if not word.startswith("-")])).splitlines()
    lines.sort(
        key=lambda line: (int(m.group()) if "n" in flags and (m := re.match(r"\s*-?\d+", line)) else 0, line),
        reverse="r" in flags,
    )
    if "u" in flags:
        lines = list(dict.fromkeys(lines))
    await call.out("".join(f"{line}\n" for line in lines))
    return 0


@command("tr")
async def tr(call: Call) -> int:
    """`tr -d SET` and `tr SET SET`, with escapes and ranges."""

    def members(text: str) -> str:
        return re.sub(
            r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m.group(1)), ord(m.group(2)) + 1))), unescape(text)
        )

    text = await _input(call, [])
    match call.args:
        case ["-d", gone]:
            await call.out(text.translate({ord(c): None for c in members(gone)}))
        case [old, new] if new:
            a, b = members(old), members(new)
            await call.out(text.translate({ord(c): b[min(i, len(b) - 1)] for i, c in enumerate(a)}))
        case _:
            return await call.fail("tr: Needs 2 arguments")
    return 0
