"""`phoneworld eval`: how well a policy does the tasks of a mock; for people, for programs, and for CI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneworld.cli.exits import DOES_NOT_HOLD
from phoneworld.cli.files import bundles_of, need_phone, need_place
from phoneworld.cli.terminal import Terminal, counted, to_stderr
from phoneworld.errors import FileFormatError, OptionError
from phoneworld.graph.file import write_atomically

if TYPE_CHECKING:
    from phoneworld.env.rollout import Executor
    from phoneworld.episodes.folder import EpisodeFolder
    from phoneworld.tasks.task import Task

console = Terminal()
progress_console = Terminal(stderr=True)
_SHOWN = 20
_WITHOUT = {"infra": "lost to the machine", "checker": "their checker failed", "env": "the mock failed", "unknown": "cannot be told"}


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("eval")(evaluate)


def evaluate(
    app: Annotated[Path, typer.Argument(help="The folder of an app, with `bundle` and `tasks` in it; or a bundle, with --tasks.", metavar="APP|BUNDLE")],
    policy: Annotated[str, typer.Option("--policy", help="oracle; random; FILE.py (a class Policy in it; FILE.py:NAME for another); FILE.pt (what phoneworld.train made); http://HOST/ (asked for each action); openai:MODEL (an OpenAI-compatible endpoint, with --base-url); adb:COMMAND (any agent that drives a phone over adb).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder for the episodes and the report. One that holds episodes of the same is gone on with.")],
    tasks: Annotated[Path | None, typer.Option("--tasks", help="A task file, or a folder of them. Default: the app's `tasks` folder.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only tasks whose id has this in it. May be given several times.")] = None,
    seeds: Annotated[int, typer.Option(help="How many draws of each task.", min=1, max=100_000)] = 3,
    first_seed: Annotated[int, typer.Option(help="The first of them.", min=0)] = 0,
    attempts: Annotated[int, typer.Option(help="How many times each draw is tried, by a policy with other dice; for pass@k.", min=1, max=1000)] = 1,
    language: Annotated[str, typer.Option(help="The language of the instructions, where a task has it.")] = "en",
    max_steps: Annotated[int | None, typer.Option(help="Budget of each episode. Default: what the task says.", min=1)] = None,
    on_unrecorded: Annotated[Literal["noop", "truncate"], typer.Option(help="What a step is that the recording does not know: nothing happens, or the episode ends.")] = "noop",
    executor: Annotated[Literal["process", "processes", "ray"], typer.Option(help="Where episodes are played: in this process, in several, in Ray actors. The episodes are the same.")] = "process",
    workers: Annotated[int, typer.Option(help="How many processes or actors.", min=1, max=1024)] = 2,
    interleave: Annotated[int, typer.Option(help="How many episodes at a time each of them plays.", min=1, max=1024)] = 1,
    episodes_s: Annotated[float | None, typer.Option("--episodes-timeout", help="processes, ray: seconds after which a worker that has not finished its episodes is ended.")] = None,
    device: Annotated[str, typer.Option(help="Do it on the real app: web:URL, or an adb serial. It is judged by what can be seen and was answered; what that does not tell has no score.")] = "",
    storage: Annotated[Path | None, typer.Option(help="--device: judge by what the app has stored, too: a file that `phoneworld tasks transfer --storage FILE` wrote.")] = None,
    frames: Annotated[bool, typer.Option("--frames", help="Keep a picture of each look. Without, `episodes view` draws them.")] = False,
    min_success: Annotated[float | None, typer.Option(help="Exit with 1 where fewer succeed than this share, or where an episode has no score.", min=0.0, max=1.0)] = None,
    oracle: Annotated[bool, typer.Option("--oracle/--no-oracle", help="Hold the steps of successes against those of the oracle.")] = True,
    base_url: Annotated[str, typer.Option(help="openai: where the endpoint is, with /v1. Default: OPENAI_BASE_URL.")] = "",
    key_in: Annotated[str, typer.Option("--key-in", help="openai: the environment variable that holds the key.")] = "OPENAI_API_KEY",
    dialect: Annotated[str, typer.Option(help="openai: the words in which the model acts; phoneworld/dialects/README.md lists them.")] = "qwen3",
    see: Annotated[Literal["text", "picture", "both"], typer.Option(help="FILE.py, http, openai: what is shown: the elements in words, a picture, or both.")] = "text",
    history: Annotated[int, typer.Option(help="openai: how many of the last looks are shown whole.", min=1, max=100)] = 1,
    temperature: Annotated[float, typer.Option(help="openai: as the endpoint takes it. FILE.pt: above 0 actions are drawn, at 0 the likeliest is done.", min=0.0, max=10.0)] = 0.0,
    max_tokens: Annotated[int, typer.Option(help="openai: the longest answer.", min=1)] = 1024,
    timeout: Annotated[float, typer.Option(help="http, openai: seconds for a whole answer, from the question on. Who takes longer is asked once more; then the episode is lost to the machine (infra).", min=0.01)] = 120.0,
    retries: Annotated[int, typer.Option(help="http, openai: how many times a question that was refused, or whose line broke, is asked again.", min=0, max=100)] = 4,
    episode_timeout: Annotated[float, typer.Option(help="adb: seconds that the command may take for an episode.", min=0.01)] = 600.0,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the result as JUnit XML, a test an episode.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure how well a policy does the tasks of a mock.

    Each task is tried at several seeds, which draw what it asks and where it begins. Every episode is written to the folder as it goes;
    the same command goes on where it was broken off, and what comes out is the same. An episode that the machine lost, or whose checker
    failed, is told apart: it is no score, and never counted as a failure. The figures are in report.json too, and
    `phoneworld episodes view` shows the episodes. What a policy prints goes to stderr.

    The exit code is 0 where all was played, however it was done; 1 where episodes ended by a fault of their task, its checker or the mock
    (`checker`, `env`), which no policy can do anything about, and where --min-success is not met; 3 where a task cannot be read or names
    what the mock does not have (told with file and line, and nothing is played); 130 after Ctrl-C. What the machine, or the line to a
    policy, lost (`infra`) is played again by the same command, and makes it 1 only with --min-success.

        phoneworld eval apps/notes --policy random --seeds 3 --out runs/random

        phoneworld eval apps/notes --policy oracle --out runs/oracle --min-success 1 --junit oracle.xml

        phoneworld eval apps/notes --policy agent.py --only tick --out runs/mine

        phoneworld eval apps/notes --policy openai:qwen3-vl --base-url http://127.0.0.1:8000/v1 --see both --out runs/qwen

        phoneworld eval apps/notes --policy "adb:python agent.py {instruction}" --out runs/agent

        phoneworld eval apps/notes --policy agent.py --device web:http://127.0.0.1:8000 --out runs/real

    phoneworld/evaluate/README.md says what a policy in a file, behind HTTP or over adb is told and has to say.
    """
    from phoneworld.env.assignment import TaskBook
    from phoneworld.env.rollout import Phones
    from phoneworld.episodes.folder import EpisodeFolder
    from phoneworld.evaluate.junit import junit as junit_xml
    from phoneworld.evaluate.policies import Options, choose_policy
    from phoneworld.evaluate.run import Evaluation
    from phoneworld.program.bundle import load_bundle
    from phoneworld.sim.phone import Phone

    bundles, found = opened(app, tasks, only)
    if junit is not None:
        need_place(junit)
    programs = [load_bundle(bundle).program for bundle in bundles]
    # What no episode could be played of is told before any is.
    TaskBook(Phone(programs), found).check()
    places = tuple(map(str, bundles))
    options = Options(
        see, dialect, base_url, key_in, history, temperature, max_tokens, timeout_s=timeout, retries=retries, episode_s=episode_timeout
    )
    with to_stderr():  # a policy's file is run to find its class
        chosen = choose_policy(policy, places, found, {program.package: program.label for program in programs}, options)
    if chosen.asks == "adb":
        from phoneworld.device.adb_server import AdbServer

        AdbServer().devices()
    numbers = tuple(range(first_seed, first_seed + seeds))
    phones = Phones("", max_steps=max_steps, on_unrecorded=on_unrecorded)
    real = None
    if device:
        from phoneworld.evaluate.real_phone import RealPhone

        need_phone(device)
        if executor != "process" or interleave != 1:
            raise OptionError("there is one phone, and one episode at a time on it", hint="leave --executor and --interleave out, or --device")
        if len(places) > 1:
            raise OptionError("tasks over several apps are tried on the mocks only", hint="leave --device out")
        real = RealPhone(device, places[0], found, str(storage or ""), max_steps=max_steps)
    elif storage is not None:
        raise OptionError("the state of a mock is read as it is", hint="--storage is for --device")
    evaluation = Evaluation(chosen, places, found, numbers, attempts, language, frames, phones=phones, real=real)
    folder = EpisodeFolder(out)
    bar = Progress(TextColumn(escape(policy[:40])), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal)
    with to_stderr(), bar:
        line = bar.add_task("", total=None)
        played = evaluation.run(folder, _executor(executor, workers, interleave, episodes_s), lambda done, of: bar.update(line, completed=done, total=of))
    figures = evaluation.figures(folder, oracle=oracle)
    write_atomically(out / "report.json", json.dumps(figures, ensure_ascii=True, indent=1).encode() + b"\n")
    if junit is not None:
        write_atomically(junit, junit_xml(figures, {one["name"]: _seconds(folder, one["name"]) for one in figures["each"]}))
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=True, indent=1))
    else:
        _print(figures, out, played)
    if _faulty(figures):
        raise typer.Exit(DOES_NOT_HOLD)
    if min_success is not None and (figures["success"] is None or figures["success"] < min_success or figures["without_score"]):
        if not as_json:
            console.print(f"[red]not enough:[/] {min_success:.0%} of all are asked for, and a score of each", highlight=False)
        raise typer.Exit(DOES_NOT_HOLD)


def _faulty(figures: dict[str, Any]) -> bool:
    """True where episodes have no score by a fault of tasks or mock, which no policy could have done anything about."""
    return any(figures["without_score"].get(kind) for kind in ("checker", "env"))


def opened(app: Path, tasks: Path | None, only: list[str] | None) -> tuple[tuple[Path, ...], tuple[Task, ...]]:
    """The bundles and the tasks that are meant."""
    from phoneworld.tasks.file import load_tasks

    bundles = bundles_of(app)
    if tasks is None:
        beside = app / "tasks" if bundles != (app,) else app.resolve().parent / "tasks"
        if not beside.is_dir():
            raise FileFormatError(f"there are no tasks for {app}", hint="write some (README, “Tasks”), `phoneworld tasks generate`, or say where they are with --tasks")
        tasks = beside
    found = load_tasks(tasks)
    if only:
        found = tuple(t for t in found if any(word in t.id for word in only))
        if not found:
            raise OptionError("no task has that in its id", hint="`phoneworld tasks list` shows the ids")
    return bundles, found


def _executor(name: str, workers: int, interleave: int, episodes_s: float | None) -> Executor:
    if name == "processes":
        from phoneworld.env.processes import Processes

        return Processes(workers, interleave, episodes_s=episodes_s)
    if name == "ray":
        from phoneworld.env.on_ray import OnRay

        return OnRay(workers, interleave, episodes_s=episodes_s)
    from phoneworld.env.rollout import InProcess

    return InProcess(interleave)


def _seconds(folder: EpisodeFolder, name: str) -> float:
    steps = folder.times(name).get("steps", [])
    return float(sum(sum(step) for step in steps if isinstance(step, list)))


def _print(figures: dict[str, Any], out: Path, played: int) -> None:
    table = Table("", "success", "95 %", "progress", "steps", "per oracle step", "unrecorded", "invalid", "no score")
    for name, of in [("all", figures), *figures["by_tag"].items()]:
        table.add_row(escape(name), *_cells(of))
    console.print(table)
    worst = sorted(((of["success"], name, of) for name, of in figures["by_task"].items() if of["success"] is not None), key=lambda it: (it[0], it[1]))
    if len(figures["by_task"]) > 1:
        tasks = Table("task", "success", "95 %", "progress", "steps", "per oracle step", "unrecorded", "invalid", "no score")
        for _, name, of in worst[:_SHOWN]:
            tasks.add_row(escape(name), *_cells(of))
        console.print(tasks)
        if len(worst) > _SHOWN:
            console.print(f"[dim]… {len(worst) - _SHOWN} tasks more, which do as well or better; report.json has all[/]", highlight=False)
    if len(figures["pass_at"]) > 1:
        console.print(f"pass@k over {figures['pass_at_of']}: " + ", ".join(f"{k}: {v:.1%}" for k, v in figures["pass_at"].items()), highlight=False)
    console.print("ended: " + ", ".join(f"{n} {word}" for word, n in figures["ended"].items()), highlight=False)
    for kind, n in figures["without_score"].items():
        message = next((one["message"] for one in figures["each"] if one["ended"] == kind and one["message"]), "")
        console.print(f"[yellow]no score:[/] {counted(n, 'episode')}, {_WITHOUT[kind]}" + (f": {escape(message)}" if message else ""), highlight=False)
    console.print(f"{counted(played, 'episode')} played, {figures['episodes'] - played} were there; phoneworld episodes view {escape(str(out))} shows them", highlight=False)


def _cells(of: dict[str, Any]) -> list[str]:
    """The figures of a group in words."""
    low, high = of["interval"]
    ratio = of["against_oracle"]["steps_per_oracle_step"]
    missing = sum(of["without_score"].values())
    return [
        f"{of['succeeded']} of {of['scored']}" + ("" if of["success"] is None else f" ({of['success']:.0%})"), f"{low:.0%} to {high:.0%}", _percent(of["progress"]),
        "" if of["steps"] is None else f"{of['steps']:.1f}", "" if ratio is None else f"{ratio:.2f}", _percent(of["unrecorded_steps"]),
        _percent(of["invalid_actions"]), str(missing) if missing else "",
    ]  # fmt: skip


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
