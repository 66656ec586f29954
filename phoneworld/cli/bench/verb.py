"""The verb: runs the measurements, prints a table or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.table import Table

import phoneworld
from phoneworld.cli.bench import measure
from phoneworld.cli.bench.growth import Build, build_of
from phoneworld.cli.bench.miniwob import miniwob_figures
from phoneworld.cli.bench.tasks import task_figures, vector_steps_per_s
from phoneworld.cli.bench.walk import find_walk
from phoneworld.cli.files import need_bundle, pictures_note
from phoneworld.cli.terminal import Terminal
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.errors import BrowserError, OptionError
from phoneworld.program.bundle import load_bundle
from phoneworld.render.browser import find_chromium
from phoneworld.serve.server import bundles_in
from phoneworld.sim.phone import Phone
from phoneworld.testing.samples import sample_bundle
from phoneworld.ui.action import Tap

AIM_STEPS_PER_S = 20_000
console = Terminal()
progress_console = Terminal(stderr=True)


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("bench")(bench)


def bench(
    bundle: Annotated[
        Path | None,
        typer.Argument(
            help="A folder that `phoneworld build` wrote. Default: the first app in apps/, else a built-in sample.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long each figure is measured.", min=0.01, max=3600)] = 2.0,
    pixels: Annotated[bool, typer.Option(help="Measure pictures too (starts Chromium).")] = True,
    adb: Annotated[
        bool, typer.Option("--adb", help="Measure a tap and a picture through the adb face too (raw transport).")
    ] = False,
    miniwob: Annotated[
        bool, typer.Option("--miniwob", help="Measure MiniWoB++ beside it (its browser, through Selenium).")
    ] = False,
    build: Annotated[
        str,
        typer.Option(
            "--build",
            help="Measure how long recordings of so many captures take to build, made by acting on the app; 5000 takes minutes.",
            metavar="N,N,...",
            show_default=False,
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure how fast a compiled app runs on one core.

    A step is a coordinate tap with hit test, state change and everything `PhoneEnv.step` returns; taps are found by searching
    the app, so that at least half of them change its state. Each figure is the best of five windows;
    what needs no Chromium is timed by the processor's clock, so that other programs hardly matter.

        phoneworld bench app.bundle --seconds 5 --json
        phoneworld bench app.bundle --build 100,1000
    """
    if bundle is not None:
        need_bundle(bundle)
    sizes = _sizes(build)
    # Before anything takes time: where it is missing, that is said at once.
    beside = [asdict(of) for of in miniwob_figures(seconds)] if miniwob else None
    with ExitStack() as stack:
        path = (
            bundle
            or _first_app()
            or sample_bundle(Path(stack.enter_context(TemporaryDirectory())) / "groceries.bundle").path
        )
        figures = _measured(path, seconds, pixels=pixels)
        if adb:
            figures["adb"] = _through_adb(path, seconds)
        if sizes:
            figures["build"] = [asdict(b) for b in _built(path, sizes)]
    if beside is not None:
        figures["miniwob"] = [{name: round(v, 2) if isinstance(v, float) else v for name, v in of.items()} for of in beside]
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))
    else:
        _print(figures)


def _through_adb(path: Path, seconds: float) -> dict[str, float | None]:
    """Milliseconds a call, by stable keys."""
    from phoneworld.cli.bench.adb import latency

    walk = find_walk(Phone([load_bundle(path).program]))
    taps = [action for action in walk.actions if isinstance(action, Tap)]
    return {name: None if v is None else round(v, 3) for name, v in asdict(latency(path, taps, seconds)).items()}


def _sizes(told: str) -> list[int]:
    sizes = [part.strip() for part in told.split(",")] if told else []
    if not all(part.isascii() and part.isdigit() and 1 < int(part) <= 1_000_000 for part in sizes):
        raise OptionError(f"--build takes numbers of captures from 2, found {told!r}", hint="--build 100,1000")
    return [int(part) for part in sizes]


def _built(path: Path, sizes: Sequence[int]) -> Iterator[Build]:
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), console=progress_console, transient=True, disable=not progress_console.is_terminal
    ) as progress:
        task = progress.add_task("", total=None)
        for captures in sizes:
            progress.update(task, description=f"building {captures:,} captures")
            yield build_of(path, captures)


def _first_app() -> Path | None:
    for folder in (Path("apps"), Path(phoneworld.__file__).resolve().parent.parent / "apps"):
        if found := bundles_in(folder):
            return found[0]
    return None


def _measured(path: Path, seconds: float, *, pixels: bool) -> dict[str, Any]:
    """All figures, by stable keys; those of pictures are None where none can be drawn."""
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), console=progress_console, transient=True, disable=not progress_console.is_terminal
    ) as progress:
        task = progress.add_task("reading the app", total=None)

        def now(words: str) -> None:
            progress.update(task, description=words)

        loaded = load_bundle(path)
        walk = find_walk(Phone([loaded.program]))
        size = loaded.program.device.size
        now("memory")
        memory = measure.memory(lambda: loaded, lambda env: walk.actions)
        now("steps")
        steps = measure.steps_per_s(PhoneEnv(loaded), walk, seconds)
        now("steps with the tree")
        steps_tree = measure.steps_per_s(PhoneEnv(loaded), walk, seconds, lambda o: o.tree)
        now("steps with the list of elements")
        steps_text = measure.steps_per_s(PhoneEnv(loaded), walk, seconds, lambda o: o.text)
        now("reset, fork, restore")
        reset, fork = measure.reset_us(loaded, seconds / 2), measure.fork_us(loaded, walk, seconds / 2)
        restore = measure.restore_us(loaded, walk, seconds / 2)
        folder = path.resolve().parent / "tasks"
        folder_or_none = folder if folder.is_dir() else None
        now("tasks")
        tasks = asdict(task_figures(loaded, folder, walk, seconds)) if folder_or_none else None
        now("64 phones")
        vector: dict[str, int | None] = {"steps_per_s_frames": None}
        vector["steps_per_s"] = round(vector_steps_per_s(loaded, folder_or_none, seconds, frames=False))
        pictures, why_none = [], "" if pixels else "--no-pixels"
        if pixels:
            try:
                find_chromium()
                for scale in measure.scales(size):
                    now(f"pictures at {scale:.2f}")
                    pictures.append(asdict(measure.pixels(loaded, walk, seconds, scale)))
                now("64 phones with pictures")
                vector["steps_per_s_frames"] = round(vector_steps_per_s(loaded, folder_or_none, seconds, frames=True))
            except BrowserError as e:
                why_none = f"{e.message} ({e.hint})"
    return {
        "app": loaded.program.package,
        "screen": f"{size.width}x{size.height}",
        "layouts": sum(len(s.layouts) for s in loaded.program.screens.values()),
        "rules": len(loaded.program.rules),
        "walk": {"steps": len(walk.actions), "states": walk.states, "looks": walk.looks},
        "changing_share": round(walk.changing_share, 3),
        "steps_per_s": round(steps),
        "steps_per_s_tree": round(steps_tree),
        "steps_per_s_text": round(steps_text),
        "reset_us": round(reset, 2),
        "fork_us": round(fork, 2),
        "restore_us": round(restore, 2),
        "pixels": [{name: round(v, 1) if isinstance(v, float) else v for name, v in p.items()} for p in pictures]
        or None,
        "no_pixels_because": why_none,
        "notes": [note] if pixels and (note := pictures_note(loaded)) else [],
        "tasks": tasks and {name: round(v, 1) for name, v in tasks.items()},
        "vector_64": vector,
        "memory": {name: round(value, 2) for name, value in asdict(memory).items()},
        "seconds": seconds,
        "machine": measure.machine(),
    }


def _print_beside(figures: dict[str, Any], miniwob: list[dict[str, Any]]) -> None:
    """Ours and MiniWoB++ in one table. Its steps carry a picture of 160x210 and the page's elements, ours the elements; ours with a picture stand above."""
    table = Table("", "reset", "steps/s", title="beside MiniWoB++", title_justify="left")
    tasks = figures["tasks"]
    table.add_row(f"{figures['app']}, list of elements at each step", f"{tasks['reset_us'] / 1000 if tasks else figures['reset_us'] / 1000:.3f} ms", f"{figures['steps_per_s_text']:,}")
    for of in miniwob:
        table.add_row(f"MiniWoB++ {of['task']}, elements and picture", f"{of['reset_ms']:.1f} ms", f"{of['steps_per_s']:,.1f}")
    console.print(table)


def _print(figures: dict[str, Any]) -> None:
    table = Table(
        title=f"{figures['app']}  {figures['screen']}, {figures['layouts']} layouts, {figures['rules']} rules",
        title_justify="left",
    )
    table.add_column("")
    table.add_column("figure", justify="right")
    table.add_column("of what", style="dim")
    rate = figures["steps_per_s"]
    colour = "green" if rate >= AIM_STEPS_PER_S else "yellow"
    table.add_row(
        "steps/s, no pixels",
        f"[bold {colour}]{rate:,}[/]",
        f"taps, {figures['changing_share']:.0%} of them change the state; aim {AIM_STEPS_PER_S:,}",
    )
    table.add_row("steps/s with the tree", f"{figures['steps_per_s_tree']:,}", "the Hierarchy read at each step")
    table.add_row("steps/s with the text", f"{figures['steps_per_s_text']:,}", "the list of elements read at each step")
    table.add_row("reset", f"{figures['reset_us']:.1f} µs", "with its observation")
    table.add_row("fork", f"{figures['fork_us']:.1f} µs", "one environment more, in mid-episode")
    table.add_row("snapshot and restore", f"{figures['restore_us']:.1f} µs", "in mid-episode")
    if tasks := figures["tasks"]:
        table.add_row("reset to a task", f"{tasks['reset_us']:.0f} µs", f"drawn by another seed each time; {tasks['tasks']} tasks, the slowest {tasks['slowest_reset_us']:.0f} µs; aim 200")
        table.add_row("the same once more", f"{tasks['again_us']:.0f} µs", "with a seed that was drawn before, as a group has it")
        table.add_row("a look of the checker", f"{tasks['check_us']:.0f} µs", f"the mean on the walk; the slowest task {tasks['slowest_check_us']:.0f} µs; aim 100")
        table.add_row("steps/s with a task", f"{tasks['steps_per_s']:,.0f}", "on the same walk, every step judged")
    table.add_row("64 phones as one, steps/s", f"{figures['vector_64']['steps_per_s']:,}", "arrays of nodes, by the clock")
    if with_frames := figures["vector_64"]["steps_per_s_frames"]:
        table.add_row("64 phones, with pictures", f"{with_frames:,}", "360x800 each, random actions")
    for picture in figures["pixels"] or ():
        table.add_row(
            f"first picture {picture['size']}",
            f"{picture['first_ms']:.1f} ms",
            f"mean of {picture['looks']} looks not drawn before",
        )
        table.add_row(
            f"steps/s {picture['size']}, at first",
            f"{picture['steps_per_s_first']:,.1f}",
            "a picture at each step, none drawn before",
        )
        table.add_row(
            f"steps/s {picture['size']}, again",
            f"{picture['steps_per_s']:,.1f}",
            "a picture at each step, all drawn before",
        )
    memory = figures["memory"]
    table.add_row("memory, 1 environment", f"{memory['envs_1_mb']:.0f} MB", "the whole process")
    table.add_row("memory, 100 environments", f"{memory['envs_100_mb']:.0f} MB", f"{memory['per_env_kb']:.1f} kB each")
    if through := figures.get("adb"):
        table.add_row("input tap over adb", f"{through['tap_ms']:.2f} ms", f"raw transport; 95 % under {through['tap_p95_ms']:.2f} ms; aim 1 ms")
        if through["screencap_ms"] is not None:
            table.add_row(
                "screencap -p over adb",
                f"{through['screencap_ms']:.2f} ms",
                f"a state drawn before, {through['screencap_kb']:.0f} kB; 95 % under {through['screencap_p95_ms']:.2f} ms; aim 2 ms",
            )
    for of in figures.get("build", ()):
        table.add_row(f"build of {of['captures']:,} captures", f"{of['seconds']:.1f} s", f"{of['peak_mb']:.0f} MB; a recording made by acting on this app; 1,000 in under 60 s is the aim")
    console.print(table)
    if miniwob := figures.get("miniwob"):
        _print_beside(figures, miniwob)
    machine = figures["machine"]
    console.print(
        f"[dim]{escape(str(machine['cpu']))}, {machine['cores']} cores, Python {machine['python']}; {figures['seconds']:g} s a figure, best of five windows[/]",
        highlight=False,
    )
    if figures["no_pixels_because"]:
        console.print(f"[yellow]no pictures:[/] {escape(figures['no_pixels_because'])}", highlight=False)
    for note in figures["notes"]:
        console.print(f"[yellow]note:[/] {escape(note)}", highlight=False)
