"""`phoneworld door`: a mock with its tasks, in the shape that a trainer, an evaluator or an assistant takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from phoneworld.cli.files import need_bundle
from phoneworld.cli.terminal import Terminal
from phoneworld.env.rewards import Rewards
from phoneworld.env.rollout import Phones
from phoneworld.serve.server import listen, run, url_of

console = Terminal()
_PORTS = {"openenv": 8000, "android-world": 5000}


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("door")(door)


def door(
    name: Annotated[Literal["openenv", "android-world", "mcp"], typer.Argument(help="openenv: an OpenEnv server. android-world: AndroidWorld's HTTP API. mcp: tools for an assistant, over stdin and stdout.")],
    bundles: Annotated[list[Path], typer.Argument(help="Folders that `phoneworld build` wrote; the first app is in front.")],
    tasks: Annotated[Path | None, typer.Option(help="A task file, or a folder of them. Default: the folder tasks beside the bundle, where there is one.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="TCP port; 0 takes any free one. Default: 8000 for openenv, 5000 for android-world.", min=0, max=65535, show_default=False)] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    sessions: Annotated[int, typer.Option(help="openenv: how many phones may be in use at once.", min=1, max=10_000)] = 64,
    idle: Annotated[float, typer.Option(help="openenv: seconds after which a phone that nobody asks for is closed.", min=1)] = 1800,
    rewards: Annotated[Literal["sparse", "delta", "potential"], typer.Option(help="openenv: 1 for success only, or something for progress besides.")] = "sparse",
    pictures: Annotated[bool, typer.Option(help="mcp: answer with pictures too.")] = False,
) -> None:
    """Serve a mock and its tasks until Ctrl-C, for others' trainers and evaluators.

        phoneworld door openenv apps/notes/bundle

        phoneworld door mcp apps/notes/bundle

    Each door is described in phoneworld/serve/doors/README.md.
    """
    for path in bundles:
        need_bundle(path)
    beside = bundles[0].resolve().parent / "tasks"
    found = tasks if tasks is not None else beside if beside.is_dir() else None
    phones = Phones(tuple(map(str, bundles)), tasks=str(found) if found else (), rewards=Rewards(rewards))
    if name == "mcp":
        from phoneworld.serve.doors.mcp import mcp_server

        mcp_server(phones, pictures=pictures).run()
        return
    if name == "openenv":
        from phoneworld.serve.doors.open_env import open_env_app

        app = open_env_app(phones, max_sessions=sessions, session_timeout_s=idle)
    else:
        from phoneworld.serve.doors.android_world import android_world_app

        app = android_world_app(phones)
    listener = listen(host, _PORTS[name] if port is None else port)
    url = url_of(listener, host)
    try:
        run(app, listener, lambda: console.print(f"[bold green]{url}[/]  {name}; Ctrl-C ends it", highlight=False))
    except KeyboardInterrupt:
        return
    finally:
        listener.close()
