"""What Android does by itself at recorded moments, as `assumed` rules: hiding the keyboard, scrolling back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phoneworld.compiler.rules import MOMENT, Edge
from phoneworld.program.effect import Effect, SetNode, SetVar
from phoneworld.program.expr import Const, OneOf
from phoneworld.program.program import Evidence, Layout, Rule, Trigger, TriggerKind
from phoneworld.ui.selector import node_keys

OPPOSITE: dict[TriggerKind, TriggerKind] = {
    "swipe_up": "swipe_down", "swipe_down": "swipe_up", "swipe_left": "swipe_right", "swipe_right": "swipe_left",
}  # fmt: skip


def scroll_rules(edges: Sequence[Edge], screen_of: Mapping[int, str]) -> tuple[Rule, ...]:
    """Scrolling the other way goes back to where a recorded scroll came from, within what was recorded."""
    known = {(e.source, e.on) for e in edges}
    rules: list[Rule] = []
    for edge in edges:
        if edge.on.kind not in OPPOSITE or edge.source == edge.target or screen_of[edge.source] != screen_of[edge.target]:
            continue
        back = Trigger(OPPOSITE[edge.on.kind], edge.on.node)
        if (edge.target, back) in known:
            continue
        known.add((edge.target, back))
        rules.append(_assumed(f"b{len(rules) + 1}", screen_of[edge.target], back, edge.target, (SetVar(MOMENT, Const(edge.source)),), edge))
    return tuple(rules)


def keyboard_rules(edges: Sequence[Edge], screen_of: Mapping[int, str], layout_of: Mapping[int, Layout]) -> tuple[Rule, ...]:
    """Back at a moment with the keyboard up goes to the moment without it from which it came; what was typed stays."""
    known = {(e.source, e.on) for e in edges}
    before: dict[int, tuple[int, Edge]] = {}
    for edge in edges:
        source, target = edge.source, edge.target
        if screen_of[source] != screen_of[target] or not layout_of[target].state.keyboard or target in before:
            continue
        if not layout_of[source].state.keyboard:
            before[target] = (source, edge)
        elif source in before:
            before[target] = (before[source][0], edge)
    rules: list[Rule] = []
    back = Trigger("key", "", "back")
    for moment, (calm, edge) in before.items():
        if (moment, back) in known:
            continue
        effects: list[Effect] = [SetVar(MOMENT, Const(calm))]
        effects += _texts_kept(screen_of[moment], layout_of[moment], layout_of[calm])
        rules.append(_assumed(f"k{len(rules) + 1}", screen_of[moment], back, moment, tuple(effects), edge))
    return tuple(rules)


def _texts_kept(screen: str, typed: Layout, calm: Layout) -> list[Effect]:
    fields = {key: typed.hierarchy.at(path) for path, key in node_keys(typed.hierarchy).items()}
    kept: list[Effect] = []
    for path, key in node_keys(calm.hierarchy).items():
        node, filled = calm.hierarchy.at(path), fields.get(key)
        if filled is not None and node.is_editable and filled.is_editable and filled.text != node.text:
            kept.append(SetNode(screen, key, "text", Const(filled.text)))
    return kept


def _assumed(name: str, screen: str, on: Trigger, moment: int, then: tuple[Effect, ...], edge: Edge) -> Rule:
    return Rule(name, screen, on, OneOf(MOMENT, (moment,)), then, Evidence("assumed", edge.support, 0), edge.settle_ms)
