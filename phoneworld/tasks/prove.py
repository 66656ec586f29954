"""Is the question a good one? Each task is solved by the oracle, and its checker has to refuse what is not quite that.

For every seed: the oracle's run passes, through coordinates in thousandths of the screen, as agents say them; doing nothing fails; each part
of the run fails; each thing undone, done to another, misspelt, one field off fails; the right result with something beside it fails; what
solves another task fails; random episodes fail but for one in a hundred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phoneworld.errors import PhoneWorldError
from phoneworld.program.program import STRENGTH, EvidenceKind, weakest
from phoneworld.sim.phone import Phone
from phoneworld.tasks.checker import CustomCheck
from phoneworld.tasks.differences import differences
from phoneworld.tasks.episode import Episode, run
from phoneworld.tasks.explore import Walks
from phoneworld.tasks.judge import NO_CHECKS, Judge
from phoneworld.tasks.kept import kept_variables
from phoneworld.tasks.mutants import Ending, Kind, Mutant, Mutator
from phoneworld.tasks.oracle import EFFORT, GivenUp, Oracle, Solution
from phoneworld.tasks.task import Setting, Task
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Action, Answer, Finish, action_from_json, action_to_json

SEEDS = 5
RANDOM = 200
FEWEST = 20
NEIGHBOURS = 6
"""How many of the tasks that come after one, the first after the last, try their solutions on its checker."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A wrong ending that the checker took for right: the seed, what was wrong with it."""

    seed: int
    kind: Kind
    words: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What was tried on a task and what came of it. `faults` are the reasons why it is not proved; none where it is.

    `equivalent` are wrong-looking endings that were shown to be right ones. `random` are the passes of random episodes, and how many there
    were. `evidence` is the weakest of what the oracle's steps rest on.
    """

    task: str
    seeds: tuple[int, ...]
    lengths: tuple[int, ...]
    evidence: EvidenceKind
    screens: int
    mutants: Mapping[str, int]
    killed: int
    equivalent: tuple[Survivor, ...]
    survivors: tuple[Survivor, ...]
    random: tuple[int, int]
    faults: tuple[str, ...]

    @property
    def proved(self) -> bool:
        """True where nothing speaks against the task."""
        return not self.faults

    @property
    def kill_rate(self) -> float:
        """The share of wrong endings that the checker refuses; 1.0 where there were none."""
        of = self.killed + len(self.survivors)
        return self.killed / of if of else 1.0

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "task": self.task, "proved": self.proved, "faults": list(self.faults), "seeds": list(self.seeds), "oracle": list(self.lengths),
            "evidence": self.evidence, "screens": self.screens, "mutants": dict(self.mutants), "killed": self.killed, "kill_rate": self.kill_rate,
            "equivalent": [f"seed {s.seed}, {s.kind}: {s.words}" for s in self.equivalent],
            "survivors": [f"seed {s.seed}, {s.kind}: {s.words}" for s in self.survivors], "random_passes": list(self.random),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Solved:
    seed: int
    judge: Judge
    solution: Solution
    episode: Episode


class Prover:
    """Proves tasks of one phone; what it solves of one serves as a neighbour of the next."""

    def __init__(self, phone: Phone, tasks: Sequence[Task], *, custom: Mapping[str, CustomCheck] = NO_CHECKS, effort: int = EFFORT) -> None:
        self.phone = phone
        self.tasks = tuple(tasks)
        self.custom = custom
        self.effort = effort
        self._oracles: dict[str, Oracle] = {}
        self._walks: dict[str, Walks] = {}
        self._kept: dict[str, frozenset[str]] = {}
        self._solved: dict[tuple[str, int], tuple[Task, _Solved | str]] = {}

    def setting(self, task: Task) -> Setting:
        """The task on the phone."""
        package = task.package or self.phone.main
        if package not in self._kept and package in self.phone.models:
            self._kept[package] = kept_variables(self.phone.models[package].program)
        return Setting(task, self.phone, kept=self._kept.get(package))

    def oracle(self, package: str) -> Oracle:
        """The oracle of one app."""
        if package not in self._oracles:
            self._oracles[package] = Oracle(self.phone, package)
            self._walks[package] = Walks(self._oracles[package])
        return self._oracles[package]

    def solved(self, task: Task, seed: int, setting: Setting | None = None) -> _Solved | str:
        """The oracle's run of a task at a seed, acted through coordinates; or why there is none."""
        known = self._solved.get((task.id, seed))
        # One id may be tried for several tasks, one after the other, while tasks are made.
        if known is None or known[0] is not task:
            known = self._solved[task.id, seed] = (task, self._solve(task, seed, setting))
        return known[1]

    def _solve(self, task: Task, seed: int, setting: Setting | None) -> _Solved | str:
        try:
            setting = setting or self.setting(task)
            judge = Judge(setting, setting.instance(seed), custom=self.custom)
            found = self.oracle(setting.package).solve(judge, effort=self.effort)
            if isinstance(found, GivenUp):
                return f"the oracle gave up: {found.reason}"
            episode = run(judge, through_coordinates(self.phone, found.actions))
        except PhoneWorldError as e:
            return f"{e.message}; {e.hint}" if e.hint else e.message
        return _Solved(seed, judge, found, episode)

    def prove(self, task: Task, *, seeds: int = SEEDS, random: int = RANDOM) -> Proof:
        """Tries the task at so many seeds, and its checker on all that is wrong."""
        faults: list[str] = []
        solved: list[_Solved] = []
        try:
            setting = self.setting(task)
        except PhoneWorldError as e:
            return Proof(task.id, (), (), "unrecorded", 0, {}, 0, (), (), (0, 0), (f"{e.message}; {e.hint}",))
        for seed in range(seeds):
            one = self.solved(task, seed, setting)
            if isinstance(one, str):
                faults.append(f"seed {seed}: {one}")
            else:
                solved.append(one)
        counts: Counter[str] = Counter()
        killed, equivalent, survivors = 0, list[Survivor](), list[Survivor]()
        passes, episodes = 0, 0
        for one in solved:
            faults += self._right(one)
            for mutant in self._mutants(one, solved):
                verdict = self._judged(one, mutant)
                if isinstance(verdict, str):
                    faults.append(f"seed {one.seed}: {verdict}")
                    continue
                counts[mutant.kind] += 1
                if verdict.success is not True:
                    killed += 1
                elif why := self._equivalent(one, mutant):
                    equivalent.append(Survivor(one.seed, mutant.kind, f"{mutant.words}: {why}"))
                else:
                    survivors.append(Survivor(one.seed, mutant.kind, mutant.words))
            found, of = self._random(one, random // max(1, len(solved)))
            passes, episodes = passes + found, episodes + of
        faults += _judgement(solved, counts, survivors, passes, episodes)
        lengths = tuple(one.solution.length for one in solved)
        evidence = weakest(*(one.solution.evidence for one in solved)) if solved else "unrecorded"
        screens = min((len(set(one.solution.screens)) for one in solved), default=0)
        seeds_done = tuple(one.seed for one in solved)
        rounded = dict(sorted(counts.items()))
        return Proof(task.id, seeds_done, lengths, evidence, screens, rounded, killed, tuple(equivalent), tuple(survivors), (passes, episodes), tuple(faults))

    def _right(self, one: _Solved) -> Iterator[str]:
        """What is wrong with the right run."""
        if one.episode.verdict.success is not True:
            yield f"seed {one.seed}: the oracle's run does not pass when it is said in coordinates"
        if STRENGTH[one.episode.evidence] == 0:
            yield f"seed {one.seed}: the oracle's run crosses what was not recorded"
        if one.episode.ending not in ("finish", "answer"):
            yield f"seed {one.seed}: the oracle needs {one.solution.length} actions, the budget is {one.judge.instance.task.budget}"

    # What is wrong

    def _mutants(self, one: _Solved, solved: Sequence[_Solved]) -> Iterator[Mutant]:
        right = _ending(one.judge, one.episode.actions)
        yield from Mutator(one.judge, right).all()
        acting = [a for a in one.episode.actions if not isinstance(a, Answer | Finish)]
        for n in range(1, len(acting) + (right.answer is not None)):
            yield Mutant("prefix", f"only the first {n} of {len(acting)} actions", _ending(one.judge, (*acting[:n], Finish())))
        for other in solved:
            if other is not one and other.judge.instance.values != one.judge.instance.values:
                words = f"what seed {other.seed} asks: {other.judge.instance.instruction}"
                yield Mutant("entity", words, _ending(one.judge, other.episode.actions), asks(other.judge))
        yield from self._neighbours(one)

    def _neighbours(self, one: _Solved) -> Iterator[Mutant]:
        task = one.judge.instance.task
        place = next((i for i, other in enumerate(self.tasks) if other.id == task.id), 0)
        others = [*self.tasks[place + 1 :], *self.tasks[:place]]
        near = [t for t in others if t.start == task.start and t.package == task.package and t.id != task.id]
        for other in near[:NEIGHBOURS]:
            found = self.solved(other, one.seed)
            if isinstance(found, _Solved):
                yield _neighbour(one, found)

    def takes(self, task: Task, other: Task, *, seeds: int = SEEDS) -> bool:
        """True where the checker of one task takes what solves another for its own, at any of so many seeds."""
        for seed in range(seeds):
            one, found = self.solved(task, seed), self.solved(other, seed)
            if isinstance(one, _Solved) and isinstance(found, _Solved):
                mutant = _neighbour(one, found)
                verdict = self._judged(one, mutant)
                if isinstance(verdict, str) or (verdict.success is True and not self._equivalent(one, mutant)):
                    return True
        return False

    def _judged(self, one: _Solved, mutant: Mutant) -> Verdict | str:
        try:
            return one.judge.verdict(mutant.ending.trail, mutant.ending.state, answer=mutant.ending.answer)
        except PhoneWorldError as e:
            return f"the checker fails on {mutant.words}: {e.message}"

    def _equivalent(self, one: _Solved, mutant: Mutant) -> str:
        """Why an ending that passes is as right as the oracle's; "" where it is not."""
        right = _ending(one.judge, one.episode.actions)
        app = one.judge.setting.exporter.app
        kept = sorted(one.judge.setting.kept)
        if right.answer != mutant.ending.answer:
            return ""
        apart = differences(app(right.state), app(mutant.ending.state), kept)
        if not apart and (mutant.kind == "neighbour" or (mutant.kind == "entity" and mutant.asks == asks(one.judge))):
            return "it leaves everything as the right run does"
        return ""

    def _random(self, one: _Solved, count: int) -> tuple[int, int]:
        """How many random episodes pass, and how many there were."""
        judge = one.judge
        passes = 0
        walks = self._walks[judge.setting.package].of(judge.instance.start, one.seed, count)
        for walk in walks:
            trail = judge.begin()
            if judge.watches:
                for state in walk.states[1:]:
                    trail = judge.watch(trail, state)
            verdict = judge.verdict(trail, walk.states[-1], answer=walk.read)
            passes += verdict.success is True
        return passes, len(walks)


def _judgement(solved: Sequence[_Solved], counts: Counter[str], survivors: Sequence[Survivor], passes: int, episodes: int) -> Iterator[str]:
    if not solved:
        return
    for survivor in survivors:
        yield f"seed {survivor.seed}: the checker takes a wrong ending ({survivor.kind}): {survivor.words}"
    if sum(counts.values()) < FEWEST:
        yield f"only {sum(counts.values())} wrong endings could be made, {FEWEST} are needed"
    missing = [kind for kind in ("nothing", "dropped", "entity", "extra") if not counts[kind]]
    if not counts["value"] and not counts["field"] and not counts["neighbour"]:
        missing.append("value")
    if missing:
        yield "no wrong endings of these kinds could be made: " + ", ".join(missing)
    if passes * 100 > episodes:
        yield f"{passes} of {episodes} random episodes pass, more than one in a hundred"


def asks(judge: Judge) -> tuple[str, ...]:
    """What an instance asks for, whatever the order in which it names it: where two ask for other things, one state cannot be right for both."""
    return tuple(sorted(repr(value) for value in judge.instance.values.values()))


def _neighbour(one: _Solved, other: _Solved) -> Mutant:
    """What solves another task, as an ending of this one."""
    return Mutant("neighbour", f"{other.judge.instance.task.id}: {other.judge.instance.instruction}", _ending(one.judge, other.episode.actions))


def _ending(judge: Judge, actions: Sequence[Action]) -> Ending:
    """Where these actions lead from the start of an instance."""
    state, trail, answer = judge.instance.start, judge.begin(), None
    for action in actions:
        state = judge.setting.phone.step(state, action).state
        trail = judge.watch(trail, state)
        if isinstance(action, Answer):
            answer = action.text
    return Ending(state, trail, answer)


def through_coordinates(phone: Phone, actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions as an agent would say them, in thousandths of the screen, and read again."""
    size = phone.size
    return tuple(action_from_json(action_to_json(a, space="thousand", size=size), size=size) for a in actions)
