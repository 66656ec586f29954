"""`phoneworld tasks` and `phoneworld check`: what is asked of policies on a mock, proved to be good questions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneworld.cli import transfer
from phoneworld.cli.exits import DOES_NOT_HOLD, INTERRUPTED
from phoneworld.cli.files import TOGETHER, bundles_of, need_bundle
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.errors import FileFormatError, OptionError, WriteError

if TYPE_CHECKING:
    from phoneworld.sim.phone import Phone
    from phoneworld.tasks.prove import Proof
    from phoneworld.tasks.task import Task

console = Terminal()
progress_console = Terminal(stderr=True)
_SHOWN = 5
_MADE = "# Made by `phoneworld tasks generate"
App = Annotated[Path, typer.Argument(help="The folder of an app, with `bundle` and `tasks` in it; of several on one phone, with phone.yaml and `tasks`; or a bundle, with --tasks.")]
Tasks = Annotated[Path | None, typer.Option("--tasks", help="A task file, or a folder of them. Default: the app's `tasks` folder.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="Only tasks whose id has this in it. May be given several times.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

tasks_app = typer.Typer(help="Look at the tasks of an app, prove them, make some.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the verbs to the command line."""
    transfer.register(tasks_app)
    app.add_typer(tasks_app, name="tasks")
    app.command("check")(check)


@tasks_app.command("list")
def list_(
    app: App,
    tasks: Tasks = None,
    only: Only = None,
    seed: Annotated[int, typer.Option(help="Draws the parameters.")] = 0,
    language: Annotated[str, typer.Option(help="The language of the instructions.")] = "en",
    as_json: AsJson = False,
) -> None:
    """List the tasks of an app, as a seed draws them.

        phoneworld tasks list apps/notes --seed 3
    """
    from phoneworld.env.assignment import TaskBook

    phone, found = _opened(app, tasks, only)
    book = TaskBook(phone, found)
    book.check()
    told: list[dict[str, Any]] = []
    for task in found:
        instance = book.assign(task, seed, language if language in task.wordings else next(iter(task.wordings))).instance
        told.append({"id": task.id, "instruction": instance.instruction, "budget": task.budget, "skills": list(task.tags.skills), "difficulty": task.tags.difficulty})
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    table = Table("task", "instruction", "skills", "budget")
    for one in told:
        table.add_row(*(escape(str(v)) for v in (one["id"], one["instruction"], ", ".join(one["skills"]), one["budget"])))
    console.print(table)


@tasks_app.command("prove")
def prove(
    app: App,
    tasks: Tasks = None,
    only: Only = None,
    seeds: Annotated[int, typer.Option(help="How many draws of the parameters each task is tried at.", min=1, max=100)] = 5,
    random: Annotated[int, typer.Option(help="How many random episodes each task must withstand.", min=0, max=10_000)] = 200,
    as_json: AsJson = False,
) -> None:
    """Prove that the tasks of an app are good questions.

    A search over the mock solves each task at several seeds, through coordinates. Then its checker has to refuse what is not quite
    right: nothing done, each part of the way, each thing undone, done to another, misspelt, one field off, the right result with
    something beside it, what solves another task, and random episodes but for one in a hundred. The exit code is 1 where a task is not
    proved, one that names what the mock does not have among them (that is told with file and line); 3 where the files cannot be read.

        phoneworld tasks prove apps/notes
    """
    phone, found = _opened(app, tasks, only)
    proofs = _proofs(phone, found, seeds, random)
    if as_json:
        typer.echo(json.dumps({"app": phone.main, **summary(proofs), "tasks": [p.to_json() for p in proofs]}, ensure_ascii=False, indent=1))
    else:
        _print(proofs)
    if not all(p.proved for p in proofs):
        raise typer.Exit(DOES_NOT_HOLD)


@tasks_app.command("generate")
def generate(
    app: Annotated[Path, typer.Argument(help="The folder of an app, with `bundle` in it; or a bundle.")],
    n: Annotated[int, typer.Option("--n", help="How many tasks.", min=1, max=10_000)] = 100,
    seed: Annotated[int, typer.Option(help="Chooses what is put together.")] = 0,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The task file to write. Default: tasks/generated.yaml in the app's folder.")] = None,
    name: Annotated[str | None, typer.Option(help="What the ids begin with. Default: the name of the app's folder.")] = None,
    category: Annotated[Literal["app", "mini-app", "system"], typer.Option(help="What the tasks are tagged as.")] = "app",
    as_json: AsJson = False,
) -> None:
    """Make tasks for an app out of its mock, each of them proved.

    What can be asked is read off the rules and screens of the mock: reach a page, read and answer, tick, create, delete, search, choose a
    setting, copy a value from one page into a form, count, under a condition; and several of these together. It is said in the words
    of the app. Each task has to take the oracle three actions or more.

        phoneworld tasks generate apps/notes --n 100
    """
    from phoneworld.program.bundle import load_bundle
    from phoneworld.sim.phone import Phone
    from phoneworld.tasks.file import save_tasks
    from phoneworld.tasks.generate import Generator

    bundle = app / "bundle" if (app / "bundle").is_dir() else app
    need_bundle(bundle)
    target = out or app / "tasks" / "generated.yaml"
    if out is None and bundle == app:
        raise FileFormatError(f"{app} is a bundle, which holds no tasks", hint="say with -o where the tasks go")
    if target.exists() and not target.read_bytes().startswith(_MADE.encode()):
        raise WriteError(f"{target} stands there, and `phoneworld tasks generate` did not write it", hint="name another file with -o")
    short = re.sub(r"[^a-z0-9_.-]+", "-", (name or app.resolve().name.removesuffix(".bundle")).lower()).strip("-.") or "app"
    made = Generator(Phone([load_bundle(bundle).program]), short, seed=seed, category=category).make(n)
    if made.tasks:
        save_tasks(made.tasks, target, head=f"{_MADE} --n {n} --seed {seed}`. Those who change it, change its name too.\n")
    told = {**summary(made.proofs), "asked_for": n, "reading_on_two_screens": made.reading, "dropped": dict(made.dropped.most_common())}
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
    else:
        _print_summary(made.proofs)
        console.print(f"{made.reading} of {len(made.tasks)} need two screens or more and a value that is read there; written to {escape(str(target))}", highlight=False)
        for why, times in made.dropped.most_common(_SHOWN):
            console.print(f"[dim]dropped {times}: {escape(why)}[/]", highlight=False)
    if len(made.tasks) < n:
        raise typer.Exit(DOES_NOT_HOLD)


def check(
    apps: Annotated[list[Path] | None, typer.Argument(help="Folders of apps. Default: all in `apps`.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that apps can be shipped: each mock is whole, and every one of its tasks is proved.

    The exit code is 1 where a task is not proved or an app has none.

        phoneworld check apps/notes
    """
    from phoneworld.program.check import check_program

    folders = apps or sorted(p.parent for mark in ("bundle", TOGETHER) for p in Path("apps").glob(f"*/{mark}"))
    if not folders:
        raise FileFormatError("no app is in `apps`", hint="name the folder of one, with `bundle` and `tasks` in it")
    report: dict[str, Any] = {}
    for folder in folders:
        phone, found = _opened(folder, None, None)
        for model in phone.models.values():
            check_program(model.program)
        proofs = _proofs(phone, found, 5, 200)
        report[str(folder)] = {**summary(proofs), "unproved": {p.task: list(p.faults) for p in proofs if not p.proved}}
        if not as_json:
            console.print(f"[bold]{escape(str(folder))}[/]")
            _print(proofs)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False, indent=1))
    if any(of["unproved"] for of in report.values()):
        raise typer.Exit(DOES_NOT_HOLD)


def _opened(app: Path, tasks: Path | None, only: Sequence[str] | None) -> tuple[Phone, tuple[Task, ...]]:
    """The phone and the tasks that a folder holds."""
    from phoneworld.program.bundle import load_bundle
    from phoneworld.sim.phone import Phone
    from phoneworld.tasks.file import load_tasks

    bundles = bundles_of(app)
    if tasks is None and bundles == (app,):
        raise FileFormatError(f"{app} is a bundle, which holds no tasks", hint="name the folder of an app, or give --tasks")
    phone = Phone([load_bundle(bundle).program for bundle in bundles])
    found = load_tasks(tasks or app / "tasks")
    if only:
        found = tuple(t for t in found if any(word in t.id for word in only))
        if not found:
            raise OptionError("no task has that in its id", hint="`phoneworld tasks list` shows the ids")
    return phone, found


def _proofs(phone: Phone, tasks: Sequence[Task], seeds: int, random: int) -> list[Proof]:
    """Tries all tasks. After Ctrl-C it says how far it came."""
    from phoneworld.tasks.file import plugged_in
    from phoneworld.tasks.prove import Prover

    prover = Prover(phone, tasks, custom=plugged_in())
    proofs: list[Proof] = []
    bar = Progress(TextColumn("proving"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal)
    try:
        with bar:
            for task in bar.track(tasks):
                proofs.append(prover.prove(task, seeds=seeds, random=random))
    except KeyboardInterrupt:
        proved = sum(p.proved for p in proofs)
        progress_console.print(f"interrupted: {len(proofs)} of {counted(len(tasks), 'task')} tried, {proved} of them proved", highlight=False)
        raise typer.Exit(INTERRUPTED) from None
    return proofs


def summary(proofs: Sequence[Proof]) -> dict[str, Any]:
    """The figures of all proofs together."""
    killed, survivors = sum(p.killed for p in proofs), sum(len(p.survivors) for p in proofs)
    passes, episodes = (sum(p.random[i] for p in proofs) for i in (0, 1))
    return {
        "proved": sum(p.proved for p in proofs),
        "of": len(proofs),
        "wrong_endings": killed + survivors,
        "killed": killed,
        "kill_rate": killed / (killed + survivors) if killed + survivors else 1.0,
        "equivalent": sum(len(p.equivalent) for p in proofs),
        "random_passes": passes,
        "random_episodes": episodes,
    }


def _print(proofs: Sequence[Proof]) -> None:
    table = Table("task", "proved", "oracle", "rests on", "wrong endings refused", "equivalent", "random passes")
    for p in proofs:
        lengths = f"{min(p.lengths)}-{max(p.lengths)}" if p.lengths and min(p.lengths) != max(p.lengths) else str(min(p.lengths, default="none"))
        table.add_row(
            escape(p.task), "yes" if p.proved else "[red]no[/]", lengths, p.evidence, f"{p.killed} of {p.killed + len(p.survivors)}",
            str(len(p.equivalent)), f"{p.random[0]} of {p.random[1]}",
        )  # fmt: skip
    console.print(table)
    for p in proofs:
        for fault in p.faults[:_SHOWN]:
            console.print(f"[yellow]{escape(p.task)}[/] {escape(fault)}", highlight=False)
        if len(p.faults) > _SHOWN:
            console.print(f"[dim]… {len(p.faults) - _SHOWN} more; --json lists all[/]", highlight=False)
    _print_summary(proofs)


def _print_summary(proofs: Sequence[Proof]) -> None:
    s = summary(proofs)
    console.print(
        f"{s['proved']} of {counted(s['of'], 'task')} proved; of {s['wrong_endings']} wrong endings {s['killed']} are refused ({s['kill_rate']:.1%}), "
        f"{s['equivalent']} more are right ones; {s['random_passes']} of {counted(s['random_episodes'], 'random episode')} pass",
        highlight=False,
    )
