"""`logcat` and `log`: what the phone has logged; it streams until the peer goes, or ends with -d."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.journal import KEPT, LEVELS, Entry
from phoneworld.adbd.shell import Call

_WITH_VALUE = {"-v", "-b", "-t", "-T", "-m", "-e", "-r", "-n", "-f", "-G", "-P", "--pid", "--uid"}
_LONG_WITH_VALUE = {"--format", "--buffer", "--max-count", "--regex", "--pid", "--uid", "--file", "--rotate-kbytes", "--rotate-count", "--id"}
_SETS = {"--buffer-size", "--prune"}  # print without `=VALUE`
_FLAGS = {
    "-d", "--dump", "-c", "--clear", "-g", "--buffer-size", "-s", "-B", "--binary", "-D", "--dividers", "-L", "--last", "--print", "--wrap",
    "-S", "--statistics", "-p", "--prune",
}  # fmt: skip
_BUFFERS = ("main", "system", "radio", "events", "crash", "kernel", "security", "stats", "all", "default")
_SIZE = re.compile(r"([0-9]{1,9})([KMG]?)")
_SMALLEST, _LARGEST = 64 << 10, 256 << 20  # liblog's LOG_BUFFER_MIN_SIZE and _MAX_SIZE
_SYSTEM_UID = "1000"  # whose process writes all lines
_MODIFIERS = ("color", "descriptive", "epoch", "monotonic", "printable", "uid", "usec", "UTC", "year", "zone")
_WRITTEN = {"main", "system", "all", "default"}
_MOMENT = re.compile(r"(?:(?:(\d{4})-)?(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,3}))|(\d+)\.(\d{1,3})")
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
    """`logcat [-d] [-c] [-g] [-s] [-v FORMAT] [-t N] [-T N] [-m N] [-e REGEX] [-b BUFFER] [-G SIZE] [-L] [-S] [--pid PID] [TAG:LEVEL…]`"""
    if "--help" in call.args or "-h" in call.args:
        await call.out(f"usage: {' '.join((logcat.__doc__ or '').split()).strip('`')}\n")
        return 0
    flags: set[str] = set()
    values: dict[str, str] = {}
    rest: list[str] = []
    words = list(call.args)
    while words:
        word = words.pop(0)
        name, eq, value = word.partition("=")
        if word in _WITH_VALUE | _LONG_WITH_VALUE and words:
            values[word] = words.pop(0)
        elif eq and name in _LONG_WITH_VALUE | _SETS:
            values[name] = value
        elif word[:2] in ("-v", "-b", "-t", "-T", "-m", "-e", "-G") and len(word) > 2 and not word.startswith("--"):
            values[word[:2]] = word[2:]
        elif word in _FLAGS:
            flags.add(word)
        elif word.startswith("-") and word != "-":
            return await call.fail(f"logcat: {_complaint(word)}\nTry 'logcat --help' for more information.")
        else:
            rest.append(word)
    journal = call.phone.journal
    if flags & {"-c", "--clear"}:
        journal.clear()
        return 0
    if size := values.get("-G", values.get("--buffer-size", "")):
        asked_size = _SIZE.fullmatch(size)
        wanted_size = int(asked_size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[asked_size[2]] if asked_size else 0
        if not _SMALLEST <= wanted_size <= _LARGEST:
            return await call.fail(f"logcat: invalid -G '{size}': a size from 64K to 256M")
        journal.size = wanted_size
        return 0
    if flags & {"-g", "--buffer-size"}:
        await call.out(f"main: ring buffer is {_size_in_words(journal.size)} ({len(journal.after(0))} of {KEPT} lines used)\n")
        return 0
    if flags & {"-S", "--statistics"}:
        lines = journal.after(0)
        total = f"{sum(len(line.text.encode()) for line in lines)}/{len(lines)}"
        await call.out(f"size/num {'main':<18} Total\nTotal    {total:<18} {total}\nNow      {total:<18} {total}\n")
        return 0
    if flags & {"-p", "--prune"}:
        await call.out("\n")  # no list was given: nothing is pruned before the rest
        return 0
    if {"-P", "--prune"} & set(values) or flags & {"-L", "--last"}:
        return 0  # what was there before the last start: this phone has not started twice
    try:
        wanted = _Filter(rest, silent="-s" in flags, pattern=values.get("-e", values.get("--regex", "")))
    except re.error as e:
        return await call.fail(f"logcat: invalid regex: {e}")
    said = re.split(r"[\s,]+", values.get("-v", values.get("--format", "threadtime")).strip())
    if unknown := [name for name in said if name not in _FORMATS and name not in _MODIFIERS]:
        return await call.fail(f"logcat: invalid parameter '{unknown[0]}' to -v")
    form = next((name for name in said if name in _FORMATS), "threadtime")
    stamp = _stamps(said)
    if levels := [word for word in rest if word.partition(":")[2].upper() not in ("", "*", "S", *LEVELS)]:
        return await call.fail(f"logcat: Invalid filter expression '{levels[0]}'")
    process = values.get("--pid", "")
    if "--pid" in values and not process.isdecimal():
        return await call.fail(f"logcat: --pid '{process}': a process id")
    users = values.get("--uid", _SYSTEM_UID).split(",")
    if not all(user.isdecimal() for user in users):
        return await call.fail(f"logcat: Invalid UID '{values['--uid']}'")
    if flags & {"-B", "--binary"}:
        return await call.fail("logcat: -B is not served here: the log is text")
    if "-f" in values or "--file" in values:
        return await call.fail("logcat: -f is not served here: logcat -d > FILE")
    buffers = re.split(r"[\s,]+", values.get("-b", values.get("--buffer", "default")).strip())
    if unknown := [name for name in buffers if name not in _BUFFERS]:
        return await call.fail(f"logcat: Unknown -b buffer '{unknown[0]}'")
    since = values.get("-t", values.get("-T", ""))
    if since and not since.isdigit() and _MOMENT.fullmatch(since) is None:
        return await call.fail(f"logcat: Invalid -{'t' if '-t' in values else 'T'} '{since}': a number of lines, or MM-DD hh:mm:ss.mmm")
    asked = values.get("-m", values.get("--max-count", "0"))
    if not asked.isdigit():
        return await call.fail(f"logcat: Invalid -m '{asked}': a number of lines")
    last, most = int(since) if since.isdigit() else 0, int(asked)
    ends = bool(flags & {"-d", "--dump", "--wrap"}) or "-t" in values
    zone = datetime.UTC
    shown = journal.after(0)
    shown = shown[-last:] if last else shown
    if since and not last:
        year = datetime.datetime.fromtimestamp(await call.phone.now_s(), zone).year
        shown = [entry for entry in shown if entry.time_ms >= _moment_ms(since, year)]
    number = printed = 0
    while True:
        for entry in shown:
            number = entry.number
            is_wanted = (not process or int(process) == entry.process) and _SYSTEM_UID in users
            if is_wanted and wanted.passes(entry) and not _WRITTEN.isdisjoint(buffers):
                if not printed and form != "raw":
                    await call.out(_BEGIN)
                await call.out(_FORMATS[form](entry, stamp(_moment(entry.time_ms))))
                printed += 1
                if most and printed >= most:
                    return 0
        if ends:
            return 0
        shown = await journal.wait(number)


def _complaint(word: str) -> str:
    if word in _WITH_VALUE | _LONG_WITH_VALUE:
        return f"option '{word}' requires an argument" if word.startswith("--") else f"option requires an argument -- '{word[1:]}'"
    return f"unrecognized option '{word}'" if word.startswith("--") else f"invalid option -- '{word[1:2]}'"


def _moment_ms(text: str, year: int) -> int:
    """`MM-DD hh:mm:ss.mmm`, with or without the year, or seconds since 1970, in milliseconds. A day that is none is never."""
    found = _MOMENT.fullmatch(text)
    assert found is not None
    if found[8]:
        return int(found[8]) * 1000 + int(found[9].ljust(3, "0"))
    month, day, hour, minute, second = (int(part) for part in found.groups()[1:6])
    try:
        at = datetime.datetime(int(found[1] or year), month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return 1 << 62
    return int(at.timestamp()) * 1000 + int(found[7].ljust(3, "0"))


def _moment(time_ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(time_ms // 1000, datetime.UTC) + datetime.timedelta(milliseconds=time_ms % 1000)


def _size_in_words(size: int) -> str:
    unit, name = next((unit, name) for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")) if size % unit == 0)
    return f"{size // unit} {name}"


def _stamps(said: list[str]) -> Callable[[datetime.datetime], str]:
    """How moments are written, by the modifiers of -v."""
    digits = 6 if "usec" in said else 3
    form = "%Y-%m-%d %H:%M:%S" if "year" in said else "%m-%d %H:%M:%S"

    def stamp(at: datetime.datetime) -> str:
        share = f"{at.microsecond:06d}"[:digits]
        if "epoch" in said:
            return f"{int(at.timestamp())}.{share}"
        return f"{at.strftime(form)}.{share}{' +0000' if 'zone' in said else ''}"

    return stamp


_FORMATS = {
    "threadtime": lambda e, at: f"{at} {e.process:5d} {e.process:5d} {e.level} {e.tag:<8}: {e.text}\n",
    "time": lambda e, at: f"{at} {e.level}/{e.tag:<8}({e.process:5d}): {e.text}\n",
    "brief": lambda e, at: f"{e.level}/{e.tag:<8}({e.process:5d}): {e.text}\n",
    "tag": lambda e, at: f"{e.level}/{e.tag:<8}: {e.text}\n",
    "process": lambda e, at: f"{e.level}({e.process:5d}) {e.text}  ({e.tag})\n",
    "raw": lambda e, at: f"{e.text}\n",
    "long": lambda e, at: f"[ {at} {e.process:5d}:{e.process:5d} {e.level}/{e.tag} ]\n{e.text}\n\n",
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
