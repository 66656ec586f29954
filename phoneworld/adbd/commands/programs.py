"""Programs that clients push and start. None of their code runs; the one whose protocol is known here is answered by the phone."""

from __future__ import annotations

import asyncio

from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.commands.system import processes
from phoneworld.adbd.shell import Call
from phoneworld.adbd.uia2.server import DEFAULT_PORT, Uia2Server

UIA2_MAIN = "com.wetest.uia2.Main"


@command("app_process", "app_process32", "app_process64")
async def app_process(call: Call) -> int:
    """`CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p PORT`: opens the port until the client goes."""
    phone, args = call.phone, call.args
    main = next((word for word in args if "." in word and not word.startswith(("-", "/"))), "")
    if main != UIA2_MAIN:
        phone.refuse("app_process " + " ".join(args))
        return await call.fail(f"Error: could not start {main or 'a program'}: no code runs on this phone", 1)
    jar = call.shell.variables.get("CLASSPATH", "")
    if not jar or not phone.files.exists(call.path(jar.split(":")[0])):
        return await call.fail(f"Error: could not find class '{main}' on path '{jar}'", 1)
    given = args[args.index("-p") + 1] if "-p" in args[:-1] else str(DEFAULT_PORT)
    port = f"tcp:{given}"
    if not given.isdigit() or not 1 <= int(given) <= 65535:
        return await call.fail(f"Error: {given} is no port", 1)
    if port in phone.listeners:
        return await call.fail("java.net.BindException: Address already in use", 1)
    phone.listeners[port] = Uia2Server(phone)
    try:
        await call.out(f"[server] INFO: [UiAutomator2Server] Starting Server on port {given}\n")
        await asyncio.get_running_loop().create_future()  # until the peer closes the stream
    finally:
        phone.listeners.pop(port, None)
    return 0


@command("kill")
async def kill(call: Call) -> int:
    """`kill [-SIGNAL] PID…`: the shell may end nothing here. What runs in a stream ends when the stream is closed."""
    targets = [word for i, word in enumerate(call.args) if not word.startswith("-") and call.args[i - 1 : i] not in (["-s"], ["-n"])]
    if not targets:
        return await call.fail("usage: kill [-s signame | -signum | -signame] { job | pid | pgrp } ...")
    front = (await call.device(lambda device: device.state())).package
    known = {str(number) for _, number, _ in processes(front)}
    for target in targets:
        if not target.isdecimal():
            await call.fail(f"/system/bin/sh: kill: {target}: arguments must be jobs or process IDs")
        else:
            await call.fail(f"/system/bin/sh: kill: {target}: {'Operation not permitted' if target in known else 'No such process'}")
    return 1


@command("pkill", "killall")
async def pkill(call: Call) -> int:
    """Nothing here can be ended by its name: what runs belongs to the stream that started it."""
    return 1
