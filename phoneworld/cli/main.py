"""The command line's root: registers the groups of verbs, turns our errors into one line and an exit code."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.markup import escape

from phoneworld import __version__
from phoneworld.cli import bench as bench_verbs
from phoneworld.cli import build as build_verbs
from phoneworld.cli import doctor as doctor_verbs
from phoneworld.cli import graph as graph_verbs
from phoneworld.cli import phone as phone_verbs
from phoneworld.cli import play as play_verbs
from phoneworld.cli import record as record_verbs
from phoneworld.cli import serve as serve_verbs
from phoneworld.errors import PhoneWorldError

app = typer.Typer(
    name="phoneworld",
    help="Recordings of phone apps in, resettable and checkable mock apps out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
errors = Console(stderr=True)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"phoneworld {__version__}")
        raise typer.Exit()


@app.callback()
def root(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit.")) -> None:
    """Recordings of phone apps in, resettable and checkable mock apps out."""


bench_verbs.register(app)
build_verbs.register(app)
doctor_verbs.register(app)
graph_verbs.register(app)
phone_verbs.register(app)
play_verbs.register(app)
record_verbs.register(app)
serve_verbs.register(app)


def main() -> None:
    """The console entry point: our errors become one line, a hint and an exit code; Ctrl-C exits with 130."""
    try:
        app()
    except PhoneWorldError as e:
        errors.print(f"[bold red]error:[/] {escape(e.message)}", highlight=False)
        if e.hint:
            errors.print(f"[dim]  mend:[/] {escape(e.hint)}", highlight=False)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
