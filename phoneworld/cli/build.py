"""`phoneworld build`: a recording into a bundle, with a report of what was recovered and what was not."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneworld.compiler.compile import Compilation, compile_graph
from phoneworld.errors import FileFormatError
from phoneworld.graph.file import load_graph, screenshot_bytes
from phoneworld.program.bundle import save_bundle
from phoneworld.program.program import STRENGTH
from phoneworld.render.report_page import report_page

console = Console()
progress_console = Console(stderr=True)


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("build")(build)


def build(
    graph: Annotated[Path, typer.Argument(help="The recording: an app.graph.json that `record` or `import` wrote.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The bundle's folder. Default: the graph's name beside it.")] = None,
    pixels: Annotated[bool, typer.Option(help="Put the recorded pictures into the bundle.")] = True,
    strict: Annotated[bool, typer.Option(help="Exit with 6 where a recorded step does not replay.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a recording into a mock app.

    The bundle is a folder: program.json, the trees, the pictures, and report.html that shows what was recovered. The same
    recording gives the same bytes. Run it with `phoneworld serve BUNDLE`.
    """
    if not graph.is_file():
        raise FileFormatError(f"{graph}: no such file", hint="`phoneworld record` and `phoneworld import` write one")
    target = out or graph.with_name(graph.name.removesuffix(".json").removesuffix(".graph") + ".bundle")
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=progress_console, transient=True) as progress:
        task = progress.add_task("reading the recording", total=None)
        recording = load_graph(graph)
        shots, missing = {}, []
        for sha in sorted(recording.screenshots()):
            picture = _picture(graph, target, sha)
            if picture is None:
                missing.append(sha)
            else:
                shots[sha] = picture
        progress.update(task, description=f"compiling {len(recording.captures)} captures")
        compiled = compile_graph(recording, shots)
        progress.update(task, description="writing the bundle")
        summary = summarise(compiled, missing)
        report = report_page(recording, compiled, shots)
        bundle = save_bundle(compiled.program, target, shots if pixels else {}, {"report.html": report.encode()})
    summary["bundle"] = str(bundle.path)
    if as_json:
        typer.echo(json.dumps(summary, ensure_ascii=False, indent=1))
    else:
        _print(summary)
    if strict and summary["replay"]["faults"]:
        raise typer.Exit(6)


def _picture(graph: Path, target: Path, sha: str) -> bytes | None:
    """A picture by its hash: beside the recording, else in the bundle that stands there already."""
    try:
        return screenshot_bytes(graph, sha)
    except FileFormatError:
        built = target / "assets" / f"{sha}.png"
        content = built.read_bytes() if built.is_file() else b""
        return content if hashlib.sha256(content).hexdigest() == sha else None


def summarise(compiled: Compilation, missing: list[str]) -> dict[str, object]:
    """What `--json` prints."""
    program, replay = compiled.program, compiled.replay
    return {
        "app": program.package,
        "label": program.label,
        "captures": compiled.captures,
        "screens": len(program.screens),
        "layouts": sum(len(s.layouts) for s in program.screens.values()),
        "moments": compiled.moments,
        "variables": len(program.variables),
        "rules": {kind: compiled.rules_by_evidence().get(kind, 0) for kind in STRENGTH if kind != "unrecorded"},
        "replay": {
            "traces": replay.traces,
            "whole": replay.whole,
            "steps": len(replay.steps),
            "exact": replay.exact,
            "faults": [asdict(s) for s in replay.faults],
        },
        "not_recovered": {
            "unsettled_captures": compiled.unsettled,
            "missing_pictures": len(missing),
            "untried_widgets": len(compiled.open_questions),
            "ambiguous_actions": len(compiled.ambiguities),
        },
    }


def _print(summary: dict[str, object]) -> None:
    table = Table(title=f"{summary['label']}  ({summary['app']})", title_justify="left", show_header=False, box=None, pad_edge=False)
    rules, replay, lost = summary["rules"], summary["replay"], summary["not_recovered"]
    assert isinstance(rules, dict) and isinstance(replay, dict) and isinstance(lost, dict)
    rows = [
        ("captures", f"{summary['captures']} in {summary['screens']} screens, {summary['layouts']} layouts, {summary['moments']} moments"),
        ("rules", ", ".join(f"{n} {kind}" for kind, n in rules.items())),
        ("replay", f"{replay['exact']} of {replay['steps']} recorded steps give an equal tree; {replay['whole']} of {replay['traces']} traces whole"),
        ("not recovered", ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in lost.items())),
        ("bundle", str(summary["bundle"])),
        ("report", str(Path(str(summary["bundle"])) / "report.html")),
    ]
    for name, words in rows:
        table.add_row(f"[bold]{name}[/]", words)
    console.print(table)
    faults = replay["faults"]
    for fault in faults[:5]:
        console.print(f"[yellow]differs[/] {fault['trace']} step {fault['index']}: ", end="")
        console.print(fault["difference"], markup=False, highlight=False)
