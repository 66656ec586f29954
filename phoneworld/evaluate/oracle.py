"""The oracle as a policy, and how many actions it needs: what other policies are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from phoneworld.env.policy import Actor
from phoneworld.errors import PhoneWorldError
from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.file import plugged_in
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.oracle import GivenUp, Oracle, Solution
from phoneworld.tasks.task import Setting, Task
from phoneworld.ui.action import Action, Finish


class Solver:
    """Solves tasks on the mock of some bundles by search; what it has solved it knows."""

    def __init__(self, bundles: Sequence[str], tasks: Sequence[Task]) -> None:
        self.phone = Phone([load_bundle(b).program for b in bundles])
        self.tasks = {task.id: task for task in tasks}
        self._oracles: dict[str, Oracle] = {}
        self._settings: dict[str, Setting] = {}
        self._custom = plugged_in()
        self._solved: dict[tuple[str, int], Solution | GivenUp] = {}

    def solve(self, task: str, seed: int) -> Solution | GivenUp:
        """The oracle's way, or why there is none."""
        key = (task, seed)
        if key not in self._solved:
            try:
                self._solved[key] = self._search(task, seed)
            except PhoneWorldError as e:
                self._solved[key] = GivenUp(e.message, 0)
        return self._solved[key]

    def length(self, task: str | None, seed: int) -> int | None:
        """How many actions the oracle needs, its last word included, as a policy's steps are counted."""
        found = None if task not in self.tasks or task is None else self.solve(task, seed)
        return found.length if isinstance(found, Solution) else None

    def _search(self, task: str, seed: int) -> Solution | GivenUp:
        if task not in self.tasks:
            return GivenUp(f"there is no task {task}", 0)
        setting = self._settings.get(task)
        if setting is None:
            setting = self._settings[task] = Setting(self.tasks[task], self.phone)
        if setting.package not in self._oracles:
            self._oracles[setting.package] = Oracle(self.phone, setting.package)
        # The way does not depend on the language: any that the task has will do.
        language = "en" if "en" in self.tasks[task].wordings else next(iter(self.tasks[task].wordings))
        return self._oracles[setting.package].solve(Judge(setting, setting.instance(seed, language), custom=self._custom))


@dataclass(frozen=True, slots=True)
class OraclePolicy:
    """Does what the search finds. Where it finds nothing it says that the task cannot be done."""

    bundles: tuple[str, ...]
    tasks: tuple[Task, ...] = field(hash=False)

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor with the solution in its hand."""
        found = _solver(self).solve(task or "", seed)
        return _Knows(found)


@lru_cache(maxsize=4)
def _solver(policy: OraclePolicy) -> Solver:
    return Solver(policy.bundles, policy.tasks)


class _Knows:
    def __init__(self, found: Solution | GivenUp) -> None:
        self._left = list(reversed(found.actions)) if isinstance(found, Solution) else []
        self.said: str | None = found.reason if isinstance(found, GivenUp) else None

    def act(self, observation: Any, info: Any) -> Action:
        return self._left.pop() if self._left else Finish("infeasible")
