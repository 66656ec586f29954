"""What touching anything else does while a field has the focus, whatever is touched."""

from __future__ import annotations

from dataclasses import replace

from phoneworld.compiler.history import Deed, History
from phoneworld.compiler.learned import TOUCHES, ActionClass, RowEffects, Shared
from phoneworld.compiler.row_effects import MOSTLY, RowLearner
from phoneworld.compiler.variable_effects import Learner
from phoneworld.compiler.vocabulary import Cases, Vocabulary
from phoneworld.program.expr import (
    TRUE,
    All,
    Case,
    Const,
    Equal,
    Expr,
    Var,
    same_value,
)  # fmt: skip
from phoneworld.program.template import FOCUS, KEYBOARD


def find_shared(
    vocabulary: Vocabulary,
    screen: str,
    history: History,
    doubtful: frozenset[str],
) -> Shared:
    """Looks at all touches of a screen together: what is the same for most slots is no doing of theirs."""
    by_field: dict[str, list[Deed]] = {}
    for deed in history.deeds:
        focus = str(deed.before.variables.get(FOCUS) or "").partition("#")[0]
        if deed.before.screen == screen and focus and deed.aim.kind in TOUCHES and deed.aim.slot != focus:
            by_field.setdefault(focus, []).append(deed)
    sets: dict[str, Expr] = {}
    inserted: RowEffects | None = None
    used: list[Deed] = []
    for focus, deeds in sorted(by_field.items()):
        if len({d.aim.slot for d in deeds}) < 2 or len(deeds) < 3:
            continue
        left = Equal(Var(FOCUS), Const(focus))
        anywhere = [replace(d, acted={}, table=None) for d in deeds]  # what is shared knows no row
        cases = Cases(vocabulary, ActionClass(screen, "tap", ""), anywhere, doubtful, Shared(screen))
        learner = Learner(cases, {})
        for name in (*vocabulary.names(screen), FOCUS, KEYBOARD):
            chosen, there = learner.choice(name, exceptions=0 if name in (FOCUS, KEYBOARD) else 1)
            if chosen is None or chosen.expr == Var(name) or len(chosen.wrong) > (1 - MOSTLY) * len(there):
                continue
            changed = {
                d.aim.slot
                for i, d in enumerate(there)
                if i not in chosen.wrong and not same_value(d.before.variables.get(name), d.after.variables[name])
            }
            if len(changed) > 1:
                sets[name] = Case(left, chosen.expr, sets.get(name, Var(name)))
                used += there
        for table in history.patterns[screen].tables:
            effects = RowLearner(cases).insertion(table)
            if effects is not None and inserted is None:
                inserted = replace(
                    effects,
                    inserted_when=left
                    if effects.inserted_when in (TRUE, Const(True))
                    else All((left, effects.inserted_when)),
                )
                used += deeds
    return Shared(screen, sets, inserted, tuple({d.name: d for d in used}.values()))
