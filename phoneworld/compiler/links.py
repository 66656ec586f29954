"""The same widget on several screens: what a link of a frame (a bar of tabs, a menu) does on one page, it does on all.

A server draws such a link anew on each page, and a recording tries it on a few. Where it led to one and the same screen from
several, all those steps are cases of one action. Where it always led to the page below ("up"), it does
so on all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from phoneworld.compiler.derive import Derived
from phoneworld.compiler.history import Deed, History
from phoneworld.compiler.learned import BELOW, TOUCHES, ActionClass, Learned
from phoneworld.compiler.sharing import explains
from phoneworld.compiler.template import Part
from phoneworld.program.expr import Const, Var
from phoneworld.program.template import FOCUS, KEYBOARD

Learn = Callable[[ActionClass, list[Deed]], Learned]

_MOSTLY = 0.8
_SCREENS = 2
"""From so many screens a link must have led to one place before it is believed to lead there from others."""


def with_links(
    history: History, derived: Derived, learned: Mapping[ActionClass, Learned], stacks: Mapping[str, tuple[str, ...]], learn: Learn
) -> dict[ActionClass, Learned]:
    """What was learned, with what links do that are on several screens where they were not, or seldom, touched."""
    found = dict(learned)
    links = _links(history)
    for kind in TOUCHES:
        for places in links:
            classes = [ActionClass(screen, kind, slot) for screen, slot in places]
            tried = [learned[c] for c in classes if c in learned and any(d.aim.slot == c.slot for d in learned[c].cases)]
            deeds = [deed for what in tried for deed in what.cases]
            ends = {deed.after.screen for deed in deeds}
            if len({d.before.screen for d in deeds}) < _SCREENS:
                continue
            if len(ends) > 1:
                if sum(stacks.get(d.name, ())[-1:] == (d.after.screen,) for d in deeds) >= _MOSTLY * len(deeds):
                    found |= {of: _goes_back(of, tuple(deeds)) for of in classes if of not in learned}
                continue
            # What it does to the page that it leads to depends on what that page held.
            (end,) = ends
            pooled = replace(learn(ActionClass(end, kind, classes[0].slot), deeds), leads=Const(end))
            for of in classes:
                own = learned.get(of)
                cases = tuple(deeds) if own is None else own.cases
                wrong = [d.name for d in cases if not explains(history, derived, pooled, d, stacks.get(d.name, ()))]
                if own is None or own not in tried or len(wrong) <= len(own.wrong):
                    found[of] = replace(pooled, of=of, cases=cases, wrong=frozenset(wrong))
    return found


def _goes_back(of: ActionClass, cases: tuple[Deed, ...]) -> Learned:
    """What "up" does where it was never touched: the page below is in front again, as it was."""
    return Learned(of, cases, Var(BELOW), {FOCUS: Const(None), KEYBOARD: Const(False)}, ())


def _links(history: History) -> list[list[tuple[str, str]]]:
    """The links that are on several screens: where each is, and as which slot."""
    same: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for screen, pattern in history.patterns.items():
        for part in _outside_rows(pattern.windows):
            words = _words(part)
            if part.node.clickable and not part.node.is_editable and not part.node.checkable and words:
                same.setdefault((part.key, part.node.class_name, words), []).append((screen, part.key))
    return [places for places in same.values() if len(places) > 1]


def _outside_rows(parts: Sequence[Part]) -> list[Part]:
    return [found for part in parts if part.table is None for found in (part, *_outside_rows(part.children))]


def _words(part: Part) -> str:
    """What a link is known by: an id of its own, else the words on it that do not vary."""
    if part.node.resource_id:
        return part.node.resource_id
    if "text" in part.varying or "content_desc" in part.varying:
        return ""
    return part.node.label or next((p.node.label for p in part.walk() if p.node.label and "text" not in p.varying), "")
