"""What an action does to variables, and where it leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phoneworld.compiler.choose import Choice, Example, choose
from phoneworld.compiler.history import Deed
from phoneworld.compiler.learned import BELOW, Learned, RowEffects, scope_of
from phoneworld.compiler.modes import MODE
from phoneworld.compiler.passing import rises
from phoneworld.compiler.row_effects import RowLearner
from phoneworld.compiler.vocabulary import FEW_VALUES, Cases
from phoneworld.program.expr import (
    Acted,
    Case,
    Const,
    Expr,
    Join,
    Not,
    Plus,
    Trim,
    Var,
    same_value,
)  # fmt: skip
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Scope, is_whole


class Learner:
    """Looks for what a class of actions does: where it leads, and what it sets."""

    def __init__(self, cases: Cases, stacks: Mapping[str, tuple[str, ...]]) -> None:
        self._cases = cases
        self._rows = RowLearner(cases)
        self._v = cases.vocabulary
        self._of = cases.of
        self._deeds = cases.deeds
        self._stacks = stacks

    def learned(self) -> Learned:
        """All that the class of actions does."""
        leads = self._leads()
        sets: dict[str, Expr] = {}
        rows: list[RowEffects] = []
        afters = {d.after.screen for d in self._deeds}
        names = {n for screen in afters for n in (*self._v.names(screen), *self._v.past.get(screen, ()))} | {FOCUS, KEYBOARD}
        for name in sorted(names):
            expr = self._set(name)
            if expr is not None and expr != Var(name):
                sets[name] = expr
        for name in sorted(names):
            passing = self._v.passings.inside(name)
            if passing is not None and name in sets:
                comes = rises(sets.get(passing.variable, Var(passing.variable)), passing.variable)
                sets[name] = sets[name] if comes == Const(True) else Case(comes, sets[name], Var(name))
        tables = sorted({t for d in self._deeds for t in d.after.tables})
        for table in tables:
            effects = self._rows.effects(table)
            if effects is not None:
                rows.append(effects)
        return Learned(self._of, self._deeds, leads, sets, tuple(rows), frozenset(self._cases.wrong))

    # Where it leads

    def _leads(self) -> Expr:
        examples = []
        for deed in self._deeds:
            stack = self._stacks.get(deed.name, ())
            scope = Scope(
                {**deed.before.variables, BELOW: stack[-1] if stack else None},
                deed.before.tables,
                deed.aim.typed,
                acted=deed.acted,
            )
            examples.append(Example(scope, deed.after.screen))
        options: list[Expr] = [Const(s) for s in sorted({d.after.screen for d in self._deeds})]
        if all(self._stacks.get(d.name) for d in self._deeds) and any(
            d.after.screen != d.before.screen for d in self._deeds
        ):
            options.append(Var(BELOW))
        chosen = choose(examples, options, self._cases.conditions)
        assert chosen is not None
        self._cases.note(self._deeds, chosen)
        return chosen.expr

    # Variables

    def _set(self, name: str) -> Expr | None:
        chosen, deeds = self.choice(name)
        if chosen is None:
            return None
        self._cases.note(deeds, chosen)
        return chosen.expr

    def choice(self, name: str, exceptions: int = 2) -> tuple[Choice | None, list[Deed]]:
        """What a variable becomes, and the steps after which it was seen. No choice where it never changed."""
        deeds = [d for d in self._deeds if name in d.after.seen]
        passing = self._v.passings.inside(name)
        if passing is not None:
            # What is in a part that comes does not depend on what was in it when it was there before.
            deeds = [d for d in deeds if passing.variable in self._v.passings.came.get(d.name, ())]
        expected = self._cases.shared.sets.get(name) or self._toggle(name)
        if name.endswith(MODE):
            filter_ = next(f for f in self._v.history.filters.values() if name in f.past)
            expected = filter_.after_switch(name, self._of.slot) if self._of.kind == "tap" else None
            if expected is None and not self._cases.leaves_mode(filter_):
                return None, deeds
            if expected is None and self._of.kind == "key":
                expected = filter_.after_return(name)
        if not deeds:
            return None, deeds
        if expected is None and passing is None and all(
            same_value(d.before.variables.get(name, _UNKNOWN), d.after.variables[name]) for d in deeds
        ):
            return None, deeds
        examples = [Example(scope_of(d), d.after.variables[name]) for d in deeds]
        return choose(examples, self._values(name, examples), self._cases.conditions, exceptions, expected), deeds

    def _toggle(self, name: str) -> Expr | None:
        """What a tap on a box that can be ticked is expected to do to it."""
        if self._of.kind != "tap" or name != self._v.history.variable(self._of.screen, self._of.slot, "checked"):
            return None
        return None if self._cases.is_radio() else Not(Var(name))

    def _values(self, name: str, examples: Sequence[Example]) -> list[Expr]:
        values = {(type(e.value), e.value) for e in examples}
        options: list[Expr] = [] if self._v.passings.inside(name) else [Var(name)]
        if len(values) <= FEW_VALUES:
            options += [Const(v) for _, v in sorted(values, key=repr)]
        if name.endswith(MODE):
            return options
        kinds = {t for t, _ in values}
        if bool in kinds:
            options.append(Not(Var(name)))
        if name == FOCUS:
            slots = {str(v).partition("#")[0] for _, v in values if isinstance(v, str) and "#" in str(v)}
            options += [Join((Const(f"{slot}#"), Acted(ROW_ID))) for slot in sorted(slots)]
            return options
        if str in kinds:
            options += self._cases.typed()
            if self._of.kind == "key":
                options.append(Join((Var(name), Const("\n"))))
        if kinds & {str, bool}:
            wanted = str if str in kinds else bool
            for other in self._v.sources(self._of.screen):
                if other != name and any(isinstance(v, wanted) for v in self._v.values.get(other, ())):
                    options += [Var(other), Trim(Var(other))] if wanted is str else [Var(other), Not(Var(other))]
            options += self._cases.cells(wanted)
        if str in kinds:
            options += self._cases.composed(examples)
        if int in kinds or any(is_whole(v) for _, v in values):
            options += [Plus(Var(name), 1), Plus(Var(name), -1)]
        return options


_UNKNOWN = "\0unknown"
