"""`phoneworld episodes`: what is in a folder of episodes, whether it happens again, and a page to look at it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, track
from rich.table import Table

from phoneworld.cli.exits import DOES_NOT_HOLD
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.errors import OptionError
from phoneworld.graph.file import write_atomically

console = Terminal()
progress_console = Terminal(stderr=True)
_SHOWN = 5
Folder = Annotated[Path, typer.Argument(help="A folder of episodes, as `phoneworld eval … --out DIR` writes it.", metavar="DIR")]
Only = Annotated[list[str] | None, typer.Option("--only", help="Only episodes whose name has this in it, such as notes/add-v1 or seed-3. May be given several times.")]
Bundles = Annotated[list[Path] | None, typer.Option("--bundle", help="Where the mock is, if it is not where it was.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

episodes_app = typer.Typer(help="Look at episodes on the disk, and play them again.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.add_typer(episodes_app, name="episodes")


@episodes_app.command("list")
def list_(folder: Folder, only: Only = None, as_json: AsJson = False) -> None:
    """List the episodes of a folder: how each ended, how long it was, and what was asked.

        phoneworld episodes list runs/random
    """
    from phoneworld.episodes.folder import EpisodeFolder

    told: list[dict[str, Any]] = []
    place = EpisodeFolder(folder)
    for name in chosen(place, only):
        trace = place.read(name)
        record = trace.record()
        told.append({
            "name": name, "task": record.task, "seed": record.seed, "attempt": trace.header.attempt, "steps": len(trace.steps), "success": record.success,
            "termination": record.termination, "error_class": record.error_class, "message": record.message, "progress": record.progress,
            "unrecorded": record.unrecorded, "whole": trace.is_whole, "cut": trace.cut, "instruction": record.instruction,
        })  # fmt: skip
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=True, indent=1))
        return
    table = Table("episode", "ended", "steps", "progress", "instruction")
    for one in told:
        ended = one["termination"] if one["error_class"] in ("none", "agent") and one["termination"] != "error" else f"{one['error_class']}: {one['message']}"
        progress = "" if one["progress"] is None else f"{one['progress']:.0%}"
        table.add_row(*(escape(str(v)) for v in (one["name"], ended, one["steps"], progress, one["instruction"].encode(errors="replace").decode())))
    console.print(table)
    cut = sum(not one["whole"] for one in told)
    console.print(counted(len(told), "episode") + (f"; {cut} broken off: the same `phoneworld eval` plays them again" if cut else ""), highlight=False)


@episodes_app.command("replay")
def replay(folder: Folder, only: Only = None, bundle: Bundles = None, as_json: AsJson = False) -> None:
    """Play episodes again on their mock, and check that each comes out the same to the byte.

    What the policy did is taken from the trace; the mock, the task and its checker do the rest: each step has to lead to the same
    state, for the same reason and the same pay, and the verdict has to be the same. How long it took is told in other files and not
    compared. Of an episode that ended by a fault of the machine or of the policy, the steps are compared. The exit code is 1 where one
    differs.

        phoneworld episodes replay runs/random
    """
    from phoneworld.episodes.folder import EpisodeFolder, Kept
    from phoneworld.episodes.replay import phones_of
    from phoneworld.episodes.replay import replay as play_again

    place = EpisodeFolder(folder)
    names = chosen(place, only)
    pictured = any(place.read(name).header.frame is not None for name in names[:1])
    results = []
    with phones_of(place, bundle or (), observe=_with_pictures(pictured))() as env:
        for name in track(names, "playing again", console=progress_console, disable=not progress_console.is_terminal, transient=True):
            results.append(play_again(Kept(name, place.read(name)), env))
    counts = {outcome: sum(r.outcome == outcome for r in results) for outcome in ("same", "same steps", "differs")}
    if as_json:
        typer.echo(json.dumps({**counts, "episodes": [asdict(r) for r in results]}, ensure_ascii=True, indent=1))
    else:
        words = f"{counts['same']} of {counted(len(results), 'episode')} came out the same to the byte"
        if counts["same steps"]:
            words += f"; of {counts['same steps']} that a fault or the clock ended, all steps did"
        console.print(words, highlight=False)
        for r in [r for r in results if r.outcome == "differs"][:_SHOWN]:
            console.print(f"[red]{escape(r.name)}[/], line {r.line}\n  was {escape(r.was or 'no such line')}\n  now {escape(r.now or 'no such line')}", highlight=False)
        if counts["differs"] > _SHOWN:
            console.print(f"[dim]… {counts['differs'] - _SHOWN} more differ; --json lists all[/]", highlight=False)
    if counts["differs"]:
        raise typer.Exit(DOES_NOT_HOLD)


def _with_pictures(pictured: bool) -> Any:
    from phoneworld.env.observation import ObservationSpec

    return ObservationSpec(screenshot="png") if pictured else ObservationSpec()


def chosen(place: Any, only: list[str] | None) -> list[str]:
    """The names of the episodes that are meant. Raises FileFormatError where the folder is none of ours, OptionError where none is meant."""
    place.about  # noqa: B018
    names: list[str] = [name for name in place.names() if place.trace_file(name).stat().st_size]
    found = [name for name in names if not only or any(word in name for word in only)]
    if not found:
        raise OptionError(f"no episode in {place.path}" + (f" has {' or '.join(only)} in its name" if only else ""), hint="`phoneworld episodes list DIR` shows the names")
    return found


@episodes_app.command("view")
def view(
    folder: Folder,
    against: Annotated[Path | None, typer.Option(help="Another folder: both side by side, task by task and seed by seed.", metavar="DIR")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The page to write. Default: view.html in the folder.")] = None,
    only: Only = None,
    limit: Annotated[int, typer.Option(help="How many episodes are shown; 0 for all. A hundred make a page of some 10 MB.", min=0)] = 100,
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Draw screens of which no picture was kept (it takes Chromium, a quarter of a second each); or show them as boxes.")] = True,
    bundle: Bundles = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file at --out that is not ours.")] = False,
) -> None:
    """Make a page to look at episodes.

    One file without a network: the phone with each touch drawn on it, what the touch landed on, why the mock did what it did, reward and
    progress, what changed in the state, the tree, and the verdict; filtered by how it ended. What was not kept is found by playing the
    episodes again on their mock.

        phoneworld episodes view runs/random

        phoneworld episodes view runs/random --against runs/oracle -o compared.html
    """
    from phoneworld.cli.files import marked, may_write
    from phoneworld.episodes.folder import EpisodeFolder
    from phoneworld.episodes.page import Side, episodes_page

    target = out or folder / "view.html"
    places = [EpisodeFolder(folder), *([EpisodeFolder(against)] if against is not None else [])]
    names = [chosen(place, only) for place in places]
    may_write(target, "page", force=force)
    # Of two folders what both have comes first: that is what can be compared.
    both = set(names[0]).intersection(*names[1:])
    order = [name for name in names[0] if name in both] + [name for name in names[0] if name not in both]
    order += [name for of in names[1:] for name in of if name not in both]
    wanted = order[: limit or len(order)]
    bundles = tuple(map(str, bundle or ()))
    titles = [place.path.name or str(place.path) for place in places]
    if len(set(titles)) < len(titles):
        titles = [str(place.path) for place in places]
    sides = [Side(title, place, [name for name in wanted if name in of], bundles) for title, place, of in zip(titles, places, map(set, names), strict=True)]
    bar = Progress(TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal)
    with bar:
        line = bar.add_task("", total=None)
        page = episodes_page(sides, draw=draw, progress=lambda done, of: bar.update(line, completed=done, total=of))
    write_atomically(target, marked(page).encode())
    left = len(order) - len(wanted)
    console.print(f"{counted(len(wanted), 'episode')} in {escape(str(target))}" + (f"; {left} more with --limit 0 or --only" if left else ""), highlight=False)
