"""`phoneworld import` and `phoneworld graph`: somebody else's recording in, and a look at what recordings hold."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from phoneworld.cli.files import marked, may_write, need_foreign, need_graph, need_journal
from phoneworld.cli.graph_words import diff_json, print_checked, print_diff, verify_json
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.errors import FileFormatError, PhoneWorldError
from phoneworld.graph.file import (
    assets_folder,
    load_graph,
    missing_screenshots,
    save_graph,
    screenshot_bytes,
    write_atomically,
)
from phoneworld.graph.graph import StateGraph
from phoneworld.graph.identity import screens_of
from phoneworld.graph.importers import formats, import_recording
from phoneworld.graph.merge import merge, renamed_app
from phoneworld.graph.views import Outcomes, nondeterministic, title_of
from phoneworld.render.graph_page import graph_page, graph_svg
from phoneworld.ui.action import kind_of

console = Terminal()
_LISTED = 12
_FORCE = "Replace a file that is not ours; what we wrote before is replaced anyway."

graph_app = typer.Typer(help="Look at recordings, join those of one app, compare two, check one.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the verbs to the command line."""
    app.command("import")(import_)
    app.add_typer(graph_app, name="graph")


def import_(
    path: Annotated[
        Path,
        typer.Argument(
            help="A DroidBot run, Maestro flows, an Appium, monkey or getevent log, episodes in parquet, a folder of dumps and "
            "pictures, or one file of those."
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The graph file to write; pictures go into a folder beside it.")
    ] = Path("app.graph.json"),
    format: Annotated[
        str | None, typer.Option("--format", help=f"One of {', '.join(formats())}. Default: found out.")
    ] = None,
    package: Annotated[
        str | None, typer.Option("--package", help="The app that was recorded. Default: what the recording says.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was read, and what was not, as JSON.")] = False,
) -> None:
    """Turn somebody else's recording into an app.graph.json.

    What cannot be used is left out and listed with its reason; the command fails only where nothing could be used. In a
    folder of dumps, NAME.xml and NAME.png belong together; a phoneworld.json beside them can say what led from one to the
    next. Logs and flows say what was done, not what was shown: dumps beside them are put where they belong.
    Then: `phoneworld graph show app.graph.json`, `phoneworld build app.graph.json`.
    """
    need_foreign(path)
    may_write(out, "graph", force=force)
    recording = import_recording(path, format, package=package)
    save_graph(recording.graph, out, recording.screenshots)
    if as_json:
        summary = summarise(recording.graph) | {
            "format": recording.format,
            "out": str(out),
            "pictures": len(recording.screenshots),
            "warnings": list(recording.warnings),
            "refused": [{"path": where, "reason": reason} for where, reason in recording.refused],
        }
        typer.echo(json.dumps(summary, ensure_ascii=False, indent=1))
        return
    graph = recording.graph
    console.print(
        f"[bold]{escape(graph.app.package or 'a recording')}[/]: {counted(len(graph.captures), 'capture')}, {counted(len(recording.screenshots), 'picture')}, "
        f"{counted(sum(1 for _ in graph.transitions()), 'transition')} in {counted(len(graph.traces), 'trace')} → [bold]{escape(str(out))}[/]",
        highlight=False,
    )
    for warning in recording.warnings[:_LISTED]:
        console.print(f"[yellow]note:[/] {escape(warning)}", highlight=False)
    _print_refused(recording.refused)


def _print_refused(refused: tuple[tuple[str, str], ...]) -> None:
    if not refused:
        return
    console.print(f"left out: {len(refused)}", highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("what", overflow="fold")
    table.add_column("why", overflow="fold", style="dim")
    for where, reason in refused[:_LISTED]:
        table.add_row(escape(where), escape(reason))
    if len(refused) > _LISTED:
        table.add_row("…", f"{len(refused) - _LISTED} more; --json lists all")
    console.print(table)


@graph_app.command("show")
def show(
    file: Annotated[Path, typer.Argument(help="An app.graph.json.")],
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Draw it into this HTML file: thumbnails, actions, counts; no network."),
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw it into this SVG file.")] = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Say what a recording holds: app, phone, captures, screens, traces, actions; and draw it."""
    need_graph(file)
    for target in (html, svg):
        if target is not None:
            may_write(target, "page", force=force)
    graph = load_graph(file)
    warnings = []
    if missing := missing_screenshots(graph, file):
        warnings.append(f"{len(missing)} of {counted(len(graph.screenshots()), 'picture is not', 'pictures are not')} beside the file")
    if html or svg:
        pixels = _pixels(graph, file, missing, warnings)
        if html:
            write_atomically(html, marked(graph_page(graph, pixels, warnings=tuple(warnings))).encode())
        if svg:
            write_atomically(svg, graph_svg(graph, pixels).encode())
    drawn = [str(p) for p in (html, svg) if p]
    if as_json:
        typer.echo(json.dumps(summarise(graph) | {"warnings": warnings, "drawn": drawn}, ensure_ascii=False, indent=1))
        return
    _print(graph, file)
    for warning in warnings:
        console.print(f"[yellow]note:[/] {escape(warning)}", highlight=False)
    for path in drawn:
        console.print(f"drawn: [bold]{escape(path)}[/]", highlight=False)


@graph_app.command("merge")
def merge_(
    files: Annotated[list[Path], typer.Argument(help="Two or more app.graph.json of one app.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The graph file to write.")],
    package: Annotated[
        str | None,
        typer.Option("--as", help="Take all of them for recordings of this package: a web app's package has its port in it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was put together, as `graph show` does, and the notes, as JSON.")] = False,
) -> None:
    """Put several recordings of one app together into one graph, with a note on what does not go together well."""
    for file in files:
        need_graph(file)
    may_write(out, "graph", force=force)
    graphs = [load_graph(file) for file in files]
    merged = merge(graphs, package=package)
    pictures: dict[str, bytes] = {}
    warnings = list(merged.warnings)
    for file, graph in zip(files, graphs, strict=True):
        pictures |= _pixels(graph, file, missing_screenshots(graph, file), warnings)
    save_graph(merged.graph, out, pictures)
    if as_json:
        summary = summarise(merged.graph) | {"files": [str(file) for file in files], "out": str(out), "pictures": len(pictures), "warnings": warnings}
        typer.echo(json.dumps(summary, ensure_ascii=False, indent=1))
        return
    console.print(
        f"{counted(len(files), 'recording')}, {counted(len(merged.graph.captures), 'capture')} → [bold]{escape(str(out))}[/]", highlight=False
    )
    for warning in warnings:
        console.print(f"[yellow]note:[/] {escape(warning)}", highlight=False)


@graph_app.command("diff")
def diff_(
    before: Annotated[Path, typer.Argument(help="The earlier recording, an app.graph.json.")],
    after: Annotated[Path, typer.Argument(help="The later one.")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with both side by side into this file; no network.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 where they differ: for a nightly job.")] = False,
    package: Annotated[
        str | None,
        typer.Option("--as", help="Take both for recordings of this package: a web app's package has its port in it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say what changed between two recordings of an app: screens, widgets, words, and where actions lead.

    Only what one recording can tell from the other counts: what was done in one of them only is listed apart, and so is an
    action that had several outcomes. Record both with the same --seed and --steps to compare as much as can be.
    """
    from phoneworld.graph.diff import diff
    from phoneworld.render.diff_page import diff_page

    for file in (before, after):
        need_graph(file)
    if html:
        may_write(html, "page", force=force)
    graphs = [load_graph(file) for file in (before, after)]
    if package:
        graphs = [renamed_app(graph, package) for graph in graphs]
    found = diff(*graphs)
    warnings: list[str] = []
    if html:
        pixels: dict[str, bytes] = {}
        for file, graph in zip((before, after), graphs, strict=True):
            pixels |= _pixels(graph, file, missing_screenshots(graph, file), warnings)
        page = diff_page(found, pixels, names=(str(before), str(after)), warnings=tuple(warnings))
        write_atomically(html, marked(page).encode())
    if as_json:
        typer.echo(json.dumps(diff_json(found) | {"warnings": [*found.warnings, *warnings], "drawn": [str(html)] if html else []}, ensure_ascii=False, indent=1))
    else:
        print_diff(found, console)
        for warning in (*found.warnings, *warnings):
            console.print(f"[yellow]note:[/] {escape(warning)}", highlight=False)
        if html:
            console.print(f"drawn: [bold]{escape(str(html))}[/]", highlight=False)
    if check and not found.is_empty:
        raise typer.Exit(1)


@graph_app.command("verify")
def verify_(
    file: Annotated[Path, typer.Argument(help="An app.graph.json; its pictures and its journal are looked for beside it.")],
    write: Annotated[bool, typer.Option("--write", help="Write the file anew from its journal first: after a kill or on a full disk there may be none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Work a recording out again from what it is made of, and say what does not agree. Exit code 1 where something does not.

    Which node each action hit, whether the traces join and time goes forwards, whether each picture has its hash and the size of
    its screen; and where app.journal/ lies beside app.graph.json, whether the journal tells the same graph.
    """
    from recorder.folder import journal_folder
    from recorder.journal import read_records
    from recorder.run import written_from_journal
    from recorder.verify import verify_graph, verify_journal, verify_pictures

    if write:
        if file.exists() and file.stat().st_size:
            need_graph(file)
        need_journal(file)
        written_from_journal(file)
    need_graph(file)
    graph = load_graph(file)
    read: dict[str, bytes | PhoneWorldError] = {}
    for sha in sorted(graph.screenshots()):
        try:
            read[sha] = screenshot_bytes(file, sha)
        except FileFormatError as e:
            read[sha] = e
    stands_alone = not assets_folder(file).is_dir() and not journal_folder(file).is_dir()
    checked = verify_graph(graph).joined(verify_pictures(graph, None if stands_alone else read))
    journal = journal_folder(file) / "journal.jsonl"
    has_journal = journal.is_file()
    if has_journal:
        try:
            content = journal.read_bytes()
        except OSError as e:
            raise FileFormatError(f"{journal} cannot be read: {e.strerror or e}", hint="check its permissions") from None
        records, whole = read_records(content, where=str(journal))
        checked = checked.joined(verify_journal(graph, records, cut=len(content) - whole))
    if as_json:
        typer.echo(json.dumps(verify_json(checked, has_journal), ensure_ascii=False, indent=1))
    else:
        print_checked(checked, str(file), has_journal, console)
    if not checked.holds:
        raise typer.Exit(1)


def _pixels(graph: StateGraph, file: Path, missing: frozenset[str], warnings: list[str]) -> dict[str, bytes]:
    pixels = {}
    for sha in sorted(graph.screenshots() - missing):
        try:
            pixels[sha] = screenshot_bytes(file, sha)
        except FileFormatError as e:
            warnings.append(e.message)
    return pixels


def summarise(graph: StateGraph) -> dict[str, object]:
    """What `--json` prints of a graph."""
    screens = screens_of(graph)
    device = graph.device
    return {
        "app": {"package": graph.app.package, "label": graph.app.label, "version": graph.app.version},
        "device": {
            "model": device.model,
            "android": device.android,
            "width": device.size.width,
            "height": device.size.height,
            "density": device.density,
            "locale": device.locale,
        },
        "source": graph.source,
        "created": graph.created,
        "captures": len(graph.captures),
        "unsettled": len(graph.unsettled()),
        "without_picture": sum(c.screenshot is None for c in graph.captures.values()),
        "screens": [
            {"id": name, "title": title_of(graph.captures[members[0]]), "captures": list(members)}
            for name, members in screens.items()
        ],
        "traces": len(graph.traces),
        "transitions": sum(1 for _ in graph.transitions()),
        "actions": dict(Counter(kind_of(t.action) for t in graph.transitions()).most_common()),
        "several_outcomes": [_outcome(o) for o in nondeterministic(graph, screens=screens)],
        "notes": dict(Counter(n for c in graph.captures.values() for n in c.notes).most_common()),
    }


def _outcome(outcome: Outcomes) -> dict[str, object]:
    return {"screen": outcome.screen, "action": outcome.words, "led_to": dict(outcome.counts)}


def _print(graph: StateGraph, file: Path) -> None:
    screens = screens_of(graph)
    device, app = graph.device, graph.app
    numbers = {name: f"S{i}" for i, name in enumerate(screens, 1)}
    about = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    about.add_column(style="dim")
    about.add_column(overflow="fold")
    android = f"Android {device.android}" if device.android else (f"SDK {device.sdk}" if device.sdk else "")
    phone = ", ".join(
        p
        for p in (
            device.model,
            android,
            f"{device.size.width}x{device.size.height}",
            f"{device.density} dpi",
            device.locale,
        )
        if p
    )
    unsettled = len(graph.unsettled())
    unseen = sum(c.screenshot is None for c in graph.captures.values())
    extra = [f"{unsettled} unsettled"] * bool(unsettled) + [f"{unseen} without a picture"] * bool(unseen)
    kinds = Counter(kind_of(t.action) for t in graph.transitions())
    notes = Counter(n for c in graph.captures.values() for n in c.notes)
    recorded = f"by {graph.source}" if graph.source else ""
    for name, value in (
        ("app", " ".join(p for p in (app.label, app.package, app.version) if p)),
        ("phone", phone),
        ("recorded", " ".join(p for p in (recorded, graph.created) if p)),
        ("captures", str(len(graph.captures)) + (f" ({', '.join(extra)})" if extra else "")),
        ("screens", str(len(screens))),
        ("traces", f"{len(graph.traces)} with {counted(sum(kinds.values()), 'transition')}"),
        ("actions", ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())),
        ("notes", ", ".join(f"{note} {count}" for note, count in notes.most_common())),
    ):
        if value:
            about.add_row(name, escape(value))
    console.print(f"[bold]{escape(str(file))}[/]", highlight=False)
    console.print(about)
    console.print("[bold]screens[/]")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("", "title", "activity or app", "captures"):
        table.add_column(column, overflow="fold", justify="right" if column == "captures" else "left")
    for name, members in list(screens.items())[: 3 * _LISTED]:
        first = graph.captures[members[0]]
        place = first.state.activity.rpartition(".")[2] or first.state.package
        table.add_row(f"[green]{numbers[name]}[/]", escape(title_of(first)), escape(place), str(len(members)))
    if len(screens) > 3 * _LISTED:
        table.add_row("…", f"{len(screens) - 3 * _LISTED} more; --json lists all", "", "")
    console.print(table)
    if several := nondeterministic(graph, screens=screens):
        console.print("[bold]actions with several outcomes[/]")
        table = Table(box=None, padding=(0, 2, 0, 0))
        for column in ("on", "action", "led to"):
            table.add_column(column, overflow="fold")
        for o in several[:_LISTED]:
            led = ", ".join(f"{numbers[to]} ×{count}" for to, count in o.counts.items())
            table.add_row(numbers[o.screen], escape(o.words), led)
        if len(several) > _LISTED:
            table.add_row("…", f"{len(several) - _LISTED} more; --json lists all", "")
        console.print(table)
