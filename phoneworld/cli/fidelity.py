"""`phoneworld fidelity`: how often a mock does what the real app does, on traces that no recording saw."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneworld.cli.files import (
    marked,
    may_write,
    need_bundle,
    need_graph,
    need_phone,
    pictures_note,
    recording_of,
    what_lies_at,
)
from phoneworld.cli.terminal import Terminal, counted

if TYPE_CHECKING:
    from phoneworld.fidelity.score import Score
    from phoneworld.graph.graph import StateGraph
    from phoneworld.program.bundle import Bundle

console = Terminal()
progress_console = Terminal(stderr=True)


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("fidelity")(fidelity)


def fidelity(
    bundle: Annotated[Path, typer.Argument(help="The mock: a folder that `phoneworld build` wrote.")],
    against: Annotated[str, typer.Option(help="The real app: an adb serial or web:URL; or held-out traces recorded before, a .graph.json.")],
    recording: Annotated[Path | None, typer.Option("--recording", help="What the mock was built from, for the baselines. Default: found beside the bundle.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Keep the held-out traces in this .graph.json.")] = None,
    traces: Annotated[int, typer.Option(help="How many held-out traces.", min=1, max=10_000)] = 30,
    steps: Annotated[int, typer.Option(help="Steps in each.", min=1, max=1000)] = 15,
    seed: Annotated[int, typer.Option(help="Chooses what is done. Use one that no recording used.")] = 1001,
    explain: Annotated[int, typer.Option(help="Print the first N divergences: step, widget, and what is missing, surplus or other.", min=0)] = 0,
    pixels: Annotated[bool, typer.Option("--pixels", help="Compare pictures too (SSIM), where the held-out traces have any: 0.1 s a step.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a report for a browser.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file at -o or --html that is not ours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure how true a mock is.

    Random traces are performed on the real app, with words and a seed that the recording never used. The mock starts where they
    start and runs free: it is never corrected. After each step both trees are compared over the visible nodes that carry words, a state
    or an action. A step is exact when every such node agrees, effect-exact when what appeared and vanished is the same, faithful when
    F1 is at least 0.95 on the same screen. The figures to look at are those over the steps in which the real screen changed.

        phoneworld fidelity apps/notes/bundle --against web:http://127.0.0.1:8000 -o held-out.graph.json --html fidelity.html
    """
    from phoneworld.fidelity.explain import divergences, lines, misplaced, on_course
    from phoneworld.fidelity.measure import (
        MOCK,
        divergence_to_json,
        measure,
        recorded_traces,
        remembered_words,
        summarise,
    )
    from phoneworld.fidelity.report_page import report_page
    from phoneworld.graph.file import load_graph, write_atomically
    from phoneworld.program.bundle import load_bundle

    need_bundle(bundle)
    is_file = _is_file(against)
    if is_file:
        need_graph(Path(against))
    else:
        need_phone(against)
    if recording is not None:
        need_graph(recording)
    if out is not None:
        may_write(out, "graph", force=force)
    if html is not None:
        may_write(html, "page", force=force)
    loaded = load_bundle(bundle)
    program = loaded.program
    if is_file:
        heldout = load_graph(Path(against))
        pictures = _pictures(Path(against), heldout) if html is not None or pixels else {}
    else:
        heldout, pictures = _collect(against, program.package, traces, steps, seed, out)
    source = recording or recording_of(bundle)
    built_from = load_graph(source) if source is not None else None
    scores = measure(program, heldout, built_from)
    known = loaded.built_from()
    recorded = recorded_traces(scores[MOCK], heldout, known)
    strange = f"the held-out traces are of {heldout.app.package}, the mock is of {program.package}" if heldout.app.package != program.package else ""
    found = (strange, remembered_words(recorded, len(heldout.traces)), _other_words(source, built_from, known), pictures_note(loaded) if pixels else "")
    warnings = [words for words in found if words]
    figures = {name: summarise(s) for name, s in scores.items()}
    if pixels:
        figures[MOCK]["pictures"] = _alike(loaded, scores[MOCK], heldout, pictures)
    explained = divergences(scores[MOCK], heldout)[:explain] if explain else ()
    if html is not None:
        write_atomically(html, marked(report_page(program.label, figures, scores[MOCK], heldout, pictures, warnings)).encode())
    if as_json:
        told: dict[str, Any] = {"app": program.package, "traces": len(heldout.traces), "recorded_traces": list(recorded), "warnings": warnings, **figures}
        if explain:
            told["on_course"] = [{"action": k, "exact": r, "steps": n} for k, r, n in on_course(scores[MOCK], heldout)]
            told["misplaced"] = [asdict(m) for m in misplaced(scores[MOCK], heldout)[:explain]]
            told["explained"] = [divergence_to_json(d) for d in explained]
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    _print(program.label, figures, heldout)
    for warning in warnings:
        console.print(f"[yellow]note:[/] {escape(warning)}", highlight=False)
    if explain:
        console.print("\nuntil a trace goes off, exact by kind of action:", highlight=False)
        for kind, right, total in on_course(scores[MOCK], heldout):
            console.print(f"  {right} of {total}  {kind}", markup=False, highlight=False)
        for wrong in misplaced(scores[MOCK], heldout)[:explain]:
            console.print(f"  out of place in {wrong.times} of {wrong.of}: {wrong.kind}, such as {wrong.example}", markup=False, highlight=False)
    for divergence in explained:
        console.print("\n" + "\n".join(lines(divergence)), markup=False, highlight=False)
    if html is not None:
        console.print(f"report: {escape(str(html))}", highlight=False)


def _collect(against: str, package: str, traces: int, steps: int, seed: int, out: Path | None) -> tuple[StateGraph, dict[str, bytes]]:
    from phoneworld.device.open import WebPhone, open_device
    from phoneworld.fidelity.heldout import collect
    from phoneworld.graph.file import save_graph

    bar = Progress(TextColumn("acting on the real app"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal)
    device = open_device(against, WebPhone(package=package) if against.startswith("web:") else None)
    try:
        with bar:
            task = bar.add_task("", total=traces)
            found = collect(device, package, traces=traces, steps=steps, seed=seed, on_trace=lambda n: bar.update(task, completed=n))
    finally:
        device.close()
    if out is not None:
        save_graph(found.graph, out, found.pictures)
    return found.graph, found.pictures


def _alike(loaded: Bundle, mock: Score, heldout: StateGraph, pictures: dict[str, bytes]) -> dict[str, Any]:
    from phoneworld.fidelity.pixels import alike
    from phoneworld.render.frames import Renderer

    renderer = Renderer.of([loaded])
    try:
        return asdict(alike(loaded.program, mock, heldout, pictures, renderer))
    finally:
        renderer.close()


def _pictures(path: Path, graph: StateGraph) -> dict[str, bytes]:
    """The pictures that lie beside a graph; one that is missing is drawn from its tree instead."""
    from phoneworld.errors import FileFormatError
    from phoneworld.graph.file import screenshot_bytes

    found = {}
    for sha in graph.screenshots():
        with suppress(FileFormatError):
            found[sha] = screenshot_bytes(path, sha)
    return found


def _other_words(source: Path | None, recording: StateGraph | None, known: frozenset[str]) -> str:
    """What is to be said where the recording of the baselines is not the one that the mock was built from."""
    from phoneworld.graph.digests import trace_digests

    if recording is None or not known or known == {step for steps in trace_digests(recording).values() for step in steps}:
        return ""
    return f"the mock was not built from {source} as it is now, which the baselines replay: build it again, or name its --recording"


def _is_file(against: str) -> bool:
    """True where traces on the disk are meant, not a phone."""
    return not against.startswith(("web:", "mini:", "mock:")) and (against.endswith(".json") or what_lies_at(Path(against)) not in ("nothing", "bundle"))


def _print(label: str, figures: dict[str, dict[str, Any]], heldout: StateGraph) -> None:
    steps = sum(len(t.transitions) for t in heldout.traces)
    mock = figures["mock"]
    console.print(
        f"[bold]{escape(label)}[/]: {counted(len(heldout.traces), 'held-out trace')}, {counted(steps, 'step')}, running free; "
        f"over the {counted(mock['changing']['steps'], 'step')} that changed the real screen:",
        highlight=False,
    )
    table = Table()
    for name in ("", "faithful", "effect", "exact", "F1", "layout", "traces", "first off"):
        table.add_column(name, justify="left" if not name else "right")
    for name, found in figures.items():
        f = found["changing"]
        row = [f"{f['faithful']:.1%}", f"{f['effect_exact']:.1%}", f"{f['exact']:.1%}", f"{f['f1']:.3f}", f"{f['layout']:.1%}"]
        table.add_row(name, *row, f"{found['faithful_traces']}/{found['traces']}", f"{found['exact_steps_before_divergence']}")
    console.print(table)
    console.print("by evidence (changing steps): " + ", ".join(f"{k} {mock['by_evidence'][k]['faithful']:.0%} of {mock['by_evidence'][k]['steps']}" for k in mock["by_evidence"] if mock["by_evidence"][k]["steps"]), highlight=False)
    if alike := mock.get("pictures"):
        console.print(f"pictures: SSIM {alike['mean']:.3f} over {counted(alike['steps'], 'step')}, {alike['mean_of_exact']:.3f} over the exact ones", highlight=False)
    console.print("first divergences: " + (", ".join(f"{n} {c}" for c, n in mock["first_divergences"].items()) or "none"), highlight=False)


