"""The command line's root: registers the groups of verbs, turns our errors into one line and an exit code."""

from __future__ import annotations

import importlib
import sys

import typer
from rich.console import Console
from rich.markup import escape

from phoneworld import __version__
from phoneworld.errors import PhoneWorldError

VERBS = {
    "record": "record",
    "import": "graph",
    "graph": "graph",
    "build": "build",
    "serve": "serve",
    "fidelity": "fidelity",
    "phone": "phone",
    "devices": "phone",
    "play": "play",
    "bench": "bench",
    "doctor": "doctor",
}
"""Each verb and the module that adds it. The module of a verb that is asked for is the only one imported: a start costs what it needs."""

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


def main() -> None:
    """The console entry point: our errors become one line, a hint and an exit code; Ctrl-C exits with 130."""
    try:
        command_line(sys.argv[1] if len(sys.argv) > 1 else None)()
    except PhoneWorldError as e:
        errors.print(f"[bold red]error:[/] {escape(e.message)}", highlight=False)
        if e.hint:
            errors.print(f"[dim]  mend:[/] {escape(e.hint)}", highlight=False)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
