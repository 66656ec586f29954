"""What is installed: `pm`, which is also `cmd package`."""

from __future__ import annotations

from phoneworld.adbd.commands.activity import read_intent
from phoneworld.adbd.commands.installing import grant, install, uninstall
from phoneworld.adbd.commands.registry import cmd, command, dumpsys
from phoneworld.adbd.phone import app_of, component_of, full_class, token
from phoneworld.adbd.shell import Call
from phoneworld.device.device import InstalledApp

_FEATURES = (
    "reqGlEsVersion=0x30002",
    "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch",
    "android.hardware.wifi",
    "android.software.input_methods",
    "android.software.webview",
)
_HELP = """Package manager (package) commands:
  list packages [-f] [-s] [-3] [FILTER]
  list features
  list users
  path PACKAGE
  dump PACKAGE
  clear PACKAGE
  resolve-activity [--brief] [INTENT]
  query-activities [--brief] [--components] [INTENT]
  install FILE
"""
SYSTEM_PACKAGES = ("android", "com.android.adbkeyboard", "com.android.inputmethod.latin", "com.android.systemui")
_MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def apk_of(package: str) -> str:
    """Where the package of an app would lie."""
    return f"/data/app/~~{token(package)}==/{package}-{token('apk' + package)}==/base.apk"


@command("pm")
@cmd("package")
async def pm(call: Call) -> int:
    verb, words = (call.args[0], call.args[1:]) if call.args else ("", [])
    match verb:
        case "list":
            return await _list(call, words)
        case "path" | "dump":
            app = await _app(call, words)
            if verb == "path" and words and words[-1] in SYSTEM_PACKAGES:
                app = InstalledApp(words[-1])
            if app is None:
                return 1
            await call.out(f"package:{apk_of(app.package)}\n" if verb == "path" else _dump(app))
            return 0
        case "clear":
            app = await _app(call, words)
            if app is None:
                await call.out("Failed\n")
                return 1
            await call.device(lambda device: device.clear_app(app.package))
            await call.out("Success\n")
            return 0
        case "resolve-activity" | "query-activities":
            return await _activities(call, verb, words)
        case "install":
            return await install(call, words)
        case "uninstall":
            return await uninstall(call, words)
        case "grant" | "revoke":
            return await grant(call, verb, words)
        case "":
            await call.out(_HELP)
            return 255
        case _:
            call.phone.refuse("pm " + " ".join(call.args))
            return await call.fail(f"Unknown command: {verb}", 255)


async def _apps(call: Call) -> tuple[InstalledApp, ...]:
    return await call.device(lambda device: device.apps())


async def _app(call: Call, words: list[str]) -> InstalledApp | None:
    """The app that the last word names; `--user 0` and the like are passed over."""
    return app_of(await _apps(call), words[-1]) if words else None


async def _list(call: Call, words: list[str]) -> int:
    match words[:1]:
        case ["packages" | "package"]:
            flags = {word for word in words[1:] if word.startswith("-")}
            names = [word for word in words[1:] if not word.startswith("-") and not word.isdigit()]
            shown = [app.package for app in await _apps(call)]
            if "-s" in flags or "-d" in flags:
                shown = []  # every app here is one that was installed, and none is disabled
            elif not flags & {"-3"}:
                shown += SYSTEM_PACKAGES
            for package in sorted(set(shown)):
                if not names or names[0] in package:
                    await call.out(
                        f"package:{apk_of(package)}={package}\n" if "-f" in flags else f"package:{package}\n"
                    )
        case ["features"]:
            await call.out("".join(f"feature:{name}\n" for name in _FEATURES))
        case ["users"]:
            await call.out("Users:\n\tUserInfo{0:Owner:c13} running\n")
        case _:
            call.phone.refuse("pm list " + " ".join(words))
            return await call.fail(f"Error: unknown list type '{' '.join(words[:1])}'", 255)
    return 0


async def _activities(call: Call, verb: str, words: list[str]) -> int:
    brief, components = "--brief" in words, "--components" in words
    intent = read_intent([word for word in words if word not in ("--brief", "--components")])
    package = intent.component.partition("/")[0] or intent.package
    apps = [app for app in await _apps(call) if not package or app.package == package]
    if verb == "resolve-activity":
        if not apps:
            await call.out("No activity found\n")
            return 0
        app = apps[0]
        await call.out(f"{_MATCH}\n{component_of(app)}\n" if brief else f"{_MATCH}\n{_activity_info(app, '')}")
        return 0
    if components:
        await call.out("".join(f"{component_of(app)}\n" for app in apps))
        return 0
    if not apps:
        await call.out("No activities found\n")
        return 0
    await call.out(f"{len(apps)} activities found:\n")
    for i, app in enumerate(apps):
        await call.out(f"  Activity #{i}:\n    {_MATCH}\n")
        await call.out(f"    {component_of(app)}\n" if brief else _activity_info(app, "    "))
    return 0


def _activity_info(app: InstalledApp, indent: str) -> str:
    name = full_class(app.package, app.activity or ".MainActivity")
    label = app.label.replace("\n", " ") or "null"
    lines = (
        "ActivityInfo:", f"  name={name}", f"  packageName={app.package}",
        f"  labelRes=0x0 nonLocalizedLabel={label} icon=0x0 banner=0x0", "  enabled=true exported=true directBootAware=false",
        "  ApplicationInfo:", f"    packageName={app.package}", f"    labelRes=0x0 nonLocalizedLabel={label} icon=0x0 banner=0x0",
        f"    sourceDir={apk_of(app.package)}",
    )  # fmt: skip
    return "".join(f"{indent}{line}\n" for line in lines)


def _dump(app: InstalledApp) -> str:
    return (
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n"
        f"        {token(app.package)} {component_of(app)} filter {token('filter' + app.package)}\n"
        '          Action: "android.intent.action.MAIN"\n          Category: "android.intent.category.LAUNCHER"\n\n'
        f"Packages:\n  Package [{app.package}] ({token(app.package)}):\n    userId=10101\n    codePath={apk_of(app.package).rpartition('/')[0]}\n"
        "    versionCode=1 minSdk=21 targetSdk=34\n    versionName=1.0\n    flags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ]\n"
        "    firstInstallTime=2026-01-01 00:00:00\n    lastUpdateTime=2026-01-01 00:00:00\n"
    )


@dumpsys("package")
async def dumpsys_package(call: Call) -> int:
    app = await _app(call, call.args)
    await call.out(_dump(app) if app else f"Unable to find package: {' '.join(call.args)}\n")
    return 0
