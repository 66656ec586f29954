"""Starting and stopping apps: `am`, `monkey`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from phoneworld.adbd.commands import adb_keyboard
from phoneworld.adbd.commands.inputs import perform
from phoneworld.adbd.commands.registry import cmd, command
from phoneworld.adbd.phone import app_of, full_class, short_class
from phoneworld.adbd.shell import Call
from phoneworld.device.device import InstalledApp
from phoneworld.errors import ActionError, DeviceError, DeviceLost
from phoneworld.ui.action import CloseApp, OpenApp, PressKey

MAIN, VIEW = "android.intent.action.MAIN", "android.intent.action.VIEW"
LAUNCHER, HOME = "android.intent.category.LAUNCHER", "android.intent.category.HOME"
_WITH_VALUE = {
    "-f",
    "--user",
    "--display",
    "-R",
    "--windowingMode",
    "--activityType",
    "--task",
    "-t",
    "-i",
    "--receiver-permission",
    "-P",
}
_HELP = """Activity manager (activity) commands:
  start [-W] [-S] [-n COMPONENT] [-a ACTION] [-d URI] [-c CATEGORY] [-p PACKAGE] [--es KEY VALUE]…
  force-stop PACKAGE
  broadcast [-a ACTION] [--es KEY VALUE]…
  stack list
  get-current-user
"""
_EXTRA_WITH_VALUE = {"--es", "--ez", "--ei", "--el", "--ef", "--eu", "--ecn", "-e", "--eia", "--ela", "--esa", "--efa"}


@dataclass(slots=True)
class Intent:
    """An intent as `am` reads it from its words, and the switches of `am start` itself."""

    action: str = ""
    uri: str = ""
    categories: list[str] = field(default_factory=list)
    component: str = ""
    package: str = ""
    extras: dict[str, str] = field(default_factory=dict)
    wait: bool = False
    stop_first: bool = False

    def __str__(self) -> str:
        words = [f"act={self.action}"] if self.action else []
        words += [f"cat=[{','.join(self.categories)}]"] if self.categories else []
        words += [f"dat={self.uri}"] if self.uri else []
        words += [f"pkg={self.package}"] if self.package else []
        words += [f"cmp={self.component}"] if self.component else []
        return "Intent { " + " ".join(words) + (" (has extras)" if self.extras else "") + " }"


def read_intent(words: list[str]) -> Intent:
    """Reads what follows `am start` or `am broadcast`. A missing value is empty; unknown switches are passed over."""
    intent, left = Intent(), list(words)

    def value() -> str:
        return left.pop(0) if left else ""

    while left:
        word = left.pop(0)
        match word:
            case "-a":
                intent.action = value()
            case "-d":
                intent.uri = value()
            case "-c":
                intent.categories.append(value())
            case "-n":
                intent.component = _shortened(value())
            case "-p":
                intent.package = value()
            case "-W":
                intent.wait = True
            case "-S":
                intent.stop_first = True
            case _ if word in _EXTRA_WITH_VALUE:
                name = value()
                intent.extras[name] = value()
            case _ if word in _WITH_VALUE:
                value()
            case _ if word.startswith("-"):
                continue
            case _ if "://" in word or (":" in word and "/" not in word.split(":", 1)[0]):
                intent.uri = word
            case _ if "/" in word:
                intent.component = _shortened(word)
            case _:
                intent.package = word
    return intent


def _shortened(component: str) -> str:
    package, slash, activity = component.partition("/")
    return f"{package}/{short_class(package, activity)}" if slash else component


@command("am")
@cmd("activity")
async def am(call: Call) -> int:
    verb, words = (call.args[0], call.args[1:]) if call.args else ("", [])
    match verb:
        case "start" | "start-activity":
            intent = read_intent(words)
            return await (_start(call, intent) if _is_component(intent) else _bad_component(call, verb, intent))
        case "force-stop" | "kill" | "stop-app":
            packages = [
                word
                for word in words
                if not word.startswith("-") and not word.isdigit() and word not in ("all", "current")
            ]
            if not packages:
                return await call.fail(f'Error: Argument expected after "{verb}"', 255)
            if await _installed(call, packages[0]) is not None:
                await call.device(lambda device: device.perform(CloseApp(packages[0])))
                await call.phone.note("ActivityManager", f"Force stopping {packages[0]} appid=10101 user=0: from pid 2901")
            return 0
        case "kill-all":
            return 0
        case "broadcast":
            intent = read_intent(words)
            return await (_broadcast(call, intent) if _is_component(intent) else _bad_component(call, verb, intent))
        case "stack" | "task" if words[:1] == ["list"]:
            return await _stack_list(call)
        case "get-current-user":
            await call.out("0\n")
            return 0
        case "":
            await call.out(_HELP)
            return 255
        case _:
            call.phone.refuse("am " + " ".join(call.args))
            return await call.fail(f"Unknown command: {verb}", 255)


def _is_component(intent: Intent) -> bool:
    """True for `package/class`, as ComponentName.unflattenFromString reads it, and where none was named."""
    package, _, name = intent.component.partition("/")
    return not intent.component or bool(package and name)


async def _bad_component(call: Call, verb: str, intent: Intent) -> int:
    return await call.fail(
        f"\nException occurred while executing '{verb}':\njava.lang.IllegalArgumentException: Bad component name: {intent.component}", 255
    )


async def _installed(call: Call, package: str) -> InstalledApp | None:
    return app_of(await call.device(lambda device: device.apps()), package)


async def _start(call: Call, intent: Intent) -> int:
    if HOME in intent.categories and not intent.component:
        await call.out(f"Starting: {intent}\n")
        await perform(call.phone, PressKey("home"))
        return await _waited(call, intent, "HOT", 0.0)
    package = intent.component.partition("/")[0] or intent.package
    apps = await call.device(lambda device: device.apps())
    app = app_of(apps, package) if package else None
    if not package and intent.uri and len(apps) == 1:
        app = apps[0]  # who else could open it
    if intent.stop_first and app is not None:
        await call.out(f"Stopping: {app.package}\n")
        await call.device(lambda device: device.perform(CloseApp(app.package)))
    await call.out(f"Starting: {intent}\n")
    if package and app is None:
        return await _unknown(call, intent)
    if app is None and not intent.uri:
        return await _unknown(call, intent)
    wanted = full_class(package, intent.component.partition("/")[2])
    known = full_class(package, app.activity) if app else ""
    activity = wanted if wanted and wanted != known else ""
    if app is not None and activity and app.activities and activity not in {full_class(package, name) for name in app.activities}:
        return await _unknown(call, intent)
    before = await call.device(lambda device: device.state())
    started = time.monotonic()
    try:
        await call.device(
            lambda device: device.perform(OpenApp(app.package if app else "", activity, intent.uri.strip()))
        )
    except DeviceLost:
        raise
    except (ActionError, DeviceError) as e:
        call.phone.refuse(f"am start {intent}: {e.message}")
        return await _unknown(call, intent)
    await call.phone.note("ActivityTaskManager", f"START u0 {str(intent).removeprefix('Intent ')} from uid 2000")
    launch = "HOT" if app and before.package == app.package and not intent.stop_first else "COLD"
    if launch == "HOT" and not intent.uri:
        await call.err("Warning: Activity not started, its current task has been brought to the front\n")
    return await _waited(call, intent, launch, time.monotonic() - started)


async def _unknown(call: Call, intent: Intent) -> int:
    if intent.component:
        package, _, activity = intent.component.partition("/")
        return await call.fail(
            f"Error type 3\nError: Activity class {{{package}/{full_class(package, activity)}}} does not exist."
        )
    return await call.fail(f"Error: Activity not started, unable to resolve {intent}")


async def _waited(call: Call, intent: Intent, launch: str, took_s: float) -> int:
    if intent.wait:
        state = await call.device(lambda device: device.state())
        shown = f"{state.package}/{short_class(state.package, state.activity)}"
        ms = int(took_s * 1000)
        await call.out(
            f"Status: ok\nLaunchState: {launch}\nActivity: {shown}\nTotalTime: {ms}\nWaitTime: {ms + 3}\nComplete\n"
        )
    return 0


async def _broadcast(call: Call, intent: Intent) -> int:
    shown = f"act={intent.action} flg=0x400000" + (f" dat={intent.uri}" if intent.uri else "")
    shown += f" cmp={intent.component}" if intent.component else ""
    await call.out(f"Broadcasting: Intent {{ {shown}{' (has extras)' if intent.extras else ''} }}\n")
    if intent.action in adb_keyboard.UIA2_ACTIONS:
        code, data = await adb_keyboard.hear_uia2(call.phone, intent.action, intent.extras)
        await call.out(f"Broadcast completed: result={code}" + (f', data="{data}"' if data else "") + "\n")
        return 0
    if intent.action in adb_keyboard.ACTIONS:
        await adb_keyboard.hear(call.phone, intent.action, intent.extras)
    else:
        call.phone.refuse(f"broadcast {intent.action}: nothing listens")
    await call.out("Broadcast completed: result=0\n")
    return 0


async def _stack_list(call: Call) -> int:
    state, info = await call.device(lambda device: (device.state(), device.info))
    package, activity = state.package, full_class(state.package, state.activity)
    await call.out(
        f"RootTask id=1 bounds=[0,0][{info.size.width},{info.size.height}] displayId=0 userId=0\n"
        f"  taskId=12: {package}/{activity} bounds=[0,0][{info.size.width},{info.size.height}] userId=0 visible=true "
        f"topActivity=ComponentInfo{{{package}/{activity}}}\n"
    )
    return 0


@command("monkey")
async def monkey(call: Call) -> int:
    """`monkey -p PACKAGE -c CATEGORY 1`: the way clients open an app. Random events are not made."""
    packages = [call.args[i + 1] for i, word in enumerate(call.args[:-1]) if word == "-p"]
    if not packages or not call.args[-1].isdigit():
        return await call.fail("** Error: Count not specified\nusage: monkey [-p ALLOWED_PACKAGE] [-c MAIN_CATEGORY] COUNT", 255)
    if int(call.args[-1]) > 1:
        call.phone.refuse("monkey " + " ".join(call.args))
        return await call.fail(
            "** Error: this phone takes one event: -p PACKAGE -c android.intent.category.LAUNCHER 1", 255
        )
    app = await _installed(call, packages[0])
    if app is None:
        await call.out("** No activities found to run, monkey aborted.\n")
        return 252
    started = time.monotonic()
    await call.device(lambda device: device.perform(OpenApp(app.package)))
    await call.phone.note("ActivityTaskManager", f"START u0 {{act={MAIN} cat=[{LAUNCHER}] pkg={app.package}}} from uid 2000")
    ms = int((time.monotonic() - started) * 1000)
    await call.out(
        f"Events injected: 1\n## Network stats: elapsed time={ms}ms (0ms mobile, 0ms wifi, {ms}ms not connected)\n"
    )
    return 0
