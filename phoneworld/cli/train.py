"""`phoneworld train sft|rl`: a small policy, trained on the mocks of apps and on the real one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from phoneworld.cli import train_compare, train_study
from phoneworld.cli.files import need_place
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.cli.train_opening import need_torch, opened_apps, progress_bar, real_phone
from phoneworld.errors import OptionError, WriteError
from phoneworld.graph.file import write_atomically

if TYPE_CHECKING:
    from phoneworld.agent.network import Network
    from phoneworld.train.places import TrainedApp

console = Terminal()
Apps = Annotated[list[Path], typer.Argument(help="Folders of apps, with `bundle` and `tasks` in them.")]
HoldOut = Annotated[float, typer.Option("--hold-out", help="The share of the tasks that is never trained on; which, their ids decide.", min=0.0, max=0.9)]
Seed = Annotated[int, typer.Option(help="Decides everything: the same seed gives the same policy.")]
Scored = Annotated[int, typer.Option("--scored", help="With how many new seeds each task is scored at the end; 0 for no scoring.", min=0, max=1000)]
RealApp = Annotated[str | None, typer.Option("--device", help="The real app: web:URL, or an adb serial. For one app only.")]
Holding = Annotated[Path | None, typer.Option("--transfer", help="What `phoneworld tasks transfer --json` printed: only tasks that hold on the real app are played there.")]
Stored = Annotated[Path | None, typer.Option("--storage", help="What `phoneworld tasks transfer --storage` wrote: how the real app stores things, to judge by.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]

train_app = typer.Typer(help="Train a small policy on mocks and on real apps.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the verbs to the command line."""
    train_compare.register(train_app)
    train_study.register(train_app)
    app.add_typer(train_app, name="train")


@train_app.command("sft")
def sft(
    apps: Apps,
    out: Annotated[Path, typer.Option("-o", "--out", help="The checkpoint to write, a .pt file.")],
    seeds: Annotated[int, typer.Option(help="At how many seeds each task is demonstrated on the mock.", min=1, max=1000)] = 4,
    device: RealApp = None,
    transfer: Holding = None,
    storage: Stored = None,
    real_seeds: Annotated[int, typer.Option(help="At how many seeds each task is demonstrated on the real app besides, with --device.", min=1, max=1000)] = 1,
    epochs: Annotated[int, typer.Option(help="How often all demonstrations are gone through.", min=1, max=10_000)] = 20,
    rate: Annotated[float, typer.Option(help="The learning rate.", min=1e-6, max=1.0)] = 1e-3,
    entropy: Annotated[float, typer.Option(help="What a nat of entropy is paid, so that `train rl` has something left to try.", min=0.0, max=1.0)] = 0.05,
    hold_out: HoldOut = 0.2,
    scored: Scored = 2,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a policy on demonstrations.

    The oracle solves the tasks on the mocks; its solutions are done with what the policy can do, there and with --device on the real app too,
    and the policy learns to do the same. What it cannot do is told. At the end it is scored with seeds that were not shown, on tasks that were and on those held out.

        phoneworld train sft apps/notes apps/shop -o policy.pt

        phoneworld train sft apps/notes -o policy.pt --device web:http://127.0.0.1:8000 --transfer notes.json --storage notes.storage.json
    """
    need_torch()
    from phoneworld.agent.network import Network
    from phoneworld.agent.policy import save
    from phoneworld.env.rollout import jobs
    from phoneworld.train.demonstrations import Demonstration, Missing, Teacher
    from phoneworld.train.sft import SftOptions, train
    from phoneworld.train.sources import MOCK, REAL

    need_place(out)
    if out.exists() and out.suffix != ".pt":
        raise WriteError(f"{out} stands there and is no checkpoint", hint="name another file with -o")
    opened = opened_apps(apps, hold_out)
    shown: list[Demonstration] = []
    missing: list[Missing] = []
    phone = None if device is None else real_phone(opened, device, transfer, storage)
    with progress_bar() as bar, closing(phone) if phone is not None else nullcontext():
        line = bar.add_task("demonstrations", total=sum(len(a.trained) for a in opened) + (len(phone.tasks.lengths) if phone is not None else 0))
        for app in opened:
            teacher = Teacher(app.env)
            for task in app.trained:
                found, not_found = teacher.show(jobs(task, range(seeds)))
                shown += found
                missing += not_found
                bar.advance(line)
            if phone is not None:  # then there is one app only
                for name in phone.tasks.lengths:
                    found, not_found = teacher.show(jobs(name, range(real_seeds)), phone.opened())
                    shown += found
                    missing += not_found
                    bar.advance(line)
        network = Network(seed=seed)
        line = bar.add_task("epochs", total=epochs)
        told = train(network, shown, SftOptions(epochs=epochs, rate=rate, entropy=entropy), seed=seed, tell=lambda _: bar.advance(line))
    never = sorted({m.task for m in missing} - {d.task for d in shown})
    save(network, out, about={"apps": [p.name for p in apps], "demonstrations": len(shown), "epochs": epochs, "entropy": entropy, "hold_out": hold_out, "seed": seed})
    figures: dict[str, Any] = {
        "demonstrations": {source: sum(d.source == source for d in shown) for source in (MOCK, REAL)}, "steps": sum(len(d.steps) for d in shown), "not_shown": [f"{m.task} seed {m.seed}: {m.why}" for m in missing],
        "tasks_never_shown": never, "loss": told[-1].loss, "scores": _scores(network, opened, scored),
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))
        return
    _print_scores(figures["scores"])
    on_the_real = f", {figures['demonstrations'][REAL]} of them on the real app;" if device is not None else ","
    console.print(
        f"{counted(len(shown), 'demonstration')} of {counted(figures['steps'], 'step')}{on_the_real} {len(missing)} could not be shown"
        f"{' (' + counted(len(never), 'task') + ' never)' if never else ''}; loss {told[-1].loss:.3f}; written to {escape(str(out))}",
        highlight=False,
    )


@train_app.command("rl")
def rl(
    apps: Apps,
    start: Annotated[Path, typer.Option("--from", help="The checkpoint to begin with, as `phoneworld train sft` wrote it.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the run. One that was begun the same is gone on with.")],
    updates: Annotated[int, typer.Option(help="How often the policy is changed.", min=1, max=1_000_000)] = 40,
    groups: Annotated[int, typer.Option(help="Groups of episodes an update; a group is one task and seed.", min=1, max=10_000)] = 8,
    members: Annotated[int, typer.Option(help="Episodes in a group.", min=2, max=10_000)] = 8,
    rate: Annotated[float, typer.Option(help="The learning rate.", min=1e-7, max=1.0)] = 1e-4,
    entropy: Annotated[float, typer.Option(help="What a nat of entropy is paid.", min=0.0, max=1.0)] = 0.002,
    real_fraction: Annotated[str, typer.Option(help="The share of groups played on the real app: 0.5; or 0.8:0.2, from the first update to the last.")] = "0",
    device: RealApp = None,
    transfer: Holding = None,
    storage: Stored = None,
    real_steps: Annotated[int | None, typer.Option(help="End before more steps than these were made on the real app.", min=1)] = None,
    steps: Annotated[int | None, typer.Option(help="End before more steps than these were made, on mocks and the real app together.", min=1)] = None,
    executor: Annotated[Literal["process", "processes", "ray"], typer.Option(help="Where episodes on mocks are played: in this process, in several, in Ray actors.")] = "process",
    workers: Annotated[int, typer.Option(help="How many processes or actors.", min=1, max=100_000)] = os.cpu_count() or 2,
    address: Annotated[str | None, typer.Option(help="The Ray cluster: auto for the one this machine is of, or ray://HOST:10001. Without it one is started here.")] = None,
    hold_out: HoldOut = 0.2,
    validation: Annotated[float, typer.Option("--validation", help="The share of the tasks that only says which policy of the run is kept: 0.1.", min=0.0, max=0.9)] = 0.0,
    validate_every: Annotated[int, typer.Option(help="After how many updates the policy is validated, on the mocks.", min=1)] = 4,
    scored: Scored = 2,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Go on training a policy by what it achieves itself.

    Groups of episodes of one task and start are played, and what does better than its group is done more often. Short tasks come first, then
    those that are now solved and now not. Real groups are played while the mocks' are; each real episode is kept as soon as it has ended.
    A run that was killed is gone on with by the same command, and ends with the same numbers; so do runs with more and fewer --workers. With --validation the policy that did best on
    tasks of its own is kept, not the last one.

        phoneworld train rl apps/notes --from policy.pt -o runs/notes

        phoneworld train rl apps/notes --from policy.pt -o runs/mixed --real-fraction 0.5 --device web:http://127.0.0.1:8000 --transfer notes.json
    """
    need_torch()
    from phoneworld.agent.policy import load, save
    from phoneworld.episodes.replay import mock_digest
    from phoneworld.train.journal import Journal
    from phoneworld.train.places import Mocks
    from phoneworld.train.places import validation as validating
    from phoneworld.train.rl import RlOptions, Run
    from phoneworld.train.sources import MOCK, REAL, Mixing
    from phoneworld.train.spread import CHUNK, ByProcesses, OnRay, SpreadMocks

    mixing = Mixing.of(real_fraction)
    opened = opened_apps(apps, hold_out, validation)
    network = load(start)
    if address is not None and executor != "ray":
        raise OptionError("--address names a Ray cluster", hint="add --executor ray")
    mocks = Mocks(opened) if executor == "process" else SpreadMocks(opened, ByProcesses(opened, workers) if executor == "processes" else OnRay(opened, workers, address))
    places: dict[str, Any] = {MOCK: mocks}
    if device is not None:
        places[REAL] = real_phone(opened, device, transfer, storage)
    options = RlOptions(updates, groups, members, rate=rate, entropy=entropy, mixing=mixing, real_steps=real_steps, steps=steps, validate_every=validate_every)
    about = {
        "from": sha256(start.read_bytes()).hexdigest(), "options": {name: getattr(options, name) for name in options.__slots__ if name != "mixing"},
        "real_fraction": [mixing.first, mixing.last], "seed": seed, "hold_out": hold_out, "validation": validation, "mocks": [mock_digest([a.bundle]) for a in opened],
        "tasks": {source: sorted(place.tasks.lengths.items()) for source, place in places.items()},
    } | ({} if executor == "process" else {"chunk": CHUNK})  # fmt: skip
    run = Run(network, places, options, seed, Journal(out, about), validating(mocks, [t for app in opened for t in app.validated]))
    try:
        with progress_bar() as bar:
            line = bar.add_task("updates", total=updates, completed=len(run.updates))
            run.train(lambda u: bar.update(line, completed=u.number + 1, description="updates, " + ", ".join(f"{n} {s:.0%}" for n, s in u.success.items())))
    finally:
        run.close()
    if run.best:
        network.load_state_dict(run.best)
    save(network, out / "policy.pt", about={"from": str(start), "updates": len(run.updates), "seed": seed})
    made = {source: sum(u.steps.get(source, 0) for u in run.updates) for source in (MOCK, REAL)}
    figures: dict[str, Any] = {"updates": [u.to_json() for u in run.updates], "steps": made, "scores": _scores(network, opened, scored)}
    write_atomically(out / "report.json", json.dumps(figures, indent=1).encode())
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))
        return
    _print_scores(figures["scores"])
    time = {source: of for source, of in run.spent.items() if of.steps}
    shares = "; ".join(f"{source}: " + ", ".join(f"{share:.0%} {what}" for what, share in of.shares().items()) for source, of in time.items())
    console.print(f"{counted(len(run.updates), 'update')}, {made[MOCK]} steps on mocks, {made[REAL]} on the real app; written to {escape(str(out))}", highlight=False)
    if shares:
        console.print(f"[dim]time: {shares}[/]", highlight=False)


def _scores(network: Network, apps: Sequence[TrainedApp], seeds: int) -> list[dict[str, Any]]:
    """Success with new seeds, on tasks that were trained on and on those held out."""
    from phoneworld.agent.play import play
    from phoneworld.env.rollout import jobs
    from phoneworld.evaluate.figures import wilson
    from phoneworld.train.places import NEW_SEEDS

    scores: list[dict[str, Any]] = []
    for app in apps if seeds else ():
        envs = app.env.fork(32)
        for which, tasks in (("trained tasks", app.trained), ("held-out tasks", app.held_out)):
            if not tasks:
                continue
            played = play(network, envs, [(job, None) for job in jobs(tasks, range(NEW_SEEDS, NEW_SEEDS + seeds))])
            scored = [p.record for p in played if p.record.trainable]
            won = sum(r.success is True for r in scored)
            scores.append({
                "app": tasks[0].app, "of": which, "tasks": len(tasks), "episodes": len(scored), "succeeded": won, "success": won / len(scored) if scored else None,
                "interval": list(wilson(won, len(scored))), "progress": sum(r.progress or 0.0 for r in scored) / max(1, len(scored)),
                "unrecorded": sum(r.unrecorded for r in scored) / max(1, sum(len(r.steps) for r in scored)),
            })  # fmt: skip
    return scores


def _print_scores(scores: Sequence[dict[str, Any]]) -> None:
    if not scores:
        return
    table = Table("app", "of", "tasks", "episodes", "success", "95 %", "progress")
    for s in scores:
        success = "-" if s["success"] is None else f"{s['success']:.0%}"
        table.add_row(s["app"], s["of"], str(s["tasks"]), str(s["episodes"]), success, f"{s['interval'][0]:.0%} to {s['interval'][1]:.0%}", f"{s['progress']:.0%}")
    console.print(table)
