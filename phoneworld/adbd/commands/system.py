"""What the phone is: properties, clock, user, processes."""

from __future__ import annotations

import datetime
import re
import zoneinfo

from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.phone import token
from phoneworld.adbd.shell import Call

_DATE_WORDS = re.compile(r"%[aAbBcdDeFHIjklmMnNpsSTuwxXyYzZ%]")


@command("getprop")
async def getprop(call: Call) -> int:
    """`getprop`, `getprop NAME [DEFAULT]`"""
    properties = call.phone.properties
    if not call.args:
        await call.out("".join(f"[{name}]: [{value}]\n" for name, value in sorted(properties.items())))
    else:
        default = call.args[1] if len(call.args) > 1 else ""
        await call.out(f"{properties.get(call.args[0]) or default}\n")
    return 0


@command("setprop")
async def setprop(call: Call) -> int:
    if len(call.args) != 2:
        return await call.fail("setprop: Needs 2 arguments")
    name, value = call.args
    if not name.startswith(("debug.", "log.tag", "persist.log.tag", "persist.debug")):
        return await call.fail(f"Failed to set property '{name}' to '{value}'.\nSee dmesg for error reason.")
    call.phone.set_property(name, value)
    return 0


@command("date")
async def date(call: Call) -> int:
    """The phone's clock: `date [-u] [+FORMAT]`. It cannot be set from here."""
    form = next((word[1:] for word in call.args if word.startswith("+")), "%a %b %e %H:%M:%S %Z %Y")
    if any(not word.startswith(("-u", "+")) for word in call.args):
        return await call.fail("date: cannot set date: Operation not permitted")
    now_ms = await call.device(lambda device: device.state().clock_ms)
    name = call.phone.properties.get("persist.sys.timezone", "UTC")
    try:
        zone: datetime.tzinfo = datetime.UTC if "-u" in call.args else zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        zone = datetime.UTC
    seconds, millis = divmod(now_ms, 1000) if now_ms is not None else (await call.phone.now_s(), 0)
    when = datetime.datetime.fromtimestamp(seconds, zone)

    def one(match: re.Match[str]) -> str:
        match match.group():
            case "%s":
                return str(seconds)
            case "%N":
                return f"{millis:03d}000000"
            case word:
                return when.strftime(word)

    await call.out(_DATE_WORDS.sub(one, form.replace("%3N", f"{millis:03d}")) + "\n")
    return 0


@command("whoami")
async def whoami(call: Call) -> int:
    await call.out("shell\n")
    return 0


@command("id")
async def identity(call: Call) -> int:
    await call.out(
        "2000\n" if "-u" in call.args else "uid=2000(shell) gid=2000(shell) groups=2000(shell),1015(sdcard_rw)\n"
    )
    return 0


@command("uname")
async def uname(call: Call) -> int:
    words = {"r": "5.15.0-phoneworld", "m": "aarch64", "n": "localhost"}
    option = call.args[0].lstrip("-") if call.args else "s"
    await call.out(
        f"{words.get(option, 'Linux localhost 5.15.0-phoneworld aarch64 Toybox' if option == 'a' else 'Linux')}\n"
    )
    return 0


@command("uptime")
async def uptime(call: Call) -> int:
    await call.out(" up 1 min,  0 users,  load average: 0.00, 0.00, 0.00\n")
    return 0


def process_number(package: str) -> int:
    """A process number for a package: the same each time."""
    return 3000 + int(token(package), 16) % 20000


def processes(front: str) -> list[tuple[str, int, str]]:
    """Whose each process is, its number and its name: the system's, the shell, and the app in front."""
    rows = [("root", 1, "init"), ("system", 1201, "system_server"), ("shell", 2901, "sh")]
    return [*rows, ("u0_a101", process_number(front), front)] if front else rows


@command("ps")
async def ps(call: Call) -> int:
    """The system, and the app in front."""
    rows = processes((await call.device(lambda device: device.state())).package)
    await call.out("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n")
    await call.out(
        "".join(
            f"{user:<12} {pid:>5} {1:>5} {1000000:>7} {50000:>6} {'0':<16} {'0':>4} S {name}\n"
            for user, pid, name in rows
        )
    )
    return 0


@command("pidof")
async def pidof(call: Call) -> int:
    front = (await call.device(lambda device: device.state())).package
    if front and front in call.args:
        await call.out(f"{process_number(front)}\n")
        return 0
    return 1


@command("run-as")
async def run_as(call: Call) -> int:
    """No app here can be debugged: clients must fall back to the shell."""
    return await call.fail(f"run-as: package not debuggable: {call.args[0] if call.args else ''}")


@command("su")
async def su(call: Call) -> int:
    return await call.fail("/system/bin/sh: su: inaccessible or not found", 127)
