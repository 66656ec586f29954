"""`settings` and `ime`: what the phone remembers under a name, and which keyboard it types with."""

from __future__ import annotations

from phoneworld.adbd.commands.registry import cmd, command
from phoneworld.adbd.phone import ENABLED_AT_FIRST, INPUT_METHODS
from phoneworld.adbd.shell import Call

_NAMESPACES = ("system", "secure", "global")


@command("settings")
@cmd("settings")
async def settings(call: Call) -> int:
    """`settings get|put|delete|list|reset NAMESPACE [NAME [VALUE]]`"""
    args = list(call.args)
    if "--user" in args:
        at = args.index("--user")
        del args[at : at + 2]
    phone = call.phone
    match args:
        case [verb, namespace, *_] if verb in ("get", "put", "delete", "list") and namespace not in _NAMESPACES:
            return await call.fail(f"Invalid namespace '{namespace}'", 255)
        case ["get", namespace, name]:
            await call.out(f"{phone.setting(namespace, name) or 'null'}\n")
        case ["put", namespace, name, value, *_]:
            if (namespace, name) == ("secure", "default_input_method") and value not in INPUT_METHODS:
                return await call.fail(f"Unknown input method {value}", 255)
            phone.put_setting(namespace, name, value)
        case ["delete", namespace, name]:
            there = phone.setting(namespace, name) is not None
            phone.put_setting(namespace, name, None)
            await call.out(f"Deleted {int(there)} rows\n")
        case ["list", namespace]:
            stored = sorted(
                (name, value) for (space, name), value in phone.memory.settings.items() if space == namespace
            )
            await call.out("".join(f"{name}={value}\n" for name, value in stored))
        case _:
            return await call.fail(
                "Settings provider (settings) commands:\n  get|put|delete|list NAMESPACE [KEY [VALUE]]", 255
            )
    return 0


@command("ime")
@cmd("input_method")
async def ime(call: Call) -> int:
    """`ime list [-a] [-s]`, `ime set|enable|disable ID`, `ime reset`"""
    args = [word for word in call.args if word not in ("--user", "0", "all", "current")]
    phone = call.phone
    enabled = [i for i in (phone.setting("secure", "enabled_input_methods") or "").split(":") if i]
    match args:
        case ["list", *options]:
            shown = INPUT_METHODS if "-a" in options else enabled
            if "-s" in options:
                await call.out("".join(f"{one}\n" for one in shown))
            else:
                await call.out(
                    "".join(
                        f"{one}:\n  mId={one} mSettingsActivityName=null mIsVrOnly=false\n  mIsDefaultResId=0x0\n"
                        for one in shown
                    )
                )
        case [("set" | "enable" | "disable") as verb, one] if one not in INPUT_METHODS:
            passive = {"set": "selected", "enable": "enabled", "disable": "disabled"}[verb]
            return await call.fail(f"Unknown input method {one} cannot be {passive} for user #0", 255)
        case ["set", one]:
            if one not in enabled:
                return await call.fail(f"Input method {one} cannot be selected for user #0: it is not enabled", 255)
            phone.put_setting("secure", "default_input_method", one)
            await call.out(f"Input method {one} selected for user #0\n")
        case ["enable", one]:
            state = "already enabled" if one in enabled else "now enabled"
            phone.put_setting("secure", "enabled_input_methods", ":".join(dict.fromkeys([*enabled, one])))
            await call.out(f"Input method {one}: {state} for user #0\n")
        case ["disable", one]:
            state = "now disabled" if one in enabled else "already disabled"
            phone.put_setting("secure", "enabled_input_methods", ":".join(i for i in enabled if i != one))
            if phone.input_method == one:
                phone.put_setting("secure", "default_input_method", INPUT_METHODS[0])
            await call.out(f"Input method {one}: {state} for user #0\n")
        case ["reset"]:
            phone.put_setting("secure", "default_input_method", INPUT_METHODS[0])
            phone.put_setting("secure", "enabled_input_methods", ":".join(ENABLED_AT_FIRST))
            await call.out(f"Reset current and enabled IMEs for user #0\nNewly selected IME: {INPUT_METHODS[0]}\n")
        case _:
            return await call.fail("ime <command>:\n  list [-a] [-s]\n  enable|disable|set <ID>\n  reset", 255)
    return 0
