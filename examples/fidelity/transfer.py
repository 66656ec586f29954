"""Do the tasks of the apps in `apps/` hold on the real apps? Starts each app as the lab does, and calls `phoneworld tasks transfer`.

    python -m examples.fidelity.transfer notes shop messages --out demo-out/transfer
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from examples.fidelity.apps import APPS

ROOT = Path(__file__).resolve().parent.parent.parent
console = Console()


def main(
    apps: Annotated[list[str], typer.Argument(help="Apps of the lab that are in `apps/`.")],
    out: Annotated[Path, typer.Option(help="A folder for what each task came to, and how each app stores things.")] = Path("demo-out/transfer"),
    only: Annotated[list[str] | None, typer.Option(help="Only tasks whose id has this in it.")] = None,
) -> None:
    """Prints a line an app, and writes APP.json and APP.storage.json. What was done before is not done again; delete the file for that."""
    out.mkdir(parents=True, exist_ok=True)
    for name in apps:
        report = out / f"{name}.json"
        if not report.exists():
            with TemporaryDirectory() as folder, APPS[name].start(Path(folder)) as started:
                command = [sys.executable, "-m", "phoneworld", "tasks", "transfer", str(ROOT / "apps" / name), "--device", f"web:{started.url}", "--json"]
                command += ["--storage", str(out / f"{name}.storage.json"), "--step-s", str(APPS[name].pace.step_s), "--before-each", shlex.join(started.command), *(word for one in only or () for word in ("--only", one))]
                done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
            if not done.stdout:
                raise SystemExit(done.stderr)
            report.write_text(done.stdout, encoding="utf-8")
        told = json.loads(report.read_text(encoding="utf-8"))
        why = ", ".join(f"{n} {kind}" for kind, n in told["why"].items())
        console.print(
            f"{name}: {told['holds']} of {told['of']} hold ({told['holds_share']:.0%}), {told['fails']} fail, {told['unknown']} unknown; blind {told['holds_blind']}; "
            f"{told['faithful_steps']:.0%} of {told['steps']} steps alike; {why}",
            highlight=False,
        )


if __name__ == "__main__":
    typer.run(main)
