"""Traces to moments: as few states as explain every trace, found by merging.

Each step of each trace starts as a state of its own, in a chain; two states are made one where they look the same (the same
layout) and where everything that was done in both led, step by step, to states that can be made one too. What cannot be told
apart by looking, but behaved differently, stays apart: that is how state which no tree shows (a hidden row, a stored setting)
survives. Every trace replays on the result by construction. This is state merging as in EDSM (Lang, Pearlmutter, Price 1998),
with layouts as outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phoneworld.program.program import Trigger

MOMENT = "moment"
"""The variable that says where the app is among what was recorded; None off the recorded path."""

CANDIDATES = 64
"""How many earlier states of the same layout a state is tried against, most recent first."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One trace as the compiler sees it: layouts, and the triggers between them (one fewer)."""

    trace: str
    layouts: tuple[str, ...]
    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Moments:
    """`of[trace][i]` is the moment (1, 2, ...) of the i-th layout of a trace; `layout[moment]` its layout."""

    of: dict[str, tuple[int, ...]]
    layout: dict[int, str]


def find_moments(walks: Sequence[Walk]) -> Moments:
    """Merges the states of all walks. Deterministic; near linear where few layouts repeat."""
    merger = _Merger()
    nodes: dict[str, list[int]] = {}
    for walk in walks:
        chain = [merger.add(layout) for layout in walk.layouts]
        for source, trigger, target in zip(chain[:-1], walk.triggers, chain[1:], strict=True):
            merger.next[source][trigger] = target
        nodes[walk.trace] = chain
    kept: dict[str, list[int]] = {}
    for walk in walks:
        for node in nodes[walk.trace]:
            root = merger.find(node)
            known = kept.setdefault(merger.layout[root], [])
            known[:] = sorted({merger.find(k) for k in known})
            if root in known:
                continue
            best: tuple[int, int] | None = None
            for other in known[: -CANDIDATES - 1 : -1]:
                score = merger.merge(other, root, keep=False)
                if score is not None and (best is None or score > best[0]):
                    best = (score, other)
            if best is None:
                known.append(root)
            else:
                merger.merge(best[1], root, keep=True)
    numbers: dict[int, int] = {}
    of = {
        trace: tuple(numbers.setdefault(merger.find(node), len(numbers) + 1) for node in chain) for trace, chain in nodes.items()
    }
    return Moments(of, {number: merger.layout[root] for root, number in numbers.items()})


class _Merger:
    """Union-find over states that keeps them deterministic: merging two merges what follows from them."""

    def __init__(self) -> None:
        self.layout: list[str] = []
        self.next: list[dict[Trigger, int]] = []
        self._parent: list[int] = []

    def add(self, layout: str) -> int:
        self.layout.append(layout)
        self.next.append({})
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def find(self, node: int) -> int:
        while self._parent[node] != node:
            node = self._parent[node]
        return node

    def merge(self, one: int, other: int, *, keep: bool) -> int | None:
        """How many steps of both agree if the two are one, or None where something contradicts it; undone unless kept."""
        undo: list[tuple[int, int, dict[Trigger, int]]] = []
        score: int | None = 0
        todo = [(one, other)]
        while todo:
            a, b = (self.find(n) for n in todo.pop())
            if a == b:
                continue
            if self.layout[a] != self.layout[b]:
                score = None
                break
            a, b = min(a, b), max(a, b)
            undo.append((a, b, self.next[a]))
            joined = dict(self.next[a])
            for trigger, target in self.next[b].items():
                if trigger in joined:
                    todo.append((joined[trigger], target))
                    score = (score or 0) + 1
                else:
                    joined[trigger] = target
            self.next[a] = joined
            self._parent[b] = a
        if score is None or not keep:
            for a, b, old in reversed(undo):
                self._parent[b] = b
                self.next[a] = old
        return score
