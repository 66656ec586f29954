"""Typed words become variables: what the recording typed is shown wherever the app showed it, and other words may be typed.

Where the recording typed `X` into a field and the field then held `X`, a variable starts as `X`. Every later text that holds
`X` is bound to that variable, and typing anything else at that place sets it: `inferred` from the one case. Blank text is left
to the platform's default, since apps treat it differently and nothing was seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.rules import MOMENT, Edge
from phoneworld.program.effect import Effect, NodeAttribute, SetVar, Show
from phoneworld.program.expr import All, Blank, Const, Expr, Join, Not, OneOf, Typed, Var
from phoneworld.program.program import Binding, Evidence, Layout, Rule, Trigger, Variable
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.selector import node_keys

SHORTEST = 4
"""Shorter words may stand in a text by chance."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The variables, the rules that set them, and the layouts with their bindings."""

    variables: tuple[Variable, ...]
    rules: tuple[Rule, ...]
    layouts: Mapping[str, Layout]


def find_inputs(edges: Sequence[Edge], screen_of: Mapping[int, str], layout_of: Mapping[int, Layout]) -> Inputs:
    """Finds the typed words. A word that the app showed before it was typed is not one: the app may know it by itself."""
    variables: dict[str, Variable] = {}
    rules: list[Rule] = []
    for edge in edges:
        word = edge.on.argument or ""
        source, target = layout_of[edge.source], layout_of[edge.target]
        if edge.on.kind != "type" or len(word.strip()) < SHORTEST or word in variables:
            continue
        if _holds(source.hierarchy, word) or not _field_holds(target.hierarchy, edge.on.node, word):
            continue
        evidence = Evidence("inferred", edge.support, len(edge.support))
        name = f"typed_{len(variables) + 1}"
        variables[word] = Variable(name, word, (), evidence)
        effects: list[Effect] = [SetVar(name, Typed()), SetVar(MOMENT, Const(edge.target))]
        if screen_of[edge.source] != screen_of[edge.target]:
            effects.append(Show(screen_of[edge.target]))
        guard = All((OneOf(MOMENT, (edge.source,)), Not(Blank(Typed()))))
        rules.append(Rule(f"t{len(rules) + 1}", screen_of[edge.source], Trigger("type", edge.on.node), guard, tuple(effects), evidence, edge.settle_ms))
        again = tuple(
            m for m, lay in sorted(layout_of.items()) if screen_of[m] == screen_of[edge.target] and _field_holds(lay.hierarchy, edge.on.node, word)
        )
        guard = All((OneOf(MOMENT, again), Not(Blank(Typed()))))
        rules.append(Rule(f"t{len(rules) + 1}", screen_of[edge.target], Trigger("type", edge.on.node), guard, (SetVar(name, Typed()),), evidence))
    layouts = {lay.id: replace(lay, bindings=_bindings(lay.hierarchy, variables)) for lay in layout_of.values()}
    return Inputs(tuple(variables.values()), tuple(rules), layouts)


def _holds(tree: Hierarchy, word: str) -> bool:
    return any(word in node.text or word in node.content_desc for node in tree.nodes())


def _field_holds(tree: Hierarchy, key: str, word: str) -> bool:
    return any(k == key and tree.at(path).text == word for path, k in node_keys(tree).items())


def _bindings(tree: Hierarchy, variables: Mapping[str, Variable]) -> tuple[Binding, ...]:
    if not variables:
        return ()
    longest_first = sorted(variables, key=lambda w: (-len(w), w))
    pattern = re.compile("|".join(r"(?<!\w)" + re.escape(w) + r"(?!\w)" for w in longest_first))
    bindings: list[Binding] = []
    attribute: NodeAttribute
    for path, node in tree.walk():
        for attribute, words in (("text", node.text), ("content_desc", node.content_desc)):
            if words and pattern.search(words):
                bindings.append(Binding(path, attribute, _split(words, pattern, variables)))
    return tuple(bindings)


def _split(text: str, pattern: re.Pattern[str], variables: Mapping[str, Variable]) -> Expr:
    parts: list[Expr] = []
    end = 0
    for found in pattern.finditer(text):
        if found.start() > end:
            parts.append(Const(text[end : found.start()]))
        parts.append(Var(variables[found.group()].name))
        end = found.end()
    if end < len(text):
        parts.append(Const(text[end:]))
    return parts[0] if len(parts) == 1 else Join(tuple(parts))
