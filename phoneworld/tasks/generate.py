"""Tasks made from a Program: what can be asked of it, alone and together, in the words of the app; each proved before it is given out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from random import Random

from phoneworld.errors import PhoneWorldError
from phoneworld.program.expr import Value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.atoms import WORDS, Atoms
from phoneworld.tasks.checker import AllOf, Answer, Checker, Rows, Unchanged, Visible, bound, walk
from phoneworld.tasks.ground import Atom, Ground
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.oracle import GivenUp, Oracle
from phoneworld.tasks.prove import NEIGHBOURS, Proof, Prover
from phoneworld.tasks.sights import sight
from phoneworld.tasks.task import Category, Found, Instance, OneOf, Parameter, RowOf, Setting, Start, Tags, Task
from phoneworld.ui.action import Action, Finish

SHORTEST = 3
"""How many actions the oracle needs at least, its closing word not counted unless it is an answer."""
READING = 0.4
"""The share of tasks that need two screens or more and a value that is read on one of them."""
_CONDITION = re.compile("if |如果")
_SIZES = (1, 2, 3)
_READS_FIRST = 0.7
_ALONE = 0.6
"""At most that share asks for one thing only."""
_ROWS = 4
"""How many rows a list has at least that tasks are about."""
_TRIES = 12
"""How many compositions are tried for each task that is wanted."""


@dataclass(slots=True)
class Generated:
    """What came of it: the tasks with their proofs, and why others were dropped, counted."""

    tasks: list[Task] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    reading: int = 0
    atoms: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Generator:
    """Makes tasks for one app on a phone. The same arguments, the same tasks."""

    def __init__(self, phone: Phone, app: str, *, seed: int = 0, effort: int = 150, category: Category = "app") -> None:
        self.phone = phone
        self.app = app
        self.category: Category = category
        self.dice = Random(f"tasks {seed}")
        self.effort = effort
        self.oracle = Oracle(phone)
        self.program = phone.models[phone.main].program
        self.start = Start()
        self.prover = Prover(phone, (), effort=effort)
        self._allowed: dict[str, tuple[str, ...] | None] = {}
        self.atoms = Atoms(Ground(self.program, phone.reset().apps[phone.main], self.oracle.influence))
        filled = self._filled()
        if filled is not None:
            self.start = filled
            setting = Setting(Task(f"{app}/start-v1", {"en": ("-",)}, AllOf(()), start=filled, names=self.atoms.names), phone)
            self.atoms = Atoms(Ground(self.program, setting.exporter.app(setting.instance().start), self.oracle.influence, named=self.atoms.names))

    def _filled(self) -> Start | None:
        """A start with some rows, where the app begins with none: put in as a user would, one after the other."""
        tables: list[tuple[str, tuple[tuple[tuple[str, Value], ...], ...]]] = []
        actions: list[Action] = []
        for atom in self.atoms.all():
            aim = atom.check
            if atom.skill != "create" or not isinstance(aim, Rows) or any(name == aim.table for name, _ in tables):
                continue
            own = self.atoms.names.table(aim.table)
            if self.phone.reset().apps[self.phone.main].tables.get(own):
                continue
            state, done = self._with_rows(atom, _ROWS)
            rows = state.apps[self.phone.main].tables.get(own, ())
            if len(rows) < _ROWS:
                continue
            tables.append((aim.table, tuple(tuple((c, v) for c, v in row.items() if c != ROW_ID and v is not None) for row in rows)))
            actions += done
        return Start(tables=tuple(tables), on_phone=tuple(actions)) if tables else None

    def _with_rows(self, atom: Atom, count: int) -> tuple[PhoneState, tuple[Action, ...]]:
        """The phone once a user has added so many rows, and what the user did."""
        setting = Setting(self._composed((atom,), 0), self.phone)
        state = self.phone.reset()
        actions: list[Action] = []
        for word in WORDS[:count]:
            instance = setting.instance()
            names = [name for name, parameter in atom.parameters.items() if isinstance(parameter, OneOf)]
            assert atom.check is not None
            check = bound(atom.check, dict.fromkeys(names, word))
            found = self.oracle.solve(Judge(setting, replace(instance, checker=check, start=state)), effort=self.effort)
            if isinstance(found, GivenUp):
                break
            for action in found.actions[:-1]:
                state = self.phone.step(state, action).state
                actions.append(action)
        return state, tuple(actions)

    def make(self, count: int) -> Generated:
        """So many tasks, or as many as can be made and proved."""
        out = Generated()
        usable = [atom for atom in self.atoms.all() if self._usable(atom, out)]
        usable += [atom for atom in self.atoms.decided(usable) if self._usable(atom, out)]
        out.atoms = len(usable)
        seen: set[str] = set()
        said: set[str] = set()
        plain = 0
        for group in self._compositions(usable, count):
            if len(out.tasks) >= count:
                break
            reads = any(atom.reads for atom in group)
            if not reads and plain >= count - round(count * READING):
                continue
            key = " & ".join(sorted(atom.key for atom in group))
            if key in seen:
                continue
            seen.add(key)
            task = self._composed(group, len(out.tasks) + 1)
            proof, why = self._tried(task, said)
            if proof is None:
                out.dropped[why] += 1
                continue
            lengths = proof.lengths
            tags = replace(task.tags, difficulty=max(lengths))
            task = replace(task, tags=tags, budget=max(10, 3 * max(lengths)))
            out.tasks.append(task)
            out.proofs.append(proof)
            both = reads and proof.screens >= 2
            out.reading += both
            plain += not both
        return out

    def _usable(self, atom: Atom, out: Generated) -> bool:
        """True where the atom alone can be solved; then what it changes by the way is known too."""
        task = self._composed((atom,), 0)
        try:
            self._allowed[atom.key] = self._by_the_way(task, atom)
        except PhoneWorldError as e:
            self._allowed[atom.key] = None
            out.dropped[f"nothing can be drawn for it: {e.message.partition(':')[2] or e.message}"] += 1
        if self._allowed[atom.key] is None:
            out.dropped["no way was found to do it"] += 1
            return False
        return True

    def _by_the_way(self, task: Task, atom: Atom) -> tuple[str, ...] | None:
        """What the app itself changes on the shortest way, beside what is asked for; None where there is no way, or the words make no sense there.

        Only what changes in other tables than the goal's: what the goal's own rows may do is said by the checker. That rows come or go by the
        way is no part of any task.
        """
        strict = self._surplus(task, atom)
        return strict if strict is not None else self._surplus(replace(task, unchanged=replace(task.unchanged, on=False)), atom)

    def _surplus(self, task: Task, atom: Atom) -> tuple[str, ...] | None:
        setting = Setting(task, self.phone)
        allowed: set[str] = set()
        for seed in (0, 1):
            judge = Judge(setting, setting.instance(seed))
            found = self.oracle.solve(judge, effort=self.effort)
            if isinstance(found, GivenUp):
                return None
            mine = {setting.task.names.table(node.table) for node in walk(judge.checker) if isinstance(node, Rows)}
            state, trail = judge.instance.start, judge.begin()
            seen = atom.before is None
            for action in found.actions:
                seen = seen or self._sees(state, atom.before)
                state = self.phone.step(state, action).state
                trail = judge.watch(trail, state)
            for d in judge.verdict(trail, state).surplus:
                if d.table in mine or d.kind in ("added", "deleted"):
                    return None
                allowed.add(task.names.variable_called(d.column) if d.kind == "variable" else task.names.called(d.table))
            if not seen:
                return None
        return tuple(sorted(allowed))

    def _sees(self, state: PhoneState, asked: Visible | None) -> bool:
        view = self.phone.look(state)
        return asked is not None and sight(asked, view.hierarchy, view.size).holds is True

    # Putting together

    def _compositions(self, atoms: Sequence[Atom], wanted: int) -> Iterator[tuple[Atom, ...]]:
        """Groups of atoms that do not get in each other's way: some of each kind alone, then pairs and threes as the dice fall."""
        if not atoms:
            return
        by_skill: dict[str, list[Atom]] = {}
        for atom in atoms:
            by_skill.setdefault(atom.skill, []).append(atom)
        singles = [atom for one_each in zip_longest(*by_skill.values()) for atom in one_each if atom is not None]
        yield from ((atom,) for atom in singles[: max(1, round(wanted * _ALONE))])
        reading = {skill: some for skill, of in by_skill.items() if (some := [atom for atom in of if atom.reads])}
        for _ in range(wanted * _TRIES):
            size = self.dice.choice(_SIZES[1:])
            group: list[Atom] = []
            pool = reading if reading and self.dice.random() < _READS_FIRST else by_skill
            for _ in range(size * 4):
                kinds = pool if not group else by_skill
                atom = self.dice.choice(kinds[self.dice.choice(sorted(kinds))])
                if len(group) < size and _fits(atom, group):
                    group.append(atom)
            if len(group) > 1:
                yield tuple(sorted(group, key=lambda a: (isinstance(a.check, Answer), a.last)))

    def _composed(self, group: Sequence[Atom], number: int) -> Task:
        parameters: dict[str, Parameter] = {}
        clauses: dict[str, list[str]] = {"en": [], "zh": []}
        checks: list[Checker] = []
        looks: list[Checker] = []
        rows: dict[str, list[str]] = {}
        allowed: set[str] = set()
        watched: list[str] = []
        for i, atom in enumerate(group, 1):
            suffix = str(i) if len(group) > 1 else ""
            new = {name: f"{name}{suffix}" for name in atom.parameters}
            for name, parameter in atom.parameters.items():
                made = _renamed_parameter(parameter, new)
                if isinstance(made, RowOf):
                    if not _decided(made):
                        made = replace(made, unlike=tuple(rows.get(made.table, ())))
                    rows.setdefault(made.table, []).append(new[name])
                parameters[new[name]] = made
            clauses["en"].append(_renamed(atom.en, new))
            clauses["zh"].append(_renamed(atom.zh, new))
            values = _Renaming(new)
            if atom.check is not None:
                checks.append(bound(atom.check, values))
            if atom.look is not None:
                looks.append(bound(atom.look, values))
            allowed.update(self._allowed.get(atom.key) or ())
            watched += [name for name in map(self.atoms.names.variable_called, atom.watch) if name not in watched]
        goal = {table for check in checks for node in walk(check) if isinstance(node, Rows) for table in (node.table,)}
        check = checks[0] if len(checks) == 1 else AllOf(tuple(checks))
        look = AllOf(tuple(looks)) if looks else None
        wordings = {language: (_sentence(language, said),) for language, said in clauses.items()}
        skills = tuple(dict.fromkeys(atom.skill for atom in group))
        return Task(
            f"{self.app}/{'-'.join(skills)}-{number}-v1", wordings, check, parameters, self.start, Unchanged(tuple(sorted(allowed - goal)), tuple(watched)), budget=60,
            tags=Tags(self.category, skills), names=self.atoms.names, look=look,
        )  # fmt: skip

    def _tried(self, task: Task, said: set[str]) -> tuple[Proof | None, str]:
        """The proof of a task, or why it is dropped. A first look at one seed spares most of the work."""
        first = self.prover.solved(task, 0)
        if isinstance(first, str):
            return None, "no way was found to do it together"
        acting = sum(not isinstance(a, Finish) for a in first.solution.actions)
        if acting < SHORTEST:
            return None, f"done in fewer than {SHORTEST} actions"
        instruction = first.judge.instance.instruction
        if instruction in said:
            return None, "said before"
        leaked = leaks(first.judge.instance)
        if leaked:
            return None, "its words show a name of the inside"
        # A task's neighbours are those after it in the file: for the last one the first, and this one for those just before it.
        before = self.prover.tasks
        self.prover.tasks = (*before, task)
        proof = self.prover.prove(task)
        if not proof.proved:
            self.prover.tasks = before
            return None, f"not proved: {re.sub(r'[“(0-9].*', '…', proof.faults[0].partition(': ')[2])}"
        if any(self.prover.takes(other, task) for other in before[-NEIGHBOURS:]):
            self.prover.tasks = before
            return None, "what solves it serves a task before it too"
        said.add(instruction)
        return proof, ""


def leaks(instance: Instance) -> str:
    """A name of the Program's inside that an instruction shows, which no user of the app would know; "" where it shows none."""
    names = instance.task.names
    inside = {t.table for t in names.tables.values()} | {c for t in names.tables.values() for c in t.columns.values()} | set(names.variables.values())
    return next((name for name in sorted(inside) if len(name) > 3 and name in instance.instruction), "")


def _fits(atom: Atom, group: Sequence[Atom]) -> bool:
    """True where an atom can be asked together with others: other things are touched, one answer is given, at the end one page is open."""
    answers = isinstance(atom.check, Answer) and any(isinstance(other.check, Answer) for other in group)
    if answers or any(atom.key == other.key for other in group):
        return False
    clash = {t for t in atom.touches if not t.endswith(" row")}
    if any(clash & other.touches for other in group):
        return False
    # What is read or counted must not be what another part changes.
    mine = {p.table for p in atom.parameters.values() if isinstance(p, RowOf)}
    for other in group:
        theirs = {p.table for p in other.parameters.values() if isinstance(p, RowOf)}
        if mine & theirs and (atom.reads or other.reads) and (_counts(atom) or _counts(other)):
            return False
    return True


def _counts(atom: Atom) -> bool:
    """True for what looks at more than its own row."""
    return atom.skill in ("count", "compare") or any(isinstance(p, Found) and "tables." in p.path for p in atom.parameters.values())


def _decided(parameter: RowOf) -> bool:
    """True for a row that is told by others, so that it is not to be another than they are."""
    return "$" in parameter.where


class _Renaming(dict[str, Value]):
    """Parameters for others of another name: `{x.title}` becomes `{x2.title}`."""

    def __init__(self, new: Mapping[str, str]) -> None:
        super().__init__()
        self._new = new

    def __contains__(self, name: object) -> bool:
        return str(name).partition(".")[0] in self._new

    def __missing__(self, name: str) -> Value:
        head, dot, rest = name.partition(".")
        return f"{{{self._new[head]}{dot}{rest}}}"


def _renamed(text: str, new: Mapping[str, str]) -> str:
    return re.sub(r"\{([a-z]+)", lambda m: "{" + new.get(m[1], m[1]), text)


def _renamed_parameter(parameter: Parameter, new: Mapping[str, str]) -> Parameter:
    def path(text: str) -> str:
        return re.sub(r"\$([a-z]+)", lambda m: "$" + new.get(m[1], m[1]), text)

    match parameter:
        case RowOf():
            return replace(parameter, where=path(parameter.where), unlike=tuple(new.get(name, name) for name in parameter.unlike))
        case Found(text):
            return Found(path(text))
        case _:
            return parameter


def _sentence(language: str, clauses: Sequence[str]) -> str:
    """The clauses as sentences: what hangs on a condition has one of its own."""
    said: list[list[str]] = []
    for clause in clauses:
        if not said or _CONDITION.match(clause) or _CONDITION.match(said[-1][-1]):
            said.append([])
        said[-1].append(clause)
    several = len(clauses) > 1
    sentences = [_joined(language, of, finally_=several and i == len(said) - 1, several=len(said) > 1 and i > 0) for i, of in enumerate(said)]
    return (" " if language == "en" else "").join(sentences)


def _joined(language: str, clauses: Sequence[str], *, finally_: bool, several: bool) -> str:
    *before, last = clauses
    if language == "zh":
        word = "最后" if finally_ and not last.startswith("最后") and not _CONDITION.match(last) else ""
        return "\uff0c".join([*before, word + last]) + "。"
    said = last if not before else ", ".join(before) + f", and {'finally ' if finally_ and len(clauses) > 2 else ''}{last}"
    said = f"then {said}" if several and not _CONDITION.match(said) else said
    return said[0].upper() + said[1:] + "."
