"""`phoneworld tasks transfer`: the tasks of a mock, done again on the real app."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneworld.cli.exits import DOES_NOT_HOLD
from phoneworld.cli.files import need_bundle, need_phone
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.errors import FileFormatError, OptionError

if TYPE_CHECKING:
    from phoneworld.transfer.run import Transferred

console = Terminal()
progress_console = Terminal(stderr=True)
_PASSES = 0.9


def register(tasks_app: typer.Typer) -> None:
    """Adds the verb to `phoneworld tasks`."""
    tasks_app.command("transfer")(transfer)


def transfer(
    app: Annotated[Path, typer.Argument(help="The folder of an app, with `bundle` and `tasks` in it; or a bundle, with --tasks.")],
    device: Annotated[str, typer.Option(help="The real app: web:URL, or an adb serial.")],
    tasks: Annotated[Path | None, typer.Option("--tasks", help="A task file, or a folder of them. Default: the app's `tasks` folder.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only tasks whose id has this in it. May be given several times.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the parameters.")] = 0,
    step_s: Annotated[float, typer.Option("--step-s", help="How long a step lasts at least, in seconds: what comes by itself later than at once is waited for.", min=0, max=60)] = 0.0,
    before_each: Annotated[str, typer.Option("--before-each", help="A command that puts the app's server back; run before each task is begun on the app.")] = "",
    storage: Annotated[Path | None, typer.Option("--storage", help="Write here how the app stores what the mock has, as found out on the way: DeviceEnv(storage=...) judges by it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try the tasks of a mock on the real app.

    The oracle solves each task on the mock. The same is then done on the real app, from its first start: each touch at the widget there
    that is like the one touched on the mock (same words, id, place, same things beside it), and, where that makes a difference, once more
    at the same pixels. Success is what the checker says of what can be seen, was answered, and the app has stored (where the phone tells that:
    web pages do); else that app and mock show the same at the end, and again after the app was started anew. Where none tells it, it is
    unknown. The exit code is 1 where nine in ten do not hold there.

        phoneworld tasks transfer apps/notes --device web:http://127.0.0.1:8000
    """
    from phoneworld.device.open import WebPhone, open_device
    from phoneworld.env.device_env import DeviceEnv
    from phoneworld.env.observation import ObservationSpec
    from phoneworld.program.bundle import load_bundle
    from phoneworld.sim.phone import Phone
    from phoneworld.tasks.file import load_storage, load_tasks, save_storage
    from phoneworld.transfer.run import Transfer

    bundle = app / "bundle" if (app / "bundle").is_dir() else app
    need_bundle(bundle)
    if tasks is None and bundle == app:
        raise FileFormatError(f"{app} is a bundle, which holds no tasks", hint="name the folder of an app, or give --tasks")
    found = [t for t in load_tasks(tasks or app / "tasks") if not only or any(word in t.id for word in only)]
    if not found:
        raise OptionError("no task has that in its id", hint="`phoneworld tasks list` shows the ids")
    program = load_bundle(bundle).program
    mock, info = Phone([program]), program.device
    web = WebPhone(
        info.size, info.density, program.package, program.label, clock_ms=program.clock_ms or None, locale=info.locale, timezone=info.timezone, night_mode=info.night_mode
    )
    need_phone(device)
    if storage is not None and storage.exists():
        load_storage(storage)  # only one of ours is replaced
    told: list[Transferred] = []
    phone = open_device(device, web)
    try:
        env = DeviceEnv(phone, program.package, observe=ObservationSpec(text=False), tasks=found, mock=mock)
        tried = Transfer(env, mock, found, least_s=step_s, before=partial(_run, shlex.split(before_each)))
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, transient=True,
            disable=not progress_console.is_terminal,
        ) as progress:  # fmt: skip
            bar = progress.add_task(escape(program.package), total=len(found))
            for task in found:
                told.append(tried.one(task, seed))
                progress.advance(bar)
        keeps = tried.storage()
        told = [tried.again(one, keeps) for one in told]
    finally:
        phone.close()
    figures = summary(told)
    if storage is not None:
        save_storage(keeps, storage)
    if as_json:
        typer.echo(json.dumps({"app": program.package, "device": device, "seed": seed, **figures, "tasks": [t.to_json() for t in told]}, ensure_ascii=False, indent=1))
    else:
        _print(told, figures)
    if figures["holds_share"] < _PASSES:
        raise typer.Exit(DOES_NOT_HOLD)


def _run(words: Sequence[str]) -> None:
    """Runs a command, where there is one. Raises OptionError where it cannot be run or fails."""
    if not words:
        return
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except OSError as e:
        raise OptionError(f"--before-each cannot be run: {e}", hint="name a program that is on the PATH, with its arguments") from None
    if done.returncode:
        raise OptionError(f"--before-each ended with {done.returncode}: {done.stderr.strip()[-200:]}", hint="try the command by itself")


def summary(told: Sequence[Transferred]) -> dict[str, Any]:
    """How many tasks hold on the real app: touches aimed anew, and blind; what told it; why the others do not."""
    aimed, blind = (Counter(w.success for w in walks) for walks in ([t.aimed for t in told], [t.blind for t in told]))
    steps = [(w.steps, w.faithful_steps) for w in (t.aimed for t in told)]
    total = sum(n for n, _ in steps)
    return {
        "of": len(told),
        "holds": aimed[True], "fails": aimed[False], "unknown": aimed[None], "holds_share": aimed[True] / len(told) if told else 0.0,
        "holds_blind": blind[True], "fails_blind": blind[False], "unknown_blind": blind[None],
        "told_by": dict(Counter(t.aimed.by for t in told if t.aimed.success is not None)),
        "faithful_steps": sum(n for _, n in steps) / total if total else 1.0, "steps": total,
        "why": dict(Counter(t.aimed.kind for t in told if t.aimed.success is not True).most_common()),
    }  # fmt: skip


def _print(told: Iterable[Transferred], figures: dict[str, Any]) -> None:
    marks = {True: "yes", False: "[red]no[/]", None: "[yellow]unknown[/]"}
    table = Table("task", "holds there", "blind", "told by", "why not")
    for one in told:
        table.add_row(escape(one.task), marks[one.aimed.success], marks[one.blind.success], one.aimed.by, escape(f"{one.aimed.kind}: {one.aimed.why}" if one.aimed.kind else ""))
    console.print(table)
    why = ", ".join(f"{n} {kind}" for kind, n in figures["why"].items())
    console.print(
        f"{figures['holds']} of {counted(figures['of'], 'task')} hold on the real app ({figures['holds_share']:.0%}), {figures['unknown']} cannot be told"
        f"{'; the others: ' + why if why else ''}; with the same pixels {figures['holds_blind']}. "
        f"Of {counted(figures['steps'], 'step')} {figures['faithful_steps']:.0%} show what the mock shows",
        highlight=False,
    )
