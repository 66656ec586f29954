"""The thin loop between a recording session, a phone and the disk. No rules of its own."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import assert_never

from phoneworld.device.device import Device, InstalledApp
from phoneworld.device.settle import Reading, Stillable, settle, sight_digest
from phoneworld.errors import (
    ActionError,
    BrowserError,
    CaptureFailed,
    DeviceError,
    DeviceLost,
    DeviceNotFound,
    DeviceUnusable,
    RecordingError,
)
from phoneworld.graph.graph import RecordedApp, StateGraph
from phoneworld.graph.plan import Plan
from phoneworld.ui.node import Hierarchy
from recorder.asking import MIX, Answers, Asking
from recorder.folder import JournalFolder
from recorder.journal import RecordingRecord, Summary, header, tell_all
from recorder.phone_lock import only_recorder_of
from recorder.redact import Mask, Redactor, redactor_of
from recorder.safety import Guard, parse_allow
from recorder.selectors import parse_avoid
from recorder.session import (
    AppCleared,
    Begin,
    Captured,
    ClearApp,
    Command,
    Event,
    Failed,
    Look,
    Lost,
    Moved,
    NotCaptured,
    Perform,
    Performed,
    Progress,
    Reason,
    Refused,
    Session,
    Stop,
    StopAsked,
    Write,
)

DEFAULT_STEPS = 100
QUICK_S = 0.3
_GONE = (DeviceLost, DeviceNotFound, DeviceUnusable, BrowserError)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of a recording: the graph, where it lies, why the recording stopped, the figures, the questions asked."""

    graph: StateGraph
    path: Path
    reason: Reason
    message: str
    summary: Summary
    answers: Answers | None = None


@dataclass(slots=True)
class StopFlag:
    """Set by the first Ctrl-C (or SIGTERM): the running step is finished first. The second one interrupts at once."""

    asked: bool = False


def record(
    device: Device,
    app: str,
    *,
    steps: int | None = None,
    seed: int = 0,
    out: Path | str,
    resume: bool = False,
    allow: Iterable[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    keep: bool = False,
    force: bool = False,
) -> StateGraph:
    """Explores an app and returns what was recorded; see `run_recording`.

    Raises KeyboardInterrupt after Ctrl-C and DeviceLost or RecordingError where the recording could not go on, in each
    case after the graph so far was written.
    """
    done = run_recording(
        device, app, steps=steps, seed=seed, out=out, resume=resume, allow=allow, on_progress=on_progress, keep=keep, force=force
    )
    match done.reason:
        case "finished":
            return done.graph
        case "interrupted":
            raise KeyboardInterrupt
        case "device-lost":
            raise DeviceLost(done.message, hint=f"attach it again, then --resume -o {done.path}")
        case "gave-up":
            raise RecordingError(done.message, hint=f"look at the phone, then --resume -o {done.path}")
        case _:
            assert_never(done.reason)


def run_recording(
    device: Device,
    app: str,
    *,
    steps: int | None = None,
    seed: int = 0,
    out: Path | str,
    resume: bool = False,
    allow: Iterable[str] = (),
    avoid: Iterable[str] = (),
    masks: tuple[Mask, ...] = (),
    redact: Iterable[str] = (),
    redact_personal: bool = True,
    budget_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    keep: bool = False,
    force: bool = False,
    stop: StopFlag | None = None,
    look: Callable[[Device, Hierarchy | None, frozenset[str]], Reading] | None = None,
    ask: Plan | None = None,
    mix: float = MIX,
) -> Recorded:
    """Explores an app on a phone and writes its graph to `out`, journalling every step before and after it is done.

    `steps` is the number of steps in all (100; on resuming the number given before); what the phone refused does not count. With `resume` the journal beside
    `out` is gone on with, `app`, `seed` and, where none is given, `allow` being its own. `keep` leaves the app's data as they are. `look` reads the
    settled screen. `avoid` are selectors (`id=...`, `text=...`) of what is left alone, `redact` texts and selectors of what is
    not stored beside passwords and, unless `redact_personal` is False, personal texts. `budget_s` ends it after that time. `ask`
    are questions to be asked, beside a share `mix` of exploring. Raises RecordingError where the recording cannot be started; whatever happens later is in the result.
    """
    out = Path(out)
    guard, redactor = Guard(parse_allow(allow), parse_avoid(avoid)), redactor_of(redact, personal=redact_personal, masks=masks)
    if ask is not None and app and ask.package != app:
        raise RecordingError(f"the questions are about {ask.package}, not about {app}", hint="build a recording of this app first")
    journal = JournalFolder.open(out) if resume else None
    try:
        with only_recorder_of(device.serial):
            if journal is not None:
                redactor.salt = journal.salt()
                session = _resumed(journal, device, app, steps, guard, redactor)
                if session.story.counted >= session.header.steps:
                    # Nothing is left to do: the phone is not touched.
                    done, more = session.story.counted, 2 * session.header.steps
                    return _written(session, journal, "finished", f"all {done} steps were done before; --resume --steps {more} goes on")
                installed(device, session.header.app.package, recorded_on=session.header.serial)
            else:
                found = installed(device, app)
                journal = JournalFolder.create(out, force=force)
                redactor.salt = journal.salt()
                total = DEFAULT_STEPS if steps is None else steps
                session = Session(_header(device, found, seed, total, keep, guard), guard, redactor)
            if ask is not None:
                known = session.header
                session.asking = Asking(ask, mix=mix, seed=known.seed, guard=session.guard, may_start_over=not known.keep)
            return _run(session, device, journal, on_progress, stop or StopFlag(), look or Looker(), budget_s)
    finally:
        if journal is not None:
            journal.close()


def _run(
    session: Session,
    device: Device,
    journal: JournalFolder,
    on_progress: Callable[[Progress], None] | None,
    stop: StopFlag,
    look: Callable[[Device, Hierarchy | None, frozenset[str]], Reading],
    budget_s: float | None,
) -> Recorded:
    deadline = None if budget_s is None else time.monotonic() + budget_s
    reason: Reason = "interrupted"
    message = ""
    hands = Hands(device, look)
    try:
        if isinstance(device, Stillable):
            with suppress(DeviceError):  # a phone that is gone is found out by the first command
                device.hold_still()
        queue: deque[Command] = deque(session.receive(Begin()))
        while queue:
            match queue.popleft():
                case Write(records, pictures):
                    journal.append(records, pictures)
                case Stop(reason, message):
                    break
                case ClearApp() | Perform() | Look() as command:
                    if on_progress is not None:
                        on_progress(session.progress())
                    event = hands.carry_out(command)
                    if stop.asked:
                        session.receive(StopAsked())
                    elif deadline is not None and time.monotonic() >= deadline:
                        session.receive(StopAsked("finished"))
                    queue.extend(session.receive(event))
    except KeyboardInterrupt:
        reason, message = "interrupted", ""
    done = _written(session, journal, reason, message)
    if on_progress is not None:
        on_progress(session.progress())
    return done


def _written(session: Session, journal: JournalFolder, reason: Reason, message: str) -> Recorded:
    """The graph from the disk, not from the memory of this process: what is in it is what a crash would have left."""
    story = tell_all(journal.read())
    graph = story.graph()
    if not story.traces:
        raise RecordingError(message or "nothing was recorded", hint="look at the phone, then record again with --force")
    journal.write_graph(graph)
    answers = None if session.asking is None else session.asking.answers
    return Recorded(graph, journal.out, reason, message, session.summary(story), answers)


def written_from_journal(out: Path) -> StateGraph:
    """Writes the graph that the journal beside `out` tells, without a phone: what a kill or a full disk left unwritten.

    Raises RecordingError where there is no journal, nothing in it, or a recorder that still writes it.
    """
    journal = JournalFolder.open(out)
    try:
        story = tell_all(journal.read())
        if not story.traces:
            raise RecordingError(f"{journal.folder} holds no screen yet", hint="record again with --force")
        graph = story.graph()
        journal.write_graph(graph)
        return graph
    finally:
        journal.close()


@dataclass(slots=True)
class Hands:
    """Carries commands out on a phone, and tells what came of it as an event.

    Before an action the tree is read once more, as long as the phone gives it quickly: what was chosen on a screen that has
    changed in the meantime would hit something else.
    """

    device: Device
    look: Callable[[Device, Hierarchy | None, frozenset[str]], Reading]
    is_quick: bool = True

    def carry_out(self, command: ClearApp | Perform | Look) -> Event:
        try:
            match command:
                case ClearApp(package):
                    self.device.clear_app(package)
                    return AppCleared()
                case Perform(action, expected):
                    if expected and self.is_quick and not self._stands(expected):
                        return Moved()
                    self.device.perform(action)
                    return Performed()
                case Look(before, calm):
                    return Captured(self.look(self.device, before, calm), round(time.time() * 1000))
                case _:
                    assert_never(command)
        except CaptureFailed as e:
            return NotCaptured(e.code, e.message)
        except ActionError as e:
            return Refused(e.message)
        except _GONE as e:
            return Lost(e.message)
        except DeviceError as e:
            if isinstance(command, ClearApp):
                raise RecordingError(
                    f"the data of {command.package} could not be cleared: {e.message}", hint="clear them by hand, or record with --keep"
                ) from e
            return Failed(type(e).__name__, e.message)

    def _stands(self, expected: str) -> bool:
        start = time.monotonic()
        try:
            return sight_digest(self.device.hierarchy()) == expected
        except CaptureFailed:
            return True  # It could not be read just now, which says nothing about the screen.
        finally:
            self.is_quick = time.monotonic() - start < QUICK_S


@dataclass(slots=True)
class Looker:
    """Reads the settled screen, and remembers the picture that belongs to the tree it read last.

    Where the picture has changed under a tree that has not (`picture-only`), the picture from before remains the one that
    belongs to it: a pop-up that no dump shows is so still on the next look.
    """

    picture: bytes = b""

    def __call__(self, device: Device, before: Hierarchy | None, calm: frozenset[str]) -> Reading:
        reading = settle(device, before=before, before_picture=b"" if before is None else self.picture, calm=calm)
        if "picture-only" not in reading.notes:
            self.picture = reading.screenshot
        return reading


def installed(device: Device, app: str, *, recorded_on: str = "") -> InstalledApp:
    """The app of that package on the phone. Raises RecordingError that names the phone it was recorded on, or some apps that there are."""
    apps = {a.package: a for a in device.apps()}
    if app in apps:
        return apps[app]
    near = get_close_matches(app, apps, 3, 0.4) or sorted(apps)[:3]
    there = "installed are, among others: " + ", ".join(near) if near else "install it first"
    if recorded_on and recorded_on != device.serial:
        there = f"it was recorded on {recorded_on}: --device {recorded_on}, or install it here; {there}"
    raise RecordingError(f"{app} is not installed on {device.serial}, or has nothing to open", hint=there)


def _header(device: Device, app: InstalledApp, seed: int, steps: int, keep: bool, guard: Guard) -> RecordingRecord:
    return header(
        RecordedApp(app.package, app.label, app.activity),
        device.info,
        serial=device.serial,
        seed=seed,
        steps=steps,
        keep=keep,
        allow=sorted(guard.allow),
        created=now(),
    )


def _resumed(
    journal: JournalFolder, device: Device, app: str, steps: int | None, guard: Guard, redactor: Redactor
) -> Session:
    story = tell_all(journal.read())
    known = story.header
    if known is None:
        raise RecordingError("the journal is empty: nothing was recorded yet", hint="record again with --force instead of --resume")
    if app and known.app.package != app:
        raise RecordingError(f"that recording is of {known.app.package}, not of {app}", hint="give the same --app, or another -o")
    size, density = device.info.size, device.info.density
    if (size.width, size.height, density) != (known.device.width, known.device.height, known.device.density):
        raise RecordingError(
            f"that recording is of a screen of {known.device.width}x{known.device.height} at {known.device.density} dpi; "
            f"this phone has {size.width}x{size.height} at {density} dpi",
            hint="resume on the same kind of phone, or record anew with another -o",
        )
    if not guard.allow:
        guard = Guard(parse_allow(known.allow), guard.avoid)
    graph = story.graph()
    total = story.steps if steps is None else steps
    return Session.resume(story, graph, steps=total, guard=guard, redactor=redactor, created=now())


def now() -> str:
    """The time of this machine, as recordings state it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextmanager
def stop_on_signals() -> Iterator[StopFlag]:
    """Ctrl-C and SIGTERM ask for an end while this lasts. Outside the main thread it changes nothing."""
    flag = StopFlag()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if flag.asked:
            raise KeyboardInterrupt
        flag.asked = True

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
