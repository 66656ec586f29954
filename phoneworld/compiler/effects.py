"""What an action does, learned from all the times it was done: where it leads, which variables it sets, what becomes of rows.

Actions are taken together by screen, kind, slot and argument; a slot in a row is one slot, whatever the row. For each thing
that could change, the simplest expression over the state before (and what was typed, and the row acted on) is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from phoneworld.compiler.alike import with_alike
from phoneworld.compiler.anywhere import find_shared
from phoneworld.compiler.derive import Derived
from phoneworld.compiler.history import Deed, History
from phoneworld.compiler.learned import ActionClass, Learned, Shared, class_of
from phoneworld.compiler.links import with_links
from phoneworld.compiler.passing import Passings
from phoneworld.compiler.sharing import handed_over, promoted, settled, swallowed
from phoneworld.compiler.variable_effects import Learner
from phoneworld.compiler.vocabulary import Cases, Vocabulary


def learn(
    history: History,
    derived: Derived,
    stacks: Mapping[str, tuple[str, ...]],
    doubtful: frozenset[str] = frozenset(),
    passings: Passings = Passings(),
) -> dict[ActionClass, Learned]:
    """What each action class does, and what a tap does on slots of which nothing else is known.

    `stacks` is the back stack before each step; `doubtful` names steps and tables (`step table`) not to learn from; what passed by
    itself in a step (`passings`) is nothing that it did.
    """
    history = replace(history, deeds=tuple(_without_passed(d, passings) for d in history.deeds))
    groups: dict[ActionClass, list[Deed]] = {}
    for deed in history.deeds:
        groups.setdefault(class_of(deed), []).append(deed)
    for of, deeds in groups.items():
        groups[of] = [d for d in deeds if not d.is_swallowed] or deeds
    vocabulary = Vocabulary(history, derived, passings)
    shared = {screen: find_shared(vocabulary, screen, history, doubtful) for screen in history.patterns}
    learned = {
        c: Learner(Cases(vocabulary, c, deeds, doubtful, shared[c.screen]), stacks).learned()
        for c, deeds in groups.items()
    }
    vocabulary.handed = handed_over(history, learned)
    for c, what in learned.items():
        if what.rows and any(t in vocabulary.handed.get(c.screen, {}) for t in (r.table for r in what.rows)):
            learned[c] = Learner(Cases(vocabulary, c, groups[c], doubtful, shared[c.screen]), stacks).learned()
    learned = {c: swallowed(what, learned, shared[c.screen]) for c, what in learned.items()}
    learned = {c: promoted(history, derived, what, learned, stacks) for c, what in learned.items()}

    def pooled(of: ActionClass, deeds: list[Deed]) -> Learned:
        return Learner(Cases(vocabulary, of, deeds, doubtful, Shared(of.screen)), stacks).learned()

    learned = with_alike(history, derived, with_links(history, derived, learned, stacks, pooled))
    learned = {c: settled(what, derived) for c, what in learned.items()}
    for screen, pattern in history.patterns.items():
        if not shared[screen].sets and shared[screen].inserted is None:
            continue
        for part in pattern.walk():
            of = ActionClass(screen, "tap", part.key)
            if of not in learned and not part.node.is_editable and not part.node.checkable:
                learned[of] = settled(shared[screen].learned(of), derived)
    return learned


def _without_passed(deed: Deed, passings: Passings) -> Deed:
    passed = passings.gone.get(deed.name)
    return deed if passed is None else replace(deed, after=replace(deed.after, seen=deed.after.seen - passed))
