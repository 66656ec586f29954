"""The pieces of work of a study: finding out what holds, the policy that all begin with, a run of one arm and seed. Each is kept in the study's folder and goes on there.

    holding/APP.json            which tasks hold on the real app, and how it stores things
    sft.pt, sft.json            the policy that all runs begin with
    runs/sft-SEED/              its scores on what the runs of that seed are scored on
    runs/ARM-SEED/              a run: journal, updates.jsonl, times.jsonl, policy.pt, scores.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from phoneworld.agent.network import Network
from phoneworld.agent.play import Spent
from phoneworld.agent.policy import load, save
from phoneworld.env.env import Env
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.rollout import Job, jobs
from phoneworld.episodes.replay import mock_digest
from phoneworld.errors import BrowserError, DeviceError
from phoneworld.evaluate.real_phone import RealPhone
from phoneworld.graph.file import write_atomically
from phoneworld.study.holding import find_out, holding, keep, listed
from phoneworld.study.plan import AppPlan, Arm, Plan, Size
from phoneworld.study.real_apps import RealApps
from phoneworld.study.scores import ScoreFile, score
from phoneworld.tasks.checker import Answer, walk
from phoneworld.tasks.task import Task
from phoneworld.train.demonstrations import Demonstration, Missing, Teacher
from phoneworld.train.journal import Journal
from phoneworld.train.places import NEW_SEEDS, PAY, Mocks, TrainedApp, lengths, validation
from phoneworld.train.rl import RlOptions, Run, Update
from phoneworld.train.sft import SftOptions, train
from phoneworld.train.sources import MOCK, REAL, Mixing

SFT = "sft"
PARTS = ("trained", "held_out", "unseen")
_NEVER = 100_000
"""More updates than any run makes: they end by their steps."""


@dataclass(frozen=True)
class Setup:
    """A study in its folder. `devices` says where each real app is, as `web:URL` or a serial."""

    plan: Plan
    size_name: str
    folder: Path
    devices: Mapping[str, str]

    @property
    def size(self) -> Size:
        """How much of it is done."""
        return self.plan.size(self.size_name)

    def holding_file(self, app: AppPlan) -> Path:
        """Where it is kept what holds on an app."""
        return self.folder / "holding" / f"{app.name}.json"

    def opened(self, app: AppPlan) -> TrainedApp:
        """An app with the tasks that hold on the real one."""
        good = frozenset(holding(self.holding_file(app)).tasks)
        tasks = tuple(t for t in listed(app, self.size.tasks) if t.id in good)
        return TrainedApp(str(app.app / "bundle"), tasks, self.plan.hold_out if app in self.plan.trained else 1.0, self.plan.validation)

    def parts(self) -> dict[str, list[Task]]:
        """The tasks that are scored, by whether they, or their app, were trained on."""
        trained = [self.opened(app) for app in self.plan.trained]
        unseen = [self.opened(app) for app in self.plan.unseen]
        return {
            "trained": [t for app in trained for t in app.trained], "held_out": [t for app in trained for t in app.held_out],
            "unseen": [t for app in unseen for t in app.tasks],
        }  # fmt: skip

    def scored(self, seed: int) -> list[Job]:
        """The episodes that every policy of a seed is scored on."""
        todo: list[Job] = []
        for part, tasks in self.parts().items():
            most = getattr(self.size.scored, part)
            chosen = tasks if len(tasks) <= most else Random(f"{part}\0{seed}").sample(tasks, most)
            todo += jobs([t.id for t in chosen], (NEW_SEEDS + seed,))
        return todo

    def mocks(self) -> Mocks:
        """All mocks as one place, of which only the trained ones are trained on."""
        return Mocks([self.opened(app) for app in self.plan.apps])

    def real_apps(self) -> RealApps:
        """All real apps as one place."""
        opened = {app.name: self.opened(app) for app in self.plan.apps}
        phones = {}
        for app in self.plan.apps:
            of, storage = opened[app.name], holding(self.holding_file(app)).storage
            known = storage if storage.tables or storage.variables else ""
            phones[app.name] = RealPhone(self.devices[app.name], of.bundle, of.tasks, known, ObservationSpec(text=False), rewards=PAY)
        return RealApps(phones, lengths(t for app in opened.values() for t in app.trained), phones=self.size.pages)

    def has_scores(self, policy: str, seed: int) -> bool:
        """True where a policy of a seed has all its scores."""
        file = self.run_folder(policy, seed) / "scores.jsonl"
        if not file.exists():
            return False
        known = {key for key, of in ScoreFile(file).scores.items() if of.ended != "infra"}
        return all((policy, source, job.name or "", job.seed) in known for source in (MOCK, REAL) for job in self.scored(seed))

    def run_folder(self, policy: str, seed: int) -> Path:
        """Where a run is kept."""
        return self.folder / "runs" / f"{policy}-{seed}"


def kind_of(task: Task) -> str:
    """What kind of task it is: such as end in an answer, such as lead into a mini-app, and all others, in one app."""
    if any(isinstance(node, Answer) for node in walk(task.check)):
        return "answer"
    return "mini-app" if task.tags.category == "mini-app" else "single app"


@dataclass(frozen=True)
class FindOut:
    """Which tasks of an app hold on the real one."""

    setup: Setup
    app: AppPlan

    @property
    def name(self) -> str:
        """As the progress calls it."""
        return f"what holds on {self.app.name}"

    @property
    def amount(self) -> int:
        """Tasks."""
        return len(listed(self.app, self.setup.size.tasks))

    def run(self, tell: Callable[[int], None]) -> None:
        """Tries them."""
        keep(find_out(self.app, self.setup.devices[self.app.name], self.setup.size.tasks, tell), self.setup.holding_file(self.app))


@dataclass(frozen=True)
class Begin:
    """The policy that all runs begin with, from demonstrations on the mocks and on the real apps."""

    setup: Setup

    @property
    def name(self) -> str:
        """As the progress calls it."""
        return "supervised training"

    @property
    def amount(self) -> int:
        """Tasks to demonstrate, on mocks and on real apps, and epochs."""
        plan = self.setup.plan.sft
        return len(self.setup.parts()["trained"]) * (1 + (plan.real_seeds > 0)) + plan.epochs

    def run(self, tell: Callable[[int], None]) -> None:
        """Trains it, where it is not there yet."""
        setup, plan = self.setup, self.setup.plan.sft
        file = setup.folder / f"{SFT}.pt"
        if file.exists():
            return
        began = perf_counter()
        shown: list[Demonstration] = []
        missing: list[Missing] = []
        taught = [(Teacher(app.env), app.trained) for app in map(setup.opened, setup.plan.trained)]
        for teacher, tasks in taught:
            for task in tasks:
                found, not_found = teacher.show(jobs(task, range(plan.seeds)))
                shown += found
                missing += not_found
                tell(1)
        for found, not_found in self._on_the_real_apps(taught, tell):
            shown += found
            missing += not_found
        network = Network(seed=0)
        epochs = train(network, shown, SftOptions(epochs=plan.epochs, rate=plan.rate, entropy=plan.entropy), tell=lambda _: tell(1))
        told = {
            "demonstrations": {source: sum(d.source == source for d in shown) for source in (MOCK, REAL)},
            "steps": {source: sum(len(d.steps) for d in shown if d.source == source) for source in (MOCK, REAL)},
            "never_shown": sorted({m.task for m in missing} - {d.task for d in shown}), "not_shown": [f"{m.task} seed {m.seed}: {m.why}" for m in missing],
            "loss": epochs[-1].loss, "seconds": perf_counter() - began,
        }  # fmt: skip
        write_atomically(setup.folder / f"{SFT}.json", (json.dumps(told, indent=1) + "\n").encode())
        save(network, file)

    def _on_the_real_apps(self, taught: Sequence[tuple[Teacher, Sequence[Task]]], tell: Callable[[int], None]) -> list[tuple[list[Demonstration], list[Missing]]]:
        seeds = range(self.setup.plan.sft.real_seeds)
        todo = [(teacher, task) for teacher, tasks in taught for task in tasks] if seeds else []
        if not todo:
            return []

        def one(number: int, real: Env[Any]) -> tuple[tuple[list[Demonstration], list[Missing]], bool]:
            teacher, task = todo[number]
            try:
                return teacher.show(jobs(task, seeds), real), False
            except (DeviceError, BrowserError) as e:
                return ([], [Missing(task.id, seed, e.message) for seed in seeds]), True
            finally:
                tell(1)

        place = self.setup.real_apps()
        try:
            return place.each([task.app for _, task in todo], one)
        finally:
            place.close()


@dataclass(frozen=True)
class ScoreBegin:
    """The scores of that policy, on what the runs of one seed are scored on."""

    setup: Setup
    seed: int

    @property
    def name(self) -> str:
        """As the progress calls it."""
        return f"{SFT}-{self.seed}"

    @property
    def amount(self) -> int:
        """Episodes, on the mock and on the real app."""
        return 2 * len(self.setup.scored(self.seed))

    def run(self, tell: Callable[[int], None]) -> None:
        """Scores it."""
        if self.setup.has_scores(SFT, self.seed):
            return
        folder = self.setup.run_folder(SFT, self.seed)
        folder.mkdir(parents=True, exist_ok=True)
        real = self.setup.real_apps()
        try:
            _score(self.setup, folder, load(self.setup.folder / f"{SFT}.pt"), SFT, self.seed, self.setup.mocks(), real, tell)
        finally:
            real.close()


@dataclass(frozen=True)
class RunArm:
    """One run: an arm at a seed, trained and scored."""

    setup: Setup
    arm_name: str
    seed: int

    @property
    def arm(self) -> Arm:
        """How it is trained."""
        return self.setup.size.arms[self.arm_name]

    @property
    def name(self) -> str:
        """As the progress calls it."""
        return f"{self.arm_name}-{self.seed}"

    @property
    def amount(self) -> int:
        """Steps that end it, and episodes that are scored."""
        return (self.arm.real_steps or self.arm.steps or 0) + 2 * len(self.setup.scored(self.seed))

    def run(self, tell: Callable[[int], None]) -> None:
        """Trains and scores it."""
        if self.setup.has_scores(self.arm_name, self.seed):
            return
        setup, arm, rl = self.setup, self.arm, self.setup.plan.rl
        folder, start = setup.run_folder(self.arm_name, self.seed), setup.folder / f"{SFT}.pt"
        network, plays_real = load(start), arm.mixing != Mixing()
        mocks, real = setup.mocks(), setup.real_apps()
        options = RlOptions(
            arm.updates or _NEVER, rl.groups, rl.members, rate=rl.rate, entropy=rl.entropy, mixing=arm.mixing,
            real_steps=arm.real_steps, steps=arm.steps, validate_every=rl.validate_every,
        )  # fmt: skip
        about = {
            "from": sha256(start.read_bytes()).hexdigest(), "arm": arm.model_dump(), "rl": rl.model_dump(), "seed": self.seed,
            "mocks": [mock_digest([app.app / "bundle"]) for app in setup.plan.apps], "tasks": sorted(real.tasks.lengths.items()),
        }  # fmt: skip
        checked = [t for app in map(setup.opened, setup.plan.trained) for t in app.validated]
        run = Run(network, {MOCK: mocks} | ({REAL: real} if plays_real else {}), options, self.seed, Journal(folder, about), validation(mocks, checked))
        clock = _Clock(folder / "times.jsonl", run)

        def after(update: Update) -> None:
            clock.keep(update)
            tell(update.steps.get(REAL, 0) if arm.real_steps else sum(update.steps.values()))

        try:
            run.train(after)
            _lines(folder / "updates.jsonl", [{"arm": self.arm_name, "seed": self.seed, **u.to_json()} for u in run.updates])
            save(network, folder / "policy.pt")
            _score(setup, folder, network, self.arm_name, self.seed, mocks, real, tell)
        finally:
            run.close()
            if not plays_real:
                real.close()


class _Clock:
    """What each update took, in a file beside the run: no number of the run depends on it."""

    def __init__(self, file: Path, run: Run) -> None:
        self._file, self._run = file, run
        self._wall, self._processor = perf_counter(), process_time()
        self._spent = {source: replace(of) for source, of in run.spent.items()}

    def keep(self, update: Update) -> None:
        """Writes down one update."""
        wall, processor = perf_counter(), process_time()
        spent = {source: _less(of, self._spent[source]) for source, of in self._run.spent.items()}
        told = {"update": update.number, "wall_s": wall - self._wall, "processor_s": processor - self._processor, **spent}
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(told) + "\n")
        self._wall, self._processor = wall, processor
        self._spent = {source: replace(of) for source, of in self._run.spent.items()}


def _less(now: Spent, before: Spent) -> dict[str, float]:
    return {name: value - getattr(before, name) for name, value in asdict(now).items()}


def _score(setup: Setup, folder: Path, network: Network, policy: str, seed: int, mocks: Mocks, real: RealApps, tell: Callable[[int], Any]) -> None:
    file, todo = ScoreFile(folder / "scores.jsonl"), setup.scored(seed)
    score(file, policy, network, MOCK, mocks, todo, tell)
    score(file, policy, network, REAL, real, todo, tell)


def _lines(file: Path, lines: list[dict[str, Any]]) -> None:
    write_atomically(file, "".join(json.dumps(line) + "\n" for line in lines).encode())
