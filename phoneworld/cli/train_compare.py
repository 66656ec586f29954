"""`phoneworld train compare`: policies on the same episodes, on the mock and on the real app."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from phoneworld.cli.terminal import Terminal, counted
from phoneworld.cli.train_opening import need_torch, opened_apps, progress_bar, real_phone
from phoneworld.errors import OptionError

console = Terminal()


def register(train_app: typer.Typer) -> None:
    """Adds the verb to `phoneworld train`."""
    train_app.command("compare")(compare)


def compare(
    app: Annotated[Path, typer.Argument(help="The folder of an app, with `bundle` and `tasks` in it.")],
    policies: Annotated[list[Path], typer.Option("--policy", help="A checkpoint; several may be given. The others are held against the first.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of scores, a line of JSON an episode. What stands in it is not played again.")],
    seeds: Annotated[int, typer.Option(help="How many draws of each task.", min=1, max=10_000)] = 2,
    first_seed: Annotated[int, typer.Option(help="The first of them. Training draws below the default.", min=0)] = 100_000,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only tasks whose id has this in it. May be given several times.")] = None,
    device: Annotated[str | None, typer.Option(help="The real app: web:URL, or an adb serial.")] = None,
    transfer: Annotated[Path | None, typer.Option(help="What `phoneworld tasks transfer --json` printed: only tasks that hold on the real app are scored, there and on the mock.")] = None,
    storage: Annotated[Path | None, typer.Option(help="What `phoneworld tasks transfer --storage` wrote: how the real app stores things, to judge by.")] = None,
    hold_out: Annotated[float, typer.Option("--hold-out", help="As in training: which tasks count as held out.", min=0.0, max=0.9)] = 0.2,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare policies on the same episodes, on the mock and on the real app.

    Success with intervals, on tasks that were trained and on those held out; how much better each policy is than the first, by the episodes that
    both played; and how much of what is won on the mock is won on the real app. Each episode is a line in the file as soon as it has ended, and all
    figures are made from the file.

        phoneworld train compare apps/notes --policy policy.pt --policy runs/notes/policy.pt -o scores.jsonl

        phoneworld train compare apps/notes --policy policy.pt -o scores.jsonl --device web:http://127.0.0.1:8000 --transfer notes.json
    """
    need_torch()
    from phoneworld.agent.policy import load
    from phoneworld.env.rollout import jobs
    from phoneworld.study.figures import difference, share
    from phoneworld.study.figures import transfer as carried
    from phoneworld.study.scores import ScoreFile, score
    from phoneworld.train.places import Mocks, is_held_out
    from phoneworld.train.sources import MOCK, REAL

    names = [str(p) for p in policies]
    if len(set(names)) < len(names):
        raise OptionError("a policy is named twice", hint="name each --policy once")
    opened = opened_apps([app], hold_out)
    networks = {name: load(name) for name in names}
    places: dict[str, Any] = {MOCK: Mocks(opened)}
    tasks = [t.id for t in opened[0].tasks]
    if device is not None:
        places[REAL] = real_phone(opened, device, transfer, storage, trained=False)
        tasks = [t for t in tasks if t in places[REAL].tasks.lengths]
    tasks = [t for t in tasks if not only or any(word in t for word in only)]
    if not tasks:
        raise OptionError("no task has that in its id", hint="`phoneworld tasks list` shows the ids")
    todo = jobs(tasks, range(first_seed, first_seed + seeds))
    file = ScoreFile(out)
    steps_a_second: dict[str, float] = {}
    try:
        with progress_bar() as bar:
            for source, place in places.items():
                line = bar.add_task(source, total=len(names) * len(todo))
                for name in names:
                    spent = score(file, name, networks[name], source, place, todo, lambda n, line=line: bar.advance(line, n))  # type: ignore[misc]
                    if spent.steps:
                        steps_a_second[source] = spent.steps / (spent.env_s + spent.looking_s + spent.network_s)
    finally:
        for place in places.values():
            place.close()
    wanted = {(job.name, job.seed) for job in todo}
    scores = [s for s in file.scores.values() if (s.task, s.seed) in wanted and s.policy in networks]
    parts = {"trained tasks": False, "held-out tasks": True}
    figures: dict[str, Any] = {
        "shares": [
            {"policy": name, "source": source, "of": of, **share(found)}
            for name in names for source in places for of, held in parts.items()
            if (found := [s for s in scores if s.policy == name and s.source == source and is_held_out(s.task, hold_out) == held])
        ],
        "against_the_first": [{"policy": name, "source": source, **difference(scores, name, names[0], source)} for name in names[1:] for source in places],
        "mock_and_real": [{"policy": name, **carried(scores, name)} for name in names] if REAL in places else [],
        "steps_a_second": steps_a_second,
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))
        return
    _print(figures)


def _print(figures: dict[str, Any]) -> None:
    table = Table("policy", "on", "of", "episodes", "success", "95 %")
    for s in figures["shares"]:
        success = "-" if s["success"] is None else f"{s['success']:.0%}"
        table.add_row(escape(s["policy"]), s["source"], s["of"], str(s["scored"]), success, f"{s['interval'][0]:.0%} to {s['interval'][1]:.0%}")
    console.print(table)
    for d in figures["against_the_first"]:
        console.print(f"{escape(d['policy'])} against the first, on the {d['source']}: {_told(d)}", highlight=False)
    for t in figures["mock_and_real"]:
        console.print(
            f"{escape(t['policy'])}, real against mock: {_told(t)}; both {t['both']}, only mock {t['only_mock']}, only real {t['only_real']}, neither {t['neither']}", highlight=False
        )
    for source, speed in figures["steps_a_second"].items():
        console.print(f"[dim]{source}: {speed:.1f} steps a second[/]", highlight=False)


def _told(d: dict[str, Any]) -> str:
    if d["difference"] is None:
        return "no episode that both have a score of"
    low, high = d["difference_interval"]
    return f"{d['difference']:+.0%} ({low:+.0%} to {high:+.0%}), {counted(d['episodes'], 'episode')} of {counted(d['tasks'], 'task')}"
