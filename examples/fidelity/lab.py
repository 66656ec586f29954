"""Records apps and measures how true their mocks are. Resumable: what lies in the cache is not done again.

    python -m examples.fidelity.lab record vanillajs notes --actions 300
    python -m examples.fidelity.lab score vanillajs notes --actions 75,150,300

The web device runs in this process, without adb and without pictures. A training recording is a row of traces from a fresh start;
what is measured after N actions is its first N. Held-out traces have words and a seed of their own.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from examples.fidelity.apps import APPS, App
from phoneworld.device.web.device import WebDevice
from phoneworld.fidelity.acting import HELD_OUT, TRAINING
from phoneworld.fidelity.heldout import TreesOnly, act, joined, remembered
from phoneworld.graph.file import load_graph, save_graph
from phoneworld.graph.graph import StateGraph

Part = Literal["train", "held"]

ACTIONS = 300
HELD_TRACES, HELD_STEPS = 30, 15
SEEDS: dict[Part, int] = {"train": 41, "held": 9001}
LENGTHS = (15, 25, 20, 15)  # of training traces, over and over: 75 actions each time round
CACHE = Path(os.environ.get("PHONEWORLD_FIDELITY_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phoneworld-fidelity"

lab = typer.Typer(no_args_is_help=True, add_completion=False)
console = Console(stderr=True)


def lengths(part: Part, actions: int) -> Iterator[int]:
    """How many steps each trace of a part has."""
    if part == "held":
        yield from [HELD_STEPS] * HELD_TRACES
        return
    number = 0
    while actions > 0:
        yield min(actions, LENGTHS[number % len(LENGTHS)])
        actions -= LENGTHS[number % len(LENGTHS)]
        number += 1


def recorded(app: App, part: Part, actions: int = ACTIONS, *, cache: Path = CACHE) -> list[StateGraph]:
    """The traces of a part, one graph each, recorded where they are not in the cache yet."""
    folder = cache / app.name / part
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(number, steps, folder / f"{number:03}-{steps}.graph.json") for number, steps in enumerate(lengths(part, actions), 1)]
    graphs = [load_graph(path) for _, _, path in wanted if path.is_file()]
    missing = [item for item in wanted if not item[2].is_file()]
    if not missing:
        return graphs
    memory = remembered(graphs)
    words = TRAINING if part == "train" else HELD_OUT
    with (
        tempfile.TemporaryDirectory() as data,
        app.start(Path(data)) as started,
        WebDevice(started.url, size=app.size, density=app.density, package=app.package, label=app.name, clock_ms=app.clock_ms) as device,
    ):
        for number, steps, path in missing:
            started.ready()
            began = time.monotonic()
            found = act(
                TreesOnly(device), app.package, number=number, steps=steps, seed=SEEDS[part], words=words, memory=memory, pace=app.pace,
                kind=part,
            )  # fmt: skip
            save_graph(found.graph, path)
            graphs.append(found.graph)
            each = (time.monotonic() - began) / steps * 1000
            console.print(f"{app.name} {part} {number}/{len(wanted)}: {steps} steps, {each:.0f} ms each", highlight=False)
    return graphs


@lab.callback()
def _about() -> None:
    """Records apps and measures how true their mocks are."""


@lab.command()
def record(
    apps: Annotated[list[str], typer.Argument(help="Their names in apps.py.")],
    actions: Annotated[int, typer.Option(help="Length of the training recording.", min=1)] = ACTIONS,
    parts: Annotated[str, typer.Option(help="train, held, or both with a comma.")] = "train,held",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Also write APP-train.graph.json and APP-held.graph.json to this folder.")] = None,
) -> None:
    """Record training and held-out traces."""
    for name in apps:
        for part in ("train", "held"):
            if part in parts.split(","):
                graph = joined(recorded(APPS[name], part, actions))
                if out is not None:
                    out.mkdir(parents=True, exist_ok=True)
                    save_graph(graph, out / f"{name}-{part}.graph.json")


if __name__ == "__main__":
    lab()
