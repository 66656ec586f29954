"""`phoneworld train study` and `report`: real phone, mock, or both, over paired runs, and what came of it as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from phoneworld.cli.terminal import Terminal
from phoneworld.cli.train_opening import need_torch, progress_bar, progress_console
from phoneworld.env.extras import need

console = Terminal()
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


def register(train_app: typer.Typer) -> None:
    """Adds the verbs to `phoneworld train`."""
    train_app.command("study")(study)
    train_app.command("report")(report)


def study(
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the study. One that was begun the same is gone on with.")],
    plan: Annotated[Path, typer.Argument(help="What to do, as YAML.")] = Path("examples/study/plan.yaml"),
    size: Annotated[str, typer.Option(help="How much of it: a size of the plan.")] = "small",
    as_json: AsJson = False,
) -> None:
    """Study what training on mocks is worth on the real app.

    A policy learns from demonstrations; then each arm of the plan trains it on, on the real apps, on mocks, or on both, with so many seeds; and all
    are scored on the same episodes, on tasks and apps that were never trained on. The plan says which apps and where the real ones are: folders of
    pages, which are served here, `web:URL`, or an adb serial. A study that was killed is gone on with by the same command, and ends with the same numbers.

        phoneworld train study --size small -o runs/study
    """
    need_torch()
    need("matplotlib", "train")
    from phoneworld.study.conduct import conduct
    from phoneworld.study.plan import read_plan

    with progress_bar() as bar:
        lines: dict[str, Any] = {}
        told: dict[str, int] = {}

        def tell(stage: str, done: int, of: int) -> None:
            if stage not in lines:
                lines[stage] = bar.add_task(stage, total=of)
            bar.update(lines[stage], completed=done)
            tenth = 10 * done // max(1, of)
            if not progress_console.is_terminal and tenth > told.get(stage, 0):
                told[stage] = tenth
                progress_console.print(f"{stage}: {10 * tenth} %", highlight=False)

        conduct(read_plan(plan), size, out, tell)
    report(out, as_json=as_json)


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a study that has ended.")],
    as_json: AsJson = False,
) -> None:
    """Write the report of a study anew, from its raw lines alone: `report.html` and `report.json` in its folder.

        phoneworld train report runs/study
    """
    need_torch()
    from phoneworld.study.drawings import drawings
    from phoneworld.study.page import page
    from phoneworld.study.report import read_lines
    from phoneworld.study.report import report as figures_of

    figures = figures_of(read_lines(folder))
    (folder / "report.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    (folder / "report.html").write_text(page(figures, drawings(figures)), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))
        return
    _print(figures)
    console.print(f"written to {escape(str(folder / 'report.html'))}", highlight=False)


def _print(figures: dict[str, Any]) -> None:
    table = Table("policy", "real apps", "episodes", "success", "95 %", "against sft", "95 %")
    for s in figures["success"]:
        if not s["scored"] or s["source"] != "real" or s["part"] == "new":
            continue
        gain = figures["gain"][s["part"]].get(s["policy"])
        against = ("", "") if gain is None or gain["difference"] is None else (f"{gain['difference']:+.0%}", f"{gain['difference_interval'][0]:+.0%} to {gain['difference_interval'][1]:+.0%}")
        interval = f"{s['interval'][0]:.0%} to {s['interval'][1]:.0%}"
        table.add_row(escape(s["policy"]), s["part"].replace("_", " "), str(s["scored"]), f"{s['success']:.0%}", interval, *against)
    console.print(table)
