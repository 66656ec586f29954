"""Commands on the phone's own files."""

from __future__ import annotations

import datetime
import fnmatch
import hashlib
import stat
import time

from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.files import MAX_TREE_BYTES, Entry
from phoneworld.adbd.pipes import read_all
from phoneworld.adbd.shell import Call


def split_options(args: list[str]) -> tuple[set[str], list[str]]:
    """One-letter and long options, and the rest; `--` ends the options."""
    options: set[str] = set()
    rest: list[str] = []
    for i, word in enumerate(args):
        if word == "--":
            return options, rest + args[i + 1 :]
        if word.startswith("--"):
            options.add(word)
        elif word.startswith("-") and len(word) > 1:
            options.update(word[1:])
        else:
            rest.append(word)
    return options, rest


@command("cat")
async def cat(call: Call) -> int:
    _, paths = split_options(call.args)
    status = 0
    for path in paths or ["-"]:
        if path == "-":
            while chunk := await call.streams.stdin.read():
                await call.out(chunk)
            continue
        try:
            await call.out(await read_path(call, path))
        except OSError as e:
            status = await call.fail(f"cat: {path}: {e.strerror}")
    return status


async def read_path(call: Call, path: str) -> bytes:
    """A file of the phone, or one of the few files that the kernel makes up."""
    name = call.path(path)
    if name == "/proc/uptime":
        return f"{time.monotonic() - call.phone.started_s:.2f} 0.00\n".encode()
    if name == "/proc/meminfo":
        return b"MemTotal:        4028416 kB\nMemFree:         1208320 kB\nMemAvailable:    2416640 kB\n"
    if name == "/system/build.prop":
        return "".join(f"{k}={v}\n" for k, v in sorted(call.phone.properties.items())).encode()
    return call.phone.files.read(name)


def _long(name: str, entry: Entry) -> str:
    when = datetime.datetime.fromtimestamp(entry.mtime, datetime.UTC).strftime("%Y-%m-%d %H:%M")
    return f"{stat.filemode(entry.mode)} {2 if entry.content is None else 1} shell sdcard_rw {entry.size:>8} {when} {name}\n"


@command("ls")
async def ls(call: Call) -> int:
    options, paths = split_options(call.args)
    files, status = call.phone.files, 0
    waiting = paths or ["."]
    is_titled, gap = len(waiting) > 1 or "R" in options, ""
    while waiting:
        path, *waiting = waiting
        try:
            entry = files.stat(call.path(path))
        except OSError as e:
            status = await call.fail(f"ls: {path}: {e.strerror}")
            continue
        if entry.content is not None or "d" in options:
            names = [(path, entry)]
        else:
            names = [
                (n, e)
                for n, e in files.listing(call.path(path))
                if "a" in options or "A" in options or not n.startswith(".")
            ]
            if is_titled:
                await call.out(f"{gap}{path}:\n")
                gap = "\n"
            if "R" in options:
                waiting = [*(f"{path.rstrip('/')}/{n}" for n, e in names if e.content is None), *waiting]
            if "l" in options:
                await call.out(f"total {sum((e.size + 511) // 512 for _, e in names)}\n")
            if "a" in options:
                names = [(".", entry), ("..", entry), *names]
        await call.out("".join(_long(n, e) if "l" in options else f"{n}\n" for n, e in names))
    return status


@command("find")
async def find(call: Call) -> int:
    """`find [PATH…] [-maxdepth N] [-mindepth N] [-name PATTERN] [-iname PATTERN] [-type f|d] [-print]`, all of which must hold."""
    words = list(call.args)
    paths: list[str] = []
    while words and not words[0].startswith(("-", "(", "!")):
        paths.append(words.pop(0))
    least, most, tests = 0, len(call.phone.files.entries), []
    while words:
        word = words.pop(0)
        if word == "-print":
            continue
        if word not in ("-maxdepth", "-mindepth", "-name", "-iname", "-type"):
            call.phone.refuse("find " + " ".join(call.args))
            return await call.fail(f"find: bad arg '{word}': served are -maxdepth -mindepth -name -iname -type -print")
        if not words:
            return await call.fail(f"find: '{word}' needs 1 arg")
        value = words.pop(0)
        if word in ("-maxdepth", "-mindepth"):
            if not value.isdecimal():
                return await call.fail(f"find: {word} '{value}': a number of folders")
            least, most = (least, int(value)) if word == "-maxdepth" else (int(value), most)
        elif word == "-type" and value not in ("f", "d"):
            return await call.fail(f"find: bad -type '{value}': f or d")
        else:
            tests.append((word, value))
    status = 0
    for path in paths or ["."]:
        top = call.path(path)
        if not call.phone.files.exists(top):
            status = await call.fail(f"find: '{path}': No such file or directory")
            continue
        inside = top.rstrip("/") + "/"
        found = [name for name in call.phone.files.entries if name == top or name.startswith(inside)]
        for name in sorted(found, key=lambda name: name.split("/")):
            below = name[len(inside) :] if name != top else ""
            depth = len(below.split("/")) if below else 0
            if least <= depth <= most and all(_holds(test, name if below else path, call.phone.files.entries[name]) for test in tests):
                await call.out((f"{path.rstrip('/')}/{below}" if below else path) + "\n")
    return status


def _holds(test: tuple[str, str], path: str, entry: Entry) -> bool:
    """True where a file or folder passes one test of `find`."""
    kind, value = test
    if kind == "-type":
        return (value == "d") == (entry.content is None)
    name = path.rstrip("/").rpartition("/")[2] or path
    return fnmatch.fnmatchcase(name.lower(), value.lower()) if kind == "-iname" else fnmatch.fnmatchcase(name, value)


@command("rm")
async def rm(call: Call) -> int:
    options, paths = split_options(call.args)
    if not paths:
        return 0 if "f" in options else await call.fail("rm: Needs 1 argument")
    status = 0
    for path in paths:
        name = call.path(path)
        if "f" in options and not call.phone.files.exists(name):
            continue
        if call.phone.files.is_folder(name) and not options & {"r", "R"}:
            status = await call.fail(f"rm: {path}: is directory")
            continue
        try:
            call.phone.files.remove(name, recursive=True)
        except OSError as e:
            status = await call.fail(f"rm: {path}: {e.strerror}")
    return status


@command("mkdir")
async def mkdir(call: Call) -> int:
    options, paths = split_options(call.args)
    status, now = 0, await call.phone.now_s()
    for path in paths:
        try:
            call.phone.files.make_folder(call.path(path), parents="p" in options, mtime=now)
        except OSError as e:
            status = await call.fail(f"mkdir: '{path}': {e.strerror}")
    return status if paths else await call.fail("mkdir: Needs 1 argument")


@command("rmdir")
async def rmdir(call: Call) -> int:
    _, paths = split_options(call.args)
    status = 0
    for path in paths:
        try:
            if not call.phone.files.is_folder(call.path(path)):
                raise NotADirectoryError(20, "Not a directory", path)
            call.phone.files.remove(call.path(path))
        except OSError as e:
            status = await call.fail(f"rmdir: {path}: {e.strerror}")
    return status


@command("mv", "cp")
async def move(call: Call) -> int:
    options, paths = split_options(call.args)
    if len(paths) < 2:
        return await call.fail(f"{call.name}: Needs 2 arguments")
    *sources, target = paths
    if len(sources) > 1 and not call.phone.files.is_folder(call.path(target)):
        return await call.fail(f"{call.name}: '{target}' not directory")
    status = 0
    for source in sources:
        try:
            if call.name == "cp" and call.phone.files.is_folder(call.path(source)) and not options & {"r", "R", "a"}:
                status = await call.fail(f"cp: Skipped dir '{source}'")
                continue
            call.phone.files.move(call.path(source), call.path(target), keep=call.name == "cp")
        except OSError as e:
            status = await call.fail(f"{call.name}: bad '{source}': {e.strerror}")
    return status


@command("touch")
async def touch(call: Call) -> int:
    _, paths = split_options(call.args)
    now = await call.phone.now_s()
    for path in paths:
        name = call.path(path)
        call.phone.files.write(name, call.phone.files.read(name) if call.phone.files.exists(name) else b"", mtime=now)
    return 0


@command("chmod", "chown", "chgrp", "sync", "fsync")
async def chmod(call: Call) -> int:
    """Rights are not kept; the files must exist all the same."""
    _, paths = split_options(call.args)
    status = 0
    for path in paths[1:]:
        if not call.phone.files.exists(call.path(path)):
            status = await call.fail(f"{call.name}: {path}: No such file or directory")
    return status


@command("md5sum", "sha1sum", "sha256sum")
async def checksum(call: Call) -> int:
    options, paths = split_options(call.args)
    status = 0
    for path in paths or ["-"]:
        try:
            content = await read_all(call.streams.stdin) if path == "-" else await read_path(call, path)
        except OSError as e:
            status = await call.fail(f"{call.name}: {path}: {e.strerror}")
            continue
        digest = hashlib.new(call.name.removesuffix("sum"), content).hexdigest()
        await call.out(f"{digest}\n" if "b" in options else f"{digest}  {path}\n")
    return status


@command("stat")
async def stat_file(call: Call) -> int:
    """`stat -c FORMAT F` with %s %n %a %Y %F; without a format, the size and the name."""
    args = list(call.args)
    form = "%n: size %s"
    if args[:1] == ["-c"] and len(args) > 1:
        form, args = args[1], args[2:]
    status = 0
    for path in args:
        try:
            entry = call.phone.files.stat(call.path(path))
        except OSError as e:
            status = await call.fail(f"stat: '{path}': {e.strerror}")
            continue
        kind = "directory" if entry.content is None else "regular file"
        values = {
            "%s": str(entry.size),
            "%n": path,
            "%a": f"{stat.S_IMODE(entry.mode):o}",
            "%Y": str(entry.mtime),
            "%F": kind,
        }
        text = form
        for mark, value in values.items():
            text = text.replace(mark, value)
        await call.out(text + "\n")
    return status


@command("realpath", "readlink")
async def realpath(call: Call) -> int:
    _, paths = split_options(call.args)
    for path in paths:
        await call.out(call.path(path) + "\n")
    return 0


@command("basename")
async def basename(call: Call) -> int:
    if not call.args:
        return await call.fail("basename: Needs 1 argument")
    await call.out(
        (call.args[0].rstrip("/").rpartition("/")[2] or "/").removesuffix(call.args[1] if len(call.args) > 1 else "")
        + "\n"
    )
    return 0


@command("dirname")
async def dirname(call: Call) -> int:
    for path in call.args:
        await call.out((path.rstrip("/").rpartition("/")[0] or ("/" if path.startswith("/") else ".")) + "\n")
    return 0


@command("df")
async def df(call: Call) -> int:
    """`df [PATH]`: one place holds everything that can be written."""
    used, total = call.phone.files.used // 1024, MAX_TREE_BYTES // 1024
    paths = [word for word in call.args if not word.startswith("-")]
    mount = "/data" if paths and call.path(paths[0]).startswith("/data") else "/storage/emulated"
    await call.out(
        "Filesystem     1K-blocks    Used Available Use% Mounted on\n"
        f"/dev/fuse      {total:>9} {used:>7} {total - used:>9} {used * 100 // total:>3}% {mount}\n"
    )
    return 0
