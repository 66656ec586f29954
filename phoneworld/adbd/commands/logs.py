"""`logcat` and `log`: what the phone has logged; it streams until the peer goes, or ends with -d."""

from __future__ import annotations

import datetime
import re

from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.journal import KEPT, LEVELS, Entry
from phoneworld.adbd.shell import Call

_WITH_VALUE = {"-v", "-b", "-t", "-T", "-m", "-e", "-r", "-n", "-f", "--pid", "--uid", "-D"}
_LEVEL_ORDER = {level: i for i, level in enumerate(LEVELS)}
_BEGIN = "--------- beginning of main\n"


class _Filter:
    """`TAG:LEVEL` words, as logcat reads them: the first that names the tag decides, `*` for the rest."""

    def __init__(self, words: list[str], *, silent: bool, pattern: str) -> None:
        self._levels: dict[str, str] = {}
        for word in words:
            tag, _, level = word.partition(":")
            self._levels.setdefault(tag, (level or "V").upper()[:1])
        self._rest = self._levels.pop("*", "S" if silent else "V")
        self._pattern = re.compile(pattern) if pattern else None

    def passes(self, entry: Entry) -> bool:
        least = self._levels.get(entry.tag, self._rest)
        if least == "S" or _LEVEL_ORDER[entry.level] < _LEVEL_ORDER.get(least, 0):
            return False
        return self._pattern is None or self._pattern.search(entry.text) is not None


@command("logcat")
async def logcat(call: Call) -> int:
    """`logcat [-d] [-c] [-g] [-s] [-v FORMAT] [-t N] [-T N] [-m N] [-e REGEX] [-b BUFFER] [TAG:LEVEL…]`"""
    flags: set[str] = set()
    values: dict[str, str] = {}
    rest: list[str] = []
    words = list(call.args)
    while words:
        word = words.pop(0)
        name, eq, value = word.partition("=")
        if word in _WITH_VALUE and words:
            values[word] = words.pop(0)
        elif eq and name.startswith("--"):
            values[name] = value
        elif word[:2] in ("-v", "-b", "-t", "-T", "-m", "-e") and len(word) > 2 and not word.startswith("--"):
            values[word[:2]] = word[2:]
        elif word.startswith("-"):
            flags.add(word)
        else:
            rest.append(word)
    journal = call.phone.journal
    if flags & {"-c", "--clear"}:
        journal.clear()
        return 0
    if flags & {"-g", "--buffer-size"}:
        await call.out(f"main: ring buffer is 256 KiB ({len(journal.after(0))} of {KEPT} lines used)\n")
        return 0
    try:
        wanted = _Filter(rest, silent="-s" in flags, pattern=values.get("-e", values.get("--regex", "")))
    except re.error as e:
        return await call.fail(f"logcat: invalid regex: {e}")
    form = values.get("-v", values.get("--format", "threadtime")).split()[0] if values.get("-v", "x").strip() else ""
    if form not in _FORMATS:
        return await call.fail(f"logcat: invalid parameter '{form}' to -v")
    last = next((int(values[name]) for name in ("-t", "-T") if values.get(name, "").isdigit()), 0)
    most = int(values["-m"]) if values.get("-m", "").isdigit() else 0
    ends = bool(flags & {"-d", "--dump"}) or "-t" in values
    zone = datetime.UTC
    shown = journal.after(0)
    shown = shown[-last:] if last else shown
    if form != "raw":
        await call.out(_BEGIN)
    number = printed = 0
    while True:
        for entry in shown:
            number = entry.number
            if wanted.passes(entry):
                await call.out(_FORMATS[form](entry, datetime.datetime.fromtimestamp(entry.time_ms / 1000, zone)))
                printed += 1
                if most and printed >= most:
                    return 0
        if ends:
            return 0
        shown = await journal.wait(number)


def _when(at: datetime.datetime) -> str:
    return at.strftime("%m-%d %H:%M:%S.") + f"{at.microsecond // 1000:03d}"


_FORMATS = {
    "threadtime": lambda e, at: f"{_when(at)} {e.process:5d} {e.process:5d} {e.level} {e.tag:<8}: {e.text}\n",
    "time": lambda e, at: f"{_when(at)} {e.level}/{e.tag:<8}({e.process:5d}): {e.text}\n",
    "brief": lambda e, at: f"{e.level}/{e.tag:<8}({e.process:5d}): {e.text}\n",
    "tag": lambda e, at: f"{e.level}/{e.tag:<8}: {e.text}\n",
    "process": lambda e, at: f"{e.level}({e.process:5d}) {e.text}  ({e.tag})\n",
    "raw": lambda e, at: f"{e.text}\n",
    "long": lambda e, at: f"[ {_when(at)} {e.process:5d}:{e.process:5d} {e.level}/{e.tag} ]\n{e.text}\n\n",
}


@command("log")
async def log(call: Call) -> int:
    """`log [-p LEVEL] [-t TAG] WORDS…`: a line of the shell's own."""
    level, tag, words = "I", "log", list(call.args)
    while words and words[0] in ("-p", "-t") and len(words) > 1:
        option, value = words.pop(0), words.pop(0)
        if option == "-t":
            tag = value
        elif value[:1].upper() in LEVELS:
            level = value[:1].upper()
        else:
            return await call.fail(f"log: -p needs one of {' '.join(LEVELS)}")
    await call.phone.note(tag, " ".join(words), level)
    return 0
