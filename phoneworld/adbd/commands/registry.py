"""The table of commands: a function, its names, one decorator. Each topic's module fills it when it is imported."""

from __future__ import annotations

from collections.abc import Callable

from phoneworld.adbd.shell import Call, CommandFunction

COMMANDS: dict[str, CommandFunction] = {}
"""What the phone's shell can run, by name."""

DUMPSYS: dict[str, CommandFunction] = {}
"""The services of `dumpsys NAME`."""

CMD: dict[str, CommandFunction] = {}
"""The services of `cmd NAME`."""


def _into(table: dict[str, CommandFunction], names: tuple[str, ...]) -> Callable[[CommandFunction], CommandFunction]:
    def register(function: CommandFunction) -> CommandFunction:
        for name in names:
            if name in table:
                raise ValueError(f"{name} is served twice")
            table[name] = function
        return function

    return register


def command(*names: str) -> Callable[[CommandFunction], CommandFunction]:
    """Registers `async def run(call: Call) -> int` under these names; what it returns is the exit status."""
    return _into(COMMANDS, names)


def dumpsys(*names: str) -> Callable[[CommandFunction], CommandFunction]:
    """Registers a service of dumpsys; `call.args` is what follows its name."""
    return _into(DUMPSYS, names)


def cmd(*names: str) -> Callable[[CommandFunction], CommandFunction]:
    """Registers a service of cmd; `call.args` is what follows its name."""
    return _into(CMD, names)


@command("cmd")
async def run_cmd(call: Call) -> int:
    """`cmd SERVICE ARGS…`"""
    if not call.args:
        return await call.fail("cmd: no service specified; use -l to list all services", 20)
    if call.args[0] == "-l":
        await call.out("Currently running services:\n" + "".join(f"  {name}\n" for name in sorted(CMD)))
        return 0
    function = CMD.get(call.args[0])
    if function is None:
        call.phone.refuse("cmd " + " ".join(call.args))
        return await call.fail(f"cmd: Can't find service: {call.args[0]}", 20)
    call.name, call.args = call.args[0], call.args[1:]
    return await function(call)


@command("dumpsys")
async def run_dumpsys(call: Call) -> int:
    """`dumpsys SERVICE ARGS…`"""
    args = call.args[2:] if call.args[:1] == ["-t"] else call.args
    if not args or args[0] == "-l":
        await call.out("Currently running services:\n" + "".join(f"  {name}\n" for name in sorted(DUMPSYS)))
        return 0
    function = DUMPSYS.get(args[0])
    if function is None:
        call.phone.refuse("dumpsys " + " ".join(args))
        return await call.fail(f"Can't find service: {args[0]}", 0)
    call.name, call.args = args[0], args[1:]
    return await function(call)
