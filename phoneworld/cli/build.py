"""`phoneworld build`: a recording into a bundle, with a report of what was recovered and what was not."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneworld.cli.exits import NOT_REPLAYED
from phoneworld.cli.files import may_build, need_graph
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.compiler.compile import Compilation, compile_graph
from phoneworld.compiler.questions import find_questions
from phoneworld.compiler.verify import replay
from phoneworld.errors import FileFormatError, WriteError
from phoneworld.graph.file import assets_folder, load_graph, screenshot_bytes, write_atomically
from phoneworld.graph.plan import FORMAT, dumps
from phoneworld.program.bundle import save_bundle, source_dumps
from phoneworld.program.overrides import overridden
from phoneworld.program.program import STRENGTH
from phoneworld.program.words import program_in_words
from phoneworld.render.report_page import report_page
from phoneworld.render.rule_words import widget_words

_FIRST = 5
console = Terminal()
progress_console = Terminal(stderr=True)


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("build")(build)


def build(
    graph: Annotated[Path, typer.Argument(help="The recording: an app.graph.json that `record` or `import` wrote.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The bundle's folder. Default: the graph's name beside it.")] = None,
    pixels: Annotated[bool, typer.Option(help="Put the recorded pictures into the bundle.")] = True,
    overrides: Annotated[Path | None, typer.Option("--overrides", help="Corrections by hand. Default: overrides.yaml beside the graph, where there is one.", metavar="FILE")] = None,
    strict: Annotated[bool, typer.Option(help="Exit with 6 where a recorded step does not replay.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a recording into a mock app.

    The bundle is a folder: program.json, the trees, the pictures, report.html that shows what was recovered, and program.yaml
    that says every rule in words. The same recording gives the same bytes. Run it with `phoneworld serve BUNDLE`.

    An overrides.yaml beside the graph renames, forbids, corrects and adds, each time anew (phoneworld/program/README.md says how).

    What is left open is written beside it, as app.questions.json for app.graph.json: `phoneworld record --ask` goes and does it.
    """
    need_graph(graph)
    name = graph.name.removesuffix(".json").removesuffix(".graph")
    target = out or graph.with_name(f"{name}.bundle")
    asked = target.with_name(f"{name}.questions.json")
    may_build(target)
    _may_write(asked)
    given = _overrides(graph, overrides)
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=progress_console, transient=True, disable=not progress_console.is_terminal) as progress:
        task = progress.add_task("reading the recording", total=None)
        recording = load_graph(graph)
        shots, missing = {}, []
        for sha in sorted(recording.screenshots()):
            picture = _picture(graph, target, sha)
            if picture is None:
                missing.append(sha)
            else:
                shots[sha] = picture
        progress.update(task, description=f"compiling {counted(len(recording.captures), 'capture')}")
        compiled = compile_graph(recording, shots)
        plan = find_questions(recording, compiled)
        changed = None if given is None else overridden(compiled.program, *given)
        if changed is not None:
            compiled = replace(compiled, program=changed.program, replay=replay(changed.program, recording))
        progress.update(task, description="writing the bundle")
        summary = summarise(compiled, missing)
        report = report_page(recording, compiled, shots)
        extra = {"report.html": report.encode(), "program.yaml": program_in_words(compiled.program).encode(), "source.json": source_dumps(recording)}
        bundle = save_bundle(compiled.program, target, shots if pixels else {}, extra)
        write_atomically(asked, dumps(plan))
    summary["bundle"] = str(bundle.path)
    summary["warnings"] = [_missing_words(len(missing), len(missing) + len(shots), graph)] if missing else []
    if given is not None and changed is not None:
        summary["overrides"] = {"file": given[1], "renamed": changed.renamed, "forbidden": sum(changed.forbidden), "added": changed.added}
    summary["questions"] = {"file": str(asked), "first": [q.why for q in plan.questions[:_FIRST]], "all": len(plan.questions)}
    if as_json:
        typer.echo(json.dumps(summary, ensure_ascii=False, indent=1))
    else:
        _print(summary)
    if strict and summary["replay"]["faults"]:
        raise typer.Exit(NOT_REPLAYED)


def _overrides(graph: Path, named: Path | None) -> tuple[str, str] | None:
    """The text of the corrections and where it stands; None where there are none."""
    file = named or graph.with_name("overrides.yaml")
    if named is None and not file.exists():
        return None
    try:
        return file.read_text(encoding="utf-8"), str(file)
    except (OSError, UnicodeDecodeError) as e:
        raise FileFormatError(f"cannot read {file}: {getattr(e, 'strerror', None) or e}", hint="save it as UTF-8, or name another with --overrides") from None


def _may_write(path: Path) -> None:
    """Raises WriteError where something stands at the path that is no plan of ours: asked before the work is done."""
    try:
        if path.exists() and not (path.is_file() and (not path.stat().st_size or FORMAT.encode() in path.read_bytes()[:200])):
            raise WriteError(f"{path} is there already, and holds no questions of ours", hint="move it away, or name another bundle with -o")
    except OSError as e:
        raise WriteError(f"cannot write {path}: {e.strerror or e}", hint="name another bundle with -o") from None


def _picture(graph: Path, target: Path, sha: str) -> bytes | None:
    """A picture by its hash: beside the recording, else in the bundle that stands there already."""
    try:
        return screenshot_bytes(graph, sha)
    except FileFormatError:
        built = target / "assets" / f"{sha}.png"
        content = built.read_bytes() if built.is_file() else b""
        return content if hashlib.sha256(content).hexdigest() == sha else None


def summarise(compiled: Compilation, missing: list[str]) -> dict[str, Any]:
    """What `--json` prints."""
    program, replay = compiled.program, compiled.replay
    done = len(replay.steps) - replay.traces  # a trace's start is replayed too
    return {
        "app": program.package,
        "label": program.label,
        "captures": compiled.captures,
        "screens": len(program.screens),
        "layouts": sum(len(s.layouts) for s in program.screens.values()),
        "moments": compiled.moments,
        "variables": len(program.variables),
        "rules": {kind: compiled.rules_by_evidence().get(kind, 0) for kind in STRENGTH if kind != "unrecorded"},
        "explained": {"steps": done, "by_rules": done - len(compiled.exceptions), "by_exceptions": len(compiled.exceptions)},
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
        "open_questions": [{"screen": program.screens[q.screen].name, "widget": widget_words(q.node, q.label)} for q in compiled.open_questions],
    }


def _missing_words(missing: int, wanted: int, graph: Path) -> str:
    which = "none of its recorded pictures is" if missing == wanted else f"{missing} of {counted(wanted, 'recorded picture')} {'is' if missing == 1 else 'are'} not"
    return f"{which} in {assets_folder(graph)}: what they show is drawn from the trees alone"


def _print(summary: dict[str, Any]) -> None:
    console.print(f"[bold]{escape(summary['label'])}[/]  ({escape(summary['app'])})", highlight=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    rules, told, replay, lost = summary["rules"], summary["explained"], summary["replay"], summary["not_recovered"]
    rows = [
        ("captures", f"{summary['captures']} in " + ", ".join(counted(summary[f"{what}s"], what) for what in ("screen", "layout", "moment"))),
        ("rules", ", ".join(f"{n} {kind}" for kind, n in rules.items())),
        ("explained", f"{told['by_rules']} of {counted(told['steps'], 'recorded step')} by rules that hold anywhere, {told['by_exceptions']} only by what was recorded there"),
        (
            "replay",
            f"{replay['exact']} of {counted(replay['steps'], 'recorded step')} give an equal tree; {replay['whole']} of {counted(replay['traces'], 'trace')} whole",
        ),
        ("not recovered", ", ".join(counted(n, what.replace("_", " ").removesuffix("s")) for what, n in lost.items() if n) or "nothing is missing"),
        *[("never tried", line) for line in question_lines(summary["open_questions"])],
        *[("overrides", f"{o['renamed']} renamed, {counted(o['forbidden'], 'rule')} forbidden, {o['added']} added, by {o['file']}") for o in [summary.get("overrides")] if o],
        *[("open questions", line) for line in _questions(summary)],
        ("bundle", str(summary["bundle"])),
        ("report", str(Path(str(summary["bundle"])) / "report.html")),
    ]
    before = ""
    for name, words in rows:
        table.add_row(f"[bold]{name}[/]" if name != before else "", escape(words))
        before = name
    console.print(table)
    for warning in summary["warnings"]:
        console.print(f"[yellow]note:[/] {escape(warning)}", highlight=False)
    faults = replay["faults"]
    for fault in faults[:5]:
        console.print(f"[yellow]differs[/] {escape(fault['trace'])} step {fault['index']}: {escape(fault['difference'])}", highlight=False)
    if len(faults) > 5:
        console.print(f"[dim]… {len(faults) - 5} more in the report[/]", highlight=False)


def _questions(summary: dict[str, Any]) -> list[str]:
    """The first questions, and the command that asks them."""
    questions = summary["questions"]
    if not questions["all"]:
        return ["none"]
    more = questions["all"] - len(questions["first"])
    how = f"phoneworld record --ask {questions['file']}"
    return [*questions["first"], f"{counted(more, 'more', 'more')}; {how} asks them" if more else f"{how} asks them"]


def question_lines(questions: list[dict[str, str]], screens: int = 4, widgets: int = 3) -> list[str]:
    """What was never tried, shortly: a line a screen, those with most first, each with a few of its widgets."""
    of_screen: dict[str, list[str]] = {}
    for question in questions:
        of_screen.setdefault(question["screen"], []).append(question["widget"])
    ranked = sorted(of_screen.items(), key=lambda item: -len(item[1]))
    lines = [
        f"{name}: {counted(len(found), 'widget')} never tried ({', '.join(found[:widgets])}{', …' if len(found) > widgets else ''})"
        for name, found in ranked[:screens]
    ]
    if more := ranked[screens:]:
        lines.append(f"{counted(sum(len(found) for _, found in more), 'widget')} on {counted(len(more), 'other screen')}; the report lists all")
    return lines
