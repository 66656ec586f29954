"""`phoneworld record`: explores an app on a phone, or follows a person or an agent, and writes what it saw as app.graph.json."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from phoneworld.cli.exits import INTERRUPTED, OK, UNCAPTURED
from phoneworld.cli.files import need_phone, need_place, need_questions
from phoneworld.cli.record_modes import Budget, parse_budget, phone_to_resume
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.device.device import InstalledApp
from phoneworld.device.open import open_device
from phoneworld.errors import (
    DeviceLost,
    FileFormatError,
    MissingDependency,
    OptionError,
    PhoneWorldError,
    RecordingError,
    WriteError,
)

if TYPE_CHECKING:
    from phoneworld.graph.plan import Plan
    from recorder.run import Recorded
    from recorder.session import Progress

_MANY_STEPS = 100_000
_SHOWN = 8
_EXITS = {"finished": OK, "interrupted": INTERRUPTED, "device-lost": DeviceLost.exit_code, "gave-up": RecordingError.exit_code}
_MARKER = "phoneworld-recorder"


class Mode(StrEnum):
    """Who acts."""

    explore = "explore"
    mirror = "mirror"
    touch = "touch"
    attach = "attach"


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("record")(record)


def record(
    out: Annotated[Path, typer.Option("--out", "-o", help="The graph file to write, for example app.graph.json.")],
    device: Annotated[
        str, typer.Option("--device", "-d", help="An adb serial, web:URL for a web page, mock:BUNDLE; empty: the only phone attached.")
    ] = "",
    app: Annotated[str, typer.Option("--app", help="The package to record; may be left out where the phone has only one app.")] = "",
    mode: Annotated[
        Mode, typer.Option("--mode", help="explore: by itself. mirror: you act on a page. touch: you use the phone itself. attach: an agent drives over adb.")
    ] = Mode.explore,
    budget: Annotated[
        str, typer.Option("--budget", help="When to end: a number of steps or a time, for example 200, 90s, 30m, 2h.", metavar="STEPS|TIME")
    ] = "",
    instruction: Annotated[str, typer.Option("--instruction", help="mirror, touch, attach: the task that is done, kept with the trace.")] = "",
    steps: Annotated[int | None, typer.Option("--steps", min=1, max=100_000, help="Steps in all, 100 where not given.")] = None,
    ask: Annotated[
        Path | None, typer.Option("--ask", help="Ask these questions of the app, which `phoneworld build` wrote: go there, act, look.", metavar="QUESTIONS")
    ] = None,
    mix: Annotated[float, typer.Option("--mix", min=0.0, max=1.0, help="--ask: the share of exploring beside the asking; 0 only asks.")] = 0.5,
    seed: Annotated[int, typer.Option("--seed", help="The same seed on the same app makes the same choices.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the recording that lies at -o.")] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="Touch also what pays, calls, sends, ...: all, or pay,call,send,uninstall,delete-account,logout."),
    ] = None,
    avoid: Annotated[
        list[str] | None, typer.Option("--avoid", help="Leave this widget alone: its words, or id=, text=, desc=, class=. May be repeated.", metavar="SELECTOR")
    ] = None,
    redact: Annotated[
        list[str] | None, typer.Option("--redact", help="Store this text, or the words of the widget id=, text=, desc=, class=, only as a placeholder. May be repeated.", metavar="TEXT|SELECTOR")
    ] = None,
    personal: Annotated[
        bool, typer.Option("--redact-personal/--no-redact", help="--no-redact stores e-mail addresses, phone, card and id numbers as they are (for test apps); passwords never.")
    ] = True,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="mirror: the port of its page; 0 takes any free one.")] = 7610,
    adb: Annotated[int, typer.Option("--adb", min=0, max=65535, help="attach: the port that agents connect to; 0 takes any free one.")] = 7556,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the app's data as they are; by default they are cleared first.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Start over where a recording, or a file that is not ours, already lies at -o.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Records an app: screens, pictures, and what each action led to. By default it explores by itself.

    With --mode mirror a page shows the phone and you act there; with touch you use the phone itself; with attach an agent
    connects to our adb port and is recorded. These three leave the app's data as they are.

    With --ask it does what a recording left open: `phoneworld build app.graph.json` writes app.questions.json, and

        phoneworld record --ask app.questions.json --resume --steps 300 -o app.graph.json

    goes to each, from cleared data by steps that were recorded, and explores in between; then build again.

    Exploring clears the app's data first (--keep leaves them). Every step is on the disk before and after it is done: after
    Ctrl-C, a crash or a lost phone the graph holds all of it, and --resume goes on. Nothing is touched that pays, calls,
    sends, uninstalls, deletes the account or logs out, unless --allow says so.

    Exit code: 0 all well, 12 the outcome of some step could not be captured, 4 the phone was lost, 5 it gave up, 10 the disk did not take it, 130 after Ctrl-C;
    those of all verbs: `phoneworld --help`.
    """
    _check_recorder()
    from phoneworld.cli.record_modes import Wish, run_mode
    from recorder.folder import may_record
    from recorder.run import run_recording, stop_on_signals
    from recorder.safety import parse_allow
    from recorder.selectors import parse_avoid, parse_redact

    parse_allow(allow or ())
    parse_avoid(avoid or ())
    parse_redact(redact or ())
    ends = parse_budget(budget)
    need_phone(device)
    need_place(out)
    may_record(out, resume=resume, force=force)
    plan = None if ask is None else _plan(ask)
    if mode is not Mode.explore:
        if plan is not None:
            raise OptionError(f"--ask goes and acts by itself, and --mode {mode.value} lets you act", hint="leave one of them out")
        wish = Wish(
            device, app, out, Budget(steps or ends.steps, ends.seconds), instruction, tuple(redact or ()), personal, force, resume, port, adb
        )
        with stop_on_signals() as stop:
            done = run_mode(mode.value, wish, lambda phone: _only_app(phone.apps()), stop, quiet=as_json)
        _tell(done, as_json=as_json, again=f" --mode {mode.value}" + (f" --device {device}" if device else ""))
        return
    phone = phone_to_resume(device, out) if resume else open_device(device)
    try:
        package = app or (plan.package if plan is not None else "" if resume else _only_app(phone.apps()))
        with stop_on_signals() as stop, _shown(quiet=as_json) as show:
            done = run_recording(
                phone,
                package,
                steps=ends.steps or steps or (_MANY_STEPS if ends.seconds is not None else None),
                budget_s=ends.seconds,
                seed=seed,
                out=out,
                resume=resume,
                allow=allow or (),
                avoid=avoid or (),
                redact=redact or (),
                redact_personal=personal,
                keep=keep,
                force=force,
                on_progress=show,
                stop=stop,
                ask=plan,
                mix=mix,
            )
    except WriteError as e:
        raise WriteError(e.message, hint=f"{e.hint}; what is written goes on with --resume") from None
    finally:
        phone.close()
    _tell(done, as_json=as_json, again=f" --device {phone.serial}")


def _plan(path: Path) -> Plan:
    from phoneworld.graph.plan import loads

    need_questions(path)
    try:
        return loads(path.read_bytes(), where=str(path))
    except OSError as e:
        raise FileFormatError(f"cannot read {path}: {e.strerror or e}", hint="`phoneworld build app.graph.json` writes app.questions.json") from None


def _tell(done: Recorded, *, as_json: bool, again: str) -> None:
    """Prints what came of it. Exits with its code where that is not 0. `again` are the options that go on with it."""
    code = _EXITS[done.reason] or (UNCAPTURED if done.summary.uncaptured else 0)
    if as_json:
        typer.echo(json.dumps(_report(done, code)))
    else:
        _print(done)
    if done.reason in ("device-lost", "gave-up"):
        raise _Stopped(done, code, again)
    if code:
        raise typer.Exit(code)


class _Stopped(PhoneWorldError):
    """The recording ended before its time; the graph so far is written."""

    def __init__(self, done: Recorded, code: int, again: str) -> None:
        hint = f"attach the phone again, then: phoneworld record --resume{again} -o {done.path}"
        super().__init__(done.message or "the recording could not go on", hint=hint)
        self.exit_code = code


def _check_recorder() -> None:
    """PyPI has an unrelated `recorder`: says how to mend it where that one is in the way."""
    try:
        import recorder

        found = getattr(recorder, "MARKER", None)
    except ImportError:
        raise MissingDependency(
            "phoneworld's recorder is not installed", hint=f"{sys.executable} -m pip install --force-reinstall phoneworld"
        ) from None
    if found != _MARKER:
        place = getattr(recorder, "__file__", "somewhere")
        raise MissingDependency(
            f"another package is called recorder and is in the way: {place}",
            hint=f"{sys.executable} -m pip uninstall recorder, then {sys.executable} -m pip install --force-reinstall phoneworld",
        )


def _only_app(apps: tuple[InstalledApp, ...]) -> str:
    packages = [a.package for a in apps]
    if len(packages) == 1:
        return packages[0]
    some = ", ".join(packages[:5]) + (", ..." if len(packages) > 5 else "")
    raise RecordingError(f"which app? the phone has {len(packages) or 'none'}", hint=f"--app PACKAGE, one of: {some}")


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A live view of the recording on a terminal; lines now and then where the output is no terminal."""
    console = Terminal(stderr=True)
    if quiet or not console.is_terminal:
        yield None if quiet else _Lines(console)
        return
    bar = Bar(TextColumn("recording"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console)
    task = bar.add_task("recording", total=None)
    with Live(console=console, refresh_per_second=8) as live:

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.step, total=progress.steps)
            table = Table.grid(padding=(0, 1))
            table.add_row(bar)
            table.add_row(_line(progress))
            live.update(table)

        yield show


class _Lines:
    """One line every ten steps."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._printed = -1

    def __call__(self, progress: Progress) -> None:
        if progress.step // 10 != self._printed:
            self._printed = progress.step // 10
            self._console.print(f"{progress.step}/{progress.steps} {_line(progress)}", highlight=False)


def _line(progress: Progress) -> str:
    s = progress.summary
    news = "new just now" if progress.stale == 0 else f"nothing new for {counted(progress.stale, 'step')}"
    return (
        f"{counted(s.screens, 'screen')}, {s.tried} of {s.offered} kinds of action tried, {news}, {counted(s.transitions, 'transition')}, "
        f"{s.unsettled} unsettled, {s.skipped} left alone"
        f"  [dim]{escape(progress.why)}:[/] {escape(progress.words)}"
    )


def _report(done: Recorded, code: int) -> dict[str, object]:
    return {
        "graph": str(done.path),
        "app": done.graph.app.package,
        "reason": done.reason,
        "message": done.message,
        "exit_code": code,
        **asdict(done.summary),
        **({"asked": asdict(done.answers)} if done.answers is not None else {}),
        "uncaptured_steps": [
            {"trace": t.id, "after": t.captures[-1], "reason": t.unfinished.reason} for t in done.graph.traces if t.unfinished
        ],
    }


def _print(done: Recorded) -> None:
    console = Terminal()
    s = done.summary
    console.print(f"[bold]{escape(done.graph.app.label or done.graph.app.package)}[/]: {done.reason.replace('-', ' ')}", highlight=False)
    if done.reason == "finished" and done.message:
        console.print(f"[bold yellow]{escape(done.message)}[/]", highlight=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in (
        ("steps", s.steps),
        ("screens", s.screens),
        ("kinds of action tried there", f"{s.tried} of {s.offered}" if s.offered else ""),
        ("transitions", s.transitions),
        ("traces", s.traces),
        ("unsettled", s.unsettled),
        ("not captured", s.uncaptured),
        ("unfinished", s.unfinished),
        ("not done", s.refused),
        ("tried again", _counted(s.retried, s.retried_for)),
        ("redacted", ", ".join(f"{n} {kind}" for kind, n in s.redacted_kinds.items()) or s.redacted),
        ("left alone as unsafe", s.skipped),
        ("questions", _asked(done)),
        ("time from first to last screen", f"{s.elapsed_s:.1f} s"),
    ):
        if value == "":
            continue
        table.add_row(name, str(value))
    console.print(table)
    for trace in done.graph.traces:
        if trace.unfinished is not None:
            console.print(f"  trace {trace.id} broke off: {escape(trace.unfinished.reason)}", highlight=False)
    if done.answers is not None:
        for why, lost in done.answers.not_reached[:_SHOWN]:
            console.print(f"  not reached: {escape(why)} ({escape(lost)})", highlight=False)
    console.print(f"graph: {escape(str(done.path))}", highlight=False, soft_wrap=True)


def _asked(done: Recorded) -> str:
    """What came of the questions; nothing where none were asked."""
    a = done.answers
    return "" if a is None else f"{len(a.answered)} answered, {len(a.not_reached)} not reached, {a.left} left"


def _counted(total: int, reasons: dict[str, int]) -> str:
    """A figure, and what it is made of."""
    return f"{total} ({', '.join(f'{name} {n}' for name, n in reasons.items())})" if reasons else str(total)
