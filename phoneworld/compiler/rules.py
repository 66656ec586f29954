"""Moments to rules: one rule for each trigger at each moment that was seen, `recorded`, with the steps that support it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from phoneworld.compiler.moments import Moments, Walk
from phoneworld.program.effect import Effect, GoBack, SetVar, Show
from phoneworld.program.expr import Const, OneOf
from phoneworld.program.program import Evidence, Rule, Trigger

MOMENT = "moment"
"""The variable that says where the app is among what was recorded."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A trigger at a moment and the moment it led to, with the steps (`trace:index`) that showed it."""

    source: int
    on: Trigger
    target: int
    support: tuple[str, ...]
    settle_ms: int


def find_edges(walks: Sequence[Walk], moments: Moments, settle_ms: Mapping[str, int]) -> tuple[Edge, ...]:
    """All distinct edges in the order in which they were first seen. `settle_ms` is by step name."""
    seen: dict[tuple[int, Trigger, int], list[str]] = {}
    for walk in walks:
        at = moments.of[walk.trace]
        for i, trigger in enumerate(walk.triggers):
            seen.setdefault((at[i], trigger, at[i + 1]), []).append(f"{walk.trace}:{i}")
    return tuple(
        Edge(source, trigger, target, tuple(steps), median_low([settle_ms.get(s, 0) for s in steps]))
        for (source, trigger, target), steps in seen.items()
    )


def recorded_rules(edges: Sequence[Edge], screen_of: Mapping[int, str], returned: frozenset[str]) -> tuple[Rule, ...]:
    """One rule for the edges that share trigger, screen and target; the moments they start from are its guard.

    `returned` are the steps that came back to a screen which looked as it was left.
    """
    groups: dict[tuple[str, Trigger, int], list[Edge]] = {}
    for edge in edges:
        groups.setdefault((screen_of[edge.source], edge.on, edge.target), []).append(edge)
    rules = []
    for number, ((screen, trigger, target), group) in enumerate(groups.items(), 1):
        effects: list[Effect] = []
        if any(e.source != target for e in group):
            effects.append(SetVar(MOMENT, Const(target)))
        if screen_of[target] != screen:
            effects.append(Show(screen_of[target], as_left=any(not returned.isdisjoint(e.support) for e in group)))
        support = tuple(s for e in group for s in e.support)
        rules.append(
            Rule(
                id=f"r{number}",
                screen=screen,
                on=trigger,
                when=OneOf(MOMENT, tuple(sorted({e.source for e in group}))),
                then=tuple(effects),
                evidence=Evidence("recorded", support, len(support)),
                settle_ms=median_low([e.settle_ms for e in group]),
            )
        )
    return tuple(rules)


def navigation_rules(
    edges: Sequence[Edge], screen_of: Mapping[int, str], own: frozenset[str], returned: frozenset[str], back: frozenset[str]
) -> tuple[Rule, ...]:
    """A widget that led to one other screen of the app whenever it was tried leads there at moments where it was not.

    One that always led to a screen below on the back stack, whichever that was, goes back (`back` are the steps that did).

    `inferred`, with the number of cases; a single case that stayed on the screen, or went elsewhere, contradicts it. `own` are
    the app's own screens; where a case is in `returned`, coming back shows the screen as it was left. Back and typing are left out: where they lead depends on how one came.
    """
    tried: dict[tuple[str, Trigger], list[Edge]] = {}
    for edge in edges:
        if edge.on.kind in ("tap", "double_tap", "long_press") and edge.on.node:
            tried.setdefault((screen_of[edge.source], edge.on), []).append(edge)
    rules: list[Rule] = []
    for (screen, trigger), cases in tried.items():
        targets = {screen_of[e.target] for e in cases}
        support = tuple(s for e in cases for s in e.support)
        goes_back = back.issuperset(support) and not returned.isdisjoint(support)
        if screen in targets or not targets <= own or screen not in own or (len(targets) != 1 and not goes_back):
            continue
        usual = Counter(e.target for e in cases).most_common(1)[0][0]
        leads = (SetVar(MOMENT, Const(usual)), Show(screen_of[usual], as_left=not returned.isdisjoint(support)))
        rules.append(
            Rule(
                id=f"n{len(rules) + 1}",
                screen=screen,
                on=trigger,
                when=OneOf(MOMENT, tuple(m for m, s in sorted(screen_of.items()) if s == screen)),
                then=(GoBack(tuple(sorted(targets))),) if goes_back else leads,
                evidence=Evidence("inferred", support, len(support)),
                settle_ms=median_low([e.settle_ms for e in cases]),
            )
        )
    return tuple(rules)
