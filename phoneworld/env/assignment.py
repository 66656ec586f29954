"""A task that an episode is about: drawn by the seed, watched step by step, judged. Knows no particular phone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from phoneworld.errors import SessionError
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.checker import CustomCheck
from phoneworld.tasks.file import load_tasks, plugged_in
from phoneworld.tasks.judge import Judge, Trail, check_plugged_in
from phoneworld.tasks.kept import kept_variables
from phoneworld.tasks.stored import Document, StorageMap
from phoneworld.tasks.task import Instance, Setting, Task
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Status
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

Tasks = Iterable[Task] | str | Path
"""Tasks, or where their files are."""
Storage = tuple[StorageMap, Document, Document]
"""How an app stores things, what it has stored now, and what it had when the episode began."""
_KEPT = 128


@dataclass(frozen=True, slots=True)
class Assignment:
    """An instance and its judge. `on_phone` where only the screen can be seen."""

    instance: Instance
    judge: Judge
    on_phone: bool

    def begin(self) -> Trail:
        """The trail at the start."""
        return self.judge.begin()

    def watch(self, trail: Trail, state: PhoneState) -> Trail:
        """The trail with one more state seen."""
        return self.judge.watch(trail, state)

    def verdict(self, trail: Trail, state: PhoneState, answer: str | None, status: Status) -> Verdict:
        """Judges an episode that ends in a state. Raises CheckerError."""
        return self.judge.verdict(trail, state, answer=answer, status=status)

    def verdict_on_phone(self, trail: Trail, tree: Hierarchy, size: Size, answer: str | None, status: Status, stored: Storage | None = None) -> Verdict:
        """Judges it by what can be seen, and by what the app has stored. Raises CheckerError."""
        known = None
        if stored is not None:
            known = stored[0].read(self.judge.setting.exporter.app(self.instance.start), *stored[1:])
        return self.judge.verdict_on_phone(trail, tree, size, answer=answer, status=status, known=known)


class TaskBook:
    """The tasks that a phone can be given, made ready once each. `phone` is the simulator that parameters are drawn from."""

    def __init__(self, phone: Phone, tasks: Tasks = (), *, on_phone: bool = False) -> None:
        self.phone = phone
        self.on_phone = on_phone
        loaded = load_tasks(tasks) if isinstance(tasks, str | Path) else tuple(tasks)
        self.tasks: dict[str, Task] = {task.id: task for task in loaded}
        self._settings: dict[str, Setting] = {}
        self._kept: dict[str, frozenset[str]] = {}
        self._custom: Mapping[str, CustomCheck] | None = None
        self._assigned: OrderedDict[tuple[str, int, str], Assignment] = OrderedDict()

    def find(self, task: Task | str) -> Task:
        """A task by its id. Raises SessionError with the nearest for one that is not there."""
        if isinstance(task, Task):
            return task
        if task not in self.tasks:
            near = get_close_matches(task, self.tasks, 1)
            hint = f"did you mean {near[0]}?" if near else "pass tasks=... when making the environment"
            raise SessionError(f"no task {task[:80]!r} here", hint=hint)
        return self.tasks[task]

    def check(self) -> None:
        """Raises TaskError, with file and line, for the first task that names what the app, or no plug-in, has."""
        for task in self.tasks.values():
            self._setting(task)
            for checker in (task.check, task.look, task.on_phone):
                if checker is not None:
                    check_plugged_in(checker, self._plugged_in(), task)

    def _setting(self, task: Task) -> Setting:
        setting = self._settings.get(task.id)
        if setting is None or setting.task is not task:
            package = task.package or self.phone.main
            if package in self.phone.models and package not in self._kept:
                self._kept[package] = kept_variables(self.phone.models[package].program)
            setting = self._settings[task.id] = Setting(task, self.phone, kept=self._kept.get(package))
        return setting

    def _plugged_in(self) -> Mapping[str, CustomCheck]:
        if self._custom is None:
            self._custom = plugged_in()
        return self._custom

    def assign(self, task: Task | str, seed: int, language: str) -> Assignment:
        """What a seed draws of a task. Raises SessionError for an unknown one, TaskError where it does not fit the app."""
        task = self.find(task)
        known = self._assigned.get((task.id, seed, language))
        if known is not None and known.instance.task is task:
            # A group begins one episode many times.
            self._assigned.move_to_end((task.id, seed, language))
            return known
        setting = self._setting(task)
        instance = setting.instance(seed, language)
        made = Assignment(instance, Judge(setting, instance, custom=self._plugged_in(), on_phone=self.on_phone), self.on_phone)
        self._assigned[task.id, seed, language] = made
        if len(self._assigned) > _KEPT:
            self._assigned.popitem(last=False)
        return made
