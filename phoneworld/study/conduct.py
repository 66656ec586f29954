"""A study from its plan to its raw lines, in a folder: what stands there is not done again, so one that was killed goes on, and ends with the same numbers."""

from __future__ import annotations

import fcntl
import json
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from pathlib import Path
from typing import Any

from phoneworld import __version__
from phoneworld.episodes.replay import mock_digest
from phoneworld.errors import FileFormatError, OptionError, WriteError
from phoneworld.graph.file import write_atomically
from phoneworld.study.crew import Crew, Work
from phoneworld.study.holding import holding, is_of
from phoneworld.study.pages import serving
from phoneworld.study.plan import Plan, tasks_digest
from phoneworld.study.works import Begin, FindOut, RunArm, ScoreBegin, Setup, kind_of
from phoneworld.train.sources import Mixing

STUDY, RAW = "study.json", ("scores.jsonl", "updates.jsonl", "times.jsonl")
"""What a report is made from."""
Progress = Callable[[str, int, int], None]
"""Hears of a stage by its name: how much of it is done, of how much."""


def conduct(plan: Plan, size_name: str, folder: Path, tell: Progress = lambda stage, done, of: None) -> None:
    """Does a study. Raises OptionError where the folder holds another one, or too few tasks hold."""
    size = plan.size(size_name)
    phones = [app.device for app in plan.apps if app.device and not app.device.startswith(("web:", "mock:"))]
    if phones and size.workers * size.pages > 1:
        raise OptionError(f"{phones[0]} is one phone, and the plan plays on {size.workers * size.pages} at once", hint="in the plan, workers: 1 and pages: 1")
    with _held(folder), serving({app.name: app.page for app in plan.apps if app.page is not None}) as urls, Crew(size.workers) as crew:
        setup = Setup(plan, size_name, folder, {app.name: f"web:{urls[app.name]}" if app.name in urls else app.device for app in plan.apps})
        _begun(setup)
        missing = [app for app in plan.apps if not _held_over(setup, app.name)]
        _stage("what holds on the real apps", [FindOut(setup, app) for app in missing], crew, tell)
        _described(setup)
        _stage("supervised training", [Begin(setup)], crew, tell)
        # Those without a phone first: they keep a core busy each, while real ones wait for pages.
        arms = sorted(size.arms, key=lambda name: size.arms[name].mixing != Mixing())
        works: list[Any] = [RunArm(setup, arm, seed) for arm in arms for seed in range(size.seeds)]
        _stage("runs", [*(ScoreBegin(setup, seed) for seed in range(size.seeds)), *works], crew, tell)
        _gather(setup)


def _stage(name: str, works: Sequence[Any], crew: Crew, tell: Progress) -> None:
    amounts = {work.name: work.amount for work in works}
    done = dict.fromkeys(amounts, 0)

    def told(work: str, n: int | None) -> None:
        done[work] = amounts[work] if n is None else min(amounts[work], done[work] + n)
        tell(name, sum(done.values()), sum(amounts.values()))

    todo: list[Work] = list(works)
    crew.do(todo, told)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """While this lasts no other process conducts a study in the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / ".lock", "wb")  # noqa: SIM115
    except OSError as e:
        raise WriteError(f"cannot write into {folder}: {e.strerror or e}", hint="name another folder") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WriteError(f"a study is being conducted in {folder}", hint="wait for it, or name another folder") from None
        yield


def _begun(setup: Setup) -> None:
    """Sees to it that the folder is of this study."""
    plan, size = setup.plan, setup.size
    about = {
        "size": setup.size_name,
        "numbers": size.model_dump(mode="json", exclude={"workers", "pages"}),
        "plan": plan.model_dump(mode="json", exclude={"sizes", "trained", "unseen", "holding"}),
        "apps": {
            app.name: {"trained": app in plan.trained, "fidelity": app.fidelity, "mock": mock_digest([app.app / "bundle"]), "tasks": tasks_digest(app.app)}
            for app in plan.apps
        },
    }  # fmt: skip
    file = setup.folder / STUDY
    if not file.exists():
        _write(file, {"about": about, "workers": size.workers, "pages": size.pages, "with": _versions(), "tasks": {}, "holding": {}})
    elif read_study(setup.folder)["about"] != about:
        raise OptionError(f"{setup.folder} holds another study, or other mocks or tasks ({STUDY} says which)", hint="name another folder with -o")


def _held_over(setup: Setup, name: str) -> bool:
    """True where it is known what holds on an app: from before in this folder, or from the plan's."""
    app = next(app for app in setup.plan.apps if app.name == name)
    own = setup.holding_file(app)
    if is_of(own, app, setup.size.tasks):
        return True
    kept = None if setup.plan.holding is None else setup.plan.holding / own.name
    if kept is None or not is_of(kept, app, setup.size.tasks):
        return False
    own.parent.mkdir(exist_ok=True)
    shutil.copyfile(kept, own)
    return True


def _described(setup: Setup) -> None:
    """Adds to what is said of the study which tasks it has. Raises OptionError where there is nothing to train or score."""
    parts = setup.parts()
    for part, tasks in parts.items():
        if not tasks and (part != "unseen" or setup.plan.unseen):
            raise OptionError(f"of the tasks that hold on the real apps none is {part.replace('_', ' ')}", hint="more tasks, or another hold_out in the plan")
    told = read_study(setup.folder)
    told["tasks"] = {t.id: {"part": part, "kind": kind_of(t), "oracle": t.tags.difficulty} for part, tasks in parts.items() for t in tasks}
    told["holding"] = {}
    for app in setup.plan.apps:
        of = holding(setup.holding_file(app))
        told["holding"][app.name] = {"tried": of.tried, "hold": len(of.tasks), "why_not": of.why}
    _write(setup.folder / STUDY, told)


def _gather(setup: Setup) -> None:
    """Puts the lines of all runs together, in an order of their own: which ended first says nothing."""
    gathered: dict[str, list[dict[str, Any]]] = {name: [] for name in RAW}
    for seed in range(setup.size.seeds):
        for policy in ("sft", *setup.size.arms):
            folder = setup.run_folder(policy, seed)
            for name in RAW:
                if (folder / name).exists():
                    lines = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
                    gathered[name] += [{"arm": policy, "seed": seed, **line} if name == "times.jsonl" else line for line in lines]
    gathered["scores.jsonl"].sort(key=lambda line: (line["policy"], line["source"], line["task"], line["seed"]))
    for name, lines in gathered.items():
        _write_text(setup.folder / name, "".join(json.dumps(line) + "\n" for line in lines))
    begun = setup.folder / "sft.json"
    _write(setup.folder / STUDY, read_study(setup.folder) | {"sft": json.loads(begun.read_text(encoding="utf-8"))})


def read_study(folder: Path) -> dict[str, Any]:
    """What is said of a study. Raises FileFormatError."""
    file = folder / STUDY
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return {"about": told["about"], **told}
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise FileFormatError(f"{file} says nothing of a study: {type(e).__name__}", hint="name the folder of `phoneworld train study -o`") from None


def _versions() -> dict[str, Any]:
    found: dict[str, Any] = {"phoneworld": __version__, "python": platform.python_version(), "cores": cpu_count(), "machine": platform.machine()}
    for package in ("torch", "numpy", "playwright"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def _write(file: Path, told: dict[str, Any]) -> None:
    _write_text(file, json.dumps(told, indent=1) + "\n")


def _write_text(file: Path, text: str) -> None:
    write_atomically(file, text.encode())
