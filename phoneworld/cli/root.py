"""The command line itself, in typer: made of the verbs that are asked for; our errors in words; help in whole paragraphs."""

from __future__ import annotations

import importlib
import os
import traceback
from pathlib import Path

import typer
from rich.markup import escape

from phoneworld import __version__
from phoneworld.cli.exits import EXITS
from phoneworld.cli.terminal import Terminal, harmless
from phoneworld.cli.verbs import VERBS
from phoneworld.errors import PhoneWorldError, WriteError

HELP = "Recordings of phone apps in, resettable and checkable mock apps out."
FAULT_EXIT = 1
errors = Terminal(stderr=True)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"phoneworld {__version__}")
        raise typer.Exit()


def command_line(verb: str | None = None) -> typer.Typer:
    """The command line with one verb, or with all of them where none, or an unknown one, is named."""
    app = typer.Typer(
        name="phoneworld",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # --output is taken for --out in every verb: one name in the help, and the other one works too.
        context_settings={"token_normalize_func": lambda name: "out" if name == "output" else name},
    )

    @app.callback(help=HELP, epilog=_exit_words())
    def root(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit.")) -> None:
        """The options that no verb has."""

    modules = [VERBS[verb]] if verb in VERBS else dict.fromkeys(VERBS.values()) if verb != "--version" else []
    for module in modules:
        importlib.import_module(f"phoneworld.cli.{module}").register(app)
    _unwrap(app)
    return app


def _exit_words() -> str:
    """The exit codes, a line each, for the end of `phoneworld --help`."""
    return "Exit codes:\n" + "\n".join(f"{code:>3}  {escape(words)}" for code, words in EXITS.items())


def _unwrap(app: typer.Typer) -> None:
    """Gives each verb its docstring as help, without the line breaks of the source: the terminal has its own width."""
    for command in app.registered_commands:
        command.help = unwrapped(command.callback.__doc__ if command.callback else "")
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _unwrap(group.typer_instance)


def unwrapped(text: str | None) -> str:
    """A function's docstring with each paragraph on one line; lines indented further are examples and stay, without gaps between."""
    first, _, rest = (text or "").strip().partition("\n")
    # By its place in the source: where all that follows is examples, `inspect.cleandoc` would take their indentation too.
    lines = [first.strip(), *(line[4:].rstrip() if line.startswith("    ") else line.strip() for line in rest.splitlines())]
    paragraphs = [p for p in "\n".join(lines).split("\n\n") if p.strip()]
    out = ""
    for before, paragraph in zip(["", *paragraphs], paragraphs, strict=False):
        is_example = paragraph.startswith(" ")
        gap = "" if not before else "\n" if is_example and before.startswith(" ") else "\n\n"
        # In markup, because blanks at the start of a text are taken away.
        out += gap + ("\n".join(f"[not dim]{line}[/]" for line in paragraph.splitlines()) if is_example else " ".join(paragraph.split()))
    return out


def tell(error: PhoneWorldError) -> None:
    """One line for the error, and one for its mend."""
    errors.print(f"[bold red]error:[/] {_printable(error.message)}", highlight=False, soft_wrap=True)
    if error.hint:
        errors.print(f"[dim]  mend:[/] {_printable(error.hint)}", highlight=False, soft_wrap=True)


def tell_fault(error: Exception) -> int:
    """Says in words what no part of ours foresaw, and returns the exit code. PHONEWORLD_TRACEBACK=1 prints where it happened."""
    if os.environ.get("PHONEWORLD_TRACEBACK") == "1":
        traceback.print_exception(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        told = WriteError(f"{where}{error.strerror or error}", hint="free space on that disk, or check path and permissions")
        tell(told)
        return told.exit_code
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent.parent.name in ("phoneworld", "recorder") or "phoneworld" in f.filename]
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    words = next(iter(str(error).strip().splitlines()), "") or "no reason given"
    tell(PhoneWorldError(f"a fault of phoneworld's own{where}: {words}", hint="run it again with PHONEWORLD_TRACEBACK=1 in front, and report what it prints"))
    return FAULT_EXIT


def _printable(words: str) -> str:
    """Words from anywhere, as one line of text that is no markup."""
    return escape(" ".join(harmless(words).split("\n")))
