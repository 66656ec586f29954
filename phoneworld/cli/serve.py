"""`phoneworld serve`: mock apps for people and programs, in a browser and over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import phoneworld
from phoneworld.cli.files import need_bundle, pictures_note, what_lies_at
from phoneworld.cli.terminal import Terminal
from phoneworld.serve.app import create_app
from phoneworld.serve.guard import is_loopback
from phoneworld.serve.server import DEFAULT_PORT, bundles_in, listen, named_bundles, run, url_of

console = Terminal()


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("serve")(serve)


def serve(
    bundles: Annotated[list[Path] | None, typer.Argument(help="Folders that `phoneworld build` wrote, or folders of those. Default: every app in apps/.", show_default=False)] = None,
    port: Annotated[int, typer.Option(help="TCP port; 0 takes any free one.", min=0, max=65535)] = DEFAULT_PORT,
    host: Annotated[str, typer.Option(help="Address to listen on. On a loopback address only loopback names are answered.")] = "127.0.0.1",
    pixels: Annotated[bool, typer.Option(help="Use the recorded pictures; --no-pixels draws every screen from its tree alone.")] = True,
    sessions: Annotated[int, typer.Option(help="How many phones may be open at once.", min=1, max=100_000)] = 256,
    idle: Annotated[float, typer.Option(help="Seconds after which a phone that nobody asks for is closed.", min=1)] = 1800,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON once it answers, nothing else.")] = False,
) -> None:
    """Serve mock apps until Ctrl-C: a gallery, phones to use with mouse and keyboard, an HTTP API.

        phoneworld serve app.bundle

        curl --json '{}' http://127.0.0.1:7600/api/sessions

    The API describes itself at /api/openapi.json.
    """
    found = named_bundles([app for path in bundles for app in _apps_at(path)] if bundles else _own_apps())
    listener = listen(host, port)
    url = url_of(listener, host)
    app = create_app(found, with_pixels=pixels, host=host, session_limit=sessions, idle_s=idle)

    notes = [f"{name}: {note}" for name, bundle in found.items() if pixels and (note := pictures_note(bundle))]

    def tell() -> None:
        if as_json:
            typer.echo(json.dumps({"url": url, "api": f"{url}/api/sessions", "openapi": f"{url}/api/openapi.json", "bundles": list(found), "warnings": notes}))
            return
        names = ", ".join(found) or "no apps yet: build one with `phoneworld build app.graph.json -o apps/NAME`"
        console.print(f"[bold green]{url}[/]", highlight=False)
        console.print(f"  apps     {escape(names)}", highlight=False)
        console.print(f"  API      {url}/api/openapi.json", highlight=False)
        if not is_loopback(host):
            console.print(f"  [yellow]whoever can reach {escape(host)} can use these phones[/]", highlight=False)
        for note in notes:
            console.print(f"  [yellow]note:[/]    {escape(note)}", highlight=False)
        console.print("  Ctrl-C ends it", style="dim", highlight=False)

    try:
        run(app, listener, tell)
    except KeyboardInterrupt:
        # Ctrl-C is how it ends: by now the port is free and Chromium gone.
        return
    finally:
        listener.close()


def _apps_at(path: Path) -> list[Path]:
    """The bundle at a path, or all in a folder of apps. Raises FileFormatError that says what lies there instead."""
    if what_lies_at(path) != "bundle" and (inside := bundles_in(path)):
        return inside
    need_bundle(path)
    return [path]


def _own_apps() -> list[Path]:
    """The bundles in apps/ here, else in the apps/ of the checkout that this package is of."""
    return bundles_in(Path("apps")) or bundles_in(Path(phoneworld.__file__).resolve().parent.parent / "apps")
