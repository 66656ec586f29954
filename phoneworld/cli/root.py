"""The command line itself, in typer: made of the verbs that are asked for; our errors in words."""

from __future__ import annotations

import importlib

import typer
from rich.console import Console
from rich.markup import escape

from phoneworld import __version__
from phoneworld.cli.verbs import VERBS
from phoneworld.errors import PhoneWorldError

HELP = "Recordings of phone apps in, resettable and checkable mock apps out."
errors = Console(stderr=True)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"phoneworld {__version__}")
        raise typer.Exit()


def command_line(verb: str | None = None) -> typer.Typer:
    """The command line with one verb, or with all of them where none, or an unknown one, is named."""
    app = typer.Typer(name="phoneworld", help=HELP, no_args_is_help=True, pretty_exceptions_enable=False)

    @app.callback()
    def root(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit.")) -> None:
        """Recordings of phone apps in, resettable and checkable mock apps out."""

    modules = [VERBS[verb]] if verb in VERBS else dict.fromkeys(VERBS.values()) if verb != "--version" else []
    for module in modules:
        importlib.import_module(f"phoneworld.cli.{module}").register(app)
    return app


def tell(error: PhoneWorldError) -> None:
    """One line for the error, and one for its mend."""
    errors.print(f"[bold red]error:[/] {escape(error.message)}", highlight=False)
    if error.hint:
        errors.print(f"[dim]  mend:[/] {escape(error.hint)}", highlight=False)
