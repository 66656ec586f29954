"""The modes of `phoneworld record` in which somebody else acts: a person in the mirror or on the phone, an agent over adb."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from phoneworld.cli.terminal import Terminal, counted
from phoneworld.device.open import open_device
from phoneworld.errors import DeviceAmbiguous, DeviceLost, OptionError, PhoneWorldError, RecordingError

if TYPE_CHECKING:
    from phoneworld.device.device import Device
    from recorder.driven import Driven, Mode
    from recorder.run import Recorded, StopFlag
    from recorder.session import Reason
    from recorder.touch import Tally

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Budget:
    """When a recording ends by itself: after so many steps, after so many seconds, or never."""

    steps: int | None = None
    seconds: float | None = None

    def clock(self) -> Callable[[], bool]:
        """Tells, from now on, whether the time is up."""
        end = None if self.seconds is None else time.monotonic() + self.seconds
        return lambda: end is not None and time.monotonic() >= end


def parse_budget(text: str) -> Budget:
    """`200` steps, `30m`, `90s` or `2h`. Raises OptionError for anything else."""
    if not text:
        return Budget()
    found = re.fullmatch(r"\s*(\d{1,6})\s*(s|m|min|h|)\s*", text)
    if found is None or int(found[1]) == 0:
        raise OptionError(f"{text!r} is no budget", hint="a number of steps, or a time: --budget 200, --budget 30m")
    number = int(found[1])
    return Budget(seconds=number * _SECONDS[found[2]]) if found[2] else Budget(steps=number)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asks of a mode."""

    device: str
    app: str
    out: Path
    budget: Budget
    instruction: str = ""
    redact: tuple[str, ...] = ()
    redact_personal: bool = True
    force: bool = False
    resume: bool = False
    port: int = 0
    adb: int = 0


def phone_to_resume(device: str, out: Path) -> Device:
    """The phone to go on with: of several that are attached, the one of the recording."""
    from recorder.folder import recorded_on

    try:
        return open_device(device)
    except DeviceAmbiguous:
        return open_device(recorded_on(out))


def run_mode(mode: str, wish: Wish, only_app: Callable[[Device], str], stop: StopFlag, *, quiet: bool) -> Recorded:
    """Records in a mode (`mirror`, `touch`, `attach`) until the person stops it or the budget is used up. Raises RecordingError, DeviceError."""
    modes = {"mirror": _mirror, "touch": _touch, "attach": _attach}
    return modes[mode](wish, only_app, stop, Terminal(stderr=True, quiet=quiet))


def _open(mode: Mode, wish: Wish, phone: Device, only_app: Callable[[Device], str]) -> Driven:
    from recorder.driven import Driven

    app = wish.app or ("" if wish.resume else only_app(phone))
    return Driven.open(
        phone, app, wish.out, mode=mode, force=wish.force, resume=wish.resume, redact=wish.redact, redact_personal=wish.redact_personal
    )  # fmt: skip


def _phone(wish: Wish) -> Device:
    return phone_to_resume(wish.device, wish.out) if wish.resume else open_device(wish.device)


def _mirror(wish: Wish, only_app: Callable[[Device], str], stop: StopFlag, console: Terminal) -> Recorded:
    from phoneworld.serve.mirror import MirrorSite
    from recorder.mirror import Mirror

    phone = _phone(wish)
    try:
        driven = _open("mirror", wish, phone, only_app)
        mirror = Mirror(driven, instruction=wish.instruction, limit=wish.budget.steps)
        with MirrorSite(mirror, title=driven.app, port=wish.port) as site:
            console.print(f"the phone is at [bold green]{site.url}[/]: act there, then Finish (or Ctrl-C)", highlight=False)
            return _closed(driven, partial(mirror.run, _stopped(wish, stop)))
    finally:
        phone.close()


def _touch(wish: Wish, only_app: Callable[[Device], str], stop: StopFlag, console: Terminal) -> Recorded:
    from phoneworld.device.adb import AdbDevice
    from recorder.adb_events import AdbEvents, glass_of
    from recorder.looks import Ring, Watched
    from recorder.touch import TouchRecorder

    phone = _phone(wish)
    try:
        if not isinstance(phone, AdbDevice):
            raise RecordingError(
                f"{phone.serial} is no phone that fingers touch", hint="--mode mirror, or an adb serial (`phoneworld phone` gives one to a page)"
            )
        screens = glass_of(phone)
        ring = Ring()
        driven = _open("touch", wish, Watched(phone, ring), only_app)
        events = AdbEvents(phone.serial, screens)
        try:
            touches = TouchRecorder(
                driven, ring, events, screens, phone.info.size, instruction=wish.instruction, limit=wish.budget.steps,
                on_step=_Steps(console),
            )  # fmt: skip
            named = ", ".join(s.name or s.path for s in screens)
            ready = partial(console.print, f"listening to {escape(named)}: use the phone; Ctrl-C ends it", highlight=False)
            done = _closed(driven, partial(touches.run, _stopped(wish, stop), ready=ready))
        finally:
            events.close()
        _print_tally(touches.tally, console)
        return done
    finally:
        phone.close()


def _attach(wish: Wish, only_app: Callable[[Device], str], stop: StopFlag, console: Terminal) -> Recorded:
    from phoneworld.adbd.server import AdbPhone
    from phoneworld.device.adb_server import AdbServer
    from recorder.attach import RecordingDevice

    made: list[Driven] = []

    def recording_phone() -> RecordingDevice:
        phone = _phone(wish)
        try:
            made.append(_open("attach", wish, phone, only_app))
        except BaseException:
            phone.close()
            raise
        return RecordingDevice(made[0], instruction=wish.instruction, limit=wish.budget.steps)

    stopped = _stopped(wish, stop)
    with AdbPhone(recording_phone, port=wish.adb) as face:
        try:
            AdbServer().connect(face.serial)
            how = f"agents use [bold green]{face.serial}[/], which adb is connected to"
        except PhoneWorldError as e:
            how = f"adb connect [bold green]{face.serial}[/] ({escape(e.message)})"
        console.print(f"{how}; Ctrl-C ends the recording", highlight=False)
        while not stopped() and (wish.budget.steps is None or made[0].steps < wish.budget.steps):
            time.sleep(0.1)
        AdbServer().disconnect(face.serial)
    return _closed(made[0], lambda: "finished")


def _stopped(wish: Wish, stop: StopFlag) -> Callable[[], bool]:
    is_late = wish.budget.clock()
    return lambda: stop.asked or is_late()


def _closed(driven: Driven, run: Callable[[], Reason]) -> Recorded:
    """Runs, and writes the graph whatever happens. A person who stops has finished: that is how these modes end."""
    reason: Reason = "finished"
    message = ""
    try:
        run()
    except KeyboardInterrupt:
        reason = "interrupted"
    except DeviceLost as e:
        reason, message = "device-lost", e.message
    except BaseException:
        with suppress(RecordingError):  # nothing was recorded yet: what went wrong says more
            driven.finish("gave-up")
        raise
    return driven.finish(reason, message)


class _Steps:
    """One line for each new number of steps, counted as the summary counts them."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._printed = 0

    def __call__(self, steps: int) -> None:
        if steps != self._printed:
            self._printed = steps
            self._console.print(counted(steps, "step"), highlight=False)


_WHY_LOST = {
    "no-place": "no place was told (one that has not changed is not told again: touch another place before the first step)",
    "dropped": "the phone dropped their events",
    "never-lifted": "the finger was still down at the end",
    "off-screen": "off the screen",
    "screen-not-read": "the screen could not be read",
}


def _print_tally(tally: Tally, console: Terminal) -> None:
    """What of the touches was not recorded, and what is only half known."""
    for reason, count in sorted(tally.undecoded.items()):
        console.print(f"  {counted(count, 'touch', 'touches')} not recorded: {escape(_WHY_LOST.get(reason, reason))}", highlight=False)
    if tally.stale:
        console.print(f"  {counted(tally.stale, 'touch', 'touches')} came before the screen was read: marked stale-prestate", highlight=False)
    if tally.keyboard_taps:
        console.print(f"  {counted(tally.keyboard_taps, 'tap')} on the keyboard, folded into what was typed", highlight=False)
