"""Records apps and measures how true their mocks are. Resumable: what lies in the cache is not done again.

    python -m examples.fidelity.lab record vanillajs notes --actions 300
    python -m examples.fidelity.lab score vanillajs notes --actions 75,150,300
    python -m examples.fidelity.lab score vanillajs --policy asking --actions 300
    python -m examples.fidelity.lab score shop --recording asked.graph.json --policy asking
    python -m examples.fidelity.lab report -o curves.html

The web device runs in this process, without adb and without pictures. A training recording is a row of traces from a fresh start;
what is measured after N actions is its first N. Held-out traces have words and a seed of their own.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from PIL import Image
from rich.console import Console

from examples.fidelity import results
from examples.fidelity.apps import APPS, CURVE, App, Started
from examples.fidelity.asking import AT_RANDOM, TRACES_A_ROUND, AskingLead, lead_for
from examples.fidelity.exploring import ExploringLead
from phoneworld.compiler.compile import compile_graph
from phoneworld.device.trees_only import TreesOnly
from phoneworld.device.web.device import WebDevice
from phoneworld.errors import DeviceError
from phoneworld.fidelity.acting import HELD_OUT, TRAINING
from phoneworld.fidelity.again import RealAgain
from phoneworld.fidelity.curves import curves_page
from phoneworld.fidelity.explain import divergences, lines
from phoneworld.fidelity.heldout import act, joined, remembered
from phoneworld.fidelity.measure import MOCK, measure, summarise
from phoneworld.fidelity.report_page import report_page
from phoneworld.fidelity.score import score as score_runner
from phoneworld.graph.file import assets_folder, load_graph, save_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.graph.merge import renamed_app
from phoneworld.ui.geometry import Size
from recorder.asking import MIX

Part = Literal["train", "held"]

ACTIONS = 300
HELD_TRACES, HELD_STEPS = 30, 15
SEEDS: dict[Part, int] = {"train": 41, "held": 9001}
LENGTHS = (15, 25, 20, 15)  # of training traces, over and over: 75 actions each time round
CACHE = Path(os.environ.get("PHONEWORLD_FIDELITY_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phoneworld-fidelity"

Fresh = Annotated[int, typer.Option("--fresh", help="Which held-out set: 2 is one that nobody has looked into, recorded now.", min=1)]
ResultsFile = Annotated[Path, typer.Option("--results", help="Where the results are kept.")]
lab = typer.Typer(no_args_is_help=True, add_completion=False)
console = Console(stderr=True)


def lengths(part: Part, actions: int) -> Iterator[int]:
    """How many steps each trace of a part has."""
    if part == "held":
        yield from [HELD_STEPS] * HELD_TRACES
        return
    number = 0
    while actions > 0:
        yield min(actions, LENGTHS[number % len(LENGTHS)])
        actions -= LENGTHS[number % len(LENGTHS)]
        number += 1


def recorded(app: App, part: Part, actions: int = ACTIONS, *, fresh: int = 1) -> list[StateGraph]:
    """The traces of a part in order, one graph each, recorded where they are not in the cache yet.

    `fresh` counts the held-out sets: errors of one that were read while the compiler was written say little about another. Where
    the phone is lost in mid-trace that trace is done once more, on a new one.
    """
    folder = CACHE / app.name / (part if fresh == 1 else f"{part}-{fresh}")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(number, steps, folder / f"{number:03}-{steps}.graph.json") for number, steps in enumerate(lengths(part, actions), 1)]
    lost = 0
    while missing := [item for item in wanted if not item[2].is_file()]:
        try:
            _record(app, part, missing, [load_graph(path) for _, _, path in wanted if path.is_file()], len(wanted), SEEDS[part] + fresh - 1)
        except DeviceError as error:
            lost += 1
            if lost > 1:
                raise
            console.print(f"{app.name} {part}: {error}; once more", highlight=False)
    return [load_graph(path) for _, _, path in wanted]


def asked(app: App, actions: int, *, mix: float = MIX) -> list[StateGraph]:
    """A training recording whose later traces ask what the earlier ones leave open; recorded where it is not in the cache yet."""
    folder = CACHE / app.name / "asked"
    folder.mkdir(parents=True, exist_ok=True)
    done = recorded(app, "train", min(actions, AT_RANDOM))
    wanted = [(number, steps, folder / f"{number:03}-{steps}.graph.json") for number, steps in enumerate(lengths("train", actions), 1)]
    if all(path.is_file() for _, _, path in wanted[len(done) :]):
        return [*done, *(load_graph(path) for _, _, path in wanted[len(done) :])]
    lead: AskingLead | None = None
    with _phone(app) as (device, started):
        for number, steps, path in wanted[len(done) :]:
            if not path.is_file():
                if lead is None or (number - 1) % TRACES_A_ROUND == 0:
                    lead = lead_for(joined(done), seed=SEEDS["train"] + number, mix=mix)
                started.ready()
                lead.asking.begin_trace(is_fresh=True)
                found = act(
                    TreesOnly(device), app.package, number=number, steps=steps, seed=SEEDS["train"], words=TRAINING,
                    memory=remembered(done), pace=app.pace, kind="asked", lead=lead,
                )  # fmt: skip
                save_graph(found.graph, path)
                a = lead.asking
                console.print(f"{app.name} asked {number}/{len(wanted)}: {a.steps}, {len(a.answered)} answered, {len(a.lost)} not reached", highlight=False)
            done.append(load_graph(path))
    return done


def explored(app: App, actions: int) -> list[StateGraph]:
    """A training recording made as `phoneworld record` explores; recorded where it is not in the cache yet."""
    folder = CACHE / app.name / "explored"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(number, steps, folder / f"{number:03}-{steps}.graph.json") for number, steps in enumerate(lengths("train", actions), 1)]
    done = [load_graph(path) for _, _, path in wanted if path.is_file()]
    if len(done) == len(wanted):
        return done
    seed = SEEDS["train"]
    lead = ExploringLead.after(joined(done), seed=seed) if done else ExploringLead(app.package, seed)
    with _phone(app) as (device, started):
        for number, steps, path in wanted[len(done) :]:
            started.ready()
            lead.begin_trace()
            found = act(
                TreesOnly(device), app.package, number=number, steps=steps, seed=seed, words=TRAINING, memory=remembered(done),
                pace=app.pace, kind="explored", lead=lead,
            )  # fmt: skip
            save_graph(found.graph, path)
            tried, offered = lead.memory.tried_of_offered
            console.print(f"{app.name} explored {number}/{len(wanted)}: {tried} of {offered} tried", highlight=False)
            done.append(load_graph(path))
    return done


@contextmanager
def _phone(app: App) -> Iterator[tuple[WebDevice, Started]]:
    """The app, started, on a phone of this process."""
    with (
        tempfile.TemporaryDirectory() as data,
        app.start(Path(data)) as started,
        WebDevice(
            started.url, size=app.size, density=app.density, package=app.package, label=app.name, clock_ms=app.clock_ms, seed=app.seed
        ) as device,
    ):
        yield device, started


def _record(app: App, part: Part, missing: Sequence[tuple[int, int, Path]], earlier: Sequence[StateGraph], of: int, seed: int) -> None:
    memory = remembered(earlier)
    words = TRAINING if part == "train" else HELD_OUT
    with _phone(app) as (device, started):
        for number, steps, path in missing:
            started.ready()
            began = time.monotonic()
            found = act(
                TreesOnly(device), app.package, number=number, steps=steps, seed=seed, words=words, memory=memory, pace=app.pace, kind=part
            )
            save_graph(found.graph, path)
            each = (time.monotonic() - began) / steps * 1000
            console.print(f"{app.name} {part} {number}/{of}: {steps} steps, {each:.0f} ms each", highlight=False)


@lab.callback()
def _about() -> None:
    """Records apps and measures how true their mocks are."""


@lab.command()
def record(
    apps: Annotated[list[str], typer.Argument(help="Their names in apps.py.")],
    actions: Annotated[int, typer.Option(help="Length of the training recording.", min=1)] = ACTIONS,
    parts: Annotated[str, typer.Option(help="train, held, or both with a comma.")] = "train,held",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Also write APP-train.graph.json and APP-held.graph.json to this folder.")] = None,
    fresh: Fresh = 1,
) -> None:
    """Record training and held-out traces."""
    for name in apps:
        for part in ("train", "held"):
            if part in parts.split(","):
                graph = joined(recorded(APPS[name], part, actions, fresh=fresh if part == "held" else 1))
                if out is not None:
                    out.mkdir(parents=True, exist_ok=True)
                    save_graph(graph, out / f"{name}-{part}.graph.json")


@lab.command()
def ask(
    apps: Annotated[list[str], typer.Argument(help="Their names in apps.py.")],
    actions: Annotated[int, typer.Option(help="Length of the recording; the first 150 are those of the training recording.", min=1)] = ACTIONS,
    mix: Annotated[float, typer.Option(help="Share of random steps beside the asking.", min=0.0, max=1.0)] = MIX,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Also write APP-asked.graph.json to this folder.")] = None,
) -> None:
    """Record by asking: build, ask what is open, build again."""
    for name in apps:
        graph = joined(asked(APPS[name], actions, mix=mix))
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            save_graph(graph, out / f"{name}-asked.graph.json")


@lab.command()
def explore(
    apps: Annotated[list[str], typer.Argument(help="Their names in apps.py.")],
    actions: Annotated[int, typer.Option(help="Length of the recording.", min=1)] = ACTIONS,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Also write APP-explored.graph.json to this folder.")] = None,
) -> None:
    """Record as `phoneworld record` explores, three steps in ten at random."""
    for name in apps:
        graph = joined(explored(APPS[name], actions))
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            save_graph(graph, out / f"{name}-explored.graph.json")


@lab.command()
def ship(
    name: Annotated[str, typer.Argument(help="The app's name in apps.py.", metavar="APP")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The app's folder in apps/: app.graph.json and its pictures go there.")],
    actions: Annotated[int, typer.Option(help="Length of the recording.", min=1)] = ACTIONS,
) -> None:
    """Record an app with its pictures, on a small phone: what its mock in apps/ is built from. Goes on where it broke off."""
    app = replace(APPS[name], size=Size(540, 1200), density=240)
    folder = CACHE / name / "ship"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(number, steps, folder / f"{number:03}-{steps}.graph.json") for number, steps in enumerate(lengths("train", actions), 1)]
    done = [load_graph(path) for _, _, path in wanted if path.is_file()]
    for attempt in (1, 2, 3):
        try:
            _ship(app, wanted, done)
            break
        except DeviceError as error:  # the phone is lost in mid-trace: that trace is done once more, on a new one
            if attempt == 3:
                raise
            console.print(f"{name}: {error}; once more", highlight=False)
    graph, pictures = _smaller(joined(done), {path.stem: path for _, _, part in wanted for path in assets_folder(part).iterdir()})
    out.mkdir(parents=True, exist_ok=True)
    save_graph(graph, out / "app.graph.json", pictures)


def _ship(app: App, wanted: Sequence[tuple[int, int, Path]], done: list[StateGraph]) -> None:
    if len(done) == len(wanted):
        return
    with _phone(app) as (device, started):
        for number, steps, path in wanted[len(done) :]:
            started.ready()
            found = act(
                device, app.package, number=number, steps=steps, seed=SEEDS["train"], words=TRAINING, memory=remembered(done), pace=app.pace, kind="ship"
            )
            save_graph(found.graph, path, found.pictures)
            console.print(f"{app.name} {number}/{len(wanted)}: {steps} steps", highlight=False)
            done.append(found.graph)


def _smaller(graph: StateGraph, pictures: dict[str, Path]) -> tuple[StateGraph, dict[str, bytes]]:
    """The same pixels in a quarter less bytes: what ships is cloned by everybody."""
    made: dict[str, bytes] = {}
    names: dict[str, str] = {}
    for sha, path in sorted(pictures.items()):
        packed = io.BytesIO()
        Image.open(path).convert("RGB").save(packed, "PNG", optimize=True)
        names[sha] = hashlib.sha256(packed.getvalue()).hexdigest()
        made[names[sha]] = packed.getvalue()
    captures = {key: c if c.screenshot is None else replace(c, screenshot=names[c.screenshot]) for key, c in graph.captures.items()}
    return replace(graph, captures=captures), made


@lab.command()
def score(
    apps: Annotated[list[str], typer.Argument(help="Their names in apps.py.")],
    actions: Annotated[str, typer.Option(help="After how many recorded actions, with commas.")] = "75,150,300",
    recording: Annotated[Path | None, typer.Option(help="Another recording of the one app, made by `phoneworld record`, say.")] = None,
    policy: Annotated[str, typer.Option(help="How it was recorded: random, asking or exploring (recorded so where there is no --recording).")] = "random",
    again: Annotated[bool, typer.Option("--again", help="Measure what was measured with this code already.")] = False,
    explain: Annotated[int, typer.Option(help="Print the first N divergences of each.", min=0)] = 0,
    html: Annotated[Path | None, typer.Option(help="Write APP-ACTIONS.html with both phones to this folder.")] = None,
    fresh: Fresh = 1,
    kept: ResultsFile = results.RESULTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print each result as a line of JSON.")] = False,
) -> None:
    """Build the mock after so many actions, and score it on the held-out traces beside plain replay. Results go to results.jsonl."""
    if recording is not None and len(apps) != 1:
        raise typer.BadParameter("a recording is of one app", param_hint="--recording")
    numbers = sorted({int(word) for word in actions.split(",")})
    code = results.code_digest()
    for name in apps:
        app = APPS[name]
        if recording is not None:
            whole = renamed_app(load_graph(recording), app.package)
        else:
            whole = joined(_trained(app, max(numbers), policy))
        heldout = joined(recorded(app, "held", fresh=fresh))
        held = results.digest(heldout)
        for number in numbers:
            row = _scored(app, whole, heldout, number, policy=policy, held=held, code=code, again=again, explain=explain, html=html, kept=kept)
            if as_json:
                typer.echo(json.dumps(row, ensure_ascii=False, sort_keys=True))
            else:
                typer.echo("  ".join(results.table([row], list(APPS))[0]))


def _trained(app: App, actions: int, policy: str) -> list[StateGraph]:
    match policy:
        case "asking":
            return asked(app, actions)
        case "exploring":
            return explored(app, actions)
        case _:
            return recorded(app, "train", actions)


def _scored(
    app: App,
    whole: StateGraph,
    heldout: StateGraph,
    actions: int,
    *,
    policy: str,
    held: str,
    code: str,
    again: bool,
    explain: int,
    html: Path | None,
    kept: Path,
) -> dict[str, Any]:
    graph = results.prefix(whole, actions)
    key = results.Key(app.name, actions, policy, results.digest(graph), held, code)
    known = next((r for r in results.load(kept) if results.is_of(r, key)), None)
    page = None if html is None else html / f"{app.name}-{actions}{'' if policy == 'random' else f'-{policy}'}.html"
    if known is not None and not (again or explain) and (page is None or page.is_file()):
        return known
    began = time.monotonic()
    compiled = compile_graph(graph)
    compile_s = time.monotonic() - began
    scores = measure(compiled.program, heldout, graph)
    figures = {name: summarise(s) for name, s in scores.items()}
    row = results.row_of(
        key,
        figures,
        compile_s=round(compile_s, 1),
        done=sum(1 for _ in graph.transitions()),
        replay={"steps": len(compiled.replay.steps), "exact": compiled.replay.exact},
    )
    results.append(row, kept)
    for divergence in divergences(scores[MOCK], heldout)[:explain]:
        console.print("\n" + "\n".join(lines(divergence)), markup=False, highlight=False)
    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(report_page(f"{app.name} after {actions} actions", figures, scores[MOCK], heldout), encoding="utf-8")
    return row


@lab.command()
def ceiling(
    apps: Annotated[list[str], typer.Argument(help="Their names in apps.py.")],
    traces: Annotated[int, typer.Option(help="How many of the held-out traces.", min=1)] = 10,
    explain: Annotated[int, typer.Option(help="Print the first N divergences of each.", min=0)] = 0,
    fresh: Fresh = 1,
) -> None:
    """Do held-out traces once more on the real app: how well it agrees with itself is the most that a mock can reach."""
    for name in apps:
        app = APPS[name]
        heldout = joined(recorded(app, "held", fresh=fresh)[:traces])
        with _phone(app) as (device, started):
            found = score_runner(RealAgain(TreesOnly(device), app.package, app.pace, started.ready), heldout)
        f = found.figures(found.changing)
        typer.echo(f"{name}  {f.steps} steps  faithful {f.faithful:.1%}  effect {f.effect_exact:.1%}  exact {f.exact:.1%}  layout {f.layout:.1%}")
        for divergence in divergences(found, heldout)[:explain]:
            console.print("\n" + "\n".join(lines(divergence)), markup=False, highlight=False)


@lab.command()
def run(
    frozen: Annotated[bool, typer.Option("--frozen", help="The reference apps too: half an hour each, for their steps last 2.5 s.")] = False,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where the pages go.")] = Path("demo-out/fidelity"),
    fresh: Fresh = 1,
) -> None:
    """Record and score every app, and write the pages: what `make fidelity` does. Hours at first; goes on where it broke off."""
    for app in APPS.values():
        if app.frozen and not frozen:
            continue
        score([app.name], actions=",".join(map(str, app.actions)), html=out, fresh=fresh)
        if app.actions == CURVE:
            later = ",".join(str(n) for n in CURVE if n > AT_RANDOM)
            score([app.name], actions=later, policy="asking", fresh=fresh)
    report(out / "index.html")


@lab.command()
def report(
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write a page with the table and the curves.")] = None,
    kept: ResultsFile = results.RESULTS,
) -> None:
    """Print all results as a table; write them as a page with curves."""
    rows = results.load(kept)
    typer.echo("| " + " | ".join(results.COLUMNS) + " |\n|" + "---|" * len(results.COLUMNS))
    for cells in results.table(rows, list(APPS)):
        typer.echo("| " + " | ".join(cells) + " |")
    if out is not None:
        out.write_text(curves_page(rows, list(APPS)), encoding="utf-8")
        console.print(f"report: {out}", highlight=False)


if __name__ == "__main__":
    lab()
